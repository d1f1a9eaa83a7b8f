/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * ring-test: the claims of common/ring.h. Prints the first claim that does not
 * hold and exits with 1.
 *
 * One process plays both ends, except where the claim is about waiting.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for memfd_create(), pipe2() */
#endif

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"

#define RECORD	16
#define NOEXEC_SEAL	0x0008U		/* MFD_NOEXEC_SEAL */

static int in[2], out[2];		/* of the program: a pipe, sockets */
static int memory;
static struct ring *to, *from;		/* the maker's ends */
static struct ring *ends[2];		/* the program's */
static uint8_t bytes[2 * RING_SLOT], got[2 * RING_SLOT];

static void
claim(int so, const char *what)
{
	if (!so)
		errx(1, "not so: %s (errno %d)", what, errno);
}

static void
do_attach(void)
{
	ends[RING_INPUT] = ring_attach(memory, RING_INPUT, in[0]);
	ends[RING_OUTPUT] = ring_attach(memory, RING_OUTPUT, out[1]);
	claim(ends[0] != NULL && ends[1] != NULL, "the program attaches");
}

static void
begin(int attach)
{
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = rand();
	claim(pipe2(in, O_NONBLOCK) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, out) == 0,
	    "there are descriptors");
	claim((memory = ring_create(in[0], out[1])) != -1, "there is memory");
	to = ring_open(memory, RING_INPUT, in[1]);
	from = ring_open(memory, RING_OUTPUT, out[0]);
	claim(to != NULL && from != NULL, "the maker has its ends");
	ends[0] = ends[1] = NULL;
	if (attach)
		do_attach();
}

static void
end(void)
{
	ring_free(to);
	ring_free(from);
	ring_free(ends[0]);
	ring_free(ends[1]);
	close(memory);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

/* Returns 1 if "n" bytes that "w" writes arrive at "r" as they are. */
static int
arrives(struct ring *w, struct ring *r, size_t n)
{
	memset(got, 0, n);
	return ring_write(w, bytes, n) == (ssize_t)n &&
	    ring_read(r, got, sizeof(got)) == (ssize_t)n &&
	    memcmp(got, bytes, n) == 0 && ring_pending(r) == 0;
}

static void
check_data(void)
{
	static const size_t sizes[] = { 1, RECORD - 1, RECORD, RECORD + 1, 4096,
	    65536, RING_SLOT - 1, RING_SLOT };
	size_t i, turn;

	begin(1);
	for (turn = 0; turn < 20; turn++) {
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			claim(arrives(to, ends[RING_INPUT], sizes[i]),
			    "input arrives");
			claim(arrives(ends[RING_OUTPUT], from, sizes[i]),
			    "output arrives");
		}
	}
	claim(ring_write(to, bytes, sizeof(bytes)) == RING_SLOT,
	    "a slot is the most that is written");
	end();
}

static void
check_pieces(void)
{
	size_t n = 0;

	begin(1);
	claim(ring_write(to, bytes, 100000) == 100000, "it is written");
	while (n < 100000) {
		ssize_t len = ring_read(ends[RING_INPUT], got + n, 777);

		claim(len > 0, "a slot is read in parts");
		n += len;
		claim(ring_pending(ends[RING_INPUT]) == 100000 - n,
		    "the rest is pending");
	}
	claim(memcmp(got, bytes, n) == 0, "the parts are the slot");
	claim(ring_read(ends[RING_INPUT], got, 777) == -1 && errno == EAGAIN,
	    "then there is no more");
	end();
}

/* A reader that asks for less than a record, before and after the first one */
static void
check_small_reads(void)
{
	size_t n;
	char text[4];

	begin(1);
	claim(write(out[1], "one two ", 8) == 8, "data comes first");
	claim(ring_read(from, text, 4) == 4 && memcmp(text, "one ", 4) == 0 &&
	    ring_read(from, text, 4) == 4 && memcmp(text, "two ", 4) == 0,
	    "it is read by words");
	claim(ring_write(ends[RING_OUTPUT], bytes, 1001) == 1001 &&
	    ring_write(ends[RING_OUTPUT], bytes + 1001, 999) == 999,
	    "records follow");
	for (n = 0; n < 2000;) {
		ssize_t len = ring_read(from, got + n, 2000 - n < 4 ?
		    2000 - n : 4);

		claim(len > 0, "they are read by words");
		n += len;
	}
	claim(memcmp(got, bytes, n) == 0, "and are what was written");
	end();
}

