/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * peer-hook: tells the peer that we are Hayate, and learns whether the peer is.
 *
 * The answers come from extensions and banners of the peer and are flags of
 * ssh->kex, so they survive the change of process from sshd's authentication to
 * its session. A mux client has no key exchange of its own: the functions that
 * ask about the peer return 0 there, but peer_banner_matches() must not be
 * called.
 *
 * Called from patches/150-kex-ext-info.patch and by the modules. Main thread
 * only.
 */

#ifndef HAYATE_PEER_HOOK_H
#define HAYATE_PEER_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;

/*
 * Appends our extension (peer.h) to the first SSH2_MSG_EXT_INFO, which upstream
 * has composed, as client or server, and increments the number of extensions in
 * it. Does nothing if peer_is_disabled(). Out of memory, the message stays as
 * upstream composed it, and a debug line says so.
 */
void	peer_add_extension(struct ssh *, struct sshbuf *);

/*
 * Reads one extension of the peer's SSH2_MSG_EXT_INFO, which is being received.
 * Returns 1 if the extension is ours, and then upstream must not read it. The
 * functions below know the peer from then on; a value without a version
 * (peer_parse_version()) is logged for debugging and changes nothing. Returns 0
 * if upstream has to read the extension. If peer_is_disabled(), and in any
 * message but the first of the connection, that applies to our extension as
 * well, and upstream ignores it.
 */
int	peer_read_extension(struct ssh *, const char *name,
    const unsigned char *value, size_t len);

/*
 * For sshd's parser: exports "Hayate no" (HAYATE_OFF_BY) and "VersionDetails
 * no" (HAYATE_RELEASE_BY) in the environment, for child processes that read no
 * configuration (sshd-auth), or removes the variables if the options no longer
 * apply. The value is our process ID, so only direct children heed it, when
 * they start. Call it after each of our keywords. The process ends if the
 * environment cannot be set.
 */
void	peer_export_options(void);

/*
 * Returns 1 with "Hayate no", here or in the sshd that started this process;
 * else 0. Use it instead of hayopt_get() before authentication.
 */
int	peer_is_disabled(void);

/*
 * Returns how our banner names this program: "whole", or "release" with
 * "VersionDetails no", here or in the sshd that started this process. The
 * result is one of the arguments. The version.h that build-aux/prep makes calls
 * it where upstream's code uses SSH_VERSION or SSH_RELEASE_MINIMUM.
 */
const char *peer_banner_version(const char *release, const char *whole);

/*
 * Returns 1 if both sides are Hayate and have recognised each other: after the
 * peer's first SSH2_MSG_EXT_INFO, and not with "Hayate no". Accepts NULL.
 */
int	peer_is_hayate(const struct ssh *);

/* Returns 1 if peer_is_hayate(), and the peer knows the modes of authonly.h. */
int	peer_knows_authonly(const struct ssh *);

/* Returns 1 if peer_is_hayate(), and the peer answers STALL_STATS_REQUEST. */
int	peer_knows_stall_stats(const struct ssh *);

/*
 * Calls kind() with a copy of the peer's banner, which is "" until it has
 * arrived. Returns 1 if the result is not 0; 0 also if out of memory. ssh->kex
 * must exist.
 */
int	peer_banner_matches(const struct ssh *,
    int (*kind)(const char *banner));

/*
 * Returns 1 if the peer is known to handle packets of more than 32 KiB in both
 * directions: a Hayate that we recognise, or an unmodified OpenSSH by its
 * banner (peer_is_openssh()). HPN-SSH garbles such packets or ends the
 * connection; other implementations were not tested. Returns 0 with "Hayate
 * no", for NULL, and until the peer is known.
 */
int	peer_takes_large_packets(const struct ssh *);

#endif /* HAYATE_PEER_HOOK_H */
