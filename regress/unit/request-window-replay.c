/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * request-window-replay: an SFTP transfer over a simulated path.
 *
 * Commands come one per line; "run" answers with a line of key=value.
 *
 *   begin UNIT STOCK MAX  begin a transfer with requests of UNIT bytes; stock
 *                         has STOCK in flight, WindowMax is MAX bytes
 *   path MS MBPS          round trip and megabytes per second, at any time
 *   stall SECONDS         the server answers nothing for this time
 *   idle SECONDS          there is no transfer for this time
 *   run SECONDS           transfer and report
 *
 * The server answers requests in order. A request is answered when a round trip
 * has passed and the path has transferred its bytes. The report has the
 * requests allowed and in flight, the most in flight in this run, the
 * milliseconds that all of those in flight take, and the bytes transferred in
 * this run.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request-window.h"

#define TICK_US	500
#define MOST	65536			/* requests in flight */

static struct {
	struct request_window *flow;
	struct request_window_conf conf;
	uint64_t now_us, rtt_us, stall_until_us;
	double	 rate;			/* bytes per second */
	uint64_t sent_us[MOST];		/* of request n modulo MOST */
	uint64_t sent, acked;		/* requests */
	double	 served;		/* bytes of the oldest one */
	uint64_t most, moved;		/* of this run */
} s;

static void
send_some(void)
{
	while (s.sent - s.acked < request_window_max_requests(s.flow)) {
		if (s.sent - s.acked == MOST)
			errx(1, "more than %d requests in flight", MOST);
		s.sent_us[s.sent++ % MOST] = s.now_us;
	}
	if (s.sent - s.acked > s.most)
		s.most = s.sent - s.acked;
}

static void
serve_some(void)
{
	double bytes = s.rate * TICK_US / 1e6;

	if (s.now_us < s.stall_until_us)
		return;
	while (s.acked < s.sent && bytes > 0 &&
	    s.now_us - s.sent_us[s.acked % MOST] >= s.rtt_us) {
		s.served += bytes;
		if (s.served < s.conf.unit)
			return;
		bytes = s.served - s.conf.unit;
		s.served = 0;
		s.acked++;
		s.moved += s.conf.unit;
		request_window_count(s.flow, s.conf.unit, s.now_us);
	}
}

static void
run(double seconds)
{
	uint64_t until = s.now_us + (uint64_t)(seconds * 1e6);

	s.most = s.moved = 0;
	for (; s.now_us < until; s.now_us += TICK_US) {
		send_some();
		serve_some();
	}
	printf("requests=%" PRIu32 " under_way=%" PRIu64 " most=%" PRIu64
	    " ms=%.0f moved=%" PRIu64 " reason: %s\n",
	    request_window_max_requests(s.flow), s.sent - s.acked, s.most,
	    (double)(s.sent - s.acked) * s.conf.unit / s.rate * 1e3, s.moved,
	    request_window_reason(s.flow));
}

static void
begin(const char *arg)
{
	if (sscanf(arg, "%" SCNu32 " %" SCNu32 " %" SCNu64, &s.conf.unit,
	    &s.conf.stock, &s.conf.window_max) != 3)
		errx(2, "begin %s: three numbers are needed", arg);
	s.sent = s.acked = 0;
	s.served = 0;
	if (request_window_begin(s.flow, &s.conf, s.now_us) != 0)
		err(1, NULL);
}

static void
command(char *line)
{
	char *arg = line + strcspn(line, " ");
	double ms, mbps;

	if (*arg != '\0')
		*arg++ = '\0';
	if (strcmp(line, "begin") == 0)
		begin(arg);
	else if (strcmp(line, "path") == 0 &&
	    sscanf(arg, "%lf %lf", &ms, &mbps) == 2) {
		s.rtt_us = (uint64_t)(ms * 1e3);
		s.rate = mbps * 1e6;
	} else if (strcmp(line, "stall") == 0)
		s.stall_until_us = s.now_us + (uint64_t)(atof(arg) * 1e6);
	else if (strcmp(line, "idle") == 0)
		s.now_us += (uint64_t)(atof(arg) * 1e6);
	else if (strcmp(line, "run") == 0)
		run(atof(arg));
	else if (*line != '\0' && *line != '#')
		errx(2, "%s: no such command", line);
}

int
main(void)
{
	char line[256];

	if ((s.flow = request_window_new()) == NULL)
		err(1, NULL);
	s.now_us = 1000000;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		command(line);
	}
	request_window_free(s.flow);
	return 0;
}
