/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See tempfile.h for the idea. */

#include <assert.h>
#include <stdlib.h>

#include "minmax.h"
#include "tempfile.h"

/* Bytes of one copy-data request: the server is busy for some 10 ms. */
#define COPY_UNIT	(32 * 1024 * 1024)

/*
 * sftp-server tells no error of the last chunk of a copy-data request that has
 * a length (upstream's process_extended_copy_data()).
 */
#define COPY_CHUNK	(64 * 1024)

/* Where data goes: the staging file is used only in the last state. */
enum data_place { IN_PLACE, IN_TEMP, STAGING_OPENING, STAGING_CHECKING,
    STAGING_DECIDING, STAGING_REMOVING, IN_STAGING };

/* What was seen under a name */
enum name_seen { NAME_UNSEEN, NAME_ABSENT, NAME_OTHER, NAME_SAME };

struct tempfile {
	struct tempfile_conf conf;
	enum tempfile_state state;
	unsigned int step;		/* in the state */
	struct stale_temp stale;	/* what is under temporary names */
	unsigned int number;		/* of our temporary name */
	int	 target_exists, dir_is_safe; /* the file, the directory, then */
	enum tempfile_op open;		/* TEMPFILE_OPEN_*; 0: undecided */
	enum data_place place;
	int	 is_special, fstat_sent, old_size_known;
	int	 never_striped;			/* more than one connection */
	/* requests that tell the temporary file */
	unsigned int tag_requests;
	int	 is_tagged;		/* it has the time */
	int	 has_space;
	int	 copy_in_flight;
	int reverting, failed, truncate_failed, copy_failed, old_tail_remains,
	    restart;
	int	 temp_name_lost;		/* the temporary name */
	int	 has_temp, has_staging;
	int	 renames, is_renamed;	/* it gets its name, has it */
	enum name_seen temp_seen, target_seen;		/* under both */
	unsigned int target_lstats;
	uint64_t old_size;
	uint64_t staging_start, copied_end;	/* of the staging file */
};

struct tempfile *
tempfile_new(const struct tempfile_conf *conf)
{
	struct tempfile *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->conf = *conf;
	if (conf->searched != NULL)
		t->stale = *conf->searched;
	else
		stale_temp_begin(&t->stale, 0);
	t->conf.searched = NULL;
	if (conf->only_removes_stale) {
		t->open = TEMPFILE_OPEN_OLD;
		t->never_striped = 1;
		t->state = TEMPFILE_MOVING;
	}
	return t;
}

void
tempfile_free(struct tempfile *t)
{
	free(t);
}

uint64_t
tempfile_copied_bytes(const struct tempfile *t, uint64_t contiguous_end)
{
	return t->place == IN_STAGING && contiguous_end >=
	    t->staging_start ? t->copied_end : contiguous_end;
}

int
tempfile_locate_write(const struct tempfile *t, uint64_t off, uint64_t *at)
{
	int second = t->place == IN_STAGING && off >= t->staging_start;

	*at = off - (second ? t->staging_start : 0);
	return second;
}

int
tempfile_write_failed(struct tempfile *t, uint64_t off)
{
	uint64_t at;
	int second = tempfile_locate_write(t, off, &at);

	t->reverting |= second;
	return second;
}

/* Returns 0, as nothing is to be asked in the old state. */
static int
set_state(struct tempfile *t, enum tempfile_state state)
{
	t->state = state;
	t->step = 0;
	return 0;
}

static int
set_request(const struct tempfile *t, enum tempfile_op op,
    const struct tempfile_now *now, struct tempfile_request *a)
{
	*a = (struct tempfile_request){ .op = op, .number = t->number,
	    .off = tempfile_copied_bytes(t, now->contiguous_end) };
	return 1;
}

/* Temporary names */

/* Looks at all names, and later removes what nobody has written to. */
static int
search_stale(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	struct stale_temp_action next;

	if (t->stale.has_owner)
		stale_temp_remove_all(&t->stale);
	stale_temp_next(&t->stale, now->us, &next);
	*a = (struct tempfile_request){ .op = next.op == STALE_TEMP_LSTAT ?
	    TEMPFILE_LSTAT_STALE : TEMPFILE_REMOVE_STALE, .number =
	    next.number };
	return next.op == STALE_TEMP_LSTAT || next.op == STALE_TEMP_REMOVE;
}

