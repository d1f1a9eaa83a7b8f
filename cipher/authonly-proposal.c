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

/* As choose_etm(), with a tag of 128 bits or more. */
static int
choose_long(const struct authonly_exchange *x, const char *client,
    const char *server, char mac[NAMELIST_NAME_SIZE])
{
	return choose_etm(client, server, mac) &&
	    !x->algorithms->has_short_tag(mac);
}

/* Returns the names with long tags, in their order; NULL: no memory. */
static char *
pick_long(const struct authonly_exchange *x, const char *list)
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
 * Whether GMAC goes before "none": it is faster than the MAC of each direction,
 * or one of these has a short tag.
 */
static int
gmac_is_best(const struct authonly_exchange *x,
    char *const client[AUTHONLY_WAYS], char *const server[AUTHONLY_WAYS])
{
	char mac[NAMELIST_NAME_SIZE];
	int way, best = 1;

	for (way = 0; way < AUTHONLY_WAYS; way++) {
		if (!choose_etm(client[way], server[way], mac))
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

/* Whether the user's ciphers lead to one that needs no MAC. */
static int
leads_to_aead(const struct authonly_exchange *x, enum authonly_way way)
{
	char cipher[NAMELIST_NAME_SIZE];

	return namelist_choose(x->my->ciphers[way], x->peer->ciphers[way],
	    cipher) && x->algorithms->is_aead(cipher);
}

/* Whether "none" finds a MAC, in an order that does no harm. */
static int
may_name_none(const struct authonly_exchange *x)
{
	char mac[NAMELIST_NAME_SIZE];
	int way;

	if (!authonly_proposal_shares_etm(x->my, x->peer))
		return 0;
	for (way = 0; way < AUTHONLY_WAYS; way++) {
		if (x->peer_knows_gmac && !leads_to_aead(x, way) &&
		    !choose_long(x, x->my->macs[way], x->peer->macs[way], mac))
			return 0;
	}
	return 1;
}

/* Returns the list with the names of "first" in front; NULL: no memory. */
static char *
put_first(const char *first, const char *list)
{
	char *rest = namelist_remove(list, first), *both = NULL;

	if (rest != NULL)
		both = namelist_join(first, rest);
	free(rest);
	return both;
}

/* Returns the MACs of a client that names "none"; NULL: no memory. */
static char *
order_macs(const struct authonly_exchange *x, enum authonly_way way)
{
	const char *my = x->my->macs[way];
	char mac[NAMELIST_NAME_SIZE], *etm, *more, *ordered = NULL;

	if (!leads_to_aead(x, way) &&
	    choose_long(x, my, x->peer->macs[way], mac))
		return strdup(my);
	etm = namelist_common(my, x->peer->macs[way], ETM);
	if (etm != NULL && leads_to_aead(x, way)) {
		more = x->algorithms->sort_macs(etm);
		free(etm);
		etm = more;
	}
	if (etm != NULL && (more = pick_long(x, etm)) != NULL) {
		ordered = put_first(more, etm);
		free(more);
		free(etm);
		etm = ordered;
		ordered = etm != NULL ? put_first(etm, my) : NULL;
	}
	free(etm);
	return ordered;
}

int
authonly_proposal_shares_etm(const struct authonly_lists *my,
    const struct authonly_lists *peer)
{
	char *macs;
	int way, shares = 1;

	for (way = 0; shares && way < AUTHONLY_WAYS; way++) {
		if (peer->macs[way] == NULL)
			return 0;
		macs = namelist_common(my->macs[way], peer->macs[way], ETM);
		shares = macs != NULL && *macs != '\0';
		free(macs);
	}
	return shares;
}

static int
both_ways_have(const struct authonly_lists *lists, const char *mode)
{
	return namelist_has_any(lists->ciphers[AUTHONLY_CTOS], mode) &&
	    namelist_has_any(lists->ciphers[AUTHONLY_STOC], mode);
}

const char *
authonly_proposal_client_modes(const struct authonly_exchange *x,
    char *macs[AUTHONLY_WAYS])
{
	int gmac = x->peer_knows_gmac, none = may_name_none(x), way;

	/* A server that began has said what it takes. */
	if (x->peer_began) {
		gmac = gmac && both_ways_have(x->peer, AUTHONLY_GMAC);
		none = none && both_ways_have(x->peer, AUTHONLY_NONE);
	}
	if (!none)
		return gmac ? AUTHONLY_GMAC : "";
	for (way = 0; way < AUTHONLY_WAYS; way++) {
		if ((macs[way] = order_macs(x, way)) == NULL)
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
leave_out_short(const struct authonly_exchange *x, enum authonly_way way)
{
	char mac[NAMELIST_NAME_SIZE], *etm, *picked = NULL;

	if (choose_long(x, x->peer->macs[way], x->my->macs[way], mac))
		return strdup("");
	etm = namelist_common(x->my->macs[way], x->peer->macs[way], ETM);
	if (etm != NULL)
		picked = pick_long(x, etm);
	free(etm);
	return picked;
}

/* Sets "macs" for each direction that is better off with others. */
static int
set_server_macs(const struct authonly_exchange *x, char *macs[AUTHONLY_WAYS])
{
	int way;

	for (way = 0; way < AUTHONLY_WAYS; way++) {
		if ((macs[way] = leave_out_short(x, way)) == NULL)
			return -1;
		if (*macs[way] != '\0')
			continue;
		free(macs[way]);
		macs[way] = NULL;
	}
	return 0;
}

/* The client's order decides, so the worse mode of the two is left out. */
const char *
authonly_proposal_server_modes(const struct authonly_exchange *x,
    char *macs[AUTHONLY_WAYS])
{
	const char *asked = x->peer->ciphers[AUTHONLY_CTOS];
	int gmac = namelist_has_any(asked, AUTHONLY_GMAC);
	int none = namelist_has_any(asked, AUTHONLY_NONE), way, is_short = 0;
	char mac[NAMELIST_NAME_SIZE], *usable[AUTHONLY_WAYS];

	for (way = 0; way < AUTHONLY_WAYS; way++)
		none = none && choose_etm(x->peer->macs[way],
		    x->my->macs[way], mac);
	if (!none)
		return gmac ? AUTHONLY_GMAC : "";
	if (set_server_macs(x, macs) == -1)
		return NULL;
	for (way = 0; way < AUTHONLY_WAYS; way++) {
		usable[way] = macs[way] != NULL ? macs[way] : x->my->macs[way];
		is_short = is_short ||
		    !choose_long(x, x->peer->macs[way], usable[way], mac);
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
	int way;

	for (way = 0; way < AUTHONLY_WAYS; way++) {
		if (!namelist_choose(client->ciphers[way],
		    server->ciphers[way], cipher))
			return 0;
	}
	return 1;
}
