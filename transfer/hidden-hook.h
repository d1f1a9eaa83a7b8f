/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hidden-hook: the hidden files beside one that is put over several channels
 * or connections (landing.h), and what a copy that was killed has left of them.
 *
 * A name is ".NAME.hayate-" and 16 digits: 15 of a hash of the target's name
 * and of the source's size and time, so that the next copy of the same source
 * finds it, and a number. SFTP has no locks, and a file that is there may
 * belong to a copy that still runs. So each copy takes a number that is free:
 * what another one does by name never touches its file. A file is left over if
 * it has the same size and time after LANDING_WATCH_US.
 *
 * Called by landing-hook.c, and by resume-hook.c with no other request under
 * way. Main thread only.
 */

#ifndef HAYATE_HIDDEN_HOOK_H
#define HAYATE_HIDDEN_HOOK_H

#include <stdint.h>
#include <time.h>

struct Attrib;
struct sftp_conn;
struct hidden;

/* Returns the name with the number 0, which the caller frees. */
char	*hidden_name(const char *path, uint64_t size,
    const struct timespec *mtime);

/* Writes another number, less than LANDING_NAMES, into such a name. */
void	hidden_number(char *name, unsigned int number);

/* Whether an LSTAT says that it is a regular file, and its size and time */
int	hidden_is_file(const struct Attrib *);

/* Looks what is there. Returns NULL if there is nothing. */
struct hidden *hidden_look(struct sftp_conn *, const char *path,
    uint64_t size, const struct timespec *mtime);
void	hidden_free(struct hidden *);		/* accepts NULL */

/*
 * Returns the longest file that is no second one and was not returned before,
 * or NULL. The name is valid until the next call.
 */
const char *hidden_next(struct hidden *);

/*
 * Waits until it is known whether the file that hidden_next() returned is left
 * over. Returns 1 if so.
 */
int	hidden_is_dead(struct hidden *);

/* It has got another name. */
void	hidden_taken(struct hidden *);

/* Waits likewise, and removes all that is left over. */
void	hidden_remove(struct hidden *);

#endif /* HAYATE_HIDDEN_HOOK_H */
