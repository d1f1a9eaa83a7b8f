/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * opening-hook: scp's first requests go out before their turn (opening.h).
 *
 * scp writes them into memory that ssh may have, and tells it where (tell.h).
 * Only ssh knows the server. What it does stands in the memory, before scp can
 * get VERSION (opening_says). To a server that is known to take them, ssh
 * sends them behind INIT if the user was seen to get an SFTP server there with
 * this key, and otherwise scp sends them behind VERSION: before that nobody
 * knows what program reads them. With another server nothing is different.
 *
 * It is done where scp has one source, which is one file: without -r, and
 * without a pattern. A file that is sent goes out whole before VERSION if it
 * has at most OPENING_MOST bytes. If it has changed since, nothing of what came
 * back is used.
 *
 * Called from patches/136-sftp-client-shmpipe.patch and by the hooks that send
 * requests and take replies. Main thread only.
 */

#ifndef HAYATE_OPENING_HOOK_H
#define HAYATE_OPENING_HOOK_H

#include <sys/types.h>

struct iovec;
struct sshbuf;

#define OPENING_MOST	(32 * 1024)

/* The first byte of the memory; the requests follow. */
enum opening_says {
	OPENING_NOTHING,
	OPENING_SENT,			/* ssh: they went out with INIT */
	OPENING_SEND,			/* ssh: they may go out with VERSION */
	OPENING_STUCK			/* scp: one may never be answered */
};

/* scp is going to copy this one file; "preserve": with its times. */
void	opening_get(const char *path);
void	opening_put(const char *file, const char *target, int preserve);

/* Nothing is sent ahead on the next connection. */
void	opening_none(void);

/*
 * A connection begins: returns a descriptor of the memory, which is open until
 * opening_begin(), or -1.
 */
int	opening_offer(int fd);

/*
 * VERSION has come over "fd". If ssh has sent the requests, or says that they
 * may be sent now, waits for their replies.
 */
void	opening_begin(int fd);

/*
 * A request without its length is going to be sent. Returns 1 if it is not to
 * be: its reply is there.
 */
int	opening_has(int fd, const void *request, size_t len);

/* Replies that are there, each with its length before it, or NULL: none */
struct sshbuf *opening_ready(int fd);

/*
 * Returns 1 if nobody waits for this reply: it is late, or ours was taken. Is
 * called once for each reply.
 */
int	opening_drops(int fd, uint32_t id);

/* As shmpipe_send() and shmpipe_receive(), for upstream's functions */
size_t	opening_send(int fd, struct iovec *, int n,
    int (*)(void *, size_t), void *);
size_t	opening_receive(int fd, void *, size_t len,
    int (*)(void *, size_t), void *);

#endif /* HAYATE_OPENING_HOOK_H */
