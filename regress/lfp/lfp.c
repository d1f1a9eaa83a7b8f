/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lfp: a long fat path between two network namespaces.
 *
 * One process holds a TUN device in each namespace and carries packets from
 * one to the other, for the kernels that have no netem. Each direction is
 *
 *   TUN -> drop-tail queue (bytes) -> link (rate) -> loss -> delay -> TUN
 *
 * and has its own rate, delay, loss and queue, which the front end (the shell
 * script "lfp") may change while packets are in flight.
 *
 * Rate and queue count IP-layer bytes. A full packet of 1500 bytes with TCP
 * timestamps carries 1448 bytes of payload, so goodput is at most 96.5 % of the
 * rate. Loss comes after the link, so a lost packet has used the link. Packets
 * are never reordered: a shorter delay applies behind the packets on the wire.
 *
 * Segmentation offload saves CPU time: a packet of up to 64 KiB passes whole,
 * with its virtio_net_hdr. Each MTU segment in it counts with its headers, and
 * is queued or lost by itself. A packet is cut where a segment is dropped, and
 * the parts before and behind it become packets. The stacks at the ends compute
 * the checksums (CHECKSUM_PARTIAL).
 *
 * It has one thread and no locks. It serves its devices at most once in a SLOT,
 * as a network card with interrupt moderation does. So a packet may be two
 * SLOTs late, but the link's clock does not drift. It runs at real-time
 * priority (SCHED_FIFO 1). Programs at the ends must not, or they keep it off
 * the processor. The counter "late" shows a machine that is too busy.
 *
 * Round trips are counted by causality, so that a busy machine does not change
 * the number. A packet that end a sends has depth 1, or one more than the
 * deepest packet that a was given before; what b sends likewise, and 0 before b
 * was given anything. Acknowledgements count as well, because a sender with
 * Nagle's algorithm waits for them. "trips" is half of the depth of the deepest
 * packet with payload: for "back" the round trips until a had its last answer.
 *
 * Measured with iperf3 at nice -15, one stream, MTU 1500, on two cores shared
 * with two or three compilers (without them in brackets); payload, 4 s, 3 runs:
 *
 *   no rate, no delay	cubic 8.1 to 11.1 Gbit/s (12.6), BBR 6.2 to 8.1 (8.0)
 *   no rate, 50 ms	cubic 7.3 to 8.1 (12.2), BBR 6.1 to 7.5 (10.9)
 *   4 Gbit/s, 50 ms	cubic 3.86, BBR 3.81 to 3.85
 *   1 Gbit/s, 50 ms	0.96 both; the emulator uses 30 % of a core (20 %),
 *			the receiving stack's work for each packet included
 *   ping		0.10 to 0.15 ms with no delay, 100.36 ms at 100 ms
 *
 * Memory is used as the path fills: for each direction at most 1.5 times
 * (rate * delay + queue) and 16 MB, 384 MiB without a rate, never above 1 GiB.
 */

#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <net/if.h>
#include <netinet/in.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define IFNAME		"lfp0"
#define NSEC		1000000000ULL
/* Interval of service, ns: shorter costs CPU time, longer costs jitter. */
#define SLOT		(50 * 1000ULL)
/* A packet is cut into pieces that occupy the link no longer than this, ns. */
#define PIECE		(600 * 1000ULL)
/* Packets read or written before the other direction is served. */
#define BATCH		64
/* From this on a packet is late, ns: timers alone are more exact. */
#define LATE		(1000 * 1000ULL)
#define VNETLEN		12		/* keeps the IP header aligned */
#define MAXIP		65536		/* largest packet a TUN device passes */
#define HDRROOM		65536		/* headers of one packet's pieces */
#define RESERVE		(VNETLEN + MAXIP + HDRROOM)
/* Address space, not memory: pages are only used as the path fills. */
#define ARENA		(1ULL << 30)
/* Memory used without a rate: 0.2 s at 12 Gbit/s. */
#define UNLIMITED	(384ULL << 20)
#define NRECS		(1U << 20)
#define QUEUE_MIN	(256 * 1024)	/* the automatic queue is 1 BDP */
#define QUEUE_AUTO	UINT64_MAX

struct conf {
	uint64_t delay;			/* ns */
	uint64_t rate;			/* bit/s, 0 is unlimited */
	uint64_t queue;			/* bytes, or QUEUE_AUTO */
	double	 loss;			/* probability, 0 to 1 */
	double	 burst;			/* mean losses in a row; 0: random */
};

/*
 * A packet, or a piece of one, in the queue or on the wire. A lost one has no
 * data: it takes its time on the link and is then discarded.
 */
struct rec {
	struct rec	*next;
	const uint8_t	*hdr, *data;	/* in the arena, both may be NULL */
	size_t		 hdrlen, datalen;
	size_t		 end;		/* end of the arena that it frees */
	uint64_t	 due;		/* set when it leaves the queue */
	uint32_t	 wire;		/* IP bytes on the link */
	uint32_t	 depth, epoch;
	int		 has_payload;
};

struct fifo {
	struct rec	*first, *last;
};

/* Ring of packet bytes, freed in the order of allocation. */
struct arena {
	uint8_t		*base;
	size_t		 head, tail, cap;
};

