/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-sched: bytes and files of each connection, and the requests in flight.
 *
 * A file, or a link, is assigned to the connection with the least work, and
 * stays there. All else uses the main connection. The busy connections share
 * the window. Data of a file that arrived early and is buffered counts as in
 * flight on its connection, unless several connections transfer the file: then
 * another one is behind, and the connection is not charged.
 */

#include <stdlib.h>

#include "conn-count.h"
#include "extents.h"
#include "minmax.h"
#include "op-table.h"
#include "sched-internal.h"

/*
 * A READ behind the size that was told, between two servers: what it brings,
 * with 512 of them in flight, waits in memory.
 */
#define BLIND_READ_MAX	(32 * 1024)

/* What a file costs its connection beside its bytes, in bytes */
#define FILE_COST	(32 * 1024)

/*
 * The bytes in flight of a connection that begins beside others. That and what
 * it has carried is more than TCP lets through in its slow start.
 */
#define START_LIMIT		(512 * 1024)

/*
 * What is in flight on a connection beside others should not wait for longer.
 */
#define AGE_MAX	250000		/* microseconds, or */
#define AGE_RTTS	4		/* times an RTT, if longer */

/* So many requests fill a short path while one is served, and one answered. */
#define CONN_REQUESTS_MIN	4

struct sched_request **
sched_request_slot(const struct sched *s, uint32_t id)
{
	struct sched_request **place = (struct sched_request **)&s->bucket[id %
	    BUCKETS];

	while (*place != NULL && (*place)->id != id)
		place = &(*place)->next;
	return place;
}

/*
 * An upload that another connection than the main one has a part of, which is
 * looked at in the end (multihost.c). Returns 0, or -1 if out of memory.
 */
static int
note_conn(const struct sched *s, struct sched_entry *j, unsigned int conn)
{
	if (conn == s->main || !s->conf.put || j->kind != KIND_FILE)
		return 0;
	if (j->hosts == NULL && (j->hosts = calloc(1, sizeof(*j->hosts))) ==
	    NULL)
		return -1;
	j->hosts->involved |= s->env.other_hosts & 1U << conn;
	return 0;
}

int
sched_request_new(struct sched *s, struct sched_entry *j, unsigned int conn,
    enum sched_op op, uint64_t off, uint32_t len, struct sched_action *a)
{
	struct sched_request *r, **place;

	if (note_conn(s, j, conn) != 0 ||
	    (r = calloc(1, sizeof(*r))) == NULL)
		return -1;
	r->op = op;
	r->entry = j;
	r->conn = conn;
	r->off = off;
	r->len = len;
	r->id = s->next_id++;
	r->sent_us = s->env.now_us;
	r->cost = REQUEST_OVERHEAD;
	if (op == OP_WRITE && s->conf.cross)
		r->cost += len;
	else if (len != 0)
		r->cost += off >= j->size ? 0 :
		    (uint32_t)min_u64(len, j->size - off);
	s->conn[conn].in_flight += r->cost;
	s->nrequests++;
	j->in_flight++;
	place = &s->bucket[r->id % BUCKETS];
	r->next = *place;
	*place = r;
	*a = (struct sched_action){ .op = op, .entry = j, .conn = conn,
	    .id = r->id, .off = off, .len = len, .at = off };
	return 1;
}

void
sched_request_retire(struct sched *s, struct sched_request **place)
{
	struct sched_request *r = *place;

	*place = r->next;
	r->entry->in_flight--;
	s->nrequests--;
	s->conn[r->conn].in_flight -= r->cost;
	if (r->verify != NULL && r->verify->works)
		s->conn[r->conn].work_bytes -= r->len;
	free(r);
}

void
sched_conn_set_unsent(struct sched *s, struct sched_entry *j, uint64_t bytes)
{
	s->conn[j->owner].queued += bytes;
	s->conn[j->owner].queued -= j->unsent;
	j->unsent = bytes;
}

static unsigned int
count_bits(unsigned int bits)
{
	unsigned int n = 0;

	for (; bits != 0; bits &= bits - 1)
		n++;
	return n;
}

uint64_t
sched_conn_work(const struct sched_conn *l)
{
	return l->in_flight + l->queued + (uint64_t)l->files * FILE_COST;
}

static int
has_own_limits(const struct sched *s)
{
	return s->env.per_conn_limit && s->env.established != 1U << s->main;
}

uint64_t
sched_conn_weight(const struct sched *s, unsigned int conn)
{
	uint64_t share = s->env.window / count_bits(s->env.established);

	return max_u64(1, has_own_limits(s) ?
	    min_u64(share, s->conn[conn].limit) : share);
}

/* Round trips that the work of the connection takes */
static double
rounds_left(const struct sched *s, unsigned int conn)
{
	return (double)sched_conn_work(&s->conn[conn]) /
	    (double)sched_conn_weight(s, conn);
}

/*
 * Least estimated time to finish, not fewest bytes: one connection may be slow.
 */
unsigned int
sched_conn_least_busy(const struct sched *s)
{
	unsigned int i, best = s->main;
	double rounds, least = rounds_left(s, best);

	for (i = 0; i < s->nconns; i++) {
		if ((s->env.established >> i & 1) != 0 && (rounds =
		    rounds_left(s, i)) < least) {
			best = i;
			least = rounds;
		}
	}
	return best;
}

static int
conn_is_busy(const struct sched_conn *l)
{
	return l->in_flight > 0 || !sched_link_is_empty(&l->data) ||
	    l->helper.handle == HANDLE_OPEN;
}

/* The window is shared by those that have something to do. */
static uint64_t
share_of_window(const struct sched *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nconns; i++)
		n += conn_is_busy(&s->conn[i]);
	return s->env.window / (n == 0 ? 1 : n);
}

