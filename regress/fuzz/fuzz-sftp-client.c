/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fuzz-sftp-client: a hostile server against the engine that copies trees
 * (transfer-hook.h). A thread is the server. It reads each request,
 * and the next byte of the input says how it answers: as it should, with an
 * error, with another type, later, twice, or with bytes from the input. Where
 * the input ends, it hangs up. Some inputs offer further connections. Each has
 * a thread of its own, which takes the input from a later byte on; some never
 * come. So a tree goes over several links, and a large file waits for its turn.
 *
 * What the client writes must be below the directory "in": anything else in the
 * current directory is a finding. Run it in an empty directory, not as root.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misc.h"
#include "sshbuf.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "xmalloc.h"

#include "server-hook.h"

#include "fuzz.h"

#define FILE_MOST	(4 * 1024 * 1024)
#define REQUEST_MOST	(512 * 1024)
#define HELD_MOST	4
#define FURTHER_MOST	3
#define TREE_LARGE	(40 * 1024 * 1024)	/* so that links are worth it */

struct server {
	int	 fd;
	struct fuzz f;
	struct sshbuf *held[HELD_MOST];	/* replies for later */
	size_t	 nheld;
	u_char	 request[REQUEST_MOST];
	pthread_t thread;
};

volatile sig_atomic_t interrupted;	/* in upstream by scp or sftp */
int showprogress;
static int offers;			/* connections */
static struct fuzz input;
static struct server first, further[FURTHER_MOST];
static unsigned nfurther;

int	__wrap_rendezvous_offered_conns(int);
int	__wrap_rendezvous_connect(int, int);
static int start(struct server *);

int
__wrap_rendezvous_offered_conns(int fd)
{
	(void)fd;
	return offers;
}

/* A connection of its own, which begins with another part of the input */
int
__wrap_rendezvous_connect(int fd, int host)
{
	struct server *s = &further[nfurther];
	size_t skipped;

	(void)fd;
	(void)host;
	if (offers == -1 || nfurther == FURTHER_MOST)
		return -1;
	skipped = input.left * (nfurther + 1) / (FURTHER_MOST + 1);
	s->f.p = input.p + skipped;
	s->f.left = input.left - skipped;
	if (fuzz_byte(&s->f) >= 0xf0)
		return -1;
	nfurther++;
	return start(s);
}

/* The server */

static void
put_attrs(struct sshbuf *m, struct fuzz *f)
{
	static const u_int modes[] = { 0100644, 0040755, 0120777, 0020666, 0 };
	unsigned what = fuzz_byte(f);
	Attrib a;

	attrib_clear(&a);
	a.flags = what & 1 ? fuzz_byte(f) & 0xf : SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_PERMISSIONS;
	a.size = fuzz_pick(f, what & 2 ? 0xffffff : 0xff);
	if ((what & 0x70) == 0x70)
		a.size <<= 40;
	a.perm = modes[(what >> 2) % 5];
	if (encode_attrib(m, &a) != 0)
		abort();
}

static void
put_bytes(struct sshbuf *m, struct fuzz *f, size_t len)
{
	len = MINIMUM(len, f->left);
	if (sshbuf_put_string(m, f->p, len) != 0)
		abort();
	f->p += len;
	f->left -= len;
}

static void
put_name(struct sshbuf *m, struct fuzz *f)
{
	static const char *const odd[] = { ".", "..", "../x", "/x", "a/b", "",
	    "-rf", "a\nb" };
	unsigned what = fuzz_byte(f);
	char usual[2] = { (char)('a' + what % 16), '\0' };
	const char *name = what < 0xc0 ? usual : odd[what % 8];

	if (what >= 0xf0)
		put_bytes(m, f, what & 0xf);
	else if (sshbuf_put_cstring(m, name) != 0)
		abort();
	if (sshbuf_put_cstring(m, "") != 0)
		abort();
	put_attrs(m, f);
}

static void
put_names(struct sshbuf *m, struct fuzz *f, u_int n)
{
	u_int said = n < 6 ? n : fuzz_byte(f);

	if (sshbuf_put_u32(m, said) != 0)
		abort();
	while (n-- > 0)
		put_name(m, f);
}

static void
put_status(struct sshbuf *m, u_int status)
{
	if (sshbuf_put_u32(m, status) != 0 ||
	    sshbuf_put_cstring(m, "") != 0 || sshbuf_put_cstring(m, "") != 0)
		abort();
}

