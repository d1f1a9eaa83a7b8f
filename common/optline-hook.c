/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See optline-hook.h. A line comes here after upstream's parser has split the
 * keyword off. One '=' is gone by then; quotes and a comment at the end are
 * not.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "misc.h"
#include "xmalloc.h"

#include "machine-hook.h"
#include "optline-hook.h"

/* sshd uses these names. */
int
optline_is_reread(const char *filename)
{
	return strcmp(filename, "rexec") == 0 ||
	    strcmp(filename, "reprocess config") == 0;
}

static char *deferred;	/* lines to be logged later, each with a line feed */

static void log_or_defer(const char *, int, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs a line at debug level, or keeps it if the log level is not known yet. */
static void
log_or_defer(const char *filename, int linenum, const char *fmt, ...)
{
	char *text, *more;
	va_list args;

	va_start(args, fmt);
	xvasprintf(&text, fmt, args);
	va_end(args);
	if (strcmp(filename, "command-line") == 0) {
		xasprintf(&more, "%s%s: %s\n", deferred != NULL ? deferred : "",
		    filename, text);
		free(deferred);
		deferred = more;
	} else
		debug("%s line %d: %s", filename, linenum, text);
	free(text);
}

void
optline_log_deferred(void)
{
	char *line, *rest = deferred;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0')
			debug("%s", line);
	}
	free(deferred);
	deferred = NULL;
}

void
optline_replace_ciphers(char *text, const char *filename, int linenum)
{
	if (hayopt_replace_ciphers(text))
		log_or_defer(filename, linenum, "HPN-SSH's name of a cipher is "
		    "taken for the stock name: %s", text);
}

static int
is_upstream_keyword(struct optline_table table, const char *keyword)
{
	const char *const *name;

	for (name = table.first; *name != NULL; name = (const char *const *)
	    ((const char *)name + table.stride)) {
		if (strcasecmp(*name, keyword) == 0)
			return 1;
	}
	return 0;
}

/*
 * Returns 1 if the line is ours. If it is not, it may be changed as described
 * at optline_read().
 */
static int
is_our_keyword(int side, struct optline_table table, char **keyword, char *rest,
    const char *filename, int linenum)
{
	enum hayopt_claim claim = hayopt_classify(side, *keyword);
	const char *name;

	if (strcasecmp(*keyword, "Ciphers") == 0)
		optline_replace_ciphers(rest, filename, linenum);
	if (claim == HAYOPT_UNKNOWN ||
	    (claim == HAYOPT_FOREIGN && is_upstream_keyword(table, *keyword)))
		return 0;
	if ((name = hayopt_upstream_name(side, *keyword)) == NULL)
		return 1;
	log_or_defer(filename, linenum, "%s is taken for %s", *keyword, name);
	*keyword = (char *)name;	/* upstream only reads it */
	return 0;
}

int
optline_read(int side, enum hayopt_layer layer, struct optline_table table,
    char **keyword, char *rest, const char *filename, int linenum, int active,
    int *ret)
{
	enum hayopt_result result;
	char **av = NULL, msg[512];
	int ac = 0;

	/* Messages compare with defaults, and a chroot may follow. */
	(void)machine_options();
	if (!is_our_keyword(side, table, keyword, rest, filename, linenum))
		return 0;

	*ret = -1;
	if (argv_split(rest, &ac, &av, 1) != 0) {
		error("%s line %d: %s: unmatched quotes", filename, linenum,
		    *keyword);
		return 1;
	}
	result = hayopt_read_line(side, layer, *keyword, ac, av, active, msg,
	    sizeof(msg));
	argv_free(av, ac);
	if (result == HAYOPT_STOP)
		fatal("%s line %d: %s", filename, linenum, msg);
	if (result != HAYOPT_BAD)
		*ret = 0;
	if (result == HAYOPT_BAD ||
	    (result == HAYOPT_ACCEPTED_LOUD && !optline_is_reread(filename)))
		error("%s line %d: %s", filename, linenum, msg);
	else if (*msg != '\0')
		log_or_defer(filename, linenum, "%s", msg);
	return 1;
}

void
optline_dump(int side)
{
	char line[64 + HAYOPT_HOSTS_LEN];
	size_t i;

	(void)machine_options();
	for (i = 0; hayopt_dump(side, i, line, sizeof(line)) == 0; i++)
		printf("%s\n", line);
}
