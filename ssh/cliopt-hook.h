/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cliopt-hook: Hayate's keywords in ssh_config and after ssh -o, and keywords
 * of other builds of OpenSSH that this upstream does not know.
 *
 * Called from patches/310-readconf-keywords.patch and 312-ssh-ciphers.patch.
 * Main thread only.
 */

#ifndef HAYATE_CLIOPT_HOOK_H
#define HAYATE_CLIOPT_HOOK_H

#include <stddef.h>

/*
 * Reads one line of configuration, after upstream has split "*keyword" off
 * "rest". "first" is the name in the first row of upstream's table of keywords,
 * "stride" the size of a row in bytes; the last name is NULL. "filename" is
 * "command-line" for an option of the command line.
 *
 * If this ssh is an additional connection, the first call silences it
 * (extra-conn-hook.h), whether the line is ours or not.
 *
 * The first value of a keyword counts. If Hayate is off after a line of ours,
 * by "Hayate no" or by HPN-SSH's "HPNDisabled yes", this ssh tells the scp or
 * sftp that started it, which sends the requests of stock from then on. A
 * "Hayate yes" after "HPNDisabled yes" turns Hayate on again in ssh, but not in
 * that scp or sftp.
 *
 * Returns 0 if upstream has to read the line. The keyword and the names in a
 * list of ciphers may have been replaced by upstream's names; a "*keyword" that
 * was replaced is a constant, which must be neither freed nor changed. "*ret"
 * is not set.
 *
 * Returns 1 if the line is ours. The parser then returns "*ret": 0, or -1 for a
 * wrong line, which was logged and counts as a bad option. If "active",
 * RefuseConnection ends the process with 255. A remark about a valid line that
 * the user should see, such as that GSSAPIClientIdentity is ignored, is logged
 * at once as an error. All other remarks are logged at -v, and those about the
 * command line are deferred until cliopt_log_deferred().
 *
 * "active" is 0 in a Host or Match block that does not apply. Such a line is
 * checked, names in it are replaced, and its value is not stored.
 */
int	cliopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int *ret);

/*
 * Replaces HPN-SSH's names in the argument of ssh -c, in place, as in Ciphers.
 * The text never becomes longer; the remark about it is deferred.
 */
void	cliopt_replace_ciphers(char *list);

/*
 * Call it once in ssh, when all options were read and the log is set up. Logs
 * the messages about the command line that were deferred. If the options permit
 * additional connections, starts to record prompts (prompted-hook.h). If
 * TransferHosts is in the command line, starts to look up its names
 * (spawn-hook.h).
 *
 * If this ssh is an additional connection to a host of TransferHosts, the
 * function keeps the ssh to its jump host from prompting. With a second jump
 * host it cannot, and ends the process with an error message and 255. If the
 * only task of this ssh is to look up a name (EXTRA_CONN_RESOLVE), and it has a
 * proxy that would look the name up, the function ends the process with 0.
 */
void	cliopt_log_deferred(void);

/* Prints our options on standard output, one per line, for ssh -G. */
void	cliopt_dump(void);

#endif /* HAYATE_CLIOPT_HOOK_H */
