/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sequence.h. */

#include "extents.h"
#include "minmax.h"
#include "op-table.h"
#include "sched-internal.h"
#include "sequence.h"
#include "stripe.h"

/* A server that returns less than asked is asked for less, but not for this. */
#define UNIT_MIN	512

/* Nothing was asked for or sent, so there is nothing to cut off. */
static int
is_untouched(const struct sched_entry *j)
{
	return j->extents.cursor == j->start && !j->eof;
}

/* All data requests of a file are answered, and there will be no more. */
static void
data_finished(struct sched *s, struct sched_entry *j)
{
	set_state(j, STATE_FINISHING);
	j->is_whole = j->extents.first == NULL &&
	    extents_contiguous_end(&j->extents) >= j->extents.moved_end;
	stripe_close(s, j);
	if (j->temp != NULL)
		return;			/* tempfile_sched_next() */
	if (j->fstat_type_pending)
		schedule_step(s, j, OP_FSTAT_TYPE);
	else if (is_untouched(j)) {
		if (j->outcome == OUTCOME_OK)
			raise_outcome(j, OUTCOME_FAILED);
		schedule_step(s, j, s->conf.cross ? OP_CLOSE_DEST : OP_CLOSE);
	} else if (s->conf.cross && j->truncate_pending && is_whole(j)) {
		j->truncate_pending = 0;	/* The source has no bytes. */
		schedule_step(s, j, OP_SETSIZE_0);
	} else
		schedule_step(s, j, OP_DATA_DONE);
}

/* Returns 1 if data has to wait until the file is opened again. */
static int
must_reopen(struct sched *s, struct sched_entry *j)
{
	if (j->handle_state == HANDLE_LOST) {
		j->handle_state = HANDLE_REOPENING;
		schedule_step(s, j, OP_REOPEN);
	}
	return j->handle_state == HANDLE_REOPENING || j->handle_state ==
	    HANDLE_UNVERIFIED;
}

/* The last reply to what was read back has arrived. */
static void
readback_finished(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->queue);
	j->is_reading_back = 0;
	schedule_step(s, j, OP_READBACK_CLOSE);
}

void
seq_continue(struct sched *s, struct sched_entry *j)
{
	if (j->truncate_pending && s->late_truncate == LATE_TRUNCATE_FAILS)
		raise_outcome(j, OUTCOME_RESTART);
	sched_link_remove(&j->pending_link);
	if (!data_is_over(s, j)) {
		if (must_reopen(s, j))
			return;
		if (j->extents.npending > 0)
			sched_link_before(&j->pending_link,
			    &s->pending_extents);
		if (sched_link_is_empty(&j->queue) && has_more_data(j))
			enqueue(&s->conn[j->owner].data, j);
	} else if (j->in_flight == 0 && j->is_reading_back)
		readback_finished(s, j);
	else if (j->in_flight == 0)
		data_finished(s, j);
	else
		sched_link_remove(&j->queue);
}

/* Returns 1 if what is copied to is a server. */
static int
writes_to_server(const struct sched *s)
{
	return s->conf.put || s->conf.cross;
}

enum sched_op
seq_after_mkdir(const struct sched_entry *j)
{
	return j->kind == KIND_DIR_NO_LIST || j->external_children ? OP_END :
	    OP_OPENDIR;
}

enum sched_op
seq_first(const struct sched *s, const struct sched_entry *j)
{
	switch (j->kind) {
	case KIND_DIR:
	case KIND_DIR_NO_LIST:
		return writes_to_server(s) ? OP_MKDIR : seq_after_mkdir(j);
	case KIND_LINK:
		return OP_STAT;
	case KIND_DIR_END:
		return writes_to_server(s) && !(j->existed &&
		    s->conf.keep_found) ? OP_SETSTAT : OP_END;
	default:
		if (j->remove_first)
			return OP_REMOVE_OWN;
		if (j->verify_when == VERIFY_BEFORE)
			return OP_VERIFY;
		if (j->stat_first)
			return s->conf.cross ? OP_STAT_DEST : OP_STAT;
		return j->temp != NULL ? OP_OPEN_EXCL : OP_OPEN;
	}
}

/* Returns 1 if a file of the target has to be emptied. */
static int
must_empty_target(const struct sched_entry *j)
{
	return !is_whole(j) && !j->open_trunc_sent && !j->truncate_pending &&
	    !j->possible_source && !is_untouched(j);
}

/* What follows "op" when a file has all its data, between two servers */
static enum sched_op
after_data_cross(const struct sched *s, const struct sched_entry *j,
    enum sched_op op)
{
	if ((op == OP_DATA_DONE || op == OP_FSTAT_SOURCE) && s->conf.preserve &&
	    is_whole(j))
		return OP_FSETSTAT;
	if (op != OP_CLOSE_DEST)
		return OP_CLOSE_DEST;
	return must_empty_target(j) ? OP_OPEN_DEST_TRUNC : OP_CLOSE;
}

