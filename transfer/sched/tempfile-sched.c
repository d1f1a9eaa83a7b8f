/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-sched: the files of a scheduler that may be put over several
 * connections.
 *
 * tempfile.h decides when the data of such a file appears under its name, and
 * which requests that takes (OP_TEMPFILE). They use the main connection, so
 * that owns the file. Some are sent before the file is opened, to find out how:
 * with SSH2_FXF_EXCL (OP_OPEN_EXCL), under its name or a temporary one, because
 * a new file and an existing one are handled differently, or as it stands.
 * Others are sent during the transfer, and the last ones after all helpers have
 * closed the file: they replace the normal SETSIZE, FSETSTAT and CLOSE at the
 * end of other files.
 *
 * Any other file that is uploaded may have a temporary file that only removes
 * what killed copies have left beside it. It asks while the data moves, and if
 * it has found something, before OP_END. It takes the owner from the handle of
 * the main connection, so a file that another connection owns asks nothing.
 */

#include <stddef.h>
#include <stdlib.h>

#include "extents.h"
#include "sched-internal.h"
#include "tempfile.h"

int
tempfile_sched_add(struct sched *s, struct sched_entry *j,
    const struct tempfile_conf *conf)
{
	struct sched_temp *temp = calloc(1, sizeof(*temp));

	if (temp == NULL || (temp->file = tempfile_new(conf)) == NULL) {
		free(temp);
		return -1;
	}
	temp->entry = j;
	temp->only_removes_stale = conf->only_removes_stale;
	sched_link_before(&temp->link, &s->tempfiles);
	j->temp = temp;
	if (has_tempfile(j)) {
		s->ntempfiles++;
		sched_conn_move(s, j, s->main);
	}
	return 0;
}

void
tempfile_sched_drop(struct sched *s, struct sched_entry *j)
{
	if (j->temp == NULL)
		return;
	s->ntempfiles -= !j->temp->only_removes_stale;
	s->nremoving_stale -= !has_tempfile(j) && j->temp->is_awaited;
	tempfile_free(j->temp->file);
	sched_link_remove(&j->temp->link);
	free(j->temp);
	j->temp = NULL;
}

void
tempfile_sched_note_write_error(struct sched_entry *j)
{
	if (j->temp != NULL)
		j->temp->write_error = 1;
}

/* Returns 1 if a connection that is up has nothing to do, and would help. */
static int
helper_is_idle(const struct sched *s, const struct sched_entry *j)
{
	unsigned int i;

	if (s->env.stripe_min == 0 || unmoved_bytes(j) < s->env.stripe_min)
		return 0;
	for (i = 0; i < s->nconns; i++) {
		if (i != s->main && ((s->env.established &
		    ~j->restart.exclude_conns) >> i & 1) != 0 &&
		    s->conn[i].helper.file == NULL &&
		    sched_link_is_empty(&s->conn[i].data))
			return 1;
	}
	return 0;
}

static enum tempfile_phase
phase_now(const struct sched *s, const struct sched_entry *j)
{
	if (j->temp->is_awaited)
		return has_tempfile(j) ? TEMPFILE_BEGINS : TEMPFILE_ENDS;
	if (!is_open(j))
		return TEMPFILE_WAITS;
	if (data_is_done(j))
		return has_tempfile(j) && j->nhelpers == 0 ? TEMPFILE_ENDS :
		    TEMPFILE_WAITS;
	/* The owner of what is left over is known by a handle there. */
	return has_tempfile(j) || j->owner == s->main ? TEMPFILE_MOVES :
	    TEMPFILE_WAITS;
}

static struct tempfile_now
state_now(const struct sched *s, const struct sched_entry *j)
{
	return (struct tempfile_now){ .phase = phase_now(s, j),
	    .us = s->env.now_us,
	    .contiguous_end = extents_contiguous_end(&j->extents),
	    .cursor = j->extents.cursor,
	    .highest_sent = j->target.highest_sent,
	    .in_flight = j->temp->in_flight,
	    .no_more_data = data_is_over(s, j),
	    .stopped = s->interrupted || (j->outcome == OUTCOME_FAILED &&
	    !j->temp->write_error), .failed = j->temp->write_error,
	    .restart = j->restart.reason != RESTART_NONE,
	    .server_caps = s->env.server_caps,
	    .conns_wanted = s->env.conns_wanted,
	    .helper_idle = helper_is_idle(s, j) };
}

static int
send_temp_request(struct sched *s, struct sched_entry *j,
    const struct tempfile_request *ask, struct sched_action *a)
{
	if (sched_request_new(s, j, s->main, OP_TEMPFILE, ask->off, 0, a) != 1)
		return -1;
	(*sched_request_slot(s, a->id))->temp_request = a->temp_request = *ask;
	j->temp->in_flight++;
	return 1;
}

/* The file goes on as it began. */
static void
revert_to_in_place(struct sched *s, struct sched_entry *j, uint64_t kept)
{
	extents_clear(&j->extents);
	extents_begin(&j->extents, kept);
	j->source.eof = 0;
	walk_set_state(j, STATE_DATA);
	sched_conn_set_unsent(s, j, unmoved_bytes(j));
	seq_continue(s, j);
}

