/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * msgname-hook: reads the string with which a message begins, such as the type
 * of a channel or the name of a request, without consuming it. Main thread
 * only.
 */

#ifndef HAYATE_MSGNAME_HOOK_H
#define HAYATE_MSGNAME_HOOK_H

struct ssh;

/*
 * Returns the name in the message that was just received, which the caller
 * frees; NULL if the message is truncated, or a NUL byte is within the name.
 * Upstream's handler reports both. The name is not checked otherwise: escape it
 * before it is logged. Call it before any field has been read. The process ends
 * if out of memory.
 */
char	*msgname_peek(struct ssh *);

#endif /* HAYATE_MSGNAME_HOOK_H */
