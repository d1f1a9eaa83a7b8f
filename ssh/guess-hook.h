/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * guess-hook: sends the first message of the key exchange with the banner,
 * where an earlier login has shown which exchange will be chosen (RFC 4253,
 * section 7.1). This saves a round trip.
 *
 * Each login learns what the server proposes. If the server would have accepted
 * a guess of the chosen algorithms (kexguess.h), the login cache keeps their
 * names for this host and port, with a hash of the client's own lists. The next
 * login puts these names first in its proposal, says that a guess follows, and
 * sends banner, proposal and a public key that is made for this exchange at
 * once. Only methods are guessed whose keys are not shared with another one in
 * struct kex: curve25519 alone, with sntrup761 and with mlkem768.
 *
 * The algorithms are those that stock would negotiate, with two exceptions: the
 * cipher towards HPN-SSH (gcm-hook.h), and the host key. A guess is right only
 * with the server's first algorithm, which is RSA in a stock server. That key
 * is requested if the files of known hosts have it for the host as well. An
 * attacker on the path has the same choice among the known keys without this,
 * by a server with only one of them.
 *
 * When the server's proposal arrives, both of its lists are compared with ours
 * in stock's order. If they lead to another method or a better key, ssh is
 * executed again without a guess, before anything else is sent. A guess that
 * is wrong for another reason is ignored by the server, and the exchange
 * continues as in stock. A server may not be known to ignore it, may close the
 * connection, or may not reply within 15 seconds: then too ssh is executed
 * again without a guess. The cache is changed each time, so that this happens
 * once.
 *
 * States: guess-hook.c. In ssh, for upstream's ssh.c, sshconnect.c and
 * sshconnect2.c, calls of which build-aux/overlay.mk renames. One connection
 * for each process. Main thread only.
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

/*
 * In place of ssh_kex2() in sshconnect.c, when the banners were exchanged:
 * completes the key exchange, of which the first messages may have been sent
 * with the banner, and writes what it has shown to the cache. Errors are fatal,
 * or ssh is executed again.
 */
void	guess_kex2(struct ssh *, char *host, guess_address *, u_short port,
    const struct ssh_conn_info *);

/*
 * In place of kex_setup() in sshconnect2.c: changes the proposal, PROPOSAL_MAX
 * allocated strings, for a guess and for HPN-SSH. Returns as kex_setup().
 */
int	guess_setup(struct ssh *, char **proposal);

/*
 * In place of ssh_dispatch_run_fatal() in sshconnect2.c. While the proposal is
 * made for a guess, sends the guess instead of waiting for packets. In the
 * authentication an error other than the end of the connection is noted by
 * early_auth_note_fault().
 */
void	guess_dispatch_run(struct ssh *, int mode, volatile sig_atomic_t *done);

/*
 * In place of ssh_connect() in ssh.c, and of timeout_connect() in sshconnect.c.
 * If the last exchange with this server needed a key pair that takes long to
 * make, it is made while TCP or a proxy connects. With HappyEyes several
 * addresses are tried at a time (happy-eyes-hook.h). They return as upstream's.
 */
int	guess_connect(struct ssh *, const char *host, const char *host_arg,
    struct addrinfo *, struct sockaddr_storage *, u_short port, int attempts,
    int *timeout_ms, int keep_alive);
int	guess_timeout_connect(int, const struct sockaddr *, socklen_t,
    int *timeout_ms);

/*
 * Call it before upstream verifies a host key. If the algorithm of the key was
 * requested only for the guess, the key must be in the files of known hosts,
 * whose line may be outdated. If it is not, warns, and executes ssh again
 * without a guess, to ask for the key that stock asks for; returns only if that
 * is impossible. Returns at once where stock would have requested this
 * algorithm, and in a rekey.
 */
void	guess_check_key(const struct sshkey *);

/*
 * Called by early-auth-hook.c when it keeps something about the user, which the
 * cache has for one host key only: if the next guess would request another key,
 * it is removed from the cache.
 */
void	guess_require_same_key(void);

/*
 * From early_auth_cleanup(). If the server has not replied to the guess,
 * removes it from the cache. If the server has moreover closed the connection
 * before its banner, executes ssh again with EarlyLogin=no, and returns only if
 * that is impossible.
 */
void	guess_cleanup(void);

#endif /* HAYATE_GUESS_HOOK_H */