static void
check_unattached(void)
{
	begin(0);
	claim(ring_write(to, bytes, 50000) == 50000 &&
	    read(in[0], got, sizeof(got)) == 50000 &&
	    memcmp(got, bytes, 50000) == 0,
	    "a program that does not attach reads an ordinary pipe");
	claim(write(out[1], bytes, 50000) == 50000 &&
	    ring_read(from, got, sizeof(got)) == 50000 &&
	    memcmp(got, bytes, 50000) == 0, "and writes one");
	end();
}

/* What was written before is data, and what follows it waits for that. */
static void
check_late(void)
{
	begin(0);
	claim(ring_write(to, bytes, 1000) == 1000, "it is written before");
	do_attach();
	claim(ring_write(to, bytes + 1000, 500) == 500, "data follows data");
	claim(ring_read(ends[RING_INPUT], got, sizeof(got)) == 1500 &&
	    memcmp(got, bytes, 1500) == 0, "both arrive as one");
	claim(arrives(to, ends[RING_INPUT], 2000), "then a record");
	/* A program may write after one that had attached. */
	claim(arrives(ends[RING_OUTPUT], from, 3000), "a record");
	claim(write(out[1], "bye", 3) == 3 &&
	    ring_read(from, got, sizeof(got)) == 3 &&
	    memcmp(got, "bye", 3) == 0, "data after a record is data");
	end();
}

/* A full ring refuses and poll() says so; a slot that was read is free. */
static void
check_full(struct ring *w, struct ring *r, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	unsigned int n, i;

	for (n = 0; ring_write(w, bytes + n, RING_SLOT) == RING_SLOT; n++)
		claim(n < 100, "a ring becomes full");
	claim(errno == EAGAIN && n >= 4, "then it refuses, with some slots");
	claim(poll(&pfd, 1, 0) == 0, "poll() does not wake a writer in vain");
	for (i = 0; i < n; i++)
		claim(ring_read(r, got, sizeof(got)) == RING_SLOT &&
		    memcmp(got, bytes + i, RING_SLOT) == 0,
		    "nothing was overwritten");
	claim(poll(&pfd, 1, 0) == 1, "poll() wakes it then");
	claim(arrives(w, r, 5000), "and there is room again");
}

/* A reader that takes records and frees no slot: no writer waits for that. */
static void
check_withheld(struct ring *w, int reader)
{
	uint8_t record[RECORD];
	int n = 0;

	while (ring_write(w, bytes, 1) == 1) {
		claim(read(reader, record, RECORD) == RECORD && n++ < 100,
		    "a record is taken");
	}
	claim(errno == EPROTO && ring_reserve(w, 1) == NULL &&
	    ring_peer_stalled(w), "slots that nobody frees are an error");
}

static void
check_ends(void)
{
	begin(1);
	claim(arrives(to, ends[RING_INPUT], 10), "a record");
	claim(ring_write(to, bytes, 10) == 10, "and one more");
	close(in[1]);
	claim(ring_read(ends[RING_INPUT], got, sizeof(got)) == 10 &&
	    ring_read(ends[RING_INPUT], got, sizeof(got)) == 0,
	    "the end of file comes after the last slot");
	close(out[0]);
	claim(ring_write(ends[RING_OUTPUT], bytes, 10) == -1 && errno == EPIPE,
	    "nobody reads: EPIPE");
	in[1] = out[0] = -1;
	end();
}

static void
check_space(void)
{
	uint8_t *p;

	begin(1);
	claim((uintptr_t)ring_reserve(to, 1) % 4096 == 64,
	    "a slot begins a cache line behind a page");
	claim((p = ring_reserve(to, 1000)) != NULL, "there is room");
	memcpy(p, bytes, 1000);
	claim(ring_commit(to, 900) == 0, "a part of it is posted");
	claim(ring_read(ends[RING_INPUT], got, sizeof(got)) == 900 &&
	    memcmp(got, bytes, 900) == 0, "that part arrives");
	claim(ring_reserve(to, RING_SLOT + 1) == NULL, "a slot is the most");
	end();
}