/* Returns 0, or -1 if no name is free. */
static int
choose_free_name(struct tempfile *t, int is_second)
{
	const unsigned int first = is_second ? STALE_TEMP_STAGING : 0;
	const unsigned int n = is_second ?
	    STALE_TEMP_NAMES - STALE_TEMP_STAGING : STALE_TEMP_STAGING;
	unsigned int i, number;

	for (i = 0; i < n; i++) {
		number = first + (t->conf.number + i) % n;
		if (stale_temp_is_free(&t->stale, number)) {
			t->number = number;
			return 0;
		}
	}
	return -1;
}

/* Before it is open */

static int
look_up(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (!now->stopped && t->step < 2)
		return set_request(t, t->step++ == 0 ? TEMPFILE_LSTAT_TARGET :
		    TEMPFILE_LSTAT_DIR, now, a);
	if (!now->stopped && t->stale.phase == STALE_TEMP_LOOKING &&
	    search_stale(t, now, a) == 1)
		return 1;
	if (now->in_flight > 0 || (t->stale.phase == STALE_TEMP_LOOKING &&
	    !now->stopped))
		return 0;
	t->never_striped |= !t->dir_is_safe;
	t->open = t->target_exists ? TEMPFILE_OPEN_OLD :
	    now->conns_wanted && !t->never_striped && !t->conf.is_readonly &&
	    choose_free_name(t, 0) == 0 ? TEMPFILE_OPEN_TEMP :
	    TEMPFILE_OPEN_NEW;
	return set_state(t, TEMPFILE_OPENING);
}

static int
open_file(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (t->open == TEMPFILE_OPEN_OLD)
		set_state(t, TEMPFILE_MOVING);
	return set_request(t, t->open, now, a);
}

/* While it moves */

/*
 * The temporary file is marked; when it has data, it tells the server's clock.
 */
static int
tag_and_fstat(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (t->place != IN_TEMP || t->tag_requests > 2 ||
	    (t->tag_requests == 2 && now->contiguous_end == 0))
		return 0;
	return set_request(t, t->tag_requests++ == 0 ? TEMPFILE_SET_TAG :
	    TEMPFILE_FSTAT_TAG, now, a);
}

/*
 * A second connection is available: switch to a staging file if that is
 * possible.
 */
static int
begin_staging(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (t->never_striped || t->place != IN_PLACE || !now->helper_idle ||
	    !t->old_size_known)
		return 0;
	if ((now->server_caps & TEMPFILE_HAS_COPY) == 0 ||
	    choose_free_name(t, 1) == -1) {
		t->never_striped = 1;
		return 0;
	}
	t->place = STAGING_OPENING;
	return set_request(t, TEMPFILE_OPEN_STAGING, now, a);
}

/* The staging file is open. It is used if there is space for what comes. */
static int
prepare_staging(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	switch (t->place) {
	case STAGING_CHECKING:
		if (now->no_more_data)
			break;
		if (t->tag_requests++ < 2)
			return set_request(t, t->tag_requests == 1 ?
			    TEMPFILE_SET_TAG : TEMPFILE_FSTAT_TAG, now, a);
		t->place = STAGING_DECIDING;
		return set_request(t, TEMPFILE_STATVFS, now, a);
	case STAGING_DECIDING:
		if (now->in_flight > 0)
			return 0;
		if (now->no_more_data || !t->has_space || !t->is_tagged)
			break;
		t->place = IN_STAGING;
		t->staging_start = t->copied_end = now->cursor;
		return 0;
	case STAGING_REMOVING:
		t->place = IN_PLACE;
		return set_request(t, TEMPFILE_REMOVE_STAGING, now, a);
	default:
		return 0;
	}
	t->never_striped = 1;
	t->place = STAGING_REMOVING;
	return set_request(t, TEMPFILE_CLOSE_STAGING, now, a);
}

/*
 * Copies what is complete, if it is "least" bytes. At the end a length of 0
 * stands for all of the staging file, and errors of that are told.
 */
