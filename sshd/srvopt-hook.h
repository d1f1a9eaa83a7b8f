/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * srvopt-hook: Hayate's keywords in sshd_config and after sshd -o, and keywords
 * of other builds of OpenSSH that this upstream does not know.
 *
 * Called from patches/320-servconf-keywords.patch.
 */

#ifndef HAYATE_SRVOPT_HOOK_H
#define HAYATE_SRVOPT_HOOK_H

#include <stddef.h>

/*
 * Reads one line of configuration, after upstream has split "*keyword" off
 * "rest". "first" is the name in the first row of upstream's own keywords,
 * "stride" is the size of a row.
 *
 * Returns 0 if upstream has to read the line. The keyword and the names in a
 * list of ciphers may have been replaced by upstream's names.
 *
 * Returns 1 if the line is ours. The parser then returns "*ret": 0, or -1 for a
 * wrong line, which was logged and ends sshd as any bad option does.
 *
 * "matching" is 1 in the second pass, which knows the connection. "active" is 0
 * in a Match block that does not apply, and in the second pass also outside of
 * Match blocks. Such a line is checked and has no effect.
 */
int	srvopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active,
    int matching, int *ret);

/*
 * Whether the result of a login needs no delay: it is a signature that was
 * right. Who made it has the key, and could have asked before whether it would
 * be taken, so the time tells nothing new. For auth2.c, in sshd-auth.
 */
int	srvopt_skips_delay(int authenticated, const char *method);

/* Adds our options to the output of sshd -T. */
void	srvopt_dump(void);

#endif /* HAYATE_SRVOPT_HOOK_H */
