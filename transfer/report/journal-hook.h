/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * journal-hook: --journal FILE of scp and sftp, a line of JSON for each file as
 * soon as it is done.
 *
 * Each line is appended by one write, so the journal is valid at any time, also
 * after SIGKILL; at most the last line is cut off. A later run begins a new
 * line then. PROTOCOL, 5 describes a line; report-hook.c composes it.
 *
 * A failed write is reported once. The copy continues, and the process ends
 * with an exit status that is not 0. Main thread only.
 */

#ifndef HAYATE_JOURNAL_HOOK_H
#define HAYATE_JOURNAL_HOOK_H

#include <stddef.h>

struct stat;

/*
 * Opens the journal, unless "path" is NULL; "-" is standard output. The string
 * is kept. An error ends the process with status 1.
 */
void	journal_open(const char *path);
int	journal_is_open(void);

/* Returns 1 if the journal is this file, which a report must not replace. */
int	journal_is_file(const struct stat *);

/*
 * The journal is a file that is copied: nothing more is written into it, which
 * journal_failed() reports.
 */
void	journal_stop_writing(void);

/* The error of a report or a journal that is itself a file of the copy */
#define JOURNAL_IS_COPIED	"not written, because this file is copied"

/*
 * Writes a line, whose last byte is a newline. line[-1] has to be a newline as
 * well, which ends a line that was cut off. The caller has blocked SIGPIPE and
 * all signals whose handlers call this function, as they may.
 */
void	journal_write(const char *line, size_t len);

/* Returns 1 if there was an error, and prints the first one, once. */
int	journal_failed(void);

#endif /* HAYATE_JOURNAL_HOOK_H */
