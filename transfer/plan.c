/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See plan.h for the idea. A job is in one queue at most:
 *
 *   ready     it waits until one more may be under way
 *   parked    it waits for its directory, see ahead.h
 *   known     as ready, but it goes first
 *   agenda    its next step, "step", can be taken now
 *   data      of a lane: a file that may send its next READ or WRITE, oldest
 *             first
 *   hashes    of a lane: a file of which the server is to hash a range
 *   checked   a file that waits to be copied until less data is ahead
 *   later     a file with local work that can wait
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

#include "ahead.h"
#include "apart.h"
#include "checks.h"
#include "job.h"
#include "jobs.h"
#include "landing.h"
#include "landings.h"
#include "lanes.h"
#include "loss.h"
#include "minmax.h"
#include "pace.h"
#include "plan.h"
#include "ranges.h"
#include "replies.h"
#include "steps.h"
#include "wide.h"

/*
 * Jobs are added ahead until so many are not printed yet: JOBS_AHEAD by any
 * directory, JOBS_MAX by the first one that is not listed to its end. Beyond
 * that a job is added only if the oldest one waits for it.
 */
#define JOBS_AHEAD	8000
#define JOBS_MAX	10000

/*
 * Files are opened ahead as long as less than this, or the window, waits to be
 * asked for or sent: 512 files of 4 KiB. An interrupt leaves behind what was
 * made, and an OPEN that truncates has emptied it.
 */
#define AHEAD_LEAST	(2 * 1024 * 1024)

/*
 * A server that answers in another order than it was asked fills memory with
 * what waits: nothing new is requested when it is so much, in bytes or pieces.
 * The rest of a short reply is, as what waits needs it and it adds no piece.
 */
#define KEPT_MOST	(64 * 1024 * 1024)
#define PIECES_MOST	4096

struct job *
plan_add(struct plan *s, struct job *dir, enum plan_kind kind, void *own,
    uint64_t size)
{
	struct job *j;

	j = jobs_new(s, kind, own, dir == NULL ? &s->walk : &dir->walk);
	if (j == NULL)
		return NULL;
	j->dir = dir;
	if (dir == NULL)
		j->readdirs = READDIRS_ROOT;
	else
		dir->pending++;
	if (jobs_set_kind(s, j, kind, size) != 0)
		return NULL;
	if (kind == PLAN_NOTE)
		jobs_done(s, j);
	else
		jobs_ready(s, j, 0);
	return j;
}

int
plan_become(struct plan *s, struct job *j, enum plan_kind kind, uint64_t size)
{
	if (jobs_set_kind(s, j, kind, size) != 0)
		return -1;
	plan_set_size(s, j, size);
	return 0;
}

/* Returns 1 if the next data request has to wait for a reply. */
static int
must_wait(const struct plan *s, const struct job *j)
{
	if (!has_more(j))
		return 1;
	if (j->under_way == 0)
		return 0;
	return s->strict || (!s->conf.put && j->past &&
	    j->ranges.cursor >= j->size);
}

static int
local(struct plan *s, struct job *j, enum plan_op op, struct plan_action *a)
{
	*a = (struct plan_action){ .op = op, .job = j,
	    .off = ranges_frontier(&j->ranges) };
	s->last = *a;
	return 1;
}

static int
deal(struct plan *s, struct job *j, unsigned int lane, struct plan_action *a)
{
	enum plan_op op = j->is_back ? PLAN_BACK :
	    s->conf.put ? PLAN_WRITE : PLAN_READ;
	int is_new = j->ranges.nloose == 0;
	struct range *range = ranges_deal(&j->ranges, lane,
	    (uint32_t)lanes_data_len(s, j));

	if (range == NULL || lanes_request(s, j, lane,
	    op, range->off, range->len, a) != 1)
		return -1;
	(*lanes_place(s, a->id))->range = range;
	landings_place(j, a);
	if (is_new) {
		j->mover = lane;
		j->past |= range->off >= j->size;
		lanes_set_ahead(s, j, j->ahead - min_u64(j->ahead, range->len));
	} else if (j->ranges.nloose == 0)
		link_remove(&j->loose);
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
	return lanes_request(s, j, j->lane, PLAN_CLEAR, 0, 0, a);
}

/* Returns 1 if what waits has to be written first. */
static int
keeps_enough(const struct plan *s)
{
	return s->kept >= KEPT_MOST || s->npieces >= PIECES_MOST;
}

/* A file of which something came short, or was lost */
static int
next_loose(struct plan *s, struct plan_action *a)
{
	struct job *j;

	if (link_is_empty(&s->loose))
		return 0;
	j = of_loose(s->loose.next);
	return must_clear(s, j) ? clear(s, j, a) : deal(s, j, j->lane, a);
}

