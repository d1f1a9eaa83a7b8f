/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sequence: the order in which an entry sends its requests.
 *
 * sequence.c has a table for each kind of entry: steps, and the condition under
 * which each is taken. The next step of an entry is on the agenda of the
 * scheduler until it is taken. A file that transfers data is in the queue of
 * its connection instead; when all data is acknowledged, or no more will come,
 * seq_after() returns the step that follows. The last requests of a file are
 * sent together if the server has announced its limit of open handles,
 * otherwise one by one.
 */

#include "extents.h"
#include "minmax.h"
#include "op-table.h"
#include "sched-internal.h"

/* A server that returns less than asked is asked for less, but not for this. */
#define UNIT_MIN	512

/* Nothing was asked for or sent, so there is nothing to cut off. */
static int
is_untouched(const struct sched_entry *j)
{
	return j->extents.cursor == j->start && !j->source.eof;
}

/* All data requests of a file are answered, and there will be no more. */
static void
data_finished(struct sched *s, struct sched_entry *j)
{
	walk_set_state(j, STATE_FINISHING);
	j->source.is_whole = j->extents.first == NULL &&
	    extents_contiguous_end(&j->extents) >= j->extents.moved_end;
	stripe_close(s, j);
	if (has_tempfile(j))
		return;			/* tempfile_sched_next() */
	if (j->target.setsize_0 == SETSIZE_0_REFUSED)
		schedule_step(s, j, OP_FSTAT_TYPE);
	else if (is_untouched(j)) {
		if (j->outcome == OUTCOME_OK)
			raise_outcome(j, OUTCOME_FAILED);
		schedule_step(s, j, s->conf.cross ? OP_CLOSE_DEST : OP_CLOSE);
	} else if (s->conf.cross && must_truncate_late(j) && is_whole(j)) {
		/* The source has no bytes. */
		j->target.setsize_0 = SETSIZE_0_NOT;
		schedule_step(s, j, OP_SETSIZE_0);
	} else
		schedule_step(s, j, OP_DATA_DONE);
}

/* Returns 1 if data has to wait until the file is opened again. */
static int
must_reopen(struct sched *s, struct sched_entry *j)
{
	if (j->handle.state == HANDLE_LOST) {
		j->handle.state = HANDLE_OPENING;
		schedule_step(s, j, OP_REOPEN);
	}
	return j->handle.state == HANDLE_OPENING || j->handle.state ==
	    HANDLE_UNVERIFIED;
}

/* The last reply to the READs of the range has arrived. */
static void
range_finished(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->queue);
	j->verify->read = NULL;
	j->verify->read_len = extents_contiguous_end(&j->extents) -
	    j->verify->read_start;
	schedule_step(s, j, OP_VERIFY_REQUEST);
}

/* The file takes its turn with its next READ or WRITE. */
static void
queue_data(struct sched *s, struct sched_entry *j)
{
	if (j->extents.npending > 0)
		sched_link_before(&j->pending_link, &s->pending_extents);
	if (sched_link_is_empty(&j->queue) && has_more_data(j))
		enqueue(&s->conn[j->owner].data, j);
}

static void
continue_data(struct sched *s, struct sched_entry *j)
{
	if (must_truncate_late(j) && s->late_truncate == LATE_TRUNCATE_FAILS)
		request_restart(j, RESTART_LATE_TRUNCATE);
	sched_link_remove(&j->pending_link);
	if (!data_is_over(s, j)) {
		if (!must_reopen(s, j))
			queue_data(s, j);
	} else if (j->in_flight == 0)
		data_finished(s, j);
	else
		sched_link_remove(&j->queue);
}

static void
continue_range(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->pending_link);
	if (!data_is_over(s, j))
		queue_data(s, j);
	else if (j->in_flight == 0)
		range_finished(s, j);
	else
		sched_link_remove(&j->queue);
}

/* A file with a temporary file ends as that says: tempfile_sched_next(). */
static void
end_when_idle(struct sched *s, struct sched_entry *j)
{
	if (sched_link_is_empty(&j->queue) && !has_tempfile(j))
		seq_closed(s, j);
}

/* The functions of the states look at the facts, whatever has changed. */
static void (*const states[])(struct sched *, struct sched_entry *) = {
	[STATE_VERIFY_BEFORE] = continue_range,
	[STATE_DATA] = continue_data,
	[STATE_FINISHING] = end_when_idle,
	[STATE_CLOSING] = end_when_idle,
	[STATE_VERIFY_AFTER] = continue_range,
	[STATE_DONE] = NULL
};

