/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * landing-hook: the requests by which a file that is put over several links
 * appears under its name. landing.h says which, and this file builds them.
 *
 * Main thread only.
 */

#ifndef HAYATE_LANDING_HOOK_H
#define HAYATE_LANDING_HOOK_H

#include <sys/types.h>

struct file;
struct job;
struct plan_action;
struct reply;
struct run;
struct stat;

/*
 * A file that is put begins; "sb" is the local one. It may go over several
 * links if it is large and ssh offers them.
 */
void	landing_begin(struct run *, struct file *, struct job *,
    const struct stat *sb);

/* Returns 1 if a file of this size might. */
int	landing_may_begin(const struct run *, uint64_t size);

/* PLAN_LANDING */
void	landing_send(struct run *, struct file *, const struct plan_action *);

/* A reply that is no error, and its type; an error, as a text */
u_char	landing_wanted(const struct plan_action *);
void	landing_take(struct run *, struct file *, const struct plan_action *,
    struct reply *);
void	landing_fail(struct file *, const struct plan_action *, u_int status);

/* What the server would keep if all ended now. The caller frees it; or NULL. */
char	*landing_describe(const struct file *, const struct job *);

/* What a link told (links-hook.h), as LANDING_HAS_* */
int	landing_has(int told);

#endif /* HAYATE_LANDING_HOOK_H */
