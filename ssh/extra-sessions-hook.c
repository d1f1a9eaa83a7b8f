/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See extra-sessions-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include "openbsd-compat/sys-queue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "ssh.h"
#include "ssh2.h"
#include "pathnames.h"
#include "misc.h"
#include "packet.h"
#include "dispatch.h"
#include "channels.h"
#include "clientloop.h"
#include "compat.h"
#include "log.h"
#include "readconf.h"
#include "sshbuf.h"

#include "bottleneck-ssh-hook.h"
#include "early-requests-ssh-hook.h"
#include "extra-sessions-hook.h"
#include "hayopt.h"
#include "peer-hook.h"
#include "prompted-hook.h"
#include "relogin-hook.h"
#include "rendezvous.h"
#include "spawn-hook.h"

extern Options options;
extern struct sshbuf *command;
extern int muxserver_sock;
extern char **environ;

static int offers_channels, offers_conns;	/* that may be asked for */
static int channel_opened;			/* a channel of those */

/* The server's answer to an open */
static void
session_confirmed(struct ssh *ssh, int id, int success, void *arg)
{
	(void)arg;
	if (!success)
		return;
	client_session2_setup(ssh, id, 0,
	    options.session_type == SESSION_TYPE_SUBSYSTEM, NULL, NULL, -1,
	    command, environ);
}

/* A limit of the server is no error, so upstream's line is one for -v. */
static int
take_open_failure(int type, u_int32_t seq, struct ssh *ssh)
{
	LogLevel level = log_level_get();
	int r;

	if (level == SYSLOG_LEVEL_INFO)
		log_change_level(SYSLOG_LEVEL_ERROR);
	r = channel_input_open_failure(type, seq, ssh);
	if (level == SYSLOG_LEVEL_INFO)
		log_change_level(level);
	return r;
}

/*
 * A signal to the whole group, or ^C at the terminal, reaches scp and ssh. scp
 * may want to finish what lies at the server, and ends ssh itself. So ssh obeys
 * scp at once, and others the second time, or later.
 */
static struct {
	int	 sig;
	struct sigaction old;
} delayed[] = { { .sig = SIGINT }, { .sig = SIGTERM }, { .sig = SIGHUP } };

#define DELAYED	(sizeof(delayed) / sizeof(*delayed))

/* scp takes 10 s at most. */
#define DELAY_S	12

static volatile sig_atomic_t pending_signal;	/* the signal */

static void
delay_signal(int sig, siginfo_t *info, void *context)
{
	size_t i;

	(void)context;
	if (pending_signal == 0 &&
	    (info->si_code > 0 || info->si_pid != getppid())) {
		pending_signal = sig;
		alarm(DELAY_S);
		return;
	}
	for (i = 0; i < DELAYED; i++) {
		if (delayed[i].sig == sig)
			delayed[i].old.sa_handler(sig);
	}
}

/*
 * The delay of a signal is over, so it is sent again. Upstream has blocked
 * it everywhere but in its poll().
 */
static void
resend_signal(int sig)
{
	(void)sig;
	(void)kill(getpid(), pending_signal);
}

static void
delay_signals(void)
{
	static int has_done;
	struct sigaction sa, *old;
	size_t i;

	if (has_done++)
		return;
	memset(&sa, 0, sizeof(sa));
	sigfillset(&sa.sa_mask);
	sa.sa_handler = resend_signal;
	(void)sigaction(SIGALRM, &sa, NULL);
	sa.sa_sigaction = delay_signal;
	sa.sa_flags = SA_SIGINFO;
	for (i = 0; i < DELAYED; i++) {
		old = &delayed[i].old;
		if (sigaction(delayed[i].sig, NULL, old) == 0 &&
		    old->sa_handler != SIG_IGN && old->sa_handler != SIG_DFL)
			(void)sigaction(delayed[i].sig, &sa, NULL);
	}
}

/* What the far end says to each session was said to the first. */
static int
open_stderr(void)
{
	return log_level_get() > SYSLOG_LEVEL_INFO ? dup(STDERR_FILENO) :
	    open(_PATH_DEVNULL, O_WRONLY);
}

static void
open_session(struct ssh *ssh, int sock)
{
	int fd = dup(sock), err = open_stderr();
	Channel *c;

	if (fd == -1 || err == -1) {
		close(fd);
		close(err);
		return;
	}
	if (!channel_opened)
		ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_OPEN_FAILURE,
		    take_open_failure);
	channel_opened = 1;
	c = channel_new(ssh, "session", SSH_CHANNEL_OPENING, fd, fd, err,
	    CHAN_SES_WINDOW_DEFAULT, CHAN_SES_PACKET_DEFAULT,
	    CHAN_EXTENDED_WRITE, "client-session", CHANNEL_NONBLOCK_STDIO);
	channel_send_open(ssh, c->self);
	channel_register_open_confirm(ssh, c->self, session_confirmed, NULL);
}

