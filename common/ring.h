/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * ring: a pipe whose bytes lie in shared memory.
 *
 * A byte of SFTP passes through two pipes or sockets on each host, and each
 * costs a copy into the kernel, a copy out of it, and pages for what lies there
 * meanwhile. Here the writer copies up to a slot of 256 KiB into memory that
 * both have mapped, and sends a record of 16 bytes through the descriptor. The
 * reader takes the record, and copies the slot out or borrows it. So poll(),
 * end of file, EPIPE and waiting stay what they were: a pipe holds as many
 * records as it has pages, if each is a packet (O_DIRECT), and a socket as many
 * as its smallest buffer takes.
 *
 * Nothing changes until both ends are known to take part. One process makes the
 * rings of a program's input and output, and the program attaches to them. The
 * writer goes over to records when the reader has attached and has read all
 * that was written before. A record begins with a secret of its ring; whatever
 * else is read is data. So a program that does not attach finds an ordinary
 * pipe. So does one that runs before one that attaches, or writes after it.
 *
 * Trust: neither end believes what is in the memory. Sizes are sealed, the
 * place of a slot is counted by each end, and a length is checked. A bad peer
 * can only send wrong data, which it could without a ring as well. Where a
 * reader takes records and frees no slot, the writer gets EPROTO.
 *
 * Linux only; elsewhere nothing attaches. No upstream header. An end is used by
 * one thread.
 */

#ifndef HAYATE_RING_H
#define HAYATE_RING_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SLOT	(256 * 1024)	/* the most that moves at once */

/* From which side a program sees a ring */
enum ring_dir { RING_INPUT, RING_OUTPUT };

struct ring;

/*
 * Returns a descriptor of memory for the rings of a program, which the caller
 * closes, or -1 with errno. "in" and "out" are what the program reads and
 * writes; -1 is any, which the two have agreed on in another way.
 */
int	ring_create(int in, int out);

/* For the process that made them: the other end of "in" or "out", or NULL. */
struct ring *ring_open(int memory, enum ring_dir, int fd);

/*
 * For the program: its end, or NULL if the memory is something else, or was
 * made for another descriptor.
 */
struct ring *ring_attach(int memory, enum ring_dir, int fd);

/* Whether the program has attached to this ring */
int	ring_is_attached(const struct ring *);

/* Whether records are in use */
int	ring_uses_records(const struct ring *);

/*
 * Whether the reader takes records and does not free their slots, so that
 * poll() would wake the writer again and again. A reader that works holds one
 * slot, and a descriptor that has room few; after poll() it may only free some.
 */
int	ring_peer_stalled(const struct ring *);

/* Does not close the descriptor. NULL is taken. */
void	ring_free(struct ring *);

/*
 * As read(). If "len" is less than RING_SLOT, a rest may wait that poll() does
 * not know of: ring_pending(). From a pipe, "len" is at least 16.
 */
ssize_t	ring_read(struct ring *, void *, size_t len);

/*
 * Without a copy by the reader: returns as ring_read() how much there is, and
 * in "*p" where it lies until ring_release(). Between the two nothing else is
 * read. The writer can change it meanwhile. NULL in "*p": it is little or no
 * record, and ring_read() is to read it.
 */
ssize_t	ring_acquire(struct ring *, const unsigned char **p);
void	ring_release(struct ring *);

/* Returns how many bytes the next ring_read() has without the descriptor. */
size_t	ring_pending(const struct ring *);

/* As write(). Never writes more than RING_SLOT once records are in use. */
ssize_t	ring_write(struct ring *, const void *, size_t len);

/*
 * Beside the bytes: the program leaves a note of "n" numbers, at most
 * RING_SIDE_WORDS, and whoever made the memory gives it a number, which is 0 at
 * first. Neither is believed. ring_get_side_data() returns 0, or -1 if there is
 * no note, or one that just changes.
 */
#define RING_SIDE_WORDS	64
void	ring_put_side_data(struct ring *, const uint64_t *, size_t n);
int	ring_get_side_data(const struct ring *, uint64_t *, size_t n);
void	ring_set_tag(struct ring *, unsigned int);
unsigned int ring_tag(const struct ring *);

/*
 * Without a copy by the writer: waits until there is room for "len" bytes in
 * the next slot, and returns it. Returns NULL if records are not in use, or
 * "len" is more than a slot. It does not wait for a reader that frees no slot,
 * nor if nobody reads any more: either this returns NULL, or ring_commit()
 * fails with EPIPE.
 */
void	*ring_reserve(struct ring *, size_t len);

/* The same, but NULL also if there is no room now. */
void	*ring_try_reserve(struct ring *, size_t len);

/*
 * Writes the first "len" bytes of that room. Returns 0, or -1 with errno, and
 * then they can be posted again.
 */
int	ring_commit(struct ring *, size_t len);

#endif /* HAYATE_RING_H */
