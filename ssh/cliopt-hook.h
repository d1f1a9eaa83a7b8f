/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cliopt: Hayate's keywords in ssh_config and after ssh -o.
 *
 * Called from patches/310-readconf-keywords.patch.
 */

#ifndef CLIOPT_HOOK_H
#define CLIOPT_HOOK_H

/*
 * One line of configuration, after upstream took the keyword off "rest".
 * Returns 0 if the keyword is none of ours: upstream goes on with it.
 * Otherwise 1, and *ret is what the parser has to return: 0, or -1 for a
 * line that was reported and counts as a bad option.
 * "active" is 0 in a Host or Match block that does not apply; such a line is
 * checked all the same.
 */
int	cliopt_line(const char *keyword, const char *rest,
    const char *filename, int linenum, int active, int *ret);

/* Adds our options to the output of ssh -G. */
void	cliopt_dump(void);

#endif /* CLIOPT_HOOK_H */
