/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conns-hook: the additional connections of scp and sftp to one server. They
 * are logins of their own, which -j and TransferStreams ask for, or channels of
 * the first connection.
 *
 * ssh starts them (spawn-hook.h). The next login to a host is asked for when
 * the previous one speaks SFTP, so each host has at most one that is not
 * authenticated. After a refusal none is asked for any more, and the transfer
 * continues with those that are there. A login lives as long as the process:
 * later transfers use it again. A channel ends with its transfer.
 *
 * With TransferHosts logins go to several hosts, the next one to the host that
 * has the fewest. A connection to another host is used only after a proof, once
 * per transfer, that it sees the same files (fs-identity-hook.h). A host is
 * left out if the login or the proof fails, or if it is lost, until the process
 * ends or logs in again with --retry. One line says why; after a failed login
 * the ssh that tried prints it (extra-conn-hook.h).
 *
 * Called from patches/192-scp-channels.patch as well. Main thread only.
 */

#ifndef HAYATE_CONNS_HOOK_H
#define HAYATE_CONNS_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "conn-count.h"

/* With the first; a bit for each. Only channels can be more than 8. */
#define CONNS_MAX	32

#define HOSTS_MAX	8		/* with the first */

struct sshbuf;
struct sftp_stream;
struct fs_check;
struct fs_location;
struct fs_reference;

/*
 * scp calls it once, before it connects. Channels are then wanted only if the
 * last argument is at a server, and the others are trees of STRIPE_MIN_FILE
 * bytes or 256 entries together. Without this call they are wanted, as in sftp,
 * which does not know what it will move. Also tells deferred-signals-hook.h
 * that this is scp.
 */
void	conns_estimate_upload(int argc, char **argv);

/*
 * "fd" leads to an ssh that was just started. Tells it that this process can
 * use more logins, and whether it wants channels as well (rendezvous.h).
 */
void	conns_announce(int fd);

/*
 * The additional logins of one server between transfers. All 0: none yet. Idle
 * ones are in "spare", with "state" as in struct conns. It has room for all,
 * because no more than CONN_COUNT_MAX logins are ever wanted.
 */
struct conns_kept {
	int	 is_refused;		/* by the first host */
	int	 single_reported;	/* the user knows why there is one */
	struct conn_count conn_count;
	unsigned int nhosts;		/* 0: unknown; 1: only the first */
	struct {
		char	*name;		/* NULL if there is only one */
		int	 is_excluded;	/* it is left out */
	} hosts[HOSTS_MAX];
	struct {
		int fd, state;
		unsigned int host;
	} spare[CONN_COUNT_MAX];
	size_t	 nspare;
};

/*
 * The first connection has ended: closes the idle ones and forgets the hosts.
 * The other fields stay.
 */
void	conns_drop_idle(struct conns_kept *);

/* Returns 1 if there are several hosts, even if only one is not left out. */
int	conns_has_hosts(const struct conns_kept *);

/* Returns NULL if there is only one; valid until conns_drop_idle(). */
const char *conns_host_name(const struct conns_kept *, unsigned int host);

/* What a server offers in VERSION; a sum of these */
#define SFTP_CAP_V3	1		/* version 3 */
#define SFTP_CAP_LIMITS	2		/* limits@openssh.com */
#define SFTP_CAP_COPY_DATA	4		/* copy-data */
#define SFTP_CAP_FSTATVFS	8		/* fstatvfs@openssh.com */
#define SFTP_CAP_FSYNC	16		/* fsync@openssh.com */
#define SFTP_CAP_HASHES	32		/* check-file, or perhaps */
#define SFTP_CAP_FIGURES	64		/* figures@hayate.invalid */

/*
 * Takes the extensions out of a VERSION, behind its type and number. "*offers"
 * becomes the sum. Returns 0 or SSH_ERR_*.
 */
int	conns_parse_caps(struct sshbuf *, int *offers);

/*
 * Reads a whole VERSION, the reply to INIT. Returns the sum of what the server
 * offers, or 0 if it does not speak version 3. A malformed reply is a
 * stream_fatal().
 */
int	conns_parse_version(struct sftp_stream *, struct sshbuf *);

/*
 * The connections of one transfer, each with a slot. The first has slot 0, and
 * belongs to the caller, as does "kept". The caller sets "locate" and
 * "other_stream" after conns_begin().
 */
