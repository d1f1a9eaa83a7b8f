/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-session-hook: sends the requests for the session and its command right
 * behind the signature, without waiting for the reply to it.
 *
 * The server must be OpenSSH from 9.0 on, by its banner and its extensions
 * (early_auth_is_verified()). Such a server executes the requests if the
 * signature is right. Otherwise it answers each with UNIMPLEMENTED and executes
 * none. Its first channel has the number 0, so the client can use that number
 * before it is confirmed. The signing key must have been offered to the server,
 * or accepted in an earlier login.
 *
 * If the signature is refused, or another method is needed as well, the session
 * is opened again as in stock when the user is authenticated.
 *
 * Nothing is sent early unless the session is all that there is: no forwarding,
 * no shared connection, no local command, no background, no compression (which
 * begins with the reply), no integrity-only mode.
 *
 * An early session can end before the server has proven the host keys that
 * UpdateHostKeys learns. When ssh requests such a proof, the cache entry makes
 * the next login open its session as stock does, which leaves time for it.
 *
 * States: early-session-hook.c. In ssh, for early-auth-hook.c and
 * early-requests-ssh-hook.c, for patch 249, and for upstream's clientloop.c, a
 * call of which build-aux/overlay.mk renames. Main thread only.
 */

#ifndef HAYATE_EARLY_SESSION_HOOK_H
#define HAYATE_EARLY_SESSION_HOOK_H

struct ssh;

/* Static functions of upstream's ssh.c; patch 249 sets the pointers. */
extern struct early_session_calls {
	/* sends the open; returns our number of the channel */
	int	(*open)(struct ssh *);
	/* sends the requests of the session if "success"; the last is NULL */
	void	(*setup)(struct ssh *, int id, int success, void *);
} early_session_calls;

/* The number that such a server gives the first channel */
#define EARLY_SESSION_FIRST	0

/* Returns 1 if the server takes an early session. Valid after EXT_INFO. */
int	early_session_is_allowed(const struct ssh *);

/*
 * Returns 1 if options and server permit an early session. Back-offs and the
 * key are the caller's to check.
 */
int	early_session_is_possible(const struct ssh *);

/*
 * Sends the open, the requests of the session, and early requests of scp. To be
 * called when the signature was just sent and early_session_is_possible().
 * Does nothing if a session is sent already and was not rejected.
 */
void	early_session_send(struct ssh *);

/*
 * Call it when USERAUTH_FAILURE was received: the server has executed nothing.
 * Does nothing if no session was sent.
 */
void	early_session_rejected(void);

/*
 * Call it when the user is authenticated and upstream opens its session.
 * Returns 0 if no session was sent early, else 1 and the number of its channel
 * in "*id". Sends the open again if it was rejected.
 */
int	early_session_is_open(struct ssh *, int *id);

/*
 * Called when the process ends by cleanup_exit(): restores the blocking mode of
 * standard input, output and error, which other programs may share. Upstream
 * does not, because without an early session it has no channel by then.
 */
void	early_session_cleanup(void);

/*
 * Returns 1 if the options ask for one session in the foreground and no more.
 */
int	early_session_is_plain(void);

/* Returns 1 if ssh has requested a proof of host keys (UpdateHostKeys). */
int	early_session_is_learning(void);

/* Returns 1 while a session is sent and the server has not replied at all. */
int	early_session_is_pending(void);

/*
 * The following are in early-auth-hook.c. Each writes the cache entry of the
 * user if it changes.
 */

/* Makes the next login open its session as stock does. "why" is for -v. */
void	early_auth_defer_session(const char *why);

/*
 * Ends the back-off of early sessions, because the server has confirmed this
 * one.
 */
void	early_auth_session_accepted(void);

/*
 * Returns 1 if the last session that this user had with the key of this login
 * got an SFTP server.
 */
int	early_auth_sftp_is_known(void);

/* Notes whether this session got an SFTP server (1) or not (0). */
void	early_auth_note_sftp(int);

#endif /* HAYATE_EARLY_SESSION_HOOK_H */
