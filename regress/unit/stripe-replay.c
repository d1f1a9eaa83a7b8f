/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe-replay: one file that is put to a server made of text.
 *
 * Commands come one per line. Sizes are in KiB, times in round trips:
 *
 *   set KEY VALUE  of the next runs:
 *       rtt N       ms
 *       path N      KiB that the path carries in a round trip
 *       slow 1      the path begins with 14 KiB and doubles
 *       window N    KiB that a channel takes in a round trip
 *       most N      channels that the server allows
 *       streams N   connections that are wanted; 0: no matter
 *       logins N    connections that the server allows
 *       old N       KiB of the file that exists; -1: none exists
 *       special 1   what exists is no regular file
 *       has N       LANDING_HAS_*
 *       space N     KiB that are free
 *       actual N    KiB that the local file really has
 *       shrink N    the local file has "actual" from the Nth round trip on
 *       stop N      the user interrupts then
 *       room N      KiB of the file that a COPY can write; sftp-server tells
 *                   no error of the last 64 KiB of a COPY with a length
 *       left N      a bit for each hidden name that exists, and "alive N" for
 *                   each that another copy writes to
 *       stolen 1    another copy renames the hidden file
 *       in_place 0|1, preserve 0|1, unit N
 *   fail OP N      the Nth request OP fails
 *   lose CHAN N    the channel ends in the Nth round trip
 *   put SIZE       copy, and report
 *
 * After each request that the server serves, the file under its name must have
 * no hole: new data, and behind it what was there before; but if a WRITE of it
 * fails, those behind it are already under way, until it is cut.
 *
 * Never are two connections asked for at once.
 *
 * The report: round trips, most channels, how many requests had errors that are
 * told, what lies under the name and under the hidden name: "whole", "none", or
 * KiB of new and of old data, and which hidden names of others exist. A promise
 * of stripe.h that is broken ends the run with its name.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "stripe.h"

#define KIB		1024
#define ROUNDS_MAX	20000

static const char *const op_names[] = { "", "open_new", "open_old", "look",
    "find", "sweep", "connect", "login", "hide", "open_second", "space", "join",
    "write", "copy", "own", "truncate", "attrs", "show", "leave",
    "close_second", "remove_second", "close" };
#define OPS	(sizeof(op_names) / sizeof(*op_names))

static struct {
	long rtt, path, slow, window, most, old, special, has, space, actual;
	long shrink, stop, in_place, preserve, unit, room, streams, logins;
	long left, alive, stolen;
} conf = { 100, 12500, 0, 2048, 10, -1, 0, 3, 1L << 30, -1, -1, -1, 1, 0,
    256, 0, 0, 10, 0, 0, 0 };

static const struct {
	const char *name;
	long *value;
} keys[] = {
	{ "rtt", &conf.rtt }, { "path", &conf.path }, { "slow", &conf.slow },
	{ "window", &conf.window }, { "most", &conf.most },
	{ "old", &conf.old }, { "special", &conf.special },
	{ "has", &conf.has }, { "space", &conf.space },
	{ "actual", &conf.actual }, { "shrink", &conf.shrink },
	{ "stop", &conf.stop }, { "in_place", &conf.in_place },
	{ "preserve", &conf.preserve }, { "unit", &conf.unit },
	{ "room", &conf.room }, { "streams", &conf.streams },
	{ "logins", &conf.logins },
	{ "left", &conf.left }, { "alive", &conf.alive },
	{ "stolen", &conf.stolen },
};

static long loses[STRIPE_CHANNELS];	/* in which round trip; -1: never */

static struct stripe *s;
static struct sim sim;
static struct sim_file *named, *hidden;	/* units are KiB */
static long size, now, told, connected, logged;
static int is_up[STRIPE_CHANNELS];
static int is_torn;			/* a WRITE failed, others were behind */
static long rounds;
static long left, is_told;		/* a bit for each hidden name */
static unsigned int number;		/* of our own */

static void
broken(const char *what)
{
	printf("broken: %s, in round %ld\n", what, rounds);
	exit(1);
}

