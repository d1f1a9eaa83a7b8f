/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-replay: a tree that is copied to, from or between servers of text.
 *
 * The tree is a directory with DIRS directories of FILES files each. Commands
 * come one per line:
 *
 *   set KEY VALUE  of the next runs:
 *       handles N   the server tells this limit; 0: it tells none
 *       strict N    an OPEN fails while N files are open; 0: none does
 *       strict_to N likewise at the target, between two servers
 *       full N      a WRITE fails while more than N files are open
 *       short N     a READ returns at most N bytes
 *       ragged 0|1  a READ returns as many as chance wants
 *       names N     a READDIR returns at most N names; 0: all
 *       actual N    bytes that the files really have
 *       hole N, hole_end N   a put leaves out the bytes between these
 *       order N     replies come in order (0), backwards (1), shuffled (N)
 *       interrupt N the user interrupts after N round trips
 *       conns N     files go over N lanes
 *       stripe_min N     a lane without work carries a file with N bytes left
 *       other_hosts N     the lanes of these bits lead to other hosts
 *       other_open_fails 0|1   these cannot open a file
 *       exists_ours 0|1    nobody else makes a file that is put
 *       wrong_mtime N   the first N final checks after a lost connection
 *                   find another mtime
 *       align N     parts of a file that lanes share begin at multiples of N
 *       lose N, lose_at N   lane N is lost after so many round trips
 *       lose2 N, lose2_at N   and this one
 *       lose_all N, lose_all_times N   all lanes are lost after each N round
 *                   trips, so many times, and a new lane 0 is there;
 *                   back_after N: the others are, N round trips later
 *       lose_main N, lose_main_times N   the main lane is lost after each N
 *                   round trips, so many times, if another can be it
 *       stat_fails N, open_fails N   1: each STAT of a final check, or each
 *                   OP_REOPEN, is refused
 *       slow N, slow_by N   replies of lane N come so many round trips later
 *       slow_each N replies to its READs and WRITEs come so many round trips
 *                   apart
 *       round_us N  microseconds of a round trip; 0: lanes share a connection
 *       other N     another file stands under the name on lane N; 0: on none
 *       mixed N     likewise, of the same size and time
 *       changed 0|1 what is opened after a loss has other bytes
 *       bad N       a READ of the byte N - 1 fails
 *       disk N      the byte N - 1 of a file that is got cannot be written
 *       asks N      each file is checked: before and after its copy the caller
 *                   asks N times, one after the other,
 *       hash N      then for the hashes of N bytes, and has local work as well,
 *       read_back 0|1   and reads the server's file back,
 *       set_size 0|1   before the copy of an upload, it truncates the target by
 *                   name after the first of these
 *       from N      the copy begins there
 *       complete N  each Nth file is complete; 0: none
 *       late_truncate 0|1   the targets are longer old files, which
 *                   OP_SETSIZE_0 truncates unless the upload is in place;
 *                   likewise between servers
 *       device_every N   each Nth file there is a device; 0: none
 *       known N     a put knows that what is there has N - 1 bytes at most
 *       no_truncate 0|1   the server empties or cuts no file that is open
 *       serve_late 0|1   it empties and writes in the order of its replies
 *       lose_last 0|1   a lane is lost after the replies of the round trip,
 *                   when what follows them waits to be sent
 *       pause N     actions are taken up again after the next replies if an
 *                   OP_VERIFY was done: each Nth one; 0: none
 *       links N     each Nth file of a get is a link, looked up first
 *       held N      likewise each file, and released N round trips later
 *       files N, unit N, window N, in_place 0|1, preserve 0|1,
 *       keep_found 0|1
 *   fail OP N      the Nth request OP fails, whenever it is sent
 *   late OP N ROUNDS   the reply to the Nth request OP comes so much later
 *   put|get|cross DIRS FILES SIZE   copy, and report
 *
 * The server answers only when nothing more is sent, so a round is a round
 * trip. The report: rounds, requests, most files open at once, files that are
 * whole, cut (with no hole below the cut) or emptied, and failed, jobs that
 * were kept at once (added and not printed), most files at the end of a round
 * that are neither old nor new, and the data requests of each lane. A promise
 * of scheduler.h that is broken ends the run with its name.
 *
 * With -t each action of the scheduler is printed as well: its operation, the
 * number of its file, connection, offset and length. build-aux/same-requests
 * compares these traces of two commits. With -d sched_dump() prints, after each
 * round trip and where a promise is broken, what each file waits for, as scp
 * does on SIGUSR1.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op-table.h"
#include "scheduler.h"
#include "sim.h"
#include "verify-sched.h"

static int prints_trace, prints_dump;

/* What the caller of the scheduler knows of a job */
struct node {
	int	 number;		/* in walk order, from 1 */
	struct node *dir;
	int	 children, added;	/* of a directory */
	int	 named, known;		/* of them, by the server; to us */
	int	 heard;			/* names of this listing, by us */
	int	 below;			/* children that are not done */
	int	 begun;			/* files among them that have begun */
	int	 is_made, is_open, has_failed;
	int	 is_open_to, is_emptied;	/* at the target */
	int	 under_way;		/* requests */
	int	 last;			/* of them, TRUNCATE and ATTRS */
	unsigned int lane;
	unsigned int joined;		/* a bit for each further lane */
	int	 lost;			/* a lane that had it was */
	int	 over;			/* it is written over */
	int	 is_late;		/* a lost lane may still change it */
	uint64_t size;			/* of the server's file */
	uint64_t moved, cut;		/* bytes without a hole; truncated to */
	struct sim_file *came;		/* which bytes came; NULL: none */
	int	 clears;		/* by OP_SETSIZE_0 */
	int	 is_old;		/* at the server: old bytes are there */
	int	 is_torn, is_mixed;	/* neither old nor new; both at once */
	uint64_t served;		/* new bytes there */
	uint64_t written;		/* of a file that is got */
	uint64_t part;			/* moved last, from 1; 0: none */
	unsigned int part_lane;
	uint64_t reached;		/* end of the highest part moved */
	unsigned int asked;		/* questions of this check */
	int	 is_asked, is_open_back, is_copied;
	int	 seen;			/* before its first READ */
	int	 is_short;		/* something was not read back */
	uint64_t back;			/* bytes read back */
};

struct reply {
	struct sched_action a;
	enum sched_result result;
	uint32_t len;
};

