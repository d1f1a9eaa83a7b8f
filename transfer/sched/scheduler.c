/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See scheduler.h for the idea. An entry is in one queue at most:
 *
 *   ready     it waits until one more may be in flight
 *   parked    it waits for its directory, see lookup-queue.c
 *   known     as ready, but it goes first
 *   agenda    its next step, "step", can be taken now
 *   data      of a connection: a file that may send its next READ or WRITE,
 *             oldest first
 *   works     of a connection: a file of which the server is to hash a range
 *   checked   a file that waits to be copied until less data is ahead
 *   later     a file with local work that can wait
 *   more      a directory of which children can be added, in walk order
 *
 * A directory that is left keeps its two halves together: children belong to
 * the second half, because the first is printed before they are done. While the
 * first half is read, the second is in "more" when names have arrived. Until
 * all its children are added, it is "unlisted" as well, in walk order.
 *
 * Entries that are done wait for the oldest one. So the first unlisted
 * directory may add children where others may not: however many of later
 * directories are done and wait, as many as before can be in flight.
 *
 * What a READ beyond the expected size finds is known only from its reply. So
 * the first of them is sent together with the others, because it usually finds
 * the end, and later ones go one at a time.
 */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "minmax.h"
#include "op-table.h"
#include "sched-internal.h"
#include "scheduler.h"
#include "tempfile.h"
#include "verify-sched.h"

/*
 * Entries are added ahead until so many are not printed yet: ENTRIES_AHEAD by
 * any directory, ENTRIES_MAX by the first one that is not listed to its end.
 * Beyond that an entry is added only if the oldest one waits for it.
 */
#define ENTRIES_AHEAD	8000
#define ENTRIES_MAX	10000

/*
 * Files are opened ahead as long as less than this, or the window, waits to be
 * asked for or sent: 512 files of 4 KiB. An interrupt leaves behind what was
 * made, and an OPEN that truncates has emptied it.
 */
#define QUEUED_MIN	(2 * 1024 * 1024)

/*
 * A server that answers in another order than it was asked fills memory with
 * what waits: nothing new is requested when it is so much, in bytes or pieces.
 * The rest of a short reply is, as what waits needs it and it adds no piece.
 */
#define BUFFERED_MAX	(64 * 1024 * 1024)
#define BUFFERED_EXTENTS_MAX	4096

struct sched_entry *
sched_add(struct sched *s, struct sched_entry *dir, enum sched_kind kind,
    void *own, uint64_t size)
{
	struct sched_entry *j;

	j = walk_new_entry(s, kind, own, dir == NULL ? &s->walk : &dir->walk);
	if (j == NULL)
		return NULL;
	j->parent = dir;
	j->dir.external_children = kind == KIND_LIST;
	if (kind == KIND_NAME)
		walk_set_state(j, STATE_TO_LOOK_UP);
	if (dir == NULL)
		j->dir.max_readdirs = READDIRS_ROOT;
	else
		dir->dir.pending_children++;
	if (walk_set_kind(s, j, kind == KIND_LIST ? KIND_DIR :
	    kind == KIND_NAME ? KIND_LINK : kind, size) != 0)
		return NULL;
	if (kind == KIND_MESSAGE)
		walk_entry_done(s, j);
	else
		walk_ready(s, j, 0);
	return j;
}

/* Returns 1 if the next data request has to wait for a reply. */
static int
data_must_wait(const struct sched *s, const struct sched_entry *j)
{
	if (!has_more_data(j))
		return 1;
	if (j->in_flight == 0)
		return 0;
	return s->one_at_a_time || (!s->conf.put && j->source.read_past_size &&
	    j->extents.cursor >= j->size);
}

static int
set_local_action(struct sched *s, struct sched_entry *j, enum sched_op op,
    struct sched_action *a)
{
	*a = (struct sched_action){ .op = op, .entry = j,
	    .off = extents_contiguous_end(&j->extents) };
	s->last_local = *a;
	return 1;
}

