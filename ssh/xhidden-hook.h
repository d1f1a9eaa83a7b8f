/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xhidden-hook: the hidden files beside one that is put over several channels
 * (xstripe.h), and what a copy that was killed has left of them.
 *
 * A name is ".NAME.hayate-" and 16 digits: 15 of a hash of the target's name
 * and of the source's size and time, so that the next copy of the same source
 * finds it, and a number. SFTP has no locks, and a file that is there may
 * belong to a copy that still runs. So each copy takes a number that is free:
 * what another one does by name never touches its file. A file is left over if
 * it has the same size and time after XST_WATCH_US.
 *
 * Called by xstripe-hook.c, and by xresume-hook.c with no other request under
 * way. Main thread only.
 */

#ifndef HAYATE_XHIDDEN_HOOK_H
#define HAYATE_XHIDDEN_HOOK_H

#include <stdint.h>
#include <time.h>

struct Attrib;
struct sftp_conn;
struct xhidden;

/* Returns the name with the number 0, which the caller frees. */
char	*xhidden_name(const char *path, uint64_t size,
    const struct timespec *mtime);

/* Writes another number, less than XST_NAMES, into such a name. */
void	xhidden_number(char *name, unsigned int number);

/* Whether an LSTAT says that it is a regular file, and its size and time */
int	xhidden_is_file(const struct Attrib *);

/* Looks what is there. Returns NULL if there is nothing. */
struct xhidden *xhidden_look(struct sftp_conn *, const char *path,
    uint64_t size, const struct timespec *mtime);
void	xhidden_free(struct xhidden *);		/* accepts NULL */

/*
 * Returns the longest file that is no second one and was not returned before,
 * or NULL. The name is valid until the next call.
 */
const char *xhidden_next(struct xhidden *);

/*
 * Waits until it is known whether the file that xhidden_next() returned is left
 * over. Returns 1 if so.
 */
int	xhidden_is_dead(struct xhidden *);

/* It has got another name. */
void	xhidden_taken(struct xhidden *);

/* Waits likewise, and removes all that is left over. */
void	xhidden_remove(struct xhidden *);

#endif /* HAYATE_XHIDDEN_HOOK_H */
