/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * What the hooks of both option parsers share: split a line as upstream
 * does, hand it to hayopt.h, log what comes back. Not called by a patch.
 */

#ifndef HAYATE_OPTLINE_HOOK_H
#define HAYATE_OPTLINE_HOOK_H

#include "hayopt.h"

/*
 * Upstream's own table of keywords: "first" is the name in its first row,
 * "stride" the size of a row; the name in the last row is NULL.
 */
struct optline_table {
	const char *const *first;
	size_t stride;
};

/*
 * Returns 0 if the line is upstream's to read. Its keyword may then be another,
 * a constant, where upstream knows the thing by another name, and the names in
 * a list of ciphers others; nothing else is touched.
 * Otherwise 1, with 0 in *ret, or -1 if the line is wrong and was reported.
 * Ends the process if the line says so.
 */
int	optline(int side, enum hayopt_layer layer, struct optline_table table,
    char **keyword, char *rest, const char *filename, int linenum, int active,
    int *ret);

/* As hayopt_ciphers(), with its line. */
void	optline_ciphers(char *text, const char *filename, int linenum);

/*
 * The lines of ssh's command line, which is read before the log is set up, are
 * kept and written by this.
 */
void	optline_late(void);

/* Prints our options to stdout, one per line. */
void	optline_dump(int side);

#endif /* HAYATE_OPTLINE_HOOK_H */
