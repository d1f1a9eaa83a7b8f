/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See tempfile.h for the idea. */

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
	int	 is_old, is_special, fstat_sent, old_size_known;
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
	struct tempfile *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->conf = *conf;
	stale_temp_begin(&l->stale, 0);
	if (conf->only_removes_stale) {
		l->open = TEMPFILE_OPEN_OLD;
		l->never_striped = 1;
		l->is_old = 1;		/* It may be. */
		l->state = TEMPFILE_MOVING;
	}
	return l;
}

void
tempfile_free(struct tempfile *l)
{
	free(l);
}

uint64_t
tempfile_copied_bytes(const struct tempfile *l, uint64_t contiguous_end)
{
	return l->place == IN_STAGING && contiguous_end >=
	    l->staging_start ? l->copied_end : contiguous_end;
}

int
tempfile_locate_write(const struct tempfile *l, uint64_t off, uint64_t *at)
{
	int second = l->place == IN_STAGING && off >= l->staging_start;

	*at = off - (second ? l->staging_start : 0);
	return second;
}

int
tempfile_write_failed(struct tempfile *l, uint64_t off)
{
	uint64_t at;
	int second = tempfile_locate_write(l, off, &at);

	l->reverting |= second;
	return second;
}

/* Returns 0, as nothing is to be asked in the old state. */
static int
set_state(struct tempfile *l, enum tempfile_state state)
{
	l->state = state;
	l->step = 0;
	return 0;
}

static int
set_request(const struct tempfile *l, enum tempfile_op op,
    const struct tempfile_now *now, struct tempfile_request *a)
{
	*a = (struct tempfile_request){ .op = op, .number = l->number,
	    .off = tempfile_copied_bytes(l, now->contiguous_end) };
	return 1;
}

/* Temporary names */

/* Looks at all names, and later removes what nobody has written to. */
static int
search_stale(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	struct stale_temp_action next;

	if (l->stale.has_owner)
		stale_temp_remove_all(&l->stale);
	stale_temp_next(&l->stale, now->us, &next);
	*a = (struct tempfile_request){ .op = next.op == STALE_TEMP_LSTAT ?
	    TEMPFILE_LSTAT_STALE : TEMPFILE_REMOVE_STALE, .number =
	    next.number };
	return next.op == STALE_TEMP_LSTAT || next.op == STALE_TEMP_REMOVE;
}

/* Returns 0, or -1 if no name is free. */
static int
choose_free_name(struct tempfile *l, int is_second)
{
	const unsigned int first = is_second ? STALE_TEMP_STAGING : 0;
	const unsigned int n = is_second ?
	    STALE_TEMP_NAMES - STALE_TEMP_STAGING : STALE_TEMP_STAGING;
	unsigned int i, number;

	for (i = 0; i < n; i++) {
		number = first + (l->conf.number + i) % n;
		if (stale_temp_is_free(&l->stale, number)) {
			l->number = number;
			return 0;
		}
	}
	return -1;
}

/* Before it is open */

static int
look_up(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (!now->stopped && l->step < 2)
		return set_request(l, l->step++ == 0 ? TEMPFILE_LSTAT_TARGET :
		    TEMPFILE_LSTAT_DIR, now, a);
	if (!now->stopped && search_stale(l, now, a) == 1)
		return 1;
	if (now->in_flight > 0 || (l->stale.phase == STALE_TEMP_LOOKING &&
	    !now->stopped))
		return 0;
	l->never_striped |= !l->dir_is_safe;
	l->open = l->target_exists ? TEMPFILE_OPEN_OLD :
	    now->conns_wanted && !l->never_striped && !l->conf.is_readonly &&
	    choose_free_name(l, 0) == 0 ? TEMPFILE_OPEN_TEMP :
	    TEMPFILE_OPEN_NEW;
	return set_state(l, TEMPFILE_OPENING);
}

static int
open_file(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	l->is_old = l->open == TEMPFILE_OPEN_OLD;
	if (l->is_old)
		set_state(l, TEMPFILE_MOVING);
	return set_request(l, l->open, now, a);
}

/* While it moves */

/*
 * The temporary file is marked; when it has data, it tells the server's clock.
 */
static int
tag_and_fstat(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->place != IN_TEMP || l->tag_requests > 2 ||
	    (l->tag_requests == 2 && now->contiguous_end == 0))
		return 0;
	return set_request(l, l->tag_requests++ == 0 ? TEMPFILE_SET_TAG :
	    TEMPFILE_FSTAT_TAG, now, a);
}

