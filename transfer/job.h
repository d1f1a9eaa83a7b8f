/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * job: what plan.c knows of its jobs and requests, and rings of links to
 * keep jobs in order. A ring begins and ends with a link of its own, which
 * leads to itself while the ring is empty. For plan.c and what is below it.
 */

#ifndef HAYATE_JOB_H
#define HAYATE_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "action.h"
#include "landing.h"
#include "minmax.h"
#include "ranges.h"

struct node {
	struct node *prev, *next;
};

#define BUCKETS		1024		/* of request IDs, which count up */

/*
 * READDIRs of a directory under way, if handles are told: at first, at most. A
 * root has nothing beside it that could use the round trip, and a READDIR gets
 * 100 names from most servers.
 */
#define READDIRS_FIRST	4
#define READDIRS_ROOT	16
#define READDIRS_MOST	64

struct job {
	struct node walk, queue;
	struct node loose;		/* with ranges to be asked for again */
	struct node lands;		/* with a landing, or a sweeper */
	enum plan_kind kind;
	void	*own;
	struct job *dir;		/* second half of its directory */
	struct job *leave;		/* of PLAN_DIR: its second half */
	enum plan_op step;		/* on the agenda */
	int	 done;
	int	 failed;

	/* files */
	uint64_t size;
	struct ranges ranges;
	uint64_t kept, charged;		/* bytes that wait; in the lane */
	unsigned int npieces;		/* that wait with them */
	uint64_t ahead;			/* bytes not asked for or sent */
	unsigned int lane;
	int	 is_in_lane;
	int	 is_open;		/* there */
	unsigned int guests;		/* other lanes that have it as guest */
	unsigned int barred;		/* a bit for each that may not */
	unsigned int mover;		/* the lane with the newest range */
	int	 is_looked_at;		/* PLAN_SAME right after it is open */
	unsigned int parts;		/* lanes of other hosts that had one */
	unsigned int to_see;		/* lanes that PLAN_SEEN goes over yet */
	int	 is_looked_back;	/* PLAN_SEEN is under way */
	int	 differs;		/* what was seen, or a lane was lost */
	int	 has_differed;		/* and was sent anew; not reset */
	int	 is_late;		/* a lost lane may still change it */
	int	 is_undressed;		/* as was seen, by its time */
	int	 is_ours;		/* we made it, or its directory */
	int	 renews;		/* PLAN_RENEW is to come */
	int	 over;			/* see plan_over() */
	int	 has_tried_new;		/* PLAN_OPEN_NEW, without a landing */
	enum { HAS_HANDLE, LOST_HANDLE, REOPENING, IS_UNSURE,
	    NO_HANDLE } loss;		/* unsure: the handle is looked at */
	enum plan_op then;		/* behind PLAN_REOPEN; 0: data */
	uint64_t recall_off;		/* of PLAN_RECALL */
	int	 is_drained, is_settled; /* no data is away; nor will be */

	/* of a file that is put over several lanes */
	struct landing *landing;
	struct landing *sweeper;	/* of a file without a landing */
	int	 is_sweeping;		/* it has its last step before it */
	int	 is_looking;		/* before it is opened */
	uint32_t controls;		/* of its requests, but WRITEs */
	uint64_t highest;		/* of what was sent */
	int	 refused;		/* by the server: a WRITE, or a close */
	uint32_t unit;
	uint32_t under_way;		/* requests */
	int	 eof, past, empty;
	int	 is_whole;		/* nothing is missing below the end */
	int	 look;			/* of a put: STAT comes first */
	int	 clear;			/* PLAN_CLEAR is to come */
	int	 unclear;		/* it failed: PLAN_FSTAT is to come */
	int	 cut;			/* PLAN_CUT was done */
	int	 not_cut;		/* see plan_was_not_cut(); not reset */
	int	 has_reply;		/* to a WRITE */
	int	 knows_old;		/* see steps_set_old() */
	uint64_t old;			/* bytes */
	int	 keeps;			/* see steps_keep() */
	int	 skipped;		/* some bytes are not sent */
	int	 emptied;		/* PLAN_EMPTY was sent */
	int	 again;			/* failed, is to be tried again */
	int	 alone;			/* begins without others */
	int	 looks;			/* it is looked up ahead of others */
	int	 waits;			/* for plan_go() */
	int	 is_known;		/* in that queue, or the next */
	int	 is_parked;
	uint32_t epoch, restore;	/* of the number; 0: none */
	uint64_t begin;			/* its data is moved from here on */

	/* a file that is checked */
	enum { CHECK_NOT, CHECK_FIRST, CHECK_LAST } check; /* is next */
	uint64_t ask_off;		/* what is asked next */
	uint32_t ask_len;
	uint64_t back, back_end;	/* what is read back */
	int	 is_checked;		/* now */
	int	 is_ask_lost;		/* with its lane */
	int	 is_back;		/* it is read back now */
	int	 back_over;		/* and no more is */
	int	 is_complete;		/* nothing is copied */
	int	 is_unseen;		/* PLAN_SEE is to come */

	/* second half of a directory */
	struct node unlisted;		/* until it is listed */
	uint32_t pending;		/* children that are not done */
	int	 reading;		/* more names may come */
	int	 listed;		/* all are added */
	int	 found;			/* the target had it before */

	/* first half */
	int	 is_given;		/* its children are the caller's */
	uint32_t readdirs;		/* of one that is got: most under way */
};

struct plan_req {
	struct plan_req *next;
	uint32_t id;
	enum plan_op op;
	struct job *job;
	struct range *range;		/* NULL: no data, or between servers */
	unsigned int lane;
	uint64_t off;
	uint32_t len, cost;
	uint64_t sent;			/* when */
	struct landing_ask ask;
};

