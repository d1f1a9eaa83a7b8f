/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-tamper: change packets in clear on the way, with upstream's packet
 * layer at both ends.
 *
 *   authonly-tamper CIPHER [MAC] SEED CASES
 *
 * A sender seals some packets. An attacker who can read everything flips a bit,
 * or truncates, drops, repeats, swaps or invents a packet. A receiver with the
 * same keys opens what arrives. Each packet that it accepts must be the next
 * one that was sent, and it must accept none after the first changed one.
 * Without an attack all packets must arrive.
 *
 * First every single bit of a packet is flipped in turn, then CASES attacks
 * are drawn from SEED. Prints how often each attack had which result. Prints
 * each failure and then exits with 1.
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "packet-ends.h"

#define PACKETS		6
#define PAYLOAD_MOST	96

enum attack { NOTHING, FLIP, CUT, DROP, REPEAT, SWAP, INVENT, ATTACKS };
static const char *const attack_name[] = {
	"nothing", "flip", "cut", "drop", "repeat", "swap", "invent"
};

static struct end_keys keys;
static u_int64_t rnd_state;

static struct sealed {
	u_char	*wire;
	size_t	 len;
	u_char	 payload[PAYLOAD_MOST];
	size_t	 payload_len;
} sent[PACKETS];

/* splitmix64: the same cases for the same seed everywhere */
static u_int64_t
rnd(u_int64_t below)
{
	u_int64_t z = (rnd_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) % below;
}

static void
seal_all(void)
{
	struct ssh *ssh = end_new(&keys, MODE_OUT, -1);
	struct sshbuf *out = ssh_packet_get_output(ssh);
	struct sealed *s;
	size_t i;

	for (s = sent; s < sent + PACKETS; s++) {
		s->payload_len = 1 + rnd(PAYLOAD_MOST);
		for (i = 0; i < s->payload_len; i++)
			s->payload[i] = (u_char)rnd(256);
		sshbuf_reset(out);
		if (sshpkt_start(ssh, SSH2_MSG_CHANNEL_DATA) != 0 ||
		    sshpkt_put(ssh, s->payload, s->payload_len) != 0 ||
		    sshpkt_send(ssh) != 0)
			errx(2, "cannot send");
		free(s->wire);
		s->len = sshbuf_len(out);
		s->wire = end_copy(sshbuf_ptr(out), s->len);
	}
	end_free(ssh);
}

/* Appends packet i, with the bit "bit" flipped unless that is -1 */
static void
put(struct sshbuf *way, size_t i, ssize_t bit)
{
	u_char *copy = end_copy(sent[i].wire, sent[i].len);

	if (bit >= 0)
		copy[bit / 8] ^= (u_char)(1 << (bit % 8));
	if (sshbuf_put(way, copy, sent[i].len) != 0)
		errx(2, "out of memory");
	free(copy);
}

/* Appends the packets from n on; "bit" is for the first */
static void
put_rest(struct sshbuf *way, size_t n)
{
	for (; n < PACKETS; n++)
		put(way, n, -1);
}

static void
put_attacked(struct sshbuf *way, enum attack attack, size_t at)
{
	size_t len = sent[at].len, i;

	switch (attack) {
	case FLIP:
		put(way, at, (ssize_t)rnd(len * 8));
		break;
	case CUT:	/* other bytes follow the truncated packet */
		put(way, at, -1);
		i = 1 + rnd(len - 1);
		sshbuf_consume_end(way, i);
		sshbuf_put_u8(way, sent[at].wire[len - i] ^ 0x55);
		break;
	case REPEAT:
		put(way, at, -1);
		put(way, at, -1);
		break;
	case SWAP:
		put(way, at + 1, -1);
		put(way, at, -1);
		at++;
		break;
	case INVENT:	/* its length and padding are valid */
		put(way, at, -1);
		sshbuf_consume_end(way, len - 5);
		for (i = 5; i < len; i++)
			sshbuf_put_u8(way, (u_char)rnd(256));
		break;
	default:
		break;
	}
	put_rest(way, at + 1);
}

/* Returns how many packets arrived; exits at one that was not sent. */
static size_t
receive(struct ssh *ssh, int *rp)
{
	const u_char *data;
	u_int32_t seqnr;
	u_char type;
	size_t n, len;

	for (n = 0;; n++) {
		*rp = ssh_packet_read_poll2(ssh, &type, &seqnr);
		if (*rp != 0 || type == SSH_MSG_NONE)
			return n;
		data = sshpkt_ptr(ssh, &len);
		if (n >= PACKETS || type != SSH2_MSG_CHANNEL_DATA ||
		    len != sent[n].payload_len ||
		    memcmp(data, sent[n].payload, len) != 0)
			errx(1, "packet %zu is none that was sent", n);
	}
}

/* "bit" is the bit to flip, or -1 to draw it. */
static int
one(enum attack attack, size_t at, ssize_t bit)
{
	struct ssh *ssh = end_new(&keys, MODE_IN, -1);
	struct sshbuf *way = ssh_packet_get_input(ssh);
	size_t i, n, most = attack == NOTHING ? PACKETS :
	    attack == REPEAT ? at + 1 : at;
	int r;

	for (i = 0; i < at; i++)
		put(way, i, -1);
	if (bit >= 0) {
		put(way, at, bit);
		put_rest(way, at + 1);
	} else if (attack == NOTHING)
		put_rest(way, at);
	else
		put_attacked(way, attack, at);
	n = receive(ssh, &r);
	end_free(ssh);
	if (n != most)
		errx(1, "%s at packet %zu, bit %zd: %zu packets were taken, "
		    "not %zu (%s)", attack_name[attack], at, bit, n, most,
		    ssh_err(r));
	return r;
}

int
main(int argc, char **argv)
{
	size_t ended[ATTACKS] = { 0 }, quiet[ATTACKS] = { 0 }, bit, i, cases;
	enum attack attack;

	if (argc != 4 && argc != 5)
		errx(2, "usage: authonly-tamper CIPHER [MAC] SEED CASES");
	keys.cipher = argv[1];
	keys.mac = argc == 5 ? argv[2] : NULL;
	rnd_state = strtoull(argv[argc - 2], NULL, 10);
	cases = strtoull(argv[argc - 1], NULL, 10);
	log_init(argv[0], SYSLOG_LEVEL_QUIET, SYSLOG_FACILITY_USER, 1);
	for (i = 0; i < sizeof(keys.bytes); i++)
		keys.bytes[i] = (u_char)rnd(256);

	ends_offer_modes();
	seal_all();
	for (bit = 0; bit < sent[1].len * 8; bit++)
		one(FLIP, 1, (ssize_t)bit);
	printf("bits %zu\n", bit);
	for (i = 0; i < cases; i++) {
		if (i % 16 == 0)
			seal_all();
		attack = (enum attack)rnd(ATTACKS);
		if (one(attack, rnd(PACKETS - 1), -1) != 0)
			ended[attack]++;
		else
			quiet[attack]++;
	}
	for (i = 0; i < ATTACKS; i++)
		printf("%s ended %zu waits %zu\n", attack_name[i], ended[i],
		    quiet[i]);
	return 0;
}
