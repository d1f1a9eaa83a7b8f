/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See ring.h for the idea. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for memfd_create(), O_DIRECT, F_SETPIPE_SZ */
#endif

#include <sys/types.h>

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "ring.h"

#ifdef __linux__

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <linux/sockios.h>

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

/*
 * A pipe of so many pages holds as many records. One more slot is read while
 * the pipe is full, and one more is written. The smallest buffer of a socket
 * takes six records.
 */
#define PIPE_PAGES	4
#define SLOTS		8

/* A copy of less costs little, and names and lengths stay as they were read. */
#define BORROW_LEAST	(32 * 1024)

#define MAGIC		"hayate ring 3"

/* vm.overcommit_ratio is rarely more than 100 %. */
#define PROMISE		4

#ifndef MFD_NOEXEC_SEAL		/* Linux 6.3 */
#define MFD_NOEXEC_SEAL	0x0008U
#endif

typedef u_char ring_slot[RING_SLOT];

/* At the start of the memory; one "way" for each ring. */
struct way {
	uint64_t	secret;
	uint64_t	inode;		/* of the program's end; 0: any */
	atomic_uint	attached;
	atomic_uint	taken;		/* slots that the reader has used */
};

struct head {
	char		magic[sizeof(MAGIC)];
	struct way	way[2];
	atomic_uint	mark;
	atomic_uint	changes;	/* of the note; odd: it changes now */
	_Atomic uint64_t note[RING_NOTE];
};

/*
 * malloc() places what is large 16 bytes behind the start of a page, and some
 * processors copy slowly to a place just behind that (channels/bufgrow.h). So a
 * slot begins a cache line behind a page.
 */
struct memory {
	union {
		struct head	head;
		u_char		page[4096 + 64];
	};
	ring_slot	slot[2][SLOTS];
};

struct record {
	uint64_t	secret;
	uint64_t	len;
};

struct ring {
	int		 fd, is_socket;
	struct memory	*memory;
	struct way	*way;
	ring_slot	*slot;
	uint64_t	 secret;
	unsigned int	 count;		/* slots written, or read */
	int		 on;
	const u_char	*rest;		/* of the slot, or of "stray" */
	size_t		 rest_len;
	u_char		 stray[sizeof(struct record)];	/* data, no record */
};

static uint64_t
inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static int
is_socket(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* A process with a limit gets a signal if it makes a larger file. */
static int
may_have_size(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/*
 * Whether the kernel gives a promise of far more memory than there is, which it
 * refuses only where it keeps its promises, or where the process has a limit.
 */
static int
is_promised_too_much(void)
{
	struct sysinfo has;
	uint64_t all;
	void *m;

	if (sysinfo(&has) == -1)
		return 0;
	all = ((uint64_t)has.totalram + has.totalswap) * has.mem_unit;
	if (all > SIZE_MAX / PROMISE)
		return 0;
	m = mmap(NULL, all * PROMISE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED)
		return 0;
	munmap(m, all * PROMISE);
	return 1;
}

/*
 * Where the kernel promises no more memory than it has, a page that is touched
 * first may end the process. In a ChrootDirectory there is no /proc.
 */
static int
may_overcommit(void)
{
	char policy;
	int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return is_promised_too_much();
	n = read(fd, &policy, 1);
	close(fd);
	return n == 1 ? policy != '2' : is_promised_too_much();
}

static struct memory *
map(int memory)
{
	void *m = mmap(NULL, sizeof(struct memory), PROT_READ | PROT_WRITE,
	    MAP_SHARED, memory, 0);

	if (m == MAP_FAILED)
		return NULL;
	(void)madvise(m, sizeof(struct memory), MADV_DONTDUMP);
	return m;
}

static int
write_head(int memory, int in, int out)
{
	struct head head = { .magic = MAGIC };
	uint64_t secrets[2];

	if (getrandom(secrets, sizeof(secrets), GRND_NONBLOCK) !=
	    sizeof(secrets))
		return -1;
	head.way[RING_INPUT].secret = secrets[0];
	head.way[RING_INPUT].inode = inode_of(in);
	head.way[RING_OUTPUT].secret = secrets[1];
	head.way[RING_OUTPUT].inode = inode_of(out);
	return pwrite(memory, &head, sizeof(head), 0) == sizeof(head) ? 0 : -1;
}

/* Memory that nobody can execute, where the kernel knows of that */
static int
make_memory(void)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int memory = memfd_create("hayate-ring", flags | MFD_NOEXEC_SEAL);

	return memory == -1 && errno == EINVAL ?
	    memfd_create("hayate-ring", flags) : memory;
}

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int
ring_make(int in, int out)
{
	int memory;

	if (!may_have_size(sizeof(struct memory))) {
		errno = EFBIG;
		return -1;
	}
	if (!may_overcommit()) {
		errno = ENOMEM;
		return -1;
	}
	if ((memory = make_memory()) == -1)
		return -1;
	if (ftruncate(memory, sizeof(struct memory)) == -1 ||
	    fcntl(memory, F_ADD_SEALS, SEALS) == -1 ||
	    write_head(memory, in, out) == -1) {
		close(memory);
		return -1;
	}
	return memory;
}

struct ring *
ring_open(int memory, enum ring_of of, int fd)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (r == NULL || (r->memory = map(memory)) == NULL) {
		free(r);
		return NULL;
	}
	r->fd = fd;
	r->is_socket = is_socket(fd);
	r->way = &r->memory->head.way[of];
	r->slot = r->memory->slot[of];
	r->secret = r->way->secret;
	return r;
}

