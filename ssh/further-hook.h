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
 * The environment has the process ID of the first, how loud it is, and its
 * host.
 */

#ifndef HAYATE_FURTHER_HOOK_H
#define HAYATE_FURTHER_HOOK_H

/* In the first, before the other is started and after: */
void	further_tell(const char *host, int is_quiet);
void	further_told(void);

/*
 * In the other: returns what was told of the host, or NULL if this is none. A
 * proxy's ssh inherits the variable and has another parent.
 */
const char *further_host(void);

/* At its first option: is silent from here on, if this is one. */
void	further_begin(void);

/* Errors are heard, or no longer. Nothing changes where all is heard. */
void	further_speak(void);
void	further_hush(void);

#endif /* HAYATE_FURTHER_HOOK_H */
