/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-internal: the entries, requests and connections of the scheduler, rings
 * that keep entries in order, and the functions that scheduler.c and the files
 * below it have for each other. Each of these files begins with its idea. A
 * ring begins and ends with a sched_link of its own, which leads to itself
 * while the ring is empty.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_SCHED_INTERNAL_H
#define HAYATE_SCHED_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "extents.h"
#include "minmax.h"
#include "sched-action.h"
#include "tempfile.h"

struct sched_link {
	struct sched_link *prev, *next;
};

#define BUCKETS		1024		/* of request IDs, which count up */

/*
 * READDIRs in flight for one directory if the limit of handles was announced:
 * at first, and at most. A root has nothing beside it that could use the round
 * trip, and most servers send 100 names for each READDIR.
 */
#define READDIRS_FIRST	4
#define READDIRS_ROOT	16
#define READDIRS_MAX	64

/*
 * The state of an entry. A file passes through these from top to bottom, unless
 * an arrow says otherwise:
 *
 *   QUEUED          waits for a slot                        <-----------+
 *     (TO_LOOK_UP -> LOOKUP -> HELD -> LOOKED_UP: a name of a list that |
 *      is looked up first, and waits for its directory)                 |
 *   OPENING         OP_BEGIN, and what leads to an open handle          |
 *     (VERIFY_BEFORE -> VERIFIED -> OPENING: if it is verified)         |
 *   DATA            extents are in flight         <----+                |
 *   FINISHING       OP_DATA_DONE                  -----+                |
 *     (with a temporary file: size, attributes, CLOSE and rename)       |
 *   CLOSING         size, attributes, fsync, CLOSE                      |
 *   VERIFY_AFTER    if it is verified                                   |
 *   CONFIRMING      if several hosts, or a lost connection, wrote it    |
 *   DONE            or, with OUTCOME_RESTART  --------------------------+
 *
 * A file returns to DATA if its staging file cannot be written, if the
 * connection of its owner is lost, and if OP_FSTAT_TYPE finds a device. A file
 * of which nothing was written goes from FINISHING to DONE or QUEUED.
 *
 * If all connections are lost, every state from OPENING on may lead to QUEUED.
 *
 * Directories and messages have only QUEUED, OPENING and DONE.
 */
enum entry_state {
	STATE_QUEUED,
	STATE_TO_LOOK_UP,	/* as QUEUED, with slots of its own */
	STATE_LOOKUP,		/* its STAT is in flight */
	STATE_HELD,		/* until sched_hold() is called with 0 */
	STATE_LOOKED_UP,	/* starts before entries in STATE_QUEUED */
	STATE_OPENING,
	STATE_VERIFY_BEFORE,	/* target and source are compared */
	STATE_VERIFIED,		/* waits until little data is queued */
	STATE_DATA,
	STATE_FINISHING,	/* no data is in flight; OP_DATA_DONE is next */
	STATE_CLOSING,		/* OP_DATA_DONE was done */
	STATE_VERIFY_AFTER,	/* the copy and its source are compared */
	STATE_CONFIRMING,	/* OP_STAT_DEST_ON_HOST over each host */
	STATE_DONE
};

/*
 * The handle of a file on the connection that owns it:
 *
 *   CLOSED -> OPEN -> CLOSED
 *              |  the connection is lost
 *              v
 *            LOST -> OPENING -> OPEN
 *              |        |
 *              v        v
 *            UNAVAILABLE: no other connection can open it
 *
 * On a helper, CLOSED -> OPENING -> OPEN -> CLOSING -> CLOSED; OPENING leads to
 * CLOSING if it is a different file.
 *
 * If a helper becomes the owner, its handle may be OPEN, OPENING (its OPEN is
 * in flight) or UNVERIFIED (the FSTAT after it is).
 */
enum handle_state {
	HANDLE_CLOSED,		/* not opened yet, or closed */
	HANDLE_OPEN,
	HANDLE_LOST,		/* it is opened again when it is needed */
	HANDLE_OPENING,		/* OPEN or what compares it is in flight */
	HANDLE_UNVERIFIED,	/* open, but perhaps a different file */
	HANDLE_UNAVAILABLE,
	HANDLE_CLOSING		/* CLOSE of a helper is due or in flight */
};

/*
 * How an entry will end, as far as known. It only grows, by raise_outcome(),
 * until the entry is restarted, with one exception: the loss of the main
 * connection, or of all, may restart a file that has failed (failover.c).
 */
