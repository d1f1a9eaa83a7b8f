/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * plan-replay: a tree that is copied to, from or between servers of text.
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
 *       names N     a READDIR returns at most N names; 0: all
 *       actual N    bytes that the files really have
 *       hole N, hole_end N   a put leaves out the bytes between these
 *       order N     replies come in order (0), backwards (1), shuffled (N)
 *       interrupt N the user interrupts after N round trips
 *       lanes N     files go over N lanes
 *       held N      the caller copies each Nth file itself; 0: none
 *       declined 0|1   ... but then leaves it to requests
 *       release N   nothing is held any more after N round trips
 *       clear 0|1   a put is over longer old files, which are emptied by
 *                   PLAN_CLEAR unless it is in place; likewise at the target
 *       odd N       each Nth file there is a device; 0: none
 *       fixed 0|1   the server empties no file that is open
 *       serve_late 0|1   it empties and writes in the order of its replies
 *       files N, unit N, window N, in_place 0|1, preserve 0|1,
 *       keep_found 0|1
 *   fail OP N      the Nth request OP fails, whenever it is sent
 *   late OP N ROUNDS   the reply to the Nth request OP comes so much later
 *   put|get|cross DIRS FILES SIZE   copy, and report
 *
 * The server answers only when nothing more is sent, so a round is a round
 * trip. The report: rounds, requests, most files open at once, files that are
 * whole, cut (with no hole below the cut) or emptied, and failed, files that
 * the caller copied, jobs that were kept at once (added and not printed), most
 * files at the end of a round that are neither old nor new, and the data
 * requests of each lane. A promise of plan.h that is broken ends the run with
 * its name.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define REQUESTS_MAX	20000

static const char *const op_names[] = { "", "stat", "mkdir", "opendir",
    "readdir", "open", "read", "write", "clear", "cut", "fstat",
    "truncate", "attrs", "close", "setstat", "stat_to", "open_to", "empty",
    "close_to" };
#define OPS	(sizeof(op_names) / sizeof(*op_names))

/* What the caller of the scheduler knows of a job */
struct node {
	int	 number;		/* in walk order, from 1 */
	struct node *dir;
	int	 children, added;	/* of a directory */
	int	 named, known;		/* of them, by the server; to us */
	int	 below;			/* children that are not done */
	int	 begun;			/* files among them that have begun */
	int	 is_made, is_open, has_failed;
	int	 is_open_to, is_emptied;	/* at the target */
	int	 under_way;		/* requests */
	int	 last;			/* of them, TRUNCATE and ATTRS */
	unsigned int lane;
	uint64_t size;			/* of the server's file */
	uint64_t moved, cut;		/* bytes without a hole; truncated to */
	unsigned char *map;		/* which units came */
	int	 clears;		/* by PLAN_CLEAR */
	int	 is_old;		/* at the server: old bytes are there */
	int	 is_torn, is_mixed;	/* neither old nor new; both at once */
	uint64_t served;		/* new bytes there */
};

struct reply {
	struct plan_action a;
	enum plan_result result;
	uint32_t len;
	uint64_t wait;			/* round trips */
};

static struct {
	uint64_t handles, strict, strict_to, full, shorten, actual, order;
	uint64_t interrupt, names, hole, hole_end, held, declined, release;
	uint64_t files, unit, window, in_place, preserve, keep_found, lanes;
	uint64_t clear, odd, fixed, serve_late;
	uint64_t fail[OPS], late[OPS], late_rounds[OPS];
} set = { .files = 512, .unit = 1000, .window = 1000000, .actual = UINT64_MAX,
    .lanes = 1 };

static struct {
	struct plan *s;
	int	 put, cross, dirs, nfiles;
	uint64_t size;
	struct reply queue[REQUESTS_MAX];
	size_t	 nqueue;
	uint64_t seen[OPS];
	unsigned long rounds, requests, whole, ncut, failed, printed, copied;
	unsigned long kept, kept_most;
	uint64_t open, open_to, most, torn, most_torn;
	uint64_t bytes;			/* under way, between two servers */
	unsigned long data[PLAN_LANES];	/* requests */
	int	 refused;		/* an PLAN_CLEAR was */
} r;