static int
assign_extent(struct sched *s, struct sched_entry *j, unsigned int conn,
    struct sched_action *a)
{
	enum sched_op op = is_reading_range(j) ? OP_VERIFY_REQUEST :
	    s->conf.put ? OP_WRITE : OP_READ;
	int is_new = j->extents.npending == 0;
	struct extent *extent = extents_assign(&j->extents, conn,
	    (uint32_t)sched_conn_data_len(s, j));
	struct sched_request *r;

	assert(j->state == STATE_DATA || is_reading_range(j));
	if (extent == NULL || sched_request_new(s, j, conn,
	    op, extent->off, extent->len, a) != 1)
		return -1;
	r = *sched_request_slot(s, a->id);
	r->extent = extent;
	r->verify = a->verify = is_reading_range(j) ? j->verify->read : NULL;
	tempfile_sched_locate_write(j, a);
	if (is_new) {
		j->last_mover = conn;
		j->source.read_past_size |= extent->off >= j->size;
		sched_conn_set_unsent(s, j, j->unsent - min_u64(j->unsent,
		    extent->len));
	} else if (j->extents.npending == 0)
		sched_link_remove(&j->pending_link);
	return 1;
}

/*
 * Returns 1 if the file is emptied before its next READ or WRITE. Between two
 * servers one alone is, to see what the server does.
 */
static int
must_truncate_first(const struct sched *s, const struct sched_entry *j)
{
	return must_truncate_late(j) && (!s->conf.cross || s->late_truncate ==
	    LATE_TRUNCATE_UNKNOWN);
}

/* The file is emptied. It keeps its place: its first WRITE is next. */
static int
truncate_to_0(struct sched *s, struct sched_entry *j, struct sched_action *a)
{
	if (s->late_truncate == LATE_TRUNCATE_UNKNOWN)
		s->late_truncate = LATE_TRUNCATE_ASKED;
	j->target.setsize_0 = SETSIZE_0_NOT;
	return sched_request_new(s, j, j->owner, OP_SETSIZE_0, 0, 0, a);
}

/* Returns 1 if what waits has to be written first. */
static int
buffer_is_full(const struct sched *s)
{
	return s->buffered >= BUFFERED_MAX || s->nbuffered >=
	    BUFFERED_EXTENTS_MAX;
}

/* A file of which something came short, or was lost */
static int
next_pending_extent(struct sched *s, struct sched_action *a)
{
	struct sched_entry *j;

	if (sched_link_is_empty(&s->pending_extents))
		return 0;
	j = entry_of_pending_link(s->pending_extents.next);
	return must_truncate_first(s, j) ? truncate_to_0(s, j, a) :
	    assign_extent(s, j, j->owner, a);
}

static int
send_step(struct sched *s, struct sched_entry *j, struct sched_action *a)
{
	return j->step == OP_VERIFY_REQUEST ? verify_sched_send(s, j, a) :
	    sched_request_new(s, j, seq_conn(s, j), j->step, seq_offset(j), 0,
	    a);
}

static int
next_agenda_step(struct sched *s, struct sched_action *a)
{
	struct sched_entry *j;
	int r;

	do {
		if (sched_link_is_empty(&s->agenda))
			return 0;
		j = dequeue(&s->agenda);
		multihost_check_before_end(s, j);
		if (j->step == OP_STAT_DEST_ON_HOST)
			return multihost_check_next(s, j, a);
		/* The end of a temporary file makes a step. */
		if (tempfile_sched_precedes(s, j))
			return (r = tempfile_sched_next(s, a)) != 0 ? r :
			    next_agenda_step(s, a);
		if (op_is_local(j->step))
			return set_local_action(s, j, j->step, a);
	} while (failover_precedes(s, j));
	if (send_step(s, j, a) != 1)
		return -1;
	if (seq_need_not_wait(s, j))
		schedule_step(s, j, seq_after(s, j, j->step));
	if (j->step == OP_READDIR && s->has_handle_limit && j->in_flight <
	    j->dir.max_readdirs)
		schedule_step(s, j, OP_READDIR);
	return 1;
}

