/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * poly1305-model: the tags of cipher/poly1305-hook.c must equal those of
 * upstream's portable code. It tests the message of RFC 8439, section 2.5.2,
 * then messages of all lengths from 0 to 2500 and round 32 and 255 KiB, at
 * several alignments.
 *
 * Prints the number of tags, and how many of them libcrypto made. With
 * "without" libcrypto has no Poly1305. With "speed" it prints for some lengths
 * the length and the nanoseconds of a tag by ours and by upstream's code.
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "poly1305.h"

#define MOST	(256 * 1024)

void poly1305_portable(u_char *, const u_char *, size_t, const u_char *);
EVP_MAC *__real_EVP_MAC_fetch(OSSL_LIB_CTX *, const char *, const char *);
EVP_MAC *__wrap_EVP_MAC_fetch(OSSL_LIB_CTX *, const char *, const char *);
int __real_EVP_MAC_final(EVP_MAC_CTX *, u_char *, size_t *, size_t);
int __wrap_EVP_MAC_final(EVP_MAC_CTX *, u_char *, size_t *, size_t);

typedef void tag_fn(u_char *, const u_char *, size_t, const u_char *);

static u_char message[MOST + 64];
static u_char key[POLY1305_KEYLEN];
static int without;
static size_t by_libcrypto;

EVP_MAC *
__wrap_EVP_MAC_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *query)
{
	return without ? NULL : __real_EVP_MAC_fetch(ctx, name, query);
}

int
__wrap_EVP_MAC_final(EVP_MAC_CTX *ctx, u_char *out, size_t *len, size_t most)
{
	by_libcrypto++;
	return __real_EVP_MAC_final(ctx, out, len, most);
}

static void
compare(const u_char *m, size_t len)
{
	u_char ours[POLY1305_TAGLEN], theirs[POLY1305_TAGLEN];

	poly1305_auth(ours, m, len, key);
	poly1305_portable(theirs, m, len, key);
	if (memcmp(ours, theirs, sizeof(ours)) != 0)
		errx(1, "the tags of %zu bytes differ", len);
	key[len % sizeof(key)] += (u_char)(len * 151 + 17);
}

static void
check_rfc8439(void)
{
	static const u_char rfc_key[] =
	    "\x85\xd6\xbe\x78\x57\x55\x6d\x33\x7f\x44\x52\xfe\x42\xd5\x06\xa8"
	    "\x01\x03\x80\x8a\xfb\x0d\xb2\xfd\x4a\xbf\xf6\xaf\x41\x49\xf5\x1b";
	static const u_char rfc_tag[] =
	    "\xa8\x06\x1d\xc1\x30\x51\x36\xc6\xc2\x2b\x8b\xaf\x0c\x01\x27\xa9";
	static const char text[] = "Cryptographic Forum Research Group";
	u_char tag[POLY1305_TAGLEN];

	poly1305_auth(tag, (const u_char *)text, strlen(text), rfc_key);
	if (memcmp(tag, rfc_tag, sizeof(tag)) != 0)
		errx(1, "the tag is not that of RFC 8439, section 2.5.2");
}

static double
nanoseconds(tag_fn *make_tag, size_t len)
{
	u_char tag[POLY1305_TAGLEN];
	struct timespec from, to;
	size_t n = 64 * 1024 * 1024 / (len + 512), i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < n; i++)
		make_tag(tag, message, len, key);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
	    (double)(to.tv_nsec - from.tv_nsec)) / (double)n;
}

int
main(int argc, char **argv)
{
	static const size_t lengths[] = { 64, 256, 512, 1024, 1500, 4096,
	    32768, 261120 };
	size_t i, n = 0;

	for (i = 0; i < sizeof(message); i++)
		message[i] = (u_char)(i * 2654435761U >> 13);
	if (argc == 2 && strcmp(argv[1], "speed") == 0) {
		for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
			printf("%zu %.0f %.0f\n", lengths[i],
			    nanoseconds(poly1305_auth, lengths[i]),
			    nanoseconds(poly1305_portable, lengths[i]));
		return 0;
	}
	without = argc == 2 && strcmp(argv[1], "without") == 0;
	check_rfc8439();
	for (i = 0; i <= 2500; i++, n++)
		compare(message + i % 64, i);
	for (i = 32 * 1024 - 20; i <= 32 * 1024 + 20; i++, n++)
		compare(message + i % 64, i);
	for (i = 255 * 1024 - 20; i <= 255 * 1024 + 20; i++, n++)
		compare(message + i % 64, i);
	printf("%zu tags, %zu of them by libcrypto\n", n, by_libcrypto);
	return 0;
}