static void
must(int holds, const char *promise)
{
	if (!holds)
		errx(1, "broken: %s", promise);
}

static struct node *
new_node(struct node *dir, int children, int number)
{
	struct node *n = calloc(1, sizeof(*n));

	must(n != NULL, "memory");
	n->dir = dir;
	n->children = children;
	n->number = number;
	n->cut = UINT64_MAX;
	if (dir != NULL)
		dir->below++;
	return n;
}

/* The server */

static int
is_odd(const struct node *n)
{
	return set.odd != 0 && n->number % (int)set.odd == 0;
}

static int
fails(const struct plan_action *a)
{
	if (r.seen[a->op] == set.fail[a->op])
		return 1;
	if (a->op == PLAN_CLEAR || a->op == PLAN_FSTAT)
		return (a->op == PLAN_CLEAR && set.fixed) ||
		    is_odd(plan_own(a->job)) == (a->op == PLAN_CLEAR);
	return
	    (a->op == PLAN_OPEN && set.strict != 0 && r.open >= set.strict) ||
	    (a->op == PLAN_OPEN_TO && set.strict_to != 0 &&
	    r.open_to >= set.strict_to) ||
	    (a->op == PLAN_WRITE && set.full != 0 && r.open > set.full);
}

static void
serve_read(struct node *n, struct reply *p)
{
	uint64_t size = set.actual == UINT64_MAX ? r.size : set.actual;
	uint64_t left = p->a.off < size ? size - p->a.off : 0;

	p->len = (uint32_t)(left < p->a.len ? left : p->a.len);
	if (set.shorten != 0 && p->len > set.shorten)
		p->len = (uint32_t)set.shorten;
	if (left == 0)
		p->result = PLAN_EOF;
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
		p->result = PLAN_EOF;
}

