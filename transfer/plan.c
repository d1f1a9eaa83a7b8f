/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See plan.h for the idea. A job is in one queue at most:
 *
 *   ready     it waits until one more may be under way
 *   held      a file that waits until all before it are printed, and nothing
 *             is under way
 *   agenda    its next step, "step", can be taken now
 *   data      of a lane: a file that may send its next READ or WRITE, oldest
 *             first
 *   more      a directory of which children can be added, in walk order
 *
 * A directory that is left keeps its two halves together: children belong to
 * the second half, because the first is printed before they are done. While the
 * first half is read, the second is in "more" when names have come. Until all
 * its children are added, it is "unlisted" as well, in walk order.
 *
 * Jobs that are done wait for the oldest one. So the first unlisted directory
 * may add children where others may not: however many of later directories are
 * done and wait, as many as before can be under way.
 *
 * What a READ beyond the expected size finds is known only from its reply. So
 * the first of them is sent together with the others, because it usually finds
 * the end, and later ones go one at a time.
 */

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "landing.h"
#include "minmax.h"
#include "plan.h"

/*
 * Jobs are added ahead until so many are not printed yet: JOBS_AHEAD by any
 * directory, JOBS_MAX by the first one that is not listed to its end. Beyond
 * that a job is added only if the oldest one waits for it.
 */
#define JOBS_AHEAD	8000
#define JOBS_MAX	10000

/* Of the handles a server allows, so many are left to others. */
#define HANDLES_SPARE	16

/* An unknown server: jobs under way at first, and at most */
#define UNKNOWN_FIRST	8
#define UNKNOWN_MOST	64

/*
 * READDIRs of a directory under way, if handles are told: at first, at most. A
 * root has nothing beside it that could use the round trip, and a READDIR gets
 * 100 names from most servers.
 */
#define READDIRS_FIRST	4
#define READDIRS_ROOT	16
#define READDIRS_MOST	64

/* What a request and its reply take beside their data, about */
#define OVERHEAD	64

/* After so many replies of no data in a row a server is broken. */
#define EMPTY_MOST	2

/* A server that returns less than asked is asked for less, but not for this. */
#define UNIT_LEAST	512

/*
 * Files are opened ahead as long as less than this, or the window, waits to be
 * asked for or sent: 512 files of 4 KiB. An interrupt leaves behind what was
 * made, and an OPEN that truncates has emptied it.
 */
#define AHEAD_LEAST	(2 * 1024 * 1024)

/*
 * A READ behind the size that was told, between two servers: what it brings,
 * with 512 of them under way, waits in memory.
 */
#define BLIND_MOST	(32 * 1024)

/*
 * A server that answers in another order than it was asked fills memory with
 * what waits: no more is asked for when it is so much, in bytes or in pieces,
 * however short they are.
 */
#define KEPT_MOST	(64 * 1024 * 1024)
#define PIECES_MOST	4096

/* What a file costs its lane beside its bytes, in bytes */
#define FILE_COST	(32 * 1024)

static void
make_ready(struct plan *s, struct job *j, int first)
{
	s->nready++;
	enqueue(first ? s->ready.next : &s->ready, j);
}

/* The next step of a job, taken soon */
static void
step(struct plan *s, struct job *j, enum plan_op op)
{
	j->step = op;
	enqueue(&s->agenda, j);
}

/* Requests */

static struct plan_req **
place_of(const struct plan *s, uint32_t id)
{
	struct plan_req **place = (struct plan_req **)&s->bucket[id % BUCKETS];

	while (*place != NULL && (*place)->id != id)
		place = &(*place)->next;
	return place;
}

static int
request_on(struct plan *s, struct job *j, unsigned int lane, enum plan_op op,
    uint64_t off, uint32_t len, struct plan_action *a)
{
	struct plan_req *r = calloc(1, sizeof(*r)), **place;

	if (r == NULL)
		return -1;
	r->op = op;
	r->job = j;
	r->lane = lane;
	r->off = off;
	r->len = len;
	r->id = s->next_id++;
	r->cost = OVERHEAD;
	if (op == PLAN_WRITE && s->conf.cross)
		r->cost += len;
	else if (len != 0)
		r->cost += off >= j->size ? 0 :
		    (uint32_t)min_u64(len, j->size - off);
	s->lane[lane].bytes += r->cost;
	s->requests++;
	j->under_way++;
	place = &s->bucket[r->id % BUCKETS];
	r->next = *place;
	*place = r;
	*a = (struct plan_action){ op, j, lane, r->id, off, len };
	return 1;
}

static int
request(struct plan *s, struct job *j, enum plan_op op, uint64_t off,
    uint32_t len, struct plan_action *a)
{
	return request_on(s, j, j->lane, op, off, len, a);
}

/* The request is answered, and no longer known. */
static void
retire(struct plan *s, struct plan_req **place)
{
	struct plan_req *r = *place;

	*place = r->next;
	r->job->under_way--;
	s->requests--;
	s->lane[r->lane].bytes -= r->cost;
	free(r);
}

/* Jobs */

static void child_done(struct plan *, struct job *);
static void dir_done(struct plan *, struct job *);