static struct {
	uint64_t handles, strict, strict_to, full, shorten, ragged;
	uint64_t actual, order;
	uint64_t interrupt, names, hole, hole_end;
	uint64_t files, unit, window, in_place, preserve, keep_found, lanes;
	uint64_t clear, odd, known, fixed, serve_late;
	uint64_t asks, hash, back, set_size, from, complete;
	uint64_t apart, blind, align, ours, aged, unseen, shut;
	uint64_t widen, lose, lose_at, lose2, lose2_at;
	uint64_t slow, slow_by, slow_each, round_us;
	uint64_t other, mixed, changed, bad, disk, links, held;
	uint64_t lose_last, pause, lose_all, lose_all_times, back_after;
	uint64_t lose_main, lose_main_times;
} set = { .files = 512, .unit = 1000, .window = 1000000, .actual = UINT64_MAX,
    .lanes = 1, .lose_all_times = 1, .lose_main_times = 1 };

static struct sim sim;

static struct {
	struct sched *s;
	struct sched_env env;
	int	 put, cross, dirs, nfiles;
	uint64_t size;
	unsigned long rounds, requests, whole, ncut, failed, printed;
	unsigned long kept, kept_most;
	unsigned int width;		/* most lanes of one file */
	unsigned long shared;		/* parts that two lanes moved */
	unsigned long renewed, dressed;	/* files */
	uint64_t aged;
	uint64_t come, waited;		/* bytes that wait: now, at most */
	uint64_t ncome, pieces;		/* in pieces */
	struct sim_handles handles, handles_to;
	uint64_t torn, most_torn;
	uint64_t bytes;			/* under way, between two servers */
	unsigned long data[SCHED_CONNS_MAX];	/* requests */
	int	 refused;		/* an OP_SETSIZE_0 was */
	unsigned int lost;		/* a bit for each lane that was */
	int	 just_lost;		/* in this round trip */
	unsigned int main;		/* the main lane */
	uint64_t main_lost;		/* how often */
	uint64_t all_lost, back_at;	/* how often; when lanes come back */
	uint64_t hashing, most_hashing;	/* bytes, of all lanes */
	uint64_t due;			/* when the slow lane replies next */
	int	 interrupted;
	struct sched_entry *held[SIM_REQUESTS];	/* not yet released */
	uint64_t held_until[SIM_REQUESTS];
	size_t	 nheld, nreleased;
	uint64_t verified;		/* OP_VERIFY */
} r;

static uint64_t
max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct node *
new_node(struct node *dir, int children, int number)
{
	struct node *n = calloc(1, sizeof(*n));

	sim_must(n != NULL, "memory");
	n->dir = dir;
	n->children = children;
	n->number = number;
	n->cut = UINT64_MAX;
	if (dir != NULL)
		dir->below++;
	return n;
}

/* The requests of a verification; build-aux/same-requests reads the names. */
static const struct op_info verify_ops[] = {
	{ "verify_stat", SFTP_STAT, SFTP_ATTRS, .late = 0 },
	{ "verify_fstat", SFTP_FSTAT, SFTP_ATTRS, .late = 0 },
	{ "verify_hash", SFTP_EXTENDED, SFTP_EXTENDED_REPLY, .works = 1 },
	{ "readback_open", SFTP_OPEN, SFTP_HANDLE, .late = 0 },
	{ "readback_read", SFTP_READ, SFTP_DATA, .late = 0 },
	{ "readback_close", SFTP_CLOSE, SFTP_STATUS, .late = 0 },
	{ "verify_setsize", SFTP_SETSTAT, SFTP_STATUS, .on_main = 1,
	    .late_on_main = 1 },
};
#define VERIFY_STAT	(&verify_ops[0])
#define VERIFY_FSTAT	(&verify_ops[1])
#define VERIFY_HASH	(&verify_ops[2])
#define BACK_OPEN	(&verify_ops[3])
#define BACK_READ	(&verify_ops[4])
#define BACK_CLOSE	(&verify_ops[5])
#define VERIFY_SETSIZE	(&verify_ops[6])
#define VERIFY_OPS	(sizeof(verify_ops) / sizeof(*verify_ops))

/* Operations, and behind them those of a verification, to be counted */
static size_t
count_of(const struct sched_action *a)
{
	return a->op == OP_VERIFY_REQUEST ? OP_PRINT + 1 +
	    (size_t)(a->verify - verify_ops) : a->op;
}

/* The server */

static void
next_step(struct sched_entry *j, enum verify_next next,
    const struct op_info *request, uint64_t off, uint64_t len)
{
	verify_sched_next(r.s, j, &(struct verify_step){ .next = next,
	    .request = request, .read = BACK_READ, .off = off, .len = len });
}

static int
is_odd(const struct node *n)
{
	return set.odd != 0 && n->number % (int)set.odd == 0;
}

static int
fails(const struct sched_action *a)
{
	if (a->op == OP_SETSIZE_0 || a->op == OP_FSTAT_TYPE)
		return (a->op == OP_SETSIZE_0 && set.fixed) ||
		    is_odd(sched_info(a->entry).user) == (a->op ==
		    OP_SETSIZE_0);
	if (a->op == OP_SETSIZE_END || a->op == OP_SETSIZE_FINAL)
		return set.fixed != 0;
	if (a->op == OP_OPEN && set.blind && (set.apart >> a->conn & 1) != 0)
		return 1;
	if (a->op == OP_REMOVE_OWN)
		r.renewed++;
	if (a->op == OP_FSTAT_IDENTITY || a->op == OP_STAT_DEST_ON_HOST)
		return set.other != 0 && a->conn == set.other;
	if (a->op == OP_SAMPLE_HELPER)
		return set.mixed != 0 && a->conn == set.mixed;
	if (a->op == OP_SAMPLE_REOPENED)
		return set.changed != 0;
	if (a->op == OP_READ && set.bad > a->off &&
	    set.bad <= a->off + a->len)
		return 1;
	return
	    ((a->op == OP_OPEN || a->verify == BACK_OPEN) &&
	    !sim_may_open(&r.handles)) ||
	    (a->op == OP_OPEN_DEST && !sim_may_open(&r.handles_to)) ||
	    (a->op == OP_WRITE && set.full != 0 && r.handles.open > set.full);
}

static void
serve_read(struct node *n, struct reply *p)
{
	uint64_t size = set.actual == UINT64_MAX ? r.size : set.actual;
	uint64_t left = p->a.off < size ? size - p->a.off : 0;

	p->len = (uint32_t)(left < p->a.len ? left : p->a.len);
	if (set.shorten != 0 && p->len > set.shorten)
		p->len = (uint32_t)set.shorten;
	if (set.ragged && p->len > 0)
		p->len = 1 + (uint32_t)rand() % p->len;
	if (left == 0)
		p->result = RESULT_EOF;
	n->size = size;
}

