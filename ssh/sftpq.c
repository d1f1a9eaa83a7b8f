/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See sftpq.h for the idea. The stream of a connection is the bytes of all
 * its replies, the edge is what has been asked for, and the age of a request
 * is the in-band RTT. There is no other here, since scp sees only a local
 * socket, and no reader to lag: scp itself is the reader.
 *
 * What is being acknowledged is counted in slots of an eighth of a second.
 * The sum of two seconds bridges a stall. The last half-second, times four,
 * sees a path that becomes faster: a transfer that its own requests limit
 * then has twice as many after each round trip of less than a second. One
 * reply in that time is no rate, so the half-second counts one request less.
 */

#include <stdlib.h>

#include "bdp.h"
#include "sftpq.h"
#include "wtune.h"

/*
 * Twice stock's requests, 32 MiB, are what a fast path to the other side of
 * the earth holds: allowed without asking.
 */
#define START_TIMES	2

/* No path is longer than this, and an interrupt waits for all of it. */
#define SECONDS_UNDER_WAY	2

/*
 * Until two seconds have passed. Eight requests, or 2 MiB, outlast the first
 * seven round trips of slow start, and by then a rate is known.
 */
#define REQUESTS_START	8

/* Later: one that is being sent while the other's reply comes back. */
#define REQUESTS_MIN	2

/*
 * Over stock's number, what the path holds, several times: slow start needs
 * two and loses half a round trip in measuring. The first reply of a
 * transfer is as old as the path is long, and a little older.
 */
#define PATHS_UNDER_WAY	4

#define SLOTS_PER_SECOND	8
#define SLOT_US		(1000000 / SLOTS_PER_SECOND)
#define SLOTS		(SECONDS_UNDER_WAY * SLOTS_PER_SECOND)
#define SLOTS_RECENT	(SLOTS_PER_SECOND / 2)

struct sftpq_flow {
	struct bdp *bdp;
	struct wtune *wtune;
	struct sftpq_conf conf;
	uint64_t handles;		/* 0: no limit */
	uint64_t window, taken;		/* bytes */
	uint64_t asked;			/* stream position, never falls */
	uint32_t requests;
	uint64_t most;			/* bytes: the lowest of the bounds */
	const char *bound;		/* which it is */

	uint64_t begun_us;		/* this transfer */
	int	 replied;		/* it had a reply */
	uint64_t first_us;		/* youngest first reply; 0: none yet */
	uint64_t slot[SLOTS];		/* bytes, by time modulo SLOTS */
	uint64_t slot_now;		/* number of the running slot */
};

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct sftpq_flow *
sftpq_flow_new(void)
{
	return calloc(1, sizeof(struct sftpq_flow));
}

void
sftpq_flow_free(struct sftpq_flow *f)
{
	if (f == NULL)
		return;
	bdp_free(f->bdp);
	wtune_free(f->wtune);
	free(f);
}

/* Let the slots between the last one and that of "now_us" be empty. */
static void
advance(struct sftpq_flow *f, uint64_t now_us)
{
	uint64_t slot = now_us / SLOT_US, empty;

	for (empty = min_u64(slot - f->slot_now, SLOTS); empty > 0; empty--)
		f->slot[(slot - empty + 1) % SLOTS] = 0;
	f->slot_now = slot;
}

/* Bytes of the last "n" slots; the running one is the last. */
static uint64_t
sum(const struct sftpq_flow *f, uint64_t n)
{
	uint64_t bytes = 0;

	while (n-- > 0)
		bytes += f->slot[(f->slot_now - n) % SLOTS];
	return bytes;
}

/* What may be under way if an interrupt is not to wait for long, bytes. */
static uint64_t
two_seconds(const struct sftpq_flow *f, uint64_t now_us)
{
	uint64_t unit = f->conf.unit, bytes, recent;

	if (now_us - f->begun_us < SECONDS_UNDER_WAY * 1000000)
		return max_u64(SECONDS_UNDER_WAY * bdp_rate_max(f->bdp),
		    REQUESTS_START * unit);
	recent = sum(f, SLOTS_RECENT);
	recent -= min_u64(recent, unit);
	bytes = max_u64(sum(f, SLOTS), recent * (SLOTS / SLOTS_RECENT));
	return max_u64(bytes, REQUESTS_MIN * unit);
}