struct stats {
	uint64_t packets, bytes;	/* arrived, in MTU segments */
	uint64_t qdrop, qdrop_bytes;	/* dropped: the queue was full */
	uint64_t lost, lost_bytes;	/* dropped: loss */
	uint64_t bursts;		/* runs of lost packets */
	uint64_t sent, sent_bytes;	/* delivered */
	uint64_t super, split;		/* packets of several segments, cut */
	uint64_t nomem, werr;		/* dropped: no memory, write failed */
	uint64_t qmax;			/* largest backlog, bytes */
	uint64_t late, late_max;	/* written over 1 ms late; worst, ns */
	uint32_t depth, answer;		/* deepest delivered; with payload */
};

struct dir {
	const char	*name;
	int		 in, out;	/* TUN devices */
	struct conf	 conf;
	uint64_t	 qlimit;	/* bytes, conf.queue resolved */
	uint64_t	 piece;		/* bytes, PIECE at this rate */
	uint64_t	 free_at;	/* the link is busy until then */
	uint64_t	 rem;		/* of the division in link_time() */
	uint64_t	 qbytes;	/* in the queue */
	uint64_t	 last_due;
	struct fifo	 queue, line;
	struct rec	*recs, *spare;
	u_int		 nrecs, live;
	struct arena	 arena;
	uint64_t	 rng;
	int		 losing;	/* the last packet was lost */
	const struct dir *other;	/* the way back */
	int		 starts;	/* a chain may begin with its packets */
	uint32_t	 epoch;		/* counters were cleared so often */
	struct stats	 st;
};

struct pkt {
	uint8_t		*buf;		/* virtio_net_hdr, then IP */
	size_t		 len;		/* of the IP packet */
	struct virtio_net_hdr vh;
	size_t		 l4, hlen;	/* TCP header, payload: IP offsets */
	size_t		 mss, paylen;
	u_int		 nseg;
	int		 has_payload;	/* TCP with data, or not TCP */
};

struct emu {
	struct dir	 dir[2];	/* a to b, b to a */
	uint64_t	 seed;
	int		 ctl;
	int		 quit;
};

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

/* Random numbers (splitmix64): the same seed gives the same losses. */
static double
uniform(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (double)(z >> 11) * 0x1p-53;
}

/* Arena and records. */

/* Finds "want" contiguous bytes, or NULL; arena_take() reserves them. */
static uint8_t *
arena_room(struct arena *a, size_t want)
{
	if (a->tail >= a->head) {
		if (a->tail + want > a->cap) {
			if (want >= a->head)
				return NULL;
			a->tail = 0;
		}
	} else if (a->tail + want >= a->head)
		return NULL;
	return a->base + a->tail;
}

static struct rec *
rec_new(struct dir *d, uint32_t wire)
{
	struct rec *r = d->spare;

	if (r != NULL)
		d->spare = r->next;
	else if (d->nrecs < NRECS)
		r = &d->recs[d->nrecs++];
	else
		return NULL;
	memset(r, 0, sizeof(*r));
	r->wire = wire;
	d->live++;
	return r;
}

static void
rec_free(struct dir *d, struct rec *r)
{
	d->arena.head = r->end;
	r->next = d->spare;
	d->spare = r;
	if (--d->live == 0)		/* to reuse cached memory */
		d->arena.head = d->arena.tail = 0;
}

static void
fifo_put(struct fifo *f, struct rec *r)
{
	r->next = NULL;
	if (f->first == NULL)
		f->first = r;
	else
		f->last->next = r;
	f->last = r;
}

static struct rec *
fifo_get(struct fifo *f)
{
	struct rec *r = f->first;

	f->first = r->next;
	return r;
}

/* The link. */

/* Time of "bytes" on the link, ns; *rem carries the fraction. */
static uint64_t
link_time(uint64_t rate, uint64_t bytes, uint64_t *rem)
{
	uint64_t t;

	if (rate == 0)
		return 0;
	t = bytes * 8 * NSEC + *rem;
	*rem = t % rate;
	return t / rate;
}

/* Move records that the link has sent by "now" to the wire. */
static void
dir_advance(struct dir *d, uint64_t now)
{
	struct rec *r;
	uint64_t fin, rem;

	while ((r = d->queue.first) != NULL) {
		rem = d->rem;
		fin = d->free_at + link_time(d->conf.rate, r->wire, &rem);
		if (fin > now)
			break;
		d->free_at = fin;
		d->rem = rem;
		d->qbytes -= r->wire;
		r = fifo_get(&d->queue);
		r->due = fin + d->conf.delay;
		if (r->due < d->last_due)
			r->due = d->last_due;
		d->last_due = r->due;
		fifo_put(&d->line, r);
	}
}

/* Bytes in the queue, less what the link has sent of the first record. */
static uint64_t
dir_backlog(const struct dir *d, uint64_t now)
{
	uint64_t sent;

	if (d->queue.first == NULL || now <= d->free_at)
		return d->qbytes;
	sent = (now - d->free_at) * (d->conf.rate / 8) / NSEC;
	return d->qbytes > sent ? d->qbytes - sent : 0;
}

/* When the next packet is to be written, or UINT64_MAX. */
static uint64_t
dir_next(const struct dir *d)
{
	uint64_t fin, rem = d->rem;

	if (d->line.first != NULL)
		return d->line.first->due;
	if (d->queue.first == NULL)
		return UINT64_MAX;
	fin = d->free_at + link_time(d->conf.rate, d->queue.first->wire, &rem) +
	    d->conf.delay;
	return fin < d->last_due ? d->last_due : fin;
}

static void
dir_enqueue(struct dir *d, struct rec *r, uint64_t now)
{
	if (d->queue.first == NULL && d->free_at < now) {
		d->free_at = now;
		d->rem = 0;
	}
	fifo_put(&d->queue, r);
}