static void
done(struct plan *s, struct job *j)
{
	j->done = 1;
	if (j->kind == PLAN_DIR)
		dir_done(s, j);
	else if (j->dir != NULL)
		child_done(s, j->dir);
}

/* A child is done, or the listing of the directory. */
static void
may_leave(struct plan *s, struct job *leave)
{
	if (leave->listed && leave->pending == 0 && !leave->done)
		make_ready(s, leave, 1);
}

static void
child_done(struct plan *s, struct job *leave)
{
	leave->pending--;
	may_leave(s, leave);
}

void
plan_listed(struct plan *s, struct job *leave)
{
	link_remove(&leave->queue);
	if (leave->reading)
		return;
	link_remove(&leave->unlisted);
	leave->listed = 1;
	may_leave(s, leave);
}

/* The caller can add children, once more if it has stopped. */
static void
want_children(struct plan *s, struct job *leave)
{
	struct node *place = &s->more, *l = leave->unlisted.next;

	if (!link_is_empty(&leave->queue))
		return;
	for (; l != &s->unlisted && place == &s->more; l = l->next) {
		if (!link_is_empty(&of_unlisted(l)->queue))
			place = &of_unlisted(l)->queue;
	}
	enqueue(place, leave);
}

/*
 * The first half of a directory is done. After a failure no child is added, and
 * without any there is nothing to leave.
 */
static void
dir_done(struct plan *s, struct job *j)
{
	struct job *leave = j->leave;

	leave->reading = 0;
	if (!j->failed && !s->interrupted)
		want_children(s, leave);
	else if (!j->failed || leave->pending > 0)
		plan_listed(s, leave);
	else {
		link_remove(&leave->queue);
		link_remove(&leave->unlisted);
		done(s, leave);
	}
}

static struct job *
new_job(struct plan *s, enum plan_kind kind, void *own, struct node *place)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return NULL;
	j->kind = kind;
	j->own = own;
	j->unit = s->conf.unit;
	ranges_begin(&j->ranges, 0);
	j->readdirs = READDIRS_FIRST;
	link_init(&j->queue);
	link_init(&j->unlisted);
	link_init(&j->loose);
	link_before(&j->walk, place);
	s->jobs++;
	return j;
}

/* Returns the next directory in walk order that is not listed, or the end. */
static struct node *
next_unlisted(struct plan *s, const struct job *j)
{
	const struct node *l;

	for (l = j->walk.next; l != &s->walk; l = l->next) {
		if (!link_is_empty(&of_walk(l)->unlisted))
			return &of_walk(l)->unlisted;
	}
	return &s->unlisted;
}

/* Sets what a new job, or a link that was followed, is. Returns 0 or -1. */
static int
set_kind(struct plan *s, struct job *j, enum plan_kind kind, uint64_t size)
{
	j->kind = kind;
	j->size = size;
	if (kind == PLAN_DIR) {
		j->leave = new_job(s, PLAN_LEAVE, j->own, j->walk.next);
		if (j->leave == NULL)
			return -1;
		link_before(&j->leave->unlisted, next_unlisted(s, j->leave));
		j->leave->dir = j->dir;
		j->leave->reading = !s->conf.put;
	}
	return 0;
}

static void
set_ahead(struct plan *s, struct job *j, uint64_t bytes)
{
	s->lane[j->lane].ahead += bytes;
	s->lane[j->lane].ahead -= j->ahead;
	j->ahead = bytes;
}

/* Lanes */

static unsigned int
count_bits(unsigned int bits)
{
	unsigned int n = 0;

	for (; bits != 0; bits &= bits - 1)
		n++;
	return n;
}

static uint64_t
work_of(const struct lane *l)
{
	return l->bytes + l->ahead + (uint64_t)l->files * FILE_COST;
}

/* Returns the lane that has least to do. */
static unsigned int
idlest_lane(const struct plan *s)
{
	unsigned int i, best = 0;

	for (i = 1; i < s->lanes; i++) {
		if ((s->up >> i & 1) != 0 &&
		    work_of(&s->lane[i]) < work_of(&s->lane[best]))
			best = i;
	}
	return best;
}

static int
is_busy(const struct lane *l)
{
	return l->bytes > 0 || !link_is_empty(&l->data);
}

/* The window is shared by those that have something to do. */
static uint64_t
share(const struct plan *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->lanes; i++)
		n += is_busy(&s->lane[i]);
	return s->window / (n == 0 ? 1 : n);
}

static int
takes_lane(const struct job *j)
{
	return j->kind == PLAN_FILE || j->kind == PLAN_LINK;
}

static void
enter_lane(struct plan *s, struct job *j)
{
	if (takes_lane(j)) {
		j->lane = idlest_lane(s);
		s->lane[j->lane].files++;
		j->is_in_lane = 1;
	}
}

/* What waits counts as under way. */
static void
count_kept(struct plan *s, struct job *j)
{
	s->lane[j->lane].bytes += j->ranges.kept - j->kept;
	s->kept += j->ranges.kept - j->kept;
	s->npieces += j->ranges.nkept - j->npieces;
	j->kept = j->ranges.kept;
	j->npieces = j->ranges.nkept;
}

