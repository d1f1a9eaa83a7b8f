/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See xreport-hook.h. Each file is composed in memory and appended by one
 * write(), so a signal finds whole files. Its handler writes the end with calls
 * that are allowed there, and then upstream's handler ends the process.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "xjson.h"
#include "xreport-hook.h"

/* Errors without a file: more are not kept, only counted. */
#define ERRORS_MAX	1000

/* Longer texts of a file are cut. */
#define TEXT_MAX	8192

extern char *__progname;
extern volatile sig_atomic_t interrupted;

/* What cleanup_exit() does first, see cleanup-hook.c */
void (*cleanup_first)(void);

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define SIGNALS		(sizeof(signals) / sizeof(signals[0]))

static struct {
	pid_t	 pid;			/* a child is not this process */
	int	 fd;			/* -1: no report, or it is whole */
	int	 write_errno;
	char	*path, *temp;		/* temp is NULL: written directly */
	const char *prefix;		/* of messages */
	uint64_t begun_us;
	uint64_t files, failed, bytes;
	char	 text[TEXT_MAX];	/* errors of a file */
	int	 expects;
	struct sshbuf *errors;		/* other ones, as JSON */
	uint64_t nerrors;
	struct sigaction before[SIGNALS];
} r = { .fd = -1 };

/* Writing */

static void
put(const char *p, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(r.fd, p, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			r.write_errno = errno;
			return;
		}
		p += n;
		len -= n;
	}
}

static void
put_text(const char *text)
{
	put(text, strlen(text));
}

static void
put_number(const char *before, uint64_t n)
{
	char text[24];

	put_text(before);
	xjson_number(text, n);
	put_text(text);
}

/* In seconds, with six digits */
static void
put_seconds(const char *before, uint64_t us)
{
	char text[24];

	put_number(before, us / 1000000);
	xjson_number(text, 1000000 + us % 1000000);
	*text = '.';			/* in place of the 1 */
	put_text(text);
}

/* Only calls that a signal's handler may make */
static void
finish(int signal)
{
	int was = errno;

	if (r.fd == -1 || getpid() != r.pid)
		return;
	put_text("\n],\"errors\":[");
	put((const char *)sshbuf_ptr(r.errors), sshbuf_len(r.errors));
	put_number("],\n\"totals\":{\"files\":", r.files);
	put_number(",\"failed\":", r.failed);
	put_number(",\"bytes\":", r.bytes);
	put_number(",\"errors\":", r.nerrors);
	put_seconds(",\"seconds\":", clock_us() - r.begun_us);
	put_text("},\"interrupted\":");
	put_text(signal != 0 || interrupted ? "true}\n" : "false}\n");
	if (close(r.fd) == -1 && r.write_errno == 0)
		r.write_errno = errno;
	r.fd = -1;
	if (r.temp != NULL && r.write_errno == 0 &&
	    rename(r.temp, r.path) == -1)
		r.write_errno = errno;
	if (r.temp != NULL && r.write_errno != 0)
		unlink(r.temp);
	errno = was;
}

static void
finish_at_exit(void)
{
	int had = r.fd != -1 && getpid() == r.pid;

	finish(0);
	if (!had || r.write_errno == 0)
		return;
	error("report \"%s\": %s", r.path, strerror(r.write_errno));
	fflush(NULL);
	_exit(1);
}

/* Signals */

static void
finish_by_signal(int signal)
{
	size_t i;

	finish(signal);
	for (i = 0; i < SIGNALS; i++) {
		if (signals[i] == signal)
			r.before[i].sa_handler(signal);
	}
}

/* While a record is composed and written */
static void
block_signals(int how)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(how, &set, NULL);
}

/* Texts */

/* "before", and text as the inside of a string */
static void
add_text(struct sshbuf *b, const char *before, const char *text,
    const char *end)
{
	size_t room = strlen(text) * XJSON_BYTE + 1;
	char *escaped = xmalloc(room);
	int e;

	xjson_escape(escaped, text);
	if ((e = sshbuf_putf(b, "%s\"%s\"%s", before, escaped, end)) != 0)
		fatal_fr(e, "compose");
	free(escaped);
}

/* A path, and its bytes where it is not UTF-8 */
static void
add_path(struct sshbuf *b, const char *key, const char *path)
{
	char *hex, name[32];
	int e;

	snprintf(name, sizeof(name), "\"%s\":", key);
	add_text(b, name, path, ",");
	if (xjson_is_text(path))
		return;
	hex = xmalloc(2 * strlen(path) + 1);
	xjson_hex(hex, path);
	if ((e = sshbuf_putf(b, "\"%s_hex\":\"%s\",", key, hex)) != 0)
		fatal_fr(e, "compose");
	free(hex);
}

