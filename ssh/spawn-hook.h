/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * spawn-hook: ssh starts a further ssh, for one more connection to the same
 * server, as scp -j asks for.
 *
 * It has the arguments of this one, and before them those that keep it quiet:
 * it asks the user for nothing, neither at a terminal nor by a program, shares
 * no connection, and starts none of its own. A server that wants an answer from
 * the user refuses it, and it ends. (A key that is to be touched still asks.)
 * Only scp says when the next one is started, so at most one of them is not
 * authenticated.
 *
 * MaxRate is for all of them together.
 *
 * A name may stand for several hosts. So each of them is told the address, the
 * port and the host key of the first connection, and ends before it runs
 * anything if its own are others. Behind a proxy only the key can tell. A key
 * that is neither the first's nor known is an alarm, which the user hears.
 *
 * TransferHosts names other hosts, or all addresses of this one
 * (resolve-all-hook.h). An ssh to one of these has that name in the
 * place of the first one's, so ssh_config says for it what it says for this
 * name. Its key has to be known, whatever StrictHostKeyChecking says, and it
 * asks for data in clear only if the first connection has that. It gives up a
 * host that does not answer (CONNECT_S, ALIVE_S, unless the user chose others).
 *
 * A small copy ends before another host is needed. So the names that
 * the command line has are looked up while the first connection is made, each
 * by an ssh that ends then. One line for each that has no address is said when
 * a connection to it is asked for, or at the end. Nothing waits for that.
 *
 * Called by extra-sessions-hook.c, and by upstream's sshconnect2.c, for which
 * build-aux/overlay.mk renames a call; in ssh. Main thread only.
 */

#ifndef HAYATE_SPAWN_HOOK_H
#define HAYATE_SPAWN_HOOK_H

struct sockaddr;
struct ssh;
struct ssh_conn_info;
struct sshkey;

/*
 * How many connections the user wants, with the first; HAYOPT_STREAMS_AUTO is
 * what helps. With other hosts it is one to each, unless there is a number.
 */
int	spawn_wanted_conns(struct ssh *);

/*
 * After the login: all hosts, the first included, with commas between; NULL:
 * only that one
 */
const char *spawn_hosts(struct ssh *);

/*
 * The socket becomes standard input and output of the new process; it remains
 * the caller's. "number" is that of the host. Returns 0, or -1 if no process
 * could be started.
 */
int	spawn_conn(struct ssh *, int sock, int number);

/*
 * Once all options are read, in an ssh to another host: that of its jump host
 * must not ask either.
 */
void	spawn_quiet_jump(void);

/* Then, in the first ssh of a copy: begins to look up the other names. */
void	spawn_resolve_hosts(void);

/* At the end: names those that have no address, unless that was said. */
void	spawn_report_unresolved(void);

/*
 * Begins this ssh anew, with EarlyLogin no, for a reason that the user is told
 * at this level of log.h.
 * Returns if that is not possible: the user would be asked again, or something
 * that was read cannot be read twice.
 */
void	spawn_reexec(int level, const char *why);

/* Whether files and the connection would permit that. */
int	spawn_can_reexec(void);

/* Before the command: ends this ssh if it was started so, for another host. */
void	spawn_check_host(struct ssh *);

/* As upstream's verify_host_key(); here an ssh that was started so is heard. */
int	spawn_verify_host_key(char *, struct sockaddr *, struct sshkey *,
    const struct ssh_conn_info *);

#endif /* HAYATE_SPAWN_HOOK_H */