/*
 * A second connection is available: switch to a staging file if that is
 * possible.
 */
static int
begin_staging(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->never_striped || l->place != IN_PLACE || !now->helper_idle ||
	    !l->old_size_known)
		return 0;
	if ((now->server_caps & TEMPFILE_HAS_COPY) == 0 ||
	    choose_free_name(l, 1) == -1) {
		l->never_striped = 1;
		return 0;
	}
	l->place = STAGING_OPENING;
	return set_request(l, TEMPFILE_OPEN_STAGING, now, a);
}

/* The staging file is open. It is used if there is space for what comes. */
static int
prepare_staging(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	switch (l->place) {
	case STAGING_CHECKING:
		if (now->no_more_data)
			break;
		if (l->tag_requests++ < 2)
			return set_request(l, l->tag_requests == 1 ?
			    TEMPFILE_SET_TAG : TEMPFILE_FSTAT_TAG, now, a);
		l->place = STAGING_DECIDING;
		return set_request(l, TEMPFILE_STATVFS, now, a);
	case STAGING_DECIDING:
		if (now->in_flight > 0)
			return 0;
		if (now->no_more_data || !l->has_space || !l->is_tagged)
			break;
		l->place = IN_STAGING;
		l->staging_start = l->copied_end = now->cursor;
		return 0;
	case STAGING_REMOVING:
		l->place = IN_PLACE;
		return set_request(l, TEMPFILE_REMOVE_STAGING, now, a);
	default:
		return 0;
	}
	l->never_striped = 1;
	l->place = STAGING_REMOVING;
	return set_request(l, TEMPFILE_CLOSE_STAGING, now, a);
}

/*
 * Copies what is complete, if it is "least" bytes. At the end a length of 0
 * stands for all of the staging file, and errors of that are told.
 */
static int
copy_acked(struct tempfile *l, uint64_t least, int is_end,
    const struct tempfile_now *now, struct tempfile_request *a)
{
	uint64_t len = now->contiguous_end - l->copied_end;

	if (l->place != IN_STAGING || l->copy_failed ||
	    l->copy_in_flight || now->contiguous_end < l->staging_start || len <
	    least)
		return 0;
	l->copy_in_flight = 1;
	set_request(l, TEMPFILE_COPY_BACK, now, a);
	a->off = l->copied_end;
	a->at = l->copied_end - l->staging_start;
	if (!is_end || now->contiguous_end != now->highest_sent || len >
	    COPY_UNIT)
		a->len = (uint32_t)min_u64(len, COPY_UNIT);
	return 1;
}

static int
move(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (prepare_staging(l, now, a) == 1)
		return 1;
	if (now->no_more_data)
		return 0;
	if (l->conf.only_removes_stale && l->step == 0) {
		l->step = 1;
		return set_request(l, TEMPFILE_LSTAT_DIR, now, a);
	}
	if (l->place == IN_PLACE && !l->fstat_sent) {
		l->fstat_sent = 1;
		return set_request(l, TEMPFILE_FSTAT_OLD, now, a);
	}
	return search_stale(l, now, a) || tag_and_fstat(l, now, a) ||
	    begin_staging(l, now, a) || copy_acked(l, COPY_UNIT, 0, now, a);
}

/* The end */

/*
 * If data is missing behind it, the last chunk is not copied: sftp-server does
 * not report its errors.
 */
static int
finish_staging(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->place != IN_STAGING)
		return set_state(l, TEMPFILE_TRUNCATING);
	if (l->step == 0 && copy_acked(l, now->contiguous_end ==
	    now->highest_sent ? 1 : COPY_CHUNK + 1, 1, now, a) == 1)
		return 1;
	if (l->step == 0 && now->in_flight > 0)
		return 0;
	switch (l->step++) {
	case 0:
		return set_request(l, TEMPFILE_CLOSE_STAGING, now, a);
	case 1:
		return set_request(l, TEMPFILE_REMOVE_STAGING, now, a);
	default:
		break;
	}
	if (now->in_flight > 0)
		return 0;
	if (!l->reverting || l->failed || now->failed || now->stopped)
		return set_state(l, TEMPFILE_TRUNCATING);
	/* The staging file could not be written: the file goes on alone. */
	set_request(l, TEMPFILE_CONTINUE, now, a);
	l->place = IN_PLACE;
	l->never_striped = l->fstat_sent = 1;
	l->reverting = 0;
	set_state(l, TEMPFILE_MOVING);
	return 1;
}

