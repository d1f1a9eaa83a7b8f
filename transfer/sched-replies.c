/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sched-replies.h. */

#include <stdlib.h>

#include "concurrency.h"
#include "conn-sched.h"
#include "extents.h"
#include "failover.h"
#include "lookup-queue.h"
#include "minmax.h"
#include "multihost.h"
#include "sched-internal.h"
#include "sched-replies.h"
#include "sequence.h"
#include "stripe.h"
#include "tempfile-sched.h"
#include "verify-sched.h"
#include "walk.h"

/* After so many replies of no data in a row a server is broken. */
#define ZERO_READS_MAX	2

/* The entry has taken its last step. */
static void
finish_entry(struct sched *s, struct sched_entry *j)
{
	if (j->lookup_only)
		s->nlookups--;
	else
		s->active--;
	sched_conn_leave(s, j);
	tempfile_sched_drop(s, j);
	j->hosts_involved = 0;
	if (s->sole_entry == j)
		s->sole_entry = NULL;
	if (!j->failed && !j->lookup_only)
		concurrency_succeeded(s, j);
	walk_entry_done(s, j);
}

/* Forgets what an entry has done, so that it restarts. */
static void
restart_entry(struct sched *s, struct sched_entry *j)
{
	s->active--;
	sched_conn_leave(s, j);
	tempfile_sched_drop(s, j);
	extents_begin(&j->extents, 0);
	j->start = 0;
	j->verify_when = VERIFY_NOT;
	j->is_reading_back = j->fstat_with_first_read = j->is_verifying =
	    j->verify_request_lost = 0;
	j->eof = j->read_past_size = j->zero_reads = j->restart = j->has_holes =
	    j->open_trunc_sent = 0;
	j->truncate_pending = j->fstat_type_pending = j->is_truncated =
	    j->write_answered = j->stat_first = 0;
	j->old_size_known = j->possible_source = 0;
	j->is_open = j->data_done = j->local_done = 0;
	j->identity_pending = j->final_check = j->mismatch =
	    j->nothing_to_copy = 0;
	j->mtime_mismatch = j->no_truncate = j->tried_excl = j->temp_undecided =
	    0;
	j->hosts_involved = 0;
	j->handle_state = HANDLE_NOT_LOST;
	if (s->interrupted) {
		j->failed = 1;
		walk_entry_done(s, j);
	} else
		walk_ready(s, j, 1);
}

void
sched_finish_local(struct sched *s)
{
	struct sched_entry *j = s->last_local.entry;
	enum sched_op op = s->last_local.op;

	s->last_local.op = 0;
	if (op == OP_BEGIN) {
		schedule_step(s, j, j->failed ? OP_END : seq_first(s, j));
	} else if (op == OP_DATA_DONE) {
		j->local_done = 1;
		if (j->temp != NULL)
			seq_closed(s, j);
		else
			schedule_step(s, j, seq_after_data(s, j, op));
	} else if (op == OP_VERIFY)
		verify_sched_local_done(s, j);
	else if (op == OP_RESTART)
		restart_entry(s, j);
	else if (op == OP_END)
		finish_entry(s, j);
	else if (op == OP_PRINT) {
		sched_link_remove(&j->walk);
		sched_link_remove(&j->queue);
		free(j);
		s->nentries--;
	}
}

/* The files that wait for OP_SETSIZE_0 restarts. */
static void
give_up_late_truncate(struct sched *s)
{
	struct sched_link *data, *l, *next;
	size_t i;

	s->late_truncate = LATE_TRUNCATE_FAILS;
	for (i = 0; i < SCHED_CONNS_MAX; i++) {
		data = &s->conn[i].data;
		for (l = data->next; l != data; l = next) {
			next = l->next;
			if (entry_of_queue(l)->truncate_pending)
				seq_continue(s, entry_of_queue(l));
		}
	}
}

static int
reply_data(struct sched *s, struct sched_request **place,
    enum sched_result result, uint32_t len)
{
	struct sched_request *r = *place;
	struct sched_entry *j = r->entry;
	int is_known = 0;

