/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pipeline-oracle: packets sealed and opened by threads, against upstream's
 * serial code.
 *
 *   pipeline-oracle THREADS SEED [CIPHER [MAC]]
 *
 * It tests each cipher with each MAC, or the given one. Two senders with the
 * same keys, of which one has threads, seal the same packets: all payload
 * lengths up to 300, and lengths round the edges up to the largest. They must
 * send the same bytes. Two receivers open these bytes in random pieces and must
 * see the same packets. Then one bit is flipped, and both must stop at the same
 * packet with the same error. Keys change in the middle. Without a CIPHER the
 * published vectors are tested first. With THREADS 0 no thread can be started.
 *
 * Prints what was compared, or the first difference and exits with 1.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "mac.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "authonly.h"
#include "hayopt.h"
#include "packet-ends.h"
#include "packetq.h"
#include "pipeline-hook.h"
#include "same-padding.h"

#define SHORT	300		/* all lengths up to this one */
#define LARGEST	(256 * 1024 - 300)
static const size_t edge[] = {
	512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 196608,
	261120, LARGEST
};
#define EDGES	(sizeof(edge) / sizeof(edge[0]))
#define ROUND	9		/* lengths at each edge */
#define FLIPS	4
#define LATE	40		/* packets of 32 KiB */
#define NEWKEYS_ONLY SSH2_MSG_UNIMPLEMENTED	/* to the receiver only */
#define LENGTHS	(SHORT + 1 + EDGES * ROUND)

static u_char payload[LARGEST + 64];
static u_int64_t rnd_state, packets, bytes;
static const char *doing;
static int no_threads;

/* Splitmix64 (Steele, Lea, Flood 2014). */
static u_int64_t
rnd(u_int64_t below)
{
	u_int64_t z = rnd_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

/* The linker replaces pthread_attr_init() by this function. */
int	__real_pthread_attr_init(pthread_attr_t *);
int	__wrap_pthread_attr_init(pthread_attr_t *);

int
__wrap_pthread_attr_init(pthread_attr_t *attr)
{
	return no_threads ? ENOMEM : __real_pthread_attr_init(attr);
}

static void
bad(const char *what, size_t n)
{
	errx(1, "%s: %s, packet %zu", doing, what, n);
}

static size_t
length_of(size_t i)
{
	if (i <= SHORT)
		return i;
	i -= SHORT + 1;
	return edge[i / ROUND] + i % ROUND * 4 - ROUND / 2 * 4;
}

/*
 * Sending
 */

static void
send_one(struct ssh *ssh, u_char type, const u_char *data, size_t len,
    u_int64_t pad)
{
	int r;

	pad_state = pad;
	if ((r = sshpkt_start(ssh, type)) != 0 ||
	    (r = sshpkt_put(ssh, data, len)) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)
		errx(1, "%s: send: %s", doing, ssh_err(r));
}

/* end[0] sends first: the first end to send gets the threads. */
static void
send_both(struct ssh *end[2], u_char type, const u_char *data, size_t len)
{
	u_int64_t pad = rnd(UINT64_MAX);

	send_one(end[0], type, data, len, pad);
	send_one(end[1], type, data, len, pad);
	packets++;
	bytes += len;
}

/* end[0] must have written the bytes that end[1] has in its output. */
static void
compare(struct ssh *end[2], int fd, struct sshbuf *wire, size_t n)
{
	struct sshbuf *serial = ssh_packet_get_output(end[1]);
	size_t len = sshbuf_len(serial);
	u_char *got;
	int r;

	if ((r = ssh_packet_write_wait(end[0])) != 0)
		errx(1, "%s: write: %s", doing, ssh_err(r));
	if (lseek(fd, 0, SEEK_END) != (off_t)len)
		bad("another number of bytes", n);
	if ((got = malloc(len + 1)) == NULL ||
	    pread(fd, got, len, 0) != (ssize_t)len)
		err(1, "read");
	if (memcmp(got, sshbuf_ptr(serial), len) != 0)
		bad("other bytes", n);
	free(got);
	if ((r = sshbuf_putb(wire, serial)) != 0)
		errx(1, "%s", ssh_err(r));
	sshbuf_reset(serial);
	if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		err(1, "truncate");
}

/*
 * Sends all lengths, with new keys in the middle. Returns where in "wire" the
 * KEXINIT ends: a receiver has to handle it before it gets more.
 */
static size_t
send_all(const struct end_keys *keys, struct sshbuf *wire)
{
	struct ssh *end[2];
	size_t i, next = 0, kexinit = 0;
	int fd;

	if ((fd = memfd_create("wire", 0)) == -1)
		err(1, "memfd_create");
	end[0] = end_new(keys, MODE_OUT, fd);
	end[1] = end_new(keys, MODE_OUT, -1);
	for (i = 0; i < LENGTHS; i++) {
		send_both(end, SSH2_MSG_CHANNEL_DATA, payload, length_of(i));
		if (i == LENGTHS / 2) {
			send_both(end, SSH2_MSG_KEXINIT, payload, 100);
			compare(end, fd, wire, i);
			kexinit = sshbuf_len(wire);
			end_next_keys(end[0], keys, MODE_OUT);
			end_next_keys(end[1], keys, MODE_OUT);
			send_both(end, SSH2_MSG_NEWKEYS, payload, 0);
		}
		if (i >= next) {
			compare(end, fd, wire, i);
			next = i + rnd(24);
		}
	}
	compare(end, fd, wire, i);
	end_free(end[0]);
	end_free(end[1]);
	return kexinit;
}

/*
 * Receiving
 */

struct seen {
	int	 r;
	size_t	 n;
	u_int64_t hash;		/* of types, sequence numbers and payloads */
};

static void
mix(u_int64_t *hash, const u_char *data, size_t len)
{
	u_int64_t h = *hash, w;

	for (; len >= 8; len -= 8, data += 8) {
		memcpy(&w, data, 8);
		h = (h ^ w) * 0x100000001b3;
	}
	while (len-- > 0)
		h = (h ^ *data++) * 0x100000001b3;
	*hash = h;
}

/* Opens all complete packets. */
static void
open_all(struct ssh *ssh, const struct end_keys *keys, struct seen *s)
{
	u_int32_t seqnr = 0;
	const u_char *data;
	u_char type;
	size_t len;

	for (;;) {
		type = 0;
		s->r = ssh_packet_read_poll2(ssh, &type, &seqnr);
		if (s->r != 0 || type == SSH_MSG_NONE)
			return;
		data = sshpkt_ptr(ssh, &len);
		mix(&s->hash, &type, 1);
		mix(&s->hash, (u_char *)&seqnr, sizeof(seqnr));
		mix(&s->hash, data, len);
		s->n++;
		if (type == SSH2_MSG_KEXINIT)
			ssh->kex->done = 0;
		if (type == SSH2_MSG_NEWKEYS || type == NEWKEYS_ONLY) {
			end_next_keys(ssh, keys, MODE_IN);
			ssh->kex->done = 1;
			if ((s->r = ssh_set_newkeys(ssh, MODE_IN)) != 0)
				return;
		}
	}
}

/* Returns a file with the data, which is read like a socket. */
static int
piece(const u_char *data, size_t len)
{
	static int fd = -1;

	if ((fd == -1 && (fd = memfd_create("piece", 0)) == -1) ||
	    ftruncate(fd, 0) == -1 || lseek(fd, 0, SEEK_SET) == -1 ||
	    write(fd, data, len) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET) == -1)
		err(2, "piece");
	return fd;
}

