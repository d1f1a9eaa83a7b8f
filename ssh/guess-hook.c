/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See guess-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "digest.h"
#include "dispatch.h"
#include "hostfile.h"
#include "kex.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "sshconnect.h"
#include "ssherr.h"
#include "sshkey.h"
#include "xmalloc.h"

#include "early-auth-hook.h"
#include "early-servers.h"
#include "gcm-hook.h"
#include "guess-hook.h"
#include "happy-eyes-hook.h"
#include "hayopt.h"
#include "kexguess.h"
#include "kexguess-hook.h"
#include "keypair-hook.h"
#include "known-hosts-hook.h"
#include "login-cache-hook.h"
#include "namelist.h"
#include "peer-hook.h"
#include "prompted-hook.h"
#include "spawn-hook.h"

extern Options options;

void	guess_login(struct ssh *, Sensitive *, const char *, guess_address *,
    u_short, struct passwd *, int, const struct ssh_conn_info *);

/*
 * A server that does not answer a guess for so long is taken for one that has
 * lost it, as one might that reads its first line with all that follows.
 */
#define REPLY_TIMEOUT_S	15	/* seconds */

/*
 * The first key exchange of the connection.
 *
 *   OFF --> OBSERVE --------------------------------------> DONE
 *              | a guess is in the cache                     ^
 *              v                                             |
 *         HAVE_MEMORY                                        |
 *              | upstream is about to send its banner        |
 *              v                                             |
 *          BUILDING ------> PROPOSAL_SENT ------------------>|
 *              |                                             |
 *              v                                             |
 *          PROPOSED                                          |
 *              | the first message of the exchange           |
 *              v                                             |
 *            SENT                                            |
 *              | the server's banner                         |
 *              v                                             |
 *         BANNER_SEEN ------> UNCERTAIN -------------------->|
 *              | the server's proposal                       |
 *              v                                             |
 *        REPLY_PENDING ------------------------------------->+
 *
 * The arrows to DONE are the server's proposal, and from REPLY_PENDING its
 * first message of the exchange. The end of the exchange or of the process
 * leads to OFF. All other transitions lead to a later value.
 */
enum guess_state {
	GUESS_OFF,		/* as stock; later exchanges as well */
	GUESS_OBSERVE,		/* as stock; the exchange is learned */
	GUESS_HAVE_MEMORY,	/* a guess may be sent with the banner */
	GUESS_BUILDING,		/* upstream makes the proposal for that */
	GUESS_PROPOSED,		/* the proposal says that a guess follows */
	/* sent with the banner; the client's lists no longer permit a guess */
	GUESS_PROPOSAL_SENT,
	/* The guess is in flight, and the server has not replied to it: */
	GUESS_SENT,		/* the server has sent nothing yet */
	GUESS_BANNER_SEEN,	/* nor has it sent its proposal */
	GUESS_REPLY_PENDING,	/* if it was wrong, to what followed it */
	/*
	 * As GUESS_BANNER_SEEN, but ssh had to be executed again and cannot be.
	 * A failure ends the login as in stock.
	 */
	GUESS_UNCERTAIN,
	GUESS_DONE		/* nothing more depends on the guess */
};

static struct {
	enum guess_state state;
	struct login_cache_entry was;	/* the cache entry as loaded */
	struct login_cache_entry now;	/* what this exchange has shown */

	/* what ssh_kex2() is called with, and keeps for later exchanges */
	char		*host;
	guess_address	*address;
	u_short		 port;
	const struct ssh_conn_info *cinfo;
	struct ssh	*ssh;

	char		*kex, *key;	/* our lists in stock's order */
	/* the key's algorithm was requested for the guess, not by stock */
	int		 key_alg_swapped;
	int	(*methods[KEX_MAX])(struct ssh *);	/* stock's */
	int	(*reply)(int, u_int32_t, struct ssh *);	/* stock's handler */
} guess;

static void
set_state(enum guess_state to)
{
	if (to < guess.state && to != GUESS_OFF)
		fatal_f("assertion failed: state %d after %d", (int)to,
		    (int)guess.state);
	guess.state = to;
}