/* The end comes in a reply of its own, as from a real server. */
static void
serve_names(struct node *n, struct reply *p)
{
	int left = n->children - n->named;

	if (set.names != 0 && left > (int)set.names)
		left = (int)set.names;
	n->named += left;
	p->len = (uint32_t)left;
	if (left == 0)
		p->result = RESULT_EOF;
}

/* The old bytes go, or new ones come. */
static void
serve_bytes(struct node *n, int empty, uint64_t len)
{
	int is_torn;

	if (is_odd(n)) {
		n->served += len;
		return;
	}
	if (empty)
		n->is_old = n->is_mixed = 0;
	n->is_mixed |= n->is_old && len > 0;
	n->served = empty ? 0 : n->served + len;
	is_torn = n->is_old ? n->served > 0 : n->served < r.size;
	r.torn += (uint64_t)(is_torn - n->is_torn);
	n->is_torn = is_torn;
}

static void
forget_bytes(struct node *n)
{
	sim_file_free(n->came);
	n->came = NULL;
	n->moved = 0;
}

/* The file of the target is empty, or will be by OP_SETSIZE_0. */
static void
serve_open_to(struct node *n, int once_more)
{
	sim_must(n->is_open && !n->is_open_to,
	    "a file is open at the source first");
	n->is_open_to = 1;
	n->is_emptied = once_more;
	sim_open(&r.handles_to);
	if (set.clear)
		serve_bytes(n, once_more || !n->clears, 0);
	forget_bytes(n);
}

static void
serve_data(struct node *n, const struct reply *p)
{
	if (set.clear && p->result == RESULT_OK &&
	    (p->a.op == OP_SETSIZE_0 || p->a.op == OP_WRITE))
		serve_bytes(n, p->a.op == OP_SETSIZE_0, p->a.len);
	if (p->result == RESULT_OK && (p->a.op == OP_SETSIZE_END ||
	    p->a.op == OP_SETSIZE_FINAL)) {
		n->is_old = 0;
		serve_bytes(n, 0, 0);
	}
}

/* What a lost lane may have changed is looked at, over lane 0. */
static void
see_late(struct node *n, struct reply *p)
{
	if (r.aged < set.aged) {
		r.aged++;
		p->result = RESULT_EOF;
	} else
		n->is_late = 0;
}

static void
serve(struct node *n, struct reply *p)
{
	int is_nth;

	if (p->a.op == OP_CLOSE)
		sim_close(&r.handles, &n->is_open);
	else if (p->a.verify == BACK_CLOSE)
		sim_close(&r.handles, &n->is_open_back);
	else if (p->a.op == OP_CLOSE_DEST)
		sim_close(&r.handles_to, &n->is_open_to);
	else if (p->a.op == OP_HELPER_CLOSE)
		n->joined &= ~(1U << p->a.conn);
	if (p->a.op == OP_STAT_DEST_ON_HOST && n->is_late && p->a.conn ==
	    r.main)
		see_late(n, p);
	is_nth = sim_serve(&sim, count_of(&p->a)) ||
	    (set.unseen && p->a.op == OP_STAT_DEST_ON_HOST) ||
	    (set.shut && p->a.op == OP_REOPEN);
	if (is_nth || fails(&p->a))
		p->result = RESULT_FAILED;
	else if (p->a.op == OP_OPEN_DEST || p->a.op == OP_OPEN_DEST_TRUNC)
		serve_open_to(n, p->a.op == OP_OPEN_DEST_TRUNC);
	else if (p->a.op == OP_HELPER_OPEN)
		n->joined |= 1U << p->a.conn;
	else if (p->a.op == OP_REOPEN) {
		sim_must(!n->is_open, "only what is lost is opened again");
		n->is_open = 1;
		sim_open(&r.handles);
	} else if (p->a.op == OP_OPEN || p->a.op == OP_OPENDIR) {
		n->is_open = 1;
		sim_open(&r.handles);
		if (set.clear && p->a.op == OP_OPEN && r.put && !n->over &&
		    (!set.in_place || sched_info(p->a.entry).must_open_trunc))
			serve_bytes(n, !n->clears, 0);
	} else if (p->a.op == OP_FSTAT_SIZE) {
		if (n->is_old || n->moved != p->a.off)
			p->result = RESULT_FAILED;
	} else if (p->a.verify == BACK_OPEN) {
		n->is_open_back = 1;
		sim_open(&r.handles);
	} else if (p->a.op == OP_READ || p->a.verify == BACK_READ)
		serve_read(n, p);
	else if (p->a.op == OP_READDIR)
		serve_names(n, p);
	else if (!set.serve_late)
		serve_data(n, p);
}

/* The caller */

static void
fill(struct node *n, uint64_t off, uint32_t len, enum sim_content content)
{
	uint64_t size = !r.put && set.actual != UINT64_MAX ? set.actual :
	    r.size;

	if (n->came == NULL)
		n->came = sim_file_new(0, size);
	if (off < size)
		sim_fill(n->came, off, len < size - off ? len : size - off,
		    content);
}

/* Bytes count only if none before them is missing at the end. */
static void
mark(struct node *n, uint64_t off, uint32_t len)
{
	fill(n, off, len, SIM_NEW);
	n->moved = n->came->frontier;
}

/* A reply behind bytes that wait makes no piece of its own. */
static void
count_piece(struct node *n, uint64_t off, uint32_t len)
{
	fill(n, off, len, SIM_OLD);
	r.ncome += off == 0 || n->came->map[off - 1] != SIM_OLD;
	r.pieces = max(r.pieces, r.ncome);
}

/* A file that is got is written in order. */
static void
take_data(struct node *n, const struct reply *p)
{
	static unsigned char data[1 << 20];
	struct sched_bytes w;
	uint32_t i;
	int more;

	if (r.put || r.cross || p->a.op != OP_READ || p->result != RESULT_OK)
		return;
	r.waited = max(r.waited, r.come += p->len);
	count_piece(n, p->a.off, p->len);
	for (i = 0; i < p->len; i++)
		data[i] = (unsigned char)((p->a.off + i) * 7);
	more = sched_data_in(r.s, p->a.id, data, p->len, &w);
	while (more == 1) {
		sim_must(w.off == n->written,
		    "what is got is written in order");
		for (i = 0; i < w.len; i += 97)
			sim_must(w.data[i] == (unsigned char)((w.off + i) * 7),
			    "bytes are the file's");
		if (set.disk > w.off && set.disk <= w.off + w.len) {
			more = sched_data_written(r.s, p->a.entry, 0, &w);
			sched_fail(p->a.entry);
			continue;
		}
		n->written += w.len;
		r.come -= w.len;
		r.ncome--;
		mark(n, w.off, w.len);
		more = sched_data_written(r.s, p->a.entry, 1, &w);
	}
	sim_must(more == 0, "memory");
}

