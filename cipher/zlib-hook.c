/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See zlib-hook.h for the idea. */

#include "includes.h"

#ifdef WITH_ZLIB

#include "zlib-hook.h"

/* PACKET_MAX_SIZE of packet.c */
#define PACKET_MAX	(256 * 1024)

/*
 * packet.c calls it for each 4 KB of output, until Z_BUF_ERROR says that the
 * input of this packet is used up. A process has one stream that goes in; a new
 * one counts from 0.
 */
int
zlib_bounded_inflate(z_streamp stream, int flush)
{
	static uLong before;		/* what earlier packets became */
	int r = inflate(stream, flush);

	if (stream->total_out < before)
		before = 0;
	if (stream->total_out - before > PACKET_MAX)
		return Z_DATA_ERROR;
	if (r == Z_BUF_ERROR)
		before = stream->total_out;
	return r;
}

int
zlib_huffman_init(z_streamp stream, int level, const char *version, int size)
{
	return deflateInit2_(stream, level, Z_DEFLATED, MAX_WBITS, 8,
	    Z_HUFFMAN_ONLY, version, size);
}

#endif /* WITH_ZLIB */
