/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * server-hook: the first connection of scp and sftp to each server: what the
 * server offers, who sends requests now, and how many may be in flight.
 *
 * SFTP has a window of its own: a number of READs or WRITEs of one buffer each.
 * Stock starts a download with one request and adds one per reply. It stops at
 * 64 requests, or 16 MiB, and a path of 1 Gbit/s with a round trip of 200 ms
 * holds more. Here request-window.h sets the number, from the age of a request
 * and the rate of the replies, and a transfer starts with several requests.
 *
 * Three round trips before the first byte are saved as well. The query for the
 * server's limits is sent without waiting for its reply. A download needs no
 * stat if the request before it was an lstat of the same file. And where
 * upstream asks for the real path of a directory after it has asked whether the
 * path is one, both requests are sent together.
 *
 * A connection is "tuned" in this way unless the user chose the requests (-R,
 * -B, -X) or a rate (-l), the server speaks a version below 3, or ssh has
 * "Hayate no" (rendezvous.h): it is then left to stock code. Called from
 * patches 160 and 164 as well. Main thread only.
 */

#ifndef HAYATE_SERVER_HOOK_H
#define HAYATE_SERVER_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#include "conns-hook.h"
#include "sftp-request-hook.h"

struct sftp_conn;
struct Attrib;
struct stall_stats;
struct sftp_stream;
struct server;				/* private to server-hook.c */

/* What is used of upstream's private struct sftp_conn */
struct server_conn {
	int	 fd_in, fd_out;
	u_int	*msg_id, *num_requests, *download_buflen, *upload_buflen;
	uint64_t limit_kbps;		/* of -l; 0: none */
};

/* What the other modules of a transfer know of a server, and may change */
struct server_info {
	struct server_conn conn;	/* see server_begin() */
	/*
	 * The replies that are due beside those to the owner and to upstream.
	 * Limits that arrive during a transfer apply to the next one.
	 */
	struct replies replies;
	struct conns_kept idle_conns;
	int	 is_tuned;		/* not left to stock code */
	int	 is_stock;		/* the ssh has "Hayate no" */
	/*
	 * Sum of SFTP_CAP_*. A server that lists "versions" may have check-file
	 * only in a later version, as proftpd does; it is asked until it
	 * refuses, which clears SFTP_CAP_HASHES.
	 */
	int	 caps;
	int	 limits_in_flight;	/* the query for the next two */
	uint64_t handles;		/* limit of open ones; 0: unknown */
	u_int	 upload;		/* most bytes of a WRITE; 0: unknown */
	/* server_ask_figures() has no reply; a copy waits for it */
	int	 figures_in_flight;
};
struct server_info *server_info(struct server *);

/*
 * "fd" leads to an ssh that was just started. "chosen": the user chose the
 * requests or a rate. Otherwise, or with --retry, announces to ssh what this
 * process can use (conns_announce()).
 */
void	server_open(struct sftp_conn *, int fd, int chosen);

/* The descriptor belongs to no connection any more. */
void	server_forget(int fd);

/* Returns NULL without server_open(). Owned by this module. */
struct server *server_of(const struct sftp_conn *);

/*
 * Call when upstream has read VERSION. "limits": the server can be queried for
 * its limits. Returns 1 if upstream has to do that itself.
 */
int	server_begin(struct sftp_conn *, const struct server_conn *,
    int limits);

/*
 * The caller owns the connection until server_release(), and sends requests for
 * a tree, or for one file "alone". Returns the bytes of one READ or WRITE;
 * "*window" becomes the bytes that may be in flight. server_release() hands
 * over the ID of the next request, and upstream's loop of sftp_crossload() has
 * stock's number of requests from then on.
 *
 * If there is an owner already, its "finish" is called first, and has to
 * release the connection; that this is NULL is a bug, and fatal.
 */
u_int server_acquire(struct server *, void (*finish)(void), int put, int alone,
    uint64_t *window);
void	server_release(struct server *, u_int next_id);

/*
 * Call before a request whose reply is waited for: the owner, if there is one,
 * finishes first, as in server_acquire().
 */
void	server_drain(struct server *);

/*
 * Calls "get", a function of upstream that reads one message, until the message
 * is none that is due to our own requests. Such replies are delivered.
 */
void server_read_message(void (*get)(struct sftp_conn *, struct sshbuf *, int),
    struct sftp_conn *, struct sshbuf *, int initial);

/*
 * An lstat of "path" has returned "ret" and the attributes "a", which are kept
 * until another request is sent. Returns "ret".
 */
int	server_keep_lstat(struct sftp_conn *, const char *path,
    const struct Attrib *a, int ret);

/*
 * A download begins. If the last request was an lstat of this path that found a
 * regular file, copies its attributes to "room" and returns "room", otherwise
 * NULL.
 */
struct Attrib *server_use_kept_lstat(struct server *, const char *path,
    struct Attrib *room);

/*
 * Requests the real path of "path" over a tuned connection, without waiting. Of
 * more than two such requests in flight, the later ones are not sent. The
 * caller's next request asks whether the path is a directory; any request after
 * that one makes the answer invalid. A refusal is no answer: upstream asks
 * again, and reports the error.
 */
void	server_ask_path(struct server *, const char *path);

/*
 * Returns the real path of "path", which the caller frees: the answer to
 * server_ask_path(), or what "ask", a function of upstream, returns.
 */
char	*server_realpath(struct sftp_conn *, const char *path,
    char *(*ask)(struct sftp_conn *, const char *, int));

/*
 * Returns the attributes of the directory whose real path server_realpath() has
 * just returned, or NULL if a request was sent since; valid until the next one.
 */
const struct Attrib *server_last_dir(const struct server *, const char *real);

/*
 * The connection is a new one, at the same descriptors, to an SFTP server that
 * offers "caps" (SFTP_CAP_*): no reply to an earlier request will come.
 */
void	server_reconnected(struct server *, int caps);

/*
 * A reply has arrived, and with it "len" bytes were read or acknowledged. With
 * -l, sleeps as the rate demands. Returns the bytes that may be in flight.
 */
uint64_t server_count_acked(struct server *, size_t len);

/*
 * The SFTP server's stall statistics (figures@hayate.invalid).
 * server_ask_figures() requests them over the stream of the first connection,
 * unless the server cannot report them or a reply is due. server_get_figures()
 * returns the number of replies since server_reset_figures(), and in "*span"
 * the difference between the last and the first.
 */
void	server_reset_figures(struct server *);
void	server_ask_figures(struct server *, struct sftp_stream *);
int	server_get_figures(const struct server *, struct stall_stats *span);

#endif /* HAYATE_SERVER_HOOK_H */