static int
is_in_flight(void)
{
	return guess.state == GUESS_SENT || guess.state == GUESS_BANNER_SEEN ||
	    guess.state == GUESS_REPLY_PENDING;
}

/*
 * Removes the guess from the cache and executes ssh again without one
 * (spawn_reexec()). Returns only if that is impossible, for example because the
 * user would be prompted again; the login then goes on as if no reply to a
 * guess was pending, and errno is kept. Logs the reason at SYSLOG_LEVEL_INFO
 * once the server has sent something, because an attacker on the path may have
 * changed that: stock would end the login at the signature that covers it.
 */
static void
reexec_without_guess(int level, const char *why)
{
	int saved_errno = errno;

	if (guess.state == GUESS_BANNER_SEEN)
		set_state(GUESS_UNCERTAIN);
	else if (guess.state == GUESS_REPLY_PENDING)
		set_state(GUESS_DONE);
	guess.now.proposal_hash[0] = '\0';
	login_cache_save(&guess.now);
	spawn_reexec(level, why);
	errno = saved_errno;
}

/* As reexec_without_guess(), but fatal if that is impossible. */
static void
reexec_or_fail(const char *why)
{
	reexec_without_guess(SYSLOG_LEVEL_INFO, why);
	fatal("early login: %s. Try again.", why);
}

/*
 * The proposal
 */

static void
hash_lists(char *out)
{
	char *both;

	xasprintf(&both, "%s %s", guess.kex, guess.key);
	login_cache_hash_text(both, out);
	free(both);
}

/* Sets the proposal of a guess, which free_lists() frees. Returns 0 or -1. */
static int
put_names_first(const char *kex, const char *key, struct kexguess_lists *lists)
{
	char *first = kexguess_put_first(guess.kex, kex);

	lists->kex = namelist_join(first, KEXGUESS_NAME);
	lists->key = kexguess_put_first(guess.key, key);
	free(first);
	return lists->kex == NULL || lists->key == NULL ? -1 : 0;
}

static void
free_lists(struct kexguess_lists *lists)
{
	free((char *)(uintptr_t)lists->kex);
	free((char *)(uintptr_t)lists->key);
}

/* Those whose keys are not shared with another method in struct kex */
static int
is_guessable(const char *method)
{
	switch (kex_type_from_name(method)) {
	case KEX_C25519_SHA256:
	case KEX_KEM_SNTRUP761X25519_SHA512:
	case KEX_KEM_MLKEM768X25519_SHA256:
		return 1;
	}
	return 0;
}

static int
is_first(const char *list, const char *name)
{
	size_t len = strlen(name);

	return strncmp(list, name, len) == 0 &&
	    (list[len] == ',' || list[len] == '\0');
}

static int
starts_with_certificate(const char *list)
{
	char *name;
	int type;

	xasprintf(&name, "%.*s", (int)strcspn(list, ","), list);
	type = sshkey_type_from_name(name);
	free(name);
	return sshkey_type_is_cert(type);
}

/*
 * Returns 1 if a guess may ask for a host key of this algorithm. At LogLevel
 * QUIET nobody sees warn_of_key(), so it has to be the one that stock's order
 * asks a server for that has no certificate.
 */
static int
may_ask_for(const char *algorithm)
{
	const char *list = guess.key;

	if (log_level_get() > SYSLOG_LEVEL_QUIET)
		return 1;
	while (list != NULL && !is_first(list, algorithm) &&
	    starts_with_certificate(list)) {
		if ((list = strchr(list, ',')) != NULL)
			list++;
	}
	return list != NULL && is_first(list, algorithm);
}

/* Puts the guess into the proposal. Returns 0 if there is none to make. */
static int
build_proposal(char **proposal)
{
	struct kexguess_lists lists = { NULL, NULL };
	char hash[LOGIN_CACHE_HASH + 1];
	int can;

	hash_lists(hash);
	can = strcmp(hash, guess.was.proposal_hash) == 0 &&
	    is_guessable(guess.was.kex) && may_ask_for(guess.was.hostkey_alg) &&
	    put_names_first(guess.was.kex, guess.was.hostkey_alg, &lists) == 0;
	if (can) {
		free(proposal[PROPOSAL_KEX_ALGS]);
		free(proposal[PROPOSAL_SERVER_HOST_KEY_ALGS]);
		proposal[PROPOSAL_KEX_ALGS] = xstrdup(lists.kex);
		proposal[PROPOSAL_SERVER_HOST_KEY_ALGS] = xstrdup(lists.key);
	} else
		debug("early login: the proposal of this client has changed; "
		    "removed the server from the cache");
	free_lists(&lists);
	return can;
}

