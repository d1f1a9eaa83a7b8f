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
 * Trust: neither end believes what is in the memory. The size of the memory is
 * sealed, each end counts the slots itself, and lengths are checked. A bad peer
 * can only send wrong data, which it could without a ring as well. If a reader
 * takes records until no slot is free, and frees none, writing fails with
 * EPROTO.
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

/*
 * Which of the program's two rings: the program reads RING_INPUT and writes
 * RING_OUTPUT, and the creator does the reverse.
 */
enum ring_dir { RING_INPUT, RING_OUTPUT };

struct ring;		/* one end of one ring; private to ring.c */

/*
 * Creates the memory of both rings of a program, about 4 MiB of which pages are
 * used on demand. "in" and "out" are the ends that the program will read and
 * write, under any number: no others can be attached. -1, or a descriptor that
 * fstat(2) refuses, means any.
 *
 * Returns a close-on-exec descriptor of the memory, which the caller closes, or
 * -1 with errno set: EFBIG if RLIMIT_FSIZE is too small, ENOMEM also if the
 * kernel does not overcommit memory, because using a page could then end the
 * process, ENOSYS outside Linux.
 */
int	ring_create(int in, int out);

/*
 * Returns the creator's end of one ring, over its own descriptor "fd", or NULL
 * with errno set. Only for memory of our own ring_create(), which is not
 * checked, and once for each ring. The caller frees the end and keeps "fd" open
 * while it uses the end; the memory may be closed at once.
 */
struct ring *ring_open(int memory, enum ring_dir, int fd);

/*
 * As ring_open(), for the program's end; also makes the ring attached, for
 * good. Returns NULL, and errno means nothing, if "memory" is not of
 * ring_create() in the same version, was created for another descriptor than
 * "fd", or cannot be mapped.
 */
struct ring *ring_attach(int memory, enum ring_dir, int fd);

/*
 * Returns 1 once the program has attached to this ring, even if it has ended.
 */
int	ring_is_attached(const struct ring *);

/*
 * Returns 1 once this end has gone over to records, when it first wrote or read
 * one; it never goes back.
 */
int	ring_uses_records(const struct ring *);

/*
 * For a writer: returns 1 if the descriptor is writable and yet no slot is
 * free, because the reader takes records without freeing their slots. poll()
 * would return at once again and again. That is an error of the reader, which
 * may keep only one slot whose record it has taken; ring_write() fails with
 * EPROTO.
 */
int	ring_peer_stalled(const struct ring *);

/*
 * Frees this end and its mapping, with any bytes not read; does not close the
 * descriptor. The other end is not affected. Accepts NULL.
 */
void	ring_free(struct ring *);

/*
 * Reads as read(2) does, but never from more than one slot: returns the number
 * of bytes, 0 at end of file, or -1 with errno set, EPROTO if the length in a
 * record is wrong. Frees the slot with its last byte. If "len" is less than
 * RING_SLOT, a rest may remain, of which poll() does not know: check
 * ring_pending().
 */
ssize_t	ring_read(struct ring *, void *, size_t len);

/*
 * Returns how many bytes ring_read() can return without the descriptor: the
 * rest of a slot, or of a few bytes of data, that was read in part; or 0.
 */
size_t	ring_pending(const struct ring *);

/*
 * Reads a slot without a copy, or the rest of one that was read in part.
 * Returns the number of bytes and sets "*p" to them; they stay valid until
 * ring_release(), which frees the slot, and no other read may happen before
 * that. The peer can change them at any time, so read each byte once.
 *
 * Otherwise "*p" is NULL: at end of file (0), on an error as of ring_read()
 * (-1), and if less than 32 KiB are left of the slot or the reader has not
 * received a record yet (1, which is no number of bytes: call ring_read() then,
 * and not ring_release()).
 */
ssize_t	ring_acquire(struct ring *, const unsigned char **p);
void	ring_release(struct ring *);

/*
 * Writes as write(2) does, but never more than RING_SLOT in a record; "len"
 * must not be 0. The first call, here or of ring_reserve(), that finds the ring
 * attached and the descriptor empty goes over to records. From then on no call
 * waits for a slot, even if the descriptor blocks. Returns how many bytes were
 * written, or -1 with errno set: EAGAIN if no slot is free, EPROTO if
 * ring_peer_stalled(), EPIPE, with or without SIGPIPE, if the reader has
 * closed.
 */
ssize_t	ring_write(struct ring *, const void *, size_t len);

/*
 * Writes without a copy, in two steps. ring_reserve() blocks until a slot is
 * free and returns it, to be filled before any other call that writes. A
 * reservation that is not committed has no effect, and the next one returns the
 * same slot. ring_reserve() returns NULL if the ring does not use records,
 * "len" is more than a slot, the reader has gone or has stalled; ring_write()
 * works then, or reports the error. ring_try_reserve() returns NULL also
 * instead of waiting.
 */
void	*ring_reserve(struct ring *, size_t len);
void	*ring_try_reserve(struct ring *, size_t len);

/*
 * Sends the first "len" bytes, at least one, of the reserved slot. Returns 0,
 * or -1 with errno of write(2); the slot stays reserved then.
 */
int	ring_commit(struct ring *, size_t len);

/*
 * Side data: up to RING_SIDE_WORDS numbers that the program publishes for the
 * creator, outside of the stream of bytes and without waking it. Both rings
 * share them. Each call replaces the first "n"; numbers beyond RING_SIDE_WORDS
 * are dropped, and read as 0. ring_get_side_data() returns 0, or -1 if none was
 * ever published or they are just being replaced; the copy is useless then. Do
 * not trust them: the peer writes them.
 */
#define RING_SIDE_WORDS	64
void	ring_put_side_data(struct ring *, const uint64_t *, size_t n);
int	ring_get_side_data(const struct ring *, uint64_t *, size_t n);

/*
 * The tag: a number that the creator sets for both rings, and either end reads
 * at any time; 0 at first.
 */
void	ring_set_tag(struct ring *, unsigned int);
unsigned int ring_tag(const struct ring *);

#endif /* HAYATE_RING_H */