static void
serve_close(int *is_open, uint64_t *open)
{
	must(*is_open, "what is closed is open");
	*is_open = 0;
	--*open;
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

/* The file of the target is empty, or will be by PLAN_CLEAR. */
static void
serve_open_to(struct node *n, int once_more)
{
	must(n->is_open && !n->is_open_to,
	    "a file is open at the source first");
	n->is_open_to = 1;
	n->is_emptied = once_more;
	r.open_to++;
	if (set.clear)
		serve_bytes(n, once_more || !n->clears, 0);
	free(n->map);
	n->map = NULL;
	n->moved = 0;
}

static void
serve_data(struct node *n, const struct reply *p)
{
	if (set.clear && p->result == PLAN_OK &&
	    (p->a.op == PLAN_CLEAR || p->a.op == PLAN_WRITE))
		serve_bytes(n, p->a.op == PLAN_CLEAR, p->a.len);
	if (p->result == PLAN_OK && p->a.op == PLAN_CUT) {
		n->is_old = 0;
		serve_bytes(n, 0, 0);
	}
}

static void
serve(struct node *n, struct reply *p)
{
	if (p->a.op == PLAN_CLOSE)
		serve_close(&n->is_open, &r.open);
	else if (p->a.op == PLAN_CLOSE_TO)
		serve_close(&n->is_open_to, &r.open_to);
	if (++r.seen[p->a.op] == set.late[p->a.op])
		p->wait = set.late_rounds[p->a.op];
	if (fails(&p->a))
		p->result = PLAN_FAILED;
	else if (p->a.op == PLAN_OPEN_TO || p->a.op == PLAN_EMPTY)
		serve_open_to(n, p->a.op == PLAN_EMPTY);
	else if (p->a.op == PLAN_OPEN || p->a.op == PLAN_OPENDIR) {
		n->is_open = 1;
		if (++r.open > r.most)
			r.most = r.open;
		if (set.clear && p->a.op == PLAN_OPEN && r.put && !set.in_place)
			serve_bytes(n, !n->clears, 0);
	} else if (p->a.op == PLAN_READ)
		serve_read(n, p);
	else if (p->a.op == PLAN_READDIR)
		serve_names(n, p);
	else if (!set.serve_late)
		serve_data(n, p);
}

/* The caller */

/* Bytes count only if none before them is missing at the end. */
static void
mark(struct node *n, uint64_t off, uint32_t len)
{
	if (n->map == NULL)
		n->map = calloc(1, r.size + set.unit + 1);
	must(n->map != NULL, "memory");
	for (; len > 0 && off < r.size; len--)
		n->map[off++] = 1;
	for (n->moved = 0; n->moved < r.size && n->map[n->moved]; n->moved++)
		;
}

/* Leaves out the hole. Returns how much is sent: what comes before it. */
static uint32_t
send_data(struct node *n, struct reply *p)
{
	uint64_t off = p->a.off, left;

	if (off >= set.hole && off < set.hole_end) {
		off = set.hole_end < r.size ? set.hole_end : r.size;
		plan_skip(r.s, p->a.id, off);
		mark(n, p->a.off, (uint32_t)(off - p->a.off));
	}
	left = off < r.size ? r.size - off : 0;
	if (off < set.hole && left > set.hole - off)
		left = set.hole - off;
	if (left > p->a.len)
		left = p->a.len;
	p->a.off = off;
	p->a.len = (uint32_t)left;
	plan_sent(r.s, p->a.id, (uint32_t)left);
	return (uint32_t)left;
}

/* Returns 1 if others of the file may be under way when it is sent. */
static int
is_last(enum plan_op op)
{
	return op == PLAN_TRUNCATE || op == PLAN_ATTRS || op == PLAN_CLOSE_TO;
}

/* What a READ or WRITE has under way */
static uint64_t
bytes_of(const struct plan_action *a)
{
	uint64_t left = a->off < r.size ? r.size - a->off : 0;

	if (!r.cross || (a->op != PLAN_READ && a->op != PLAN_WRITE))
		return 0;
	return left < a->len ? left : a->len;
}

static void
send(const struct plan_action *a)
{
	struct node *n = plan_own(a->job);
	struct reply *p = &r.queue[r.nqueue++];

	must(r.nqueue < REQUESTS_MAX, "requests under way are bounded");
	must(n->dir == NULL || n->dir->is_made,
	    "a child follows its directory");
	must((a->op != PLAN_CLOSE && !is_last(a->op)) || n->under_way ==
	    (set.handles == 0 && (!r.cross || a->op != PLAN_CLOSE) ? 0 :
	    n->last),
	    "a file is cut and closed after the last reply to its data");
	must(a->op != PLAN_SETSTAT || n->below == 0 ||
	    (set.interrupt && n->begun == 0),
	    "a directory is left after all below");
	must(a->op != PLAN_CLEAR || !r.refused,
	    "what was refused once is not asked for again");
	must(n->under_way == 0 || n->lane == plan_lane(a->job),
	    "a file keeps its lane");
	n->lane = plan_lane(a->job);
	must(n->lane < set.lanes, "a lane that is not up has no file");
	r.data[n->lane] += a->op == PLAN_READ || a->op == PLAN_WRITE;
	memset(p, 0, sizeof(*p));
	p->a = *a;
	if (a->op == PLAN_TRUNCATE || a->op == PLAN_CUT)
		n->cut = a->off;
	if (a->op == PLAN_WRITE && r.put && send_data(n, p) == 0) {
		r.nqueue--;
		return;
	}
	n->under_way++;
	n->last += is_last(a->op);
	r.requests++;
	r.bytes += bytes_of(a);
	must(r.bytes <= set.window || r.bytes <= set.unit,
	    "no more bytes are under way than the window has");
	serve(n, p);
}

/* Between two servers: what was read is written. */
static void
relay(const struct reply *p)
{
	struct plan_action write;
	int sent;

	if (!r.cross || p->a.op != PLAN_READ || p->len == 0)
		return;
	do {
		sent = plan_relay(r.s, p->a.job, p->a.off, p->len, &write);
		must(sent != -1, "memory");
		if (sent == 1)
			send(&write);
	} while (sent == 1 && write.op == PLAN_CLEAR);
}

static void
answer(struct reply *p)
{
	struct node *n = plan_own(p->a.job);
	struct plan_action found;
	int again;

	must(plan_find(r.s, p->a.id, &found) == 0 && found.job == p->a.job &&
	    found.op == p->a.op && found.off == p->a.off,
	    "a request is found by its ID");
	if (set.serve_late)
		serve_data(n, p);
	n->under_way--;
	n->last -= is_last(p->a.op);
	r.bytes -= bytes_of(&p->a);
	relay(p);
	if (r.cross && p->result == PLAN_OK &&
	    (p->a.op == PLAN_MKDIR || p->a.op == PLAN_STAT_TO))
		n->is_made = 1;
	if (p->result == PLAN_OK && (p->a.op == PLAN_WRITE ||
	    (p->a.op == PLAN_READ && !r.cross)))
		mark(n, p->a.off, p->a.op == PLAN_READ ? p->len : p->a.len);
	if (p->result == PLAN_OK && p->a.op == PLAN_READDIR)
		n->known += (int)p->len;
	again = plan_reply(r.s, p->a.id, p->result, p->len);
	must(again != -1, "a good reply is good");
	r.refused |= p->a.op == PLAN_FSTAT && p->result == PLAN_FAILED;
	n->has_failed |= p->result == PLAN_FAILED && !again &&
	    (p->a.op == PLAN_STAT || p->a.op == PLAN_STAT_TO ||
	    p->a.op == PLAN_OPENDIR || p->a.op == PLAN_READDIR);
	must(plan_find(r.s, p->a.id, &found) == -1, "an ID is used once");
	must(plan_reply(r.s, p->a.id, p->result, p->len) == -1,
	    "a second reply is refused");
}

/* Takes the replies that come in this round. Returns how many they are. */
static size_t
take_replies(struct reply *now)
{
	size_t n = r.nqueue, i, taken = 0;

	r.nqueue = 0;
	for (i = 0; i < n; i++) {
		if (r.queue[i].wait == 0)
			now[taken++] = r.queue[i];
		else {
			r.queue[i].wait--;
			r.queue[r.nqueue++] = r.queue[i];
		}
	}
	return taken;
}

static void
answer_all(void)
{
	static struct reply now[REQUESTS_MAX];
	size_t n = take_replies(now), i, j;
	struct reply swap;

	if (r.torn > r.most_torn)
		r.most_torn = r.torn;
	for (i = 0; i + 1 < n && set.order != 0; i++) {
		j = set.order == 1 ? n - 1 - i : i + (size_t)rand() % (n - i);
		if (set.order == 1 && j <= i)
			break;
		swap = now[i];
		now[i] = now[j];
		now[j] = swap;
	}
	for (i = 0; i < n; i++)
		answer(&now[i]);
	r.rounds++;
	if (r.rounds == set.interrupt)
		plan_interrupt(r.s);
	if (r.rounds == set.release)
		plan_release(r.s);
}

static void
end(struct job *j, struct node *n)
{
	uint64_t size = set.actual == UINT64_MAX ? r.size : set.actual;

	must(n->under_way == 0, "a job ends after its last reply");
	if (plan_kind(j) == PLAN_DIR && r.put) {
		n->is_made = 1;
		n->known = n->children;
	}
	must(plan_kind(j) != PLAN_LEAVE || n->below == 0 ||
	    (set.interrupt && n->begun == 0),
	    "a directory is left after all below");
	if (n->dir != NULL && (plan_kind(j) != PLAN_DIR ||
	    (n->has_failed && n->below == 0)))
		n->dir->below--;
	if (plan_kind(j) != PLAN_FILE)
		return;
	n->dir->begun--;
	must(!n->is_open && !n->is_open_to, "what ends is closed");
	must(!n->is_mixed || set.in_place,
	    "new bytes come where no old ones are");
	must(!set.clear || !plan_is_whole(j) || n->served == size,
	    "no bytes are lost");
	if (n->is_emptied) {
		must(n->moved == 0 && !plan_is_whole(j),
		    "what is emptied was not whole");
		r.ncut++;
	} else if (n->moved == size && plan_is_whole(j) &&
	    (!r.put || (!set.in_place && set.hole_end == 0) ||
	    n->cut == size))
		r.whole++;
	else if (n->moved < size && !plan_is_whole(j) && r.put &&
	    (n->cut == n->moved || (set.hole_end && n->cut < n->moved)))
		r.ncut++;
	else
		r.failed++;
}

static int
is_held(int n)
{
	return set.held != 0 && n % (int)set.held == 0 &&
	    (set.release == 0 || r.rounds < set.release);
}

static void
add_child(struct job *leave, struct node *n)
{
	int is_root = n->dir == NULL;
	struct job *j;
	struct node *child;

	must(!n->has_failed, "nothing is copied after a listing failed");
	if (n->added < n->known) {
		child = new_node(n, is_root ? r.nfiles : 0, n->number + 1 +
		    n->added * (is_root ? r.nfiles + 1 : 1));
		n->added++;
		j = plan_add(r.s, leave, is_root ? PLAN_DIR : PLAN_FILE, child,
		    r.put ? 0 : r.size);
		must(j != NULL, "memory");
		if (++r.kept > r.kept_most)
			r.kept_most = r.kept;
		if (!is_root && is_held(n->added))
			plan_hold(r.s, j);
	}
	if (n->added == n->known)
		plan_listed(r.s, leave);
}

static void
print(struct job *j, struct node *n)
{
	if (plan_kind(j) == PLAN_LEAVE)
		must(n->below == 0 || set.interrupt,
		    "the end of a directory comes last");
	else
		must((unsigned long)n->number > r.printed,
		    "texts come in walk order");
	if (plan_kind(j) != PLAN_LEAVE)
		r.printed = (unsigned long)n->number;
	if (plan_kind(j) != PLAN_DIR) {
		r.kept--;
		free(n->map);
		free(n);
	}
}

static void
begin(struct job *j, struct node *n)
{
	plan_set_size(r.s, j, r.size);
	n->is_made = !r.put && !r.cross;
	if (plan_kind(j) != PLAN_FILE)
		return;
	n->dir->begun++;
	n->is_old = set.clear && !is_odd(n);
	n->clears = set.clear && !set.in_place && plan_clear(r.s, j);
	if (!plan_is_held(j))
		return;
	must(r.nqueue == 0 && plan_active(r.s) == 1,
	    "nothing is under way beside a file that was held");
	must(plan_oldest(r.s) == j, "all before it are printed");
	must(set.handles == 0 || n->dir->added == n->dir->known,
	    "those behind it are known");
	if (set.declined)
		return;
	plan_set_next_id(r.s, plan_next_id(r.s) + 7);
	n->moved = n->cut = set.actual == UINT64_MAX ? r.size : set.actual;
	r.copied++;
	plan_copied(j);
}

static void
act(const struct plan_action *a)
{
	struct node *n = plan_own(a->job);

	if (a->op < PLAN_BEGIN)
		send(a);
	else if (a->op == PLAN_BEGIN)
		begin(a->job, n);
	else if (a->op == PLAN_SETTLE)
		must(n->under_way == 0, "data is settled after its last reply");
	else if (a->op == PLAN_AGAIN) {
		must(!n->is_open && !n->is_open_to,
		    "what begins again is closed");
		n->dir->begun--;
		n->cut = UINT64_MAX;
		n->moved = 0;
		n->served = is_odd(n) ? n->served : 0;
		r.torn -= (uint64_t)n->is_torn;
		n->is_torn = n->is_mixed = 0;
		free(n->map);
		n->map = NULL;
	} else if (a->op == PLAN_END)
		end(a->job, n);
	else if (a->op == PLAN_MORE)
		add_child(a->job, n);
	else
		print(a->job, n);
}

static void
copy(const char *way, int dirs, int nfiles, uint64_t size)
{
	struct plan_conf conf = { .in_place = set.in_place != 0,
	    .preserve = set.preserve != 0,
	    .keep_found = set.keep_found != 0, .files = (uint32_t)set.files,
	    .unit = (uint32_t)set.unit, .first_id = UINT32_MAX - 10 };
	struct plan_action a;
	unsigned int i;

	memset(&r, 0, sizeof(r));
	conf.put = r.put = strcmp(way, "put") == 0;
	conf.cross = r.cross = strcmp(way, "cross") == 0;
	r.dirs = dirs;
	r.nfiles = nfiles;
	r.size = size;
	must((r.s = plan_new(&conf)) != NULL, "memory");
	plan_set_handles(r.s, set.handles);
	plan_set_window(r.s, set.window);
	plan_set_lanes(r.s, (1U << set.lanes) - 1, (1U << set.lanes) - 1);
	must(plan_add(r.s, NULL, PLAN_DIR, new_node(NULL, dirs, 1), 0) != NULL,
	    "memory");
	r.kept = 1;
	for (;;) {
		while (plan_next(r.s, &a) == 1)
			act(&a);
		if (plan_done(r.s))
			break;
		must(r.nqueue > 0, "it goes on until all is done");
		answer_all();
	}
	must(r.open == 0 && r.open_to == 0 && plan_active(r.s) == 0,
	    "all is closed");
	for (i = 0; i < PLAN_LANES; i++)
		must(plan_lane_files(r.s, i) == 0, "all have left their lanes");
	printf("rounds=%lu requests=%lu most=%" PRIu64 " whole=%lu cut=%lu "
	    "failed=%lu copied=%lu kept=%lu limit=%u torn=%" PRIu64, r.rounds,
	    r.requests, r.most, r.whole, r.ncut, r.failed, r.copied,
	    r.kept_most, plan_limit(r.s), r.most_torn);
	for (i = 0; i < set.lanes; i++)
		printf(" lane%u=%lu", i, r.data[i]);
	putchar('\n');
	plan_free(r.s);
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
	    { "actual", &set.actual }, { "order", &set.order },
	    { "names", &set.names }, { "hole", &set.hole },
	    { "hole_end", &set.hole_end },
	    { "interrupt", &set.interrupt }, { "files", &set.files },
	    { "unit", &set.unit }, { "window", &set.window },
	    { "lanes", &set.lanes }, { "held", &set.held },
	    { "declined", &set.declined }, { "release", &set.release },
	    { "clear", &set.clear }, { "odd", &set.odd },
	    { "fixed", &set.fixed },
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

	for (i = 1; i < OPS; i++) {
		if (strcmp(op, op_names[i]) == 0)
			return i;
	}
	errx(1, "unknown request %s", op);
}

int
main(void)
{
	char line[200], word[20], key[20];
	int dirs, nfiles;
	uint64_t n, rounds;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "set %19s %" SCNu64, key, &n) == 2)
			*setting(key) = n;
		else if (sscanf(line, "fail %19s %" SCNu64, key, &n) == 2)
			set.fail[number_of(key)] = n;
		else if (sscanf(line, "late %19s %" SCNu64 " %" SCNu64, key,
		    &n, &rounds) == 3) {
			set.late[number_of(key)] = n;
			set.late_rounds[number_of(key)] = rounds;
		} else if (sscanf(line, "%19s %d %d %" SCNu64, word, &dirs,
		    &nfiles, &n) == 4)
			copy(word, dirs, nfiles, n);
		else
			errx(1, "what is: %s", line);
	}
	return 0;
}
