/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hidden-hook: the names of the hidden files beside one that is put over many
 * channels or connections (landing.h, left.h).
 *
 * A name is ".NAME.hayate-" and 16 digits: 15 of a hash of the target's name,
 * of which not all may be there, so that the next copy to that name finds it,
 * and a number. SFTP has no locks, and a file that is there may belong to a
 * copy that still runs. So each copy takes a number that is free: what another
 * one does by name never touches its file. A file is left over if it has the
 * same size and time after LEFT_WATCH_US.
 */

#ifndef HAYATE_HIDDEN_HOOK_H
#define HAYATE_HIDDEN_HOOK_H

#include "left.h"

struct Attrib;

/* Returns the name with the number 0, which the caller frees. */
char	*hidden_name(const char *path);

/* Writes another number, less than LEFT_NAMES, into such a name. */
void	hidden_number(char *name, unsigned int number);

/* Whether an LSTAT says that it is a regular file, and its size and time */
int	hidden_is_file(const struct Attrib *);

/* What it says of what is left over; one without an owner is no such file. */
struct left_file hidden_found(const struct Attrib *);

#endif /* HAYATE_HIDDEN_HOOK_H */
