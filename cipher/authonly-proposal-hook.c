/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly-proposal-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "mac.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly.h"
#include "authonly-proposal-hook.h"
#include "macspeed-hook.h"
#include "peer-hook.h"

/* Where a direction's lists stand in a proposal */
static const int cipher_index[AUTHONLY_DIRS] = {
	[AUTHONLY_CTOS] = PROPOSAL_ENC_ALGS_CTOS,
	[AUTHONLY_STOC] = PROPOSAL_ENC_ALGS_STOC,
};
static const int mac_index[AUTHONLY_DIRS] = {
	[AUTHONLY_CTOS] = PROPOSAL_MAC_ALGS_CTOS,
	[AUTHONLY_STOC] = PROPOSAL_MAC_ALGS_STOC,
};

static struct authonly_lists server;	/* in a client; else empty */
static int server_has_none;		/* it named "none" at login */

static int has_modes;			/* our last proposal named a mode */
/* The user's MACs, while those of kex->my are others; else NULL */
static char *user_macs[AUTHONLY_DIRS];

static void
free_proposal(char **prop)
{
	if (prop != NULL)
		kex_proposal_free_entries(prop);
	free(prop);
}

static struct authonly_lists
get_proposal_lists(char **prop)
{
	struct authonly_lists lists;
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		lists.ciphers[dir] = prop[cipher_index[dir]];
		lists.macs[dir] = prop[mac_index[dir]];
	}
	return lists;
}

static void
replace_string(char **slot, char *string)
{
	if (string == NULL)
		fatal_f("out of memory");
	free(*slot);
	*slot = string;
}

/* The server's proposal */

void
authonly_proposal_note_server(struct ssh *ssh)
{
	struct authonly_lists lists;
	char **peer = NULL;
	int dir, none = 1;

	if (kex_buf2prop(ssh->kex->peer, NULL, &peer) != 0)
		return;
	lists = get_proposal_lists(peer);
	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		replace_string(&server.ciphers[dir],
		    xstrdup(lists.ciphers[dir]));
		replace_string(&server.macs[dir], xstrdup(lists.macs[dir]));
		none = none &&
		    namelist_has_any(lists.ciphers[dir], AUTHONLY_NONE);
	}
	if ((ssh->kex->flags & KEX_INITIAL) != 0)
		server_has_none = none;
	free_proposal(peer);
}

int
authonly_proposal_server_has_none(void)
{
	return server_has_none;
}

int
authonly_proposal_none_is_usable(struct ssh *ssh)
{
	struct authonly_lists lists;
	char **my = NULL;
	int usable;

	if (server.macs[0] == NULL ||
	    kex_buf2prop(ssh->kex->my, NULL, &my) != 0)
		return 0;
	lists = get_proposal_lists(my);
	usable = authonly_proposal_shares_etm(&lists, &server);
	free_proposal(my);
	return usable;
}

int
authonly_proposal_displaced(enum authonly_dir dir, const char *mac)
{
	char usual[NAMELIST_NAME_SIZE];

	if (user_macs[dir] == NULL)
		return 0;
	if (!namelist_choose(user_macs[dir], server.macs[dir], usual))
		usual[0] = '\0';
	if (strcmp(usual, mac) == 0)
		return 0;
	debug("the refused exchange took MAC %s, the user's order "
	    "gives %s", mac, *usual == '\0' ? "none" : usual);
	return 1;
}

/*
 * Our proposal
 */

int
authonly_proposal_has_modes(void)
{
	return has_modes;
}

static int
is_aead(const char *name)
{
	const struct sshcipher *cipher = cipher_by_name(name);

	return cipher != NULL && cipher_authlen(cipher) != 0;
}

static int
has_short_tag(const char *name)
{
	struct sshmac mac = { .name = NULL };
	int is_short = mac_setup(&mac, (char *)name) != 0 ||
	    mac.mac_len < 128 / 8;

	mac_clear(&mac);
	return is_short;
}

static const struct authonly_algorithms algorithms = {
	.is_aead = is_aead, .sort_macs = macspeed_sort,
	.gmac_is_fastest = macspeed_gmac_is_fastest,
	.has_short_tag = has_short_tag,
};

