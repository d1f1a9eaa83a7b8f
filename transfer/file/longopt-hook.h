/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * longopt-hook: scp and sftp read their long options (longopt.h) before
 * upstream reads the short ones.
 *
 * An option that is unknown, or does not work together with the others, ends
 * the process with exit status 1 and a text that says why.
 *
 * Called from patches/190-scp-options.patch, once at the start of main().
 */

#ifndef HAYATE_LONGOPT_HOOK_H
#define HAYATE_LONGOPT_HOOK_H

#include "longopt.h"

/* Take the long options out of argv. Return the new argc. */
int	longopt_scp(int argc, char **argv);
int	longopt_sftp(int argc, char **argv);

/* What was taken; valid as long as the process. */
const struct longopt *longopt_get(void);

/* Returns 1 if the user wants files compared: --resume or --checksum. */
int	longopt_verifies(void);

#endif /* HAYATE_LONGOPT_HOOK_H */
