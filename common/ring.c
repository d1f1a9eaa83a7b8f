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
 * A pipe of PIPE_PAGES pages holds as many records. One more slot is being read
 * while the pipe is full, and one more is being written. The smallest buffer of
 * a socket holds six records.
 */
#define PIPE_PAGES	4
#define SLOTS		8

/*
 * Bytes. A copy of less costs little, and names and lengths in it cannot change
 * after they were checked.
 */
#define ZERO_COPY_MIN	(32 * 1024)

#define MAGIC		"hayate ring 3"

/* vm.overcommit_ratio is rarely more than 100 %. */
#define OVERCOMMIT_PROBE		4

#ifndef MFD_NOEXEC_SEAL		/* Linux 6.3 */
#define MFD_NOEXEC_SEAL	0x0008U
#endif

typedef u_char ring_slot[RING_SLOT];

/* The control block of a ring, at the start of the memory */
struct control {
	uint64_t	secret;
	uint64_t	inode;		/* of its descriptor; 0: any */
	atomic_uint	attached;
	atomic_uint	released;	/* slots that the reader has freed */
};

struct header {
	char		magic[sizeof(MAGIC)];
	struct control	ctl[2];
	atomic_uint	tag;
	atomic_uint	side_seq;	/* odd while it is being changed */
	_Atomic uint64_t side_data[RING_SIDE_WORDS];
};

/*
 * malloc() places large memory 16 bytes behind the start of a page, and some
 * processors copy slowly to a place just behind that (channels/bufgrow.h). So a
 * slot begins a cache line behind a page.
 */
struct memory {
	union {
		struct header	head;
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
	struct control	*ctl;
	ring_slot	*slot;
	uint64_t	 secret;
	unsigned int	 count;		/* slots written, or read */
	int		 uses_records;
	const u_char	*rest;		/* unread part of slot or "stray" */
	size_t		 rest_len;
	u_char		 stray[sizeof(struct record)];	/* data, no record */
};

static uint64_t
get_inode(int fd)
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

/*
 * Returns 1 if the process may make a file of that size; beyond its limit it
 * would get a signal.
 */
static int
fits_file_limit(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/*
 * Returns 1 if the kernel grants far more memory than there is. It refuses that
 * only if it does not overcommit, or if the process has a limit.
 */
static int
probe_overcommit(void)
{
	struct sysinfo has;
	uint64_t all;
	void *m;

	if (sysinfo(&has) == -1)
		return 0;
	all = ((uint64_t)has.totalram + has.totalswap) * has.mem_unit;
	if (all > SIZE_MAX / OVERCOMMIT_PROBE)
		return 0;
	m = mmap(NULL, all * OVERCOMMIT_PROBE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED)
		return 0;
	munmap(m, all * OVERCOMMIT_PROBE);
	return 1;
}

/*
 * Returns 1 if the kernel overcommits memory. If it does not, touching a page
 * for the first time may end the process. In a ChrootDirectory there is no
 * /proc.
 */
static int
kernel_overcommits(void)
{
	char policy;
	int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return probe_overcommit();
	n = read(fd, &policy, 1);
	close(fd);
	return n == 1 ? policy != '2' : probe_overcommit();
}

static struct memory *
map_memory(int memory)
{
	void *m = mmap(NULL, sizeof(struct memory), PROT_READ | PROT_WRITE,
	    MAP_SHARED, memory, 0);

	if (m == MAP_FAILED)
		return NULL;
	(void)madvise(m, sizeof(struct memory), MADV_DONTDUMP);
	return m;
}

static int
write_header(int memory, int in, int out)
{
	struct header head = { .magic = MAGIC };
	uint64_t secrets[2];

	if (getrandom(secrets, sizeof(secrets), GRND_NONBLOCK) !=
	    sizeof(secrets))
		return -1;
	head.ctl[RING_INPUT].secret = secrets[0];
	head.ctl[RING_INPUT].inode = get_inode(in);
	head.ctl[RING_OUTPUT].secret = secrets[1];
	head.ctl[RING_OUTPUT].inode = get_inode(out);
	return pwrite(memory, &head, sizeof(head), 0) == sizeof(head) ? 0 : -1;
}

/* Creates memory that nobody can execute, if the kernel knows that flag. */
static int
create_memfd(void)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int memory = memfd_create("hayate-ring", flags | MFD_NOEXEC_SEAL);

	return memory == -1 && errno == EINVAL ?
	    memfd_create("hayate-ring", flags) : memory;
}

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int
ring_create(int in, int out)
{
	int memory;

	if (!fits_file_limit(sizeof(struct memory))) {
		errno = EFBIG;
		return -1;
	}
	if (!kernel_overcommits()) {
		errno = ENOMEM;
		return -1;
	}
	if ((memory = create_memfd()) == -1)
		return -1;
	if (ftruncate(memory, sizeof(struct memory)) == -1 ||
	    fcntl(memory, F_ADD_SEALS, SEALS) == -1 ||
	    write_header(memory, in, out) == -1) {
		close(memory);
		return -1;
	}
	return memory;
}

struct ring *
ring_open(int memory, enum ring_dir dir, int fd)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (r == NULL || (r->memory = map_memory(memory)) == NULL) {
		free(r);
		return NULL;
	}
	r->fd = fd;
	r->is_socket = is_socket(fd);
	r->ctl = &r->memory->head.ctl[dir];
	r->slot = r->memory->slot[dir];
	r->secret = r->ctl->secret;
	return r;
}

