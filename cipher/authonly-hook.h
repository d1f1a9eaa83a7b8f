/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-hook: carries out what authonly.h decides. The module names the
 * modes in a KEXINIT when they may be named, and checks the keys that follow.
 *
 * A client puts the modes before its own ciphers, a server behind its own. A
 * side that does not want a mode does not name it, and the key exchange ends
 * with encryption, or fails if no other cipher is shared. After a refusal a
 * client does not name the modes again until authonly_negotiate() is called.
 *
 * No mode is named before authonly_start(), which runs after authentication: in
 * ssh before its loop, and in the sshd process that serves the session. Until
 * then proposals are not changed, and authonly_decide_now() returns
 * AUTHONLY_NOT_AUTHENTICATED. One connection per process. Main thread only.
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

/*
 * In kex_send_kexinit(): rewrites the proposal in ssh->kex->my, with the modes
 * that fit both sides (authonly-proposal-hook.h) or without any, and calls
 * modes_withheld() if that applies. Before authonly_start() it does nothing.
 * Returns 0 or SSH_ERR_*.
 */
int	authonly_edit_proposal(struct ssh *);

/*
 * In ssh_set_newkeys(), for the direction "mode", MODE_IN or MODE_OUT: refuses
 * "none" and GMAC if our KEXINIT did not name them
 * (SSH_ERR_NO_CIPHER_ALG_MATCH), and "none" without an encrypt-then-MAC MAC
 * (SSH_ERR_NO_MAC_ALG_MATCH), each with an error line. Then notes the mode and
 * the cipher in force, and in a client whether its modes were refused; calls
 * mode_changed() if that applies. A client also keeps the server's lists, for
 * later decisions. Returns 0, or SSH_ERR_*, which ends the connection.
 *
 * "*max_blocks" is the number of cipher blocks that the key may protect; the
 * caller sets it to upstream's limit first. If authonly_max_key_bytes() has a
 * limit for the cipher, and "Hayate no" is not set, the lower of that limit and
 * "rekey_limit" replaces upstream's, even if upstream's is lower. "rekey_limit"
 * is RekeyLimit in bytes, 0 for none.
 *
 * In a client "*max_blocks" becomes 1, so that the key is replaced at once, if
 * the server refused the modes and the key has another MAC than the user's
 * order would have chosen, because "none" was sent with an order of its own
 * (authonly-proposal.h).
 */
int	authonly_check_newkeys(struct ssh *, int mode, const struct newkeys *,
    u_int64_t rekey_limit, u_int64_t *max_blocks);

/*
 * In channel_request_start(), channel_new(), and other places before something
 * private is sent. The first two classify the type of a request or of a channel
 * (authonly_classify_*(), where unknown types are private); the third is given
 * the reason. For anything private they call authonly_set_private() and
 * authonly_start_encryption(), which may block and dispatch messages: from the
 * return on, all that we send is encrypted, until the connection ends. For
 * AUTHONLY_PUBLIC they do neither.
 *
 * authonly_encrypt_before_request() then calls before_request(), for private
 * and public requests alike.
 */
void	authonly_encrypt_before_request(struct ssh *, int channel,
    const char *type);
void	authonly_encrypt_before_channel(struct ssh *, const char *type);
void	authonly_encrypt_before(struct ssh *, enum authonly_private);

/*
 * For the two sides, ssh/authonly-client-hook.c and sshd/authonly-server-hook.c
 */

/*
 * Callbacks of one side; the structure must exist until the process ends. None
 * is called before authonly_start().
 */
struct authonly_side {
	int	server;		/* 1: server, 0: client */
	/*
	 * Called when the new keys of both directions are in use, if until then
	 * both directions were encrypted and now at least one is not, or the
	 * reverse. Must not be NULL.
	 */
	void	(*mode_changed)(struct ssh *);
	/*
	 * Server, else NULL. Called at each key exchange in which the client
	 * named modes and we named none, with the reason. "ends" is 1 if no
	 * other cipher is shared, so that the connection ends.
	 */
	void	(*modes_withheld)(struct ssh *, enum authonly_answer, int ends);
	/*
	 * Client, else NULL. Called before each channel request is sent. If the
	 * request is private, its reason was noted and encryption was required
	 * before the call. The callback may require encryption for reasons of
	 * its own; it must not call authonly_negotiate().
	 */
	void	(*before_request)(struct ssh *, int channel, const char *type);
};

/*
 * Call it once, after authentication: from now on the modes may be named; no
 * key exchange is started. "asked" is 1 in a client whose user wants a mode
 * (NoneSwitch); a server passes 0.
 */
void	authonly_start(const struct authonly_side *, int asked);

/*
 * Returns AUTHONLY_OFFER if the modes may be named in a key exchange now, or
 * why not. Says nothing about the mode in force.
 */
enum authonly_answer authonly_decide_now(struct ssh *);

/*
 * Returns why a client's data is encrypted, as the clause behind "because";
 * never NULL, and constant. Must not be called while a mode is in force or
 * being negotiated: if nothing keeps us from naming the modes (AUTHONLY_OFFER),
 * the function assumes that the server has refused them.
 */
const char *authonly_explain_encryption(struct ssh *);

/*
 * Call it in a client, once authonly_decide_now() has returned AUTHONLY_OFFER.
 * Forgets an earlier refusal, waits for a key exchange in progress, and blocks
 * for one that names the modes. If the server refuses them, and the key has
 * another MAC than the user's order would have chosen (see
 * authonly_check_newkeys()), blocks for a second exchange with the user's
 * order. Dispatches messages meanwhile. authonly_mode_in_force() has the
 * result. Ends the process if an exchange fails.
 */
void	authonly_negotiate(struct ssh *);

/*
 * Returns the mode in force for sending or, if we send encrypted data, the mode
 * for receiving, as text for the user: GMAC's name, or "none with" and the name
 * of the MAC. The next keys of that direction free it. NULL if data is
 * encrypted in both directions.
 */
const char *authonly_mode_in_force(void);

/*
 * Returns the name of the cipher for sending, which may be a mode, cut to 63
 * bytes; NULL before the first keys. The next keys overwrite it.
 */
const char *authonly_cipher_in_force(void);

/*
 * Returns 1 if a mode is in force in either direction, or may be in force once
 * the key exchange in progress, for which we have named modes, has ended; else
 * 0. ssh->kex must exist.
 */
int	authonly_in_force_or_pending(struct ssh *);

/*
 * authonly_set_private() notes that private data follows, so that no mode is
 * named any more; the first reason is kept until the process ends.
 * AUTHONLY_PUBLIC changes nothing, and authonly_get_private() returns it if
 * there is no reason. Neither starts encryption.
 */
void	authonly_set_private(enum authonly_private);
enum authonly_private authonly_get_private(void);

/*
 * Makes sure that all that we send from now on is encrypted: starts a key
 * exchange if a mode is in force, and does not wait for it, because packets
 * wait for the new keys. Blocks only while an exchange that named modes is in
 * progress already, and dispatches messages meanwhile. Does nothing in a mux
 * client, for which the master does this. Ends the process if an exchange
 * fails, or after 100 calls that block within each other. Call
 * authonly_set_private() first, or the new exchange may name the modes again.
 */
void	authonly_start_encryption(struct ssh *);

#endif /* HAYATE_AUTHONLY_HOOK_H */
