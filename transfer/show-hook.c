/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See show-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/ioctl.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomicio.h"
#include "misc.h"
#include "progressmeter.h"
#include "utf8.h"
#include "xmalloc.h"

#include "clock.h"
#include "file-hook.h"
#include "meter.h"
#include "show-hook.h"

/* The line is drawn so often, as upstream's is once a second. */
#define INTERVAL_US	250000
#define WAIT_MS		1000

#define COLUMNS		80		/* if the terminal does not tell */
#define COLUMNS_MAX	512

extern int showprogress;

static int
can_draw(const struct run *t)
{
	return showprogress && t->count.files_known != 0 &&
	    getpgrp() == tcgetpgrp(STDOUT_FILENO);
}

static int
columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_col == 0)
		return COLUMNS;
	return MINIMUM(size.ws_col, COLUMNS_MAX);
}

/* The name of the oldest file under way, or nothing */
static const char *
current(const struct run *t)
{
	struct job *j = plan_oldest(t->s);
	const char *slash;
	struct file *file;

	if (j == NULL || plan_kind(j) != PLAN_FILE)
		return "";
	file = plan_own(j);
	slash = strrchr(file->src, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : file->src;
}

static void
put_line(const char *line)
{
	(void)atomicio(vwrite, STDOUT_FILENO, (char *)line, strlen(line));
}

/* The name goes to the left, as far as there is room. */
static void
draw(struct run *t, int last)
{
	char right[METER_LINE], *name = NULL, *line = NULL;
	int all = columns() - 1, room, used;

	meter_line(&t->meter, &t->count, clock_us(), last, right);
	room = all - (int)strlen(right) - 1;
	used = MAXIMUM(room, 0);
	if (room > 0)
		asmprintf(&name, INT_MAX, &used, "%s", last ? "" : current(t));
	xasprintf(&line, "\r%s%*s%.*s", name != NULL ? name : "",
	    room > 0 ? room - used + 1 : 0, "", all, right);
	put_line(line);
	free(name);
	free(line);
	t->drawn = 1;
	t->drawn_us = clock_us();
}

/* One file alone has upstream's meter, as soon as it is open. */
static void
show_one(struct run *t)
{
	const struct job *j = plan_oldest(t->s);
	const struct file *file = j != NULL ? plan_own(j) : NULL;

	if (!showprogress || t->meter_ended || file == NULL ||
	    !file->has_data || (!t->side->is_put && file->size == 0))
		return;
	t->shown = (off_t)t->count.bytes;
	if (t->meter_name == NULL) {
		/* The file is gone before its meter. */
		t->meter_name = xstrdup(current(t));
		start_progress_meter(t->meter_name, (off_t)file->size,
		    &t->shown);
	}
	refresh_progress_meter(0);
}

void
show_tick(struct run *t)
{
	if (t->alone) {
		show_one(t);
		return;
	}
	if (t->meter.begun_us == 0)
		meter_begin(&t->meter, clock_us());
	if (clock_us() - t->drawn_us >= INTERVAL_US && can_draw(t))
		draw(t, 0);
}

void
show_clear(struct run *t)
{
	if (!t->drawn)
		return;
	put_line("\r\033[K");
	t->drawn = 0;
}

void
show_finish(struct run *t)
{
	if (t->meter_name == NULL)
		return;
	t->shown = (off_t)t->count.bytes;
	stop_progress_meter();
	free(t->meter_name);
	t->meter_name = NULL;
	t->meter_ended = 1;
}

void
show_end(struct run *t)
{
	show_finish(t);
	if (t->meter.begun_us == 0 || !can_draw(t))
		return;
	draw(t, 1);
	put_line("\n");
}

int
show_wait(void)
{
	return showprogress ? WAIT_MS : -1;
}
