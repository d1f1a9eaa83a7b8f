/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * seal-speed: what one processor seals and opens, with nothing around it.
 *
 *   seal-speed seal|open CIPHER [MAC] PACKET SECONDS
 *   seal-speed -t THREADS|off seal|open CIPHER [MAC] PACKET SECONDS
 *
 * PACKET bytes of payload at a time go through upstream's packet layer from
 * sshpkt_start() to the bytes for the wire, and from there to the payload.
 * Prints "BYTES CPU_SECONDS" of the half that was asked for, after about
 * SECONDS of it. What is opened is what was sealed, or the driver fails.
 *
 * With -t it prints "BYTES SECONDS CPU_SECONDS CRYPTO_SECONDS": elapsed time,
 * CPU time of all threads, and time of sealing or opening itself (0 with off).
 * THREADS is the number of threads that help (CipherThreads). With 0 the pool's
 * owner does their work. Sealed data is written to /dev/null, and data to open
 * is read as from a socket.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "hayopt.h"
#include "packet-ends.h"
#include "pipeline-hook.h"

#define BATCH	8		/* packets between two looks at the clock */
#define STREAM	(32 << 20)	/* bytes, the same with -t */

static int packets = BATCH;
static char *threads;		/* NULL: without -t */
static int writing;		/* sealed data goes to /dev/null */

static double
clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Resources used since the program began */
static struct used {
	double seconds, cpu;
} used(void)
{
	double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	double seconds = threads != NULL ? clock_of(CLOCK_MONOTONIC) : cpu;

	return (struct used){ seconds, cpu };
}

static void
add_since(struct used *sum, struct used start)
{
	struct used end = used();

	sum->seconds += end.seconds - start.seconds;
	sum->cpu += end.cpu - start.cpu;
}

static void
seal(struct ssh *ssh, const u_char *payload, size_t len)
{
	int i, r;

	for (i = 0; i < packets; i++) {
		if ((r = sshpkt_start(ssh, SSH2_MSG_CHANNEL_DATA)) != 0 ||
		    (r = sshpkt_put(ssh, payload, len)) != 0 ||
		    (r = sshpkt_send(ssh)) != 0)
			errx(1, "seal: %s", ssh_err(r));
		/* as client_loop() and server_loop2() do */
		while (writing &&
		    !ssh_packet_not_very_much_data_to_write(ssh)) {
			if ((r = ssh_packet_write_poll(ssh)) != 0)
				errx(1, "write: %s", ssh_err(r));
		}
	}
}

/* Returns a file with all of the data. */
static int
file_of(const struct sshbuf *wire)
{
	static int fd = -1;

	if ((fd == -1 && (fd = memfd_create("wire", 0)) == -1) ||
	    lseek(fd, 0, SEEK_SET) == -1 ||
	    write(fd, sshbuf_ptr(wire), sshbuf_len(wire)) !=
	    (ssize_t)sshbuf_len(wire) || lseek(fd, 0, SEEK_SET) == -1)
		err(2, "wire");
	return fd;
}

/* Reads more if no packet is complete. */
static void
open_(struct ssh *ssh, int fd, const u_char *payload, size_t len)
{
	const u_char *data;
	u_int32_t seqnr;
	u_char type;
	size_t n;
	int i = 0, r;

	while (i < packets) {
		if ((r = ssh_packet_read_poll2(ssh, &type, &seqnr)) != 0)
			errx(1, "open: %s", ssh_err(r));
		if (type == SSH_MSG_NONE && fd != -1) {
			if ((r = ssh_packet_process_read(ssh, fd)) != 0)
				errx(1, "read: %s", ssh_err(r));
			continue;
		}
		i++;
		data = sshpkt_ptr(ssh, &n);
		if (type != SSH2_MSG_CHANNEL_DATA || n != len ||
		    data[n - 1] != payload[n - 1])
			errx(1, "open: not what was sealed");
	}
}

/* Adds to took[] what each half took. */
static void
batch(struct ssh *near, struct ssh *far, const u_char *payload, size_t len,
    struct used took[2])
{
	struct sshbuf *out = ssh_packet_get_output(near);
	struct used start = used();
	int r, fd = -1;

	seal(near, payload, len);
	add_since(&took[0], start);
	if (writing)
		return;
	if (threads != NULL)
		fd = file_of(out);
	else if ((r = sshbuf_putb(ssh_packet_get_input(far), out)) != 0)
		errx(1, "carry: %s", ssh_err(r));
	sshbuf_reset(out);
	start = used();
	open_(far, fd, payload, len);
	add_since(&took[1], start);
}

/*
 * Sets *near and *far. Threads help with one half only: an end that is not used
 * any further claims the direction of the other half.
 */
static void
ends(const struct end_keys *keys, int half, struct ssh **near, struct ssh **far)
{
	const u_char nothing[1] = { 0 };
	int r, fd = -1;

	if (threads != NULL && half == 0 &&
	    (fd = open("/dev/null", O_WRONLY)) == -1)
		err(2, "/dev/null");
	if (threads != NULL && half == 1) {
		*near = end_new(keys, MODE_OUT, -1);
		if ((r = sshpkt_start(*near, SSH2_MSG_CHANNEL_DATA)) != 0 ||
		    (r = sshpkt_put(*near, nothing, 1)) != 0 ||
		    (r = sshpkt_send(*near)) != 0)
			errx(1, "seal: %s", ssh_err(r));
	}
	*near = end_new(keys, MODE_OUT, fd);
	ssh_packet_set_interactive(*near, 0);	/* bulk */
	*far = end_new(keys, MODE_IN, -1);
	writing = fd != -1;
}

/* So the pool is there without one. */
int	__real_pthread_attr_init(pthread_attr_t *);
int	__wrap_pthread_attr_init(pthread_attr_t *);

int
__wrap_pthread_attr_init(pthread_attr_t *attr)
{
	return strcmp(threads, "0") == 0 ? EAGAIN :
	    __real_pthread_attr_init(attr);
}

/* Sets CipherThreads. */
static void
start_threads(char *word)
{
	char msg[256], *words[1] = { strcmp(word, "0") == 0 ? "1" : word };

	if (hayopt_read_line(HAYOPT_CLIENT, HAYOPT_GLOBAL, "CipherThreads", 1,
	    words, 1, msg, sizeof(msg)) != HAYOPT_ACCEPTED)
		errx(2, "%s", msg);
	pipeline_allow_threads();
}

int
main(int argc, char **argv)
{
	struct end_keys keys = { 0 };
	struct ssh *near, *far;
	struct used took[2] = { { 0, 0 }, { 0, 0 } };
	double seconds;
	u_int64_t crypto_us;
	u_char *payload;
	size_t len, i, bytes = 0;
	int half;

	if (argc > 2 && strcmp(argv[1], "-t") == 0) {
		threads = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc != 5 && argc != 6)
		errx(2, "usage: seal-speed [-t THREADS|off] seal|open CIPHER "
		    "[MAC] PACKET SECONDS");
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
	if (threads != NULL) {
		packets = STREAM / len;
		start_threads(threads);
	}
	ends(&keys, half, &near, &far);
	batch(near, far, payload, len, took);	/* to fill the caches */
	memset(took, 0, sizeof(took));
	crypto_us = pipeline_crypto_us();
	while (took[half].seconds < seconds) {
		batch(near, far, payload, len, took);
		bytes += packets * len;
	}
	printf("%zu %.6f", bytes, took[half].seconds);
	if (threads != NULL)
		printf(" %.6f %.6f", took[half].cpu,
		    (pipeline_crypto_us() - crypto_us) / 1e6);
	putchar('\n');
	return 0;
}