	if (result == RESULT_OK) {
		if (len > r->len || (len == 0 && ++j->zero_reads ==
		    ZERO_READS_MAX))
			return -1;
		seq_count_data(j, r, len);
	} else {
		if (r->extent != NULL)
			extents_fail(&j->extents, r->extent);
		else
			extents_end(&j->extents, r->off);
		if (result == RESULT_EOF)
			j->eof = 1;
		else if ((is_known = tempfile_sched_write_failed(j, r->off)) ==
		    0)
			concurrency_failed(s, j);
	}
	sched_conn_count_buffered(s, j);
	sched_conn_reply_aged(s, r, len);
	sched_request_retire(s, place);
	seq_continue(s, j);
	return j->restart || is_known;
}

/*
 * Names have arrived: their files may begin, while the rest is read. A server
 * that tells no limit may have no handle for them beside that of the directory.
 */
static void
reply_readdir(struct sched *s, struct sched_entry *j, enum sched_result result)
{
	if (result == RESULT_OK && s->has_handle_limit && !data_is_over(s, j))
		walk_want_children(s, j->dir_end);
	if (result != RESULT_OK)
		j->eof = 1;
	if (result == RESULT_FAILED) {
		j->failed = 1;
		sched_link_remove(&j->dir_end->queue);
	}
	j->max_readdirs = (uint32_t)min_u64(2 * j->max_readdirs, READDIRS_MAX);
	if (!data_is_over(s, j))
		schedule_step(s, j, OP_READDIR);
	else if (j->in_flight == 0)
		schedule_step(s, j, OP_CLOSE);
	else
		sched_link_remove(&j->queue);
}

/* The first look at a file over a connection to another host */
static void
reply_first_identity(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	j->identity_pending = 0;
	j->is_open = 1;
	j->handle_state = HANDLE_NOT_LOST;
	if (result != RESULT_OK)
		multihost_restart_on_first(s, j);
	j->fstat_with_first_read = j->verify_when != VERIFY_NOT && !s->conf.put;
	seq_continue(s, j);
}

/* It is there. */
static void
reply_excl_exists(struct sched *s, struct sched_entry *j)
{
	schedule_step(s, j, s->interrupted ? OP_END : OP_STAT);
	j->failed |= s->interrupted;
}

/* A file that is uploaded was looked at: is it there? */
static void
reply_stat_file(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	int is_new = j->no_truncate && result != RESULT_OK && !j->tried_excl;

	j->tried_excl |= is_new;
	schedule_step(s, j, j->restart ? OP_RESTART :
	    is_new ? OP_OPEN_EXCL : OP_OPEN);
}

/* The reply to OPEN or OPENDIR, of the source or the target */
static int
reply_open(struct sched *s, struct sched_entry *j, enum sched_op op,
    enum sched_result result)
{
	if (op == OP_OPEN_EXCL && j->temp != NULL &&
	    tempfile_sched_opened(s, j, result == RESULT_OK))
		return 1;
	if (op == OP_OPEN_EXCL && result != RESULT_OK) {
		reply_excl_exists(s, j);
		return 1;
	}
	j->exists_ours |= op == OP_OPEN_EXCL;
	if (result != RESULT_OK) {
		if (multihost_is_other(s, j))
			multihost_restart_on_first(s, j);
		else if (result == RESULT_EOF && !s->interrupted)
			j->restart = 1;		/* What was kept is gone. */
		else
			concurrency_failed(s, j);
		if (op == OP_OPEN_DEST)
			schedule_step(s, j, OP_CLOSE);
		else
			schedule_step(s, j, j->restart ? OP_RESTART : OP_END);
		return j->restart;
	}
	j->is_open = op == OP_OPEN || op == OP_OPEN_EXCL;
	if (j->failed || j->restart)
		schedule_step(s, j, OP_CLOSE);
	else if (op == OP_OPENDIR)
		schedule_step(s, j, OP_READDIR);
	else if (op == OP_OPEN && s->conf.cross)
		schedule_step(s, j, OP_OPEN_DEST);
	else if (s->conf.put ? j->start > 0 : multihost_is_other(s, j)) {
		j->identity_pending = 1;
		j->is_open = 0;
		j->handle_state = HANDLE_REOPENING;
		schedule_step(s, j, OP_FSTAT_IDENTITY);
	} else {
		j->fstat_with_first_read = j->verify_when != VERIFY_NOT &&
		    !s->conf.put;
		seq_continue(s, j);
	}
	return 0;
}

