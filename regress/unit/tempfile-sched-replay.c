/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-sched-replay: one file that is put to a server made of text, over as
 * many links as it takes. The plan decides on the file, and this driver, as the
 * hook does, on the links.
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
 *       server_caps N       1: TEMPFILE_HAS_COPY
 *       conns_wanted 0|1   several links are wanted from the start
 *       unsafe 1    others may write in the directory
 *       untagged 1  the server does not keep the time that is set
 *       space N     KiB that are free
 *       actual N    KiB that the local file really has
 *       shrink N    the local file has "actual" from the Nth round trip on
 *       stop N      the user interrupts then
 *       room N      KiB of the file that a COPY can write; sftp-server tells
 *                   no error of the last 64 KiB of a COPY with a length
 *       stale N     a bit for each hidden name that exists, and "alive N" for
 *                   each that another copy writes to
 *       stolen 1    another copy renames the hidden file
 *       swapped 1   what a further link opens is another file
 *       made N      another program makes the file in the Nth round trip
 *       no_tempfile 1   the file has no temporary file, and removes stale ones
 *       stranger N  a bit for each hidden name that another user owns
 *       writers N   so many links write it at most; 0: any number
 *       in_place 0|1, preserve 0|1, unit N
 *   fail OP N      the Nth request OP fails
 *   lose CHAN N    the channel ends in the Nth round trip
 *   put SIZE       copy, and report
 *
 * After each request that the server serves, the file under its name must have
 * no hole: new data, and behind it what was there before; but if a WRITE of it
 * fails, those behind it are already in flight, until it is cut.
 *
 * Never are two connections asked for at once.
 *
 * The report: round trips, most channels, how many requests had errors that are
 * told, what lies under the name and under the hidden name: "whole", "none",
 * "other", or KiB of new and of old data, and which hidden names of others
 * exist. A promise of scheduler.h that is broken ends the run with its name.
 *
 * With -t each action of the scheduler is printed as well; see sched-replay.c.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn-count.h"
#include "minmax.h"
#include "scheduler.h"
#include "sim.h"
#include "stale-temp.h"
#include "tempfile.h"

#define KIB		1024
#define CHANNELS	10		/* with the first */
#define CREDIT		(16 * 1024 * KIB)	/* as for one file alone */
#define ROUNDS_MAX	20000

enum op { OPEN_NEW = 1, OPEN_OLD, TARGET, DIR, LOOK, FIND, SWEEP, OPEN_SECOND,
    MARK, KNOW, SPACE, JOIN, SAME, WRITE, COPY, OWN, TRUNCATE, ATTRS, SHOW,
    SHOWN, DROP, LEAVE, CLOSE_SECOND, REMOVE_SECOND, CLOSE, SEEN, OPS };

static const char *const op_names[] = { "", "open_excl", "open",
    "lstat_target", "lstat_dir", "fstat_old", "lstat_stale", "remove_stale",
    "open_staging", "set_tag", "fstat_tag", "statvfs", "helper_open",
    "fstat_identity", "write", "copy_back", "lstat_temp", "setsize",
    "fsetstat", "rename", "lstat_renamed", "remove_temp", "helper_close",
    "close_staging", "remove_staging", "close", "stat_on_host" };

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
	{ "server_caps", &conf.has }, { "space", &conf.space },
	{ "actual", &conf.actual }, { "shrink", &conf.shrink },
	{ "stop", &conf.stop }, { "in_place", &conf.in_place },
	{ "preserve", &conf.preserve }, { "unit", &conf.unit },
	{ "room", &conf.room }, { "streams", &conf.streams },
	{ "logins", &conf.logins }, { "writers", &conf.writers },
	{ "stale", &conf.left }, { "alive", &conf.alive },
	{ "stolen", &conf.stolen }, { "conns_wanted", &conf.wants },
	{ "unsafe", &conf.unsafe }, { "untagged", &conf.unmarked },
	{ "swapped", &conf.swapped }, { "made", &conf.made },
	{ "no_tempfile", &conf.plain }, { "stranger", &conf.stranger },
};

static long loses[CHANNELS];	/* in which round trip; -1: never */