/*
 * Independent loss, or the simple Gilbert model: all packets are lost in the
 * bad state and none in the good one. The bad state lasts "burst" packets on
 * average, and its share of all packets is "loss".
 */
static int
dir_loses(struct dir *d)
{
	const struct conf *c = &d->conf;
	double p = c->loss;
	int was = d->losing;

	if (c->loss <= 0) {
		d->losing = 0;
		return 0;
	}
	if (c->burst > 0 && c->loss < 1)
		p = was ? 1 - 1 / c->burst :
		    c->loss / (1 - c->loss) / c->burst;
	d->losing = uniform(&d->rng) < p;
	if (d->losing && !was)
		d->st.bursts++;
	return d->losing;
}

/* Packets. */

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static uint32_t
sum16(uint32_t sum, const uint8_t *p, size_t len)
{
	for (; len >= 2; p += 2, len -= 2)
		sum += get16(p);
	return sum;
}

static uint32_t
fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Whether a packet says more than that another has arrived. */
static int
pkt_has_payload(const uint8_t *ip, size_t len)
{
	size_t ihl = ip[0] >> 4 == 6 ? 40 : (size_t)(ip[0] & 15) * 4;
	int proto = ip[0] >> 4 == 6 ? ip[6] : ip[9];

	return proto != IPPROTO_TCP || len < ihl + 20 ||
	    len > ihl + (size_t)(ip[ihl + 12] >> 4) * 4;
}

/* The depth of a packet that is sent now. */
static uint32_t
dir_depth(const struct dir *d)
{
	uint32_t before = d->other->st.depth;

	return before == 0 ? (uint32_t)d->starts : before + 1;
}

/* A packet has reached the other end. */
static void
dir_deepen(struct dir *d, const struct rec *r)
{
	if (r->epoch != d->epoch)
		return;
	if (r->depth > d->st.depth)
		d->st.depth = r->depth;
	if (r->has_payload && r->depth > d->st.answer)
		d->st.answer = r->depth;
}

