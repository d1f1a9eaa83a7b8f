/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See request-window.h for the idea. In the terms of channels/bdp.h, the stream
 * of a connection is the bytes of all its replies, its edge is what was
 * requested, and the age of a request is the in-band RTT. There is no other
 * RTT, because scp has only a local socket. There is no slow reader either,
 * because scp itself reads.
 *
 * The acknowledged bytes are counted in slots of an eighth of a second. The sum
 * of two seconds does not fall to 0 in a short stall. Four times the sum of the
 * last half-second follows a path that becomes faster: a transfer that is
 * limited by its number of requests doubles it with each round trip of less
 * than a second. A single reply in that time is no rate, so the half-second
 * counts one request less.
 */

#include <stdlib.h>

#include "bdp.h"
#include "minmax.h"
#include "request-window.h"
#include "wtune.h"

/*
 * The window of a new connection, in multiples of stock's requests: 32 MiB. A
 * fast path to the other side of the earth holds as much.
 */
#define START_TIMES	2

/*
 * At most so many seconds' worth is in flight, because a user who interrupts
 * waits for all of it; or so many round trips' worth, if they take longer. With
 * less, a lost packet on a path of a second would halve what is asked for.
 */
#define SECONDS_UNDER_WAY	2
#define TRIPS_UNDER_WAY		4

/*
 * The least of the first two seconds, in requests: 2 MiB are enough for seven
 * round trips of slow start, and then a rate is known.
 */
#define REQUESTS_START	8

/* The least later: one is on its way while the reply to the other returns. */
#define REQUESTS_MIN	2

/*
 * Above stock's number, at most so many times what the path holds. Slow start
 * needs twice as much, and the measured rate is late by half a round trip. The
 * first reply of a transfer is a little older than the path is long.
 */
#define PATHS_UNDER_WAY	4

#define SLOTS_PER_SECOND	8
#define SLOT_US		(1000000 / SLOTS_PER_SECOND)
#define SLOTS		(SECONDS_UNDER_WAY * SLOTS_PER_SECOND)
#define SLOTS_RECENT	(SLOTS_PER_SECOND / 2)

struct request_window {
	struct bdp *bdp;
	struct wtune *wtune;
	struct request_window_conf conf;
	uint64_t window;		/* bytes */
	uint64_t replied_bytes;		/* stream position */
	uint64_t asked;			/* stream position, never falls */
	uint32_t requests;
	uint64_t limit;			/* bytes: the lowest of the bounds */
	const char *limit_reason;		/* which one that is */

	uint64_t begun_us;		/* start of this transfer */
	int	 has_reply;		/* of this transfer */
	uint64_t first_us;		/* lowest age of first replies, or 0 */
	uint64_t slot[SLOTS];		/* bytes, by time modulo SLOTS */
	uint64_t slot_now;		/* number of the current slot */
};

struct request_window *
request_window_new(void)
{
	return calloc(1, sizeof(struct request_window));
}

void
request_window_free(struct request_window *f)
{
	if (f == NULL)
		return;
	bdp_free(f->bdp);
	wtune_free(f->wtune);
	free(f);
}

/* Moves to the slot of "now_us", and empties those between. */
static void
advance_slots(struct request_window *f, uint64_t now_us)
{
	uint64_t slot = now_us / SLOT_US, empty;

	for (empty = min_u64(slot - f->slot_now, SLOTS); empty > 0; empty--)
		f->slot[(slot - empty + 1) % SLOTS] = 0;
	f->slot_now = slot;
}

/* Returns the bytes of the last "n" slots, with the current one. */
static uint64_t
sum_slots(const struct request_window *f, uint64_t n)
{
	uint64_t bytes = 0;

	while (n-- > 0)
		bytes += f->slot[(f->slot_now - n) % SLOTS];
	return bytes;
}

/*
 * What is acknowledged in two seconds, for the time that may be in flight. The
 * first reply is as old as the path is long, and as it took to be sent. No path
 * is longer than two seconds.
 */
static uint64_t
for_long_path(const struct request_window *f, uint64_t bytes)
{
	uint64_t us = SECONDS_UNDER_WAY * 1000000, sending;

	if (bytes == 0 || f->first_us >= us)
		return bytes;
	sending = min_u64(f->first_us, f->conf.unit * us / bytes);
	us = max_u64(us, TRIPS_UNDER_WAY * (f->first_us - sending));
	return bdp_bytes(bytes / SECONDS_UNDER_WAY, us);
}

