/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-replies: decides what follows a reply to a request, and what follows
 * local work that the caller has done. A table has a function for each kind of
 * request. The replies to a verification, a temporary file, a helper connection
 * and a reopened file are passed on to verify-sched.h, tempfile-sched.c,
 * stripe.c and failover.c.
 */

#include <stdlib.h>

#include "extents.h"
#include "minmax.h"
#include "sched-internal.h"
#include "verify-sched.h"

/* After so many replies of no data in a row a server is broken. */
#define ZERO_READS_MAX	2

/* The entry has taken its last step. */
static void
finish_entry(struct sched *s, struct sched_entry *j)
{
	if (j->state == STATE_LOOKUP)
		s->nlookups--;
	else
		s->active--;
	sched_conn_leave(s, j);
	tempfile_sched_drop(s, j);
	multihost_drop(j);
	if (s->sole_entry == j)
		s->sole_entry = NULL;
	if (j->outcome != OUTCOME_FAILED && j->state != STATE_LOOKUP)
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
	verify_sched_drop(j);
	j->outcome = OUTCOME_OK;
	j->restart.reason = RESTART_NONE;
	j->source.eof = j->source.read_past_size = j->source.zero_reads =
	    j->handle.identity_pending = 0;
	j->target = (struct sched_target){ .old_size = UINT64_MAX,
	    .exists_ours = j->target.exists_ours,
	    .highest_sent = j->target.highest_sent };
	multihost_restarted(j);
	j->handle.state = HANDLE_CLOSED;
	walk_set_state(j, STATE_QUEUED);
	if (s->interrupted) {
		raise_outcome(j, OUTCOME_FAILED);
		walk_entry_done(s, j);
	} else
		walk_ready(s, j, 1);
}

static void
entry_begun(struct sched *s, struct sched_entry *j)
{
	schedule_step(s, j, j->outcome == OUTCOME_FAILED ? OP_END :
	    seq_first(s, j));
}

static void
data_done(struct sched *s, struct sched_entry *j)
{
	walk_set_state(j, STATE_CLOSING);
	if (has_tempfile(j))
		seq_closed(s, j);
	else
		schedule_step(s, j, seq_after(s, j, OP_DATA_DONE));
}

static void
free_entry(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->walk);
	sched_link_remove(&j->queue);
	verify_sched_drop(j);
	multihost_drop(j);
	free(j);
	s->nentries--;
}

/* After OP_ADD_CHILDREN nothing is to be done. */
static void (*const local_done[])(struct sched *, struct sched_entry *) = {
	[OP_BEGIN] = entry_begun,
	[OP_VERIFY] = verify_sched_local_done,
	[OP_DATA_DONE] = data_done,
	[OP_RESTART] = restart_entry,
	[OP_END] = finish_entry,
	[OP_PRINT] = free_entry,
};

void
sched_local_done(struct sched *s)
{
	enum sched_op op = s->last_local.op;

	s->last_local.op = 0;
	if (local_done[op] != NULL)
		local_done[op](s, s->last_local.entry);
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
			if (entry_of_queue(l)->target.setsize_0 ==
			    SETSIZE_0_PENDING)
				seq_continue(s, entry_of_queue(l));
		}
	}
}

/*
 * A handler takes a request that was answered, and is no longer in flight, and
 * schedules what follows. Returns 1 if the request failed and the file will be
 * restarted, or goes on without it, so that no error is to be reported.
 */
typedef int reply_handler(struct sched *, struct sched_entry *,
    const struct sched_request *);

/* Directories and links */

/* A link has become something else. */
static void
link_looked_up(struct sched *s, struct sched_entry *j)
{
	if (j->state != STATE_LOOKUP)
		schedule_step(s, j, OP_BEGIN);
	else if (!lookup_queue_answered(s, j))
		schedule_step(s, j, OP_END);
}

/* The target of an upload. If it must not be truncated, it may be new. */
static int
upload_target_looked_up(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	int is_new = j->target.no_truncate && result != RESULT_OK &&
	    !j->target.tried_excl;

	j->target.tried_excl |= is_new;
	schedule_step(s, j, j->outcome == OUTCOME_RESTART ? OP_RESTART :
	    is_new ? OP_OPEN_EXCL : OP_OPEN);
	return 0;
}

static int
on_stat(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	if (s->conf.put && j->kind == KIND_FILE)
		return upload_target_looked_up(s, j, r->result);
	if (r->result == RESULT_OK && j->kind != KIND_MESSAGE && !s->conf.put)
		link_looked_up(s, j);
	else {
		if (r->result != RESULT_OK)
			raise_outcome(j, OUTCOME_FAILED);
		schedule_step(s, j, OP_END);
	}
	return 0;
}

