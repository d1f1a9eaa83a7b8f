/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conns-hook: the further connections of scp and sftp to one server:
 * connections, which -j and TransferStreams ask for, or channels of the first
 * one.
 *
 * ssh starts them (spawn-hook.h). One is asked for when the one before speaks
 * SFTP, so at most one is not authenticated, of each host. After a refusal none
 * is asked for any more, and the transfer goes on with those that are there. A
 * connection lives as long as the process: what one transfer leaves, the next
 * one uses.
 *
 * With TransferHosts connections go to several hosts (hosts-hook.h): the next
 * one to that which has the fewest. A connection to another host is used only
 * after it has proved, once per transfer, that it sees the same files
 * (fs-identity-hook.h).
 *
 * Called from patches/192-scp-channels.patch as well. Main thread only.
 */

#ifndef HAYATE_CONNS_HOOK_H
#define HAYATE_CONNS_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "conn-count.h"
#include "hosts-hook.h"

#define CONNS_MAX	32		/* with the first; a bit for each */

struct sshbuf;
struct sftp_stream;
struct fs_check;
struct fs_location;
struct fs_reference;

/*
 * In scp: channels are wanted if the last of the arguments is at a server and
 * the others, with what is in them, are together large. What will be got is not
 * known before the login. sftp does not know what will be moved.
 */
void	conns_estimate_upload(int argc, char **argv);

/*
 * "fd" leads to an ssh that was just started. It is told whether channels are
 * wanted in any case, or only where the user wants more connections.
 */
void	conns_announce(int fd);

/*
 * What a server has of further connections between transfers. All 0: nothing.
 * A state is as in struct conns.
 */
struct conns_kept {
	int	 is_refused;
	int	 single_reported;		/* why there is only one */
	struct conn_count conn_count;
	struct hosts hosts;
	struct {
		int fd, state;
		unsigned int host;
	} spare[CONN_COUNT_MAX];
	size_t	 nspare;
};

/* The first connection has ended. */
void	conns_drop_idle(struct conns_kept *);

/* Takes out of a VERSION what it offers, a sum. Returns 0 or SSH_ERR_*. */
#define SFTP_CAP_V3	1		/* version 3 */
#define SFTP_CAP_LIMITS	2		/* limits@openssh.com */
#define SFTP_CAP_COPY_DATA	4		/* copy-data */
#define SFTP_CAP_FSTATVFS	8		/* fstatvfs@openssh.com */
#define SFTP_CAP_FSYNC	16		/* fsync@openssh.com */
#define SFTP_CAP_HASHES	32		/* check-file, or perhaps */
#define SFTP_CAP_FIGURES	64		/* figures@hayate.invalid */
int	conns_parse_caps(struct sshbuf *, int *offers);

/*
 * Reads the reply to INIT. Returns what it offers, or 0: the server speaks
 * another version than 3. A malformed one is a stream_fatal().
 */
int	conns_parse_version(struct sftp_stream *, struct sshbuf *);

/*
 * For a transfer that needs no more than connections: all of them, the first
 * included. The first connection is the caller's.
 */
struct conns {
	int	 main_fd;
	struct conns_kept *kept;
	struct sftp_stream *stream[CONNS_MAX];	/* NULL: none */
	unsigned int nslots;		/* none is from this place on */
	int	 fd[CONNS_MAX];
	int	 state[CONNS_MAX];	/* of SFTP_CAP_*, or one of these: */
#define CONN_NEW	(-2)		/* INIT was not sent */
#define CONN_INIT_SENT	(-1)		/* VERSION is awaited */
	int	 closed_to_new;		/* none is to be asked for */
	unsigned int host[CONNS_MAX];	/* of each; 0: the first */
	int	 is_proven[CONNS_MAX];	/* what another one sees */
	struct fs_check *fs_check[CONNS_MAX];
	struct fs_reference *fs_reference; /* NULL: none; for all of these */
	unsigned int tries;		/* of places for it */
	int	 fs_checks_stopped;		/* no proof begins any more */
	unsigned int closed_hosts;	/* a bit for each host: none to it */
	/*
	 * Says where to prove, at the n-th try. Returns 0, or -1 if there is
	 * no such place now. NULL: nowhere.
	 */
	int	(*locate)(void *, unsigned int n, struct fs_location *);
	struct sftp_stream *other_stream; /* to another server; NULL: none */
	enum { CONNS_LOGINS, CONNS_CHANNELS } kind;
	unsigned int channels_wanted;	/* wanted, if they are channels */
	int	 may_use_channels;
	void	(*before_fatal)(void *);
	void	*arg;
};

/* "fd", of the main connection, leads to the connection. */
void	conns_begin(struct conns *, int main_fd, struct conns_kept *,
    struct sftp_stream *, void (*before_fatal)(void *), void *arg);
void	conns_end(struct conns *);

/*
 * All connections are lost, or are given up: closes them and frees their
 * streams, with that of the main connection. conns_begin() comes next.
 */
void	conns_abandon(struct conns *);

/*
 * Connections are channels of the first connection, if those can be had but no
 * connections. "channels" of them, which the caller sets, are wanted. They are
 * asked for side by side, and end with the transfer.
 */
void	conns_use_channels(struct conns *);

/*
 * Asks for one more connection if one is wanted and none is awaited; for one
 * more channel if one is wanted.
 */
void	conns_grow(struct conns *);

/*
 * Tells how many bytes were moved since the last call, and how many the
 * transfer has left, or CONNS_UNKNOWN.
 */
#define CONNS_UNKNOWN	UINT64_MAX
void	conns_count_moved(struct conns *, uint64_t bytes, uint64_t rest);

/* Before each conns_poll(): begins and ends the proofs that can be. */
void	conns_run_fs_checks(struct conns *);

/*
 * No proof begins any more, and those in flight leave nothing behind.
 * conns_fs_check_in_flight() returns 1 while the first connection has replies
 * to come for them.
 */
void	conns_stop_fs_checks(struct conns *);
int	conns_fs_check_in_flight(const struct conns *);

/* The temporary file that would be left behind now, or NULL */
const char *conns_fs_temp_file(const struct conns *);

/* A bit for each connection that goes to another host than the first */
unsigned int conns_to_other_hosts(const struct conns *);

/* Returns 1 if requests can be sent on it. */
int	conns_is_established(const struct conns *, unsigned int i);
unsigned int conns_established(const struct conns *);	/* of those */

/* As stream_poll() of all, and of "also" */
void	conns_poll(struct conns *, int wake_fd, int ms);

/*
 * Returns the next message that is no VERSION, with the connection in "*i"; or
 * NULL, with CONNS_MAX in "*i", or a connection that was up and is lost. To be
 * called until it is the former.
 */
struct sshbuf *conns_next(struct conns *, unsigned int *i);

#endif /* HAYATE_CONNS_HOOK_H */
