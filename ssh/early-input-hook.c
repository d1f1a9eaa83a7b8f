/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-input-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "openbsd-compat/sys-queue.h"

#include "channels.h"
#include "dispatch.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "early-input-hook.h"
#include "early-session-hook.h"
#include "hayopt.h"
#include "hop-hook.h"
#include "serve-hook.h"
#include "tell.h"

extern Options options;
extern struct sshbuf *command;

/* Of what went out with the signature */
#define MOST	(64 * 1024)
#define CHUNK	(32 * 1024)		/* of one message */

/* SFTP's first message: length, INIT, version 3 */
static const u_char init[] = { 0, 0, 0, 5, 1, 0, 0, 0, 3 };

/* Our number of the session: with nothing but it, it is the first channel. */
#define SESSION	0

static struct ssh *connection;
static double begun;			/* seconds */
static struct sshbuf *sent;		/* with the signature; NULL: nothing */

static int
is_for_sftp(void)
{
	return hayopt_get()->hayate &&
	    hayopt_get()->early_login != HAYOPT_EARLY_NO &&
	    options.session_type == SESSION_TYPE_SUBSYSTEM &&
	    sshbuf_len(command) == 4 &&
	    memcmp(sshbuf_ptr(command), "sftp", 4) == 0 && tell_wished();
}

/* What scp says */

static void
attach(struct ssh *ssh)
{
	static int is_done;

	if (!is_done && hayopt_get()->hayate && !ssh_packet_get_mux(ssh))
		hop_expect(tell_memory());
	is_done = 1;
}

/* Adds the requests that scp knows, and tells it. */
static void
add_requests(struct sshbuf *input)
{
	int fd = tell_requests(), r;
	struct stat st;
	u_char *p, is_sent = 1;

	if (fd == -1)
		return;
	/* It has no name, and nobody has taken them. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
	    pread(fd, &is_sent, 1, 0) == 1 && !is_sent &&
	    st.st_size > 1 && st.st_size <= MOST) {
		if ((r = sshbuf_reserve(input, st.st_size - 1, &p)) != 0)
			fatal_fr(r, "reserve");
		if (pread(fd, p, st.st_size - 1, 1) == st.st_size - 1 &&
		    pwrite(fd, "\1", 1, 0) == 1)
			debug("early login: the first requests of scp with it");
		else if ((r = sshbuf_consume_end(input, st.st_size - 1)) != 0)
			fatal_fr(r, "consume");
	}
	close(fd);
}

/* Reads what scp has said so far. */
static void
read_input(struct ssh *ssh, Channel *c)
{
	size_t n;

	attach(ssh);
	(void)hop_read(c->rfd, c->input, CHUNK, &n);
	if (early_session_is_known(ssh) &&
	    sshbuf_len(c->input) == sizeof(init) &&
	    memcmp(sshbuf_ptr(c->input), init, sizeof(init)) == 0)
		add_requests(c->input);
}

static void
send_data(struct ssh *ssh, const u_char *p, size_t len)
{
	size_t n;
	int r;

	for (; len > 0; p += n, len -= n) {
		n = MINIMUM(len, CHUNK);
		if ((r = sshpkt_start(ssh, SSH2_MSG_CHANNEL_DATA)) != 0 ||
		    (r = sshpkt_put_u32(ssh, EARLY_SESSION_FIRST)) != 0 ||
		    (r = sshpkt_put_string(ssh, p, n)) != 0 ||
		    (r = sshpkt_send(ssh)) != 0)
			fatal_fr(r, "send packet");
	}
}

void
early_input_send(struct ssh *ssh)
{
	Channel *c = channel_by_id(ssh, SESSION);
	int r;

	if (!is_for_sftp())
		return;
	read_input(ssh, c);
	if (sshbuf_len(c->input) == 0)
		return;
	if ((sent = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_putb(sent, c->input)) != 0)
		fatal_fr(r, "keep");
	sshbuf_reset(c->input);
	send_data(ssh, sshbuf_ptr(sent), sshbuf_len(sent));
	debug("early login: %zu bytes of its input with it", sshbuf_len(sent));
}

static void
forget_sent(void)
{
	sshbuf_free(sent);
	sent = NULL;
}

/* The first window that the server announces */
static int
receive_adjust(int type, u_int32_t seq, struct ssh *ssh)
{
	Channel *c;
	int r = channel_input_window_adjust(type, seq, ssh);

	if (r != 0 || sent == NULL ||
	    (c = channel_by_id(ssh, SESSION)) == NULL ||
	    c->remote_window == 0)
		return r;
	if (c->remote_window < sshbuf_len(sent))
		fatal("The server's window is smaller than what it was sent "
		    "early. Try again with EarlyLogin=no.");
	c->remote_window -= sshbuf_len(sent);
	forget_sent();
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_WINDOW_ADJUST,
	    &channel_input_window_adjust);
	return 0;
}

void
early_input_confirmed(struct ssh *ssh)
{
	if (sent != NULL)
		ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_WINDOW_ADJUST,
		    &receive_adjust);
}

void
early_input_refused(struct ssh *ssh)
{
	int r;

	if (sent == NULL)
		return;
	if ((r = sshbuf_putb(channel_by_id(ssh, SESSION)->input, sent)) != 0)
		fatal_fr(r, "send again");
	forget_sent();
}

/* The end */

static int
is_gone(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

/* As upstream says it at the end of a session */
static void
say_transferred(void)
{
	double seconds = monotime_double() - begun;
	uint64_t received, sends;

	ssh_packet_get_bytes(connection, &received, &sends);
	verbose("Transferred: sent %llu, received %llu bytes, in %.1f seconds",
	    (unsigned long long)sends, (unsigned long long)received, seconds);
	if (seconds > 0)
		verbose("Bytes per second: sent %.1f, received %.1f",
		    sends / seconds, received / seconds);
}

static void
disconnect(void)
{
	int r;

	if ((r = sshpkt_start(connection, SSH2_MSG_DISCONNECT)) != 0 ||
	    (r = sshpkt_put_u32(connection,
	    SSH2_DISCONNECT_BY_APPLICATION)) != 0 ||
	    (r = sshpkt_put_cstring(connection, "disconnected by user")) != 0 ||
	    (r = sshpkt_put_cstring(connection, "")) != 0 ||
	    (r = sshpkt_send(connection)) != 0 ||
	    (r = ssh_packet_write_wait(connection)) < 0)
		debug_fr(r, "send packet");
}

/* A descriptor has come to its end. Returns if ssh is to go on. */
static void
end(int fd)
{
	Channel *c = channel_by_id(connection, SESSION);

	if (c == NULL || c->rfd != fd || c->type != SSH_CHANNEL_OPEN ||
	    sshbuf_len(c->input) > 0 || !is_gone(fd) ||
	    serve_has_more() || ssh_packet_is_rekeying(connection))
		return;
	debug("early login: scp has ended, so has ssh");
	if (early_session_is_learning())
		early_wait_next("keys of the host may not be learnt yet");
	disconnect();
	say_transferred();
	cleanup_exit(0);
}

void
early_input_begin(struct ssh *ssh)
{
	Channel *c;

	attach(ssh);
	if (!is_for_sftp() || ssh_packet_get_mux(ssh) ||
	    !early_session_is_plain() ||
	    (c = channel_by_id(ssh, SESSION)) == NULL ||
	    strcmp(c->ctype, "session") != 0)
		return;
	connection = ssh;
	begun = monotime_double();
	hop_ended = end;
	if (sent == NULL && sshbuf_len(c->input) == 0)
		read_input(ssh, c);
}
