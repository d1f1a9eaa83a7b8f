/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-hook.h for the idea. */

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

#include "early.h"
#include "early-hook.h"
#include "early-input-hook.h"
#include "early-session-hook.h"
#include "guess-hook.h"
#include "hayopt.h"
#include "login-hook.h"
#include "peer-hook.h"
#include "recall-hook.h"

extern Options options;

int	early_put_signed(struct ssh *, const struct sshbuf *);
int	early_send(struct ssh *);

/* What the connection waits for */
enum phase {
	OFF,		/* nothing of ours */
	WAITING,	/* for the server's answer to the service request */
	ANSWERED,	/* that has come */
	DONE		/* the user is in */
};

/* The authentication that runs */
static struct {
	enum phase	 phase;
	struct cauthmethod **method, *none, *key;
	char		**list;
	int		(*offer)(struct ssh *);
	const char	*user;

	int		 is_kept;	/* there is a memory */
	struct recall_entry was, now;
	char		*algs;		/* of signatures: the first list */
	int		 awaits_ext;	/* before the key is offered */
	int		 has_asked;	/* before the answer */
	int		 owes_none;	/* that to "none" comes first */
	int		 heard;		/* any answer about a method */
	int		 is_partial;	/* one method of several was right */
	int		 is_vain;	/* a key is offered that may not be */
	int		 is_faulty;	/* what came was wrong */
	char		 key_hash[RECALL_HASH + 1]; /* signed with last */
	const struct sshkey *offered;	/* last, not for use */
	int		 is_accepted;	/* the one signed with was offered */
	int		 is_sure;	/* that one without a question */
	int		 is_signed;	/* the request that is being made */

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
ask_none(struct ssh *ssh)
{
	int r;

	if ((r = sshpkt_start(ssh, SSH2_MSG_USERAUTH_REQUEST)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, auth.user)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "ssh-connection")) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "none")) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)
		fatal_fr(r, "send packet");
	auth.has_asked = 1;
	debug("early login: asking what may be tried");
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
	char hash[RECALL_HASH + 1];

	if (auth.algs == NULL || auth.was.algs[0] == '\0')
		return auth.algs == NULL;
	recall_hash_text(auth.algs, hash);
	return strcmp(hash, auth.was.algs) == 0;
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
offer_known(struct ssh *ssh)
{
	auth.awaits_ext = 0;
	if (!has_same_algs()) {
		ask_none(ssh);
		return;
	}
	free(*auth.list);
	*auth.list = xstrdup(auth.was.methods);
	if ((auth.has_asked = offer_key(ssh)) == 0)
		return;
	debug("early login: not asking what may be tried (%s)",
	    auth.was.methods);
}

static int
has_known_way(void)
{
	return auth.is_kept && auth.was.plain.left == 0 &&
	    early_key_is_first(options.preferred_authentications,
	    auth.was.methods, is_enabled) && !may_need_passphrase();
}

int
early_trusts(const struct ssh *ssh, int (*kind)(const char *banner))
{
	return hayopt_get()->early_login == HAYOPT_EARLY_YES ||
	    peer_banner_matches(ssh, kind);
}

int
early_is_genuine(const struct ssh *ssh, int (*kind)(const char *banner))
{
	return peer_banner_matches(ssh, kind) &&
	    (ssh->kex->flags & KEX_HAS_PUBKEY_HOSTBOUND) != 0;
}

/*
 * Whether the server answers two requests in their order. asyncssh works on
 * both at once, and may then drop the second.
 */
static int
keeps_order(const struct ssh *ssh)
{
	return hayopt_get()->early_login == HAYOPT_EARLY_YES ||
	    early_is_genuine(ssh, early_is_openssh);
}

/*
 * Whether to offer the first key before it is known what may be tried. Without
 * a memory a server that counts this against the user would do so each time.
 */
static int
has_blind_way(const struct ssh *ssh)
{
	return auth.has_asked && auth.is_kept && has_all_algs() &&
	    auth.was.methods[0] == '\0' && keeps_order(ssh) &&
	    early_key_is_first(options.preferred_authentications,
	    "gssapi-with-mic,hostbased,keyboard-interactive,password,publickey",
	    is_enabled) && !may_need_passphrase();
}

/* The handlers; each does what stock does, and what ours needs besides. */

