/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A proposal stays in kex->my from login to the end and is sent again with
 * each key exchange. What we put into it is taken out again before each
 * decision, so it is the user's own whenever nothing is offered.
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
#include "match.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "hayopt.h"
#include "macrank-hook.h"
#include "peer-hook.h"

#define ETM	"*-etm@openssh.com"

/* Client to server, server to client */
#define WAYS	2
static const int enc_at[] = { PROPOSAL_ENC_ALGS_CTOS, PROPOSAL_ENC_ALGS_STOC };
static const int mac_at[] = { PROPOSAL_MAC_ALGS_CTOS, PROPOSAL_MAC_ALGS_STOC };

/* Waiting for one key exchange within waiting for it; 10 KB of stack each */
#define DEPTH_MOST	100

static const struct authonly_side nobody;

static struct {
	const struct authonly_side *side;
	int	 asked;
	enum authonly_private private;
	int	 peer_none;	/* the server named it at login */
	char	*peer_macs[WAYS]; /* the server's; NULL in a server */
	char	*peer_encs[WAYS];
	char	*macs[WAYS];	/* of kex->my, once they were changed */
	int	 offered;	/* in the proposal that went last */
	int	 refused;	/* a client's offer, so it makes no other */
	int	 displaced;	/* a MAC, by the offer that was refused */
	char	*mode[MODE_MAX];	/* in force, or NULL */
	int	 was_authonly;	/* when "changed" was called last */
} now = { .side = &nobody };

/*
 * Lists of names
 */

static int
has(const char *list, const char *patterns)
{
	char *found = match_filter_allowlist(list, patterns);
	int any = found != NULL && *found != '\0';

	free(found);
	return any;
}

/* Either may be empty. */
static char *
join(const char *first, const char *second)
{
	char *list;

	xasprintf(&list, "%s%s%s", first,
	    *first != '\0' && *second != '\0' ? "," : "", second);
	return list;
}

static char *
without(const char *list, const char *patterns)
{
	char *rest = match_filter_denylist(list, patterns);

	if (rest == NULL)
		fatal_f("out of memory");
	return rest;
}

/* The MACs of both lists that may go with "none", in the order of the first. */
static char *
shared_etm(const char *my, const char *peer)
{
	char *names = match_filter_allowlist(my, ETM), *rest = names;
	char *name, *found, *list = xstrdup(""), *more;

	if (names == NULL)
		fatal_f("out of memory");
	while ((name = strsep(&rest, ",")) != NULL) {
		/* The peer's names are no patterns. */
		if ((found = match_list(name, peer, NULL)) == NULL)
			continue;
		more = join(list, found);
		free(found);
		free(list);
		list = more;
	}
	free(names);
	return list;
}

/* The MAC that two lists lead to if it may go with "none", or NULL. */
static char *
meet_in_etm(const char *client, const char *server)
{
	char *name = match_list(client, server, NULL);

	if (name == NULL || match_pattern_list(name, ETM, 0) == 1)
		return name;
	free(name);
	return NULL;
}

static void
prop_free(char **prop)
{
	if (prop != NULL)
		kex_proposal_free_entries(prop);
	free(prop);
}

static int
both_have(char **prop, const char *mode)
{
	return has(prop[enc_at[0]], mode) && has(prop[enc_at[1]], mode);
}

static void
put(char **slot, char *list)
{
	free(*slot);
	*slot = list;
}

/*
 * The server, as a client knows it
 */

/* Its first proposal says whether it knows "none", its last what else it has. */
static void
note_server(struct ssh *ssh)
{
	char **peer = NULL;
	int i;

	if (kex_buf2prop(ssh->kex->peer, NULL, &peer) != 0)
		return;
	for (i = 0; i < WAYS; i++) {
		put(&now.peer_macs[i], xstrdup(peer[mac_at[i]]));
		put(&now.peer_encs[i], xstrdup(peer[enc_at[i]]));
	}
	if ((ssh->kex->flags & KEX_INITIAL) != 0)
		now.peer_none = both_have(peer, AUTHONLY_NONE);
	prop_free(peer);
}

/* Whether "none" can have a MAC each way. */
static int
none_usable(char **my)
{
	char *macs;
	int i, found = now.peer_macs[0] != NULL;

	for (i = 0; found && i < WAYS; i++) {
		macs = shared_etm(my[mac_at[i]], now.peer_macs[i]);
		found = *macs != '\0';
		free(macs);
	}
	return found;
}