void
ring_free(struct ring *r)
{
	if (r != NULL)
		munmap(r->memory, sizeof(*r->memory));
	free(r);
}

/* Side data */

void
ring_put_side_data(struct ring *r, const uint64_t *p, size_t n)
{
	struct header *h = &r->memory->head;
	size_t i;

	atomic_fetch_add(&h->side_seq, 1);
	for (i = 0; i < n && i < RING_SIDE_WORDS; i++)
		atomic_store(&h->side_data[i], p[i]);
	atomic_fetch_add(&h->side_seq, 1);
}

int
ring_get_side_data(const struct ring *r, uint64_t *p, size_t n)
{
	struct header *h = &r->memory->head;
	unsigned int was = atomic_load(&h->side_seq);
	size_t i;

	if (was == 0 || was % 2 != 0)
		return -1;
	for (i = 0; i < n; i++)
		p[i] = i < RING_SIDE_WORDS ? atomic_load(&h->side_data[i]) : 0;
	return atomic_load(&h->side_seq) == was ? 0 : -1;
}

void
ring_set_tag(struct ring *r, unsigned int tag)
{
	atomic_store(&r->memory->head.tag, tag);
}

unsigned int
ring_tag(const struct ring *r)
{
	return atomic_load(&r->memory->head.tag);
}

/* Returns 1 if ring_create() has made this memory, so that it cannot shrink. */
static int
is_ring_memory(int memory)
{
	struct stat st;
	int seals = fcntl(memory, F_GET_SEALS);

	return seals != -1 && (seals & SEALS) == SEALS &&
	    fstat(memory, &st) == 0 && st.st_size == sizeof(struct memory);
}

struct ring *
ring_attach(int memory, enum ring_dir dir, int fd)
{
	struct ring *r;

	if (!is_ring_memory(memory) || (r = ring_open(memory, dir, fd)) == NULL)
		return NULL;
	if (memcmp(r->memory->head.magic, MAGIC, sizeof(MAGIC)) != 0 ||
	    (r->ctl->inode != 0 && r->ctl->inode != get_inode(fd))) {
		ring_free(r);
		return NULL;
	}
	atomic_store(&r->ctl->attached, 1);
	return r;
}

int
ring_is_attached(const struct ring *r)
{
	return atomic_load(&r->ctl->attached) != 0;
}

int
ring_uses_records(const struct ring *r)
{
	return r->uses_records;
}

size_t
ring_pending(const struct ring *r)
{
	return r->rest_len;
}

/* Copies out the rest of the slot. */
static ssize_t
copy_rest(struct ring *r, void *p, size_t len)
{
	len = min_u64(len, r->rest_len);
	memcpy(p, r->rest, len);
	r->rest += len;
	r->rest_len -= len;
	if (r->rest_len == 0)	/* harmless after a stray */
		atomic_store(&r->ctl->released, r->count);
	return len;
}

/*
 * Looks at the next bytes of a socket before the first record. (A pipe returns
 * the record alone, because it is a packet; a socket would return what follows,
 * too.) Returns 1 if they are a record; 0 with the number of bytes in "*len",
 * because a record may follow them in a moment; or -1 if there are none, with
 * the result of read() in "*end".
 */
static int
peek_record(const struct ring *r, size_t *len, ssize_t *end)
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