static void
receive(struct ssh *ssh, const struct end_keys *keys, const u_char *data,
    size_t len, struct seen *s)
{
	int fd = piece(data, len);

	while (s->r == 0 && (size_t)lseek(fd, 0, SEEK_CUR) < len) {
		if ((s->r = ssh_packet_process_read(ssh, fd)) == 0)
			open_all(ssh, keys, s);
	}
}

/* Both receivers get the same pieces. */
static void
receive_both(const struct end_keys *keys, const u_char *wire, size_t len,
    size_t kexinit, struct seen seen[2])
{
	struct ssh *end[2];
	size_t at = 0, n;
	int i;

	memset(seen, 0, 2 * sizeof(*seen));
	end[0] = end_new(keys, MODE_IN, -1);
	end[1] = end_new(keys, MODE_IN, -1);
	for (; at < len && seen[0].r == 0 && seen[1].r == 0; at += n) {
		n = 1 + rnd(rnd(4) == 0 ? 300 : 2 * PACKETQ_BYTES);
		if (n > len - at)
			n = len - at;
		if (at < kexinit && n > kexinit - at)
			n = kexinit - at;
		for (i = 0; i < 2; i++)
			receive(end[i], keys, wire + at, n, &seen[i]);
		if (seen[0].r != seen[1].r || seen[0].n != seen[1].n ||
		    seen[0].hash != seen[1].hash)
			errx(1, "%s: threads opened %zu packets (%s), serial "
			    "code %zu (%s)", doing, seen[0].n,
			    ssh_err(seen[0].r), seen[1].n, ssh_err(seen[1].r));
	}
	end_free(end[0]);
	end_free(end[1]);
}