/* Whether a mode that the server knows has what it needs. */
static int
usable(struct ssh *ssh)
{
	char **my = NULL;
	int r;

	if (peer_knows_authonly(ssh))
		return 1;	/* GMAC needs nothing */
	r = kex_buf2prop(ssh->kex->my, NULL, &my) == 0 && none_usable(my);
	prop_free(my);
	return r;
}

/*
 * The state
 */

void
authonly_serve(const struct authonly_side *side, int asked)
{
	now.side = side;
	now.asked = asked;
}

enum authonly_answer
authonly_now(struct ssh *ssh)
{
	const struct authonly_facts facts = {
		.server = now.side->server,
		.serving = now.side != &nobody,
		.asked = now.asked,
		.enabled = hayopt_get()->none_enabled,
		.peer = now.peer_none || peer_knows_authonly(ssh),
		.usable = !now.side->server && usable(ssh),
		.refused = now.refused,
		.private = now.private,
	};

	return authonly_decide(&facts);
}

const char *
authonly_why_not(struct ssh *ssh)
{
	enum authonly_answer answer = authonly_now(ssh);

	/* We would name the modes; it is the server that did not. */
	if (answer == AUTHONLY_OFFER)
		answer = AUTHONLY_REFUSED;
	return authonly_reason(answer, now.private);
}

const char *
authonly_mode(void)
{
	return now.mode[MODE_OUT] != NULL ? now.mode[MODE_OUT] :
	    now.mode[MODE_IN];
}

void
authonly_set_private(enum authonly_private why)
{
	if (now.private == AUTHONLY_PUBLIC)
		now.private = why;
}

enum authonly_private
authonly_private(void)
{
	return now.private;
}

/*
 * The proposal
 */

/* Whether GMAC is the fastest here, against the MAC of each way. */
static int
gmac_wins(char **client, char **server)
{
	char *mac;
	int i, wins = 1;

	for (i = 0; i < WAYS; i++) {
		mac = meet_in_etm(client[i], server[i]);
		wins = wins && (mac == NULL || macrank_gmac_wins(mac));
		free(mac);
	}
	return wins;
}

/* Whether the user's ciphers lead to one that does without a MAC. */
static int
is_aead(const char *my, const char *peer)
{
	char *name = match_list(my, peer, NULL);
	const struct sshcipher *cipher = name == NULL ? NULL :
	    cipher_by_name(name);

	free(name);
	return cipher != NULL && cipher_authlen(cipher) != 0;
}

/* Those that "none" may have and the peer has first, the rest as it was. */
static char *
etm_first(const char *macs, char *etm)
{
	char *rest = without(macs, etm), *list = join(etm, rest);

	free(etm);
	free(rest);
	return list;
}

/*
 * The MACs of a client that names "none"; NULL: it had better not. The order
 * counts even if the server refuses, and then it should be the user's:
 *
 * Where the cipher would be an AEAD it does not matter, and the fast come
 * first. Else the user's order stands if it leads to a MAC for "none". If it
 * does not, a Hayate is asked for GMAC alone, and a server that named "none"
 * at login is taken at its word; should it refuse, see see_refusal().
 */
static char *
macs_for_none(struct ssh *ssh, char **my, int way)
{
	const char *macs = my[mac_at[way]], *peer = now.peer_macs[way];
	char *etm = shared_etm(macs, peer), *fit, *ranked;

	if (is_aead(my[enc_at[way]], now.peer_encs[way])) {
		ranked = macrank(etm);
		free(etm);
		return etm_first(macs, ranked);
	}
	if ((fit = meet_in_etm(macs, peer)) == NULL &&
	    !peer_knows_authonly(ssh))
		return etm_first(macs, etm);
	free(etm);
	if (fit == NULL)
		return NULL;
	free(fit);
	return xstrdup(macs);
}

/*
 * A client's modes, the faster first; "macs" are what goes with "none". A
 * server that began has said which it would take.
 */
static const char *
client_modes(struct ssh *ssh, char **my, char **peer, char **macs)
{
	int i, gmac = peer_knows_authonly(ssh), none = none_usable(my);

	for (i = 0; none && i < WAYS; i++) {
		macs[i] = macs_for_none(ssh, my, i);
		none = macs[i] != NULL;
	}
	if (peer != NULL) {
		gmac = gmac && both_have(peer, AUTHONLY_GMAC);
		none = none && both_have(peer, AUTHONLY_NONE);
	}
	if (!none || !gmac)
		return gmac ? AUTHONLY_GMAC : none ? AUTHONLY_NONE : "";
	return gmac_wins(macs, now.peer_macs) ?
	    AUTHONLY_GMAC "," AUTHONLY_NONE :
	    AUTHONLY_NONE "," AUTHONLY_GMAC;
}