static void
leave_lane(struct plan *s, struct job *j)
{
	set_ahead(s, j, 0);
	ranges_clear(&j->ranges);
	count_kept(s, j);
	s->lane[j->lane].files -= j->is_in_lane;
	j->is_in_lane = 0;
}

struct job *
plan_add(struct plan *s, struct job *dir, enum plan_kind kind, void *own,
    uint64_t size)
{
	struct job *j;

	j = new_job(s, kind, own, dir == NULL ? &s->walk : &dir->walk);
	if (j == NULL)
		return NULL;
	j->dir = dir;
	if (dir == NULL)
		j->readdirs = READDIRS_ROOT;
	else
		dir->pending++;
	if (set_kind(s, j, kind, size) != 0)
		return NULL;
	if (kind == PLAN_NOTE)
		done(s, j);
	else
		make_ready(s, j, 0);
	return j;
}

void
plan_hold(struct plan *s, struct job *j)
{
	s->nready--;
	j->is_held = 1;
	enqueue(&s->held, j);
}

void
plan_release(struct plan *s)
{
	struct job *j;

	while (!link_is_empty(&s->held)) {
		j = dequeue(&s->held);
		j->is_held = 0;
		make_ready(s, j, 0);
	}
}

int
plan_become(struct plan *s, struct job *j, enum plan_kind kind, uint64_t size)
{
	if (set_kind(s, j, kind, size) != 0)
		return -1;
	plan_set_size(s, j, size);
	return 0;
}

/* How many jobs may be under way */

/* A job has ended well: after a whole round of them twice as many may be. */
static void
count_clean(struct plan *s, const struct job *j)
{
	if (j->restore != 0) {
		s->most = s->limit;		/* fewer were needed */
		s->strict = s->limit == 1;
	}
	if (s->told || ++s->clean < s->limit)
		return;
	s->clean = 0;
	s->limit = (uint32_t)min_u64(2 * (uint64_t)s->limit, s->most);
}

/* It failed beside others: half as many, once for all that began together. */
static void
count_beside(struct plan *s, struct job *j)
{
	if (j->restore == 0)
		j->restore = s->limit;
	if (j->epoch != s->epoch)
		return;
	s->epoch++;
	s->clean = 0;
	s->limit = (uint32_t)max_u64(min_u64(s->limit, s->active) / 2, 1);
}

/* A request that a strict server may refuse beside others has failed. */
static void
fail_or_again(struct plan *s, struct job *j)
{
	if (j->failed || j->again)
		return;
	if (!s->told && s->solo != j && !s->interrupted) {
		count_beside(s, j);
		j->again = 1;
		return;
	}
	j->failed = 1;
	if (j->restore != 0)		/* the server was not strict */
		s->limit = (uint32_t)min_u64(j->restore, s->most);
	j->restore = 0;
}

void
plan_set_handles(struct plan *s, uint64_t handles)
{
	uint64_t spare = min_u64(HANDLES_SPARE, handles / 2);

	if (handles == 0 || s->told)
		return;
	s->told = 1;
	s->most = s->limit = (uint32_t)min_u64(s->conf.files, handles - spare);
}

void
plan_set_window(struct plan *s, uint64_t bytes)
{
	s->window = bytes;
}

void
plan_set_lanes(struct plan *s, unsigned int up, unsigned int takes)
{
	s->up = up;
	s->takes = takes;
	while (s->lanes < PLAN_LANES && up >> s->lanes != 0)
		s->lanes++;
}

uint32_t
plan_lane_files(const struct plan *s, unsigned int lane)
{
	return s->lane[lane].files;
}

/* Steps */

/* Returns 1 if no more data is to be requested. */
static int
has_all(const struct plan *s, const struct job *j)
{
	return (j->eof && j->ranges.nloose == 0) || j->failed || j->again ||
	    j->unclear || s->interrupted;
}

/* Returns 1 if the next data request has to wait for a reply. */
static int
must_wait(const struct plan *s, const struct job *j)
{
	if (j->under_way == 0)
		return 0;
	return s->strict || (!s->conf.put && j->past &&
	    j->ranges.cursor >= j->size);
}

/* Nothing was asked for or sent, so there is nothing to cut off. */
static int
is_untouched(const struct job *j)
{
	return j->ranges.cursor == 0 && !j->eof;
}

/* All data requests of a file are answered, and there will be no more. */
static void
drained(struct plan *s, struct job *j)
{
	j->is_whole = j->ranges.first == NULL &&
	    ranges_frontier(&j->ranges) >= j->ranges.high;
	if (j->unclear)
		step(s, j, PLAN_FSTAT);
	else if (j->again || is_untouched(j)) {
		j->failed |= !j->again;
		step(s, j, s->conf.cross ? PLAN_CLOSE_TO : PLAN_CLOSE);
	} else if (s->conf.cross && j->clear && plan_is_whole(j)) {
		j->clear = 0;			/* The source has no bytes. */
		step(s, j, PLAN_CLEAR);
	} else
		step(s, j, PLAN_SETTLE);
}

