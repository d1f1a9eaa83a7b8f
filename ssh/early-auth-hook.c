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

/* What the connection waits for */
enum auth_state {
	AUTH_OFF,		/* nothing of ours */
	/* for the server's answer to the service request */
	AUTH_WAIT_SERVICE,
	AUTH_SERVICE_ACCEPTED,	/* that has arrived */
	AUTH_DONE		/* the user is in */
};

/* The authentication that runs */
static struct {
	enum auth_state	 state;
	struct cauthmethod **method, *none, *key;
	char		**list;
	int		(*offer)(struct ssh *);
	const char	*user;

	int		 has_cache;	/* there is a memory */
	struct login_cache_entry was, now;
	char		*algs;		/* of signatures: the first list */
	int		 waits_for_ext_info;	/* before the key is offered */
	int		 request_sent;	/* before the answer */
	int		 none_reply_pending;	/* that to "none" comes first */
	int		 got_auth_reply;	/* any answer about a method */
	int		 is_partial;	/* one method of several was right */
	/* "none" was answered without publickey; a key request is in flight */
	int		 speculative_key_rejected;
	int		 protocol_error;	/* what came was wrong */
	char		 key_hash[LOGIN_CACHE_HASH + 1]; /* signed with last */
	const struct sshkey *offered;	/* last, not for use */
	/* the one signed with was offered */
	int		 key_was_offered;
	/* that one without a question */
	int		 signed_without_query;
	/* the request that is being made */
	int		 signing_request;

	/* stock's handlers */
	int	(*accept)(int, u_int32_t, struct ssh *);
	int	(*ext)(int, u_int32_t, struct ssh *);
	int	(*success)(int, u_int32_t, struct ssh *);
	int	(*failure)(int, u_int32_t, struct ssh *);
} auth;

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

/* A key of which only the private half is there may need a passphrase. */
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

/* Offers the first key. Returns whether that was sent. */
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
	auth.request_sent = 1;
	debug("early login: sending the request for authentication methods "
	    "early");
}

/*
 * Stock leaves out keys for which the server has no algorithm. It tells its
 * algorithms once before it knows the user and once for that user, and the
 * first list may have fewer. So a key is offered before the second list only if
 * the first one is what it was when the two were the same, or has all that we
 * can do.
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
 * The way "known". Not before the server has named its algorithms: until then
 * an RSA key can use none, and is not tried again.
 */
static void
offer_remembered(struct ssh *ssh)
{
	auth.waits_for_ext_info = 0;
	if (!has_same_algs()) {
		send_none(ssh);
		return;
	}
	free(*auth.list);
	*auth.list = xstrdup(auth.was.methods);
	if ((auth.request_sent = offer_key(ssh)) == 0)
		return;
	debug("early login: skipping the request for authentication methods "
	    "(%s)", auth.was.methods);
}

