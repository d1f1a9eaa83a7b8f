/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * remote-glob-hook: expands names of the server without a round trip for each
 * match.
 *
 * Upstream's glob() asks for the attributes of each match by lstat, and by stat
 * if it is a link, and sftp_download() asks again. But a listing has the
 * attributes already. Here several READDIRs of a directory are in flight, the
 * attributes of a match are kept until the next expansion, and links are
 * followed many at a time.
 *
 * scp can have many names of one server as arguments. The attributes of the
 * names that follow are requested together with those of the first.
 *
 * A pattern that begins with a dot never matches "." and "..", even if the
 * connection is left to stock code: a server could otherwise write beside the
 * target. The names "." and ".." themselves can be given.
 *
 * Called from patches/167-sftp-glob-attributes.patch and by arguments-hook.c.
 * Main thread only.
 */

#ifndef HAYATE_REMOTE_GLOB_HOOK_H
#define HAYATE_REMOTE_GLOB_HOOK_H

#include <sys/types.h>
#include <stddef.h>

struct Attrib;
struct sftp_conn;

/*
 * An expansion begins: replaces the functions in "glob", a glob_t. If the
 * connection is left to stock code, only "." and ".." are hidden.
 */
void	remote_glob_use(struct sftp_conn *, void *glob);

/*
 * These names, none of which is a pattern, are going to be expanded one after
 * the other. They are copied, and replace those of the last call; 0: none.
 */
void	remote_glob_expect(char *const *names, size_t n);

/*
 * Returns the attributes of a path of the last expansion, or an expected one,
 * if it is known to be a regular file, or a link to one; valid until the next
 * expansion. NULL otherwise.
 */
const struct Attrib *remote_glob_file(const struct sftp_conn *,
    const char *path);

/*
 * As sftp_expand_path(), in scp.c, but also fails, with an error message, if
 * the last name of the server's path is "." or "..", which the copy would get.
 */
char	*remote_glob_expand_path(struct sftp_conn *, const char *path);

#endif /* HAYATE_REMOTE_GLOB_HOOK_H */