/*
 * Data may be requested or is all there. A file keeps its place; what came
 * short is asked for again before all else.
 */
static void
go_on(struct plan *s, struct job *j)
{
	j->again |= j->clear && s->clears == CLEARS_NOT && !j->failed;
	link_remove(&j->loose);
	if (!has_all(s, j)) {
		if (j->ranges.nloose > 0)
			link_before(&j->loose, &s->loose);
		if (link_is_empty(&j->queue) && !j->eof)
			enqueue(&s->lane[j->lane].data, j);
	} else if (j->under_way == 0)
		drained(s, j);
	else
		link_remove(&j->queue);
}

/* Returns 1 if what is copied to is a server. */
static int
has_target(const struct plan *s)
{
	return s->conf.put || s->conf.cross;
}

static enum plan_op
first_step(const struct plan *s, const struct job *j)
{
	switch (j->kind) {
	case PLAN_DIR:
		return has_target(s) ? PLAN_MKDIR : PLAN_OPENDIR;
	case PLAN_LINK:
		return PLAN_STAT;
	case PLAN_LEAVE:
		return has_target(s) && !(j->found && s->conf.keep_found) ?
		    PLAN_SETSTAT : PLAN_END;
	default:
		return j->look ? PLAN_STAT : PLAN_OPEN;
	}
}

/* Returns 1 if a file of the target has to be emptied. */
static int
must_empty(const struct job *j)
{
	return !plan_is_whole(j) && !j->again && !j->emptied && !j->clear &&
	    !is_untouched(j);
}

/* What follows "op" when a file has all its data, between two servers */
static enum plan_op
after_settle_cross(const struct plan *s, const struct job *j, enum plan_op op)
{
	if (op == PLAN_SETTLE && s->conf.preserve && plan_is_whole(j))
		return PLAN_ATTRS;
	if (op != PLAN_CLOSE_TO)
		return PLAN_CLOSE_TO;
	return must_empty(j) ? PLAN_EMPTY : PLAN_CLOSE;
}

/* What follows "op" when a file that is put has all its data */
static enum plan_op
after_settle(const struct plan *s, const struct job *j, enum plan_op op)
{
	if (s->conf.cross)
		return after_settle_cross(s, j, op);
	if (s->conf.put && op == PLAN_SETTLE && !(j->cut && plan_is_whole(j)) &&
	    (s->conf.in_place || j->failed || j->skipped))
		return PLAN_TRUNCATE;
	if (s->conf.put && op != PLAN_ATTRS && s->conf.preserve)
		return PLAN_ATTRS;
	return PLAN_CLOSE;
}

/* The job has taken its last step. */
static void
end(struct plan *s, struct job *j)
{
	s->active--;
	leave_lane(s, j);
	if (s->solo == j)
		s->solo = NULL;
	if (!j->failed)
		count_clean(s, j);
	done(s, j);
}

/* Forgets what a job has done, so that it begins once more. */
static void
begin_again(struct plan *s, struct job *j)
{
	s->active--;
	leave_lane(s, j);
	ranges_begin(&j->ranges, 0);
	j->eof = j->past = j->empty = j->again = j->skipped = j->emptied = 0;
	j->clear = j->unclear = j->cut = j->has_reply = 0;
	if (s->interrupted) {
		j->failed = 1;
		done(s, j);
	} else
		make_ready(s, j, 1);
}

void
plan_worked(struct plan *s)
{
	struct job *j = s->last.job;
	enum plan_op op = s->last.op;

	s->last.op = 0;
	if (op == PLAN_BEGIN) {
		j->is_held = 0;
		step(s, j, j->failed || j->copied ? PLAN_END :
		    first_step(s, j));
	} else if (op == PLAN_SETTLE)
		step(s, j, after_settle(s, j, op));
	else if (op == PLAN_AGAIN)
		begin_again(s, j);
	else if (op == PLAN_END)
		end(s, j);
	else if (op == PLAN_PRINT) {
		link_remove(&j->walk);
		link_remove(&j->queue);
		free(j);
		s->jobs--;
	}
}

static int
local(struct plan *s, struct job *j, enum plan_op op, struct plan_action *a)
{
	*a = (struct plan_action){ .op = op, .job = j,
	    .off = ranges_frontier(&j->ranges) };
	s->last = *a;
	return 1;
}

/* Returns 1 if what follows the step is sent without its reply. */
static int
need_not_wait(const struct plan *s, const struct job *j)
{
	if (j->step == PLAN_CLOSE_TO)
		return !must_empty(j);		/* the other server is next */
	return s->told && (j->step == PLAN_TRUNCATE || j->step == PLAN_ATTRS);
}

/* Returns the size that the step of a file sets. */
static uint64_t
size_for(const struct job *j)
{
	if (j->step == PLAN_CUT)
		return j->ranges.cursor;
	return j->step == PLAN_TRUNCATE ? ranges_frontier(&j->ranges) : 0;
}

/* Returns the length of a file's next new READ or WRITE. */
static uint64_t
data_len(const struct plan *s, const struct job *j)
{
	uint64_t len = j->unit, next = j->ranges.cursor;

	if (next < j->size && !s->conf.put)
		len = min_u64(len, j->size - next);
	if (next >= j->size && s->conf.cross)
		len = min_u64(len, BLIND_MOST);
	return len;
}

