/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * optline-hook: what the hooks of both option parsers share. It splits a line
 * as upstream does, passes it to hayopt.h, and logs the result.
 *
 * No patch calls it.
 */

#ifndef HAYATE_OPTLINE_HOOK_H
#define HAYATE_OPTLINE_HOOK_H

#include "hayopt.h"

/*
 * Upstream's own table of keywords: "first" is the name in its first row,
 * "stride" is the size of a row. The name in the last row is NULL.
 */
struct optline_table {
	const char *const *first;
	size_t stride;
};

/*
 * Reads one line of configuration.
 *
 * Returns 0 if upstream has to read the line. Two things may be changed then:
 * "*keyword", to a constant, if upstream has another name for this option; and
 * the names in a list of ciphers.
 *
 * Returns 1 if the line is ours. "*ret" is then 0, or -1 if the line is wrong,
 * which was logged. Ends the process if the keyword requires that.
 */
int	optline_read(int side, enum hayopt_layer layer,
    struct optline_table table, char **keyword, char *rest,
    const char *filename, int linenum, int active, int *ret);

/*
 * Whether sshd's listener has read this configuration before, and has reported
 * its errors.
 */
int	optline_is_reread(const char *filename);

/* As hayopt_replace_ciphers(), and logs what was replaced. */
void	optline_replace_ciphers(char *text, const char *filename, int linenum);

/*
 * Logs what was kept of ssh's command line, which is read before the log is set
 * up.
 */
void	optline_log_deferred(void);

/* Prints our options of this side to stdout, one per line. */
void	optline_dump(int side);

#endif /* HAYATE_OPTLINE_HOOK_H */