/*
 * The file of which a connection sends data next: one that it owns, or the one
 * it helps with, or NULL
 */
static struct sched_entry *
next_data_file(const struct sched *s, struct sched_conn *l)
{
	struct sched_entry *j;

	while (!sched_link_is_empty(&l->data)) {
		j = entry_of_queue(l->data.next);
		if (!data_must_wait(s, j))
			return j;
		sched_link_remove(&j->queue);
	}
	return stripe_helped_file(s, l);
}

static int
next_on_conn(struct sched *s, unsigned int conn, struct sched_action *a)
{
	struct sched_conn *l = &s->conn[conn];
	struct sched_entry *j;
	uint64_t len;

	if (s->late_truncate == LATE_TRUNCATE_ASKED || (j =
	    next_data_file(s, l)) == NULL)
		return 0;
	len = min_u64(sched_conn_data_len(s, j), unmoved_bytes(j));
	if (buffer_is_full(s) || (l->in_flight > 0 &&
	    !sched_conn_continues_block(s, j, conn) && l->in_flight +
	    REQUEST_OVERHEAD + len > sched_conn_limit(s, j, conn)))
		return 0;
	/*
	 * Bytes that a helper read before that request could be of an older
	 * file.
	 */
	if (j->state == STATE_DATA && j->verify != NULL &&
	    j->verify->request != NULL)
		return j->owner == conn ? verify_sched_send(s, j, a) : 0;
	return must_truncate_first(s, j) ? truncate_to_0(s, j, a) :
	    assign_extent(s, j, conn, a);
}

/* The connection of the last turn has begun a part of a file, which it ends. */
static int
continue_block(struct sched *s, struct sched_action *a)
{
	struct sched_entry *j = s->env.align == 0 || (s->env.established >>
	    s->last_conn & 1) == 0 ? NULL : next_data_file(s,
	    &s->conn[s->last_conn]);

	return j != NULL && sched_conn_continues_block(s, j, s->last_conn) ?
	    next_on_conn(s, s->last_conn, a) : 0;
}

/* Connections take turns. */
static int
next_data_request(struct sched *s, struct sched_action *a)
{
	unsigned int i, conn;
	int r = continue_block(s, a);

	for (i = 1; i <= s->nconns && r == 0; i++) {
		conn = (s->last_conn + i) % s->nconns;
		if ((s->env.writable >> conn & 1) != 0)
			r = next_on_conn(s, conn, a);
		if (r == 1)
			s->last_conn = conn;
	}
	return r;
}

/* Returns 1 if every connection has data enough for now. */
static int
has_enough_queued(const struct sched *s)
{
	unsigned int i = sched_conn_least_busy(s);

	return s->conn[i].queued >= max_u64(sched_conn_weight(s, i),
	    QUEUED_MIN);
}

/* Returns 1 if the entry may not begin beside those that are in flight. */
static int
must_not_start(const struct sched *s, const struct sched_entry *j)
{
	return lookup_queue_slots_used(s) >= s->limit ||
	    (s->active > 0 && (j->restart.exclusive || (j->kind == KIND_FILE &&
	    has_enough_queued(s))));
}

/* Returns 1 if children can be added whatever the oldest entry needs. */
static int
may_add_children(const struct sched *s)
{
	if (sched_link_is_empty(&s->want_children) || s->nready >= s->limit)
		return 0;
	return s->nentries < (entry_of_queue(s->want_children.next) ==
	    entry_of_unlisted(s->unlisted.next) ? ENTRIES_MAX : ENTRIES_AHEAD);
}

/* Returns the entry that may begin, or NULL. */
static struct sched_entry *
next_startable(const struct sched *s)
{
	struct sched_entry *j;

	if (!sched_link_is_empty(&s->looked_up)) {
		j = entry_of_queue(s->looked_up.next);
		if (!must_not_start(s, j))
			return j;
	}
	if (sched_link_is_empty(&s->ready))
		return NULL;
	j = entry_of_queue(s->ready.next);
	return (is_lookup(j) ? !lookup_queue_may_ask(s) :
	    must_not_start(s, j)) ? NULL : j;
}

