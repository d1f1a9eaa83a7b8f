/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-auth-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "authfile.h"
#include "kex.h"
#include "log.h"
#include "match.h"
#include "misc.h"
#include "packet.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "sshkey.h"
#include "xmalloc.h"

#include "early-auth-hook.h"
#include "early-requests-ssh-hook.h"
#include "early-servers.h"
#include "early-session-hook.h"
#include "guess-hook.h"
#include "hayopt.h"
#include "login-cache-hook.h"
#include "peer-hook.h"
#include "spawn-hook.h"

extern Options options;

int	early_auth_put_signed(struct ssh *, const struct sshbuf *);
int	early_auth_send(struct ssh *);

/*
 * Which requests went out early, and whether the server has replied to one.
 *
 *   OFF --> WAIT_EXT_INFO
 *                 |  EXT_INFO, or SERVICE_ACCEPT without it
 *                 v
 *   OFF --> STOCK -----------------------------------> STOCK_ANSWERED
 *   STOCK --> KEY_SENT ------------------------------> ANSWERED
 *   STOCK --> NONE_SENT ----------------------------->    ^
 *                 |  EXT_INFO                             |
 *                 v                                       |
 *         NONE_AND_KEY_SENT ----------------------------->|
 *                 |  a failure that does not name         |
 *                 v  publickey                            |
 *           KEY_UNWANTED -------------------------------->+
 *
 * The arrows to the right are USERAUTH_FAILURE. USERAUTH_SUCCESS leads from
 * each state but OFF and WAIT_EXT_INFO to DONE. A packet that is wrong leads
 * from all to FAULT, and the end of the process to OFF. All other transitions
 * lead to a later value.
 */
enum auth_state {
	AUTH_OFF,		/* EarlyLogin=no, or no authentication runs */
	AUTH_WAIT_EXT_INFO,	/* the first key waits for EXT_INFO */
	AUTH_STOCK,		/* upstream asks; no reply to a request yet */
	/* A request was sent before SERVICE_ACCEPT, and has no reply yet: */
	AUTH_NONE_SENT,		/* "none" */
	AUTH_NONE_AND_KEY_SENT,	/* "none", and behind it the first key */
	AUTH_KEY_SENT,		/* the first key, in a query or signed */
	/* The server has replied: */
	AUTH_STOCK_ANSWERED,	/* nothing was sent early */
	AUTH_KEY_UNWANTED,	/* to "none"; no key can succeed, one is sent */
	AUTH_ANSWERED,		/* to the first early request */
	AUTH_DONE,		/* the user is authenticated */
	AUTH_FAULT		/* a packet was wrong; ends as in stock */
};

/* The authentication that runs */
static struct {
	enum auth_state	 state;

	/* as early_auth_begin() got them */
	struct cauthmethod **method, *none, *key;
	char		**list;
	int		(*offer)(struct ssh *);
	const char	*user;

	/* the cache entry as loaded, without an ID if there is no cache */
	struct login_cache_entry was;
	struct login_cache_entry now;	/* what this login has shown */
	/* signature algorithms announced before the user was named, or NULL */
	char		*algs;
	int		 is_partial;	/* a method succeeded, others follow */

	/* The key that upstream tries */
	const struct sshkey *offered;	/* only compared; may be freed */
	int		 signed_without_query;	/* instead of offering it */
	int		 key_was_offered;	/* signs with "offered" */
	int		 signing_request;	/* until that is sent */
	char		 key_hash[LOGIN_CACHE_HASH + 1]; /* signed with last */

	/* upstream's handlers */
	int	(*accept)(int, u_int32_t, struct ssh *);
	int	(*ext)(int, u_int32_t, struct ssh *);
	int	(*success)(int, u_int32_t, struct ssh *);
	int	(*failure)(int, u_int32_t, struct ssh *);
} auth;

static void
set_state(enum auth_state to)
{
	if (to < auth.state && to != AUTH_OFF)
		fatal_f("assertion failed: state %d after %d", (int)to,
		    (int)auth.state);
	auth.state = to;
}

/* Returns 1 if an early request was sent, and no request has a reply yet. */
static int
is_unanswered(void)
{
	return auth.state >= AUTH_NONE_SENT && auth.state <= AUTH_KEY_SENT;
}

int
early_auth_request_sent(void)
{
	return is_unanswered() || auth.state == AUTH_KEY_UNWANTED ||
	    auth.state == AUTH_ANSWERED;
}

