/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See longopt-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misc.h"

#include "longopt-hook.h"
#include "report-hook.h"

extern char *__progname;

/* What upstream gives to getopt(), but for -h, which shows the usage */
#define SCP_LETTERS	"12346ABCTdfOpqRrstvD:F:J:M:P:S:c:i:l:o:X:"
#define SFTP_LETTERS	"1246AafNpqrvCc:D:i:l:o:s:S:b:B:F:J:P:R:X:"

static struct longopt taken;

static void refuse(const char *, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static void
refuse(const char *why, ...)
{
	char usage[256];
	va_list args;

	longopt_usage(usage, sizeof(usage));
	fprintf(stderr, "%s: ", __progname);
	va_start(args, why);
	vfprintf(stderr, why, args);
	va_end(args);
	fprintf(stderr, "\nlong options: %s; the others are in %s(1)\n", usage,
	    __progname);
	exit(1);
}

static int
take(int argc, char **argv, const char *letters)
{
	char why[256];

	argc = longopt_take(&taken, argc, argv, letters, why, sizeof(why));
	if (argc == -1)
		refuse("%s", why);
	return argc;
}

static void
end_well(void)
{
	fflush(NULL);
	_exit(0);
}

/*
 * Upstream shows its usage, and knows nothing of ours: we say it before. Help
 * that was asked for ends as an error there. Returns the argc that makes it so.
 */
static int
help(char **argv)
{
	char text[1024];

	longopt_help(text, sizeof(text));
	printf("Hayate's options of %s, and then those of OpenSSH:\n%s",
	    __progname, text);
	fflush(stdout);
	if (dup2(STDOUT_FILENO, STDERR_FILENO) == -1 || atexit(end_well) != 0)
		exit(1);
	argv[1] = NULL;
	return 1;
}

/* "few": there are too few words. */
static void
precede_usage(int few)
{
	char text[256];

	if (!few && !taken.unknown)
		return;
	longopt_usage(text, sizeof(text));
	fprintf(stderr, "usage: %s [-j N] %s [--help], and:\n", __progname,
	    text);
}

/* The words are "source ... target". One side has to be remote, not both. */
static void
check_sides(int argc, char **argv, const char *option)
{
	int i, remote = 0;

	if (taken.old_protocol)
		refuse("%s needs SFTP, it does not work with -O", option);
	for (i = taken.operands; i < argc - 1; i++)
		remote |= colon(argv[i]) != NULL;
	if (argc - taken.operands < 2)
		return;			/* upstream shows its usage */
	if (remote && colon(argv[argc - 1]) != NULL)
		refuse("%s does not work between two remote hosts", option);
	if (!remote && colon(argv[argc - 1]) == NULL)
		refuse("%s does not work between local files", option);
}

int
longopt_scp(int argc, char **argv)
{
	argc = take(argc, argv, SCP_LETTERS);
	if (taken.help)
		return help(argv);
	precede_usage(!taken.server && argc - taken.operands < 2);
	if (taken.resume)
		check_sides(argc, argv, "--resume");
	if (taken.checksum)
		check_sides(argc, argv, "--checksum");
	if (taken.streams)
		check_sides(argc, argv, "-j");
	report_open(taken.report, taken.journal, argv[0], 1);
	return argc;
}

int
longopt_sftp(int argc, char **argv)
{
	static char resume[] = "-a";

	argc = take(argc, argv, SFTP_LETTERS);
	if (taken.help)
		return help(argv);
	precede_usage(!taken.direct && taken.operands >= argc);
	report_open(taken.report, taken.journal, argv[0], 0);
	if (taken.operands < argc)
		report_host("sftp", argv[taken.operands], NULL, NULL);
	if (!taken.resume)
		return argc;
	/* The place of a word that was taken is free. */
	memmove(argv + 2, argv + 1, argc * sizeof(*argv));
	argv[1] = resume;
	return argc + 1;
}

const struct longopt *
longopt_get(void)
{
	return &taken;
}

int
longopt_verifies(void)
{
	return taken.resume || taken.checksum;
}