static int
copy_acked(struct tempfile *t, uint64_t least, int is_end,
    const struct tempfile_now *now, struct tempfile_request *a)
{
	uint64_t len = now->contiguous_end - t->copied_end;

	if (t->place != IN_STAGING || t->copy_failed ||
	    t->copy_in_flight || now->contiguous_end < t->staging_start || len <
	    least)
		return 0;
	t->copy_in_flight = 1;
	set_request(t, TEMPFILE_COPY_BACK, now, a);
	a->off = t->copied_end;
	a->at = t->copied_end - t->staging_start;
	if (!is_end || now->contiguous_end != now->highest_sent || len >
	    COPY_UNIT)
		a->len = (uint32_t)min_u64(len, COPY_UNIT);
	return 1;
}

static int
move(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (prepare_staging(t, now, a) == 1)
		return 1;
	if (now->no_more_data)
		return 0;
	if (t->conf.only_removes_stale && t->step == 0) {
		t->step = 1;
		return set_request(t, TEMPFILE_LSTAT_DIR, now, a);
	}
	if (t->place == IN_PLACE && !t->fstat_sent) {
		t->fstat_sent = 1;
		return set_request(t, TEMPFILE_FSTAT_OLD, now, a);
	}
	return search_stale(t, now, a) || tag_and_fstat(t, now, a) ||
	    begin_staging(t, now, a) || copy_acked(t, COPY_UNIT, 0, now, a);
}

/* The end */

/*
 * A staging file that came too late is removed as while data moves. If data is
 * missing behind it, the last chunk is not copied: sftp-server does not report
 * its errors.
 */
static int
finish_staging(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (prepare_staging(t, now, a) == 1)
		return 1;
	if (t->place != IN_STAGING)
		return set_state(t, TEMPFILE_TRUNCATING);
	if (t->step == 0 && copy_acked(t, now->contiguous_end ==
	    now->highest_sent ? 1 : COPY_CHUNK + 1, 1, now, a) == 1)
		return 1;
	if (t->step == 0 && now->in_flight > 0)
		return 0;
	switch (t->step++) {
	case 0:
		return set_request(t, TEMPFILE_CLOSE_STAGING, now, a);
	case 1:
		return set_request(t, TEMPFILE_REMOVE_STAGING, now, a);
	default:
		break;
	}
	if (now->in_flight > 0)
		return 0;
	if (!t->reverting || t->failed || now->failed || now->stopped)
		return set_state(t, TEMPFILE_TRUNCATING);
	/* The staging file could not be written: the file goes on alone. */
	set_request(t, TEMPFILE_CONTINUE, now, a);
	t->place = IN_PLACE;
	t->never_striped = t->fstat_sent = 1;
	t->reverting = 0;
	set_state(t, TEMPFILE_MOVING);
	return 1;
}

/* Something that was sent is not known to have arrived. */
static int
has_hole(const struct tempfile *t, const struct tempfile_now *now)
{
	return t->failed || now->failed || tempfile_copied_bytes(t,
	    now->contiguous_end) < now->highest_sent;
}

/*
 * Only a file that is known to be cut gets its name. One that has lost its
 * temporary name belongs to another copy, and is left as it is. An old file
 * into which nothing was written stays as well.
 */
static int
truncate_file(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_touched = !now->stopped || now->highest_sent > 0;
	int is_hidden = t->place == IN_TEMP;

	if (is_hidden ? now->restart || !has_hole(t, now) :
	    !has_hole(t, now) && (!t->conf.in_place || !is_touched))
		return set_state(t, TEMPFILE_RENAMING);
	if (t->step < 2 && is_hidden)
		return set_request(t, t->step++ == 0 ? TEMPFILE_FSTAT_TAG :
		    TEMPFILE_LSTAT_TEMP, now, a);
	if (is_hidden && now->in_flight > 0)
		return 0;
	if (t->step < 3 && !t->temp_name_lost) {
		t->step = 3;
		return set_request(t, TEMPFILE_SETSIZE, now, a);
	}
	return set_state(t, TEMPFILE_RENAMING);
}

/*
 * Nothing is written any more, so what is asked about the names need not wait.
 */