static int
has_cache(void)
{
	return auth.was.id[0] != '\0';
}

static int
is_enabled(const char *method)
{
	if (strcmp(method, "publickey") == 0)
		return options.pubkey_authentication != 0;
	if (strcmp(method, "hostbased") == 0)
		return options.hostbased_authentication;
	if (strncmp(method, "gssapi", 6) == 0)
		return options.gss_authentication;
	if (strcmp(method, "keyboard-interactive") == 0)
		return options.kbd_interactive_authentication;
	return strcmp(method, "password") != 0 ||
	    options.password_authentication;
}

/* A private key without its public half may need a passphrase. */
static int
may_need_passphrase(void)
{
	struct stat st;
	int i;

	for (i = 0; i < options.num_identity_files; i++) {
		if (options.identity_keys[i] == NULL &&
		    stat(options.identity_files[i], &st) == 0)
			return 1;
	}
	return 0;
}

/* Sends the first key. Returns 1 if a request was sent, else 0. */
static int
offer_key(struct ssh *ssh)
{
	struct cauthmethod *before = *auth.method;

	*auth.method = auth.key;
	if (auth.offer(ssh))
		return 1;
	*auth.method = before;
	return 0;
}

static void
send_none(struct ssh *ssh)
{
	int r;

	if ((r = sshpkt_start(ssh, SSH2_MSG_USERAUTH_REQUEST)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, auth.user)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "ssh-connection")) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "none")) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)
		fatal_fr(r, "send packet");
	set_state(AUTH_NONE_SENT);
	debug("early login: sending the request for authentication methods "
	    "early");
}

/*
 * Upstream leaves out keys for which the server has no signature algorithm. A
 * server announces its algorithms before it knows the user, and again for that
 * user, and the first list may be shorter. A key may be sent before the second
 * list only if the first one is what it was when both were the same, or has all
 * algorithms of the client.
 */
static int
has_same_algs(void)
{
	char hash[LOGIN_CACHE_HASH + 1];

	if (auth.algs == NULL || auth.was.sig_algs[0] == '\0')
		return auth.algs == NULL;
	login_cache_hash_text(auth.algs, hash);
	return strcmp(hash, auth.was.sig_algs) == 0;
}

static int
has_all_algs(void)
{
	char *ours = xstrdup(options.pubkey_accepted_algos), *p = ours, *alg;
	char *found;
	int has_all = auth.algs != NULL;

	while (has_all && (alg = strsep(&p, ",")) != NULL) {
		found = sshkey_type_from_name(alg) == KEY_UNSPEC ? NULL :
		    match_list(sshkey_sigalg_by_name(alg), auth.algs, NULL);
		has_all = found != NULL;
		free(found);
	}
	free(ours);
	return has_all;
}

/*
 * Offers the first key in place of "none". Not to be called before the server
 * has named its signature algorithms, or will not: until then an RSA key can
 * use none, and upstream does not try it again.
 */
static void
offer_remembered(struct ssh *ssh)
{
	set_state(AUTH_STOCK);
	if (!has_same_algs()) {
		send_none(ssh);
		return;
	}
	free(*auth.list);
	*auth.list = xstrdup(auth.was.methods);
	if (!offer_key(ssh))
		return;
	set_state(AUTH_KEY_SENT);
	debug("early login: skipping the request for authentication methods "
	    "(%s)", auth.was.methods);
}

static int
can_skip_none(void)
{
	return has_cache() && auth.was.early_auth_backoff.remaining == 0 &&
	    early_key_is_first(options.preferred_authentications,
	    auth.was.methods, is_enabled) && !may_need_passphrase();
}

int
early_auth_allows(const struct ssh *ssh, int (*kind)(const char *banner))
{
	return hayopt_get()->early_login == HAYOPT_EARLY_YES ||
	    peer_banner_matches(ssh, kind);
}

int
early_auth_is_verified(const struct ssh *ssh, int (*kind)(const char *banner))
{
	return peer_banner_matches(ssh, kind) &&
	    (ssh->kex->flags & KEX_HAS_PUBKEY_HOSTBOUND) != 0;
}

/*
 * Returns 1 if the server replies to two requests in their order. asyncssh
 * works on both at once, and may drop the second.
 */
