/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See fuzz.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"

#include "fuzz.h"

sigjmp_buf fuzz_left;
int fuzz_trying;

void
fuzz_leave(int status)
{
	if (!fuzz_trying)
		_exit(status);
	fuzz_trying = 0;
	siglongjmp(fuzz_left, 1);
}

/* Weak: see ssh/cleanup-hook.c */
extern void	(*cleanup_first)(void) __attribute__((weak));

/* fatal() ends a process by this function. */
void
cleanup_exit(int status)
{
	if (&cleanup_first != NULL && cleanup_first != NULL)
		cleanup_first();
	fuzz_leave(status);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_init("fuzz", SYSLOG_LEVEL_QUIET, SYSLOG_FACILITY_USER, 1);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}
