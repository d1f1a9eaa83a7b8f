/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * autoscale-test: simulated machines for cipher/autoscale.h.
 *
 * A machine has a rate for each number of threads, and two shares of a core:
 * what the owner uses, and what sealing uses. A day is a number of intervals.
 * Prints each claim that does not hold and exits with 1.
 */

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "autoscale.h"
#include "pool.h"

#define RATES	5

struct machine {
	double	rate[RATES];	/* bytes per second, with so many threads */
	double	busy, crypto, free_cores;
	unsigned int cores;
};

static struct autoscale a;
static struct autoscale_now now;
static unsigned int most, changes;
static double uneven;		/* share by which a rate varies in turns */
static double noise;		/* the same, at random */
static int can_start = 1;	/* threads can be started */

static void
begin(void)
{
	memset(&a, 0, sizeof(a));
	now = (struct autoscale_now){ .now_us = 1000000 };
	most = changes = 0;
	autoscale_decide(&a, &now);
}

/* From -1 to 1, at random (the generator of Knuth's MMIX) */
static double
rnd(void)
{
	static uint64_t state;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (double)(state >> 33) / (1 << 30) - 1;
}

static void
live(const struct machine *m, double seconds)
{
	const double interval = AUTOSCALE_US * 1.01;
	static unsigned int n;
	double rate;

	for (; seconds > 0; seconds -= interval / 1e6) {
		now.now_us += (uint64_t)interval;
		rate = m->rate[a.threads < RATES ? a.threads : RATES - 1] *
		    (1 + uneven * (7 * n++ % 5 / 2.0 - 1) + noise * rnd());
		now.bytes += (uint64_t)(rate * interval / 1e6);
		now.cpu_us += (uint64_t)(m->busy * interval);
		now.crypto_us += (uint64_t)(a.state == AUTOSCALE_OFF ? 0 :
		    m->crypto * interval);
		now.cores = m->cores;
		now.free_cores = m->free_cores;
		changes += (unsigned int)autoscale_decide(&a, &now);
		if (a.threads > most)
			most = a.threads;
		if (!can_start)
			autoscale_set_started(&a, 0);
	}
}

static void
claim(int so, const char *what)
{
	if (!so)
		errx(1, "not so: %s (%u threads, at most %u, %u changes)", what,
		    a.threads, most, changes);
}

int
main(void)
{
	const struct machine
	    helps = { { 4e8, 6e8, 6.5e8, 6.5e8, 6.5e8 }, 0.99, 0.6, 2, 8 },
	    helps_not = { { 4e8, 4e8, 4e8, 4e8, 4e8 }, 0.99, 0.6, 1, 4 },
	    hurts = { { 4e8, 3e8, 2e8, 2e8, 2e8 }, 0.99, 0.6, 1, 4 },
	    slow = { { 1e7, 1e7, 1e7, 1e7, 1e7 }, 0.99, 0.6, 4, 4 },
	    idle = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.4, 0.3, 4, 4 },
	    full = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.6, 0.1, 4 },
	    blind = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.6, -1, 4 },
	    clear = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.05, 2, 4 },
	    single = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.6, 1, 1 },
	    two = { { 4e8, 6e8, 8e8, 8e8, 8e8 }, 0.99, 0.6, 1, 2 },
	    enough = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.6, 0.6, 2 },
	    taken = { { 4e8, 6e8, 6e8, 6e8, 6e8 }, 0.99, 0.6, 0.1, 2 },
	    many = { { 4e8, 6e8, 8e8, 8e8, 8e8 }, 0.99, 0.6, 8, 40 },
	    starting = { { 3e7, 3e7, 3e7, 3e7, 3e7 }, 0.99, 0.6, 4, 4 },
	    crowded = { { 2e8, 2e8, 2e8, 2e8, 2e8 }, 0.99, 0.6, 0, 8 };
	int i;

	begin();
	live(&helps, 5);
	claim(a.threads == 2, "as many threads stay as bring something");
	live(&crowded, 2);
	claim(a.threads < 2, "threads go where others have the cores");
	live(&slow, 1);
	claim(a.threads == 0, "none when little moves");

	begin();
	live(&helps_not, 60);
	claim(a.threads == 0 && most == 1, "what does not help is undone");
	claim(changes <= 12, "it is tried less and less");
	begin();
	live(&hurts, 60);
	claim(a.threads == 0 && changes <= 12, "what hurts is undone");

	begin();
	live(&slow, 5);
	claim(most == 0 && a.state == AUTOSCALE_OFF,
	    "little data asks for nothing");
	begin();
	live(&idle, 5);
	claim(most == 0, "no thread where there is time left");
	begin();
	live(&full, 5);
	claim(most == 0 && a.state == AUTOSCALE_OFF,
	    "no thread without a core");
	begin();
	for (i = 0; i < 20; i++)
		live(i % 4 == 0 ? &two : &full, 0.1);
	claim(most == 0, "no thread where a core is free now and then");
	begin();
	live(&blind, 5);
	claim(most == 0, "no thread where cores cannot be seen");
	begin();
	live(&clear, 5);
	claim(most == 0, "no thread where sealing costs little");
	begin();
	live(&single, 5);
	claim(most == 0, "no thread on one core");
	begin();
	live(&two, 5);
	claim(a.threads == 1, "one core stays the owner's");

	begin();
	uneven = 0.15;
	live(&enough, 1);
	claim(a.threads == 1, "what helps is taken though the rate is uneven");
	live(&taken, 30);
	claim(changes == 2, "and stays, though its core is no longer free");
	uneven = 0;

	begin();
	noise = 0.1;
	live(&many, 3600);
	claim(a.threads >= 2 && most <= 4, "chance adds few threads");
	begin();
	noise = 0.4;
	live(&many, 36000);
	claim(most <= POOL_MAX, "never more threads than there can be");
	noise = 0;

	begin();
	can_start = 0;
	live(&helps, 60);
	claim(most == 1 && a.state != AUTOSCALE_TRIAL,
	    "a trial without a thread is over");
	claim(changes <= 12, "and not repeated all the time");
	can_start = 1;

	begin();
	live(&starting, 0.1);
	claim(a.state == AUTOSCALE_OFF, "nothing is done in the first moments");
	puts("ok");
	return 0;
}
