/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stale-temp.h. */

#include <string.h>

#include "stale-temp.h"

#define ALL		((1U << STALE_TEMP_NAMES) - 1)

void
stale_temp_begin(struct stale_temp *l, int asks_owner)
{
	memset(l, 0, sizeof(*l));
	l->to_ask = ALL | (asks_owner ? 1U << STALE_TEMP_NAMES : 0);
}

void
stale_temp_set_owner(struct stale_temp *l, uint32_t owner)
{
	l->has_owner = 1;
	l->owner = owner;
}

/* What others own is not looked at any more. */
static void
ignore_others(struct stale_temp *l)
{
	struct stale_temp_name *name;

	for (name = l->name; name < l->name + STALE_TEMP_NAMES; name++) {
		if (name->is >= STALE_TEMP_SEEN &&
		    (!l->has_owner || name->owner != l->owner))
			name->is = STALE_TEMP_FOREIGN;
	}
}

int
stale_temp_search(struct stale_temp *l)
{
	if (l->phase != STALE_TEMP_LOOKED)
		return 0;
	ignore_others(l);
	l->phase = STALE_TEMP_SEARCHING;
	return 1;
}

void
stale_temp_remove_all(struct stale_temp *l)
{
	l->removes = 1;
	if (l->phase == STALE_TEMP_LOOKING || l->phase >= STALE_TEMP_WATCHING)
		return;
	ignore_others(l);
	l->phase = STALE_TEMP_WATCHING;
}

static unsigned int
names_in_state(const struct stale_temp *l, int is)
{
	unsigned int i, which = 0;

	for (i = 0; i < STALE_TEMP_NAMES; i++) {
		if ((int)l->name[i].is == is)
			which |= 1U << i;
	}
	return which;
}

static unsigned int
lowest_bit(unsigned int bits)
{
	unsigned int i = 0;

	while ((bits >> i & 1) == 0)
		i++;
	return i;
}

/* Returns 1 if it is known what is left over. */
static int
has_watched_enough(struct stale_temp *l, uint64_t us,
    struct stale_temp_action *a)
{
	unsigned int found = names_in_state(l, STALE_TEMP_SEEN);

	if (found == 0)
		return 1;
	if (us < l->looked_us + STALE_TEMP_WATCH_US)
		a->op = STALE_TEMP_WAIT;
	else
		l->to_ask = found;
	return 0;
}

/* Returns the number of the longest that was not tried, or STALE_TEMP_NAMES. */
static unsigned int
longest_untried(const struct stale_temp *l)
{
	unsigned int i, best = STALE_TEMP_NAMES;

	for (i = 0; i < STALE_TEMP_STAGING; i++) {
		if (l->name[i].is >= STALE_TEMP_SEEN && !l->name[i].tried &&
		    (best == STALE_TEMP_NAMES ||
		    l->name[i].size > l->name[best].size))
			best = i;
	}
	return best;
}

static void
search_next(struct stale_temp *l, uint64_t us, struct stale_temp_action *a)
{
	a->number = longest_untried(l);
	if (a->number == STALE_TEMP_NAMES)
		l->phase = STALE_TEMP_SEARCHED;
	else if (has_watched_enough(l, us, a)) {
		l->number = a->number;
		l->name[a->number].tried = 1;
		a->op = STALE_TEMP_IN_USE;
		if (l->name[a->number].is != STALE_TEMP_ABANDONED)
			return;
		a->op = STALE_TEMP_COMPARE;
		l->phase = STALE_TEMP_COMPARING;
	}
}

static void
remove_next(struct stale_temp *l, struct stale_temp_action *a)
{
	unsigned int dead = names_in_state(l, STALE_TEMP_ABANDONED);

	if (dead == 0) {
		l->phase = STALE_TEMP_REMOVED;
		return;
	}
	a->op = STALE_TEMP_REMOVE;
	a->number = lowest_bit(dead);
	l->name[a->number].is = STALE_TEMP_FOREIGN;	/* It may fail. */
}

static void
begin_removal(struct stale_temp *l, uint64_t us, struct stale_temp_action *a)
{
	if (!has_watched_enough(l, us, a))
		return;
	l->to_ask = names_in_state(l, STALE_TEMP_ABANDONED);
	l->phase = STALE_TEMP_REMOVING;
}

static void
ask_lstat(struct stale_temp *l, struct stale_temp_action *a)
{
	a->op = STALE_TEMP_LSTAT;
	a->number = lowest_bit(l->to_ask);
	l->to_ask &= ~(1U << a->number);
	l->due |= 1U << a->number;
}

void
stale_temp_next(struct stale_temp *l, uint64_t us, struct stale_temp_action *a)
{
	memset(a, 0, sizeof(*a));
	while (a->op == 0) {
		if (l->to_ask != 0)
			ask_lstat(l, a);
		else if (l->due != 0)
			a->op = STALE_TEMP_BUSY;
		else if (l->phase == STALE_TEMP_SEARCHING)
			search_next(l, us, a);
		else if (l->phase == STALE_TEMP_WATCHING)
			begin_removal(l, us, a);
		else if (l->phase == STALE_TEMP_REMOVING)
			remove_next(l, a);
		else if (l->phase != STALE_TEMP_LOOKING)
			a->op = STALE_TEMP_END;
		else {
			l->looked_us = us;
			l->phase = STALE_TEMP_LOOKED;
			if (l->removes)
				stale_temp_remove_all(l);
		}
	}
}

void
stale_temp_found(struct stale_temp *l, unsigned int number,
    const struct stale_temp_file *f)
{
	struct stale_temp_name *name = &l->name[number];

	l->due &= ~(1U << number);
	if (number == STALE_TEMP_NAMES) {
		if (f->is != STALE_TEMP_ABSENT)
			stale_temp_set_owner(l, f->owner);
	} else if (l->phase == STALE_TEMP_LOOKING) {
		name->is = f->is == STALE_TEMP_FILE ? STALE_TEMP_SEEN : f->is ==
		    STALE_TEMP_NOT_FILE ? STALE_TEMP_FOREIGN : STALE_TEMP_FREE;
		name->owner = f->owner;
		name->size = f->size;
		name->mtime = f->mtime;
	} else
		name->is = f->is == STALE_TEMP_FILE && f->owner ==
		    name->owner && f->size == name->size && f->mtime ==
		    name->mtime ? STALE_TEMP_ABANDONED : STALE_TEMP_ACTIVE;
}

int
stale_temp_is_free(const struct stale_temp *l, unsigned int number)
{
	return l->name[number].is == STALE_TEMP_FREE;
}

void
stale_temp_replies_lost(struct stale_temp *l)
{
	l->to_ask |= l->due;
	l->due = 0;
}

int
stale_temp_compares(const struct stale_temp *l)
{
	return l->phase == STALE_TEMP_COMPARING;
}

void
stale_temp_compared(struct stale_temp *l, int adopted)
{
	l->phase = adopted ? STALE_TEMP_SEARCHED : STALE_TEMP_SEARCHING;
	if (adopted)
		l->name[l->number].is = STALE_TEMP_FREE;
}
