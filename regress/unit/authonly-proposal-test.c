/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-proposal-test: which modes a client and a server name for given
 * lists (cipher/authonly-proposal.h), and name-lists (cipher/namelist.h).
 *
 * Prints each failure and a count; exits with 1 if there was one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "authonly.h"
#include "authonly-proposal.h"

#define GMAC	AUTHONLY_GMAC
#define NONE	AUTHONLY_NONE
#define SLOW	"slow-etm@openssh.com"
#define FAST	"fast-etm@openssh.com"
#define PLAIN	"plain@openssh.com"
#define SHORT	"short-etm@openssh.com"

static int count, failed;

/* Compares and frees "have". */
static void
expect(char *have, const char *want, const char *what)
{
	count++;
	if (have == NULL || strcmp(have, want) != 0) {
		failed++;
		printf("%s: \"%s\", expected \"%s\"\n", what,
		    have == NULL ? "(null)" : have, want);
	}
	free(have);
}

/*
 * Name-lists
 */

static char *
choose(const char *client, const char *server)
{
	char name[NAMELIST_NAME_SIZE] = "untouched";

	return strdup(namelist_choose(client, server, name) ? name : "-");
}

static char *
yes_or_no(int yes)
{
	return strdup(yes ? "yes" : "no");
}

static void
test_namelists(void)
{
	char name_64[65], name_65[66];

	snprintf(name_64, sizeof(name_64), "%064d", 0);
	snprintf(name_65, sizeof(name_65), "%065d", 0);
	expect(namelist_join("", ""), "", "join of empty lists");
	expect(namelist_join("a", ""), "a", "join with an empty second");
	expect(namelist_join("", "a"), "a", "join with an empty first");
	expect(namelist_join("a,b", "c"), "a,b,c", "join");
	expect(namelist_remove("a,b,c", "c,a"), "b", "remove");
	expect(namelist_remove("ab,abc,b", "a,abc,bc"), "ab,b",
	    "remove compares whole names");
	expect(namelist_remove("a,b", "*"), "a,b", "remove knows no patterns");
	expect(namelist_remove(",a,,b,", "b"), "a", "remove of empty names");
	expect(namelist_common("c,b,a", "a,c", ""), "c,a",
	    "common keeps the order of the first");
	expect(namelist_common("x-s,y,z-s,-s", "z-s,y,-s", "-s"), "z-s,-s",
	    "common with a suffix");
	expect(namelist_common("a", "a", "aa"), "", "suffix longer than name");
	expect(yes_or_no(namelist_has_any("a,b", "c,b")), "yes", "has any");
	expect(yes_or_no(namelist_has_any("a,b", "c,A,?")), "no", "has none");
	expect(yes_or_no(namelist_has_any("", "a")), "no", "empty has none");
	expect(choose("a,b", "b,a"), "a", "the client's order counts");
	expect(choose("a", "b"), "-", "nothing in common");
	expect(choose("", ""), "-", "nothing in empty lists");
	expect(choose(",a", ",a"), "a", "an empty name is skipped");
	expect(choose(name_64, name_64), name_64, "64 bytes are a name");
	expect(choose(name_65, name_65), "-", "65 bytes are skipped");
}

/*
 * Proposals
 */

static int gmac_fastest;

static int
is_aead(const char *cipher)
{
	return strcmp(cipher, "aead") == 0;
}

static int
is_short(const char *mac)
{
	return strcmp(mac, SHORT) == 0;
}

/* FAST is the faster MAC. */
static char *
sort_macs(const char *list)
{
	return strdup(strcmp(list, SLOW "," FAST) == 0 ? FAST "," SLOW : list);
}

static int
is_gmac_fastest(const char *mac)
{
	(void)mac;
	return gmac_fastest;
}

static const struct authonly_algorithms algorithms = {
	.is_aead = is_aead, .sort_macs = sort_macs,
	.gmac_is_fastest = is_gmac_fastest, .has_short_tag = is_short,
};

