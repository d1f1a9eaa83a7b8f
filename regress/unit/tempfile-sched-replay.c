/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-sched-replay: the upload of one file to a server made of text, over
 * as many connections as it needs. The scheduler decides on the file, and this
 * driver, as the hook does, on the connections.
 *
 * Commands come one per line. Sizes are in KiB, times in round trips:
 *
 *   set KEY VALUE  of the next runs:
 *       rtt N       ms
 *       path N      KiB that the path transfers in a round trip
 *       slow 1      the path starts with 14 KiB and doubles
 *       window N    KiB that a channel takes in a round trip
 *       most N      channels that the server allows
 *       streams N   connections that are wanted; 0: channels instead
 *       logins N    connections that the server allows
 *       old N       KiB of the file that exists; -1: none exists
 *       special 1   the existing file is no regular file
 *       server_caps N       1: TEMPFILE_HAS_COPY
 *       conns_wanted 0|1   several connections are wanted from the start
 *       unsafe 1    others may write in the directory
 *       untagged 1  the server does not store the time that is set
 *       space N     KiB of free space
 *       actual N    KiB that the local file really has
 *       shrink N    the local file has "actual" from the Nth round trip on
 *       stop N      the user interrupts then
 *       room N      KiB of the file that a COPY can write; sftp-server
 *                   reports no error of the last 64 KiB of a COPY with a length
 *       stale N     a bit for each temporary name that exists, and "alive N"
 *                   for each that another copy writes to
 *       stolen 1    another copy renames the temporary file
 *       swapped 1   a helper connection opens a different file
 *       made N      another program makes the file in the Nth round trip
 *       no_tempfile 1   the file has no temporary file, and removes stale ones
 *       stranger N  a bit for each temporary name that another user owns
 *       writers N   at most N connections write the file; 0: any number
 *       lose_all N  all connections are lost in the Nth round trip, and the
 *                   file begins again: its temporary file is a stale one
 *       lose_unanswered 1   channel 0 ends before the replies of its round
 *                   trip, not after them
 *       in_place 0|1, preserve 0|1, unit N
 *   fail OP N      the Nth request OP fails
 *   lose CHAN N    the channel ends in the Nth round trip; 0, which is the main
 *                  one, if it is a connection and there is another
 *   put SIZE       copy, and report
 *
 * After each request that the server serves, the file under its name must have
 * no hole: new data, and behind it the old data; but if a WRITE of it fails,
 * those behind it are already in flight, until it is truncated.
 *
 * Never are two connections requested at once.
 *
 * The report: round trips, most channels, channels and logins that were
 * requested, how many requests had errors that are reported, the contents of
 * the file under its name and of the temporary file: "whole", "none", "other",
 * or KiB of new and of old data, and which temporary names of others exist. A
 * promise of scheduler.h that is broken ends the run with its name.
 *
 * With -t each action of the scheduler is printed as well, with -d the state of
 * the file: see sched-replay.c.
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

enum op { OPEN_EXCL = 1, OPEN, LSTAT_TARGET, LSTAT_DIR, FSTAT_OLD, LSTAT_STALE,
    REMOVE_STALE, OPEN_STAGING, SET_TAG, FSTAT_TAG, STATVFS, HELPER_OPEN,
    FSTAT_IDENTITY, WRITE, COPY_BACK, LSTAT_TEMP, SETSIZE, FSETSTAT, RENAME,
    LSTAT_RENAMED, REMOVE_TEMP, HELPER_CLOSE, CLOSE_STAGING, REMOVE_STAGING,
    CLOSE, STAT_ON_HOST, OPS };

static const char *const op_names[] = { "", "open_excl", "open",
    "lstat_target", "lstat_dir", "fstat_old", "lstat_stale", "remove_stale",
    "open_staging", "set_tag", "fstat_tag", "statvfs", "helper_open",
    "fstat_identity", "write", "copy_back", "lstat_temp", "setsize",
    "fsetstat", "rename", "lstat_renamed", "remove_temp", "helper_close",
    "close_staging", "remove_staging", "close", "stat_on_host" };

