/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly-proposal.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "authonly.h"
#include "authonly-proposal.h"

#define ETM	"-etm@openssh.com"

/* Copies the MAC that both lists lead to. Returns 1 if "none" may use it. */
static int
choose_etm(const char *client, const char *server,
    char mac[NAMELIST_NAME_SIZE])
{
	size_t len;

	if (!namelist_choose(client, server, mac))
		return 0;
	len = strlen(mac);
	return len >= strlen(ETM) && strcmp(mac + len - strlen(ETM), ETM) == 0;
}

/* As choose_etm(), but the tag must have 128 bits or more. */
static int
choose_etm_long(const struct authonly_exchange *x, const char *client,
    const char *server, char mac[NAMELIST_NAME_SIZE])
{
	return choose_etm(client, server, mac) &&
	    !x->algorithms->has_short_tag(mac);
}

/* Returns the names with long tags, in their order; NULL: no memory. */
static char *
filter_long_tags(const struct authonly_exchange *x, const char *list)
{
	char *names = strdup(list), *rest = names, *name;
	char *picked = calloc(1, strlen(list) + 1);

	if (names == NULL || picked == NULL) {
		free(names);
		free(picked);
		return NULL;
	}
	while ((name = strsep(&rest, ",")) != NULL) {
		if (*name == '\0' || x->algorithms->has_short_tag(name))
			continue;
		if (*picked != '\0')
			strcat(picked, ",");
		strcat(picked, name);
	}
	free(names);
	return picked;
}

/*
 * Returns 1 if GMAC should come before "none": it is faster than the MAC of
 * each direction, or one of these has a short tag.
 */
static int
gmac_is_best(const struct authonly_exchange *x,
    char *const client[AUTHONLY_DIRS], char *const server[AUTHONLY_DIRS])
{
	char mac[NAMELIST_NAME_SIZE];
	int dir, best = 1;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if (!choose_etm(client[dir], server[dir], mac))
			continue;
		if (x->algorithms->has_short_tag(mac))
			return 1;
		best = best && x->algorithms->gmac_is_fastest(mac);
	}
	return best;
}

/*
 * The client
 */

/* Returns 1 if the user's ciphers lead to one that needs no MAC. */
static int
leads_to_aead(const struct authonly_exchange *x, enum authonly_dir dir)
{
	char cipher[NAMELIST_NAME_SIZE];

	return namelist_choose(x->my->ciphers[dir], x->peer->ciphers[dir],
	    cipher) && x->algorithms->is_aead(cipher);
}

/* Returns 1 if there is a MAC for "none", in an order that does no harm. */
static int
may_name_none(const struct authonly_exchange *x)
{
	char mac[NAMELIST_NAME_SIZE];
	int dir;

	if (!authonly_proposal_shares_etm(x->my, x->peer))
		return 0;
	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if (x->peer_knows_gmac && !leads_to_aead(x, dir) &&
		    !choose_etm_long(x, x->my->macs[dir], x->peer->macs[dir],
		    mac))
			return 0;
	}
	return 1;
}

/* Returns the list with the names of "first" in front; NULL: no memory. */
static char *
move_macs_first(const char *first, const char *list)
{
	char *rest = namelist_remove(list, first), *both = NULL;

	if (rest != NULL)
		both = namelist_join(first, rest);
	free(rest);
	return both;
}

/* Returns the MACs of a client that names "none"; NULL: no memory. */
static char *
order_macs(const struct authonly_exchange *x, enum authonly_dir dir)
{
	const char *my = x->my->macs[dir];
	char mac[NAMELIST_NAME_SIZE], *etm, *more, *ordered = NULL;

	if (!leads_to_aead(x, dir) &&
	    choose_etm_long(x, my, x->peer->macs[dir], mac))
		return strdup(my);
	etm = namelist_common(my, x->peer->macs[dir], ETM);
	if (etm != NULL && leads_to_aead(x, dir)) {
		more = x->algorithms->sort_macs(etm);
		free(etm);
		etm = more;
	}
	if (etm != NULL && (more = filter_long_tags(x, etm)) != NULL) {
		ordered = move_macs_first(more, etm);
		free(more);
		free(etm);
		etm = ordered;
		ordered = etm != NULL ? move_macs_first(etm, my) : NULL;
	}
	free(etm);
	return ordered;
}

