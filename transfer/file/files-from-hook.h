/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * files-from-hook: scp --files-from LIST, which copies what a list names.
 *
 * The argument is the root, and a line of the list is a file below it, which
 * keeps its path below the target. The list is read while files are copied, as
 * names are needed; from a pipe as they come, and nobody waits for it who has
 * other things to do. A name is an entry of the scheduler as soon as it is
 * read. What has to happen before it is copied are entries as well:
 *
 *   the name      A get, or a copy between servers, looks it up, many at once.
 *   the way       Each directory that leads to it is made once, with a mode
 *                 that lets files be written. Until then the name waits.
 *
 * Modes and times of these directories are set when all names are done, the
 * inner ones first, whatever the order of the list. So all of them are kept in
 * memory, about 100 bytes each, but of the names only as many as a tree has
 * entries. A directory that is named is one of them; with -r its tree is copied
 * as any other.
 *
 * A line that cannot be used is an item that has failed, as a file that is not
 * there: the others are copied.
 *
 * One list in a process. Main thread only.
 */

#ifndef HAYATE_FILES_FROM_HOOK_H
#define HAYATE_FILES_FROM_HOOK_H

#include "scheduler.h"

struct file;
struct transfer;

/*
 * The list is opened; "-": standard input. "nul": its names end with NUL.
 * "deep": the directories among them are copied with what is below. An error
 * ends the process with status 1. "target" is where to, as the user names it.
 */
void files_from_open(const char *path, int nul, int deep, const char *target);

/* Whether there is a list; that target */
int	files_from_is_wanted(void);
const char *files_from_target(void);

/* Says why no list is copied: what this source is, or NULL: how. Returns -1. */
int	files_from_refuse(const char *src);

/*
 * scp calls it in the place of sftp_upload_dir(), and says of what fails that
 * the directory does. Of a list each name has said why, so only the exit status
 * is set.
 */
struct sftp_conn;
int files_from_upload_dir(struct sftp_conn *, const char *, const char *, int,
    int, int, int, int, int);

/* A run begins; its root was added. */
void	files_from_begin(struct transfer *, struct file *root);

/* Returns 1 if children of this directory come from the list. */
int	files_from_is_root(const struct file *);

/* OP_ADD_CHILDREN of the root: adds a name if there is one. */
void	files_from_add(struct transfer *, struct sched_entry *);

/*
 * Looks whether the list goes on: returns 1 if the scheduler has more to do.
 * The descriptor to wait for, or -1
 */
int	files_from_poll(struct transfer *);
int	files_from_fd(void);

/*
 * A file to be put was added, while there is a list. A server may not tell
 * apart names that differ only in case: while a file with such a name is in
 * flight, no other one is. Files that have been printed are no longer compared.
 */
void	files_from_serialize_case(struct file *, struct sched_entry *);

/* OP_BEGIN of an entry. Returns 0, or -1 with a text if it has failed. */
int	files_from_entry_begins(struct file *, struct sched_entry *);

/* OP_END and OP_PRINT of an entry */
void	files_from_entry_ended(struct transfer *, struct file *,
    struct sched_entry *);
void	files_from_entry_printed(struct file *);

/*
 * What a name turned out to be, and what follows from that. "kind" is what it
 * would be in a tree; KIND_MESSAGE: nothing that can be copied.
 */
enum sched_kind files_from_kind(struct file *, enum sched_kind kind);

#endif /* HAYATE_FILES_FROM_HOOK_H */