#define PART	(1024 * KIB)		/* that one connection writes */

static struct {
	long rtt, path, slow, window, most, old, special, server_caps, space;
	long actual, shrink, stop, in_place, preserve, unit, room, streams;
	long logins, stale, alive, stolen, writers;
	long conns_wanted, unsafe, untagged, swapped, made, no_tempfile;
	long stranger, lose_all, lose_unanswered;
} conf = { .rtt = 100, .path = 12500, .window = 2048, .most = 10, .old = -1,
    .server_caps = 1, .space = 1L << 30, .actual = -1, .shrink = -1, .stop = -1,
    .in_place = 1, .unit = 256, .logins = 10, .conns_wanted = 1, .made = -1,
    .lose_all = -1 };

static const struct {
	const char *name;
	long *value;
} keys[] = {
	{ "rtt", &conf.rtt }, { "path", &conf.path }, { "slow", &conf.slow },
	{ "window", &conf.window }, { "most", &conf.most },
	{ "old", &conf.old }, { "special", &conf.special },
	{ "server_caps", &conf.server_caps }, { "space", &conf.space },
	{ "actual", &conf.actual }, { "shrink", &conf.shrink },
	{ "stop", &conf.stop }, { "in_place", &conf.in_place },
	{ "preserve", &conf.preserve }, { "unit", &conf.unit },
	{ "room", &conf.room }, { "streams", &conf.streams },
	{ "logins", &conf.logins }, { "writers", &conf.writers },
	{ "stale", &conf.stale }, { "alive", &conf.alive },
	{ "stolen", &conf.stolen }, { "conns_wanted", &conf.conns_wanted },
	{ "unsafe", &conf.unsafe }, { "untagged", &conf.untagged },
	{ "swapped", &conf.swapped }, { "made", &conf.made },
	{ "no_tempfile", &conf.no_tempfile }, { "stranger", &conf.stranger },
	{ "lose_all", &conf.lose_all },
	{ "lose_unanswered", &conf.lose_unanswered },
};

static long lost_in_round[CHANNELS];	/* -1: never */

static struct sched *s;
static struct sched_env env;
static struct conn_count channel_count;
static struct sim sim;
static struct sim_file *named, *temp;	/* units are KiB */
static long size, now, nreported, nrequested, logged;
static int conn_state[CHANNELS];
static int is_torn;			/* a WRITE failed, others were behind */
static int is_tagged, is_other;		/* the temporary file; the name */
static long rounds;
static int prints_trace, prints_dump;
static uint64_t acked, contiguous;
static int is_over, is_full, has_failed, uses_channels, is_restarted;
static long stale_names, found_names;	/* a bit for each temporary name */
static unsigned int own_number;
static unsigned int main_conn;
static int is_draining;			/* helpers write to what is given up */

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
		broken("new data behind a gap");
	if (at < 0 || at + len > 2 * size ||
	    sim_fill(f, at, len, SIM_NEW) == -1)
		broken("a request without a file");
}