/* Something that was sent is not known to have arrived. */
static int
has_hole(const struct tempfile *l, const struct tempfile_now *now)
{
	return l->failed || now->failed || tempfile_copied_bytes(l,
	    now->contiguous_end) < now->highest_sent;
}

/*
 * Only a file that is known to be cut gets its name. One that has lost its
 * temporary name belongs to another copy, and is left as it is. An old file
 * into which nothing was written stays as well.
 */
static int
truncate_file(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_touched = !now->stopped || now->highest_sent > 0;
	int is_hidden = l->place == IN_TEMP;

	if (is_hidden ? now->restart || !has_hole(l, now) :
	    !has_hole(l, now) && (!l->conf.in_place || !is_touched))
		return set_state(l, TEMPFILE_RENAMING);
	if (l->step < 2 && is_hidden)
		return set_request(l, l->step++ == 0 ? TEMPFILE_FSTAT_TAG :
		    TEMPFILE_LSTAT_TEMP, now, a);
	if (is_hidden && now->in_flight > 0)
		return 0;
	if (l->step < 3 && !l->temp_name_lost) {
		l->step = 3;
		return set_request(l, TEMPFILE_SETSIZE, now, a);
	}
	return set_state(l, TEMPFILE_RENAMING);
}

/*
 * Nothing is written any more, so what is asked about the names need not wait.
 */
static int
rename_and_close(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	static const enum tempfile_op steps[] = { TEMPFILE_FSTAT_TAG,
	    TEMPFILE_LSTAT_TEMP, TEMPFILE_RENAME, TEMPFILE_LSTAT_RENAMED,
	    TEMPFILE_FSETSTAT, TEMPFILE_CLOSE };
	int is_ours = l->place == IN_TEMP && !l->temp_name_lost;
	int renames = is_ours && !l->truncate_failed && !now->restart;
	const int is_due[] = { is_ours, is_ours, renames, l->renames,
	    (l->conf.preserve || l->place == IN_TEMP) && !l->temp_name_lost,
	    1 };
	unsigned int i;

	while ((i = l->step) < sizeof(steps) / sizeof(*steps)) {
		l->step++;
		if (!is_due[i])
			continue;
		if (steps[i] == TEMPFILE_FSTAT_TAG)
			l->temp_seen = NAME_UNSEEN;
		l->renames |= steps[i] == TEMPFILE_RENAME;
		return set_request(l, steps[i], now, a);
	}
	return now->in_flight > 0 ? 0 : set_state(l, TEMPFILE_CHECKING);
}

/*
 * What has the name is looked at twice if nothing was there after the rename: a
 * server may not keep the order. What has not got its name, and is known to be
 * ours, is removed.
 */
static int
check_renamed(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_free = l->renames && l->target_seen == NAME_ABSENT;

	if (now->in_flight > 0)
		return 0;
	if (l->is_renamed && is_free && l->target_lstats == 1)
		return set_request(l, TEMPFILE_LSTAT_RENAMED, now, a);
	if (l->has_temp && l->temp_seen == NAME_SAME && !l->truncate_failed &&
	    l->step == 0) {
		l->step = 1;
		return set_request(l, TEMPFILE_REMOVE, now, a);
	}
	if (l->is_renamed)
		l->failed |= l->target_seen != NAME_SAME;
	else if (l->renames) {
		l->restart = is_free && l->temp_seen == NAME_SAME &&
		    !now->stopped;
		l->failed |= !l->restart;
	} else
		l->failed |= l->temp_name_lost;
	return set_state(l, TEMPFILE_CLEANING);
}

/* What was left over is not needed: the file is whole. */
static int
remove_stale_last(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (!now->stopped && !now->failed && !now->restart && !l->restart &&
	    !l->failed && !l->truncate_failed && l->stale.has_owner) {
		if (search_stale(l, now, a) == 1)
			return 1;
		if (l->stale.phase != STALE_TEMP_REMOVED)
			return 0;
	}
	return now->in_flight > 0 ? 0 : set_state(l, TEMPFILE_ENDED);
}

static int
end(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	return set_request(l, TEMPFILE_END, now, a);
}

