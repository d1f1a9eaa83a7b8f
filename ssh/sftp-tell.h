/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-tell: ssh tells scp or sftp that the user wants stock behaviour.
 *
 * scp and sftp do not read ssh_config; only the ssh that they start does. They
 * are connected by a pair of sockets and by nothing else: ssh closes all other
 * descriptors, and every byte on the pair belongs to SFTP. But each end can
 * read the name of the other, and a new pair has no names. So an ssh with
 * "Hayate no" gives its end a name in the abstract name space of Linux, which
 * needs no file and ends with the process.
 *
 * No upstream header. On other systems nothing is told.
 */

#ifndef HAYATE_SFTP_TELL_H
#define HAYATE_SFTP_TELL_H

/* In ssh: names the socket that is standard input, if it is a socket. */
void	sftp_tell_stock(void);

/* In scp and sftp: returns 1 if the ssh behind "fd" wants stock behaviour. */
int	sftp_tell_is_stock(int fd);

#endif /* HAYATE_SFTP_TELL_H */