static int
needs_conn(const struct sched_entry *j)
{
	return j->kind == KIND_FILE || j->kind == KIND_LINK;
}

void
sched_conn_count_buffered(struct sched *s, struct sched_entry *j)
{
	uint64_t charge = j->nhelpers > 0 ? 0 : j->extents.buffered;

	s->conn[j->owner].in_flight += charge - j->buffer.charged;
	j->buffer.charged = charge;
	s->buffered += j->extents.buffered - j->buffer.bytes;
	s->nbuffered += j->extents.nbuffered - j->buffer.extents;
	j->buffer.bytes = j->extents.buffered;
	j->buffer.extents = j->extents.nbuffered;
}

void
sched_conn_enter(struct sched *s, struct sched_entry *j)
{
	j->owner = s->main;
	if (!needs_conn(j))
		return;
	if (!s->truncate_unreliable)
		j->owner = sched_conn_least_busy(s);
	if ((j->restart.exclude_conns >> j->owner & 1) != 0)
		j->owner = s->main;
	s->conn[j->owner].files++;
	j->is_active = 1;
}

void
sched_conn_leave(struct sched *s, struct sched_entry *j)
{
	sched_conn_set_unsent(s, j, 0);
	extents_clear(&j->extents);
	sched_conn_count_buffered(s, j);
	s->conn[j->owner].files -= j->is_active;
	j->is_active = 0;
}

void
sched_conn_move(struct sched *s, struct sched_entry *j, unsigned int conn)
{
	struct sched_conn *from = &s->conn[j->owner], *to = &s->conn[conn];

	from->in_flight -= j->buffer.charged;
	to->in_flight += j->buffer.charged;
	from->queued -= j->unsent;
	to->queued += j->unsent;
	from->files -= j->is_active;
	to->files += j->is_active;
	j->owner = conn;
}

void
sched_set_size(struct sched *s, struct sched_entry *j, uint64_t size)
{
	j->size = size;
	sched_conn_set_unsent(s, j, j->kind == KIND_FILE &&
	    !must_verify_before(j) ? size - min_u64(size, j->start) : 0);
}

uint64_t
sched_conn_data_len(const struct sched *s, const struct sched_entry *j)
{
	uint64_t len = j->unit, next = j->extents.cursor;

	if (is_reading_range(j))
		return min_u64(len, j->verify->read_end - next);
	if (next < j->size && !s->conf.put)
		len = min_u64(len, j->size - next);
	if (next >= j->size && s->conf.cross)
		len = min_u64(len, BLIND_READ_MAX);
	if (s->env.align != 0 && j->nhelpers > 0)
		len = min_u64(len, s->env.align - next % s->env.align);
	return len;
}

int
sched_conn_continues_block(const struct sched *s, const struct sched_entry *j,
    unsigned int conn)
{
	return s->env.align != 0 && j->nhelpers > 0 && j->last_mover == conn &&
	    j->extents.npending == 0 && j->extents.cursor % s->env.align != 0;
}

void
sched_conn_set_states(struct sched *s, unsigned int up, unsigned int takes)
{
	unsigned int i;

	while (s->nconns < SCHED_CONNS_MAX && up >> s->nconns != 0)
		s->nconns++;
	for (i = 1; i < s->nconns; i++) {
		if (((up & ~s->env.established) >> i & 1) != 0) {
			s->conn[i].limit = s->env.per_conn_limit ? START_LIMIT :
			    UINT64_MAX;
			s->conn[i].min_rtt = s->conn[i].halved_age = 0;
		}
	}
	s->env.established = up;
	s->env.writable = takes;
}

/*
 * Half as much was in flight when this was sent. If its reply is nearly as old
 * as before, that is no queue but the path, which has become longer.
 */
static void
check_halved_age(struct sched_conn *l, uint64_t age)
{
	if (age > l->halved_age / 4 * 3)
		l->min_rtt = age;
	l->halved_age = 0;
}

/*
 * What waits on a slow connection when all else is done is what the copy waits
 * for, and before it what comes early waits in memory. So such a connection
 * gets little more at once than it carries in that time.
 */
void
sched_conn_reply_aged(struct sched *s, const struct sched_request *r,
    uint32_t len)
{
	struct sched_conn *l = &s->conn[r->conn];
	uint64_t age = s->env.now_us - r->sent_us, most;

	if (l->min_rtt == 0 || age < l->min_rtt)
		l->min_rtt = age;
	if (l->halved_age != 0 && r->sent_us >= l->halved_us)
		check_halved_age(l, age);
	most = max_u64(AGE_MAX, AGE_RTTS * l->min_rtt);
	if (age < most / 2)
		l->limit += l->limit == UINT64_MAX ? 0 : len;
	else if (age > most && r->sent_us >= l->halved_us &&
	    has_own_limits(s)) {
		l->limit = min_u64(l->limit, l->in_flight) / 2;
		l->halved_us = s->env.now_us;
		l->halved_age = age;
	}
}

uint64_t
sched_conn_limit(const struct sched *s, const struct sched_entry *j,
    unsigned int conn)
{
	uint64_t least = (uint64_t)CONN_REQUESTS_MIN * (j->unit +
	    REQUEST_OVERHEAD);
	uint64_t most = max_u64(share_of_window(s), !has_tempfile(j) ?
	    min_u64(least, s->env.window) : 2 * CHANNEL_WINDOW_STOCK);

	return has_own_limits(s) ? min_u64(most, s->conn[conn].limit) : most;
}

uint64_t
sched_random(struct sched *s, uint64_t n)
{
	uint64_t *x = &s->conf.seed;

	*x = *x * 6364136223846793005U + 1442695040888963407U;
	return n == 0 ? 0 : (*x >> 16) % n;
}