/* Returns the bytes that may be in flight because of an interrupt. */
static uint64_t
bound_by_time(const struct request_window *f, uint64_t now_us)
{
	uint64_t unit = f->conf.unit, bytes, recent;

	if (now_us - f->begun_us < SECONDS_UNDER_WAY * 1000000)
		return max_u64(for_long_path(f,
		    SECONDS_UNDER_WAY * bdp_rate_max(f->bdp)),
		    REQUESTS_START * unit);
	recent = sum_slots(f, SLOTS_RECENT);
	recent -= min_u64(recent, unit);
	bytes = max_u64(sum_slots(f, SLOTS), recent * (SLOTS / SLOTS_RECENT));
	return max_u64(for_long_path(f, bytes), REQUESTS_MIN * unit);
}

uint64_t
request_window_path_bytes(const struct request_window *f)
{
	return bdp_bytes(bdp_rate_max(f->bdp), f->first_us);
}

/* Returns the bytes of stock's number, or more on a path that holds more. */
static uint64_t
bound_by_path(const struct request_window *f)
{
	uint64_t stock = (uint64_t)f->conf.stock * f->conf.unit;

	if (f->first_us == 0)
		return UINT64_MAX;
	return max_u64(stock, PATHS_UNDER_WAY * request_window_path_bytes(f));
}

static void
lower_bound(struct request_window *f, uint64_t most, const char *why)
{
	if (most < f->limit) {
		f->limit = most;
		f->limit_reason = why;
	}
}

static void
set_max_requests(struct request_window *f, uint64_t now_us)
{
	uint64_t unit = f->conf.unit;

	f->limit = UINT64_MAX / 4;
	lower_bound(f, bound_by_path(f), "this rate needs no more");
	lower_bound(f, bound_by_time(f, now_us),
	    "an interrupt would wait too long");
	f->requests = (uint32_t)max_u64(min_u64(f->window, f->limit) / unit, 1);
}

int
request_window_begin(struct request_window *f,
    const struct request_window_conf *conf, uint64_t now_us)
{
	struct wtune_conf wc = { .floor = (uint64_t)conf->stock * conf->unit,
	    .gain_quarters = 8 };

	f->begun_us = now_us;
	f->has_reply = 0;
	if (f->bdp != NULL && f->conf.unit == conf->unit) {
		bdp_restart_ages(f->bdp);
		set_max_requests(f, now_us);
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
	set_max_requests(f, now_us);
	return 0;
}

/*
 * Returns the "free" memory for the tuner. It takes half of that, less what the
 * window has above stock's. So the result lets it grow to the lowest bound.
 */
static uint64_t
free_for_tuner(const struct request_window *f)
{
	uint64_t stock = (uint64_t)f->conf.stock * f->conf.unit;

	if (f->limit <= f->window)
		return 0;
	return 2 * (f->limit - f->window) + f->window -
	    min_u64(f->window, stock);
}

void
request_window_count(struct request_window *f, size_t len, uint64_t now_us)
{
	struct wtune_now now = { now_us, f->window, f->replied_bytes += len, 0,
	    free_for_tuner(f) };
	uint64_t age = max_u64(now_us - f->begun_us, 1);
	int64_t delta = 0;

	if (!f->has_reply && (f->first_us == 0 || age < f->first_us))
		f->first_us = age;
	f->has_reply = 1;
	advance_slots(f, now_us);
	f->slot[f->slot_now % SLOTS] += len;
	bdp_arrived(f->bdp, f->replied_bytes, now_us);
	if (bdp_sample_due(f->bdp, now_us)) {
		bdp_consumed(f->bdp, f->replied_bytes, now_us);
		delta = wtune_decide(f->wtune, f->bdp, &now);
	}
	f->window += delta;
	set_max_requests(f, now_us);
	/* A window that grew is requested at once: its age is no RTT. */
	if (delta <= 0)
		bdp_granted(f->bdp, f->asked, now_us);
	f->asked = max_u64(f->asked,
	    f->replied_bytes + (uint64_t)f->requests * f->conf.unit);
}

uint32_t
request_window_max_requests(const struct request_window *f)
{
	return f->requests;
}

const char *
request_window_reason(const struct request_window *f)
{
	return f->limit < f->window ? f->limit_reason :
	    wtune_why_text(wtune_why(f->wtune));
}

uint64_t
request_window_last_age(const struct request_window *f)
{
	return bdp_last_age(f->bdp);
}

uint64_t
request_window_max_rate(const struct request_window *f)
{
	return bdp_rate_max(f->bdp);
}
