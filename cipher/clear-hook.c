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

#include "clear-hook.h"
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

static const struct clear_side nobody;

static struct {
	const struct clear_side *side;
	int	 asked;
	enum clear_private private;
	int	 peer_none;	/* the server named it at login, with a MAC */
	char	*macs[WAYS];	/* of kex->my, once they were changed */
	int	 offered;	/* in the proposal that went last */
	char	*mode[MODE_MAX];	/* in force, or NULL */
	int	 was_clear;	/* when "changed" was called last */
} now = { .side = &nobody };

/*
 * The state
 */

void
clear_serve(const struct clear_side *side, int asked)
{
	now.side = side;
	now.asked = asked;
}

enum clear_answer
clear_now(struct ssh *ssh)
{
	const struct clear_facts facts = {
		.server = now.side->server,
		.serving = now.side != &nobody,
		.asked = now.asked,
		.enabled = hayopt_get()->none_enabled,
		.peer = now.peer_none || peer_knows_clear(ssh),
		.private = now.private,
	};

	return clear_decide(&facts);
}

const char *
clear_mode(void)
{
	return now.mode[MODE_OUT] != NULL ? now.mode[MODE_OUT] :
	    now.mode[MODE_IN];
}

void
clear_set_private(enum clear_private why)
{
	if (now.private == CLEAR_PUBLIC)
		now.private = why;
}

enum clear_private
clear_private(void)
{
	return now.private;
}

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

/* MACs that may go with "none" before those that may not, the fast first. */
static char *
etm_first(const char *macs)
{
	char *etm, *rest = without(macs, ETM), *ranked, *list;

	if ((etm = match_filter_allowlist(macs, ETM)) == NULL)
		fatal_f("out of memory");
	ranked = macrank(etm);
	list = join(ranked, rest);
	free(etm);
	free(rest);
	free(ranked);
	return list;
}

/* Whether two lists of MACs lead to one that may go with "none". */
static int
meet_in_etm(const char *client, const char *server)
{
	char *name = match_list(client, server, NULL);
	int etm = name != NULL && match_pattern_list(name, ETM, 0) == 1;

	free(name);
	return etm;
}

static void
prop_free(char **prop)
{
	if (prop != NULL)
		kex_proposal_free_entries(prop);
	free(prop);
}

void
clear_note_peer(struct ssh *ssh)
{
	char **peer = NULL;

	if (ssh->kex->server || sshbuf_len(ssh->kex->peer) == 0 ||
	    kex_buf2prop(ssh->kex->peer, NULL, &peer) != 0)
		return;
	now.peer_none = has(peer[enc_at[0]], CLEAR_NONE) &&
	    has(peer[enc_at[1]], CLEAR_NONE) &&
	    has(peer[mac_at[0]], ETM) && has(peer[mac_at[1]], ETM);
	prop_free(peer);
}

/*
 * The proposal
 */

/* A client's modes, the faster first. */
static const char *
client_modes(struct ssh *ssh, char **my)
{
	int none = has(my[mac_at[0]], ETM) && has(my[mac_at[1]], ETM);

	if (!peer_knows_clear(ssh))
		return none ? CLEAR_NONE : "";
	if (!none)
		return CLEAR_GMAC;
	return macrank_gmac_wins(my[mac_at[0]]) ? CLEAR_GMAC "," CLEAR_NONE :
	    CLEAR_NONE "," CLEAR_GMAC;
}

/*
 * A server that answers knows the client's proposal. "none" it names only
 * where both will find a MAC for it; GMAC not where that is the faster here.
 * A server that begins can only go on with what there is.
 */
static const char *
server_modes(char **my, char **peer)
{
	int none, gmac;

	if (peer == NULL)
		return now.mode[MODE_IN] == NULL ? "" :
		    has(now.mode[MODE_IN], CLEAR_GMAC) ? CLEAR_GMAC :
		    CLEAR_NONE;
	none = has(peer[enc_at[0]], CLEAR_NONE) &&
	    meet_in_etm(peer[mac_at[0]], my[mac_at[0]]) &&
	    meet_in_etm(peer[mac_at[1]], my[mac_at[1]]);
	gmac = has(peer[enc_at[0]], CLEAR_GMAC);
	if (none && gmac && !macrank_gmac_wins(my[mac_at[0]]))
		return CLEAR_NONE;
	return none && gmac ? CLEAR_ALL : none ? CLEAR_NONE :
	    gmac ? CLEAR_GMAC : "";
}

static void
put(char **slot, char *list)
{
	free(*slot);
	*slot = list;
}

/* Puts the user's own proposal back. */
static void
restore(char **my)
{
	int i;

	for (i = 0; i < WAYS; i++) {
		put(&my[enc_at[i]], without(my[enc_at[i]], CLEAR_ALL));
		if (now.macs[i] != NULL)
			put(&my[mac_at[i]], now.macs[i]);
		now.macs[i] = NULL;
	}
	now.offered = 0;
}