/*
 * What follows the reply to one of the last requests of a handle: the one that
 * has not been sent yet, or after the last reply the end.
 */
static void
reply_closing(struct sched *s, struct sched_entry *j, enum sched_op op)
{
	if (j->step == op && op != OP_CLOSE)
		schedule_step(s, j, seq_after_data(s, j, op));
	else if (sched_link_is_empty(&j->queue))
		seq_closed(s, j);
}

/* The reply to a request of a further connection */
static void
reply_helper(struct sched *s, struct sched_entry *j, unsigned int conn,
    enum sched_op op, enum sched_result result)
{
	stripe_reply(s, j, conn, op, result);
	if (op == OP_HELPER_CLOSE && result != RESULT_OK && s->conf.put)
		j->failed = j->write_error = 1;
	if (!j->data_done)
		seq_continue(s, j);
	else if (sched_link_is_empty(&j->queue) && j->temp == NULL)
		seq_closed(s, j);
}

/* The file was read at one place, on one of the two connections. */
static int
reply_sample(struct sched *s, struct sched_request **place,
    enum sched_result result)
{
	struct sched_entry *j = (*place)->entry;
	uint64_t off = (*place)->off;

	sched_request_retire(s, place);
	stripe_sampled(s, j, off, result);
	if (!j->data_done)
		seq_continue(s, j);
	return 0;
}

/* If it failed, OP_SETSIZE_FINAL comes. */
static void
reply_setsize_end(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	j->is_truncated = result == RESULT_OK;
	seq_continue(s, j);
}

/*
 * If WRITEs were answered before, they may have been done before as well, and
 * are lost.
 */
static int
reply_setsize_0(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	if (result != RESULT_OK)
		j->fstat_type_pending = 1;
	else if (j->write_answered) {
		j->restart |= !j->failed;
		give_up_late_truncate(s);
	} else if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_WORKS;
	seq_continue(s, j);
	return j->restart;
}

/* A file that is not regular has no old bytes, and shows nothing of others. */
static int
reply_fstat_type(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	j->fstat_type_pending = 0;
	if (result != RESULT_OK) {
		j->restart |= !j->failed;
		give_up_late_truncate(s);
	} else if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_UNKNOWN;
	seq_continue(s, j);
	return j->restart;
}

/* OP_SETSIZE_FINAL failed. If the next step was taken, no other look helps. */
static int
reply_setsize_failed(struct sched *s, struct sched_entry *j)
{
	if (j->step == OP_SETSIZE_FINAL)
		schedule_step(s, j, OP_FSTAT_SIZE);
	else {
		j->restart = j->must_open_trunc = s->truncate_unreliable = 1;
		reply_closing(s, j, OP_SETSIZE_FINAL);
	}
	return 1;
}

/*
 * A file that was not cut has its size, or restarts. Then the first
 * connection empties it when it is opened.
 */
static int
reply_fstat_size(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	if (result != RESULT_OK) {
		j->failed |= j->must_open_trunc;
		j->restart = !j->failed;
		j->must_open_trunc = s->truncate_unreliable = 1;
	}
	schedule_step(s, j, j->restart ? OP_CLOSE :
	    seq_after_data(s, j, OP_SETSIZE_FINAL));
	return j->restart;
}

/* A link has become something else. */
static void
link_looked_up(struct sched *s, struct sched_entry *j)
{
	if (!j->lookup_only)
		schedule_step(s, j, OP_BEGIN);
	else if (!lookup_queue_answered(s, j))
		schedule_step(s, j, OP_END);
}