static int
rename_and_close(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	static const enum tempfile_op steps[] = { TEMPFILE_FSTAT_TAG,
	    TEMPFILE_LSTAT_TEMP, TEMPFILE_RENAME, TEMPFILE_LSTAT_RENAMED,
	    TEMPFILE_FSETSTAT, TEMPFILE_CLOSE };
	int is_ours = t->place == IN_TEMP && !t->temp_name_lost;
	int renames = is_ours && !t->truncate_failed && !now->restart;
	const int is_due[] = { is_ours, is_ours, renames, t->renames,
	    (t->conf.preserve || t->place == IN_TEMP) && !t->temp_name_lost,
	    1 };
	unsigned int i;

	while ((i = t->step) < sizeof(steps) / sizeof(*steps)) {
		t->step++;
		if (!is_due[i])
			continue;
		if (steps[i] == TEMPFILE_FSTAT_TAG)
			t->temp_seen = NAME_UNSEEN;
		t->renames |= steps[i] == TEMPFILE_RENAME;
		return set_request(t, steps[i], now, a);
	}
	return now->in_flight > 0 ? 0 : set_state(t, TEMPFILE_CHECKING);
}

/*
 * What has the name is looked at twice if nothing was there after the rename: a
 * server may not keep the order. What has not got its name, and is known to be
 * ours, is removed.
 */
static int
check_renamed(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_free = t->renames && t->target_seen == NAME_ABSENT;

	if (now->in_flight > 0)
		return 0;
	if (t->is_renamed && is_free && t->target_lstats == 1)
		return set_request(t, TEMPFILE_LSTAT_RENAMED, now, a);
	if (t->has_temp && t->temp_seen == NAME_SAME && !t->truncate_failed &&
	    t->step == 0) {
		t->step = 1;
		return set_request(t, TEMPFILE_REMOVE, now, a);
	}
	if (t->is_renamed)
		t->failed |= t->target_seen != NAME_SAME;
	else if (t->renames) {
		t->restart = is_free && t->temp_seen == NAME_SAME &&
		    !now->stopped;
		t->failed |= !t->restart;
	} else
		t->failed |= t->temp_name_lost;
	return set_state(t, TEMPFILE_CLEANING);
}

/* What was left over is not needed: the file is whole. */
static int
remove_stale_last(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (!now->stopped && !now->failed && !now->restart && !t->restart &&
	    !t->failed && !t->truncate_failed && t->stale.has_owner) {
		if (search_stale(t, now, a) == 1)
			return 1;
		if (t->stale.phase != STALE_TEMP_REMOVED)
			return 0;
	}
	return now->in_flight > 0 ? 0 : set_state(t, TEMPFILE_ENDED);
}

static int
end(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	return set_request(t, TEMPFILE_END, now, a);
}

int
tempfile_next(struct tempfile *t, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	static const struct {
		enum tempfile_phase phase;
		int (*next)(struct tempfile *, const struct tempfile_now *,
		    struct tempfile_request *);
	} states[] = {
		[TEMPFILE_LOOKING] = { TEMPFILE_BEGINS, look_up },
		[TEMPFILE_OPENING] = { TEMPFILE_BEGINS, open_file },
		[TEMPFILE_MOVING] = { TEMPFILE_MOVES, move },
		[TEMPFILE_COPYING_BACK] = { TEMPFILE_ENDS, finish_staging },
		[TEMPFILE_TRUNCATING] = { TEMPFILE_ENDS, truncate_file },
		[TEMPFILE_RENAMING] = { TEMPFILE_ENDS, rename_and_close },
		[TEMPFILE_CHECKING] = { TEMPFILE_ENDS, check_renamed },
		[TEMPFILE_CLEANING] = { TEMPFILE_ENDS, remove_stale_last },
		[TEMPFILE_ENDED] = { TEMPFILE_ENDS, end },
	};
	enum tempfile_state was;
	int r;

	if (t->state == TEMPFILE_MOVING && now->phase == TEMPFILE_ENDS)
		set_state(t, t->conf.only_removes_stale ? TEMPFILE_CLEANING :
		    TEMPFILE_COPYING_BACK);
	do {
		was = t->state;
		r = now->phase != states[was].phase ? 0 :
		    states[was].next(t, now, a);
	} while (r == 0 && t->state != was);
	return r;
}

/* Replies */

/* Old bytes may be behind the new ones, but not in a device. */
static int
may_have_old_tail(const struct tempfile *t, const struct tempfile_now *now)
{
	return t->open == TEMPFILE_OPEN_OLD && !t->is_special &&
	    (!t->old_size_known || t->old_size > tempfile_copied_bytes(t,
	    now->contiguous_end));
}

