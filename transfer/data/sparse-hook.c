/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sparse-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "misc.h"

#include "sparse-hook.h"

/*
 * The smallest hole: what the smallest usual reply has. A smaller one is
 * cheaper to write than to leave out.
 */
#define HOLE_MIN	(32 * 1024)

/* Where holes begin and end: a multiple of the blocks of most file systems */
#define BLOCK		4096

/* What is downloaded */

/* Returns how many bytes at the beginning are zeros, in whole blocks. */
static size_t
zero_len(const u_char *p, size_t len)
{
	size_t n = 0;

	while (len - n >= BLOCK && p[n] == 0 &&
	    memcmp(p + n, p + n + 1, BLOCK - 1) == 0)
		n += BLOCK;
	return n;
}

/* Returns how many bytes from "off" on can become a hole. */
static size_t
hole_len_at(const u_char *p, size_t len, off_t off)
{
	size_t n = off % BLOCK == 0 ? zero_len(p, len) : 0;

	return n >= HOLE_MIN ? n : 0;
}

/* Returns how many bytes come before the next hole. */
static size_t
data_len_at(const u_char *p, size_t len, off_t off)
{
	size_t n = BLOCK - off % BLOCK, zero;

	while (n < len && (zero = zero_len(p + n, len - n)) < HOLE_MIN)
		n += MAXIMUM(zero, BLOCK);
	return MINIMUM(n, len);
}

/* Returns 1 if zeros at "off" are there because the file is longer now. */
static int
lengthen_file(int fd, size_t len, off_t off)
{
	struct stat sb;

	return fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    off >= sb.st_size && ftruncate(fd, off + (off_t)len) == 0;
}

/* Returns how many bytes were written. */
static size_t
write_all(int fd, const u_char *p, size_t len, off_t off)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(fd, p + done, len - done, off + (off_t)done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EPIPE;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

size_t
sparse_write(int fd, const u_char *p, size_t len, off_t off)
{
	size_t done = 0, n;

	while (done < len) {
		n = hole_len_at(p + done, len - done, off + done);
		if (n > 0 && lengthen_file(fd, n, off + done)) {
			done += n;
			continue;
		}
		if (n == 0)
			n = data_len_at(p + done, len - done, off + done);
		if (write_all(fd, p + done, n, off + done) != n)
			break;
		done += n;
	}
	return done;
}

/* What is uploaded */

#ifdef SEEK_DATA

/* Returns where data begins, at "off" or behind it: at the end, the size. */
static off_t
next_data_off(int fd, off_t off)
{
	/* What is appended meanwhile is no hole. */
	off_t end = lseek(fd, 0, SEEK_END), to = lseek(fd, off, SEEK_DATA);

	if (to == -1 && errno == ENXIO)
		to = end;
	return MAXIMUM(to, off);
}

int
sparse_is_worth(int fd, const struct stat *sb, int wide, int alone)
{
	off_t off = 0, to, least = !wide ? 0 : alone ? sb->st_size / 4 * 3 :
	    sb->st_size / 8;

	if ((off_t)sb->st_blocks * 512 >= sb->st_size - least)
		return 0;
	while ((off = lseek(fd, off, SEEK_HOLE)) != -1 && off < sb->st_size) {
		to = next_data_off(fd, off);
		if (to - off >= HOLE_MIN)
			break;
		if (to == off) {	/* it cannot be told */
			off = -1;
			break;
		}
		off = to;
	}
	(void)lseek(fd, 0, SEEK_SET);
	return off != -1 && off < sb->st_size;
}

size_t
sparse_next(int fd, off_t *off, size_t len)
{
	off_t begin = next_data_off(fd, *off), data, hole;

	if (begin - *off < HOLE_MIN)
		begin = *off;
	*off = data = begin;
	while ((hole = lseek(fd, data, SEEK_HOLE)) != -1 &&
	    hole - begin < (off_t)len) {
		data = next_data_off(fd, hole);
		if (data != hole && data - hole < HOLE_MIN)
			continue;
		/* A hole that is made just now is sent: 0 would be the end. */
		if (hole > begin)
			len = hole - begin;
		break;
	}
	(void)lseek(fd, begin, SEEK_SET);
	return len;
}

#else

int
sparse_is_worth(int fd, const struct stat *sb, int wide, int alone)
{
	(void)fd;
	(void)sb;
	(void)wide;
	(void)alone;
	return 0;
}

size_t
sparse_next(int fd, off_t *off, size_t len)
{
	(void)fd;
	(void)off;
	return len;
}

#endif
