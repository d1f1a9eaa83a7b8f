/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See report-hook.h. A file's names are composed before it begins, with room
 * for its whole object, and that is written while signals are blocked. So a
 * signal finds whole files. Its handler writes the end, with calls that are
 * allowed there: first the file that is in flight, which has failed. Then
 * upstream's handler ends all.
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
#if defined(HAVE_STRNVIS) && defined(HAVE_VIS_H) && !defined(BROKEN_STRNVIS)
#include <vis.h>
#endif

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "json.h"
#include "report-hook.h"

/* Errors without a file: more are not kept, only counted. */
#define ERRORS_MAX	1000

/* Longer texts of a file are cut. */
#define TEXT_MAX	8192

/* Of an object, without the paths and the texts */
#define OBJECT_MAX	512

extern char *__progname;
extern volatile sig_atomic_t interrupted;

/* What cleanup_exit() does first, see cleanup-hook.c */
void (*cleanup_first)(void);

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define SIGNALS		(sizeof(signals) / sizeof(signals[0]))

static struct {
	pid_t	 pid;			/* a child is not this process */
	int	 wanted;		/* a report or journal, not whole */
	int	 has_report;
	int	 begun;			/* to be written */
	int	 is_fatal;		/* what ends the process was printed */
	int	 fd;
	int	 write_errno;
	int	 is_copied;		/* the older one: it stays */
	const char *name;		/* as given */
	char	*path, *temp;		/* absolute; NULL: written directly */
	const char *program, *prefix;	/* prefix: of messages */
	char	*host, *to_host;	/* of the next files; NULL: unknown */
	char	*source;		/* of scp, as named by the user */
	time_t	 since;
	uint64_t begun_us;
	uint64_t files, failed, bytes;
	struct sshbuf *file;		/* the names of one that is expected */
	char	*local;			/* it, if it must be spared; or NULL */
	int	 expects;
	uint64_t file_us;		/* since when */
	char	 text[TEXT_MAX];	/* errors of that file */
	char	 escaped[TEXT_MAX * JSON_BYTE];
	const char *how;		/* what was verified of it; NULL: not */
	uint64_t verified;		/* bytes of it that were */
	int	 skipped;		/* nothing had to be copied */
	unsigned int losses;		/* restarts after a lost connection */
	char	*line;			/* its object */
	size_t	 room, len;
	int	 is_line;		/* what is uploaded goes there */
	struct sshbuf *errors;		/* other ones, as JSON */
	uint64_t nerrors;
	char	*limit;			/* an object; NULL: none is known */
	uint64_t limit_bytes;
	struct sigaction before[SIGNALS];
} r = { .fd = -1 };

/* The error of a report or a journal that is itself a file of the copy */
#define IS_COPIED	"not written, because this file is copied"

/*
 * The journal: each line is appended by one write, so the journal is valid at
 * any time, also after SIGKILL; at most the last line is cut off. A later run
 * begins a new line then.
 */

static struct {
	int	 fd;
	const char *name;		/* as given */
	int	 is_cut;		/* its last line has no end */
	int	 write_errno;		/* the first error of a write */
	int	 is_copied;		/* nothing is written */
	int	 is_told;		/* the user knows of it */
} journal = { .fd = -1 };

static void
refuse(const char *what, const char *path)
{
	fprintf(stderr, "%s: %s \"%s\": %s\n", __progname, what, path,
	    strerror(errno));
	exit(1);
}

/* What cannot be read is taken to be cut: an empty line does no harm. */
static int
has_partial_line(const char *path)
{
	struct stat sb;
	char last = '\0';
	int fd;

	if (fstat(journal.fd, &sb) == -1 || !S_ISREG(sb.st_mode) ||
	    sb.st_size == 0)
		return 0;
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 1;
	if (pread(fd, &last, 1, sb.st_size - 1) != 1)
		last = '\0';
	close(fd);
	return last != '\n';
}

/* "-" is standard output. An error ends the process with status 1. */
static void
journal_open(const char *path)
{
	if (path == NULL)
		return;
	journal.name = path;
	if (strcmp(path, "-") == 0)
		journal.fd = dup(STDOUT_FILENO);
	else
		journal.fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
	if (journal.fd == -1 || fcntl(journal.fd, F_SETFD, FD_CLOEXEC) == -1)
		refuse("journal", path);
	journal.is_cut = has_partial_line(path);
}

