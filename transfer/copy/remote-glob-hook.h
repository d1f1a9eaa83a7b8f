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
 * attributes already. Here several READDIRs of a directory are in flight, what
 * it says of a match is kept until the match is downloaded, and links are
 * followed many at a time.
 *
 * scp can have many names of one server as arguments. The attributes of the
 * names that follow are asked for together with those of the first.
 *
 * A pattern that begins with a dot never matches "." and "..", also where the
 * rest is left to stock code: a server could write beside the target, and what
 * the pattern does not name. Who wants them writes them out.
 *
 * What is kept is forgotten when names are expanded again. Called from
 * patches/167-sftp-glob-attributes.patch and by arguments-hook.c. Main thread
 * only.
 */

#ifndef HAYATE_REMOTE_GLOB_HOOK_H
#define HAYATE_REMOTE_GLOB_HOOK_H

#include <sys/types.h>
#include <stddef.h>

struct Attrib;
struct sftp_conn;

/*
 * Names are going to be expanded: takes the place of the functions of "glob",
 * a glob_t. Those of a connection that is left to stock code are kept but for
 * "." and "..".
 */
void	remote_glob_use(struct sftp_conn *, void *glob);

/*
 * These names, none of which is a pattern, are going to be expanded one after
 * the other. 0 names: there are no such names any more.
 */
void	remote_glob_expect(char *const *names, size_t n);

/*
 * Returns the attributes of a path that was expanded last, or expected, if it
 * is known to be a regular file, or to lead to one; NULL otherwise.
 */
const struct Attrib *remote_glob_file(const struct sftp_conn *,
    const char *path);

/*
 * As sftp_expand_path(), in scp.c. What the server makes of ~user is refused if
 * its last name is "." or "..", as the copy would get that name.
 */
char	*remote_glob_expand_path(struct sftp_conn *, const char *path);

#endif /* HAYATE_REMOTE_GLOB_HOOK_H */
