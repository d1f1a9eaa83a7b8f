/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See relogin-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ssh.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "readconf.h"
#include "sshconnect.h"

#include "relogin-hook.h"
#include "rendezvous.h"
#include "spawn-hook.h"

extern Options options;

/* Seconds between two requests for a sign of life */
#define ALIVE_S		15

/* The end of a child is noticed after so many milliseconds at most. */
#define POLL_MS		200

/*
 * If a child has not ended in this time after scp has finished, in seconds, it
 * still logs in to a server that does not answer.
 */
#define END_S		5

static struct {
	struct ssh *ssh;		/* NULL: ssh ends with its connection */
	/*
	 * Ends of the socket that scp has its session on, and of the one that
	 * may take its place; -1: none. When both are closed, scp has finished.
	 */
	int	 session, next;
	int	 listener;
	int	 hold;			/* -1: not held */
	/* started last in place of the connection; 0: none, or it ended */
	pid_t	 child;
	int	 status;		/* its exit status */
} state = { .session = -1, .next = -1, .listener = -1, .hold = -1,
    .status = 255 };

static int
duplicate(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Returns 1 if the other end of a socket is closed, or there is none. */
static int
has_hung_up(int fd)
{
	struct pollfd pfd = { fd, 0, 0 };

	return fd == -1 || (poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP |
	    POLLERR | POLLNVAL)) != 0);
}

/* Returns 1 if scp has no session any more, nor a socket for the next one. */
static int
has_finished(void)
{
	return has_hung_up(state.session) && has_hung_up(state.next);
}

/* scp may have its next session on this socket. */
static void
add_session(int sock)
{
	if (has_hung_up(state.session)) {
		close(state.session);
		state.session = state.next;
	} else if (state.next != -1)
		close(state.next);
	state.next = duplicate(sock);
}

/* The ssh of a session has ended, but we have its socket: scp sees the end. */
static void
end_sessions(void)
{
	(void)shutdown(state.session, SHUT_WR);
	(void)shutdown(state.next, SHUT_WR);
}

static void
hold(int sock)
{
	if (state.hold != -1)
		close(state.hold);
	state.hold = duplicate(sock);
}

/* Forgets the socket if scp does not hold it any more. */
static int
is_held(void)
{
	if (state.hold == -1)
		return 0;
	if (!has_hung_up(state.hold))
		return 1;
	close(state.hold);
	state.hold = -1;
	return 0;
}

static void
reap_children(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != state.child)
			continue;
		state.status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
		state.child = 0;
		end_sessions();
	}
}

int
relogin_take(int sock)
{
	int is_again = rendezvous_is_again(sock);
	pid_t pid;

	if (state.ssh == NULL || (!is_again && !rendezvous_is_hold(sock)))
		return 0;
	if (!is_again)
		hold(sock);
	else if ((pid = spawn_again(sock)) != -1) {
		add_session(sock);
		state.child = pid;
		debug("started another ssh, process %ld", (long)pid);
	}
	return 1;
}

/* Takes one request of scp. */
static void
serve_request(void)
{
	int sock = accept(state.listener, NULL, NULL);

	if (sock == -1)
		return;
	if (!rendezvous_is_client(sock))
		debug("refused a login to a process of another user");
	else if (!relogin_take(sock) && rendezvous_host_number(sock) == 0)
		(void)spawn_again(sock);	/* an additional connection */
	close(sock);
}

/*
 * The old connection ends here, and scp sees it. Signals have their default
 * effect again, as nothing is left to be put in order.
 */
static void
end_connection(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)ssh_signal(signals[i], SIG_DFL);
	alarm(0);
	if (state.child == 0)
		end_sessions();
	if (state.ssh->state != NULL) {
		close(ssh_packet_get_connection_in(state.ssh));
		close(ssh_packet_get_connection_out(state.ssh));
	}
	ssh_kill_proxy_command();
}

/* ssh is going to exit. Does not return if scp holds a socket. */
static void
outlive_connection(void)
{
	struct pollfd pfd[2];
	time_t ended = 0;

	if (state.ssh == NULL || (state.child == 0 && (!is_held() ||
	    has_finished())))
		return;
	debug("the connection is lost; waiting for scp");
	end_connection();
	while (state.child > 0 || (is_held() && !has_finished())) {
		pfd[0] = (struct pollfd){ state.listener, POLLIN, 0 };
		pfd[1] = (struct pollfd){ state.hold, 0, 0 };
		if (poll(pfd, 2, POLL_MS) == -1 && errno != EINTR)
			break;
		if ((pfd[0].revents & POLLIN) != 0)
			serve_request();
		reap_children();
		/* Without this poll() would not wait after scp has let go. */
		(void)is_held();
		if (!has_finished())
			ended = 0;
		else if (ended == 0)
			ended = monotime();
		else if (state.child > 0 && monotime() - ended > END_S)
			(void)kill(state.child, SIGTERM);
	}
	_exit(state.status);
}

void
relogin_begin(struct ssh *ssh, int listener)
{
	if (state.ssh != NULL)
		return;
	state.session = duplicate(STDIN_FILENO);
	state.listener = duplicate(listener);
	if (state.session == -1 || state.listener == -1)
		return;
	state.ssh = ssh;
	spawn_note_host(ssh);
	if (options.server_alive_interval == 0)
		options.server_alive_interval = ALIVE_S;
	atexit(outlive_connection);
}

void
relogin_exit(int status)
{
	outlive_connection();
	_exit(status);
}
