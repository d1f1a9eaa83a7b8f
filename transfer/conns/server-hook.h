/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * server-hook: what is known of each connection of scp and sftp: what the
 * server has said, who has the connection now, and how many requests it has
 * in flight.
 *
 * SFTP has a window of its own: a number of READs or WRITEs of one buffer each.
 * Stock starts a download with one request and adds one per reply. It stops at
 * 64 requests, or 16 MiB, and a path of 1 Gbit/s with a round trip of 200 ms
 * holds more. Here request-window.h sets the number, from the age of a request
 * and the rate of the replies, and a transfer starts with several requests.
 *
 * Three round trips before the first byte are saved as well. The query for the
 * server's limits is sent without waiting for its reply. A download uses the
 * lstat that the request before it made of the same file, instead of a stat.
 * And upstream asks what a path is, waits, and then asks for its real path if
 * it is a directory that is to be copied: both questions are sent together.
 *
 * Called from patches 160 and 164 as well. Does nothing, so that stock
 * behaviour remains, if the user chose the requests (-R, -B, -X) or a rate
 * (-l), or if ssh has "Hayate no" (see rendezvous.h). Main thread only.
 */

#ifndef HAYATE_SERVER_HOOK_H
#define HAYATE_SERVER_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct sftp_conn;
struct Attrib;
struct conns_kept;
struct replies;
struct stall_stats;
struct sftp_stream;
struct server;				/* private to server-hook.c */
struct sshbuf;

/* What is used of upstream's private struct sftp_conn */
struct server_conn {
	int	 fd_in, fd_out;
	u_int	*msg_id, *num_requests, *download_buflen, *upload_buflen;
	uint64_t limit_kbps;		/* of -l; 0: none */
};

/*
 * ssh was just started, and "fd" leads to it. "chosen": the user chose the
 * requests or a rate. Unless that is so, tells ssh what can be used.
 */
void	server_open(struct sftp_conn *, int fd, int chosen);

/* The descriptor belongs to no connection any more. */
void	server_forget(int fd);

/* What is known of the connection; NULL if it was not opened */
struct server *server_of(const struct sftp_conn *);

/*
 * A connection begins. "limits": the server can be queried for its limits.
 * Returns 1 if upstream has to query the limits itself.
 */
int	server_begin(struct sftp_conn *, const struct server_conn *,
    int limits);

/*
 * Requests of one's own are going to be sent, for a tree, or one file "alone",
 * until server_release(), which says the next request's ID. Returns the bytes
 * of one READ or WRITE, and how many may be in flight; a connection that is
 * left to stock code has as many as the user or stock chose.
 *
 * The current owner of the connection is asked to finish first, by its
 * callback; that it has none is an error of ours. server_drain(): somebody is
 * going to send a request and wait for its reply.
 */
u_int server_acquire(struct server *, void (*finish)(void), int put, int alone,
    uint64_t *window);
void	server_release(struct server *, u_int next_id);
void	server_drain(struct server *);

/*
 * The replies that are due to requests of this file, and of others, in any
 * order. The limits on sizes that come during a transfer apply to the next one.
 */
struct replies *server_replies(struct server *);

/* Reads, by "get" of upstream, the next message that is for others. */
void server_read_message(void (*get)(struct sftp_conn *, struct sshbuf *, int),
    struct sftp_conn *, struct sshbuf *, int initial);

/*
 * An lstat of "path" has returned "ret" and the attributes "a". Keeps them for
 * the next request. Returns "ret".
 */
int	server_keep_lstat(struct sftp_conn *, const char *path,
    const struct Attrib *a, int ret);

/*
 * A download begins. "a" are its attributes, or NULL. Returns "a"; but if that
 * is NULL and the last request was an lstat of this path that found a regular
 * file, copies its attributes to "room" and returns "room". Attributes that are
 * older may have changed, so they are not used.
 */
struct Attrib *server_use_kept_lstat(struct sftp_conn *, const char *path,
    struct Attrib *a, struct Attrib *room);

/*
 * Asks a tuned connection for the real path of "path". Two such requests can be
 * in flight. The next request has to be the one that says whether the path is a
 * directory. The answer is good until another one is sent. A refusal is no
 * answer: upstream asks again, and says what is wrong.
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
 * just returned, if nothing was sent since, or NULL.
 */
const struct Attrib *server_last_dir(const struct server *, const char *real);

/*
 * A file of sftp_crossload() begins, in upstream's loop: a single file between
 * two servers of which the source is tuned and the target is not. All other
 * downloads go through server_acquire(). Returns with how many requests of
 * "unit" bytes to start, for a file of "size" bytes; 0 is an unknown size.
 */
u_int	server_begin_download(struct sftp_conn *, uint64_t size, u_int unit);

/*
 * Likewise: "len" bytes were read. Sets "*max_req", how many requests may be in
 * flight, unless it is 0 (end of file).
 */
void	server_count_read(struct sftp_conn *, size_t len, u_int *max_req);

/*
 * The connection is a new one, at the same descriptors, to an SFTP server that
 * offers "caps" (SFTP_CAP_*): no reply to an earlier request will come.
 */
void	server_reconnected(struct server *, int caps);

/* Returns 1 unless the connection is left to stock code. */
int	server_is_tuned(const struct server *);

/*
 * Returns 1 if the connection is tuned, WRITEs have at least "unit" bytes, and
 * ssh offers more channels or connections.
 */
int	server_can_stripe(const struct server *, u_int unit);

/* Returns 1 if the ssh of this connection has "Hayate no". */
int	server_is_stock(const struct server *);

/*
 * Returns 1 if the server hashes files, as far as is known. A server that lists
 * "versions" may list check-file in a later version alone, as proftpd does, so
 * it is asked until it refuses: server_lacks_hashes().
 */
int	server_has_hashes(const struct server *);
void	server_lacks_hashes(struct server *);

/* Returns 1 if the server can be asked to write a file to its disk. */
int	server_has_fsync(const struct server *);

/*
 * Returns what server_begin() was given; what is kept of further connections.
 */
const struct server_conn *server_get_conn(const struct server *);
struct conns_kept *server_idle_conns(struct server *);

/*
 * A reply has arrived, and with it "len" bytes were read or acknowledged.
 * Returns how many bytes may be in flight.
 */
uint64_t server_count_acked(struct server *, size_t len);

/*
 * Returns how many bytes have been moved by upstream's functions, and by those
 * that add theirs; 0 of a connection that is not tuned.
 */
uint64_t server_moved(const struct server *);
void	server_add_moved(struct server *, uint64_t bytes);

/*
 * Asks the SFTP server what takes its time, on the link that has the connection
 * now, unless it cannot tell or has not yet answered. server_get_figures()
 * returns how often it has answered since server_reset_figures(), and the span
 * since the first answer.
 */
void	server_reset_figures(struct server *);
void	server_ask_figures(struct server *, struct sftp_stream *);
int	server_get_figures(const struct server *, struct stall_stats *span);

/* Returns 1 while that answer is due, for which a copy has to wait. */
int	server_figures_in_flight(const struct server *);

/* Returns the server's limit of open handles; 0: none, or not yet known. */
uint64_t server_handle_limit(const struct server *);

/* Returns 1 if it has told limits, or may yet do so. */
int	server_has_limits(const struct server *);

#endif /* HAYATE_SERVER_HOOK_H */