static enum op
op_of(const struct sched_action *a)
{
	static const enum op temp_ops[] = { [TEMPFILE_FSTAT_OLD] = FSTAT_OLD,
	    [TEMPFILE_LSTAT_TARGET] = LSTAT_TARGET,
	    [TEMPFILE_LSTAT_DIR] = LSTAT_DIR,
	    [TEMPFILE_LSTAT_STALE] = LSTAT_STALE,
	    [TEMPFILE_REMOVE_STALE] = REMOVE_STALE,
	    [TEMPFILE_OPEN_STAGING] = OPEN_STAGING,
	    [TEMPFILE_SET_TAG] = SET_TAG, [TEMPFILE_FSTAT_TAG] = FSTAT_TAG,
	    [TEMPFILE_LSTAT_RENAMED] = LSTAT_RENAMED,
	    [TEMPFILE_REMOVE] = REMOVE_TEMP, [TEMPFILE_STATVFS] = STATVFS,
	    [TEMPFILE_COPY_BACK] = COPY_BACK,
	    [TEMPFILE_LSTAT_TEMP] = LSTAT_TEMP, [TEMPFILE_SETSIZE] = SETSIZE,
	    [TEMPFILE_FSETSTAT] = FSETSTAT, [TEMPFILE_RENAME] = RENAME,
	    [TEMPFILE_CLOSE_STAGING] = CLOSE_STAGING,
	    [TEMPFILE_REMOVE_STAGING] = REMOVE_STAGING,
	    [TEMPFILE_CLOSE] = CLOSE };

	switch (a->op) {
	case OP_OPEN_EXCL:
		return OPEN_EXCL;
	case OP_OPEN:
		return OPEN;
	case OP_HELPER_OPEN:
		return HELPER_OPEN;
	case OP_FSTAT_IDENTITY:
		return FSTAT_IDENTITY;
	case OP_HELPER_CLOSE:
		return HELPER_CLOSE;
	case OP_WRITE:
		return WRITE;
	case OP_STAT_DEST_ON_HOST:
		return STAT_ON_HOST;
	case OP_TEMPFILE:
		return temp_ops[a->temp_request.op];
	case OP_SETSIZE_FINAL:
		return SETSIZE;
	case OP_FSETSTAT:
		return FSETSTAT;
	case OP_FSTAT_SIZE:
	case OP_SETSIZE_END:
	case OP_CLOSE:
		return CLOSE;
	default:
		broken("a request that is not for a temporary file");
		return 0;
	}
}

/* Returns the file of the request's handle. */
static struct sim_file *
target(const struct sched_action *a)
{
	if (a->op == OP_WRITE && !a->staging && a->conn == main_conn)
		return named != NULL ? named : temp;
	return temp;
}

/* Copies as sftp-server does, chunk by chunk, and returns its result. */
static int
copy_data(const struct sched_action *a)
{
	const long at = a->temp_request.at / KIB, off = a->temp_request.off /
	    KIB;
	long left = a->temp_request.len == 0 ? temp->size - at :
	    a->temp_request.len / KIB;
	long n, done;

	for (done = 0; left > 0; done += n) {
		n = left < 64 ? left : 64;
		left -= n;
		if (conf.room > 0 && off + done + n > conf.room)
			return a->temp_request.len != 0 && left == 0;
		if (sim_has_hole(temp, at + done, n))
			broken("a hole is copied");
		fill(named, off + done, n);
	}
	return 1;
}

/* Makes a temporary file if the name is free. */
static int
make_temp(unsigned int n, int is_staging)
{
	own_number = n;
	if (found_names >> n & 1)
		broken("a name that is taken is used");
	if ((n >= STALE_TEMP_STAGING) != is_staging || n >= STALE_TEMP_NAMES)
		broken("a name of another kind is used");
	if (conf.unsafe)
		broken("a temporary file where others may write");
	if ((stale_names >> n & 1) != 0)
		return 0;
	temp = file_new(0);
	return 1;
}

static int
open_new(const struct sched_action *a)
{
	const struct tempfile_info info =
	    tempfile_info(sched_info(a->entry).tempfile);

	if (info.open == TEMPFILE_OPEN_TEMP)
		return make_temp(info.number, 0);
	if (named != NULL || conf.special || is_other)
		return 0;
	named = file_new(0);
	return 1;
}

static int
rename_temp(void)
{
	if (is_other || conf.stolen)
		return 0;
	if (temp == NULL)
		broken("a rename of nothing");
	named = temp;
	temp = NULL;
	return 1;
}

