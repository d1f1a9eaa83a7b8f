/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stripe-hook.h. Errors have the texts of upstream's sftp_upload(). */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "hidden-hook.h"
#include "hop-hook.h"
#include "link-hook.h"
#include "links-hook.h"
#include "lost-hook.h"
#include "server-hook.h"
#include "stripe.h"
#include "stripe-hook.h"
#include "tell.h"

/* With so much to be sent on a channel no more is made ready for it. */
#define BACKLOG_MAX	(512 * 1024)

/* A handle has at most so many bytes (version 3 of the protocol, 6.3). */
#define HANDLE_MAX	256

/* Bytes under way on one channel, at least: twice a stock server's window */
#define WINDOW_LEAST	(4 * 1024 * 1024)

/* So long a signal waits at most that comes right before poll(). */
#define WAIT_MS		1000

/* After a signal so much time (us) remains to bring things to an end. */
#define REPAIR_US	(10 * 1000000)

extern volatile sig_atomic_t interrupted;
extern int showprogress;

struct handle {
	u_char	*data;
	size_t	 len;
};

struct channel {
	struct link *link;		/* NULL: none */
	int	 fd;
	int	 is_login;		/* a connection of its own */
	int	 state;			/* of links_take() */
	struct handle handle;		/* of the hidden file */
};

struct put {
	struct sftp_conn *conn;
	struct stripe *s;
	struct channel chan[STRIPE_CHANNELS];
	struct handle file;		/* on channel 0 */
	const char *local, *remote;
	char	*hidden, *other;	/* hidden names: our own, and any */
	int	 fd, main_fd;
	int	 is_auto;
	int	 in_place;
	Attrib	 a;
	u_int	 status;		/* first error of data */
	int	 read_errno;
	off_t	 size, moved;		/* for the progress meter */
	int	 is_shown;
	unsigned int most;		/* channels */
	enum landing_left left;		/* which "farewell" names */
	char	*farewell;
};

/* Whether channels are wanted */

static int is_scp, is_wanted = 1;

/* A larger tree is not looked at to its end: it may be large. */
#define ENTRIES_MOST	256

static off_t sum;
static int entries;

static int
add_size(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	if (type == FTW_F && S_ISREG(sb->st_mode))
		sum += MINIMUM(sb->st_size, STRIPE_LEAST);
	if (++entries == ENTRIES_MOST)
		sum = STRIPE_LEAST;
	return sum >= STRIPE_LEAST;
}

void
stripe_judge(int argc, char **argv)
{
	int i;

	is_scp = 1;
	is_wanted = 0;
	if (argc < 2 || (colon(argv[argc - 1]) == NULL &&
	    strncasecmp(argv[argc - 1], "scp://", 6) != 0))
		return;
	for (i = 0; i < argc - 1 && sum < STRIPE_LEAST; i++)
		(void)nftw(argv[i], add_size, 16, 0);
	is_wanted = sum >= STRIPE_LEAST;
}

void
stripe_wish(int fd, int chosen)
{
	lost_begin();
	links_forget(fd);
	if (!chosen)
		tell_wish(fd, is_wanted, hop_offer_ssh(fd));
}

/*
 * Signals: scp and sftp would leave at once, and with them what is not in
 * order. Where all is in order, they may. sftp goes on after a ^C by itself.
 */

static struct {
	int	 sig;
	struct sigaction old;
} signals[] = { { .sig = SIGTERM }, { .sig = SIGHUP }, { .sig = SIGPIPE },
    { .sig = SIGINT } };

static volatile sig_atomic_t caught, must_repair;
static char *volatile farewell;		/* names what is left; or NULL */

static size_t
signals_caught(void)
{
	return sizeof(signals) / sizeof(*signals) - !is_scp;
}

static void
restore_signals(void)
{
	size_t i;

	for (i = 0; i < signals_caught(); i++)
		sigaction(signals[i].sig, &signals[i].old, NULL);
}

/* The second signal ends the process, as the first would have done. */
static void
catch(int sig)
{
	const char *last = farewell;

	if (caught || !must_repair) {
		if (last != NULL)
			(void)!write(STDERR_FILENO, last, strlen(last));
		restore_signals();
		raise(sig);
	}
	caught = sig;
	interrupted = 1;
}

