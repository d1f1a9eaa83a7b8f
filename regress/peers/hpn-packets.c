/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hpn-packets: with LD_PRELOAD it lets a program of stock OpenSSH treat
 * a long packet as HPN-SSH 18.8 does. OpenSSH passes each packet to libcrypto's
 * EVP_Cipher() in one piece.
 *
 *	HPN_PACKETS=garble	what is beyond 32,896 bytes is wrong, sent or
 *				received. The tag of ChaCha20-Poly1305 is
 *				computed later, so it fits what is sent.
 *	HPN_PACKETS=cut		a packet of more than 33,792 bytes, sent or
 *				received, ends the program.
 */

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYSTREAM	32896
#define LONGEST		33792

typedef int crypt_fn(void *, unsigned char *, const unsigned char *,
    unsigned int);

crypt_fn EVP_Cipher;

int
EVP_Cipher(void *ctx, unsigned char *out, const unsigned char *in,
    unsigned int len)
{
	crypt_fn *real = (crypt_fn *)dlsym(RTLD_NEXT, "EVP_Cipher");
	const char *how = getenv("HPN_PACKETS");
	int r = real(ctx, out, in, len);
	unsigned int i;

	if (how == NULL || len <= KEYSTREAM)
		return r;
	if (strcmp(how, "cut") == 0 && len > LONGEST)
		_exit(255);
	for (i = KEYSTREAM; strcmp(how, "garble") == 0 && i < len; i++)
		out[i] ^= 0x5a;
	return r;
}
