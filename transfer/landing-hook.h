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

struct Attrib;
struct file;
struct job;
struct plan_action;
struct reply;
struct run;

/*
 * A file that is put begins. It may go over several links if it is large and
 * ssh offers them. If it is large, what killed copies have left is removed.
 */
void	landing_start(struct run *, struct file *, struct job *);

/* Returns 1 if the user wants several links, or the path may need them. */
int	landing_is_wanted(const struct run *);

/*
 * Returns 1 if what was found is the hidden file, as its first handle knows it:
 * by its owner and the time that it was given, or if the server does not keep
 * that, by its time and size. Not by its mode: a server on Windows tells
 * another one of a name than of a handle.
 */
int	landing_is_same(const struct file *, const struct Attrib *found);

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
