/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extra-conn-hook: an ssh that another ssh has started (spawn-hook.h, which has
 * the contract) reads what it is for, and is silent.
 *
 * Messages of an additional connection would repeat those of the first. Unless
 * the first one runs at -v, the new ssh and all programs that it starts have no
 * standard error, but for one message: the alarm that the host has another key.
 *
 * An ssh to another host of TransferHosts keeps its messages in memory until it
 * has logged in. If it ends before that, and scp still waits for it, one line
 * says that the host is left out, and why.
 *
 * An ssh that only looks up a name (EXTRA_CONN_RESOLVE) ends before it
 * connects, with such a line if the name has no address.
 *
 * In ssh, main thread only. The functions about the environment read it again
 * each time and accept it only from the parent process, because an ssh to a
 * jump host inherits it as well and has another parent.
 */

#ifndef HAYATE_EXTRA_CONN_HOOK_H
#define HAYATE_EXTRA_CONN_HOOK_H

/* The beginning of a host that is not the first one's */
#define EXTRA_CONN_OTHER_HOST	'@'
#define EXTRA_CONN_ADDRESS	'='	/* then: an address, not a name */

/* The messages of the new ssh, or its only task */
enum extra_conn_log {
	EXTRA_CONN_SILENT = 's',	/* none, not even of a host left out */
	EXTRA_CONN_QUIET = 'q',		/* alarms, and hosts left out */
	EXTRA_CONN_VERBOSE = 'v',	/* all */
	EXTRA_CONN_RESOLVE = 'n'	/* looks up the host, then exits */
};

/*
 * In the first ssh: set HAYATE_FIRST_HOST for a process that it starts, and
 * remove it again. The second one is also for the new ssh, when it has used it.
 */
void	extra_conn_set_env(const char *host, enum extra_conn_log);
void	extra_conn_clear_env(void);

/*
 * In any ssh: returns the host in HAYATE_FIRST_HOST, or NULL if this ssh is not
 * an additional connection. The string is valid until extra_conn_clear_env().
 */
const char *extra_conn_host(void);

/*
 * Likewise, the name or the address alone, or NULL if the connection leads to
 * the first one's host.
 */
const char *extra_conn_other_host(void);

/* Likewise, if it is an address of the first one's host; else NULL. */
const char *extra_conn_address(void);

/*
 * When the name has an address, or a proxy has to look it up: ends this ssh if
 * that was its only task.
 */
void	extra_conn_resolved(void);

/*
 * At the first option that is read, in any ssh: makes an additional connection
 * silent. Does nothing later.
 */
void	extra_conn_begin(void);

/*
 * Shows errors on the real standard error, and hides them again. Nothing
 * changes if messages were never hidden.
 */
void	extra_conn_unmute(void);
void	extra_conn_mute(void);

/* In an ssh to another host that has logged in: drops its messages. */
void	extra_conn_logged_in(void);

/*
 * When the process ends, once or more: says that the other host is left out, if
 * it did not log in.
 */
void	extra_conn_cleanup(void);

#endif /* HAYATE_EXTRA_CONN_HOOK_H */
