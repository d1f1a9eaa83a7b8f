/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * files-from-hook: scp --files-from LIST, which copies what a list names.
 *
 * The source argument is the root, and a line of the list is a file below it,
 * which keeps its path below the target. The list is read while files are
 * copied, as names are needed. A pipe is never waited for while there are files
 * to copy. A name becomes an entry of the scheduler when it is read. Before it
 * is copied, there are further entries:
 *
 *   lookup        A download, or a copy between servers, looks the name up,
 *                 many at once.
 *   directories   Each directory that leads to it is made once, with a mode
 *                 that lets files be written. Until then the name waits.
 *
 * Modes and times of these directories are set when all names are done, the
 * inner ones first, whatever the order of the list. Therefore all directories
 * are kept in memory, about 100 bytes each; names are kept only while they are
 * entries. A named directory is made like these; with -r its tree is copied.
 *
 * A line that cannot be used fails like a file that does not exist, and the
 * others are copied.
 *
 * One list in a process. Main thread only.
 */

#ifndef HAYATE_FILES_FROM_HOOK_H
#define HAYATE_FILES_FROM_HOOK_H

#include "scheduler.h"

struct file;
struct transfer;

/*
 * Opens the list; "-" is standard input. "nul": its names end with NUL. "deep":
 * its directories are copied with their trees (-r). "target" is the target as
 * the user names it. Both strings are kept. An error ends the process with
 * status 1.
 */
void files_from_open(const char *path, int nul, int deep, const char *target);

/* Returns 1 if there is a list. */
int	files_from_is_wanted(void);

/* Returns the "target" of files_from_open(), or NULL. */
const char *files_from_target(void);

/*
 * Prints why no list is copied: the source "src" is no directory, or with NULL,
 * the connection is left to stock code. Returns -1.
 */
int	files_from_refuse(const char *src);

/*
 * scp calls it in place of sftp_upload_dir(), and would print one more error if
 * it failed. With a list each failed name has its own message, so the result is
 * 0 and only the exit status is set.
 */
struct sftp_conn;
int files_from_upload_dir(struct sftp_conn *, const char *, const char *, int,
    int, int, int, int, int);

/* A transfer begins, and its root was added as KIND_LIST. */
void	files_from_begin(struct transfer *, struct file *root);

/* Returns 1 if the children of this directory come from the list. */
int	files_from_is_root(const struct file *);

/* OP_ADD_CHILDREN of the root: adds a name if there is one. */
void	files_from_add(struct transfer *, struct sched_entry *);

/*
 * Call before waiting: returns 1 if sched_next() has more to do, because a
 * paused list can be read further. Does not block.
 */
int	files_from_poll(struct transfer *);

/* Returns the descriptor to wait for, or -1. */
int	files_from_fd(void);

/*
 * Call when a file of an upload was added; does nothing without a list. A
 * server may not tell apart names that differ only in case, so files with such
 * names are copied while nothing else is in flight (sched_set_exclusive()).
 * Files that have been printed are no longer compared.
 */
void	files_from_serialize_case(struct file *, struct sched_entry *);

/* OP_BEGIN of an entry. Returns 0, or -1 if it fails for want of its way. */
int	files_from_entry_begins(struct file *, struct sched_entry *);

/* OP_END and OP_PRINT of an entry */
void	files_from_entry_ended(struct transfer *, struct file *,
    struct sched_entry *);
void	files_from_entry_printed(struct file *);

/*
 * A name was looked up. "kind" is its kind in a tree; KIND_MESSAGE: it cannot
 * be copied. Returns the kind to use, after a message if the name has failed.
 */
enum sched_kind files_from_kind(struct file *, enum sched_kind kind);

#endif /* HAYATE_FILES_FROM_HOOK_H */