static int
can_skip_none(void)
{
	return auth.has_cache && auth.was.early_auth_backoff.remaining == 0 &&
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
 * Whether the server answers two requests in their order. asyncssh works on
 * both at once, and may then drop the second.
 */
static int
answers_in_order(const struct ssh *ssh)
{
	return hayopt_get()->early_login == HAYOPT_EARLY_YES ||
	    early_auth_is_verified(ssh, early_server_is_openssh);
}

/*
 * Whether to offer the first key before it is known what may be tried. Without
 * a memory a server that counts this against the user would do so each time.
 */
static int
can_try_first_key(const struct ssh *ssh)
{
	return auth.request_sent && auth.has_cache && has_all_algs() &&
	    auth.was.methods[0] == '\0' && answers_in_order(ssh) &&
	    early_key_is_first(options.preferred_authentications,
	    "gssapi-with-mic,hostbased,keyboard-interactive,password,publickey",
	    is_enabled) && !may_need_passphrase();
}

/* The handlers; each does what stock does, and what ours needs besides. */

static int
receive_ext(int type, u_int32_t seq, struct ssh *ssh)
{
	int r = auth.ext(type, seq, ssh);

	if (r != 0 || auth.state != AUTH_WAIT_SERVICE)
		return r;
	auth.now.sends_ext_info = 1;
	if (ssh->kex->server_sig_algs != NULL && auth.algs == NULL)
		auth.algs = xstrdup(ssh->kex->server_sig_algs);
	if (auth.waits_for_ext_info)
		offer_remembered(ssh);
	else if (can_try_first_key(ssh) && (auth.none_reply_pending =
	    offer_key(ssh)))
		debug("early login: offering a key early");
	return r;
}

/* Learns what may be tried. Does not consume the message. */
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
		goto out;	/* stock says so */
	if (partial) {
		if (!auth.is_partial && *auth.method == auth.key)
			strlcpy(auth.now.accepted_key, auth.key_hash,
			    sizeof(auth.now.accepted_key));
		auth.is_partial = 1;
		early_auth_defer_session("one method was not enough");
	} else if (!auth.is_partial) {
		if (strcmp(auth.was.methods, list) != 0 && !auth.got_auth_reply)
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
	auth.speculative_key_rejected = auth.none_reply_pending &&
	    strstr(list, "publickey") == NULL;
	auth.got_auth_reply = 1;
out:
	free(list);
	sshbuf_free(b);
}

/* The answer to "none", behind which that to the key is still to come */
static int
receive_none(struct ssh *ssh)
{
	char *list = NULL;
	u_char partial;
	int r;

	auth.none_reply_pending = 0;
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
	learn_failure(ssh);
	if (auth.none_reply_pending)
		return receive_none(ssh);
	return auth.failure(type, seq, ssh);
}

static int
receive_success(int type, u_int32_t seq, struct ssh *ssh)
{
	int r;

	if (auth.none_reply_pending)
		*auth.method = auth.none;
	r = auth.success(type, seq, ssh);
	auth.state = AUTH_DONE;
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
	else if (auth.request_sent)
		backoff_clear(&auth.now.early_auth_backoff);
	if (auth.has_cache)
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
	if (auth.has_cache)
		login_cache_save(&auth.now);
	guess_require_same_key();
}

/* Until the user is in, the key is the one that was signed with. */
int
early_auth_sftp_is_known(void)
{
	return auth.has_cache && auth.was.key_has_sftp &&
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
	if (auth.has_cache)
		login_cache_save(&auth.now);
}

static int
receive_accept(int type, u_int32_t seq, struct ssh *ssh)
{
	int r;

	if (auth.waits_for_ext_info) {
		debug("early login: the server sent no extensions; removed it "
		    "from the cache");
		auth.now.sends_ext_info = 0;
		offer_remembered(ssh);
	}
	if ((r = auth.accept(type, seq, ssh)) != 0)
		return r;
	auth.state = AUTH_SERVICE_ACCEPTED;
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
	auth.state = AUTH_WAIT_SERVICE;
	auth.user = user;
	auth.method = method;
	auth.none = *method;
	auth.list = list;
	auth.key = key;
	auth.offer = offer;
	/* With a key exchange by GSSAPI there may be none, and so no memory. */
	auth.has_cache = ssh->kex->initial_hostkey != NULL &&
	    login_cache_load(host, options.port, user,
	    ssh->kex->initial_hostkey, &auth.was) == 0;
	auth.now = auth.was;
	auth.accept = ssh->dispatch[SSH2_MSG_SERVICE_ACCEPT];
	auth.ext = ssh->dispatch[SSH2_MSG_EXT_INFO];
	ssh_dispatch_set(ssh, SSH2_MSG_SERVICE_ACCEPT, &receive_accept);
	ssh_dispatch_set(ssh, SSH2_MSG_EXT_INFO, &receive_ext);
	if (auth.was.early_auth_backoff.remaining > 0)
		debug("early login: not with this server");
	else if (auth.was.sends_ext_info && can_skip_none())
		auth.waits_for_ext_info = 1;
	else if (auth.was.methods[0] != '\0' ||
	    early_auth_allows(ssh, early_server_is_allowed))
		send_none(ssh);
}

int
early_auth_request_sent(void)
{
	return auth.request_sent;
}

/* Whether the file has a private key that anybody who reads it can use */
static int
key_is_unencrypted(const char *file)
{
	struct sshkey *key = NULL;
	struct stat st;
	int r;

	/* Stock complains of others who may read it, and once is enough. */
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
	if (!auth.has_cache || auth.was.accepted_key[0] == '\0' ||
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
	/* A private key without a public half is signed with unasked. */
	auth.key_was_offered = key == auth.offered;
	if (auth.has_cache)
		login_cache_hash_key(key, auth.key_hash);
}

static void
after_signature(struct ssh *ssh)
{
	if (auth.state != AUTH_OFF && auth.key_was_offered && auth.has_cache &&
	    auth.was.early_auth_backoff.remaining == 0 &&
	    !auth.was.defer_session &&
	    auth.was.early_session_backoff.remaining == 0 && !auth.is_partial &&
	    early_session_is_possible(ssh))
		early_session_send(ssh);
}

/* For upstream's sshconnect2.c. A signed request is put in as one buffer. */
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
	auth.protocol_error = 1;
}

/*
 * The connection ended before the user was in. If what was sent early may be
 * the reason, the login restarts without: nothing but requests for
 * authentication was sent, so nothing can have been done twice.
 */
void
early_auth_cleanup(void)
{
	int no_reply_yet = auth.request_sent && !auth.got_auth_reply;
	enum auth_state state = auth.state;

	early_requests_ssh_end();
	early_session_cleanup();
	guess_cleanup();
	auth.state = AUTH_OFF;
	if (state != AUTH_OFF && early_session_is_pending()) {
		backoff_raise(&auth.now.early_session_backoff);
		debug("early login: the connection ended, no session before "
		    "an answer in the next %d logins",
		    auth.now.early_session_backoff.remaining);
		login_cache_save(&auth.now);
		return;
	}
	if (state == AUTH_OFF || state == AUTH_DONE || !auth.has_cache ||
	    auth.protocol_error || (!no_reply_yet &&
	    !auth.speculative_key_rejected))
		return;
	if (no_reply_yet) {
		auth.now.accepted_key[0] = auth.now.methods[0] = '\0';
		backoff_raise(&auth.now.early_auth_backoff);
	}
	login_cache_save(&auth.now);
	spawn_reexec(SYSLOG_LEVEL_VERBOSE, "the server did not take it");
}
