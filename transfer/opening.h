/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * opening: the first requests of an SFTP session, sent before their turn.
 *
 * A copy of a small file asks one question after the other: is it a directory,
 * open it, read it, is there more. All are known when scp starts, and can go
 * out together, behind INIT and before VERSION. Whoever copies the file knows
 * nothing of this. When it sends a request that went out before, it gets the
 * reply that has come, and nothing is sent; any other request goes its way.
 *
 * The requests have IDs of their own, which begin with the highest bit. A later
 * request is answered by a later one of the opening: nothing is used twice, and
 * nothing that is older than what was used before.
 *
 * If one reply from that to OPEN on is no success, none of these is used: the
 * file is opened anew, and all that follows is asked in turn.
 *
 * The file is opened by name, and what follows names it by the handle that a
 * server of OpenSSH gives the first file, four bytes of zero. Any other server
 * refuses a handle that it has not given.
 *
 * Messages are without their length. No I/O and no upstream header;
 * opening-hook.c sends and receives.
 */

#ifndef HAYATE_OPENING_H
#define HAYATE_OPENING_H

#include <stddef.h>
#include <stdint.h>

/* The handle, four bytes */
#define OPENING_HANDLE		"\0\0\0\0"
#define OPENING_HANDLE_LEN	4

/* The ID of the first request; later ones count up. */
#define OPENING_ID		0x80000000U
#define OPENING_REQUESTS	8	/* at most */

/*
 * In VERSION, a name with the value "1": the SFTP server is all that the
 * session runs, and once the client has hung up it ends with status 0.
 */
#define OPENING_OWN		"own@hayate.invalid"

struct opening;

/* NULL: no memory */
struct opening *opening_new(void);
void	opening_free(struct opening *);

/*
 * Adds a request; its ID is replaced. Returns 0, or -1: no memory, or there are
 * too many.
 */
int	opening_add(struct opening *, const void *request, size_t len);

/* The requests as they are sent, each with its length before it */
const void *opening_bytes(const struct opening *, size_t *len);

/*
 * A message has come. Keeps it, and returns 1, if it is the first reply to one
 * of the requests; returns 0 if it is none, and -1 if there is no memory.
 */
int	opening_keep(struct opening *, const void *message, size_t len);

/*
 * Returns 1 if no further reply is to be waited for. That is also so if what is
 * to be opened is neither file nor directory: to open it may take for ever.
 */
int	opening_has_all(const struct opening *);

/* After that: whether the server has not answered, because it opens such. */
int	opening_is_stuck(const struct opening *);

/* Whether a reply from that to OPEN on was no success. */
int	opening_has_failed(const struct opening *);

/*
 * A request is about to be sent. Returns its reply, with its ID, or NULL if it
 * has to be sent. "*sends": it has to be sent all the same, and the server's
 * own reply is to be dropped. The reply is valid until the next call.
 */
const void *opening_answer(struct opening *, const void *request, size_t len,
    size_t *reply_len, int *sends);

#endif /* HAYATE_OPENING_H */
