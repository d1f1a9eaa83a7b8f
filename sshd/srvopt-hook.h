/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * srvopt-hook: Hayate's keywords in sshd_config and after sshd -o, and keywords
 * of other builds of OpenSSH that this upstream does not know.
 *
 * Called from patches/255-auth2-answer.patch and 320-servconf-keywords.patch.
 */

#ifndef HAYATE_SRVOPT_HOOK_H
#define HAYATE_SRVOPT_HOOK_H

#include <stddef.h>

/*
 * Reads one line of configuration, after upstream has split "*keyword" off
 * "rest". "first" is the name in the first row of upstream's table of keywords,
 * "stride" the size of a row in bytes; the last name is NULL.
 *
 * Returns 0 if upstream has to read the line. The keyword and the names in a
 * list of ciphers may have been replaced by upstream's names.
 *
 * Returns 1 if the line is ours. The parser then has to return "*ret": 0, or -1
 * for an invalid line, which was logged and ends sshd as any bad option does.
 * Each of our lines updates the environment for child processes as well: see
 * peer_export_options().
 *
 * "matching" is 1 in the second pass, which knows the user. "active" is 0 in a
 * Match block that does not apply, and in the second pass also outside of Match
 * blocks. Such a line is checked and sets nothing. A Match block may contain
 * each of our keywords.
 */
int	srvopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active,
    int matching, int *ret);

/*
 * Returns 1 if the reply to an authentication request can be sent without
 * upstream's delay, which hides how long the check took: after a valid
 * signature by a key of the user. Whoever made it has the key, and could have
 * asked before whether it is accepted, so the time reveals nothing new. Returns
 * 0 with "Hayate no". For auth2.c, in sshd-auth.
 */
int	srvopt_skips_delay(int authenticated, const char *method);

/* Prints our options for sshd -T. */
void	srvopt_dump(void);

#endif /* HAYATE_SRVOPT_HOOK_H */
