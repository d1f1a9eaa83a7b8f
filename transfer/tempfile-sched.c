/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See tempfile-sched.h. */

#include <stddef.h>

#include "conn-sched.h"
#include "extents.h"
#include "sched-internal.h"
#include "sequence.h"
#include "tempfile.h"
#include "tempfile-sched.h"

int
tempfile_sched_add(struct sched *s, struct sched_entry *j,
    const struct tempfile_conf *conf)
{
	if ((j->temp = tempfile_new(conf)) == NULL)
		return -1;
	sched_link_before(&j->temp_link, &s->tempfiles);
	s->ntempfiles++;
	sched_conn_move(s, j, 0);
	return 0;
}

int
tempfile_sched_remove_stale(struct sched *s, struct sched_entry *j)
{
	static const struct tempfile_conf conf = { .only_removes_stale = 1 };

	if ((j->stale_cleaner = tempfile_new(&conf)) == NULL)
		return -1;
	sched_link_before(&j->temp_link, &s->tempfiles);
	return 0;
}

void
tempfile_sched_drop(struct sched *s, struct sched_entry *j)
{
	s->ntempfiles -= j->temp != NULL;
	s->nremoving_stale -= j->is_removing_stale;
	j->is_removing_stale = 0;
	tempfile_free(j->temp);
	tempfile_free(j->stale_cleaner);
	j->temp = j->stale_cleaner = NULL;
	sched_link_remove(&j->temp_link);
}

struct tempfile *
tempfile_sched_requester(const struct sched_entry *j)
{
	return j->temp != NULL ? j->temp : j->stale_cleaner;
}

/* Returns 1 if a connection that is up has nothing to do, and would help. */
static int
helper_is_idle(const struct sched *s, const struct sched_entry *j)
{
	unsigned int i;

	if (s->stripe_min == 0 || unmoved_bytes(j) < s->stripe_min)
		return 0;
	for (i = 1; i < s->nconns; i++) {
		if (((s->established & ~j->excluded) >> i & 1) != 0 &&
		    s->conn[i].helped_file == NULL &&
		    sched_link_is_empty(&s->conn[i].data))
			return 1;
	}
	return 0;
}

static struct tempfile_now
state_now(const struct sched *s, const struct sched_entry *j)
{
	return (struct tempfile_now){ .us = s->now_us, .contiguous_end =
	    extents_contiguous_end(&j->extents), .cursor = j->extents.cursor,
	    .highest_sent = j->highest_sent, .in_flight = j->temp_requests,
	    .no_more_data = data_is_over(s, j), .stopped = s->interrupted ||
	    (j->outcome == OUTCOME_FAILED && !j->write_error), .failed =
	    j->write_error, .restart = j->outcome == OUTCOME_RESTART,
	    .server_caps = s->server_caps, .conns_wanted =
	    s->conns_wanted, .helper_idle = helper_is_idle(s, j) };
}

static int
send_temp_request(struct sched *s, struct sched_entry *j,
    const struct tempfile_request *ask, struct sched_action *a)
{
	if (sched_request_new(s, j, 0, OP_TEMPFILE, ask->off, 0, a) != 1)
		return -1;
	(*sched_request_slot(s, a->id))->temp_request = a->temp_request = *ask;
	j->temp_requests++;
	return 1;
}

/* The file goes on as it began. */
static void
revert_to_in_place(struct sched *s, struct sched_entry *j, uint64_t kept)
{
	extents_clear(&j->extents);
	extents_begin(&j->extents, kept);
	j->eof = 0;
	set_state(j, STATE_DATA);
	sched_conn_set_unsent(s, j, unmoved_bytes(j));
	seq_continue(s, j);
}

/* Returns 1 and the request that comes next at the end of the file. */
static int
next_at_end(struct sched *s, struct sched_entry *j, struct tempfile_request *l)
{
	struct tempfile_now now = state_now(s, j);
	uint64_t kept = tempfile_copied_bytes(j->temp, now.contiguous_end);

	if (tempfile_ask_at_end(j->temp, &now, l) == 1)
		return 1;
	if (tempfile_reverts(j->temp, &now))
		revert_to_in_place(s, j, kept);
	else if (tempfile_has_ended(j->temp)) {
		if (tempfile_has_failed(j->temp))
			raise_outcome(j, OUTCOME_FAILED);
		if (tempfile_wants_restart(j->temp))
			raise_outcome(j, OUTCOME_RESTART);
		/* What has the name is not ours. */
		j->remove_first &= !tempfile_is_not_renamed(j->temp);
		j->handle_state = HANDLE_CLOSED;
		schedule_step(s, j, OP_DATA_DONE);
	}
	return 0;
}

