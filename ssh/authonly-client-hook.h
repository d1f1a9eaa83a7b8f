/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-client-hook: the client's side of data in clear (cipher/authonly.h).
 * The module requests a mode, and reports the result to the user. Main thread
 * only.
 *
 * Called from patches/240-clientloop-dispatch.patch and 245-ssh-authonly.patch.
 */

#ifndef HAYATE_AUTHONLY_CLIENT_HOOK_H
#define HAYATE_AUTHONLY_CLIENT_HOOK_H

struct ssh;

/*
 * Call it when the session begins, once. "have_pty": the first session gets a
 * terminal. "detaches": that session comes back as a client of this process;
 * its requests are considered now. Does nothing unless NoneSwitch is yes.
 *
 * Asks for a mode unless authonly_decide() has a reason against it, such as a
 * terminal, a shell, or the forwarding of stdio, an agent or X11. Returns when
 * the server has answered (see authonly_negotiate()); no data is sent before.
 * One line at INFO, on stderr, gives the result. The session always goes on,
 * encrypted if the server refused; a connection that fails meanwhile ends the
 * process. Before the session sends input typed at a terminal, or other private
 * data (authonly.h), encryption is restored for the rest of the connection, and
 * another line says so.
 *
 * In a client of "ssh -O proxy", which has no key exchange, the function logs
 * that data stays encrypted, and does nothing else.
 */
void	authonly_client_start(struct ssh *, int have_pty, int detaches);

/*
 * For authonly-mux-hook.c
 */

/*
 * Returns 1 if this process has its own connection and NoneSwitch is yes, even
 * if no mode was named; else 0, as before authonly_client_start().
 */
int	authonly_client_has_asked(void);

/*
 * Logs at INFO why data stays encrypted: "reason" is a clause, as of
 * authonly_explain_answer(). Does nothing if this process has already logged
 * the result of its request, by this function or because a mode began or ended.
 * authonly_client_has_logged() returns 1 then, else 0.
 */
void	authonly_client_log_encrypted(const char *reason);
int	authonly_client_has_logged(void);

/*
 * In clientloop.c: installs the handlers of a session's messages, as upstream
 * does when its loop begins, because some may arrive during the key exchange.
 */
extern void (*const authonly_client_init_dispatch)(struct ssh *);

#endif /* HAYATE_AUTHONLY_CLIENT_HOOK_H */
