/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * check-hook: a file of a run that is there in part is verified, and the copy
 * goes on; a file that was copied is compared.
 *
 * With scp --resume, and with reget, reput and -a of sftp, what the target has
 * is compared with the source first (judge.h), with a meter if one file takes
 * long. A file that is complete is left alone, but its times and mode are set
 * if they are preserved. With --checksum the hashes of both files are compared
 * when the copy is done.
 *
 * A source that changed during the copy is reported. With --checksum or
 * --resume the copy failed. sftp's reget and reput refuse a target that is
 * longer than its source, as stock's do. With --resume it is cut.
 *
 * If the target is not there, a put over several channels may have been killed,
 * and have left its file under a hidden name (left.h), which may have holes.
 * What is equal of it gets the name of the target, if that is free. No time is
 * believed.
 *
 * Main thread only.
 */

#ifndef HAYATE_CHECK_HOOK_H
#define HAYATE_CHECK_HOOK_H

#include <sys/types.h>
#include <sys/stat.h>
#include <stdint.h>

#include "file-hook.h"
#include "judge.h"
#include "left.h"
#include "plan.h"
#include "verify.h"

/* Hashes of one request */
#define CHECK_SUMS	(VERIFY_RANGE / VERIFY_BLOCK)

/* Private to check-hook.c and asks-hook.c */
struct checking {
	struct judge judge;
	int	 fd;			/* of the local end; -1: not open */
	int	 is_shared;		/* "fd" is the file's own */
	struct stat seen;		/* the local end, as it was compared */
	Attrib	 target;
	u_int	 status;		/* of a look there that failed */
	int	 is_copying;		/* or was */
	int	 is_copied;
	int	 is_over;		/* but for what is left over */

	/* the server's file, while it is held to be dressed */
	enum plan_op held;		/* what is asked next; 0: it is not */
	u_int	 flags;			/* that open it; 0: none do */

	/* a comparison */
	struct judge_action asked;	/* op 0: nothing is under way */
	struct sums *ours;
	unsigned char theirs[CHECK_SUMS * VERIFY_HASH_LEN];
	ssize_t	 ntheirs;		/* -1: refused */
	int	 has_theirs;
	uint64_t differs;		/* what was read back, at this offset */
	int	 has_ended;		/* by a READ of what was read back */
	uint64_t begun_us;
	off_t	 done;
	char	*name;			/* in the meter; NULL: none */

	/* what is left over beside a large file that is put */
	char	*hidden;		/* its name; NULL: nobody looks */
	int	 is_hidden;		/* it is compared now */
	unsigned int number;		/* of it */
	int	 has_searched;
	struct left left;
	struct judge other;		/* of it */
};

/*
 * A run begins. With --checksum, a server without hashes ends the process
 * before anything is copied.
 */
void	check_run(struct run *);

/* A file begins, in PLAN_BEGIN. Returns 1 if it is checked. */
int	check_begin(struct run *, struct file *, struct job *);

/* PLAN_CHECK. Returns 1 if the copy is next. */
int	check_work(struct run *, struct file *, struct job *);

/* The local source of a put is going to be read. */
void	check_opened(struct file *);

/*
 * The copy goes on in a local file, which is open. Returns 1 if that is still
 * what was compared.
 */
int	check_is_same(const struct file *, const struct stat *);

/*
 * Returns 1 if what is resumed may be what another copy writes, and the server
 * cuts files. So it is neither emptied nor cut before all is written.
 */
int	check_is_shared(const struct run *);

/*
 * Of a put: what the server has opened. If it is another one, or has
 * changed, or is not there, the copy is restarted without it. check_is_kept()
 * only compares.
 */
int	check_kept(struct file *, const Attrib *);
int	check_is_kept(const struct file *, const Attrib *);
int	check_is_gone(struct file *, const struct plan_action *, u_int status);

/* The file ends, or begins once more: what was verified is kept, or not. */
void	check_end(struct file *);
void	check_forget(struct file *);

/* For asks-hook.c: what a server says of a file */
struct judge_end check_end_of_attrib(const Attrib *);

/* Likewise: what is judged now */
struct judge *check_judge(struct checking *);

/* Likewise: hashes some of the local file. */
void	check_sum(struct run *, struct file *, struct job *);

/* Likewise: the comparison goes on behind "off". Draws the meter. */
void	check_show(struct run *, struct file *, uint64_t off);

#endif /* HAYATE_CHECK_HOOK_H */