/* Sets first_kex_packet_follows, behind which comes a word. */
static int
set_guess_follows(struct sshbuf *proposal)
{
	size_t len = sshbuf_len(proposal);

	return len < 5 ? SSH_ERR_INTERNAL_ERROR :
	    sshbuf_poke_u8(proposal, len - 5, 1);
}

/* By its banner, or before that comes by what is remembered */
static int
server_rekeys(struct ssh *ssh)
{
	if (guess.state == GUESS_BUILDING)
		return guess.was.rekeys_at_session;
	return hayopt_get()->early_login != HAYOPT_EARLY_NO &&
	    peer_banner_matches(ssh, early_server_rekeys);
}

int
guess_setup(struct ssh *ssh, char **proposal)
{
	int r;

	if (server_rekeys(ssh))
		gcm_put_first(proposal);
	if (guess.state == GUESS_OFF)
		return kex_setup(ssh, proposal);
	guess.kex = xstrdup(proposal[PROPOSAL_KEX_ALGS]);
	guess.key = xstrdup(proposal[PROPOSAL_SERVER_HOST_KEY_ALGS]);
	if (guess.state != GUESS_BUILDING || !build_proposal(proposal))
		return kex_setup(ssh, proposal);
	set_state(GUESS_PROPOSED);
	if ((r = kex_ready(ssh, proposal)) != 0 ||
	    (r = set_guess_follows(ssh->kex->my)) != 0)
		return r;
	return kex_send_kexinit(ssh);
}

/*
 * The server's proposal
 */

/* Whether a guess may be sent to a server of this kind, if it was right. */
static int
server_is_allowed(void)
{
	return early_auth_allows(guess.ssh, early_server_is_allowed);
}

/* Whether stock proposes less to such an old server. */
static int
is_old_server(void)
{
	return (guess.ssh->compat &
	    (SSH_BUG_CURVE25519PAD | SSH_OLD_DHGEX)) != 0;
}

static void
set_reply_timeout(int seconds)
{
	const int stock = options.server_alive_interval *
	    options.server_alive_count_max;

	if (seconds != 0 && (stock <= 0 || stock > seconds))
		ssh_packet_set_timeout(guess.ssh, seconds, 1);
	else
		ssh_packet_set_timeout(guess.ssh, options.server_alive_interval,
		    options.server_alive_count_max);
}

/* The server has answered, the guess or what followed it. */
static int
receive_reply(int type, u_int32_t seq, struct ssh *ssh)
{
	set_state(GUESS_DONE);
	set_reply_timeout(0);
	backoff_clear(&guess.now.early_auth_backoff);
	if (!is_first(guess.kex, guess.was.kex))
		backoff_clear(&guess.now.early_session_backoff);
	return guess.reply(type, seq, ssh);
}

/* Drops the key that was made for a guess. */
static void
free_guess_key(struct kex *kex)
{
	sshbuf_free(kex->client_pub);
	kex->client_pub = NULL;
	explicit_bzero(kex->c25519_client_key, sizeof(kex->c25519_client_key));
	explicit_bzero(kex->sntrup761_client_key,
	    sizeof(kex->sntrup761_client_key));
	explicit_bzero(kex->mlkem768_client_key,
	    sizeof(kex->mlkem768_client_key));
}

/* Whether stock's order leads to what was chosen, or to a key no better. */
static int
is_stock_choice(const struct kex *kex, const struct kexguess_lists *server)
{
	char name[NAMELIST_NAME_SIZE], key[NAMELIST_NAME_SIZE];

	if (!namelist_choose(guess.kex, server->kex, name) ||
	    !namelist_choose(guess.key, server->key, key) ||
	    strcmp(name, kex->name) != 0)
		return 0;
	guess.key_alg_swapped = strcmp(key, kex->hostkey_alg) != 0;
	return !guess.key_alg_swapped || known_hosts_allow_alg(kex->hostkey_alg,
	    key);
}

