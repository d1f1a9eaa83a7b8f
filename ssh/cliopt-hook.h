/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cliopt: Hayate's keywords in ssh_config and after ssh -o, and words of other
 * builds of OpenSSH that this upstream does not know.
 *
 * Called from patches/310-readconf-keywords.patch and 312-ssh-ciphers.patch.
 */

#ifndef HAYATE_CLIOPT_HOOK_H
#define HAYATE_CLIOPT_HOOK_H

#include <stddef.h>

/*
 * One line of configuration, after upstream took the keyword off "rest".
 * "first" is the name in the first row of upstream's own keywords, "stride"
 * the size of a row.
 * Returns 0 if upstream has to go on with the line, whose keyword may be a
 * constant then and whose list of ciphers may hold other names.
 * Otherwise 1, and *ret is what the parser has to return: 0, or -1 for a
 * line that was reported and counts as a bad option.
 * "active" is 0 in a Host or Match block that does not apply; such a line is
 * checked all the same.
 */
int	cliopt_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int *ret);

/* The argument of ssh -c, changed in place as the keyword's. */
void	cliopt_ciphers(char *list);

/* Writes what is to be said of the command line, once the log is set up. */
void	cliopt_late(void);

/* Adds our options to the output of ssh -G. */
void	cliopt_dump(void);

#endif /* HAYATE_CLIOPT_HOOK_H */