static int
lstat_name(enum op op, struct tempfile_reply *said)
{
	said->confirmed = op == LSTAT_TEMP || !is_other;
	return op == LSTAT_TEMP ? !conf.stolen && temp != NULL :
	    named != NULL || is_other;
}

static int
lstat_stale_name(unsigned int n, struct tempfile_reply *said)
{
	said->file = (struct stale_temp_file){ .is = STALE_TEMP_FILE,
	    .owner = conf.stranger >> n & 1 ? 2 : 1, .size = 1000,
	    .mtime = conf.alive >> n & 1 ? rounds : 5 };
	if ((stale_names >> n & 1) == 0)
		return 0;
	found_names |= 1L << n;
	return 1;
}

static int
remove_stale_name(unsigned int n)
{
	if ((stale_names >> n & 1) == 0 || n >= STALE_TEMP_NAMES)
		broken("a file that does not exist is removed");
	if (conf.alive >> n & 1)
		broken("a file that another copy writes is removed");
	if (conf.stranger >> n & 1)
		broken("a file of another user is removed");
	stale_names &= ~(1L << n);
	return 1;
}

/* Returns 1 if the request succeeds. */
static int
serve(const struct sched_action *a, struct tempfile_reply *said)
{
	enum op op = op_of(a);

	if (sim_serve(&sim, op)) {
		if (op == WRITE && target(a) == named)
			is_torn = 1;
		return 0;
	}
	switch (op) {
	case OPEN_EXCL:
		return open_new(a);
	case LSTAT_TARGET:
		return named != NULL || conf.special || is_other;
	case LSTAT_DIR:
		said->confirmed = !conf.unsafe;
		return 1;
	case SET_TAG:
		is_tagged = !conf.untagged;
		return 1;
	case FSTAT_OLD:
	case FSTAT_TAG:
		said->confirmed = op == FSTAT_OLD ? !conf.special : is_tagged;
		said->file.size = op == FSTAT_OLD ? named->size *
		    (uint64_t)KIB : 0;
		said->file.owner = 1;
		said->has_owner = 1;
		return 1;
	case FSTAT_IDENTITY:
		return !conf.swapped;
	case OPEN:
		if (named == NULL)
			named = file_new(0);
		if (!conf.in_place || sched_info(a->entry).must_open_trunc)
			sim_truncate(named, 0);
		return 1;
	case LSTAT_STALE:
		return lstat_stale_name(a->temp_request.number, said);
	case REMOVE_STALE:
		return remove_stale_name(a->temp_request.number);
	case LSTAT_TEMP:
	case LSTAT_RENAMED:
		return lstat_name(op, said);
	case RENAME:
		return rename_temp();
	case OPEN_STAGING:
		return make_temp(a->temp_request.number, 1);
	case REMOVE_TEMP:
		if (conf.stolen)
			broken("another copy's file is removed");
	/* FALLTHROUGH */
	case REMOVE_STAGING:
		sim_file_free(temp);
		temp = NULL;
		return 1;
	case WRITE:
		if (is_draining)
			return 1;
		fill(target(a), a->at / KIB, a->len / KIB);
		return 1;
	case STATVFS:
		said->free_space = conf.space * (uint64_t)KIB;
		return 1;
	case COPY_BACK:
		return copy_data(a);
	case STAT_ON_HOST:
		if (a->conn != main_conn)
			broken("a helper verifies for a lost connection");
		return named != NULL;
	case SETSIZE:
		if (conf.stolen && named == NULL)
			broken("another copy's file is truncated");
		is_torn = 0;
		sim_truncate(named != NULL ? named : temp,
		    (a->op == OP_TEMPFILE ? a->temp_request.off : a->off) /
		    KIB);
		return 1;
	default:
		return 1;
	}
}

/* Returns 1 if the request has our own temporary name. */
static int
names_own_temp(enum op op)
{
	return op == RENAME || op == LSTAT_TEMP || op == REMOVE_TEMP ||
	    op == REMOVE_STAGING;
}

