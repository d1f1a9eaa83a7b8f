/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See inspect-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <string.h>

#include "log.h"

#include "clock.h"
#include "file-hook.h"
#include "inspect-hook.h"
#include "scheduler.h"

/* A copy that has moved nothing for so long is reported, in microseconds. */
#define STALL_US	(30 * 1000000ULL)

/* How often all is printed with -vvv, in microseconds */
#define DEBUG3_US	1000000

static struct {
	uint64_t moved_us;		/* when something moved last */
	uint64_t bytes;			/* that had moved then */
	uint32_t next_id;		/* of the scheduler then */
	uint64_t printed_us;		/* when all was printed for -vvv */
	int	 reported;		/* nothing has moved since the report */
} inspect;

static volatile sig_atomic_t is_copying, is_asked;

static void
catch_signal(int sig)
{
	(void)sig;
	is_asked = is_copying;
}

void
inspect_catch_signal(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = catch_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
}

void
inspect_begin(void)
{
	is_copying = 1;
	inspect.moved_us = inspect.printed_us = clock_us();
	inspect.reported = 0;
}

void
inspect_end(void)
{
	is_copying = is_asked = 0;
}

static void
print_line(void *arg, void *user, const char *line)
{
	const LogLevel *level = arg;
	const struct file *file = user;

	do_log2(*level, "\"%s\": %s", file->src, line);
}

static void
print_all(const struct transfer *t, LogLevel level)
{
	sched_dump(t->sched, print_line, &level);
}

void
inspect_tick(const struct transfer *t)
{
	struct sched_stats stats = sched_stats(t->sched);
	uint64_t now = clock_us();
	int has_moved = stats.next_id != inspect.next_id || t->count.bytes !=
	    inspect.bytes;

	if (is_asked) {
		is_asked = 0;
		print_all(t, SYSLOG_LEVEL_INFO);
	} else if (now - inspect.printed_us >= DEBUG3_US) {
		inspect.printed_us = now;
		print_all(t, SYSLOG_LEVEL_DEBUG3);
	}
	if (has_moved) {
		inspect.next_id = stats.next_id;
		inspect.bytes = t->count.bytes;
		inspect.moved_us = now;
		inspect.reported = 0;
	} else if (!inspect.reported && now - inspect.moved_us >= STALL_US) {
		inspect.reported = 1;
		debug("nothing has moved for %d s; %u files in flight",
		    (int)((now - inspect.moved_us) / 1000000), stats.active);
		print_all(t, SYSLOG_LEVEL_DEBUG1);
	}
}