void
ring_free(struct ring *r)
{
	if (r != NULL)
		munmap(r->memory, sizeof(*r->memory));
	free(r);
}

/* The note */

void
ring_put_note(struct ring *r, const uint64_t *p, size_t n)
{
	struct head *h = &r->memory->head;
	size_t i;

	atomic_fetch_add(&h->changes, 1);
	for (i = 0; i < n && i < RING_NOTE; i++)
		atomic_store(&h->note[i], p[i]);
	atomic_fetch_add(&h->changes, 1);
}

int
ring_get_note(const struct ring *r, uint64_t *p, size_t n)
{
	struct head *h = &r->memory->head;
	unsigned int was = atomic_load(&h->changes);
	size_t i;

	if (was == 0 || was % 2 != 0)
		return -1;
	for (i = 0; i < n; i++)
		p[i] = i < RING_NOTE ? atomic_load(&h->note[i]) : 0;
	return atomic_load(&h->changes) == was ? 0 : -1;
}

void
ring_set_mark(struct ring *r, unsigned int mark)
{
	atomic_store(&r->memory->head.mark, mark);
}

unsigned int
ring_mark(const struct ring *r)
{
	return atomic_load(&r->memory->head.mark);
}

/* Whether it is memory that ring_make() has made, and that cannot shrink */
static int
is_memory(int memory)
{
	struct stat st;
	int seals = fcntl(memory, F_GET_SEALS);

	return seals != -1 && (seals & SEALS) == SEALS &&
	    fstat(memory, &st) == 0 && st.st_size == sizeof(struct memory);
}

struct ring *
ring_attach(int memory, enum ring_of of, int fd)
{
	struct ring *r;

	if (!is_memory(memory) || (r = ring_open(memory, of, fd)) == NULL)
		return NULL;
	if (memcmp(r->memory->head.magic, MAGIC, sizeof(MAGIC)) != 0 ||
	    (r->way->inode != 0 && r->way->inode != inode_of(fd))) {
		ring_free(r);
		return NULL;
	}
	atomic_store(&r->way->attached, 1);
	return r;
}

int
ring_is_attached(const struct ring *r)
{
	return atomic_load(&r->way->attached) != 0;
}

int
ring_is_on(const struct ring *r)
{
	return r->on;
}

size_t
ring_pending(const struct ring *r)
{
	return r->rest_len;
}

/* Copies out what the slot still has. */
static ssize_t
take_rest(struct ring *r, void *p, size_t len)
{
	len = min_u64(len, r->rest_len);
	memcpy(p, r->rest, len);
	r->rest += len;
	r->rest_len -= len;
	if (r->rest_len == 0)	/* harmless after a stray */
		atomic_store(&r->way->taken, r->count);
	return len;
}