static int
deal(struct plan *s, struct job *j, unsigned int lane, struct plan_action *a)
{
	int is_new = j->ranges.nloose == 0;
	struct range *range = ranges_deal(&j->ranges, lane,
	    (uint32_t)data_len(s, j));

	if (range == NULL || request_on(s, j, lane,
	    s->conf.put ? PLAN_WRITE : PLAN_READ, range->off, range->len,
	    a) != 1)
		return -1;
	(*place_of(s, a->id))->range = range;
	if (is_new) {
		j->past |= range->off >= j->size;
		set_ahead(s, j, j->ahead - min_u64(j->ahead, range->len));
	} else if (j->ranges.nloose == 0)
		link_remove(&j->loose);
	return 1;
}

static int
next_step(struct plan *s, struct plan_action *a)
{
	struct job *j = of_loose(s->loose.next);

	if (!link_is_empty(&s->loose))
		return deal(s, j, j->lane, a);
	if (link_is_empty(&s->agenda))
		return 0;
	j = dequeue(&s->agenda);
	if (j->step >= PLAN_BEGIN)
		return local(s, j, j->step, a);
	if (request(s, j, j->step, size_for(j), 0, a) != 1)
		return -1;
	j->emptied |= j->step == PLAN_EMPTY;
	if (need_not_wait(s, j))
		step(s, j, after_settle(s, j, j->step));
	if (j->step == PLAN_READDIR && s->told && j->under_way < j->readdirs)
		step(s, j, PLAN_READDIR);
	return 1;
}

/*
 * Returns 1 if the file is emptied before its next READ or WRITE. Between two
 * servers one alone is, to see what the server does.
 */
static int
must_clear(const struct plan *s, const struct job *j)
{
	return j->clear && (!s->conf.cross || s->clears == CLEARS_UNKNOWN);
}

/* The file is emptied. It keeps its place: its first WRITE is next. */
static int
clear(struct plan *s, struct job *j, struct plan_action *a)
{
	if (s->clears == CLEARS_UNKNOWN)
		s->clears = CLEARS_ASKED;
	j->clear = 0;
	return request(s, j, PLAN_CLEAR, 0, 0, a);
}

/* Returns 1 if what waits has to be written first. */
static int
keeps_enough(const struct plan *s)
{
	return s->kept >= KEPT_MOST || s->npieces >= PIECES_MOST;
}

static int
next_in_lane(struct plan *s, struct lane *l, struct plan_action *a)
{
	struct job *j;
	uint64_t next, len;

	while (!link_is_empty(&l->data) && s->clears != CLEARS_ASKED) {
		j = of_queue(l->data.next);
		if (must_wait(s, j)) {
			link_remove(&j->queue);
			continue;
		}
		next = j->ranges.cursor;
		len = min_u64(data_len(s, j), j->size - min_u64(next, j->size));
		if (keeps_enough(s) || (l->bytes > 0 &&
		    l->bytes + OVERHEAD + len > share(s)))
			return 0;
		return must_clear(s, j) ? clear(s, j, a) :
		    deal(s, j, j->lane, a);
	}
	return 0;
}

/* Lanes take turns. */
static int
next_data(struct plan *s, struct plan_action *a)
{
	unsigned int i, lane;
	int r = 0;

	for (i = 1; i <= s->lanes && r == 0; i++) {
		lane = (s->turn + i) % s->lanes;
		if ((s->takes >> lane & 1) != 0)
			r = next_in_lane(s, &s->lane[lane], a);
		if (r == 1)
			s->turn = lane;
	}
	return r;
}

/* Returns 1 if every lane has data enough for now. */
static int
has_ahead(const struct plan *s)
{
	return s->lane[idlest_lane(s)].ahead >=
	    max_u64(s->window / count_bits(s->up), AHEAD_LEAST);
}

/* Returns 1 if the job may not begin beside those that are under way. */
static int
must_stay(const struct plan *s, const struct job *j)
{
	return s->active >= s->limit || (s->active > 0 && (j->alone ||
	    (j->kind == PLAN_FILE && has_ahead(s))));
}

/* Returns 1 if children can be added whatever the oldest job needs. */
static int
has_room(const struct plan *s)
{
	if (link_is_empty(&s->more) || s->nready >= s->limit)
		return 0;
	return s->jobs < (of_queue(s->more.next) ==
	    of_unlisted(s->unlisted.next) ? JOBS_MAX : JOBS_AHEAD);
}

/* Returns the job that may begin, or NULL. */
static struct job *
next_job(const struct plan *s)
{
	struct job *j = plan_oldest(s);

	if (j != NULL && j->is_held)
		return s->active > 0 || has_room(s) ? NULL : j;
	if (link_is_empty(&s->ready))
		return NULL;
	j = of_queue(s->ready.next);
	return must_stay(s, j) ? NULL : j;
}

