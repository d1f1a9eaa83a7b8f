/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * landings-replay: one file that is put to a server made of text, over as many
 * links as it takes. The plan decides on the file, and this driver, as the hook
 * does, on the links.
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
 *       has N       1: LANDING_HAS_COPY
 *       wants 0|1   several links are wanted from the start
 *       unsafe 1    others may write in the directory
 *       unmarked 1  the server does not keep the time that is set
 *       space N     KiB that are free
 *       actual N    KiB that the local file really has
 *       shrink N    the local file has "actual" from the Nth round trip on
 *       stop N      the user interrupts then
 *       room N      KiB of the file that a COPY can write; sftp-server tells
 *                   no error of the last 64 KiB of a COPY with a length
 *       left N      a bit for each hidden name that exists, and "alive N" for
 *                   each that another copy writes to
 *       stolen 1    another copy renames the hidden file
 *       swapped 1   what a further link opens is another file
 *       made N      another program makes the file in the Nth round trip
 *       plain 1     the file has no landing, and removes what was left over
 *       stranger N  a bit for each hidden name that another user owns
 *       writers N   so many links write it at most; 0: any number
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
 * told, what lies under the name and under the hidden name: "whole", "none",
 * "other", or KiB of new and of old data, and which hidden names of others
 * exist. A promise of plan.h that is broken ends the run with its name.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "landing.h"
#include "left.h"
#include "minmax.h"
#include "plan.h"
#include "sim.h"
#include "width.h"

#define KIB		1024
#define CHANNELS	10		/* with the first */
#define CREDIT		(16 * 1024 * KIB)	/* as for one file alone */
#define ROUNDS_MAX	20000

enum op { OPEN_NEW = 1, OPEN_OLD, TARGET, DIR, LOOK, FIND, SWEEP, OPEN_SECOND,
    MARK, KNOW, SPACE, JOIN, SAME, WRITE, COPY, OWN, TRUNCATE, ATTRS, SHOW,
    SHOWN, DROP, LEAVE, CLOSE_SECOND, REMOVE_SECOND, CLOSE, SEEN, OPS };

static const char *const op_names[] = { "", "open_new", "open_old", "target",
    "dir", "look", "find", "sweep", "open_second", "mark", "know", "space",
    "join", "same", "write", "copy", "own", "truncate", "attrs", "show",
    "shown", "drop", "leave", "close_second", "remove_second", "close",
    "seen" };

#define PART	(1024 * KIB)		/* that one link writes */

static struct {
	long rtt, path, slow, window, most, old, special, has, space, actual;
	long shrink, stop, in_place, preserve, unit, room, streams, logins;
	long left, alive, stolen, writers;
	long wants, unsafe, unmarked, swapped, made, plain, stranger;
} conf = { .rtt = 100, .path = 12500, .window = 2048, .most = 10, .old = -1,
    .has = 1, .space = 1L << 30, .actual = -1, .shrink = -1, .stop = -1,
    .in_place = 1, .unit = 256, .logins = 10, .wants = 1, .made = -1 };

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
	{ "logins", &conf.logins }, { "writers", &conf.writers },
	{ "left", &conf.left }, { "alive", &conf.alive },
	{ "stolen", &conf.stolen }, { "wants", &conf.wants },
	{ "unsafe", &conf.unsafe }, { "unmarked", &conf.unmarked },
	{ "swapped", &conf.swapped }, { "made", &conf.made },
	{ "plain", &conf.plain }, { "stranger", &conf.stranger },
};

static long loses[CHANNELS];	/* in which round trip; -1: never */

static struct plan *s;
static struct width growth;
static struct sim sim;
static struct sim_file *named, *hidden;	/* units are KiB */
static long size, now, told, connected, logged;
static int is_up[CHANNELS];
static int is_torn;			/* a WRITE failed, others were behind */
static int is_marked, is_other;		/* the hidden file; what has the name */
static long rounds;
static uint64_t acked, kept;
static int is_over, is_full, has_failed, uses_channels, goes_again;
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