static int
receive_ext(int type, u_int32_t seq, struct ssh *ssh)
{
	int r = auth.ext(type, seq, ssh);

	if (r != 0 || auth.phase != WAITING)
		return r;
	auth.now.ext = 1;
	if (ssh->kex->server_sig_algs != NULL && auth.algs == NULL)
		auth.algs = xstrdup(ssh->kex->server_sig_algs);
	if (auth.awaits_ext)
		offer_known(ssh);
	else if (has_blind_way(ssh) && (auth.owes_none = offer_key(ssh)))
		debug("early login: offering a key with it");
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
			strlcpy(auth.now.key, auth.key_hash,
			    sizeof(auth.now.key));
		auth.is_partial = 1;
		early_wait_next("one method was not enough");
	} else if (!auth.is_partial) {
		if (strcmp(auth.was.methods, list) != 0 && !auth.heard)
			recall_set_methods(&auth.now, list);
		if (auth.is_sure) {
			debug("early login: the key is not accepted any more, "
			    "forgotten");
			auth.now.key[0] = '\0';
			recall_save(&auth.now);
		}
	}
	auth.is_sure = 0;
	early_session_refuse();
	auth.is_vain = auth.owes_none && strstr(list, "publickey") == NULL;
	auth.heard = 1;
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

	auth.owes_none = 0;
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
	if (auth.owes_none)
		return receive_none(ssh);
	return auth.failure(type, seq, ssh);
}

static int
receive_success(int type, u_int32_t seq, struct ssh *ssh)
{
	int r;

	if (auth.owes_none)
		*auth.method = auth.none;
	r = auth.success(type, seq, ssh);
	auth.phase = DONE;
	if (*auth.method == auth.none)
		auth.now.methods[0] = '\0';
	if (!auth.is_partial)
		strlcpy(auth.now.key, *auth.method == auth.key ?
		    auth.key_hash : "", sizeof(auth.now.key));
	if (strcmp(auth.now.key, auth.was.key) != 0)
		auth.now.sftp = 0;
	auth.now.wait = auth.is_partial;
	auth.now.algs[0] = '\0';
	if (auth.algs != NULL && ssh->kex->server_sig_algs != NULL &&
	    strcmp(auth.algs, ssh->kex->server_sig_algs) == 0)
		recall_hash_text(auth.algs, auth.now.algs);
	recall_mark_count(&auth.now.late);
	if (auth.was.plain.left > 0)
		recall_mark_count(&auth.now.plain);
	else if (auth.has_asked)
		recall_mark_clear(&auth.now.plain);
	if (auth.is_kept)
		recall_save(&auth.now);
	return r;
}

void
early_session_was_taken(void)
{
	if (auth.now.late.times == 0)
		return;
	recall_mark_clear(&auth.now.late);
	recall_save(&auth.now);
}

void
early_wait_next(const char *why)
{
	debug("early login: %s, so the next session waits", why);
	auth.now.wait = 1;
	if (auth.is_kept)
		recall_save(&auth.now);
	guess_keep_key();
}

/* Until the user is in, the key is the one that was signed with. */
int
early_sftp_is_known(void)
{
	return auth.is_kept && auth.was.sftp && auth.was.key[0] != '\0' &&
	    !auth.is_partial && strcmp(auth.was.key,
	    auth.phase == DONE ? auth.now.key : auth.key_hash) == 0;
}

void
early_note_sftp(int is_sftp)
{
	if (auth.now.key[0] == '\0' || auth.now.sftp == is_sftp)
		return;
	debug("early login: %s SFTP server was seen with this key",
	    is_sftp ? "an" : "no");
	auth.now.sftp = is_sftp;
	if (auth.is_kept)
		recall_save(&auth.now);
}

static int
receive_accept(int type, u_int32_t seq, struct ssh *ssh)
{
	int r;

	if (auth.awaits_ext) {
		debug("early login: no extensions came, forgotten");
		auth.now.ext = 0;
		offer_known(ssh);
	}
	if ((r = auth.accept(type, seq, ssh)) != 0)
		return r;
	auth.phase = ANSWERED;
	auth.success = ssh->dispatch[SSH2_MSG_USERAUTH_SUCCESS];
	auth.failure = ssh->dispatch[SSH2_MSG_USERAUTH_FAILURE];
	ssh_dispatch_set(ssh, SSH2_MSG_USERAUTH_SUCCESS, &receive_success);
	ssh_dispatch_set(ssh, SSH2_MSG_USERAUTH_FAILURE, &receive_failure);
	return 0;
}