static void
catch_signals(void)
{
	struct sigaction sa;
	size_t i;

	must_repair = 0;
	memset(&sa, 0, sizeof(sa));
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < signals_caught(); i++) {
		/* A lost connection is an error of write(). */
		sa.sa_handler = signals[i].sig == SIGPIPE ? SIG_IGN : catch;
		sigaction(signals[i].sig, &sa, &signals[i].old);
	}
}

/* What the signal would have done is done now. */
static void
release_signals(void)
{
	restore_signals();
	if (caught)
		raise(caught);
}

/* The caller frees what it returns: what is left, or NULL. */
static char *
describe_left(const struct put *p)
{
	char *text;

	switch (stripe_left(p->s)) {
	case LANDING_LEFT_HIDDEN:
		xasprintf(&text, "what was put of \"%s\" is \"%s\"", p->remote,
		    p->hidden);
		return text;
	case LANDING_LEFT_PERHAPS:
		xasprintf(&text, "what was put of \"%s\" may be \"%s\"",
		    p->remote, p->hidden);
		return text;
	case LANDING_LEFT_SECOND:
		xasprintf(&text, "\"%s\" is left beside \"%s\", and can be "
		    "removed", p->hidden, p->remote);
		return text;
	default:
		return NULL;
	}
}

static void
say_left(const struct put *p)
{
	char *text = describe_left(p);

	if (text != NULL)
		error("%s", text);
	free(text);
}

/* A signal handler cannot use printf(). */
static void
prepare_farewell(struct put *p)
{
	enum landing_left left = stripe_left(p->s);
	char *text;

	if (left == p->left)
		return;
	p->left = left;
	farewell = NULL;
	free(p->farewell);
	p->farewell = NULL;
	if ((text = describe_left(p)) == NULL)
		return;
	xasprintf(&p->farewell, "%s\r\n", text);
	free(text);
	farewell = p->farewell;
}

/*
 * ssh waits for the end of all channels, and scp for the end of ssh. A ^C that
 * ended ssh as well is no lost connection.
 */
static void
before_fatal(void *arg)
{
	struct put *p = arg;
	unsigned int i;

	for (i = 1; i < STRIPE_CHANNELS; i++) {
		if (p->chan[i].link != NULL)
			close(p->chan[i].fd);
	}
	farewell = NULL;
	say_left(p);
	release_signals();
}

/* Requests */

static void
put_handle(struct sshbuf *m, const struct handle *h)
{
	int r;

	if ((r = sshbuf_put_string(m, h->data, h->len)) != 0)
		fatal_fr(r, "compose");
}

static void
put_path(struct sshbuf *m, const char *path)
{
	int r;

	if ((r = sshbuf_put_cstring(m, path)) != 0)
		fatal_fr(r, "compose");
}

static struct sshbuf *
begin(struct put *p, const struct stripe_action *a, u_char code)
{
	debug3("Sending SSH2_FXP %u I:%u on channel %u", code, a->id, a->chan);
	return link_begin(p->chan[a->chan].link, code, a->id);
}

static void
send_open(struct put *p, const struct stripe_action *a, const char *path,
    u_int flags, Attrib *attrs)
{
	struct sshbuf *m = begin(p, a, SSH2_FXP_OPEN);
	int r;

	put_path(m, path);
	if ((r = sshbuf_put_u32(m, flags)) != 0 ||
	    (r = encode_attrib(m, attrs)) != 0)
		fatal_fr(r, "compose");
	link_end(p->chan[a->chan].link);
}

static void
send_second(struct put *p, const struct stripe_action *a)
{
	Attrib attrs;
	int is_join = a->op == STRIPE_JOIN;

	attrib_clear(&attrs);
	if (!is_join) {
		attrs.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
		attrs.perm = 0600;
	}
	send_open(p, a, p->hidden, SSH2_FXF_WRITE | (is_join ? 0 :
	    SSH2_FXF_READ | SSH2_FXF_CREAT | SSH2_FXF_EXCL), &attrs);
}

