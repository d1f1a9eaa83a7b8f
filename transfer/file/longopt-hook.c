/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See longopt-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misc.h"
#include "xmalloc.h"

#include "files-from-hook.h"
#include "hayopt.h"
#include "inspect-hook.h"
#include "longopt-hook.h"
#include "reconnect-hook.h"
#include "report-hook.h"

extern char *__progname;

/* What upstream gives to getopt(), but for -h, which shows the usage */
#define SCP_LETTERS	"12346ABCTdfOpqRrstvD:F:J:M:P:S:c:i:l:o:X:"
#define SFTP_LETTERS	"1246AafNpqrvCc:D:i:l:o:s:S:b:B:F:J:P:R:X:"

static struct longopt taken;
static enum longopt_of of;		/* the program */

static void refuse_option(const char *, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static void
refuse_option(const char *why, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", __progname);
	va_start(args, why);
	vfprintf(stderr, why, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(1);
}

/* Writes "[a] [b]" behind "first", in lines of at most 79 columns. */
static void
put_words(const char *first, const char *words)
{
	int indent = (int)strlen(first), at = indent, len;

	fputs(first, stderr);
	for (; *words != '\0'; words += len + (words[len] == ' ')) {
		len = (int)strcspn(words, "]");
		len += (int)strcspn(words + len, " ");
		if (at > indent && at + 1 + len > 79)
			at = fprintf(stderr, "\n%*s", indent, "") - 1;
		at += fprintf(stderr, "%s%.*s", at > indent ? " " : "", len,
		    words);
	}
}

static int
take_long_options(int argc, char **argv, const char *letters)
{
	char why[256];

	argc = longopt_take(&taken, of, argc, argv, letters, why, sizeof(why));
	if (argc != -1)
		return argc;
	if (strncmp(why, "unknown", strlen("unknown")) != 0)
		refuse_option("%s", why);
	fprintf(stderr, "%s: %s\n", __progname, why);
	longopt_usage(of, why, sizeof(why));
	put_words("long options: ", why);
	fprintf(stderr, "\nThe others are in %s(1).\n", __progname);
	exit(1);
}

static void
exit_ok(void)
{
	fflush(NULL);
	_exit(0);
}

/*
 * Upstream shows its usage, and knows nothing of ours: we say it before. Help
 * that was asked for ends as an error there. Returns the argc that makes it so.
 */
static int
print_help(char **argv)
{
	char text[1024];

	longopt_help(of, text, sizeof(text));
	printf("Hayate's options of %s, and then those of OpenSSH:\n%s",
	    __progname, text);
	fflush(stdout);
	if (dup2(STDOUT_FILENO, STDERR_FILENO) == -1 || atexit(exit_ok) != 0)
		exit(1);
	argv[1] = NULL;
	return 1;
}

static FILE *held;		/* what upstream says */
static int shown;		/* standard error */

static void
put_usage(void)
{
	char line[256], first[64], text[256] = "[-j N] ";
	size_t at = strlen(text);
	int indent = 0;

	fflush(stderr);
	if (dup2(shown, STDERR_FILENO) == -1)
		return;
	rewind(held);
	while (fgets(line, sizeof(line), held) != NULL) {
		if (indent == 0 && strncmp(line, "usage: ", 7) == 0) {
			longopt_usage(of, text + at, sizeof(text) - at - 9);
			strlcat(text, " [--help]", sizeof(text));
			snprintf(first, sizeof(first), "usage: %s ",
			    __progname);
			put_words(first, text);
			indent = (int)strlen(first);
			at = 7 + strcspn(line + 7, " ");
			fprintf(stderr, "\n%*s%s", indent, "",
			    line + at + (line[at] == ' '));
		} else
			fprintf(stderr, "%*s%s", indent, "",
			    line + (indent == 0 ? 0 : strspn(line, " ")));
	}
}

/* "few": there are too few words. Upstream shows its usage, with ours in it. */
static void
extend_usage(int few)
{
	if (!few && !taken.unknown)
		return;
	if ((held = tmpfile()) == NULL || (shown = dup(STDERR_FILENO)) == -1 ||
	    atexit(put_usage) != 0 ||
	    dup2(fileno(held), STDERR_FILENO) == -1)
		return;
}

/* The words are "source ... target". One side has to be remote, not both. */
static void
check_sides(int argc, char **argv, const char *option)
{
	int i, remote = 0;

	if (taken.old_protocol)
		refuse_option("%s needs SFTP, it does not work with -O",
		    option);
	for (i = taken.operands; i < argc - 1; i++)
		remote |= colon(argv[i]) != NULL;
	if (argc - taken.operands < 2)
		return;			/* upstream shows its usage */
	if (remote && colon(argv[argc - 1]) != NULL)
		refuse_option("%s does not work between two remote hosts",
		    option);
	if (!remote && colon(argv[argc - 1]) == NULL)
		refuse_option("%s does not work between local files", option);
}

static void
check_retry(void)
{
	if (taken.retry == NULL)
		return;
	if (convtime(taken.retry) <= 0)
		refuse_option("--retry %s: not a time such as 90, 10m, 2h or "
		    "1d12h", taken.retry);
	if (taken.old_protocol || taken.server)
		refuse_option("--retry needs SFTP, it does not work with -O");
	if (taken.away)
		refuse_option("--retry does not work with -R");
	if (taken.direct)
		refuse_option("--retry needs ssh, it does not work with -D");
	reconnect_want(taken.retry, convtime(taken.retry));
}

/* The place of a word that was taken is free: "word" becomes the first. */
static int
insert_word(int argc, char **argv, char *word)
{
	memmove(argv + 2, argv + 1, argc * sizeof(*argv));
	argv[1] = word;
	taken.operands++;
	return argc + 1;
}

/* ssh has to know the hosts. Returns the argc with a word for it. */
static int
begin_hosts(int argc, char **argv)
{
	const char *why = hayopt_refuse_hosts(taken.hosts);
	char *word;

	if (why != NULL)
		refuse_option("--hosts %s: %s", taken.hosts, why);
	if (taken.one_stream)
		refuse_option(
		    "--hosts needs a connection to each host, and -j 1 "
		    "allows one");
	xasprintf(&word, "-oTransferHosts=%s", taken.hosts);
	return insert_word(argc, argv, word);
}

/* Where the path of a word begins that names a server, or NULL */
static const char *
remote_path_of(char *word)
{
	const char *path = colon(word);

	if (path == NULL || strncmp(word, "scp://", 6) != 0)
		return path == NULL ? NULL : path + 1;
	path = strchr(word + 6, '/');
	return path == NULL ? "" : path + 1;
}

/* It is taken for a name. One that matches several would give several roots. */
static int
is_pattern(const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == '\\' && path[1] != '\0')
			path++;
		else if (strchr("*?[", *path) != NULL)
			return 1;
	}
	return 0;
}

