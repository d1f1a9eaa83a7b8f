/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See keypair-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <string.h>

#include "crypto_api.h"
#include "log.h"

#include "keypair-hook.h"

static struct {
	int	is_made;
	u_char	public[crypto_kem_sntrup761_PUBLICKEYBYTES];
	u_char	secret[crypto_kem_sntrup761_SECRETKEYBYTES];
} pair;

int
keypair_is_slow(const char *method)
{
	return strcmp(method, "sntrup761x25519-sha512") == 0 ||
	    strcmp(method, "sntrup761x25519-sha512@openssh.com") == 0;
}

void
keypair_forget(void)
{
	explicit_bzero(&pair, sizeof(pair));
}

#ifdef USE_SNTRUP761X25519

void
keypair_prepare(void)
{
	if (!pair.is_made)
		pair.is_made = crypto_kem_sntrup761_keypair(pair.public,
		    pair.secret) == 0;
}

int
keypair_sntrup761(u_char *public, u_char *secret)
{
	if (!pair.is_made)
		return crypto_kem_sntrup761_keypair(public, secret);
	memcpy(public, pair.public, sizeof(pair.public));
	memcpy(secret, pair.secret, sizeof(pair.secret));
	keypair_forget();
	debug("early login: using the key pair made in advance");
	return 0;
}

#else

void
keypair_prepare(void)
{
}

#endif