/* An acquired slot counts as one that a reader holds. */
static void
check_borrowing(void)
{
	struct pollfd pfd = { .events = POLLOUT };
	const unsigned char *p;
	int n;

	begin(1);
	claim(ring_acquire(ends[RING_INPUT], &p) == 1 && p == NULL,
	    "before the first record nothing is acquired");
	claim(arrives(to, ends[RING_INPUT], 10), "a record");
	claim(ring_acquire(ends[RING_INPUT], &p) == -1 && errno == EAGAIN,
	    "nothing is there");
	claim(ring_write(to, bytes, 1000) == 1000 &&
	    ring_acquire(ends[RING_INPUT], &p) == 1 && p == NULL &&
	    ring_read(ends[RING_INPUT], got, sizeof(got)) == 1000 &&
	    memcmp(got, bytes, 1000) == 0, "what is little is read");
	claim(ring_write(to, bytes, 100000) == 100000 &&
	    ring_read(ends[RING_INPUT], got, 1000) == 1000 &&
	    ring_acquire(ends[RING_INPUT], &p) == 99000 &&
	    ring_pending(ends[RING_INPUT]) == 0 &&
	    memcmp(p, bytes + 1000, 99000) == 0, "the rest is acquired");
	pfd.fd = in[1];
	for (n = 0; ring_write(to, bytes + n, RING_SLOT) == RING_SLOT; n++)
		claim(n < 100, "a ring becomes full");
	claim(errno == EAGAIN && poll(&pfd, 1, 0) == 0 &&
	    !ring_peer_stalled(to), "a writer can wait for such a reader");
	claim(memcmp(p, bytes + 1000, 99000) == 0, "which keeps its slot");
	ring_release(ends[RING_INPUT]);
	while (n-- > 0)
		claim(ring_acquire(ends[RING_INPUT], &p) == RING_SLOT &&
		    p != NULL && (ring_release(ends[RING_INPUT]), 1),
		    "each slot is acquired");
	claim(ring_write(to, bytes, RING_SLOT) == RING_SLOT, "there is room");
	close(in[1]);
	claim(ring_acquire(ends[RING_INPUT], &p) == RING_SLOT &&
	    (ring_release(ends[RING_INPUT]), 1) &&
	    ring_acquire(ends[RING_INPUT], &p) == 0, "and then the end");
	in[1] = -1;
	end();
}

/* A reader that releases nothing stalls the ring, as any other. */
static void
check_keeping(void)
{
	const unsigned char *p;
	int n = 0;

	begin(1);
	claim(arrives(to, ends[RING_INPUT], 10), "a record");
	while (ring_write(to, bytes, RING_SLOT) == RING_SLOT)
		claim(ring_acquire(ends[RING_INPUT], &p) == RING_SLOT &&
		    n++ < 100, "a slot is acquired");
	claim(errno == EPROTO, "slots that nobody returns are an error");
	end();
}

static void
fill(struct ring *r)
{
	while (ring_write(r, bytes, 1) == 1)
		;
	claim(errno == EAGAIN, "a ring becomes full");
}

static void
check_waiting(void)
{
	int status;
	pid_t reader;

	begin(0);
	claim(ring_reserve(to, 1) == NULL, "without records nobody waits");
	end();
	begin(1);
	fill(to);
	claim(ring_reserve(to, RING_SLOT + 1) == NULL,
	    "nor for more than a slot");
	if ((reader = fork()) == 0) {
		usleep(50000);
		_exit(ring_read(ends[RING_INPUT], got, sizeof(got)) != 1);
	}
	claim(ring_reserve(to, 1) != NULL, "room is waited for");
	claim(waitpid(reader, &status, 0) == reader && status == 0,
	    "because the reader has read");
	fill(to);
	close(in[0]);
	claim(ring_reserve(to, 1) == NULL ||
	    (ring_commit(to, 1) == -1 && errno == EPIPE),
	    "not if nobody reads");
	end();
}

/* Sends a record like the last one, with another length. */
static void
check_bad_length(uint64_t len)
{
	uint8_t record[RECORD];

	begin(1);
	claim(arrives(to, ends[RING_INPUT], 10), "a record");
	claim(ring_write(to, bytes, 10) == 10 &&
	    read(in[0], record, RECORD) == RECORD, "another is caught");
	memcpy(record + RECORD - sizeof(len), &len, sizeof(len));
	claim(write(in[1], record, RECORD) == RECORD, "it is changed");
	claim(ring_read(ends[RING_INPUT], got, sizeof(got)) == -1 &&
	    errno == EPROTO, "a length beyond a slot is an error");
	end();
}

static void
check_attaching(void)
{
	struct rlimit least = { 1000, RLIM_INFINITY };
	int other[2], plain;

	begin(0);
	claim(pipe(other) == 0, "there is another pipe");
	claim(ring_attach(memory, RING_INPUT, other[0]) == NULL &&
	    ring_attach(memory, RING_OUTPUT, other[1]) == NULL,
	    "the memory is for two descriptors");
	claim(ring_attach(in[0], RING_INPUT, in[0]) == NULL,
	    "a pipe is not memory");
	plain = memfd_create("plain", 0);
	claim(plain != -1 && ftruncate(plain, 1 << 23) == 0 &&
	    ring_attach(plain, RING_INPUT, in[0]) == NULL,
	    "nor is a file that can shrink");
	claim(ftruncate(memory, 0) == -1 && ftruncate(memory, 1 << 24) == -1,
	    "the memory cannot be cut");
	close(plain);
	close(other[0]);
	close(other[1]);
	end();
	claim(setrlimit(RLIMIT_FSIZE, &least) == 0, "files are limited");
	claim(ring_create(0, 1) == -1 && errno == EFBIG,
	    "a limit of files is an error and no signal");
}