/* Returns 1 if it may have to remove something before the file's end. */
static int
stale_precedes_end(struct sched *s, struct sched_entry *j)
{
	if (j->stale_cleaner == NULL || tempfile_has_ended(j->stale_cleaner))
		return 0;
	j->is_removing_stale = 1;
	s->nremoving_stale++;
	return 1;
}

int
tempfile_sched_precedes(struct sched *s, struct sched_entry *j)
{
	unsigned int number;

	if (j->step == OP_END)
		return stale_precedes_end(s, j);
	if (j->temp == NULL || j->step != OP_OPEN_EXCL ||
	    tempfile_open_mode(j->temp, &number) != TEMPFILE_UNDECIDED)
		return 0;
	j->temp_undecided = 1;
	return 1;
}

/* Before it is open. When all is answered its next step is made. */
static int
next_before_open(struct sched *s, struct sched_entry *j,
    struct tempfile_request *l)
{
	struct tempfile_now now = state_now(s, j);
	enum tempfile_open_mode way;

	if (tempfile_ask_before_open(j->temp, &now, l) == 1)
		return 1;
	if ((way = tempfile_decide_open(j->temp, &now)) == TEMPFILE_UNDECIDED)
		return 0;
	j->temp_undecided = 0;
	if (s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);
	schedule_step(s, j, j->outcome == OUTCOME_FAILED ? OP_END : way == TEMPFILE_OPEN_OLD ?
	    OP_OPEN : OP_OPEN_EXCL);
	return 0;
}

int
tempfile_sched_opened(struct sched *s, struct sched_entry *j, int ok)
{
	unsigned int number;

	if (tempfile_opened(j->temp, ok) == 0)
		return 0;
	if (s->interrupted)
		raise_outcome(j, OUTCOME_FAILED);
	schedule_step(s, j, j->outcome == OUTCOME_FAILED ? OP_END :
	    tempfile_open_mode(j->temp, &number) == TEMPFILE_OPEN_OLD ? OP_OPEN : OP_OPEN_EXCL);
	return 1;
}

/* Beside a file that has no temporary file, or when it is closed */
static int
next_stale_removal(struct sched *s, struct sched_entry *j,
    struct tempfile_request *l)
{
	struct tempfile_now now = state_now(s, j);

	if (!j->is_removing_stale)
		return is_open(j) && !data_is_done(j) && j->owner == 0 &&
		    tempfile_ask_during_data(j->stale_cleaner, &now, l);
	if (tempfile_ask_at_end(j->stale_cleaner, &now, l) == 1)
		return 1;
	if (tempfile_has_ended(j->stale_cleaner)) {
		j->is_removing_stale = 0;
		s->nremoving_stale--;
		schedule_step(s, j, OP_END);
	}
	return 0;
}

static int
next_request(struct sched *s, struct sched_entry *j, struct tempfile_request *l)
{
	struct tempfile_now now;

	if (j->temp == NULL)
		return next_stale_removal(s, j, l);
	if (j->temp_undecided)
		return next_before_open(s, j, l);
	if (!is_open(j))
		return 0;
	if (data_is_done(j))
		return j->nhelpers > 0 ? 0 : next_at_end(s, j, l);
	now = state_now(s, j);
	return tempfile_ask_during_data(j->temp, &now, l);
}

int
tempfile_sched_next(struct sched *s, struct sched_action *a)
{
	struct tempfile_request l;
	struct sched_link *n;
	struct sched_entry *j;

	for (n = s->tempfiles.next; n != &s->tempfiles; n = n->next) {
		j = entry_of_temp_link(n);
		if (next_request(s, j, &l) == 1)
			return send_temp_request(s, j, &l, a);
	}
	return 0;
}

int
tempfile_sched_write_failed(struct sched_entry *j, uint64_t off)
{
	uint64_t at;

	if (j->temp != NULL && tempfile_locate_write(j->temp, off, &at)) {
		tempfile_staging_failed(j->temp);
		return 1;
	}
	j->write_error = 1;
	return 0;
}

void
tempfile_sched_locate_write(const struct sched_entry *j, struct sched_action *a)
{
	a->at = a->off;
	if (j->temp != NULL)
		a->staging = tempfile_locate_write(j->temp, a->off, &a->at);
}

int
tempfile_sched_reply(struct sched *s, struct sched_entry *j,
    const struct tempfile_request *l, int ok)
{
	struct tempfile *temp = tempfile_sched_requester(j);
	struct tempfile_now now;
	int told;

	j->temp_requests--;
	now = state_now(s, j);
	told = tempfile_reply(temp, l, ok, &now);
	if (tempfile_truncate_failed(temp) && !j->must_open_trunc) {
		raise_outcome(j, s->interrupted ? OUTCOME_FAILED :
		    OUTCOME_RESTART);
		j->must_open_trunc = s->truncate_unreliable = 1;
	}
	if (is_open(j) && !data_is_done(j))
		seq_continue(s, j);
	return !ok && !told;
}