enum outcome {
	OUTCOME_OK,
	OUTCOME_RESTART,	/* closed, and then begun again */
	OUTCOME_FAILED
};

/*
 * The temporary file of an upload, or with "only_removes_stale" what removes
 * those of earlier copies beside a file that is written in place: see
 * tempfile-sched.c.
 */
struct sched_temp {
	struct sched_link link;		/* all of them, oldest first */
	struct sched_entry *entry;
	struct tempfile *file;
	int	 only_removes_stale;
	int	 is_awaited;		/* the step of the entry waits for it */
	uint32_t in_flight;		/* OP_TEMPFILE requests */
	int	 write_error;		/* the server refused WRITE or CLOSE */
};

/*
 * An upload of which another connection than the main one has a part: see
 * multihost.c. A restart keeps "had_mismatch" and "unconfirmed_writes".
 */
struct sched_hosts {
	unsigned int involved;	/* bits: connections to other hosts it used */
	unsigned int to_check;	/* bits: OP_STAT_DEST_ON_HOST is not sent yet */
	int	 mismatch;		/* one of these saw another file */
	int	 had_mismatch;		/* before a restart */
	int	 unconfirmed_writes;	/* see struct sched_info */
	int	 mtime_mismatch;	/* the target's mtime has to be set */
};

/* The verification of a file: see verify-sched.h. */
struct sched_verify {
	/* what is next is verified after the copy */
	int	 is_before_done;
	int	 nothing_to_copy;	/* the target is complete */
	/* the next request, in DATA before the first READ; NULL: none */
	const struct op_info *request;
	const struct op_info *last;	/* the newest, sent or not */
	uint64_t off;			/* bytes, of it */
	uint32_t len;			/* likewise */
	int	 request_lost;		/* its connection was lost */
	/* READs of a range are this, and no copy; NULL: none is read */
	const struct op_info *read;
	int	 stops_reading;		/* the reply to one of them said so */
	uint64_t read_start, read_end;	/* bytes */
	uint64_t read_len;		/* that arrived without a gap */
};

/* Why an entry is restarted */
enum restart_reason {
	RESTART_NONE,		/* it was not yet */
	RESTART_SERVER_BUSY,	/* it may refuse what it would do alone */
	RESTART_LOCAL_CONFLICT,	/* another entry writes the same local file */
	/* the server refuses OP_SETSIZE_0, or executes it after a WRITE */
	RESTART_LATE_TRUNCATE,
	RESTART_NOT_TRUNCATED,	/* a truncation at the end had no effect */
	RESTART_HOST_MISMATCH,	/* another host sees a different file */
	RESTART_TARGET_GONE,	/* the file that was to be continued */
	RESTART_TARGET_REPLACED,/* by another file, before it was reopened */
	RESTART_CANNOT_REOPEN,	/* a file that we made, and remove first */
	RESTART_NEEDS_MAIN,	/* it has to be truncated as it is opened */
	RESTART_TEMPFILE,	/* the file is written in place instead */
	RESTART_CONNS_LOST	/* all of them, in whatever state it was */
};

/* A restart, and what it leaves to the next attempt */
struct restart {
	enum restart_reason reason;	/* of this attempt */
	unsigned int exclude_conns;	/* bits: connections it must not use */
	int	 open_trunc;		/* OPEN has to truncate */
	int	 asks_size;	/* OP_SETSIZE_FINAL waits for its reply */
	int	 remove_first;		/* OP_REMOVE_OWN comes first */
	int	 exclusive;		/* begins when nothing is in flight */
	/* sched.limit_epoch when it began, and for concurrency.c the limit to
	 * restore if fewer entries do not help; 0: none */
	uint32_t limit_epoch, limit_before;
};

/* Whether OP_SETSIZE_0 truncates an old file; sched_begin() decides it. */
enum setsize_0 {
	SETSIZE_0_NOT,		/* not at all, or it was done */
	SETSIZE_0_PENDING,	/* before the first WRITE */
	/* OP_FSTAT_TYPE asks whether it is a regular file */
	SETSIZE_0_REFUSED
};

