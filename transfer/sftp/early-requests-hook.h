/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests-hook: scp's first requests go out before their turn
 * (early-requests.h).
 *
 * scp writes them into memory that ssh may have, and tells it where
 * (rendezvous.h). Only ssh knows the server. What it does stands in the memory,
 * before scp can get VERSION (early_requests_state). To a server that is known
 * to take them, ssh sends them behind INIT if the user was seen to get an SFTP
 * server there with this key, and otherwise scp sends them behind VERSION:
 * before that nobody knows what program reads them. With another server nothing
 * is different.
 *
 * It is done where scp has one source, which is one file: without -r, and
 * without a pattern. A file that is sent goes out whole before VERSION if it
 * has at most EARLY_REQUESTS_FILE_MAX bytes. If it has changed since, nothing
 * of what came back is used.
 *
 * Called from patches/136-sftp-client-shmpipe.patch and by the hooks that send
 * requests and take replies. Main thread only.
 */

#ifndef HAYATE_EARLY_REQUESTS_HOOK_H
#define HAYATE_EARLY_REQUESTS_HOOK_H

#include <sys/types.h>

struct iovec;
struct sshbuf;

#define EARLY_REQUESTS_FILE_MAX	(32 * 1024)

/* The first byte of the memory; the requests follow. */
enum early_requests_state {
	EARLY_REQUESTS_NOTHING,
	EARLY_REQUESTS_SENT,		/* ssh: they went out with INIT */
	EARLY_REQUESTS_MAY_SEND,	/* ssh: they may go out with VERSION */
	EARLY_REQUESTS_STUCK	/* scp: one may never be answered */
};

/* scp is going to copy this one file; "preserve": with its times. */
void	early_requests_get(const char *path);
void	early_requests_put(const char *file, const char *target, int preserve);

/* Nothing is sent ahead on the next connection. */
void	early_requests_none(void);

/*
 * A connection begins: returns a descriptor of the memory, which is open until
 * early_requests_begin(), or -1.
 */
int	early_requests_offer(int fd);

/*
 * VERSION has arrived over "fd". If ssh has sent the requests, or says that
 * they may be sent now, waits for their replies, and returns 1: any reply with
 * EARLY_REQUESTS_ID or above is to be dropped from then on.
 */
int	early_requests_begin(int fd);

/* Another connection is at the descriptor: what is there is not its own. */
void	early_requests_forget(int fd);

/*
 * A request without its length is going to be sent. Returns 1 if it is not to
 * be: its reply is there. If it has a reply and has to be sent as well, it gets
 * another ID, so that the server's reply is dropped.
 */
int	early_requests_has_reply(int fd, void *request, size_t len);

/* Replies that are there, each with its length before it, or NULL: none */
struct sshbuf *early_requests_ready(int fd);

/* As shmpipe_send() and shmpipe_receive(), for upstream's functions */
size_t	early_requests_send(int fd, struct iovec *, int n,
    int (*)(void *, size_t), void *);
size_t	early_requests_receive(int fd, void *, size_t len,
    int (*)(void *, size_t), void *);

#endif /* HAYATE_EARLY_REQUESTS_HOOK_H */
