/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * asks-hook: asks a server about a file that is checked (check-hook.h): what it
 * is, its hashes, its bytes; and cuts, renames and removes.
 *
 * A server is asked for hashes with the request check-file-name (PROTOCOL, 4),
 * if it may have it (server_has_hashes()). Without hashes a range is read back.
 * Hashes of another kind or number than asked for are no answer.
 *
 * Main thread only.
 */

#ifndef HAYATE_ASKS_HOOK_H
#define HAYATE_ASKS_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#include "plan.h"

struct file;
struct reply;
struct run;

/* A request of plan_is_ask(), and the type of its reply that is no error */
void	asks_send(struct run *, struct file *, const struct plan_action *);
u_char	asks_wanted(enum plan_op);

/* Returns the result for plan_reply(), also if the reply is an error. */
enum plan_result asks_reply(struct run *, struct file *,
    const struct plan_action *, struct reply *, uint32_t *len);

#endif /* HAYATE_ASKS_HOOK_H */
