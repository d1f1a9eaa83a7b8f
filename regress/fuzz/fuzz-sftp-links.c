/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fuzz-sftp-links: a hostile server against the transfer of one large file over
 * several connections or channels, by args_put() and args_get(). The server
 * runs where the client waits, in poll(), and time is what it says, so an input
 * always does the same. Each request takes a byte of the input, which says how
 * it is answered. Where the input ends, the server is honest, or hangs up.
 *
 * Byte N of the file has one value. So what is got shows whether it came to its
 * place, and what is put is compared when it arrives. Data that nobody asked
 * for, in a reply with the ID of another connection, has a value of its own. It
 * is a finding if
 *
 *   a file that is got has anything but the bytes from its start, and behind
 *   them what was there before; or success is claimed where it is shorter than
 *   the server said;
 *
 *   a file that is put has a hole under its name; or success is claimed where
 *   the server has not got all of it; or data, handle or name of a request are
 *   not what they should be;
 *
 *   the client waits for what cannot come, or writes to any other file.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "misc.h"
#include "sshbuf.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "xmalloc.h"

#include "arguments-hook.h"
#include "conn-count.h"
#include "rendezvous.h"
#include "server-hook.h"
#include "stale-temp.h"
#include "tempfile.h"
#include "transfer-hook.h"

#include "fuzz.h"

#define CLAIMED		(STRIPE_MIN_FILE + 10 * 1024 * 1024 + 1)
#define MOST		(CLAIMED + 2 * 1024 * 1024)
#define GET_MOST	(2 * 1024 * 1024)
#define PUT_MOST	(8 * 1024 * 1024)	/* so that links have a use */
#define PERIOD		1000003		/* bytes; no multiple of a request */
#define OLD_SIZE	1500000		/* of a file that was there before */
#define LINKS		20
#define WAITING		9000		/* requests of one link */
#define MESSAGE_MOST	(300 * 1024)
#define ENDS		64
#define POLLS		2000000
#define WINDOW		(2000 * 1000)	/* of a server, as stock's is */
#define RTT		10000		/* microseconds */
#define POISON		0xee		/* and OLD: no byte of the file */
#define OLD		0xdd

/* Replies: what the low bits of a byte of the input say */
enum { HONEST = 8, ERROR = 8, TYPE, LATER, TWICE, ID, LENGTH, HANG_UP, RAW };

struct sftp_stream {
	int	 fd;			/* -1: none */
	int	 is_other;		/* it has another file */
	u_char	 in[MESSAGE_MOST];	/* a part of a request */
	size_t	 have, taken;		/* all that was read, and in this RTT */
	struct sshbuf *out, *late;
	uint32_t waiting[WAITING];	/* IDs without a reply */
	size_t	 nwaiting;
};

/* A file at the server. Two can be: the one that is put, and a second one. */
struct file {
	u_char	*data;
	uint64_t size, touched;
	uint64_t base;			/* where it begins in the whole */
	int	 has_base;
	uint32_t atime;			/* that was set; 0: none */
};

static struct fuzz input;
static int	 is_running, is_noted, is_put, hangs_up, streams, knows;
static uint64_t	 now;			/* microseconds */
static unsigned	 polls, idle;
static uint32_t	 unit;
static uint64_t	 truth;			/* bytes that the file has */
static u_char	*whole;
static struct sftp_stream links[LINKS];
static unsigned	 nlinks;
static uint64_t	 ends[ENDS];		/* where it was said to end */
static size_t	 nends;
static struct file files[2];
static int	 named, hidden;		/* of "files"; -1: none */
static int	 was_old, has_refused, truncate_refused;
static int	 is_stock;		/* upstream's loop gets the file */
static int	 seems_old;		/* a new name was refused */
static char	 temp_name_new[512];
static struct {
	unsigned size;			/* that was told; 0: not there */
	int	 is_same;		/* as before */
} left_over[STALE_TEMP_NAMES];

volatile sig_atomic_t interrupted;	/* in upstream by scp or sftp */
int showprogress;

int	__sanitizer_install_malloc_and_free_hooks(
    void (*)(const volatile void *, size_t),
    void (*)(const volatile void *));
int	__real_poll(struct pollfd *, nfds_t, int);
int	__wrap_poll(struct pollfd *, nfds_t, int);
ssize_t	__real_read(int, void *, size_t);
ssize_t	__wrap_read(int, void *, size_t);
ssize_t	__real_writev(int, const struct iovec *, int);
ssize_t	__wrap_writev(int, const struct iovec *, int);
ssize_t	__real_pread(int, void *, size_t, off_t);
ssize_t	__wrap_pread(int, void *, size_t, off_t);
int	__real_clock_gettime(clockid_t, struct timespec *);
int	__wrap_clock_gettime(clockid_t, struct timespec *);

static void
must(int ok)
{
	if (!ok)
		abort();
}

/* What rendezvous.c says: there is an ssh, and it gives what is asked for */

void
rendezvous_set_stock(void)
{
}

int
rendezvous_is_stock(int fd)
{
	(void)fd;
	return 0;
}