static void
keep_error(const char *text)
{
	if (r.expects) {
		if (*r.text != '\0')
			strlcat(r.text, "\n", sizeof(r.text));
		strlcat(r.text, text, sizeof(r.text));
		return;
	}
	block_signals(SIG_BLOCK);
	if (r.nerrors++ < ERRORS_MAX)
		add_text(r.errors, r.nerrors > 1 ? "," : "", text, "");
	block_signals(SIG_UNBLOCK);
}

/* As do_log() of upstream prints to standard error; "text" is safe to print. */
static void
print(LogLevel level, int force, const char *text, void *arg)
{
	static const char *const debug[] = { "", "debug1: ", "debug2: ",
	    "debug3: " };
	int n = level >= SYSLOG_LEVEL_DEBUG1 && level <= SYSLOG_LEVEL_DEBUG3 ?
	    level - SYSLOG_LEVEL_DEBUG1 + 1 : 0;

	(void)force;
	(void)arg;
	dprintf(STDERR_FILENO, "%s%s%s%s\r\n", r.prefix, *r.prefix != '\0' ?
	    ": " : "", debug[n], text);
	if (r.fd != -1 && level <= SYSLOG_LEVEL_ERROR)
		keep_error(text);
}

/* Interface */

static void
refuse(const char *path)
{
	fprintf(stderr, "%s: report \"%s\": %s\n", __progname, path,
	    strerror(errno));
	exit(1);
}

static void
open_report(const char *path)
{
	struct stat sb;
	mode_t mask = umask(0);

	umask(mask);
	if (strcmp(path, "-") == 0) {
		if ((r.fd = dup(STDOUT_FILENO)) == -1)
			refuse("standard output");
	} else if (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)) {
		if ((r.fd = open(path, O_WRONLY)) == -1)
			refuse(path);
	} else {
		xasprintf(&r.temp, "%s.XXXXXXXX", path);
		if ((r.fd = mkstemp(r.temp)) == -1 ||
		    fchmod(r.fd, 0666 & ~mask) == -1)
			refuse(path);
	}
	if (fcntl(r.fd, F_SETFD, FD_CLOEXEC) == -1)
		refuse(path);
}

void
xreport_open(const char *path, const char *program, int named)
{
	const char *slash = strrchr(program, '/');
	char when[32];
	time_t now = time(NULL);

	if (path == NULL)
		return;
	open_report(path);
	r.pid = getpid();
	r.path = xstrdup(path);
	r.prefix = named ? program : "";
	r.begun_us = clock_us();
	if ((r.errors = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	put_text("{\"hayate_report\":1,\"program\":\"");
	put_text(strncmp(slash != NULL ? slash + 1 : program, "sftp", 4) == 0 ?
	    "sftp" : "scp");
	put_text("\",\"begun\":\"");
	put_text(when);
	put_text("\",\"files\":[");
	cleanup_first = finish_at_exit;
	atexit(finish_at_exit);
}

void
xreport_connect(void)
{
	struct sigaction old;
	size_t i;

	if (r.fd == -1)
		return;
	set_log_handler(print, NULL);	/* log_init() has removed it. */
	for (i = 0; i < SIGNALS; i++) {
		if (sigaction(signals[i], NULL, &old) == -1 ||
		    old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN ||
		    old.sa_handler == finish_by_signal)
			continue;
		r.before[i] = old;
		old.sa_handler = finish_by_signal;
		sigaction(signals[i], &old, NULL);
	}
}

void
xreport_expect_file(void)
{
	r.expects = r.fd != -1;
	*r.text = '\0';
}

void
xreport_file(int is_put, const char *from, const char *to, uint64_t bytes,
    uint64_t us, int ret)
{
	struct sshbuf *b;
	int e;

	r.expects = 0;
	if (r.fd == -1)
		return;
	if ((b = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	block_signals(SIG_BLOCK);
	if ((e = sshbuf_putf(b, "%s\n{\"direction\":\"%s\",",
	    r.files == 0 ? "" : ",", is_put ? "put" : "get")) != 0)
		fatal_fr(e, "compose");
	add_path(b, "from", from);
	add_path(b, "to", to);
	if (*r.text != '\0')
		add_text(b, "\"error\":", r.text, ",");
	if ((e = sshbuf_putf(b, "\"bytes\":%llu,\"seconds\":%.6f,"
	    "\"status\":\"%s\"}", (unsigned long long)bytes, us / 1e6,
	    ret == 0 ? "ok" : "failed")) != 0)
		fatal_fr(e, "compose");
	put((const char *)sshbuf_ptr(b), sshbuf_len(b));
	r.files++;
	r.failed += ret != 0;
	r.bytes += bytes;
	block_signals(SIG_UNBLOCK);
	sshbuf_free(b);
}
