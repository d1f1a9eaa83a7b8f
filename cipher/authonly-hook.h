/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-hook: names the modes of authonly.h in a KEXINIT when they may be
 * named, and sees what came of it.
 *
 * The client puts them before its own ciphers, the server behind its own:
 * who does not want them does not name them, and the exchange ends with
 * encryption. A client that was refused does not name them again, and has
 * the MAC of the user's own order before it sends data.
 *
 * Nothing is named before authonly_serve(), which is reached after
 * authentication: by ssh before its loop, by sshd in the loop of the process
 * that serves the session. One connection a process. Not thread safe.
 */

#ifndef HAYATE_AUTHONLY_HOOK_H
#define HAYATE_AUTHONLY_HOOK_H

#include <sys/types.h>

#include "authonly.h"

struct ssh;
struct newkeys;

/*
 * For the patches
 */

/* kex_send_kexinit(): rewrites ssh->kex->my. Returns 0 or SSH_ERR_*. */
int	authonly_kexinit(struct ssh *);

/*
 * ssh_set_newkeys(): refuses keys that must not be, and says how many blocks
 * one of them may protect; "rekey_limit" are bytes, 0 for none. Returns 0 or
 * SSH_ERR_*, which ends the connection.
 */
int	authonly_newkeys(struct ssh *, int mode, const struct newkeys *,
    u_int64_t rekey_limit, u_int64_t *max_blocks);

/*
 * channel_request_start(), channel_new(), and where else something private
 * begins: what is sent after these is encrypted, if it has to be. All may
 * wait as authonly_encrypt().
 */
void	authonly_before_request(struct ssh *, int channel, const char *type);
void	authonly_before_channel(struct ssh *, const char *type);
void	authonly_before(struct ssh *, enum authonly_private);

/*
 * For the two sides, ssh/authonly-client-hook.c and sshd/authonly-server-hook.c
 */

struct authonly_side {
	int	server;
	/* Both directions have new keys, of the other kind than before. */
	void	(*changed)(struct ssh *);
	/*
	 * The client named modes, and we did not; "ends" if it named nothing
	 * else that we have, which ends the connection. NULL in a client
	 */
	void	(*withheld)(struct ssh *, enum authonly_answer, int ends);
	/* A request is about to go. NULL in a server */
	void	(*request)(struct ssh *, int channel, const char *type);
};

/* The session's loop begins. "asked" is the wish of a client's user. */
void	authonly_serve(const struct authonly_side *, int asked);

/* Whether the modes may be named, as things are at this moment. */
enum authonly_answer authonly_now(struct ssh *);

/* A client's reason for encryption, as a clause for the user; never NULL. */
const char *authonly_why_not(struct ssh *);

/*
 * A client asks, and returns when it was answered: one key exchange, or two
 * where the first was refused and took a MAC that the user's order does not
 * give. Messages are dispatched.
 */
void	authonly_ask(struct ssh *);

/* The mode in force, with its MAC, for people; NULL: all is encrypted. */
const char *authonly_mode(void);

/* A mode is in force, or may be once the key exchange under way has ended. */
int	authonly_at_hand(struct ssh *);

/* Something private comes. The first reason stays. */
void	authonly_set_private(enum authonly_private);
enum authonly_private authonly_private(void);

/* Waits until no key exchange is under way. Messages are dispatched. */
void	authonly_finish_kex(struct ssh *);

/* Whatever is sent from now on is encrypted. May wait as the above. */
void	authonly_encrypt(struct ssh *);

#endif /* HAYATE_AUTHONLY_HOOK_H */
