/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-sched: the steps of a file of a scheduler that is checked, before its
 * copy and after it.
 *
 * The caller says in OP_VERIFY what is asked next (verify.h). What it asks
 * goes over the connection of the file. So hundreds of files are checked at
 * once; but of one connection the server has only so much to hash that an
 * interrupt, or the data of another file, need not wait long for it. What was
 * read back comes in any order, and is counted as other data is.
 *
 * While it is verified, a file has no open handle and no queued data. Before it
 * is copied it waits until little data is queued, as a file that has not
 * started.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_VERIFY_SCHED_H
#define HAYATE_VERIFY_SCHED_H

#include <stdint.h>

#include "sched-action.h"

struct sched_request;

/*
 * For the caller, in OP_BEGIN of a file, after its size was set: the file is
 * verified. OP_VERIFY comes before its first request, and again after its last
 * one if all was copied. Returns 0, or -1 if out of memory.
 */
int	verify_sched_begin(struct sched *, struct sched_entry *);

/*
 * For the caller, in OP_VERIFY: decides the next step. Without a call the copy
 * is next, from its start, and after the copy the end; after sched_fail()
 * nothing is. If a connection was lost with what had been asked, struct
 * sched_info says so in the next OP_VERIFY: ask it again.
 */
enum verify_next {
	/* a request of the verification (op-table.h); then OP_VERIFY */
	VERIFY_NEXT_REQUEST,
	/*
	 * "len" bytes of the server's file from "off" on are read, in any
	 * order, until all are there or a reply has "readback_differs".
	 * OP_VERIFY comes when the file is closed, and "readback_len" of struct
	 * sched_info says how many bytes came without a gap.
	 */
	VERIFY_NEXT_READBACK,
	/*
	 * OP_VERIFY again, after what is more urgent; also possible as a
	 * request is sent, so that both go on together
	 */
	VERIFY_NEXT_LATER,
	VERIFY_NEXT_COPY_FROM,		/* the copy, from "off" on */
	VERIFY_NEXT_COMPLETE		/* no copy: the target is complete */
};
struct verify_step {
	enum verify_next next;
	enum sched_op op;		/* VERIFY_NEXT_REQUEST */
	uint64_t off, len;		/* bytes, of it and where named */
};
void	verify_sched_next(struct sched *, struct sched_entry *,
    const struct verify_step *);

/* For the scheduler itself */

/* Forgets the verification of an entry that has one. */
void	verify_sched_drop(struct sched_entry *);

/*
 * Return 1 and the next request for hashes, the copy of a file that was
 * checked, or the next slice of local work; or 0, or -1: out of memory.
 */
int	verify_sched_next_hash(struct sched *, struct sched_action *);
struct sched_entry *verify_sched_next_copy(struct sched *);
int	verify_sched_next_deferred(struct sched *, struct sched_action *);

/* OP_VERIFY_FSTAT, which its first data follows at once */
int	verify_sched_fstat_source(struct sched *, struct sched_entry *,
    struct sched_action *);

/*
 * The connection of a file is lost. Returns 1 if the file was checked:
 * OP_VERIFY comes, and what was asked is asked again.
 */
int	verify_sched_conn_lost(struct sched *, struct sched_entry *);

/* OP_VERIFY was done. */
void	verify_sched_local_done(struct sched *, struct sched_entry *);

/* A reply to what was asked has arrived. Returns as sched_reply(). */
int	verify_sched_reply(struct sched *, struct sched_request **,
    enum sched_result, uint32_t len);

/* The user interrupted: what waits to be asked or done locally is not. */
void	verify_sched_interrupt(struct sched *);

#endif /* HAYATE_VERIFY_SCHED_H */