/* Reads the offload header. A packet that cannot be cut is one segment. */
static void
pkt_parse(struct pkt *p, uint8_t *buf, size_t len)
{
	const uint8_t *ip = buf + VNETLEN;
	int type;

	memset(p, 0, sizeof(*p));
	p->buf = buf;
	p->len = len - VNETLEN;
	p->nseg = 1;
	p->has_payload = pkt_has_payload(ip, p->len);
	memcpy(&p->vh, buf, sizeof(p->vh));
	type = p->vh.gso_type & ~VIRTIO_NET_HDR_GSO_ECN;
	if (type != VIRTIO_NET_HDR_GSO_TCPV4 &&
	    type != VIRTIO_NET_HDR_GSO_TCPV6)
		return;
	p->l4 = p->vh.csum_start;
	if (!(p->vh.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	    p->vh.csum_offset != 16 || p->vh.gso_size == 0 ||
	    p->l4 < (ip[0] >> 4 == 6 ? 40 : 20) || p->l4 + 20 > p->len)
		return;
	p->hlen = p->l4 + (size_t)(ip[p->l4 + 12] >> 4) * 4;
	if (p->hlen < p->l4 + 20 || p->hlen >= p->len)
		return;
	p->mss = p->vh.gso_size;
	p->paylen = p->len - p->hlen;
	p->nseg = (u_int)((p->paylen + p->mss - 1) / p->mss);
}

/* IP bytes of segment "i". */
static uint32_t
pkt_wire(const struct pkt *p, u_int i)
{
	size_t off = i * p->mss;

	if (p->nseg == 1)
		return (uint32_t)p->len;
	return (uint32_t)(p->hlen +
	    (p->paylen - off < p->mss ? p->paylen - off : p->mss));
}

/* Set IP length and header checksum of a piece with "paylen" bytes. */
static void
piece_ip(const struct pkt *p, uint8_t *ip, u_int first, size_t paylen)
{
	size_t ihl;

	if (ip[0] >> 4 == 6) {
		put16(ip + 4, (uint32_t)(p->hlen - 40 + paylen));
		return;
	}
	ihl = (size_t)(ip[0] & 15) * 4;
	if (ihl > p->l4)
		ihl = p->l4;
	put16(ip + 2, (uint32_t)(p->hlen + paylen));
	put16(ip + 4, get16(ip + 4) + first);
	put16(ip + 10, 0);
	put16(ip + 10, ~fold(sum16(0, ip, ihl)));
}

/* Set a piece's TCP header; its checksum covers only the pseudo header. */
static void
piece_tcp(const struct pkt *p, uint8_t *ip, u_int first, u_int n,
    size_t paylen)
{
	uint8_t *th = ip + p->l4;
	uint32_t sum = 6 + (uint32_t)(p->hlen - p->l4 + paylen);

	put32(th + 4, get32(th + 4) + (uint32_t)(first * p->mss));
	if (first + n < p->nseg)
		th[13] &= ~0x09;	/* FIN, PSH: the last piece only */
	if (first > 0)
		th[13] &= ~0x80;	/* CWR: the first piece only */
	if (ip[0] >> 4 == 6)
		sum = sum16(sum, ip + 8, 32);
	else
		sum = sum16(sum, ip + 12, 8);
	put16(th + 16, fold(sum));
}

/* Write the headers of segments first..first+n-1 to "out". */
static size_t
piece_header(const struct pkt *p, u_int first, u_int n, size_t paylen,
    uint8_t *out)
{
	struct virtio_net_hdr vh = p->vh;

	memcpy(out, p->buf, VNETLEN + p->hlen);
	vh.hdr_len = (uint16_t)p->hlen;
	if (n == 1) {
		vh.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		vh.gso_size = 0;
	} else if (first > 0)
		vh.gso_type &= ~VIRTIO_NET_HDR_GSO_ECN;
	memcpy(out, &vh, sizeof(vh));
	piece_ip(p, out + VNETLEN, first, paylen);
	piece_tcp(p, out + VNETLEN, first, n, paylen);
	return VNETLEN + p->hlen;
}

/*
 * Queue segments first..first+n-1 of the packet at the arena's tail. "used" is
 * how much of the reserved room is taken. A piece refers to the packet's
 * payload, and its own header stands behind the packet.
 */
static void
dir_piece(struct dir *d, const struct pkt *p, u_int first, u_int n,
    uint32_t wire, size_t *used, uint64_t now)
{
	size_t off = first * p->mss, end = (first + n) * p->mss;
	struct rec *r = NULL;

	if (*used + VNETLEN + p->hlen <= RESERVE)
		r = rec_new(d, wire);
	if (r == NULL) {
		d->qbytes -= wire;
		d->st.nomem += n;
		return;
	}
	r->end = d->arena.tail;
	r->depth = dir_depth(d);
	r->epoch = d->epoch;
	r->has_payload = p->has_payload;
	r->hdr = p->buf;
	r->hdrlen = VNETLEN + p->len;
	if (n < p->nseg) {
		if (end > p->paylen)
			end = p->paylen;
		r->hdr = p->buf + *used;
		r->hdrlen = piece_header(p, first, n, end - off,
		    p->buf + *used);
		r->data = p->buf + VNETLEN + p->hlen + off;
		r->datalen = end - off;
		*used += r->hdrlen;
	}
	dir_enqueue(d, r, now);
}

/* Queue a lost segment, which takes only time on the link. */
static void
dir_ghost(struct dir *d, uint32_t wire, uint64_t now)
{
	struct rec *r;

	d->st.lost++;
	d->st.lost_bytes += wire;
	if ((r = rec_new(d, wire)) == NULL) {
		d->qbytes -= wire;
		return;
	}
	r->end = d->arena.tail;
	dir_enqueue(d, r, now);
}

/* Adds "wire" bytes to *backlog and qbytes if the queue has room for them. */
static int
dir_admit(struct dir *d, uint32_t wire, uint64_t *backlog)
{
	d->st.packets++;
	d->st.bytes += wire;
	if (d->conf.rate != 0 && *backlog + wire > d->qlimit) {
		d->st.qdrop++;
		d->st.qdrop_bytes += wire;
		return 0;
	}
	*backlog += wire;
	d->qbytes += wire;
	if (*backlog > d->st.qmax)
		d->st.qmax = *backlog;
	return 1;
}

/* Drop, lose or keep each segment; adjacent kept ones form a piece. */
static void
dir_packet(struct dir *d, struct pkt *p, uint64_t now)
{
	struct rec *before = d->queue.first == NULL ? NULL : d->queue.last;
	uint64_t backlog = dir_backlog(d, now);
	uint32_t wire, run_wire = 0;
	size_t used = VNETLEN + p->len;
	u_int i, run = 0, whole = 0;

	for (i = 0; i < p->nseg; i++) {
		int in, lost;

		wire = pkt_wire(p, i);
		in = dir_admit(d, wire, &backlog);
		lost = in && dir_loses(d);
		if (in && !lost) {
			run++;
			run_wire += wire;
		}
		if (run > 0 && (!in || lost || run_wire >= d->piece ||
		    i + 1 == p->nseg)) {
			u_int next = i + (in && !lost);

			whole = run == p->nseg;
			dir_piece(d, p, next - run, run, run_wire, &used, now);
			run = run_wire = 0;
		}
		if (lost)
			dir_ghost(d, wire, now);
	}
	d->st.super += p->nseg > 1;
	d->st.split += p->nseg > 1 && !whole;
	/* The packet's last record frees its memory. */
	if (d->queue.first != NULL && d->queue.last != before) {
		d->arena.tail += used;
		d->queue.last->end = d->arena.tail;
	}
}

/* Reads the packets that have arrived. Returns their number. */
static int
dir_input(struct dir *d, uint64_t now)
{
	static uint8_t scratch[VNETLEN + MAXIP];
	struct pkt p;
	uint8_t *buf;
	ssize_t n;
	int i;

	for (i = 0; i < BATCH; i++) {
		dir_advance(d, now);
		buf = arena_room(&d->arena, RESERVE);
		n = read(d->in, buf != NULL ? buf : scratch, VNETLEN + MAXIP);
		if (n <= VNETLEN)
			break;
		pkt_parse(&p, buf != NULL ? buf : scratch, (size_t)n);
		if (buf == NULL)
			d->st.nomem += p.nseg;
		else
			dir_packet(d, &p, now);
	}
	return i;
}

static void
dir_write(struct dir *d, const struct rec *r)
{
	struct iovec iov[2];
	ssize_t n;

	iov[0].iov_base = (void *)(uintptr_t)r->hdr;
	iov[0].iov_len = r->hdrlen;
	iov[1].iov_base = (void *)(uintptr_t)r->data;
	iov[1].iov_len = r->datalen;
	n = writev(d->out, iov, r->data == NULL ? 1 : 2);
	if (n < 0) {
		d->st.werr++;
		return;
	}
	d->st.sent++;
	d->st.sent_bytes += r->wire;
	dir_deepen(d, r);
}

/* Write what is due. Returns the number of records. */
static int
dir_output(struct dir *d, uint64_t now)
{
	struct rec *r;
	int i;

	dir_advance(d, now);
	for (i = 0; i < BATCH; i++) {
		if ((r = d->line.first) == NULL || r->due > now)
			break;
		r = fifo_get(&d->line);
		if (now - r->due > LATE)
			d->st.late++;
		if (now - r->due > d->st.late_max)
			d->st.late_max = now - r->due;
		if (r->hdr != NULL)
			dir_write(d, r);
		rec_free(d, r);
	}
	return i;
}

/* Parameters. */

/* Parses "12.5ms" by a table of suffixes. Returns 0 and the value, or -1. */
struct unit {
	const char	*name;
	double		 factor;
};

static int
parse_unit(const char *s, const struct unit *u, double *out)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || !(v >= 0) || v > 1e15)
		return -1;
	for (; u->name != NULL; u++) {
		if (strcasecmp(end, u->name) == 0 &&
		    (u->factor != 0 || v == 0)) {
			*out = v * u->factor;
			return 0;
		}
	}
	return -1;
}