/* Leaves out the hole. Returns how much is sent: what comes before it. */
static uint32_t
send_data(struct node *n, struct reply *p)
{
	uint64_t off = p->a.off, left;

	if (off >= set.hole && off < set.hole_end) {
		off = set.hole_end < r.size ? set.hole_end : r.size;
		mark(n, p->a.off, (uint32_t)(off - p->a.off));
	}
	left = off < r.size ? r.size - off : 0;
	if (off < set.hole && left > set.hole - off)
		left = set.hole - off;
	if (left > p->a.len)
		left = p->a.len;
	p->a.off = off;
	p->a.len = (uint32_t)left;
	sched_sent(r.s, p->a.id, off, (uint32_t)left);
	return (uint32_t)left;
}

/* Returns 1 if others of the file may be under way when it is sent. */
static int
is_last(enum sched_op op)
{
	return op == OP_SETSIZE_FINAL || op == OP_FSETSTAT || op ==
	    OP_CLOSE_DEST;
}

/* What a READ or WRITE has under way */
static uint64_t
bytes_of(const struct sched_action *a)
{
	uint64_t left = a->off < r.size ? r.size - a->off : 0;

	if (!r.cross || (a->op != OP_READ && a->op != OP_WRITE))
		return 0;
	return left < a->len ? left : a->len;
}

/* A file that is checked */

static int
is_ask(const struct sched_action *a)
{
	return a->verify != NULL && a->verify != VERIFY_FSTAT;
}

static void
check_sent(struct node *n, const struct sched_action *a)
{
	sim_must(!is_ask(a) || !n->is_open,
	    "a check comes before the file is opened, or when it is closed");
	n->seen |= a->verify == VERIFY_FSTAT;
	sim_must(a->op != OP_READ || set.asks == 0 || r.put || n->seen ||
	    n->lost, "a source is looked at before its first byte is read");
	if (a->verify != VERIFY_HASH)
		return;
	r.hashing += a->len;
	r.most_hashing = max(r.most_hashing, r.hashing);
	next_step(a->entry, VERIFY_NEXT_LATER, NULL, 0, 0);
}

static void
check_answered(struct node *n, const struct reply *p)
{
	int is_back = p->a.verify == BACK_OPEN || p->a.verify == BACK_READ;

	n->is_asked &= !is_ask(&p->a) || is_back;
	n->is_short |= is_back && p->result != RESULT_OK;
	if (p->a.verify == BACK_OPEN && p->result == RESULT_OK)
		next_step(p->a.entry, VERIFY_NEXT_READ, BACK_CLOSE, 0, r.size);
	else if (p->a.verify == BACK_OPEN)
		n->is_asked = 0;
	if (p->a.verify == VERIFY_HASH)
		r.hashing -= p->a.len;
	if (p->a.verify == BACK_READ && p->result == RESULT_OK)
		n->back += p->len;
}

static void
begin_target(struct sched_entry *j, struct node *n, int truncate_late)
{
	struct sched_begin b = { .exists_ours = (int)set.ours,
	    .truncate_late = truncate_late };

	n->over = n->clears = 0;
	if (!r.put && !truncate_late)
		return;
	sched_begin(r.s, j, &b);
	n->over = b.no_truncate;
	n->clears = b.truncates_late;
}

/* Nothing more is asked. */
static void
conclude(struct sched_entry *j, struct node *n)
{
	sim_must(!set.back || n->is_short || n->lost ||
	    (n->back == r.size && sched_info(j).verify_read_len == r.size),
	    "all is read back, once");
	sim_must(!set.back || sched_info(j).verify_read_len <= n->back,
	    "no more is read back than was received");
	n->asked = 0;
	n->back = 0;
	if (n->is_copied)
		return;
	n->is_copied = 1;
	begin_target(j, n, set.clear && !set.in_place && set.from == 0);
	if (set.complete != 0 && n->number % (int)set.complete == 0) {
		next_step(j, VERIFY_NEXT_COMPLETE, NULL, 0, 0);
		n->moved = n->cut = set.actual == UINT64_MAX ? r.size :
		    set.actual;
		n->served = n->moved;
	} else {
		next_step(j, VERIFY_NEXT_COPY_FROM, r.put ? NULL : VERIFY_FSTAT,
		    set.from, 0);
		if (set.from > 0)
			mark(n, 0, (uint32_t)set.from);
		n->written = set.from;
	}
}

/* Returns the next request of the verification, or NULL after the last one. */
static const struct op_info *
next_question(const struct node *n)
{
	int truncates = set.set_size && r.put && !n->is_copied;
	unsigned int i = n->asked;

	if (i < set.asks)
		return VERIFY_STAT;
	i -= (unsigned int)set.asks;
	if (truncates && i-- == 0)
		return VERIFY_SETSIZE;
	if (set.hash != 0 && i-- == 0)
		return VERIFY_HASH;
	return set.back && i == 0 ? BACK_OPEN : NULL;
}

static void
check(struct sched_entry *j, struct node *n)
{
	const struct op_info *request;

	if (sched_info(j).verify_request_lost) {
		n->asked -= (unsigned int)n->is_asked;
		n->back = n->is_asked ? 0 : n->back;
		n->is_asked = 0;
		if (n->is_open_back)
			sim_close(&r.handles, &n->is_open_back);
	}
	if (n->is_asked || r.interrupted)
		return;
	if ((request = next_question(n)) == NULL) {
		conclude(j, n);
		return;
	}
	n->asked++;
	n->is_asked = 1;
	next_step(j, VERIFY_NEXT_REQUEST, request,
	    request == VERIFY_SETSIZE ? set.from : 0,
	    request == VERIFY_HASH ? set.hash : 0);
}

/* What is sent may be done when the lane is lost and others did its work. */
static void
check_late(const struct node *n, const struct sched_action *a)
{
	static const enum sched_op by_name[] = { OP_SETSIZE_0, OP_SETSTAT,
	    OP_REMOVE_OWN };
	size_t i;

	for (i = 0; i < sizeof(by_name) / sizeof(*by_name); i++)
		sim_must(!r.put || a->conn == r.main || a->op != by_name[i],
		    "what does harm when it is late goes over the main lane");
	sim_must(a->conn == r.main || a->verify != VERIFY_SETSIZE,
	    "what does harm when it is late goes over the main lane");
	sim_must(!r.put || a->conn == r.main || a->op != OP_SETSIZE_FINAL ||
	    n->over, "what does harm when it is late goes over the main lane");
	sim_must(!r.put || a->conn == r.main || a->op != OP_OPEN || n->over,
	    "a lane that may be lost empties no file");
}

