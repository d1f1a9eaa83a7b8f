/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * "restrict" in authorized_keys forbids tunnels as well (CVE-2026-73283,
 * CVE-2026-106586). Upstream asks for it from 10.5 on, where a tunnel is
 * opened; but options of a key are merged with others before, and the merge
 * forgets it. auth.c, auth2-pubkey.c and auth2-pubkeyfile.c call this for
 * sshauthopt_merge() (build-aux/overlay.mk). It keeps it, and leaves no device
 * that a release before 10.5 could open.
 */

#ifndef HAYATE_RESTRICT_HOOK_H
#define HAYATE_RESTRICT_HOOK_H

struct sshauthopt;

struct sshauthopt *restrict_merge(const struct sshauthopt *,
    const struct sshauthopt *, const char **error);

#endif /* HAYATE_RESTRICT_HOOK_H */