static int
answers_in_order(const struct ssh *ssh)
{
	return hayopt_get()->early_login == HAYOPT_EARLY_YES ||
	    early_auth_is_verified(ssh, early_server_is_openssh);
}

/*
 * Returns 1 if the first key may be sent before the reply to "none". Without a
 * cache a server that counts this as a failure of the user would do so in each
 * login.
 */
static int
can_try_first_key(const struct ssh *ssh)
{
	return auth.state == AUTH_NONE_SENT && has_cache() && has_all_algs() &&
	    auth.was.methods[0] == '\0' && answers_in_order(ssh) &&
	    early_key_is_first(options.preferred_authentications,
	    "gssapi-with-mic,hostbased,keyboard-interactive,password,publickey",
	    is_enabled) && !may_need_passphrase();
}

/* The handlers; each calls upstream's, and learns from the message. */

static int
receive_ext(int type, u_int32_t seq, struct ssh *ssh)
{
	int r = auth.ext(type, seq, ssh);

	if (r != 0)
		return r;
	auth.now.sends_ext_info = 1;
	if (ssh->kex->server_sig_algs != NULL && auth.algs == NULL)
		auth.algs = xstrdup(ssh->kex->server_sig_algs);
	if (auth.state == AUTH_WAIT_EXT_INFO)
		offer_remembered(ssh);
	else if (can_try_first_key(ssh) && offer_key(ssh)) {
		set_state(AUTH_NONE_AND_KEY_SENT);
		debug("early login: offering a key early");
	}
	return r;
}

static enum auth_state
state_after_failure(const char *list)
{
	if (auth.state == AUTH_STOCK || auth.state == AUTH_STOCK_ANSWERED)
		return AUTH_STOCK_ANSWERED;
	return auth.state == AUTH_NONE_AND_KEY_SENT &&
	    strstr(list, "publickey") == NULL ? AUTH_KEY_UNWANTED :
	    AUTH_ANSWERED;
}

/* Learns which methods can continue. Does not consume the message. */
static void
learn_failure(struct ssh *ssh)
{
	struct sshbuf *b;
	size_t len;
	const u_char *p = sshpkt_ptr(ssh, &len);
	char *list = NULL;
	u_char partial = 0;

	if ((b = sshbuf_from(p, len)) == NULL ||
	    sshbuf_get_cstring(b, &list, NULL) != 0 ||
	    sshbuf_get_u8(b, &partial) != 0)
		goto out;	/* upstream reports it */
	if (partial) {
		if (!auth.is_partial && *auth.method == auth.key)
			strlcpy(auth.now.accepted_key, auth.key_hash,
			    sizeof(auth.now.accepted_key));
		auth.is_partial = 1;
		early_auth_defer_session("one method was not enough");
	} else if (!auth.is_partial) {
		if ((is_unanswered() || auth.state == AUTH_STOCK) &&
		    strcmp(auth.was.methods, list) != 0)
			login_cache_set_methods(&auth.now, list);
		if (auth.signed_without_query) {
			debug("early login: the server no longer accepts the "
			    "key; removed it from the cache");
			auth.now.accepted_key[0] = '\0';
			login_cache_save(&auth.now);
		}
	}
	auth.signed_without_query = 0;
	early_session_rejected();
	set_state(state_after_failure(list));
out:
	free(list);
	sshbuf_free(b);
}

/* The reply to "none", while that to the key is pending */
static int
receive_none(struct ssh *ssh)
{
	char *list = NULL;
	u_char partial;
	int r;

	if ((r = sshpkt_get_cstring(ssh, &list, NULL)) != 0 ||
	    (r = sshpkt_get_u8(ssh, &partial)) != 0 ||
	    (r = sshpkt_get_end(ssh)) != 0) {
		free(list);
		return r;
	}
	debug("Authentications that can continue: %s", list);
	free(*auth.list);
	*auth.list = list;
	return 0;
}

static int
receive_failure(int type, u_int32_t seq, struct ssh *ssh)
{
	const int is_for_none = auth.state == AUTH_NONE_AND_KEY_SENT;

	learn_failure(ssh);
	if (is_for_none)
		return receive_none(ssh);
	return auth.failure(type, seq, ssh);
}

