/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sha256-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_SHA2_H
# include <sha2.h>
#endif

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "log.h"
#include "xmalloc.h"

#include "sha256-hook.h"

/* The name under which a program is linked with this version, if it tells. */
#define AS_TEXT(x)	#x
#define LIBRARY_OF(x)	"libcrypto.so." AS_TEXT(x)
#if defined(OPENSSL_SHLIB_VERSION)
# define LIBCRYPTO	LIBRARY_OF(OPENSSL_SHLIB_VERSION)
#elif defined(SHLIB_VERSION_NUMBER)
# define LIBCRYPTO	"libcrypto.so." SHLIB_VERSION_NUMBER
#else
# define LIBCRYPTO	""
#endif

/*
 * A note in the program, by which packaging tools know what it loads (systemd's
 * specification "dlopen() Metadata for ELF Files")
 */
#define NOTE	"[{\"soname\":[\"" LIBCRYPTO "\"],\"feature\":\"sha256\"," \
    "\"description\":\"fast verification of files\"," \
    "\"priority\":\"recommended\"}]"
static const struct {
	uint32_t name_len, text_len, type;
	char	 name[4], text[sizeof(NOTE)];
} note __attribute__((used, aligned(4), section(".note.dlopen"))) = {
	4, sizeof(NOTE), 0x407c0c0a, "FDO", NOTE
};

/* At exit libcrypto is left alone: a signal may have interrupted it. */
#define INIT_OPTIONS	(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT)

#define FOR_EACH_FUNCTION(X)						\
	X(OPENSSL_init_crypto)						\
	X(ERR_get_error)						\
	X(ERR_error_string_n)						\
	X(EVP_MD_CTX_new)						\
	X(EVP_MD_CTX_free)						\
	X(EVP_sha256)							\
	X(EVP_DigestInit_ex)						\
	X(EVP_DigestUpdate)						\
	X(EVP_DigestFinal_ex)

/* NULL in a program that is not linked with libcrypto */
#define DECLARE_WEAK(f)	extern __typeof__(f) f __attribute__((weak));
FOR_EACH_FUNCTION(DECLARE_WEAK)

#define DECLARE_POINTER(f)	__typeof__(&f) f;
#define LINKED(f)		f,
static struct {
	FOR_EACH_FUNCTION(DECLARE_POINTER)
} libcrypto = { FOR_EACH_FUNCTION(LINKED) };

/*
 * libcrypto is loaded for the bytes after these. The portable code hashes them
 * in the 2 ms that libcrypto takes until its first hash.
 */
#define FEW_BYTES	(512 * 1024)

struct sha256 {
	EVP_MD_CTX *ctx;		/* NULL: without libcrypto so far */
	SHA2_CTX portable;
};

static int
load_function(void *handle, const char *name, void *to)
{
	void *found = dlsym(handle, name);

	memcpy(to, &found, sizeof(found));
	return found == NULL ? -1 : 0;
}

static int
load_libcrypto(void)
{
	void *handle = dlopen(LIBCRYPTO, RTLD_NOW | RTLD_LOCAL);

#define IS_MISSING(f)	|| load_function(handle, #f, &libcrypto.f) == -1
	return handle == NULL FOR_EACH_FUNCTION(IS_MISSING) ? -1 : 0;
}

/* Returns 1 if libcrypto is to compute a hash of "len" bytes. */
static int
use_libcrypto(uint64_t len)
{
	static enum { NOT_TRIED, LOADED, MISSING } state;
	static uint64_t few = FEW_BYTES;	/* what is left of them */

	if (state != NOT_TRIED)
		return state == LOADED;
	if (libcrypto.EVP_sha256 == NULL && len <= few) {
		few -= len;
		return 0;
	}
	state = libcrypto.EVP_sha256 != NULL || load_libcrypto() == 0 ?
	    LOADED : MISSING;
	if (state == MISSING)
		verbose("hashing takes longer, without libcrypto: %s",
		    dlerror());
	return state == LOADED;
}

static int
report_failure(void)
{
	char text[256];

	libcrypto.ERR_error_string_n(libcrypto.ERR_get_error(), text,
	    sizeof(text));
	error("libcrypto cannot compute SHA-256: %s", text);
	return -1;
}

struct sha256 *
sha256_new(void)
{
	return xcalloc(1, sizeof(struct sha256));
}

void
sha256_free(struct sha256 *x)
{
	if (x != NULL && x->ctx != NULL)
		libcrypto.EVP_MD_CTX_free(x->ctx);
	free(x);
}

static int
begin_with_libcrypto(struct sha256 *x)
{
	if (x->ctx == NULL &&
	    libcrypto.OPENSSL_init_crypto(INIT_OPTIONS, NULL) == 1)
		x->ctx = libcrypto.EVP_MD_CTX_new();
	if (x->ctx == NULL || libcrypto.EVP_DigestInit_ex(x->ctx,
	    libcrypto.EVP_sha256(), NULL) != 1)
		return report_failure();
	return 0;
}

int
sha256_begin(struct sha256 *x, uint64_t len)
{
	if (use_libcrypto(len))
		return begin_with_libcrypto(x);
	SHA256Init(&x->portable);
	return 0;
}

int
sha256_add(struct sha256 *x, const void *p, size_t len)
{
	if (x->ctx == NULL)
		SHA256Update(&x->portable, p, len);
	else if (libcrypto.EVP_DigestUpdate(x->ctx, p, len) != 1)
		return report_failure();
	return 0;
}

int
sha256_end(struct sha256 *x, unsigned char hash[SHA256_LEN])
{
	if (x->ctx == NULL)
		SHA256Final(hash, &x->portable);
	else if (libcrypto.EVP_DigestFinal_ex(x->ctx, hash, NULL) != 1)
		return report_failure();
	return 0;
}