static int
admit(struct plan *s, struct plan_action *a)
{
	struct job *j = next_job(s);

	if (j == NULL)
		return 0;
	s->nready -= !j->is_held;
	link_remove(&j->queue);
	s->solo = s->active == 0 ? j : NULL;
	s->active++;
	enter_lane(s, j);
	plan_set_size(s, j, j->size);
	j->epoch = s->epoch;
	if (j->kind == PLAN_LEAVE) {
		step(s, j, first_step(s, j));
		return next_step(s, a);
	}
	return local(s, j, PLAN_BEGIN, a);
}

/* Children are added as they are needed, and where the oldest job needs it. */
static int
expand(struct plan *s, struct plan_action *a)
{
	struct job *oldest = plan_oldest(s);

	if (link_is_empty(&s->more))
		return 0;
	if (has_room(s))
		return local(s, of_queue(s->more.next), PLAN_MORE, a);
	if (oldest->kind == PLAN_LEAVE && !oldest->listed)
		return local(s, oldest, PLAN_MORE, a);
	return 0;
}

int
plan_next(struct plan *s, struct plan_action *a)
{
	struct job *oldest;
	int r;

	plan_worked(s);
	if ((oldest = plan_oldest(s)) != NULL && oldest->done)
		return local(s, oldest, PLAN_PRINT, a);
	if ((r = next_step(s, a)) == 0 && (r = next_data(s, a)) == 0 &&
	    (r = admit(s, a)) == 0)
		r = expand(s, a);
	return r;
}

/* Replies */

void
plan_skip(struct plan *s, uint32_t id, uint64_t off)
{
	struct plan_req *r = *place_of(s, id);

	set_ahead(s, r->job, r->job->ahead -
	    min_u64(r->job->ahead, off - r->off));
	r->off = off;
	r->job->skipped = 1;
}

/* Returns 1 if the file can be cut while its last WRITEs are under way. */
static int
can_cut(const struct plan *s, const struct job *j)
{
	return s->told && s->conf.in_place && j->eof && !j->skipped &&
	    !j->failed && j->under_way > 0;
}

void
plan_sent(struct plan *s, uint32_t id, uint32_t len)
{
	struct plan_req **place = place_of(s, id), *r = *place;
	struct job *j = r->job;

	ranges_sent(&j->ranges, r->range, r->off, len);
	s->lane[r->lane].bytes += len + OVERHEAD;
	s->lane[r->lane].bytes -= r->cost;
	r->cost = len + OVERHEAD;
	r->len = len;
	if (len != 0)
		return;
	j->eof = !j->failed;
	retire(s, place);
	if (can_cut(s, j))
		step(s, j, PLAN_CUT);
	else
		go_on(s, j);
}

int
plan_relay(struct plan *s, struct job *j, uint64_t off, uint32_t len,
    struct plan_action *a)
{
	j->again |= j->clear && s->clears == CLEARS_NOT && !j->failed;
	j->failed |= j->clear && s->interrupted;	/* The old one stays. */
	if (j->failed || j->again)
		return 0;
	return j->clear ? clear(s, j, a) :
	    request(s, j, PLAN_WRITE, off, len, a);
}

int
plan_find(const struct plan *s, uint32_t id, struct plan_action *a)
{
	struct plan_req *r = *place_of(s, id);

	if (r == NULL)
		return -1;
	*a = (struct plan_action){ r->op, r->job, r->lane, r->id, r->off,
	    r->len };
	return 0;
}

static int
get_bytes(struct plan *s, struct job *j, const struct range *r,
    const unsigned char *data, struct plan_bytes *w)
{
	count_kept(s, j);
	if (r != NULL)
		*w = (struct plan_bytes){ r->off, r->len, data };
	return r != NULL;
}

int
plan_data(struct plan *s, uint32_t id, const unsigned char *data, uint32_t len,
    struct plan_bytes *w)
{
	struct plan_req *q = *place_of(s, id);
	struct range *r = q->range;
	int now;

	if (len == 0 || len > q->len)
		return 0;		/* plan_reply() says so. */
	q->range = NULL;
	if ((now = landing_data(&q->job->ranges, r, data, len)) == -1)
		return -1;
	return get_bytes(s, q->job, now ? r : NULL, data, w);
}

int
plan_written(struct plan *s, struct job *j, int ok, struct plan_bytes *w)
{
	struct range *r;

	landing_written(&j->ranges, ok);
	r = landing_next(&j->ranges);
	return get_bytes(s, j, r, r == NULL ? NULL : r->data, w);
}

/* Bytes have come, or are written. The rest is asked for again. */
static void
count_data(struct job *j, const struct plan_req *r, uint32_t len)
{
	j->has_reply |= r->op == PLAN_WRITE;
	if (len < r->len)
		j->unit = (uint32_t)max_u64(UNIT_LEAST,
		    min_u64(j->unit, len));
	if (r->range != NULL)
		ranges_done(&j->ranges, r->range, len);
}

