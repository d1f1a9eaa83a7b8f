/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See macspeed-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "log.h"
#include "mac.h"
#include "match.h"
#include "xmalloc.h"

#include "authonly.h"
#include "clock.h"
#include "macspeed-hook.h"

#define PACKET_SIZE	32768
#define PACKETS		4	/* a run takes tens of microseconds */
#define RUNS		3	/* the fastest one counts */
#define SLOWEST		UINT64_MAX

#define NTIMED		16	/* more names than anybody has */
static struct {
	char	*name;
	uint64_t us;
} timed[NTIMED];

static u_char in[4 + PACKET_SIZE], out[4 + PACKET_SIZE + 16];

/*
 * run_mac() and run_gmac() return the microseconds of one run, or -1 on error.
 */
static int64_t
run_mac(struct sshmac *mac)
{
	uint64_t start = clock_us();
	int i;

	for (i = 0; i < PACKETS; i++) {
		if (mac_compute(mac, i, in, sizeof(in), out, sizeof(out)) != 0)
			return -1;
	}
	return (int64_t)(clock_us() - start);
}

static int64_t
run_gmac(struct sshcipher_ctx *gmac)
{
	uint64_t start = clock_us();
	int i;

	for (i = 0; i < PACKETS; i++) {
		if (cipher_crypt(gmac, i, out, in, PACKET_SIZE, 4, 16) != 0)
			return -1;
	}
	return (int64_t)(clock_us() - start);
}

/* Returns the time of the fastest run of either. */
static uint64_t
time_fastest_run(struct sshmac *mac, struct sshcipher_ctx *gmac)
{
	uint64_t us = SLOWEST;
	int64_t t;
	int i;

	for (i = 0; i < RUNS; i++) {
		t = mac != NULL ? run_mac(mac) : run_gmac(gmac);
		if (t < 0)
			return SLOWEST;
		if ((uint64_t)t < us)
			us = (uint64_t)t;
	}
	return us;
}

/* The speed does not depend on the key. */
static u_char key[64];

static uint64_t
time_mac(const char *name)
{
	struct sshmac mac = { .key = key };
	uint64_t us = SLOWEST;

	if (mac_setup(&mac, (char *)name) != 0)
		return us;
	if (mac.key_len <= sizeof(key) && mac_init(&mac) == 0)
		us = time_fastest_run(&mac, NULL);
	mac_clear(&mac);
	return us;
}

static uint64_t
time_gmac(void)
{
	struct sshcipher_ctx *gmac = NULL;
	uint64_t us = SLOWEST;

	if (cipher_init(&gmac, cipher_by_name(AUTHONLY_GMAC), key, 16, key, 12,
	    CIPHER_ENCRYPT) == 0)
		us = time_fastest_run(NULL, gmac);
	cipher_free(gmac);
	return us;
}

/* Returns the microseconds of a run, which is timed once in a process. */
static uint64_t
get_run_time(const char *name)
{
	size_t i;

	for (i = 0; i < NTIMED && timed[i].name != NULL; i++) {
		if (strcmp(timed[i].name, name) == 0)
			return timed[i].us;
	}
	if (i == NTIMED)
		return SLOWEST;
	timed[i].us = strcmp(name, AUTHONLY_GMAC) == 0 ? time_gmac() :
	    time_mac(name);
	timed[i].name = xstrdup(name);
	debug3_f("%s: %llu us for %d bytes", name,
	    (unsigned long long)timed[i].us, PACKETS * PACKET_SIZE);
	return timed[i].us;
}

/* MACs with tags of 128 bits or more, and no broken hash */
#define STRONG	"umac-128*,hmac-sha2-256*,hmac-sha2-512*"

/* Returns 1 if a MAC may move ahead of one that precedes it in the list. */
static int
may_overtake(char *name, char *first)
{
	return match_pattern_list(name, STRONG, 0) == 1 &&
	    get_run_time(name) < get_run_time(first);
}

/* Returns the name that the sorted list begins with; NULL: it is empty. */
static char *
find_first(const char *list)
{
	char *names = xstrdup(list), *rest = names, *name, *first = NULL;

	while ((name = strsep(&rest, ",")) != NULL) {
		if (*name != '\0' &&
		    (first == NULL || may_overtake(name, first)))
			first = name;
	}
	first = first == NULL ? NULL : xstrdup(first);
	free(names);
	return first;
}

char *
macspeed_sort(const char *list)
{
	char *left = xstrdup(list), *ranked = xstrdup(""), *name, *more;

	while ((name = find_first(left)) != NULL) {
		more = match_filter_denylist(left, name);
		free(left);
		left = more;
		xasprintf(&more, "%s%s%s", ranked, *ranked ? "," : "", name);
		free(ranked);
		free(name);
		ranked = more;
		if (left == NULL)
			fatal_f("out of memory");
	}
	free(left);
	return ranked;
}

int
macspeed_gmac_is_fastest(const char *mac)
{
	return get_run_time(AUTHONLY_GMAC) <= get_run_time(mac);
}