struct conns {
	int	 main_fd;
	unsigned int main;		/* the main connection; 0 at first */
	struct conns_kept *kept;
	struct sftp_stream *stream[CONNS_MAX];	/* NULL: the slot is free */
	unsigned int nslots;		/* later slots are free */
	int	 fd[CONNS_MAX];
	int	 state[CONNS_MAX];	/* sum of SFTP_CAP_*, or one of: */
#define CONN_NEW	(-2)		/* INIT was not sent */
#define CONN_INIT_SENT	(-1)		/* VERSION is awaited */
	int	 closed_to_new;		/* no more are asked for */
	unsigned int host[CONNS_MAX];	/* of each slot; 0: the first host */
	int	 is_proven[CONNS_MAX];	/* the slot's host sees our files */
	struct fs_check *fs_check[CONNS_MAX];	/* its proof; NULL: none */
	struct fs_reference *fs_reference; /* of all proofs; NULL: none */
	unsigned int tries;		/* places tried for the reference */
	int	 fs_checks_stopped;	/* no proof begins any more */
	unsigned int closed_hosts;	/* bits: hosts that get no more */
	/*
	 * Names a place for the reference at the n-th try, from 0, which is
	 * valid until the next call. Returns 0, or -1 if there is no such place
	 * now. The first argument is "arg". NULL: nothing can be proven.
	 */
	int	(*locate)(void *, unsigned int n, struct fs_location *);
	/* The target of scp -3, which conns_poll() moves as well; or NULL */
	struct sftp_stream *other_stream;
	enum { CONNS_LOGINS, CONNS_CHANNELS } kind;	/* may change */
	unsigned int channels_wanted;	/* with the first; the caller sets it */
	int	 may_use_channels;	/* conns_use_channels() was called */
	void	(*before_fatal)(void *);	/* as in sftp-stream-hook.h */
	void	*arg;
};

/*
 * Begins for one transfer, whatever the structure contained. "main_fd" is the
 * socket of the first ssh; the stream is that of the first connection.
 */
void	conns_begin(struct conns *, int main_fd, struct conns_kept *,
    struct sftp_stream *, void (*before_fatal)(void *), void *arg);

/*
 * Keeps idle logins for the next transfer and closes the rest. The first
 * connection and its stream stay; no reply may be due there.
 */
void	conns_end(struct conns *);

/*
 * The first connection is lost: closes all others, also the idle ones, and
 * frees all streams, also the first. "main_fd" stays open. conns_begin() comes
 * next.
 */
void	conns_abandon(struct conns *);

/*
 * Allows channels of the first connection in place of logins: now, if the user
 * wants one connection, and otherwise as soon as no login can be had. "kind"
 * says which are in use. Channels are asked for all at once.
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

/* Before each conns_poll(): begins and ends proofs, as far as possible now. */
void	conns_run_fs_checks(struct conns *);

/*
 * From here on no proof begins, and the temporary file of one in flight is
 * removed. conns_fs_check_in_flight() returns 1 while the first connection owes
 * replies for it.
 */
void	conns_stop_fs_checks(struct conns *);
int	conns_fs_check_in_flight(const struct conns *);

/*
 * Returns the temporary file that would be left behind now, or NULL; valid
 * until the next call of another function.
 */
const char *conns_fs_temp_file(const struct conns *);

/* A bit for each connection that goes to another host than the first */
unsigned int conns_to_other_hosts(const struct conns *);

/* Returns 1 if files can be copied over connection i. */
int	conns_is_established(const struct conns *, unsigned int i);

/*
 * The main connection is lost. conns_other_main() returns another connection to
 * the first host that can take its place; CONNS_MAX: there is none.
 * conns_replace_main() lets it do so, and frees the stream of the old one; its
 * descriptor is the caller's from then on, and has to become "main_fd". Hosts
 * that are not proven yet are left out. "asks": more connections can be had.
 */
unsigned int conns_other_main(const struct conns *);
void	conns_replace_main(struct conns *, unsigned int i, int asks);

/* Returns the number of such connections. */
unsigned int conns_established(const struct conns *);

/* As stream_poll() of all connections and of "other_stream" */
void	conns_poll(struct conns *, int wake_fd, int ms);

/*
 * Returns the next message for the caller, valid until the next call; "*i" is
 * its connection. Returns NULL if there is none: if "*i" is below CONNS_MAX,
 * that established connection was lost. Call it until NULL and CONNS_MAX.
 */
struct sshbuf *conns_next(struct conns *, unsigned int *i);

#endif /* HAYATE_CONNS_HOOK_H */
