/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xjob: what xsched.c knows of its jobs and requests, and rings of links to
 * keep jobs in order. A ring begins and ends with a link of its own, which
 * leads to itself while the ring is empty. Included by xsched.c alone.
 */

#ifndef HAYATE_XJOB_H
#define HAYATE_XJOB_H

#include <stddef.h>
#include <stdint.h>

#include "xsched.h"

struct link {
	struct link *prev, *next;
};

#define BUCKETS		1024		/* of request IDs, which count up */

struct xs_job {
	struct link walk, queue;
	enum xs_kind kind;
	void	*own;
	struct xs_job *dir;		/* second half of its directory */
	struct xs_job *leave;		/* of XS_DIR: its second half */
	enum xs_op step;		/* on the agenda */
	int	 done;
	int	 failed;

	/* files */
	uint64_t size, next;		/* next: offset of the next request */
	uint64_t acked, hole;		/* highest byte; lowest known missing */
	uint64_t ahead;			/* bytes not asked for or sent */
	unsigned int lane;
	int	 is_in_lane;
	uint32_t unit;
	uint32_t under_way;		/* requests */
	int	 eof, past, empty;
	int	 look;			/* of a put: STAT comes first */
	int	 clear;			/* XS_CLEAR is to come */
	int	 unclear;		/* it failed: XS_FSTAT is to come */
	int	 cut;			/* XS_CUT was done */
	int	 has_reply;		/* to a WRITE */
	int	 skipped;		/* some bytes are not sent */
	int	 emptied;		/* XS_EMPTY was sent */
	int	 again;			/* failed, is to be tried again */
	int	 alone;			/* begins without others */
	int	 is_held;		/* likewise, as the oldest job */
	int	 copied;		/* by the caller */
	uint32_t epoch, restore;	/* of the number; 0: none */

	/* second half of a directory */
	struct link unlisted;		/* until it is listed */
	uint32_t pending;		/* children that are not done */
	int	 reading;		/* more names may come */
	int	 listed;		/* all are added */
	int	 found;			/* the target had it before */

	/* first half of one that is got */
	uint32_t readdirs;		/* at most, under way */
};

struct xs_req {
	struct xs_req *next;
	uint32_t id;
	enum xs_op op;
	struct xs_job *job;
	uint64_t off;
	uint32_t len, cost;
};

/* What goes over one connection. Its bytes: under way, not asked for or sent */
struct lane {
	struct link data;
	uint64_t bytes, ahead;
	uint32_t files;			/* that are under way */
};

/* What the server does with XS_CLEAR */
enum clears { CLEARS_UNKNOWN, CLEARS_ASKED, CLEARS, CLEARS_NOT };

struct xs {
	struct xs_conf conf;
	struct link walk, ready, held, agenda, more, unlisted;
	struct lane lane[XS_LANES];
	unsigned int up, takes;		/* bits of xs_set_lanes() */
	unsigned int turn;		/* the lane that sent data last */
	struct xs_req *bucket[BUCKETS];
	struct xs_req *resend;		/* the rest of what came short */
	uint32_t next_id, requests;	/* under way, as are: */
	uint64_t window;
	uint32_t limit, most, active;	/* jobs: how many may be, ever, are */
	uint32_t jobs, nready;
	uint32_t clean, epoch;		/* done since the limit changed */
	struct xs_job *solo;		/* nothing was begun beside it */
	enum clears clears;
	int	 told, strict, interrupted;
	struct xs_action last;		/* local work that was handed out */
};

/* Rings */

static inline void
link_init(struct link *l)
{
	l->prev = l->next = l;
}

static inline void
link_before(struct link *l, struct link *place)
{
	l->prev = place->prev;
	l->next = place;
	place->prev->next = l;
	place->prev = l;
}

static inline void
link_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

static inline int
link_is_empty(const struct link *l)
{
	return l->next == l;
}

static inline struct xs_job *
of_walk(const struct link *l)
{
	return (struct xs_job *)((char *)l - offsetof(struct xs_job, walk));
}

static inline struct xs_job *
of_queue(const struct link *l)
{
	return (struct xs_job *)((char *)l - offsetof(struct xs_job, queue));
}

static inline struct xs_job *
of_unlisted(const struct link *l)
{
	return (struct xs_job *)((char *)l - offsetof(struct xs_job, unlisted));
}

static inline void
enqueue(struct link *queue, struct xs_job *j)
{
	link_remove(&j->queue);
	link_before(&j->queue, queue);
}

static inline struct xs_job *
dequeue(struct link *queue)
{
	struct xs_job *j = of_queue(queue->next);

	link_remove(&j->queue);
	return j;
}

#endif /* HAYATE_XJOB_H */
