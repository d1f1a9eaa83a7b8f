/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-requests-ssh-hook.h for the idea. */

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
#include "sftp.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "early-requests.h"
#include "early-requests-hook.h"
#include "early-requests-ssh-hook.h"
#include "early-session-hook.h"
#include "extra-sessions-hook.h"
#include "hayopt.h"
#include "rendezvous.h"
#include "shmpipe-hook.h"
#include "spawn-hook.h"

extern Options options;
extern struct sshbuf *command;

/* For upstream's clientloop.c, as channel_input_data() */
int	early_requests_ssh_data(int, u_int32_t, struct ssh *);

#define SENT_MAX	(64 * 1024)	/* bytes sent behind the signature */
#define CHUNK	(32 * 1024)	/* bytes in one message */

/* The beginning of VERSION: length, type, number */
#define VERSION_HEAD	9

/* SFTP's first message: length, INIT, version 3 */
static const u_char init[] = { 0, 0, 0, 5, 1, 0, 0, 0, 3 };

/* Our number of the session, which is the first channel if there is no other */
#define SESSION	0

static struct ssh *connection;
static double begun;			/* seconds, monotonic */

/* A copy of what was sent behind the signature, until its window is known */
static struct sshbuf *sent;

/*
 *   IGNORED --> EXPECTED ---> STARTED ---> READ or READ_OWN
 *                  |
 *                  +-------> OTHER
 */
static enum version_state {
	VERSION_IGNORED,	/* no SFTP is expected, or it has ended */
	VERSION_EXPECTED,	/* from the session's first data */
	VERSION_STARTED,	/* its head has arrived */
	VERSION_READ,		/* or is too long to be looked at */
	VERSION_READ_OWN,	/* the SFTP server's end is the session's */
	VERSION_OTHER		/* the program is no SFTP server */
} version;
static struct sshbuf *first_data;	/* while EXPECTED or STARTED */

static int
is_for_sftp(void)
{
	return hayopt_get()->hayate && hayopt_get()->early_login !=
	    HAYOPT_EARLY_NO && options.session_type == SESSION_TYPE_SUBSYSTEM &&
	    sshbuf_len(command) == 4 && memcmp(sshbuf_ptr(command), "sftp",
	    4) == 0 && rendezvous_client_wants();
}

/* What scp says */

static void
attach_shared_memory(struct ssh *ssh)
{
	static int is_done;

	if (!is_done && hayopt_get()->hayate && !ssh_packet_get_mux(ssh))
		shmpipe_expect_stdin(rendezvous_memory_fd());
	is_done = 1;
}

/* scp's memory with its first requests, or -1 */
static int requests_fd = -1;
static int has_requests;	/* they were sent behind INIT */

/*
 * Returns a value of enum early_requests_state, or -1 if this is no memory of
 * scp, which is a file without a name.
 */
static int
read_request_state(void)
{
	struct stat st;
	u_char said;

	return requests_fd != -1 && fstat(requests_fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_nlink == 0 && st.st_size > 1 &&
	    st.st_size <= SENT_MAX && pread(requests_fd, &said, 1, 0) == 1 ?
	    said : -1;
}

static int
write_request_state(u_char said)
{
	return pwrite(requests_fd, &said, 1, 0) == 1;
}

/* Adds the requests unless scp has them already, and notifies scp. */
static void
add_requests(struct sshbuf *input)
{
	struct stat st;
	size_t len;
	u_char *p;
	int r;

	requests_fd = rendezvous_requests_fd();
	if (read_request_state() != EARLY_REQUESTS_NOTHING ||
	    fstat(requests_fd, &st) == -1)
		return;
	if (!early_auth_sftp_is_known()) {
		debug("early login: sending the first requests of scp after "
		    "VERSION");
		(void)write_request_state(EARLY_REQUESTS_MAY_SEND);
		return;
	}
	len = st.st_size - 1;
	if ((r = sshbuf_reserve(input, len, &p)) != 0)
		fatal_fr(r, "reserve");
	has_requests = pread(requests_fd, p, len, 1) == (ssize_t)len &&
	    write_request_state(EARLY_REQUESTS_SENT);
	if (has_requests)
		debug("early login: sending the first requests of scp early");
	else if ((r = sshbuf_consume_end(input, len)) != 0)
		fatal_fr(r, "consume");
}

/* Reads the bytes that scp has written so far. */
static void
read_input(struct ssh *ssh, Channel *c)
{
	size_t n;

	attach_shared_memory(ssh);
	(void)shmpipe_read(c->rfd, c->input, CHUNK, &n);
	if (early_session_is_allowed(ssh) &&
	    sshbuf_len(c->input) == sizeof(init) &&
	    memcmp(sshbuf_ptr(c->input), init, sizeof(init)) == 0)
		add_requests(c->input);
}

/* What the server says first */

/* bytes; a longer VERSION is not read */
#define VERSION_MAX	4096

/*
 * Returns 1 if the extensions of VERSION say that the session ends with the
 * SFTP server.
 */
static int
version_says_own(const u_char *p, size_t len)
{
	struct sshbuf *b = sshbuf_from(p, len);
	const u_char *name;
	size_t n;
	int found = 0;

	while (b != NULL && !found &&
	    sshbuf_get_string_direct(b, &name, &n) == 0) {
		found = n == strlen(OPENING_OWN) &&
		    memcmp(name, OPENING_OWN, n) == 0;
		if (sshbuf_get_string_direct(b, NULL, NULL) != 0)
			break;
	}
	sshbuf_free(b);
	return found;
}

/* Returns the state that follows from the first data of the session. */
static enum version_state
parse_version(const struct sshbuf *b)
{
	const u_char *p = sshbuf_ptr(b);
	size_t len;

	if (sshbuf_len(b) < VERSION_HEAD)
		return VERSION_EXPECTED;
	len = (size_t)PEEK_U32(p) + 4;
	if (len < VERSION_HEAD || p[4] != SSH2_FXP_VERSION ||
	    PEEK_U32(p + 5) != SSH2_FILEXFER_VERSION)
		return VERSION_OTHER;
	if (len > VERSION_MAX)
		return VERSION_READ;
	if (sshbuf_len(b) < len)
		return VERSION_STARTED;
	return version_says_own(p + VERSION_HEAD, len - VERSION_HEAD) ?
	    VERSION_READ_OWN : VERSION_READ;
}

static int
reads_version(void)
{
	return version == VERSION_EXPECTED || version == VERSION_STARTED;
}

int
early_requests_ssh_data(int type, u_int32_t seq, struct ssh *ssh)
{
	const u_char *p;
	size_t len;
	int r;

	/* the channel, the length of the data, the data */
	p = sshpkt_ptr(ssh, &len);
	if (reads_version() && len > 8 && PEEK_U32(p) == SESSION) {
		if ((r = sshbuf_put(first_data, p + 8, len - 8)) != 0)
			fatal_fr(r, "keep");
		version = parse_version(first_data);
		if (version != VERSION_EXPECTED && version != VERSION_OTHER)
			early_auth_note_sftp(1);
	}
	if (!reads_version()) {
		sshbuf_free(first_data);
		first_data = NULL;
		ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_DATA,
		    &channel_input_data);
	}
	return channel_input_data(type, seq, ssh);
}