static int
reply_data(struct plan *s, struct plan_req **place, enum plan_result result,
    uint32_t len)
{
	struct plan_req *r = *place;
	struct job *j = r->job;

	if (result == PLAN_OK) {
		if (len > r->len || (len == 0 && ++j->empty == EMPTY_MOST))
			return -1;
		count_data(j, r, len);
	} else {
		if (r->range != NULL)
			ranges_miss(&j->ranges, r->range);
		else
			ranges_end(&j->ranges, r->off);
		if (result == PLAN_EOF)
			j->eof = 1;
		else
			fail_or_again(s, j);
	}
	count_kept(s, j);
	retire(s, place);
	go_on(s, j);
	return j->again;
}

/*
 * Names have come: their files may begin, while the rest is read. A server that
 * tells no limit may have no handle for them beside that of the directory.
 */
static void
reply_readdir(struct plan *s, struct job *j, enum plan_result result)
{
	if (result == PLAN_OK && s->told && !has_all(s, j))
		want_children(s, j->leave);
	if (result != PLAN_OK)
		j->eof = 1;
	if (result == PLAN_FAILED) {
		j->failed = 1;
		link_remove(&j->leave->queue);
	}
	j->readdirs = (uint32_t)min_u64(2 * j->readdirs, READDIRS_MOST);
	if (!has_all(s, j))
		step(s, j, PLAN_READDIR);
	else if (j->under_way == 0)
		step(s, j, PLAN_CLOSE);
	else
		link_remove(&j->queue);
}

/* The reply to OPEN or OPENDIR, of the source or the target */
static int
reply_open(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (result != PLAN_OK) {
		fail_or_again(s, j);
		if (op == PLAN_OPEN_TO)
			step(s, j, PLAN_CLOSE);
		else
			step(s, j, j->again ? PLAN_AGAIN : PLAN_END);
		return j->again;
	}
	if (j->failed || j->again)
		step(s, j, PLAN_CLOSE);
	else if (op == PLAN_OPENDIR)
		step(s, j, PLAN_READDIR);
	else if (op == PLAN_OPEN && s->conf.cross)
		step(s, j, PLAN_OPEN_TO);
	else
		go_on(s, j);
	return 0;
}

/*
 * What follows the reply to one of the last requests of a handle: the one that
 * has not been sent yet, or after the last reply the end.
 */
static void
reply_last(struct plan *s, struct job *j, enum plan_op op)
{
	if (j->step == op && op != PLAN_CLOSE)
		step(s, j, after_settle(s, j, op));
	else if (j->under_way == 0 && link_is_empty(&j->queue))
		step(s, j, j->again ? PLAN_AGAIN : PLAN_END);
}

/* The files that wait for PLAN_CLEAR begin once more. */
static void
clear_no_more(struct plan *s)
{
	struct node *data, *l, *next;
	size_t i;

	s->clears = CLEARS_NOT;
	for (i = 0; i < PLAN_LANES; i++) {
		data = &s->lane[i].data;
		for (l = data->next; l != data; l = next) {
			next = l->next;
			if (of_queue(l)->clear)
				go_on(s, of_queue(l));
		}
	}
}

/* If it failed, PLAN_TRUNCATE comes. */
static void
reply_cut(struct plan *s, struct job *j, enum plan_result result)
{
	j->cut = result == PLAN_OK;
	go_on(s, j);
}

/*
 * If WRITEs were answered before, they may have been done before as well, and
 * are lost.
 */
static int
reply_clear(struct plan *s, struct job *j, enum plan_result result)
{
	if (result != PLAN_OK)
		j->unclear = 1;
	else if (j->has_reply) {
		j->again |= !j->failed;
		clear_no_more(s);
	} else if (s->clears == CLEARS_ASKED)
		s->clears = CLEARS;
	go_on(s, j);
	return j->again;
}

/* A file that is not regular has no old bytes, and shows nothing of others. */
static int
reply_fstat(struct plan *s, struct job *j, enum plan_result result)
{
	j->unclear = 0;
	if (result != PLAN_OK) {
		j->again |= !j->failed;
		clear_no_more(s);
	} else if (s->clears == CLEARS_ASKED)
		s->clears = CLEARS_UNKNOWN;
	go_on(s, j);
	return j->again;
}

/* What follows the reply to a request that changes something, or looks */
static void
reply_status(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (op == PLAN_MKDIR && result != PLAN_OK) {
		j->leave->found = 1;
		step(s, j, s->conf.cross ? PLAN_STAT_TO : PLAN_STAT);
	} else if (op == PLAN_EMPTY)
		step(s, j, result == PLAN_OK ? PLAN_CLOSE_TO : PLAN_CLOSE);
	else if (s->conf.cross && result == PLAN_OK &&
	    (op == PLAN_MKDIR || op == PLAN_STAT_TO))
		step(s, j, PLAN_OPENDIR);
	else if (op == PLAN_STAT && s->conf.put && j->kind == PLAN_FILE)
		step(s, j, PLAN_OPEN);
	else if (op == PLAN_STAT && result == PLAN_OK && j->kind != PLAN_NOTE &&
	    !s->conf.put)
		step(s, j, PLAN_BEGIN);
	else if (op == PLAN_TRUNCATE || op == PLAN_ATTRS || op == PLAN_CLOSE ||
	    op == PLAN_CLOSE_TO)
		reply_last(s, j, op);
	else {
		j->failed |= (op == PLAN_STAT || op == PLAN_STAT_TO) &&
		    result != PLAN_OK;
		step(s, j, PLAN_END);
	}
}