void
rendezvous_announce(int fd, int channels, int memory, int requests)
{
	(void)fd;
	(void)channels;
	(void)memory;
	(void)requests;
}

int
rendezvous_memory_fd(void)
{
	return -1;
}

int
rendezvous_requests_fd(void)
{
	return -1;
}

int
rendezvous_client_wants(void)
{
	return 0;
}

int
rendezvous_listen(int n, enum rendezvous_kind kind, const char *names)
{
	(void)n;
	(void)kind;
	(void)names;
	return -1;
}

int
rendezvous_wants_retry(void)
{
	return 0;
}

void
rendezvous_want_retry(void)
{
}

int
rendezvous_hold(int fd)
{
	(void)fd;
	return -1;
}

int
rendezvous_again(int fd)
{
	(void)fd;
	return -1;
}

void
rendezvous_forget(int fd)
{
	(void)fd;
}

int
rendezvous_is_hold(int fd)
{
	(void)fd;
	return 0;
}

int
rendezvous_is_again(int fd)
{
	(void)fd;
	return 0;
}

void
rendezvous_announce_single(void)
{
}

long
rendezvous_process(int fd)
{
	(void)fd;
	return 0;
}

int
rendezvous_is_single(int fd)
{
	(void)fd;
	return 0;
}

int
rendezvous_is_client(int fd)
{
	(void)fd;
	return 0;
}

int
rendezvous_host_number(int fd)
{
	(void)fd;
	return -1;
}

int
rendezvous_hosts(int fd, char *names, size_t len)
{
	(void)fd;
	(void)names;
	(void)len;
	return -1;
}

int
rendezvous_offered_conns(int fd)
{
	(void)fd;
	return streams;
}

static int
new_link(void)
{
	struct sftp_stream *l = &links[nlinks];
	int sv[2];

	if (nlinks == LINKS)
		return -1;
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv) == 0);
	nlinks++;
	l->fd = sv[1];
	l->have = l->nwaiting = l->taken = 0;
	l->is_other = 0;
	must((l->out = sshbuf_new()) != NULL);
	must((l->late = sshbuf_new()) != NULL);
	return sv[0];
}

int
rendezvous_connect(int fd, int host)
{
	(void)fd;
	(void)host;
	return fuzz_byte(&input) >= 0xf0 ? -1 : new_link();
}

/* Fields of requests */

struct fields {
	const u_char *p;
	size_t	 left;
};

static uint32_t
take_u32(struct fields *f)
{
	uint32_t n;

	must(f->left >= 4);
	n = PEEK_U32(f->p);
	f->p += 4;
	f->left -= 4;
	return n;
}

static uint64_t
take_u64(struct fields *f)
{
	uint64_t high = take_u32(f);

	return high << 32 | take_u32(f);
}

static struct fields
take_string(struct fields *f)
{
	struct fields s;

	s.left = take_u32(f);
	must(s.left <= f->left);
	s.p = f->p;
	f->p += s.left;
	f->left -= s.left;
	return s;
}

static int
is_text(const struct fields *s, const char *text)
{
	return s->left == strlen(text) && memcmp(s->p, text, s->left) == 0;
}

/* A handle names the link and the file. */
static struct file *
take_handle(const struct sftp_stream *l, struct fields *f)
{
	struct fields s = take_string(f);

	must(s.left >= 2 && &links[s.p[0] - 'a'] == l);
	must(s.p[1] == '0' || s.p[1] == '1');
	return &files[s.p[1] - '0'];
}

/* The server's files */

/* Returns which of the hidden names it is, whose last digit is a number. */
static unsigned
number_of(const struct fields *s)
{
	unsigned n;

	must(is_put && s->left == 32 && s->left < sizeof(temp_name_new) &&
	    memcmp(s->p, "there/.x.hayate-", 16) == 0);
	n = s->p[31] - '0';
	must(n < STALE_TEMP_NAMES);
	return n;
}

/* Returns the number of a name, or -1; the client knows two. */
static int *
take_name(struct fields *f)
{
	struct fields s = take_string(f);
	unsigned n;

	if (is_text(&s, "there/x"))
		return &named;
	n = number_of(&s);
	/* What was refused, or is gone, may be tried under another one. */
	if (hidden == -1) {
		must(left_over[n].size == 0);
		memcpy(temp_name_new, s.p, s.left);
	}
	must(is_text(&s, temp_name_new));
	return &hidden;
}

static void
clear(struct file *file)
{
	memset(file->data, 0, file->touched);
	file->size = file->touched = 0;
	file->has_base = 0;
	file->atime = 0;
}

static void
resize(struct file *file, uint64_t size)
{
	must(size <= MOST);
	if (size < file->size)
		memset(file->data + size, 0, file->size - size);
	file->size = size;
}

static void
store(struct file *file, uint64_t off, const u_char *p, size_t len)
{
	must(off + len <= MOST);
	memcpy(file->data + off, p, len);
	file->size = MAXIMUM(file->size, off + len);
	file->touched = MAXIMUM(file->touched, off + len);
}

