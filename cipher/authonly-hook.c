/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See authonly-hook.h. This file keeps the state of the connection, checks new
 * keys, and starts the key exchanges. The lists of a proposal are rewritten in
 * authonly-proposal-hook.c.
 */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "dispatch.h"
#include "kex.h"
#include "log.h"
#include "packet.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "authonly-proposal-hook.h"
#include "hayopt.h"
#include "peer-hook.h"

/* Calls of wait_for_kex() within each other; 10 KB of stack each */
#define MAX_DEPTH	100

static const struct authonly_side no_side;

static struct {
	const struct authonly_side *side;
	int	 asked;
	enum authonly_private private;
	int	 refused;	/* a client's modes, so it names no other */
	int	 displaced;	/* the refused exchange took the wrong MAC */
	char	*mode[MODE_MAX]; /* in force by direction, or NULL */
	int	 was_in_force;	/* when mode_changed() was called last */
	char	 cipher[64];	/* of what is sent; "": no keys */
} state = { .side = &no_side };

/*
 * The state
 */

void
authonly_start(const struct authonly_side *side, int asked)
{
	state.side = side;
	state.asked = asked;
}

enum authonly_answer
authonly_decide_now(struct ssh *ssh)
{
	const int gmac = peer_knows_authonly(ssh);	/* it needs no MAC */
	const struct authonly_facts facts = {
		.server = state.side->server,
		.serving = state.side != &no_side,
		.asked = state.asked,
		.enabled = hayopt_get()->none_enabled,
		.peer = gmac || authonly_proposal_server_has_none(),
		.usable = !state.side->server &&
		    (gmac || authonly_proposal_none_is_usable(ssh)),
		.refused = state.refused,
		.private = state.private,
	};

	return authonly_decide(&facts);
}

const char *
authonly_explain_encryption(struct ssh *ssh)
{
	enum authonly_answer answer = authonly_decide_now(ssh);

	/* We would name the modes, so the server did not. */
	if (answer == AUTHONLY_OFFER)
		answer = AUTHONLY_REFUSED;
	return authonly_explain_answer(answer, state.private);
}

const char *
authonly_mode_in_force(void)
{
	return state.mode[MODE_OUT] != NULL ? state.mode[MODE_OUT] :
	    state.mode[MODE_IN];
}

void
authonly_set_private(enum authonly_private why)
{
	if (state.private == AUTHONLY_PUBLIC)
		state.private = why;
}

enum authonly_private
authonly_get_private(void)
{
	return state.private;
}

/*
 * The proposal
 */

/* Returns the cipher that we receive if it is a mode, or "". */
static const char *
received_mode(void)
{
	const char *mode = state.mode[MODE_IN];

	if (mode == NULL)
		return "";
	return strcmp(mode, AUTHONLY_GMAC) == 0 ? AUTHONLY_GMAC :
	    AUTHONLY_NONE;
}

int
authonly_edit_proposal(struct ssh *ssh)
{
	enum authonly_answer answer;
	enum authonly_proposed result;
	int r;

	if (state.side == &no_side)
		return 0;
	answer = authonly_decide_now(ssh);
	state.displaced = 0;
	if ((r = authonly_proposal_rewrite(ssh, answer == AUTHONLY_OFFER,
	    received_mode(), &result)) != 0)
		return r;
	if (state.side->modes_withheld != NULL &&
	    (result == AUTHONLY_WITHHELD || result == AUTHONLY_WITHHELD_ALL))
		state.side->modes_withheld(ssh,
		    answer == AUTHONLY_OFFER ? AUTHONLY_NO_MAC : answer,
		    result == AUTHONLY_WITHHELD_ALL);
	return 0;
}

/*
 * The keys
 */

/* A mode that we did not name cannot have been chosen, so it is not used. */
static int
check_cipher(const struct newkeys *keys)
{
	if (!authonly_is_mode(keys->enc.name))
		return 0;
	if (!authonly_proposal_has_modes()) {
		error("cipher %s was chosen, but it was not offered",
		    keys->enc.name);
		return SSH_ERR_NO_CIPHER_ALG_MATCH;
	}
	if (strcmp(keys->enc.name, AUTHONLY_NONE) == 0 && !keys->mac.etm) {
		error("cipher %s was chosen with %s, and needs a MAC that ends "
		    "in -etm@openssh.com", keys->enc.name,
		    keys->mac.name == NULL ? "no MAC" : keys->mac.name);
		return SSH_ERR_NO_MAC_ALG_MATCH;
	}
	return 0;
}

/* Returns the mode with its MAC, for people; NULL if the keys encrypt. */
static char *
describe_mode(const struct newkeys *keys)
{
	char *name;

	if (!authonly_is_mode(keys->enc.name))
		return NULL;
	if (strcmp(keys->enc.name, AUTHONLY_NONE) != 0)
		return xstrdup(keys->enc.name);
	xasprintf(&name, "%s with %s", keys->enc.name, keys->mac.name);
	return name;
}

