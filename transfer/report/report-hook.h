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
 * That includes a fatal error, an interrupt and a lost connection. SIGKILL, or
 * a signal before the login, leaves the old one. A FILE that exists and is not
 * regular, such as a pipe, is written directly, and "-" is standard output. The
 * journal has a line for each file as soon as it is done. A failed write is
 * reported once. The copy continues, and the process ends with an exit status
 * that is not 0. PROTOCOL, 5 describes the objects.
 *
 * A log handler collects the errors that upstream and we print, and prints them
 * unchanged. If upstream does not find a source, it calls none of our functions
 * for it; the text of its error then tells us the path.
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
 * Opens the report and the journal, each unless its path is NULL. "program" is
 * argv[0]; with "named" its messages begin with it. The strings are kept. An
 * error ends the process with status 1.
 */
void	report_open(const char *path, const char *journal, const char *program,
    int named);

/* Returns 1 if there is a report or a journal. */
int	report_is_wanted(void);

/*
 * Call for each connection, when upstream has set up its logging and its signal
 * handlers. Errors that were printed before are not in the report.
 */
void	report_connect(void);

/*
 * The next files are copied between here and the host in "word", a word of the
 * command line: [user@]host[:path], or a URI of "scheme". With "to_word" they
 * are copied from the host in "word" to that one. "source" is the word that is
 * copied, or NULL.
 */
void	report_host(const char *scheme, const char *word, const char *to_word,
    const char *source);

/*
 * A file begins: the errors that are printed from now on belong to it, and if
 * the process ends before report_file(), it has failed. "to" is NULL if that is
 * not known. Both are copied.
 */
void	report_expect_file(enum report_way, const char *from, const char *to);

/* Returns 1 from report_expect_file() to report_file(). */
int	report_expects(void);

/* Adds an error of the file that is printed before or after it. */
void	report_text(const char *);

/*
 * Adds to the file that "bytes" of it are known to be equal at both ends. "how"
 * is a literal: "hashes", "bytes" (they were read back) or "time" (nothing was
 * read); or NULL: it was not verified. "skipped": nothing had to be copied.
 * "losses" counts restarts because the connection was lost.
 */
void	report_verified(const char *how, uint64_t bytes, int skipped,
    unsigned int losses);

/*
 * Sets the limit of a copy of that size, an object of JSON. The report has the
 * one of the largest copy.
 */
void	report_limit(const char *object, uint64_t bytes);

/*
 * The file ends. "where" is REPORT_IN_*, "bytes" were moved in "us"
 * microseconds, and "ret" is 0, or -1 if it failed.
 */
void	report_file(int where, uint64_t bytes, uint64_t us, int ret);

#endif /* HAYATE_REPORT_HOOK_H */