static void
receive_all(const struct end_keys *keys, struct sshbuf *wire, size_t kexinit)
{
	u_char *data = sshbuf_mutable_ptr(wire), bit;
	size_t len = sshbuf_len(wire), at;
	struct seen seen[2];
	int i;

	receive_both(keys, data, len, kexinit, seen);
	if (seen[0].r != 0 || seen[0].n != LENGTHS + 2)
		bad("not all of it arrived", seen[0].n);
	for (i = 0; i < FLIPS; i++) {
		at = rnd(i % 2 == 0 ? 20000 : len);
		bit = (u_char)(1 << rnd(8));
		data[at] ^= bit;
		receive_both(keys, data, len, kexinit, seen);
		if (seen[0].n >= LENGTHS + 2)
			bad("a flipped bit was not seen", at);
		data[at] ^= bit;
	}
}

/*
 * The sender keeps its old keys after NEWKEYS. Threads may already have opened
 * the packets behind it, which must still end the connection.
 */
static void
receive_late(const struct end_keys *keys)
{
	struct sshbuf *wire = sshbuf_new();
	struct seen seen[2] = { { 0 }, { 0 } };
	struct ssh *end[2];
	size_t i;
	int fd;

	if ((fd = memfd_create("wire", 0)) == -1)
		err(1, "memfd_create");
	end[0] = end_new(keys, MODE_OUT, fd);
	end[1] = end_new(keys, MODE_OUT, -1);
	for (i = 0; i < LATE; i++)
		send_both(end, i == 2 ? NEWKEYS_ONLY : SSH2_MSG_CHANNEL_DATA,
		    payload, 32768);
	compare(end, fd, wire, LATE);
	for (i = 0; i < 2; i++) {
		end_free(end[i]);
		end[i] = end_new(keys, MODE_IN, -1);
		receive(end[i], keys, sshbuf_ptr(wire), sshbuf_len(wire),
		    &seen[i]);
	}
	end_free(end[0]);
	end_free(end[1]);
	if (seen[0].n != 3 || seen[1].n != 3 || seen[0].r == 0 ||
	    seen[1].r == 0)
		errx(1, "%s: old keys after NEWKEYS: threads opened %zu (%s), "
		    "serial code %zu (%s)", doing, seen[0].n,
		    ssh_err(seen[0].r), seen[1].n, ssh_err(seen[1].r));
	sshbuf_free(wire);
	close(fd);
}

/*
 * Published test vectors. Plain and sealed text give the keystream. It begins
 * where the encrypted part of the packet begins.
 */
static const struct vector {
	const char *source, *cipher, *mac, *key, *iv;
	size_t	 from;
	const char *plain, *sealed;
} vectors[] = {
#define SP800_38A_PLAIN	"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c" \
	"9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17" \
	"ad2b417be66c3710"
#define SP800_38A_IV	"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define GCM_KEY		"feffe9928665731c6d6a8f9467308308"
#define GCM_IV		"cafebabefacedbaddecaf888"
#define GCM_PLAIN	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da" \
	"2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657" \
	"ba637b39"
#define ZERO32		"00000000000000000000000000000000" \
	"00000000000000000000000000000000"
	{ "SP 800-38A, F.5.1", "aes128-ctr", "hmac-sha2-256",
	    "2b7e151628aed2a6abf7158809cf4f3c", SP800_38A_IV, 0,
	    SP800_38A_PLAIN, "874d6191b620e3261bef6864990db6ce"
	    "9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab"
	    "1e031dda2fbe03d1792170a0f3009cee" },
	{ "SP 800-38A, F.5.3", "aes192-ctr", "hmac-sha2-256",
	    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", SP800_38A_IV, 0,
	    SP800_38A_PLAIN, "1abc932417521ca24f2b0459fe7e6e0b"
	    "090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d665620abf7"
	    "4f78a7f6d29809585a97daec58c6b050" },
	{ "SP 800-38A, F.5.5", "aes256-ctr", "umac-128@openssh.com",
	    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
	    SP800_38A_IV, 0, SP800_38A_PLAIN, "601ec313775789a5b7a7f504bbf3d228"
	    "f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988d"
	    "dfc9c58db67aada613c2dd08457941a6" },
	{ "GCM, test case 4", "aes128-gcm@openssh.com", NULL,
	    GCM_KEY, GCM_IV, 4,
	    GCM_PLAIN, "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e0"
	    "35c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac97"
	    "3d58e091" },
	{ "GCM, test case 16", "aes256-gcm@openssh.com", NULL, GCM_KEY GCM_KEY,
	    GCM_IV, 4,
	    GCM_PLAIN, "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c9"
	    "7598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a"
	    "bcc9f662" },
	{ "RFC 8439, A.1 #2", "chacha20-poly1305@openssh.com", NULL,
	    ZERO32 ZERO32, "", 4, ZERO32 ZERO32,
	    "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
	    "29b721769ce64e43d57133b074d839d5"
	    "31ed1f28510afb45ace10a1f4b794d6f" },
};

