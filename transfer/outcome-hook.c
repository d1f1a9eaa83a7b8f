/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See outcome-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "misc.h"
#include "utf8.h"

#include "file-hook.h"
#include "from-hook.h"
#include "outcome-hook.h"
#include "report-hook.h"
#include "server-hook.h"
#include "show-hook.h"

/* Texts */

static void
print_text(const struct text *text)
{
	if (text->level == TEXT_OUT)
		mprintf("%s", text->text);
	else if (text->level == SYSLOG_LEVEL_INFO)
		logit("%s", text->text);
	else
		error("%s", text->text);
}

static void
print_texts(struct run *t, struct text **texts)
{
	const struct text *text;

	if (*texts != NULL)
		show_clear(t);
	for (text = *texts; text != NULL; text = text->next)
		print_text(text);
	file_drop_texts(texts);
}

/* Reports */

static enum report_way
way_of(const struct run *t)
{
	return t->to != NULL ? REPORT_CROSS :
	    t->side->is_put ? REPORT_PUT : REPORT_GET;
}

/*
 * A file that has begun is reported, unless that is the caller's affair, and so
 * is all else that could not be read or made.
 */
static int
is_reported(const struct run *t, const struct job *j, const struct file *file)
{
	if (t->alone || !report_is_wanted() || plan_kind(j) == PLAN_LEAVE)
		return 0;
	return plan_kind(j) == PLAN_FILE ? file->begun_us != 0 : file->failed;
}

static void
report_end(const struct run *t, const struct job *j, const struct file *file,
    int where)
{
	int has_failed = file->failed ||
	    (plan_kind(j) == PLAN_FILE && !plan_is_whole(j));

	report_verified(file->how, file->verified,
	    file->is_complete && !has_failed);
	report_file(where, file->moved, file->ended_us - file->begun_us,
	    has_failed ? -1 : 0);
}

/*
 * Texts of an item are not all printed as errors: what is only noted is one as
 * well, if it names a source that was not read.
 */
static void
report_texts(const struct job *j, const struct file *file, int errors)
{
	const struct text *text;

	for (text = file->text[0]; text != NULL; text = text->next) {
		if (text->level == SYSLOG_LEVEL_ERROR ? errors :
		    text->level == SYSLOG_LEVEL_INFO &&
		    plan_kind(j) != PLAN_FILE)
			report_text(text->text);
	}
}

void
outcome_note(const struct run *t, const struct job *j, struct file *file)
{
	if (!is_reported(t, j, file) || report_expects())
		return;
	report_expect_file(way_of(t), file->src, file->dst);
	report_texts(j, file, 1);
	report_end(t, j, file, REPORT_IN_JOURNAL);
	file->is_noted = 1;
}

void
outcome_tell(struct run *t, struct job *j, struct file *file)
{
	int reported = is_reported(t, j, file);

	if (reported && !report_expects())
		report_expect_file(way_of(t), file->src, file->dst);
	if (reported)
		report_texts(j, file, 0);
	print_texts(t, &file->text[plan_kind(j) == PLAN_LEAVE]);
	if (reported)
		report_end(t, j, file, file->is_noted ? REPORT_IN_LIST :
		    REPORT_IN_BOTH);
}

void
outcome_print(struct run *t, struct job *j, struct file *file)
{
	if (t->alone) {
		server_add_moved(t->server, file->moved);
		report_verified(file->how, file->verified,
		    file->is_complete && !file->failed);
	}
	outcome_tell(t, j, file);
	if (file->outcome != NULL)
		*file->outcome = file->failed ? -1 : 1;
	from_printed(file);
	if (plan_kind(j) != PLAN_DIR)
		file_free(file);
}
