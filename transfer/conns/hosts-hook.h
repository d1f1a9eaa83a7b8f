/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hosts-hook: the hosts of the additional connections of a copy
 * (TransferHosts), which see one file system.
 *
 * Host 0 is the first one. Connections go to all in turn. A host is left out if
 * the login fails, if it does not see the same files (fs-identity-hook.h), or
 * if it is lost, until the process ends or logs in again with --retry. One line
 * says why; after a failed login the ssh that tried prints it
 * (extra-conn-hook.h).
 *
 * Main thread only.
 */

#ifndef HAYATE_HOSTS_HOOK_H
#define HAYATE_HOSTS_HOOK_H

#define HOSTS_MAX	8		/* with the first */

/* All 0: before hosts_begin() */
struct hosts {
	unsigned int n;			/* 0 or 1: there is only one */
	char	*name[HOSTS_MAX];
	int	 is_excluded[HOSTS_MAX];	/* it is left out */
};

/* Asks the first ssh, to which "fd" leads. Does nothing the second time. */
void	hosts_begin(struct hosts *, int fd);

/* Forgets all hosts, so that hosts_begin() asks again. */
void	hosts_end(struct hosts *);

/* Returns 1 if there are others, even if all of them are left out. */
int	hosts_are_many(const struct hosts *);

/* Its name, or NULL if there is only one; valid until hosts_end(). */
const char *hosts_name(const struct hosts *, unsigned int i);

/* How many may be used, with the first */
unsigned int hosts_usable(const struct hosts *);

/* Leaves host i out. Prints why; NULL: the user knows already. */
void	hosts_exclude(struct hosts *, unsigned int i, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Host i lost a connection that was in use: leaves it out. "rest" is printed,
 * the number of connections of the copy, to any host, that are left.
 */
void	hosts_lost(struct hosts *, unsigned int i, unsigned int rest);

#endif /* HAYATE_HOSTS_HOOK_H */
