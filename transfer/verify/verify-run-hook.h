/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-run-hook: a file of a run that is there in part is verified, and the
 * copy goes on; a file that was copied is compared.
 *
 * With scp --resume, and with reget, reput and -a of sftp, what the target has
 * is compared with the source first (verify.h), with a meter if one file
 * takes long. A file that is complete is left alone, but its times and mode are
 * set if they are preserved. With --checksum the hashes of both files are
 * compared when the copy is done.
 *
 * A source that changed during the copy is reported. With --checksum or
 * --resume the copy failed. sftp's reget and reput refuse a target that is
 * longer than its source, as stock's do. With --resume it is cut.
 *
 * If the target is not there, a put over several channels may have been killed,
 * and have left its file under a temporary name (stale-temp.h), which may have
 * holes. What is equal of it gets the name of the target, if that is free. No
 * time is believed.
 *
 * Main thread only.
 */

#ifndef HAYATE_VERIFY_RUN_HOOK_H
#define HAYATE_VERIFY_RUN_HOOK_H

#include <sys/types.h>
#include <sys/stat.h>

#include "file-hook.h"

/*
 * A run begins. With --checksum, a server without hashes ends the process
 * before anything is copied.
 */
void	verify_run_start(struct transfer *);

/* A file begins, in OP_BEGIN. Returns 1 if it is checked. */
int verify_run_begin(struct transfer *, struct file *, struct sched_entry *);

/* OP_VERIFY. Returns 1 if the copy is next. */
int	verify_run_step(struct transfer *, struct file *, struct sched_entry *);

/*
 * What the verification has seen under temporary names, when it has ended, or
 * NULL. It removes what is stale at the end, unless another takes over:
 * verify_run_end_search().
 */
const struct stale_temp *verify_run_search(const struct file *);
void	verify_run_end_search(struct file *);

/* The local source of an upload is going to be read. */
void	verify_run_source_opened(struct file *);

/*
 * The copy goes on in a local file, which is open. Returns 1 if that is still
 * what was compared.
 */
int	verify_run_is_same(const struct file *, const struct stat *);

/*
 * Returns 1 if what is resumed may be what another copy writes, and the server
 * cuts files. So it is neither emptied nor cut before all is written.
 */
int	verify_run_target_is_shared(const struct transfer *);

/*
 * Of an upload: what the server has opened. If it is another one, or has
 * changed, or is not there, the copy restarts, without it.
 */
int	verify_run_is_unchanged(struct file *, const Attrib *);
int verify_run_is_gone(struct file *, const struct sched_action *,
    u_int status);

/* The file ends, or restarts: what was verified is kept, or not. */
void	verify_run_end(struct file *);
void	verify_run_forget(struct file *);

#endif /* HAYATE_VERIFY_RUN_HOOK_H */