static void
send_file(struct put *p, const struct stripe_action *a)
{
	if (a->op == STRIPE_OPEN_NEW)
		send_open(p, a, p->remote,
		    SSH2_FXF_WRITE | SSH2_FXF_CREAT | SSH2_FXF_EXCL, &p->a);
	else
		send_open(p, a, p->remote, SSH2_FXF_WRITE | SSH2_FXF_CREAT |
		    (p->in_place ? 0 : SSH2_FXF_TRUNC), &p->a);
}

/* A request with a handle alone, or with attributes as well */
static void
send_handle(struct put *p, const struct stripe_action *a, u_char code,
    const struct handle *h, Attrib *attrs)
{
	struct sshbuf *m = begin(p, a, code);
	int r;

	put_handle(m, h);
	if (attrs != NULL && (r = encode_attrib(m, attrs)) != 0)
		fatal_fr(r, "compose");
	link_end(p->chan[a->chan].link);
}

static void
send_truncate(struct put *p, const struct stripe_action *a)
{
	Attrib size;

	debug("truncating at %llu", (unsigned long long)a->off);
	attrib_clear(&size);
	size.flags = SSH2_FILEXFER_ATTR_SIZE;
	size.size = a->off;
	send_handle(p, a, SSH2_FXP_FSETSTAT, &p->file, &size);
}

/*
 * There and back. SSH2_FXP_RENAME refuses to replace a file, which may have
 * been made meanwhile.
 */
static void
send_rename(struct put *p, const struct stripe_action *a)
{
	struct sshbuf *m = begin(p, a, SSH2_FXP_RENAME);
	int is_back = a->op == STRIPE_SHOW;

	put_path(m, is_back ? p->hidden : p->remote);
	put_path(m, is_back ? p->remote : p->hidden);
	link_end(p->chan[0].link);
}

static void
send_remove(struct put *p, const struct stripe_action *a)
{
	put_path(begin(p, a, SSH2_FXP_REMOVE), p->hidden);
	link_end(p->chan[0].link);
}

/* What is under a hidden name, also of another copy */
static void
send_name(struct put *p, const struct stripe_action *a)
{
	hidden_number(p->other, a->number);
	if (a->op == STRIPE_SWEEP)
		debug("removing \"%s\", which was left over", p->other);
	put_path(begin(p, a, a->op == STRIPE_SWEEP ? SSH2_FXP_REMOVE :
	    SSH2_FXP_LSTAT), p->other);
	link_end(p->chan[0].link);
}

static void
send_space(struct put *p, const struct stripe_action *a)
{
	struct sshbuf *m = begin(p, a, SSH2_FXP_EXTENDED);

	put_path(m, "fstatvfs@openssh.com");
	put_handle(m, &p->chan[0].handle);
	link_end(p->chan[0].link);
}

static void
send_copy(struct put *p, const struct stripe_action *a)
{
	struct sshbuf *m = begin(p, a, SSH2_FXP_EXTENDED);
	int r;

	put_path(m, "copy-data");
	put_handle(m, &p->chan[0].handle);
	if ((r = sshbuf_put_u64(m, a->at)) != 0 ||
	    (r = sshbuf_put_u64(m, a->len)) != 0)
		fatal_fr(r, "compose");
	put_handle(m, &p->file);
	if ((r = sshbuf_put_u64(m, a->off)) != 0)
		fatal_fr(r, "compose");
	link_end(p->chan[0].link);
}

/* Reads into the buffer of the message. Returns how many bytes. */
static ssize_t
read_local(struct put *p, u_char *data, const struct stripe_action *a)
{
	size_t got = 0;
	ssize_t n = 1;

	while (got < a->len && n != 0) {
		n = pread(p->fd, data + got, a->len - got, a->off + got);
		if (n == -1 && errno != EINTR && errno != EAGAIN) {
			p->read_errno = errno;
			stripe_stop(p->s);
			return 0;
		}
		got += n > 0 ? n : 0;
	}
	return got;
}