/* A file that several lanes move is cut at boundaries. */
static void
note_part(struct node *n, const struct sched_action *a)
{
	uint64_t part = a->off / set.align + 1;

	sim_must(sched_file_conns(r.s, a->entry) < 2 || a->off < n->reached ||
	    a->off % set.align + a->len <= set.align,
	    "a request stays in its part, unless it is sent again");
	n->reached = max(n->reached, a->off + a->len);
	r.shared += n->part == part && n->part_lane != a->conn;
	n->part = part;
	n->part_lane = a->conn;
}

/* Round trips by which a reply of the slow lane is late */
static uint64_t
slowness(const struct sched_action *a)
{
	if (set.slow_each == 0 || (a->op != OP_READ && a->op != OP_WRITE))
		return set.slow_by;
	r.due = max(r.due, r.rounds) + set.slow_each;
	return set.slow_by + r.due - r.rounds - 1;
}

static void
trace(const struct sched_action *a)
{
	const struct node *n = sched_info(a->entry).user;

	if (prints_trace)
		printf("%s %d c%u %" PRIu64 "+%u\n", op_info_of(a)->name,
		    n->number, a->conn, a->off, a->len);
}

static void
send(const struct sched_action *a)
{
	struct node *n = sched_info(a->entry).user;
	struct reply p = { .a = *a };

	trace(a);

	sim_must(n->dir == NULL || n->dir->is_made,
	    "a child follows its directory");
	sim_must((a->op != OP_CLOSE && !is_last(a->op)) || n->under_way ==
	    (set.handles == 0 && (!r.cross || a->op != OP_CLOSE) ? 0 :
	    n->last),
	    "a file is cut and closed after the last reply to its data");
	sim_must(a->op != OP_SETSTAT || n->below == 0 ||
	    (set.interrupt && n->begun == 0),
	    "a directory is left after all below");
	sim_must(a->op != OP_SETSIZE_0 || !r.refused,
	    "what was refused once is not asked for again");
	sim_must(n->under_way == 0 || n->lane == a->conn || set.widen ||
	    n->lost || a->op == OP_STAT_DEST_ON_HOST, "a file keeps its lane");
	sim_must((a->op != OP_READ && a->op != OP_WRITE) || r.cross ||
	    (n->joined >> a->conn & 1) || (n->is_open &&
	    a->conn == sched_info(a->entry).owner),
	    "a lane moves what it has open");
	if (set.align != 0 && a->op == OP_READ)
		note_part(n, a);
	if (a->conn == sched_info(a->entry).owner)
		n->lane = a->conn;
	sim_must(a->op != OP_REMOVE_OWN || n->under_way == 0,
	    "a file is removed when nothing of it is under way");
	sim_must(a->conn < set.lanes && !(r.lost >> a->conn & 1),
	    "a lane that is not up has no file");
	r.width = (unsigned int)max(r.width, sched_file_conns(r.s, a->entry));
	r.data[a->conn] += a->op == OP_READ || a->op == OP_WRITE;
	if (a->op == OP_SETSIZE_FINAL || a->op == OP_SETSIZE_END)
		n->cut = a->off;
	if (a->op == OP_WRITE && r.put && send_data(n, &p) == 0)
		return;
	check_sent(n, a);
	check_late(n, a);
	r.dressed += a->op == OP_SETSTAT && sched_info(a->entry).kind ==
	    KIND_FILE;
	n->under_way++;
	n->last += is_last(a->op);
	r.requests++;
	r.bytes += bytes_of(a);
	sim_must(r.bytes <= set.window || r.bytes <= set.unit,
	    "no more bytes are under way than the window has");
	serve(n, &p);
	sim_push(&sim, a->conn, &p, sizeof(p))->wait =
	    sim_wait(&sim, count_of(a)) +
	    (a->conn == set.slow ? slowness(a) : 0);
}

/* Between two servers: what was read is written. */
static void
relay(const struct reply *p)
{
	struct sched_action write;
	int sent;

	if (!r.cross || p->a.op != OP_READ || p->len == 0)
		return;
	do {
		sent = sched_relay(r.s, p->a.entry, p->a.off, p->len, &write);
		sim_must(sent != -1, "memory");
		if (sent == 1)
			send(&write);
	} while (sent == 1 && write.op == OP_SETSIZE_0);
}

static void
answer(struct reply *p)
{
	struct node *n = sched_info(p->a.entry).user;
	struct sched_action found;
	struct sched_reply told = SCHED_REPLY_INIT;
	int again;

	sim_must(sched_find(r.s, p->a.id, &found) == 0 &&
	    found.entry == p->a.entry && found.op == p->a.op &&
	    found.off == p->a.off,
	    "a request is found by its ID");
	if (set.serve_late)
		serve_data(n, p);
	n->under_way--;
	n->last -= is_last(p->a.op);
	r.bytes -= bytes_of(&p->a);
	relay(p);
	if (r.cross && p->result == RESULT_OK &&
	    (p->a.op == OP_MKDIR || p->a.op == OP_STAT_DEST))
		n->is_made = 1;
	take_data(n, p);
	check_answered(n, p);
	if (p->result == RESULT_OK && p->a.op == OP_WRITE)
		mark(n, p->a.off, p->a.len);
	if (p->result == RESULT_OK && p->a.op == OP_READDIR)
		n->known = (int)max((uint64_t)n->known, (uint64_t)(n->heard +=
		    (int)p->len));
	if (p->a.op == OP_STAT && p->result == RESULT_OK &&
	    sched_info(p->a.entry).kind == KIND_LINK)
		told.kind = KIND_FILE;
	told.size = r.size;
	if (r.put && set.known != 0 && set.asks == 0 &&
	    (p->a.op == OP_OPEN || p->a.op == OP_OPEN_EXCL))
		told.old_size = set.known - 1;
	told.result = p->result;
	told.len = p->len;
	again = sched_reply(r.s, p->a.id, &told);
	sim_must(again >= 0, "a good reply is good");
	r.refused |= p->a.op == OP_FSTAT_TYPE && p->result == RESULT_FAILED;
	n->has_failed |= p->result == RESULT_FAILED && !again &&
	    (p->a.op == OP_STAT || p->a.op == OP_STAT_DEST ||
	    p->a.op == OP_OPENDIR || p->a.op == OP_READDIR);
	sim_must(sched_find(r.s, p->a.id, &found) == -1, "an ID is used once");
	sim_must(sched_reply(r.s, p->a.id, &told) == -1,
	    "a second reply is refused");
}

