/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * packetq-test: the claims of cipher/packetq.h, without a cipher. Prints each
 * claim that does not hold and exits with 1.
 *
 * Most claims are checked without threads: a submitted packet stays pending
 * until the caller waits for it. The last claims are about threads.
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packetq.h"

#define PACKETS	64
#define LONG	32768
#define TAG	16
#define THREADS	2

struct packet {
	struct packet_job job;
	int	 fails, times;
	uint8_t	 sealed[LONG + TAG];
};

static struct packet packet[PACKETS];
static struct packetq q;

static void
claim(int so, const char *what)
{
	if (!so)
		errx(1, "not so: %s (%u packets, %zu bytes, %zu written)", what,
		    q.count, q.bytes, q.written);
}

static void
run(struct pool_job *pool, unsigned int worker)
{
	struct packet *p = (struct packet *)pool;

	(void)worker;
	memset(p->sealed, (int)(p - packet), p->job.wire_len);
	p->job.out = p->sealed;
	p->job.result = p->fails ? -5 : 0;
	p->times++;
}

/* Queues "n" packets of "len" bytes after an empty queue. */
static void
begin(unsigned int n, size_t len)
{
	unsigned int i;

	memset(&q, 0, sizeof(q));
	memset(packet, 0, sizeof(packet));
	for (i = 0; i < n; i++) {
		packet[i].job.pool.run = run;
		packet[i].job.len = len;
		packet[i].job.wire_len = len + TAG;
		packetq_add(&q, &packet[i].job);
	}
}

static void
submit(unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		packetq_submit(&packet[from].job);
}

static void
finish(unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		packetq_finish(&packet[from].job);
}

static void
check_order(void)
{
	unsigned int i;

	begin(5, LONG);
	claim(q.count == 5 && q.bytes == 5 * (LONG + TAG), "packets count");
	for (i = 0; i < 5; i++)
		claim(packetq_remove_first(&q) == &packet[i].job,
		    "packets leave in the order in which they came");
	claim(packetq_remove_first(&q) == NULL, "an empty queue has no first");
	claim(q.count == 0 && q.bytes == 0, "an empty queue holds no bytes");
	packetq_add(&q, &packet[7].job);
	claim(q.first == &packet[7].job, "an emptied queue takes more");
}

static void
check_states(void)
{
	begin(2, LONG);
	claim(!packetq_is_finished(&packet[0].job), "a new packet waits");
	packet[0].fails = 1;
	claim(packetq_finish(&packet[0].job) == -5, "a failure is returned");
	claim(packetq_finish(&packet[0].job) == -5 && packet[0].times == 1,
	    "a finished packet is not done again");
	submit(1, 2);
	claim(!packetq_is_finished(&packet[1].job) && pool_count_queued() == 1,
	    "without threads a submitted packet is in progress");
	claim(packetq_finish(&packet[1].job) == 0 && packet[1].times == 1,
	    "who waits for it runs it");
	packet[0].job.len = PACKETQ_SHORT - 1;
	packet[1].job.len = PACKETQ_SHORT;
	claim(!packetq_is_long(&packet[0].job) &&
	    packetq_is_long(&packet[1].job), "short packets are the owner's");
}

/* The first byte of each vector identifies its packet. */
static void
check_gather(void)
{
	struct iovec iov[PACKETS];

	begin(6, 100);
	claim(packetq_collect(&q, iov, PACKETS) == 0, "nothing is sealed yet");
	finish(1, 3);
	claim(packetq_collect(&q, iov, PACKETS) == 0,
	    "nothing overtakes a packet that is not sealed");
	finish(0, 1);
	claim(packetq_collect(&q, iov, PACKETS) == 3,
	    "what is sealed goes out");
	claim(*(uint8_t *)iov[2].iov_base == 2 && iov[2].iov_len == 100 + TAG,
	    "each packet is sent whole, in its turn");
	claim(packetq_collect(&q, iov, 2) == 2, "at most that many vectors");
	packet[4].fails = 1;
	finish(3, 6);
	claim(packetq_collect(&q, iov, PACKETS) == 4,
	    "nothing is sent from a failed packet on");
}

static void
check_written(void)
{
	struct iovec iov[PACKETS];

	begin(3, 100);
	finish(0, 3);
	packetq_add_written(&q, 50);
	claim(!packetq_first_is_written(&q), "half a packet is not written");
	claim(packetq_collect(&q, iov, PACKETS) == 3 &&
	    iov[0].iov_base == packet[0].sealed + 50 &&
	    iov[0].iov_len == 50 + TAG && iov[1].iov_len == 100 + TAG,
	    "the rest of a packet goes first");
	claim(packetq_unwritten(&q) == 3 * (100 + TAG) - 50,
	    "what was written no longer waits");
	packetq_add_written(&q, 100 + 2 * TAG);
	claim(packetq_first_is_written(&q), "a write may end further on");
	packetq_remove_first(&q);
	claim(!packetq_first_is_written(&q) && q.written == 50 + TAG,
	    "and counts for it");
	claim(packetq_unwritten(&q) == 2 * (100 + TAG) - 50 - TAG,
	    "removing what was written changes nothing that waits");
	packetq_remove_first(&q);
	claim(q.written == 0, "a packet that is removed takes its bytes along");
}