/* A second file has what comes behind the first at the time. */
static void
find_base(struct file *file, uint64_t off, const struct fields *data)
{
	uint64_t base;

	for (base = 0; base + off + data->left <= truth; base += unit) {
		if (memcmp(whole + base + off, data->p, data->left) == 0)
			break;
	}
	file->base = base;
	file->has_base = 1;
}

/* Writes, if "ok". Returns the status. */
static u_int
do_write(const struct sftp_stream *l, struct fields *f, int ok)
{
	struct file *file = take_handle(l, f);
	uint64_t off = take_u64(f);
	struct fields data = take_string(f);

	if (file == &files[1] && !file->has_base)
		find_base(file, off, &data);
	must(file->base + off + data.left <= truth);
	must(memcmp(whole + file->base + off, data.p, data.left) == 0);
	if (!ok) {
		has_refused |= named == 0 && file == &files[0];
		return SSH2_FX_FAILURE;
	}
	store(file, off, data.p, data.left);
	return SSH2_FX_OK;
}

static u_int
do_open(struct fields *f, int ok, int *which)
{
	int *name = take_name(f), number = name == &hidden && named == 0;
	u_int flags = take_u32(f);

	if (!is_put) {
		*which = 0;
		return ok ? SSH2_FX_OK : SSH2_FX_FAILURE;
	}
	/* To the client it was there, if it can open it another way. */
	seems_old |= !ok && (flags & SSH2_FXF_EXCL);
	if (!ok || (*name != -1 ? flags & SSH2_FXF_EXCL :
	    !(flags & SSH2_FXF_CREAT)))
		return SSH2_FX_FAILURE;
	if (*name == -1) {
		clear(&files[number]);
		*name = number;
	}
	if (flags & SSH2_FXF_TRUNC)
		resize(&files[*name], 0);
	*which = *name;
	return SSH2_FX_OK;
}

static u_int
do_rename(struct fields *f, int ok)
{
	int *from = take_name(f), *to = take_name(f);

	if (!ok || *from == -1 || *to != -1)
		return SSH2_FX_FAILURE;
	*to = *from;
	*from = -1;
	return SSH2_FX_OK;
}

static u_int
do_fsetstat(const struct sftp_stream *l, struct fields *f, int ok)
{
	struct file *file = take_handle(l, f);
	u_int flags = take_u32(f);

	if ((flags & SSH2_FILEXFER_ATTR_SIZE) != 0 && ok)
		resize(file, take_u64(f));
	else if ((flags & SSH2_FILEXFER_ATTR_SIZE) != 0)
		truncate_refused = 1;
	else if (flags == SSH2_FILEXFER_ATTR_ACMODTIME && ok)
		file->atime = take_u32(f);
	return ok ? SSH2_FX_OK : SSH2_FX_FAILURE;
}

static u_int
do_copy(const struct sftp_stream *l, struct fields *f, int ok)
{
	struct file *from = take_handle(l, f), *to;
	uint64_t at = take_u64(f), len = take_u64(f), off;

	to = take_handle(l, f);
	off = take_u64(f);
	must(from == &files[1] && to == &files[0]);
	if (!ok || at > from->size)
		return SSH2_FX_FAILURE;
	if (len == 0 || len > from->size - at)
		len = from->size - at;
	store(to, off, from->data + at, len);
	return SSH2_FX_OK;
}

/* Replies */

static void
put_status(struct sshbuf *m, u_int status)
{
	must(sshbuf_put_u32(m, status) == 0 &&
	    sshbuf_put_cstring(m, "") == 0 && sshbuf_put_cstring(m, "") == 0);
}

static void
put_version(struct sshbuf *m)
{
	static const struct {
		const char *name, *value;
	} names[] = { { "limits@openssh.com", "1" }, { "copy-data", "1" },
	    { "fstatvfs@openssh.com", "2" } };
	unsigned i, odd = fuzz_byte(&input);

	must(sshbuf_put_u8(m, SSH2_FXP_VERSION) == 0);
	must(sshbuf_put_u32(m, odd >= 0xf8 ? odd & 7 : 3) == 0);
	for (i = 0; i < 3; i++) {
		if ((knows >> i & 1) == 0)
			must(sshbuf_put_cstring(m, names[i].name) == 0 &&
			    sshbuf_put_cstring(m, names[i].value) == 0);
	}
}

static void
put_attrs_of(struct sshbuf *m, uint64_t size, u_int perm, uint32_t atime)
{
	Attrib a;

	attrib_clear(&a);
	a.flags = SSH2_FILEXFER_ATTR_SIZE | SSH2_FILEXFER_ATTR_PERMISSIONS |
	    SSH2_FILEXFER_ATTR_ACMODTIME | SSH2_FILEXFER_ATTR_UIDGID;
	a.size = size;
	a.perm = perm;
	a.mtime = 1000000000;
	a.atime = atime == 0 ? a.mtime : atime;
	must(encode_attrib(m, &a) == 0);
}

static void
put_attrs(struct sshbuf *m, uint64_t size)
{
	put_attrs_of(m, size, 0100644, 0);
}

