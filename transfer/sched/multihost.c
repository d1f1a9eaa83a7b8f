/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * multihost: files that go over connections to other hosts than that of the
 * main connection.
 *
 * Host 0 is authoritative. If another host cannot open the file, the transfer
 * restarts over the main connection. A download is checked right after it is
 * open (OP_FSTAT_IDENTITY). An upload is checked when all else is done
 * (OP_STAT_DEST_ON_HOST), over the main connection and over one to each other
 * host that was involved. If all see the same size and time, host 0 has what
 * the others wrote. A mismatch restarts the file.
 *
 * The file also restarts if a host that was involved is lost. That host may
 * have acknowledged data that was in its memory only. It may also resume later
 * and execute requests that were in flight when it was declared lost. If the
 * copy has made the target, the main connection removes it before the restart
 * (OP_REMOVE_OWN), and late requests change the removed file. A target that
 * existed before stays, with its mode and its hard links.
 *
 * If requests to any lost connection could still modify the file, the main
 * connection compares its size, and its mtime if that is preserved, with those
 * of the source when all else is done. A wrong mtime is set again (OP_SETSTAT)
 * and compared again. A wrong size restarts the file, once.
 */

#include <stdlib.h>

#include "sched-internal.h"

void
multihost_note_unconfirmed(struct sched_entry *j)
{
	if (j->hosts == NULL && (j->hosts = calloc(1, sizeof(*j->hosts))) ==
	    NULL)
		raise_outcome(j, OUTCOME_FAILED);
	else
		j->hosts->unconfirmed_writes = 1;
}

int
multihost_has_unconfirmed(const struct sched_entry *j)
{
	return j->hosts != NULL && j->hosts->unconfirmed_writes;
}

int
multihost_is_involved(const struct sched_entry *j)
{
	return j->hosts != NULL && j->hosts->involved != 0;
}

void
multihost_drop(struct sched_entry *j)
{
	free(j->hosts);
	j->hosts = NULL;
}

void
multihost_restarted(struct sched_entry *j)
{
	if (j->hosts == NULL)
		return;
	j->hosts->involved = 0;
	j->hosts->mismatch = j->hosts->mtime_mismatch = 0;
}

int
multihost_is_other(const struct sched *s, const struct sched_entry *j)
{
	return j->kind == KIND_FILE && (s->env.other_hosts >> j->owner & 1) !=
	    0;
}

void
multihost_restart_on_first(struct sched *s, struct sched_entry *j)
{
	j->restart.exclude_conns |= s->env.other_hosts;
	if (!s->interrupted)
		request_restart(j, RESTART_HOST_MISMATCH);
}

/* What follows when all has been seen, or need not be */
static enum sched_op
decide_after_check(struct sched *s, struct sched_entry *j)
{
	if (j->state == STATE_CONFIRMING)
		walk_set_state(j, STATE_CLOSING);
	if (j->hosts->mtime_mismatch && !j->hosts->mismatch) {
		j->hosts->mtime_mismatch = 0;
		return OP_SETSTAT;
	}
	j->hosts->involved = 0;
	j->hosts->unconfirmed_writes &= j->hosts->mismatch;
	if (j->hosts->mismatch && (!j->hosts->had_mismatch ||
	    (s->env.other_hosts &
	    ~j->restart.exclude_conns) != 0))
		multihost_restart_on_first(s, j);
	j->hosts->had_mismatch |= j->hosts->mismatch;
	if (j->hosts->mismatch && j->outcome == OUTCOME_OK)
		raise_outcome(j, OUTCOME_FAILED);
	return j->outcome == OUTCOME_RESTART ? OP_RESTART : OP_END;
}

void
multihost_check_before_end(struct sched *s, struct sched_entry *j)
{
	if (j->step != OP_END || j->hosts == NULL ||
	    (j->hosts->involved == 0 && !j->hosts->unconfirmed_writes) ||
	    j->outcome == OUTCOME_FAILED)
		return;
	j->step = OP_STAT_DEST_ON_HOST;
	if (j->hosts->mismatch)
		j->step = decide_after_check(s, j);
	if (j->step == OP_STAT_DEST_ON_HOST)
		walk_set_state(j, STATE_CONFIRMING);
	j->hosts->to_check = j->hosts->involved | 1U << s->main;
	j->handle.state = HANDLE_CLOSED;
}

int
multihost_check_next(struct sched *s, struct sched_entry *j,
    struct sched_action *a)
{
	unsigned int conn = 0;

	while ((j->hosts->to_check >> conn & 1) == 0)
		conn++;
	j->hosts->to_check &= ~(1U << conn);
	if (j->hosts->to_check != 0)
		schedule_step(s, j, OP_STAT_DEST_ON_HOST);
	return sched_request_new(s, j, conn, OP_STAT_DEST_ON_HOST, 0, 0, a);
}

void
multihost_reply(struct sched *s, struct sched_entry *j,
    enum sched_result result)
{
	j->hosts->mismatch |= result == RESULT_FAILED;
	j->hosts->mtime_mismatch |= result == RESULT_EOF;
	if (j->in_flight == 0 && j->hosts->to_check == 0)
		schedule_step(s, j, decide_after_check(s, j));
}

/* Returns 1 if something was written, or found to be complete. */
static int
has_written(const struct sched_entry *j)
{
	return j->handle.state != HANDLE_CLOSED || j->state ==
	    STATE_CONFIRMING || must_verify_after(j);
}

int
multihost_conn_lost(struct sched *s, struct sched_entry *j, unsigned int conn)
{
	if (j->hosts == NULL || (j->hosts->involved >> conn & 1) == 0)
		return 0;
	if (!has_written(j)) {
		j->hosts->involved &= ~(1U << conn);
		return 0;
	}
	j->hosts->mismatch = 1;
	j->restart.remove_first |= j->target.exists_ours;
	multihost_restart_on_first(s, j);
	if (j->state != STATE_CONFIRMING)
		return 0;
	j->hosts->to_check = 0;
	sched_link_remove(&j->queue);
	if (j->owner == conn)
		sched_conn_move(s, j, s->main);
	if (j->in_flight == 0)
		schedule_step(s, j, decide_after_check(s, j));
	return 1;
}

void
multihost_main_lost(struct sched *s, struct sched_entry *j, unsigned int conn)
{
	j->hosts->to_check &= ~(1U << conn);
	j->hosts->to_check |= 1U << s->main;
	schedule_step(s, j, OP_STAT_DEST_ON_HOST);
}
