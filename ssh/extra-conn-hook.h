/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extra-conn-hook: what an ssh that another ssh started for one more connection
 * (spawn-hook.h) knows of the first, and what it says.
 *
 * What it says was said by the first. So unless that one speaks at -v, it is
 * silent, and so are all programs that it starts, but for one thing: the alarm
 * that the host has another key.
 *
 * One that goes to another host (TransferHosts) is silent as well, but what it
 * says until it has logged in is kept. If it ends before that, while the first
 * still waits for it, one line says that the host is left out, and why.
 *
 * One that is to look up the name of another host (EXTRA_CONN_RESOLVE) ends
 * before it connects, with such a line only if there is no address of that
 * name.
 *
 * The environment has the process ID of the first, how loud it is, and its
 * host, or behind EXTRA_CONN_OTHER_HOST the name of another one.
 */

#ifndef HAYATE_EXTRA_CONN_HOOK_H
#define HAYATE_EXTRA_CONN_HOOK_H

#define EXTRA_CONN_OTHER_HOST	'@'
#define EXTRA_CONN_ADDRESS	'='		/* then: an address */

/* In the first, before the other is started and after: */
enum extra_conn_log { EXTRA_CONN_SILENT = 's', EXTRA_CONN_QUIET = 'q',
    EXTRA_CONN_VERBOSE = 'v', EXTRA_CONN_RESOLVE = 'n' };
void	extra_conn_set_env(const char *host, enum extra_conn_log);
void	extra_conn_clear_env(void);

/*
 * In the other: returns what was told of the host, or NULL if this is none. A
 * proxy's ssh inherits the variable and has another parent.
 */
const char *extra_conn_host(void);

/* Likewise, the name of another host; NULL: it goes to that of the first */
const char *extra_conn_other_host(void);

/* Of these, the address, if it has the first one's name; else NULL. */
const char *extra_conn_address(void);

/* Once the name is resolved, or need not be: ends this ssh if that was all. */
void	extra_conn_resolved(void);

/* At its first option: is silent from here on, if this is one. */
void	extra_conn_begin(void);

/* Errors are heard, or no longer. Nothing changes where all is heard. */
void	extra_conn_unmute(void);
void	extra_conn_mute(void);

/* At another host: it has logged in; it ends. */
void	extra_conn_logged_in(void);
void	extra_conn_cleanup(void);

#endif /* HAYATE_EXTRA_CONN_HOOK_H */