/* Whether the next login may guess what was chosen, with "key" as host key. */
static int
may_guess(const struct kex *kex, const char *key,
    const struct kexguess_lists *server)
{
	struct kexguess_lists next = { NULL, NULL };
	int may = guess.now.early_auth_backoff.remaining == 0 &&
	    !is_old_server() && server_is_allowed() &&
	    is_guessable(kex->name) &&
	    (guess.now.early_session_backoff.remaining == 0 ||
	    is_first(guess.kex, kex->name)) && strlen(kex->name) <=
	    LOGIN_CACHE_NAME && strlen(key) <= LOGIN_CACHE_NAME &&
	    put_names_first(kex->name, key, &next) == 0 &&
	    kexguess_is_right(&next, server);

	free_lists(&next);
	return may;
}

/*
 * The key that the next login guesses: the one that was chosen, or the server's
 * first, where only that makes a guess right and it is known to be the host's.
 */
static const char *
choose_hostkey_alg(const struct kex *kex, const struct kexguess_lists *server,
    char first[NAMELIST_NAME_SIZE])
{
	if (may_guess(kex, kex->hostkey_alg, server))
		return kex->hostkey_alg;
	if (namelist_choose(server->key, server->key, first) &&
	    known_hosts_allow_alg(first, kex->hostkey_alg) &&
	    may_guess(kex, first, server)) {
		debug("early login: the next login asks for the key of type "
		    "%s, which the server prefers", first);
		return first;
	}
	return NULL;
}

static void
learn_from_exchange(const struct kex *kex, const struct kexguess_lists *server)
{
	char first[NAMELIST_NAME_SIZE];
	const char *key;

	guess.now.proposal_hash[0] = guess.now.kex[0] =
	    guess.now.hostkey_alg[0] = '\0';
	guess.now.rekeys_at_session = peer_banner_matches(guess.ssh,
	    early_server_rekeys);
	backoff_count_login(&guess.now.early_auth_backoff);
	backoff_count_login(&guess.now.early_session_backoff);
	if ((key = choose_hostkey_alg(kex, server, first)) == NULL) {
		if (keypair_is_slow(kex->name))
			strlcpy(guess.now.kex, kex->name,
			    sizeof(guess.now.kex));
		return;
	}
	hash_lists(guess.now.proposal_hash);
	strlcpy(guess.now.kex, kex->name, sizeof(guess.now.kex));
	strlcpy(guess.now.hostkey_alg, key, sizeof(guess.now.hostkey_alg));
}

/* Returns whether the guess, of our first names, is the exchange that comes. */
static int
guess_is_right(struct kex *kex, const struct kexguess_lists *mine,
    const struct kexguess_lists *server)
{
	if (!is_stock_choice(kex, server)) {
		backoff_raise(&guess.now.early_session_backoff);
		reexec_or_fail("the server now offers a better "
		    "algorithm than the one guessed");
	}
	if (kexguess_is_right(mine, server))
		return 1;
	debug("early login: the server negotiated another key exchange; "
	    "removed it from the cache");
	free_guess_key(kex);
	if (!peer_banner_matches(guess.ssh, early_server_skips_guess)) {
		backoff_raise(&guess.now.early_auth_backoff);
		reexec_or_fail("the server may not skip a wrong kex "
		    "guess");
	}
	return 0;
}