/* It leaves the queue in which it waited, and is in flight. */
static void
leave_queue(struct sched *s, struct sched_entry *j)
{
	s->nready -= !is_looked_up(j);
	s->nlooked_up -= is_looked_up(j);
	sched_link_remove(&j->queue);
	j->restart.limit_epoch = s->limit_epoch;
	walk_set_state(j, is_lookup(j) ? STATE_LOOKUP : STATE_OPENING);
	if (j->state == STATE_LOOKUP) {
		s->nlookups++;
		return;
	}
	s->sole_entry = s->active == 0 ? j : NULL;
	s->active++;
}

static int
start_entry(struct sched *s, struct sched_action *a)
{
	struct sched_entry *j = has_enough_queued(s) ? NULL :
	    verify_sched_next_copy(s);

	if (j != NULL) {
		walk_set_state(j, STATE_OPENING);
		schedule_step(s, j, seq_first(s, j));
		return next_agenda_step(s, a);
	}
	if ((j = next_startable(s)) == NULL)
		return 0;
	leave_queue(s, j);
	sched_conn_enter(s, j);
	sched_set_size(s, j, j->size);
	if (j->kind == KIND_DIR_END) {
		schedule_step(s, j, seq_first(s, j));
		return next_agenda_step(s, a);
	}
	return set_local_action(s, j, OP_BEGIN, a);
}

/*
 * Children are added as they are needed, and where the oldest entry needs it.
 */
static int
add_children(struct sched *s, struct sched_action *a)
{
	struct sched_entry *oldest = sched_next_in_order(s, NULL);

	if (sched_link_is_empty(&s->want_children))
		return 0;
	if (may_add_children(s))
		return set_local_action(s,
		    entry_of_queue(s->want_children.next), OP_ADD_CHILDREN, a);
	if (oldest->kind == KIND_DIR_END && !oldest->dir.children_complete)
		return set_local_action(s, oldest, OP_ADD_CHILDREN, a);
	return 0;
}

int
sched_next(struct sched *s, struct sched_action *a)
{
	struct sched_entry *oldest;
	int r;

	sched_local_done(s);
	if ((oldest = sched_next_in_order(s, NULL)) != NULL && oldest->state ==
	    STATE_DONE)
		return set_local_action(s, oldest, OP_PRINT, a);
	/* The end of a temporary file makes a step. */
	if ((r = next_pending_extent(s, a)) == 0 && (r =
	    tempfile_sched_next(s, a)) == 0 && (r = next_agenda_step(s, a)) ==
	    0 && (r = stripe_step(s, a)) == 0 && (r = verify_sched_next_work(s,
	    a)) == 0 && (r = next_data_request(s, a)) == 0 &&
	    (r = start_entry(s, a)) == 0 && (r = add_children(s, a)) == 0 &&
	    (r = stripe_begin(s, a)) == 0)
		r = verify_sched_next_deferred(s, a);
	return r;
}

/* Returns 1 if the file can be cut while its last WRITEs are in flight. */
static int
can_truncate_end(const struct sched *s, const struct sched_entry *j)
{
	return s->has_handle_limit && ((s->conf.in_place &&
	    !j->restart.open_trunc) || j->target.no_truncate) &&
	    !has_tempfile(j) &&
	    j->source.eof && !j->target.possible_source &&
	    !j->target.has_holes && j->outcome != OUTCOME_FAILED &&
	    j->in_flight > 0 && !target_fits(j, j->extents.cursor);
}

