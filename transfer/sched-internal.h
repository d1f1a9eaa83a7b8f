/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-internal: what scheduler.c knows of its jobs and requests, and rings of
 * links to keep jobs in order. A ring begins and ends with a link of its own,
 * which leads to itself while the ring is empty. For scheduler.c and what is
 * below it.
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
 * READDIRs of a directory under way, if handles are told: at first, at most. A
 * root has nothing beside it that could use the round trip, and a READDIR gets
 * 100 names from most servers.
 */
#define READDIRS_FIRST	4
#define READDIRS_ROOT	16
#define READDIRS_MAX	64

struct sched_entry {
	struct sched_link walk, queue;
	struct sched_link pending_link;	/* with ranges to be asked for again */
	struct sched_link temp_link;	/* with a landing, or a sweeper */
	enum sched_kind kind;
	void	*user;
	struct sched_entry *parent;	/* second half of its directory */
	struct sched_entry *dir_end;	/* of KIND_DIR: its second half */
	enum sched_op step;		/* on the agenda */
	int	 done;
	int	 failed;

	/* files */
	uint64_t size;
	struct extents extents;
	uint64_t buffered, buffered_charged; /* bytes that wait; in the lane */
	unsigned int nbuffered;		/* that wait with them */
	uint64_t unsent;	/* bytes not asked for or sent */
	unsigned int owner;
	int	 is_active;
	int	 is_open;		/* there */
	unsigned int nhelpers;		/* other lanes that have it as guest */
	unsigned int excluded;		/* a bit for each that may not */
	unsigned int last_mover;	/* the lane with the newest range */
	/* OP_FSTAT_IDENTITY right after it is open */
	int	 identity_pending;
	unsigned int hosts_involved;	/* lanes of other hosts that had one */
	/* lanes that OP_STAT_DEST_ON_HOST goes over yet */
	unsigned int hosts_to_check;
	int	 final_check;	/* OP_STAT_DEST_ON_HOST is under way */
	int	 mismatch;		/* what was seen, or a lane was lost */
	int	 had_mismatch;		/* and was sent anew; not reset */
	int	 unconfirmed_writes;	/* a lost lane may still change it */
	int	 mtime_mismatch;		/* as was seen, by its time */
	int	 exists_ours;		/* we made it, or its directory */
	int	 remove_first;		/* OP_REMOVE_OWN is to come */
	int	 no_truncate;	/* see sched_forbid_truncate() */
	int	 tried_excl;		/* OP_OPEN_EXCL, without a landing */
	enum { HANDLE_NOT_LOST, HANDLE_LOST, HANDLE_REOPENING,
	    HANDLE_UNVERIFIED, HANDLE_UNAVAILABLE } handle_state;
	enum sched_op op_after_reopen;		/* behind OP_REOPEN; 0: data */
	uint64_t sample_off;		/* of OP_SAMPLE_REOPENED */
	int	 data_done, local_done; /* no data is away; nor will be */

	/* of a file that is put over several lanes */
	struct tempfile *temp;
	struct tempfile *stale_cleaner;	/* of a file without a landing */
	int	 is_removing_stale;	/* it has its last step before it */
	int	 temp_undecided;		/* before it is opened */
	uint32_t temp_requests;		/* of its requests, but WRITEs */
	uint64_t highest_sent;		/* of what was sent */
	int	 write_error;		/* by the server: a WRITE, or a close */
	uint32_t unit;
	uint32_t in_flight;		/* requests */
	int	 eof, read_past_size, zero_reads;
	int	 is_whole;		/* nothing is missing below the end */
	int	 stat_first;			/* of a put: STAT comes first */
	int	 truncate_pending;	/* OP_SETSIZE_0 is to come */
	int	 fstat_type_pending; /* it failed: OP_FSTAT_TYPE is to come */
	int	 is_truncated;			/* OP_SETSIZE_END was done */
	int	 must_open_trunc; /* see sched_must_open_trunc(); not reset */
	int	 write_answered;		/* to a WRITE */
	int	 old_size_known;		/* see seq_set_old_size() */
	uint64_t old_size;			/* bytes */
	int	 possible_source;	/* see seq_keep_possible_source() */
	int	 has_holes;		/* some bytes are not sent */
	int	 open_trunc_sent;	/* OP_OPEN_DEST_TRUNC was sent */
	int	 restart;	/* failed, is to be tried again */
	int	 exclusive;			/* begins without others */
	int	 lookup_only;	/* it is looked up ahead of others */
	int	 is_held;			/* for sched_release() */
	int	 is_looked_up;		/* in that queue, or the next */
	int	 waits_for_dir;
	uint32_t limit_epoch, limit_before;	/* of the number; 0: none */
	uint64_t start;			/* its data is moved from here on */

	/* a file that is checked */
	/* is next */
	enum { VERIFY_NOT, VERIFY_BEFORE, VERIFY_AFTER } verify_when;
	uint64_t verify_off;		/* what is asked next */
	uint32_t verify_len;
	uint64_t readback_start, readback_end;	/* what is read back */
	int	 is_verifying;		/* now */
	int	 verify_request_lost;		/* with its lane */
	int	 is_reading_back;		/* it is read back now */
	int	 readback_stop;		/* and no more is */
	int	 nothing_to_copy;		/* nothing is copied */
	int	 fstat_with_first_read;		/* OP_VERIFY_FSTAT is to come */

	/* second half of a directory */
	struct sched_link unlisted;		/* until it is listed */
	uint32_t pending_children;		/* children that are not done */
	int	 is_listing;		/* more names may come */
	int	 children_complete;		/* all are added */
	int	 existed;			/* the target had it before */

