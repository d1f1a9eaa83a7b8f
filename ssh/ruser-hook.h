/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * ruser-hook: refuses names of users that a shell could misread.
 *
 * A user name of the command line may reach a shell, as %r in ProxyCommand or
 * Match exec, so it may have neither "$" nor "\": upstream refuses them from
 * 10.6 on (CVE-2026-106583). "User" in a file may have them.
 * build-aux/overlay.mk lets ssh.c call this function instead of log_init(). The
 * first call comes after ssh has read the command line, and before it reads a
 * file. Main thread only.
 */

#ifndef HAYATE_RUSER_HOOK_H
#define HAYATE_RUSER_HOOK_H

#include "log.h"

/*
 * As log_init(), which it calls first. At the first call it also ends ssh with
 * an error message and status 255 if the user name of the command line (-l, -o
 * User or user@host) contains "$" or "\". Later calls check nothing, because
 * the name may come from a file by then.
 */
void	ruser_log_init(const char *program, LogLevel, SyslogFacility,
    int to_stderr);

#endif /* HAYATE_RUSER_HOOK_H */
