/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See gcm-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#ifdef __aarch64__
# include <sys/auxv.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "match.h"
#include "myproposal.h"

#include "gcm-hook.h"
#include "kexguess.h"

#define GCM	"aes256-gcm@openssh.com"

/* Without such instructions it is slow, and may take time by what is in it. */
static int
cpu_has_aes(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_cpu_supports("aes") &&
	    __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__) && defined(HWCAP_AES) && defined(HWCAP_PMULL)
	const unsigned long both = HWCAP_AES | HWCAP_PMULL;

	return (getauxval(AT_HWCAP) & both) == both;
#else
	return 0;
#endif
}

static int
is_default_list(const char *list)
{
	char *all = cipher_alg_list(',', 0), *own;
	int is;

	own = all == NULL ? NULL : match_filter_allowlist(KEX_CLIENT_ENCRYPT,
	    all);
	is = own != NULL && strcmp(own, list) == 0;
	free(own);
	free(all);
	return is;
}

/* Returns whether it could. */
static int
put_gcm_first(char **list)
{
	char *changed = is_default_list(*list) ? kexguess_put_first(*list,
	    GCM) : NULL;

	if (changed == NULL)
		return 0;
	free(*list);
	*list = changed;
	return 1;
}

void
gcm_put_first(char **proposal)
{
	if (cpu_has_aes() &&
	    put_gcm_first(&proposal[PROPOSAL_ENC_ALGS_CTOS]) &&
	    put_gcm_first(&proposal[PROPOSAL_ENC_ALGS_STOC]))
		debug("early login: preferring AES-GCM, because this server "
		    "does not rekey with AES-GCM");
}
