/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * first-hook: real paths, asked for before they are needed.
 *
 * Upstream asks what a path is, waits, and then asks for its real path if it is
 * a directory that is to be copied. The second question needs no answer to the
 * first. So both are sent together, and a tree begins a round trip earlier. A
 * tree that is got needs no STAT either: the LSTAT was the last request that
 * looked at it.
 *
 * An answer is good until another request has been sent. A refusal is no
 * answer: upstream asks again, and says what is wrong.
 *
 * Only for a connection that is tuned. Main thread only.
 */

#ifndef HAYATE_FIRST_HOOK_H
#define HAYATE_FIRST_HOOK_H

struct Attrib;
struct sftp_conn;
struct sshbuf;

/* A connection begins. */
void	first_init(const struct sftp_conn *);

/*
 * Asks for the real path of "path". Two such requests can be under way. The
 * next request has to be the one that says whether the path is a directory.
 */
void	first_ask(struct sftp_conn *, const char *path);

/* A message was read. Returns 1 if it answers one of them, and was used. */
int	first_take(const struct sftp_conn *, const struct sshbuf *m);

/* Returns the real path of "path", which the caller frees, or NULL. */
char	*first_realpath(struct sftp_conn *, const char *path);

/*
 * Returns the attributes of the directory whose real path first_realpath() has
 * just returned, if nothing was sent since, or NULL.
 */
const struct Attrib *first_dir(struct sftp_conn *, const char *real);

#endif /* HAYATE_FIRST_HOOK_H */