/* The request is lost, with its reply. */
static void
lose_request(const struct sched_action *a, int is_main)
{
	struct node *n = sched_info(a->entry).user;

	n->under_way--;
	n->last -= is_last(a->op);
	n->is_late |= r.put && sched_info(a->entry).kind == KIND_FILE &&
	    (a->op == OP_WRITE || a->op == OP_SETSIZE_END ||
	    a->op == OP_SETSIZE_FINAL || a->op == OP_FSETSTAT ||
	    (is_main && (a->op == OP_OPEN || a->op == OP_SETSIZE_0 ||
	    a->verify == VERIFY_SETSIZE || a->op == OP_REMOVE_OWN)));
	r.hashing -= a->verify == VERIFY_HASH ? a->len : 0;
	r.bytes -= bytes_of(a);
}

static void
lose_requests(unsigned int lane)
{
	struct reply p;
	size_t i;

	for (i = 0; i < sim.n; i++) {
		if (lane != SCHED_CONNS_ALL && sim.queue[i].link != lane)
			continue;
		memcpy(&p, sim.queue[i].body, sizeof(p));
		lose_request(&p.a, lane == SCHED_CONNS_ALL || lane == r.main);
	}
}

static void
set_lanes(unsigned int up)
{
	r.env.established = r.env.writable = up;
	sched_update(r.s, &r.env);
}

/* A directory that is listed is listed again, from its first name on. */
static void
lose_dir(struct node *n)
{
	n->named = n->heard = 0;
	if (n->is_open)
		sim_close(&r.handles, &n->is_open);
}

/* Returns the lane that would be the main one without it; set.lanes: none. */
static unsigned int
other_main(void)
{
	unsigned int i = 0;

	while (i < set.lanes && (i == r.main || ((r.lost | set.apart) >> i &
	    1) != 0 || i == set.other || i == set.mixed))
		i++;
	return i;
}

/* The lane is lost, with the handles that it had, and what waits there. */
static void
lose(unsigned int lane)
{
	struct node *n;
	struct sched_entry *j;

	unsigned int new_main = lane == r.main ? other_main() : r.main;

	if ((r.lost >> lane & 1) != 0 || new_main == set.lanes)
		return;
	lose_requests(lane);
	sim_lose(&sim, lane);
	for (j = sched_next_in_order(r.s, NULL); j != NULL;
	    j = sched_next_in_order(r.s, j)) {
		n = sched_info(j).user;
		if (sched_info(j).kind != KIND_FILE) {
			if (lane == r.main)
				lose_dir(n);
			continue;
		}
		n->lost |= sched_info(j).owner == lane ||
		    (n->joined >> lane & 1);
		n->joined &= ~(1U << lane);
		if (sched_info(j).owner == lane && n->is_open)
			sim_close(&r.handles, &n->is_open);
	}
	r.lost |= 1U << lane;
	r.just_lost = 1;
	r.main = new_main;
	sched_conn_lost(r.s, lane, r.main);
	/* Another lane that had it is its own now. */
	for (j = sched_next_in_order(r.s, NULL); j != NULL;
	    j = sched_next_in_order(r.s, j)) {
		n = sched_info(j).user;
		if (sched_info(j).kind == KIND_FILE && !n->is_open &&
		    (n->joined >> sched_info(j).owner & 1)) {
			n->joined &= ~(1U << sched_info(j).owner);
			n->is_open = 1;
			sim_open(&r.handles);
		}
	}
	set_lanes(((1U << set.lanes) - 1) & ~r.lost);
}

/* All lanes are lost, and all handles of both servers. */
static void
lose_all(void)
{
	struct node *n;
	struct sched_entry *j;

	lose_requests(SCHED_CONNS_ALL);
	sim.n = 0;
	for (j = sched_next_in_order(r.s, NULL); j != NULL;
	    j = sched_next_in_order(r.s, j)) {
		n = sched_info(j).user;
		n->lost = 1;
		n->joined = 0;
		n->named = n->heard = 0;
		if (n->is_open)
			sim_close(&r.handles, &n->is_open);
		if (n->is_open_to)
			sim_close(&r.handles_to, &n->is_open_to);
		if (n->is_open_back)
			sim_close(&r.handles, &n->is_open_back);
	}
	r.just_lost = 1;
	r.lost = ((1U << set.lanes) - 1) & ~1U;
	r.all_lost++;
	r.back_at = r.rounds + set.back_after;
	r.main = 0;
	sched_conn_lost(r.s, SCHED_CONNS_ALL, 0);
	set_lanes(1);
}

static void
lose_conns(void)
{
	if (r.all_lost > 0 && r.lost != 0 && r.rounds >= r.back_at) {
		r.lost = 0;
		set_lanes((1U << set.lanes) - 1);
	}
	if (set.lose_all != 0 && r.all_lost < set.lose_all_times &&
	    r.rounds > 0 && r.rounds % set.lose_all == 0)
		lose_all();
	if (set.lose_main != 0 && r.main_lost < set.lose_main_times &&
	    r.rounds > 0 && r.rounds % set.lose_main == 0) {
		r.main_lost++;
		lose(r.main);
	}
	if (set.lose != 0 && r.rounds == set.lose_at)
		lose((unsigned int)set.lose);
	if (set.lose2 != 0 && r.rounds == set.lose2_at)
		lose((unsigned int)set.lose2);
}

static void
print_state(void *arg, void *user, const char *line)
{
	const struct node *n = user;

	(void)arg;
	printf("round %lu, file %d: %s\n", r.rounds, n->number, line);
}

/* Also by atexit(3), in a copy that has not ended */
static void
dump(void)
{
	if (r.s != NULL)
		sched_dump(r.s, print_state, NULL);
}

static void
answer_all(void)
{
	struct reply p;
	size_t n, i;

	if (!set.lose_last)
		lose_conns();
	sim_must(!set.unseen || r.rounds < 5000, "what is refused ends");
	n = sim_round(&sim, set.order);
	if (r.torn > r.most_torn)
		r.most_torn = r.torn;
	for (i = 0; i < n; i++) {
		memcpy(&p, sim.now[i].body, sizeof(p));
		answer(&p);
	}
	if (set.lose_last)
		lose_conns();
	r.env.now_us = ++r.rounds * set.round_us;
	sched_update(r.s, &r.env);
	while (r.nreleased < r.nheld && !r.interrupted &&
	    r.held_until[r.nreleased] <= r.rounds)
		sched_hold(r.s, r.held[r.nreleased++], 0);
	if (prints_dump)
		dump();
	if (r.rounds == set.interrupt) {
		r.interrupted = 1;
		sched_interrupt(r.s);
	}
}