/* What a short path deserves: stock's number, bytes. */
static uint64_t
several_paths(const struct sftpq_flow *f)
{
	uint64_t stock = (uint64_t)f->conf.stock * f->conf.unit;

	if (f->first_us == 0)
		return UINT64_MAX;
	return max_u64(stock, PATHS_UNDER_WAY *
	    bdp_bytes(bdp_rate_max(f->bdp), f->first_us));
}

static void
lower(struct sftpq_flow *f, uint64_t most, const char *why)
{
	if (most < f->most) {
		f->most = most;
		f->bound = why;
	}
}

static void
count_requests(struct sftpq_flow *f, uint64_t now_us)
{
	uint64_t unit = f->conf.unit;

	f->most = UINT64_MAX / 4;
	lower(f, several_paths(f), "the path is short");
	lower(f, two_seconds(f, now_us),
	    "an interrupt would wait for more than two seconds");
	if (f->handles != 0)
		lower(f, f->handles * unit, "the server limits its handles");
	f->requests = (uint32_t)max_u64(min_u64(f->window, f->most) / unit, 1);
}

void
sftpq_flow_handles(struct sftpq_flow *f, uint64_t handles)
{
	f->handles = min_u64(handles, UINT32_MAX);
	if (handles != 0)
		f->requests = (uint32_t)min_u64(f->requests, handles);
}

int
sftpq_flow_begin(struct sftpq_flow *f, const struct sftpq_conf *conf,
    uint64_t now_us)
{
	struct wtune_conf wc = { .floor = (uint64_t)conf->stock * conf->unit,
	    .gain_quarters = 8 };

	f->begun_us = now_us;
	f->replied = 0;
	if (f->bdp != NULL && f->conf.unit == conf->unit) {
		bdp_restart_ages(f->bdp);
		count_requests(f, now_us);
		return 0;
	}
	wc.ceiling = max_u64(conf->window_max, wc.floor);
	bdp_free(f->bdp);
	wtune_free(f->wtune);
	f->bdp = bdp_new();
	f->wtune = wtune_new(&wc);
	if (f->bdp == NULL || f->wtune == NULL)
		return -1;
	f->conf = *conf;
	f->first_us = 0;
	f->window = min_u64(START_TIMES * wc.floor, wc.ceiling);
	count_requests(f, now_us);
	return 0;
}

/*
 * As "free" memory, which the tuner takes half of, less what it has: so much
 * that it grows to the lowest bound.
 */
static uint64_t
to_grow(const struct sftpq_flow *f)
{
	uint64_t stock = (uint64_t)f->conf.stock * f->conf.unit;

	if (f->most <= f->window)
		return 0;
	return 2 * (f->most - f->window) + f->window -
	    min_u64(f->window, stock);
}

void
sftpq_flow_through(struct sftpq_flow *f, size_t len, uint64_t now_us)
{
	struct wtune_now now = { now_us, f->window, f->taken += len, 0,
	    to_grow(f) };
	uint64_t age = max_u64(now_us - f->begun_us, 1);
	int64_t delta = 0;

	if (!f->replied && (f->first_us == 0 || age < f->first_us))
		f->first_us = age;
	f->replied = 1;
	advance(f, now_us);
	f->slot[f->slot_now % SLOTS] += len;
	bdp_arrived(f->bdp, f->taken, now_us);
	if (bdp_due(f->bdp, now_us)) {
		bdp_taken(f->bdp, f->taken, now_us);
		delta = wtune_decide(f->wtune, f->bdp, &now);
	}
	f->window += delta;
	count_requests(f, now_us);
	/* what grew is asked for at once, so its age says nothing */
	if (delta <= 0)
		bdp_granted(f->bdp, f->asked, now_us);
	f->asked = max_u64(f->asked,
	    f->taken + (uint64_t)f->requests * f->conf.unit);
}

uint32_t
sftpq_flow_requests(const struct sftpq_flow *f)
{
	return f->requests;
}

const char *
sftpq_flow_why(const struct sftpq_flow *f)
{
	return f->most < f->window ? f->bound :
	    wtune_why_text(wtune_why(f->wtune));
}

uint64_t
sftpq_flow_age(const struct sftpq_flow *f)
{
	return bdp_last_age(f->bdp);
}

uint64_t
sftpq_flow_rate(const struct sftpq_flow *f)
{
	return bdp_rate_max(f->bdp);
}
