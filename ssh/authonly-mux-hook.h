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
 * In a process that uses the connection; both do nothing unless NoneSwitch is
 * yes. authonly_mux_put_request() adds the user's request for a session to the
 * hello "m"; without NoneEnabled, or for -W, it logs that data stays encrypted
 * instead, and for commands such as -O check it does neither.
 * authonly_mux_read_answer() looks for the answer in the master's hello, behind
 * the version, and consumes nothing; if a session has none, it logs that data
 * stays encrypted. The process goes on in any case. One such line is logged per
 * process.
 */
void	authonly_mux_put_request(struct sshbuf *m);
void	authonly_mux_read_answer(const struct sshbuf *m);

/*
 * In the master: authonly_mux_put_answer() adds the answer, always the same, to
 * the hello and corrects the length of the hello if
 * authonly_client_has_asked(). The hello, behind its length, must be all that
 * "output" holds.
 *
 * authonly_mux_read_request() looks for a request in the hello that arrived on
 * the channel "control", behind the version, and keeps it, or keeps that there
 * is none, as in a hello that cannot be parsed. The result replaces that of an
 * earlier channel with this number. Consumes nothing.
 */
void	authonly_mux_put_answer(struct sshbuf *output);
void	authonly_mux_read_request(int control, const struct sshbuf *m);

/*
 * In the master, for authonly-client-hook.c: a request of the session "c" of
 * another process is about to be sent. Restores encryption if that process did
 * not ask (authonly_encrypt_before(), which may block). Otherwise, if the
 * process asked for the answer and "type" is "exec", "shell" or "subsystem",
 * queues one line for the user's standard error: that data is in clear, or why
 * not. Either way the request is sent.
 */
void	authonly_mux_before_request(struct ssh *, struct Channel *c,
    const char *type);

#endif /* HAYATE_AUTHONLY_MUX_HOOK_H */
