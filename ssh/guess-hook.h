/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * guess-hook: the key exchange goes out with the banner, where an earlier login
 * has shown which one it will be. It saves a round trip.
 *
 * A login that is over has shown what the server proposes. If a guess of what
 * was chosen would have been right (kexguess.h), the names are remembered for
 * the host and port, with a hash of our own lists (login-cache.h). The next
 * login puts these names first in its proposal, says that a guess follows, and
 * sends banner, proposal and the first message of the exchange at once: a
 * public key that is made for this exchange, and nothing else.
 *
 * What is negotiated is what stock would negotiate, but for the cipher towards
 * HPN-SSH (gcm-hook.h), and for one thing. A stock server names RSA first, and
 * a guess is right only with its first algorithm. Where the files of known
 * hosts have that key of the host too, it is asked for: somebody on the path
 * can choose among the known keys in any case, by a server that has one alone.
 * Both lists of the server are compared with our own
 * in stock's order, and if that would lead to another method or a better key,
 * the login restarts without a guess, before anything else is sent. A guess
 * that is wrong otherwise is ignored by the server, and the exchange goes on as
 * in stock. Where servers are not known to ignore it, or one closes the
 * connection, the login restarts as well. Each time the memory is changed,
 * so that it happens once.
 *
 * Only methods whose keys are private to struct kex are guessed: curve25519
 * alone, with sntrup761 and with mlkem768.
 *
 * For upstream's ssh.c, sshconnect.c and sshconnect2.c, for which
 * build-aux/overlay.mk renames calls; in ssh. One connection. Main thread only.
 */

#ifndef HAYATE_GUESS_HOOK_H
#define HAYATE_GUESS_HOOK_H

#include <sys/types.h>
#include <sys/socket.h>

#include <signal.h>

struct addrinfo;
struct passwd;
struct ssh;
struct ssh_conn_info;
struct sshkey;

/* The type of an address in upstream's functions (build-aux/overlay.mk) */
#ifdef HAYATE_ADDRESS
typedef struct HAYATE_ADDRESS guess_address;
#else
typedef struct sockaddr guess_address;
#endif

/* As ssh_kex2(), in sshconnect.c: the exchange, of which a part may be done. */
void	guess_kex2(struct ssh *, char *host, guess_address *, u_short port,
    const struct ssh_conn_info *);

/* As kex_setup(), in sshconnect2.c: changes the proposal for the guess. */
int	guess_setup(struct ssh *, char **proposal);

/* As ssh_dispatch_run_fatal(), in sshconnect2.c: may send the guess instead. */
void	guess_dispatch_run(struct ssh *, int mode, volatile sig_atomic_t *done);

/*
 * As ssh_connect(), in ssh.c, and timeout_connect(), in sshconnect.c: with a
 * server whose last exchange took a costly key pair, it is made meanwhile, or
 * while a proxy connects.
 */
int	guess_connect(struct ssh *, const char *host, const char *host_arg,
    struct addrinfo *, struct sockaddr_storage *, u_short port, int attempts,
    int *timeout_ms, int keep_alive);
int	guess_timeout_connect(int, const struct sockaddr *, socklen_t,
    int *timeout_ms);

/*
 * Verifies a host key whose algorithm was requested only for the guess: it must
 * be in the files of known hosts, whose entry may be outdated. If it is not,
 * ssh is re-executed without a guess, to ask for the key that stock asks for.
 * Does nothing where stock would have asked for this algorithm.
 */
void	guess_check_key(const struct sshkey *);

/*
 * The next login has to see the same host key, because what is remembered of
 * the user goes with it. In early-auth-hook.c.
 */
void	guess_require_same_key(void);

/*
 * From early_auth_cleanup(). If the server has not answered the guess, removes
 * it from the cache. If the server closed the connection before its banner,
 * ssh is re-executed with EarlyLogin=no as well, and this does not return.
 */
void	guess_cleanup(void);

#endif /* HAYATE_GUESS_HOOK_H */