/*
 * A server that answers knows the client's proposal. "none" it names only
 * where both will find a MAC for it; GMAC not where that is the faster here.
 * A server that begins can only go on with what there is.
 */
static const char *
server_modes(char **my, char **peer)
{
	char *mac;
	int i, none, gmac;

	if (peer == NULL)
		return now.mode[MODE_IN] == NULL ? "" :
		    has(now.mode[MODE_IN], AUTHONLY_GMAC) ? AUTHONLY_GMAC :
		    AUTHONLY_NONE;
	none = has(peer[enc_at[0]], AUTHONLY_NONE);
	for (i = 0; i < WAYS; i++) {
		mac = meet_in_etm(peer[mac_at[i]], my[mac_at[i]]);
		none = none && mac != NULL;
		free(mac);
	}
	gmac = has(peer[enc_at[0]], AUTHONLY_GMAC);
	if (none && gmac && !gmac_wins(&peer[mac_at[0]], &my[mac_at[0]]))
		return AUTHONLY_NONE;
	return none && gmac ? AUTHONLY_ALL : none ? AUTHONLY_NONE :
	    gmac ? AUTHONLY_GMAC : "";
}

/* Puts the user's own proposal back. */
static void
restore(char **my)
{
	int i;

	for (i = 0; i < WAYS; i++) {
		put(&my[enc_at[i]], without(my[enc_at[i]], AUTHONLY_ALL));
		if (now.macs[i] != NULL)
			put(&my[mac_at[i]], now.macs[i]);
		now.macs[i] = NULL;
	}
	now.offered = now.displaced = 0;
}

static void
offer(char **my, const char *modes, char **macs)
{
	int i;

	for (i = 0; i < WAYS; i++) {
		put(&my[enc_at[i]], now.side->server ?
		    join(my[enc_at[i]], modes) : join(modes, my[enc_at[i]]));
		/* The client's order decides, so a server keeps its own. */
		if (now.side->server || !has(modes, AUTHONLY_NONE))
			continue;
		now.macs[i] = my[mac_at[i]];
		my[mac_at[i]] = macs[i];
		macs[i] = NULL;
	}
	now.offered = 1;
}

/* Whether the client's proposal leads to no cipher in one way or both. */
static int
nothing_else(char **my, char **peer)
{
	char *found;
	int i, none = 0;

	for (i = 0; i < WAYS; i++) {
		found = match_list(peer[enc_at[i]], my[enc_at[i]], NULL);
		none = none || found == NULL;
		free(found);
	}
	return none;
}

/* "peer" is its proposal, if that came first, else NULL. */
static void
rewrite(struct ssh *ssh, char **my, char **peer)
{
	enum authonly_answer answer = authonly_now(ssh);
	const char *modes = "";
	char *macs[WAYS] = { NULL, NULL };

	restore(my);
	if (answer == AUTHONLY_OFFER)
		modes = now.side->server ? server_modes(my, peer) :
		    client_modes(ssh, my, peer, macs);
	if (*modes != '\0')
		offer(my, modes, macs);
	else if (peer != NULL && now.side->withheld != NULL &&
	    has(peer[enc_at[0]], AUTHONLY_ALL))
		now.side->withheld(ssh, answer == AUTHONLY_OFFER ? AUTHONLY_NO_MAC :
		    answer, nothing_else(my, peer));
	free(macs[0]);
	free(macs[1]);
}

int
authonly_kexinit(struct ssh *ssh)
{
	char **my = NULL, **peer = NULL;
	int r;

	if (now.side == &nobody)
		return 0;
	if ((r = kex_buf2prop(ssh->kex->my, NULL, &my)) != 0)
		return r;
	if (sshbuf_len(ssh->kex->peer) == 0 ||
	    (r = kex_buf2prop(ssh->kex->peer, NULL, &peer)) == 0) {
		if (peer != NULL && !now.side->server)
			note_server(ssh);
		rewrite(ssh, my, peer);
		r = kex_prop2buf(ssh->kex->my, my);
	}
	prop_free(my);
	prop_free(peer);
	return r;
}

/*
 * The keys
 */