/* Stands in for each method: the proposal is read, and all is chosen. */
static int
receive_proposal(struct ssh *ssh)
{
	struct kex *kex = ssh->kex;
	struct kexguess_lists mine, server;
	char **my = NULL, **peer = NULL;
	int r, is_right, is_guessed = guess.state == GUESS_BANNER_SEEN ||
	    guess.state == GUESS_UNCERTAIN;

	memcpy(kex->kex, guess.methods, sizeof(kex->kex));
	if ((r = kex_buf2prop(kex->my, NULL, &my)) != 0 ||
	    (r = kex_buf2prop(kex->peer, NULL, &peer)) != 0)
		goto out;
	mine.kex = my[PROPOSAL_KEX_ALGS];
	mine.key = my[PROPOSAL_SERVER_HOST_KEY_ALGS];
	server.kex = peer[PROPOSAL_KEX_ALGS];
	server.key = peer[PROPOSAL_SERVER_HOST_KEY_ALGS];
	is_right = is_guessed && guess_is_right(kex, &mine, &server);
	set_state(guess.state == GUESS_BANNER_SEEN ? GUESS_REPLY_PENDING :
	    GUESS_DONE);
	learn_from_exchange(kex, &server);
	if (!is_right) {
		r = kex->kex[kex->kex_type](ssh);
		guess.reply = ssh->dispatch[SSH2_MSG_KEX_ECDH_REPLY];
	}
	if (is_guessed)
		ssh_dispatch_set(ssh, SSH2_MSG_KEX_ECDH_REPLY, receive_reply);
out:
	kex_prop_free(my);
	kex_prop_free(peer);
	return r;
}

/*
 * The exchange
 */

static void
hook_methods(struct kex *kex)
{
	size_t i;

	memcpy(guess.methods, kex->kex, sizeof(guess.methods));
	for (i = 0; i < KEX_MAX; i++) {
		if (kex->kex[i] != NULL)
			kex->kex[i] = receive_proposal;
	}
}

/*
 * Sends the first message of the exchange. The handler of the answer waits for
 * the server's proposal.
 */
static void
send_guess(struct ssh *ssh)
{
	const u_int type = kex_type_from_name(guess.was.kex);
	int r;

	ssh->kex->kex_type = type;
	if ((r = guess.methods[type](ssh)) != 0)
		fatal_fr(r, "%s", guess.was.kex);
	guess.reply = ssh->dispatch[SSH2_MSG_KEX_ECDH_REPLY];
	ssh_dispatch_set(ssh, SSH2_MSG_KEX_ECDH_REPLY, kex_protocol_error);
	set_state(GUESS_SENT);
	debug("early login: sending the key exchange with the banner (%s, %s)",
	    guess.was.kex, guess.was.hostkey_alg);
}

static int
is_hangup(int r)
{
	return r == SSH_ERR_CONN_CLOSED || r == SSH_ERR_CONN_TIMEOUT ||
	    r == SSH_ERR_DISCONNECTED || r == SSH_ERR_SYSTEM_ERROR;
}

/*
 * As ssh_dispatch_run_fatal(); ssh may be executed again only after a hang-up.
 */
static void
run_dispatch(struct ssh *ssh, int mode, volatile sig_atomic_t *done)
{
	int r = ssh_dispatch_run(ssh, mode, done);

	if (r == 0)
		return;
	if (!is_hangup(r))
		early_auth_note_fault();
	sshpkt_fatal(ssh, r, "ssh_dispatch_run_fatal");
}

void
guess_dispatch_run(struct ssh *ssh, int mode, volatile sig_atomic_t *done)
{
	const int is_early = guess.state == GUESS_BUILDING ||
	    guess.state == GUESS_PROPOSED;
	int r;

	if (guess.state == GUESS_OBSERVE || is_early)
		hook_methods(ssh->kex);
	if (!is_early) {
		run_dispatch(ssh, mode, done);
		return;
	}
	if (guess.state == GUESS_PROPOSED)
		send_guess(ssh);
	/* Stock says why when it reads the banner. */
	if ((r = ssh_packet_write_wait(ssh)) != 0)
		debug_fr(r, "sending the guess");
}

static void
send_with_banner(struct ssh *ssh)
{
	kexguess_at_banner = NULL;
	set_state(GUESS_BUILDING);
	ssh_kex2(ssh, guess.host, guess.address, guess.port, guess.cinfo);
	if (guess.state == GUESS_BUILDING)
		set_state(GUESS_PROPOSAL_SENT);
}