/* Returns 1 if the journal is this file, which a report must not replace. */
static int
journal_is_file(const struct stat *sb)
{
	struct stat ours;

	return journal.fd != -1 && !S_ISCHR(sb->st_mode) &&
	    fstat(journal.fd, &ours) == 0 && ours.st_dev == sb->st_dev &&
	    ours.st_ino == sb->st_ino;
}

/* The reader of a pipe is gone, which is our error, and not scp's. */
static void
drop_sigpipe(void)
{
	sigset_t set;
	int signal;

	if (sigpending(&set) == -1 || !sigismember(&set, SIGPIPE))
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigwait(&set, &signal);
}

/*
 * Writes a line, whose last byte is a newline. line[-1] has to be a newline as
 * well, which ends a line that was cut off. SIGPIPE is blocked.
 */
static void
journal_write(const char *line, size_t len)
{
	ssize_t n;

	if (journal.is_copied)
		return;
	if (journal.is_cut) {
		line--;
		len++;
	}
	while (len > 0) {
		n = write(journal.fd, line, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		journal.is_cut = 1;
		line += n;
		len -= n;
	}
	if (len == 0) {
		journal.is_cut = 0;
		return;
	}
	if (journal.write_errno == 0)
		journal.write_errno = errno;
	if (errno == EPIPE)
		drop_sigpipe();
}

/* Returns 1 if there was an error, and prints the first one, once. */
static int
journal_failed(void)
{
	if (journal.write_errno == 0 && !journal.is_copied)
		return 0;
	if (!journal.is_told) {
		journal.is_told = 1;
		error("journal \"%s\": %s", journal.name, journal.is_copied ?
		    IS_COPIED : strerror(journal.write_errno));
	}
	return 1;
}

/* Writing */

static void
put_bytes(const char *p, size_t len)
{
	ssize_t n;

	if (r.is_line) {
		memcpy(r.line + r.len, p, len);
		r.len += len;
		return;
	}
	while (len > 0 && r.write_errno == 0) {
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
	put_bytes(text, strlen(text));
}

static void
put_number(const char *before, uint64_t n)
{
	char text[24];

	put_text(before);
	json_number(text, n);
	put_text(text);
}

/* In seconds, with six digits */
static void
put_seconds(const char *before, uint64_t us)
{
	char text[24];

	put_number(before, us / 1000000);
	json_number(text, 1000000 + us % 1000000);
	*text = '.';			/* in place of the 1 */
	put_text(text);
}

/* From here on, only calls that a signal's handler may make */

/* In the journal a line stands for itself. */
static void
put_head(int in_journal)
{
	struct timespec now;

	if (!in_journal) {
		put_text("{");
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	/* The first newline is for a line before it that was cut. */
	put_seconds("\n{\"hayate_journal\":1,\"time\":",
	    (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	put_text(",\"program\":\"");
	put_text(r.program);
	put_text("\",");
}

static void
compose_file(int in_journal, uint64_t bytes, uint64_t us, int has_failed)
{
	r.is_line = 1;
	r.len = 0;
	put_head(in_journal);
	put_bytes((const char *)sshbuf_ptr(r.file), sshbuf_len(r.file));
	if (*r.text != '\0') {
		json_escape(r.escaped, r.text);
		put_text("\"error\":\"");
		put_text(r.escaped);
		put_text("\",");
	}
	if (r.how != NULL) {
		put_text("\"verified\":\"");
		put_text(r.how);
		put_number("\",\"verified_bytes\":", r.verified);
		put_text(",");
	}
	if (r.skipped)
		put_text("\"skipped\":true,");
	if (r.losses > 0) {
		put_number("\"retries\":", r.losses);
		put_text(",");
	}
	put_number("\"bytes\":", bytes);
	put_seconds(",\"seconds\":", us);
	put_text(has_failed ? ",\"status\":\"failed\"}" :
	    ",\"status\":\"ok\"}");
	r.is_line = 0;
}

/*
 * A report would take the place of what was just copied, and a journal grow at
 * its end. An older report in a tree that is put is no more than a file of it.
 */
static void
protect_copied(void)
{
	struct stat sb, old;

	if (r.local == NULL || stat(r.local, &sb) == -1)
		return;
	if (journal_is_file(&sb))
		journal.is_copied = 1;
	if (r.temp != NULL && stat(r.path, &old) == 0 &&
	    old.st_dev == sb.st_dev && old.st_ino == sb.st_ino)
		r.is_copied = 1;
}

/* "where" is REPORT_IN_LIST or REPORT_IN_JOURNAL, or both. */
static void
put_file(int where, uint64_t bytes, uint64_t us, int has_failed)
{
	if ((where & REPORT_IN_JOURNAL) != 0 && journal.fd != -1) {
		compose_file(1, bytes, us, has_failed);
		r.line[r.len++] = '\n';
		journal_write(r.line + 1, r.len - 1);
	}
	if ((where & REPORT_IN_LIST) != 0 && r.has_report) {
		put_text(r.files == 0 ? "\n" : ",\n");
		compose_file(0, bytes, us, has_failed);
		put_bytes(r.line, r.len);
		r.files++;
		r.failed += has_failed;
		r.bytes += bytes;
	}
	r.expects = 0;
}

static void
put_end(int signal)
{
	put_text("\n],\"errors\":[");
	put_bytes((const char *)sshbuf_ptr(r.errors), sshbuf_len(r.errors));
	put_number("],\n\"totals\":{\"files\":", r.files);
	put_number(",\"failed\":", r.failed);
	put_number(",\"bytes\":", r.bytes);
	put_number(",\"errors\":", r.nerrors);
	put_seconds(",\"seconds\":", clock_us() - r.begun_us);
	put_text("},");
	if (r.limit != NULL) {
		put_text("\n\"limit\":");
		put_text(r.limit);
		put_text(",\n");
	}
	put_text("\"interrupted\":");
	put_text(signal != 0 || interrupted ? "true}\n" : "false}\n");
}

/* While what a handler looks at changes. "old" is what to set then. */
static void
block_signals(sigset_t *old)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

static void
restore_signals(const sigset_t *old)
{
	sigprocmask(SIG_SETMASK, old, NULL);
}

static void
finish_report(int signal)
{
	put_end(signal);
	if (close(r.fd) == -1 && r.write_errno == 0)
		r.write_errno = errno;
	if (r.temp != NULL && r.write_errno == 0 && !r.is_copied &&
	    rename(r.temp, r.path) == -1)
		r.write_errno = errno;
	if (r.temp != NULL && r.fd != -1 &&
	    (r.write_errno != 0 || r.is_copied))
		unlink(r.temp);
}

static void
finish_all(int signal)
{
	int was = errno;
	sigset_t old;

	if (!r.wanted || getpid() != r.pid)
		return;
	/* Another signal would end the process before the file has its name. */
	block_signals(&old);
	if (r.expects)
		put_file(REPORT_IN_BOTH, 0, clock_us() - r.file_us, 1);
	r.wanted = 0;
	if (r.has_report)
		finish_report(signal);
	restore_signals(&old);
	errno = was;
}

/* Signals */

static void
finish_by_signal(int signal)
{
	size_t i;

	finish_all(signal);
	for (i = 0; i < SIGNALS; i++) {
		if (signals[i] == signal)
			r.before[i].sa_handler(signal);
	}
}

/* Creates what is going to take the place of the report. Returns 0 or -1. */
static int
create_temp_report(void)
{
	mode_t mask = umask(0);

	umask(mask);
	free(r.temp);
	xasprintf(&r.temp, "%s.XXXXXXXX", r.path);
	if ((r.fd = mkstemp(r.temp)) == -1 ||
	    fchmod(r.fd, 0666 & ~mask) == -1 ||
	    fcntl(r.fd, F_SETFD, FD_CLOEXEC) == -1)
		return -1;
	return 0;
}

/*
 * Not before upstream's handlers of signals are set: until then they end the
 * process without us, and a file of ours would be left behind.
 */
static void
begin_report(void)
{
	char when[32];

	if (r.begun || !r.has_report)
		return;
	r.begun = 1;
	if (r.temp != NULL && create_temp_report() == -1)
		r.write_errno = errno;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&r.since));
	put_text("{\"hayate_report\":1,\"program\":\"");
	put_text(r.program);
	put_text("\",\"begun\":\"");
	put_text(when);
	put_text("\",\"files\":[");
}

/* Texts */

/* "before", and text as the inside of a string */
static void
add_json_text(struct sshbuf *b, const char *before, const char *text,
    const char *end)
{
	size_t room = strlen(text) * JSON_BYTE + 1;
	char *escaped = xmalloc(room);
	int e;

	json_escape(escaped, text);
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
	add_json_text(b, name, path, ",");
	if (json_is_text(path))
		return;
	hex = xmalloc(2 * strlen(path) + 1);
	json_hex(hex, path);
	if ((e = sshbuf_putf(b, "\"%s_hex\":\"%s\",", key, hex)) != 0)
		fatal_fr(e, "compose");
	free(hex);
}

/* A text of the file that is expected */
static void
add_error(const char *text)
{
	if (*r.text != '\0')
		strlcat(r.text, "\n", sizeof(r.text));
	strlcat(r.text, text, sizeof(r.text));
}

static void
expect_file(enum report_way way, const char *from, const char *to)
{
	static const char *const ways[] = { "put", "get", "cross" };
	size_t room;
	int e;

	sshbuf_reset(r.file);
	if ((e = sshbuf_putf(r.file, "\"direction\":\"%s\",",
	    ways[way])) != 0)
		fatal_fr(e, "compose");
	if (r.host != NULL)
		add_json_text(r.file, "\"host\":", r.host, ",");
	if (r.to_host != NULL)
		add_json_text(r.file, "\"to_host\":", r.to_host, ",");
	add_path(r.file, "from", from);
	if (to != NULL)
		add_path(r.file, "to", to);
	room = sshbuf_len(r.file) + sizeof(r.escaped) + OBJECT_MAX;
	if (room > r.room) {
		r.line = xreallocarray(r.line, 1, room);
		r.room = room;
	}
	free(r.local);
	r.local = way == REPORT_GET && to != NULL ? xstrdup(to) :
	    way == REPORT_PUT && (r.source == NULL ||
	    strcmp(from, r.source) == 0) ? xstrdup(from) : NULL;
	*r.text = '\0';
	r.how = NULL;
	r.skipped = 0;
	r.losses = 0;
	r.file_us = clock_us();
	r.expects = 1;
}

/*
 * What upstream prints of a source that it cannot find or list, for which no
 * file begins: what stands before the path, and behind it.
 */
static const struct {
	const char *program, *before, *behind;
	enum report_way way;
} missing_sources[] = {
	{ "scp", "stat local \"", "\": ", REPORT_PUT },
	{ "scp", "local opendir \"", "\": ", REPORT_PUT },
	{ "scp", "remote readdir(\"", "\"): ", REPORT_GET },
	{ "scp", "", ": No such file or directory", REPORT_GET },
	{ "sftp", "stat ", ": ", REPORT_PUT },
	{ "sftp", "File \"", "\" not found.", REPORT_GET },
};

/* Returns the last place of "what" in the text, or NULL. */
static char *
find_last(char *text, const char *what)
{
	char *at, *last = NULL;

	for (at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
		last = at;
	return last;
}

/* Replaces what strnvis() has written, as "\303" and "\\\\". */
static void
decode_vis(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
			    (text[3] - '0');
			text += 3;
		} else {
			text += text[0] == '\\' && text[1] == '\\';
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* Returns 1 if the text was about a source that no file begins with. */
static int
is_missing_source(const char *text)
{
	char *copy = xstrdup(text), *path = NULL, *end = NULL;
	size_t i;

	decode_vis(copy);
	for (i = 0; i < sizeof(missing_sources) / sizeof(*missing_sources) &&
	    end == NULL; i++) {
		path = copy + strlen(missing_sources[i].before);
		if (strcmp(missing_sources[i].program, r.program) != 0 ||
		    strncmp(copy, missing_sources[i].before, path - copy) !=
		    0 || (end = find_last(path, missing_sources[i].behind)) ==
		    NULL)
			continue;
		*end = '\0';
		/* A path with nothing before it has to be known. */
		if (path == copy &&
		    (r.source == NULL || strcmp(path, r.source) != 0))
			end = NULL;
		else
			expect_file(missing_sources[i].way == REPORT_GET &&
			    r.to_host != NULL ? REPORT_CROSS :
			    missing_sources[i].way, path, NULL);
	}
	free(copy);
	return end != NULL;
}

static void
keep_error(const char *text)
{
	sigset_t old;

	block_signals(&old);
	if (r.expects)
		add_error(text);
	else if (is_missing_source(text)) {
		begin_report();
		add_error(text);
		put_file(REPORT_IN_BOTH, 0, 0, 1);
	} else if (r.nerrors++ < ERRORS_MAX)
		add_json_text(r.errors, r.nerrors > 1 ? "," : "", text, "");
	restore_signals(&old);
}

/*
 * As do_log() of upstream prints to standard error. It gives a handler text
 * that is safe to print, and from 10.3 on the text as it is.
 */
static void
print_and_keep(LogLevel level, int force, const char *text, void *arg)
{
	char safe[1024];
	static const char *const debug[] = { "", "debug1: ", "debug2: ",
	    "debug3: " };
	int n = level >= SYSLOG_LEVEL_DEBUG1 && level <= SYSLOG_LEVEL_DEBUG3 ?
	    level - SYSLOG_LEVEL_DEBUG1 + 1 : 0;

	(void)force;
	(void)arg;
	if (HAYATE_OPENSSH >= 1003) {
		strnvis(safe, text, sizeof(safe), VIS_SAFE | VIS_OCTAL);
		text = safe;
	}
	dprintf(STDERR_FILENO, "%s%s%s%s\r\n", r.prefix, *r.prefix != '\0' ?
	    ": " : "", debug[n], text);
	r.is_fatal |= level == SYSLOG_LEVEL_FATAL;
	if (r.wanted && level <= SYSLOG_LEVEL_ERROR)
		keep_error(text);
}

/* Begin and end */

static void
finish_at_exit(void)
{
	int has_failed;
	sigset_t old;

	if (!r.wanted || getpid() != r.pid)
		return;
	block_signals(&old);
	begin_report();
	finish_all(0);
	restore_signals(&old);
	has_failed = journal_failed();
	if (r.write_errno != 0 || r.is_copied) {
		error("report \"%s\": %s", r.name, r.is_copied ?
		    IS_COPIED : strerror(r.write_errno));
		has_failed = 1;
	}
	if (!has_failed)
		return;
	fflush(NULL);
	_exit(r.is_fatal ? 255 : 1);
}

/* Interface */

/* The current directory may change. */
static char *
absolute_path(const char *path)
{
	char cwd[PATH_MAX], *abs;

	if (*path == '/')
		return xstrdup(path);
	if (getcwd(cwd, sizeof(cwd)) == NULL)
		refuse("report", path);
	xasprintf(&abs, "%s/%s", cwd, path);
	return abs;
}

/* What is no regular file is opened; otherwise a file can be created there. */
static void
open_report(const char *path)
{
	struct stat sb;
	int is_output = strcmp(path, "-") == 0;

	r.has_report = 1;
	if ((is_output ? fstat(STDOUT_FILENO, &sb) : stat(path, &sb)) == 0 &&
	    journal_is_file(&sb)) {
		fprintf(stderr, "%s: report \"%s\": this is the journal; "
		    "each needs a file of its own\n", __progname, path);
		exit(1);
	}
	if (is_output) {
		if ((r.fd = dup(STDOUT_FILENO)) == -1)
			refuse("report", "standard output");
	} else if (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)) {
		if ((r.fd = open(path, O_WRONLY)) == -1)
			refuse("report", path);
	} else {
		r.path = absolute_path(path);
		if (create_temp_report() == -1 || unlink(r.temp) == -1)
			refuse("report", path);
		close(r.fd);
		r.fd = -1;
		return;
	}
	if (fcntl(r.fd, F_SETFD, FD_CLOEXEC) == -1)
		refuse("report", path);
}

void
report_open(const char *path, const char *journal, const char *program,
    int named)
{
	const char *slash = strrchr(program, '/');

	if (path == NULL && journal == NULL)
		return;
	journal_open(journal);
	if (path != NULL)
		open_report(path);
	r.wanted = 1;
	r.pid = getpid();
	r.name = path;
	r.program = strncmp(slash != NULL ? slash + 1 : program, "sftp", 4) ==
	    0 ? "sftp" : "scp";
	r.prefix = named ? program : "";
	r.since = time(NULL);
	r.begun_us = clock_us();
	if ((r.errors = sshbuf_new()) == NULL ||
	    (r.file = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	cleanup_first = finish_at_exit;
	atexit(finish_at_exit);
}

void
report_connect(void)
{
	struct sigaction old;
	sigset_t mask;
	size_t i;

	if (!r.wanted)
		return;
	block_signals(&mask);
	set_log_handler(print_and_keep, NULL);	/* log_init() has removed it. */
	for (i = 0; i < SIGNALS; i++) {
		if (sigaction(signals[i], NULL, &old) == -1 ||
		    old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN ||
		    old.sa_handler == finish_by_signal ||
		    signals[i] == SIGPIPE)	/* see stock-hook.h */
			continue;
		r.before[i] = old;
		old.sa_handler = finish_by_signal;
		sigaction(signals[i], &old, NULL);
	}
	begin_report();
	restore_signals(&mask);
}

/* Returns the host of a word, or NULL; the caller frees it. */
static char *
host_of_word(const char *scheme, const char *word)
{
	const char *at = strrchr(word, '@');
	char *host = NULL, *copy;

	if (parse_uri(scheme, word, NULL, &host, NULL, NULL) != 0 &&
	    parse_user_host_path(word, NULL, &host, NULL) != 0) {
		copy = xstrdup(at == NULL ? word : at + 1);
		host = xstrdup(cleanhostname(copy));
		free(copy);
	}
	return host;
}

/* Returns what scp says of a source: the path that the word has. */
static char *
path_of_word(const char *scheme, const char *word, int is_remote)
{
	char *path = NULL;

	if (!is_remote)
		return xstrdup(word);
	if (parse_uri(scheme, word, NULL, NULL, NULL, &path) != 0 &&
	    parse_user_host_path(word, NULL, NULL, &path) != 0)
		return NULL;
	return path != NULL && *path != '\0' ? path : xstrdup(".");
}

void
report_host(const char *scheme, const char *word, const char *to_word,
    const char *source)
{
	if (!r.wanted)
		return;
	free(r.host);
	free(r.to_host);
	free(r.source);
	r.host = host_of_word(scheme, word);
	r.to_host = to_word == NULL ? NULL : host_of_word(scheme, to_word);
	r.source = source == NULL ? NULL :
	    path_of_word(scheme, source, source == word);
	if (source != NULL)
		/* It may not be there. */
		set_log_handler(print_and_keep, NULL);
}

void
report_expect_file(enum report_way way, const char *from, const char *to)
{
	sigset_t old;

	if (!r.wanted)
		return;
	block_signals(&old);
	expect_file(way, from, to);
	restore_signals(&old);
}

int
report_expects(void)
{
	return r.expects;
}

int
report_is_wanted(void)
{
	return r.wanted;
}

void
report_text(const char *text)
{
	sigset_t old;

	block_signals(&old);
	if (r.expects)
		add_error(text);
	restore_signals(&old);
}

void
report_verified(const char *how, uint64_t bytes, int skipped,
    unsigned int losses)
{
	sigset_t old;

	block_signals(&old);
	r.how = how;
	r.verified = bytes;
	r.skipped = skipped;
	r.losses = losses;
	restore_signals(&old);
}

void
report_limit(const char *object, uint64_t bytes)
{
	char *was = r.limit, *now;
	sigset_t old;

	if (!r.has_report || bytes < r.limit_bytes)
		return;
	now = xstrdup(object);
	block_signals(&old);
	r.limit = now;
	r.limit_bytes = bytes;
	restore_signals(&old);
	free(was);
}

void
report_file(int where, uint64_t bytes, uint64_t us, int ret)
{
	sigset_t old;

	if (!r.wanted)
		return;
	block_signals(&old);
	protect_copied();
	put_file(where, bytes, us, ret != 0);
	restore_signals(&old);
	journal_failed();
}