/* A suffix with the factor 0 is valid only after the value 0. */
static const struct unit units_time[] = {
	{ "", 0 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	{ NULL, 0 }
};
static const struct unit units_rate[] = {
	{ "", 0 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
	{ "gbit", 1e9 }, { NULL, 0 }
};
static const struct unit units_loss[] = {
	{ "", 0 }, { "%", 1e-2 }, { NULL, 0 }
};
static const struct unit units_bytes[] = {
	{ "", 1 }, { "k", 1024 }, { "KiB", 1024 }, { "kB", 1e3 },
	{ "m", 1 << 20 }, { "MiB", 1 << 20 }, { "MB", 1e6 }, { NULL, 0 }
};
static const struct unit units_none[] = { { "", 1 }, { NULL, 0 } };

/* Set one value of one direction. Returns 0, or -1 if "val" is bad. */
static int
conf_set(struct conf *c, const char *key, const char *val)
{
	double v = 0;

	if (strcmp(key, "delay") == 0) {
		if (parse_unit(val, units_time, &v) != 0 || v > 60e9)
			return -1;
		c->delay = (uint64_t)v;
	} else if (strcmp(key, "rate") == 0) {
		if (parse_unit(val, units_rate, &v) != 0 || v > 100e9 ||
		    (v > 0 && v < 8000))
			return -1;
		c->rate = (uint64_t)v;
	} else if (strcmp(key, "loss") == 0) {
		if (parse_unit(val, units_loss, &v) != 0 || v > 1)
			return -1;
		c->loss = v;
	} else if (strcmp(key, "burst") == 0) {
		if (parse_unit(val, units_none, &v) != 0 || (v > 0 && v < 1))
			return -1;
		c->burst = v;
	} else if (strcmp(key, "queue") == 0) {
		if (strcmp(val, "auto") == 0)
			c->queue = QUEUE_AUTO;
		else if (parse_unit(val, units_bytes, &v) != 0 || v > ARENA)
			return -1;
		else
			c->queue = (uint64_t)v;
	} else
		return -1;
	return 0;
}

/* --rtt: half the time each way. */
static int
conf_set_rtt(struct conf c[2], const char *val)
{
	double v;

	if (parse_unit(val, units_time, &v) != 0 || v > 60e9)
		return -1;
	c[0].delay = (uint64_t)v / 2;
	c[1].delay = (uint64_t)v - c[0].delay;
	return 0;
}

/* One "--key value": of a single direction if "one", else of both. */
static int
conf_option(struct conf c[2], const char *opt, const char *val, int one)
{
	static const char *const suffix[2] = { "-fwd", "-back" };
	char key[32];
	size_t len;
	int i;

	if (strncmp(opt, "--", 2) != 0 || strlen(opt) - 2 >= sizeof(key))
		return -1;
	snprintf(key, sizeof(key), "%s", opt + 2);
	len = strlen(key);
	for (i = 0; i < 2; i++) {
		size_t n = strlen(suffix[i]);

		if (len > n && strcmp(key + len - n, suffix[i]) == 0) {
			key[len - n] = '\0';
			return one ? conf_set(&c[i], key, val) : 0;
		}
	}
	if (one)
		return 0;
	if (strcmp(key, "rtt") == 0)
		return conf_set_rtt(c, val);
	return conf_set(&c[0], key, val) == 0 &&
	    conf_set(&c[1], key, val) == 0 ?
	    0 : -1;
}

/*
 * Applies "--key value ...", first the options of both directions in whatever
 * order they stand. Returns NULL, or the wrong option.
 */
static const char *
conf_parse(struct conf c[2], uint64_t *seed, int argc, char **argv)
{
	int i, one;

	for (one = 0; one < 2; one++) {
		for (i = 0; i < argc; i += 2) {
			if (i + 1 == argc)
				return argv[i];
			if (strcmp(argv[i], "--seed") == 0)
				*seed = strtoull(argv[i + 1], NULL, 0);
			else if (conf_option(c, argv[i], argv[i + 1], one) != 0)
				return argv[i];
		}
	}
	return NULL;
}

/* Keeps what the link has sent of the first packet when the rate changes. */
static void
dir_set_rate(struct dir *d, uint64_t rate, uint64_t now)
{
	uint64_t sent, rem = 0;

	dir_advance(d, now);
	if (d->queue.first != NULL && now > d->free_at) {
		sent = (now - d->free_at) * (d->conf.rate / 8) / NSEC;
		d->free_at = now - link_time(rate, sent, &rem);
	}
	d->rem = 0;
	d->conf.rate = rate;
}

/* Each direction has its own sequence of losses. */
static void
emu_seed(struct emu *e, uint64_t seed)
{
	int i;

	e->seed = seed;
	for (i = 0; i < 2; i++) {
		e->dir[i].rng = seed * 2 + (uint64_t)i;
		(void)uniform(&e->dir[i].rng);
		e->dir[i].losing = 0;
	}
}

/* The queue's size in bytes. */
static uint64_t
conf_queue(const struct conf *c, uint64_t rtt)
{
	double bdp = (double)c->rate / 8 * (double)rtt / 1e9;

	if (c->queue != QUEUE_AUTO)
		return c->queue;
	return bdp > QUEUE_MIN ? (uint64_t)bdp : QUEUE_MIN;
}

/* New parameters apply from "now" on. */
static void
dir_apply(struct dir *d, const struct conf *c, uint64_t rtt, uint64_t now)
{
	double cap;

	dir_set_rate(d, c->rate, now);
	d->conf = *c;
	d->qlimit = conf_queue(c, rtt);
	d->piece = c->rate == 0 ? UINT64_MAX : c->rate / 8 * PIECE / NSEC;
	/*
	 * A small ring stays in the cache. It holds what is queued and on the
	 * wire, half as much again for the offload headers of small packets,
	 * and a reserve for when the emulator is late.
	 */
	cap = 1.5 * ((double)d->qlimit + (double)c->rate / 8 *
	    (double)c->delay / 1e9) + 16e6;
	if (c->rate == 0)
		cap = (double)UNLIMITED;
	if (cap > (double)ARENA)
		cap = (double)ARENA;
	if (cap > (double)d->arena.cap)	/* it may still hold old packets */
		d->arena.cap = (size_t)cap;
}

static void
emu_apply(struct emu *e, const struct conf c[2])
{
	uint64_t now = now_ns(), rtt = c[0].delay + c[1].delay;
	int i;

	for (i = 0; i < 2; i++)
		dir_apply(&e->dir[i], &c[i], rtt, now);
}

/* Control: a request and its answer are one datagram of text each. */

static int
stat_dir(struct dir *d, char *buf, size_t len)
{
	const struct conf *c = &d->conf;
	const struct stats *s = &d->st;
	uint64_t now = now_ns();

	dir_advance(d, now);
#define U(x) (unsigned long long)(x)
	return snprintf(buf, len, "%s packets=%llu bytes=%llu qdrop=%llu "
	    "qdrop_bytes=%llu lost=%llu lost_bytes=%llu bursts=%llu "
	    "sent=%llu sent_bytes=%llu super=%llu split=%llu nomem=%llu "
	    "werr=%llu backlog=%llu qmax=%llu late=%llu late_us=%llu "
	    "trips=%u rate=%llu delay_us=%llu loss=%g burst=%g queue=%llu "
	    "clock_us=%llu\n", d->name,
	    U(s->packets), U(s->bytes), U(s->qdrop), U(s->qdrop_bytes),
	    U(s->lost), U(s->lost_bytes), U(s->bursts), U(s->sent),
	    U(s->sent_bytes), U(s->super), U(s->split), U(s->nomem),
	    U(s->werr), U(dir_backlog(d, now)), U(s->qmax), U(s->late),
	    U(s->late_max / 1000), s->answer / 2, U(c->rate),
	    U(c->delay / 1000), c->loss,
	    c->burst, U(d->qlimit), U(now / 1000));
#undef U
}

static void
ctl_set(struct emu *e, char *args, char *out, size_t outlen)
{
	struct conf c[2] = { e->dir[0].conf, e->dir[1].conf };
	char *argv[64], *p;
	const char *bad;
	uint64_t seed = UINT64_MAX;	/* not given */
	int argc = 0;

	while (argc < 64 && (p = strsep(&args, " ")) != NULL)
		if (*p != '\0')
			argv[argc++] = p;
	if ((bad = conf_parse(c, &seed, argc, argv)) != NULL) {
		snprintf(out, outlen, "error: bad option or value: %s\n", bad);
		return;
	}
	if (seed != UINT64_MAX)
		emu_seed(e, seed);
	emu_apply(e, c);
	snprintf(out, outlen, "ok\n");
}

static void
ctl_request(struct emu *e, char *req, char *out, size_t outlen)
{
	int i, n = 0;

	if (strncmp(req, "set ", 4) == 0)
		ctl_set(e, req + 4, out, outlen);
	else if (strcmp(req, "stat") == 0) {
		for (i = 0; i < 2; i++)
			n += stat_dir(&e->dir[i], out + n, outlen - (size_t)n);
		snprintf(out + n, outlen - (size_t)n, "seed %llu\n",
		    (unsigned long long)e->seed);
	} else if (strcmp(req, "clear") == 0) {
		for (i = 0; i < 2; i++) {
			memset(&e->dir[i].st, 0, sizeof(e->dir[i].st));
			e->dir[i].epoch++;
		}
		snprintf(out, outlen, "ok\n");
	} else if (strcmp(req, "pid") == 0)
		snprintf(out, outlen, "%ld\n", (long)getpid());
	else if (strcmp(req, "quit") == 0) {
		e->quit = 1;
		snprintf(out, outlen, "ok\n");
	} else
		snprintf(out, outlen, "error: unknown request\n");
}

static void
ctl_input(struct emu *e)
{
	char req[1024], out[4096];
	struct sockaddr_un from;
	socklen_t fromlen = sizeof(from);
	ssize_t n;

	n = recvfrom(e->ctl, req, sizeof(req) - 1, MSG_DONTWAIT,
	    (struct sockaddr *)&from, &fromlen);
	if (n < 0)
		return;
	req[n] = '\0';
	ctl_request(e, req, out, sizeof(out));
	(void)sendto(e->ctl, out, strlen(out), MSG_DONTWAIT,
	    (struct sockaddr *)&from, fromlen);
}

static void
sun_set(struct sockaddr_un *sun, const char *fmt, ...)
{
	va_list ap;
	int n;

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	va_start(ap, fmt);
	n = vsnprintf(sun->sun_path, sizeof(sun->sun_path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(sun->sun_path))
		errx(1, "state directory name too long");
}

/* Send one request to the emulator at "dir" and return its answer in "out". */
static void
ctl_ask(int fd, const char *dir, const char *req, char *out, size_t outlen)
{
	struct sockaddr_un sun;
	struct pollfd pfd = { fd, POLLIN, 0 };
	ssize_t n;

	sun_set(&sun, "%s/sock", dir);
	if (sendto(fd, req, strlen(req), 0, (struct sockaddr *)&sun,
	    sizeof(sun)) < 0)
		err(1, "%s", sun.sun_path);
	if (poll(&pfd, 1, 5000) != 1 ||
	    (n = recv(fd, out, outlen - 1, 0)) < 0)
		errx(1, "%s: no answer", sun.sun_path);
	out[n] = '\0';
}

/* "quit" returns when the emulator and its devices are gone. */
static void
ctl_quit(int fd, const char *dir, char *out, size_t outlen)
{
	struct pollfd pfd = { -1, POLLIN, 0 };

	ctl_ask(fd, dir, "pid", out, outlen);
	pfd.fd = (int)syscall(SYS_pidfd_open, (pid_t)atol(out), 0);
	ctl_ask(fd, dir, "quit", out, outlen);
	if (pfd.fd != -1 && poll(&pfd, 1, 5000) != 1)
		errx(1, "emulator did not end");
}

static int
ctl_main(const char *dir, int argc, char **argv)
{
	char req[1024] = "", out[4096];
	struct sockaddr_un sun;
	size_t len = 0;
	int i, fd;

	for (i = 0; i < argc; i++) {
		if (len + strlen(argv[i]) + 2 > sizeof(req))
			errx(1, "request too long");
		len += (size_t)snprintf(req + len, sizeof(req) - len, "%s%s",
		    i ? " " : "", argv[i]);
	}
	if ((fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1)
		err(1, "socket");
	/* A socket in the file system is reachable from each namespace. */
	sun_set(&sun, "%s/ctl.%ld", dir, (long)getpid());
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) != 0)
		err(1, "%s", sun.sun_path);
	if (strcmp(req, "quit") == 0)
		ctl_quit(fd, dir, out, sizeof(out));
	else
		ctl_ask(fd, dir, req, out, sizeof(out));
	unlink(sun.sun_path);
	if (strncmp(out, "error", 5) == 0)
		errx(1, "%.*s", (int)strcspn(out, "\n"), out);
	if (strcmp(out, "ok\n") != 0)
		fputs(out, stdout);
	return 0;
}

/* The process. */

/* Open a TUN device in the namespace called "ns". */
static int
tun_open(const char *ns)
{
	char path[128];
	struct ifreq ifr;
	int nsfd, fd, sz = VNETLEN;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	if ((nsfd = open(path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    setns(nsfd, CLONE_NEWNET) != 0)
		err(1, "%s", path);
	close(nsfd);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		err(1, "/dev/net/tun");
	memset(&ifr, 0, sizeof(ifr));
	memcpy(ifr.ifr_name, IFNAME, sizeof(IFNAME));
	ifr.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
	if (ioctl(fd, TUNSETIFF, &ifr) != 0 ||
	    ioctl(fd, TUNSETVNETHDRSZ, &sz) != 0 ||
	    ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 |
	    TUN_F_TSO_ECN) != 0)
		err(1, "%s: TUN", ns);
	return fd;
}

static void *
reserve(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

static void
emu_init(struct emu *e, char **ns)
{
	static const char *const name[2] = { "fwd", "back" };
	int home, i;

	if ((home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "/proc/self/ns/net");
	for (i = 0; i < 2; i++)
		e->dir[i].in = e->dir[!i].out = tun_open(ns[i]);
	if (setns(home, CLONE_NEWNET) != 0)
		err(1, "setns");
	close(home);
	for (i = 0; i < 2; i++) {
		struct dir *d = &e->dir[i];

		d->name = name[i];
		d->other = &e->dir[!i];
		d->starts = i == 0;
		d->recs = reserve(NRECS * sizeof(*d->recs));
		d->arena.base = reserve(ARENA);
	}
}

static void
emu_socket(struct emu *e, const char *dir)
{
	struct sockaddr_un sun;

	sun_set(&sun, "%s/sock", dir);
	e->ctl = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (e->ctl == -1 ||
	    bind(e->ctl, (struct sockaddr *)&sun, sizeof(sun)) != 0)
		err(1, "%s", sun.sun_path);
}

/*
 * Carries packets until "quit". After a packet was read, the devices are left
 * alone for a SLOT, so that small packets are read in batches.
 */
static void
emu_loop(struct emu *e)
{
	struct pollfd pfd[3] = {
		{ e->ctl, POLLIN, 0 },
		{ e->dir[0].in, POLLIN, 0 },
		{ e->dir[1].in, POLLIN, 0 }
	};
	uint64_t now, after, next;
	struct timespec ts, *tsp;
	int i, nread;

	while (!e->quit) {
		now = now_ns();
		next = UINT64_MAX;
		for (nread = i = 0; i < 2; i++) {
			nread += dir_input(&e->dir[i], now);
			dir_output(&e->dir[i], now);
		}
		for (i = 0; i < 2; i++)
			if (dir_next(&e->dir[i]) < next)
				next = dir_next(&e->dir[i]);
		if (nread > 0 || next < now + SLOT)
			next = now + SLOT;
		after = now_ns();
		after = next > after ? next - after : 0;
		ts.tv_sec = (time_t)(after / NSEC);
		ts.tv_nsec = (long)(after % NSEC);
		tsp = next == UINT64_MAX ? NULL : &ts;
		if (ppoll(pfd, nread > 0 ? 1 : 3, tsp, NULL) > 0 &&
		    (pfd[0].revents & POLLIN))
			ctl_input(e);
	}
}

/* The parent returns when the child has opened its devices and its socket. */
static void
daemonise(const char *dir, int *ready)
{
	int fds[2];
	char path[256], ok;
	pid_t pid;

	/* A test runner waits until its descriptors are closed. */
	(void)syscall(SYS_close_range, 3, ~0U, 0);
	if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) == -1)
		err(1, "fork");
	if (pid != 0) {
		close(fds[1]);
		_exit(read(fds[0], &ok, 1) == 1 ? 0 : 1);
	}
	close(fds[0]);
	*ready = fds[1];
	(void)setsid();
	if (chdir("/") != 0)
		err(1, "chdir");
	snprintf(path, sizeof(path), "%s/pid", dir);
	FILE *f = fopen(path, "w");
	if (f == NULL)
		err(1, "%s", path);
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
}

/* From here on errors and a sanitizer's reports go to the log. */
static void
detach(const char *dir, int ready)
{
	char path[256];
	int null, log;

	snprintf(path, sizeof(path), "%s/log", dir);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (null == -1 || log == -1)
		err(1, "%s", path);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	close(null);
	close(log);
	if (write(ready, "", 1) != 1)
		err(1, "pipe");
	close(ready);
}

/*
 * A real link does not wait for a time slice, so the emulator has real-time
 * priority. It is one thread, so it occupies one processor at most.
 */
static void
be_punctual(void)
{
	struct sched_param sp = { .sched_priority = 1 };

	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	if (sched_setscheduler(0, SCHED_FIFO, &sp) != 0)
		(void)setpriority(PRIO_PROCESS, 0, -20);
}

static int
run_main(const char *dir, char **ns, int argc, char **argv)
{
	static struct emu e;
	struct conf c[2] = {
		{ .queue = QUEUE_AUTO }, { .queue = QUEUE_AUTO }
	};
	const char *bad;
	uint64_t seed;
	int ready;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		err(1, "getrandom");
	seed &= INT64_MAX;
	if ((bad = conf_parse(c, &seed, argc, argv)) != NULL)
		errx(1, "bad option or value: %s", bad);
	daemonise(dir, &ready);
	emu_init(&e, ns);
	emu_seed(&e, seed);
	emu_apply(&e, c);
	emu_socket(&e, dir);
	be_punctual();
	detach(dir, ready);
	emu_loop(&e);
	return 0;
}

/* Prints a direction as options of tc-netem(8). */
static void
tc_print(const struct conf *c, uint64_t rtt)
{
	double limit = 1e6;

	printf("delay %.3fus", (double)c->delay / 1e3);
	if (c->rate != 0) {
		printf(" rate %llubit", (unsigned long long)c->rate);
		/* netem's limit counts packets in the queue and on the wire. */
		limit = 1 + ((double)conf_queue(c, rtt) + (double)c->rate / 8 *
		    (double)c->delay / 1e9) / 1500;
	}
	printf(" limit %.0f", limit);
	if (c->loss > 0 && c->loss < 1 && c->burst > 0)
		printf(" loss gemodel %.7f%% %.7f%%",
		    100 * c->loss / (1 - c->loss) / c->burst, 100 / c->burst);
	else if (c->loss > 0)
		printf(" loss random %.7f%%", 100 * c->loss);
	printf("\n");
}

/* Reads sets of options, each after a "--", in the order they were given. */
static int
tc_main(int argc, char **argv)
{
	struct conf c[2] = {
		{ .queue = QUEUE_AUTO }, { .queue = QUEUE_AUTO }
	};
	const char *bad;
	uint64_t seed;
	int i, n;

	for (i = 0; i < argc; i += n + 1) {
		for (n = 0; i + n < argc && strcmp(argv[i + n], "--") != 0;)
			n++;
		if ((bad = conf_parse(c, &seed, n, argv + i)) != NULL)
			errx(1, "bad option or value: %s", bad);
	}
	for (i = 0; i < 2; i++)
		tc_print(&c[i], c[0].delay + c[1].delay);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc >= 5 && strcmp(argv[1], "run") == 0)
		return run_main(argv[2], argv + 3, argc - 5, argv + 5);
	if (argc >= 4 && strcmp(argv[1], "ctl") == 0)
		return ctl_main(argv[2], argc - 3, argv + 3);
	if (argc >= 2 && strcmp(argv[1], "tc") == 0)
		return tc_main(argc - 2, argv + 2);
	fprintf(stderr, "usage: lfp-emu run STATEDIR NETNS-A NETNS-B "
	    "[--key value ...]\n       lfp-emu ctl STATEDIR REQUEST\n"
	    "       lfp-emu tc [-- --key value ...] ...\n");
	return 2;
}
