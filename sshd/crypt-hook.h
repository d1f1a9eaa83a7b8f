/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * crypt-hook: a password that cannot be hashed is never right.
 *
 * If crypt(3) fails, for example for a password of more than 256 characters,
 * that of musl returns "*". A locked account may have just that in the place of
 * its hash, so without PAM every such password was accepted (CVE-2026-123158;
 * fixed upstream in 10.6p2). build-aux/overlay.mk lets auth-passwd.c call this
 * function instead of xcrypt().
 */

#ifndef HAYATE_CRYPT_HOOK_H
#define HAYATE_CRYPT_HOOK_H

/*
 * As xcrypt(), whose static buffer it returns, but NULL if that fails or the
 * result is shorter than a hash, 13 characters. auth-passwd.c then refuses the
 * password.
 */
char	*crypt_or_fail(const char *password, const char *salt);

#endif /* HAYATE_CRYPT_HOOK_H */