int
plan_reply(struct plan *s, uint32_t id, enum plan_result result, uint32_t len)
{
	struct plan_req **place = place_of(s, id);
	struct job *j;
	enum plan_op op;

	if (*place == NULL)
		return -1;
	j = (*place)->job;
	op = (*place)->op;
	if (op == PLAN_READ || op == PLAN_WRITE)
		return reply_data(s, place, result,
		    op == PLAN_WRITE ? (*place)->len : len);
	retire(s, place);
	if (op == PLAN_READDIR)
		reply_readdir(s, j, result);
	else if (op == PLAN_OPEN || op == PLAN_OPENDIR || op == PLAN_OPEN_TO)
		return reply_open(s, j, op, result);
	else if (op == PLAN_CLEAR)
		return reply_clear(s, j, result);
	else if (op == PLAN_FSTAT)
		return reply_fstat(s, j, result);
	else if (op == PLAN_CUT)
		reply_cut(s, j, result);
	else
		reply_status(s, j, op, result);
	return 0;
}

/* Rest */

void
plan_fail(struct job *j)
{
	j->failed = 1;
}

int
plan_is_held(const struct job *j)
{
	return j->is_held;
}

void
plan_copied(struct job *j)
{
	j->copied = j->eof = j->is_whole = 1;
}

void
plan_look(struct job *j)
{
	j->look = 1;
}

int
plan_clear(struct plan *s, struct job *j)
{
	j->clear = s->told && s->clears != CLEARS_NOT;
	return j->clear;
}

void
plan_defer(struct job *j)
{
	j->again = j->alone = 1;
}

void
plan_set_size(struct plan *s, struct job *j, uint64_t size)
{
	j->size = size;
	set_ahead(s, j, j->kind == PLAN_FILE ? size : 0);
}

/* What waits fails, but for the ends of directories. */
static void
fail_waiting(struct plan *s, struct node *queue)
{
	struct node *l, *next;
	struct job *j;

	for (l = queue->next; l != queue; l = next) {
		next = l->next;
		j = of_queue(l);
		if (j->kind == PLAN_LEAVE)
			continue;
		link_remove(l);
		s->nready -= !j->is_held;
		j->is_held = 0;
		j->failed = 1;
		done(s, j);
	}
}

void
plan_interrupt(struct plan *s)
{
	unsigned int i;

	if (s->interrupted)
		return;
	s->interrupted = 1;
	while (!link_is_empty(&s->more))
		plan_listed(s, of_queue(s->more.next));
	fail_waiting(s, &s->ready);
	fail_waiting(s, &s->held);
	for (i = 0; i < PLAN_LANES; i++)
		while (!link_is_empty(&s->lane[i].data))
			go_on(s, dequeue(&s->lane[i].data));
}

int
plan_is_whole(const struct job *j)
{
	return j->eof && !j->failed && j->is_whole;
}

int
plan_done(const struct plan *s)
{
	return link_is_empty(&s->walk) && s->requests == 0;
}

struct job *
plan_oldest(const struct plan *s)
{
	return link_is_empty(&s->walk) ? NULL : of_walk(s->walk.next);
}

struct job *
plan_after(const struct plan *s, const struct job *j)
{
	return j->walk.next == &s->walk ? NULL : of_walk(j->walk.next);
}

enum plan_kind
plan_kind(const struct job *j)
{
	return j->kind;
}

void *
plan_own(const struct job *j)
{
	return j->own;
}

uint32_t
plan_limit(const struct plan *s)
{
	return s->limit;
}

uint32_t
plan_active(const struct plan *s)
{
	return s->active;
}

uint32_t
plan_next_id(const struct plan *s)
{
	return s->next_id;
}

void
plan_set_next_id(struct plan *s, uint32_t id)
{
	s->next_id = id;
}

struct plan *
plan_new(const struct plan_conf *conf)
{
	struct plan *s = calloc(1, sizeof(*s));
	size_t i;

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	s->next_id = conf->first_id;
	s->most = (uint32_t)min_u64(UNKNOWN_MOST, conf->files);
	s->limit = (uint32_t)min_u64(UNKNOWN_FIRST, s->most);
	link_init(&s->walk);
	link_init(&s->ready);
	link_init(&s->held);
	link_init(&s->agenda);
	link_init(&s->more);
	link_init(&s->unlisted);
	link_init(&s->loose);
	for (i = 0; i < PLAN_LANES; i++)
		link_init(&s->lane[i].data);
	s->up = s->takes = s->lanes = 1;
	return s;
}

void
plan_free(struct plan *s)
{
	struct plan_req *r;
	size_t i;

	if (s == NULL)
		return;
	while (!link_is_empty(&s->walk)) {
		struct job *j = plan_oldest(s);

		link_remove(&j->walk);
		ranges_clear(&j->ranges);
		free(j);
	}
	for (i = 0; i < BUCKETS; i++)
		while ((r = s->bucket[i]) != NULL) {
			s->bucket[i] = r->next;
			free(r);
		}
	free(s);
}
