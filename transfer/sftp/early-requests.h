/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests: the first requests of an SFTP session, sent before their
 * turn.
 *
 * A copy of a small file asks one question after the other: is it a directory,
 * open it, read it, is there more. All are known when scp starts, and can go
 * out together, behind INIT and before VERSION. Whoever copies the file knows
 * nothing of this. When it sends a request that went out before, it gets the
 * reply that has arrived, and nothing is sent; any other request goes its way.
 *
 * The requests have IDs of their own, which begin with the highest bit. Replies
 * are consumed in order: each is used once, and none is used after a newer one.
 *
 * If one reply from that to OPEN on is no success, none of these is used: the
 * file is opened anew, and all that follows is asked in turn.
 *
 * The file is opened by name, and what follows names it by the handle that a
 * server of OpenSSH gives the first file, four bytes of zero. Any other server
 * refuses a handle that it has not given.
 *
 * Messages are without their length. No I/O and no upstream header;
 * early-requests-hook.c sends and receives.
 */

#ifndef HAYATE_EARLY_REQUESTS_H
#define HAYATE_EARLY_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

/* The handle, four bytes */
#define EARLY_REQUESTS_HANDLE		"\0\0\0\0"
#define EARLY_REQUESTS_HANDLE_LEN	4

/* The ID of the first request; later ones count up. */
#define EARLY_REQUESTS_ID		0x80000000U
#define EARLY_REQUESTS_MAX	8	/* at most */

/*
 * In VERSION, a name with the value "1": the SFTP server is all that the
 * session runs, and once the client has hung up it ends with status 0.
 */
#define OPENING_OWN		"own@hayate.invalid"

struct early_requests;

/* NULL: no memory */
struct early_requests *early_requests_new(void);
void	early_requests_free(struct early_requests *);

/*
 * Adds a request; its ID is replaced. Returns 0, or -1: no memory, or there are
 * too many.
 */
int	early_requests_add(struct early_requests *, const void *request,
    size_t len);

/* The requests as they are sent, each with its length before it */
const void *early_requests_bytes(const struct early_requests *, size_t *len);

/*
 * A message has arrived. Keeps it, and returns 1, if it is the first reply to
 * one of the requests; returns 0 if it is none, and -1 if there is no memory.
 */
int	early_requests_keep_reply(struct early_requests *, const void *message,
    size_t len);

/*
 * Returns 1 if no further reply is to be waited for. That is also so if what is
 * to be opened is neither file nor directory: to open it may take for ever.
 */
int	early_requests_are_answered(const struct early_requests *);

/* After that: whether the server has not answered, because it opens such. */
int	early_requests_are_stuck(const struct early_requests *);

/* Whether a reply from that to OPEN on was no success. */
int	early_requests_have_failed(const struct early_requests *);

/*
 * A request is about to be sent. Returns its reply, with its ID, or NULL if it
 * has to be sent. "*sends": it has to be sent all the same, and the server's
 * own reply is to be dropped. The reply is valid until the next call.
 */
const void *early_requests_find_reply(struct early_requests *,
    const void *request, size_t len, size_t *reply_len, int *sends);

#endif /* HAYATE_EARLY_REQUESTS_H */
