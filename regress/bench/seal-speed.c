/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * seal-speed: what one processor seals and opens, with nothing around it.
 *
 *   seal-speed seal|open CIPHER [MAC] PACKET SECONDS
 *
 * PACKET bytes of payload at a time go through upstream's packet layer from
 * sshpkt_start() to the bytes for the wire, and from there to the payload.
 * Prints "BYTES CPU_SECONDS" of the half that was asked for, after about
 * SECONDS of it. What is opened is what was sealed, or the driver fails.
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "packet-ends.h"

#define BATCH	8	/* packets between two looks at the clock */

static double
cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void
seal(struct ssh *ssh, const u_char *payload, size_t len)
{
	int i, r;

	for (i = 0; i < BATCH; i++) {
		if ((r = sshpkt_start(ssh, SSH2_MSG_CHANNEL_DATA)) != 0 ||
		    (r = sshpkt_put(ssh, payload, len)) != 0 ||
		    (r = sshpkt_send(ssh)) != 0)
			errx(1, "seal: %s", ssh_err(r));
	}
}

static void
open_(struct ssh *ssh, const u_char *payload, size_t len)
{
	const u_char *data;
	u_int32_t seqnr;
	u_char type;
	size_t n;
	int i, r;

	for (i = 0; i < BATCH; i++) {
		if ((r = ssh_packet_read_poll2(ssh, &type, &seqnr)) != 0)
			errx(1, "open: %s", ssh_err(r));
		data = sshpkt_ptr(ssh, &n);
		if (type != SSH2_MSG_CHANNEL_DATA || n != len ||
		    data[n - 1] != payload[n - 1])
			errx(1, "open: not what was sealed");
	}
}

/* Seconds of both halves, into took[]. */
static void
batch(struct ssh *near, struct ssh *far, const u_char *payload, size_t len,
    double took[2])
{
	struct sshbuf *out = ssh_packet_get_output(near);
	double start = cpu();
	int r;

	seal(near, payload, len);
	took[0] += cpu() - start;
	if ((r = sshbuf_putb(ssh_packet_get_input(far), out)) != 0)
		errx(1, "carry: %s", ssh_err(r));
	sshbuf_reset(out);
	start = cpu();
	open_(far, payload, len);
	took[1] += cpu() - start;
}

int
main(int argc, char **argv)
{
	struct end_keys keys = { 0 };
	struct ssh *near, *far;
	double took[2] = { 0, 0 }, seconds;
	u_char *payload;
	size_t len, i, bytes = 0;
	int half;

	if (argc != 5 && argc != 6)
		errx(2, "usage: seal-speed seal|open CIPHER [MAC] PACKET SECONDS");
	half = strcmp(argv[1], "open") == 0;
	keys.cipher = argv[2];
	keys.mac = argc == 6 ? argv[3] : NULL;
	len = strtoul(argv[argc - 2], NULL, 10);
	seconds = strtod(argv[argc - 1], NULL);
	for (i = 0; i < sizeof(keys.bytes); i++)
		keys.bytes[i] = (u_char)(i * 37);
	if ((payload = malloc(len)) == NULL)
		errx(2, "out of memory");
	for (i = 0; i < len; i++)
		payload[i] = (u_char)(i * 31 >> 3);
	log_init(argv[0], SYSLOG_LEVEL_QUIET, SYSLOG_FACILITY_USER, 1);

	ends_offer_modes();
	near = end_new(&keys, MODE_OUT, -1);
	far = end_new(&keys, MODE_IN, -1);
	batch(near, far, payload, len, took);	/* the first is for the caches */
	took[0] = took[1] = 0;
	while (took[half] < seconds) {
		batch(near, far, payload, len, took);
		bytes += BATCH * len;
	}
	printf("%zu %.6f\n", bytes, took[half]);
	return 0;
}
