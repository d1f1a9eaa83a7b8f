/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-stream-hook: an SFTP connection on which many requests are in flight.
 *
 * Upstream's functions send a request and wait for its reply. While one side
 * waits to send, the other may wait as well, because a server stops reading
 * when nobody takes its replies. Here both directions move in one poll().
 *
 * Errors of the connection are fatal, as they are in upstream, after
 * "before_fatal"; but a stream that "may_end" or "may_be_replaced" is only
 * lost.
 *
 * Main thread only.
 */

#ifndef HAYATE_SFTP_STREAM_HOOK_H
#define HAYATE_SFTP_STREAM_HOOK_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

struct replies;
struct request_sink;
struct sshbuf;
struct sftp_stream;

/* Streams of one stream_poll() at most: all to one server, and one more */
#define STREAMS_MAX	33

struct sftp_stream_conf {
	int	fd_in, fd_out;
	int	may_end;		/* and the process goes on; a socket */
	int	may_be_replaced;	/* likewise, of any descriptors */
	void	(*before_fatal)(void *);	/* NULL: nothing */
	void	*arg;
	struct replies *replies;	/* of the connection; NULL: its own */
};

/* Copies "conf" and makes the descriptors non-blocking. */
struct sftp_stream *stream_new(const struct sftp_stream_conf *);

/* Closes no descriptor. Makes them blocking again, unless it "may_end". */
void	stream_free(struct sftp_stream *);

/* Where the functions of sftp-request-hook.h put requests to be sent */
struct request_sink *stream_sink(struct sftp_stream *);

/*
 * Call after request_begin_write(). Returns room for "len" bytes of data, in
 * memory that ssh reads if that is possible. stream_end_data() sends the first
 * "n" of them, stream_cancel() drops the request.
 */
u_char	*stream_data(struct sftp_stream *, size_t len);
void	stream_end_data(struct sftp_stream *, size_t len, size_t n);
void	stream_cancel(struct sftp_stream *);

/*
 * Returns 1 if so much waits to be sent that more would be of no use. Then
 * stream_poll() returns when there is room again.
 */
int	stream_is_full(struct sftp_stream *);

/*
 * Sends and receives what is possible, after waiting for up to "ms"
 * milliseconds (-1: no limit). A signal, and data in "wake_fd" (-1: none), end
 * the waiting. None of the streams may be lost already.
 */
void	stream_poll(struct sftp_stream *const *, size_t n, int wake_fd, int ms);

/* Returns 1 if the connection has ended. Messages may be left to be taken. */
int	stream_is_lost(const struct sftp_stream *);

/* Ends the process with the reason for which the connection was lost. */
void	stream_fatal_lost(struct sftp_stream *) __attribute__((noreturn));

/* From here on the stream has these descriptors, of the same connection. */
void	stream_set_conf(struct sftp_stream *, const struct sftp_stream_conf *);

/* The replies that are due beside those that stream_next() returns */
struct replies *stream_replies(struct sftp_stream *);

/*
 * Returns the next message that has arrived whole, or NULL. It is valid until
 * the next call. Replies of stream_replies() are delivered instead.
 */
struct sshbuf *stream_next(struct sftp_stream *);

/* Returns 1 if that message is the reply to an early request. */
int	stream_was_early(const struct sftp_stream *);

/* Takes type and ID out of a reply; a malformed one is a stream_fatal(). */
void	stream_parse_head(struct sftp_stream *, struct sshbuf *, u_char *type,
    uint32_t *id);

/*
 * Returns the status of a reply, or SSH2_FX_OK if it has the type "wanted". Any
 * other type is a stream_fatal() that names "path".
 */
u_int	stream_parse_status(struct sftp_stream *, struct sshbuf *, u_char type,
    u_char wanted, const char *path);

/* If "r" is SSH_ERR_*, a reply has a malformed "what": stream_fatal(). */
void	stream_check_reply(struct sftp_stream *, int r, const char *what);

/* Ends the process after "before_fatal". "what" says what the server did. */
void	stream_fatal(struct sftp_stream *, const char *what, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif /* HAYATE_SFTP_STREAM_HOOK_H */