static enum op
op_of(const struct plan_action *a)
{
	static const enum op asked[] = { [LANDING_LOOK] = LOOK,
	    [LANDING_TARGET] = TARGET, [LANDING_DIR] = DIR,
	    [LANDING_FIND] = FIND, [LANDING_SWEEP] = SWEEP,
	    [LANDING_OPEN_SECOND] = OPEN_SECOND, [LANDING_MARK] = MARK,
	    [LANDING_KNOW] = KNOW, [LANDING_SHOWN] = SHOWN,
	    [LANDING_DROP] = DROP,
	    [LANDING_SPACE] = SPACE, [LANDING_COPY] = COPY,
	    [LANDING_OWN] = OWN, [LANDING_TRUNCATE] = TRUNCATE,
	    [LANDING_ATTRS] = ATTRS, [LANDING_SHOW] = SHOW,
	    [LANDING_CLOSE_SECOND] = CLOSE_SECOND,
	    [LANDING_REMOVE_SECOND] = REMOVE_SECOND,
	    [LANDING_CLOSE] = CLOSE };

	switch (a->op) {
	case PLAN_OPEN_NEW:
		return OPEN_NEW;
	case PLAN_OPEN:
		return OPEN_OLD;
	case PLAN_JOIN:
		return JOIN;
	case PLAN_SAME:
		return SAME;
	case PLAN_PART:
		return LEAVE;
	case PLAN_WRITE:
		return WRITE;
	case PLAN_SEEN:
		return SEEN;
	case PLAN_LANDING:
		return asked[a->ask.op];
	case PLAN_TRUNCATE:
		return TRUNCATE;
	case PLAN_ATTRS:
		return ATTRS;
	case PLAN_SIZE:
	case PLAN_CUT:
	case PLAN_CLOSE:
		return CLOSE;
	default:
		broken("a request that is none of a landing");
		return 0;
	}
}

/* Returns the file that a handle stands for. */
static struct sim_file *
target(const struct plan_action *a)
{
	if (a->op == PLAN_WRITE && !a->second && a->lane == 0)
		return named != NULL ? named : hidden;
	return hidden;
}

/* Copies as sftp-server does, chunk by chunk. Returns what it would tell. */
static int
copy_data(const struct plan_action *a)
{
	const long at = a->ask.at / KIB, off = a->ask.off / KIB;
	long left = a->ask.len == 0 ? hidden->size - at : a->ask.len / KIB;
	long n, done;

	for (done = 0; left > 0; done += n) {
		n = left < 64 ? left : 64;
		left -= n;
		if (conf.room > 0 && off + done + n > conf.room)
			return a->ask.len != 0 && left == 0;
		if (sim_has_hole(hidden, at + done, n))
			broken("a hole is copied");
		fill(named, off + done, n);
	}
	return 1;
}

/* A hidden file is made, if the name is free. */
static int
choose(unsigned int n, int is_second)
{
	number = n;
	if (is_told >> n & 1)
		broken("a name that is taken is used");
	if ((n >= LEFT_SECOND) != is_second || n >= LEFT_NAMES)
		broken("a name of another kind is used");
	if (conf.unsafe)
		broken("a hidden file where others may write");
	if ((left >> n & 1) != 0)
		return 0;
	hidden = file_new(0);
	return 1;
}

static int
open_new(const struct plan_action *a)
{
	unsigned int n;

	if (landing_way(plan_landing(a->job), &n) == LANDING_IS_HIDDEN)
		return choose(n, 0);
	if (named != NULL || conf.special || is_other)
		return 0;
	named = file_new(0);
	return 1;
}

static int
show(void)
{
	if (is_other || conf.stolen)
		return 0;
	if (hidden == NULL)
		broken("a rename of nothing");
	named = hidden;
	hidden = NULL;
	return 1;
}

static int
look_at(struct job *j, enum op op)
{
	if (op == OWN ? conf.stolen || hidden == NULL :
	    named == NULL && !is_other)
		return 0;
	landing_saw(plan_landing(j), op == OWN ? LANDING_OWN : LANDING_SHOWN,
	    op == OWN || !is_other);
	return 1;
}

