/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See deferred-signals-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "deferred-signals-hook.h"

/* After a signal so much time (us) remains to bring things to an end. */
#define REPAIR_US	(10 * 1000000)

extern volatile sig_atomic_t interrupted;

static struct {
	int	 sig;
	struct sigaction old;
} signals[] = { { .sig = SIGTERM }, { .sig = SIGHUP }, { .sig = SIGPIPE },
    { .sig = SIGINT } };

static int is_scp, is_catching;
static volatile sig_atomic_t caught, must_repair;
static char *volatile farewell;		/* names what is left; or NULL */
static uint64_t until;			/* a signal waits; 0: none does */

void
signals_begin(void)
{
	is_scp = 1;
}

static size_t
signal_count(void)
{
	return sizeof(signals) / sizeof(*signals) - !is_scp;
}

static void
restore_handlers(void)
{
	size_t i;

	for (i = 0; i < signal_count(); i++)
		sigaction(signals[i].sig, &signals[i].old, NULL);
}

/* The second signal ends the process, as the first would have done. */
static void
catch_signal(int sig)
{
	const char *last = farewell;

	if (caught || !must_repair) {
		if (last != NULL)
			(void)!write(STDERR_FILENO, last, strlen(last));
		restore_handlers();
		raise(sig);
	}
	caught = sig;
	interrupted = 1;
}

void
signals_catch(void)
{
	struct sigaction sa;
	size_t i;

	if (is_catching)
		return;
	is_catching = 1;
	must_repair = 0;
	memset(&sa, 0, sizeof(sa));
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < signal_count(); i++) {
		/* A lost connection is an error of write(). */
		sa.sa_handler = signals[i].sig == SIGPIPE ? SIG_IGN :
		    catch_signal;
		sigaction(signals[i].sig, &sa, &signals[i].old);
	}
}

void
signals_release(void)
{
	int sig = caught;

	if (!is_catching)
		return;
	is_catching = 0;
	signals_hold(0, NULL);
	restore_handlers();
	caught = 0;
	until = 0;
	if (sig != 0)
		raise(sig);
}

void
signals_hold(int must, char *text)
{
	char *old = farewell;

	must_repair = must;
	farewell = text;
	free(old);
}

int
signals_is_late(void)
{
	if (caught && until == 0)
		until = clock_us() + REPAIR_US;
	return until != 0 && clock_us() > until;
}