static void
offer(char **my, const char *modes)
{
	int i;

	for (i = 0; i < WAYS; i++) {
		put(&my[enc_at[i]], now.side->server ?
		    join(my[enc_at[i]], modes) : join(modes, my[enc_at[i]]));
		/* The client's order decides, so a server keeps its own. */
		if (now.side->server || !has(modes, CLEAR_NONE))
			continue;
		now.macs[i] = xstrdup(my[mac_at[i]]);
		put(&my[mac_at[i]], etm_first(now.macs[i]));
	}
	now.offered = *modes != '\0';
}

/* "peer" is its proposal, if that came first, else NULL. */
static void
rewrite(struct ssh *ssh, char **my, char **peer)
{
	enum clear_answer answer = clear_now(ssh);

	restore(my);
	if (answer == CLEAR_OFFER)
		offer(my, now.side->server ? server_modes(my, peer) :
		    client_modes(ssh, my));
	else if (peer != NULL && now.side->withheld != NULL &&
	    has(peer[enc_at[0]], CLEAR_ALL))
		now.side->withheld(ssh, answer);
}

int
clear_kexinit(struct ssh *ssh)
{
	char **my = NULL, **peer = NULL;
	int r;

	if (now.side == &nobody)
		return 0;
	if ((r = kex_buf2prop(ssh->kex->my, NULL, &my)) != 0)
		return r;
	if (sshbuf_len(ssh->kex->peer) == 0 ||
	    (r = kex_buf2prop(ssh->kex->peer, NULL, &peer)) == 0) {
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
	if (!clear_is(keys->enc.name))
		return 0;
	if (!now.offered) {
		error("cipher %s was chosen, but it was not offered",
		    keys->enc.name);
		return SSH_ERR_NO_CIPHER_ALG_MATCH;
	}
	if (strcmp(keys->enc.name, CLEAR_NONE) == 0 && !keys->mac.etm) {
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

	if (!clear_is(keys->enc.name))
		return NULL;
	if (strcmp(keys->enc.name, CLEAR_NONE) != 0)
		return xstrdup(keys->enc.name);
	xasprintf(&name, "%s with %s", keys->enc.name, keys->mac.name);
	return name;
}

/* What the block size alone does not tell: see clear_key_bytes(). */
static void
set_limit(const struct newkeys *keys, u_int64_t rekey_limit,
    u_int64_t *max_blocks)
{
	u_int64_t bytes = clear_key_bytes(keys->enc.name);

	if (bytes == 0 || !hayopt_get()->hayate)
		return;
	if (rekey_limit != 0 && rekey_limit < bytes)
		bytes = rekey_limit;
	*max_blocks = bytes / keys->enc.block_size;
	debug("a key of %s lasts %llu blocks", keys->enc.name,
	    (unsigned long long)*max_blocks);
}

int
clear_newkeys(struct ssh *ssh, int mode, const struct newkeys *keys,
    u_int64_t rekey_limit, u_int64_t *max_blocks)
{
	int r;

	if ((r = check(keys)) != 0)
		return r;
	set_limit(keys, rekey_limit, max_blocks);
	put(&now.mode[mode], name_of(keys));
	/* Both roles send NEWKEYS before they accept the other's. */
	if (mode == MODE_IN && now.was_clear != (clear_mode() != NULL)) {
		now.was_clear = !now.was_clear;
		now.side->changed(ssh);
	}
	return 0;
}

int
clear_at_hand(struct ssh *ssh)
{
	return clear_mode() != NULL || (now.offered && !ssh->kex->done);
}

/* What is dispatched meanwhile may bring us here again. */
void
clear_finish_kex(struct ssh *ssh)
{
	static int depth;

	if (++depth > DEPTH_MOST)
		fatal("the server asks for too much during a key exchange");
	while (!ssh->kex->done)
		ssh_dispatch_run_fatal(ssh, DISPATCH_BLOCK, &ssh->kex->done);
	depth--;
}

void
clear_encrypt(struct ssh *ssh)
{
	int r;

	if (ssh->kex == NULL)	/* of a mux client: the master's business */
		return;
	if (!ssh->kex->done) {
		if (!now.offered)
			return;	/* what is sent waits for its keys */
		clear_finish_kex(ssh);
	}
	if (clear_mode() != NULL && (r = kex_start_rekex(ssh)) != 0)
		fatal_fr(r, "start key exchange");
}

/*
 * What begins
 */

void
clear_before(struct ssh *ssh, enum clear_private why)
{
	if (why == CLEAR_PUBLIC)
		return;
	clear_set_private(why);
	clear_encrypt(ssh);
}

void
clear_before_channel(struct ssh *ssh, const char *type)
{
	clear_before(ssh, clear_channel(type));
}

void
clear_before_request(struct ssh *ssh, int channel, const char *type)
{
	clear_before(ssh, clear_request(type));
	if (now.side->request != NULL)
		now.side->request(ssh, channel, type);
}
