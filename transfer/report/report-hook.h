/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * report-hook: --report FILE and --journal FILE of scp and sftp, which say in
 * JSON what became of each file.
 *
 * The report grows in a file of another name beside FILE and takes its place at
 * the end of the process, so FILE is always whole: the old one or the new one.
 * The end is also a fatal error, an interrupt and a lost connection, but not
 * SIGKILL, and not a signal before the login, which leaves the old one. What is
 * no regular file, as a pipe, is written directly, and "-" is standard output.
 * The journal has a line for each file as soon as it is done (journal-hook.h).
 * PROTOCOL, 5 describes the objects.
 *
 * What upstream and we print as errors is collected by a log handler, which
 * prints it as it would have been printed without. A source that upstream does
 * not find has no file that begins; it is known by the text of that error.
 *
 * Main thread only.
 */

#ifndef HAYATE_REPORT_HOOK_H
#define HAYATE_REPORT_HOOK_H

#include <stdint.h>

enum report_way { REPORT_PUT, REPORT_GET, REPORT_CROSS };

/* Where a file is written */
#define REPORT_IN_LIST		1	/* of the report */
#define REPORT_IN_JOURNAL	2
#define REPORT_IN_BOTH		3

/*
 * The report and the journal begin, each if there is a path. "program" is
 * argv[0]; with "named" its messages begin with it. An error ends the process
 * with status 1.
 */
void	report_open(const char *path, const char *journal, const char *program,
    int named);
int	report_is_wanted(void);		/* one of them */

/*
 * A connection begins: upstream's logging and its handlers of signals are set.
 * Errors that were printed before are not in the report.
 */
void	report_connect(void);

/*
 * The next files are between here and the host that this word of the command
 * line names: [user@]host[:path], or a URI of that scheme. If there is another
 * one, they go to that host. "source" is the word that is copied, or NULL.
 */
void	report_host(const char *scheme, const char *word, const char *to_word,
    const char *source);

/*
 * A file begins: the errors that are printed from now on belong to it, and if
 * the process ends before report_file(), it has failed. "to" is NULL if that is
 * not known.
 */
void	report_expect_file(enum report_way, const char *from, const char *to);
int	report_expects(void);

/* Adds an error of the file that was or will be printed elsewhere. */
void	report_text(const char *);

/*
 * So many bytes of the file are known to be equal at both ends. "how" is
 * "hashes", "bytes" (they were read back), "time" (nothing was read), or NULL.
 * "skipped": nothing had to be copied.
 * "losses" is how often the file was restarted because its connection was lost.
 */
void	report_verified(const char *how, uint64_t bytes, int skipped,
    unsigned int losses);

/*
 * What limited a copy of so many bytes, an object of JSON. The largest copy has
 * the say.
 */
void	report_limit(const char *object, uint64_t bytes);

/* Its end: bytes that were moved, how long it took, 0 or -1 */
void	report_file(int where, uint64_t bytes, uint64_t us, int ret);

#endif /* HAYATE_REPORT_HOOK_H */