static const struct client_case {
	const char	*what;
	int		 hayate;	/* the server knows GMAC */
	int		 began;		/* the server began */
	int		 gmac_fastest;
	const char	*my_ciphers, *my_macs, *ciphers, *macs;
	const char	*want;		/* modes, and MACs if they are set */
} client_cases[] = {
	{ "HPN-SSH's server is asked for none alone", 0, 0, 1,
	    "ctr", FAST, "ctr,none", FAST, NONE " " FAST },
	{ "of a Hayate server the faster mode is asked for first", 1, 0, 1,
	    "ctr", FAST, "ctr", FAST, GMAC "," NONE " " FAST },
	{ "a slower GMAC comes second", 1, 0, 0,
	    "ctr", FAST, "ctr", FAST, NONE "," GMAC " " FAST },
	{ "without an etm MAC in common GMAC is left", 1, 0, 0,
	    "aead", PLAIN "," FAST, "aead", PLAIN "," SLOW, GMAC },
	{ "without one and without GMAC nothing is left", 0, 0, 0,
	    "aead", PLAIN, "aead", PLAIN, "" },
	{ "with an AEAD the MACs are sorted and come first", 1, 0, 0,
	    "aead", PLAIN "," SLOW "," FAST, "aead", FAST "," SLOW "," PLAIN,
	    NONE "," GMAC " " FAST "," SLOW "," PLAIN },
	{ "without an AEAD the user's order stays", 1, 0, 0,
	    "ctr,aead", SLOW "," PLAIN "," FAST, "ctr", FAST "," SLOW,
	    NONE "," GMAC " " SLOW "," PLAIN "," FAST },
	{ "a Hayate server is not asked for another order", 1, 0, 0,
	    "ctr", PLAIN "," FAST, "ctr", PLAIN "," FAST, GMAC },
	{ "HPN-SSH's server is", 0, 0, 0,
	    "ctr", PLAIN "," SLOW "," FAST, "ctr,none",
	    PLAIN "," FAST "," SLOW,
	    NONE " " SLOW "," FAST "," PLAIN },
	{ "a short tag comes last, also where no MAC would be used", 1, 0, 0,
	    "aead", SHORT "," SLOW "," PLAIN, "aead", SHORT "," SLOW,
	    NONE "," GMAC " " SLOW "," SHORT "," PLAIN },
	{ "and if it is all there is, GMAC comes first", 1, 0, 0,
	    "aead", SHORT "," PLAIN, "aead", PLAIN "," SHORT,
	    GMAC "," NONE " " SHORT "," PLAIN },
	{ "where the order has to stay, GMAC alone takes its place", 1, 0, 0,
	    "ctr", SHORT "," SLOW, "ctr", SHORT "," SLOW, GMAC },
	{ "HPN-SSH's server gets another order", 0, 0, 0,
	    "ctr", PLAIN "," SHORT "," SLOW, "ctr,none", SHORT "," SLOW,
	    NONE " " SLOW "," SHORT "," PLAIN },
	{ "and a short tag if it has no other", 0, 0, 0,
	    "ctr", SHORT "," SLOW, "ctr,none", SHORT, NONE " " SHORT "," SLOW },
	{ "a server that began without modes gets none", 1, 1, 1,
	    "aead", FAST, "aead", FAST, "" },
	{ "a server that began with GMAC gets GMAC", 1, 1, 0,
	    "aead", FAST, "aead," GMAC, FAST, GMAC },
	{ "a server that began with none gets none", 1, 1, 1,
	    "aead", FAST, "aead,none", FAST, NONE " " FAST },
	{ "the peer's names are no patterns", 0, 0, 0,
	    "ctr", FAST, "ctr,none", "*", "" },
};

/* The modes, and the MACs if they are set, which are freed. */
static char *
print(const char *modes, char *macs[AUTHONLY_DIRS])
{
	char have[300];

	snprintf(have, sizeof(have), "%s%s%s", modes,
	    macs[0] != NULL ? " " : "", macs[0] != NULL ? macs[0] : "");
	if (macs[0] != NULL)
		expect(strdup(macs[1]), macs[0],
		    "both directions have the same MACs");
	free(macs[0]);
	free(macs[1]);
	return strdup(have);
}

static void
test_client(const struct client_case *c)
{
	struct authonly_lists my = {
		{ (char *)c->my_ciphers, (char *)c->my_ciphers },
		{ (char *)c->my_macs, (char *)c->my_macs },
	}, server = {
		{ (char *)c->ciphers, (char *)c->ciphers },
		{ (char *)c->macs, (char *)c->macs },
	};
	struct authonly_exchange x = {
		&my, &server, c->hayate, c->began, &algorithms,
	};
	char *macs[AUTHONLY_DIRS] = { NULL, NULL };

	gmac_fastest = c->gmac_fastest;
	expect(print(authonly_proposal_client_modes(&x, macs), macs), c->want,
	    c->what);
}