static struct sim_file *
file_new(long kib)
{
	return sim_file_new(kib, 2 * size + kib);
}

static void
check_named(void)
{
	if (is_torn || named == NULL)
		return;
	if (sim_has_hole(named, 0, named->size))
		broken("a hole under the name");
	if (!sim_is_in_order(named))
		broken("new data behind old");
}

/* KiB that the local file has */
static long
local_size(void)
{
	return conf.actual == -1 || rounds < conf.shrink ? size : conf.actual;
}

/* The server */

static void
fill(struct sim_file *f, long at, long len)
{
	if (f == named && f != NULL && !is_torn && (long)f->frontier < at)
		broken("new data behind what is not");
	if (at < 0 || at + len > 2 * size ||
	    sim_fill(f, at, len, SIM_NEW) == -1)
		broken("a request without a file");
}

/* Returns the file that a handle stands for. */
static struct sim_file *
target(const struct stripe_action *a)
{
	if (a->op == STRIPE_WRITE && !a->second && a->chan == 0)
		return named != NULL ? named : hidden;
	return hidden;
}

static int
rename_file(struct sim_file **from, struct sim_file **to)
{
	if (*from == NULL)
		broken("a rename of nothing");
	sim_file_free(*to);
	*to = *from;
	*from = NULL;
	return 1;
}

/* Copies as sftp-server does, chunk by chunk. Returns what it would tell. */
static int
copy_data(const struct stripe_action *a)
{
	const long at = a->at / KIB, off = a->off / KIB;
	long left = a->len == 0 ? hidden->size - at : a->len / KIB, n, done;

	for (done = 0; left > 0; done += n) {
		n = left < 64 ? left : 64;
		left -= n;
		if (conf.room > 0 && off + done + n > conf.room)
			return a->len != 0 && left == 0;
		if (sim_has_hole(hidden, at + done, n))
			broken("a hole is copied");
		fill(named, off + done, n);
	}
	return 1;
}

/* Returns 1 if the name is free. */
static int
choose(const struct stripe_action *a)
{
	number = a->number;
	if (is_told >> number & 1)
		broken("a name that is taken is used");
	if ((number >= LANDING_SECOND) != (a->op == STRIPE_OPEN_SECOND) ||
	    number >= LANDING_NAMES)
		broken("a name of another kind is used");
	return (left >> number & 1) == 0;
}

static int
find_name(unsigned int n)
{
	if ((left >> n & 1) == 0)
		return 0;
	is_told |= 1L << n;
	stripe_found(s, n, 1, 1000, conf.alive >> n & 1 ? rounds : 5);
	return 1;
}

static int
sweep_name(unsigned int n)
{
	if ((left >> n & 1) == 0 || n >= LANDING_NAMES)
		broken("what is not there is removed");
	if (conf.alive >> n & 1)
		broken("what another copy writes to is removed");
	left &= ~(1L << n);
	return 1;
}

/* Returns 1 if the request succeeds. */
static int
serve(const struct stripe_action *a)
{
	if (sim_serve(&sim, a->op)) {
		if (a->op == STRIPE_WRITE && target(a) == named)
			is_torn = 1;
		return 0;
	}
	switch (a->op) {
	case STRIPE_OPEN_NEW:
		if (named != NULL || conf.special)
			return 0;
		named = file_new(0);
		return 1;
	case STRIPE_OPEN_OLD:
		if (named == NULL)
			named = file_new(0);
		if (!conf.in_place)
			sim_truncate(named, 0);
		return 1;
	case STRIPE_FIND:
		return find_name(a->number);
	case STRIPE_SWEEP:
		return sweep_name(a->number);
	case STRIPE_OWN:
		return !conf.stolen;
	case STRIPE_HIDE:
		return choose(a) && rename_file(&named, &hidden);
	case STRIPE_SHOW:
		return rename_file(&hidden, &named);
	case STRIPE_OPEN_SECOND:
		if (!choose(a))
			return 0;
		hidden = file_new(0);
		return 1;
	case STRIPE_REMOVE_SECOND:
		sim_file_free(hidden);
		hidden = NULL;
		return 1;
	case STRIPE_WRITE:
		fill(target(a), a->at / KIB, a->len / KIB);
		return 1;
	case STRIPE_COPY:
		return copy_data(a);
	case STRIPE_TRUNCATE:
		if (conf.stolen && named == NULL)
			broken("another copy's file is cut");
		is_torn = 0;
		sim_truncate(named != NULL ? named : hidden, a->off / KIB);
		return 1;
	default:
		return 1;
	}
}

