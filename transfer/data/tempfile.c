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

/* Where data goes */
enum parent_dir { IN_PLACE, IN_TEMP, IN_STAGING };

/* How far the end is */
enum temp_stage { STAGE_COPY_BACK, STAGE_TRUNCATE, STAGE_RENAME,
    STAGE_CHECK_NAME, STAGE_REMOVE_STALE, STAGE_ENDED };

/* What was seen under a name */
enum name_seen { NAME_UNSEEN, NAME_ABSENT, NAME_OTHER, NAME_SAME };

struct tempfile {
	struct tempfile_conf conf;
	struct stale_temp stale;	/* what is under temporary names */
	int	 names_looked_up;		/* at all of them */
	/* nothing of others is left over */
	int	 removal_begun, removal_done;
	unsigned int number;		/* of our temporary name */
	unsigned int nasked;		/* before it is open */
	int	 target_exists, dir_is_safe; /* the file, the directory, then */
	enum tempfile_open_mode open_mode;
	enum parent_dir data_place;
	int	 is_old, is_special, fstat_sent, old_size_known;
	int	 never_striped;			/* more than one connection */
	/* requests that tell the temporary file */
	unsigned int tag_requests;
	int	 is_tagged;		/* it has the time */
	int	 has_space;
	enum { STAGING_NONE, STAGING_OPENING, STAGING_CHECKING_SPACE,
	    STAGING_DECIDING, STAGING_CLOSING } staging_state;
	int	 copy_in_flight;
	enum temp_stage stage;
	unsigned int step;		/* of the stage */
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
	stale_temp_begin(&l->stale);
	if (conf->only_removes_stale) {
		l->open_mode = TEMPFILE_OPEN_OLD;
		l->never_striped = 1;
		l->is_old = 1;		/* It may be. */
		l->stage = STAGE_REMOVE_STALE;
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
	return l->data_place == IN_STAGING && contiguous_end >=
	    l->staging_start ? l->copied_end : contiguous_end;
}

int
tempfile_locate_write(const struct tempfile *l, uint64_t off, uint64_t *at)
{
	int second = l->data_place == IN_STAGING && off >= l->staging_start;

	*at = off - (second ? l->staging_start : 0);
	return second;
}

void
tempfile_staging_failed(struct tempfile *l)
{
	l->reverting = 1;
}

static int
set_request(const struct tempfile *l, enum tempfile_op op,
    const struct tempfile_now *now, struct tempfile_request *a)
{
	*a = (struct tempfile_request){ .op = op, .number = l->number,
	    .off = tempfile_copied_bytes(l, now->contiguous_end) };
	return 1;
}

/* Hidden names */

/* Looks at all names, and later removes what nobody has written to. */
static int
search_stale(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	struct stale_temp_action next;

	stale_temp_next(&l->stale, now->us, &next);
	l->names_looked_up |= next.op == STALE_TEMP_END;
	if (next.op == STALE_TEMP_END && l->stale.has_owner &&
	    !l->removal_begun) {
		l->removal_begun = 1;
		stale_temp_remove_all(&l->stale);
		stale_temp_next(&l->stale, now->us, &next);
	}
	l->removal_done = next.op == STALE_TEMP_END;
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

int
tempfile_ask_before_open(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->open_mode != TEMPFILE_UNDECIDED || now->stopped)
		return 0;
	if (l->nasked < 2)
		return set_request(l, l->nasked++ == 0 ? TEMPFILE_LSTAT_TARGET :
		    TEMPFILE_LSTAT_DIR, now, a);
	return search_stale(l, now, a);
}

enum tempfile_open_mode
tempfile_decide_open(struct tempfile *l, const struct tempfile_now *now)
{
	if (now->in_flight > 0 || (!l->names_looked_up && !now->stopped))
		return TEMPFILE_UNDECIDED;
	l->never_striped |= !l->dir_is_safe;
	l->open_mode = l->target_exists ? TEMPFILE_OPEN_OLD :
	    now->conns_wanted && !l->never_striped && !l->conf.is_readonly &&
	    choose_free_name(l, 0) == 0 ? TEMPFILE_OPEN_TEMP :
	    TEMPFILE_OPEN_NEW;
	l->is_old = l->target_exists;
	return l->open_mode;
}

int
tempfile_opened(struct tempfile *l, int ok)
{
	enum tempfile_open_mode was = l->open_mode;

	if (ok) {
		l->has_temp = was == TEMPFILE_OPEN_TEMP;
		l->data_place = l->has_temp ? IN_TEMP : IN_PLACE;
		return 0;
	}
	l->open_mode = was == TEMPFILE_OPEN_TEMP ? TEMPFILE_OPEN_NEW :
	    TEMPFILE_OPEN_OLD;
	l->is_old = l->open_mode == TEMPFILE_OPEN_OLD;
	return l->open_mode != was;
}

enum tempfile_open_mode
tempfile_open_mode(const struct tempfile *l, unsigned int *number)
{
	*number = l->number;
	return l->open_mode;
}

/* While it moves */

/*
 * The temporary file is marked; when it has data, it tells the server's clock.
 */
static int
tag_and_fstat(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->data_place != IN_TEMP || l->tag_requests > 2 ||
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
	if (l->never_striped || l->staging_state || l->data_place != IN_PLACE ||
	    !now->helper_idle || !l->old_size_known)
		return 0;
	if ((now->server_caps & TEMPFILE_HAS_COPY) == 0 ||
	    choose_free_name(l, 1) == -1) {
		l->never_striped = 1;
		return 0;
	}
	l->staging_state = STAGING_OPENING;
	return set_request(l, TEMPFILE_OPEN_STAGING, now, a);
}

/* The staging file is open. It is used if there is space for what comes. */
static int
prepare_staging(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	switch (l->staging_state) {
	case STAGING_CHECKING_SPACE:
		if (now->no_more_data)
			break;
		if (l->tag_requests++ < 2)
			return set_request(l, l->tag_requests == 1 ?
			    TEMPFILE_SET_TAG : TEMPFILE_FSTAT_TAG, now, a);
		l->staging_state = STAGING_DECIDING;
		return set_request(l, TEMPFILE_STATVFS, now, a);
	case STAGING_DECIDING:
		if (now->in_flight > 0)
			return 0;
		if (now->no_more_data || !l->has_space || !l->is_tagged)
			break;
		l->staging_state = STAGING_NONE;
		l->data_place = IN_STAGING;
		l->staging_start = l->copied_end = now->cursor;
		return 0;
	case STAGING_CLOSING:
		l->staging_state = STAGING_NONE;
		return set_request(l, TEMPFILE_REMOVE_STAGING, now, a);
	default:
		return 0;
	}
	l->never_striped = 1;
	l->staging_state = STAGING_CLOSING;
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

	if (l->data_place != IN_STAGING || l->copy_failed ||
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

int
tempfile_ask_during_data(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (prepare_staging(l, now, a) == 1)
		return 1;
	if (now->no_more_data)
		return 0;
	if (l->conf.only_removes_stale && l->nasked == 0) {
		l->nasked = 1;
		return set_request(l, TEMPFILE_LSTAT_DIR, now, a);
	}
	if (l->data_place == IN_PLACE && !l->fstat_sent) {
		l->fstat_sent = 1;
		return set_request(l, TEMPFILE_FSTAT_OLD, now, a);
	}
	return search_stale(l, now, a) || tag_and_fstat(l, now, a) ||
	    begin_staging(l, now, a) || copy_acked(l, COPY_UNIT, 0, now, a);
}

/* The end */

static void
begin_stage(struct tempfile *l, enum temp_stage stage)
{
	l->stage = stage;
	l->step = 0;
}

/*
 * If data is missing behind it, the last chunk is not copied: sftp-server does
 * not report its errors.
 */
static int
finish_staging(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (l->data_place != IN_STAGING) {
		begin_stage(l, STAGE_TRUNCATE);
		return 0;
	}
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
		if (now->in_flight == 0 && (!l->reverting || l->failed ||
		    now->failed || now->stopped))
			begin_stage(l, STAGE_TRUNCATE);
		return 0;
	}
}

/* The staging file could not be written: the file goes on as it began. */
int
tempfile_reverts(struct tempfile *l, const struct tempfile_now *now)
{
	if (l->stage != STAGE_COPY_BACK || l->step <= 2 || now->in_flight > 0)
		return 0;
	l->data_place = IN_PLACE;
	l->never_striped = l->fstat_sent = 1;
	l->reverting = 0;
	begin_stage(l, STAGE_COPY_BACK);
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
truncate_stage(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_touched = !now->stopped || now->highest_sent > 0;
	int is_hidden = l->data_place == IN_TEMP;

	if ((!has_hole(l, now) && (!l->conf.in_place || !is_touched || is_hidden)) ||
	    (now->restart && is_hidden)) {
		begin_stage(l, STAGE_RENAME);
		return 0;
	}
	if (l->step < 2 && is_hidden)
		return set_request(l, l->step++ == 0 ? TEMPFILE_FSTAT_TAG :
		    TEMPFILE_LSTAT_TEMP, now, a);
	if (is_hidden && now->in_flight > 0)
		return 0;
	if (l->step < 3 && !l->temp_name_lost) {
		l->step = 3;
		return set_request(l, TEMPFILE_SETSIZE, now, a);
	}
	begin_stage(l, STAGE_RENAME);
	return 0;
}

/*
 * Nothing is written any more, so what is asked about the names need not wait.
 */
static int
rename_and_close(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	int is_ours = l->data_place == IN_TEMP && !l->temp_name_lost;

	for (;;) {
		switch (l->step++) {
		case 0:
			if (!is_ours)
				break;
			l->temp_seen = NAME_UNSEEN;
			return set_request(l, TEMPFILE_FSTAT_TAG, now, a);
		case 1:
			if (is_ours)
				return set_request(l, TEMPFILE_LSTAT_TEMP, now,
				    a);
			break;
		case 2:
			l->renames = is_ours && !l->truncate_failed &&
			    !now->restart;
			if (l->renames)
				return set_request(l, TEMPFILE_RENAME, now, a);
			break;
		case 3:
			if (l->renames)
				return set_request(l, TEMPFILE_LSTAT_RENAMED,
				    now, a);
			break;
		case 4:
			if ((l->conf.preserve || l->data_place == IN_TEMP) &&
			    !l->temp_name_lost)
				return set_request(l, TEMPFILE_FSETSTAT, now,
				    a);
			break;
		case 5:
			return set_request(l, TEMPFILE_CLOSE, now, a);
		default:
			if (now->in_flight == 0)
				begin_stage(l, STAGE_CHECK_NAME);
			return 0;
		}
	}
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
	begin_stage(l, STAGE_REMOVE_STALE);
	return 0;
}

/* What was left over is not needed: the file is whole. */
static int
remove_stale_last(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	if (!now->stopped && !now->failed && !tempfile_has_failed(l) &&
	    !now->restart && !l->restart && l->stale.has_owner) {
		if (search_stale(l, now, a) == 1)
			return 1;
		if (!l->removal_done)
			return 0;
	}
	if (now->in_flight == 0)
		begin_stage(l, STAGE_ENDED);
	return 0;
}

int
tempfile_ask_at_end(struct tempfile *l, const struct tempfile_now *now,
    struct tempfile_request *a)
{
	enum temp_stage was;
	int r;

	do {
		was = l->stage;
		r = was == STAGE_COPY_BACK ? finish_staging(l, now, a) : was ==
		    STAGE_TRUNCATE ? truncate_stage(l, now, a) : was ==
		    STAGE_RENAME ? rename_and_close(l, now, a) : was ==
		    STAGE_CHECK_NAME ? check_renamed(l, now, a) : was ==
		    STAGE_REMOVE_STALE ? remove_stale_last(l, now, a) : 0;
	} while (r == 0 && l->stage != was);
	return r;
}

int
tempfile_has_ended(const struct tempfile *l)
{
	return l->stage == STAGE_ENDED;
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

static int
on_open_staging(struct tempfile *l, const struct answer *a)
{
	l->never_striped |= !a->ok;
	l->staging_state = a->ok ? STAGING_CHECKING_SPACE : STAGING_NONE;
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
	l->truncate_failed |= l->temp_seen != NAME_SAME && l->stage ==
	    STAGE_TRUNCATE;
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
	};
	const struct answer a = { request, reply, now, reply->ok };

	return handlers[request->op] != NULL ? handlers[request->op](l, &a) : 0;
}

/* What is asked about it */

int
tempfile_may_stripe(const struct tempfile *l)
{
	return l->data_place != IN_PLACE && l->is_tagged;
}

int
tempfile_has_staging(const struct tempfile *l)
{
	return l->has_staging;
}

int
tempfile_is_reverting(const struct tempfile *l)
{
	return l->reverting;
}

int
tempfile_has_failed(const struct tempfile *l)
{
	return l->failed || l->truncate_failed;
}

int
tempfile_wants_restart(const struct tempfile *l)
{
	return l->restart;
}

int
tempfile_truncate_failed(const struct tempfile *l)
{
	return l->old_tail_remains;
}

int
tempfile_is_renamed(const struct tempfile *l)
{
	return l->is_renamed;
}

int
tempfile_is_not_renamed(const struct tempfile *l)
{
	return l->data_place == IN_TEMP && !l->is_renamed;
}

enum tempfile_leftover
tempfile_leftover(const struct tempfile *l)
{
	if (l->has_temp)
		return l->temp_seen == NAME_ABSENT ? TEMPFILE_MAY_LEAVE_TEMP :
		    TEMPFILE_LEAVES_TEMP;
	if (l->has_staging)
		return TEMPFILE_LEAVES_STAGING;
	return l->open_mode == TEMPFILE_OPEN_TEMP && l->data_place == IN_PLACE ?
	    TEMPFILE_MAY_LEAVE_TEMP : TEMPFILE_LEAVES_NOTHING;
}
