/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-count-replay: how many connections are wanted, on paths made of numbers.
 *
 * Each line has words KEY=VALUE:
 *
 *   each     KB per second that one connection carries
 *   path     KB per second that all of them carry together
 *   slow     seconds that a connection takes to reach its rate, doubling
 *   login    seconds until a connection that is wanted is there
 *   most     of them are there at most; the next one is refused
 *   seconds  of the transfer
 *   burst    seconds for which a connection has five times its rate at first
 *   noise    percent by which the rate of each second differs, up or down
 *   rest     MB that the transfer has to move; 0: not known
 *
 * With "rtt" they are channels of one connection. Each is there a round trip
 * after it is wanted, and what counts is what is acknowledged:
 *
 *   rtt      microseconds of a round trip; 0: they are connections
 *   window   KB that one channel carries in a round trip
 *   assumed  KB that it is taken to carry
 *   start    KB of the first round trip, which doubles in each; 0: all at once
 *   age      microseconds until a reply comes; 0: a round trip
 *   ours     1 if no channel can carry more than is assumed
 *
 * The report: the numbers that were wanted, in order, and the time of the last,
 * in seconds or round trips.
 */

#include <stdio.h>
#include <string.h>

#include "conn-count.h"
#include "minmax.h"
#include "words.h"

#define STEPS	100			/* in a second */

static long each, path, slow, login, most, seconds, rest, noise, burst;
static long rtt, window, assumed, start, age, ours;

static const struct word keys[] = {
	{ "each", &each, 1000 }, { "path", &path, 1000000 },
	{ "slow", &slow, 1 }, { "login", &login, 1 }, { "most", &most, 8 },
	{ "seconds", &seconds, 60 }, { "rest", &rest, 0 },
	{ "noise", &noise, 0 }, { "burst", &burst, 0 },
	{ "rtt", &rtt, 0 }, { "window", &window, 2048 },
	{ "assumed", &assumed, 2048 }, { "start", &start, 0 },
	{ "age", &age, 0 }, { "ours", &ours, 0 },
};

static long began[CONN_COUNT_MAX];		/* step; 0: not there */

/* From -1 to 1, by the second */
static double
luck(long second)
{
	return ((unsigned long)second * 2654435761UL >> 8) % 2001 / 1000.0 - 1;
}

/* Bytes that all carry in this step */
static long
moved(long step)
{
	double sum = 0, rate;
	int i;

	for (i = 0; i < CONN_COUNT_MAX; i++) {
		if (began[i] == 0 || began[i] > step)
			continue;
		rate = each;
		if (step - began[i] < slow * STEPS)
			rate = rate * (step - began[i] + 1) / (slow * STEPS);
		if (step - began[i] < burst * STEPS)
			rate *= 5;
		sum += rate;
	}
	sum *= 1 + noise / 100.0 * luck(step / STEPS);
	return (sum > path ? path : sum) * 1000 / STEPS;
}

static unsigned int
has(long step)
{
	unsigned int i, n = 0;

	for (i = 0; i < CONN_COUNT_MAX; i++)
		n += began[i] != 0 && began[i] <= step;
	return n;
}

/* One is asked for when the one before is there. */
static void
grow(struct conn_count *x, long step)
{
	unsigned int n = has(step);

	if (n >= conn_count_wanted(x) || (n < CONN_COUNT_MAX && began[n] != 0))
		return;
	if ((long)n >= most)
		conn_count_refused(x, n);
	else
		began[n] = step + login * STEPS;
}

static void
run_connections(void)
{
	struct conn_count x;
	unsigned int want = 1;
	uint64_t left = rest > 0 ? (uint64_t)rest * 1000000 : UINT64_MAX;
	long step, last = 0;

	memset(&x, 0, sizeof(x));
	memset(began, 0, sizeof(began));
	began[0] = 1;
	printf("want=1");
	for (step = 1; step < seconds * STEPS && left > 0; step++) {
		if (rest > 0)
			left -= min_u64(left, moved(step));
		conn_count_moved(&x, moved(step), left, has(step),
		    (uint64_t)step * 1000000 / STEPS);
		if (conn_count_wanted(&x) != want) {
			want = conn_count_wanted(&x);
			last = step;
			printf(",%u", want);
		}
		grow(&x, step);
	}
	printf(" at=%ld has=%u\n", last / STEPS, has(step));
}

/* Acknowledges so much in a round trip, in pieces of a request. */
static void
acknowledge(struct conn_count *x, uint64_t bytes, unsigned int n, uint64_t *now)
{
	uint64_t left = bytes, begin = *now;
	uint32_t len;

	while (left > 0) {
		len = (uint32_t)min_u64(left, 32 * 1024);
		left -= len;
		*now = begin + (uint64_t)rtt * (bytes - left) / bytes;
		conn_count_acked(x, len, age > 0 ? age : rtt, *now, n);
	}
	*now = begin + rtt;
}

static void
run_channels(void)
{
	struct conn_count x;
	unsigned int want = 1, n = 1;
	uint64_t now = 1, bytes, flies = (uint64_t)start * 1024;
	long trip, last = 0, trips = seconds * 1000000 / rtt;

	memset(&x, 0, sizeof(x));
	x.window = (uint64_t)assumed * 1024;
	x.window_is_ours = (int)ours;
	printf("want=1");
	for (trip = 1; trip <= trips && trip <= 1000; trip++) {
		bytes = (uint64_t)path * 1000 * rtt / 1000000;
		if (start > 0)
			bytes = min_u64(bytes, flies);
		bytes = min_u64(bytes, (uint64_t)window * 1024 * n);
		flies = 2 * bytes;
		acknowledge(&x, bytes, n, &now);
		n = (unsigned int)min_u64(want, most);
		if (conn_count_wanted(&x) != want) {
			want = conn_count_wanted(&x);
			last = trip;
			printf(",%u", want);
		}
	}
	printf(" at=%ld has=%u limit=%s\n", last, n,
	    conn_count_may_be_limited(&x) ? "perhaps" : "no");
}

static void
run(void)
{
	if (rtt > 0)
		run_channels();
	else
		run_connections();
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), run);
	return 0;
}