/* Returns the number of bytes. */
static size_t
from_hex(const char *hex, u_char *bytes, size_t most)
{
	size_t n;

	for (n = 0; hex[2 * n] != '\0'; n++)
		if (n == most || sscanf(hex + 2 * n, "%2hhx", bytes + n) != 1)
			errx(2, "vector %s", hex);
	return n;
}

/* A sealed packet of zeros is the keystream, from its 6th byte on. */
static void
try_vector(const struct vector *v)
{
	struct end_keys keys = { .cipher = v->cipher, .mac = v->mac };
	u_char iv[64] = { 0 }, plain[64], sealed[64], wire[128];
	static u_char zeros[8192];
	struct ssh *end;
	size_t n, i;
	int fd, r;

	doing = v->source;
	from_hex(v->key, keys.bytes, sizeof(keys.bytes));
	from_hex(v->iv, iv, sizeof(iv));
	keys.iv = iv;
	n = from_hex(v->plain, plain, sizeof(plain));
	if (from_hex(v->sealed, sealed, sizeof(sealed)) != n)
		bad("a vector of two lengths", n);
	if ((fd = memfd_create("vector", 0)) == -1)
		err(1, "memfd_create");
	end = end_new(&keys, MODE_OUT, fd);
	send_one(end, SSH2_MSG_CHANNEL_DATA, zeros, sizeof(zeros), 0);
	if ((r = ssh_packet_write_wait(end)) != 0 ||
	    pread(fd, wire, sizeof(wire), 0) != sizeof(wire))
		errx(1, "%s: write: %s", doing, ssh_err(r));
	for (i = 6 - v->from; i < n; i++)
		if (wire[v->from + i] != (plain[i] ^ sealed[i]))
			bad("not the keystream that was published", i);
	end_free(end);
	close(fd);
	packets++;
}

static void
try(const char *cipher, const char *mac)
{
	struct end_keys keys = { .cipher = cipher, .mac = mac };
	struct sshbuf *wire = sshbuf_new();
	char name[200];
	size_t i, kexinit;

	snprintf(name, sizeof(name), "%s%s%s", cipher, mac ? " " : "",
	    mac ? mac : "");
	doing = name;
	for (i = 0; i < sizeof(keys.bytes); i++)
		keys.bytes[i] = (u_char)rnd(256);
	/* so that the counter carries */
	if (rnd(2) == 0)
		memset(keys.bytes + 4, 0xff, 12);
	kexinit = send_all(&keys, wire);
	receive_all(&keys, wire, kexinit);
	receive_late(&keys);
	sshbuf_free(wire);
}

static void
try_macs(const char *cipher, const char *only_etm)
{
	char *list = mac_alg_list(','), *p = list, *mac;

	while ((mac = strsep(&p, ",")) != NULL) {
		if (only_etm == NULL || strstr(mac, only_etm) != NULL)
			try(cipher, mac);
	}
	free(list);
}

static void
try_all(void)
{
	char *list = cipher_alg_list(',', 0), *p = list, *cipher;
	size_t i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		try_vector(&vectors[i]);
	while ((cipher = strsep(&p, ",")) != NULL) {
		if (cipher_authlen(cipher_by_name(cipher)) != 0)
			try(cipher, NULL);
		else if (strstr(cipher, "-cbc") != NULL)
			try(cipher, "hmac-sha2-256");	/* passes */
		else
			try_macs(cipher, NULL);
	}
	free(list);
	try(AUTHONLY_GMAC, NULL);
	try_macs(AUTHONLY_NONE, "-etm@");
}

int
main(int argc, char **argv)
{
	char msg[256], *words[1];
	size_t i;

	if (argc < 3 || argc > 5)
		errx(2, "usage: pipeline-oracle THREADS SEED [CIPHER [MAC]]");
	rnd_state = strtoull(argv[2], NULL, 10);
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (u_char)rnd(256);
	log_init(argv[0], SYSLOG_LEVEL_QUIET, SYSLOG_FACILITY_USER, 1);
	ends_offer_modes();
	words[0] = strcmp(argv[1], "0") == 0 ? "1" : argv[1];
	if (hayopt_read_line(HAYOPT_CLIENT, HAYOPT_GLOBAL, "CipherThreads", 1,
	    words, 1, msg, sizeof(msg)) != HAYOPT_ACCEPTED)
		errx(2, "%s", msg);
	no_threads = strcmp(argv[1], "0") == 0;
	pipeline_allow_threads();
	if (argc == 3)
		try_all();
	else
		try(argv[3], argc == 5 ? argv[4] : NULL);
	printf("%llu packets, %llu bytes\n", (unsigned long long)packets,
	    (unsigned long long)bytes);
	return 0;
}
