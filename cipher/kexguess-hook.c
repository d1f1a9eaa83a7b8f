/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See kexguess-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kex.h"
#include "match.h"
#include "ssherr.h"

#include "kexguess.h"
#include "kexguess-hook.h"
#include "namelist.h"
#include "peer-hook.h"

void (*kexguess_at_banner)(struct ssh *);

void
kexguess_banner_sent(struct ssh *ssh)
{
	if (kexguess_at_banner != NULL)
		kexguess_at_banner(ssh);
}

static struct kexguess_lists
get_guess_lists(char **proposal)
{
	struct kexguess_lists lists = {
		.kex = proposal[PROPOSAL_KEX_ALGS],
		.key = proposal[PROPOSAL_SERVER_HOST_KEY_ALGS],
	};

	return lists;
}

int
kexguess_fits(const struct kex *kex, char **my, char **peer)
{
	struct kexguess_lists server = get_guess_lists(my),
	    client = get_guess_lists(peer);

	return kex->server && kexguess_is_named(&client, &server) &&
	    kexguess_is_right(&client, &server);
}

char *
kexguess_match_list(const char *client, const char *server, u_int *next)
{
	char *name = match_list(client, server, next), *rest;

	if (name == NULL || strcmp(name, KEXGUESS_NAME) != 0)
		return name;
	free(name);
	if ((rest = namelist_remove(client, KEXGUESS_NAME)) == NULL)
		return NULL;
	name = match_list(rest, server, next);
	free(rest);
	return name;
}

int
kexguess_setup(struct ssh *ssh, char **proposal)
{
	char *list;

	if (!peer_is_disabled()) {
		list = namelist_join(proposal[PROPOSAL_KEX_ALGS],
		    KEXGUESS_NAME);
		if (list == NULL)
			return SSH_ERR_ALLOC_FAIL;
		free(proposal[PROPOSAL_KEX_ALGS]);
		proposal[PROPOSAL_KEX_ALGS] = list;
	}
	return kex_setup(ssh, proposal);
}
