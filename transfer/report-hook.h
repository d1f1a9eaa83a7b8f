/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * report-hook: --report FILE of scp and sftp, which says in JSON what became
 * of each file.
 *
 * The report grows in a file of another name beside FILE and takes its place at
 * the end of the process, so FILE is always whole: the old one or the new one.
 * The end is also a fatal error, an interrupt and a lost connection, but not
 * SIGKILL, and not a signal before the login, which leaves the old one. What is
 * no regular file, as a pipe, is written directly, and "-" is standard output.
 * PROTOCOL, 5 describes the object.
 *
 * What upstream and we print as errors is collected by a log handler, which
 * prints it as it would have been printed without.
 *
 * Called for the option, and by the hooks that copy. Main thread only.
 */

#ifndef HAYATE_REPORT_HOOK_H
#define HAYATE_REPORT_HOOK_H

#include <stdint.h>

/*
 * The report begins, if there is a path. "program" is argv[0]; with "named" its
 * messages begin with it. An error ends the process with status 1.
 */
void	report_open(const char *path, const char *program, int named);

/*
 * A connection begins: upstream's logging and its handlers of signals are set.
 * Errors that were printed before are not in the report.
 */
void	report_connect(void);

/*
 * The next files are between here and the host that this word of the command
 * line names: [user@]host[:path], or a URI of that scheme.
 */
void	report_host(const char *scheme, const char *word);

/*
 * A file begins: the errors that are printed from now on belong to it, and if
 * the process ends before report_file(), it has failed.
 */
void	report_expect_file(int is_put, const char *from, const char *to);
int	report_expects(void);

/* Its end: bytes that were moved, how long it took, 0 or -1 */
void	report_file(uint64_t bytes, uint64_t us, int ret);

#endif /* HAYATE_REPORT_HOOK_H */