/*
 * Before the first record, a pipe gives it alone because it is a packet; a
 * socket would give what follows too. Looks at what is there, and returns 1 if
 * that is a record, or else 0 and in "*len" how much is there, because a record
 * may follow it in a moment. Returns -1 if there is nothing, or no more.
 */
static int
look_ahead(const struct ring *r, size_t *len, ssize_t *end)
{
	struct record rec;
	int n = 0;

	*end = recv(r->fd, &rec, sizeof(rec), MSG_PEEK);
	if (*end <= 0)
		return -1;
	if (*end == sizeof(rec) && rec.secret == r->secret)
		return 1;
	if (ioctl(r->fd, FIONREAD, &n) == 0 && n > 0)
		*len = min_u64(*len, n);
	return 0;
}

/* A record has come. Its data is the rest. Returns 0, or -1 with errno. */
static int
take_record(struct ring *r, const void *record)
{
	struct record rec;

	memcpy(&rec, record, sizeof(rec));
	if (rec.len == 0 || rec.len > RING_SLOT) {
		errno = EPROTO;
		return -1;
	}
	r->on = 1;
	r->rest = r->slot[r->count++ % SLOTS];
	r->rest_len = rec.len;
	return 0;
}

static int
is_record(const struct ring *r, const void *p, ssize_t n)
{
	return n == sizeof(struct record) &&
	    memcmp(p, &r->secret, sizeof(r->secret)) == 0;
}

/* Reads a record or a stray, which are the rest. Returns as read(). */
static ssize_t
read_alone(struct ring *r)
{
	ssize_t n = read(r->fd, r->stray, sizeof(r->stray));

	if (is_record(r, r->stray, n))
		return take_record(r, r->stray) == -1 ? -1 : n;
	if (n > 0) {
		r->rest = r->stray;
		r->rest_len = n;
	}
	return n;
}

ssize_t
ring_read(struct ring *r, void *p, size_t len)
{
	int alone = r->on || len < sizeof(r->stray);
	ssize_t n;

	if (r->rest_len > 0)
		return take_rest(r, p, len);
	if (!alone && r->is_socket && (alone = look_ahead(r, &len, &n)) == -1)
		return n;
	if (alone)
		return (n = read_alone(r)) <= 0 ? n : take_rest(r, p, len);
	n = read(r->fd, p, len);
	if (!is_record(r, p, n))
		return n;
	return take_record(r, p) == -1 ? -1 : take_rest(r, p, len);
}

ssize_t
ring_borrow(struct ring *r, const u_char **p)
{
	ssize_t n;

	*p = NULL;
	if (!r->on)
		return 1;
	if (r->rest_len == 0 && (n = read_alone(r)) <= 0)
		return n;
	if (r->rest_len < BORROW_LEAST)
		return 1;
	*p = r->rest;
	n = (ssize_t)r->rest_len;
	r->rest_len = 0;
	return n;
}

void
ring_return(struct ring *r)
{
	atomic_store(&r->way->taken, r->count);
}

/* Returns 1 if all that was written has been read. */
static int
is_empty(const struct ring *r)
{
	int n = 0;

	return ioctl(r->fd, r->is_socket ? SIOCOUTQ : FIONREAD, &n) == 0 &&
	    n == 0;
}

/* From now on each write to the pipe is a packet, which takes a page. */
static int
make_packets(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_DIRECT) == -1)
		return 0;
	if (fcntl(fd, F_SETPIPE_SZ, PIPE_PAGES * sysconf(_SC_PAGESIZE)) != -1)
		return 1;
	(void)fcntl(fd, F_SETFL, flags);
	return 0;
}

/*
 * Goes over to records if the reader has attached and the descriptor is empty.
 * From then on it holds fewer records than there are slots.
 */
static void
try_on(struct ring *r)
{
	int least = 1;

	if (!atomic_load(&r->way->attached) || !is_empty(r))
		return;
	r->on = r->is_socket ? setsockopt(r->fd, SOL_SOCKET, SO_SNDBUF, &least,
	    sizeof(least)) == 0 : make_packets(r->fd);
}

static unsigned int
used_slots(const struct ring *r)
{
	return r->count - atomic_load(&r->way->taken);
}

/*
 * Whether the slot after "count" is free. A descriptor that is full is found
 * here, before anything is copied; one that blocks waits in write().
 */
