/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Takes the place of upstream's cleanup.c, and in ssh of the function of this
 * name in clientloop.c, which build-aux/overlay.mk renames: how a program ends
 * after fatal(). What report-hook.c and transfer-hook.c set as cleanup_first is
 * done before, and in ssh early_auth_cleanup() and extra_conn_cleanup().
 */

#include "includes.h"

#include <unistd.h>

#include "log.h"

/* Weak: a program that has no such hook does not link it. */
extern void	(*cleanup_first)(void) __attribute__((weak));
extern void	early_auth_cleanup(void) __attribute__((weak));
extern void	extra_conn_cleanup(void) __attribute__((weak));
extern void	client_cleanup_exit(int) __attribute__((weak));

void
cleanup_exit(int status)
{
	if (&cleanup_first != NULL && cleanup_first != NULL)
		cleanup_first();
	if (early_auth_cleanup != NULL)
		early_auth_cleanup();
	if (extra_conn_cleanup != NULL)
		extra_conn_cleanup();
	if (client_cleanup_exit != NULL)
		client_cleanup_exit(status);
	_exit(status);
}
