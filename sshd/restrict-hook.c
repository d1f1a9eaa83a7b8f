/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>

#include "auth-options.h"
#include "misc.h"

#include "restrict-hook.h"

struct sshauthopt *
restrict_merge(const struct sshauthopt *a, const struct sshauthopt *b,
    const char **error)
{
	struct sshauthopt *merged = sshauthopt_merge(a, b, error);

	if (merged != NULL && (a->restricted || b->restricted)) {
		merged->restricted = 1;
		merged->force_tun_device = SSH_TUNID_ERR;
	}
	return merged;
}
