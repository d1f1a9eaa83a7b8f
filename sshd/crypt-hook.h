/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Where crypt() fails, musl's returns "*", as for a password of more than 256
 * characters. An account that nobody can log in to may have just that for its
 * hash, so without PAM each such password was right (CVE-2026-123158, from
 * 10.6p2 on). auth-passwd.c calls this for xcrypt() (build-aux/overlay.mk).
 */

#ifndef HAYATE_CRYPT_HOOK_H
#define HAYATE_CRYPT_HOOK_H

/* As xcrypt(), but NULL if that has failed */
char	*crypt_or_fail(const char *password, const char *salt);

#endif /* HAYATE_CRYPT_HOOK_H */
