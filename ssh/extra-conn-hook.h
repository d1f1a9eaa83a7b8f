/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extra-conn-hook: an ssh that another ssh has started learns its task, and is
 * silent (spawn-hook.h has the contract).
 *
 * Messages of an additional connection would repeat those of the first. Unless
 * the first one runs at -v, the new ssh and all programs that it starts have
 * /dev/null as standard error. Two messages are shown nevertheless: the alarm
 * that the host has another key, and the line about a host that is left out.
 *
 * An ssh to another host of TransferHosts keeps its messages in a file in
 * memory until it has logged in. If it ends before that, and scp still waits
 * for it, one line says that the host is left out, and why; with
 * EXTRA_CONN_SILENT there is no such line.
 *
 * An ssh that only looks up a name (EXTRA_CONN_RESOLVE) ends before it
 * connects. If the name has no address, a line says that the host is left out.
 *
 * In ssh, main thread only. Each call of a function about the environment reads
 * it again, and accepts it only if it has the process ID of the parent: an ssh
 * to a jump host inherits it as well, but has another parent. In an ordinary
 * ssh only extra_conn_set_env() and extra_conn_clear_env() have an effect; the
 * others do nothing, or return NULL.
 */

#ifndef HAYATE_EXTRA_CONN_HOOK_H
#define HAYATE_EXTRA_CONN_HOOK_H

/*
 * Marks at the beginning of the host in HAYATE_FIRST_HOST. "@NAME" is another
 * host than that of the first connection. "@=ADDRESS" is another address of the
 * name that the first one connected to (TransferHosts all). Without a mark the
 * host is "ADDRESS PORT KEY", that of the first connection (spawn-hook.h).
 */
#define EXTRA_CONN_OTHER_HOST	'@'
#define EXTRA_CONN_ADDRESS	'='	/* after '@': an address, not a name */

/* The messages of the new ssh, or its only task */
enum extra_conn_log {
	EXTRA_CONN_SILENT = 's',	/* only the alarm about the key */
	EXTRA_CONN_QUIET = 'q',		/* that alarm, and hosts left out */
	EXTRA_CONN_VERBOSE = 'v',	/* all */
	EXTRA_CONN_RESOLVE = 'n'	/* looks up the host, then exits */
};

/*
 * extra_conn_set_env(), in the first ssh: sets HAYATE_FIRST_HOST for a process
 * that it starts, to our process ID, the mode and "host", which has its marks.
 * If setenv(3) fails, the new ssh is an ordinary one. extra_conn_clear_env()
 * removes the variable again. The new ssh calls it as well, once it has
 * verified its host: from then on the three functions below return NULL in it,
 * while those about messages go on with what extra_conn_begin() has read.
 */
void	extra_conn_set_env(const char *host, enum extra_conn_log);
void	extra_conn_clear_env(void);

/*
 * In any ssh: returns the host in HAYATE_FIRST_HOST, with its marks, also for
 * EXTRA_CONN_RESOLVE; NULL in an ordinary ssh. The strings of this function and
 * of the next two lie in the environment and are valid until
 * extra_conn_clear_env().
 */
const char *extra_conn_host(void);

/*
 * Returns the NAME or the ADDRESS of a host with the mark '@'; NULL without
 * this mark, and in an ordinary ssh.
 */
const char *extra_conn_other_host(void);

/* Returns the ADDRESS of "@=ADDRESS"; else NULL, also for "@NAME". */
const char *extra_conn_address(void);

/*
 * Call it when the name has an address, or a proxy has to look it up. If
 * looking it up was the only task, ends this ssh at once with status 0, without
 * a message.
 */
void	extra_conn_resolved(void);

/*
 * Call it for each option that is read, in any ssh; only the first call counts.
 * Unless the mode is EXTRA_CONN_VERBOSE, standard error becomes /dev/null or,
 * in an ssh to another host, a file in memory. Such an ssh also registers
 * extra_conn_cleanup() with atexit(3), in any mode.
 */
void	extra_conn_begin(void);

/*
 * extra_conn_unmute() gives this ssh its real standard error again, for
 * messages up to the level of errors. extra_conn_mute() restores the level and
 * sends all output to /dev/null again. Nothing changes if messages were never
 * hidden. Not for an ssh to another host, whose file would get no more
 * messages.
 */
void	extra_conn_unmute(void);
void	extra_conn_mute(void);

/*
 * Call it in an ssh to another host that has logged in: drops its messages, and
 * discards all later ones (not at -v), also of programs that it has started.
 * The host does not count as left out any more. In any other ssh it does
 * nothing.
 */
void	extra_conn_logged_in(void);

/*
 * Called when the process ends, once or more: writes "Host NAME is left out:
 * REASON" to the real standard error, once, if this ssh was to reach another
 * host and did not log in. The reason is an unknown or changed host key, or the
 * last line of its messages; at -v it refers to the messages above. Says
 * nothing with EXTRA_CONN_SILENT, or if scp has closed our standard input.
 */
void	extra_conn_cleanup(void);

#endif /* HAYATE_EXTRA_CONN_HOOK_H */