static u_char
reply_status(struct sshbuf *m, u_int status)
{
	put_status(m, status);
	return SSH2_FXP_STATUS;
}

static u_char
reply_open(const struct sftp_stream *l, struct sshbuf *m, struct fields *f,
    int ok)
{
	u_char handle[300];
	unsigned odd;
	int which;

	if (do_open(f, ok, &which) != SSH2_FX_OK)
		return reply_status(m, SSH2_FX_FAILURE);
	odd = fuzz_byte(&input);
	memset(handle, 'x', sizeof(handle));
	handle[0] = 'a' + (l - links);
	handle[1] = '0' + which;
	must(sshbuf_put_string(m, handle, odd >= 0xf0 ? 250 + (odd & 15) :
	    2) == 0);
	return SSH2_FXP_HANDLE;
}

/* Data of a reply to another request is poison. */
static u_char
reply_read(const struct sftp_stream *l, struct sshbuf *m, struct fields *f,
    unsigned how, int is_true)
{
	uint64_t off;
	uint32_t len, n;
	u_char *p;

	take_handle(l, f);
	off = take_u64(f);
	n = len = take_u32(f);
	must(!l->is_other && off < CLAIMED + unit);
	if ((how & 15) == ERROR && how >> 4 != SSH2_FX_EOF)
		return reply_status(m, how >> 4);
	if ((how & 15) == ERROR || off >= truth) {
		if (is_true && nends < ENDS)
			ends[nends++] = off;
		return reply_status(m, SSH2_FX_EOF);
	}
	n = MINIMUM(n, truth - off);
	if (how & 0x40)
		n = n * fuzz_byte(&input) / 256;
	else if ((how & 0xb0) == 0xb0)
		n = len + 1;
	must(sshbuf_put_u32(m, n) == 0 && sshbuf_reserve(m, n, &p) == 0);
	if (is_true)
		memcpy(p, whole + off, n);
	else
		memset(p, POISON, n);
	return SSH2_FXP_DATA;
}

static u_char
reply_fstat(struct sftp_stream *l, struct sshbuf *m, struct fields *f,
    unsigned how)
{
	struct file *file = take_handle(l, f);

	if (is_put) {
		put_attrs_of(m, file->size, 0100644, file->atime +
		    (how >= 0xf0));
		return SSH2_FXP_ATTRS;
	}
	/* On the first link it says what the file is now. */
	l->is_other = l != links && (how & 0xc0) == 0xc0;
	put_attrs(m, CLAIMED + ((how & 0xc0) == 0xc0));
	return SSH2_FXP_ATTRS;
}

/* Of a file of the server, unless it lies */
static u_char
reply_known(struct sshbuf *m, int which, unsigned how, int ok)
{
	if (!ok || which == -1)
		return reply_status(m, SSH2_FX_NO_SUCH_FILE);
	put_attrs_of(m, files[which].size, 0100644, files[which].atime +
	    (how >= 0xf0));
	return SSH2_FXP_ATTRS;
}

/* The attributes of "there/x", or of what is under a hidden name */
static u_char
reply_lstat(struct sshbuf *m, struct fields *f, unsigned how, int ok,
    int follows)
{
	struct fields s = take_string(f);
	unsigned n, size = how >> 4;

	if (is_text(&s, "there/.")) {
		put_attrs_of(m, 0, how >= 0xe0 ? 040777 : 040755, 0);
		return SSH2_FXP_ATTRS;
	}
	if (is_text(&s, "there/x") && is_put && !follows)
		return reply_known(m, named, how, ok);
	if (is_text(&s, "there/x")) {
		put_attrs(m, CLAIMED);
		return SSH2_FXP_ATTRS;
	}
	n = number_of(&s);
	if (hidden != -1 && is_text(&s, temp_name_new))
		return reply_known(m, hidden, how, ok);
	if (!ok)
		size = 0;
	left_over[n].is_same = left_over[n].size == size;
	left_over[n].size = size;
	if (!ok || size == 0)
		return reply_status(m, SSH2_FX_NO_SUCH_FILE);
	put_attrs(m, size);
	return SSH2_FXP_ATTRS;
}

/* What was told twice may be removed. */
static u_char
reply_remove(struct sshbuf *m, struct fields *f, int ok)
{
	struct fields s = *f, name = take_string(&s);
	unsigned n = number_of(&name);

	if (temp_name_new[0] == '\0' || !is_text(&name, temp_name_new)) {
		must(left_over[n].size > 0 && left_over[n].is_same);
		left_over[n].is_same = 0;
	} else if (ok)
		*take_name(f) = -1;
	return reply_status(m, ok ? SSH2_FX_OK : SSH2_FX_FAILURE);
}

