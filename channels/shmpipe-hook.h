/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * shmpipe-hook: the pipe between two programs of ours on one host goes through
 * shared memory (ring.h): at the server between sshd-session and the SFTP
 * server, at the client between scp or sftp and ssh.
 *
 * Each function takes a descriptor. Where it is an end of a ring, the function
 * uses the ring, and otherwise it does what read(2) or write(2) does, so that
 * callers need not know. A ring is set up in one of two ways:
 *
 *	at the server: the memory passes through the output's socket
 *	    sshd-session	shmpipe_offer()
 *	    SFTP server		shmpipe_accept()
 *
 *	at the client: ssh opens the memory of scp (rendezvous.h)
 *	    scp, sftp		shmpipe_offer_ssh()
 *	    ssh			shmpipe_expect_stdin(), attaches when it reads
 *	    scp, sftp		shmpipe_end_offer()
 *
 * Until the reader attaches, a descriptor carries the data itself. Another
 * program in the place of the SFTP server never receives the memory, and keeps
 * its pipes. A child process that frees a buffer with an attached slot does not
 * release it.
 *
 * Called from patches/135-channels-shmpipe.patch and
 * 136-sftp-client-shmpipe.patch, and by the hooks of scp, ssh, sshd-session and
 * sftp-server. If the memory cannot be had, the pipes stay, with one line at
 * -v; outside Linux always. The process ends if it has no memory for the table
 * of descriptors. Main thread only.
 */

#ifndef HAYATE_SHMPIPE_HOOK_H
#define HAYATE_SHMPIPE_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct iovec;
struct sshbuf;

/*
 * In sshd-session, for a program that is about to be started: creates the
 * memory, sends it with one byte into the socket, and closes its descriptor.
 * The program reads from in[0] of a pipe and writes to out[1] of a socket pair;
 * this process has in[1] and out[0]. Rings that these two numbers had are
 * removed.
 */
void	shmpipe_offer(const int in[2], const int out[2]);

/*
 * In the SFTP server, once, before it reads: attaches both descriptors to the
 * memory, and takes the byte that came with it; does not block. Does nothing if
 * sshd-session has sent no memory, or if "out" is no socket. A debug line gives
 * the result.
 */
void	shmpipe_accept(int in, int out);

/*
 * In scp: creates the memory for the socket "fd", which ssh reads and writes.
 * Returns the descriptor of the memory, or -1; shmpipe_end_offer() or
 * shmpipe_forget() closes it.
 */
int	shmpipe_offer_ssh(int fd);

/*
 * In scp, once ssh has read the first message: closes the memory, because ssh
 * has attached by then or never will. If ssh has not attached, "fd" is a plain
 * socket from now on. Does nothing without an offer.
 */
void	shmpipe_end_offer(int fd);

/*
 * In ssh: "memory", which this module closes, belongs to standard input and
 * output, and is closed unused unless both are the same socket. The ends attach
 * at the first shmpipe_read() and shmpipe_write(), also of copies of these
 * descriptors; read first, because the first write closes the memory. If the
 * memory is refused, the socket carries the data. Does nothing if "memory" is
 * -1.
 */
void	shmpipe_expect_stdin(int memory);

/*
 * Call it before "fd" is closed: removes its ring, sizes and offer, if it has
 * any. A slot that is attached to a buffer is copied into it; the process ends
 * if there is no memory for that.
 */
void	shmpipe_forget(int fd);

/*
 * For ssh and sshd-session: as sshbuf_read() and write(2). From a ring a whole
 * slot is read, which may be more than "max" bytes, because poll() would not
 * report a rest; into an empty buffer it may go without a copy, as with
 * shmpipe_read_ref(). At end of file the result is SSH_ERR_SYSTEM_ERROR with
 * errno EPIPE. To a ring as many slots are written as are free: returns the
 * bytes of these, or -1 with errno as ring_write(), EAGAIN also if the
 * descriptor blocks.
 */
int	shmpipe_read(int fd, struct sshbuf *, size_t max, size_t *len);
ssize_t	shmpipe_write(int fd, const void *, size_t len);

