/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * failover: what becomes of the files whose connection is lost.
 *
 * The requests that were in flight on the connection are forgotten, and its
 * extents are assigned again. A file that the connection owned moves to another
 * one. If it had not been opened yet, it begins with its first request. If it
 * was open, it is opened again (OP_REOPEN) without truncation before the next
 * request that needs a handle. A download has to be the same file then
 * (OP_FSTAT_IDENTITY, and OP_SAMPLE_REOPENED for its data). An upload has to
 * have all the bytes that were acknowledged; if not, it restarts. The extents
 * that were not acknowledged are sent again, and so are its size and
 * attributes. A handle that was only to be closed needs nothing: the loss has
 * closed it.
 *
 * Requests in flight on a lost connection may still be executed at any later
 * time (suspended server, slow disk), so every request must be harmless when
 * executed late. A file is opened there without truncation, or as a new one. It
 * is overwritten with the same bytes, and truncated at most to its size.
 * Requests that change a file by its name use the main connection. What remains
 * is compared when all else is done: the size, and the mtime if it is preserved
 * (multihost.c).
 *
 * The main connection is the only one that truncates a file as it opens it, or
 * changes a file by its name; directories and temporary files use it as well.
 * If it is lost, another one becomes the main connection. Its requests for a
 * directory, or for the end of another connection's file, are sent again. A
 * file moves as from any other connection, and an upload to the new main
 * connection; but one with a temporary file, or with a truncation in flight,
 * restarts, and the caller compares the target as below.
 *
 * If all connections are lost, so is the transfer, unless the caller makes a
 * new one (SCHED_CONNS_ALL). Then nothing is left that another connection could
 * take over: each file that has begun restarts, and the caller compares the
 * target, which may have any part of the file. A directory or a link is asked
 * for again.
 */

#include <stddef.h>

#include "extents.h"
#include "minmax.h"
#include "op-table.h"
#include "sched-internal.h"
#include "verify-sched.h"

/*
 * Returns 1 if the request, of a file that is uploaded, may still change it.
 * "is_main": the main connection was lost.
 */
static int
may_execute_late(const struct sched *s, const struct sched_request *r,
    int is_main)
{
	const struct op_info *info;
	uint64_t at;

	if (!s->conf.put || r->entry->kind != KIND_FILE)
		return 0;
	if (r->op == OP_WRITE)
		return !has_tempfile(r->entry) || !tempfile_locate_write(
		    r->entry->temp->file, r->off, &at);
	info = r->verify != NULL ? r->verify : op_info(r->op);
	return info->late || (is_main && info->late_on_main);
}

/*
 * Returns 1 if the request would empty or remove what is written meanwhile, if
 * a server that is out of reach executes it late. "is_main": one connection is
 * lost, which was the main one, and another carries on at once.
 */
static int
is_harmful_late(const struct sched *s, const struct sched_request *r,
    int is_main)
{
	if (r->op == OP_SETSIZE_0)
		return 1;
	return is_main && s->conf.put && r->entry->kind == KIND_FILE &&
	    r->op != OP_TEMPFILE && !is_verifying(r->entry) &&
	    op_info(r->op)->late_on_main;
}

/* The file restarts, and is compared with its source after that. */
static void
forget_truncation(struct sched *s, struct sched_entry *j)
{
	if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_UNKNOWN;
	request_restart(j, RESTART_CONNS_LOST);
}

/* Forgets the requests in flight on a connection, or all (SCHED_CONNS_ALL). */
static void
forget_requests(struct sched *s, unsigned int conn, int is_main)
{
	struct sched_request **place, *r;
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		place = &s->bucket[i];
		while ((r = *place) != NULL) {
			if (conn != SCHED_CONNS_ALL && r->conn != conn) {
				place = &r->next;
				continue;
			}
			if (may_execute_late(s, r, is_main))
				multihost_note_unconfirmed(r->entry);
			/* The end of the names may overtake some of them. */
			if (r->op == OP_READDIR)
				r->entry->source.eof = 0;
			if (is_harmful_late(s, r, is_main && conn !=
			    SCHED_CONNS_ALL))
				forget_truncation(s, r->entry);
			sched_request_retire(s, place);
		}
	}
}

/*
 * Returns the new owner of an open file: a connection that helps with it, or
 * the one with the least work; SCHED_CONNS_MAX if it cannot be opened on any.
 */
