/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * shmpipe-hook: the hop between two programs of ours goes through shared memory
 * (ring.h), at the server between sshd-session and the SFTP server, at the
 * client between scp or sftp and ssh.
 *
 * sshd-session sends the memory through the socket that will be the output of
 * the SFTP server, which nobody reads at that end. The server attaches when it
 * begins to read; any other program leaves it there, and keeps its pipes. scp
 * tells ssh where the memory is (tell.h). ssh attaches when it first reads
 * what scp sends.
 *
 * Called from patches/135-channels-shmpipe.patch and
 * 136-sftp-client-shmpipe.patch, and by the hooks of scp, ssh, sshd-session and
 * sftp-server. Does nothing where the memory cannot be had: one line at -v.
 * Main thread only.
 */

#ifndef HAYATE_SHMPIPE_HOOK_H
#define HAYATE_SHMPIPE_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct iovec;
struct sshbuf;

/*
 * In sshd-session: "in" is a pipe and "out" a pair of sockets, as pipe()
 * returns them, for a program that is about to be started.
 */
void	shmpipe_offer(const int in[2], const int out[2]);

/* In the SFTP server: takes its ends, if they are offered. */
void	shmpipe_accept(int in, int out);

/*
 * In scp: "fd" is connected to ssh, which both reads and writes it. Returns a
 * descriptor of the memory, which is open until shmpipe_forget(), or -1.
 */
int	shmpipe_offer_ssh(int fd);

/*
 * In scp: ssh has read the first message. So it has attached, or never will.
 * Closes the memory, and forgets it in that case.
 */
void	shmpipe_end_offer(int fd);

/* In ssh: "memory", which this closes, is for standard input; -1: none. */
void	shmpipe_expect_stdin(int memory);

/*
 * As sshbuf_read() and write(). From a ring, a whole slot is read, which may be
 * more than "most" bytes: what is left there would not wake poll(). Into a
 * ring, as much is written as has room, in several slots.
 */
int	shmpipe_read(int fd, struct sshbuf *, size_t most, size_t *len);
ssize_t	shmpipe_write(int fd, const void *, size_t len);

/*
 * A message that is a slot at one end should be a packet, and a slot at the
 * other end, where it can be used in place then. So what was gathered is cut
 * where its last piece of the usual length begins: shmpipe_split() of "len"
 * bytes that end with such pieces says how many come first.
 * shmpipe_set_record_size() tells the usual length of what is written,
 * shmpipe_record_size() that of what is read; 0: not known.
 */
size_t	shmpipe_split(size_t len, size_t record);
void	shmpipe_set_record_size(int fd, size_t len);
size_t	shmpipe_record_size(int fd);

/* Unless NULL: shmpipe_read() has come to the end of "fd". */
extern void (*shmpipe_at_eof)(int fd);

/* The descriptor is about to be closed. */
void	shmpipe_forget(int fd);

/*
 * Beside the bytes (ring_put_side_data()). In ssh: leaves a note for scp, and
 * returns the mark that scp has set; -1: there is no memory. In the SFTP
 * server: shmpipe_tag(). In scp: reads the note of the ssh behind "fd", returns
 * 0 or -1; and sets the mark.
 */
int	shmpipe_put_side_data(const uint64_t *, size_t n);
int	shmpipe_tag(void);
int	shmpipe_get_side_data(int fd, uint64_t *, size_t n);
void	shmpipe_set_tag(int fd, unsigned int);

/*
 * For scp and the SFTP server: reads up to "most" bytes into the buffer, and
 * returns in "*n" what read() would return. What is large in a ring is lent to
 * a buffer that is empty, and may be more than "most". poll() does not know of
 * what is left: shmpipe_pending(). Returns 0 or SSH_ERR_*.
 */
int	shmpipe_read_ref(int fd, struct sshbuf *, size_t most, ssize_t *n);
size_t	shmpipe_pending(int fd);

/*
 * For scp and the SFTP server: ring_reserve() and ring_commit(); NULL where
 * there is no ring. shmpipe_try_reserve() does not wait.
 */
void	*shmpipe_reserve(int fd, size_t len);
void	*shmpipe_try_reserve(int fd, size_t len);
int	shmpipe_commit(int fd, size_t len);

/*
 * Whether more should not be sent now, while "len" bytes wait already: a ring
 * has no room, or data would be copied behind what waits. Returns 0 where a
 * ring is broken, so that the next write fails. May go over to records, as a
 * write does.
 */
int	shmpipe_is_full(int fd, size_t len);

/*
 * For scp, as atomicio6() that reads, and atomiciov6() that writes. What is
 * sent is one message, which begins with its length.
 */
size_t	shmpipe_receive(int fd, void *, size_t len, int (*)(void *, size_t),
    void *);
size_t	shmpipe_send(int fd, struct iovec *, int n, int (*)(void *, size_t),
    void *);

#endif /* HAYATE_SHMPIPE_HOOK_H */
