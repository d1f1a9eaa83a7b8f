/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See spawn-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
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
#include "readconf.h"
#include "digest.h"
#include "kex.h"
#include "packet.h"
#include "sshbuf.h"
#include "sshconnect.h"
#include "sshkey.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "conns-hook.h"
#include "extra-conn-hook.h"
#include "guess-hook.h"
#include "hayopt.h"
#include "prompted-hook.h"
#include "rendezvous.h"
#include "reread-hook.h"
#include "resolve-all-hook.h"
#include "spawn-hook.h"
#include "tcp-path.h"

extern Options options;

/* The caller frees it. */
static char *
describe_key(const struct sshkey *k)
{
	char *key = k == NULL ? NULL :
	    sshkey_fingerprint(k, SSH_DIGEST_SHA256, SSH_FP_BASE64);

	return key == NULL ? xstrdup("-") : key;
}

/* In HAYATE_FIRST_HOST: any address and port, but that key */
#define ANY_ADDRESS	"* *"

static char *any_host;		/* of a connection that may be lost */

/* Address, port and key; the caller frees it. */
static char *
describe_host(struct ssh *ssh)
{
	char *key = describe_key(ssh->kex->initial_hostkey), *host;

	xasprintf(&host, "%s %d %s", ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh), key);
	free(key);
	return host;
}

/* The user has accepted the key of the first connection. */
static int
is_first_key(const struct sshkey *key)
{
	const char *first = extra_conn_host();
	char *mine = describe_key(key);
	int is_first;

	first = first == NULL || extra_conn_other_host() != NULL ? NULL :
	    strrchr(first, ' ');
	is_first = first == NULL || strcmp(first + 1, mine) == 0;
	free(mine);
	return is_first;
}

void
spawn_check_host(struct ssh *ssh)
{
	const char *first = extra_conn_host();
	char *host;

	if (extra_conn_other_host() != NULL) {
		extra_conn_logged_in();
		extra_conn_clear_env();
		return;
	}
	if (first == NULL)
		return;
	host = describe_host(ssh);
	if (strncmp(first, ANY_ADDRESS, strlen(ANY_ADDRESS)) != 0 ?
	    strcmp(first, host) != 0 : !is_first_key(
	    ssh->kex->initial_hostkey)) {
		verbose("additional connection closed: it reached host %s "
		    "instead of %s", host, first);
		cleanup_exit(255);
	}
	free(host);
	extra_conn_clear_env();
}

int
spawn_verify_host_key(char *name, struct sockaddr *address,
    struct sshkey *key, const struct ssh_conn_info *info)
{
	int r;

	guess_check_key(key);
	if (is_first_key(key))
		return verify_host_key(name, address, key, info);
	extra_conn_unmute();
	if ((r = verify_host_key(name, address, key, info)) == 0)
		extra_conn_mute();
	else
		error("The additional connection with this key was closed; the "
		    "first one, whose host key is correct, continues.");
	return r;
}

/* Other hosts */

/* The others are addresses of the host that was named. */
static int
are_addresses(void)
{
	const char *hosts = hayopt_get()->transfer_hosts;

	return hosts != NULL && strcasecmp(hosts, HAYOPT_HOSTS_ALL) == 0;
}

/* Those beside the first, or NULL; the caller frees it. */
static char *
other_hosts(struct ssh *ssh)
{
	const char *hosts = hayopt_get()->transfer_hosts;
	char *all;

	if (hosts == NULL || !are_addresses())
		return hosts == NULL ? NULL : xstrdup(hosts);
	if ((all = resolve_all_others(ssh)) == NULL)
		logit("TransferHosts all: %s", options.proxy_command != NULL ?
		    "behind a proxy the addresses of the host are not known" :
		    "the host has one address");
	return all;
}

const char *
spawn_hosts(struct ssh *ssh)
{
	static int is_known;
	static char *all;
	char *others;

	if (is_known++)
		return all;
	if ((others = other_hosts(ssh)) != NULL)
		xasprintf(&all, "%s,%s", options.host_arg, others);
	free(others);
	return all;
}

int
spawn_wanted_conns(struct ssh *ssh)
{
	const char *at = spawn_hosts(ssh);
	int n = hayopt_get()->transfer_streams;

	if (n != 1 || at == NULL)
		return n;
	for (; (at = strchr(at, ',')) != NULL; at++)
		n++;
	return n;
}

