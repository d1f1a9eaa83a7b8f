/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests: the first requests of an SFTP session, sent before their
 * turn.
 *
 * A copy of a small file sends one request after the other: is it a directory,
 * open it, read it, is there more. All are known when scp starts, and can go
 * out together, behind INIT and before VERSION. The functions that copy the
 * file do not know of this. If they send a request that went out before, they
 * get the reply that has arrived, and nothing is sent; any other request is
 * sent as usual.
 *
 * The requests have IDs of their own, which begin with the highest bit. Replies
 * are consumed in order: each is used once, and none is used after a newer one.
 *
 * If OPEN or a request behind it fails, none of these replies is used: the file
 * is opened again, and all requests are sent in turn.
 *
 * The requests behind OPEN name the file by the handle that OpenSSH's server
 * gives the first file, four bytes of zero. Any other server refuses a handle
 * that it has not given.
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

/* Returns NULL if out of memory. */
struct early_requests *early_requests_new(void);

/* Accepts NULL. */
void	early_requests_free(struct early_requests *);

/*
 * Adds a copy of a request, with an ID of its own. Returns 0, or -1 if out of
 * memory or if there are EARLY_REQUESTS_MAX already.
 */
int	early_requests_add(struct early_requests *, const void *request,
    size_t len);

/*
 * Returns the requests as they are sent, each with its length before it; valid
 * until the next early_requests_add().
 */
const void *early_requests_bytes(const struct early_requests *, size_t *len);

/*
 * A message has arrived. Keeps it, and returns 1, if it is the first reply to
 * one of the requests; returns 0 if it is none, and -1 if there is no memory.
 */
int	early_requests_keep_reply(struct early_requests *, const void *message,
    size_t len);

/*
 * Returns 1 if no further reply is to be waited for: all have arrived, or a
 * download is neither file nor directory (a FIFO), and its OPEN may never
 * return.
 */
int	early_requests_are_answered(const struct early_requests *);

/* After that: returns 1 if the server may hang in such an OPEN. */
int	early_requests_are_stuck(const struct early_requests *);

/* Returns 1 if OPEN or a request behind it has failed. */
int	early_requests_have_failed(const struct early_requests *);

/*
 * A request is about to be sent. Returns its reply, with the ID of "request",
 * valid until the next call; or NULL if the request has to be sent. "*sends"
 * becomes 1 if it has to be sent although there is a reply, as the CLOSE of a
 * download; the server's own reply is then to be dropped.
 */
const void *early_requests_find_reply(struct early_requests *,
    const void *request, size_t len, size_t *reply_len, int *sends);

#endif /* HAYATE_EARLY_REQUESTS_H */
