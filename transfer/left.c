/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See left.h. */

#include <string.h>

#include "left.h"

#define ALL		((1U << LEFT_NAMES) - 1)

void
left_begin(struct left *l)
{
	memset(l, 0, sizeof(*l));
	l->ask = ALL;
}

void
left_ask_owner(struct left *l)
{
	l->ask |= 1U << LEFT_NAMES;
}

void
left_set_owner(struct left *l, uint32_t owner)
{
	l->has_owner = 1;
	l->owner = owner;
}

/* What others own is not looked at any more. */
static void
leave_others(struct left *l)
{
	struct left_name *name;

	for (name = l->name; name < l->name + LEFT_NAMES; name++) {
		if (name->is >= LEFT_FOUND &&
		    (!l->has_owner || name->owner != l->owner))
			name->is = LEFT_STRANGE;
	}
}

void
left_search(struct left *l)
{
	leave_others(l);
	l->phase = LEFT_SEARCHES;
}

void
left_clean(struct left *l)
{
	leave_others(l);
	l->phase = LEFT_CLEANS;
}

static unsigned int
those_that_are(const struct left *l, int is)
{
	unsigned int i, which = 0;

	for (i = 0; i < LEFT_NAMES; i++) {
		if ((int)l->name[i].is == is)
			which |= 1U << i;
	}
	return which;
}

static unsigned int
lowest(unsigned int bits)
{
	unsigned int i = 0;

	while ((bits >> i & 1) == 0)
		i++;
	return i;
}

/* Returns 1 if it is known what is left over. */
static int
has_watched(struct left *l, uint64_t us, struct left_action *a)
{
	unsigned int found = those_that_are(l, LEFT_FOUND);

	if (found == 0)
		return 1;
	if (us < l->looked + LEFT_WATCH_US)
		a->op = LEFT_WAIT;
	else
		l->ask = found;
	return 0;
}

/* Returns the number of the longest that was not tried, or LEFT_NAMES. */
static unsigned int
longest(const struct left *l)
{
	unsigned int i, best = LEFT_NAMES;

	for (i = 0; i < LEFT_SECOND; i++) {
		if (l->name[i].is >= LEFT_FOUND && !l->name[i].tried &&
		    (best == LEFT_NAMES ||
		    l->name[i].size > l->name[best].size))
			best = i;
	}
	return best;
}

static void
search(struct left *l, uint64_t us, struct left_action *a)
{
	a->number = longest(l);
	if (a->number == LEFT_NAMES)
		l->phase = LEFT_RESTS;
	else if (has_watched(l, us, a)) {
		a->op = l->name[a->number].is == LEFT_DEAD ? LEFT_TRY :
		    LEFT_RUNS;
		l->name[a->number].tried = 1;
	}
}

static void
sweep(struct left *l, struct left_action *a)
{
	unsigned int dead = those_that_are(l, LEFT_DEAD);

	if (dead == 0) {
		l->phase = LEFT_RESTS;
		return;
	}
	a->op = LEFT_SWEEP;
	a->number = lowest(dead);
	l->name[a->number].is = LEFT_STRANGE;	/* It may fail. */
}

static void
clean(struct left *l, uint64_t us, struct left_action *a)
{
	if (!has_watched(l, us, a))
		return;
	l->ask = those_that_are(l, LEFT_DEAD);
	l->phase = LEFT_SWEEPS;
}

static void
look(struct left *l, struct left_action *a)
{
	a->op = LEFT_FIND;
	a->number = lowest(l->ask);
	l->ask &= ~(1U << a->number);
	l->due |= 1U << a->number;
}

void
left_next(struct left *l, uint64_t us, struct left_action *a)
{
	memset(a, 0, sizeof(*a));
	while (a->op == 0) {
		if (l->ask != 0)
			look(l, a);
		else if (l->due != 0)
			a->op = LEFT_BUSY;
		else if (l->phase == LEFT_SEARCHES)
			search(l, us, a);
		else if (l->phase == LEFT_CLEANS)
			clean(l, us, a);
		else if (l->phase == LEFT_SWEEPS)
			sweep(l, a);
		else {
			if (l->phase == LEFT_LOOKS)
				l->looked = us;
			l->phase = LEFT_RESTS;
			a->op = LEFT_END;
		}
	}
}

void
left_found(struct left *l, unsigned int number, const struct left_file *f)
{
	struct left_name *name = &l->name[number];

	l->due &= ~(1U << number);
	if (number == LEFT_NAMES) {
		if (f->is != LEFT_ABSENT)
			left_set_owner(l, f->owner);
	} else if (l->phase == LEFT_LOOKS) {
		name->is = f->is == LEFT_FILE ? LEFT_FOUND :
		    f->is == LEFT_OTHER ? LEFT_STRANGE : LEFT_NONE;
		name->owner = f->owner;
		name->size = f->size;
		name->mtime = f->mtime;
	} else
		name->is = f->is == LEFT_FILE && f->owner == name->owner &&
		    f->size == name->size && f->mtime == name->mtime ?
		    LEFT_DEAD : LEFT_ALIVE;
}

int
left_is_free(const struct left *l, unsigned int number)
{
	return l->name[number].is == LEFT_NONE;
}

void
left_lost(struct left *l)
{
	l->ask |= l->due;
	l->due = 0;
}

void
left_taken(struct left *l, unsigned int number)
{
	l->name[number].is = LEFT_NONE;
	l->phase = LEFT_RESTS;
}