/* What nobody offered cannot have been chosen, and is not used if it was. */
static int
check(const struct newkeys *keys)
{
	if (!authonly_is(keys->enc.name))
		return 0;
	if (!now.offered) {
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

static char *
name_of(const struct newkeys *keys)
{
	char *name;

	if (!authonly_is(keys->enc.name))
		return NULL;
	if (strcmp(keys->enc.name, AUTHONLY_NONE) != 0)
		return xstrdup(keys->enc.name);
	xasprintf(&name, "%s with %s", keys->enc.name, keys->mac.name);
	return name;
}

/* What the block size alone does not tell: see authonly_key_bytes(). */
static void
set_limit(const struct newkeys *keys, u_int64_t rekey_limit,
    u_int64_t *max_blocks)
{
	u_int64_t bytes = authonly_key_bytes(keys->enc.name);

	if (bytes == 0 || !hayopt_get()->hayate)
		return;
	if (rekey_limit != 0 && rekey_limit < bytes)
		bytes = rekey_limit;
	*max_blocks = bytes / keys->enc.block_size;
	debug("a key of %s lasts %llu blocks", keys->enc.name,
	    (unsigned long long)*max_blocks);
}

/*
 * Where "none" was asked for in an order of MACs that is not the user's (see
 * macs_for_none()), a refusal may take a MAC that the user's own order does
 * not give. Such a key lasts for one packet and what waits to be sent, and
 * the next exchange has the user's order.
 */
static void
see_refusal(int mode, const struct newkeys *keys, u_int64_t *max_blocks)
{
	int way = mode == MODE_OUT ? 0 : 1;
	char *usual;

	if (mode == MODE_IN && authonly_mode() == NULL)
		now.refused = 1;
	if (authonly_is(keys->enc.name) || keys->mac.name == NULL ||
	    now.macs[way] == NULL)
		return;
	usual = match_list(now.macs[way], now.peer_macs[way], NULL);
	if (usual == NULL || strcmp(usual, keys->mac.name) != 0) {
		debug("the refused exchange took MAC %s, the user's order "
		    "gives %s", keys->mac.name, usual == NULL ? "none" : usual);
		now.refused = now.displaced = 1;
		*max_blocks = 1;
	}
	free(usual);
}

int
authonly_newkeys(struct ssh *ssh, int mode, const struct newkeys *keys,
    u_int64_t rekey_limit, u_int64_t *max_blocks)
{
	int r;

	if (!ssh->kex->server && mode == MODE_OUT)
		note_server(ssh);
	if ((r = check(keys)) != 0)
		return r;
	set_limit(keys, rekey_limit, max_blocks);
	put(&now.mode[mode], name_of(keys));
	if (now.offered && !now.side->server)
		see_refusal(mode, keys, max_blocks);
	/* Both roles send NEWKEYS before they accept the other's. */
	if (mode == MODE_IN && now.was_authonly != (authonly_mode() != NULL)) {
		now.was_authonly = !now.was_authonly;
		now.side->changed(ssh);
	}
	return 0;
}

int
authonly_at_hand(struct ssh *ssh)
{
	return authonly_mode() != NULL || (now.offered && !ssh->kex->done);
}

/* What is dispatched meanwhile may bring us here again. */
void
authonly_finish_kex(struct ssh *ssh)
{
	static int depth;

	if (++depth > DEPTH_MOST)
		fatal("the server asks for too much during a key exchange");
	while (!ssh->kex->done)
		ssh_dispatch_run_fatal(ssh, DISPATCH_BLOCK, &ssh->kex->done);
	depth--;
}

static void
begin(struct ssh *ssh)
{
	int r;

	if ((r = kex_start_rekex(ssh)) != 0)
		fatal_fr(r, "start key exchange");
}

void
authonly_ask(struct ssh *ssh)
{
	now.refused = 0;
	authonly_finish_kex(ssh);
	begin(ssh);
	authonly_finish_kex(ssh);
	if (now.displaced) {
		begin(ssh);
		authonly_finish_kex(ssh);
	}
}

void
authonly_encrypt(struct ssh *ssh)
{
	if (ssh->kex == NULL)	/* of a mux client: the master's business */
		return;
	if (!ssh->kex->done) {
		if (!now.offered)
			return;	/* what is sent waits for its keys */
		authonly_finish_kex(ssh);
	}
	if (authonly_mode() != NULL)
		begin(ssh);
}

/*
 * What begins
 */

void
authonly_before(struct ssh *ssh, enum authonly_private why)
{
	if (why == AUTHONLY_PUBLIC)
		return;
	authonly_set_private(why);
	authonly_encrypt(ssh);
}

void
authonly_before_channel(struct ssh *ssh, const char *type)
{
	authonly_before(ssh, authonly_channel(type));
}

void
authonly_before_request(struct ssh *ssh, int channel, const char *type)
{
	authonly_before(ssh, authonly_request(type));
	if (now.side->request != NULL)
		now.side->request(ssh, channel, type);
}