static void
send_write(struct put *p, const struct stripe_action *a)
{
	struct link *link = p->chan[a->chan].link;
	struct sshbuf *m = begin(p, a, SSH2_FXP_WRITE);
	size_t at;
	u_char *data;
	ssize_t n;
	int r;

	put_handle(m, a->second || a->chan != 0 ? &p->chan[a->chan].handle :
	    &p->file);
	if ((r = sshbuf_put_u64(m, a->at)) != 0 ||
	    (r = sshbuf_put_u32(m, 0)) != 0)
		fatal_fr(r, "compose");
	at = sshbuf_len(m) - 4;
	if ((r = sshbuf_reserve(m, a->len, &data)) != 0)
		fatal_fr(r, "reserve");
	n = read_local(p, data, a);
	if ((r = sshbuf_consume_end(m, a->len - n)) != 0 ||
	    (r = sshbuf_poke_u32(m, at, n)) != 0)
		fatal_fr(r, "compose");
	if (n == 0)
		link_cancel(link);
	else
		link_end(link);
	stripe_sent(p->s, a->id, n);
}

/* Channels */

/* "keep": another file may use it, if it is a connection. */
static void
close_channel(struct put *p, unsigned int i, int keep)
{
	struct channel *c = &p->chan[i];

	if (c->link != NULL) {
		keep &= c->is_login && c->state != 0 &&
		    !link_is_lost(c->link);
		link_free(c->link);
		if (keep)
			links_leave(p->main_fd, c->fd, c->state);
		else
			close(c->fd);
	}
	free(c->handle.data);
	memset(c, 0, sizeof(*c));
}


/* What of LANDING_HAS_* the server tells: from links_read_version() */
static int
has_of(const struct put *p, int told)
{
	int copy = LINKS_COPY | LINKS_SPACE;

	/* A file that its owner may not write is not opened again. */
	return (told & LINKS_LIMITS) == 0 ? 0 :
	    ((told & copy) == copy ? LANDING_HAS_COPY : 0) |
	    ((p->a.perm & S_IWUSR) != 0 ? LANDING_HAS_RENAME : 0);
}

static void
take_version(struct put *p, unsigned int i, struct sshbuf *m)
{
	struct channel *c = &p->chan[i];

	c->state = links_read_version(c->link, m);
	stripe_up(p->s, i, has_of(p, c->state));
}

static void
connect_channel(struct put *p, unsigned int i, int login)
{
	struct channel *c = &p->chan[i];
	struct link_conf conf = { .may_end = 1,
	    .before_fatal = before_fatal, .arg = p };

	c->is_login = login;
	c->state = LINKS_NEW;
	c->fd = login ? links_take(p->main_fd, &c->state) :
	    tell_connect(p->main_fd, 0);
	if (c->fd == -1) {
		stripe_down(p->s, i);
		return;
	}
	if (!login)
		debug("asking for channel %u", i + 1);
	conf.fd_in = conf.fd_out = c->fd;
	c->link = link_new(&conf);
	if (c->state == LINKS_NEW) {
		links_send_init(c->link);
		c->state = LINKS_ASKED;
	}
	if (c->state >= 0)
		stripe_up(p->s, i, has_of(p, c->state));
}

/* Actions */

/* What changes names, and what makes a second file */
static void
act_on_name(struct put *p, const struct stripe_action *a)
{
	if (a->op == STRIPE_HIDE || a->op == STRIPE_OPEN_SECOND) {
		must_repair = 1;
		hidden_number(p->hidden, a->number);
	}
	switch (a->op) {
	case STRIPE_HIDE:
	case STRIPE_SHOW:
		send_rename(p, a);
		break;
	case STRIPE_OPEN_SECOND:
	case STRIPE_JOIN:
		send_second(p, a);
		break;
	case STRIPE_REMOVE_SECOND:
		send_remove(p, a);
		break;
	default:
		send_name(p, a);
	}
}

static void
act(struct put *p, const struct stripe_action *a)
{
	switch (a->op) {
	case STRIPE_OPEN_NEW:
	case STRIPE_OPEN_OLD:
		send_file(p, a);
		break;
	case STRIPE_LOOK:
		send_handle(p, a, SSH2_FXP_FSTAT, &p->file, NULL);
		break;
	case STRIPE_CONNECT:
	case STRIPE_LOGIN:
		connect_channel(p, a->chan, a->op == STRIPE_LOGIN);
		break;
	case STRIPE_SPACE:
		send_space(p, a);
		break;
	case STRIPE_WRITE:
		send_write(p, a);
		break;
	case STRIPE_COPY:
		send_copy(p, a);
		break;
	case STRIPE_TRUNCATE:
		send_truncate(p, a);
		break;
	case STRIPE_ATTRS:
		send_handle(p, a, SSH2_FXP_FSETSTAT, &p->file, &p->a);
		break;
	case STRIPE_LEAVE:
	case STRIPE_CLOSE_SECOND:
		send_handle(p, a, SSH2_FXP_CLOSE, &p->chan[a->chan].handle,
		    NULL);
		break;
	case STRIPE_CLOSE:
		send_handle(p, a, SSH2_FXP_CLOSE, &p->file, NULL);
		break;
	default:
		act_on_name(p, a);
	}
}