void
early_begin(struct ssh *ssh, const char *user, const char *host,
    struct cauthmethod **method, char **list, struct cauthmethod *key,
    int (*offer)(struct ssh *))
{
	memset(&auth, 0, sizeof(auth));
	if (hayopt_get()->early_login == HAYOPT_EARLY_NO)
		return;
	auth.phase = WAITING;
	auth.user = user;
	auth.method = method;
	auth.none = *method;
	auth.list = list;
	auth.key = key;
	auth.offer = offer;
	/* With a key exchange by GSSAPI there may be none, and so no memory. */
	auth.is_kept = ssh->kex->initial_hostkey != NULL &&
	    recall_load(host, options.port, user,
	    ssh->kex->initial_hostkey, &auth.was) == 0;
	auth.now = auth.was;
	auth.accept = ssh->dispatch[SSH2_MSG_SERVICE_ACCEPT];
	auth.ext = ssh->dispatch[SSH2_MSG_EXT_INFO];
	ssh_dispatch_set(ssh, SSH2_MSG_SERVICE_ACCEPT, &receive_accept);
	ssh_dispatch_set(ssh, SSH2_MSG_EXT_INFO, &receive_ext);
	if (auth.was.plain.left > 0)
		debug("early login: not with this server");
	else if (auth.was.ext && has_known_way())
		auth.awaits_ext = 1;
	else if (auth.was.methods[0] != '\0' ||
	    early_trusts(ssh, early_is_known_kind))
		ask_none(ssh);
}

int
early_has_asked(void)
{
	return auth.has_asked;
}

/* Whether the file has a private key that anybody who reads it can use */
static int
is_ready(const char *file)
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
early_may_sign(const struct sshkey *key, int agent, const char *file)
{
	char hash[RECALL_HASH + 1];

	auth.is_sure = 0;
	auth.offered = key;
	if (!auth.is_kept || auth.was.key[0] == '\0' ||
	    auth.was.plain.left > 0 ||
	    sshkey_is_sk(key) || sshkey_is_cert(key) ||
	    (key->flags & SSHKEY_FLAG_EXT) != 0)
		return 0;
	recall_hash_key(key, hash);
	if (strcmp(hash, auth.was.key) != 0 ||
	    (agent == -1 && !is_ready(file)))
		return 0;
	debug("early login: the key was accepted before, signing with it");
	auth.is_sure = 1;
	return 1;
}

void
early_note_key(const struct sshkey *key)
{
	/* A private key without a public half is signed with unasked. */
	auth.is_accepted = key == auth.offered;
	if (auth.is_kept)
		recall_hash_key(key, auth.key_hash);
}

static void
has_signed(struct ssh *ssh)
{
	if (auth.phase != OFF && auth.is_accepted && auth.is_kept &&
	    auth.was.plain.left == 0 && !auth.was.wait &&
	    auth.was.late.left == 0 && !auth.is_partial &&
	    early_session_may(ssh))
		early_session_send(ssh);
}

/* For upstream's sshconnect2.c. A signed request is put in as one buffer. */
int
early_put_signed(struct ssh *ssh, const struct sshbuf *b)
{
	auth.is_signed = 1;
	return sshpkt_putb(ssh, b);
}

int
early_send(struct ssh *ssh)
{
	int r = sshpkt_send(ssh);

	if (r == 0 && auth.is_signed) {
		auth.is_signed = 0;
		has_signed(ssh);
	}
	return r;
}

void
early_note_fault(void)
{
	auth.is_faulty = 1;
}

/*
 * The connection ended before the user was in. If what was sent early may be
 * the reason, the login begins anew without: nothing but requests for
 * authentication was sent, so nothing can have been done twice.
 */
void
early_cleanup(void)
{
	int is_unheard = auth.has_asked && !auth.heard;
	enum phase phase = auth.phase;

	early_input_end();
	early_session_cleanup();
	guess_cleanup();
	auth.phase = OFF;
	if (phase != OFF && early_session_is_unanswered()) {
		recall_mark_set(&auth.now.late);
		debug("early login: the connection ended, no session before "
		    "an answer in the next %d logins", auth.now.late.left);
		recall_save(&auth.now);
		return;
	}
	if (phase == OFF || phase == DONE || !auth.is_kept || auth.is_faulty ||
	    (!is_unheard && !auth.is_vain))
		return;
	if (is_unheard) {
		auth.now.key[0] = auth.now.methods[0] = '\0';
		recall_mark_set(&auth.now.plain);
	}
	recall_save(&auth.now);
	login_again(SYSLOG_LEVEL_VERBOSE, "the server did not take it");
}