static struct sched *s;
static struct conn_count growth;
static struct sim sim;
static struct sim_file *named, *hidden;	/* units are KiB */
static long size, now, told, connected, logged;
static int is_up[CHANNELS];
static int is_torn;			/* a WRITE failed, others were behind */
static int is_marked, is_other;		/* the hidden file; what has the name */
static long rounds;
static int prints_trace;
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
op_of(const struct sched_action *a)
{
	static const enum op asked[] = { [TEMPFILE_FSTAT_OLD] = LOOK,
	    [TEMPFILE_LSTAT_TARGET] = TARGET, [TEMPFILE_LSTAT_DIR] = DIR,
	    [TEMPFILE_LSTAT_STALE] = FIND, [TEMPFILE_REMOVE_STALE] = SWEEP,
	    [TEMPFILE_OPEN_STAGING] = OPEN_SECOND, [TEMPFILE_SET_TAG] = MARK,
	    [TEMPFILE_FSTAT_TAG] = KNOW, [TEMPFILE_LSTAT_RENAMED] = SHOWN,
	    [TEMPFILE_REMOVE] = DROP,
	    [TEMPFILE_STATVFS] = SPACE, [TEMPFILE_COPY_BACK] = COPY,
	    [TEMPFILE_LSTAT_TEMP] = OWN, [TEMPFILE_SETSIZE] = TRUNCATE,
	    [TEMPFILE_FSETSTAT] = ATTRS, [TEMPFILE_RENAME] = SHOW,
	    [TEMPFILE_CLOSE_STAGING] = CLOSE_SECOND,
	    [TEMPFILE_REMOVE_STAGING] = REMOVE_SECOND,
	    [TEMPFILE_CLOSE] = CLOSE };

	switch (a->op) {
	case OP_OPEN_EXCL:
		return OPEN_NEW;
	case OP_OPEN:
		return OPEN_OLD;
	case OP_HELPER_OPEN:
		return JOIN;
	case OP_FSTAT_IDENTITY:
		return SAME;
	case OP_HELPER_CLOSE:
		return LEAVE;
	case OP_WRITE:
		return WRITE;
	case OP_STAT_DEST_ON_HOST:
		return SEEN;
	case OP_TEMPFILE:
		return asked[a->temp_request.op];
	case OP_SETSIZE_FINAL:
		return TRUNCATE;
	case OP_FSETSTAT:
		return ATTRS;
	case OP_FSTAT_SIZE:
	case OP_SETSIZE_END:
	case OP_CLOSE:
		return CLOSE;
	default:
		broken("a request that is none of a landing");
		return 0;
	}
}

/* Returns the file that a handle stands for. */
static struct sim_file *
target(const struct sched_action *a)
{
	if (a->op == OP_WRITE && !a->staging && a->conn == 0)
		return named != NULL ? named : hidden;
	return hidden;
}

