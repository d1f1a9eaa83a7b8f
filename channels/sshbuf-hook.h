/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sshbuf-hook: what our buffers can do beyond upstream's sshbuf.h. A channel's
 * output holds as much as its window lets come, and upstream's end at 128 MiB.
 */

#ifndef HAYATE_SSHBUF_HOOK_H
#define HAYATE_SSHBUF_HOOK_H

#include <stddef.h>

struct sshbuf;

/* The largest window, and a quarter for peers that send more than they may */
#define SSHBUF_CHANNEL_MAX	((size_t)5 << 28)

/* Lets a buffer hold more. Returns 0, or SSH_ERR_* if that is too much. */
int	sshbuf_raise_max(struct sshbuf *, size_t max_size);

/*
 * Gives back the memory of what was taken from a large buffer. Pointers into it
 * are no longer valid, which is why sshbuf_consume() does not do this.
 */
void	sshbuf_trim(struct sshbuf *);

/*
 * An empty buffer gets "len" bytes as its content, without a copy. They must
 * stay where they are until "ended" is called, once: when the buffer is reset
 * or freed, and before anything else becomes its content. So what was consumed
 * can be used as in any buffer. Whoever would change the buffer gets a copy of
 * what is left. Returns 0 or SSH_ERR_*, and then nothing is lent.
 */
int	sshbuf_attach(struct sshbuf *, const void *, size_t len,
    void (*release)(void *), void *arg);

/*
 * Ends the loan, if there is one, with a copy of what is left. Returns 0 or
 * SSH_ERR_*.
 */
int	sshbuf_unshare(struct sshbuf *);

/* Bytes of a buffer's content that lie outside of it */
struct sshbuf_external {
	const unsigned char *data;
	size_t	 at, len;	/* from sshbuf_ptr() on; or 0 bytes */
};

/*
 * As sshbuf_put(), but the bytes stay outside. In their place the buffer has
 * room that holds nothing: who put them sees to it that nobody reads it until
 * sshbuf_linearize() or the next reset, and that they stay where they are. More
 * may be put behind them. To take anything from the buffer, or to move it, is
 * to join it. Returns 0 or SSH_ERR_*.
 */
int	sshbuf_put_external(struct sshbuf *, const void *, size_t len);
struct sshbuf_external sshbuf_external(const struct sshbuf *);

/* Copies into the buffer what lies outside. */
void	sshbuf_linearize(struct sshbuf *);

#endif /* HAYATE_SSHBUF_HOOK_H */