static void
end(struct sched_entry *j, struct node *n)
{
	uint64_t size = set.actual == UINT64_MAX ? r.size : set.actual;

	sim_must(n->under_way == 0, "a job ends after its last reply");
	if (sched_info(j).kind == KIND_DIR && r.put) {
		n->is_made = 1;
		n->known = n->children;
	}
	sim_must(sched_info(j).kind != KIND_DIR_END || n->below == 0 ||
	    (set.interrupt && n->begun == 0),
	    "a directory is left after all below");
	sim_must(sched_info(j).kind != KIND_DIR_END || n->has_failed ||
	    r.interrupted || n->added == n->children,
	    "a directory gets each child once");
	if (n->dir != NULL && (sched_info(j).kind != KIND_DIR ||
	    (n->has_failed && n->below == 0)))
		n->dir->below--;
	if (sched_info(j).kind != KIND_FILE)
		return;
	n->dir->begun--;
	sim_must(!n->is_open && !n->is_open_to && n->joined == 0,
	    "what ends is closed");
	sim_must(!n->is_late || !sched_info(j).is_whole,
	    "what a lost lane may still change is looked at");
	sim_must(!n->is_old || !sched_info(j).is_whole,
	    "what is whole has no old end");
	sim_must(!n->is_mixed || set.in_place || n->over,
	    "new bytes come where no old ones are");
	sim_must(!set.clear || !sched_info(j).is_whole || n->served == size ||
	    ((n->lost || is_odd(n)) && n->served > size), "no bytes are lost");
	if (n->is_emptied) {
		sim_must(n->moved == 0 && !sched_info(j).is_whole,
		    "what is emptied was not whole");
		r.ncut++;
	} else if (n->moved == size && sched_info(j).is_whole &&
	    (!r.put || (!set.in_place && set.hole_end == 0) ||
	    n->cut == size || (set.known != 0 && set.known <= size + 1) ||
	    sched_info(j).must_open_trunc))
		r.whole++;
	else if (n->moved < size && !sched_info(j).is_whole && r.put &&
	    (n->cut == n->moved || (set.hole_end && n->cut < n->moved)))
		r.ncut++;
	else
		r.failed++;
}

static void
hold(struct sched_entry *j)
{
	sched_hold(r.s, j, 1);
	r.held[r.nheld] = j;
	r.held_until[r.nheld++] = r.rounds + set.held;
}

static void
add_child(struct sched_entry *leave, struct node *n)
{
	int is_root = n->dir == NULL;
	struct sched_entry *j;
	struct node *child;

	int is_link;

	sim_must(!n->has_failed, "nothing is copied after a listing failed");
	if (n->added < n->known) {
		is_link = !is_root && !r.put && !r.cross && set.links != 0 &&
		    (n->number + 1 + n->added) % (int)set.links == 0;
		child = new_node(n, is_root ? r.nfiles : 0, n->number + 1 +
		    n->added * (is_root ? r.nfiles + 1 : 1));
		n->added++;
		j = sched_add(r.s, leave, is_root ? KIND_DIR : is_link ?
		    KIND_NAME : KIND_FILE, child, r.put ? 0 : r.size);
		sim_must(j != NULL, "memory");
		if (!is_root && set.held != 0 && !r.interrupted)
			hold(j);
		if (++r.kept > r.kept_most)
			r.kept_most = r.kept;
	}
	if (n->added == n->known)
		sched_children(r.s, leave, CHILDREN_COMPLETE);
}

static void
print(struct sched_entry *j, struct node *n)
{
	if (sched_info(j).kind == KIND_DIR_END)
		sim_must(n->below == 0 || set.interrupt,
		    "the end of a directory comes last");
	else
		sim_must((unsigned long)n->number > r.printed,
		    "texts come in walk order");
	if (sched_info(j).kind != KIND_DIR_END)
		r.printed = (unsigned long)n->number;
	if (sched_info(j).kind != KIND_DIR) {
		r.kept--;
		forget_bytes(n);
		free(n);
	}
}

static void
begin(struct sched_entry *j, struct node *n)
{
	sched_set_size(r.s, j, r.size);
	n->is_made = !r.put && !r.cross;
	if (sched_info(j).kind != KIND_FILE)
		return;
	n->dir->begun++;
	n->is_old = set.clear && !is_odd(n);
	if (set.asks != 0) {
		sim_must(verify_sched_begin(r.s, j) == 0, "memory");
		return;
	}
	begin_target(j, n, set.clear && !set.in_place);
}

static void
act(const struct sched_action *a)
{
	struct node *n = sched_info(a->entry).user;

	if (a->op < OP_BEGIN) {
		send(a);
		return;
	}
	trace(a);
	if (a->op == OP_BEGIN)
		begin(a->entry, n);
	else if (a->op == OP_VERIFY)
		check(a->entry, n);
	else if (a->op == OP_DATA_DONE)
		sim_must(n->under_way == 0,
		    "data is settled after its last reply");
	else if (a->op == OP_RESTART) {
		sim_must(!n->is_open && !n->is_open_to,
		    "what begins again is closed");
		sim_must(!sched_info(a->entry).has_failed || r.interrupted,
		    "what begins again has not failed");
		sim_must(n->came == NULL || n->lost || n->is_emptied ||
		    (r.put ? set.in_place || n->over || n->cut <= n->moved :
		    !r.cross), "what begins again has no hole");
		n->dir->begun--;
		n->cut = UINT64_MAX;
		forget_bytes(n);
		n->written = 0;
		n->served = is_odd(n) ? n->served : 0;
		r.torn -= (uint64_t)n->is_torn;
		n->is_torn = n->is_mixed = 0;
		n->asked = 0;
		n->is_asked = n->is_copied = n->seen = 0;
		n->back = 0;
	} else if (a->op == OP_END)
		end(a->entry, n);
	else if (a->op == OP_ADD_CHILDREN)
		add_child(a->entry, n);
	else
		print(a->entry, n);
}

/*
 * Returns 1 if the loop goes to the replies before it asks for more, as that of
 * the hook does when a verification has hashed local data.
 */
static int
pauses(enum sched_op op)
{
	if (op != OP_VERIFY || set.pause == 0 || sim.n == 0 || ++r.verified %
	    set.pause != 0)
		return 0;
	sched_local_done(r.s);
	return 1;
}

