/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * progress-text: what the progress line of many files says.
 *
 *      12/500 files  45%  12.3MB   3.4MB/s  00:10 ETA
 *      12 of 500+ files  12.3MB   3.4MB/s
 *
 * A tree is listed while it is copied. Until all of it is listed, the second
 * form is used, with the total known so far. The rate is an average that
 * forgets within seconds; the time left is that of the remaining bytes at this
 * rate. Units are of 1024, as in upstream's meter.
 *
 * Counts and times go in, text comes out. No terminal, no clock, no upstream
 * header. regress/unit/progress-text-replay.c drives it alone.
 */

#ifndef HAYATE_PROGRESS_TEXT_H
#define HAYATE_PROGRESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a line at most, with the NUL; the caller puts a name before it. */
#define PROGRESS_TEXT_LEN	192

struct progress_text {
	uint64_t begun_us, last_us;	/* begun_us 0: not yet */
	uint64_t last_bytes;		/* of the last line, as last_us */
	double	 rate;			/* bytes a second */
};

struct progress_count {
	uint64_t files, bytes;		/* done */
	uint64_t files_known, bytes_known;	/* done or not */
	uint64_t unlisted;		/* known directories, not listed */
};

/* A copy begins at this time, in microseconds. */
void	progress_text_begin(struct progress_text *, uint64_t now_us);

/* Writes the line. "last": the copy is over; shows how long it took. */
void progress_text_line(struct progress_text *, const struct progress_count *,
    uint64_t now_us, int last, char line[PROGRESS_TEXT_LEN]);

#endif /* HAYATE_PROGRESS_TEXT_H */
