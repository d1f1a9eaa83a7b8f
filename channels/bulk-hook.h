/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bulk-hook: how many bytes of a channel are read, sealed and written at once.
 *
 * Stock OpenSSH reads, seals and writes 32 KiB and then goes round its poll
 * loop. On a short path the loop costs more than the cipher. So a channel
 * accepts packets of up to 255 KiB and 256 bytes, as RFC 4254, section 5.1
 * allows it to announce, if the peer is known to send such packets correctly.
 * A read asks for as many bytes with any peer. For a peer that accepts only
 * packets of 32 KiB, such a read becomes several packets, which are queued in
 * one turn of the loop. Pipes are enlarged to hold one read or one packet.
 *
 * The delay of interactive data stays bounded: a packet has more than 32 KiB
 * only if the path carries it in 2.6 ms, and the output queue is filled no
 * further than stock fills it. While someone types into another channel of the
 * connection, packets, pipes and turns of the loop are as small as in stock.
 *
 * "Hayate no" gives stock's sizes. Not thread safe. Called from
 * patches/130-channels-bulk.patch and by wtune-hook.c.
 */

#ifndef HAYATE_BULK_HOOK_H
#define HAYATE_BULK_HOOK_H

#include <sys/types.h>

#include <stdint.h>

#include "gather-hook.h"	/* channels.c gets it by way of channels.h */

struct Channel;
struct ssh;

/*
 * Returns the largest payload of a channel data packet that we announce to this
 * peer, bytes: 255 KiB and 256 bytes if peer_takes_large_packets(); otherwise,
 * and with "Hayate no", 32 KiB.
 */
u_int	bulk_packet_max(const struct ssh *);

/*
 * Returns how many bytes to read from a file or program at once: as many as a
 * large packet has, whatever the peer takes and whether or not someone types;
 * 32 KiB with "Hayate no".
 */
size_t	bulk_read_max(void);

/*
 * Returns the delivery rate of what we send over the connection, bytes per
 * second, at most a tenth of a second old; 0 if it is unknown, as over a pipe.
 */
uint64_t bulk_path_rate(struct ssh *);

/*
 * Returns how many of "len" bytes of channel input go into the next packet; the
 * peer's window and its limit for packets must permit "len". The result is
 * "len" if that is at most 32 KiB, and with "Hayate no". Otherwise it is as
 * much as the path carries in 2.6 ms, at least 32 KiB and at most "len". It is
 * 32 KiB if the rate of the path is unknown, for a peer that does not
 * peer_takes_large_packets(), from a terminal, and while someone types into
 * another channel.
 *
 * If the input comes from a shared-memory pipe (shmpipe-hook.h), a packet of
 * more than 32 KiB is shortened to end where a record ends, but only if the
 * record fits into it and is more than half of it.
 *
 * Also enlarges the channel's pipe if a larger packet may be sent, shrinks it
 * while someone types, and detects typing by the sizes and times of its calls,
 * so call it once for each packet. If "len" is 1 to 256, 10 ms or more after
 * the last such call for any channel of the connection, someone types for a
 * second from then on. Calls for the channel that was the last to have 32 KiB
 * or more to send do not count.
 */
size_t	bulk_packet_len(struct ssh *, const struct Channel *, size_t len);

/*
 * As channel_output_poll(), repeated until the output queue is as full as stock
 * lets it be, or until a call queues nothing. Does not repeat it while someone
 * types, during a key exchange, or with "Hayate no". Returns the result of the
 * first call: not 0 if it queued data.
 */
int	bulk_output_poll(struct ssh *);

/*
 * Writes data that has arrived for the channel straight to its descriptor, so
 * that it need not be copied into the channel's output first. Only 64 KiB or
 * more are written, only while that output is empty, and only to a non-blocking
 * descriptor of an open channel that has neither a terminal nor a filter nor
 * datagrams; never with "Hayate no".
 *
 * If anything was written, advances "*data" and "*len" past it and adds it to
 * local_consumed; then calls used(), which notes the time, and adjust(), which
 * may send a window adjust. The caller puts the rest into the output. If
 * nothing was written, nothing changes: errors are left to the next ordinary
 * write. A "*len" of 64 KiB or more becomes the record size of a shared-memory
 * pipe even if nothing is written.
 */
void	bulk_write_through(struct ssh *, struct Channel *, const u_char **data,
    size_t *len, void (*used)(struct ssh *, struct Channel *),
    int (*adjust)(struct ssh *, struct Channel *));

/*
 * Marks an array of 16 KiB on the stack that is written before it is read, in a
 * function that runs for each packet. Builds that zero all variables on the
 * stack (-ftrivial-auto-var-init) skip it: zeroing it would cost as much as a
 * copy of the data.
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
 * Lets a pipe hold 256 KiB; not for use with "Hayate no". Does nothing if "fd"
 * is -1 or no pipe, holds packets (ring.h), or is as large already, or if the
 * system has no such call. If the system refuses, the pipe stays as it is, with
 * a line at -vv. BULK_PIPE_STOCK is the default capacity in bytes, to which a
 * pipe shrinks again while someone types.
 */
#define BULK_PIPE_STOCK	(64 * 1024)
void	bulk_enlarge_pipe(int fd);

/*
 * Replaces upstream's constants; channels.h includes this file right after it
 * has defined them. The size of a packet depends on the connection: each
 * function that uses it needs a variable "ssh", the connection, and all of
 * upstream's that open a channel have one. The windows, which upstream derives
 * from the size of a packet, keep their values.
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