/* One direction without a MAC is enough to leave out "none". */
static void
test_one_way(void)
{
	struct authonly_lists my = { { "aead", "aead" }, { FAST, FAST } };
	struct authonly_lists peer = { { NONE, NONE }, { FAST, PLAIN } };
	struct authonly_lists unknown = { { NULL, NULL }, { NULL, NULL } };
	struct authonly_exchange x = { &my, &peer, 0, 0, &algorithms };
	char *macs[AUTHONLY_DIRS] = { NULL, NULL };

	expect(strdup(authonly_proposal_client_modes(&x, macs)), "",
	    "a client without a MAC in one direction");
	expect(strdup(authonly_proposal_server_modes(&x, macs)), "",
	    "a server without a MAC in one direction");
	x.peer = &unknown;
	expect(strdup(authonly_proposal_client_modes(&x, macs)), "",
	    "a server whose lists are not known");
	x.peer_knows_gmac = 1;
	expect(strdup(authonly_proposal_client_modes(&x, macs)), GMAC,
	    "a Hayate server whose lists are not known");
	expect(yes_or_no(authonly_proposal_shares_ciphers(&peer, &my)), "no",
	    "no cipher in common");
	peer.ciphers[AUTHONLY_CTOS] = NONE ",aead";
	expect(yes_or_no(authonly_proposal_shares_ciphers(&peer, &my)), "no",
	    "a cipher in common in one direction");
	peer.ciphers[AUTHONLY_STOC] = "x,aead";
	expect(yes_or_no(authonly_proposal_shares_ciphers(&peer, &my)), "yes",
	    "a cipher in common in both");
}

static const struct server_case {
	const char	*what;
	int		 gmac_fastest;
	const char	*ciphers, *macs;	/* of the client */
	const char	*want;			/* modes, and MACs if set */
} server_cases[] = {
	{ "a client that names no mode", 1, "aead", FAST, "" },
	{ "none", 0, NONE ",aead", FAST, NONE },
	{ "none alone, though GMAC is faster", 1, NONE ",aead", FAST, NONE },
	{ "none without an etm MAC", 0, NONE ",aead", PLAIN "," FAST, "" },
	{ "GMAC alone, fast or not", 0, GMAC ",aead", FAST, GMAC },
	{ "both, GMAC is fastest", 1, NONE "," GMAC, FAST, AUTHONLY_ALL },
	{ "both, GMAC is slower", 0, GMAC "," NONE, FAST, NONE },
	{ "both, no etm MAC", 0, GMAC "," NONE, PLAIN, GMAC },
	{ "a client that puts a short tag first", 0, NONE, SHORT "," FAST,
	    NONE " " FAST },
	{ "a client with short tags alone", 0, NONE, SHORT, NONE },
	{ "and GMAC, fast or not", 0, NONE "," GMAC, SHORT, GMAC },
	{ "both, a short tag first", 0, NONE "," GMAC, SHORT "," FAST,
	    NONE " " FAST },
	{ "a short tag and one of another kind first", 0, NONE,
	    SHORT "," PLAIN "," FAST, NONE " " FAST },
};

static void
test_server(const struct server_case *c)
{
	struct authonly_lists my = {
		{ "aead", "aead" },
		{ FAST "," PLAIN "," SHORT, FAST "," PLAIN "," SHORT },
	}, client = {
		{ (char *)c->ciphers, (char *)c->ciphers },
		{ (char *)c->macs, (char *)c->macs },
	};
	struct authonly_exchange x = { &my, &client, 0, 1, &algorithms };
	char *macs[AUTHONLY_DIRS] = { NULL, NULL };

	gmac_fastest = c->gmac_fastest;
	expect(print(authonly_proposal_server_modes(&x, macs), macs), c->want,
	    c->what);
}

int
main(void)
{
	size_t i;

	test_namelists();
	for (i = 0; i < sizeof(client_cases) / sizeof(client_cases[0]); i++)
		test_client(&client_cases[i]);
	test_one_way();
	for (i = 0; i < sizeof(server_cases) / sizeof(server_cases[0]); i++)
		test_server(&server_cases[i]);
	printf("%d claims, %d failed\n", count, failed);
	return failed != 0;
}