/*
 * Returns 1 if a file that is uploaded has to be cut. What is restarted may be
 * its own source, or be written by another connection before a late cut is
 * done. Nothing is cut without need: some servers empty a file before they set
 * its size.
 */
static int
must_truncate_last(const struct sched *s, const struct sched_entry *j)
{
	int is_old = j->no_truncate || (s->conf.in_place &&
	    !j->must_open_trunc);

	if ((j->outcome == OUTCOME_RESTART && !s->interrupted && (j->no_truncate ||
	    s->conf.in_place)) || target_fits(j,
	    extents_contiguous_end(&j->extents)) || j->possible_source)
		return 0;
	return !(j->is_truncated && is_whole(j)) &&
	    (is_old || j->outcome != OUTCOME_OK || j->has_holes);
}

enum sched_op
seq_after_data(const struct sched *s, const struct sched_entry *j,
    enum sched_op op)
{
	if (!s->conf.put && op == OP_DATA_DONE && j->possible_source &&
	    is_whole(j))
		return OP_FSTAT_SOURCE;
	if (s->conf.cross)
		return after_data_cross(s, j, op);
	if (s->conf.put && op == OP_DATA_DONE && must_truncate_last(s, j))
		return OP_SETSIZE_FINAL;
	if (j->outcome == OUTCOME_RESTART)
		return OP_CLOSE;
	if (s->conf.put && op != OP_FSETSTAT && op != OP_FSYNC &&
	    s->conf.preserve)
		return OP_FSETSTAT;
	if (s->conf.put && op != OP_FSYNC && s->conf.sync)
		return OP_FSYNC;
	return OP_CLOSE;
}

/* All is copied and closed: the check after that begins. */
static void
begin_verify_after(struct sched *s, struct sched_entry *j)
{
	set_state(j, STATE_VERIFY_AFTER);
	j->handle_state = HANDLE_CLOSED;
	schedule_step(s, j, OP_VERIFY);
}

/*
 * After the last reply, also of other connections, follows the end, or a check.
 */
void
seq_closed(struct sched *s, struct sched_entry *j)
{
	if (j->in_flight > 0 || j->nhelpers > 0)
		return;
	if (j->verify_when == VERIFY_AFTER && is_whole(j))
		begin_verify_after(s, j);
	else
		schedule_step(s, j, j->outcome == OUTCOME_RESTART ?
		    OP_RESTART : OP_END);
}

/*
 * OP_FSTAT_SIZE follows if OP_SETSIZE_FINAL fails. A file of which nothing was
 * sent, or not all, rather restarts: it has no OP_SETSIZE_END, and
 * would always wait.
 */
static int
asks_size_after_failure(const struct sched_entry *j)
{
	return is_whole(j) &&
	    (j->must_open_trunc || (!j->has_holes && j->extents.cursor > 0));
}

int
seq_need_not_wait(const struct sched *s, const struct sched_entry *j)
{
	if (j->step == OP_CLOSE_DEST)
		return !must_empty_target(j);	/* the other server is next */
	return s->has_handle_limit && (j->step == OP_FSETSTAT || j->step ==
	    OP_FSYNC || (j->step == OP_SETSIZE_FINAL &&
	    !asks_size_after_failure(j)));
}

unsigned int
seq_conn(const struct sched_entry *j)
{
	return op_info(j->step)->conn0 ? 0 : j->owner;
}

void
seq_set_old_size(struct sched_entry *j, uint64_t size)
{
	j->old_size_known = 1;
	j->old_size = size;
}

void
seq_restart_on_first(struct sched_entry *j)
{
	j->excluded = ~1U;
	raise_outcome(j, OUTCOME_RESTART);
}

void
seq_keep_possible_source(struct sched_entry *j)
{
	j->possible_source = 1;
	j->truncate_pending = 0;
}

void
seq_set_exclusive(struct sched_entry *j)
{
	j->exclusive = 1;
}

uint64_t
seq_offset(const struct sched_entry *j)
{
	switch (op_info(j->step)->offset) {
	case OFFSET_VERIFY:
		return j->verify_off;
	case OFFSET_CURSOR:
		return j->extents.cursor;
	case OFFSET_CONTIGUOUS:
		return extents_contiguous_end(&j->extents);
	case OFFSET_SAMPLE:
		return j->sample_off;
	default:
		return 0;
	}
}

/* The rest is asked for again. */
void
seq_count_data(struct sched_entry *j, const struct sched_request *r,
    uint32_t len)
{
	j->write_answered |= r->op == OP_WRITE;
	if (len < r->len)
		j->unit = (uint32_t)max_u64(UNIT_MIN,
		    min_u64(j->unit, len));
	if (r->extent != NULL)
		extents_done(&j->extents, r->extent, len);
}
