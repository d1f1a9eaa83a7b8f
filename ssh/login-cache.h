/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * login-cache: what an earlier login learnt of a server, as lines of text.
 *
 * A client that knows how the last login went need not ask again: which methods
 * may be tried, and which key is accepted. An entry is about one host, port,
 * user and host key, and names them, and the user's key, by a salted hash only.
 * Another one is about a host and port alone: which key exchange was chosen. It
 * is no secret and no proof: a wrong one costs a round trip.
 *
 *   hayate-logins 1 SALT
 *   ID [key=HASH [sftp]] [algs=HASH] [methods=LIST] [ext] [wait] [late=MARK]
 *       [plain=MARK]
 *   ID [[own=HASH] kex=NAME [hostkey=NAME]] [again] [late=MARK] [plain=MARK]
 *
 * A MARK is a back-off, left by an early login that failed: the feature is off
 * for a number of logins. A network that fails once costs a few round trips in
 * that way. Where it fails each time, few logins in a thousand are affected.
 *
 * A line that is not whole or not valid is left out, and so are words that this
 * version does not know. The newest entry is the last. Nothing has a time, so a
 * login that learns nothing new, and counts no back-off down, writes nothing.
 *
 * No I/O, no clock and no upstream header; login-cache-hook.c keeps the file.
 */

#ifndef HAYATE_LOGIN_CACHE_H
#define HAYATE_LOGIN_CACHE_H

#define LOGIN_CACHE_HASH	40	/* hex digits of a hash */
#define LOGIN_CACHE_SALT	32	/* hex digits */
#define LOGIN_CACHE_METHODS	120	/* characters; longer: not kept */
#define LOGIN_CACHE_NAME	64	/* of an algorithm (RFC 4251) */
#define LOGIN_CACHE_MAX	500	/* entries; the oldest ones go */
#define LOGIN_CACHE_BYTES	(512 * 1024)	/* a larger file is not ours */

struct backoff {
	int	remaining;	/* logins until the feature is enabled again */
	int	failures;	/* in a row; 0: no back-off */
};

struct login_cache_entry {
	/* host, port, user and host key */
	char	id[LOGIN_CACHE_HASH + 1];
	/* that was accepted; "": none */
	char	accepted_key[LOGIN_CACHE_HASH + 1];
	/* to begin with; "": unknown */
	char	methods[LOGIN_CACHE_METHODS + 1];
	char	sig_algs[LOGIN_CACHE_HASH + 1];	/* of signatures; "": unknown */
	/* our proposal; "": no guess */
	char	proposal_hash[LOGIN_CACHE_HASH + 1];
	char	kex[LOGIN_CACHE_NAME + 1];	/* the method that was chosen */
	/* the algorithm of the host key */
	char	hostkey_alg[LOGIN_CACHE_NAME + 1];
	int	key_has_sftp;	/* the last session with "key" spoke SFTP */
	int	sends_ext_info;	/* EXT_INFO was the first message */
	/* the server rekeys as the session starts, unless with AES-GCM */
	int	rekeys_at_session;
	int	defer_session;	/* the next session is not opened early */
	/*
	 * While this is active no session is opened early, and the key exchange
	 * is guessed only if our first method was chosen.
	 */
	struct backoff early_session_backoff;
	struct backoff early_auth_backoff;	/* active: as stock */
};

/*
 * Copies the salt of a text, LOGIN_CACHE_SALT digits. Returns 0, or -1: not
 * ours.
 */
int	login_cache_read_salt(const char *text, char *salt);

/* Returns 0, or -1 if the text has no valid entry with that id. */
int	login_cache_find(const char *text, const char *id,
    struct login_cache_entry *);

/* Sets the methods if they can be kept, or "". */
void	login_cache_set_methods(struct login_cache_entry *, const char *list);

int	login_cache_is_same(const struct login_cache_entry *,
    const struct login_cache_entry *);

/*
 * An early login failed: disables the feature for 4 logins, for 32 after the
 * second failure in a row, and for 256 after each later one.
 */
void	backoff_raise(struct backoff *);

/* Such a failure that took long: disables it for 256 logins at once. */
void	backoff_raise_to_max(struct backoff *);

/*
 * Call after each successful login: counts the back-off down if it is active.
 */
void	backoff_count_login(struct backoff *);

/* The feature was used and has worked: ends the back-off. */
void	backoff_clear(struct backoff *);

/*
 * Returns the text, or a new one if it is not ours, with the entry as the last
 * one and in place of any with its id. An entry that says nothing is left out.
 * The caller frees it. NULL: no memory.
 */
char	*login_cache_put(const char *text, const char *salt,
    const struct login_cache_entry *);

#endif /* HAYATE_LOGIN_CACHE_H */