static void
expect_version(void)
{
	if (version != VERSION_IGNORED)
		return;
	if ((first_data = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	version = VERSION_EXPECTED;
}

void
early_requests_ssh_end(void)
{
	if (version == VERSION_EXPECTED || version == VERSION_OTHER)
		early_auth_note_sftp(0);
	version = VERSION_IGNORED;
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
early_requests_ssh_send(struct ssh *ssh)
{
	Channel *c = channel_by_id(ssh, SESSION);
	int r;

	if (!is_for_sftp())
		return;
	expect_version();
	read_input(ssh, c);
	if (sshbuf_len(c->input) == 0)
		return;
	if ((sent = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_putb(sent, c->input)) != 0)
		fatal_fr(r, "keep");
	sshbuf_reset(c->input);
	send_data(ssh, sshbuf_ptr(sent), sshbuf_len(sent));
	debug("early login: sending %zu bytes of input early",
	    sshbuf_len(sent));
}

static void
forget_sent(void)
{
	sshbuf_free(sent);
	sent = NULL;
}

/* WINDOW_ADJUST with the first window of the server */
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
		fatal("The server's window is smaller than the data sent "
		    "early; try again with EarlyLogin=no");
	c->remote_window -= sshbuf_len(sent);
	forget_sent();
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_WINDOW_ADJUST,
	    &channel_input_window_adjust);
	return 0;
}

void
early_requests_ssh_confirmed(struct ssh *ssh)
{
	if (sent != NULL)
		ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_WINDOW_ADJUST,
		    &receive_adjust);
}

void
early_requests_ssh_rejected(struct ssh *ssh)
{
	int r;

	if (sent == NULL)
		return;
	/* Another key or method may bring another program. */
	if (has_requests && write_request_state(EARLY_REQUESTS_MAY_SEND) && (r =
	    sshbuf_consume_end(sent, sshbuf_len(sent) - sizeof(init))) != 0)
		fatal_fr(r, "consume");
	if ((r = sshbuf_putb(channel_by_id(ssh, SESSION)->input, sent)) != 0)
		fatal_fr(r, "send again");
	forget_sent();
}

/* The end */

static int
is_hung_up(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

/* As upstream says it at the end of a session */
static void
log_transferred(void)
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

/* The end of the file "fd" was read. Returns if ssh is to continue. */
static void
end_with_scp(int fd)
{
	Channel *c = channel_by_id(connection, SESSION);

	if (c == NULL || c->rfd != fd || c->type != SSH_CHANNEL_OPEN ||
	    sshbuf_len(c->input) > 0 || !is_hung_up(fd) ||
	    (version != VERSION_READ_OWN && read_request_state() !=
	    EARLY_REQUESTS_STUCK) || extra_sessions_were_opened() ||
	    ssh_packet_is_rekeying(connection))
		return;
	debug("early login: scp has ended, so has ssh");
	if (early_session_is_learning())
		early_auth_defer_session(
		    "keys of the host may not be learnt yet");
	disconnect();
	log_transferred();
	spawn_report_unresolved();
	cleanup_exit(0);
}

void
early_requests_ssh_begin(struct ssh *ssh)
{
	Channel *c;

	attach_shared_memory(ssh);
	if (!is_for_sftp() || ssh_packet_get_mux(ssh) ||
	    !early_session_is_plain() ||
	    (c = channel_by_id(ssh, SESSION)) == NULL ||
	    strcmp(c->ctype, "session") != 0)
		return;
	expect_version();
	connection = ssh;
	begun = monotime_double();
	shmpipe_at_eof = end_with_scp;
	if (sent == NULL && sshbuf_len(c->input) == 0)
		read_input(ssh, c);
}