/* Replies */

static void
say(struct put *p, const struct stripe_action *a, u_int status)
{
	const char *why = fx2txt(status);

	switch (a->op) {
	case STRIPE_OPEN_OLD:
		error("dest open \"%s\": %s", p->remote, why);
		break;
	case STRIPE_WRITE:
	case STRIPE_COPY:
		if (p->status == SSH2_FX_OK)
			error("write remote \"%s\": %s", p->remote, why);
		p->status = status;
		break;
	case STRIPE_SHOW:
		error("remote rename \"%s\" to \"%s\": %s", p->hidden,
		    p->remote, why);
		break;
	case STRIPE_OWN:
		error("remote lstat \"%s\": %s", p->hidden, why);
		break;
	case STRIPE_REMOVE_SECOND:
		error("remote delete \"%s\": %s", p->hidden, why);
		break;
	case STRIPE_CLOSE:
	case STRIPE_LEAVE:
		error("close remote: %s", why);
		break;
	default:
		error("remote fsetstat: %s", why);
	}
}

static void
take_handle(struct put *p, const struct stripe_action *a, struct sshbuf *m)
{
	struct channel *c = &p->chan[a->chan];
	struct handle *h = a->op == STRIPE_OPEN_NEW ||
	    a->op == STRIPE_OPEN_OLD ? &p->file : &c->handle;
	int r;

	free(h->data);
	h->data = NULL;
	if ((r = sshbuf_get_string(m, &h->data, &h->len)) != 0)
		link_fatal(c->link, "parse handle: %s", ssh_err(r));
	if (h->len > HANDLE_MAX)
		link_fatal(c->link, "Server sent a handle of %zu bytes for "
		    "\"%s\"; at most %d are allowed", h->len, p->remote,
		    HANDLE_MAX);
}