static int
on_stat_dest(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (j->kind == KIND_FILE)
		schedule_step(s, j, j->outcome == OUTCOME_FAILED ? OP_END :
		    OP_OPEN);
	else if (r->result == RESULT_OK)
		schedule_step(s, j, seq_after(s, j, OP_MKDIR));
	else {
		raise_outcome(j, OUTCOME_FAILED);
		schedule_step(s, j, OP_END);
	}
	return 0;
}

/* A directory that cannot be made may be there. */
static int
on_mkdir(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	if (r->result != RESULT_OK) {
		if (j->dir_end != NULL && !j->dir.mkdir_lost)
			j->dir_end->dir.existed = 1;
		schedule_step(s, j, s->conf.cross ? OP_STAT_DEST : OP_STAT);
	} else
		schedule_step(s, j, seq_after(s, j, OP_MKDIR));
	return 0;
}

static int
on_opendir(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	int restarts;

	if (r->result != RESULT_OK) {
		restarts = concurrency_failed(s, j);
		schedule_step(s, j, restarts ? OP_RESTART : OP_END);
		return restarts;
	}
	schedule_step(s, j, j->outcome == OUTCOME_OK ? OP_READDIR : OP_CLOSE);
	return 0;
}

/*
 * Names have arrived: their files may begin, while the rest is read. A server
 * that tells no limit may have no handle for them beside that of the directory.
 */
static int
on_readdir(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (r->result == RESULT_OK && s->has_handle_limit &&
	    !data_is_over(s, j))
		walk_want_children(s, j->dir_end);
	if (r->result != RESULT_OK)
		j->source.eof = 1;
	if (r->result == RESULT_FAILED) {
		raise_outcome(j, OUTCOME_FAILED);
		sched_link_remove(&j->dir_end->queue);
	}
	j->dir.max_readdirs = (uint32_t)min_u64(2 * j->dir.max_readdirs,
	    READDIRS_MAX);
	if (!data_is_over(s, j))
		schedule_step(s, j, OP_READDIR);
	else if (j->in_flight == 0)
		schedule_step(s, j, OP_CLOSE);
	else
		sched_link_remove(&j->queue);
	return 0;
}

static int
on_setstat(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	(void)r;
	schedule_step(s, j, OP_END);
	return 0;
}

/* The opening of a file */

static int
on_remove_own(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	(void)r;
	j->restart.remove_first = 0;
	schedule_step(s, j, seq_first(s, j));
	return 0;
}

static int
open_failed(struct sched *s, struct sched_entry *j, enum sched_result result)
{
	if (multihost_is_other(s, j))
		multihost_restart_on_first(s, j);
	else if (result == RESULT_EOF && !s->interrupted)
		request_restart(j, RESTART_TARGET_GONE);
	else
		concurrency_failed(s, j);
	schedule_step(s, j, j->outcome == OUTCOME_RESTART ? OP_RESTART :
	    OP_END);
	return j->outcome == OUTCOME_RESTART;
}

static void
data_may_begin(struct sched *s, struct sched_entry *j)
{
	walk_set_state(j, STATE_DATA);
	seq_continue(s, j);
}

static int
on_open(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	if (r->result != RESULT_OK)
		return open_failed(s, j, r->result);
	j->handle.state = HANDLE_OPEN;
	if (j->outcome != OUTCOME_OK)
		schedule_step(s, j, OP_CLOSE);
	else if (s->conf.cross)
		schedule_step(s, j, OP_OPEN_DEST);
	else if (s->conf.put ? j->start > 0 : multihost_is_other(s, j)) {
		j->handle.identity_pending = 1;
		j->handle.state = HANDLE_OPENING;
		schedule_step(s, j, OP_FSTAT_IDENTITY);
	} else
		data_may_begin(s, j);
	return 0;
}

static int
on_open_excl(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (has_tempfile(j) &&
	    tempfile_sched_opened(s, j, r->result == RESULT_OK))
		return 1;
	if (r->result == RESULT_OK) {
		j->target.exists_ours = 1;
		return on_open(s, j, r);
	}
	schedule_step(s, j, s->interrupted ? OP_END : OP_STAT);
	if (s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);
	return 1;
}

static int
on_open_dest(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	int restarts = 0;

	if (r->result != RESULT_OK)
		restarts = concurrency_failed(s, j);
	if (j->outcome != OUTCOME_OK)
		schedule_step(s, j, OP_CLOSE);
	else
		data_may_begin(s, j);
	return restarts;
}

/* The first look at a file that was opened */
static int
first_identity_seen(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	j->handle.identity_pending = 0;
	j->handle.state = HANDLE_OPEN;
	if (result != RESULT_OK)
		multihost_restart_on_first(s, j);
	data_may_begin(s, j);
	return j->outcome == OUTCOME_RESTART;
}

