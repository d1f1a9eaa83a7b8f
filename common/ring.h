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
 * both processes have mapped, and sends a record of 16 bytes through the
 * descriptor. The reader takes the record, and copies the slot out or uses it
 * in place. So poll(), end of file, EPIPE and blocking reads work as before.
 * The writer lets the descriptor hold fewer records than there are slots: it
 * gives a pipe four pages and O_DIRECT, with which each record takes a page,
 * and a socket its smallest buffer.
 *
 * One process, the creator, makes the rings of a program's input and output
 * before it starts the program, which attaches to them:
 *
 *	BYTES ----- the writer writes, the reader has attached, and
 *	            the descriptor is empty -------------------------> RECORDS
 *
 * Until then the descriptor is an ordinary pipe or socket. A record begins
 * with a secret of its ring; whatever else is read is data. So a program that
 * does not attach finds an ordinary pipe, and so does one that runs before one
 * that attaches, or writes after it.
 *
 * Trust: neither end believes what is in the memory. Its size is sealed, each
 * end counts the slots itself, and lengths are checked. A bad peer can only
 * send wrong data, which it could without a ring as well. If a reader takes
 * records until no slot is free, and frees none, writing fails with EPROTO.
 *
 * Linux only; elsewhere nothing can be created or attached. No upstream header.
 * An end belongs to one thread.
 */

#ifndef HAYATE_RING_H
#define HAYATE_RING_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SLOT	(256 * 1024)	/* bytes of a slot: the most at once */

/* Which of the program's two rings, as the program sees it */
enum ring_dir { RING_INPUT, RING_OUTPUT };

struct ring;		/* one end of one ring; private to ring.c */

/*
 * Creates the memory of both rings of a program, about 4 MiB of which pages are
 * used on demand. "in" and "out" are the ends that the program will read and
 * write, under any number: no others can be attached. -1 means any. Returns a
 * close-on-exec descriptor of the memory, which the caller closes, or -1 with
 * errno set.
 */
int	ring_create(int in, int out);

/*
 * Returns the creator's end of one ring, over its own descriptor "fd", or NULL
 * with errno set. The memory may be closed afterwards.
 */
struct ring *ring_open(int memory, enum ring_dir, int fd);

/*
 * Returns the program's end of one ring and makes the ring attached; NULL if
 * "memory" is no such memory, or was created for another descriptor than "fd".
 */
struct ring *ring_attach(int memory, enum ring_dir, int fd);

/* Returns 1 once the program has attached to this ring. */
int	ring_is_attached(const struct ring *);

/* Returns 1 once this end has gone over to records; it never goes back. */
int	ring_uses_records(const struct ring *);

/*
 * For a writer: returns 1 if the descriptor is writable and yet no slot is
 * free, because the reader takes records without freeing their slots. poll()
 * would return at once again and again. That is an error of the reader: it may
 * keep only one slot whose record it has taken. ring_write() fails with EPROTO.
 */
int	ring_peer_stalled(const struct ring *);

/* Frees this end; does not close the descriptor. Accepts NULL. */
void	ring_free(struct ring *);

/*
 * Reads as read(2) does; fails with EPROTO if the length in a record is wrong.
 * If "len" is less than RING_SLOT, a rest may remain, of which poll() does not
 * know: check ring_pending().
 */
ssize_t	ring_read(struct ring *, void *, size_t len);

/* Returns how many bytes ring_read() can return without the descriptor. */
size_t	ring_pending(const struct ring *);

/*
 * Reads a slot without a copy. Returns the number of bytes and sets "*p" to
 * them; they stay valid until ring_release(), and no other read may happen
 * before that. The peer can change them at any time, so read each byte once.
 *
 * Otherwise "*p" is NULL: at end of file (0), on an error (-1), and if a record
 * has less than 32 KiB or the ring does not use records (1, which is no number
 * of bytes: call ring_read() then, and not ring_release()).
 */
ssize_t	ring_acquire(struct ring *, const unsigned char **p);
void	ring_release(struct ring *);

/*
 * Writes as write(2) does, but never more than RING_SLOT in a record; "len"
 * must not be 0. Does not wait for a slot, even if the descriptor blocks: errno
 * is EAGAIN then, or EPROTO if ring_peer_stalled().
 */
ssize_t	ring_write(struct ring *, const void *, size_t len);

/*
 * Writes without a copy, in two steps. ring_reserve() waits for a free slot and
 * returns it. It returns NULL if the ring does not use records, "len" is more
 * than a slot, the reader has gone or has stalled; ring_write() works then, or
 * reports the error. ring_try_reserve() returns NULL also instead of waiting.
 */
void	*ring_reserve(struct ring *, size_t len);
void	*ring_try_reserve(struct ring *, size_t len);

/*
 * Sends the first "len" bytes, at least one, of the reserved slot. Returns 0,
 * or -1 with errno set; the slot stays reserved then.
 */
int	ring_commit(struct ring *, size_t len);

/*
 * Side data: up to RING_SIDE_WORDS numbers that the program publishes for the
 * creator, outside of the stream of bytes. Both rings share them. Each call
 * replaces the first "n". ring_get_side_data() returns 0, or -1 if there are
 * none or they are just being replaced; the copy is useless then. Do not trust
 * them: the peer writes them.
 */
#define RING_SIDE_WORDS	64
void	ring_put_side_data(struct ring *, const uint64_t *, size_t n);
int	ring_get_side_data(const struct ring *, uint64_t *, size_t n);

/* The tag: a number that the creator sets for both rings; 0 at first. */
void	ring_set_tag(struct ring *, unsigned int);
unsigned int ring_tag(const struct ring *);

#endif /* HAYATE_RING_H */
