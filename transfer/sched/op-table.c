/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See op-table.h. */

#include <assert.h>
#include <stddef.h>

#include "op-table.h"

#define STATUS	.reply = SFTP_STATUS
#define ATTRS	.reply = SFTP_ATTRS
#define OPENS	.reply = SFTP_HANDLE
#define READS	.reply = SFTP_DATA

static const struct op_info ops[] = {
	/* directories and links */
	[OP_STAT] = { "stat", ATTRS },
	[OP_STAT_DEST] = { "stat_dest", ATTRS, .to_dest = 1 },
	[OP_MKDIR] = { "mkdir", STATUS, .to_dest = 1 },
	[OP_OPENDIR] = { "opendir", OPENS },
	[OP_READDIR] = { "readdir", .reply = SFTP_NAME },
	[OP_SETSTAT] = { "setstat", STATUS, .to_dest = 1,
	    .conn0 = 1 },

	/* a file, from its first request to its last one */
	[OP_REMOVE_OWN] = { "remove_own", STATUS, .conn0 = 1 },
	[OP_OPEN] = { "open", OPENS },
	[OP_OPEN_EXCL] = { "open_excl", OPENS },
	[OP_OPEN_DEST] = { "open_dest", OPENS, .to_dest = 1 },
	[OP_SETSIZE_0] = { "setsize_0", STATUS, .to_dest = 1 },
	[OP_FSTAT_TYPE] = { "fstat_type", ATTRS, .to_dest = 1 },
	[OP_READ] = { "read", READS },
	[OP_WRITE] = { "write", STATUS, .to_dest = 1, .late = 1 },
	[OP_SETSIZE_END] = { "setsize_end", STATUS,
	    .offset = OFFSET_CURSOR, .late = 1 },
	[OP_SETSIZE_FINAL] = { "setsize_final", STATUS,
	    .offset = OFFSET_CONTIGUOUS, .late = 1 },
	[OP_FSTAT_SIZE] = { "fstat_size", ATTRS,
	    .offset = OFFSET_CONTIGUOUS },
	[OP_FSTAT_SOURCE] = { "fstat_source", ATTRS },
	[OP_FSETSTAT] = { "fsetstat", STATUS, .to_dest = 1,
	    .late = 1 },
	[OP_FSYNC] = { "fsync", STATUS },
	[OP_CLOSE_DEST] = { "close_dest", STATUS, .to_dest = 1 },
	[OP_OPEN_DEST_TRUNC] = { "open_dest_trunc", OPENS,
	    .to_dest = 1 },
	[OP_CLOSE] = { "close", STATUS },
	[OP_STAT_DEST_ON_HOST] = { "stat_dest_on_host", ATTRS },

	/* several connections, and one that was lost */
	[OP_HELPER_OPEN] = { "helper_open", OPENS },
	[OP_FSTAT_IDENTITY] = { "fstat_identity", ATTRS,
	    .offset = OFFSET_CONTIGUOUS, .reopens = 1 },
	[OP_SAMPLE_OWNER] = { "sample_owner", READS },
	[OP_SAMPLE_HELPER] = { "sample_helper", READS },
	[OP_HELPER_CLOSE] = { "helper_close", STATUS },
	[OP_REOPEN] = { "reopen", OPENS, .reopens = 1 },
	[OP_SAMPLE_REOPENED] = { "sample_reopened", READS,
	    .offset = OFFSET_SAMPLE, .reopens = 1 },

	/* "temp_request" of the action says the rest */
	[OP_TEMPFILE] = { "tempfile" },

	/* verification */
	[OP_VERIFY_STAT] = { "verify_stat", ATTRS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_VERIFY_FSTAT] = { "verify_fstat", ATTRS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_VERIFY_HASH] = { "verify_hash", .reply = SFTP_EXTENDED_REPLY,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_VERIFY_SETSIZE] = { "verify_setsize", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_SETSTAT_OPEN] = { "setstat_open", OPENS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_SETSTAT_FSTAT] = { "setstat_fstat", ATTRS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_VERIFY_SETSTAT] = { "verify_setstat", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_SETSTAT_CLOSE] = { "setstat_close", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_STALE_LSTAT] = { "stale_lstat", ATTRS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_STALE_RENAME] = { "stale_rename", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_STALE_REMOVE] = { "stale_remove", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1, .conn0 = 1 },
	[OP_READBACK_OPEN] = { "readback_open", OPENS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_READBACK_READ] = { "readback_read", READS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },
	[OP_READBACK_CLOSE] = { "readback_close", STATUS,
	    .offset = OFFSET_VERIFY, .verifies = 1 },

	/* local work */
	[OP_BEGIN] = { "begin" },
	[OP_VERIFY] = { "verify" },
	[OP_DATA_DONE] = { "data_done" },
	[OP_RESTART] = { "restart" },
	[OP_END] = { "end" },
	[OP_ADD_CHILDREN] = { "add_children" },
	[OP_PRINT] = { "print" },
};

const struct op_info *
op_info(enum sched_op op)
{
	assert((size_t)op < sizeof(ops) / sizeof(*ops) && ops[op].name != NULL);
	return &ops[op];
}
