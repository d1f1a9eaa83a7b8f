/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-tell: ssh tells scp or sftp that the user wants stock behaviour.
 *
 * scp and sftp read no ssh_config; only the ssh that they start does. The
 * two share a pair of sockets and no other channel: ssh closes all other
 * descriptors, and every byte on the pair belongs to SFTP. But each end can
 * see the name of the other, and a pair is born without names. So an ssh
 * with "Hayate no" gives its end one in the abstract name space, which needs
 * no file and goes with the process.
 *
 * No upstream header. Where there is no abstract name space nothing is told.
 */

#ifndef HAYATE_SFTP_TELL_H
#define HAYATE_SFTP_TELL_H

/* ssh: name the end that is standard input. No harm if it is none. */
void	sftp_tell_stock(void);

/* scp, sftp: whether the ssh at the other end of "fd" asked for stock. */
int	sftp_told_stock(int fd);

#endif /* HAYATE_SFTP_TELL_H */