/* What follows the reply to a request that changes something, or looks */
static void
reply_status(struct sched *s, struct sched_entry *j, enum sched_op op,
    enum sched_result result)
{
	if (op == OP_MKDIR && result != RESULT_OK) {
		if (j->dir_end != NULL)
			j->dir_end->existed = 1;
		schedule_step(s, j, s->conf.cross ? OP_STAT_DEST : OP_STAT);
	} else if (op == OP_OPEN_DEST_TRUNC)
		schedule_step(s, j, result == RESULT_OK ? OP_CLOSE_DEST :
		    OP_CLOSE);
	else if (op == OP_STAT_DEST && j->kind == KIND_FILE)
		schedule_step(s, j, j->failed ? OP_END : OP_OPEN);
	else if (s->conf.cross && result == RESULT_OK &&
	    (op == OP_MKDIR || op == OP_STAT_DEST))
		schedule_step(s, j, seq_after_mkdir(j));
	else if (op == OP_STAT && s->conf.put && j->kind == KIND_FILE)
		reply_stat_file(s, j, result);
	else if (op == OP_REMOVE_OWN) {
		j->remove_first = 0;
		schedule_step(s, j, seq_first(s, j));
	} else if (op == OP_STAT && result == RESULT_OK &&
	    j->kind != KIND_MESSAGE && !s->conf.put)
		link_looked_up(s, j);
	else if (op == OP_SETSIZE_FINAL || op == OP_FSETSTAT || op ==
	    OP_CLOSE || op == OP_CLOSE_DEST || op == OP_FSYNC || op ==
	    OP_FSTAT_SOURCE)
		reply_closing(s, j, op);
	else {
		j->failed |= (op == OP_STAT || op == OP_STAT_DEST) &&
		    result != RESULT_OK;
		schedule_step(s, j, OP_END);
	}
}

/* The reply to a request of the entry on its own connection, but of data */
static int
reply_owner(struct sched *s, struct sched_entry *j, enum sched_op op,
    enum sched_result result)
{
	if (op == OP_OPEN || op == OP_OPEN_EXCL || op == OP_OPENDIR ||
	    op == OP_OPEN_DEST)
		return reply_open(s, j, op, result);
	if (op == OP_STAT_DEST_ON_HOST) {
		multihost_reply(s, j, result);
		return j->restart;
	}
	if (op == OP_SETSIZE_0)
		return reply_setsize_0(s, j, result);
	if (op == OP_SETSIZE_FINAL && result != RESULT_OK && is_whole(j))
		return reply_setsize_failed(s, j);
	if (op == OP_FSTAT_TYPE)
		return reply_fstat_type(s, j, result);
	if (op == OP_FSTAT_SIZE)
		return reply_fstat_size(s, j, result);
	if (op == OP_SETSIZE_END)
		reply_setsize_end(s, j, result);
	else
		reply_status(s, j, op, result);
	return 0;
}

int
sched_take_reply(struct sched *s, uint32_t id, enum sched_result result,
    uint32_t len)
{
	struct sched_request **place = sched_request_slot(s, id);
	struct sched_entry *j;
	enum sched_op op;
	unsigned int conn;
	struct tempfile_request ask;

	if (*place == NULL)
		return -1;
	j = (*place)->entry;
	op = (*place)->op;
	if (op == OP_READ || op == OP_WRITE)
		return reply_data(s, place, result,
		    op == OP_WRITE ? (*place)->len : len);
	if (op_is_verify(op))
		return verify_sched_reply(s, place, result, len);
	conn = (*place)->conn;
	ask = (*place)->temp_request;
	if (op == OP_SAMPLE_OWNER || op == OP_SAMPLE_HELPER)
		return reply_sample(s, place, result);
	sched_request_retire(s, place);
	if (op == OP_FSTAT_IDENTITY && conn == j->owner &&
	    j->identity_pending) {
		reply_first_identity(s, j, result);
		return j->restart;
	}
	if (op == OP_REOPEN || op == OP_SAMPLE_REOPENED ||
	    (conn == j->owner && (op == OP_HELPER_OPEN || op ==
	    OP_FSTAT_IDENTITY)))
		return failover_reply(s, j, op, result);
	else if (op == OP_HELPER_OPEN || op == OP_FSTAT_IDENTITY || op ==
	    OP_HELPER_CLOSE)
		reply_helper(s, j, conn, op, result);
	else if (op == OP_READDIR)
		reply_readdir(s, j, result);
	else if (op == OP_TEMPFILE)
		return tempfile_sched_reply(s, j, &ask, result == RESULT_OK);
	else
		return reply_owner(s, j, op, result);
	return 0;
}