void
sched_sent(struct sched *s, uint32_t id, uint64_t off, uint32_t len)
{
	struct sched_request **place = sched_request_slot(s, id), *r = *place;
	struct sched_entry *j = r->entry;

	if (off != r->off) {
		sched_conn_set_unsent(s, j, j->unsent - min_u64(j->unsent,
		    off - r->off));
		r->off = off;
		j->target.has_holes = 1;
	}
	extents_sent(&j->extents, r->extent, r->off, len);
	j->target.highest_sent = max_u64(j->target.highest_sent, r->off + len);
	s->conn[r->conn].in_flight += len + REQUEST_OVERHEAD;
	s->conn[r->conn].in_flight -= r->cost;
	r->cost = len + REQUEST_OVERHEAD;
	r->len = len;
	if (len != 0)
		return;
	j->source.eof = j->outcome != OUTCOME_FAILED;
	sched_request_retire(s, place);
	if (can_truncate_end(s, j))
		schedule_step(s, j, OP_SETSIZE_END);
	else
		seq_continue(s, j);
}

int
sched_relay(struct sched *s, struct sched_entry *j, uint64_t off, uint32_t len,
    struct sched_action *a)
{
	if (must_truncate_late(j) && s->late_truncate == LATE_TRUNCATE_FAILS)
		request_restart(j, RESTART_LATE_TRUNCATE);
	if (must_truncate_late(j) && s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);	/* The old one stays. */
	if (j->outcome != OUTCOME_OK)
		return 0;
	assert(j->state == STATE_DATA);
	return must_truncate_late(j) ? truncate_to_0(s, j, a) :
	    sched_request_new(s, j, j->owner, OP_WRITE, off, len, a);
}

int
sched_find(const struct sched *s, uint32_t id, struct sched_action *a)
{
	struct sched_request *r = *sched_request_slot(s, id);

	if (r == NULL)
		return -1;
	*a = (struct sched_action){ .op = r->op, .entry = r->entry,
	    .conn = r->conn, .id = r->id, .off = r->off, .len = r->len,
	    .temp_request = r->temp_request, .verify = r->verify,
	    .sent_us = r->sent_us };
	return 0;
}

static int
set_bytes(struct sched *s, struct sched_entry *j, const struct extent *r,
    const unsigned char *data, struct sched_bytes *w)
{
	sched_conn_count_buffered(s, j);
	if (r != NULL)
		*w = (struct sched_bytes){ r->off, r->len, data };
	return r != NULL;
}

int
sched_data_in(struct sched *s, uint32_t id, const unsigned char *data,
    uint32_t len, struct sched_bytes *w)
{
	struct sched_request *q = *sched_request_slot(s, id);
	struct extent *r = q->extent;
	int now;

	if (len == 0 || len > q->len)
		return 0;		/* sched_reply() says so. */
	q->extent = NULL;
	if ((now = extents_data(&q->entry->extents, r, data, len)) == -1)
		return -1;
	return set_bytes(s, q->entry, now ? r : NULL, data, w);
}

int
sched_data_written(struct sched *s, struct sched_entry *j, int ok,
    struct sched_bytes *w)
{
	struct extent *r;

	extents_written(&j->extents, ok);
	r = extents_next_buffered(&j->extents);
	return set_bytes(s, j, r, r == NULL ? NULL : r->data, w);
}

void
sched_children(struct sched *s, struct sched_entry *dir,
    enum sched_children what)
{
	switch (what) {
	case CHILDREN_COMPLETE:
		walk_children_complete(s, dir);
		break;
	case CHILDREN_PAUSE:
		sched_link_remove(&dir->queue);
		s->paused = dir;
		break;
	case CHILDREN_RESUME:
		if (s->paused == dir)
			walk_want_children(s, dir);
		s->paused = NULL;
	}
}

void
sched_set_exclusive(struct sched_entry *j)
{
	j->restart.exclusive = 1;
}

void
sched_update(struct sched *s, const struct sched_env *env)
{
	concurrency_set_handles(s, env->handle_limit);
	s->env.per_conn_limit = env->per_conn_limit;
	sched_conn_set_states(s, env->established, env->writable);
	s->env = *env;
}

