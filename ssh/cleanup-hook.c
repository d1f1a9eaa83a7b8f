/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Takes the place of upstream's cleanup.c: how a program without a function of
 * this name ends after fatal(). What report-hook.c and copy-hook.c set as
 * cleanup_first is done before.
 */

#include "includes.h"

#include <unistd.h>

#include "log.h"

/* Weak: a program that has no such hook does not link it. */
extern void	(*cleanup_first)(void) __attribute__((weak));

void
cleanup_exit(int status)
{
	if (&cleanup_first != NULL && cleanup_first != NULL)
		cleanup_first();
	_exit(status);
}
