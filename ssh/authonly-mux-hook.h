/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-mux: data in clear on a connection that several ssh processes share
 * (ControlMaster). Each session is in clear only if its own user asked.
 *
 * A process that wants it says so in its hello to the master, as an extension
 * (PROTOCOL, 3.5). One that says nothing, as stock OpenSSH's, did not ask, and
 * its session brings encryption back before its first request.
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
 * In a process that uses the connection: adds the wish to its hello "m", if
 * there is one, or tells the user why not; looks for the answer in the rest
 * of the master's hello, of which nothing is taken.
 */
void	authonly_mux_ask(struct sshbuf *m);
void	authonly_mux_answered(const struct sshbuf *m);

/*
 * In the master: adds the answer to its hello, which is all that "output"
 * holds, behind its length; takes note of the wish in what follows the version
 * in the hello that came on the control channel with that number, of which
 * nothing is taken.
 */
void	authonly_mux_answer(struct sshbuf *output);
void	authonly_mux_asked(int control, const struct sshbuf *m);

/*
 * In the master, for authonly-client-hook.c: a request of another process's session
 * "c" is about to go. Brings encryption back if that did not ask, and tells
 * its user what became of it if it did.
 */
void	authonly_mux_request(struct ssh *, struct Channel *c, const char *type);

#endif /* HAYATE_AUTHONLY_MUX_HOOK_H */
