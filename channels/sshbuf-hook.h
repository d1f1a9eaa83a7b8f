/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sshbuf-hook: what our buffers offer beyond upstream's sshbuf.h: content
 * without a copy, more than 128 MiB, and memory that goes back before the
 * buffer is empty. A channel's output has to hold a whole window.
 *
 * A buffer's content lies in one of three places:
 *
 *	OWN        in memory of the buffer, as upstream
 *	ATTACHED   all of it in the caller's memory: sshbuf_attach()
 *	EXTERNAL   a part of it in the caller's memory: sshbuf_put_external()
 *
 * Consuming works in all of them, and reading in the first two: an EXTERNAL
 * buffer has a gap of undefined bytes until it is linearized. Whatever changes
 * an ATTACHED buffer, except by consuming, copies the content first, so callers
 * of sshbuf.h see no difference.
 *
 * A buffer made by sshbuf_from() or sshbuf_fromb(), and one that has such a
 * child, is read-only. A buffer with impossible fields ends the process with
 * SIGSEGV, in every function. A buffer belongs to one thread at a time.
 */

#ifndef HAYATE_SSHBUF_HOOK_H
#define HAYATE_SSHBUF_HOOK_H

#include <stddef.h>

struct sshbuf;

/* 1.25 GiB: the largest window, and a quarter for peers that exceed it */
#define SSHBUF_CHANNEL_MAX	((size_t)5 << 28)

/*
 * Raises the limit of a buffer to "max_size" bytes; never lowers it. Allocates
 * nothing. Returns 0, or SSH_ERR_INVALID_ARGUMENT beyond SSHBUF_CHANNEL_MAX or
 * for a read-only buffer.
 */
int	sshbuf_raise_max(struct sshbuf *, size_t max_size);

/*
 * Returns memory of consumed content to the system: if it is 8 MiB or more, or
 * all beyond 4 MiB of an empty buffer. Copies an external part into its gap
 * first. Does nothing to an attached or read-only buffer, nor to one whose
 * memory is not of bufmap.h, as below 1 MiB and outside Linux; if the system
 * refuses, the memory stays. Moves the content: pointers into it become
 * invalid, which is why sshbuf_consume() does not do this.
 */
void	sshbuf_trim(struct sshbuf *);

/*
 * Makes "len" bytes at "p" the content of an empty buffer, without a copy. They
 * must stay readable and in place until release(arg) is called, exactly once:
 * when the buffer is reset, freed, changed or given other content. Consuming
 * all of them does not release them; sshbuf_unshare() then does. Returns 0, or
 * SSH_ERR_* with nothing attached: SSH_ERR_INVALID_ARGUMENT if the buffer is
 * not empty or "p" or "release" is NULL, SSH_ERR_NO_BUFFER_SPACE beyond its
 * limit, SSH_ERR_BUFFER_READ_ONLY.
 */
int	sshbuf_attach(struct sshbuf *, const void *p, size_t len,
    void (*release)(void *), void *arg);

/*
 * Copies attached content that was not consumed into the buffer's own memory,
 * and calls release(arg). Does nothing if none is attached. Returns 0, or
 * SSH_ERR_* with nothing changed.
 */
int	sshbuf_unshare(struct sshbuf *);

/* The external part of a buffer's content */
struct sshbuf_external {
	const unsigned char *data;	/* the caller's memory */
	size_t	 at;		/* its position, from sshbuf_ptr() on */
	size_t	 len;		/* bytes; 0: no external part */
};

/*
 * Appends "len" bytes as sshbuf_put() does, but leaves them where they are. The
 * buffer has a gap of undefined bytes in their place: the caller must keep
 * readers of the buffer away from it, and the data unchanged, until
 * sshbuf_linearize(), or until the buffer is reset or freed. More may be
 * appended behind them; consuming or growing linearizes the buffer, as does
 * another call, because there is one part at a time. Attached content is copied
 * first. No callback says that the data is no longer needed. Returns 0, or
 * SSH_ERR_* with nothing appended.
 */
int	sshbuf_put_external(struct sshbuf *, const void *, size_t len);

/*
 * Returns a copy of the description of the external part; all 0 if there is
 * none.
 */
struct sshbuf_external sshbuf_external(const struct sshbuf *);

/*
 * Copies the external part into its gap and forgets it, if there is one. Cannot
 * fail.
 */
void	sshbuf_linearize(struct sshbuf *);

#endif /* HAYATE_SSHBUF_HOOK_H */