static int
next_step(struct plan *s, struct plan_action *a)
{
	struct job *j;
	int r;

	do {
		if (link_is_empty(&s->agenda))
			return 0;
		j = dequeue(&s->agenda);
		if (j->step == PLAN_END)
			apart_precedes_end(s, j);
		if (j->step == PLAN_SEEN)
			return apart_look(s, j, a);
		/* The end of a landing makes a step. */
		if (landings_precede(s, j))
			return (r = landings_next(s, a)) != 0 ? r :
			    next_step(s, a);
		if (j->step >= PLAN_BEGIN)
			return local(s, j, j->step, a);
	} while (loss_precedes(s, j));
	if (lanes_request(s, j, steps_lane(j), j->step, steps_size(j), 0,
	    a) != 1)
		return -1;
	j->emptied |= j->step == PLAN_EMPTY;
	if (steps_need_not_wait(s, j))
		step(s, j, steps_after_settle(s, j, j->step));
	if (j->step == PLAN_READDIR && s->told && j->under_way < j->readdirs)
		step(s, j, PLAN_READDIR);
	return 1;
}

/* The file of which a lane moves data next: its own, or its guest, or NULL */
static struct job *
next_file(const struct plan *s, struct lane *l)
{
	struct job *j;

	while (!link_is_empty(&l->data)) {
		j = of_queue(l->data.next);
		if (!must_wait(s, j))
			return j;
		link_remove(&j->queue);
	}
	return wide_guest(s, l);
}

static int
next_in_lane(struct plan *s, unsigned int lane, struct plan_action *a)
{
	struct lane *l = &s->lane[lane];
	struct job *j;
	uint64_t len;

	if (s->clears == CLEARS_ASKED || (j = next_file(s, l)) == NULL)
		return 0;
	len = min_u64(lanes_data_len(s, j), rest_of(j));
	if (keeps_enough(s) || (l->bytes > 0 && !lanes_goes_on(s, j, lane) &&
	    l->bytes + LANES_OVERHEAD + len > lanes_most(s, j, lane)))
		return 0;
	if (j->is_unseen && j->lane == lane)
		return checks_see(s, j, a);
	return must_clear(s, j) ? clear(s, j, a) : deal(s, j, lane, a);
}

/* The lane of the last turn has begun a part of a file, which it ends. */
static int
end_part(struct plan *s, struct plan_action *a)
{
	struct job *j = s->align == 0 || (s->up >> s->turn & 1) == 0 ? NULL :
	    next_file(s, &s->lane[s->turn]);

	return j != NULL && lanes_goes_on(s, j, s->turn) ?
	    next_in_lane(s, s->turn, a) : 0;
}

/* Lanes take turns. */
static int
next_data(struct plan *s, struct plan_action *a)
{
	unsigned int i, lane;
	int r = end_part(s, a);

	for (i = 1; i <= s->lanes && r == 0; i++) {
		lane = (s->turn + i) % s->lanes;
		if ((s->takes >> lane & 1) != 0)
			r = next_in_lane(s, lane, a);
		if (r == 1)
			s->turn = lane;
	}
	return r;
}

/* Returns 1 if every lane has data enough for now. */
static int
has_ahead(const struct plan *s)
{
	unsigned int i = lanes_idlest(s);

	return s->lane[i].ahead >= max_u64(lanes_weight(s, i), AHEAD_LEAST);
}