/* The target of a copy. Sizes are bytes. */
struct sched_target {
	/* OP_STAT or OP_STAT_DEST precedes OPEN */
	int	 stat_first;
	int	 exists_ours;		/* we made it, or its directory */
	/* OP_OPEN_EXCL was sent, not for temp */
	int	 tried_excl;
	int	 no_truncate;		/* see struct sched_begin */
	int	 possible_source;	/* see struct sched_reply */
	/* most that was there; UINT64_MAX: unknown */
	uint64_t old_size;
	enum setsize_0 setsize_0;
	int	 write_answered;	/* a WRITE was answered */
	/* end of the highest WRITE; kept by a restart */
	uint64_t highest_sent;
	int	 has_holes;		/* some bytes are not sent */
	int	 is_truncated;		/* OP_SETSIZE_END has succeeded */
	int	 open_trunc_done;	/* OP_OPEN_DEST_TRUNC was answered */
};

/* The handle of a file on the connection that owns it */
struct sched_handle {
	enum handle_state state;
	int	 identity_pending;	/* its first FSTAT is in flight */
	enum sched_op op_after_reopen;	/* 0: data */
	uint64_t sample_off;		/* of OP_SAMPLE_REOPENED, in bytes */
};

/* How far the source was read */
struct sched_source {
	int	 eof;			/* it has ended */
	int	 read_past_size;	/* a READ behind "size" was sent */
	int	 zero_reads;		/* DATA replies without data */
	int	 is_whole;		/* no gap below the end */
};

/* What the extents of a file buffered when it was counted last, in bytes */
struct counted_buffer {
	uint64_t bytes;
	uint64_t charged;		/* of them, in the owner's in_flight */
	unsigned int extents;		/* their number */
};

/* Of a directory: the first half has "external_children", "max_readdirs" */
struct sched_dir {
	int	 external_children;	/* the caller adds its children */
	uint32_t max_readdirs;		/* READDIRs in flight, at most */
	struct sched_link unlisted;	/* until all children are added */
	uint32_t pending_children;	/* not done */
	int	 is_listing;		/* more names may arrive */
	int	 children_complete;	/* all were added */
	int	 existed;		/* MKDIR failed: it was there before */
	int	 mkdir_lost;		/* an earlier MKDIR may have made it */
};

/*
 * A file, a link, a half of a directory, or a message. Sizes and offsets are
 * bytes. Members of one group are valid for entries of that kind only.
 */
struct sched_entry {
	struct sched_link walk;		/* all entries, in walk order */
	struct sched_link queue;	/* one of the queues of scheduler.c */
	struct sched_link pending_link;	/* files with pending extents */
	enum sched_kind kind;
	void	*user;			/* the caller's */
	struct sched_entry *parent;	/* second half of its directory */
	struct sched_entry *dir_end;	/* of KIND_DIR: its second half */
	enum sched_op step;		/* next step, while on the agenda */
	enum entry_state state;		/* see walk_set_state() */
	enum outcome outcome;

	/* files */
	uint64_t size;			/* expected */
	struct extents extents;
	struct counted_buffer buffer;
	uint64_t unsent;		/* not yet requested, or not sent */
	unsigned int owner;		/* connection with the main handle */
	int	 is_active;		/* counts in "files" of its owner */
	unsigned int nhelpers;		/* helper connections: a count */
	unsigned int last_mover;	/* connection with the newest extent */
	struct sched_handle handle;	/* on the owner */
	struct sched_source source;
	struct sched_target target;
	struct restart restart;
	struct sched_temp *temp;	/* NULL: none, and none to be removed */
	uint32_t unit;			/* length of a READ or WRITE */
	uint32_t in_flight;		/* requests */
	int	 is_held;		/* sched_hold() stops it */
	uint64_t start;			/* the first byte to transfer */
	struct sched_hosts *hosts;	/* NULL: the main connection wrote it */
	struct sched_verify *verify;	/* NULL: it is not verified */
	struct sched_dir dir;
};

struct sched_request {
	struct sched_request *next;
	uint32_t id;
	enum sched_op op;
	struct sched_entry *entry;
	struct extent *extent;	/* NULL: no data, or server to server */
	unsigned int conn;
	uint64_t off;
	uint32_t len, cost;
	uint64_t sent_us;	/* when */
	struct tempfile_request temp_request;
	const struct op_info *verify;	/* OP_VERIFY_REQUEST */
	enum sched_result result;	/* of its reply */
};

