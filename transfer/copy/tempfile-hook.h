/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-hook: the requests by which a file that is uploaded over several
 * connections appears under its name. tempfile.h says which, and this file
 * builds them.
 *
 * Main thread only.
 */

#ifndef HAYATE_TEMPFILE_HOOK_H
#define HAYATE_TEMPFILE_HOOK_H

#include "file-hook.h"

/*
 * tempfile_want() says in "*begin" whether a file that is uploaded should have
 * a temporary file: if it is large and ssh offers further connections; "*conf"
 * has to stay until sched_begin(). If that has granted it, call
 * tempfile_begun(). A large file without one has stale temporary files beside
 * it removed.
 */
void	tempfile_want(struct transfer *, struct file *, struct sched_entry *,
    struct tempfile_conf *conf, struct sched_begin *begin);
void	tempfile_begun(struct file *);

/*
 * Returns 1 if the user wants several connections, or the path may need them.
 */
int	tempfile_wants_conns(const struct transfer *);

/*
 * Returns 1 if what was found is the temporary file, as its first handle knows
 * it: by its owner and the time that it was given, or if the server does not
 * keep that, by its time and size. Not by its mode: a server on Windows tells
 * another one of a name than of a handle.
 */
int	tempfile_is_same(const struct file *, const Attrib *found);

/* Returns 1 if a file of this size might. */
int	tempfile_may_begin(const struct transfer *, uint64_t size);

/* For OP_TEMPFILE, by enum tempfile_op */
extern const struct op_handler tempfile_handlers[];

/* What the server would keep if all ended now; or NULL. The caller frees it. */
char	*tempfile_describe_leftover(const struct file *,
    const struct sched_entry *);

/*
 * Before the loss of the main connection is reported to the scheduler, which
 * drops its temporary files: remembers what tempfile_describe_leftover()
 * returns of each file, which returns it until the file is complete.
 */
void	tempfile_keep_leftovers(struct transfer *);

/* Reports the same as an error. */
void	tempfile_report_leftover(const struct file *,
    const struct sched_entry *);

/*
 * Returns what the server would keep of all files, and of a proof, if all ended
 * now: a line for each, which a signal handler may write; or NULL. The caller
 * frees it.
 */
char	*tempfile_describe_all(const struct transfer *);

/* Reports the file that a proof would leave, if there is one. */
void	tempfile_report_proof(const struct transfer *);

/* Returns the capabilities of a connection, SFTP_CAP_*, as TEMPFILE_HAS_*. */
int	tempfile_server_caps(int told);

#endif /* HAYATE_TEMPFILE_HOOK_H */
