/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bdp: what the path holds, seen from the receiving end.
 *
 * A receiver grants credit: a receive window, or a read request. This module
 * measures how fast the receiver consumes bytes, and the age of each credit:
 * the time until the first byte arrives for which earlier credit was not
 * enough. Rate times round-trip time is the bandwidth-delay product: what must
 * be in flight to keep the path busy.
 *
 * The age of a credit is the in-band RTT. It needs no socket and covers the
 * whole path, jump hosts and local pipes included. But the age is an upper
 * bound: a sender that has credit to spare uses new credit late, when it is
 * window / rate old (Little's law). Only while the window limits the sender is
 * the age equal to the RTT, and a larger window leaves it the same. wtune.h
 * turns that into a decision; this module only measures.
 *
 * The transport may know an RTT as well (TCP_INFO). Behind a jump host it
 * covers the last leg alone, so it is a lower bound.
 *
 * Units: bytes, microseconds of a monotonic clock, bytes per second. No I/O, no
 * clock, no upstream header. Not thread safe.
 *
 * Sources: D. D. Clark, RFC 813 (window as credit); W. Feng et al., "Dynamic
 * Right-Sizing" (the receiver measures bytes per RTT); N. Cardwell et al.,
 * "BBR" (windowed maximum of the delivery rate, minimum of the RTT).
 */

#ifndef HAYATE_BDP_H
#define HAYATE_BDP_H

#include <stdint.h>

struct bdp;			/* private to bdp.c */

/*
 * Returns a state without samples; NULL if out of memory. Free it with
 * bdp_free().
 */
struct bdp *bdp_new(void);

/* Accepts NULL. */
void	 bdp_free(struct bdp *);

/*
 * Sets the transport's smallest RTT of the last minutes, and its smoothed RTT,
 * queues included; 0: not known. The smallest takes effect at once, the
 * smoothed one with the next bdp_consumed().
 */
void	 bdp_set_rtt(struct bdp *, uint64_t rtt_us, uint64_t now_rtt_us);

/*
 * Sets the in-band RTT, once the caller knows that the age of a credit is the
 * RTT; 0: not known, or no longer. An in-band RTT above the transport's means
 * that the transport covers only a part of the path. bdp_inband_rtt() returns
 * the value that was set, at first 0.
 */
void	 bdp_set_inband_rtt(struct bdp *, uint64_t rtt_us);
uint64_t bdp_inband_rtt(const struct bdp *);

/*
 * Call it when credit is sent. "edge" is the position in the stream (bytes
 * since its start) up to which earlier credit reaches, and must not fall from
 * call to call. The age of the new credit counts from "now_us". While 32
 * credits are outstanding, new ones are ignored.
 */
void	 bdp_granted(struct bdp *, uint64_t edge, uint64_t now_us);

/*
 * Notes how many bytes of the stream are in the kernel out of order, behind
 * lost ones; bdp_out_of_order() returns the latest maximum. A lossy path holds
 * such bytes in addition to the BDP: see wtune.c.
 */
void	 bdp_note_out_of_order(struct bdp *, uint64_t bytes);

/*
 * Clears that maximum. Call it if a slow reader has caused it, and not the
 * path.
 */
void	 bdp_forget_out_of_order(struct bdp *);

/*
 * Call it when the stream has arrived up to "pos". Completes the age of each
 * outstanding credit whose "edge" is below "pos", and forgets that credit.
 */
void	 bdp_arrived(struct bdp *, uint64_t pos, uint64_t now_us);

/*
 * Returns 1 if bdp_consumed() is due: before the first sample, then about eight
 * times per RTT but at most once per millisecond, or every 5 ms while the RTT
 * is not known. A sample may be taken earlier, but the rate then covers less
 * time.
 */
int	 bdp_sample_due(const struct bdp *, uint64_t now_us);

/*
 * Takes a sample: the application has consumed the stream up to "pos", which
 * never falls. Updates rate, maxima and minima, and notes a stall. The first
 * sample is only the starting point.
 */
void	 bdp_consumed(struct bdp *, uint64_t pos, uint64_t now_us);

/*
 * Ends the round of ages and begins a new one, to which outstanding credits
 * belong. If the round had at least four ages, bdp_last_age() becomes the
 * smallest of them.
 */
void	 bdp_next_round(struct bdp *);

/*
 * As bdp_next_round(), but forgets outstanding credits: the window has changed.
 */
void	 bdp_restart_ages(struct bdp *);

/*
 * Drops samples and the maxima of rate and out-of-order bytes after an idle
 * time, and takes a first sample, so the rate is 0 until the next one. Keeps
 * the RTTs and the last stall.
 */
void	 bdp_restart_rate(struct bdp *, uint64_t pos, uint64_t now_us);

/*
 * Returns when the last stall ended, on the caller's clock; 0: never. A stall
 * is a pause between two calls of bdp_consumed(), as a loss causes, of at least
 * 17/16 of the RTT and at least 4 ms. A pause of more than 2 s is no stall, nor
 * is any while the RTT is not known.
 */
uint64_t bdp_stall_us(const struct bdp *);

/*
 * Returns the RTT of the path: the larger of the transport's and the in-band
 * one; 0: neither is known.
 */
uint64_t bdp_rtt(const struct bdp *);

/*
 * Returns the smallest smoothed RTT of the transport that was known at a sample
 * of the last 5 to 10 seconds; 0: none was.
 */
uint64_t bdp_rtt_now(const struct bdp *);

/*
 * bdp_socket_rtt() and bdp_smoothed_rtt() return the transport's smallest and
 * its smoothed RTT, as they were last set; 0: not known.
 */
uint64_t bdp_socket_rtt(const struct bdp *);
uint64_t bdp_smoothed_rtt(const struct bdp *);

/*
 * bdp_age() returns the smallest age of this round, or 0 before its fourth age.
 * bdp_last_age() returns that of the last round that had four ages, or 0 before
 * there was one. Neither is cleared by time alone.
 */
uint64_t bdp_age(const struct bdp *);
uint64_t bdp_last_age(const struct bdp *);

/*
 * bdp_rate() returns the rate over the last RTT, or over 8 ms if that is
 * longer, as of the last sample; while the RTT is not known, over the last
 * eight samples. bdp_rate_max() returns the maximum of this rate in the last 5
 * to 10 seconds. Both are 0 before the second sample. The bytes that a stall
 * held back come in one burst, so for eight times the length of the stall the
 * rate is at most the mean since the stall began.
 */
uint64_t bdp_rate(const struct bdp *);
uint64_t bdp_rate_max(const struct bdp *);

/*
 * Returns the most bytes out of order in the last 5 to 10 seconds; 0 before the
 * first bdp_note_out_of_order(). This value, like the other two of the last 5
 * to 10 seconds, expires only with a sample, so it outlives a pause.
 */
uint64_t bdp_out_of_order(const struct bdp *);

/*
 * Returns rate * rtt in bytes, rounded down, without overflow for rates below
 * 2^44.
 */
uint64_t bdp_bytes(uint64_t rate, uint64_t rtt_us);

#endif /* HAYATE_BDP_H */