/* A file that a connection helps with, which another one owns */
struct sched_helper {
	struct sched_entry *file;	/* NULL: none */
	enum handle_state handle;	/* of the file, on this connection */
	enum sched_op step;		/* the next request; 0: none */
	uint64_t sample_off;		/* where both handles are compared */
	unsigned int samples_due;	/* replies of that in flight */
	int	 samples_differ;	/* one of them has other bytes */
};

struct sched_conn {
	struct sched_link data;		/* files that can send READ or WRITE */
	uint64_t in_flight;		/* bytes, with buffered ones */
	uint64_t queued;		/* bytes not yet requested or sent */
	/* of bytes in flight, beside others; see sched_conn_reply_aged() */
	uint64_t limit;
	uint64_t min_rtt;		/* lowest age of a reply, in us */
	uint64_t halved_us;		/* when "limit" was halved, and */
	uint64_t halved_age;		/* the age of the reply then; 0: not */
	/* files whose next request "works", and bytes of those in flight */
	struct sched_link works;
	uint64_t work_bytes;
	uint32_t files;			/* active files that it owns */
	struct sched_helper helper;
};

/* What is known of this server's reaction to OP_SETSIZE_0 */
enum late_truncate { LATE_TRUNCATE_UNKNOWN, LATE_TRUNCATE_ASKED,
    LATE_TRUNCATE_WORKS, LATE_TRUNCATE_FAILS };

struct sched {
	struct sched_conf conf;
	struct sched_env env;
	struct sched_link walk, ready, agenda, want_children, unlisted,
	    pending_extents;
	struct sched_link verified, deferred;
	struct sched_link looked_up, waiting_for_dir;
	struct sched_link tempfiles;
	unsigned int ntempfiles;
	unsigned int nremoving_stale;	/* of them, the ends that wait */
	struct sched_conn conn[SCHED_CONNS_MAX];
	unsigned int nconns;	/* those from here on never were established */
	unsigned int main;	/* the main connection: see failover.c */
	unsigned int last_conn;		/* the one that sent data last */
	struct sched_request *bucket[BUCKETS];
	uint32_t next_id;
	uint32_t nrequests;		/* requests in flight */
	unsigned int helper_steps;	/* connections with a helper.step */
	uint64_t buffered;	/* bytes, of all files */
	unsigned int nbuffered;		/* extents, of all files */
	uint32_t limit;			/* active entries allowed now */
	uint32_t max_limit;	/* "limit" never gets higher */
	uint32_t active;		/* entries that have started */
	uint32_t nentries, nready;
	uint32_t nlookups;	/* entries in STATE_LOOKUP */
	uint32_t nlooked_up;		/* in looked_up and waiting_for_dir */
	struct sched_entry *paused; /* by sched_pause_children(); NULL: none */
	/* entries that succeeded since the limit changed; changes so far */
	uint32_t successes, limit_epoch;
	struct sched_entry *sole_entry;	/* started alone, and nothing since */
	enum late_truncate late_truncate;
	int	 truncate_unreliable;	/* a truncation had no effect */
	int	 has_handle_limit, one_at_a_time, interrupted;
	struct sched_action last_local;	/* local action that is being done */
};

/* Rings */

static inline void
sched_link_init(struct sched_link *l)
{
	l->prev = l->next = l;
}

static inline void
sched_link_before(struct sched_link *l, struct sched_link *place)
{
	l->prev = place->prev;
	l->next = place;
	place->prev->next = l;
	place->prev = l;
}

static inline void
sched_link_remove(struct sched_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	sched_link_init(l);
}

static inline int
sched_link_is_empty(const struct sched_link *l)
{
	return l->next == l;
}

static inline struct sched_entry *
entry_of_walk(const struct sched_link *l)
{
	return (struct sched_entry *)((char *)l - offsetof(struct sched_entry,
	    walk));
}

static inline struct sched_entry *
entry_of_queue(const struct sched_link *l)
{
	return (struct sched_entry *)((char *)l - offsetof(struct sched_entry,
	    queue));
}

static inline struct sched_entry *
entry_of_unlisted(const struct sched_link *l)
{
	return (struct sched_entry *)((char *)l - offsetof(struct sched_entry,
	    dir.unlisted));
}

static inline struct sched_entry *
entry_of_pending_link(const struct sched_link *l)
{
	return (struct sched_entry *)((char *)l - offsetof(struct sched_entry,
	    pending_link));
}