/* What follows a reply, by operation */
struct answer {
	const struct tempfile_request *request;
	const struct tempfile_reply *reply;
	const struct tempfile_now *now;
	int	 ok, is_told;		/* the reply; its error is reported */
};

static void
on_lstat_target(struct tempfile *t, struct answer *a)
{
	t->target_exists = a->ok;
}

static void
on_lstat_dir(struct tempfile *t, struct answer *a)
{
	t->dir_is_safe = a->ok && a->reply->confirmed;
}

static void
on_lstat_stale(struct tempfile *t, struct answer *a)
{
	static const struct stale_temp_file none = { .is = STALE_TEMP_ABSENT };

	stale_temp_found(&t->stale, a->request->number, a->ok ?
	    &a->reply->file : &none);
}

/* The owner of another program's file says nothing of us. */
static void
note_owner(struct tempfile *t, const struct answer *a)
{
	if (a->ok && a->reply->has_owner && (t->open != TEMPFILE_OPEN_OLD ||
	    t->has_staging || t->dir_is_safe))
		stale_temp_set_owner(&t->stale, a->reply->file.owner);
}

static void
on_fstat_old(struct tempfile *t, struct answer *a)
{
	t->never_striped |= !a->ok || !a->reply->confirmed;
	if (a->ok) {
		t->old_size_known = 1;
		t->old_size = a->reply->file.size;
		t->is_special = !a->reply->confirmed;
	}
	note_owner(t, a);
}

/* If the name is taken, the file is opened in the next way. */
static void
on_open(struct tempfile *t, struct answer *a)
{
	if (!a->ok) {
		t->open++;
		return;
	}
	t->has_temp = t->open == TEMPFILE_OPEN_TEMP;
	t->place = t->has_temp ? IN_TEMP : IN_PLACE;
	set_state(t, TEMPFILE_MOVING);
}

static void
on_open_staging(struct tempfile *t, struct answer *a)
{
	t->never_striped |= !a->ok;
	t->place = a->ok ? STAGING_CHECKING : IN_PLACE;
	t->has_staging = a->ok;
}

static void
on_fstat_tag(struct tempfile *t, struct answer *a)
{
	t->is_tagged = a->ok && a->reply->confirmed;
	note_owner(t, a);
}

/* The rest goes into the staging file, and what is new of it into the file. */
static void
on_statvfs(struct tempfile *t, struct answer *a)
{
	const uint64_t size = t->conf.size;

	t->has_space = a->ok && a->reply->free_space >= size -
	    min_u64(size, a->now->cursor) + size - min_u64(size, t->old_size);
}

/* If it failed, the staging file took the space: the file goes on alone. */
static void
on_copy_back(struct tempfile *t, struct answer *a)
{
	const struct tempfile_request *r = a->request;

	t->copy_in_flight = 0;
	t->reverting |= !a->ok;
	t->copy_failed |= !a->ok;
	if (a->ok)
		t->copied_end = r->len == 0 ? a->now->contiguous_end :
		    r->off + r->len - COPY_CHUNK;
}

static enum name_seen
name_in(const struct answer *a)
{
	return !a->ok ? NAME_ABSENT : a->reply->confirmed ? NAME_SAME :
	    NAME_OTHER;
}

static void
on_lstat_temp(struct tempfile *t, struct answer *a)
{
	t->temp_seen = name_in(a);
	if (t->temp_seen == NAME_SAME)
		return;
	t->has_temp &= !a->ok;
	t->temp_name_lost = 1;
	t->truncate_failed |= t->state == TEMPFILE_TRUNCATING;
}

static void
on_lstat_renamed(struct tempfile *t, struct answer *a)
{
	t->target_seen = name_in(a);
	if (!a->ok)
		a->is_told = ++t->target_lstats > 1;
}

static void
on_setsize(struct tempfile *t, struct answer *a)
{
	t->truncate_failed |= !a->ok && has_hole(t, a->now);
	t->old_tail_remains |= !a->ok && !t->truncate_failed &&
	    may_have_old_tail(t, a->now);
	/* A file with an old tail restarts, any other is complete. */
	a->is_told &= t->truncate_failed || (t->old_tail_remains &&
	    a->now->stopped);
}

