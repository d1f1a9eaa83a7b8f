/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * op-table: one row for each operation of the scheduler.
 *
 * An operation is an SFTP message with a purpose: OP_FSTAT_TYPE and
 * OP_FSTAT_SIZE are both an FSTAT, and differ in what follows the reply. The
 * row says all that depends on the operation alone, so that nobody has to ask
 * which operations share a property. sched-replies.c has a row for each with
 * what follows its reply.
 *
 * No I/O, no upstream header.
 */

#ifndef HAYATE_OP_TABLE_H
#define HAYATE_OP_TABLE_H

#include <stdint.h>

#include "sched-action.h"

/* Types of messages of draft-ietf-secsh-filexfer-02, by their numbers */
enum sftp_message {
	SFTP_OPEN = 3, SFTP_CLOSE, SFTP_READ, SFTP_WRITE, SFTP_LSTAT,
	SFTP_FSTAT, SFTP_SETSTAT, SFTP_FSETSTAT, SFTP_OPENDIR, SFTP_READDIR,
	SFTP_REMOVE, SFTP_MKDIR, SFTP_STAT = 17, SFTP_RENAME,
	SFTP_EXTENDED = 200
};

enum sftp_reply {
	SFTP_NONE = 0,			/* local work, or it varies */
	SFTP_STATUS = 101, SFTP_HANDLE, SFTP_DATA, SFTP_NAME, SFTP_ATTRS,
	SFTP_EXTENDED_REPLY = 201
};

/* Where a request gets its offset, or new size, from */
enum op_offset {
	OFFSET_NONE,			/* 0, or the extent of READ and WRITE */
	OFFSET_CURSOR,			/* end of what was read of the source */
	OFFSET_CONTIGUOUS,		/* end of what was acknowledged */
	OFFSET_SAMPLE			/* place where bytes are compared */
};

struct op_info {
	/* for messages, logs and the replay drivers */
	const char *name;
	enum sftp_message message;	/* 0: local work */
	/* type of a reply that is no SSH2_FXP_STATUS; SFTP_STATUS: none */
	enum sftp_reply reply;
	enum op_offset offset;
	unsigned int by_path : 1;	/* names a path, and not a handle */
	/* between two servers it goes to the target */
	unsigned int to_dest : 1;
	unsigned int temp_name : 1;	/* its path is the temporary name */
	unsigned int staging : 1;	/* its handle is the staging file's */
	/*
	 * Only the main connection sends it. Most of these requests change a
	 * file by its name, which the server of a lost connection might do
	 * late, to another file. Some of the verification set the attributes of
	 * a file that need not be copied, by a handle.
	 */
	unsigned int on_main : 1;
	/*
	 * If its connection is lost, the server may still change an uploaded
	 * file by it, so the target is compared at the end (multihost.c).
	 */
	unsigned int late : 1;
	/*
	 * The same, for requests of the main connection that truncate the file
	 * or change what has its name.
	 */
	unsigned int late_on_main : 1;
	/*
	 * The server has to read "len" bytes of the file before it replies. Of
	 * a verification alone.
	 */
	unsigned int works : 1;
	/* It opens a file again after a loss, or compares it then. */
	unsigned int reopens : 1;
	/*
	 * The next step need not wait for its reply, if the server has
	 * announced how many handles may be open.
	 */
	unsigned int overlaps : 1;
};

/* Valid for each value of enum sched_op, also those of local work */
const struct op_info *op_info(enum sched_op);

/*
 * Of an action: the same, but OP_TEMPFILE has a row for each temp_request, and
 * OP_VERIFY_REQUEST that of the verification, which is not in this table.
 */
const struct op_info *op_info_of(const struct sched_action *);

/* Returns 1 if the operation is done here, and no request. */
static inline int
op_is_local(enum sched_op op)
{
	return op >= OP_BEGIN;
}

#endif /* HAYATE_OP_TABLE_H */
