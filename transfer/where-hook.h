/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * where-hook: where a run proves that other hosts see the same files
 * (proof-hook.h): what is put, in the directory that is the target, or if no
 * file can be made there, in the one above; what is got, with a file that is
 * under way and not empty.
 */

#ifndef HAYATE_WHERE_HOOK_H
#define HAYATE_WHERE_HOOK_H

struct proof_where;

/*
 * As links.where, of the struct run. What it sets is valid until the next call.
 * From here on signals are caught if a hidden file is going to be made.
 */
int	where_to_prove(void *run, unsigned int n, struct proof_where *);

#endif /* HAYATE_WHERE_HOOK_H */
