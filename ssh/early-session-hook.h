/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-session-hook: the session and its command go out behind the signature,
 * instead of when the server has answered that.
 *
 * The server must be one that passes on what follows the right signature, says
 * that it does not know a message if it was not the right one, and gives the
 * first channel the number 0: OpenSSH from 9.0 on. A banner may say anything,
 * so it must also have named an extension that no other server has. It must
 * have accepted the key, in an earlier login or as an answer in this one. If
 * the signature is refused all the same, or was only one of two that are
 * wanted, the session is opened again as in stock, once the user is in; nothing
 * has run, because such a server has refused each of the requests.
 *
 * It is done only where the session is all that there is: no forwarding, no
 * shared connection, no local command, no background, no compression (which
 * begins with the answer), no data in clear.
 *
 * UpdateHostKeys learns keys by a question that needs the time of another round
 * trip. A session that ends sooner leaves a mark in the memory, and the next
 * one waits.
 *
 * Called by early-auth-hook.c and from patches/249-ssh-early-session.patch.
 */

#ifndef HAYATE_EARLY_SESSION_HOOK_H
#define HAYATE_EARLY_SESSION_HOOK_H

struct ssh;

/* In ssh.c */
extern struct early_session_calls {
	int	(*open)(struct ssh *);
	void	(*setup)(struct ssh *, int id, int success, void *);
} early_session_calls;

/* The number that such a server gives the first channel */
#define EARLY_SESSION_FIRST	0

/* Whether the server is one that was seen to take it. */
int	early_session_is_allowed(const struct ssh *);

/* Whether the user wants nothing but a session, and the server takes it. */
int	early_session_is_possible(const struct ssh *);

/* Opens it, with its command. */
void	early_session_send(struct ssh *);

/* The signature was not right. */
void	early_session_rejected(void);

/*
 * The user is in: whether there is a channel, and its number. It is opened
 * again if the server did not take it.
 */
int	early_session_is_open(struct ssh *, int *id);

/*
 * The process ends by cleanup_exit(). The session has made standard input,
 * output and error non-blocking, which other programs have as well; here stock
 * has no session yet, or frees it.
 */
void	early_session_cleanup(void);

/* Whether there is nothing but one session in the foreground. */
int	early_session_is_plain(void);

/* Whether the server was asked to prove that it has keys, to learn them. */
int	early_session_is_learning(void);

/* Whether it was sent and the server has not said yes or no. */
int	early_session_is_pending(void);

/* For early-session-hook.c, in early-auth-hook.c: the next login is to wait. */
void	early_auth_defer_session(const char *why);

/* Likewise: the server has taken the session. */
void	early_auth_session_accepted(void);

/*
 * For early-requests-ssh-hook.c, likewise: whether the last session that this
 * user had with the key of this login got an SFTP server; and what this one
 * has.
 */
int	early_auth_sftp_is_known(void);
void	early_auth_note_sftp(int);

#endif /* HAYATE_EARLY_SESSION_HOOK_H */