/*
 * What goes over one connection. Its bytes: under way, with those that came
 * early and wait; not asked for or sent
 */
struct lane {
	struct node data;
	uint64_t bytes, ahead;
	uint64_t most;			/* bytes, beside others; lanes_aged() */
	uint64_t least_age;		/* of a reply, in microseconds */
	uint64_t halved_us, halved_age;	/* when "most" was, and the age then */
	struct node hashes;		/* files that wait to be hashed */
	uint64_t hashing;		/* bytes that the server hashes */
	uint32_t files;			/* that are under way */
	struct job *guest;		/* of another lane; NULL: none */
	enum guest { GUEST_JOINS, GUEST_IS_READY, GUEST_PARTS } guest_is;
	enum plan_op guest_step;	/* to be sent; 0: none */
	uint64_t probe_off;		/* where the guest is compared */
	unsigned int probes;		/* replies that are due then */
	int	 differs;		/* one of them says so */
};

/* What the server does with PLAN_CLEAR */
enum clears { CLEARS_UNKNOWN, CLEARS_ASKED, CLEARS, CLEARS_NOT };

struct plan {
	struct plan_conf conf;
	struct node walk, ready, agenda, more, unlisted, loose;
	struct node checked, later;
	struct node known, parked;
	struct node landings;
	unsigned int nlandings;
	unsigned int nsweeping;		/* that wait for their last step */
	int	 has, wants;		/* see plan_set_has() */
	uint64_t now_us;
	struct lane lane[PLAN_LANES];
	unsigned int lanes;		/* the first so many have been up */
	unsigned int up, takes;		/* bits of plan_set_lanes() */
	int	 uneven;		/* see plan_set_uneven() */
	unsigned int apart;		/* see plan_set_apart() */
	unsigned int writers;		/* see plan_set_shared() */
	uint32_t align;
	unsigned int turn;		/* the lane that sent data last */
	struct plan_req *bucket[BUCKETS];
	uint32_t next_id;
	uint32_t requests;		/* so many are under way */
	uint64_t window;		/* so many bytes may be */
	uint64_t widen;			/* see plan_set_widen() */
	unsigned int guest_steps;	/* of all lanes, to be sent */
	uint64_t kept;			/* bytes that wait, of all files */
	unsigned int npieces;		/* in so many pieces */
	uint32_t limit;			/* so many jobs may be, for now */
	uint32_t most;			/* the limit never gets higher */
	uint32_t active;		/* so many jobs are under way */
	uint32_t jobs, nready;
	uint32_t looking;		/* jobs that are looked up ahead */
	uint32_t nknown;		/* in "known" and "parked" */
	struct job *paused;		/* by plan_pause(); NULL: none */
	uint32_t clean, epoch;		/* done since the limit changed */
	struct job *solo;		/* nothing was begun beside it */
	enum clears clears;
	int	 cuts_not;		/* a longer file was not cut */
	int	 told, strict, interrupted;
	struct plan_action last;	/* local work that was handed out */
};

/* Rings */

static inline void
link_init(struct node *l)
{
	l->prev = l->next = l;
}

static inline void
link_before(struct node *l, struct node *place)
{
	l->prev = place->prev;
	l->next = place;
	place->prev->next = l;
	place->prev = l;
}

static inline void
link_remove(struct node *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

static inline int
link_is_empty(const struct node *l)
{
	return l->next == l;
}

static inline struct job *
of_walk(const struct node *l)
{
	return (struct job *)((char *)l - offsetof(struct job, walk));
}

static inline struct job *
of_queue(const struct node *l)
{
	return (struct job *)((char *)l - offsetof(struct job, queue));
}

static inline struct job *
of_unlisted(const struct node *l)
{
	return (struct job *)((char *)l - offsetof(struct job, unlisted));
}

static inline struct job *
of_lands(const struct node *l)
{
	return (struct job *)((char *)l - offsetof(struct job, lands));
}

static inline struct job *
of_loose(const struct node *l)
{
	return (struct job *)((char *)l - offsetof(struct job, loose));
}

static inline void
enqueue(struct node *queue, struct job *j)
{
	link_remove(&j->queue);
	link_before(&j->queue, queue);
}

static inline struct job *
dequeue(struct node *queue)
{
	struct job *j = of_queue(queue->next);

	link_remove(&j->queue);
	return j;
}

/* The next step of a job, taken soon */
static inline void
step(struct plan *s, struct job *j, enum plan_op op)
{
	j->step = op;
	enqueue(&s->agenda, j);
}

/* Nothing of the file at the server is behind "size". */
static inline int
fits(const struct job *j, uint64_t size)
{
	return j->knows_old && !j->skipped && max_u64(j->old, j->highest) <=
	    size;
}

/* New data may be asked for or sent. */
static inline int
has_more(const struct job *j)
{
	return j->is_back ? j->ranges.cursor < j->back_end : !j->eof;
}

/* Bytes that are not asked for or sent, as far as known */
static inline uint64_t
rest_of(const struct job *j)
{
	return j->size - min_u64(j->size, j->ranges.cursor);
}

/* The source was read to its end, and all of it has come. */
static inline int
is_whole(const struct job *j)
{
	return j->eof && !j->failed && !j->again && j->is_whole;
}

/* No more data is to be requested. */
static inline int
has_all(const struct plan *s, const struct job *j)
{
	return (!has_more(j) && j->ranges.nloose == 0) || j->failed ||
	    j->again || j->unclear || s->interrupted ||
	    (j->landing != NULL && landing_is_reverting(j->landing)) ||
	    (j->is_back && j->back_over);
}

#endif /* HAYATE_JOB_H */