static void
check_source(char *source)
{
	const char *path = remote_path_of(source);
	struct stat sb;

	if (path != NULL && is_pattern(path))
		refuse_option("--files-from needs one directory, but \"%s\" "
		    "is a pattern; if it is a name, write a backslash before "
		    "each * ? [", source);
	if (path != NULL)
		return;
	if (stat(source, &sb) == -1)
		refuse_option("--files-from: source \"%s\": %s", source,
		    strerror(errno));
	if (!S_ISDIR(sb.st_mode))
		refuse_option("--files-from: source \"%s\" is not a directory",
		    source);
}

/* The words are "source target". Returns the argc with -r. */
static int
begin_files_from(int argc, char **argv)
{
	static char recursive[] = "-r";
	char *source, *target;

	if (taken.old_protocol || taken.server)
		refuse_option(
		    "--files-from needs SFTP, it does not work with -O");
	if (argc - taken.operands < 2)
		return argc;		/* upstream shows its usage */
	if (argc - taken.operands > 2)
		refuse_option("--files-from needs one source, the directory "
		    "of the listed names, and one target");
	source = argv[taken.operands];
	target = argv[taken.operands + 1];
	if (colon(source) == NULL && colon(target) == NULL)
		refuse_option("--files-from does not work between local files");
	if (taken.away && colon(source) != NULL && colon(target) != NULL)
		refuse_option("--files-from does not work with -R");
	check_source(source);
	files_from_open(taken.files_from, taken.from0, taken.recursive, target);
	return taken.recursive ? argc : insert_word(argc, argv, recursive);
}

int
longopt_scp(int argc, char **argv)
{
	of = LONGOPT_SCP;
	argc = take_long_options(argc, argv, SCP_LETTERS);
	if (taken.help)
		return print_help(argv);
	extend_usage(!taken.server && argc - taken.operands < 2);
	if (!taken.server)
		inspect_catch_signal();
	if (taken.resume)
		check_sides(argc, argv, "--resume");
	if (taken.checksum)
		check_sides(argc, argv, "--checksum");
	if (taken.streams)
		check_sides(argc, argv, "-j");
	if (taken.hosts != NULL)
		check_sides(argc, argv, "--hosts");
	check_retry();
	if (taken.from0 && taken.files_from == NULL)
		refuse_option("--from0 requires --files-from");
	if (taken.files_from != NULL)
		argc = begin_files_from(argc, argv);
	report_open(taken.report, taken.journal, argv[0], 1);
	return taken.hosts == NULL ? argc : begin_hosts(argc, argv);
}

int
longopt_sftp(int argc, char **argv)
{
	static char resume[] = "-a";

	of = LONGOPT_SFTP;
	argc = take_long_options(argc, argv, SFTP_LETTERS);
	if (taken.help)
		return print_help(argv);
	extend_usage(!taken.direct && taken.operands >= argc);
	inspect_catch_signal();
	if (taken.direct && taken.hosts != NULL)
		refuse_option("--hosts needs ssh, it does not work with -D");
	check_retry();
	if (taken.hosts != NULL)
		argc = begin_hosts(argc, argv);
	report_open(taken.report, taken.journal, argv[0], 0);
	if (taken.operands < argc)
		report_host("sftp", argv[taken.operands], NULL, NULL);
	if (!taken.resume)
		return argc;
	return insert_word(argc, argv, resume);
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
