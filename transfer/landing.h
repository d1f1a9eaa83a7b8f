/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * landing: by which rule the bytes of a file appear under its name.
 *
 * A file that is got is written in order. What comes early waits in memory
 * until all before it is written, so the file never has a hole, whatever is
 * interrupted, and a copy of it can be resumed. What lies behind an error, or
 * behind the end, is not written.
 *
 * The caller writes, and bounds what waits: ranges.h counts it. No I/O, no
 * clock, no upstream header. Not thread safe.
 */

#ifndef HAYATE_LANDING_H
#define HAYATE_LANDING_H

#include <stdint.h>

struct range;
struct ranges;

/*
 * The first "len" bytes of a range have come. Returns 1 if the caller has to
 * write them now, at "off" of the range, and then calls landing_written(); 0 if
 * they wait or are of no use; -1 if out of memory.
 */
int	landing_data(struct ranges *, struct range *, const unsigned char *data,
    uint32_t len);

/*
 * Returns the range that has waited and can be written now; landing_written()
 * follows. NULL: none.
 */
struct range *landing_next(const struct ranges *);

/* The first range was written. If not "ok", nothing behind it will be. */
void	landing_written(struct ranges *, int ok);

#endif /* HAYATE_LANDING_H */
