/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * restrict-hook: "restrict" in authorized_keys forbids tunnels as well
 * (CVE-2026-73283, CVE-2026-106586).
 *
 * From 10.5 on upstream checks the flag when a tunnel is opened. But before
 * that the options of a key are merged with others, and the merge drops the
 * flag. auth.c, auth2-pubkey.c and auth2-pubkeyfile.c call this function
 * instead of sshauthopt_merge() (build-aux/overlay.mk).
 */

#ifndef HAYATE_RESTRICT_HOOK_H
#define HAYATE_RESTRICT_HOOK_H

struct sshauthopt;

/*
 * As sshauthopt_merge(), with a new result that the caller frees, or NULL and
 * "*error". But if either of the two has the flag, so has the result, and its
 * tunnel device is SSH_TUNID_ERR, for releases before 10.5: no tunnel can be
 * opened, even if one of them has tunnel="n".
 */
struct sshauthopt *restrict_merge(const struct sshauthopt *,
    const struct sshauthopt *, const char **error);

#endif /* HAYATE_RESTRICT_HOOK_H */
