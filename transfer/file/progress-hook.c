/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See progress-hook.h. */

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
#include "progress-hook.h"
#include "progress-text.h"

/* The line is drawn so often, as upstream's is once a second. */
#define INTERVAL_US	250000
#define WAIT_MS		1000

#define COLUMNS		80		/* if the terminal does not tell */
#define COLUMNS_MAX	512

extern int showprogress;

static int
can_draw(const struct transfer *t)
{
	return showprogress && t->count.files_known != 0 &&
	    getpgrp() == tcgetpgrp(STDOUT_FILENO);
}

static int
terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_col == 0)
		return COLUMNS;
	return MINIMUM(size.ws_col, COLUMNS_MAX);
}

/* The name of the oldest file in flight, or nothing */
static const char *
current_name(const struct transfer *t)
{
	struct sched_entry *j = sched_next_in_order(t->sched, NULL);
	const char *name;
	struct file *file;

	if (j == NULL || sched_info(j).kind != KIND_FILE)
		return "";
	file = sched_info(j).user;
	name = file_base_name(file->src);
	return *name != '\0' ? name : file->src;
}

static void
put_line(const char *line)
{
	(void)atomicio(vwrite, STDOUT_FILENO, (char *)line, strlen(line));
}

/* The name goes to the left, as far as there is room. */
static void
draw_line(struct transfer *t, int last)
{
	char right[PROGRESS_TEXT_LEN], *name = NULL, *line = NULL;
	int all = terminal_columns() - 1, room, used;

	progress_text_line(&t->progress, &t->count, clock_us(), last, right);
	room = all - (int)strlen(right) - 1;
	used = MAXIMUM(room, 0);
	if (room > 0)
		asmprintf(&name, INT_MAX, &used, "%s", last ? "" :
		    current_name(t));
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
show_single_file(struct transfer *t)
{
	const struct sched_entry *j = sched_next_in_order(t->sched, NULL);
	const struct file *file = j != NULL ? sched_info(j).user : NULL;

	if (!showprogress || t->single_ended || file == NULL ||
	    !file->has_data || (!t->ops->is_put && file->size == 0))
		return;
	t->shown = (off_t)t->count.bytes;
	if (t->single_name == NULL) {
		/* The file is gone before its meter. */
		t->single_name = xstrdup(current_name(t));
		start_progress_meter(t->single_name, (off_t)file->size,
		    &t->shown);
	}
	refresh_progress_meter(0);
}

void
progress_tick(struct transfer *t)
{
	if (t->single_file) {
		show_single_file(t);
		return;
	}
	if (t->progress.begun_us == 0)
		progress_text_begin(&t->progress, clock_us());
	if (clock_us() - t->drawn_us >= INTERVAL_US && can_draw(t))
		draw_line(t, 0);
}

void
progress_clear(struct transfer *t)
{
	if (!t->drawn)
		return;
	put_line("\r\033[K");
	t->drawn = 0;
}

void
progress_finish(struct transfer *t)
{
	if (t->single_name == NULL)
		return;
	t->shown = (off_t)t->count.bytes;
	stop_progress_meter();
	free(t->single_name);
	t->single_name = NULL;
	t->single_ended = 1;
}

void
progress_end(struct transfer *t)
{
	progress_finish(t);
	if (t->progress.begun_us == 0 || !can_draw(t))
		return;
	draw_line(t, 1);
	put_line("\n");
}

int
progress_interval(void)
{
	return showprogress ? WAIT_MS : -1;
}