/* The server has said what it is. */
static void
check_server(void)
{
	if (is_old_server())
		reexec_or_fail("the server is an old one");
	if (!server_is_allowed()) {
		backoff_raise(&guess.now.early_auth_backoff);
		reexec_without_guess(SYSLOG_LEVEL_INFO,
		    "the server is of an unknown kind");
	}
}

/*
 * Whether a server that did not take the guess could be the reason. One with
 * strict KEX knows of guesses, so it objects to a message that somebody has put
 * before ours.
 */
static int
is_refusal(int r)
{
	return is_hangup(r) &&
	    (r != SSH_ERR_DISCONNECTED || !guess.ssh->kex->kex_strict);
}

static void
run_exchange(struct ssh *ssh)
{
	int r;

	if (is_in_flight())
		set_reply_timeout(REPLY_TIMEOUT_S);
	if ((r = ssh_dispatch_run(ssh, DISPATCH_BLOCK, &ssh->kex->done)) == 0)
		return;
	if (is_in_flight() && is_refusal(r)) {
		if (r == SSH_ERR_CONN_TIMEOUT)
			backoff_raise_to_max(&guess.now.early_auth_backoff);
		else
			backoff_raise(&guess.now.early_auth_backoff);
		reexec_without_guess(SYSLOG_LEVEL_INFO,
		    "the server did not take it");
	} else if (is_in_flight() && r == SSH_ERR_DISCONNECTED)
		backoff_raise_to_max(&guess.now.early_auth_backoff);
	sshpkt_fatal(ssh, r, "ssh_dispatch_run_fatal");
}

void
guess_kex2(struct ssh *ssh, char *host, guess_address *address, u_short port,
    const struct ssh_conn_info *cinfo)
{
	if (guess.state == GUESS_SENT || guess.state == GUESS_PROPOSAL_SENT) {
		if (guess.state == GUESS_SENT)
			set_state(GUESS_BANNER_SEEN);
		check_server();
		run_exchange(ssh);
	} else
		ssh_kex2(ssh, host, address, port, cinfo);
	keypair_forget();
	if (guess.state == GUESS_DONE || guess.state == GUESS_REPLY_PENDING)
		login_cache_save(&guess.now);
	set_state(GUESS_OFF);
	free(guess.kex);
	free(guess.key);
	guess.kex = guess.key = NULL;
}

/* Stock would have asked for another key, and could not have been shown it. */
static void
warn_of_key(const struct sshkey *key)
{
	const struct hostkey_entry *e = known_hosts_other_key(key);
	char *print = sshkey_fingerprint(key, SSH_DIGEST_SHA256, SSH_FP_BASE64);

	do_log2(SYSLOG_LEVEL_FATAL, "WARNING: the %s key that %s has shown, "
	    "%s, is not the one in %s:%lu. If its administrator has not "
	    "changed it, somebody may be between you and the host. Connecting "
	    "again, to ask for its other key.", sshkey_type(key),
	    e == NULL ? guess.host : e->host, print == NULL ? "-" : print,
	    e == NULL ? "-" : e->file, e == NULL ? 0 : e->line);
	free(print);
}

void
guess_check_key(const struct sshkey *key)
{
	/* In a rekey the session has begun, and nothing may run twice. */
	if ((guess.state != GUESS_DONE &&
	    guess.state != GUESS_REPLY_PENDING) || !guess.key_alg_swapped ||
	    known_hosts_has_key(key))
		return;
	warn_of_key(key);
	backoff_raise_to_max(&guess.now.early_auth_backoff);
	reexec_without_guess(SYSLOG_LEVEL_INFO,
	    "the host has another key of the kind that was asked for");
}

void
guess_require_same_key(void)
{
	if (guess.now.hostkey_alg[0] == '\0' ||
	    strcmp(guess.now.hostkey_alg, guess.ssh->kex->hostkey_alg) == 0)
		return;
	guess.now.proposal_hash[0] = '\0';
	login_cache_save(&guess.now);
}

/*
 * The connection
 */

static int is_costly;		/* the key pair of the last exchange */

