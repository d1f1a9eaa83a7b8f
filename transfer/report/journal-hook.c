/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See journal-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#include "journal-hook.h"

extern char *__progname;

static struct {
	int	 fd;
	const char *name;		/* as given */
	int	 is_cut;		/* its last line has no end */
	int	 write_errno;		/* the first error of a write */
	int	 is_copied;		/* nothing is written */
	int	 is_told;		/* the user knows of it */
} journal = { .fd = -1 };

static void
refuse_journal(const char *path)
{
	fprintf(stderr, "%s: journal \"%s\": %s\n", __progname, path,
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

void
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
		refuse_journal(path);
	journal.is_cut = has_partial_line(path);
}

int
journal_is_open(void)
{
	return journal.fd != -1;
}

int
journal_is_file(const struct stat *sb)
{
	struct stat ours;

	return journal.fd != -1 && !S_ISCHR(sb->st_mode) &&
	    fstat(journal.fd, &ours) == 0 && ours.st_dev == sb->st_dev &&
	    ours.st_ino == sb->st_ino;
}

void
journal_stop_writing(void)
{
	journal.is_copied = 1;
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

void
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

int
journal_failed(void)
{
	if (journal.write_errno == 0 && !journal.is_copied)
		return 0;
	if (!journal.is_told) {
		journal.is_told = 1;
		error("journal \"%s\": %s", journal.name, journal.is_copied ?
		    JOURNAL_IS_COPIED : strerror(journal.write_errno));
	}
	return 1;
}
