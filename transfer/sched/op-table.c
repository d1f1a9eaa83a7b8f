/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See op-table.h. */

#include <assert.h>
#include <stddef.h>

#include "op-table.h"

/* Messages with their replies */
#define ON_HANDLE(m, r)	.message = SFTP_ ## m, .reply = SFTP_ ## r
#define ON_PATH(m, r)	ON_HANDLE(m, r), .by_path = 1
#define OPEN		ON_PATH(OPEN, HANDLE)
#define CLOSE		ON_HANDLE(CLOSE, STATUS)
#define READ		ON_HANDLE(READ, DATA)
#define WRITE		ON_HANDLE(WRITE, STATUS)
#define LSTAT		ON_PATH(LSTAT, ATTRS)
#define FSTAT		ON_HANDLE(FSTAT, ATTRS)
#define SETSTAT		ON_PATH(SETSTAT, STATUS)
#define FSETSTAT	ON_HANDLE(FSETSTAT, STATUS)
#define OPENDIR		ON_PATH(OPENDIR, HANDLE)
#define READDIR		ON_HANDLE(READDIR, NAME)
#define REMOVE		ON_PATH(REMOVE, STATUS)
#define MKDIR		ON_PATH(MKDIR, STATUS)
#define STAT		ON_PATH(STAT, ATTRS)
#define RENAME		ON_PATH(RENAME, STATUS)
#define EXTENDED(r)	ON_HANDLE(EXTENDED, r)

static const struct op_info ops[] = {
	/* directories and links */
	[OP_STAT] = { "stat", STAT },
	[OP_STAT_DEST] = { "stat_dest", STAT, .to_dest = 1 },
	[OP_MKDIR] = { "mkdir", MKDIR, .to_dest = 1 },
	[OP_OPENDIR] = { "opendir", OPENDIR },
	[OP_READDIR] = { "readdir", READDIR },
	[OP_SETSTAT] = { "setstat", SETSTAT, .to_dest = 1, .on_main = 1 },

	/* a file, from its first request to its last one */
	[OP_REMOVE_OWN] = { "remove_own", REMOVE, .on_main = 1,
	    .late_on_main = 1 },
	[OP_OPEN] = { "open", OPEN, .late_on_main = 1 },
	[OP_OPEN_EXCL] = { "open_excl", OPEN },
	[OP_OPEN_DEST] = { "open_dest", OPEN, .to_dest = 1 },
	[OP_SETSIZE_0] = { "setsize_0", FSETSTAT, .to_dest = 1,
	    .late_on_main = 1 },
	[OP_FSTAT_TYPE] = { "fstat_type", FSTAT, .to_dest = 1 },
	[OP_READ] = { "read", READ },
	[OP_WRITE] = { "write", WRITE, .to_dest = 1, .late = 1 },
	[OP_SETSIZE_END] = { "setsize_end", FSETSTAT, .offset = OFFSET_CURSOR,
	    .late = 1 },
	[OP_SETSIZE_FINAL] = { "setsize_final", FSETSTAT,
	    .offset = OFFSET_CONTIGUOUS, .late = 1, .overlaps = 1 },
	[OP_FSTAT_SIZE] = { "fstat_size", FSTAT, .offset = OFFSET_CONTIGUOUS },
	[OP_FSTAT_SOURCE] = { "fstat_source", FSTAT },
	[OP_FSETSTAT] = { "fsetstat", FSETSTAT, .to_dest = 1, .late = 1,
	    .overlaps = 1 },
	[OP_FSYNC] = { "fsync", EXTENDED(STATUS), .overlaps = 1 },
	[OP_CLOSE_DEST] = { "close_dest", CLOSE, .to_dest = 1 },
	[OP_OPEN_DEST_TRUNC] = { "open_dest_trunc", OPEN, .to_dest = 1 },
	[OP_CLOSE] = { "close", CLOSE },
	[OP_STAT_DEST_ON_HOST] = { "stat_dest_on_host", STAT },

	/* several connections, and one that was lost */
	[OP_HELPER_OPEN] = { "helper_open", OPEN },
	[OP_FSTAT_IDENTITY] = { "fstat_identity", FSTAT,
	    .offset = OFFSET_CONTIGUOUS, .reopens = 1 },
	[OP_SAMPLE_OWNER] = { "sample_owner", READ },
	[OP_SAMPLE_HELPER] = { "sample_helper", READ },
	[OP_HELPER_CLOSE] = { "helper_close", CLOSE },
	[OP_REOPEN] = { "reopen", OPEN, .reopens = 1 },
	[OP_SAMPLE_REOPENED] = { "sample_reopened", READ,
	    .offset = OFFSET_SAMPLE, .reopens = 1 },

	/* see op_info_of() */
	[OP_TEMPFILE] = { "tempfile", .late_on_main = 1 },
	[OP_VERIFY_REQUEST] = { "verify_request" },

	/* local work */
	[OP_BEGIN] = { "begin" },
	[OP_VERIFY] = { "verify" },
	[OP_DATA_DONE] = { "data_done" },
	[OP_RESTART] = { "restart" },
	[OP_END] = { "end" },
	[OP_ADD_CHILDREN] = { "add_children" },
	[OP_PRINT] = { "print" },
};