static void
reply(const struct sched_action *a)
{
	enum op op = op_of(a);
	struct sched_reply told_reply = SCHED_REPLY_INIT;
	struct sched_action found;
	int ok, r;

	if (sched_find(s, a->id, &found) != 0 || found.op != a->op ||
	    found.conn != a->conn)
		broken("a request is forgotten");
	ok = serve(a, &told_reply.temp);
	if (names_own_temp(op) && a->op == OP_TEMPFILE &&
	    a->temp_request.number != own_number)
		broken("a name that is not ours is used");
	if (op == WRITE && a->conn != main_conn && conf.swapped)
		broken("a helper writes to a different file");
	if (op != WRITE && op != COPY_BACK)
		check_named();
	told_reply.result = ok ? RESULT_OK : RESULT_FAILED;
	r = sched_reply(s, a->id, &told_reply);
	if (r == -1)
		broken("a good reply is good");
	nreported += !ok && r == 0 && op != HELPER_OPEN && op != FSTAT_IDENTITY;
	if (ok && op == WRITE) {
		acked += a->len;
		conn_count_acked(&channel_count, a->len, conf.rtt * 1000,
		    now * 1000, sched_file_conns(s, a->entry));
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
	sched_sent(s, a->id, a->off, len * KIB);
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
	struct sched_begin b = { 0 };

	if (is_restarted)
		return;			/* over one connection */
	if (conf.no_tempfile)
		b.removes_stale = 1;
	else {
		b.tempfile = &c;
		b.max_tempfiles = 1;
	}
	sched_begin(s, j, &b);
	if (!conf.no_tempfile && !b.has_tempfile)
		broken("a temporary file is allowed");
	sched_set_size(s, j, size * (uint64_t)KIB);
}

/* Checks which files are reported as left, before that is freed. */
static void
check_leftover(const struct sched_action *a)
{
	const struct tempfile *l = sched_info(a->entry).tempfile;
	enum tempfile_leftover is = tempfile_info(l).leftover;

	contiguous = l == NULL ? a->off : tempfile_copied_bytes(l, a->off);
	has_failed = sched_info(a->entry).has_failed;
	if ((is == TEMPFILE_LEAVES_TEMP) != (named == NULL && temp != NULL &&
	    !(conf.stolen && sim.seen[LSTAT_TEMP] > 0)))
		broken("a temporary file is not reported");
	if ((is == TEMPFILE_LEAVES_STAGING) != (named != NULL && temp !=
	    NULL))
		broken("a staging file is not reported");
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
handle_action(const struct sched_action *a)
{
	trace(a);
	if (a->op == OP_BEGIN)
		begin(a->entry);
	else if (a->op == OP_DATA_DONE)
		check_leftover(a);
	else if (a->op == OP_RESTART) {
		is_restarted = !sched_info(a->entry).restarts_after_loss;
		is_draining = 0;
	}	else if (a->op == OP_END)
		has_failed |= sched_info(a->entry).has_failed;
	else if (a->op == OP_PRINT)
		is_over = 1;
	else if (a->conn >= CHANNELS || (a->conn != main_conn &&
	    conn_state[a->conn] != 2))
		broken("a channel that is not there is used");
	else
		enqueue(a);
	sched_local_done(s);
}

/* Connections, as the hook has them */

static int
count_conns(int state)
{
	int c, n = 0;

	for (c = 1; c < CHANNELS; c++)
		n += conn_state[c] == state;
	return n;
}

static void
note_refusal(void)
{
	is_full = 1;
	if (!uses_channels && count_conns(2) == 0) {
		uses_channels = 1;
		is_full = 0;
	}
}

/* Requests a connection: established, or refused, in the next round. */
static void
connect_one(int c)
{
	int is_refused = uses_channels ? ++nrequested >= conf.most :
	    ++logged >= conf.logins;

	conn_state[c] = is_refused ? -1 : 1;
}

static void
open_conns(void)
{
	uint64_t rest = size * (uint64_t)KIB -
	    min_u64(size * (uint64_t)KIB, acked);
	int c, want = uses_channels ? (int)conn_count_wanted(&channel_count) :
	    (int)conf.streams;

	for (c = 1; c < CHANNELS; c++) {
		if (conn_state[c] != 0 || is_full || rest < (uses_channels ?
		    STRIPE_MIN_FILE : STRIPE_MIN_REST) || count_conns(1) +
		    count_conns(2) + count_conns(-1) + 1 >= want ||
		    (!uses_channels && count_conns(1) + count_conns(-1) > 0))
			continue;
		connect_one(c);
	}
}

static void
lose_conn(unsigned int chan)
{
	if (conn_state[chan] != 2)
		return;
	sim_lose(&sim, chan);
	conn_state[chan] = 0;
	is_full = 1;
	sched_conn_lost(s, chan, main_conn);
}

/* The temporary file stays, as that of a killed copy. */
static void
lose_temp(void)
{
	if (temp != NULL)
		stale_names |= 1L << own_number;
	sim_file_free(temp);
	temp = NULL;
	found_names = 0;
	acked = 0;
}

static void
lose_main(void)
{
	unsigned int c, lost = main_conn;

	for (c = 1; c < CHANNELS && (c == lost || conn_state[c] != 2); c++)
		;
	if (c == CHANNELS || uses_channels || conf.no_tempfile)
		return;
	sim_lose(&sim, lost);
	conn_state[lost] = 0;
	is_full = 1;
	is_draining = temp != NULL;
	lose_temp();
	main_conn = c;
	sched_conn_lost(s, lost, main_conn);
}

/* A server does nothing late here. */
static void
lose_all(void)
{
	sim.n = 0;
	memset(conn_state, 0, sizeof(conn_state));
	lose_temp();
	main_conn = 0;
	sched_conn_lost(s, SCHED_CONNS_ALL, 0);
}

static void
set_conns(void)
{
	unsigned int c, up = 1U << main_conn;

	for (c = 1; c < CHANNELS; c++)
		up |= (conn_state[c] == 2 ? 1U : 0) << c;
	env.established = env.writable = up;
	env.server_caps = up == 1U << main_conn ? 0 : (int)conf.server_caps;
	env.conns_wanted = (int)conf.conns_wanted;
	env.stripe_min = !uses_channels ? STRIPE_MIN_REST :
	    channel_count.limited ? STRIPE_MIN_FILE : 0;
	env.now_us = now * 1000;
	sched_update(s, &env);
}

static void
print_state(void *arg, void *user, const char *line)
{
	(void)arg;
	(void)user;
	printf("round %ld: %s\n", rounds, line);
}

/* Also by atexit(3), in a copy that has not ended */
static void
dump(void)
{
	if (s != NULL)
		sched_dump(s, print_state, NULL);
}

/* Requests that the windows and the path allow arrive, and are answered. */
static void
round_trip(void)
{
	long path = conf.path;
	struct sched_action a;
	size_t i, n;
	unsigned int c;

	if (conf.slow && rounds < 20 && 14L << rounds < path)
		path = 14L << rounds;
	if (lost_in_round[0] == rounds && conf.lose_unanswered)
		lose_main();
	n = sim_carry(&sim, path, conf.window);
	now += conf.rtt;
	for (i = 0; i < n; i++) {
		memcpy(&a, sim.now[i].body, sizeof(a));
		reply(&a);
	}
	for (c = 1; c < CHANNELS; c++) {
		if (conn_state[c] == -1) {
			conn_state[c] = 0;
			note_refusal();
		} else if (conn_state[c] == 1)
			conn_state[c] = 2;
		if (lost_in_round[c] == rounds && c != main_conn)
			lose_conn(c);
	}
	if (lost_in_round[0] == rounds && !conf.lose_unanswered)
		lose_main();
	if (prints_dump)
		dump();
}

static void
print_file(const char *name, const struct sim_file *f)
{
	uint64_t nnew = f == NULL ? 0 : sim_count(f, SIM_NEW);

	if (is_other && strcmp(name, "name") == 0)
		printf(" %s=other", name);
	else if (f == NULL)
		printf(" %s=none", name);
	else if (nnew == (uint64_t)size && f->size == nnew)
		printf(" %s=whole", name);
	else
		printf(" %s=%" PRIu64 "+%" PRIu64, name, nnew,
		    f->size - nnew);
}

static void
run(void)
{
	struct sched_action a;
	struct sched_entry *j;
	unsigned int most = 1;
	int r;

	for (rounds = 0; !is_over; rounds++) {
		if (rounds == conf.lose_all)
			lose_all();
		if (rounds == conf.stop)
			sched_interrupt(s);
		is_other |= rounds == conf.made && named == NULL;
		set_conns();
		while ((r = sched_next(s, &a)) == 1)
			handle_action(&a);
		if (r == -1)
			err(1, "sched_next");
		if (is_over)
			break;
		if (rounds == ROUNDS_MAX)
			broken("no end");
		open_conns();
		round_trip();
		if ((j = sched_next_in_order(s, NULL)) != NULL)
			most = (unsigned int)max_u64(most,
			    sched_file_conns(s, j));
	}
	printf("rounds=%ld channels=%u asked=%ld logins=%ld reported=%ld "
	    "failed=%d", rounds, most, nrequested, logged, nreported,
	    has_failed);
}

static void
put(void)
{
	struct sched_conf c = { .put = 1, .in_place = conf.in_place,
	    .preserve = conf.preserve, .files = 512, .unit = conf.unit * KIB,
	    .first_id = 0xfffffff0 };

	named = conf.old == -1 ? NULL : file_new(conf.old);
	temp = NULL;
	sim_reset(&sim);
	memset(&channel_count, 0, sizeof(channel_count));
	stale_names = conf.stale;
	found_names = 0;
	now = 1;
	acked = contiguous = 0;
	nreported = nrequested = logged = is_torn = is_tagged = is_other = 0;
	is_restarted = is_draining = 0;
	main_conn = 0;
	is_over = is_full = has_failed = 0;
	uses_channels = conf.streams == 0;
	memset(conn_state, 0, sizeof(conn_state));
	if ((s = sched_new(&c)) == NULL)
		err(1, "sched_new");
	env = (struct sched_env){ .handle_limit = 1019, .window = CREDIT,
	    .max_writers = (unsigned int)conf.writers, .align = PART,
	    .established = 1, .writable = 1 };
	sched_update(s, &env);
	if (sched_add(s, NULL, KIND_FILE, s, size * (uint64_t)KIB) == NULL)
		err(1, "sched_add");
	run();
	print_file("name", named);
	print_file("temp", temp);
	printf(" contiguous=%" PRIu64 " stale=%ld\n", contiguous / KIB,
	    stale_names);
	sched_free(s);
	s = NULL;
	sim_file_free(named);
	sim_file_free(temp);
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
	prints_dump = argc > 1 && strcmp(argv[1], "-d") == 0;
	if (prints_dump)
		atexit(dump);
	for (i = 0; i < CHANNELS; i++)
		lost_in_round[i] = -1;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "set %31s %ld", word, &a) == 2)
			set(word, a);
		else if (sscanf(line, "fail %31s %ld", word, &a) == 2)
			set_fail(word, a);
		else if (sscanf(line, "lose %d %ld", &i, &a) == 2 && i >= 0 &&
		    i < CHANNELS)
			lost_in_round[i] = a;
		else if (sscanf(line, "put %ld", &size) == 1)
			put();
		else
			errx(1, "what is: %s", line);
	}
	return 0;
}