/* Data */

/*
 * If WRITEs were answered before, they may have been done before as well, and
 * are lost.
 */
static int
on_setsize_0(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (r->result != RESULT_OK)
		j->target.setsize_0 = SETSIZE_0_REFUSED;
	else if (j->target.write_answered) {
		request_restart(j, RESTART_LATE_TRUNCATE);
		give_up_late_truncate(s);
	} else if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_WORKS;
	data_may_begin(s, j);
	return j->outcome == OUTCOME_RESTART;
}

/* A file that is not regular has no old bytes, and shows nothing of others. */
static int
on_fstat_type(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	j->target.setsize_0 = SETSIZE_0_NOT;
	if (r->result != RESULT_OK) {
		request_restart(j, RESTART_LATE_TRUNCATE);
		give_up_late_truncate(s);
	} else if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_UNKNOWN;
	data_may_begin(s, j);
	return j->outcome == OUTCOME_RESTART;
}

/* If it failed, OP_SETSIZE_FINAL comes. */
static int
on_setsize_end(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	j->target.is_truncated = r->result == RESULT_OK;
	seq_continue(s, j);
	return 0;
}

/* READ or WRITE: "place" is retired here, after its age was taken. */
static int
data_answered(struct sched *s, struct sched_request **place,
    enum sched_result result, uint32_t len)
{
	struct sched_request *r = *place;
	struct sched_entry *j = r->entry;
	int is_known = 0;

	if (result == RESULT_OK) {
		if (len > r->len || (len == 0 && ++j->source.zero_reads ==
		    ZERO_READS_MAX))
			return -1;
		seq_count_data(j, r, len);
	} else {
		if (r->extent != NULL)
			extents_fail(&j->extents, r->extent);
		else
			extents_end(&j->extents, r->off);
		if (result == RESULT_EOF)
			j->source.eof = 1;
		else if ((is_known = tempfile_sched_write_failed(j, r->off)) ==
		    0)
			concurrency_failed(s, j);
	}
	sched_conn_count_buffered(s, j);
	sched_conn_reply_aged(s, r, len);
	sched_request_retire(s, place);
	seq_continue(s, j);
	return j->outcome == OUTCOME_RESTART || is_known;
}

/* The end of a file */

/*
 * What follows the reply to one of the last requests of a handle: the one that
 * has not been sent yet, or after the last reply the end.
 */
static int
on_closing(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (j->step == r->op && r->op != OP_CLOSE)
		schedule_step(s, j, seq_after(s, j, r->op));
	else if (sched_link_is_empty(&j->queue))
		seq_closed(s, j);
	return 0;
}

/*
 * OP_SETSIZE_FINAL failed after the next step was taken, so OP_FSTAT_SIZE can
 * no longer follow it. It does in the next attempt of a file without data,
 * which may be a device. A file with holes is a regular one.
 */
static void
restart_untruncated(struct sched *s, struct sched_entry *j)
{
	request_restart(j, RESTART_NOT_TRUNCATED);
	if (j->target.has_holes || s->truncate_unreliable)
		j->restart.open_trunc = s->truncate_unreliable = 1;
	else
		j->restart.asks_size = 1;
}

static int
on_setsize_final(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (r->result == RESULT_OK || !is_whole(j))
		return on_closing(s, j, r);
	if (j->step == OP_SETSIZE_FINAL)
		schedule_step(s, j, OP_FSTAT_SIZE);
	else {
		restart_untruncated(s, j);
		on_closing(s, j, r);
	}
	return 1;
}

/*
 * A file that was not cut has its size, or restarts. Then the first
 * connection empties it when it is opened.
 */
static int
on_fstat_size(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	if (r->result != RESULT_OK) {
		if (j->restart.open_trunc)
			raise_outcome(j, OUTCOME_FAILED);
		else
			request_restart(j, RESTART_NOT_TRUNCATED);
		j->restart.open_trunc = s->truncate_unreliable = 1;
	}
	schedule_step(s, j, j->outcome == OUTCOME_RESTART ? OP_CLOSE :
	    seq_after(s, j, OP_SETSIZE_FINAL));
	return j->outcome == OUTCOME_RESTART;
}

static int
on_open_dest_trunc(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	j->target.open_trunc_done = 1;
	schedule_step(s, j, r->result == RESULT_OK ? OP_CLOSE_DEST : OP_CLOSE);
	return 0;
}

static int
on_stat_dest_on_host(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	multihost_reply(s, j, r->result);
	return j->outcome == OUTCOME_RESTART;
}

/* Several connections */

static int
on_helper(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	stripe_reply(s, j, r->conn, r->op, r->result);
	if (r->op == OP_HELPER_CLOSE && r->result != RESULT_OK && s->conf.put) {
		raise_outcome(j, OUTCOME_FAILED);
		tempfile_sched_note_write_error(j);
	}
	seq_continue(s, j);
	return 0;
}