int
tempfile_next(struct tempfile *l, const struct tempfile_now *now,
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

	if (l->state == TEMPFILE_MOVING && now->phase == TEMPFILE_ENDS)
		set_state(l, l->conf.only_removes_stale ? TEMPFILE_CLEANING :
		    TEMPFILE_COPYING_BACK);
	do {
		was = l->state;
		r = now->phase != states[was].phase ? 0 :
		    states[was].next(l, now, a);
	} while (r == 0 && l->state != was);
	return r;
}

/* Replies */

/* Old bytes may be behind the new ones, but not in a device. */
static int
may_have_old_tail(const struct tempfile *l, const struct tempfile_now *now)
{
	return l->is_old && !l->is_special && (!l->old_size_known ||
	    l->old_size > tempfile_copied_bytes(l, now->contiguous_end));
}

/*
 * What follows a reply, by operation. Each returns 1 if an error is to be
 * reported.
 */
struct answer {
	const struct tempfile_request *request;
	const struct tempfile_reply *reply;
	const struct tempfile_now *now;
	int ok;
};

static int
is_reported(struct tempfile *l, const struct answer *a)
{
	(void)l;
	return !a->ok;
}

static int
on_lstat_target(struct tempfile *l, const struct answer *a)
{
	l->target_exists = a->ok;
	return 0;
}

static int
on_lstat_dir(struct tempfile *l, const struct answer *a)
{
	l->dir_is_safe = a->ok && a->reply->confirmed;
	return 0;
}

static int
on_lstat_stale(struct tempfile *l, const struct answer *a)
{
	static const struct stale_temp_file none = { .is = STALE_TEMP_ABSENT };

	stale_temp_found(&l->stale, a->request->number, a->ok ?
	    &a->reply->file : &none);
	return 0;
}

/* The owner of another program's file says nothing of us. */
static void
note_owner(struct tempfile *l, const struct answer *a)
{
	if (a->ok && a->reply->has_owner &&
	    (!l->is_old || l->has_staging || l->dir_is_safe))
		stale_temp_set_owner(&l->stale, a->reply->file.owner);
}

static int
on_fstat_old(struct tempfile *l, const struct answer *a)
{
	l->never_striped |= !a->ok || !a->reply->confirmed;
	if (a->ok) {
		l->old_size_known = 1;
		l->old_size = a->reply->file.size;
		l->is_special = !a->reply->confirmed;
	}
	note_owner(l, a);
	return 0;
}

/* If the name is taken, the file is opened in the next way. */
static int
on_open(struct tempfile *l, const struct answer *a)
{
	if (!a->ok) {
		l->open++;
		return 0;
	}
	l->has_temp = l->open == TEMPFILE_OPEN_TEMP;
	l->place = l->has_temp ? IN_TEMP : IN_PLACE;
	return set_state(l, TEMPFILE_MOVING);
}

static int
on_open_staging(struct tempfile *l, const struct answer *a)
{
	l->never_striped |= !a->ok;
	l->place = a->ok ? STAGING_CHECKING : IN_PLACE;
	l->has_staging = a->ok;
	return 0;
}

static int
on_fstat_tag(struct tempfile *l, const struct answer *a)
{
	l->is_tagged = a->ok && a->reply->confirmed;
	note_owner(l, a);
	return 0;
}

/* The rest goes into the staging file, and what is new of it into the file. */
static int
on_statvfs(struct tempfile *l, const struct answer *a)
{
	const uint64_t size = l->conf.size;

	l->has_space = a->ok && a->reply->free_space >= size -
	    min_u64(size, a->now->cursor) + size - min_u64(size, l->old_size);
	return 0;
}

/* If it failed, the staging file took the space: the file goes on alone. */
static int
on_copy_back(struct tempfile *l, const struct answer *a)
{
	const struct tempfile_request *r = a->request;

	l->copy_in_flight = 0;
	l->reverting |= !a->ok;
	l->copy_failed |= !a->ok;
	if (a->ok)
		l->copied_end = r->len == 0 ? a->now->contiguous_end :
		    r->off + r->len - COPY_CHUNK;
	return 0;
}

static enum name_seen
name_in(const struct answer *a)
{
	return !a->ok ? NAME_ABSENT : a->reply->confirmed ? NAME_SAME :
	    NAME_OTHER;
}