static unsigned int
find_new_owner(const struct sched *s, const struct sched_entry *j)
{
	unsigned int i, best = SCHED_CONNS_MAX;

	for (i = 0; i < s->nconns; i++) {
		const struct sched_conn *l = &s->conn[i];

		if ((s->env.established >> i & 1) == 0)
			continue;
		if (l->helper.file == j && l->helper.handle != HANDLE_CLOSING)
			return i;
		if (l->helper.file == j || (j->restart.exclude_conns >>
		    i & 1) != 0)
			continue;
		if (best == SCHED_CONNS_MAX ||
		    sched_conn_work(l) < sched_conn_work(&s->conn[best]))
			best = i;
	}
	return best;
}

/* A helper, which has a handle or soon has one, becomes the owner. */
static void
promote_helper(struct sched *s, struct sched_entry *j, unsigned int conn)
{
	const struct sched_helper helper = s->conn[conn].helper;

	stripe_forget(s, conn);
	j->handle.state = helper.step == OP_FSTAT_IDENTITY ?
	    HANDLE_UNVERIFIED : helper.handle;
	if (helper.step != 0)
		schedule_step(s, j, helper.step);
}

/* "is_main": an upload that OPEN may have truncated stays on the main one. */
static void
choose_new_owner(struct sched *s, struct sched_entry *j, int is_main)
{
	unsigned int conn = is_main && s->conf.put ? s->main :
	    find_new_owner(s, j);

	stripe_repeat_identity(s, j);
	j->handle.op_after_reopen = 0;
	j->handle.state = conn == SCHED_CONNS_MAX ? HANDLE_UNAVAILABLE :
	    HANDLE_LOST;
	if (conn == SCHED_CONNS_MAX && j->state < STATE_CLOSING)
		raise_outcome(j, OUTCOME_FAILED);
	sched_conn_move(s, j, conn == SCHED_CONNS_MAX ? s->main :
	    conn);
	if (s->conn[j->owner].helper.file == j && conn != SCHED_CONNS_MAX)
		promote_helper(s, j, conn);
}

/* Returns 1 if the next step needs no connection. */
static int
needs_no_conn(const struct sched_entry *j)
{
	return !sched_link_is_empty(&j->queue) && op_is_local(j->step);
}

/* Moves a file that has no handle. */
static void
move_closed_file(struct sched *s, struct sched_entry *j, int is_main)
{
	sched_conn_move(s, j, is_main && s->conf.put ? s->main :
	    sched_conn_least_busy(s));
}

/* Its owner is lost, which was the main connection if "is_main". */
static void
move_file(struct sched *s, struct sched_entry *j, int is_main)
{
	int was_open = j->handle.state != HANDLE_CLOSED;

	if (verify_sched_conn_lost(s, j))
		return;
	if (needs_no_conn(j)) {
		if (was_open)
			choose_new_owner(s, j, is_main);
		else
			move_closed_file(s, j, is_main);
		return;
	}
	/*
	 * Nothing was lost: it waits to be copied, for a reply over another
	 * connection, or for its turn on the main connection.
	 */
	if (!was_open && (j->state == STATE_VERIFIED || j->state ==
	    STATE_CONFIRMING || j->in_flight > 0 ||
	    (!sched_link_is_empty(&j->queue) && op_info(j->step)->on_main))) {
		move_closed_file(s, j, is_main);
		return;
	}
	sched_link_remove(&j->queue);
	sched_link_remove(&j->pending_link);
	if (!was_open) {
		move_closed_file(s, j, is_main);
		schedule_step(s, j, seq_first(s, j));
		return;
	}
	choose_new_owner(s, j, is_main);
	if (j->state >= STATE_CLOSING)
		schedule_step(s, j, seq_after(s, j, OP_DATA_DONE));
	else {
		walk_set_state(j, STATE_DATA);
		seq_continue(s, j);
	}
}

/* Returns 1 if the entry has begun, and more than local work is left of it. */
static int
is_cut_short(const struct sched_entry *j)
{
	if (j->state < STATE_OPENING || j->state == STATE_DONE)
		return j->state == STATE_LOOKUP;
	if (sched_link_is_empty(&j->queue))
		return 1;
	/* Before its end a file may have to be seen over a lost connection. */
	return j->kind == KIND_FILE ? j->step != OP_END ||
	    (j->outcome != OUTCOME_FAILED && multihost_is_involved(j)) :
	    j->step < OP_BEGIN;
}

/* A directory, or a link, is asked for again from its first request on. */
static void
repeat_requests(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->queue);
	j->dir.mkdir_lost = j->kind == KIND_DIR;
	if (j->source.eof)
		schedule_step(s, j, OP_END);	/* All names were listed. */
	else
		schedule_step(s, j, seq_first(s, j));
}