/* Makes the slot of a record the rest. Returns 0, or -1 with errno. */
static int
accept_record(struct ring *r, const void *record)
{
	struct record rec;

	memcpy(&rec, record, sizeof(rec));
	if (rec.len == 0 || rec.len > RING_SLOT) {
		errno = EPROTO;
		return -1;
	}
	r->uses_records = 1;
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

/*
 * Reads a record, or up to 16 bytes of data; either becomes the rest. Returns
 * as read().
 */
static ssize_t
read_record(struct ring *r)
{
	ssize_t n = read(r->fd, r->stray, sizeof(r->stray));

	if (is_record(r, r->stray, n))
		return accept_record(r, r->stray) == -1 ? -1 : n;
	if (n > 0) {
		r->rest = r->stray;
		r->rest_len = n;
	}
	return n;
}

ssize_t
ring_read(struct ring *r, void *p, size_t len)
{
	int alone = r->uses_records || len < sizeof(r->stray);
	ssize_t n;

	if (r->rest_len > 0)
		return copy_rest(r, p, len);
	if (!alone && r->is_socket && (alone = peek_record(r, &len, &n)) == -1)
		return n;
	if (alone)
		return (n = read_record(r)) <= 0 ? n : copy_rest(r, p, len);
	n = read(r->fd, p, len);
	if (!is_record(r, p, n))
		return n;
	return accept_record(r, p) == -1 ? -1 : copy_rest(r, p, len);
}

ssize_t
ring_acquire(struct ring *r, const u_char **p)
{
	ssize_t n;

	*p = NULL;
	if (!r->uses_records)
		return 1;
	if (r->rest_len == 0 && (n = read_record(r)) <= 0)
		return n;
	if (r->rest_len < ZERO_COPY_MIN)
		return 1;
	*p = r->rest;
	n = (ssize_t)r->rest_len;
	r->rest_len = 0;
	return n;
}

void
ring_release(struct ring *r)
{
	atomic_store(&r->ctl->released, r->count);
}

/* Returns 1 if the reader has read everything that was written. */
static int
is_drained(const struct ring *r)
{
	int n = 0;

	return ioctl(r->fd, r->is_socket ? SIOCOUTQ : FIONREAD, &n) == 0 &&
	    n == 0;
}

/*
 * Makes each write to the pipe a packet, which takes a page. Returns 1 on
 * success.
 */
static int
set_packet_mode(int fd)
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
 * From then on the descriptor holds fewer records than there are slots.
 */
static void
try_records(struct ring *r)
{
	int least = 1;

	if (!atomic_load(&r->ctl->attached) || !is_drained(r))
		return;
	r->uses_records = r->is_socket ?
	    setsockopt(r->fd, SOL_SOCKET, SO_SNDBUF, &least,
	    sizeof(least)) == 0 : set_packet_mode(r->fd);
}

static unsigned int
used_slots(const struct ring *r)
{
	return r->count - atomic_load(&r->ctl->released);
}

/*
 * Returns 1 if the slot after "count" is free. A full descriptor is detected
 * here, before anything is copied; one that blocks waits in write().
 */
static int
has_free_slot(const struct ring *r)
{
	unsigned int used = used_slots(r);
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	if (used < PIPE_PAGES)
		return 1;
	return used < SLOTS && poll(&pfd, 1, 0) == 1;
}

/* Returns 1 if the reader has closed the descriptor. */
static int
reader_is_gone(const struct ring *r)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 &&
	    (pfd.revents & (POLLERR | POLLHUP)) != 0;
}

int
ring_peer_stalled(const struct ring *r)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && used_slots(r) >= SLOTS;
}

void *
ring_try_reserve(struct ring *r, size_t len)
{
	if (!r->uses_records)
		try_records(r);
	return r->uses_records && len <= RING_SLOT && has_free_slot(r) ?
	    r->slot[r->count % SLOTS] : NULL;
}

void *
ring_reserve(struct ring *r, size_t len)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLOUT };
	void *space;

	while ((space = ring_try_reserve(r, len)) == NULL) {
		if (!r->uses_records || len > RING_SLOT || ring_peer_stalled(r))
			return NULL;
		(void)poll(&pfd, 1, -1);
		if ((pfd.revents & (POLLERR | POLLHUP)) != 0)
			return NULL;
	}
	return space;
}

int
ring_commit(struct ring *r, size_t len)
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
	void *space = ring_try_reserve(r, min_u64(len, RING_SLOT));

	if (!r->uses_records)
		return write(r->fd, p, len);
	if (space == NULL) {
		errno = reader_is_gone(r) ? EPIPE :
		    ring_peer_stalled(r) ? EPROTO : EAGAIN;
		return -1;
	}
	len = min_u64(len, RING_SLOT);
	memcpy(space, p, len);
	return ring_commit(r, len) == 0 ? (ssize_t)len : -1;
}

#else /* !__linux__ */

int
ring_create(int in, int out)
{
	(void)in;
	(void)out;
	errno = ENOSYS;
	return -1;
}

struct ring *
ring_open(int memory, enum ring_dir dir, int fd)
{
	(void)memory;
	(void)dir;
	(void)fd;
	return NULL;
}

struct ring *
ring_attach(int memory, enum ring_dir dir, int fd)
{
	return ring_open(memory, dir, fd);
}

/* Without a ring these are never called. */

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
ring_uses_records(const struct ring *r)
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
ring_acquire(struct ring *r, const unsigned char **p)
{
	(void)r;
	*p = NULL;
	return -1;
}

void
ring_release(struct ring *r)
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
ring_peer_stalled(const struct ring *r)
{
	(void)r;
	return 0;
}

void
ring_put_side_data(struct ring *r, const uint64_t *p, size_t n)
{
	(void)r;
	(void)p;
	(void)n;
}

int
ring_get_side_data(const struct ring *r, uint64_t *p, size_t n)
{
	(void)r;
	(void)p;
	(void)n;
	return -1;
}

void
ring_set_tag(struct ring *r, unsigned int tag)
{
	(void)r;
	(void)tag;
}

unsigned int
ring_tag(const struct ring *r)
{
	(void)r;
	return 0;
}

void *
ring_reserve(struct ring *r, size_t len)
{
	(void)r;
	(void)len;
	return NULL;
}

void *
ring_try_reserve(struct ring *r, size_t len)
{
	return ring_reserve(r, len);
}

int
ring_commit(struct ring *r, size_t len)
{
	(void)r;
	(void)len;
	return -1;
}

#endif