static inline void
enqueue(struct sched_link *queue, struct sched_entry *j)
{
	sched_link_remove(&j->queue);
	sched_link_before(&j->queue, queue);
}

static inline struct sched_entry *
dequeue(struct sched_link *queue)
{
	struct sched_entry *j = entry_of_queue(queue->next);

	sched_link_remove(&j->queue);
	return j;
}

static inline int
is_open(const struct sched_entry *j)
{
	return j->handle.state == HANDLE_OPEN;
}

/* Returns 1 after all data was acknowledged. */
static inline int
data_is_done(const struct sched_entry *j)
{
	return j->state >= STATE_FINISHING;
}

static inline int
is_lookup(const struct sched_entry *j)
{
	return j->state == STATE_TO_LOOK_UP || j->state == STATE_LOOKUP;
}

/* Returns 1 while it is in one of the queues of lookup-queue.c. */
static inline int
is_looked_up(const struct sched_entry *j)
{
	return j->state == STATE_HELD || j->state == STATE_LOOKED_UP;
}

static inline int
is_verifying(const struct sched_entry *j)
{
	return j->state == STATE_VERIFY_BEFORE || j->state ==
	    STATE_VERIFY_AFTER;
}

/* OP_SETSIZE_0 has to come before the first WRITE. */
static inline int
must_truncate_late(const struct sched_entry *j)
{
	return j->target.setsize_0 == SETSIZE_0_PENDING;
}

static inline int
has_tempfile(const struct sched_entry *j)
{
	return j->temp != NULL && !j->temp->only_removes_stale;
}

/* Returns 1 if a range is read for the verification. */
static inline int
is_reading_range(const struct sched_entry *j)
{
	return j->verify != NULL && j->verify->read != NULL;
}

/* Returns 1 if it is verified, but not yet, or is being, before the copy. */
static inline int
must_verify_before(const struct sched_entry *j)
{
	return j->verify != NULL && !j->verify->is_before_done;
}

/* Returns 1 if it was verified before the copy, and will be after it. */
static inline int
must_verify_after(const struct sched_entry *j)
{
	return j->verify != NULL && j->verify->is_before_done;
}

/* The file was open on a connection that is lost, and is not open again. */
static inline int
handle_is_lost(const struct sched_entry *j)
{
	return j->handle.state != HANDLE_CLOSED && !is_open(j);
}

static inline void
raise_outcome(struct sched_entry *j, enum outcome outcome)
{
	if (j->outcome < outcome)
		j->outcome = outcome;
}

static inline void
request_restart(struct sched_entry *j, enum restart_reason reason)
{
	if (j->outcome == OUTCOME_OK)
		j->restart.reason = reason;
	raise_outcome(j, OUTCOME_RESTART);
}

/* The next step of an entry, taken soon */
static inline void
schedule_step(struct sched *s, struct sched_entry *j, enum sched_op op)
{
	j->step = op;
	enqueue(&s->agenda, j);
}

/* Nothing of the file at the server is behind "size". */
static inline int
target_fits(const struct sched_entry *j, uint64_t size)
{
	return !j->target.has_holes && max_u64(j->target.old_size,
	    j->target.highest_sent) <= size;
}

/* New data may be asked for or sent. */
static inline int
has_more_data(const struct sched_entry *j)
{
	return is_reading_range(j) ? j->extents.cursor < j->verify->read_end :
	    !j->source.eof;
}

/* Bytes that are not asked for or sent, as far as known */
static inline uint64_t
unmoved_bytes(const struct sched_entry *j)
{
	return j->size - min_u64(j->size, j->extents.cursor);
}

/* The source was read to its end, and all of it has arrived. */
static inline int
is_whole(const struct sched_entry *j)
{
	return j->source.eof && j->outcome == OUTCOME_OK && j->source.is_whole;
}

/* No more data is to be requested. */
static inline int
data_is_over(const struct sched *s, const struct sched_entry *j)
{
	return (!has_more_data(j) && j->extents.npending == 0) ||
	    j->outcome != OUTCOME_OK || j->target.setsize_0 ==
	    SETSIZE_0_REFUSED ||
	    s->interrupted ||
	    (has_tempfile(j) && tempfile_info(j->temp->file).is_reverting) ||
	    (is_reading_range(j) && j->verify->stops_reading);
}

/* Entries in walk order (walk.c) */