/* Whether the request has our own hidden name */
static int
is_of_ours(enum stripe_op op)
{
	return op == STRIPE_SHOW || op == STRIPE_JOIN || op == STRIPE_OWN ||
	    op == STRIPE_REMOVE_SECOND;
}

static void
reply(const struct stripe_action *a)
{
	struct stripe_action found;
	int ok;

	if (stripe_find(s, a->chan + 1, a->id, &found) == 0)
		broken("a reply on another channel is taken");
	if (stripe_find(s, a->chan, a->id, &found) != 0 || found.op != a->op)
		broken("a request is forgotten");
	ok = serve(a);
	if (is_of_ours(a->op) && a->number != number)
		broken("a name that is not ours is used");
	if (a->op != STRIPE_WRITE && a->op != STRIPE_COPY)
		check_named();
	if (ok && a->op == STRIPE_LOOK)
		stripe_looked(s, !conf.special, named->size * (uint64_t)KIB);
	if (ok && a->op == STRIPE_SPACE)
		stripe_space(s, conf.space * (uint64_t)KIB);
	told += stripe_reply(s, a->id, ok, now * 1000);
	if (stripe_find(s, a->chan, a->id, &found) == 0)
		broken("a reply is taken twice");
}

/* The path */

static void
enqueue(const struct stripe_action *a)
{
	long have = local_size() - (long)(a->off / KIB);
	long len = a->len / KIB;
	struct stripe_action sent = *a;

	if (a->op != STRIPE_WRITE) {
		sim_push(&sim, a->chan, a, sizeof(*a));
		return;
	}
	len = have < 0 ? 0 : have < len ? have : len;
	stripe_sent(s, a->id, len * KIB);
	if (len == 0)
		return;
	sent.len = len * KIB;
	sim_push(&sim, a->chan, &sent, sizeof(sent))->left = len;
}

static int
is_link(enum stripe_op op)
{
	return op == STRIPE_CONNECT || op == STRIPE_LOGIN;
}

static void
act(const struct stripe_action *a)
{
	unsigned int c;

	if (a->chan >= STRIPE_CHANNELS || (a->chan > 0 && !is_link(a->op) &&
	    !is_up[a->chan]))
		broken("a channel that is not there is used");
	for (c = 1; a->op == STRIPE_LOGIN && c < STRIPE_CHANNELS; c++) {
		if (is_up[c] == 1 || is_up[c] == -1)
			broken("two connections are asked for at once");
	}
	if (!is_link(a->op))
		enqueue(a);
	else if (a->op == STRIPE_LOGIN ? ++logged >= conf.logins :
	    ++connected >= conf.most)
		is_up[a->chan] = -1;
	else
		is_up[a->chan] = 1;
}

static void
lose(unsigned int chan)
{
	if (is_up[chan] != 2)
		return;
	sim_lose(&sim, chan);
	is_up[chan] = 0;
	stripe_down(s, chan);
}

/* What the windows and the path allow arrives, and is answered. */
static void
round_trip(void)
{
	long path = conf.path;
	struct stripe_action a;
	size_t i, n;
	unsigned int c;

	if (conf.slow && rounds < 20 && 14L << rounds < path)
		path = 14L << rounds;
	n = sim_carry(&sim, path, conf.window);
	now += conf.rtt;
	for (i = 0; i < n; i++) {
		memcpy(&a, sim.now[i].body, sizeof(a));
		reply(&a);
	}
	for (c = 1; c < STRIPE_CHANNELS; c++) {
		if (is_up[c] == -1)
			stripe_down(s, c);
		else if (is_up[c] == 1)
			stripe_up(s, c, conf.has);
		is_up[c] = is_up[c] > 0 ? 2 : 0;
		if (loses[c] == rounds)
			lose(c);
	}
}

