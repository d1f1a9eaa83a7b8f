/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * namelist: the lists of names in a KEXINIT (RFC 4251, section 5).
 *
 * A list is a string of names with commas between them; "" is the empty list.
 * Names are compared as a whole, and case counts. Names are never patterns,
 * because the peer chooses its own. Empty names, as between two commas, are
 * skipped, but namelist_has_any() compares and namelist_join() keeps them.
 *
 * A function that returns a list allocates it, and the caller frees it; the
 * arguments stay as they are. Such a function returns NULL if out of memory, or
 * if its first argument is NULL. No other argument of any function may be NULL.
 *
 * No upstream header, no state.
 */

#ifndef HAYATE_NAMELIST_H
#define HAYATE_NAMELIST_H

#define NAMELIST_NAME_SIZE	65	/* RFC 4251, section 6, and a NUL */

/* Returns 1 if the list has at least one of the names; else 0. */
int	namelist_has_any(const char *list, const char *names);

/*
 * Negotiates as a key exchange does (RFC 4253, section 7.1): copies the first
 * name of "client" that "server" has, too, into "name". Returns 1; or 0 if
 * there is none, and "name" is unchanged. Names longer than the RFC allows are
 * skipped.
 */
int	namelist_choose(const char *client, const char *server,
    char name[NAMELIST_NAME_SIZE]);

/*
 * Returns the names of both lists, those of the first in front, not sorted; a
 * name that both have is in the result twice. If one list is "", the result is
 * the other.
 */
char	*namelist_join(const char *first, const char *second);

/* Returns the list without these names, in the same order; may be "". */
char	*namelist_remove(const char *list, const char *names);

/*
 * Returns those names of "list" that "other" has, too, and that end in
 * "suffix", in the order of "list"; may be "". The suffix "" fits every name.
 */
char	*namelist_common(const char *list, const char *other,
    const char *suffix);

#endif /* HAYATE_NAMELIST_H */
