/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See progress-text.h. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "minmax.h"
#include "progress-text.h"

/* What was measured so long ago counts half as much as what is measured now. */
#define MEMORY_US	3000000.0

/* Longer times are not shown: the rate is next to nothing. */
#define LEFT_MAX	(100 * 3600)

#define AMOUNT		32

void
progress_text_begin(struct progress_text *m, uint64_t now_us)
{
	memset(m, 0, sizeof(*m));
	m->begun_us = m->last_us = now_us;
}

static void
update_rate(struct progress_text *m, uint64_t bytes, uint64_t now_us)
{
	double us = (double)(now_us - m->last_us), now;

	if (now_us <= m->last_us)
		return;
	/* Of a file that is restarted the bytes are taken back. */
	now = 1e6 * (double)(bytes - min_u64(bytes, m->last_bytes)) / us;
	if (m->last_us == m->begun_us)
		m->rate = now;
	else
		m->rate += (now - m->rate) * us / (us + MEMORY_US);
	m->last_us = now_us;
	m->last_bytes = bytes;
}

static void
write_amount(double bytes, char text[AMOUNT])
{
	const char *unit = "BKMGT";

	for (; bytes >= 1000 && unit[1] != '\0'; unit++)
		bytes /= 1024;
	snprintf(text, AMOUNT, *unit == 'B' ? "%.0fB" : "%.1f%cB",
	    bytes, *unit);
}

static void
write_time(uint64_t s, char text[AMOUNT])
{
	unsigned int h = (unsigned int)(s / 3600);
	unsigned int rest = (unsigned int)(s % 3600);

	if (h != 0)
		snprintf(text, AMOUNT, "%u:%02u:%02u", h, rest / 60, rest % 60);
	else
		snprintf(text, AMOUNT, "%02u:%02u", rest / 60, rest % 60);
}

static void
write_time_left(const struct progress_text *m, const struct progress_count *c,
    char text[AMOUNT])
{
	uint64_t bytes = c->bytes_known - min_u64(c->bytes_known, c->bytes);
	double s = m->rate > 0 ? (double)bytes / m->rate : LEFT_MAX;

	if (bytes == 0 && c->files >= c->files_known)
		snprintf(text, AMOUNT, "00:00");
	else if (bytes == 0 || s >= LEFT_MAX)
		snprintf(text, AMOUNT, "--:--");
	else
		write_time((uint64_t)s, text);
}

/* By bytes; by files, if they are empty. 100 is for all of both. */
static unsigned int
percent_done(const struct progress_count *c)
{
	uint64_t done = c->bytes, all = c->bytes_known;

	if (all == 0) {
		done = c->files;
		all = c->files_known;
	}
	if (c->files >= c->files_known)
		return 100;
	return (unsigned int)min_u64(99,
	    (uint64_t)(100.0 * (double)done / (double)all));
}

/* How much of all is done, unless there may be more than is known */
static void
write_files(const struct progress_count *c, int is_open, char text[2 * AMOUNT])
{
	if (is_open)
		snprintf(text, 2 * AMOUNT, "%" PRIu64 " of %" PRIu64 "+ files",
		    c->files, c->files_known);
	else
		snprintf(text, 2 * AMOUNT, "%" PRIu64 "/%" PRIu64
		    " files %3u%%", c->files, c->files_known, percent_done(c));
}

void
progress_text_line(struct progress_text *m, const struct progress_count *c,
    uint64_t now_us, int last, char line[PROGRESS_TEXT_LEN])
{
	char files[2 * AMOUNT], bytes[AMOUNT], rate[AMOUNT], left[AMOUNT];
	double s = (double)(now_us - m->begun_us) / 1e6;
	int is_open = c->unlisted != 0 && !last;

	update_rate(m, c->bytes, now_us);
	write_amount((double)c->bytes, bytes);
	if (last) {
		write_amount(s > 0 ? (double)c->bytes / s : 0, rate);
		write_time((uint64_t)s, left);
	} else {
		write_amount(m->rate, rate);
		write_time_left(m, c, left);
	}
	write_files(c, is_open, files);
	if (is_open)
		snprintf(line, PROGRESS_TEXT_LEN, "%s %7s %7s/s", files, bytes,
		    rate);
	else
		snprintf(line, PROGRESS_TEXT_LEN, "%s %7s %7s/s %7s%s", files,
		    bytes, rate, left, last ? "    " : " ETA");
}