/*
 * Returns a new entry before "place" in walk order, with the user's pointer, or
 * NULL if out of memory. walk_set_kind() sets its kind and size, or those of
 * what a link leads to, and returns 0, or -1 if out of memory.
 */
struct sched_entry *walk_new_entry(struct sched *, enum sched_kind, void *own,
    struct sched_link *place);
int	walk_set_kind(struct sched *, struct sched_entry *, enum sched_kind,
    uint64_t size);

/*
 * The entry goes on to that state. Asserts that it may: no server can lead it
 * to another one.
 */
void	walk_set_state(struct sched_entry *, enum entry_state);

/* The entry may begin; if "first", before all others that are ready. */
void	walk_ready(struct sched *, struct sched_entry *, int first);

/* The entry goes to STATE_DONE. Its directory has one less to wait for. */
void	walk_entry_done(struct sched *, struct sched_entry *);

/*
 * For the second half of a directory. walk_want_children(): names are known,
 * and the caller can add children. walk_children_complete(): all that were
 * listed so far are added.
 */
void	walk_want_children(struct sched *, struct sched_entry *leave);
void	walk_children_complete(struct sched *, struct sched_entry *leave);

/* Entries that a list has named (lookup-queue.c) */

/* Returns 1 if one more lookup may be sent. */
int	lookup_queue_may_ask(const struct sched *);

/*
 * Returns how many of the entries that the scheduler may have in flight are in
 * use. Lookups count if the server has announced no limit of handles.
 */
uint32_t lookup_queue_slots_used(const struct sched *);

/*
 * Handles the reply to a lookup. Returns 1, or 0 if the entry ends because the
 * user has interrupted.
 */
int	lookup_queue_answered(struct sched *, struct sched_entry *);

/* Fails all entries in "queue", except ends of directories. */
void	lookup_queue_fail(struct sched *, struct sched_link *queue);

/* Entries that may be active at once (concurrency.c) */

void	concurrency_init(struct sched *);

/*
 * Sets the server's limit of open handles. 0 means unknown and changes nothing;
 * the first other value counts.
 */
void	concurrency_set_handles(struct sched *, uint64_t handles);

/*
 * An entry has succeeded. While probing, the limit doubles after as many
 * successes in a row as it has entries.
 */
void	concurrency_succeeded(struct sched *, const struct sched_entry *);

/*
 * A request has failed that a server may refuse only because of others in
 * flight. Both return 1 if the entry restarts: with fewer beside it, or for an
 * earlier reason. Otherwise they return 0, and concurrency_failed() marks the
 * entry as failed.
 */
int	concurrency_restarts(struct sched *, struct sched_entry *);
int	concurrency_failed(struct sched *, struct sched_entry *);

/* The order of requests (sequence.c) */

/*
 * Return the first step of an entry, and the one that follows the step "op" of
 * its sequence. "op" has to be in it.
 */
enum sched_op seq_first(const struct sched *, const struct sched_entry *);
enum sched_op seq_after(const struct sched *, const struct sched_entry *,
    enum sched_op op);

/* Returns 1 if what follows the entry's next step is sent without its reply. */
int	seq_need_not_wait(const struct sched *, const struct sched_entry *);

/*
 * Returns the connection for the entry's next step: the owner, or the main
 * connection for a request that changes a file by its name. The server of a
 * lost connection could execute that late, when another file has the name.
 */
unsigned int seq_conn(const struct sched *, const struct sched_entry *);

/* Returns the new size or the offset of the file's next step, or 0. */
uint64_t seq_offset(const struct sched_entry *);

/*
 * Call it when a reply, local work or a loss has changed something about a
 * file. While data is transferred, or a range is read for the verification, it
 * puts the file into the queue of its owner, where it keeps its place; into
 * that of pending extents, which come before all else; or, if no more data will
 * be moved and none is in flight, into STATE_FINISHING. From there on it closes
 * the file if nothing else is queued for it. In other states it does nothing.
 */
void	seq_continue(struct sched *, struct sched_entry *);

/*
 * The owner sends nothing more of the entry. After the last reply, also to
 * helpers, OP_VERIFY, OP_RESTART or OP_END follows.
 */
void	seq_closed(struct sched *, struct sched_entry *);

/*
 * "len" bytes of the request were received or written. If they are fewer than
 * requested, the rest becomes pending, and later requests are shorter.
 */
void	seq_count_data(struct sched_entry *, const struct sched_request *,
    uint32_t len);