/* The fields of a reply that suits the type of a request. Returns its type. */
static u_char
put_reply(struct sshbuf *m, struct fuzz *f, u_char type)
{
	unsigned n = fuzz_byte(f);

	switch (type) {
	case SSH2_FXP_OPEN:
	case SSH2_FXP_OPENDIR:
		put_bytes(m, f, n % 9);
		return SSH2_FXP_HANDLE;
	case SSH2_FXP_STAT:
	case SSH2_FXP_LSTAT:
	case SSH2_FXP_FSTAT:
		put_attrs(m, f);
		return SSH2_FXP_ATTRS;
	case SSH2_FXP_REALPATH:
		put_names(m, f, 1);
		return SSH2_FXP_NAME;
	case SSH2_FXP_READDIR:
		if (n & 1)
			break;
		put_names(m, f, n / 2 % 7);
		return SSH2_FXP_NAME;
	case SSH2_FXP_READ:
		if (n & 1)
			break;
		put_bytes(m, f, n / 2);
		return SSH2_FXP_DATA;
	default:
		put_status(m, SSH2_FX_OK);
		return SSH2_FXP_STATUS;
	}
	put_status(m, SSH2_FX_EOF);
	return SSH2_FXP_STATUS;
}

static void
put_version(struct sshbuf *b, struct fuzz *f)
{
	static const char *const names[] = { "limits@openssh.com",
	    "posix-rename@openssh.com", "lsetstat@openssh.com",
	    "fsync@openssh.com" };
	unsigned which = fuzz_byte(f), i;
	struct sshbuf *m = sshbuf_new();

	if (m == NULL || sshbuf_put_u8(m, SSH2_FXP_VERSION) != 0 ||
	    sshbuf_put_u32(m, which >= 0xf0 ? which & 7 : 3) != 0)
		abort();
	for (i = 0; i < 4; i++) {
		if ((which >> i & 1) != 0 &&
		    (sshbuf_put_cstring(m, names[i]) != 0 ||
		    sshbuf_put_cstring(m, "1") != 0))
			abort();
	}
	if (sshbuf_put_stringb(b, m) != 0)
		abort();
	sshbuf_free(m);
}

/* limits@openssh.com is the only extension that has a reply of its own. */
static u_char
put_limits(struct sshbuf *m, struct fuzz *f)
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		if (sshbuf_put_u64(m, fuzz_pick(f, 0xffffff)) != 0)
			abort();
	}
	return SSH2_FXP_EXTENDED_REPLY;
}

/* Appends the answer to a request of "len" bytes. Returns how it is sent. */
static unsigned
answer(struct sshbuf *b, struct server *s, size_t len)
{
	struct fuzz *f = &s->f;
	unsigned how = fuzz_byte(f);
	u_char *request = s->request, type = request[0];
	struct sshbuf *m = sshbuf_new(), *body = sshbuf_new();

	if (m == NULL || body == NULL)
		abort();
	if (type == SSH2_FXP_INIT) {
		put_version(b, f);
		goto out;
	}
	if (type == SSH2_FXP_EXTENDED)
		type = put_limits(body, f);
	else if ((how & 7) == 4) {
		put_status(body, fuzz_byte(f));
		type = SSH2_FXP_STATUS;
	} else
		type = put_reply(body, f, type);
	if ((how & 7) == 5)
		type = (u_char)fuzz_byte(f);
	if (how >= 0xf8)
		request[4] ^= fuzz_byte(f);
	if (how >= 0xf0 && how < 0xf8)
		sshbuf_consume_end(body, MINIMUM(how & 7, sshbuf_len(body)));
	if (sshbuf_put_u8(m, type) != 0 ||
	    sshbuf_put(m, request + 1, len < 5 ? 0 : 4) != 0 ||
	    sshbuf_putb(m, body) != 0 || sshbuf_put_stringb(b, m) != 0)
		abort();
out:
	sshbuf_free(m);
	sshbuf_free(body);
	return how;
}

/* Says everything twice. sshbuf_putb() cannot append a buffer to itself. */
static void
double_up(struct sshbuf *b)
{
	struct sshbuf *copy = sshbuf_new();

	if (copy == NULL || sshbuf_putb(copy, b) != 0 ||
	    sshbuf_putb(b, copy) != 0)
		abort();
	sshbuf_free(copy);
}

static int
send_all(int fd, struct sshbuf *b)
{
	ssize_t n;

	while (sshbuf_len(b) > 0) {
		n = write(fd, sshbuf_ptr(b), sshbuf_len(b));
		if (n <= 0 || sshbuf_consume(b, (size_t)n) != 0)
			return -1;
	}
	return 0;
}

