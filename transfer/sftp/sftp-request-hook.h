/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-request-hook: builds every SFTP request that our code sends, and parses
 * the replies.
 *
 * A request is built for a sink, which provides the buffer and takes the
 * complete request: an SFTP stream (sftp-stream-hook.h), a connection that
 * upstream's code reads (server-hook.c), or the requests that are sent with the
 * login (early-requests-hook.c). Running out of memory is fatal.
 *
 * A parser returns 0, or SSH_ERR_* if the reply is malformed. Attributes, a
 * status and data are parsed by decode_attrib() and sshbuf_get_*().
 *
 * Main thread only.
 */

#ifndef HAYATE_SFTP_REQUEST_HOOK_H
#define HAYATE_SFTP_REQUEST_HOOK_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

struct Attrib;				/* of sftp-common.h */
struct sshbuf;

struct request_sink {
	/* Returns the buffer; what it contains is not part of the request. */
	struct sshbuf *(*begin)(struct request_sink *);
	void	(*end)(struct request_sink *);
};

/* The server's name of an open file or directory */
struct handle {
	u_char	*id;			/* allocated; NULL: closed */
	size_t	 len;
};

/* The first message of a connection. The version stands in place of an ID. */
void	request_init_session(struct request_sink *);

/*
 * Requests for a path or a handle. "code" is SSH2_FXP_STAT, LSTAT, OPENDIR,
 * REMOVE, REALPATH, MKDIR or SETSTAT for a path, CLOSE, FSTAT, READDIR or
 * FSETSTAT for a handle. "attrs" is NULL except for MKDIR, SETSTAT and
 * FSETSTAT.
 */
void	request_path(struct request_sink *, uint32_t id, u_char code,
    const char *path, const struct Attrib *attrs);
void	request_handle(struct request_sink *, uint32_t id, u_char code,
    const struct handle *, const struct Attrib *attrs);

/* SETSTAT and FSETSTAT of the size alone, which truncates or extends */
void	request_setsize(struct request_sink *, uint32_t id, const char *path,
    uint64_t size);
void	request_fsetsize(struct request_sink *, uint32_t id,
    const struct handle *, uint64_t size);

/* "flags" are SSH2_FXF_*. "attrs" may be NULL. */
void	request_open(struct request_sink *, uint32_t id, const char *path,
    u_int flags, const struct Attrib *attrs);

/* SSH2_FXP_RENAME: OpenSSH's server refuses it if "to" exists. */
void	request_rename(struct request_sink *, uint32_t id, const char *from,
    const char *to);

void	request_read(struct request_sink *, uint32_t id, const struct handle *,
    uint64_t off, uint32_t len);

/*
 * request_begin_write() leaves the request incomplete, and returns its buffer:
 * the data is missing (stream_data()).
 */
void	request_write(struct request_sink *, uint32_t id, const struct handle *,
    uint64_t off, const void *data, size_t len);
struct sshbuf *request_begin_write(struct request_sink *, uint32_t id,
    const struct handle *, uint64_t off);

/* An extension that has no argument, or a handle; "h" may be NULL. */
void	request_extended(struct request_sink *, uint32_t id, const char *name,
    const struct handle *h);

/* copy-data: the server itself copies bytes between two of its files. */
void	request_copy_data(struct request_sink *, uint32_t id,
    const struct handle *from, uint64_t from_off, uint64_t len,
    const struct handle *to, uint64_t to_off);

/* check-file-name: the hashes (blocksum-hook.h) of blocks of "block" bytes */
void	request_hashes(struct request_sink *, uint32_t id, const char *path,
    uint64_t off, uint64_t len, uint32_t block);

/* Replies that are more than one field. Type and ID are already parsed. */
struct reply_limits {
	uint64_t packet, read, write;	/* bytes; 0: unknown */
	uint64_t handles;		/* that may be open; 0: unknown */
};

/* Frees the handle that was there before. */
int	reply_get_handle(struct sshbuf *, struct handle *);

/* One entry of a listing. The caller frees "*name", also after an error. */
int	reply_get_name(struct sshbuf *, char **name, struct Attrib *);

/* The path in the reply to REALPATH, which the caller frees */
int	reply_get_path(struct sshbuf *, char **path);

int	reply_get_limits(struct sshbuf *, struct reply_limits *);

/* The reply to fstatvfs@openssh.com: bytes that the user may still write */
int	reply_get_free_space(struct sshbuf *, uint64_t *bytes);

/*
 * Returns the number of hashes that were copied to "sums", or -1 if the reply
 * is malformed, has more than "most", or names another algorithm.
 */
ssize_t	reply_get_hashes(struct sshbuf *, unsigned char *sums, size_t most);

/*
 * The replies that are due on one connection, beside those to the requests of
 * the scheduler and of upstream: each is handed to the function that was given
 * with the ID of its request.
 */
#define REPLIES_MAX	16

typedef void reply_fn(void *ctx, uint32_t id, u_char type, struct sshbuf *m);

struct replies {
	struct {
		uint32_t id;
		reply_fn *take;
		void	*ctx;		/* of "take" */
	} due[REPLIES_MAX];
	size_t	 n;
	uint32_t dropped_from;		/* IDs from here on; 0: none */
};

/*
 * Call when the request is sent; its ID must be due only once. More than
 * REPLIES_MAX are fatal.
 */
void	reply_expect(struct replies *, uint32_t id, reply_fn *, void *ctx);

/*
 * A message has arrived, with type and ID. Returns 1 if it was due and has been
 * handed over, or was dropped; otherwise 0, and the message is unchanged.
 */
int	reply_deliver(struct replies *, struct sshbuf *m);

#endif /* HAYATE_SFTP_REQUEST_HOOK_H */
