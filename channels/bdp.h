/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bdp: what the path holds, seen from the receiving end.
 *
 * A receiver grants credit: a receive window, or a read request. It sees two
 * things: how fast bytes are consumed, and how old a credit is when the first
 * byte that only it allowed arrives. Rate times round-trip time is the
 * bandwidth-delay product: what must be under way to keep the path busy.
 *
 * The age of a credit is the in-band RTT. It needs no socket and covers the
 * whole path, jump hosts and local pipes included. But it is an upper bound:
 * a sender with credit to spare uses it late. Little's law says how late:
 * age = window / rate. Only while the window is what limits is the age the
 * RTT itself, and then it does not change when the window does. wtune.h
 * turns that into a decision; this module only measures.
 *
 * The transport may know an RTT as well (TCP_INFO). Behind a jump host it
 * covers the last leg alone, so it is a lower bound.
 *
 * Units: bytes, microseconds of a monotonic clock, bytes per second.
 * No I/O, no clock, no upstream header. Not thread safe.
 *
 * Sources: D. D. Clark, RFC 813 (window as credit); W. Feng et al., "Dynamic
 * Right-Sizing" (the receiver measures bytes per RTT); N. Cardwell et al.,
 * "BBR" (windowed maximum of the delivery rate, minimum of the RTT).
 */

#ifndef HAYATE_BDP_H
#define HAYATE_BDP_H

#include <stdint.h>

struct bdp;			/* private to bdp.c */

/* Returns NULL if out of memory. */
struct bdp *bdp_new(void);

/* Accepts NULL. */
void	 bdp_free(struct bdp *);

/*
 * The transport's smallest RTT of the last minutes, and the RTT it measures
 * now, queues included; 0: not known.
 */
void	 bdp_set_rtt(struct bdp *, uint64_t rtt_us, uint64_t now_rtt_us);

/*
 * The in-band RTT, once an age is known to be it; 0: not known (any more).
 * If it is larger than the transport's, the transport covers only a part of
 * the path.
 */
void	 bdp_set_inband_rtt(struct bdp *, uint64_t rtt_us);
uint64_t bdp_inband_rtt(const struct bdp *);

/*
 * Credit was sent at "now_us" that allows bytes from "edge" on, a position
 * in the stream (bytes since its start) that never falls.
 */
void	 bdp_granted(struct bdp *, uint64_t edge, uint64_t now_us);

/*
 * So many bytes of the stream have arrived and wait behind lost ones. A
 * lossy path holds them beside the product: see wtune.c.
 */
void	 bdp_note_out_of_order(struct bdp *, uint64_t bytes);

/* Forget what waited: the reader was slow, so it says nothing of the path. */
void	 bdp_forget_out_of_order(struct bdp *);

/* The stream has arrived up to "pos" at "now_us". Completes ages. */
void	 bdp_arrived(struct bdp *, uint64_t pos, uint64_t now_us);

/* Whether the rate is due for a new sample; about eight times per RTT. */
int	 bdp_sample_due(const struct bdp *, uint64_t now_us);

/* A sample: the application has consumed up to "pos" at "now_us". */
void	 bdp_consumed(struct bdp *, uint64_t pos, uint64_t now_us);

/* Begin a new round of ages; credits under way count for it. */
void	 bdp_next_round(struct bdp *);

/* Forget credits granted until now as well: the window has changed. */
void	 bdp_restart_ages(struct bdp *);

/* Forget the rates: the stream was idle. */
void	 bdp_restart_rate(struct bdp *, uint64_t pos, uint64_t now_us);

/* When the last stall of a loss was over, or 0. */
uint64_t bdp_stall_us(const struct bdp *);

uint64_t bdp_rtt(const struct bdp *);		/* larger of both, or 0 */
uint64_t bdp_rtt_now(const struct bdp *);	/* least of 5 to 10 seconds */
uint64_t bdp_age(const struct bdp *);		/* least of this round, or 0 */
uint64_t bdp_last_age(const struct bdp *);	/* of the round before, or 0 */
uint64_t bdp_rate(const struct bdp *);		/* over the last RTT, bounded */
uint64_t bdp_rate_max(const struct bdp *);	/* most of 5 to 10 seconds */
uint64_t bdp_out_of_order(const struct bdp *);	/* most of 5 to 10 seconds */

/* rate * rtt in bytes, without overflow for any rate below 2^44. */
uint64_t bdp_bytes(uint64_t rate, uint64_t rtt_us);

#endif /* HAYATE_BDP_H */