static void
take_attrs(struct put *p, const struct stripe_action *asked, struct sshbuf *m)
{
	Attrib a;
	int r;

	if ((r = decode_attrib(m, &a)) != 0)
		link_fatal(p->chan[0].link, "parse attributes: %s",
		    ssh_err(r));
	if (asked->op == STRIPE_FIND)
		stripe_found(p->s, asked->number, hidden_is_file(&a), a.size,
		    a.mtime);
	if (asked->op != STRIPE_LOOK)
		return;
	stripe_looked(p->s, (a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 && S_ISREG(a.perm),
	    a.size);
}

static void
take_space(struct put *p, struct sshbuf *m)
{
	uint64_t v[5];		/* of statvfs(3): v[1] bytes, v[4] times */
	int i, r;

	for (i = 0; i < 5; i++) {
		if ((r = sshbuf_get_u64(m, &v[i])) != 0)
			link_fatal(p->chan[0].link, "parse statvfs: %s",
			    ssh_err(r));
	}
	stripe_space(p->s, v[1] != 0 && v[4] > UINT64_MAX / v[1] ? UINT64_MAX :
	    v[4] * v[1]);
}

/* Returns the type of a reply that is no error. */
static u_char
wanted_type(enum stripe_op op)
{
	switch (op) {
	case STRIPE_OPEN_NEW:
	case STRIPE_OPEN_OLD:
	case STRIPE_OPEN_SECOND:
	case STRIPE_JOIN:
		return SSH2_FXP_HANDLE;
	case STRIPE_LOOK:
	case STRIPE_FIND:
	case STRIPE_OWN:
		return SSH2_FXP_ATTRS;
	case STRIPE_SPACE:
		return SSH2_FXP_EXTENDED_REPLY;
	default:
		return SSH2_FXP_STATUS;
	}
}

/* Returns the status, or SSH2_FX_OK for another type, if it was awaited. */
static u_int
read_status(struct put *p, const struct stripe_action *a, u_char type,
    struct sshbuf *m)
{
	u_char wanted = wanted_type(a->op);
	u_int status = link_status(p->chan[a->chan].link, m, type, wanted,
	    p->remote);

	return type != wanted && status == SSH2_FX_OK ? SSH2_FX_FAILURE :
	    status;
}

static uint64_t
rest_of(const struct put *p)
{
	uint64_t size = p->size, done = stripe_acked(p->s);

	return size > done ? size - done : 0;
}

static void
take_reply(struct put *p, unsigned int chan, struct sshbuf *m)
{
	struct link *link = p->chan[chan].link;
	struct stripe_action a;
	uint64_t window;
	uint32_t id;
	u_char type;
	u_int status;

	if (chan == 0 && server_sees(p->conn, m))
		return;
	link_head(link, m, &type, &id);
	if (stripe_find(p->s, chan, id, &a) != 0)
		link_fatal(link, "Unexpected reply %u", id);
	status = read_status(p, &a, type, m);
	if (type == SSH2_FXP_HANDLE)
		take_handle(p, &a, m);
	else if (type == SSH2_FXP_ATTRS)
		take_attrs(p, &a, m);
	else if (type == SSH2_FXP_EXTENDED_REPLY)
		take_space(p, m);
	debug3("Received reply T:%u I:%u on channel %u", type, id, chan);
	if (stripe_reply(p->s, id, status == SSH2_FX_OK, clock_us()))
		say(p, &a, status);
	window = server_count_tree(p->conn,
	    a.op == STRIPE_WRITE && status == SSH2_FX_OK ? a.len : 0);
	stripe_set_window(p->s, MAXIMUM(window, WINDOW_LEAST));
	if (p->is_auto && a.op == STRIPE_WRITE && status == SSH2_FX_OK) {
		links_count(p->main_fd, a.len, rest_of(p),
		    stripe_channels(p->s));
		stripe_set_streams(p->s, links_wanted(p->main_fd));
	}
}

/* The loop */

static void
take_all(struct put *p, unsigned int i)
{
	struct channel *c = &p->chan[i];
	struct sshbuf *m;

	while ((m = link_take(c->link)) != NULL) {
		if (i > 0 && c->state < 0)
			take_version(p, i, m);
		else
			take_reply(p, i, m);
	}
	if (!link_is_lost(c->link))
		return;
	if (c->is_login && c->state < 0)
		links_refused(p->main_fd, stripe_channels(p->s));
	else
		debug("%s %u %s", c->is_login ? "connection" : "channel", i + 1,
		    c->state >= 0 ? "is lost" :
		    "was refused; there will be no more");
	stripe_down(p->s, i);
	close_channel(p, i, 0);
}

static void
wait_for_some(struct put *p)
{
	struct link *links[STRIPE_CHANNELS];
	unsigned int i, n = 0;

	for (i = 0; i < STRIPE_CHANNELS; i++) {
		if (p->chan[i].link != NULL)
			links[n++] = p->chan[i].link;
	}
	link_move_all(links, n, WAIT_MS);
	for (i = 0; i < STRIPE_CHANNELS; i++) {
		if (p->chan[i].link != NULL)
			take_all(p, i);
	}
}

/* A bit for each channel that can take more */
static unsigned int
ready(const struct put *p)
{
	unsigned int i, bits = 0;

	for (i = 0; i < STRIPE_CHANNELS; i++) {
		if (p->chan[i].link != NULL &&
		    link_backlog(p->chan[i].link) < BACKLOG_MAX)
			bits |= 1U << i;
	}
	return bits;
}

static void
note_channels(struct put *p)
{
	unsigned int n = stripe_channels(p->s);

	if (n > p->most && n > 1)
		debug("\"%s\" goes over %u %s", p->remote, n,
		    p->chan[1].is_login ? "connections" : "channels");
	p->most = MAXIMUM(p->most, n);
}

static void
show(struct put *p)
{
	const char *slash = strrchr(p->local, '/');

	if (!showprogress || !stripe_is_open(p->s))
		return;
	p->moved = stripe_acked(p->s);
	if (!p->is_shown)
		start_progress_meter(slash != NULL && slash[1] != '\0' ?
		    slash + 1 : p->local, p->size, &p->moved);
	p->is_shown = 1;
	refresh_progress_meter(0);
}

static void
run(struct put *p)
{
	struct stripe_action a;
	int r;

	uint64_t until = 0;

	while (!stripe_is_done(p->s)) {
		if (interrupted)
			stripe_stop(p->s);
		if (caught && until == 0)
			until = clock_us() + REPAIR_US;
		if (until != 0 && clock_us() > until)
			before_fatal(p);
		stripe_clock(p->s, clock_us());
		while ((r = stripe_next(p->s, ready(p), &a)) == 1)
			act(p, &a);
		prepare_farewell(p);
		if (r == -1)
			fatal_f("out of memory");
		if (stripe_is_done(p->s))
			break;
		wait_for_some(p);
		note_channels(p);
		show(p);
	}
}

static int
put_file(struct put *p, int preserve)
{
	struct server_tree q;
	struct stripe_conf conf = { .size = p->size, .may_stripe = 1,
	    .in_place = p->in_place, .preserve = preserve };
	struct link_conf link = { .before_fatal = before_fatal, .arg = p };
	unsigned int i;
	int ret;

	server_take(p->conn, NULL);
	server_begin_tree(p->conn, 1, 1, &q);
	conf.unit = q.unit;
	conf.number = arc4random_uniform(LANDING_NAMES);
	conf.first_id = *q.msg_id;
	p->is_auto = tell_offers(q.fd_in) == 0;
	if (links_may_grow(q.fd_in))
		conf.streams = links_wanted(q.fd_in);
	links_pause(q.fd_in);
	link.fd_in = q.fd_in;
	link.fd_out = q.fd_out;
	if ((p->s = stripe_new(&conf)) == NULL)
		fatal_f("out of memory");
	p->main_fd = q.fd_in;
	p->chan[0].link = link_new(&link);
	run(p);
	if (p->is_shown)
		stop_progress_meter();
	*q.msg_id = stripe_next_id(p->s);
	server_give(p->conn);
	link_free(p->chan[0].link);
	p->chan[0].link = NULL;
	for (i = 0; i < STRIPE_CHANNELS; i++)
		close_channel(p, i, 1);
	ret = stripe_has_failed(p->s) ? -1 : 0;
	say_left(p);
	server_add_moved(p->conn, stripe_acked(p->s));
	farewell = NULL;
	free(p->farewell);
	stripe_free(p->s);
	free(p->file.data);
	return ret;
}

int
stripe_put(struct sftp_conn *conn, const char *local, const char *remote,
    int preserve, int plain, int in_place, int *ret)
{
	struct put p = { .conn = conn, .local = local, .remote = remote,
	    .in_place = in_place };
	struct stat sb;

	/* stat() first: another who has opened a fifo would notice the end. */
	if (plain || stat(local, &sb) == -1 || !S_ISREG(sb.st_mode))
		return 0;
	if (sb.st_size >= STRIPE_LEAST && server_is_tuned(conn))
		links_tell_why_alone(server_get_conn(conn)->fd_in);
	if (!server_can_stripe(conn, STRIPE_UNIT) ||
	    (p.fd = open(local, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	if (fstat(p.fd, &sb) == -1 || !S_ISREG(sb.st_mode) ||
	    sb.st_size < STRIPE_LEAST) {
		close(p.fd);
		return 0;
	}
	stat_to_attrib(&sb, &p.a);
	p.a.flags &= ~SSH2_FILEXFER_ATTR_SIZE;
	p.a.flags &= ~SSH2_FILEXFER_ATTR_UIDGID;
	p.a.perm &= 0777;
	if (!preserve)
		p.a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	p.size = sb.st_size;
	p.hidden = hidden_name(remote, p.size, &sb.st_mtim);
	p.other = xstrdup(p.hidden);
	catch_signals();
	*ret = put_file(&p, preserve);
	close(p.fd);
	free(p.hidden);
	free(p.other);
	release_signals();
	if (p.read_errno != 0)
		fatal("read local \"%s\": %s", local, strerror(p.read_errno));
	return 1;
}
