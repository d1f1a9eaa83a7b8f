/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-requests-hook: the requests about a file that is verified, and what
 * their replies say (verify-run-hook.h decides which comes next).
 *
 * A server is asked for hashes with the request check-file-name (PROTOCOL, 4),
 * if it may have it (SFTP_CAP_HASHES), while the local file is hashed in
 * slices. Without hashes a range is read back. Hashes of another kind or number
 * than asked for are no answer.
 *
 * Main thread only.
 */

#ifndef HAYATE_VERIFY_REQUESTS_HOOK_H
#define HAYATE_VERIFY_REQUESTS_HOOK_H

#include <sys/types.h>
#include <sys/stat.h>
#include <stdint.h>

#include "file-hook.h"
#include "op-table.h"
#include "scheduler.h"
#include "stale-temp.h"
#include "verify.h"

enum verify_request {
	VERIFY_ASK_STAT = 1,	/* of the server's file, by name */
	VERIFY_ASK_FSTAT,	/* with the first READ of a download */
	VERIFY_ASK_HASH,	/* of "len" bytes from "off" on */
	VERIFY_ASK_SETSIZE,	/* of the target, by name, to "off" */

	/* The range of struct verification.comparison is read back. */
	VERIFY_ASK_OPEN,	/* is followed by the other two */
	VERIFY_ASK_READ,
	VERIFY_ASK_CLOSE,

	/*
	 * Mode and time of the target are set by a handle, as another file may
	 * have got its name since it was compared.
	 */
	VERIFY_ASK_SETSTAT_OPEN,
	VERIFY_ASK_SETSTAT_FSTAT,	/* is it the file that was compared? */
	VERIFY_ASK_SETSTAT,
	VERIFY_ASK_SETSTAT_CLOSE,

	VERIFY_ASK_STALE_LSTAT,	/* of the temporary name number "off" */
	VERIFY_ASK_STALE_RENAME,	/* of that file to the target */
	VERIFY_ASK_STALE_REMOVE	/* of that file */
};

/* Hashes of one request */
#define VERIFY_HASHES	(VERIFY_RANGE / VERIFY_BLOCK)

/* What verify-run-hook.c and this file know of a file */
struct verification {
	struct verify verify;
	int	 fd;			/* of the local end; -1: not open */
	int	 fd_is_shared;		/* "fd" is the file's own */
	struct stat compared_stat;	/* the local end, as it was compared */
	Attrib	 target;
	u_int	 status;		/* of a look there that failed */
	int	 copy_begun;		/* it was decided, or is done */

	/* the server's file, while it is open for VERIFY_ASK_SETSTAT */
	enum verify_request setstat_next;	/* 0: none */
	unsigned int setstat_conn;	/* connection that has it open */
	u_int	 flags;			/* OPEN flags; 0: not open */

	/* a comparison */
	struct verify_action comparison;	/* op 0: nothing is in flight */
	struct blocksum *our_hashes;
	unsigned char their_hashes[VERIFY_HASHES * VERIFY_HASH_LEN];
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

/* For verify_sched_next(), and how such a request is sent and answered */
const struct op_info *verify_request_info(enum verify_request);
const struct op_handler *verify_request_handler(const struct op_info *);

/* The comparison that runs now: of the target, or of a temporary file */
struct verify *verify_current(struct verification *);

/* What a server says of a file, which may be neither its size nor its type */
struct verify_end verify_end_of_attrib(const Attrib *);

/* Returns 1 if it is the server's file that was compared, unchanged. */
int	verify_attrs_match(const struct file *, const Attrib *);

/* Hashes some of the local file. */
void	verify_hash_slice(struct transfer *, struct file *,
    struct sched_entry *);

/* The comparison continues behind "off". Draws the progress line. */
void	verify_show_progress(struct transfer *, struct file *, uint64_t off);

#endif /* HAYATE_VERIFY_REQUESTS_HOOK_H */