/* Returns 1 if the job may not begin beside those that are under way. */
static int
must_stay(const struct plan *s, const struct job *j)
{
	return ahead_places(s) >= s->limit || (s->active > 0 && (j->alone ||
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
	struct job *j;

	if ((j = ahead_next(s)) != NULL && !must_stay(s, j))
		return j;
	if (link_is_empty(&s->ready))
		return NULL;
	j = of_queue(s->ready.next);
	return (j->looks ? !ahead_may_look(s) : must_stay(s, j)) ? NULL : j;
}

/* It leaves the queue in which it waited, and is under way. */
static void
begin(struct plan *s, struct job *j)
{
	s->nready -= !j->is_known;
	ahead_leaves(s, j);
	link_remove(&j->queue);
	j->epoch = s->epoch;
	if (j->looks) {
		s->looking++;
		return;
	}
	s->solo = s->active == 0 ? j : NULL;
	s->active++;
}

static int
admit(struct plan *s, struct plan_action *a)
{
	struct job *j = has_ahead(s) ? NULL : checks_next_copy(s);

	if (j != NULL) {
		step(s, j, steps_first(s, j));
		return next_step(s, a);
	}
	if ((j = next_job(s)) == NULL)
		return 0;
	begin(s, j);
	lanes_enter(s, j);
	plan_set_size(s, j, j->size);
	if (j->kind == PLAN_LEAVE) {
		step(s, j, steps_first(s, j));
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
	/* The end of a landing makes a step. */
	if ((r = next_loose(s, a)) == 0 && (r = landings_next(s, a)) == 0 &&
	    (r = next_step(s, a)) == 0 && (r = wide_step(s, a)) == 0 &&
	    (r = checks_next_hash(s, a)) == 0 && (r = next_data(s, a)) == 0 &&
	    (r = admit(s, a)) == 0 && (r = expand(s, a)) == 0 &&
	    (r = wide_begin(s, a)) == 0)
		r = checks_next_later(s, a);
	return r;
}

void
plan_skip(struct plan *s, uint32_t id, uint64_t off)
{
	struct plan_req *r = *lanes_place(s, id);

	lanes_set_ahead(s, r->job, r->job->ahead -
	    min_u64(r->job->ahead, off - r->off));
	r->off = off;
	r->job->skipped = 1;
}

/* Returns 1 if the file can be cut while its last WRITEs are under way. */
static int
can_cut(const struct plan *s, const struct job *j)
{
	return s->told && ((s->conf.in_place && !j->not_cut) || j->over) &&
	    j->landing == NULL && j->eof && !j->keeps && !j->skipped &&
	    !j->failed && j->under_way > 0 && !fits(j, j->ranges.cursor);
}

void
plan_sent(struct plan *s, uint32_t id, uint32_t len)
{
	struct plan_req **place = lanes_place(s, id), *r = *place;
	struct job *j = r->job;

	ranges_sent(&j->ranges, r->range, r->off, len);
	j->highest = max_u64(j->highest, r->off + len);
	s->lane[r->lane].bytes += len + LANES_OVERHEAD;
	s->lane[r->lane].bytes -= r->cost;
	r->cost = len + LANES_OVERHEAD;
	r->len = len;
	if (len != 0)
		return;
	j->eof = !j->failed;
	lanes_retire(s, place);
	if (can_cut(s, j))
		step(s, j, PLAN_CUT);
	else
		steps_go_on(s, j);
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
	    lanes_request(s, j, j->lane, PLAN_WRITE, off, len, a);
}

int
plan_find(const struct plan *s, uint32_t id, struct plan_action *a)
{
	struct plan_req *r = *lanes_place(s, id);

	if (r == NULL)
		return -1;
	*a = (struct plan_action){ .op = r->op, .job = r->job,
	    .lane = r->lane, .id = r->id, .off = r->off, .len = r->len,
	    .ask = r->ask, .sent = r->sent };
	return 0;
}

static int
get_bytes(struct plan *s, struct job *j, const struct range *r,
    const unsigned char *data, struct plan_bytes *w)
{
	lanes_count_kept(s, j);
	if (r != NULL)
		*w = (struct plan_bytes){ r->off, r->len, data };
	return r != NULL;
}

int
plan_data(struct plan *s, uint32_t id, const unsigned char *data, uint32_t len,
    struct plan_bytes *w)
{
	struct plan_req *q = *lanes_place(s, id);
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

void
plan_listed(struct plan *s, struct job *leave)
{
	jobs_listed(s, leave);
}

void
plan_give(struct job *j)
{
	j->is_given = 1;
}

void
plan_pause(struct plan *s, struct job *leave)
{
	link_remove(&leave->queue);
	s->paused = leave;
}

void
plan_resume(struct plan *s, struct job *leave)
{
	if (s->paused == leave)
		jobs_want_children(s, leave);
	s->paused = NULL;
}

uint32_t
plan_pending(const struct job *leave)
{
	return leave->pending;
}

void
plan_look_ahead(struct job *j)
{
	j->looks = 1;
}

void
plan_wait(struct plan *s, struct job *j)
{
	ahead_wait(s, j);
}

void
plan_go(struct plan *s, struct job *j)
{
	ahead_go(s, j);
}

void
plan_worked(struct plan *s)
{
	replies_worked(s);
}

int
plan_reply(struct plan *s, uint32_t id, enum plan_result result, uint32_t len)
{
	return replies_take(s, id, result, len);
}

void
plan_set_handles(struct plan *s, uint64_t handles)
{
	pace_told(s, handles);
}

void
plan_set_lanes(struct plan *s, unsigned int up, unsigned int takes)
{
	lanes_set_up(s, up, takes);
}

void
plan_set_uneven(struct plan *s, int uneven)
{
	s->uneven = uneven;
}

void
plan_set_apart(struct plan *s, unsigned int lanes)
{
	s->apart = lanes;
}

void
plan_set_shared(struct plan *s, unsigned int writers, uint32_t align)
{
	s->writers = writers;
	s->align = align;
}

void
plan_set_window(struct plan *s, uint64_t bytes)
{
	s->window = bytes;
}

void
plan_set_widen(struct plan *s, uint64_t least)
{
	s->widen = least;
}

int
plan_lands(struct plan *s, struct job *j, const struct landing_conf *conf,
    unsigned int most)
{
	if (!s->told || s->nlandings >= most)
		return 0;
	return landings_add(s, j, conf) == 0;
}

void
plan_sweeps(struct plan *s, struct job *j)
{
	if (s->told && j->landing == NULL)
		(void)landings_sweep(s, j);
}

struct landing *
plan_landing(const struct job *j)
{
	return j->landing;
}

struct landing *
plan_asker(const struct job *j)
{
	return landings_asker(j);
}

unsigned int
plan_landings(const struct plan *s)
{
	return s->nlandings;
}

unsigned int
plan_sweeping(const struct plan *s)
{
	return s->nsweeping;
}

void
plan_set_has(struct plan *s, int has)
{
	s->has = has;
}

void
plan_set_wants(struct plan *s, int wants)
{
	s->wants = wants;
}

void
plan_set_clock(struct plan *s, uint64_t us)
{
	s->now_us = us;
}

void
plan_space(struct job *j, uint64_t available)
{
	landing_space(j->landing, available, rest_of(j));
}

int
plan_has_failed(const struct job *j)
{
	return j->failed;
}

void
plan_lost(struct plan *s, unsigned int lane)
{
	loss_of(s, lane);
}

unsigned int
plan_lane(const struct job *j)
{
	return j->lane;
}

unsigned int
plan_width(const struct plan *s, const struct job *j)
{
	unsigned int i, n = j->is_open;

	for (i = 0; j->guests > 0 && i < s->lanes; i++)
		n += s->lane[i].guest == j &&
		    s->lane[i].guest_is == GUEST_IS_READY;
	return n;
}

int
plan_is_looked_at(const struct job *j)
{
	return j->is_looked_at;
}

unsigned int
plan_carrying(const struct plan *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->lanes; i++)
		n += s->lane[i].files > 0 || (s->lane[i].guest != NULL &&
		    s->lane[i].guest_is == GUEST_IS_READY);
	return n;
}

uint32_t
plan_lane_files(const struct plan *s, unsigned int lane)
{
	return s->lane[lane].files;
}

void
plan_fail(struct job *j)
{
	j->failed = 1;
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
	lanes_set_size(s, j, size);
}

int
plan_cuts_not(const struct plan *s)
{
	return s->cuts_not;
}

int
plan_goes_again(const struct job *j)
{
	return j->again;
}

int
plan_was_not_cut(const struct job *j)
{
	return j->not_cut;
}

int
plan_over(struct job *j, int is_ours, int is_shared)
{
	j->is_ours |= is_ours;
	return j->over = j->lane != 0 || is_shared;
}

int
plan_is_late(const struct job *j)
{
	return j->is_late;
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
	if (s->paused != NULL)
		plan_listed(s, s->paused);
	s->paused = NULL;
	ahead_fail(s, &s->ready);
	ahead_fail(s, &s->known);
	ahead_fail(s, &s->parked);
	for (i = 0; i < PLAN_LANES; i++)
		while (!link_is_empty(&s->lane[i].data))
			steps_go_on(s, dequeue(&s->lane[i].data));
	checks_interrupt(s);
}

int
plan_is_whole(const struct job *j)
{
	return is_whole(j);
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

struct plan *
plan_new(const struct plan_conf *conf)
{
	struct plan *s = calloc(1, sizeof(*s));
	size_t i;

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	s->next_id = conf->first_id;
	pace_begin(s);
	link_init(&s->walk);
	link_init(&s->ready);
	link_init(&s->agenda);
	link_init(&s->more);
	link_init(&s->unlisted);
	link_init(&s->loose);
	link_init(&s->landings);
	ahead_begin(s);
	link_init(&s->checked);
	link_init(&s->later);
	for (i = 0; i < PLAN_LANES; i++) {
		link_init(&s->lane[i].data);
		link_init(&s->lane[i].hashes);
	}
	s->up = s->takes = s->lanes = 1;
	s->lane[0].most = UINT64_MAX;
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
		landings_drop(s, j);
		free(j);
	}
	for (i = 0; i < BUCKETS; i++)
		while ((r = s->bucket[i]) != NULL) {
			s->bucket[i] = r->next;
			free(r);
		}
	free(s);
}
