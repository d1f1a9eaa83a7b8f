/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xlogin-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ssh.h"
#include "log.h"
#include "misc.h"
#include "pathnames.h"
#include "readconf.h"
#include "digest.h"
#include "kex.h"
#include "packet.h"
#include "sshbuf.h"
#include "sshkey.h"
#include "xmalloc.h"

#include "xlogin-hook.h"

extern Options options;

/* In the environment: the process that wrote it, and its host */
#define HOST_ENV	"HAYATE_FIRST_HOST"

/* Address, port and key; the caller frees it. */
static char *
describe_host(struct ssh *ssh)
{
	char *key = ssh->kex->initial_hostkey == NULL ? NULL :
	    sshkey_fingerprint(ssh->kex->initial_hostkey, SSH_DIGEST_SHA256,
	    SSH_FP_BASE64), *host;

	xasprintf(&host, "%s %d %s", ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh), key == NULL ? "-" : key);
	free(key);
	return host;
}

static void
tell_host(struct ssh *ssh)
{
	char *host = describe_host(ssh), *text;

	xasprintf(&text, "%ld %s", (long)getpid(), host);
	setenv(HOST_ENV, text, 1);
	free(text);
	free(host);
}

/* A proxy's ssh inherits the variable and has another parent. */
void
xlogin_check(struct ssh *ssh)
{
	const char *first = getenv(HOST_ENV);
	char *host, *end;

	if (first == NULL || strtol(first, &end, 10) != (long)getppid() ||
	    *end != ' ')
		return;
	host = describe_host(ssh);
	if (strcmp(end + 1, host) != 0) {
		verbose("this is not the host of the first connection: "
		    "%s, not %s", host, end + 1);
		cleanup_exit(255);
	}
	free(host);
	unsetenv(HOST_ENV);
}

/* The first value of an option counts, so these come first. */
static const char *const quiet[] = { "-oBatchMode=yes", "-oControlMaster=no",
    "-oControlPath=none", "-oTransferStreams=1",
    "-oForkAfterAuthentication=no" };

/* Our arguments, each with its NUL, as they were when we began */
static struct sshbuf *
read_arguments(void)
{
	struct sshbuf *b = NULL;

	if (sshbuf_load_file("/proc/self/cmdline", &b) != 0 ||
	    sshbuf_len(b) == 0 ||
	    sshbuf_ptr(b)[sshbuf_len(b) - 1] != '\0') {
		sshbuf_free(b);
		return NULL;
	}
	return b;
}

/*
 * ProxyJump became a command that starts an ssh, which must not ask either.
 */
static void
add_jump(arglist *args)
{
	const char *command = options.proxy_command, *at;

	at = strstr(command, " -W '[%h]:%p' ");
	addargs(args, "-oProxyUseFdpass=no");
	addargs(args, "-oProxyCommand=%.*s -oBatchMode=yes%s",
	    at == NULL ? 0 : (int)(at - command), command,
	    at == NULL ? "" : at);
}

/* Returns 0, or -1 if they cannot be known. */
static int
make_arguments(arglist *args)
{
	struct sshbuf *b = read_arguments();
	const char *word, *end;
	int has_jump = options.jump_host != NULL &&
	    options.proxy_command != NULL, in_options = 1;
	size_t i;

	if (b == NULL)
		return -1;
	if (options.jump_extra != NULL) {
		verbose("the ssh of a second jump host cannot be told "
		    "not to ask");
		sshbuf_free(b);
		return -1;
	}
	word = (const char *)sshbuf_ptr(b);
	end = word + sshbuf_len(b);
	addargs(args, "%s", word);
	for (i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
		addargs(args, "%s", quiet[i]);
	/* BatchMode would set another one. */
	addargs(args, "-oServerAliveInterval=%d",
	    options.server_alive_interval);
	if (has_jump)
		add_jump(args);
	while ((word += strlen(word) + 1) < end) {
		if (strcmp(word, "--") == 0)
			in_options = 0;
		if (has_jump && in_options && strcmp(word, "-J") == 0)
			word += sizeof("-J");	/* and its argument */
		else
			addargs(args, "%s", word);
	}
	sshbuf_free(b);
	return 0;
}

/*
 * In the child. Without a terminal of its own nothing below it can ask, and a
 * ^C does not reach it. What it says was said by the first, but for -v.
 */
static void
become(int sock, arglist *args)
{
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	setenv(SSH_ASKPASS_REQUIRE_ENV, "never", 1);
	if (log_level_get() <= SYSLOG_LEVEL_INFO &&
	    (err = open(_PATH_DEVNULL, O_WRONLY)) != -1)
		dup2(err, STDERR_FILENO);
	if (dup2(sock, STDIN_FILENO) == -1 || dup2(sock, STDOUT_FILENO) == -1)
		_exit(255);
	execv("/proc/self/exe", args->list);
	_exit(255);
}

int
xlogin_start(struct ssh *ssh, int sock)
{
	arglist args = { 0 };
	pid_t pid = -1;

	if (make_arguments(&args) == 0) {
		tell_host(ssh);
		if ((pid = fork()) == 0)
			become(sock, &args);
		unsetenv(HOST_ENV);
	}
	if (pid == -1)
		verbose("no further connection could be started");
	else
		debug("a further connection is started, process %ld",
		    (long)pid);
	freeargs(&args);
	return pid == -1 ? -1 : 0;
}