#define ARGUMENT(n) (offsetof(struct seccomp_data, args[n]) +		\
    (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0))

/* From now on the call fails if argument "n" has one of the bits "mask". */
static void
fail_call(uint32_t call, unsigned int n, uint32_t mask, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(n)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog program = {
		sizeof(filter) / sizeof(*filter), filter
	};

	claim(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
	    "a call fails");
}

/* Returns 0 or errno of ring_create() in a process that has called "how". */
static int
make_with(void (*how)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		how();
		_exit(ring_create(-1, -1) == -1 ? errno : 0);
	}
	claim(waitpid(child, &status, 0) == child && WIFEXITED(status),
	    "a process tries");
	return WEXITSTATUS(status);
}

static void
be_in_chroot(void)
{
	fail_call(SYS_openat, 2, O_CLOEXEC, ENOENT);
#ifdef SYS_open		/* by which musl opens a file */
	fail_call(SYS_open, 1, O_CLOEXEC, ENOENT);
#endif
}

/* ... and vm.overcommit_memory is 2. */
static void
be_in_chroot_with_promises(void)
{
	fail_call(SYS_mmap, 3, MAP_NORESERVE, ENOMEM);
	be_in_chroot();
}

static void
be_on_old_kernel(void)
{
	fail_call(SYS_memfd_create, 1, NOEXEC_SEAL, EINVAL);
}

static void
check_making(void)
{
	struct stat st;
	int plain = memfd_create("plain", NOEXEC_SEAL);

	begin(0);
	claim(plain == -1 || (fstat(memory, &st) == 0 &&
	    (st.st_mode & 0111) == 0 && fchmod(memory, 0700) == -1),
	    "nobody can execute the memory, where the kernel knows of that");
	close(plain);
	end();
	claim(make_with(be_on_old_kernel) == 0, "there is memory elsewhere");
	claim(make_with(be_in_chroot) == 0, "and without /proc");
	claim(make_with(be_in_chroot_with_promises) == ENOMEM,
	    "but not if the kernel keeps its promises");
}

/* Beside the bytes */
static void
check_note(void)
{
	uint64_t side[RING_SIDE_WORDS + 1], read[RING_SIDE_WORDS + 1];
	size_t i;

	for (i = 0; i <= RING_SIDE_WORDS; i++)
		side[i] = UINT64_MAX - i;
	begin(1);
	claim(ring_get_side_data(to, read, 1) == -1,
	    "there is no side data at first");
	claim(ring_tag(ends[RING_INPUT]) == 0, "nor a tag");
	ring_put_side_data(ends[RING_INPUT], side, RING_SIDE_WORDS + 1);
	claim(ring_get_side_data(to, read, RING_SIDE_WORDS) == 0 &&
	    memcmp(read, side, sizeof(side) - sizeof(*side)) == 0,
	    "side data is read");
	claim(ring_get_side_data(from, read, RING_SIDE_WORDS + 1) == 0 &&
	    read[RING_SIDE_WORDS] == 0, "what is too long is cut");
	ring_put_side_data(ends[RING_INPUT], side + 1, 1);
	claim(ring_get_side_data(to, read, 2) == 0 && read[0] == side[1] &&
	    read[1] == side[1], "short side data changes its numbers only");
	ring_set_tag(to, 7);
	claim(ring_tag(ends[RING_INPUT]) == 7, "a tag is read");
	claim(arrives(to, ends[RING_INPUT], 1000), "and bytes still pass");
	end();
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	check_data();
	check_pieces();
	check_small_reads();
	check_unattached();
	check_late();
	begin(1);
	check_full(to, ends[RING_INPUT], in[1]);
	check_full(ends[RING_OUTPUT], from, out[1]);
	end();
	begin(1);
	check_withheld(to, in[0]);
	check_withheld(ends[RING_OUTPUT], out[0]);
	end();
	check_ends();
	check_space();
	check_borrowing();
	check_keeping();
	check_note();
	check_waiting();
	check_bad_length(0);
	check_bad_length(RING_SLOT + 1);
	check_bad_length(UINT64_MAX);
	check_making();
	check_attaching();
	puts("ok");
	return 0;
}
