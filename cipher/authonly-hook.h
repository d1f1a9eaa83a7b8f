/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-hook: carries out what authonly.h decides. It names the modes in a
 * KEXINIT when they may be named, and checks the keys that follow.
 *
 * A client puts the modes before its own ciphers, a server behind its own. A
 * side that does not want a mode does not name it, and the exchange ends with
 * encryption. A client that was refused does not name the modes again, and gets
 * the MAC of the user's own order before it sends data.
 *
 * No mode is named before authonly_start(), which is called after
 * authentication: by ssh before its loop, and by the sshd process that serves
 * the session, in its loop. One connection per process. Not thread safe.
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
int	authonly_edit_proposal(struct ssh *);

/*
 * ssh_set_newkeys(): refuses keys that we did not offer, and sets how many
 * blocks a key may protect. "rekey_limit" is in bytes, 0 for none. Returns 0 or
 * SSH_ERR_*, which ends the connection.
 */
int	authonly_check_newkeys(struct ssh *, int mode, const struct newkeys *,
    u_int64_t rekey_limit, u_int64_t *max_blocks);

/*
 * channel_request_start(), channel_new(), and other places where something
 * private begins: what is sent after these calls is encrypted, if it has to be.
 * They may wait, as authonly_start_encryption() does.
 */
void	authonly_encrypt_before_request(struct ssh *, int channel,
    const char *type);
void	authonly_encrypt_before_channel(struct ssh *, const char *type);
void	authonly_encrypt_before(struct ssh *, enum authonly_private);

/*
 * For the two sides, ssh/authonly-client-hook.c and sshd/authonly-server-hook.c
 */

struct authonly_side {
	int	server;
	/* Data is in clear, or encrypted again: new keys in both directions. */
	void	(*mode_changed)(struct ssh *);
	/*
	 * The client named modes, and we named none. "ends": no other cipher is
	 * shared, so the connection ends. NULL in a client.
	 */
	void	(*modes_withheld)(struct ssh *, enum authonly_answer, int ends);
	/* A channel request is about to be sent. NULL in a server. */
	void	(*before_request)(struct ssh *, int channel, const char *type);
};

/* The session's loop begins. "asked": the client's user wants the mode. */
void	authonly_start(const struct authonly_side *, int asked);

/* Returns whether the modes may be named at this moment. */
enum authonly_answer authonly_decide_now(struct ssh *);

/*
 * Returns why a client's data is encrypted, as a clause for the user; never
 * NULL.
 */
const char *authonly_explain_encryption(struct ssh *);

/*
 * A client asks for a mode. Returns when the server has answered: after one key
 * exchange, or after two if the first was refused and took a MAC that the
 * user's order does not lead to. Messages are dispatched meanwhile.
 */
void	authonly_negotiate(struct ssh *);

/* Returns the mode in force with its MAC, for people; NULL: encryption. */
const char *authonly_mode_in_force(void);

/* Returns the name of the cipher of what is sent; NULL: there are no keys. */
const char *authonly_cipher_in_force(void);

/*
 * Returns 1 if a mode is in force, or may be once the key exchange under way
 * has ended.
 */
int	authonly_in_force_or_pending(struct ssh *);

/* Something private follows. The first reason is kept. */
void	authonly_set_private(enum authonly_private);
enum authonly_private authonly_get_private(void);

/*
 * Makes sure that all that is sent from now on is encrypted. May wait until the
 * key exchange under way has ended, and dispatches messages meanwhile.
 */
void	authonly_start_encryption(struct ssh *);

#endif /* HAYATE_AUTHONLY_HOOK_H */