static void
on_rename(struct tempfile *t, struct answer *a)
{
	t->is_renamed = a->ok;
	t->has_temp &= !a->ok;
}

static void
on_remove(struct tempfile *t, struct answer *a)
{
	t->has_temp &= !a->ok;
}

static void
on_remove_staging(struct tempfile *t, struct answer *a)
{
	t->has_staging &= !a->ok;
}

static void
on_close(struct tempfile *t, struct answer *a)
{
	t->failed |= !a->ok;
}

int
tempfile_reply(struct tempfile *t, const struct tempfile_now *now,
    const struct tempfile_request *request, const struct tempfile_reply *reply)
{
	static const struct {
		void (*handle)(struct tempfile *, struct answer *);
		int	 is_told;
	} ops[] = {
		[TEMPFILE_LSTAT_TARGET] = { on_lstat_target, 0 },
		[TEMPFILE_LSTAT_DIR] = { on_lstat_dir, 0 },
		[TEMPFILE_LSTAT_STALE] = { on_lstat_stale, 0 },
		[TEMPFILE_REMOVE_STALE] = { NULL, 0 },
		[TEMPFILE_FSTAT_OLD] = { on_fstat_old, 0 },
		[TEMPFILE_OPEN_STAGING] = { on_open_staging, 0 },
		[TEMPFILE_SET_TAG] = { NULL, 0 },
		[TEMPFILE_FSTAT_TAG] = { on_fstat_tag, 0 },
		[TEMPFILE_STATVFS] = { on_statvfs, 0 },
		[TEMPFILE_COPY_BACK] = { on_copy_back, 0 },
		[TEMPFILE_LSTAT_TEMP] = { on_lstat_temp, 1 },
		[TEMPFILE_SETSIZE] = { on_setsize, 1 },
		[TEMPFILE_RENAME] = { on_rename, 1 },
		[TEMPFILE_LSTAT_RENAMED] = { on_lstat_renamed, 1 },
		[TEMPFILE_FSETSTAT] = { NULL, 1 },
		[TEMPFILE_CLOSE_STAGING] = { NULL, 0 },
		[TEMPFILE_REMOVE_STAGING] = { on_remove_staging, 1 },
		[TEMPFILE_CLOSE] = { on_close, 1 },
		[TEMPFILE_REMOVE] = { on_remove, 1 },
		[TEMPFILE_OPEN_TEMP] = { on_open, 0 },
		[TEMPFILE_OPEN_NEW] = { on_open, 0 },
	};
	struct answer a = { request, reply, now, reply->ok, 0 };

	assert(request->op < sizeof(ops) / sizeof(ops[0]));
	a.is_told = ops[request->op].is_told;
	if (ops[request->op].handle != NULL)
		ops[request->op].handle(t, &a);
	return !a.ok && a.is_told;
}

/* What is asked about it */

static enum tempfile_leftover
leftover_now(const struct tempfile *t)
{
	if (t->has_temp)
		return t->temp_seen == NAME_ABSENT ? TEMPFILE_MAY_LEAVE_TEMP :
		    TEMPFILE_LEAVES_TEMP;
	if (t->has_staging)
		return TEMPFILE_LEAVES_STAGING;
	return t->open == TEMPFILE_OPEN_TEMP && t->place == IN_PLACE ?
	    TEMPFILE_MAY_LEAVE_TEMP : TEMPFILE_LEAVES_NOTHING;
}

struct tempfile_info
tempfile_info(const struct tempfile *t)
{
	if (t == NULL)
		return (struct tempfile_info){ 0 };
	return (struct tempfile_info){ .state = t->state, .open = t->open,
	    .number = t->number, .may_stripe = t->is_tagged &&
	    (t->place == IN_TEMP || t->place == IN_STAGING),
	    .has_staging = t->has_staging, .is_reverting = t->reverting,
	    .has_failed = t->failed || t->truncate_failed,
	    .must_restart = t->restart, .not_truncated = t->old_tail_remains,
	    .is_renamed = t->is_renamed, .is_not_renamed = t->place ==
	    IN_TEMP && !t->is_renamed, .leftover = leftover_now(t) };
}
