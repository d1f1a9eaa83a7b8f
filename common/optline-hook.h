/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * optline-hook: the common part of the hooks of both option parsers. The module
 * splits a line as upstream does, passes it to hayopt.h, and logs the result.
 *
 * Called by ssh/cliopt-hook.c and sshd/srvopt-hook.c, not by a patch.
 */

#ifndef HAYATE_OPTLINE_HOOK_H
#define HAYATE_OPTLINE_HOOK_H

#include "hayopt.h"

/*
 * Upstream's own table of keywords, which it owns: "first" is the name in its
 * first row, "stride" the size of a row in bytes. The name in the last row is
 * NULL.
 */
struct optline_table {
	const char *const *first;
	size_t stride;
};

/*
 * Reads one line of configuration; "rest" is the text after the keyword. "side"
 * is HAYOPT_CLIENT or HAYOPT_SERVER. Reads the memory sizes at the first call
 * (machine-hook.h).
 *
 * Returns 0 if upstream has to read the line. Then "*keyword" may have been set
 * to upstream's name of this option, a constant that must not be freed or
 * changed, and HPN-SSH's names in a list of ciphers may have been replaced in
 * "rest", each with a debug line. "*ret" is not set.
 *
 * Returns 1 if the line is ours: a keyword of Hayate, or one of another build
 * whose option this upstream lacks. "*ret" is the parser's result then: 0, or
 * -1 for an invalid line, which was logged as an error. A valid line may be
 * logged as well, as an error or for debugging. The process ends if the keyword
 * requires that (HAYOPT_STOP). "layer" is HAYOPT_MATCH in sshd's second pass,
 * otherwise HAYOPT_GLOBAL. If "active" is 0, the line is only checked: its
 * value is not stored, and the process does not end.
 *
 * "filename" and "linenum" are for messages. If "filename" is "command-line",
 * debug lines are kept for optline_log_deferred(). If optline_is_reread() is 1
 * for "filename", a valid line is logged for debugging only, because the
 * listener has logged it as an error already.
 */
int	optline_read(int side, enum hayopt_layer layer,
    struct optline_table table, char **keyword, char *rest,
    const char *filename, int linenum, int active, int *ret);

/*
 * Returns 1 if "filename" is "rexec" or "reprocess config", under which sshd
 * parses its configuration again in a process for one connection; else 0. The
 * listener has reported the errors of that configuration already.
 */
int	optline_is_reread(const char *filename);

/*
 * As hayopt_replace_ciphers(), in place; if it replaced anything, logs the new
 * list at -v, or keeps that message if "filename" is "command-line".
 */
void	optline_replace_ciphers(char *text, const char *filename, int linenum);

/*
 * Logs the messages about ssh's command line at -v, and forgets them. They were
 * kept, because the command line is read before the log level is known. Call it
 * as soon as the level is set. Errors were not kept, but logged at once.
 */
void	optline_log_deferred(void);

/*
 * Prints our options of this side to stdout, one per line, for ssh -G and sshd
 * -T: values as configured, even with "Hayate no".
 */
void	optline_dump(int side);

#endif /* HAYATE_OPTLINE_HOOK_H */
