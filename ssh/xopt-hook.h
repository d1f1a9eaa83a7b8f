/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xopt-hook: scp and sftp read their long options (xopt.h) before upstream
 * reads the short ones.
 *
 * An option that is unknown, or that cannot be kept in this use, ends the
 * process with exit status 1 and a text that says why.
 *
 * Called from patches/190-scp-options.patch, once at the start of main().
 */

#ifndef HAYATE_XOPT_HOOK_H
#define HAYATE_XOPT_HOOK_H

#include "xopt.h"

/* Take the long options out of argv. Return the new argc. */
int	xopt_scp(int argc, char **argv);
int	xopt_sftp(int argc, char **argv);

/* What was taken; valid as long as the process. */
const struct xopt *xopt_get(void);

#endif /* HAYATE_XOPT_HOOK_H */