void
seq_continue(struct sched *s, struct sched_entry *j)
{
	if (states[j->state] != NULL)
		states[j->state](s, j);
}

/* Conditions of the sequences below */

static int
always(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	(void)j;
	return 1;
}

static int
must_remove_own(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return j->restart.remove_first;
}

static int
must_verify(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return must_verify_before(j);
}

static int
stats_first(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return j->target.stat_first;
}

static int
begins_temporary(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return has_tempfile(j);
}

static int
is_whole_possible_source(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return j->target.possible_source && is_whole(j);
}

static int
preserves_whole(const struct sched *s, const struct sched_entry *j)
{
	return s->conf.preserve && is_whole(j);
}

static int
preserves_unless_restarted(const struct sched *s, const struct sched_entry *j)
{
	return s->conf.preserve && j->outcome != OUTCOME_RESTART;
}

static int
syncs_unless_restarted(const struct sched *s, const struct sched_entry *j)
{
	return s->conf.sync && j->outcome != OUTCOME_RESTART;
}

/* Returns 1 if a file of the target has to be emptied. */
static int
must_empty_target(const struct sched *s, const struct sched_entry *j)
{
	(void)s;
	return !is_whole(j) && !j->target.open_trunc_done &&
	    !must_truncate_late(j) && !j->target.possible_source &&
	    !is_untouched(j);
}

/*
 * Returns 1 if an upload has to be truncated at its end. A file that restarts
 * is not: it may be its own source, or another connection may have written it
 * again before the server executes the truncation. Nothing is truncated without
 * need, because some servers empty a file before they set its size.
 */
static int
must_truncate_last(const struct sched *s, const struct sched_entry *j)
{
	int is_old = j->target.no_truncate || (s->conf.in_place &&
	    !j->restart.open_trunc);

	if ((j->outcome == OUTCOME_RESTART && !s->interrupted &&
	    (j->target.no_truncate || s->conf.in_place)) || target_fits(j,
	    extents_contiguous_end(&j->extents)) || j->target.possible_source)
		return 0;
	return !(j->target.is_truncated && is_whole(j)) &&
	    (is_old || j->outcome != OUTCOME_OK || j->target.has_holes);
}

static int
makes_dir(const struct sched *s, const struct sched_entry *j)
{
	(void)j;
	return s->conf.put || s->conf.cross;
}

static int
lists_dir(const struct sched *s, const struct sched_entry *j)
{
	return j->kind == KIND_DIR && !j->dir.external_children && !s->conf.put;
}

static int
sets_dir_attrs(const struct sched *s, const struct sched_entry *j)
{
	return (s->conf.put || s->conf.cross) &&
	    !(j->dir.existed && s->conf.keep_found);
}

/*
 * The order of the requests, and of local work, of each kind of entry. After a
 * step comes the next one whose condition holds then; an OPEN that succeeds
 * leads to OP_DATA_DONE. Between OPEN and OP_DATA_DONE all data is transferred,
 * with OP_SETSIZE_0 before the first WRITE and OP_SETSIZE_END after the last
 * one. sched-replies.c has the steps that only a failure leads to.
 */
struct step {
	enum sched_op op;
	int	(*is_taken)(const struct sched *, const struct sched_entry *);
};

static const struct step upload[] = {
	{ OP_REMOVE_OWN,	must_remove_own },
	{ OP_VERIFY,		must_verify },
	{ OP_STAT,		stats_first },
	{ OP_OPEN_EXCL,		begins_temporary },
	{ OP_OPEN,		always },
	{ OP_DATA_DONE,		always },
	{ OP_SETSIZE_FINAL,	must_truncate_last },
	{ OP_FSETSTAT,		preserves_unless_restarted },
	{ OP_FSYNC,		syncs_unless_restarted },
	{ OP_CLOSE,		always },
	{ OP_END,		always },
};

static const struct step download[] = {
	{ OP_VERIFY,		must_verify },
	{ OP_OPEN,		always },
	{ OP_DATA_DONE,		always },
	{ OP_FSTAT_SOURCE,	is_whole_possible_source },
	{ OP_CLOSE,		always },
	{ OP_END,		always },
};

