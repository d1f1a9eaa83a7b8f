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
 * What cannot be written is an error that is named once. The copy goes on, and
 * the process ends with an exit status that is not 0. Main thread only.
 */

#ifndef HAYATE_JOURNAL_HOOK_H
#define HAYATE_JOURNAL_HOOK_H

#include <stddef.h>

struct stat;

/* The journal begins, if there is a path. An error ends the process. */
void	journal_open(const char *path);
int	journal_is_open(void);

/* Returns 1 if the journal is this file, which a report must not replace. */
int	journal_is_file(const struct stat *);

/* The journal is a file that is copied: nothing more is written into it. */
void	journal_stop_writing(void);

/* What a report or a journal says that would spoil a file of the copy */
#define JOURNAL_IS_COPIED	"not written, because this file is copied"

/*
 * Writes a line, with its newline at the end. The byte before it is a newline
 * as well. Signals are blocked. A signal's handler may call it.
 */
void	journal_write(const char *line, size_t len);

/* Names the first error, once. Returns 1 if there was one. */
int	journal_failed(void);

#endif /* HAYATE_JOURNAL_HOOK_H */