/*
 * If not NULL, shmpipe_read() calls this function at end of file, of a ring or
 * not. The function may change errno.
 */
extern void (*shmpipe_at_eof)(int fd);

/*
 * Record sizes. Data can be used in place at the far end if one SFTP message is
 * one slot here, one packet on the wire and one slot there. The three functions
 * keep these boundaries, assuming that records of a transfer have one usual
 * size.
 *
 * shmpipe_record_size() returns the size of the last slot that was read from
 * "fd" without a copy, 0 if there was none. shmpipe_set_record_size() sets the
 * usual size for what shmpipe_write() writes to "fd", 0 for whole slots;
 * without a ring it does nothing. shmpipe_split() returns how many of "len"
 * gathered bytes to write first: all if they are at most one record or "record"
 * is 0; otherwise the remainder of whole records, or one record if there is
 * none.
 */
size_t	shmpipe_record_size(int fd);
void	shmpipe_set_record_size(int fd, size_t len);
size_t	shmpipe_split(size_t len, size_t record);

/*
 * For scp and the SFTP server: reads up to "max" bytes into the buffer and sets
 * "*n" to what read(2) would return, with errno. If the buffer is empty, a slot
 * of 32 KiB or more is attached to it without a copy (sshbuf_attach()), and may
 * be more than "max"; the slot attached before it is released then. Returns 0
 * also if reading failed, or SSH_ERR_* of the buffer.
 */
int	shmpipe_read_ref(int fd, struct sshbuf *, size_t max, ssize_t *n);

/*
 * Returns the bytes left of a slot that shmpipe_read_ref() or shmpipe_receive()
 * has read in part; poll() does not report them. 0 without a ring.
 */
size_t	shmpipe_pending(int fd);

/*
 * For scp and the SFTP server: as ring_reserve(), ring_try_reserve() and
 * ring_commit(). The first two return NULL without a ring; the third is only
 * for a slot that they have returned.
 */
void	*shmpipe_reserve(int fd, size_t len);
void	*shmpipe_try_reserve(int fd, size_t len);
int	shmpipe_commit(int fd, size_t len);

/*
 * Returns 1 if the caller should queue no more for "fd" behind its "len" unsent
 * bytes: if these are 512 KiB or more (32 KiB where a ring uses records), or if
 * that ring has no free slot. A stalled ring (ring_peer_stalled()) does not
 * count as full, so that the next write reports it. May go over to records, as
 * a write does (ring.h). With "fd" -1 only the 512 KiB count.
 */
int	shmpipe_is_full(int fd, size_t len);

/*
 * For scp: as atomicio6() for reading, and atomiciov6() for writing: block
 * until all is done. They return fewer bytes, perhaps 0, with errno set, only
 * at end of file (EPIPE), after an error, or if the callback returns -1. The
 * vectors are one SFTP message and go into one slot if they fit; the callback's
 * result is ignored then.
 */
size_t	shmpipe_receive(int fd, void *, size_t len, int (*)(void *, size_t),
    void *);
size_t	shmpipe_send(int fd, struct iovec *, int n, int (*)(void *, size_t),
    void *);

/*
 * Side data and tag (ring.h). ssh and the SFTP server use the memory that they
 * attached to. shmpipe_put_side_data() publishes data; like shmpipe_tag(), it
 * returns the tag without its highest bit, or -1 without memory, to which
 * nothing is published.
 *
 * At the other end, in scp and sshd-session: shmpipe_get_side_data() copies the
 * data that the program behind "fd" has published and returns 0, or -1 as
 * ring_get_side_data() or without a ring; shmpipe_set_tag() sets the tag, if
 * there is a ring.
 */
int	shmpipe_put_side_data(const uint64_t *, size_t n);
int	shmpipe_tag(void);
int	shmpipe_get_side_data(int fd, uint64_t *, size_t n);
void	shmpipe_set_tag(int fd, unsigned int);

#endif /* HAYATE_SHMPIPE_HOOK_H */
