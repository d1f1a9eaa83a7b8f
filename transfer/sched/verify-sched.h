/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-sched: gives a file that is verified, before its copy and after it,
 * its turns and its connection, and sends the requests of the verification.
 *
 * The scheduler does not know what is verified, nor how. In OP_VERIFY, which is
 * local work, the caller says what is next (verify.h decides that). A request
 * is OP_VERIFY_REQUEST with a row of the caller, as those of op-table.h: its
 * message, and which connection it needs. Its reply leads to OP_VERIFY again.
 * It goes over the connection of the file, so that hundreds of files are
 * verified at once; but a server has only so much to read at once for the
 * requests of one connection ("works") that an interrupt, or the data of
 * another file, need not wait long for it.
 *
 * A range of the server's file is read as the data of a copy is: several READs
 * are in flight, within the window, and replies come in any order.
 *
 * While it is verified, a file of the copy has no open handle and no queued
 * data. Before it is copied it waits until little data is queued, as a file
 * that has not started.
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
 * nothing is. If a connection was lost with a request or a range, struct
 * sched_info says so in the next OP_VERIFY: ask it again.
 */
enum verify_next {
	VERIFY_NEXT_REQUEST,		/* "request" with "off" and "len" */
	/*
	 * Before sched_reply() to an OPEN that succeeded: "len" bytes from
	 * "off" on are read by "read", until all are there or a reply
	 * "stops_reading", and then "request" is sent, which closes the file.
	 * "verify_read_len" of struct sched_info says how many bytes arrived
	 * without a gap.
	 */
	VERIFY_NEXT_READ,
	/*
	 * OP_VERIFY again, after what is more urgent; also possible as a
	 * request is sent, so that both go on together
	 */
	VERIFY_NEXT_LATER,
	/* the copy, from "off" on; "request", if any, precedes its READs */
	VERIFY_NEXT_COPY_FROM,
	VERIFY_NEXT_COMPLETE		/* no copy: the target is complete */
};
struct verify_step {
	enum verify_next next;
	const struct op_info *request, *read;	/* outlive the scheduler */
	uint64_t off, len;			/* bytes */
};
void	verify_sched_next(struct sched *, struct sched_entry *,
    const struct verify_step *);

/* For the scheduler itself */

/* Forgets the verification of an entry that has one. */
void	verify_sched_drop(struct sched_entry *);

/*
 * Return 1 and the next request that works, the copy of a file that was
 * verified, or the next slice of local work; or 0, or -1: out of memory.
 */
int	verify_sched_next_work(struct sched *, struct sched_action *);
struct sched_entry *verify_sched_next_copy(struct sched *);
int	verify_sched_next_deferred(struct sched *, struct sched_action *);

/* Sends the next request of the file. Returns 1, or -1: out of memory. */
int	verify_sched_send(struct sched *, struct sched_entry *,
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