static void
print_file(const char *name, const struct sim_file *f)
{
	uint64_t fresh = f == NULL ? 0 : sim_count(f, SIM_NEW);

	if (f == NULL)
		printf(" %s=none", name);
	else if (fresh == (uint64_t)size && f->size == fresh)
		printf(" %s=whole", name);
	else
		printf(" %s=%" PRIu64 "+%" PRIu64, name, fresh,
		    f->size - fresh);
}

static void
run(void)
{
	struct stripe_action a;
	unsigned int most = 1;
	int r;

	for (rounds = 0; !stripe_is_done(s); rounds++) {
		if (rounds == conf.stop)
			stripe_stop(s);
		stripe_clock(s, now * 1000);
		while ((r = stripe_next(s, ~0U, &a)) == 1)
			act(&a);
		if (r == -1)
			err(1, "stripe_next");
		if (stripe_is_done(s))
			break;
		if (rounds == ROUNDS_MAX)
			broken("no end");
		round_trip();
		if (stripe_channels(s) > most)
			most = stripe_channels(s);
	}
	printf("rounds=%ld channels=%u asked=%ld logins=%ld told=%ld "
	    "failed=%d", rounds, most, connected, logged, told,
	    stripe_has_failed(s));
}

static void
put(void)
{
	struct stripe_conf c = { .size = size * (uint64_t)KIB,
	    .unit = conf.unit * KIB, .first_id = 0xfffffff0,
	    .in_place = conf.in_place, .preserve = conf.preserve,
	    .may_stripe = 1, .streams = conf.streams,
	    .number = size % LANDING_NAMES };

	named = conf.old == -1 ? NULL : file_new(conf.old);
	hidden = NULL;
	sim_reset(&sim);
	left = conf.left;
	is_told = 0;
	now = 1;
	told = connected = logged = is_torn = 0;
	memset(is_up, 0, sizeof(is_up));
	if ((s = stripe_new(&c)) == NULL)
		err(1, "stripe_new");
	run();
	if ((stripe_left(s) == LANDING_LEFT_HIDDEN) !=
	    (named == NULL && hidden != NULL && !(conf.stolen &&
	    sim.seen[STRIPE_OWN] > 0)))
		broken("what is hidden is not told");
	if ((stripe_left(s) == LANDING_LEFT_SECOND) !=
	    (named != NULL && hidden != NULL))
		broken("a second file is not told");
	print_file("name", named);
	print_file("hidden", hidden);
	printf(" frontier=%" PRIu64 " left=%ld\n", stripe_frontier(s) / KIB,
	    left);
	stripe_free(s);
	sim_file_free(named);
	sim_file_free(hidden);
}

static void
set(const char *key, long value)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(key, keys[i].name) == 0) {
			*keys[i].value = value;
			return;
		}
	}
	errx(1, "no key %s", key);
}

static void
set_fail(const char *name, long n)
{
	size_t i;

	for (i = 1; i < OPS; i++) {
		if (strcmp(name, op_names[i]) == 0) {
			sim.fail[i] = n;
			return;
		}
	}
	errx(1, "no request %s", name);
}

int
main(void)
{
	char line[128], word[32];
	long a;
	int i;

	for (i = 0; i < STRIPE_CHANNELS; i++)
		loses[i] = -1;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "set %31s %ld", word, &a) == 2)
			set(word, a);
		else if (sscanf(line, "fail %31s %ld", word, &a) == 2)
			set_fail(word, a);
		else if (sscanf(line, "lose %d %ld", &i, &a) == 2 && i > 0 &&
		    i < STRIPE_CHANNELS)
			loses[i] = a;
		else if (sscanf(line, "put %ld", &size) == 1)
			put();
		else
			errx(1, "what is: %s", line);
	}
	return 0;
}