static u_char
reply_extended(const struct sftp_stream *l, struct sshbuf *m, struct fields *f,
    int ok)
{
	struct fields name = take_string(f);
	int i, space;

	if (is_text(&name, "copy-data"))
		return reply_status(m, do_copy(l, f, ok));
	if (!ok)
		return reply_status(m, SSH2_FX_FAILURE);
	if (is_text(&name, "limits@openssh.com")) {
		must(sshbuf_put_u64(m, 262144) == 0 &&
		    sshbuf_put_u64(m, unit) == 0 &&
		    sshbuf_put_u64(m, unit) == 0 &&
		    sshbuf_put_u64(m, 1019) == 0);
		return SSH2_FXP_EXTENDED_REPLY;
	}
	must(is_text(&name, "fstatvfs@openssh.com"));
	take_handle(l, f);
	space = fuzz_byte(&input);
	for (i = 0; i < 11; i++)
		must(sshbuf_put_u64(m, space > 0xf0 ? (uint64_t)space << 56 :
		    space > 0xe0 ? 1 : 1048576) == 0);
	return SSH2_FXP_EXTENDED_REPLY;
}

/* Does what is asked for, unless it is to fail. Returns the reply's type. */
static u_char
reply(struct sftp_stream *l, struct sshbuf *m, u_char type, struct fields *f,
    unsigned how)
{
	int ok = (how & 15) != ERROR, is_true = (how & 15) != ID;

	switch (type) {
	case SSH2_FXP_OPEN:
		return reply_open(l, m, f, ok);
	case SSH2_FXP_READ:
		return reply_read(l, m, f, how, is_true);
	case SSH2_FXP_WRITE:
		return reply_status(m, do_write(l, f, ok));
	case SSH2_FXP_FSTAT:
		return ok ? reply_fstat(l, m, f, how) :
		    reply_status(m, SSH2_FX_FAILURE);
	case SSH2_FXP_STAT:
	case SSH2_FXP_LSTAT:		/* STAT of version 0 */
		return reply_lstat(m, f, how, ok, type == SSH2_FXP_STAT);
	case SSH2_FXP_FSETSTAT:
		return reply_status(m, do_fsetstat(l, f, ok));
	case SSH2_FXP_RENAME:
		return reply_status(m, do_rename(f, ok));
	case SSH2_FXP_REMOVE:
		return reply_remove(m, f, ok);
	case SSH2_FXP_CLOSE:
		take_handle(l, f);
		return reply_status(m, ok ? SSH2_FX_OK : SSH2_FX_FAILURE);
	case SSH2_FXP_EXTENDED:
		return reply_extended(l, m, f, ok);
	default:
		abort();
	}
}

static int
is_waiting(const struct sftp_stream *l, uint32_t id)
{
	size_t i;

	for (i = 0; i < l->nwaiting && l->waiting[i] != id; i++)
		;
	return i < l->nwaiting;
}

/*
 * An ID that is not under way on the link, but maybe on another. What is later
 * may be on its way already.
 */
static uint32_t
other_id(const struct sftp_stream *l, uint32_t id)
{
	unsigned b = fuzz_byte(&input);

	if (b >= 0xe0)
		return id + 0x10000;
	for (id -= b % 16 + 1; is_waiting(l, id); id--)
		;
	return id;
}

static void
forget_id(struct sftp_stream *l, uint32_t id)
{
	size_t i;

	for (i = 0; i < l->nwaiting; i++) {
		if (l->waiting[i] == id) {
			l->waiting[i] = l->waiting[--l->nwaiting];
			return;
		}
	}
}

static void
hang_up(struct sftp_stream *l)
{
	if (l->fd == -1)
		return;
	close(l->fd);
	l->fd = -1;
	sshbuf_free(l->out);
	sshbuf_free(l->late);
	l->nwaiting = 0;
}

/* A message of no known type, or of a length that is never sent */
static void
put_raw(struct sshbuf *b)
{
	static const uint32_t lens[] = { 0, 1, 4, 5, 9, 262145, 0x7fffffff,
	    0xffffffff };
	unsigned how = fuzz_byte(&input);
	uint32_t len = lens[how & 7];
	size_t n = MINIMUM(MINIMUM(input.left, (size_t)(how >> 3)),
	    len > 0 ? len - 1 : 0);

	must(sshbuf_put_u32(b, len) == 0);
	if (len > 0)
		must(sshbuf_put_u8(b, 0xf0) == 0);
	must(sshbuf_put(b, input.p, n) == 0);
	input.p += n;
	input.left -= n;
}

/* Returns a type that no reply to a request of the type "asked" has. */
static u_char
wrong_type(u_char asked)
{
	u_char type = fuzz_byte(&input);
	u_char right = asked == SSH2_FXP_READ ? SSH2_FXP_DATA :
	    asked == SSH2_FXP_OPEN ? SSH2_FXP_HANDLE :
	    asked == SSH2_FXP_FSTAT || asked == SSH2_FXP_STAT ||
	    asked == SSH2_FXP_LSTAT ?
	    SSH2_FXP_ATTRS : SSH2_FXP_EXTENDED_REPLY;

	return type == right || type == SSH2_FXP_STATUS ? 0 : type;
}