/* Puts the user's own lists back. */
static void
restore_proposal(char **my)
{
	char **ciphers;
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		ciphers = &my[cipher_index[dir]];
		replace_string(ciphers,
		    namelist_remove(*ciphers, AUTHONLY_ALL));
		if (user_macs[dir] != NULL)
			replace_string(&my[mac_index[dir]], user_macs[dir]);
		user_macs[dir] = NULL;
	}
	has_modes = 0;
}

/* A client's order decides, so a server puts modes behind its ciphers. */
static void
add_to_ciphers(const struct ssh *ssh, char **my, const char *modes)
{
	char **ciphers;
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		ciphers = &my[cipher_index[dir]];
		replace_string(ciphers, ssh->kex->server ?
		    namelist_join(*ciphers, modes) :
		    namelist_join(modes, *ciphers));
	}
}

/* Takes over "macs" where they are not NULL. */
static void
replace_macs(char **my, char **macs)
{
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if (macs[dir] == NULL)
			continue;
		user_macs[dir] = my[mac_index[dir]];
		my[mac_index[dir]] = macs[dir];
	}
}

/*
 * In an exchange that a server begins, the server names the MACs of its last
 * answer, so that the same one is chosen.
 */
static void
keep_answered_macs(const char *modes, char **macs, int begins)
{
	static char *kept[AUTHONLY_DIRS];
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if (!begins) {
			free(kept[dir]);
			kept[dir] = macs[dir] == NULL ? NULL :
			    xstrdup(macs[dir]);
		} else if (kept[dir] != NULL &&
		    namelist_has_any(modes, AUTHONLY_NONE))
			macs[dir] = xstrdup(kept[dir]);
	}
}

/* Names the modes that fit both sides. "peer" is NULL if we begin. */
static void
add_modes(struct ssh *ssh, char **my, const struct authonly_lists *peer,
    const char *in_force)
{
	const struct authonly_lists lists = get_proposal_lists(my);
	const struct authonly_exchange x = {
		.my = &lists, .peer = ssh->kex->server ? peer : &server,
		.peer_knows_gmac = peer_knows_authonly(ssh),
		.peer_began = peer != NULL, .algorithms = &algorithms,
	};
	char *macs[AUTHONLY_DIRS] = { NULL, NULL };
	const char *modes;

	if (ssh->kex->server) {
		modes = peer == NULL ? in_force :
		    authonly_proposal_server_modes(&x, macs);
	} else
		modes = authonly_proposal_client_modes(&x, macs);
	if (modes == NULL)
		fatal_f("out of memory");
	if (ssh->kex->server)
		keep_answered_macs(modes, macs, peer == NULL);
	add_to_ciphers(ssh, my, modes);
	replace_macs(my, macs);
	has_modes = *modes != '\0';
}

static enum authonly_proposed
get_result(char **my, const struct authonly_lists *peer)
{
	const struct authonly_lists lists = get_proposal_lists(my);

	if (has_modes)
		return AUTHONLY_NAMED;
	if (peer == NULL ||
	    !namelist_has_any(peer->ciphers[AUTHONLY_CTOS], AUTHONLY_ALL))
		return AUTHONLY_NOT_NAMED;
	return authonly_proposal_shares_ciphers(peer, &lists) ?
	    AUTHONLY_WITHHELD : AUTHONLY_WITHHELD_ALL;
}

int
authonly_proposal_rewrite(struct ssh *ssh, int may_name, const char *in_force,
    enum authonly_proposed *result)
{
	struct authonly_lists lists, *peer_lists = NULL;
	char **my = NULL, **peer = NULL;
	int r;

	if ((r = kex_buf2prop(ssh->kex->my, NULL, &my)) != 0)
		return r;
	if (sshbuf_len(ssh->kex->peer) != 0) {
		if ((r = kex_buf2prop(ssh->kex->peer, NULL, &peer)) != 0)
			goto out;
		if (!ssh->kex->server)
			authonly_proposal_note_server(ssh);
		lists = get_proposal_lists(peer);
		peer_lists = &lists;
	}
	restore_proposal(my);
	if (may_name)
		add_modes(ssh, my, peer_lists, in_force);
	*result = get_result(my, peer_lists);
	r = kex_prop2buf(ssh->kex->my, my);
out:
	free_proposal(my);
	free_proposal(peer);
	return r;
}