static int
receive_success(int type, u_int32_t seq, struct ssh *ssh)
{
	const int was_early = early_auth_request_sent();
	int r;

	if (auth.state == AUTH_NONE_AND_KEY_SENT)
		*auth.method = auth.none;
	r = auth.success(type, seq, ssh);
	set_state(AUTH_DONE);
	if (*auth.method == auth.none)
		auth.now.methods[0] = '\0';
	if (!auth.is_partial)
		strlcpy(auth.now.accepted_key, *auth.method == auth.key ?
		    auth.key_hash : "", sizeof(auth.now.accepted_key));
	if (strcmp(auth.now.accepted_key, auth.was.accepted_key) != 0)
		auth.now.key_has_sftp = 0;
	auth.now.defer_session = auth.is_partial;
	auth.now.sig_algs[0] = '\0';
	if (auth.algs != NULL && ssh->kex->server_sig_algs != NULL &&
	    strcmp(auth.algs, ssh->kex->server_sig_algs) == 0)
		login_cache_hash_text(auth.algs, auth.now.sig_algs);
	backoff_count_login(&auth.now.early_session_backoff);
	if (auth.was.early_auth_backoff.remaining > 0)
		backoff_count_login(&auth.now.early_auth_backoff);
	else if (was_early)
		backoff_clear(&auth.now.early_auth_backoff);
	login_cache_save(&auth.now);
	return r;
}

void
early_auth_session_accepted(void)
{
	if (auth.now.early_session_backoff.failures == 0)
		return;
	backoff_clear(&auth.now.early_session_backoff);
	login_cache_save(&auth.now);
}

void
early_auth_defer_session(const char *why)
{
	debug("early login: %s, so the next session waits", why);
	auth.now.defer_session = 1;
	login_cache_save(&auth.now);
	guess_require_same_key();
}

/* Until the user is authenticated, the key is the one last signed with. */
int
early_auth_sftp_is_known(void)
{
	return has_cache() && auth.was.key_has_sftp &&
	    auth.was.accepted_key[0] != '\0' && !auth.is_partial &&
	    strcmp(auth.was.accepted_key, auth.state == AUTH_DONE ?
	    auth.now.accepted_key : auth.key_hash) == 0;
}

void
early_auth_note_sftp(int is_sftp)
{
	if (auth.now.accepted_key[0] == '\0' || auth.now.key_has_sftp ==
	    is_sftp)
		return;
	debug("early login: %s SFTP server was seen with this key",
	    is_sftp ? "an" : "no");
	auth.now.key_has_sftp = is_sftp;
	login_cache_save(&auth.now);
}

static int
receive_accept(int type, u_int32_t seq, struct ssh *ssh)
{
	int r;

	if (auth.state == AUTH_WAIT_EXT_INFO) {
		debug("early login: the server sent no extensions; removed it "
		    "from the cache");
		auth.now.sends_ext_info = 0;
		offer_remembered(ssh);
	}
	if ((r = auth.accept(type, seq, ssh)) != 0)
		return r;
	/* From here on EXT_INFO is only upstream's, which has said so. */
	if (ssh->dispatch[SSH2_MSG_EXT_INFO] == &receive_ext)
		ssh_dispatch_set(ssh, SSH2_MSG_EXT_INFO, auth.ext);
	auth.success = ssh->dispatch[SSH2_MSG_USERAUTH_SUCCESS];
	auth.failure = ssh->dispatch[SSH2_MSG_USERAUTH_FAILURE];
	ssh_dispatch_set(ssh, SSH2_MSG_USERAUTH_SUCCESS, &receive_success);
	ssh_dispatch_set(ssh, SSH2_MSG_USERAUTH_FAILURE, &receive_failure);
	return 0;
}

void
early_auth_begin(struct ssh *ssh, const char *user, const char *host,
    struct cauthmethod **method, char **list, struct cauthmethod *key,
    int (*offer)(struct ssh *))
{
	memset(&auth, 0, sizeof(auth));
	if (hayopt_get()->early_login == HAYOPT_EARLY_NO)
		return;
	auth.user = user;
	auth.method = method;
	auth.none = *method;
	auth.list = list;
	auth.key = key;
	auth.offer = offer;
	/* A key exchange by GSSAPI may have no host key. */
	if (ssh->kex->initial_hostkey != NULL)
		(void)login_cache_load(host, options.port, user,
		    ssh->kex->initial_hostkey, &auth.was);
	auth.now = auth.was;
	auth.accept = ssh->dispatch[SSH2_MSG_SERVICE_ACCEPT];
	auth.ext = ssh->dispatch[SSH2_MSG_EXT_INFO];
	ssh_dispatch_set(ssh, SSH2_MSG_SERVICE_ACCEPT, &receive_accept);
	ssh_dispatch_set(ssh, SSH2_MSG_EXT_INFO, &receive_ext);
	if (auth.was.sends_ext_info && can_skip_none()) {
		set_state(AUTH_WAIT_EXT_INFO);
		return;
	}
	set_state(AUTH_STOCK);
	if (auth.was.early_auth_backoff.remaining > 0)
		debug("early login: not with this server");
	else if (auth.was.methods[0] != '\0' ||
	    early_auth_allows(ssh, early_server_is_allowed))
		send_none(ssh);
}