static const struct step server_to_server[] = {
	{ OP_STAT_DEST,		stats_first },
	{ OP_OPEN,		always },
	{ OP_OPEN_DEST,		always },
	{ OP_DATA_DONE,		always },
	{ OP_FSTAT_SOURCE,	is_whole_possible_source },
	{ OP_FSETSTAT,		preserves_whole },
	{ OP_CLOSE_DEST,	always },
	{ OP_OPEN_DEST_TRUNC,	must_empty_target },
	{ OP_CLOSE,		always },
	{ OP_END,		always },
};

static const struct step directory[] = {
	{ OP_MKDIR,		makes_dir },
	{ OP_OPENDIR,		lists_dir },
	{ OP_END,		always },
};

static const struct step directory_end[] = {
	{ OP_SETSTAT,		sets_dir_attrs },
	{ OP_END,		always },
};

static const struct step link_or_name[] = {
	{ OP_STAT,		always },
	{ OP_END,		always },
};

static const struct step *
sequence_of(const struct sched *s, const struct sched_entry *j)
{
	switch (j->kind) {
	case KIND_DIR:
	case KIND_DIR_NO_LIST:
		return directory;
	case KIND_DIR_END:
		return directory_end;
	case KIND_LINK:
		return link_or_name;
	default:
		return s->conf.cross ? server_to_server :
		    s->conf.put ? upload : download;
	}
}

/* The first step from there on whose condition holds */
static enum sched_op
first_taken(const struct sched *s, const struct sched_entry *j,
    const struct step *step)
{
	while (!step->is_taken(s, j))
		step++;
	return step->op;
}

enum sched_op
seq_first(const struct sched *s, const struct sched_entry *j)
{
	return first_taken(s, j, sequence_of(s, j));
}

enum sched_op
seq_after(const struct sched *s, const struct sched_entry *j, enum sched_op op)
{
	const struct step *step = sequence_of(s, j);

	while (step->op != op)
		step++;
	return first_taken(s, j, step + 1);
}

/* All is copied and closed: the check after that begins. */
static void
begin_verify_after(struct sched *s, struct sched_entry *j)
{
	walk_set_state(j, STATE_VERIFY_AFTER);
	j->handle.state = HANDLE_CLOSED;
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
	if (must_verify_after(j) && is_whole(j))
		begin_verify_after(s, j);
	else
		schedule_step(s, j, j->outcome == OUTCOME_RESTART ?
		    OP_RESTART : OP_END);
}

/*
 * Returns 1 if OP_FSTAT_SIZE follows an OP_SETSIZE_FINAL that fails, so that
 * the next step has to wait for its reply. Files without OP_SETSIZE_END (no
 * data was sent, or it has holes) do not wait, and restart if it fails; one
 * without data waits then.
 */
static int
asks_size_after_failure(const struct sched_entry *j)
{
	return is_whole(j) &&
	    (j->restart.open_trunc || j->restart.asks_size ||
	    (!j->target.has_holes && j->extents.cursor > 0));
}

int
seq_need_not_wait(const struct sched *s, const struct sched_entry *j)
{
	if (j->step == OP_CLOSE_DEST)
		/* the other server is next */
		return !must_empty_target(s, j);
	return s->has_handle_limit && op_info(j->step)->overlaps &&
	    (j->step != OP_SETSIZE_FINAL || !asks_size_after_failure(j));
}

unsigned int
seq_conn(const struct sched *s, const struct sched_entry *j)
{
	return op_info(j->step)->on_main ? s->main : j->owner;
}

uint64_t
seq_offset(const struct sched_entry *j)
{
	switch (op_info(j->step)->offset) {
	case OFFSET_CURSOR:
		return j->extents.cursor;
	case OFFSET_CONTIGUOUS:
		return extents_contiguous_end(&j->extents);
	case OFFSET_SAMPLE:
		return j->handle.sample_off;
	default:
		return 0;
	}
}

/* The rest is asked for again. */
void
seq_count_data(struct sched_entry *j, const struct sched_request *r,
    uint32_t len)
{
	j->target.write_answered |= r->op == OP_WRITE;
	if (len < r->len)
		j->unit = (uint32_t)max_u64(UNIT_MIN,
		    min_u64(j->unit, len));
	if (r->extent != NULL)
		extents_done(&j->extents, r->extent, len);
}