/* Returns the name of that host, which the caller frees, or NULL. */
static char *
host_name(struct ssh *ssh, int number)
{
	const char *at = spawn_hosts(ssh);
	char *name;

	while (at != NULL && number-- > 0) {
		if ((at = strchr(at, ',')) != NULL)
			at++;
	}
	if (at == NULL)
		return NULL;
	xasprintf(&name, "%.*s", (int)strcspn(at, ","), at);
	return name;
}

static const char *const quiet[] = { "-oBatchMode=yes", "-oControlMaster=no",
    "-oControlPath=none", "-oTransferStreams=1",
    "-oForkAfterAuthentication=no" };

/* The most that is read at once */
#define ARGUMENTS_CHUNK	4096

/* What starts this program again */
static const char *self = "/proc/self/exe";

/* LOADER --argv0 SELF --library-path DIRECTORIES PROGRAM */
#define LOADER_WORDS	6

/*
 * In the client's tarball the kernel has started the loader, with the words
 * above (build-aux/client-run): SELF starts us again, and is our first word.
 */
static struct sshbuf *
skip_loader(struct sshbuf *b)
{
	const char *word = (const char *)sshbuf_ptr(b);
	const char *end = word + sshbuf_len(b), *at[LOADER_WORDS];
	struct sshbuf *own;
	int i;

	for (i = 0; i < LOADER_WORDS && word < end; i++) {
		at[i] = word;
		word += strlen(word) + 1;
	}
	if (i < LOADER_WORDS || strcmp(at[1], "--argv0") != 0 ||
	    strcmp(at[3], "--library-path") != 0)
		return b;
	if (strcmp(self, at[2]) != 0)
		self = xstrdup(at[2]);
	if ((own = sshbuf_new()) == NULL ||
	    sshbuf_put(own, self, strlen(self) + 1) != 0 ||
	    sshbuf_put(own, word, (size_t)(end - word)) != 0)
		fatal_f("out of memory");
	sshbuf_free(b);
	return own;
}

/*
 * Our arguments, each with its NUL, as they were when we began. The kernel says
 * that this file has no bytes, and from 10.5 on sshbuf_load_file() believes it.
 */
static struct sshbuf *
read_arguments(void)
{
	struct sshbuf *b = sshbuf_new();
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	if (b == NULL)
		fatal_f("sshbuf_new failed");
	errno = 0;
	while (fd != -1 && sshbuf_read(fd, b, ARGUMENTS_CHUNK, NULL) == 0)
		;
	/* EPIPE is the end of the file. */
	if (errno != EPIPE || sshbuf_len(b) == 0 ||
	    sshbuf_ptr(b)[sshbuf_len(b) - 1] != '\0') {
		sshbuf_free(b);
		b = NULL;
	}
	if (fd != -1)
		close(fd);
	return b == NULL ? NULL : skip_loader(b);
}

static int
can_reread_all(char *const *paths, u_int n)
{
	u_int i;

	for (i = 0; i < n && reread_file(paths[i]); i++)
		;
	return i == n;
}

/* RevokedHostKeys takes several files from 10.3 on. */
#if HAYATE_OPENSSH >= 1003
#define REVOKED	options.revoked_host_keys, options.num_revoked_host_keys
#else
#define REVOKED	&options.revoked_host_keys, options.revoked_host_keys != NULL
#endif

/* Whether a process with these arguments reads what this one has read. */
static int
reads_the_same(void)
{
	return reread_all() && can_reread_all(options.identity_files,
	    options.num_identity_files) &&
	    can_reread_all(options.certificate_files,
	    options.num_certificate_files) &&
	    can_reread_all(options.user_hostfiles,
	    options.num_user_hostfiles) &&
	    can_reread_all(options.system_hostfiles,
	    options.num_system_hostfiles) && can_reread_all(REVOKED);
}

/*
 * Returns ProxyCommand with BatchMode for the ssh to a jump host into which
 * upstream has made ProxyJump, or NULL if there is no place for it. The caller
 * frees it.
 */
static char *
quiet_jump_command(void)
{
	const char *command = options.proxy_command, *at;
	char *text;

	if ((at = strstr(command, " -W '[%h]:%p' ")) == NULL)
		return NULL;
	xasprintf(&text, "%.*s -oBatchMode=yes%s", (int)(at - command),
	    command, at);
	return text;
}