int
guess_connect(struct ssh *ssh, const char *host, const char *host_arg,
    struct addrinfo *addrs, struct sockaddr_storage *addr, u_short port,
    int attempts, int *timeout_ms, int keep_alive)
{
	struct login_cache_entry e;
	char *name = xstrdup(host);
	int r;

	lowercase(name);
	is_costly = hayopt_get()->early_login != HAYOPT_EARLY_NO &&
	    login_cache_load_host(name, port, &e) == 0 &&
	    keypair_is_slow(e.kex);
	free(name);
	happy_eyes_begin(addrs);
	r = ssh_connect(ssh, host, host_arg, addrs, addr, port, attempts,
	    timeout_ms, keep_alive);
	happy_eyes_end(r, addr);
	/* A proxy has only begun to connect. */
	if (r == 0 && is_costly && options.proxy_command != NULL)
		keypair_prepare();
	return r;
}

/* Returns as connect(2) without waiting. */
static int
begin_connect(int sock, const struct sockaddr *addr, socklen_t len)
{
	int r, saved_errno;

	set_nonblock(sock);
	r = connect(sock, addr, len);
	saved_errno = errno;
	unset_nonblock(sock);
	errno = saved_errno;
	return r;
}

/* Waits for it, so many ms; -1: for ever. Returns as connect(2). */
static int
finish_connect(int sock, int timeout_ms)
{
	struct pollfd pfd = { .fd = sock, .events = POLLOUT };
	int r, error = ETIMEDOUT;
	socklen_t len = sizeof(error);

	while ((r = poll(&pfd, 1, timeout_ms)) == -1 && errno == EINTR)
		;
	if (r == -1 || (r == 1 &&
	    getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &len) == -1))
		return -1;
	errno = error;
	return error == 0 ? 0 : -1;
}

int
guess_timeout_connect(int sock, const struct sockaddr *addr, socklen_t len,
    int *timeout_ms)
{
	int r;

	if (happy_eyes_is_on()) {
		happy_eyes_start(sock, addr, len, timeout_ms);
		if (is_costly)
			keypair_prepare();
		return happy_eyes_wait_for(sock, timeout_ms);
	}
	if (!is_costly)
		return timeout_connect(sock, addr, len, timeout_ms);
	if ((r = begin_connect(sock, addr, len)) == 0 || errno != EINPROGRESS)
		return r;
	keypair_prepare();
	return finish_connect(sock, timeout_ms == NULL || *timeout_ms <= 0 ?
	    -1 : *timeout_ms);
}

/* For upstream's ssh.c, in place of ssh_login(). */
void
guess_login(struct ssh *ssh, Sensitive *sensitive, const char *host,
    guess_address *address, u_short port, struct passwd *pw, int timeout_ms,
    const struct ssh_conn_info *cinfo)
{
	guess.ssh = ssh;
	guess.host = xstrdup(host);
	lowercase(guess.host);
	guess.address = address;
	guess.port = port;
	guess.cinfo = cinfo;
	if (hayopt_get()->early_login != HAYOPT_EARLY_NO &&
	    login_cache_load_host(guess.host, port, &guess.was) == 0)
		set_state(GUESS_OBSERVE);
	guess.now = guess.was;
	if (guess.state == GUESS_OBSERVE && guess.was.proposal_hash[0] !=
	    '\0' && guess.was.early_auth_backoff.remaining == 0 &&
	    !prompted_user() && spawn_can_reexec()) {
		set_state(GUESS_HAVE_MEMORY);
		kexguess_at_banner = send_with_banner;
	}
	ssh_login(ssh, sensitive, host, address, port, pw, timeout_ms, cinfo);
}

static int
connection_is_closed(void)
{
	int fd = ssh_packet_get_connection_in(guess.ssh);
	char byte;
	ssize_t n;

	set_nonblock(fd);
	n = read(fd, &byte, 1);
	return n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR);
}

void
guess_cleanup(void)
{
	const int no_banner_yet = guess.state == GUESS_SENT;
	const int was_in_flight = is_in_flight();

	set_state(GUESS_OFF);
	if (!was_in_flight)
		return;
	guess.now.proposal_hash[0] = '\0';
	if (no_banner_yet && connection_is_closed())
		reexec_without_guess(SYSLOG_LEVEL_VERBOSE,
		    "the server closed the connection");
	else
		login_cache_save(&guess.now);
}
