/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * srvopt: Hayate's keywords in sshd_config and after sshd -o, and words of
 * other builds of OpenSSH that this upstream does not know.
 *
 * Called from patches/320-servconf-keywords.patch.
 */

#ifndef HAYATE_SRVOPT_HOOK_H
#define HAYATE_SRVOPT_HOOK_H

#include <stddef.h>

/*
 * One line of configuration, after upstream took the keyword off "rest".
 * "first" is the name in the first row of upstream's own keywords, "stride"
 * the size of a row.
 * Returns 0 if upstream has to go on with the line, whose keyword may be a
 * constant then and whose list of ciphers may hold other names.
 * Otherwise 1, and *ret is what the parser has to return: 0, or -1 for a
 * line that was reported and ends sshd as any bad option does.
 * "active" is 0 in a Match block that does not apply, and for everything
 * outside of Match blocks in the second pass; such a line is checked all the
 * same. "matching" is 1 in the second pass, which knows the connection.
 */
int	srvopt_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int matching, int *ret);

/* Adds our options to the output of sshd -T. */
void	srvopt_dump(void);

#endif /* HAYATE_SRVOPT_HOOK_H */