static void
restart_file(struct sched *s, struct sched_entry *j)
{
	sched_link_remove(&j->queue);
	sched_link_remove(&j->pending_link);
	tempfile_sched_drop(s, j);
	j->handle = (struct sched_handle){ .state = HANDLE_CLOSED };
	if (j->verify != NULL)
		j->verify->read = NULL;
	if (s->interrupted) {
		raise_outcome(j, OUTCOME_FAILED);
		schedule_step(s, j, OP_RESTART);
		return;
	}
	j->outcome = OUTCOME_RESTART;
	j->restart.reason = RESTART_CONNS_LOST;
	j->restart.exclude_conns = 0;
	schedule_step(s, j, OP_RESTART);
}

/*
 * The file begins again. Other connections first end their part of it, as that
 * of a file that has failed.
 */
static void
restart_when_idle(struct sched *s, struct sched_entry *j)
{
	sched_conn_move(s, j, s->main);
	if (j->in_flight == 0 && j->nhelpers == 0) {
		restart_file(s, j);
		return;
	}
	tempfile_sched_drop(s, j);
	j->handle = (struct sched_handle){ .state = HANDLE_UNAVAILABLE };
	j->outcome = s->interrupted ? OUTCOME_FAILED : OUTCOME_RESTART;
	j->restart.reason = RESTART_CONNS_LOST;
	j->restart.exclude_conns = 0;
	seq_continue(s, j);
}

/* The temporary files that a killed copy has left stay there. */
static void
stop_removing_stale(struct sched *s, struct sched_entry *j)
{
	int is_awaited = j->temp->is_awaited;

	tempfile_sched_drop(s, j);
	if (is_awaited)
		schedule_step(s, j, OP_END);
}

/* Returns 1 if only the main connection takes the newest step of the file. */
static int
step_is_on_main(const struct sched_entry *j)
{
	return (j->step == OP_VERIFY_REQUEST ? j->verify->last :
	    op_info(j->step))->on_main;
}

/*
 * The main connection is lost, which had requests of files that other
 * connections own as well. Returns 1 if move_file() is not for this entry.
 */
static int
main_conn_lost(struct sched *s, struct sched_entry *j, unsigned int conn)
{
	if (j->kind != KIND_FILE && j->kind != KIND_LINK) {
		if (j->owner != conn)
			return 0;
		sched_conn_move(s, j, s->main);
		if (is_cut_short(j))
			repeat_requests(s, j);
		return 1;
	}
	if (!j->is_active)
		return 1;
	if (j->temp != NULL && !has_tempfile(j))
		stop_removing_stale(s, j);
	if (j->state == STATE_CONFIRMING) {
		if (j->owner == conn)
			sched_conn_move(s, j, s->main);
		multihost_main_lost(s, j, conn);
		return 1;
	}
	if (is_verifying(j))
		return j->owner != conn && (!step_is_on_main(j) ||
		    verify_sched_conn_lost(s, j));
	if (step_is_on_main(j) && j->in_flight == 0) {
		if (j->owner == conn)
			sched_conn_move(s, j, s->main);
		if (j->step == OP_REMOVE_OWN && j->outcome == OUTCOME_RESTART)
			restart_when_idle(s, j);
		else
			schedule_step(s, j, j->step);
		return 1;
	}
	if (j->owner != conn || !s->conf.put || (needs_no_conn(j) &&
	    j->handle.state == HANDLE_CLOSED) || (!has_tempfile(j) &&
	    (j->outcome != OUTCOME_RESTART || j->restart.reason !=
	    RESTART_CONNS_LOST)))
		return j->owner != conn;
	restart_when_idle(s, j);
	return 1;
}