/* Copies as sftp-server does, chunk by chunk. Returns what it would tell. */
static int
copy_data(const struct sched_action *a)
{
	const long at = a->temp_request.at / KIB, off = a->temp_request.off /
	    KIB;
	long left = a->temp_request.len == 0 ? hidden->size - at :
	    a->temp_request.len / KIB;
	long n, done;

	for (done = 0; left > 0; done += n) {
		n = left < 64 ? left : 64;
		left -= n;
		if (conf.room > 0 && off + done + n > conf.room)
			return a->temp_request.len != 0 && left == 0;
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
	if ((n >= STALE_TEMP_STAGING) != is_second || n >= STALE_TEMP_NAMES)
		broken("a name of another kind is used");
	if (conf.unsafe)
		broken("a hidden file where others may write");
	if ((left >> n & 1) != 0)
		return 0;
	hidden = file_new(0);
	return 1;
}

static int
open_new(const struct sched_action *a)
{
	unsigned int n;

	if (tempfile_open_mode(sched_tempfile(a->entry), &n) ==
	    TEMPFILE_OPEN_TEMP)
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
look_at(struct sched_entry *j, enum op op)
{
	if (op == OWN ? conf.stolen || hidden == NULL :
	    named == NULL && !is_other)
		return 0;
	tempfile_saw_name(sched_tempfile(j), op == OWN ? TEMPFILE_LSTAT_TEMP :
	    TEMPFILE_LSTAT_RENAMED, op == OWN || !is_other);
	return 1;
}

/* Attributes of a handle */
static void
know(struct sched_entry *j, enum op op)
{
	if (op == LOOK)
		tempfile_set_old(sched_tempfile_requester(j), !conf.special,
		    named->size * (uint64_t)KIB);
	else
		tempfile_set_tagged(sched_tempfile(j), is_marked);
	tempfile_set_owner(sched_tempfile_requester(j), 1);
}

static int
find_name(struct sched_entry *j, unsigned int n)
{
	struct stale_temp_file f = { .is = STALE_TEMP_FILE,
	    .owner = conf.stranger >> n & 1 ? 2 : 1, .size = 1000,
	    .mtime = conf.alive >> n & 1 ? rounds : 5 };

	if ((left >> n & 1) == 0)
		return 0;
	is_told |= 1L << n;
	tempfile_found_stale(sched_tempfile_requester(j), n, &f);
	return 1;
}

static int
sweep_name(unsigned int n)
{
	if ((left >> n & 1) == 0 || n >= STALE_TEMP_NAMES)
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
serve(const struct sched_action *a)
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
		tempfile_set_dir_safe(sched_tempfile_requester(a->entry),
		    !conf.unsafe);
		return 1;
	case MARK:
		is_marked = !conf.unmarked;
		return 1;
	case LOOK:
	case KNOW:
		know(a->entry, op);
		return 1;
	case SAME:
		return !conf.swapped;
	case OPEN_OLD:
		if (named == NULL)
			named = file_new(0);
		if (!conf.in_place || sched_must_open_trunc(a->entry))
			sim_truncate(named, 0);
		return 1;
	case FIND:
		return find_name(a->entry, a->temp_request.number);
	case SWEEP:
		return sweep_name(a->temp_request.number);
	case OWN:
	case SHOWN:
		return look_at(a->entry, op);
	case SHOW:
		return show();
	case OPEN_SECOND:
		return choose(a->temp_request.number, 1);
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
		if (a->conn != 0)
			broken("what a lost link had is seen over the first");
		return named != NULL;
	case TRUNCATE:
		if (conf.stolen && named == NULL)
			broken("another copy's file is cut");
		is_torn = 0;
		sim_truncate(named != NULL ? named : hidden,
		    (a->op == OP_TEMPFILE ? a->temp_request.off : a->off) /
		    KIB);
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
reply(const struct sched_action *a)
{
	enum op op = op_of(a);
	struct sched_action found;
	int ok, r;

	if (sched_find(s, a->id, &found) != 0 || found.op != a->op ||
	    found.conn != a->conn)
		broken("a request is forgotten");
	ok = serve(a);
	if (is_of_ours(op) && a->op == OP_TEMPFILE &&
	    a->temp_request.number != number)
		broken("a name that is not ours is used");
	if (op == WRITE && a->conn != 0 && conf.swapped)
		broken("a further link writes to another file");
	if (op != WRITE && op != COPY)
		check_named();
	if (ok && op == SPACE)
		sched_set_free_space(a->entry, conf.space * (uint64_t)KIB);
	r = sched_reply(s, a->id, ok ? RESULT_OK : RESULT_FAILED, 0);
	if (r == -1)
		broken("a good reply is good");
	told += !ok && r == 0 && op != JOIN && op != SAME;
	if (ok && op == WRITE) {
		acked += a->len;
		conn_count_acked(&growth, a->len, conf.rtt * 1000, now * 1000,
		    sched_file_conns(s, a->entry));
	}
	if (sched_find(s, a->id, &found) == 0)
		broken("a reply is taken twice");
}

/* The path */

static void
enqueue(const struct sched_action *a)
{
	long have = local_size() - (long)(a->off / KIB);
	long len = a->len / KIB;
	struct sched_action sent = *a;

	if (a->op != OP_WRITE) {
		sim_push(&sim, a->conn, a, sizeof(*a));
		return;
	}
	len = have < 0 ? 0 : have < len ? have : len;
	sched_sent(s, a->id, len * KIB);
	if (len == 0)
		return;
	sent.len = len * KIB;
	sim_push(&sim, a->conn, &sent, sizeof(sent))->left = len;
}

static void
begin(struct sched_entry *j)
{
	struct tempfile_conf c = { .size = size * (uint64_t)KIB,
	    .in_place = conf.in_place, .preserve = conf.preserve,
	    .number = size % STALE_TEMP_NAMES };

	if (goes_again)
		return;			/* It goes over one link. */
	if (conf.plain)
		sched_remove_stale(s, j);
	else if (sched_allow_tempfile(s, j, &c, 1) != 1)
		broken("a file can land");
	sched_set_size(s, j, size * (uint64_t)KIB);
}

/* What the landing would tell the user, before it is gone */
static void
settle(const struct sched_action *a)
{
	struct tempfile *l = sched_tempfile(a->entry);
	enum tempfile_leftover is = l == NULL ? TEMPFILE_LEAVES_NOTHING :
	    tempfile_leftover(l);

	kept = l == NULL ? a->off : tempfile_copied_bytes(l, a->off);
	has_failed = sched_has_failed(a->entry);
	if ((is == TEMPFILE_LEAVES_TEMP) != (named == NULL && hidden != NULL &&
	    !(conf.stolen && sim.seen[OWN] > 0)))
		broken("what is hidden is not told");
	if ((is == TEMPFILE_LEAVES_STAGING) != (named != NULL && hidden !=
	    NULL))
		broken("a second file is not told");
}

static void
trace(const struct sched_action *a)
{
	const struct tempfile_request *q = &a->temp_request;

	if (!prints_trace)
		return;
	if (a->op >= OP_BEGIN)
		printf("local %d %" PRIu64 "\n", a->op - OP_BEGIN, a->off);
	else if (a->op != OP_TEMPFILE)
		printf("%s c%u %" PRIu64 "+%u at %" PRIu64 "%s\n",
		    op_names[op_of(a)], a->conn, a->off, a->len, a->at,
		    a->staging ? " staging" : "");
	else
		printf("%s c%u number %u off %" PRIu64 " at %" PRIu64 "+%u\n",
		    op_names[op_of(a)], a->conn, q->number, q->off, q->at,
		    q->len);
}

static void
act(const struct sched_action *a)
{
	trace(a);
	if (a->op == OP_BEGIN)
		begin(a->entry);
	else if (a->op == OP_DATA_DONE)
		settle(a);
	else if (a->op == OP_RESTART)
		goes_again = 1;
	else if (a->op == OP_END)
		has_failed |= sched_has_failed(a->entry);
	else if (a->op == OP_PRINT)
		is_over = 1;
	else if (a->conn >= CHANNELS || (a->conn > 0 && is_up[a->conn] != 2))
		broken("a channel that is not there is used");
	else
		enqueue(a);
	sched_local_done(s);
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
	int c, want = uses_channels ? (int)conn_count_wanted(&growth) :
	    (int)conf.streams;

	for (c = 1; c < CHANNELS; c++) {
		if (is_up[c] != 0 || is_full || rest < (uses_channels ?
		    STRIPE_MIN_FILE : STRIPE_MIN_REST) || has_link(1) +
		    has_link(2) + has_link(-1) + 1 >= want ||
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
	sched_conn_lost(s, chan);
}

static void
set_lanes(void)
{
	unsigned int c, up = 1;

	for (c = 1; c < CHANNELS; c++)
		up |= (is_up[c] == 2 ? 1U : 0) << c;
	sched_set_conns(s, up, up);
	sched_set_server_caps(s, up == 1 ? 0 : (int)conf.has);
	sched_set_conns_wanted(s, (int)conf.wants);
	sched_set_stripe_min(s, !uses_channels ? STRIPE_MIN_REST :
	    growth.limited ? STRIPE_MIN_FILE : 0);
	sched_set_clock(s, now * 1000);
}

/* What the windows and the path allow arrives, and is answered. */
static void
round_trip(void)
{
	long path = conf.path;
	struct sched_action a;
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
	struct sched_action a;
	struct sched_entry *j;
	unsigned int most = 1;
	int r;

	for (rounds = 0; !is_over; rounds++) {
		if (rounds == conf.stop)
			sched_interrupt(s);
		is_other |= rounds == conf.made && named == NULL;
		set_lanes();
		while ((r = sched_next(s, &a)) == 1)
			act(&a);
		if (r == -1)
			err(1, "sched_next");
		if (is_over)
			break;
		if (rounds == ROUNDS_MAX)
			broken("no end");
		grow();
		round_trip();
		if ((j = sched_oldest(s)) != NULL)
			most = (unsigned int)max_u64(most,
			    sched_file_conns(s, j));
	}
	printf("rounds=%ld channels=%u asked=%ld logins=%ld reported=%ld "
	    "failed=%d", rounds, most, connected, logged, told, has_failed);
}

static void
put(void)
{
	struct sched_conf c = { .put = 1, .in_place = conf.in_place,
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
	if ((s = sched_new(&c)) == NULL)
		err(1, "sched_new");
	sched_set_handle_limit(s, 1019);
	sched_set_writers(s, (unsigned int)conf.writers, PART);
	sched_set_window(s, CREDIT);
	if (sched_add(s, NULL, KIND_FILE, s, size * (uint64_t)KIB) == NULL)
		err(1, "sched_add");
	run();
	print_file("name", named);
	print_file("temp", hidden);
	printf(" contiguous=%" PRIu64 " stale=%ld\n", kept / KIB, left);
	sched_free(s);
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
main(int argc, char **argv)
{
	char line[128], word[32];
	long a;
	int i;

	prints_trace = argc > 1 && strcmp(argv[1], "-t") == 0;
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