/* Makes a message of the reply, as "how" says. */
static void
frame(struct sftp_stream *l, struct sshbuf *body, u_char type, uint32_t id,
    unsigned how)
{
	struct sshbuf *b = (how & 15) == LATER ? l->late : l->out;
	int i, n = (how & 15) == TWICE ? 2 : 1;
	size_t cut = (how & 15) == LENGTH ? fuzz_byte(&input) % 12 : 0;

	if ((how & 15) == ID)
		id = other_id(l, id);
	else if ((how & 15) != LATER)
		forget_id(l, id);
	must(sshbuf_consume_end(body, MINIMUM(cut, sshbuf_len(body))) == 0);
	for (i = 0; i < n; i++) {
		must(sshbuf_put_u32(b, 5 + sshbuf_len(body)) == 0 &&
		    sshbuf_put_u8(b, type) == 0 &&
		    sshbuf_put_u32(b, id) == 0 && sshbuf_putb(b, body) == 0);
	}
	if ((how & 15) == RAW)
		put_raw(b);
}

static void
answer(struct sftp_stream *l, const u_char *p, size_t len)
{
	struct fields f = { p + 1, len - 1 };
	struct sshbuf *m;
	unsigned how;
	uint32_t id;
	u_char type;

	must((m = sshbuf_new()) != NULL);
	if (p[0] == SSH2_FXP_INIT) {
		put_version(m);
		must(sshbuf_put_stringb(l->out, m) == 0);
		sshbuf_free(m);
		return;
	}
	how = fuzz_byte(&input);
	id = take_u32(&f);
	must(l->nwaiting < WAITING && !is_waiting(l, id));
	l->waiting[l->nwaiting++] = id;
	if ((how & 15) == HANG_UP && how >= 0x80)
		interrupted = 1;
	else if ((how & 15) == HANG_UP) {
		sshbuf_free(m);
		hang_up(l);
		return;
	}
	type = reply(l, m, p[0], &f, how);
	if ((how & 15) == TYPE)
		type = wrong_type(p[0]);
	frame(l, m, type, id, how);
	sshbuf_free(m);
}

/* The server's turn */

static void
send_some(struct sftp_stream *l)
{
	ssize_t n;

	if (l->fd == -1 || sshbuf_len(l->out) == 0)
		return;
	n = send(l->fd, sshbuf_ptr(l->out), sshbuf_len(l->out), MSG_NOSIGNAL);
	if (n == -1 && errno != EAGAIN)
		hang_up(l);
	else if (n > 0)
		must(sshbuf_consume(l->out, n) == 0);
}

static void
take_requests(struct sftp_stream *l)
{
	size_t len, at = 0;

	while (l->fd != -1 && l->have - at >= 4) {
		len = PEEK_U32(l->in + at);
		must(len >= 5 && len + 4 <= MESSAGE_MOST);
		if (l->have - at < 4 + len)
			break;
		answer(l, l->in + at + 4, len);
		at += 4 + len;
	}
	memmove(l->in, l->in + at, l->have - at);
	l->have -= at;
}

/* On each channel a window of requests is taken in a round trip. */
static void
serve(struct sftp_stream *l)
{
	ssize_t n = 1;

	while (l->fd != -1 && n > 0 && l->taken < WINDOW) {
		n = read(l->fd, l->in + l->have, MESSAGE_MOST - l->have);
		if (n == 0)
			hang_up(l);
		if (n <= 0)
			break;
		l->have += n;
		l->taken += n;
		take_requests(l);
	}
}

/* Sends what was kept back, or no reply will ever come. */
static void
send_late(void)
{
	unsigned i;
	int is_late = 0;

	for (i = 0; i < nlinks; i++) {
		if (links[i].fd == -1 || sshbuf_len(links[i].late) == 0)
			continue;
		is_late = 1;
		must(sshbuf_putb(links[i].out, links[i].late) == 0);
		sshbuf_reset(links[i].late);
		send_some(&links[i]);
	}
	for (i = 0; !is_late && i < nlinks; i++)
		hang_up(&links[i]);
	must(is_late || ++idle < 100);
}

/* The client waits: a round trip is over. */
static void
turn(void)
{
	unsigned i;
	int is_idle = 1;

	now += RTT;
	for (i = 0; i < nlinks; i++) {
		is_idle &= links[i].taken == 0 && (links[i].fd == -1 ||
		    sshbuf_len(links[i].out) == 0);
		links[i].taken = 0;
		send_some(&links[i]);
	}
	if (is_idle)
		send_late();
}

int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	unsigned i;
	int r;

	if (!is_running)
		return __real_poll(fds, n, ms);
	must(++polls < POLLS);
	for (i = 0; i < nlinks; i++)
		serve(&links[i]);
	if (hangs_up && input.left == 0) {
		for (i = 0; i < nlinks; i++)
			hang_up(&links[i]);
	}
	if ((r = __real_poll(fds, n, 0)) != 0)
		return r;
	turn();
	return __real_poll(fds, n, 0);
}

/* The local file becomes shorter than it was when it was opened. */
static size_t
local_part(off_t off, size_t len)
{
	if (!is_running || !is_put || (uint64_t)off + len <= truth)
		return len;
	return (uint64_t)off < truth ? truth - off : 0;
}