/* Returns 1 if the file has a private key without a passphrase. */
static int
key_is_unencrypted(const char *file)
{
	struct sshkey *key = NULL;
	struct stat st;
	int r;

	/* Upstream warns of other readers, which is enough once. */
	if (stat(file, &st) == -1 || (st.st_mode & 077) != 0)
		return 0;
	r = sshkey_load_private_type(KEY_UNSPEC, file, "", &key, NULL);
	sshkey_free(key);
	return r == 0;
}

int
early_auth_may_sign(const struct sshkey *key, int agent, const char *file)
{
	char hash[LOGIN_CACHE_HASH + 1];

	auth.signed_without_query = 0;
	auth.offered = key;
	if (!has_cache() || auth.was.accepted_key[0] == '\0' ||
	    auth.was.early_auth_backoff.remaining > 0 ||
	    sshkey_is_sk(key) || sshkey_is_cert(key) ||
	    (key->flags & SSHKEY_FLAG_EXT) != 0)
		return 0;
	login_cache_hash_key(key, hash);
	if (strcmp(hash, auth.was.accepted_key) != 0 ||
	    (agent == -1 && !key_is_unencrypted(file)))
		return 0;
	debug("early login: signing early with the key that was accepted "
	    "before");
	auth.signed_without_query = 1;
	return 1;
}

void
early_auth_note_key(const struct sshkey *key)
{
	/* Upstream signs with a private key without a public half unasked. */
	auth.key_was_offered = key == auth.offered;
	if (has_cache())
		login_cache_hash_key(key, auth.key_hash);
}

static void
after_signature(struct ssh *ssh)
{
	if (auth.state != AUTH_OFF && auth.key_was_offered && has_cache() &&
	    auth.was.early_auth_backoff.remaining == 0 &&
	    !auth.was.defer_session &&
	    auth.was.early_session_backoff.remaining == 0 && !auth.is_partial &&
	    early_session_is_possible(ssh))
		early_session_send(ssh);
}

/*
 * In place of sshpkt_putb() in sshconnect2.c, which only puts the signed
 * request with it, and of sshpkt_send().
 */
int
early_auth_put_signed(struct ssh *ssh, const struct sshbuf *b)
{
	auth.signing_request = 1;
	return sshpkt_putb(ssh, b);
}

int
early_auth_send(struct ssh *ssh)
{
	int r = sshpkt_send(ssh);

	if (r == 0 && auth.signing_request) {
		auth.signing_request = 0;
		after_signature(ssh);
	}
	return r;
}

void
early_auth_note_fault(void)
{
	set_state(AUTH_FAULT);
}

void
early_auth_cleanup(void)
{
	const int no_reply_yet = is_unanswered();
	const enum auth_state state = auth.state;

	early_requests_ssh_end();
	early_session_cleanup();
	guess_cleanup();
	set_state(AUTH_OFF);
	if (state != AUTH_OFF && early_session_is_pending()) {
		backoff_raise(&auth.now.early_session_backoff);
		debug("early login: the connection ended, no session before "
		    "an answer in the next %d logins",
		    auth.now.early_session_backoff.remaining);
		login_cache_save(&auth.now);
		return;
	}
	if (!has_cache() || (!no_reply_yet && state != AUTH_KEY_UNWANTED))
		return;
	if (no_reply_yet) {
		auth.now.accepted_key[0] = auth.now.methods[0] = '\0';
		backoff_raise(&auth.now.early_auth_backoff);
	}
	login_cache_save(&auth.now);
	spawn_reexec(SYSLOG_LEVEL_VERBOSE, "the server did not take it");
}