struct sched_info
sched_info(const struct sched_entry *j)
{
	return (struct sched_info){ .kind = j->kind, .user = j->user,
	    .owner = j->owner, .pending_children = j->dir.pending_children,
	    .has_failed = j->outcome == OUTCOME_FAILED,
	    .restarts = j->outcome == OUTCOME_RESTART,
	    .restarts_after_loss = j->outcome == OUTCOME_RESTART &&
	    j->restart.reason == RESTART_CONNS_LOST, .is_whole = is_whole(j),
	    .identity_pending = j->handle.identity_pending,
	    .must_open_trunc = j->restart.open_trunc,
	    .unconfirmed_writes = multihost_has_unconfirmed(j),
	    .verify_request_lost = j->verify != NULL && j->verify->request_lost,
	    .verify_read_len = j->verify != NULL ? j->verify->read_len : 0,
	    .tempfile = has_tempfile(j) ? j->temp->file : NULL };
}

struct sched_stats
sched_stats(const struct sched *s)
{
	struct sched_stats stats = { .limit = s->limit, .active = s->active,
	    .tempfiles = s->ntempfiles, .stale_removals = s->nremoving_stale,
	    .truncate_unreliable = s->truncate_unreliable,
	    .next_id = s->next_id };
	unsigned int i;

	for (i = 0; i < s->nconns; i++) {
		stats.conn_files[i] = s->conn[i].files;
		stats.busy_conns += s->conn[i].files > 0 ||
		    s->conn[i].helper.handle == HANDLE_OPEN;
	}
	return stats;
}

/* What an entry that is not done waits for */
static const char *
waits_for(const struct sched *s, const struct sched_entry *j)
{
	if (j->state == STATE_HELD)
		return "its directory";
	if (j->state < STATE_OPENING)
		return "a slot";
	if (j->state == STATE_VERIFIED)
		return "less data in the queue";
	if (j->in_flight > 0)
		return "replies";
	if (j->kind == KIND_DIR_END && j->dir.pending_children > 0)
		return "what is below it";
	if (handle_is_lost(j))
		return "another connection";
	if (sched_link_is_empty(&j->queue))
		return j->nhelpers > 0 ? "its helpers" : "nothing";
	return s->env.writable == 0 ? "a connection that takes data" :
	    "its turn";
}

void
sched_dump(const struct sched *s, void (*print)(void *, void *, const char *),
    void *arg)
{
	static const char *const states[] = { "queued", "to look up", "lookup",
	    "held", "looked up", "opening", "verify before", "verified",
	    "data", "finishing", "closing", "verify after", "confirming",
	    "done" };
	static const char *const handles[] = { "closed", "open", "lost",
	    "opening", "unverified", "unavailable", "closing" };
	const struct sched_entry *j;
	char line[256];

	for (j = sched_next_in_order(s, NULL); j != NULL; j =
	    sched_next_in_order(s, j)) {
		if (j->state == STATE_QUEUED || j->state == STATE_DONE)
			continue;
		snprintf(line, sizeof(line), "%s, handle %s on connection %u, "
		    "%u helpers, %" PRIu64 " of %" PRIu64 " bytes, %u requests "
		    "in flight, waits for %s", states[j->state],
		    handles[j->handle.state], j->owner, j->nhelpers,
		    extents_contiguous_end(&j->extents), j->size, j->in_flight,
		    waits_for(s, j));
		print(arg, j->user, line);
	}
}

struct sched_entry *
sched_next_in_order(const struct sched *s, const struct sched_entry *j)
{
	const struct sched_link *next = j == NULL ? s->walk.next :
	    j->walk.next;

	return next == &s->walk ? NULL : entry_of_walk(next);
}

static int
stats_first(const struct sched_begin *b)
{
	return b->stat == STAT_FIRST ||
	    (b->stat == STAT_WITHOUT_TEMPFILE && !b->has_tempfile) ||
	    (b->stat == STAT_UNLESS_OURS && (!b->exists_ours ||
	    b->no_truncate));
}