ssize_t
__wrap_pread(int fd, void *p, size_t len, off_t off)
{
	return __real_pread(fd, p, local_part(off, len), off);
}

/*
 * Where a call that did not wait has returned n: on a socket that blocks the
 * server has its turn, and 1 says that the call is to be made again.
 */
static int
must_wait(int fd, ssize_t n, short event)
{
	struct pollfd p = { .fd = fd, .events = event };

	if (n != -1 || errno != EAGAIN ||
	    (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0)
		return 0;
	__wrap_poll(&p, 1, -1);
	return 1;
}

/* Of a file, in upstream's loop, or of a socket */
ssize_t
__wrap_read(int fd, void *p, size_t len)
{
	off_t off = is_running ? lseek(fd, 0, SEEK_CUR) : 0;
	ssize_t n;

	if (off != -1)
		return __real_read(fd, p, local_part(off, len));
	do {
		n = recv(fd, p, len, MSG_DONTWAIT);
	} while (must_wait(fd, n, POLLIN));
	return n;
}

ssize_t
__wrap_writev(int fd, const struct iovec *iov, int count)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov,
	    .msg_iovlen = count };
	ssize_t n;

	if (!is_running || lseek(fd, 0, SEEK_CUR) != -1)
		return __real_writev(fd, iov, count);
	do {
		n = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (must_wait(fd, n, POLLOUT));
	return n;
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!is_running || clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ts);
	ts->tv_sec = now / 1000000;
	ts->tv_nsec = now % 1000000 * 1000;
	return 0;
}

/*
 * Memory: a client that ends in the middle frees nothing, and may have many
 * megabytes. What a transfer has got is known, by address, and freed after it.
 */

#define SLOTS	(1 << 17)

static const volatile void *slots[SLOTS];
static size_t	 nslots;

static size_t
slot_of(const volatile void *p)
{
	return ((uintptr_t)p >> 4) * 0x9e3779b1 % SLOTS;
}

static void
note_malloc(const volatile void *p, size_t n)
{
	size_t i;

	(void)n;
	if (!is_noted || p == NULL)
		return;
	must(++nslots < SLOTS / 2);
	for (i = slot_of(p); slots[i] != NULL; i = (i + 1) % SLOTS)
		;
	slots[i] = p;
}

/* The entries behind it, up to the next that is free, stay within reach. */
static void
note_free(const volatile void *p)
{
	size_t i = slot_of(p), j;

	if (p == NULL || nslots == 0)
		return;
	while (slots[i] != NULL && slots[i] != p)
		i = (i + 1) % SLOTS;
	if (slots[i] == NULL)
		return;
	nslots--;
	for (j = (i + 1) % SLOTS; slots[j] != NULL; j = (j + 1) % SLOTS) {
		if ((j + SLOTS - slot_of(slots[j])) % SLOTS <
		    (j + SLOTS - i) % SLOTS)
			continue;
		slots[i] = slots[j];
		i = j;
	}
	slots[i] = NULL;
}

static void
free_noted(void)
{
	size_t i;

	is_noted = 0;
	for (i = 0; i < SLOTS; i++) {
		while (slots[i] != NULL)
			free((void *)slots[i]);
	}
}

/* The client's files */

static void
write_file(const char *path, const u_char *p, size_t len)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	ssize_t n;

	must(fd != -1);
	for (; len > 0; p += n, len -= n)
		must((n = write(fd, p, len)) > 0);
	close(fd);
}

static void
begin(void)
{
	struct rlimit most = { MOST, MOST };
	struct stat sb;
	uint32_t n = 1;
	size_t i;

	signal(SIGXFSZ, SIG_IGN);
	must(setrlimit(RLIMIT_FSIZE, &most) == 0);
	must(__sanitizer_install_malloc_and_free_hooks(note_malloc,
	    note_free) != 0);
	must(mkdir("in", 0700) == 0 || errno == EEXIST);
	must(mkdir("out", 0700) == 0 || errno == EEXIST);
	whole = xmalloc(MOST);
	for (i = 0; i < PERIOD; i++) {
		n = n * 1664525 + 1013904223;
		whole[i] = 1 + (n >> 24) % 200;
	}
	for (; i < MOST; i += PERIOD)
		memcpy(whole + i, whole, MINIMUM(PERIOD, MOST - i));
	for (i = 0; i < 2; i++)
		files[i].data = xcalloc(1, MOST);
	if (stat("out/x", &sb) == -1 || sb.st_size != CLAIMED)
		write_file("out/x", whole, CLAIMED);
}

/* Returns how much of the start is as it should be. */
static size_t
good_bytes(const u_char *p, size_t size)
{
	size_t i;

	if (memcmp(p, whole, size) == 0)
		return size;
	for (i = 0; p[i] == whole[i]; i++)
		;
	return i;
}

/* The beginning of the file, and behind it what was there before */
static void
check_bytes(const u_char *p, size_t size)
{
	size_t i = good_bytes(p, size);

	must(i == size || (was_old && size <= OLD_SIZE));
	for (; i < size; i++)
		must(p[i] == OLD);
}

