/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-mux-hook: data in clear on a connection that several ssh processes
 * share (ControlMaster). Each session is in clear only if its own user asked.
 *
 * A process that asks sends an extension in its hello to the master (PROTOCOL,
 * 3.5). A process that sends none, such as stock OpenSSH, did not ask: the
 * master restores encryption before the first request of its session.
 *
 * Called from patches/247-mux-authonly.patch. Not thread safe.
 */

#ifndef HAYATE_AUTHONLY_MUX_HOOK_H
#define HAYATE_AUTHONLY_MUX_HOOK_H

#include "authonly-hook.h"

struct ssh;
struct sshbuf;
struct Channel;

/*
 * In a process that uses the connection, if NoneSwitch is yes:
 * authonly_mux_put_request() adds the user's request for a session to the hello
 * "m", or logs why it does not. authonly_mux_read_answer() looks for the answer
 * in the master's hello, behind the version, and consumes nothing; if there is
 * none, it logs that data stays encrypted.
 */
void	authonly_mux_put_request(struct sshbuf *m);
void	authonly_mux_read_answer(const struct sshbuf *m);

/*
 * In the master: authonly_mux_put_answer() adds the answer to the hello if
 * authonly_client_has_asked(). The hello, behind its length, must be all that
 * "output" holds.
 * authonly_mux_read_request() keeps the request in the hello that arrived on
 * the channel "control", behind the version. It consumes nothing.
 */
void	authonly_mux_put_answer(struct sshbuf *output);
void	authonly_mux_read_request(int control, const struct sshbuf *m);

/*
 * In the master, for authonly-client-hook.c: a request of the session "c" of
 * another process is about to be sent. Restores encryption if that process did
 * not ask. Otherwise, if the process asked for the answer and "type" is "exec",
 * "shell" or "subsystem", writes it to the user's standard error.
 */
void	authonly_mux_before_request(struct ssh *, struct Channel *c,
    const char *type);

#endif /* HAYATE_AUTHONLY_MUX_HOOK_H */
