/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clear-hook: names the modes of clear.h in a KEXINIT when they may be named,
 * and sees what came of it.
 *
 * The client puts them before its own ciphers, the server behind its own:
 * who does not want them does not name them, and the exchange ends with
 * encryption. A client that was refused does not name them again, and has
 * the MAC of the user's own order before it sends data.
 *
 * Nothing is named before clear_serve(), which is reached after
 * authentication: by ssh before its loop, by sshd in the loop of the process
 * that serves the session. One connection a process. Not thread safe.
 */

#ifndef CLEAR_HOOK_H
#define CLEAR_HOOK_H

#include <sys/types.h>

#include "clear.h"

struct ssh;
struct newkeys;

/*
 * For the patches
 */

/* kex_send_kexinit(): rewrites ssh->kex->my. Returns 0 or SSH_ERR_*. */
int	clear_kexinit(struct ssh *);

/*
 * ssh_set_newkeys(): refuses keys that must not be, and says how many blocks
 * one of them may protect; "rekey_limit" are bytes, 0 for none. Returns 0 or
 * SSH_ERR_*, which ends the connection.
 */
int	clear_newkeys(struct ssh *, int mode, const struct newkeys *,
    u_int64_t rekey_limit, u_int64_t *max_blocks);

/*
 * channel_request_start(), channel_new(), and where else something private
 * begins: what is sent after these is encrypted, if it has to be. All may
 * wait as clear_encrypt().
 */
void	clear_before_request(struct ssh *, int channel, const char *type);
void	clear_before_channel(struct ssh *, const char *type);
void	clear_before(struct ssh *, enum clear_private);

/*
 * For the two sides, ssh/clearcli-hook.c and sshd/clearsrv-hook.c
 */

struct clear_side {
	int	server;
	/* Both directions have new keys, of the other kind than before. */
	void	(*changed)(struct ssh *);
	/*
	 * The client named modes, and we did not; "ends" if it named nothing
	 * else that we have, which ends the connection. NULL in a client
	 */
	void	(*withheld)(struct ssh *, enum clear_answer, int ends);
	/* A request is about to go. NULL in a server */
	void	(*request)(struct ssh *, int channel, const char *type);
};

/* The session's loop begins. "asked" is the wish of a client's user. */
void	clear_serve(const struct clear_side *, int asked);

/* Whether the modes may be named, as things are at this moment. */
enum clear_answer clear_now(struct ssh *);

/* A client's reason for encryption, as a clause for the user; never NULL. */
const char *clear_why_not(struct ssh *);

/*
 * A client asks, and returns when it was answered: one key exchange, or two
 * where the first was refused and took a MAC that the user's order does not
 * give. Messages are dispatched.
 */
void	clear_ask(struct ssh *);

/* The mode in force, with its MAC, for people; NULL: all is encrypted. */
const char *clear_mode(void);

/* A mode is in force, or may be once the key exchange under way has ended. */
int	clear_at_hand(struct ssh *);

/* Something private comes. The first reason stays. */
void	clear_set_private(enum clear_private);
enum clear_private clear_private(void);

/* Waits until no key exchange is under way. Messages are dispatched. */
void	clear_finish_kex(struct ssh *);

/* Whatever is sent from now on is encrypted. May wait as the above. */
void	clear_encrypt(struct ssh *);

#endif /* CLEAR_HOOK_H */