void
sched_begin(struct sched *s, struct sched_entry *j, struct sched_begin *b)
{
	static const struct tempfile_conf removal = { .only_removes_stale = 1 };
	struct sched_target *target = &j->target;

	b->has_tempfile = b->tempfile != NULL && s->has_handle_limit &&
	    s->ntempfiles < b->max_tempfiles &&
	    tempfile_sched_add(s, j, b->tempfile) == 0;
	if (!b->has_tempfile && b->removes_stale && s->has_handle_limit)
		(void)tempfile_sched_add(s, j, &removal);
	target->exists_ours |= b->exists_ours;
	target->no_truncate = b->no_truncate = j->owner != s->main ||
	    b->is_shared;
	target->stat_first |= stats_first(b);
	b->truncates_late = b->truncate_late && !b->has_tempfile &&
	    !b->no_truncate && !j->restart.open_trunc && s->has_handle_limit &&
	    s->late_truncate != LATE_TRUNCATE_FAILS;
	if (b->truncates_late)
		target->setsize_0 = SETSIZE_0_PENDING;
}

void
sched_conn_lost(struct sched *s, unsigned int conn, unsigned int new_main)
{
	if (conn == SCHED_CONNS_ALL)
		failover_all_lost(s);
	else
		failover_conn_lost(s, conn, new_main);
}

unsigned int
sched_file_conns(const struct sched *s, const struct sched_entry *j)
{
	unsigned int i, n = is_open(j);

	for (i = 0; j->nhelpers > 0 && i < s->nconns; i++)
		n += s->conn[i].helper.file == j &&
		    s->conn[i].helper.handle == HANDLE_OPEN;
	return n;
}

void
sched_fail(struct sched_entry *j)
{
	raise_outcome(j, OUTCOME_FAILED);
}

void
sched_interrupt(struct sched *s)
{
	unsigned int i;

	if (s->interrupted)
		return;
	s->interrupted = 1;
	while (!sched_link_is_empty(&s->want_children))
		walk_children_complete(s,
		    entry_of_queue(s->want_children.next));
	if (s->paused != NULL)
		walk_children_complete(s, s->paused);
	s->paused = NULL;
	lookup_queue_fail(s, &s->ready);
	lookup_queue_fail(s, &s->looked_up);
	lookup_queue_fail(s, &s->waiting_for_dir);
	for (i = 0; i < SCHED_CONNS_MAX; i++)
		while (!sched_link_is_empty(&s->conn[i].data))
			seq_continue(s, dequeue(&s->conn[i].data));
	verify_sched_interrupt(s);
}

int
sched_is_done(const struct sched *s)
{
	return sched_link_is_empty(&s->walk) && s->nrequests == 0;
}

struct sched *
sched_new(const struct sched_conf *conf)
{
	struct sched *s = calloc(1, sizeof(*s));
	size_t i;

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	s->next_id = conf->first_id;
	concurrency_init(s);
	sched_link_init(&s->walk);
	sched_link_init(&s->ready);
	sched_link_init(&s->agenda);
	sched_link_init(&s->want_children);
	sched_link_init(&s->unlisted);
	sched_link_init(&s->pending_extents);
	sched_link_init(&s->tempfiles);
	sched_link_init(&s->looked_up);
	sched_link_init(&s->waiting_for_dir);
	sched_link_init(&s->verified);
	sched_link_init(&s->deferred);
	for (i = 0; i < SCHED_CONNS_MAX; i++) {
		sched_link_init(&s->conn[i].data);
		sched_link_init(&s->conn[i].works);
	}
	s->env.established = s->env.writable = s->nconns = 1;
	s->conn[0].limit = UINT64_MAX;
	return s;
}

void
sched_free(struct sched *s)
{
	struct sched_request *r;
	size_t i;

	if (s == NULL)
		return;
	while (!sched_link_is_empty(&s->walk)) {
		struct sched_entry *j = sched_next_in_order(s, NULL);

		sched_link_remove(&j->walk);
		extents_clear(&j->extents);
		tempfile_sched_drop(s, j);
		verify_sched_drop(j);
		multihost_drop(j);
		free(j);
	}
	for (i = 0; i < BUCKETS; i++)
		while ((r = s->bucket[i]) != NULL) {
			s->bucket[i] = r->next;
			free(r);
		}
	free(s);
}
