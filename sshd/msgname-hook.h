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
 * Returns a copy of the name in the message that was just received; the caller
 * frees the copy. Call it before any field of the message has been read. The
 * name is not checked: escape it before it is logged.
 *
 * Returns NULL if the message is truncated, or if a NUL byte is within the
 * name. Pass such a message to upstream's handler, which reads the name as well
 * and reports the error. The process ends if out of memory: a caller that
 * refuses messages by their names must not let one pass because its name could
 * not be read.
 */
char	*msgname_peek(struct ssh *);

#endif /* HAYATE_MSGNAME_HOOK_H */
