/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See results-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "misc.h"
#include "utf8.h"

#include "file-hook.h"
#include "files-from-hook.h"
#include "progress-hook.h"
#include "report-hook.h"
#include "results-hook.h"

/* Texts */

static void
print_message(const struct message *text)
{
	if (text->level == MESSAGE_STDOUT)
		mprintf("%s", text->line);
	else if (text->level == SYSLOG_LEVEL_INFO)
		logit("%s", text->line);
	else
		error("%s", text->line);
}

static void
print_messages(struct transfer *t, struct message **texts)
{
	const struct message *text;

	if (*texts != NULL)
		progress_clear(t);
	for (text = *texts; text != NULL; text = text->next)
		print_message(text);
	file_drop_messages(texts);
}

/* Reports */

static enum report_way
report_direction(const struct transfer *t)
{
	return t->dest_stream != NULL ? REPORT_CROSS :
	    t->ops->is_put ? REPORT_PUT : REPORT_GET;
}

/*
 * A file that has begun is reported, unless that is the caller's affair, and so
 * is all else that could not be read or made.
 */
static int
is_reported(const struct transfer *t, const struct sched_entry *j,
    const struct file *file)
{
	if (t->single_file || !report_is_wanted() || sched_info(j).kind ==
	    KIND_DIR_END)
		return 0;
	return sched_info(j).kind == KIND_FILE ? file->begun_us != 0 :
	    file->failed;
}

static void
report_result(const struct transfer *t, const struct sched_entry *j,
    const struct file *file, int where)
{
	int has_failed = file->failed ||
	    (sched_info(j).kind == KIND_FILE && !sched_info(j).is_whole);

	report_verified(file->verified_by, file->verified,
	    file->is_complete && !has_failed, file->losses);
	report_file(where, file->moved, file->ended_us - file->begun_us,
	    has_failed ? -1 : 0);
}

/*
 * Texts of an item are not all printed as errors: what is only noted is one as
 * well, if it names a source that was not read.
 */
static void
report_messages(const struct sched_entry *j, const struct file *file,
    int errors)
{
	const struct message *text;

	for (text = file->messages[0]; text != NULL; text = text->next) {
		if (text->level == SYSLOG_LEVEL_ERROR ? errors :
		    text->level == SYSLOG_LEVEL_INFO &&
		    sched_info(j).kind != KIND_FILE)
			report_text(text->line);
	}
}

void
results_journal(const struct transfer *t, const struct sched_entry *j,
    struct file *file)
{
	if (!is_reported(t, j, file) || report_expects())
		return;
	report_expect_file(report_direction(t), file->src, file->dst);
	report_messages(j, file, 1);
	report_result(t, j, file, REPORT_IN_JOURNAL);
	file->is_journaled = 1;
}

void
results_report(struct transfer *t, struct sched_entry *j, struct file *file)
{
	int reported = is_reported(t, j, file);

	if (reported && !report_expects())
		report_expect_file(report_direction(t), file->src, file->dst);
	if (reported)
		report_messages(j, file, 0);
	print_messages(t, &file->messages[sched_info(j).kind == KIND_DIR_END]);
	if (reported)
		report_result(t, j, file, file->is_journaled ? REPORT_IN_LIST :
		    REPORT_IN_BOTH);
}

void
results_print(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	if (t->single_file) {
		t->single_moved = file->moved;
		report_verified(file->verified_by, file->verified,
		    file->is_complete && !file->failed, file->losses);
	}
	results_report(t, a->entry, file);
	if (file->result != NULL)
		*file->result = file->failed ? -1 : 1;
	files_from_entry_printed(file);
	if (sched_info(a->entry).kind != KIND_DIR)
		file_free(file);
}