void
spawn_quiet_jump(void)
{
	char *text;

	if (options.proxy_command != NULL)
		extra_conn_resolved();
	if (extra_conn_other_host() == NULL || options.jump_host == NULL ||
	    options.proxy_command == NULL)
		return;
	if (options.jump_extra != NULL) {
		error("cannot stop the ssh of a second jump host from "
		    "prompting");
		exit(255);
	}
	if ((text = quiet_jump_command()) == NULL)
		return;
	free(options.proxy_command);
	options.proxy_command = text;
}

/*
 * MaxRate. Each additional connection gets one part. The first one has the
 * rest, and gets a part back when SIGCHLD reports that a connection has ended.
 */
static struct {
	uint64_t rate;			/* 0: none */
	unsigned int parts;
	int	 fd;
	pid_t	 holder[CONNS_MAX];	/* 0: none */
} share;

/* The least that MaxRate takes */
#define RATE_MIN	1024

static void
set_own_rate(void)
{
	unsigned int i, rest = share.parts;

	for (i = 0; i < CONNS_MAX; i++)
		rest -= share.holder[i] != 0 && rest > 1;
	(void)tcp_path_set_rate(share.fd, share.rate / share.parts * rest);
}

static void
reclaim_rate(int sig)
{
	int i, saved_errno = errno;

	(void)sig;
	for (i = 0; i < CONNS_MAX; i++) {
		if (share.holder[i] != 0 &&
		    waitpid(share.holder[i], NULL, WNOHANG) != 0)
			share.holder[i] = 0;
	}
	set_own_rate();
	errno = saved_errno;
}

static void
begin_rate_sharing(struct ssh *ssh)
{
	const struct hayopt *opt = hayopt_get();
	struct sigaction sa;

	if (opt->max_rate == 0 || share.rate != 0)
		return;
	share.rate = opt->max_rate;
	share.parts = spawn_wanted_conns(ssh) == 0 ? CONNS_MAX :
	    MINIMUM(spawn_wanted_conns(ssh), CONNS_MAX);
	share.fd = ssh_packet_get_connection_out(ssh);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = reclaim_rate;
	sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
	sigemptyset(&sa.sa_mask);
	(void)sigaction(SIGCHLD, &sa, NULL);
}

/* SIGCHLD is blocked. */
static void
give_rate(pid_t pid)
{
	int i;

	for (i = 0; i < CONNS_MAX - 1 && share.holder[i] != 0; i++)
		;
	share.holder[i] = pid;
	set_own_rate();
	debug("MaxRate %llu is shared by up to %u connections",
	    (unsigned long long)share.rate, share.parts);
}

/* A host that is switched off, or gets so, is given up after so long. */
#define CONNECT_S	15
#define ALIVE_S		15

/* Options of an ssh to another host */
static void
add_other_host_options(arglist *args)
{
	addargs(args, "-oStrictHostKeyChecking=yes");
	addargs(args, "-oTransferHosts=none");
	addargs(args, "-oProxyUseFdpass=no");
	if (authonly_mode_in_force() == NULL)
		addargs(args, "-oNoneSwitch=no");
	if (options.connection_timeout <= 0)
		addargs(args, "-oConnectTimeout=%d", CONNECT_S);
	addargs(args, "-oServerAliveInterval=%d",
	    options.server_alive_interval > 0 ?
	    options.server_alive_interval : ALIVE_S);
}

