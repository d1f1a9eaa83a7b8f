/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-tell: what scp or sftp and the ssh that it starts tell each other.
 *
 * scp and sftp do not read ssh_config; only ssh does. They are connected by a
 * pair of sockets and by nothing else: ssh closes all other descriptors, and
 * every byte on the pair belongs to SFTP. But each end can read the name of the
 * other, a new pair has no names, and only a holder of an end can name it. The
 * names are in the abstract name space of Linux, which needs no file and ends
 * with the process. A name is given once:
 *
 *   ssh's end   stock behaviour is wanted ("Hayate no"); or
 *               more channels can be had at this address, from this process
 *   scp's end   more channels are wanted
 *
 * No upstream header. On other systems nothing is told.
 */

#ifndef HAYATE_SFTP_TELL_H
#define HAYATE_SFTP_TELL_H

/* In ssh: names the socket that is standard input, if it is a socket. */
void	sftp_tell_stock(void);

/* In scp and sftp: returns 1 if the ssh behind "fd" wants stock behaviour. */
int	sftp_tell_is_stock(int fd);

/* In scp and sftp, before ssh has logged in: more channels are wanted. */
void	sftp_tell_wish(int fd);

/*
 * In ssh: if they are wanted, returns a socket that listens for them, which the
 * caller closes, and tells its address. Otherwise returns -1.
 */
int	sftp_tell_listen(void);

/*
 * In ssh: returns 1 if the socket "fd", which was accepted, belongs to the
 * process that asked for the channels. The address is no secret.
 */
int	sftp_tell_is_wisher(int fd);

/*
 * In scp and sftp: returns a socket that is connected to the ssh behind "fd",
 * for one more channel, or -1. It is non-blocking. sftp_tell_offers() returns 1
 * if that can be asked for.
 */
int	sftp_tell_offers(int fd);
int	sftp_tell_connect(int fd);

#endif /* HAYATE_SFTP_TELL_H */