/* Nothing may be there but what is expected. */
static void
check_names(const char *dir, const char *a, const char *b)
{
	struct dirent *e;
	DIR *d = opendir(dir);

	must(d != NULL);
	while ((e = readdir(d)) != NULL)
		must(e->d_name[0] == '.' || strcmp(e->d_name, a) == 0 ||
		    strcmp(e->d_name, b) == 0);
	closedir(d);
}

static void
check_got(int is_whole)
{
	static u_char got[MOST];
	int fd = open("in/x", O_RDONLY);
	size_t size = 0, i;
	ssize_t n;

	if (fd == -1) {
		must(!is_whole);
		return;
	}
	while ((n = read(fd, got + size, MOST - size)) > 0)
		size += n;
	close(fd);
	if (!is_stock)		/* whose holes are not cut in each case */
		check_bytes(got, size);
	if (!is_whole)
		return;
	must(good_bytes(got, size) == size);
	for (i = 0; i < nends && ends[i] != size; i++)
		;
	must(i < nends || nends == ENDS);
}

static void
check_put(int is_whole, int is_fatal)
{
	must(!is_whole || named == 0);
	if (named == -1)
		return;
	must(named == 0);
	if (is_whole) {
		/* A server need not cut, as stock's client has it. */
		must(files[0].size == truth ||
		    (truncate_refused && files[0].size > truth));
		must(good_bytes(files[0].data, truth) == truth);
	}
	/* An error that nobody could mend any more */
	if (has_refused && (is_fatal || truncate_refused))
		return;
	check_bytes(files[0].data, files[0].size);
}

/* A transfer */

/* Reads the conditions out of the input. */
static unsigned
set_up(void)
{
	static const uint32_t units[] = { 261120, 32768, 65536, 100001 };
	unsigned mode = fuzz_byte(&input), how = fuzz_byte(&input);

	is_put = mode & 1;
	was_old = mode >> 1 & 1;
	hangs_up = mode >> 3 & 1;
	unit = units[mode >> 4 & 3];
	streams = how & 15;
	if (streams > 8)
		streams = streams & 3;
	knows = how >> 4 & 7;
	truth = how & 0x80 && hangs_up ? CLAIMED : fuzz_pick(&input,
	    is_put ? PUT_MOST : GET_MOST);
	now = 1000000;
	nlinks = polls = idle = 0;
	nends = 0;
	named = hidden = -1;
	has_refused = truncate_refused = is_stock = seems_old = 0;
	memset(temp_name_new, 0, sizeof(temp_name_new));
	memset(left_over, 0, sizeof(left_over));
	interrupted = 0;
	return mode;
}

static void
make_old(unsigned mode)
{
	int is_resumed = mode >> 6 & 1;

	unlink("in/x");
	clear(&files[0]);
	clear(&files[1]);
	if (!was_old)
		return;
	if (is_put) {
		memset(files[0].data, OLD, OLD_SIZE);
		files[0].size = files[0].touched = OLD_SIZE;
		named = 0;
	} else if (is_resumed) {
		write_file("in/x", whole, truth / 2);
		was_old = 0;
	} else {
		memset(files[1].data, OLD, OLD_SIZE);
		write_file("in/x", files[1].data, OLD_SIZE);
		memset(files[1].data, 0, OLD_SIZE);
	}
}

/* Returns 1 if the transfer has succeeded. */
static int
transfer(int fd, unsigned mode)
{
	struct sftp_conn *conn = sftp_init(fd, fd, 0, 0, 0);
	int in_place = mode >> 2 & 1, resume = mode >> 6 & 1, ret;
	Attrib a;

	if (conn == NULL || sftp_stat(conn, "there/x", 1, &a) != 0)
		return 0;
	is_noted = 1;
	if (is_put)
		ret = args_put(conn, (char *[]){ "out/x", NULL }, "there/x",
		    mode >> 7, 0, 0, in_place);
	else {
		is_stock = !transfer_can(conn, resume && !was_old);
		ret = args_get(conn, (char *[]){ "there/x", NULL }, "in/x", &a,
		    mode >> 7, resume && !was_old, 0, in_place);
	}
	return ret == 0 && !interrupted;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int has_begun, spare;
	volatile int is_whole = 0, is_fatal = 1;
	unsigned mode;
	int fd;

	if (!has_begun) {
		begin();
		spare = dup(STDERR_FILENO);	/* the first free descriptor */
	}
	has_begun = 1;
	input.p = data;
	input.left = len;
	mode = set_up();
	make_old(mode);
	fd = new_link();
	is_running = 1;
	if (FUZZ_TRY()) {
		is_whole = transfer(fd, mode);
		is_fatal = 0;
	}
	is_running = 0;
	while (nlinks > 0)
		hang_up(&links[--nlinks]);
	server_forget(fd);
	free_noted();
	closefrom(spare + 1);
	if (is_put)
		check_put(is_whole, is_fatal);
	else
		check_got(is_whole);
	check_names(".", "in", "out");
	check_names("in", "x", "x");
	check_names("out", "x", "x");
	return 0;
}