static int
on_reopen(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	return failover_reply(s, j, r->op, r->result);
}

/*
 * The helper may have become the owner since it was asked to open the file. A
 * file that restarts is moved to its helper, which still has to close it.
 */
static int
on_helper_open(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	return r->conn == j->owner && s->conn[r->conn].helper.file != j ?
	    on_reopen(s, j, r) : on_helper(s, j, r);
}

static int
on_fstat_identity(struct sched *s, struct sched_entry *j,
    const struct sched_request *r)
{
	return r->conn == j->owner && j->handle.identity_pending ?
	    first_identity_seen(s, j, r->result) :
	    on_helper_open(s, j, r);
}

/* The file was read at one place, on one of the two connections. */
static int
on_sample(struct sched *s, struct sched_entry *j, const struct sched_request *r)
{
	stripe_sampled(s, j, r->off, r->result);
	seq_continue(s, j);
	return 0;
}

/*
 * Those of a verification and of a temporary file have their own, in
 * verify-sched.c and tempfile-sched.c.
 */
static reply_handler *const handlers[] = {
	[OP_STAT] = on_stat,
	[OP_STAT_DEST] = on_stat_dest,
	[OP_MKDIR] = on_mkdir,
	[OP_OPENDIR] = on_opendir,
	[OP_READDIR] = on_readdir,
	[OP_SETSTAT] = on_setstat,

	[OP_REMOVE_OWN] = on_remove_own,
	[OP_OPEN] = on_open,
	[OP_OPEN_EXCL] = on_open_excl,
	[OP_OPEN_DEST] = on_open_dest,

	[OP_SETSIZE_0] = on_setsize_0,
	[OP_FSTAT_TYPE] = on_fstat_type,
	[OP_SETSIZE_END] = on_setsize_end,

	[OP_SETSIZE_FINAL] = on_setsize_final,
	[OP_FSTAT_SIZE] = on_fstat_size,
	[OP_FSTAT_SOURCE] = on_closing,
	[OP_FSETSTAT] = on_closing,
	[OP_FSYNC] = on_closing,
	[OP_CLOSE] = on_closing,
	[OP_CLOSE_DEST] = on_closing,
	[OP_OPEN_DEST_TRUNC] = on_open_dest_trunc,
	[OP_STAT_DEST_ON_HOST] = on_stat_dest_on_host,

	[OP_HELPER_OPEN] = on_helper_open,
	[OP_FSTAT_IDENTITY] = on_fstat_identity,
	[OP_SAMPLE_OWNER] = on_sample,
	[OP_SAMPLE_HELPER] = on_sample,
	[OP_HELPER_CLOSE] = on_helper,
	[OP_REOPEN] = on_reopen,
	[OP_SAMPLE_REOPENED] = on_reopen,
};

/*
 * Takes over what a reply reports about its file, before its handler decides.
 * Returns 0, or -1 if out of memory.
 */
static int
note_reply(struct sched *s, struct sched_entry *j,
    const struct sched_reply *reply)
{
	if (reply->kind != KIND_LINK) {
		if (walk_set_kind(s, j, reply->kind, reply->size) != 0)
			return -1;
		sched_set_size(s, j, reply->size);
	}
	if (reply->local_conflict) {
		request_restart(j, RESTART_LOCAL_CONFLICT);
		j->restart.exclusive = 1;
	}
	if (reply->old_size != UINT64_MAX)
		j->target.old_size = reply->old_size;
	if (reply->needs_main_conn) {
		j->restart.exclude_conns = ~(1U << s->main);
		request_restart(j, RESTART_NEEDS_MAIN);
	}
	if (reply->possible_source) {
		j->target.possible_source = 1;
		j->target.setsize_0 = SETSIZE_0_NOT;
	}
	if (reply->stops_reading)
		j->verify->stops_reading = 1;
	return 0;
}

int
sched_reply(struct sched *s, uint32_t id, const struct sched_reply *reply)
{
	struct sched_request **place = sched_request_slot(s, id), r;

	if (*place == NULL)
		return -1;
	r = **place;
	if (note_reply(s, r.entry, reply) != 0)
		return -2;
	if (r.op == OP_READ || r.op == OP_WRITE)
		return data_answered(s, place, reply->result,
		    r.op == OP_WRITE ? r.len : reply->len);
	if (r.verify != NULL)
		return verify_sched_reply(s, place, reply->result, reply->len);
	sched_request_retire(s, place);
	if (r.temp_request.op != 0)
		return tempfile_sched_reply(s, r.entry, &r.temp_request, reply);
	r.result = reply->result;
	return handlers[r.op](s, r.entry, &r);
}