static void
copy(const char *way, int dirs, int nfiles, uint64_t size)
{
	struct sched_conf conf = { .in_place = set.in_place != 0,
	    .preserve = set.preserve != 0,
	    .keep_found = set.keep_found != 0, .files = (uint32_t)set.files,
	    .unit = (uint32_t)set.unit, .first_id = UINT32_MAX - 10 };
	struct sched_action a;
	unsigned int i;

	memset(&r, 0, sizeof(r));
	sim_reset(&sim);
	r.handles.allowed = set.strict;
	r.handles_to.allowed = set.strict_to;
	conf.put = r.put = strcmp(way, "put") == 0;
	conf.cross = r.cross = strcmp(way, "cross") == 0;
	r.dirs = dirs;
	r.nfiles = nfiles;
	r.size = size;
	sim_must((r.s = sched_new(&conf)) != NULL, "memory");
	r.env = (struct sched_env){ .handle_limit = set.handles,
	    .window = set.window, .stripe_min = set.widen,
	    .other_hosts = (unsigned int)set.apart,
	    .align = (uint32_t)set.align,
	    .per_conn_limit = set.round_us != 0,
	    .established = (1U << set.lanes) - 1,
	    .writable = (1U << set.lanes) - 1 };
	sched_update(r.s, &r.env);
	sim_must(sched_add(r.s, NULL, KIND_DIR, new_node(NULL, dirs, 1), 0) !=
	    NULL, "memory");
	r.kept = 1;
	for (;;) {
		while (sched_next(r.s, &a) == 1) {
			act(&a);
			if (pauses(a.op))
				break;
		}
		if (sched_is_done(r.s))
			break;
		sim_must(sim.n > 0 || r.just_lost || r.nreleased < r.nheld,
		    "it goes on until all is done");
		r.just_lost = 0;
		answer_all();
	}
	sim_must(r.handles.open == 0 && r.handles_to.open == 0 &&
	    sched_stats(r.s).active == 0, "all is closed");
	for (i = 0; i < SCHED_CONNS_MAX; i++)
		sim_must(sched_stats(r.s).conn_files[i] == 0,
		    "all have left their lanes");
	printf("rounds=%lu requests=%lu most=%" PRIu64 " whole=%lu cut=%lu "
	    "failed=%lu entries=%lu limit=%u torn=%" PRIu64, r.rounds,
	    r.requests, r.handles.most, r.whole, r.ncut, r.failed,
	    r.kept_most, sched_stats(r.s).limit, r.most_torn);
	if (set.hash != 0)
		printf(" hashing=%" PRIu64, r.most_hashing);
	if (set.widen != 0)
		printf(" conns=%u waited=%" PRIu64 " pieces=%" PRIu64, r.width,
		    r.waited, r.pieces);
	if (set.align != 0)
		printf(" shared=%lu", r.shared);
	if (set.ours || set.aged != 0)
		printf(" removed=%lu mtimes_set=%lu", r.renewed, r.dressed);
	for (i = 0; i < set.lanes; i++)
		printf(" conn%u=%lu", i, r.data[i]);
	putchar('\n');
	sched_free(r.s);
	r.s = NULL;
}

static uint64_t *
setting(const char *key)
{
	static const struct {
		const char *key;
		uint64_t *value;
	} keys[] = { { "handles", &set.handles }, { "strict", &set.strict },
	    { "strict_to", &set.strict_to },
	    { "full", &set.full }, { "short", &set.shorten },
	    { "ragged", &set.ragged },
	    { "actual", &set.actual }, { "order", &set.order },
	    { "names", &set.names }, { "hole", &set.hole },
	    { "hole_end", &set.hole_end },
	    { "interrupt", &set.interrupt }, { "files", &set.files },
	    { "unit", &set.unit }, { "window", &set.window },
	    { "conns", &set.lanes }, { "asks", &set.asks },
	    { "hash", &set.hash }, { "read_back", &set.back },
	    { "set_size", &set.set_size },
	    { "from", &set.from }, { "complete", &set.complete },
	    { "stripe_min", &set.widen }, { "other_hosts", &set.apart },
	    { "exists_ours", &set.ours }, { "wrong_mtime", &set.aged },
	    { "other_open_fails", &set.blind }, { "align", &set.align },
	    { "lose", &set.lose },
	    { "stat_fails", &set.unseen }, { "open_fails", &set.shut },
	    { "lose2", &set.lose2 }, { "lose2_at", &set.lose2_at },
	    { "lose_at", &set.lose_at }, { "slow", &set.slow },
	    { "slow_by", &set.slow_by }, { "slow_each", &set.slow_each },
	    { "round_us", &set.round_us }, { "other", &set.other },
	    { "mixed", &set.mixed }, { "changed", &set.changed },
	    { "bad", &set.bad }, { "disk", &set.disk },
	    { "lose_last", &set.lose_last },
	    { "lose_all", &set.lose_all },
	    { "lose_main", &set.lose_main },
	    { "lose_main_times", &set.lose_main_times },
	    { "lose_all_times", &set.lose_all_times },
	    { "back_after", &set.back_after }, { "pause", &set.pause },
	    { "links", &set.links }, { "held", &set.held },
	    { "late_truncate", &set.clear }, { "device_every", &set.odd },
	    { "known", &set.known },
	    { "no_truncate", &set.fixed },
	    { "serve_late", &set.serve_late },
	    { "in_place", &set.in_place }, { "preserve", &set.preserve },
	    { "keep_found", &set.keep_found } };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(key, keys[i].key) == 0)
			return keys[i].value;
	}
	errx(1, "unknown setting %s", key);
}

static size_t
number_of(const char *op)
{
	size_t i;

	for (i = 1; i < OP_BEGIN; i++) {
		if (strcmp(op, op_info((enum sched_op)i)->name) == 0)
			return i;
	}
	for (i = 0; i < VERIFY_OPS; i++) {
		if (strcmp(op, verify_ops[i].name) == 0)
			return OP_PRINT + 1 + i;
	}
	errx(1, "unknown request %s", op);
}

int
main(int argc, char **argv)
{
	char line[200], word[20], key[20];
	int dirs, nfiles;
	uint64_t n, rounds;

	prints_trace = argc > 1 && strcmp(argv[1], "-t") == 0;
	prints_dump = argc > 1 && strcmp(argv[1], "-d") == 0;
	if (prints_dump)
		atexit(dump);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "set %19s %" SCNu64, key, &n) == 2)
			*setting(key) = n;
		else if (sscanf(line, "fail %19s %" SCNu64, key, &n) == 2)
			sim.fail[number_of(key)] = n;
		else if (sscanf(line, "late %19s %" SCNu64 " %" SCNu64, key,
		    &n, &rounds) == 3) {
			sim.late[number_of(key)] = n;
			sim.late_rounds[number_of(key)] = rounds;
		} else if (sscanf(line, "%19s %d %d %" SCNu64, word, &dirs,
		    &nfiles, &n) == 4)
			copy(word, dirs, nfiles, n);
		else
			errx(1, "what is: %s", line);
	}
	return 0;
}