/* Connections, and the requests in flight (conn-sched.c) */

/* What a request and its reply take beside their data, about, in bytes */
#define REQUEST_OVERHEAD	64

/*
 * A new request: returns 1 and the action, or -1 if out of memory.
 * sched_request_slot() leads to the request with the ID, or to NULL. After
 * sched_request_retire() it is answered, and no longer known.
 */
int sched_request_new(struct sched *, struct sched_entry *, unsigned int conn,
    enum sched_op, uint64_t off, uint32_t len, struct sched_action *);
struct sched_request **sched_request_slot(const struct sched *, uint32_t id);
void	sched_request_retire(struct sched *, struct sched_request **);

/* An entry begins and ends, or moves to another connection. */
void	sched_conn_enter(struct sched *, struct sched_entry *);
void	sched_conn_leave(struct sched *, struct sched_entry *);
void sched_conn_move(struct sched *, struct sched_entry *, unsigned int conn);

/* Notes how many bytes of the entry are not asked for or sent yet. */
void	sched_conn_set_unsent(struct sched *, struct sched_entry *,
    uint64_t bytes);

/* What waits of the entry has changed, or how many connections carry it. */
void	sched_conn_count_buffered(struct sched *, struct sched_entry *);

/*
 * What a connection has to do, and what it may have in flight beside the
 * others, in bytes; which has least to do for what it carries
 */
uint64_t sched_conn_work(const struct sched_conn *);
uint64_t sched_conn_weight(const struct sched *, unsigned int conn);
unsigned int sched_conn_least_busy(const struct sched *);

/* Returns the length of a file's next new READ or WRITE. */
uint64_t sched_conn_data_len(const struct sched *, const struct sched_entry *);

/*
 * Returns 1 if the connection moves data of the file up to the next boundary of
 * struct sched_env, "align", before others do.
 */
