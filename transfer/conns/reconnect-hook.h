/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * reconnect-hook: --retry TIME of scp and sftp. A copy that has lost its
 * connection waits, logs in again, and goes on.
 *
 * The ssh that scp started outlives its connection (relogin-hook.h) and starts
 * another one for each attempt, which never prompts. The pauses between
 * attempts grow up to RETRY_PAUSE_MAX_S. TIME counts from each loss. The socket
 * to the new ssh gets the descriptor of the old one, which upstream's functions
 * keep using.
 *
 * All other connections of the copy are given up as well, also those to the
 * second server of scp -3. transfer-hook.c restarts the files that were not
 * done (SCHED_CONNS_ALL): the data at the target is compared as with --resume,
 * and the rest is copied. Files that are done are not compared again.
 *
 * A connection that is lost between two transfers, or during a command of sftp
 * that copies nothing, ends the program as before.
 *
 * Main thread only. Linux only, as rendezvous.h; elsewhere, and if the login
 * prompted the user, one line says that the copy ends with its connection.
 */

#ifndef HAYATE_RECONNECT_HOOK_H
#define HAYATE_RECONNECT_HOOK_H

struct server;

/* Pauses between attempts in seconds: the first one, and the longest */
#define RETRY_PAUSE_S		1
#define RETRY_PAUSE_MAX_S	60

/* The state of one transfer. All 0: a lost connection ends the copy. */
struct reconnect {
	int	 is_possible;		/* see reconnect_is_possible() */
	/* [1]: the target of scp -3 */
	struct {
		struct server *server;
		int	 hold;		/* socket of rendezvous_hold() */
	} conn[2];
	int	 nconns;
	int	 session;	/* of reconnect_keep_ssh(); 0: none */
	void	(*sigpipe)(int);	/* what SIGPIPE did before */
};

/* The user gave --retry: "time" as text, which is kept, and in seconds. */
void	reconnect_want(const char *time, int seconds);

/*
 * A transfer begins: with --retry, asks each ssh to stay. "dest" is NULL unless
 * two servers are involved. A login that cannot be repeated is reported once.
 */
void	reconnect_begin(struct reconnect *, struct server *,
    struct server *dest);

/* The transfer ends: from here on each ssh ends with its connection. */
void	reconnect_end(struct reconnect *);

/*
 * The main connection is lost, and another one is going to take its place: its
 * ssh stays, so that all of them can be replaced later.
 */
void	reconnect_keep_ssh(struct reconnect *);

/*
 * The socket, which leads to an SFTP server that offers "caps" (SFTP_CAP_*),
 * gets the descriptors of the main connection, and is closed. Returns 0, or -1.
 */
int	reconnect_take_over(struct server *, int fd, int caps);

/* Returns 1 between these two if a lost connection can be replaced. */
int	reconnect_is_possible(const struct reconnect *);

/*
 * Call when a connection is lost and all streams of the transfer are freed.
 * Logs in again, to both servers if there are two, until that succeeds. Returns
 * 0 if the descriptors of struct server_conn lead to new SFTP sessions, with
 * INIT and VERSION done. Returns -1 if TIME is over, ssh has ended, or the user
 * has interrupted.
 */
int	reconnect_wait(struct reconnect *);

#endif /* HAYATE_RECONNECT_HOOK_H */