/* The requests of a temporary file, which OP_TEMPFILE sends */
static const struct op_info temp_ops[] = {
	[TEMPFILE_LSTAT_TARGET] = { "temp_lstat_target", LSTAT },
	[TEMPFILE_LSTAT_DIR] = { "temp_lstat_dir", LSTAT },
	[TEMPFILE_LSTAT_STALE] = { "temp_lstat_stale", LSTAT },
	[TEMPFILE_REMOVE_STALE] = { "temp_remove_stale", REMOVE },
	[TEMPFILE_FSTAT_OLD] = { "temp_fstat_old", FSTAT },
	[TEMPFILE_OPEN_STAGING] = { "temp_open_staging", OPEN, .temp_name = 1,
	    .staging = 1 },
	[TEMPFILE_SET_TAG] = { "temp_set_tag", FSETSTAT },
	[TEMPFILE_FSTAT_TAG] = { "temp_fstat_tag", FSTAT },
	[TEMPFILE_STATVFS] = { "temp_statvfs", EXTENDED(EXTENDED_REPLY),
	    .staging = 1 },
	[TEMPFILE_COPY_BACK] = { "temp_copy_back", EXTENDED(STATUS) },
	[TEMPFILE_LSTAT_TEMP] = { "temp_lstat_temp", LSTAT, .temp_name = 1 },
	[TEMPFILE_SETSIZE] = { "temp_setsize", FSETSTAT },
	[TEMPFILE_RENAME] = { "temp_rename", RENAME, .temp_name = 1 },
	[TEMPFILE_LSTAT_RENAMED] = { "temp_lstat_renamed", LSTAT },
	[TEMPFILE_FSETSTAT] = { "temp_fsetstat", FSETSTAT },
	[TEMPFILE_CLOSE_STAGING] = { "temp_close_staging", CLOSE,
	    .staging = 1 },
	[TEMPFILE_REMOVE_STAGING] = { "temp_remove_staging", REMOVE,
	    .temp_name = 1 },
	[TEMPFILE_CLOSE] = { "temp_close", CLOSE },
	[TEMPFILE_REMOVE] = { "temp_remove", REMOVE, .temp_name = 1 },
};

const struct op_info *
op_info(enum sched_op op)
{
	assert((size_t)op < sizeof(ops) / sizeof(*ops) && ops[op].name != NULL);
	return &ops[op];
}

const struct op_info *
op_info_of(const struct sched_action *a)
{
	return a->op == OP_TEMPFILE ? &temp_ops[a->temp_request.op] :
	    a->op == OP_VERIFY_REQUEST ? a->verify : op_info(a->op);
}