/* See authonly_max_key_bytes() for the ciphers that have a limit of ours. */
static void
limit_key_blocks(const struct newkeys *keys, u_int64_t rekey_limit,
    u_int64_t *max_blocks)
{
	u_int64_t bytes = authonly_max_key_bytes(keys->enc.name);

	if (bytes == 0 || !hayopt_get()->hayate)
		return;
	if (rekey_limit != 0 && rekey_limit < bytes)
		bytes = rekey_limit;
	*max_blocks = bytes / keys->enc.block_size;
	debug("a key of %s lasts %llu blocks", keys->enc.name,
	    (unsigned long long)*max_blocks);
}

/*
 * In a client that named modes: notes whether the server refused them. If the
 * order of MACs was not the user's (see authonly-proposal.h), the refusal may
 * have chosen a MAC that the user's order does not lead to. Such a key is
 * replaced after one packet and what is queued; the next exchange has the
 * user's order.
 */
static void
note_refusal(int mode, const struct newkeys *keys, u_int64_t *max_blocks)
{
	if (mode == MODE_IN && authonly_mode_in_force() == NULL)
		state.refused = 1;
	if (!authonly_is_mode(keys->enc.name) && keys->mac.name != NULL &&
	    authonly_proposal_displaced(mode == MODE_OUT ? AUTHONLY_CTOS :
	    AUTHONLY_STOC, keys->mac.name)) {
		state.refused = state.displaced = 1;
		*max_blocks = 1;
	}
}

int
authonly_check_newkeys(struct ssh *ssh, int mode, const struct newkeys *keys,
    u_int64_t rekey_limit, u_int64_t *max_blocks)
{
	int r;

	if (!ssh->kex->server && mode == MODE_OUT)
		authonly_proposal_note_server(ssh);
	if ((r = check_cipher(keys)) != 0)
		return r;
	limit_key_blocks(keys, rekey_limit, max_blocks);
	free(state.mode[mode]);
	state.mode[mode] = describe_mode(keys);
	if (mode == MODE_OUT)
		strlcpy(state.cipher, keys->enc.name, sizeof(state.cipher));
	if (authonly_proposal_has_modes() && !state.side->server)
		note_refusal(mode, keys, max_blocks);
	/* Both roles send NEWKEYS before they accept the other's. */
	if (mode == MODE_IN &&
	    state.was_in_force != (authonly_mode_in_force() != NULL)) {
		state.was_in_force = !state.was_in_force;
		state.side->mode_changed(ssh);
	}
	return 0;
}

const char *
authonly_cipher_in_force(void)
{
	return *state.cipher == '\0' ? NULL : state.cipher;
}

int
authonly_in_force_or_pending(struct ssh *ssh)
{
	return authonly_mode_in_force() != NULL ||
	    (authonly_proposal_has_modes() && !ssh->kex->done);
}

/*
 * Key exchanges
 */

/*
 * Blocks until no key exchange is in progress. The handler of a message that is
 * dispatched here may call this again.
 */
static void
wait_for_kex(struct ssh *ssh)
{
	static int depth;

	if (++depth > MAX_DEPTH)
		fatal("too many requests from the server during a key "
		    "exchange");
	while (!ssh->kex->done)
		ssh_dispatch_run_fatal(ssh, DISPATCH_BLOCK, &ssh->kex->done);
	depth--;
}

static void
start_kex(struct ssh *ssh)
{
	int r;

	if ((r = kex_start_rekex(ssh)) != 0)
		fatal_fr(r, "start key exchange");
}

void
authonly_negotiate(struct ssh *ssh)
{
	state.refused = 0;
	wait_for_kex(ssh);
	start_kex(ssh);
	wait_for_kex(ssh);
	if (state.displaced) {
		start_kex(ssh);
		wait_for_kex(ssh);
	}
}

void
authonly_start_encryption(struct ssh *ssh)
{
	if (ssh->kex == NULL)	/* a mux client: the master does this */
		return;
	if (!ssh->kex->done) {
		if (!authonly_proposal_has_modes())
			return;	/* what is sent waits for its keys */
		wait_for_kex(ssh);
	}
	if (authonly_mode_in_force() != NULL)
		start_kex(ssh);
}

void
authonly_encrypt_before(struct ssh *ssh, enum authonly_private why)
{
	if (why == AUTHONLY_PUBLIC)
		return;
	authonly_set_private(why);
	authonly_start_encryption(ssh);
}

void
authonly_encrypt_before_channel(struct ssh *ssh, const char *type)
{
	authonly_encrypt_before(ssh, authonly_classify_channel(type));
}

void
authonly_encrypt_before_request(struct ssh *ssh, int channel, const char *type)
{
	authonly_encrypt_before(ssh, authonly_classify_request(type));
	if (state.side->before_request != NULL)
		state.side->before_request(ssh, channel, type);
}
