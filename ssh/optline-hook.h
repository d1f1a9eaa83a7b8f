/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * What the hooks of both option parsers share: split a line as upstream
 * does, hand it to hayopt.h, log what comes back. Not called by a patch.
 */

#ifndef OPTLINE_HOOK_H
#define OPTLINE_HOOK_H

#include "hayopt.h"

/*
 * Returns 0 if the keyword is none of ours, and then touches nothing.
 * Otherwise 1, with 0 in *ret, or -1 if the line is wrong and was reported.
 */
int	optline(int side, enum hayopt_layer layer, const char *keyword,
    const char *rest, const char *filename, int linenum, int active, int *ret);

/* Prints our options to stdout, one per line. */
void	optline_dump(int side);

#endif /* OPTLINE_HOOK_H */
