/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bulk-hook: how much of a stream moves at once.
 *
 * Stock OpenSSH reads, seals and writes 32 KiB and then goes round its poll
 * loop. On a short path the loop costs more than the cipher. So a channel
 * takes packets of up to 255 KiB, as RFC 4254, section 5.1 lets it say, if the
 * peer is known to send such packets right. It reads as much at once, and
 * fills the output queue in one turn of the loop towards a peer that takes
 * 32 KiB. Pipes hold what a read or a packet brings.
 *
 * What waits before a keystroke stays bounded: packets grow beyond 32 KiB only
 * where the path carries one in BULK_PACKET_US, and the queue is filled no
 * further than stock fills it. While someone types into another channel of the
 * connection, packets, pipes and turns of the loop are as small as in stock.
 *
 * "Hayate no" gives stock's sizes. Not thread safe.
 */

#ifndef HAYATE_BULK_HOOK_H
#define HAYATE_BULK_HOOK_H

#include <sys/types.h>

#include <stdint.h>

#include "gather-hook.h"	/* for channels.c, as the sizes below */

struct Channel;
struct ssh;

/*
 * The largest packet of channel data that we take from this peer, bytes of
 * payload: beyond 32 KiB only from one that is known to send such packets
 * right (peer_takes_large_packets()).
 */
u_int	bulk_packet_max(const struct ssh *);

/* How much is read from a file or a program at once. */
size_t	bulk_read_max(void);

/* What the path carried lately, bytes per second; 0 if that is unknown. */
uint64_t bulk_path_rate(struct ssh *);

/* How much of "len" bytes of this channel the next packet should hold. */
size_t	bulk_packet_len(struct ssh *, const struct Channel *, size_t len);

/* As channel_output_poll(), until the queue is as full as stock lets it be. */
int	bulk_output_poll(struct ssh *);

/*
 * Data has come for the channel. What is large is written at once where the
 * channel's output goes, if nothing waits before it and that does not block, so
 * that it is not copied into the output first. Moves "*data" and "*len" on, and
 * counts what was written as consumed. Then "used" notes the time, and "tell"
 * tells the peer of the window. Errors are left to the next write.
 */
void	bulk_write_through(struct ssh *, struct Channel *, const u_char **data,
    size_t *len, void (*used)(struct ssh *, struct Channel *),
    int (*tell)(struct ssh *, struct Channel *));

/*
 * How many bytes of the window a peer may have used before it is told of more:
 * three packets of stock's size, as in stock.
 */
u_int	bulk_adjust_step(const struct Channel *);

/*
 * Of an array of 16 KiB that is written before it is read, in a function that
 * each packet passes through: builds that zero all variables on the stack leave
 * it out, because zeroing it would cost as much as a copy of the data.
 */
#ifdef __has_attribute
# if __has_attribute(__uninitialized__)
#  define BULK_UNINITIALIZED	__attribute__((__uninitialized__))
# endif
#endif
#ifndef BULK_UNINITIALIZED
# define BULK_UNINITIALIZED
#endif

/*
 * Lets a pipe hold 256 KiB. Does nothing if "fd" is something else. It pays for
 * a pipe that moves as much as it holds by default.
 */
#define BULK_PIPE_STOCK	(64 * 1024)
void	bulk_enlarge_pipe(int fd);

/*
 * Upstream's names for these sizes, at the end of channels.h. The size of a
 * packet depends on the connection, which is "ssh" in each function that opens
 * a channel. The windows that upstream computes from it stay what they are.
 */
#undef CHANNEL_MAX_READ
#undef CHAN_SES_PACKET_DEFAULT
#undef CHAN_SES_WINDOW_DEFAULT
#undef CHAN_TCP_PACKET_DEFAULT
#undef CHAN_TCP_WINDOW_DEFAULT
#define CHANNEL_MAX_READ	bulk_read_max()
#define CHAN_SES_PACKET_DEFAULT	bulk_packet_max(ssh)
#define CHAN_SES_WINDOW_DEFAULT	(2 * 1024 * 1024)
#define CHAN_TCP_PACKET_DEFAULT	bulk_packet_max(ssh)
#define CHAN_TCP_WINDOW_DEFAULT	(2 * 1024 * 1024)

#endif /* HAYATE_BULK_HOOK_H */