	/* first half */
	int	 external_children;	/* its children are the caller's */
	uint32_t max_readdirs;		/* of one that is got: most under way */
};

struct sched_request {
	struct sched_request *next;
	uint32_t id;
	enum sched_op op;
	struct sched_entry *entry;
	struct extent *extent;		/* NULL: no data, or between servers */
	unsigned int conn;
	uint64_t off;
	uint32_t len, cost;
	uint64_t sent_us;			/* when */
	struct tempfile_request temp_request;
};

/*
 * What goes over one connection. Its bytes: under way, with those that came
 * early and wait; not asked for or sent
 */
struct sched_conn {
	struct sched_link data;
	uint64_t in_flight, queued;
	uint64_t limit;	/* bytes, beside others; sched_conn_reply_aged() */
	uint64_t min_rtt;		/* of a reply, in microseconds */
	uint64_t halved_us, halved_age;	/* when "most" was, and the age then */
	struct sched_link hashes;	/* files that wait to be hashed */
	uint64_t hash_bytes;		/* bytes that the server hashes */
	uint32_t files;			/* that are under way */
	/* of another lane; NULL: none */
	struct sched_entry *helped_file;
	enum helper_state { HELPER_OPENING, HELPER_READY,
	    HELPER_CLOSING } helper_state;
	enum sched_op helper_step;	/* to be sent; 0: none */
	uint64_t sample_off;		/* where the guest is compared */
	unsigned int samples_due;		/* replies that are due then */
	int	 samples_differ;		/* one of them says so */
};

/* What the server does with OP_SETSIZE_0 */
enum late_truncate { LATE_TRUNCATE_UNKNOWN, LATE_TRUNCATE_ASKED,
    LATE_TRUNCATE_WORKS, LATE_TRUNCATE_FAILS };

struct sched {
	struct sched_conf conf;
	struct sched_link walk, ready, agenda, want_children, unlisted,
	    pending_extents;
	struct sched_link verified, deferred;
	struct sched_link looked_up, waiting_for_dir;
	struct sched_link tempfiles;
	unsigned int ntempfiles;
	unsigned int nremoving_stale;	/* that wait for their last step */
	int	 server_caps, conns_wanted; /* see sched_set_server_caps() */
	uint64_t now_us;
	struct sched_conn conn[SCHED_CONNS_MAX];
	unsigned int nconns;		/* the first so many have been up */
	unsigned int established, writable;	/* bits of sched_set_conns() */
	int	 per_conn_limit;	/* see sched_set_per_conn_limit() */
	unsigned int other_hosts;	/* see sched_set_other_hosts() */
	unsigned int max_writers;		/* see sched_set_writers() */
	uint32_t align;
	unsigned int last_conn;		/* the lane that sent data last */
	struct sched_request *bucket[BUCKETS];
	uint32_t next_id;
	uint32_t nrequests;		/* so many are under way */
	uint64_t window;		/* so many bytes may be */
	uint64_t stripe_min;			/* see sched_set_stripe_min() */
	unsigned int helper_steps;	/* of all lanes, to be sent */
	uint64_t buffered;	/* bytes that wait, of all files */
	unsigned int nbuffered;		/* in so many pieces */
	uint32_t limit;			/* so many jobs may be, for now */
	uint32_t max_limit;	/* the limit never gets higher */
	uint32_t active;		/* so many jobs are under way */
	uint32_t nentries, nready;
	uint32_t nlookups;		/* jobs that are looked up ahead */
	uint32_t nlooked_up;		/* in "known" and "parked" */
	struct sched_entry *paused; /* by sched_pause_children(); NULL: none */
	/* done since the limit changed */
	uint32_t successes, limit_epoch;
	struct sched_entry *sole_entry;	/* nothing was begun beside it */
	enum late_truncate late_truncate;
	int	 truncate_unreliable;		/* a longer file was not cut */
	int	 has_handle_limit, one_at_a_time, interrupted;
	struct sched_action last_local;	/* local work that was handed out */
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
	    unlisted));
}

static inline struct sched_entry *
entry_of_temp_link(const struct sched_link *l)
{
	return (struct sched_entry *)((char *)l - offsetof(struct sched_entry,
	    temp_link));
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

/* The next step of a job, taken soon */
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
	return j->old_size_known && !j->has_holes && max_u64(j->old_size,
	    j->highest_sent) <= size;
}

/* New data may be asked for or sent. */
static inline int
has_more_data(const struct sched_entry *j)
{
	return j->is_reading_back ? j->extents.cursor < j->readback_end :
	    !j->eof;
}

/* Bytes that are not asked for or sent, as far as known */
static inline uint64_t
unmoved_bytes(const struct sched_entry *j)
{
	return j->size - min_u64(j->size, j->extents.cursor);
}

/* The source was read to its end, and all of it has come. */
static inline int
is_whole(const struct sched_entry *j)
{
	return j->eof && !j->failed && !j->restart && j->is_whole;
}

/* No more data is to be requested. */
static inline int
data_is_over(const struct sched *s, const struct sched_entry *j)
{
	return (!has_more_data(j) && j->extents.npending == 0) || j->failed ||
	    j->restart || j->fstat_type_pending || s->interrupted ||
	    (j->temp != NULL && tempfile_is_reverting(j->temp)) ||
	    (j->is_reading_back && j->readback_stop);
}

#endif /* HAYATE_SCHED_INTERNAL_H */
