/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gather-oracle: packets sealed from where their data lies (gather-hook.h),
 * against packets that are put together first.
 *
 *   gather-oracle THREADS SEED [CIPHER]
 *
 * For each cipher, or GMAC and the given one, two senders with the same keys
 * send the same strings of all lengths round the edges; one calls
 * gather_send(). They must send the same bytes, and where packets are
 * compressed as well. The data is overwritten as soon as the call returns. In
 * the middle some packets wait for new keys. THREADS start in the first sender
 * of all, while the next packet is put together, and stay.
 *
 * Prints the packets of all ciphers, and of how many the data was external; or
 * the first difference, and exits with 1.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "authonly.h"
#include "gather-hook.h"
#include "hayopt.h"
#include "packet-ends.h"
#include "pipeline-hook.h"
#include "same-padding.h"

#define LARGEST	(255 * 1024 + 256)
static const size_t edge[] = {
	8, 300, 8 * 1024, 9000, 32 * 1024, 65536, 200000, LARGEST - 8
};
#define EDGES	(sizeof(edge) / sizeof(edge[0]))
#define ROUND	16
#define PACKETS	(EDGES * ROUND)
#define WAITING	20		/* so many after a KEXINIT */
#define OUTSIDE	88		/* 8 KiB or more, except behind new keys */

static u_char payload[LARGEST], scratch[LARGEST];
static unsigned long packets, external;
static char *threads;			/* to be started; or NULL */
static int has_threads;

/* The linker replaces sshbuf_put_external() by this function. */
int	__real_sshbuf_put_external(struct sshbuf *, const void *, size_t);
int	__wrap_sshbuf_put_external(struct sshbuf *, const void *, size_t);

int
__wrap_sshbuf_put_external(struct sshbuf *b, const void *p, size_t len)
{
	external++;
	return __real_sshbuf_put_external(b, p, len);
}

static void
check(int r, const char *what)
{
	if (r != 0)
		errx(1, "%s: %s", what, ssh_err(r));
}

static void
send_string(struct ssh *ssh, size_t len, int gathers)
{
	check(sshpkt_start(ssh, SSH2_MSG_CHANNEL_DATA), "start");
	check(sshpkt_put_u32(ssh, 7), "channel");
	memcpy(scratch, payload, len);
	if (gathers) {
		check(gather_send(ssh, scratch, len), "gather");
	} else {
		check(sshpkt_put_string(ssh, scratch, len), "string");
		check(sshpkt_send(ssh), "send");
	}
	memset(scratch, 0xee, sizeof(scratch));
	packets++;
}

static void
send_message(struct ssh *ssh, u_char type, size_t len)
{
	check(sshpkt_start(ssh, type), "start");
	check(sshpkt_put(ssh, payload, len), "put");
	check(sshpkt_send(ssh), "send");
}

static void
start_threads(void)
{
	char msg[256];

	if (threads == NULL)
		return;
	if (hayopt_read_line(HAYOPT_CLIENT, HAYOPT_GLOBAL, "CipherThreads", 1,
	    &threads, 1, msg, sizeof(msg)) != HAYOPT_ACCEPTED)
		errx(2, "%s", msg);
	pipeline_allow_threads();
	threads = NULL;
	has_threads = 1;
}

/* New keys while no packet waits; and a connection that comes and goes */
static void
send_last(struct ssh *ssh, const struct end_keys *keys, int gathers)
{
	struct ssh *other;

	send_message(ssh, SSH2_MSG_KEXINIT, 100);
	end_next_keys(ssh, keys, MODE_OUT);
	send_message(ssh, SSH2_MSG_NEWKEYS, 0);
	send_string(ssh, LARGEST, gathers);
	other = end_new(keys, MODE_OUT, -1);
	send_message(other, SSH2_MSG_IGNORE, 100);
	send_string(ssh, LARGEST, gathers);
	end_free(other);
	send_string(ssh, LARGEST, gathers);
}

/* Writes everything to a file, and returns that. */
static int
send_all(const struct end_keys *keys, int gathers)
{
	int fd = memfd_create("wire", 0);
	struct ssh *ssh = end_new(keys, MODE_OUT, dup(fd));
	size_t i;

	pad_state = 1;
	ssh_packet_set_server(ssh);
	send_message(ssh, SSH2_MSG_USERAUTH_SUCCESS, 0);
	for (i = 0; i < PACKETS; i++) {
		if (i == PACKETS / 3)
			start_threads();
		if (i == PACKETS / 2) {
			send_message(ssh, SSH2_MSG_KEXINIT, 100);
			end_next_keys(ssh, keys, MODE_OUT);
		}
		send_string(ssh, edge[i / ROUND] + i % ROUND - ROUND / 2,
		    gathers);
		if (i == PACKETS / 2 + WAITING)
			send_message(ssh, SSH2_MSG_NEWKEYS, 0);
		if (i % 3 == 0)
			check(ssh_packet_write_wait(ssh), "write");
	}
	send_last(ssh, keys, gathers);
	check(ssh_packet_write_wait(ssh), "write");
	end_free(ssh);
	return fd;
}

static int
fits(const struct end_keys *keys)
{
	if (keys->compresses)
		return 0;
	if (keys->mac != NULL)
		return strstr(keys->cipher, "-ctr") != NULL &&
		    strstr(keys->mac, "-etm") != NULL;
	return 1;
}

static void
try(const char *cipher, const char *mac, int compresses)
{
	struct end_keys keys = { .cipher = cipher, .mac = mac,
	    .compresses = compresses };
	unsigned long before = external;
	int a = send_all(&keys, 1), b = send_all(&keys, 0);
	off_t len = lseek(a, 0, SEEK_END), i;
	u_char *p, *q;

	if (!has_threads && external - before != (fits(&keys) ? OUTSIDE : 0))
		errx(1, "%s: %lu external", cipher, external - before);
	if (len < (off_t)(PACKETS * 1000) || len != lseek(b, 0, SEEK_END))
		errx(1, "%s: %lld and %lld bytes", cipher, (long long)len,
		    (long long)lseek(b, 0, SEEK_END));
	p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, a, 0);
	q = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, b, 0);
	if (p == MAP_FAILED || q == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < len; i++) {
		if (p[i] != q[i])
			errx(1, "%s: the byte at %lld differs", cipher,
			    (long long)i);
	}
	munmap(p, (size_t)len);
	munmap(q, (size_t)len);
	close(a);
	close(b);
}

int
main(int argc, char **argv)
{
	char *list = cipher_alg_list(',', 0), *p = list, *cipher;
	size_t i;

	if (argc != 3 && argc != 4)
		errx(2, "usage: gather-oracle THREADS SEED [CIPHER]");
	srandom((unsigned int)strtoul(argv[2], NULL, 10));
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (u_char)random();
	log_init(argv[0], SYSLOG_LEVEL_QUIET, SYSLOG_FACILITY_USER, 1);
	ends_offer_modes();
	threads = strcmp(argv[1], "0") == 0 ? NULL : argv[1];
	try(AUTHONLY_GMAC, NULL, 0);
	while ((cipher = strsep(&p, ",")) != NULL) {
		if (argc == 4 && strcmp(cipher, argv[3]) != 0)
			continue;
		if (cipher_authlen(cipher_by_name(cipher)) != 0) {
			try(cipher, NULL, 0);
			try(cipher, NULL, 1);
			continue;
		}
		try(cipher, "hmac-sha2-256", 0);
		try(cipher, "hmac-sha2-256-etm@openssh.com", 0);
	}
	free(list);
	printf("%lu packets, %lu external\n", packets, external);
	return 0;
}
