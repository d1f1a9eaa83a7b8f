/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See resolve-all-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "ssh.h"
#include "packet.h"
#include "xmalloc.h"

#include "extra-conn-hook.h"
#include "hayopt.h"
#include "resolve-all-hook.h"

static char *addresses[HAYOPT_HOSTS_MAX + 1];	/* of the last name */
static size_t naddresses;

/* Returns 1 and the address as text, or 0. */
static int
print_address(const struct addrinfo *ai, char text[NI_MAXHOST])
{
	return getnameinfo(ai->ai_addr, ai->ai_addrlen, text, NI_MAXHOST, NULL,
	    0, NI_NUMERICHOST) == 0;
}

static int
is_listed(const char *text)
{
	size_t i;

	for (i = 0; i < naddresses && strcmp(addresses[i], text) != 0; i++)
		;
	return i < naddresses;
}

static void
remember_addresses(const struct addrinfo *ai)
{
	char text[NI_MAXHOST];

	while (naddresses > 0)
		free(addresses[--naddresses]);
	for (; ai != NULL && naddresses < HAYOPT_HOSTS_MAX + 1; ai =
	    ai->ai_next) {
		if (print_address(ai, text) && !is_listed(text))
			addresses[naddresses++] = xstrdup(text);
	}
}

/* Leaves those that are this address. The first one has the name of all. */
static struct addrinfo *
keep_address(struct addrinfo *all, const char *address)
{
	struct addrinfo *kept = NULL, *rest = NULL, *one;
	struct addrinfo **kept_end = &kept, **rest_end = &rest;
	char text[NI_MAXHOST];

	for (one = all; one != NULL; one = one->ai_next) {
		if (print_address(one, text) && strcmp(text, address) == 0) {
			*kept_end = one;
			kept_end = &one->ai_next;
		} else {
			*rest_end = one;
			rest_end = &one->ai_next;
		}
	}
	*kept_end = *rest_end = NULL;
	if (kept != NULL && rest == all) {
		kept->ai_canonname = rest->ai_canonname;
		rest->ai_canonname = NULL;
	}
	if (rest != NULL)
		freeaddrinfo(rest);
	return kept;
}

/*
 * An additional connection goes to the address that the first one has. With
 * HappyEyes it could reach another one, and would be refused there.
 */
static void
keep_first_address(struct addrinfo **all)
{
	const char *first = extra_conn_host();
	char *address;

	if (first == NULL || extra_conn_other_host() != NULL)
		return;
	address = xstrdup(first);
	address[strcspn(address, " ")] = '\0';
	if (is_listed(address))
		*all = keep_address(*all, address);
	free(address);
}

int
resolve_all_getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found)
{
	const char *only = extra_conn_address();
	int r = getaddrinfo(name, service, hints, found);

	if (r == 0)
		extra_conn_resolved();
	if (r != 0 || (hints->ai_flags & AI_NUMERICHOST) != 0)
		return r;
	if (only == NULL) {
		remember_addresses(*found);
		keep_first_address(found);
	} else if ((*found = keep_address(*found, only)) == NULL)
		return EAI_NONAME;
	return 0;
}

char *
resolve_all_others(struct ssh *ssh)
{
	const char *mine = ssh_remote_ipaddr(ssh);
	char *all = NULL, *more;
	size_t i, n = 0;

	for (i = 0; i < naddresses; i++) {
		if (strcmp(addresses[i], mine) == 0 || n++ == HAYOPT_HOSTS_MAX)
			continue;
		xasprintf(&more, "%s%s%s", all == NULL ? "" : all,
		    all == NULL ? "" : ",", addresses[i]);
		free(all);
		all = more;
	}
	return all;
}
