/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * temp-name-hook: the names of the temporary files beside one that is put over
 * many channels or connections (tempfile.h, stale-temp.h).
 *
 * A name is ".NAME.hayate-" and 16 digits: 15 of a hash of the target's name,
 * of which not all may be there, so that the next copy to that name finds it,
 * and a number. SFTP has no locks, and a file that is there may belong to a
 * copy that still runs. So each copy takes a number that is free: what another
 * one does by name never touches its file. A file is left over if it has the
 * same size and time after STALE_TEMP_WATCH_US.
 */

#ifndef HAYATE_TEMP_NAME_HOOK_H
#define HAYATE_TEMP_NAME_HOOK_H

#include "stale-temp.h"

struct Attrib;

/* Returns the name with the number 0, which the caller frees. */
char	*temp_name_new(const char *path);

/* Writes another number, less than STALE_TEMP_NAMES, into such a name. */
void	temp_name_set_number(char *name, unsigned int number);

/* Whether an LSTAT says that it is a regular file, and its size and time */
int	temp_name_is_file(const struct Attrib *);

/* What it says of what is left over; one without an owner is no such file. */
struct stale_temp_file temp_name_stale_file(const struct Attrib *);

#endif /* HAYATE_TEMP_NAME_HOOK_H */
