/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests-hook: scp's first requests go out before their turn
 * (early-requests.h).
 *
 * scp writes them into memory that it offers to ssh (rendezvous.h), because
 * only ssh knows the server. Before scp can receive VERSION, ssh writes its
 * decision into that memory (enum early_requests_state). If the server is known
 * to accept early requests, ssh sends them behind INIT if this key got an SFTP
 * server there before. Otherwise scp sends them after VERSION, because until
 * then another program might read them. With other servers nothing changes.
 *
 * This is done if scp has one source, a single file: without -r, and without a
 * pattern. An uploaded file of at most EARLY_REQUESTS_FILE_MAX bytes is sent
 * whole. If it changes before its turn, the replies are dropped and it is sent
 * again.
 *
 * Called from patches/136-sftp-client-shmpipe.patch and by the hooks that send
 * requests and take replies. Main thread only.
 */

#ifndef HAYATE_EARLY_REQUESTS_HOOK_H
#define HAYATE_EARLY_REQUESTS_HOOK_H

#include <sys/types.h>

struct iovec;
struct sshbuf;

#define EARLY_REQUESTS_FILE_MAX	(32 * 1024)	/* bytes */

/* The first byte of the memory; the requests follow. */
enum early_requests_state {
	EARLY_REQUESTS_NOTHING,		/* at first; none may go out */
	EARLY_REQUESTS_SENT,		/* ssh: they went out with INIT */
	EARLY_REQUESTS_MAY_SEND,	/* ssh: they may go out with VERSION */
	EARLY_REQUESTS_STUCK	/* scp: one may never be answered */
};

/*
 * scp is going to download or upload this one file over the next connection;
 * "preserve": with its times.
 */
void	early_requests_get(const char *path);
void	early_requests_put(const char *file, const char *target, int preserve);

/* Nothing is sent ahead on the next connection. */
void	early_requests_none(void);

/*
 * A connection begins: returns a descriptor of the memory, which
 * early_requests_begin() closes, or -1.
 */
int	early_requests_offer(int fd);

/*
 * VERSION has arrived over "fd". If ssh has sent the requests, or permits scp
 * to send them now, waits for their replies and returns 1; the caller drops any
 * later reply with the ID EARLY_REQUESTS_ID or above. Otherwise returns 0.
 */
int	early_requests_begin(int fd);

/* The descriptor leads to another connection now: drops all replies. */
void	early_requests_forget(int fd);

/*
 * Call before a request is sent; "request" is without its length. Returns 1 if
 * it must not be sent, because its reply is ready. Returns 0 if it must be
 * sent. If a reply is ready all the same, the request's ID is changed, so that
 * the server's reply is dropped.
 */
int	early_requests_has_reply(int fd, void *request, size_t len);

/*
 * Returns the replies that are ready, each with its length before it, or NULL.
 * The caller consumes them and does not free the buffer.
 */
struct sshbuf *early_requests_ready(int fd);

/* As shmpipe_send() and shmpipe_receive(), for upstream's functions */
size_t	early_requests_send(int fd, struct iovec *, int n,
    int (*)(void *, size_t), void *);
size_t	early_requests_receive(int fd, void *, size_t len,
    int (*)(void *, size_t), void *);

#endif /* HAYATE_EARLY_REQUESTS_HOOK_H */
