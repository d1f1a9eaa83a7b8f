/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * turn-hook: a file of a tree that is large enough to go over several channels
 * or connections.
 *
 * The other files of a tree go over one each. For a large file, which may come
 * alone or last, that would be as slow as one. So it waits until all before it
 * are done and nothing else is under way. Then it is copied as a file that is
 * named alone: by sftp_upload() or sftp_download(), with their own progress
 * line. Of four such files, or as many as there are connections, none waits,
 * because each over one is as fast.
 *
 * A file that is put and has an eighth of holes, and one that is got and that a
 * link of the server leads to, go over one.
 *
 * Called by file-hook.c and copy-hook.c. Main thread only.
 */

#ifndef HAYATE_TURN_HOOK_H
#define HAYATE_TURN_HOOK_H

struct file;
struct job;
struct run;

/* Right after plan_add() of a file of a directory: holds it, if it is large. */
void	turn_add(struct run *, struct file *, struct job *);

/*
 * In PLAN_BEGIN of a file that was held. Returns 1 after it was copied, well or
 * not; 0: it has to be copied as all others.
 */
int	turn_copy(struct run *, struct file *, struct job *);

#endif /* HAYATE_TURN_HOOK_H */