static int
has_slot(const struct ring *r)
{
	unsigned int used = used_slots(r);
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	if (used < PIPE_PAGES)
		return 1;
	return used < SLOTS && poll(&pfd, 1, 0) == 1;
}

/* Nobody will free a slot any more. */
static int
is_deserted(const struct ring *r)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 &&
	    (pfd.revents & (POLLERR | POLLHUP)) != 0;
}

int
ring_is_withheld(const struct ring *r)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && used_slots(r) >= SLOTS;
}

void *
ring_space_now(struct ring *r, size_t len)
{
	if (!r->on)
		try_on(r);
	return r->on && len <= RING_SLOT && has_slot(r) ?
	    r->slot[r->count % SLOTS] : NULL;
}

void *
ring_space(struct ring *r, size_t len)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };
	void *space;

	while ((space = ring_space_now(r, len)) == NULL) {
		if (!r->on || len > RING_SLOT || ring_is_withheld(r))
			return NULL;
		(void)poll(&pfd, 1, -1);
		if ((pfd.revents & (POLLERR | POLLHUP)) != 0)
			return NULL;
	}
	return space;
}

int
ring_post(struct ring *r, size_t len)
{
	struct record rec = { .secret = r->secret, .len = len };

	if (write(r->fd, &rec, sizeof(rec)) != sizeof(rec))
		return -1;
	r->count++;
	return 0;
}

ssize_t
ring_write(struct ring *r, const void *p, size_t len)
{
	void *space = ring_space_now(r, min_u64(len, RING_SLOT));

	if (!r->on)
		return write(r->fd, p, len);
	if (space == NULL) {
		errno = is_deserted(r) ? EPIPE :
		    ring_is_withheld(r) ? EPROTO : EAGAIN;
		return -1;
	}
	len = min_u64(len, RING_SLOT);
	memcpy(space, p, len);
	return ring_post(r, len) == 0 ? (ssize_t)len : -1;
}

#else /* !__linux__ */

int
ring_make(int in, int out)
{
	(void)in;
	(void)out;
	errno = ENOSYS;
	return -1;
}

struct ring *
ring_open(int memory, enum ring_of of, int fd)
{
	(void)memory;
	(void)of;
	(void)fd;
	return NULL;
}

struct ring *
ring_attach(int memory, enum ring_of of, int fd)
{
	return ring_open(memory, of, fd);
}

/* Nobody has a ring, so these are not reached. */

void
ring_free(struct ring *r)
{
	(void)r;
}

int
ring_is_attached(const struct ring *r)
{
	(void)r;
	return 0;
}

int
ring_is_on(const struct ring *r)
{
	(void)r;
	return 0;
}

ssize_t
ring_read(struct ring *r, void *p, size_t len)
{
	(void)r;
	(void)p;
	(void)len;
	return -1;
}

ssize_t
ring_borrow(struct ring *r, const unsigned char **p)
{
	(void)r;
	*p = NULL;
	return -1;
}

void
ring_return(struct ring *r)
{
	(void)r;
}

size_t
ring_pending(const struct ring *r)
{
	(void)r;
	return 0;
}

ssize_t
ring_write(struct ring *r, const void *p, size_t len)
{
	(void)r;
	(void)p;
	(void)len;
	return -1;
}

int
ring_is_withheld(const struct ring *r)
{
	(void)r;
	return 0;
}

void
ring_put_note(struct ring *r, const uint64_t *p, size_t n)
{
	(void)r;
	(void)p;
	(void)n;
}

int
ring_get_note(const struct ring *r, uint64_t *p, size_t n)
{
	(void)r;
	(void)p;
	(void)n;
	return -1;
}

void
ring_set_mark(struct ring *r, unsigned int mark)
{
	(void)r;
	(void)mark;
}

unsigned int
ring_mark(const struct ring *r)
{
	(void)r;
	return 0;
}

void *
ring_space(struct ring *r, size_t len)
{
	(void)r;
	(void)len;
	return NULL;
}

void *
ring_space_now(struct ring *r, size_t len)
{
	return ring_space(r, len);
}

int
ring_post(struct ring *r, size_t len)
{
	(void)r;
	(void)len;
	return -1;
}

#endif
