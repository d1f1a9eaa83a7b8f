/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * srvopt: Hayate's keywords in sshd_config and after sshd -o.
 *
 * Called from patches/320-servconf-keywords.patch.
 */

#ifndef SRVOPT_HOOK_H
#define SRVOPT_HOOK_H

/*
 * One line of configuration, after upstream took the keyword off "rest".
 * Returns 0 if the keyword is none of ours: upstream goes on with it.
 * Otherwise 1, and *ret is what the parser has to return: 0, or -1 for a
 * line that was reported and ends sshd as any bad option does.
 * "active" is 0 in a Match block that does not apply, and for everything
 * outside of Match blocks in the second pass; such a line is checked all the
 * same. "matching" is 1 in the second pass, which knows the connection.
 */
int	srvopt_line(const char *keyword, const char *rest,
    const char *filename, int linenum, int active, int matching, int *ret);

/* Adds our options to the output of sshd -T. */
void	srvopt_dump(void);

#endif /* SRVOPT_HOOK_H */