/* Attributes of a handle */
static void
know(struct job *j, enum op op)
{
	if (op == LOOK)
		landing_looked(plan_asker(j), !conf.special,
		    named->size * (uint64_t)KIB);
	else
		landing_known(plan_landing(j), is_marked);
	landing_owner(plan_asker(j), 1);
}

static int
find_name(struct job *j, unsigned int n)
{
	struct left_file f = { .is = LEFT_FILE,
	    .owner = conf.stranger >> n & 1 ? 2 : 1, .size = 1000,
	    .mtime = conf.alive >> n & 1 ? rounds : 5 };

	if ((left >> n & 1) == 0)
		return 0;
	is_told |= 1L << n;
	landing_found(plan_asker(j), n, &f);
	return 1;
}

static int
sweep_name(unsigned int n)
{
	if ((left >> n & 1) == 0 || n >= LEFT_NAMES)
		broken("what is not there is removed");
	if (conf.alive >> n & 1)
		broken("what another copy writes to is removed");
	if (conf.stranger >> n & 1)
		broken("what another user owns is removed");
	left &= ~(1L << n);
	return 1;
}

/* Returns 1 if the request succeeds. */
static int
serve(const struct plan_action *a)
{
	enum op op = op_of(a);

	if (sim_serve(&sim, op)) {
		if (op == WRITE && target(a) == named)
			is_torn = 1;
		return 0;
	}
	switch (op) {
	case OPEN_NEW:
		return open_new(a);
	case TARGET:
		return named != NULL || conf.special || is_other;
	case DIR:
		landing_dir(plan_asker(a->job), !conf.unsafe);
		return 1;
	case MARK:
		is_marked = !conf.unmarked;
		return 1;
	case LOOK:
	case KNOW:
		know(a->job, op);
		return 1;
	case SAME:
		return !conf.swapped;
	case OPEN_OLD:
		if (named == NULL)
			named = file_new(0);
		if (!conf.in_place || plan_was_not_cut(a->job))
			sim_truncate(named, 0);
		return 1;
	case FIND:
		return find_name(a->job, a->ask.number);
	case SWEEP:
		return sweep_name(a->ask.number);
	case OWN:
	case SHOWN:
		return look_at(a->job, op);
	case SHOW:
		return show();
	case OPEN_SECOND:
		return choose(a->ask.number, 1);
	case DROP:
		if (conf.stolen)
			broken("another copy's file is removed");
	/* FALLTHROUGH */
	case REMOVE_SECOND:
		sim_file_free(hidden);
		hidden = NULL;
		return 1;
	case WRITE:
		fill(target(a), a->at / KIB, a->len / KIB);
		return 1;
	case COPY:
		return copy_data(a);
	case SEEN:
		if (a->lane != 0)
			broken("what a lost link had is seen over the first");
		return named != NULL;
	case TRUNCATE:
		if (conf.stolen && named == NULL)
			broken("another copy's file is cut");
		is_torn = 0;
		sim_truncate(named != NULL ? named : hidden,
		    (a->op == PLAN_LANDING ? a->ask.off : a->off) / KIB);
		return 1;
	default:
		return 1;
	}
}

/* Whether the request has our own hidden name */
static int
is_of_ours(enum op op)
{
	return op == SHOW || op == OWN || op == DROP ||
	    op == REMOVE_SECOND;
}

static void
reply(const struct plan_action *a)
{
	enum op op = op_of(a);
	struct plan_action found;
	int ok, r;

	if (plan_find(s, a->id, &found) != 0 || found.op != a->op ||
	    found.lane != a->lane)
		broken("a request is forgotten");
	ok = serve(a);
	if (is_of_ours(op) && a->op == PLAN_LANDING &&
	    a->ask.number != number)
		broken("a name that is not ours is used");
	if (op == WRITE && a->lane != 0 && conf.swapped)
		broken("a further link writes to another file");
	if (op != WRITE && op != COPY)
		check_named();
	if (ok && op == SPACE)
		plan_space(a->job, conf.space * (uint64_t)KIB);
	r = plan_reply(s, a->id, ok ? PLAN_OK : PLAN_FAILED, 0);
	if (r == -1)
		broken("a good reply is good");
	told += !ok && r == 0 && op != JOIN && op != SAME;
	if (ok && op == WRITE) {
		acked += a->len;
		width_acked(&growth, a->len, conf.rtt * 1000, now * 1000,
		    plan_width(s, a->job));
	}
	if (plan_find(s, a->id, &found) == 0)
		broken("a reply is taken twice");
}

