/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * rendezvous: what scp or sftp and the ssh that it starts tell each other.
 *
 * scp and sftp do not read ssh_config; only ssh does. They are connected by a
 * pair of sockets and by nothing else: ssh closes all other descriptors, and
 * every byte on the pair belongs to SFTP. But each end can read the name of the
 * other, a new pair has no names, and only a holder of an end can name it. The
 * names are in the abstract name space of Linux, which needs no file and ends
 * with the process. Every user of the host can read them there, so they hold no
 * secret, and take them, so each ends in a random number. A name is given once:
 *
 *   ssh's end   stock behaviour is wanted ("Hayate no"); or
 *               more channels or connections can be had from this process, by
 *               this descriptor, how many connections the user wants, and a
 *               descriptor of a file that names the hosts to connect to
 *   scp's end   more channels are wanted, or would have no use; and two
 *               descriptors of scp's: of memory to share, and of requests that
 *               may be sent before their turn
 *
 * The descriptor is the path of a socket that listens. The path itself is gone:
 * it was in a directory of this user's alone and only for a moment. It is
 * reached through /proc, which no other user can pass. What connects to it is a
 * channel, or, if it has a name, which has the number of a host, a further
 * connection.
 *
 * No upstream header. On other systems nothing is told.
 */

#ifndef HAYATE_RENDEZVOUS_H
#define HAYATE_RENDEZVOUS_H

#include <stddef.h>

/* In ssh: names the socket that is standard input, if it is a socket. */
void	rendezvous_set_stock(void);

/* In scp and sftp: returns 1 if the ssh behind "fd" wants stock behaviour. */
int	rendezvous_is_stock(int fd);

/*
 * In scp and sftp, before ssh has logged in: this process can use further
 * connections, and "channels": more channels as well. "memory" and "requests"
 * are descriptors that ssh may have, or -1. After rendezvous_want_retry() it
 * also tells ssh that it wants a new login if the connection is lost
 * (reconnect-hook.h).
 */
void	rendezvous_announce(int fd, int channels, int memory, int requests);
void	rendezvous_want_retry(void);
int	rendezvous_wants_retry(void);

/* In ssh: return those descriptors, which the caller closes, or -1. */
int	rendezvous_memory_fd(void);
int	rendezvous_requests_fd(void);

/* In ssh: whether there is a wish, and one for channels */
#define RENDEZVOUS_CONNECTIONS	1
#define RENDEZVOUS_CHANNELS	2
#define RENDEZVOUS_RETRY	4	/* a new login after a loss */
int	rendezvous_client_wants(void);

/*
 * In ssh: if there is a wish, returns a socket that listens, which the caller
 * closes, and tells how it is reached and "streams", the number of connections
 * that the user wants, which 0 leaves to scp. Otherwise returns -1. "hosts":
 * the names of all, with the first, with commas between; NULL: there is one.
 */
enum rendezvous_kind {
	RENDEZVOUS_MORE = 'n',	/* more channels or connections can be had */
	RENDEZVOUS_ALONE = 'a',	/* likewise, but no login can be repeated */
	RENDEZVOUS_ONLY_RETRY = 'r'	/* nothing but a new login */
};
int	rendezvous_listen(int streams, enum rendezvous_kind, const char *hosts);

/*
 * In ssh: publishes only that the user wants more connections that cannot be
 * had.
 */
void	rendezvous_announce_single(void);

/*
 * In ssh: returns 1 if the socket "fd", which was accepted, belongs to the
 * process that asked for the channels.
 */
int	rendezvous_is_client(int fd);

/*
 * In ssh: returns the number of the host if it asks for a connection, 0 is the
 * first; -1 if it asks for a channel.
 */
int	rendezvous_host_number(int fd);

/* In ssh: return 1 if the socket was made by rendezvous_hold() or _again(). */
int	rendezvous_is_hold(int fd);
int	rendezvous_is_again(int fd);

/*
 * In scp and sftp: returns how many connections the user of the ssh behind "fd"
 * wants, 0 for what helps, or -1 if nothing is offered.
 */
int	rendezvous_offered_conns(int fd);

/* In scp and sftp: returns 1 if the user wants more that cannot be had. */
int	rendezvous_is_single(int fd);

/*
 * In scp and sftp: the names of the hosts, as rendezvous_listen() was given
 * them. Returns 0, or -1 if there is only one.
 */
int	rendezvous_hosts(int fd, char *names, size_t len);

/*
 * In scp and sftp: returns a socket that is connected to the ssh behind "fd",
 * for one more connection to the host of that number, or with -1 for one more
 * channel; or -1. It is non-blocking.
 */
int	rendezvous_connect(int fd, int host);

/*
 * In scp and sftp: asks the ssh behind "fd" to outlive its connection, and to
 * start another ssh for each rendezvous_again() then. What it has
 * offered is remembered, because another ssh will be behind "fd". Returns a
 * socket, which the caller closes when it needs no new login any more; or -1:
 * ssh cannot do that. rendezvous_forget() forgets the offer: "fd" belongs to
 * another ssh now.
 */
int	rendezvous_hold(int fd);
void	rendezvous_forget(int fd);

/*
 * After rendezvous_hold(): as rendezvous_connect() to the first host, for the
 * connection that takes the place of the lost one, and with whose end that ssh
 * ends.
 */
int	rendezvous_again(int fd);

#endif /* HAYATE_RENDEZVOUS_H */
