/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hosts-hook: the hosts that the further connections of one copy go to
 * (TransferHosts): several names of one file system.
 *
 * Host 0 is the first one. Connections go to all in turn. One that cannot be
 * logged in to, or does not see the same files (fs-identity-hook.h), is left
 * out, and so is one that is lost, until the process ends. One line says so,
 * and why. Of a login that failed, the ssh that tried says it
 * (extra-conn-hook.h).
 *
 * Main thread only.
 */

#ifndef HAYATE_HOSTS_HOOK_H
#define HAYATE_HOSTS_HOOK_H

#define HOSTS_MAX	8		/* with the first */

/* All 0: not yet begun, with no host but the first */
struct hosts {
	unsigned int n;			/* 0 or 1: there is only one */
	char	*name[HOSTS_MAX];
	int	 is_excluded[HOSTS_MAX];
};

/* "fd" leads to the first ssh, which knows them. Is done once. */
void	hosts_begin(struct hosts *, int fd);
void	hosts_end(struct hosts *);

/* Returns 1 if there are others. */
int	hosts_are_many(const struct hosts *);

/* Its name, or NULL if there is only one. It lives as long as "hosts". */
const char *hosts_name(const struct hosts *, unsigned int i);

/* How many may be used, with the first */
unsigned int hosts_usable(const struct hosts *);

/* Leaves it out. The text says why, or is NULL: that was said. */
void	hosts_exclude(struct hosts *, unsigned int i, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* A connection that was used has ended; "rest" go on. */
void	hosts_lost(struct hosts *, unsigned int i, unsigned int rest);

#endif /* HAYATE_HOSTS_HOOK_H */
