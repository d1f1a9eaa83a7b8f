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
 * "stride" the size of a row in bytes; the last name is NULL. "filename" and
 * "linenum" are for messages (optline_read()).
 *
 * Returns 0 if upstream has to read the line. The keyword and the names in a
 * list of ciphers may have been replaced by upstream's names; a "*keyword" that
 * was replaced is a constant, which must be neither freed nor changed.
 *
 * Returns 1 if the line is ours. The parser then has to return "*ret": 0, or -1
 * for an invalid line, which was logged and ends sshd as any bad option does.
 * Each of our lines updates the environment for child processes as well: see
 * peer_export_options(). An algorithm of CongestionControl that the kernel does
 * not list is logged as an error by the listener, and the line is valid.
 *
 * "matching" is 1 in the second pass, which knows the user, and whose values
 * override those of the first. "active" is 0 in a Match block that does not
 * apply, and in the second pass also outside of Match blocks. Such a line is
 * checked and sets nothing. A Match block may contain each of our keywords.
 */
int	srvopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active,
    int matching, int *ret);

/*
 * Returns 1 if the reply to an authentication request can be sent without
 * upstream's delay, which hides how long the check took: if "authenticated" is
 * not 0, and "method" is publickey, in either of its forms, so after a valid
 * signature by a key of the user. Whoever made it has the key, and could have
 * asked before whether it is accepted, so the time reveals nothing new. Returns
 * 0 if peer_is_disabled(). For auth2.c, in sshd-auth.
 */
int	srvopt_skips_delay(int authenticated, const char *method);

/* Prints our options on standard output, one per line, for sshd -T. */
void	srvopt_dump(void);

#endif /* HAYATE_SRVOPT_HOOK_H */
