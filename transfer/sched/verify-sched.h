/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-sched: the steps of a file of a scheduler that is checked, before its
 * copy and after it.
 *
 * The caller says in OP_VERIFY what is asked next (verify-fsm.h). What it asks
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
 * In OP_BEGIN of a file, after its size was set: OP_VERIFY comes before its
 * first request, and again after its last one if all was copied. There the
 * caller calls verify_sched_request(), verify_sched_read_back() or
 * verify_sched_defer(), or none of them: then the copy is next, and after it
 * the end. With sched_fail() or verify_sched_complete() nothing is copied.
 * Returns 0, or -1 if out of memory.
 */
int	verify_sched_begin(struct sched *, struct sched_entry *);

/* One request is next. OP_VERIFY comes after its reply. */
void verify_sched_request(struct sched *, struct sched_entry *, enum sched_op,
    uint64_t off, uint32_t len);

/*
 * The server's file is opened, and "len" bytes from "off" on are read, in any
 * order, until verify_sched_stop_readback() is called in a reply. OP_VERIFY
 * comes when it is closed, and verify_sched_readback_len() says how many bytes
 * came without a gap.
 */
void verify_sched_read_back(struct sched *, struct sched_entry *, uint64_t off,
    uint64_t len);
void	verify_sched_stop_readback(struct sched_entry *);
uint64_t verify_sched_readback_len(const struct sched_entry *);

/*
 * OP_VERIFY comes again after what is more urgent. It can be called when a
 * request is sent as well: both go on together.
 */
void	verify_sched_defer(struct sched *, struct sched_entry *);

/*
 * Returns 1, once, if a connection was lost with what was asked: ask it again.
 */
int	verify_sched_request_was_lost(struct sched_entry *);

/* The copy begins at "off", not at 0; or nothing is copied. */
void	verify_sched_copy_from(struct sched_entry *, uint64_t off);
void	verify_sched_complete(struct sched_entry *);

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
