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
 * The first line, ours or not, silences an additional connection
 * (extra-conn-hook.h). A line of ours that leaves "Hayate no" in force makes
 * scp and sftp send the requests of stock, even if a later line has "Hayate
 * yes". A value that was set before stays.
 *
 * Returns 0 if upstream has to read the line. The keyword and the names in a
 * list of ciphers may have been replaced by upstream's names; a "*keyword" that
 * was replaced is a constant, which must be neither freed nor changed. "*ret"
 * is not set.
 *
 * Returns 1 if the line is ours. The parser then returns "*ret": 0, or -1 for a
 * wrong line, which was logged and counts as a bad option. If "active",
 * RefuseConnection ends the process. Remarks about a valid line are logged at
 * -v; those about the command line wait for cliopt_log_deferred().
 *
 * "active" is 0 in a Host or Match block that does not apply. Such a line is
 * checked and has no effect.
 */
int	cliopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int *ret);

/*
 * Replaces HPN-SSH's names in the argument of ssh -c, in place, as in Ciphers.
 * The text never becomes longer; the remark about it is deferred.
 */
void	cliopt_replace_ciphers(char *list);

/*
 * In ssh, once all options are read and the log is set up: logs the messages
 * about the command line that were deferred. If additional connections may
 * follow, starts to record prompts (prompted-hook.h) and to look up the hosts
 * that the command line names (spawn-hook.h). In such a connection to another
 * host, keeps the ssh to the jump host from prompting; ends the process with
 * 255 if it cannot. An ssh that was only to look up a name exits here with 0 if
 * a proxy does that. Call it once.
 */
void	cliopt_log_deferred(void);

/* Prints our options on standard output, one per line, for ssh -G. */
void	cliopt_dump(void);

#endif /* HAYATE_CLIOPT_HOOK_H */