/* The path */

static void
enqueue(const struct plan_action *a)
{
	long have = local_size() - (long)(a->off / KIB);
	long len = a->len / KIB;
	struct plan_action sent = *a;

	if (a->op != PLAN_WRITE) {
		sim_push(&sim, a->lane, a, sizeof(*a));
		return;
	}
	len = have < 0 ? 0 : have < len ? have : len;
	plan_sent(s, a->id, len * KIB);
	if (len == 0)
		return;
	sent.len = len * KIB;
	sim_push(&sim, a->lane, &sent, sizeof(sent))->left = len;
}

static void
begin(struct job *j)
{
	struct landing_conf c = { .size = size * (uint64_t)KIB,
	    .in_place = conf.in_place, .preserve = conf.preserve,
	    .number = size % LEFT_NAMES };

	if (goes_again)
		return;			/* It goes over one link. */
	if (conf.plain)
		plan_sweeps(s, j);
	else if (plan_lands(s, j, &c, 1) != 1)
		broken("a file can land");
	plan_set_size(s, j, size * (uint64_t)KIB);
}

/* What the landing would tell the user, before it is gone */
static void
settle(const struct plan_action *a)
{
	struct landing *l = plan_landing(a->job);
	enum landing_left is = l == NULL ? LANDING_LEFT_NOTHING :
	    landing_left(l);

	kept = l == NULL ? a->off : landing_kept(l, a->off);
	has_failed = plan_has_failed(a->job);
	if ((is == LANDING_LEFT_HIDDEN) != (named == NULL && hidden != NULL &&
	    !(conf.stolen && sim.seen[OWN] > 0)))
		broken("what is hidden is not told");
	if ((is == LANDING_LEFT_SECOND) != (named != NULL && hidden != NULL))
		broken("a second file is not told");
}

static void
act(const struct plan_action *a)
{
	if (a->op == PLAN_BEGIN)
		begin(a->job);
	else if (a->op == PLAN_SETTLE)
		settle(a);
	else if (a->op == PLAN_AGAIN)
		goes_again = 1;
	else if (a->op == PLAN_END)
		has_failed |= plan_has_failed(a->job);
	else if (a->op == PLAN_PRINT)
		is_over = 1;
	else if (a->lane >= CHANNELS || (a->lane > 0 && is_up[a->lane] != 2))
		broken("a channel that is not there is used");
	else
		enqueue(a);
	plan_worked(s);
}

/* Links, as the hook has them */

static int
has_link(int state)
{
	int c, n = 0;

	for (c = 1; c < CHANNELS; c++)
		n += is_up[c] == state;
	return n;
}

static void
refuse(void)
{
	is_full = 1;
	if (!uses_channels && has_link(2) == 0) {
		uses_channels = 1;
		is_full = 0;
	}
}

/* Asks for a link: it is there, or refused, in the next round. */
static void
connect_one(int c)
{
	int is_refused = uses_channels ? ++connected >= conf.most :
	    ++logged >= conf.logins;

	is_up[c] = is_refused ? -1 : 1;
}

static void
grow(void)
{
	uint64_t rest = size * (uint64_t)KIB -
	    min_u64(size * (uint64_t)KIB, acked);
	int c, want = uses_channels ? (int)width_want(&growth) :
	    (int)conf.streams;

	for (c = 1; c < CHANNELS; c++) {
		if (is_up[c] != 0 || is_full ||
		    rest < (uses_channels ? WIDTH_LEAST : WIDTH_REST) ||
		    has_link(1) + has_link(2) + has_link(-1) + 1 >= want ||
		    (!uses_channels && has_link(1) + has_link(-1) > 0))
			continue;
		connect_one(c);
	}
}