/* It is opened in the way that the temporary file has decided on. */
static void
open_entry(struct sched *s, struct sched_entry *j, enum tempfile_op way)
{
	j->temp->is_awaited = 0;
	if (s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);
	schedule_step(s, j, j->outcome == OUTCOME_FAILED ? OP_END :
	    way == TEMPFILE_OPEN_OLD ? OP_OPEN : OP_OPEN_EXCL);
}

/* The temporary file has ended, or what only removes stale ones. */
static void
end_tempfile(struct sched *s, struct sched_entry *j)
{
	const struct tempfile_info info = tempfile_info(j->temp->file);

	if (!has_tempfile(j)) {
		j->temp->is_awaited = 0;
		s->nremoving_stale--;
		schedule_step(s, j, OP_END);
		return;
	}
	if (info.has_failed)
		raise_outcome(j, OUTCOME_FAILED);
	if (info.must_restart)
		request_restart(j, RESTART_TEMPFILE);
	/* What has the name is not ours. */
	j->restart.remove_first &= !info.is_not_renamed;
	j->handle.state = HANDLE_CLOSED;
	schedule_step(s, j, OP_DATA_DONE);
}

/* Does what is next. Returns 1 if that is a request. */
static int
next_request(struct sched *s, struct sched_entry *j, struct tempfile_request *l)
{
	const struct tempfile_now now = state_now(s, j);

	if (tempfile_next(j->temp->file, &now, l) == 0)
		return 0;
	switch (l->op) {
	case TEMPFILE_OPEN_TEMP:
	case TEMPFILE_OPEN_NEW:
	case TEMPFILE_OPEN_OLD:
		open_entry(s, j, l->op);
		return 0;
	case TEMPFILE_CONTINUE:
		revert_to_in_place(s, j, l->off);
		return 0;
	case TEMPFILE_END:
		end_tempfile(s, j);
		return 0;
	default:
		return 1;
	}
}

int
tempfile_sched_precedes(struct sched *s, struct sched_entry *j)
{
	enum tempfile_state state;

	if (j->temp == NULL)
		return 0;
	state = tempfile_info(j->temp->file).state;
	if (has_tempfile(j))
		j->temp->is_awaited = j->step == OP_OPEN_EXCL &&
		    state == TEMPFILE_LOOKING;
	else if (j->step == OP_END && state != TEMPFILE_ENDED) {
		j->temp->is_awaited = 1;
		s->nremoving_stale++;
	}
	return j->temp->is_awaited;
}

int
tempfile_sched_opened(struct sched *s, struct sched_entry *j, int ok)
{
	const struct tempfile_reply reply = { .ok = ok };
	struct tempfile_request l = { .op = tempfile_info(j->temp->file).open };
	struct tempfile_now now = state_now(s, j);

	tempfile_reply(j->temp->file, &now, &l, &reply);
	if (ok)
		return 0;
	j->temp->is_awaited = 1;
	(void)next_request(s, j, &l);
	return 1;
}

int
tempfile_sched_next(struct sched *s, struct sched_action *a)
{
	struct tempfile_request l;
	struct sched_link *n;
	struct sched_entry *j;

	for (n = s->tempfiles.next; n != &s->tempfiles; n = n->next) {
		j = ((struct sched_temp *)((char *)n - offsetof(struct
		    sched_temp, link)))->entry;
		if (next_request(s, j, &l) == 1)
			return send_temp_request(s, j, &l, a);
	}
	return 0;
}

int
tempfile_sched_write_failed(struct sched_entry *j, uint64_t off)
{
	if (has_tempfile(j) && tempfile_write_failed(j->temp->file, off))
		return 1;
	tempfile_sched_note_write_error(j);
	return 0;
}

void
tempfile_sched_locate_write(const struct sched_entry *j, struct sched_action *a)
{
	a->at = a->off;
	if (has_tempfile(j))
		a->staging = tempfile_locate_write(j->temp->file, a->off,
		    &a->at);
}

int
tempfile_sched_reply(struct sched *s, struct sched_entry *j,
    const struct tempfile_request *l, const struct sched_reply *reply)
{
	struct tempfile *temp = j->temp->file;
	struct tempfile_reply said = reply->temp;
	struct tempfile_now now;
	int told;

	j->temp->in_flight--;
	now = state_now(s, j);
	said.ok = reply->result == RESULT_OK;
	told = tempfile_reply(temp, &now, l, &said);
	if (tempfile_info(temp).not_truncated && !j->restart.open_trunc) {
		if (s->interrupted)
			raise_outcome(j, OUTCOME_FAILED);
		else
			request_restart(j, RESTART_NOT_TRUNCATED);
		j->restart.open_trunc = s->truncate_unreliable = 1;
	}
	if (is_open(j) && !data_is_done(j))
		seq_continue(s, j);
	return !said.ok && !told;
}