/* The options that stand before the arguments of this ssh */
static void
add_quiet_options(arglist *args, const char *other, const char *jump)
{
	size_t i;

	for (i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
		addargs(args, "%s", quiet[i]);
	if (share.rate != 0)
		addargs(args, "-oMaxRate=%llu", (unsigned long long)
		    MAXIMUM(share.rate / share.parts, RATE_MIN));
	if (other != NULL)
		add_other_host_options(args);
	/* BatchMode would set another one. */
	addargs(args, "-oServerAliveInterval=%d",
	    options.server_alive_interval);
	if (jump == NULL)
		return;
	addargs(args, "-oProxyUseFdpass=no");
	addargs(args, "-oProxyCommand=%s", jump);
}

/*
 * Adds our arguments. The host stands behind "--", as scp and sftp write it,
 * and "other", unless it is NULL or an address, takes its place. Returns 0, or
 * -1 if there is no such place.
 */
static int
add_own_arguments(arglist *args, const char *other, int has_jump,
    const char *word, const char *end)
{
	int behind = -1;		/* so many words behind "--" */

	while ((word += strlen(word) + 1) < end) {
		behind += behind >= 0;
		if (has_jump && behind == -1 && strcmp(word, "-J") == 0)
			word += sizeof("-J");	/* and its argument */
		else
			addargs(args, "%s", other != NULL && behind == 1 &&
			    !are_addresses() ? other : word);
		if (behind == -1 && strcmp(word, "--") == 0)
			behind = 0;
	}
	return other != NULL && behind < 1 ? -1 : 0;
}

/* Returns 0, or -1 if an ssh with our arguments would not do what we do. */
static int
make_arguments(arglist *args, const char *other)
{
	struct sshbuf *b = read_arguments();
	const char *word;
	char *jump = NULL;
	int r = -1, has_jump = other == NULL && options.jump_host != NULL &&
	    options.proxy_command != NULL;

	if (b == NULL || !reads_the_same()) {
		verbose("no additional connections: an argument or a file "
		    "named in it cannot be read twice");
		goto out;
	}
	if ((other == NULL && options.jump_extra != NULL) ||
	    (has_jump && (jump = quiet_jump_command()) == NULL)) {
		verbose("cannot stop the ssh of a second jump host from "
		    "prompting");
		goto out;
	}
	word = (const char *)sshbuf_ptr(b);
	addargs(args, "%s", word);
	add_quiet_options(args, other, jump);
	r = add_own_arguments(args, other, has_jump, word, word +
	    sshbuf_len(b));
out:
	free(jump);
	sshbuf_free(b);
	return r;
}

/* Returns the host for HAYATE_FIRST_HOST; the caller frees it. */
static char *
describe_target(struct ssh *ssh, const char *other)
{
	char *host;

	if (other == NULL)
		return ssh == NULL ? xstrdup(any_host) : describe_host(ssh);
	if (are_addresses())
		xasprintf(&host, "%c%c%s", EXTRA_CONN_OTHER_HOST,
		    EXTRA_CONN_ADDRESS, other);
	else
		xasprintf(&host, "%c%s", EXTRA_CONN_OTHER_HOST, other);
	return host;
}

/*
 * In the child. Without a terminal of its own nothing below it can ask, and a
 * ^C does not reach it.
 */
static void
exec_ssh(int sock, arglist *args)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	setenv(SSH_ASKPASS_REQUIRE_ENV, "never", 1);
	if (dup2(sock, STDIN_FILENO) == -1 || dup2(sock, STDOUT_FILENO) == -1)
		_exit(255);
	execv(self, args->list);
	_exit(255);
}

/*
 * Starts another ssh, as spawn-hook.h says. "err" becomes its standard error
 * unless it is -1. Returns the process ID, or -1.
 */
static pid_t
start_ssh(struct ssh *ssh, const char *other, enum extra_conn_log log,
    int sock, int err)
{
	arglist args = { 0 };
	pid_t pid = -1;
	char *host;

	if (make_arguments(&args, other) == 0) {
		host = describe_target(ssh, other);
		extra_conn_set_env(host, log);
		if ((pid = fork()) == 0) {
			if (err != -1)
				dup2(err, STDERR_FILENO);
			exec_ssh(sock, &args);
		}
		extra_conn_clear_env();
		free(host);
	}
	freeargs(&args);
	return pid;
}

/* How loud the new process is */
static enum extra_conn_log
child_log_mode(void)
{
	if (log_level_get() > SYSLOG_LEVEL_INFO)
		return EXTRA_CONN_VERBOSE;
	return log_level_get() == SYSLOG_LEVEL_INFO ? EXTRA_CONN_QUIET :
	    EXTRA_CONN_SILENT;
}

/*
 * The lookups of other hosts, in their order. The ssh writes its message to a
 * file in memory. Nobody waits for it.
 */
static struct lookup {
	pid_t	 pid;			/* 0: none is looked up */
	int	 message_fd;
	int	 sock;			/* closed: that ssh says nothing */
} lookup[HAYOPT_HOSTS_MAX];

#define MESSAGE_MAX	1024	/* bytes; the message is one line */