int sched_conn_continues_block(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* Takes both of struct sched_env; see sched_update(). */
void sched_conn_set_states(struct sched *, unsigned int up, unsigned int takes);

/*
 * A data request is answered, with "len" bytes. Before sched_request_retire().
 */
void	sched_conn_reply_aged(struct sched *, const struct sched_request *,
    uint32_t len);

/*
 * Bytes that the connection may have in flight while it moves this file. A
 * channel has at least what is on the path and as much that waits for the
 * window in ssh, so that none of it is lost while a reply returns.
 */
uint64_t sched_conn_limit(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* A number below "n", or 0: where files are compared */
uint64_t sched_random(struct sched *, uint64_t n);

/* Helper connections (stripe.c) */

/*
 * stripe_step() returns the next request of a helper, stripe_begin() the first
 * one of a new helper. Return 1 and the action; 0: none; -1: out of memory.
 */
int	stripe_step(struct sched *, struct sched_action *);
int	stripe_begin(struct sched *, struct sched_action *);

/* Returns the file with which the connection can help now, or NULL. */
struct sched_entry *stripe_helped_file(const struct sched *,
    const struct sched_conn *);

/* No more data of the file will be moved: its helpers close it. */
void	stripe_close(struct sched *, struct sched_entry *);

/*
 * A reply to OP_HELPER_OPEN, OP_FSTAT_IDENTITY or OP_HELPER_CLOSE on a
 * connection
 */
void	stripe_reply(struct sched *, struct sched_entry *, unsigned int conn,
    enum sched_op, enum sched_result);

/* A reply to OP_SAMPLE_OWNER or OP_SAMPLE_HELPER at that place */
void	stripe_sampled(struct sched *, struct sched_entry *, uint64_t off,
    enum sched_result);

/* The owner of the file is lost: comparisons with helpers begin again. */
void	stripe_repeat_identity(struct sched *, struct sched_entry *);

/* The connection helps no longer, even if requests of it are in flight. */
void	stripe_forget(struct sched *, unsigned int conn);

/* Other hosts, and unconfirmed writes (multihost.c) */

/*
 * Notes that a connection was lost with a request for the entry that its server
 * may execute at any later time; multihost_has_unconfirmed() then returns 1.
 */
void	multihost_note_unconfirmed(struct sched_entry *);
int	multihost_has_unconfirmed(const struct sched_entry *);

/* Returns 1 if another host than the first has written the entry. */
int	multihost_is_involved(const struct sched_entry *);

/*
 * multihost_drop() forgets all. multihost_restarted() keeps what struct
 * sched_hosts names, such as unconfirmed writes.
 */
void	multihost_drop(struct sched_entry *);
void	multihost_restarted(struct sched_entry *);

/* Returns 1 if another host than that of the main connection owns the file. */
int	multihost_is_other(const struct sched *, const struct sched_entry *);

/*
 * Another host sees a different file: restarts the transfer over connections to
 * the first host only.
 */
void	multihost_restart_on_first(struct sched *, struct sched_entry *);

/*
 * If the next step of an entry is OP_END, but its target has to be compared
 * first, multihost_check_before_end() changes the step to OP_STAT_DEST_ON_HOST.
 * While that is the step, multihost_check_next() returns 1 and the request for
 * the next host, or -1 if out of memory. multihost_reply() takes the caller's
 * comparison: RESULT_OK; RESULT_EOF if only the time is wrong; RESULT_FAILED
 * for a mismatch, after which the entry restarts or fails.
 */
void	multihost_check_before_end(struct sched *, struct sched_entry *);
int	multihost_check_next(struct sched *, struct sched_entry *,
    struct sched_action *);
void multihost_reply(struct sched *, struct sched_entry *, enum sched_result);

/*
 * The connection was lost. Returns 1 if the entry was in STATE_CONFIRMING, and
 * nothing else has to be done for it; else 0.
 */
int	multihost_conn_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

/*
 * The main connection, "conn", was lost while the entry was looked at: the new
 * one looks at it.
 */
void	multihost_main_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

/* Lost connections (failover.c) */

/* As sched_conn_lost(), of one connection and of all */
void	failover_conn_lost(struct sched *, unsigned int conn,
    unsigned int new_main);
void	failover_all_lost(struct sched *);

/*
 * If the next step of a file needs a handle that is lost, the step becomes
 * OP_REOPEN. Returns 1 if the step is dropped, because the loss has closed the
 * handle or no connection can open it again; else 0.
 */
int	failover_precedes(struct sched *, struct sched_entry *);

/*
 * Takes a reply to OP_REOPEN or OP_SAMPLE_REOPENED, or to OP_FSTAT_IDENTITY on
 * the file's connection. Returns 1 if the file restarts, so that no error is to
 * be reported; else 0.
 */
int	failover_reply(struct sched *, struct sched_entry *, enum sched_op,
    enum sched_result);

/* Temporary files (tempfile-sched.c) */

/* Gives the entry a temporary file. Returns 0, or -1 if out of memory. */
int	tempfile_sched_add(struct sched *, struct sched_entry *,
    const struct tempfile_conf *);

/* Drops it. */
void	tempfile_sched_drop(struct sched *, struct sched_entry *);

/*
 * The next step of a file is OP_OPEN_EXCL or OP_END: returns 1 if its temporary
 * file has to ask before, and then makes that step. tempfile_sched_opened()
 * takes the reply to OP_OPEN_EXCL, and returns 1 unless it is open.
 */
int	tempfile_sched_precedes(struct sched *, struct sched_entry *);
int	tempfile_sched_opened(struct sched *, struct sched_entry *, int ok);

/* The next request of a temporary file: 1; 0: none now; -1: out of memory */
int	tempfile_sched_next(struct sched *, struct sched_action *);

/*
 * A WRITE failed. Returns 1 if that need not be reported: the staging file is
 * given up.
 */
int	tempfile_sched_write_failed(struct sched_entry *, uint64_t off);

/* The server refused a WRITE or a CLOSE of the entry, if it has either. */
void	tempfile_sched_note_write_error(struct sched_entry *);

/* Where a WRITE goes */
void	tempfile_sched_locate_write(const struct sched_entry *,
    struct sched_action *);

/* A reply to OP_TEMPFILE: returns 1 if nothing is to be said. */
int	tempfile_sched_reply(struct sched *, struct sched_entry *,
    const struct tempfile_request *, const struct sched_reply *);

/* Functions of scheduler.h that files below scheduler.c define */

void	sched_set_size(struct sched *, struct sched_entry *, uint64_t size);
void	sched_hold(struct sched *, struct sched_entry *, int on);
void	sched_local_done(struct sched *);
int	sched_reply(struct sched *, uint32_t id, const struct sched_reply *);

#endif /* HAYATE_SCHED_INTERNAL_H */
