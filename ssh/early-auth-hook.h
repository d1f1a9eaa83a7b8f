/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-auth-hook: user authentication that sends requests without waiting for
 * the answers to earlier ones.
 *
 * A login begins in one of three ways, by the login cache (login-cache.h) and
 * the server's banner (early-servers.h):
 *
 *   known key   The cache has the server's methods, and publickey is the
 *               first of them that is enabled. The request "none" is left
 *               out, and the first key is sent when the server has named its
 *               signature algorithms. A key that the cache has as accepted is
 *               signed with at once, without a query.
 *   none        "none" is sent behind the request for the service, and to
 *               OpenSSH the first key behind EXT_INFO.
 *   stock       The server's implementation is unknown, or a back-off is
 *               active: upstream sends its requests when it always does.
 *
 * With "EarlyLogin no" and "Hayate no" this module does nothing. The host key
 * is verified before any of these requests. Upstream's handlers read all
 * replies, after ours, so a refused key leads to the next one as in stock. The
 * user is asked for nothing before the server has replied: no passphrase, no
 * PIN, no touch of a token. An agent that confirms each use of a key with the
 * user is the exception, because ssh cannot know of it.
 *
 * If the connection ends before the server has replied to an early request,
 * that may be the reason. ssh is then executed again with EarlyLogin=no.
 *
 * States: early-auth-hook.c. In ssh, for patch 248, for upstream's
 * sshconnect2.c, two of whose calls build-aux/overlay.mk renames, for
 * guess-hook.c, early-session-hook.h and cleanup-hook.c. One authentication for
 * each process. Main thread only.
 */

#ifndef HAYATE_EARLY_AUTH_HOOK_H
#define HAYATE_EARLY_AUTH_HOOK_H

struct cauthmethod;
struct ssh;
struct sshkey;

/*
 * Starts the authentication: loads the cache entry of this user at this server,
 * puts our handlers before upstream's, and may send "none". To be called once,
 * when the service was requested and upstream's handlers are set. "method" and
 * "list" are upstream's variables with the current method and the methods that
 * can continue; they are changed until the user is authenticated. "key" is the
 * method publickey. offer() tries the next key and returns 1 if a request was
 * sent. Errors of the connection are fatal.
 */
void	early_auth_begin(struct ssh *, const char *user, const char *host,
    struct cauthmethod **method, char **list, struct cauthmethod *key,
    int (*offer)(struct ssh *));

/*
 * Returns 1 if the server's banner is of that kind (early-servers.h), or with
 * "EarlyLogin yes", else 0. To be called when the banner was read.
 */
int	early_auth_allows(const struct ssh *, int (*kind)(const char *banner));

/*
 * Returns 1 if the banner is of that kind and the server has announced
 * publickey-hostbound@openssh.com, which only OpenSSH does: a banner may say
 * anything. Returns 0 otherwise, and before EXT_INFO was received.
 */
int early_auth_is_verified(const struct ssh *, int (*kind)(const char *banner));

/*
 * Call it at SERVICE_ACCEPT. Returns 1 if the first request was sent before, so
 * that upstream must not send "none"; else 0.
 */
int	early_auth_request_sent(void);

/*
 * Call it before a key is offered. Returns 1 if ssh should sign with the key at
 * once, without a query: the server has accepted it in the last login, no user
 * is needed to sign, and no back-off is active. "agent" is the descriptor of
 * the agent that has the key, or -1 if the private key is in "file". Keeps the
 * pointer to the key, which is only compared later.
 */
int	early_auth_may_sign(const struct sshkey *, int agent, const char *file);

/*
 * Call it before a signature is made with this key: notes whether the key was
 * offered, and its hash for the cache.
 */
void	early_auth_note_key(const struct sshkey *);

/*
 * Call it when a received packet is wrong, perhaps changed on the path, and end
 * the login then, as stock does: ssh is not executed again.
 */
void	early_auth_note_fault(void);

/*
 * From cleanup_exit(), as often as that is called. Ends the other parts of the
 * early login as well (early-requests-ssh-hook.h, early-session-hook.h,
 * guess-hook.h). If the connection ended, perhaps because of an early request,
 * changes the cache, which may begin a back-off, executes ssh again with
 * EarlyLogin=no (spawn_reexec()), and does not return. No request but those for
 * authentication was sent by then, so nothing is done twice. In all other cases
 * it returns, and the caller ends the process: after a login that ended for
 * another reason, while an early session has no reply, because its command may
 * have run, and if ssh cannot be executed again.
 */
void	early_auth_cleanup(void);

#endif /* HAYATE_EARLY_AUTH_HOOK_H */