/* Returns 1 if the name of a host is known to have no address, and says so. */
static int
report_lookup(size_t i)
{
	char text[MESSAGE_MAX];
	ssize_t n;

	if (lookup[i].pid == 0)
		return 0;
	n = pread(lookup[i].message_fd, text, sizeof(text), 0);
	if (n > 0)
		(void)write(STDERR_FILENO, text, (size_t)n);
	close(lookup[i].message_fd);
	close(lookup[i].sock);
	(void)kill(lookup[i].pid, SIGKILL);
	(void)waitpid(lookup[i].pid, NULL, 0);
	lookup[i].pid = 0;
	return n > 0;
}

void
spawn_report_unresolved(void)
{
	size_t i;

	for (i = 0; i < HAYOPT_HOSTS_MAX; i++)
		(void)report_lookup(i);
}

/* Returns a file in memory, or -1. */
static int
open_message_file(void)
{
#ifdef MFD_CLOEXEC
	return memfd_create("said", MFD_CLOEXEC);
#else
	return -1;
#endif
}

static void
start_lookup(const char *name, struct lookup *l)
{
	int pair[2];

	if ((l->message_fd = open_message_file()) == -1)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) {
		close(l->message_fd);
		return;
	}
	l->sock = pair[0];
	l->pid = start_ssh(NULL, name, EXTRA_CONN_RESOLVE, pair[1],
	    l->message_fd);
	close(pair[1]);
	if (l->pid > 0)
		return;
	l->pid = 0;
	close(l->sock);
	close(l->message_fd);
}

void
spawn_resolve_hosts(void)
{
	static int has_begun;
	const char *hosts = hayopt_get()->transfer_hosts;
	char *all, *rest, *name;
	size_t i;

	if (has_begun++ || hosts == NULL || are_addresses() ||
	    extra_conn_host() != NULL || !rendezvous_client_wants() ||
	    log_level_get() < SYSLOG_LEVEL_INFO)
		return;
	all = rest = xstrdup(hosts);
	for (i = 0; i < HAYOPT_HOSTS_MAX; i++) {
		if ((name = strsep(&rest, ",")) == NULL)
			break;
		start_lookup(name, &lookup[i]);
	}
	free(all);
}

int
spawn_conn(struct ssh *ssh, int sock, int number)
{
	sigset_t child, old;
	pid_t pid;
	char *other = number == 0 ? NULL : host_name(ssh, number);

	if (number != 0 && other == NULL)
		return -1;
	if (number > 0 && number <= HAYOPT_HOSTS_MAX &&
	    report_lookup((size_t)number - 1)) {
		free(other);
		return -1;
	}

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &old);
	begin_rate_sharing(ssh);
	pid = start_ssh(ssh, other, child_log_mode(), sock, -1);
	if (pid == -1)
		verbose("cannot start an additional connection");
	else
		debug("started an additional connection, process %ld",
		    (long)pid);
	if (pid > 0 && share.rate != 0)
		give_rate(pid);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(other);
	return pid == -1 ? -1 : 0;
}

void
spawn_note_host(struct ssh *ssh)
{
	char *key = describe_key(ssh->kex->initial_hostkey);

	free(any_host);
	xasprintf(&any_host, ANY_ADDRESS " %s", key);
	free(key);
}

pid_t
spawn_again(int sock)
{
	share.rate = 0;			/* it has all of MaxRate */
	(void)ssh_signal(SIGCHLD, SIG_DFL);
	return start_ssh(NULL, NULL, child_log_mode(), sock, -1);
}

int
spawn_can_reexec(void)
{
	/* ProxyCommand -: the connection is our standard input. */
	return reads_the_same() && (options.proxy_command == NULL ||
	    strcmp(options.proxy_command, "-") != 0) &&
	    access("/proc/self/exe", X_OK) == 0;
}

void
spawn_reexec(int level, const char *why)
{
	arglist args = { 0 };
	struct sshbuf *b;
	const char *word, *end;

	if (prompted_user() || extra_conn_host() != NULL ||
	    !spawn_can_reexec() || (b = read_arguments()) == NULL)
		return;
	do_log2(level, "early login: %s, beginning anew", why);
	word = (const char *)sshbuf_ptr(b);
	end = word + sshbuf_len(b);
	addargs(&args, "%s", word);
	addargs(&args, "-oEarlyLogin=no");
	while ((word += strlen(word) + 1) < end)
		addargs(&args, "%s", word);
	ssh_kill_proxy_command();
	execv(self, args.list);
}