int
authonly_proposal_shares_etm(const struct authonly_lists *my,
    const struct authonly_lists *peer)
{
	char *macs;
	int dir, shares = 1;

	for (dir = 0; shares && dir < AUTHONLY_DIRS; dir++) {
		if (peer->macs[dir] == NULL)
			return 0;
		macs = namelist_common(my->macs[dir], peer->macs[dir], ETM);
		shares = macs != NULL && *macs != '\0';
		free(macs);
	}
	return shares;
}

static int
both_dirs_have(const struct authonly_lists *lists, const char *mode)
{
	return namelist_has_any(lists->ciphers[AUTHONLY_CTOS], mode) &&
	    namelist_has_any(lists->ciphers[AUTHONLY_STOC], mode);
}

const char *
authonly_proposal_client_modes(const struct authonly_exchange *x,
    char *macs[AUTHONLY_DIRS])
{
	int gmac = x->peer_knows_gmac, none = may_name_none(x), dir;

	/* A server that began has said what it takes. */
	if (x->peer_began) {
		gmac = gmac && both_dirs_have(x->peer, AUTHONLY_GMAC);
		none = none && both_dirs_have(x->peer, AUTHONLY_NONE);
	}
	if (!none)
		return gmac ? AUTHONLY_GMAC : "";
	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if ((macs[dir] = order_macs(x, dir)) == NULL)
			return NULL;
	}
	if (!gmac)
		return AUTHONLY_NONE;
	return gmac_is_best(x, macs, x->peer->macs) ?
	    AUTHONLY_GMAC "," AUTHONLY_NONE : AUTHONLY_NONE "," AUTHONLY_GMAC;
}

/*
 * The server
 */

/*
 * The client's order decides. If it leads to a short tag, only a list without
 * such MACs changes that. Returns that list, "" if it is not needed or nothing
 * would be left; NULL: no memory.
 */
static char *
list_without_short(const struct authonly_exchange *x, enum authonly_dir dir)
{
	char mac[NAMELIST_NAME_SIZE], *etm, *picked = NULL;

	if (choose_etm_long(x, x->peer->macs[dir], x->my->macs[dir], mac))
		return strdup("");
	etm = namelist_common(x->my->macs[dir], x->peer->macs[dir], ETM);
	if (etm != NULL)
		picked = filter_long_tags(x, etm);
	free(etm);
	return picked;
}

/* Sets "macs" for each direction in which other MACs are better. */
static int
set_server_macs(const struct authonly_exchange *x, char *macs[AUTHONLY_DIRS])
{
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if ((macs[dir] = list_without_short(x, dir)) == NULL)
			return -1;
		if (*macs[dir] != '\0')
			continue;
		free(macs[dir]);
		macs[dir] = NULL;
	}
	return 0;
}

/*
 * The client's order decides, so a server can avoid a mode only by leaving it
 * out: GMAC if it is slower, "none" if its MAC has a short tag.
 */
const char *
authonly_proposal_server_modes(const struct authonly_exchange *x,
    char *macs[AUTHONLY_DIRS])
{
	const char *asked = x->peer->ciphers[AUTHONLY_CTOS];
	int gmac = namelist_has_any(asked, AUTHONLY_GMAC);
	int none = namelist_has_any(asked, AUTHONLY_NONE), dir, is_short = 0;
	char mac[NAMELIST_NAME_SIZE], *usable[AUTHONLY_DIRS];

	for (dir = 0; dir < AUTHONLY_DIRS; dir++)
		none = none && choose_etm(x->peer->macs[dir],
		    x->my->macs[dir], mac);
	if (!none)
		return gmac ? AUTHONLY_GMAC : "";
	if (set_server_macs(x, macs) == -1)
		return NULL;
	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		usable[dir] = macs[dir] != NULL ? macs[dir] : x->my->macs[dir];
		is_short = is_short ||
		    !choose_etm_long(x, x->peer->macs[dir], usable[dir], mac);
	}
	if (gmac && is_short)
		return AUTHONLY_GMAC;
	return gmac && gmac_is_best(x, x->peer->macs, usable) ?
	    AUTHONLY_ALL : AUTHONLY_NONE;
}

int
authonly_proposal_shares_ciphers(const struct authonly_lists *client,
    const struct authonly_lists *server)
{
	char cipher[NAMELIST_NAME_SIZE];
	int dir;

	for (dir = 0; dir < AUTHONLY_DIRS; dir++) {
		if (!namelist_choose(client->ciphers[dir],
		    server->ciphers[dir], cipher))
			return 0;
	}
	return 1;
}
