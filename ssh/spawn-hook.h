/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * spawn-hook: how ssh starts another ssh. This header is the contract for all
 * of them; extra-conn-hook.h has what the new process does with it.
 *
 *                additional connection  lookup of a host      login without
 *                                                             early requests
 *   function     spawn_conn()           spawn_resolve_hosts() spawn_reexec()
 *   process      a child in a session   a child in a session  this process,
 *                without a terminal     without a terminal    by execv()
 *   arguments    argv[0], QUIET, the    argv[0], QUIET, the   argv[0],
 *                rest of ours with the  rest of ours with the -oEarlyLogin=no,
 *                other host in place    other host in place   the rest of ours
 *   environment  HAYATE_FIRST_HOST,     HAYATE_FIRST_HOST,    as it is
 *                SSH_ASKPASS_REQUIRE=   SSH_ASKPASS_REQUIRE=
 *                never                  never
 *   stdin and    a socket of scp        a socket that nobody  as they are
 *   stdout                              reads
 *   stderr       ours, which it hides   a file in memory      ours
 *                (extra-conn-hook.h)
 *   ends         with scp's socket      before it connects    as this one would
 *
 * Arguments are read from /proc, so all this is for Linux. Nothing is started
 * if an argument or a file named in one cannot be read again (reread-hook.h).
 * Nobody logs in again if the first login prompted the user (prompted-hook.h,
 * which passes a pipe in HAYATE_ASKED).
 *
 * QUIET: the first value of an option counts, so these stand before our own
 * arguments. The new ssh prompts nobody, neither at a terminal nor by a
 * program, shares no connection, and starts no other connection. A server that
 * needs an answer of the user refuses it, and it ends. (A security key that
 * must be touched still blinks.) The ssh to a jump host gets BatchMode as well,
 * for which ProxyCommand replaces -J. An ssh to another host also requires a
 * known host key, and requests data in clear only if the first connection has
 * it. Unless the user chose other times, it ends if the host does not answer
 * for 15 seconds.
 *
 * HAYATE_FIRST_HOST is "PID MODE HOST": the process ID of the first ssh, one of
 * enum extra_conn_log, and where the connection must lead:
 *
 *   "ADDRESS PORT KEY"  to the host of the first connection. A name may stand
 *                       for several hosts, so the new ssh compares these when
 *                       it has logged in, and ends before it runs anything if
 *                       they differ. Behind a proxy only the key can differ. A
 *                       key that is neither the first's nor known is an alarm,
 *                       which the user sees.
 *   "* * KEY"           to any address that has this host key: a new login
 *                       after the first connection was lost (relogin-hook.h).
 *   "@NAME"             to another host of TransferHosts. ssh_config applies to
 *                       it as to this name.
 *   "@=ADDRESS"         to that address of the first host (TransferHosts all;
 *                       resolve-all-hook.h), whose name it keeps.
 *
 * Names in TransferHosts of the command line are looked up while the first
 * connection is made, so that a wrong name is reported even if the copy ends
 * before another host is needed. Nothing waits for that.
 *
 * scp says when the next connection is started, so at most one of them is not
 * yet authenticated. MaxRate is shared by all connections together.
 *
 * In ssh, for extra-sessions-hook.c, relogin-hook.c, cliopt-hook.c,
 * guess-hook.c and early-auth-hook.c, and for upstream's sshconnect2.c, a call
 * of which build-aux/overlay.mk renames. Main thread only.
 */

#ifndef HAYATE_SPAWN_HOOK_H
#define HAYATE_SPAWN_HOOK_H

#include <sys/types.h>

struct sockaddr;
struct ssh;
struct ssh_conn_info;
struct sshkey;

/*
 * Call it after the login. Returns the number of connections that the user
 * wants, including the first, or HAYOPT_STREAMS_AUTO for as many as help. If
 * hosts are named but no number, there is one connection to each.
 */
int	spawn_wanted_conns(struct ssh *);

/*
 * Call it after the login. Returns the names of all hosts, the first included,
 * separated by commas, or NULL if there is only that one. The string is valid
 * until the process ends.
 */
const char *spawn_hosts(struct ssh *);

/*
 * Starts an additional connection to the host of that number, 0 for the first.
 * The socket becomes its standard input and output; the caller closes its own
 * descriptor. Returns 0 when the process was started, or -1 if it could not be,
 * or if the name is already known to have no address, which is then reported.
 */
int	spawn_conn(struct ssh *, int sock, int number);

/*
 * After the first connection was lost: starts an ssh to its host with the
 * socket as standard input and output, like an additional connection, but at
 * any address and with all of MaxRate. spawn_note_host() has to be called while
 * the first one is up. Returns the process ID, which the caller waits for, or
 * -1.
 */
void	spawn_note_host(struct ssh *);
pid_t	spawn_again(int sock);

/*
 * Call it when all options were read. In an ssh to another host: makes the ssh
 * to its jump host quiet, or exits if that is impossible. In an ssh that only
 * looks up a host behind a proxy: exits.
 */
void	spawn_quiet_jump(void);

/*
 * Call it after spawn_quiet_jump(), in the first ssh of a copy: starts the
 * lookups of the other names. Does nothing the second time.
 */
void	spawn_resolve_hosts(void);

/*
 * Call it when ssh ends: reports names without an address, unless that was
 * done.
 */
void	spawn_report_unresolved(void);

/*
 * Executes this ssh again without early requests, from the start, and logs the
 * reason at that level of log.h. Returns if that is impossible: in an
 * additional connection, if the user was prompted, and if spawn_can_reexec()
 * returns 0. Not to be called once the session may have begun, because it would
 * run twice.
 */
void	spawn_reexec(int level, const char *why);

/*
 * Returns 1 if arguments, files and the connection permit spawn_reexec(). The
 * user may still be prompted later, so spawn_reexec() can return even then.
 */
int	spawn_can_reexec(void);

/*
 * Call it in each ssh, after the login and before the command: an additional
 * connection that has reached another host than it should ends with 255.
 */
void	spawn_check_host(struct ssh *);

/*
 * In place of upstream's verify_host_key(), which it calls and whose result it
 * returns. Shows the messages of an additional connection about a key that is
 * not the first connection's.
 */
int	spawn_verify_host_key(char *, struct sockaddr *, struct sshkey *,
    const struct ssh_conn_info *);

#endif /* HAYATE_SPAWN_HOOK_H */
