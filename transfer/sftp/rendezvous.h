/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * rendezvous: how scp or sftp and the ssh that it starts find each other.
 *
 * scp and sftp do not read ssh_config; only ssh does. They are connected by a
 * pair of sockets and by nothing else: ssh closes all other descriptors, and
 * every byte on the pair belongs to SFTP. But each end can read the name of the
 * other, a new pair has no names, and only a holder of an end can name it. The
 * names are in the abstract name space of Linux, which needs no file and ends
 * with the process. Any user of the host can read a name, so it contains no
 * secret, and could take it first, so it ends in a random number. Each end is
 * named once:
 *
 *   ssh's end   stock behaviour is wanted ("Hayate no"); or
 *               more channels or connections can be had from this process, by
 *               this descriptor, how many connections the user wants, and a
 *               descriptor of a file that names the hosts to connect to
 *   scp's end   more channels are wanted, or would have no use; and two
 *               descriptors of scp's: of memory to share, and of requests that
 *               may be sent before their turn
 *
 * ssh's descriptor is the path of a socket that listens. The path was removed
 * at once; scp reaches the socket through /proc, where no other user may open
 * it. A socket without a name that connects asks for a channel; one whose name
 * has the number of a host asks for an additional connection.
 *
 * No upstream header. On other systems nothing is announced.
 */

#ifndef HAYATE_RENDEZVOUS_H
#define HAYATE_RENDEZVOUS_H

#include <stddef.h>

/* In ssh: names the socket that is standard input, if it is a socket. */
void	rendezvous_set_stock(void);

/* In scp and sftp: returns 1 if the ssh behind "fd" wants stock behaviour. */
int	rendezvous_is_stock(int fd);

/*
 * In scp and sftp, right after ssh was started: this process can use additional
 * connections, and "channels": more channels as well. "memory" and "requests"
 * are descriptors that ssh may open, or -1. After rendezvous_want_retry() ssh
 * is also told that a new login is wanted if the connection is lost
 * (reconnect-hook.h).
 */
void	rendezvous_announce(int fd, int channels, int memory, int requests);
void	rendezvous_want_retry(void);
int	rendezvous_wants_retry(void);

/* In ssh: return those descriptors, which the caller closes, or -1. */
int	rendezvous_memory_fd(void);
int	rendezvous_requests_fd(void);

/* In ssh: returns what scp or sftp has announced, a sum of these; or 0 */
#define RENDEZVOUS_CONNECTIONS	1
#define RENDEZVOUS_CHANNELS	2
#define RENDEZVOUS_RETRY	4	/* a new login after a loss */
int	rendezvous_client_wants(void);

/*
 * In ssh: if scp has announced anything, makes a listening socket, publishes
 * it, and returns it for the caller to close; otherwise, or if that fails,
 * returns -1. "streams" is the number of connections that the user wants; 0
 * leaves it to scp. "hosts" are the names of all hosts, separated by commas;
 * NULL: there is one.
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

/* In ssh: return 1 if rendezvous_hold() or rendezvous_again() connected. */
int	rendezvous_is_hold(int fd);
int	rendezvous_is_again(int fd);

/*
 * In scp and sftp: returns how many connections the user of the ssh behind "fd"
 * wants, 0 for what helps, or -1 if nothing is offered.
 */
int	rendezvous_offered_conns(int fd);

/* In scp and sftp: returns the process ID of an ssh that offers any; or 0. */
long	rendezvous_process(int fd);

/* In scp and sftp: returns 1 if the user wants more that cannot be had. */
int	rendezvous_is_single(int fd);

/*
 * In scp and sftp: gets the names of the hosts, as rendezvous_listen() was
 * given them, cut to "len" bytes. Returns 0, or -1 if there is only one.
 */
int	rendezvous_hosts(int fd, char *names, size_t len);

/*
 * In scp and sftp: returns a new non-blocking socket that is connected to the
 * ssh behind "fd", for one more connection to that host, or with -1 for one
 * more channel. Returns -1 on failure.
 */
int	rendezvous_connect(int fd, int host);

/*
 * In scp and sftp: asks the ssh behind "fd" to outlive its connection, and to
 * start another ssh for each later rendezvous_again(). Its offer is remembered
 * for "fd", because another ssh will be behind it then. Returns a socket that
 * the caller closes when it needs no new login any more, or -1 if ssh cannot do
 * that.
 */
int	rendezvous_hold(int fd);

/* An unrelated ssh is behind "fd" now: forgets the remembered offer. */
void	rendezvous_forget(int fd);

/*
 * After rendezvous_hold(): as rendezvous_connect() to the first host, but the
 * new connection replaces the lost one. The ssh that was held ends with it.
 */
int	rendezvous_again(int fd);

#endif /* HAYATE_RENDEZVOUS_H */