static void
lose(unsigned int chan)
{
	if (is_up[chan] != 2)
		return;
	sim_lose(&sim, chan);
	is_up[chan] = 0;
	is_full = 1;
	plan_lost(s, chan);
}

static void
set_lanes(void)
{
	unsigned int c, up = 1;

	for (c = 1; c < CHANNELS; c++)
		up |= (is_up[c] == 2 ? 1U : 0) << c;
	plan_set_lanes(s, up, up);
	plan_set_has(s, up == 1 ? 0 : (int)conf.has);
	plan_set_wants(s, (int)conf.wants);
	plan_set_widen(s, !uses_channels ? WIDTH_REST :
	    growth.limited ? WIDTH_LEAST : 0);
	plan_set_clock(s, now * 1000);
}

/* What the windows and the path allow arrives, and is answered. */
static void
round_trip(void)
{
	long path = conf.path;
	struct plan_action a;
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
	for (c = 1; c < CHANNELS; c++) {
		if (is_up[c] == -1) {
			is_up[c] = 0;
			refuse();
		} else if (is_up[c] == 1)
			is_up[c] = 2;
		if (loses[c] == rounds)
			lose(c);
	}
}

static void
print_file(const char *name, const struct sim_file *f)
{
	uint64_t fresh = f == NULL ? 0 : sim_count(f, SIM_NEW);

	if (is_other && strcmp(name, "name") == 0)
		printf(" %s=other", name);
	else if (f == NULL)
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
	struct plan_action a;
	struct job *j;
	unsigned int most = 1;
	int r;

	for (rounds = 0; !is_over; rounds++) {
		if (rounds == conf.stop)
			plan_interrupt(s);
		is_other |= rounds == conf.made && named == NULL;
		set_lanes();
		while ((r = plan_next(s, &a)) == 1)
			act(&a);
		if (r == -1)
			err(1, "plan_next");
		if (is_over)
			break;
		if (rounds == ROUNDS_MAX)
			broken("no end");
		grow();
		round_trip();
		if ((j = plan_oldest(s)) != NULL)
			most = (unsigned int)max_u64(most, plan_width(s, j));
	}
	printf("rounds=%ld channels=%u asked=%ld logins=%ld told=%ld "
	    "failed=%d", rounds, most, connected, logged, told, has_failed);
}

static void
put(void)
{
	struct plan_conf c = { .put = 1, .in_place = conf.in_place,
	    .preserve = conf.preserve, .files = 512, .unit = conf.unit * KIB,
	    .first_id = 0xfffffff0 };

	named = conf.old == -1 ? NULL : file_new(conf.old);
	hidden = NULL;
	sim_reset(&sim);
	memset(&growth, 0, sizeof(growth));
	left = conf.left;
	is_told = 0;
	now = 1;
	acked = kept = 0;
	told = connected = logged = is_torn = is_marked = is_other = 0;
	goes_again = 0;
	is_over = is_full = has_failed = 0;
	uses_channels = conf.streams == 0;
	memset(is_up, 0, sizeof(is_up));
	if ((s = plan_new(&c)) == NULL)
		err(1, "plan_new");
	plan_set_handles(s, 1019);
	plan_set_shared(s, (unsigned int)conf.writers, PART);
	plan_set_window(s, CREDIT);
	if (plan_add(s, NULL, PLAN_FILE, s, size * (uint64_t)KIB) == NULL)
		err(1, "plan_add");
	run();
	print_file("name", named);
	print_file("hidden", hidden);
	printf(" frontier=%" PRIu64 " left=%ld\n", kept / KIB, left);
	plan_free(s);
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

	for (i = 0; i < CHANNELS; i++)
		loses[i] = -1;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "set %31s %ld", word, &a) == 2)
			set(word, a);
		else if (sscanf(line, "fail %31s %ld", word, &a) == 2)
			set_fail(word, a);
		else if (sscanf(line, "lose %d %ld", &i, &a) == 2 && i > 0 &&
		    i < CHANNELS)
			loses[i] = a;
		else if (sscanf(line, "put %ld", &size) == 1)
			put();
		else
			errx(1, "what is: %s", line);
	}
	return 0;
}
