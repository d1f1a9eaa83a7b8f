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
#include <stdint.h>

#include "file-hook.h"
#include "scheduler.h"
#include "stale-temp.h"
#include "verify.h"

/* Hashes of one request */
#define VERIFY_RUN_HASHES	(VERIFY_RANGE / VERIFY_BLOCK)

/* Private to verify-run-hook.c and verify-requests-hook.c */
struct verification {
	struct verify verify;
	int	 fd;			/* of the local end; -1: not open */
	int	 fd_is_shared;		/* "fd" is the file's own */
	struct stat compared_stat;	/* the local end, as it was compared */
	Attrib	 target;
	u_int	 status;		/* of a look there that failed */
	int	 copy_begun;		/* or was */
	int	 copy_done;

	/* the server's file, while it is open for OP_VERIFY_SETSTAT */
	enum sched_op setstat_op;		/* next operation; 0: none */
	unsigned int setstat_conn;	/* connection that has it open */
	u_int	 flags;			/* OPEN flags; 0: not open */

	/* a comparison */
	struct verify_action comparison;	/* op 0: nothing is in flight */
	struct blocksum *our_hashes;
	unsigned char their_hashes[VERIFY_RUN_HASHES * VERIFY_HASH_LEN];
	ssize_t	 ntheir_hashes;		/* -1: refused */
	int	 has_their_hashes;
	uint64_t first_difference;	/* what was read back, at this offset */
	int	 has_ended;		/* by a READ of what was read back */
	uint64_t begun_us;
	off_t	 progress_off;
	char	*progress_name;			/* in the meter; NULL: none */

	/* what is left over beside a large file that is uploaded */
	char	*temp_name;		/* its name; NULL: nobody looks */
	struct stale_temp stale;
	struct verify temp_verify;	/* of what "stale" compares */
};

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
 * verify_run_attrs_match() only returns 1 if it is the file that was compared.
 */
int	verify_run_is_unchanged(struct file *, const Attrib *);
int	verify_run_attrs_match(const struct file *, const Attrib *);
int verify_run_is_gone(struct file *, const struct sched_action *,
    u_int status);

/* The file ends, or restarts: what was verified is kept, or not. */
void	verify_run_end(struct file *);
void	verify_run_forget(struct file *);

/*
 * Returns the path of the temporary file that is compared, if the operation is
 * about that, or NULL.
 */
const char *verify_run_path(const struct file *, enum sched_op);

/* For verify-requests-hook.c: what a server says of a file */
struct verify_end verify_run_end_of_attrib(const Attrib *);

/* Likewise: the verification that runs now */
struct verify *verify_run_current(struct verification *);

/* Likewise: hashes some of the local file. */
void	verify_run_hash_slice(struct transfer *, struct file *,
    struct sched_entry *);

/* Likewise: the comparison goes on behind "off". Draws the meter. */
void verify_run_show_progress(struct transfer *, struct file *, uint64_t off);

#endif /* HAYATE_VERIFY_RUN_HOOK_H */