/* Reads a request. Returns its length, and 0 at the end. */
static size_t
read_request(struct server *s)
{
	u_char head[4];
	size_t len, have;
	ssize_t n;

	if (recv(s->fd, head, 4, MSG_WAITALL) != 4)
		return 0;
	len = PEEK_U32(head);
	if (len == 0 || len > sizeof(s->request))
		abort();
	for (have = 0; have < len; have += (size_t)n) {
		if ((n = read(s->fd, s->request + have, len - have)) <= 0)
			return 0;
	}
	return len;
}

/* Sends the replies that were kept back, the latest one first. */
static int
send_held(struct server *s)
{
	int ok = 1;

	while (s->nheld > 0) {
		s->nheld--;
		ok = ok && send_all(s->fd, s->held[s->nheld]) == 0;
		sshbuf_free(s->held[s->nheld]);
	}
	return ok;
}

/* A client that waits for a reply sends nothing more. */
static int
is_waiting(const struct server *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return poll(&p, 1, 1) == 0;
}

static void *
serve(void *server)
{
	struct server *s = server;
	struct sshbuf *b;
	size_t len;
	unsigned how;
	int ok = 1;

	while (ok && s->f.left > 0) {
		if (s->nheld == HELD_MOST || (s->nheld > 0 && is_waiting(s)))
			ok = send_held(s);
		if ((len = read_request(s)) == 0)
			break;
		if ((b = sshbuf_new()) == NULL)
			abort();
		how = answer(b, s, len);
		if ((how & 7) == 7 && how >= 0x80)
			double_up(b);
		if ((how & 7) == 6) {
			s->held[s->nheld++] = b;
			continue;
		}
		ok = ok && send_all(s->fd, b) == 0;
		sshbuf_free(b);
	}
	send_held(s);
	shutdown(s->fd, SHUT_RDWR);
	return NULL;
}

/* Returns the client's end. */
static int
start(struct server *s)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == -1)
		abort();
	s->fd = sv[1];
	s->nheld = 0;
	if (pthread_create(&s->thread, NULL, serve, s) != 0)
		abort();
	return sv[0];
}

static void
stop(struct server *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
}

/* The client's files */

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	if (ftw->level > 0 && remove(path) == -1)
		abort();
	return 0;
}

/* Makes "out", a tree to be sent, and "in", an empty directory. */
static void
begin(void)
{
	struct rlimit most = { FILE_MOST, FILE_MOST };
	char path[32];
	int i, fd;

	signal(SIGXFSZ, SIG_IGN);
	if ((mkdir("in", 0700) == -1 && errno != EEXIST) ||
	    (mkdir("out", 0700) == -1 && errno != EEXIST) ||
	    (mkdir("out/below", 0700) == -1 && errno != EEXIST))
		abort();
	for (i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "out/%s%d", i & 1 ? "below/" : "",
		    i);
		if ((fd = open(path, O_CREAT | O_RDWR, 0600)) == -1 ||
		    ftruncate(fd, i == 0 ? TREE_LARGE : i * 9000) == -1)
			abort();
		close(fd);
	}
	if (setrlimit(RLIMIT_FSIZE, &most) == -1)
		abort();
}

/* Nothing may be here but the two directories. */
static void
check(void)
{
	struct dirent *e;
	DIR *d = opendir(".");

	if (d == NULL)
		abort();
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.' && strcmp(e->d_name, "in") != 0 &&
		    strcmp(e->d_name, "out") != 0)
			abort();
	}
	closedir(d);
	if (chmod("in", 0700) == -1 ||
	    nftw("in", remove_one, 8, FTW_DEPTH | FTW_PHYS) == -1)
		abort();
}

/* What belongs to a connection stays in memory: upstream has no end of one. */
static void
talk(int fd, unsigned mode)
{
	struct sftp_conn *conn = sftp_init(fd, fd, 0, 0, 0);
	int preserve = mode >> 1 & 1, follow = mode >> 2 & 1;

	if (conn == NULL)
		return;
	if (mode & 1)
		sftp_upload_dir(conn, "out", "there", preserve, 0, 0, 0,
		    follow, 0);
	else
		sftp_download_dir(conn, "there", "in", NULL, preserve, 0, 0, 0,
		    follow, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int has_begun, spare;
	unsigned mode, i;
	int fd;

	if (!has_begun) {
		begin();
		spare = dup(STDERR_FILENO);	/* the first free descriptor */
	}
	has_begun = 1;
	input.p = data;
	input.left = len;
	mode = fuzz_byte(&input);
	offers = mode & 8 ? 2 + (mode >> 4 & 3) : -1;
	nfurther = 0;
	first.f = input;
	fd = start(&first);
	if (FUZZ_TRY())
		talk(fd, mode);
	stop(&first);
	for (i = 0; i < nfurther; i++)
		stop(&further[i]);
	server_forget(fd);
	closefrom(spare + 1);
	check();
	return 0;
}