void
failover_conn_lost(struct sched *s, unsigned int conn, unsigned int new_main)
{
	struct sched_entry *helped = s->conn[conn].helper.file, *j;
	struct sched_link *l;
	int is_main = conn == s->main;

	s->main = new_main;
	s->env.established &= ~(1U << conn);
	s->env.writable &= ~(1U << conn);
	forget_requests(s, conn, is_main);
	stripe_forget(s, conn);
	for (l = s->walk.next; l != &s->walk; l = l->next) {
		j = entry_of_walk(l);
		if (j->extents.nin_flight > 0)
			extents_requeue(&j->extents, conn);
		if (!multihost_conn_lost(s, j, conn) &&
		    !(is_main && main_conn_lost(s, j, conn)) && j->is_active &&
		    j->owner == conn)
			move_file(s, j, is_main);
	}
	if (is_main && s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_UNKNOWN;
	if (helped != NULL && (helped->step != OP_RESTART ||
	    sched_link_is_empty(&helped->queue)))
		seq_continue(s, helped);
}

void
failover_all_lost(struct sched *s)
{
	struct sched_entry *j;
	struct sched_link *l;
	unsigned int i;

	forget_requests(s, SCHED_CONNS_ALL, 1);
	for (i = 0; i < s->nconns; i++)
		stripe_forget(s, i);
	s->main = 0;
	for (l = s->walk.next; l != &s->walk; l = l->next) {
		j = entry_of_walk(l);
		sched_conn_move(s, j, s->main);
		if (!is_cut_short(j))
			continue;
		if (j->kind == KIND_FILE)
			restart_file(s, j);
		else
			repeat_requests(s, j);
	}
	if (s->late_truncate == LATE_TRUNCATE_ASKED)
		s->late_truncate = LATE_TRUNCATE_UNKNOWN;
	s->env.established = s->env.writable = 1;
	s->last_conn = 0;
}

int
failover_precedes(struct sched *s, struct sched_entry *j)
{
	if (!handle_is_lost(j) || op_info(j->step)->reopens ||
	    !data_is_done(j))
		return 0;
	if (j->handle.state == HANDLE_UNVERIFIED && j->step == OP_CLOSE)
		return 0;
	if (j->handle.state == HANDLE_UNAVAILABLE || j->step == OP_CLOSE) {
		seq_closed(s, j);
		return 1;
	}
	j->handle.op_after_reopen = j->step;
	j->step = OP_REOPEN;
	j->handle.state = HANDLE_OPENING;
	return 0;
}

/* It is open on its connection. */
static void
handle_reopened(struct sched *s, struct sched_entry *j)
{
	enum sched_op then = j->handle.op_after_reopen;

	j->handle.state = HANDLE_OPEN;
	j->handle.op_after_reopen = 0;
	if (then != 0)
		schedule_step(s, j, then);
	else
		seq_continue(s, j);
}

/* A put has opened another file, which is left as it is. */
static void
close_other_file(struct sched *s, struct sched_entry *j)
{
	j->handle.state = HANDLE_OPEN;
	j->handle.op_after_reopen = 0;
	if (s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);
	else
		request_restart(j, RESTART_TARGET_REPLACED);
	sched_link_remove(&j->pending_link);
	if (!data_is_done(j))
		walk_set_state(j, STATE_FINISHING);
	schedule_step(s, j, OP_CLOSE);
}

int
failover_reply(struct sched *s, struct sched_entry *j, enum sched_op op,
    enum sched_result result)
{
	uint64_t come = s->conf.put ? 0 : extents_contiguous_end(&j->extents);

	if (op != OP_FSTAT_IDENTITY && op != OP_SAMPLE_REOPENED && result ==
	    RESULT_OK)
		schedule_step(s, j, OP_FSTAT_IDENTITY);
	else if (op == OP_FSTAT_IDENTITY && result == RESULT_OK && come > 0) {
		j->handle.sample_off = sched_random(s,
		    come - min_u64(come, SCHED_SAMPLE_LEN));
		schedule_step(s, j, OP_SAMPLE_REOPENED);
	} else if (op == OP_FSTAT_IDENTITY || op == OP_SAMPLE_REOPENED) {
		if (result != RESULT_OK && !s->conf.put)
			raise_outcome(j, OUTCOME_FAILED);
		if (result == RESULT_OK || !s->conf.put)
			handle_reopened(s, j);
		else
			close_other_file(s, j);
	} else {
		/* A file with a mode of 0444 is written by its first handle. */
		if (s->conf.put && j->target.exists_ours && result ==
		    RESULT_FAILED &&
		    j->outcome != OUTCOME_FAILED && !s->interrupted) {
			request_restart(j, RESTART_CANNOT_REOPEN);
			j->restart.remove_first = 1;
		}
		/* What is sent anew was not lost here. */
		j->handle.state = HANDLE_UNAVAILABLE;
		if (j->outcome == OUTCOME_OK)
			raise_outcome(j, OUTCOME_FAILED);
		if (j->handle.op_after_reopen != 0)
			schedule_step(s, j, j->handle.op_after_reopen);
		else
			seq_continue(s, j);
	}
	return j->outcome == OUTCOME_RESTART;
}