static int
on_lstat_temp(struct tempfile *l, const struct answer *a)
{
	l->temp_seen = name_in(a);
	l->has_temp &= l->temp_seen != NAME_OTHER;
	l->temp_name_lost |= l->temp_seen != NAME_SAME;
	l->truncate_failed |= l->temp_seen != NAME_SAME && l->state ==
	    TEMPFILE_TRUNCATING;
	return !a->ok;
}

static int
on_lstat_renamed(struct tempfile *l, const struct answer *a)
{
	l->target_seen = name_in(a);
	return !a->ok && ++l->target_lstats > 1;
}

static int
on_setsize(struct tempfile *l, const struct answer *a)
{
	if (a->ok)
		return 0;
	l->truncate_failed = has_hole(l, a->now);
	l->old_tail_remains = !l->truncate_failed &&
	    may_have_old_tail(l, a->now);
	return 1;
}

static int
on_rename(struct tempfile *l, const struct answer *a)
{
	l->is_renamed = a->ok;
	l->has_temp &= !a->ok;
	return !a->ok;
}

static int
on_remove(struct tempfile *l, const struct answer *a)
{
	l->has_temp &= !a->ok;
	return !a->ok;
}

static int
on_remove_staging(struct tempfile *l, const struct answer *a)
{
	l->has_staging &= !a->ok;
	return !a->ok;
}

static int
on_close(struct tempfile *l, const struct answer *a)
{
	l->failed |= !a->ok;
	return !a->ok;
}

int
tempfile_reply(struct tempfile *l, const struct tempfile_now *now,
    const struct tempfile_request *request, const struct tempfile_reply *reply)
{
	/* After the other requests nothing follows. */
	static int (*const handlers[])(struct tempfile *,
	    const struct answer *) = {
		[TEMPFILE_LSTAT_TARGET] = on_lstat_target,
		[TEMPFILE_LSTAT_DIR] = on_lstat_dir,
		[TEMPFILE_LSTAT_STALE] = on_lstat_stale,
		[TEMPFILE_FSTAT_OLD] = on_fstat_old,
		[TEMPFILE_OPEN_STAGING] = on_open_staging,
		[TEMPFILE_FSTAT_TAG] = on_fstat_tag,
		[TEMPFILE_STATVFS] = on_statvfs,
		[TEMPFILE_COPY_BACK] = on_copy_back,
		[TEMPFILE_LSTAT_TEMP] = on_lstat_temp,
		[TEMPFILE_SETSIZE] = on_setsize,
		[TEMPFILE_RENAME] = on_rename,
		[TEMPFILE_LSTAT_RENAMED] = on_lstat_renamed,
		[TEMPFILE_FSETSTAT] = is_reported,
		[TEMPFILE_REMOVE_STAGING] = on_remove_staging,
		[TEMPFILE_CLOSE] = on_close,
		[TEMPFILE_REMOVE] = on_remove,
		[TEMPFILE_OPEN_TEMP] = on_open,
		[TEMPFILE_OPEN_NEW] = on_open,
	};
	const struct answer a = { request, reply, now, reply->ok };

	return handlers[request->op] != NULL ? handlers[request->op](l, &a) : 0;
}

static enum tempfile_leftover
leftover_now(const struct tempfile *l)
{
	if (l->has_temp)
		return l->temp_seen == NAME_ABSENT ? TEMPFILE_MAY_LEAVE_TEMP :
		    TEMPFILE_LEAVES_TEMP;
	if (l->has_staging)
		return TEMPFILE_LEAVES_STAGING;
	return l->open == TEMPFILE_OPEN_TEMP && l->place == IN_PLACE ?
	    TEMPFILE_MAY_LEAVE_TEMP : TEMPFILE_LEAVES_NOTHING;
}

struct tempfile_info
tempfile_info(const struct tempfile *l)
{
	if (l == NULL)
		return (struct tempfile_info){ 0 };
	return (struct tempfile_info){ .state = l->state, .open = l->open,
	    .number = l->number, .may_stripe = l->is_tagged &&
	    (l->place == IN_TEMP || l->place == IN_STAGING),
	    .has_staging = l->has_staging, .is_reverting = l->reverting,
	    .has_failed = l->failed || l->truncate_failed,
	    .must_restart = l->restart, .not_truncated = l->old_tail_remains,
	    .is_renamed = l->is_renamed, .is_not_renamed = l->place ==
	    IN_TEMP && !l->is_renamed, .leftover = leftover_now(l) };
}
