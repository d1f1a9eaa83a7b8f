/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-servers: what a client may ask before the server has answered what came
 * before.
 *
 * A login asks one question after the other, and each costs a round trip: may I
 * authenticate, what may I try, would this key do, this is my signature. RFC
 * 4252 lets a client send the next request at once, and the server answers them
 * in order. So the first goes out behind the request for the service, and where
 * an earlier login has shown what the server answers (login-cache.h), the
 * questions are left out whose answer is known.
 *
 * No I/O and no upstream header; early-auth-hook.c sends and receives.
 */

#ifndef HAYATE_EARLY_SERVERS_H
#define HAYATE_EARLY_SERVERS_H

/*
 * Whether a server with this banner is of a kind that was seen to take requests
 * before it has answered the one before. Others are met as stock meets them,
 * until they are known from an earlier login.
 */
int	early_server_is_allowed(const char *banner);

/*
 * Whether it says so of a message that it cannot use, and goes on: a question
 * that turns out to be one too many costs nothing there.
 */
int	early_server_is_openssh(const char *banner);

/*
 * Whether it was seen to take a session, and its command, that come before it
 * has accepted the user: OpenSSH from 9.0 on, and its forks.
 */
int	early_server_takes_session(const char *banner);

/*
 * Whether it was seen to ignore the first message of a key exchange if that was
 * guessed and is not right, as RFC 4253, section 7.1, has it.
 */
int	early_server_skips_guess(const char *banner);

/*
 * Whether it exchanges keys again when the session begins, if ChaCha20 or
 * AES-CTR was chosen: HPN-SSH.
 */
int	early_server_rekeys(const char *banner);

/*
 * Whether publickey is the first of the preferred methods that the server
 * offers. "enabled" answers for each of the others.
 */
int	early_key_is_first(const char *preferred, const char *offered,
    int (*enabled)(const char *method));

#endif /* HAYATE_EARLY_SERVERS_H */
