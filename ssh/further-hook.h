/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * further-hook: what an ssh that another ssh started for one more connection
 * (login-hook.h) knows of the first, and what it says.
 *
 * What it says was said by the first. So unless that one speaks at -v, it is
 * silent, and so are all programs that it starts, but for one thing: the alarm
 * that the host has another key.
 *
 * One that goes to another host (TransferHosts) is silent as well, but what it
 * says until it has logged in is kept. If it ends before that, while the first
 * still waits for it, one line says that the host is left out, and why.
 *
 * One that is to look up the name of another host (FURTHER_NAME) ends before it
 * connects, with such a line only if there is no address of that name.
 *
 * The environment has the process ID of the first, how loud it is, and its
 * host, or behind FURTHER_OTHER the name of another one.
 */

#ifndef HAYATE_FURTHER_HOOK_H
#define HAYATE_FURTHER_HOOK_H

#define FURTHER_OTHER	'@'
#define FURTHER_ADDRESS	'='		/* behind it: an address of its name */

/* In the first, before the other is started and after: */
enum further_voice { FURTHER_SILENT = 's', FURTHER_QUIET = 'q',
    FURTHER_LOUD = 'v', FURTHER_NAME = 'n' };
void	further_tell(const char *host, enum further_voice);
void	further_told(void);

/*
 * In the other: returns what was told of the host, or NULL if this is none. A
 * proxy's ssh inherits the variable and has another parent.
 */
const char *further_host(void);

/* Likewise, the name of another host; NULL: it goes to that of the first */
const char *further_other(void);

/* Of these, the address, if it has the first one's name; else NULL. */
const char *further_address(void);

/* Once the name is resolved, or need not be: ends this ssh if that was all. */
void	further_is_resolved(void);

/* At its first option: is silent from here on, if this is one. */
void	further_begin(void);

/* Errors are heard, or no longer. Nothing changes where all is heard. */
void	further_speak(void);
void	further_hush(void);

/* At another host: it has logged in; it ends. */
void	further_is_in(void);
void	further_cleanup(void);

#endif /* HAYATE_FURTHER_HOOK_H */