/* "control" was accepted. Its socket lives on in the session. */
static int
take_request(struct ssh *ssh, Channel *control)
{
	int host;

	if (!rendezvous_is_client(control->sock)) {
		debug("refused a channel to a process of another user");
		chan_mark_dead(ssh, control);
		return 0;
	}
	if (relogin_take(control->sock)) {
		chan_mark_dead(ssh, control);
		return 0;
	}
	delay_signals();
	if ((host = rendezvous_host_number(control->sock)) != -1) {
		if (offers_conns)
			(void)spawn_conn(ssh, control->sock, host);
	} else if (offers_channels)
		open_session(ssh, control->sock);
	chan_mark_dead(ssh, control);
	return 0;
}

static int
may_offer(struct ssh *ssh)
{
	return hayopt_get()->hayate && !ssh_packet_get_mux(ssh) &&
	    muxserver_sock == -1 &&
	    options.session_type != SESSION_TYPE_NONE &&
	    options.request_tty != REQUEST_TTY_YES &&
	    options.request_tty != REQUEST_TTY_FORCE &&
	    !options.fork_after_authentication && sshbuf_len(command) > 0;
}

/* Returns 1 if scp wants a new login after a loss, and it can be repeated. */
static int
relogin_allowed(void)
{
	return (rendezvous_client_wants() & RENDEZVOUS_RETRY) != 0 &&
	    !prompted_user() && spawn_can_reexec();
}

/*
 * More channels help only where the window does not follow the path. A user who
 * wants more connections wants those as well where connections are refused.
 * With a new login after a loss, ssh has to end with the first session.
 */
static int
channels_allowed(struct ssh *ssh)
{
	return rendezvous_client_wants() != 0 && !relogin_allowed() &&
	    ((rendezvous_client_wants() &
	    RENDEZVOUS_CHANNELS) != 0 || spawn_wanted_conns(ssh) != 1) &&
	    !peer_is_hayate(ssh) && (ssh->compat & SSH_NEW_OPENSSH) != 0;
}

/* Returns how many connections scp may use, and in "*alone" what it tells. */
static int
conns_allowed(struct ssh *ssh, int *alone)
{
	int streams = spawn_wanted_conns(ssh);

	*alone = 0;
	if (streams == 1 || !prompted_user())
		return streams;
	debug("the login prompted the user: no additional connections");
	*alone = log_level_get() >= SYSLOG_LEVEL_INFO;
	return 1;
}

/* Returns the socket that scp connects to, or -1. */
static int
offer_sessions(struct ssh *ssh)
{
	int streams, alone, fd = -1;

	offers_channels = channels_allowed(ssh);
	streams = conns_allowed(ssh, &alone);
	offers_conns = streams != 1;
	atexit(spawn_report_unresolved);
	if (offers_channels || offers_conns || relogin_allowed())
		fd = rendezvous_listen(streams, alone ? RENDEZVOUS_ALONE :
		    offers_channels || offers_conns ? RENDEZVOUS_MORE :
		    RENDEZVOUS_ONLY_RETRY, spawn_hosts(ssh));
	else if (alone)
		rendezvous_announce_single();
	if (fd != -1 && relogin_allowed())
		relogin_begin(ssh, fd);
	if (fd != -1 && offers_conns)
		debug("additional connections are available");
	else if ((offers_channels || offers_conns) && fd == -1 &&
	    rendezvous_client_wants())
		verbose("no additional connections or channels: cannot create "
		    "a socket in TMPDIR or /tmp");
	return fd;
}

int
extra_sessions_were_opened(void)
{
	return channel_opened;
}

void
extra_sessions_start(struct ssh *ssh)
{
	Channel *c;
	int fd;

	spawn_check_host(ssh);
	early_requests_ssh_begin(ssh);
	bottleneck_ssh_begin(ssh);
	if (!may_offer(ssh) || (fd = offer_sessions(ssh)) == -1)
		return;
	c = channel_new(ssh, "mux listener", SSH_CHANNEL_MUX_LISTENER, fd, fd,
	    -1, CHAN_TCP_WINDOW_DEFAULT, CHAN_TCP_PACKET_DEFAULT, 0,
	    "channels of scp", 1);
	c->mux_rcb = take_request;
	/* so that no-more-sessions@openssh.com is not sent */
	if (offers_channels)
		options.control_master = SSHCTL_MASTER_YES;
	/* When the first session ends, scp has to see its end at once. */
	if (stdfd_devnull(1, 0, 0) == -1)
		error_f("stdfd_devnull failed");
	if (offers_channels)
		debug("additional channels are available");
}
