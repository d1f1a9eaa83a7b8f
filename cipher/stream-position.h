/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stream-position: the position of a packet in the stream of one direction.
 *
 * A packet needs nothing else from those before it: GCM's nonce follows from
 * the number of packets, CTR's counter from the number of blocks, and ChaCha20
 * and the MACs use the sequence number. The position of a later packet follows
 * from the lengths of those between. So packets can be sealed and opened in any
 * order.
 *
 * No upstream header.
 */

#ifndef HAYATE_STREAM_POSITION_H
#define HAYATE_STREAM_POSITION_H

#include <stddef.h>
#include <stdint.h>

struct stream_position {
	uint32_t seqnr;		/* the packet's sequence number; wraps */
	uint32_t packets;	/* packets before this one with these keys */
	uint64_t blocks;	/* cipher blocks before it with these keys */
	uint64_t bytes;		/* bytes before it with any keys, no MACs */
};

/*
 * Advances the position past a packet of "len" bytes, counted from its length
 * field to its padding, without MAC or tag. "block_size" is the cipher's and
 * not 0; a rest of a block does not count.
 */
static inline void
stream_position_advance(struct stream_position *p, size_t len,
    size_t block_size)
{
	p->seqnr++;
	p->packets++;
	p->blocks += len / block_size;
	p->bytes += len;
}

#endif /* HAYATE_STREAM_POSITION_H */
