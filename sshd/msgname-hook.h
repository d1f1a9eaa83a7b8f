/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * msgname-hook: looks at the name with which a message begins, before its
 * handler reads it: the type of a channel, or of a request.
 */

#ifndef HAYATE_MSGNAME_HOOK_H
#define HAYATE_MSGNAME_HOOK_H

struct ssh;

/*
 * Of the message that was just received: its name, which the caller frees, or
 * NULL if it is cut short, which upstream's handler reports.
 */
char	*msgname_peek(struct ssh *);

#endif /* HAYATE_MSGNAME_HOOK_H */
