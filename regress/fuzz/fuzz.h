/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * What the fuzzers share. Each is a libFuzzer target: it takes bytes, makes a
 * peer or operations of them, and runs our code in this process. A fuzzer finds
 * what a sanitizer reports, what takes too long, and what its own checks deny.
 *
 * A program that fatal() ends is no finding: FUZZ_TRY() runs a block, and
 * fatal() leaves that block only.
 */

#ifndef HAYATE_FUZZ_H
#define HAYATE_FUZZ_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

int	LLVMFuzzerInitialize(int *argc, char ***argv);
int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* The bytes of an input that are not used yet */
struct fuzz {
	const uint8_t *p;
	size_t	 left;
};

/* The next byte, or 0 behind the end */
static inline unsigned
fuzz_byte(struct fuzz *f)
{
	if (f->left == 0)
		return 0;
	f->left--;
	return *f->p++;
}

/* A number from 0 to "most", which is less than 2^24 */
static inline size_t
fuzz_pick(struct fuzz *f, size_t most)
{
	size_t n = fuzz_byte(f);

	if (most > 0xff)
		n = n << 8 | fuzz_byte(f);
	if (most > 0xffff)
		n = n << 8 | fuzz_byte(f);
	return n % (most + 1);
}

extern sigjmp_buf fuzz_left;
extern int fuzz_trying;

#define FUZZ_TRY()	(fuzz_trying = 1, sigsetjmp(fuzz_left, 0) == 0)

/* Ends FUZZ_TRY(). Called in place of _exit(). */
void	fuzz_leave(int) __attribute__((noreturn));

#endif /* HAYATE_FUZZ_H */