static void
check_backlog(void)
{
	const size_t each = LONG + TAG;

	begin(4, LONG);
	submit(0, 4);
	claim(packetq_backlog(&q, 10, 4) == 10,
	    "a packet in hand for each core is no backlog");
	claim(packetq_backlog(&q, 10, 3) == 10 + 4 * each / 3,
	    "more than that is");
	finish(0, 2);
	claim(packetq_backlog(&q, 10, 2) == 10 + 2 * each,
	    "what is sealed waits for the path");
	packetq_add_written(&q, 7);
	claim(packetq_backlog(&q, 10, 2) == 10 + 2 * each - 7,
	    "less what was written");
	claim(packetq_backlog(&q, PACKETQ_BYTES - 3 * each, 8) ==
	    PACKETQ_BYTES + each - 7, "a full queue counts as a whole");
	finish(2, 4);
}

static void
check_ahead(void)
{
	begin(PACKETQ_AHEAD - 1, 100);
	claim(packetq_wants_more(&q, 1), "packets are opened ahead");
	claim(!packetq_wants_more(&q, 0), "but not without threads");
	begin(PACKETQ_AHEAD, 100);
	claim(!packetq_wants_more(&q, 1), "and not too many");
	begin(4, PACKETQ_BYTES / 4 - TAG - 1);
	claim(packetq_wants_more(&q, 1), "as long as there is room for a byte");
	begin(4, PACKETQ_BYTES / 4 - TAG);
	claim(!packetq_wants_more(&q, 1), "and no more than these bytes");
}

static void
check_reads(void)
{
	char read[2];

	begin(3, 100);
	packet[0].job.source = packet[1].job.source = &read[0];
	packet[2].job.source = &read[1];
	claim(packetq_bytes_in_read(&q, &read[0]) == 2 * (100 + TAG) &&
	    packetq_bytes_in_read(&q, &read[1]) == 100 + TAG &&
	    packetq_bytes_in_read(&q, packet) == 0,
	    "bytes of a read are those of its packets");
	packetq_remove_first(&q);
	claim(packetq_bytes_in_read(&q, &read[0]) == 100 + TAG,
	    "a packet that is removed leaves its read");
}

static void
check_leaving(void)
{
	begin(3, LONG);
	claim(!packetq_may_defer_first(&q, 1, 0, 0),
	    "a packet that no thread has is not left");
	submit(0, 1);
	claim(packetq_may_defer_first(&q, 1, 0, 0), "a submitted one is");
	claim(packetq_may_defer_first(&q, 2, 15, 0) &&
	    !packetq_may_defer_first(&q, 2, 16, 0),
	    "not while the threads have enough to begin");
	claim(packetq_may_defer_first(&q, 1, 0, PACKETQ_READS - 1) &&
	    !packetq_may_defer_first(&q, 1, 0, PACKETQ_READS),
	    "nor when no further read can be held");
	q.bytes = PACKETQ_BYTES / 2;
	claim(!packetq_may_defer_first(&q, 1, 0, 0),
	    "nor when enough bytes are in progress");
	q.bytes = 3 * (LONG + TAG);
	finish(0, 1);
	claim(!packetq_may_defer_first(&q, 1, 0, 0), "nor when it is done");
	begin(0, 0);
	claim(!packetq_may_defer_first(&q, 1, 0, 0), "nor when there is none");
}

/* Threads finish packets in any order; they are written in queue order. */
static void
check_threads(void)
{
	struct iovec iov[PACKETS];
	unsigned int round, sent;
	int n, i;

	claim(pool_resize(THREADS) == THREADS, "there are threads");
	for (round = 0; round < 50; round++) {
		begin(PACKETS, LONG);
		submit(0, PACKETS);
		for (sent = 0; q.first != NULL;) {
			if ((n = packetq_collect(&q, iov, 16)) == 0) {
				packetq_finish(q.first);
				continue;
			}
			for (i = 0; i < n; i++) {
				claim(*(uint8_t *)iov[i].iov_base == sent++,
				    "threads do not change the order");
				packetq_add_written(&q, iov[i].iov_len);
			}
			while (packetq_first_is_written(&q))
				packetq_remove_first(&q);
		}
		claim(sent == PACKETS, "every packet is sent");
		for (i = 0; i < PACKETS; i++)
			claim(packet[i].times == 1, "each packet is done once");
	}
	pool_resize(0);
}

int
main(void)
{
	check_order();
	check_states();
	check_gather();
	check_written();
	check_backlog();
	check_ahead();
	check_reads();
	check_leaving();
	check_threads();
	puts("ok");
	return 0;
}
