/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * login-cache: what earlier logins learned about servers, as lines of text.
 *
 * A client that knows how the last login went need not ask again which methods
 * can be tried and whether a key is accepted. An entry is about one host, port,
 * user and host key; another kind of entry is about a host and port alone, and
 * has the key exchange that was chosen. Entries name all of these, and the
 * user's key, by salted hashes. They are no secret and no proof: a wrong entry
 * costs a round trip or a connection, and cannot log anybody in.
 *
 *   hayate-logins 1 SALT
 *   ID [key=HASH [sftp]] [algs=HASH] [methods=LIST] [ext] [wait]
 *       [late=BACKOFF] [plain=BACKOFF]
 *   ID [[own=HASH] kex=NAME [hostkey=NAME]] [again] [late=BACKOFF]
 *       [plain=BACKOFF]
 *
 * A BACKOFF is REMAINING.FAILURES: after an early login failed, a feature is
 * off for some logins. After a single failure that costs a few round trips. If
 * every attempt fails, few logins in a thousand make one.
 *
 * A line that is incomplete or not valid is ignored, and so are words that this
 * version does not know. The newest entry is the last. Entries have no times,
 * so a login writes nothing if it learns nothing new and no back-off is active.
 *
 * No I/O, no clock and no upstream header; login-cache-hook.c has the file.
 */

#ifndef HAYATE_LOGIN_CACHE_H
#define HAYATE_LOGIN_CACHE_H

#define LOGIN_CACHE_HASH	40	/* hex digits of a hash */
#define LOGIN_CACHE_SALT	32	/* hex digits of a salt */
#define LOGIN_CACHE_METHODS	120	/* characters; longer: not kept */
#define LOGIN_CACHE_NAME	64	/* characters (RFC 4251) */
#define LOGIN_CACHE_MAX	500	/* entries; the oldest are removed */
#define LOGIN_CACHE_BYTES	(512 * 1024)	/* a larger file is not ours */

struct backoff {
	int	remaining;	/* logins until the feature is used again */
	int	failures;	/* in a row, up to 3; 0: no back-off */
};

/* A word that is not in the line is "", 0, or a back-off of zeros. */
struct login_cache_entry {
	char	id[LOGIN_CACHE_HASH + 1];	/* "": there is no cache */

	/*
	 * Of a host, port, user and host key
	 */
	char	accepted_key[LOGIN_CACHE_HASH + 1];	/* of the user */
	int	key_has_sftp;	/* last session with accepted_key got VERSION */
	/* signature algorithms, if naming the user does not change them */
	char	sig_algs[LOGIN_CACHE_HASH + 1];
	/* methods that can continue after "none"; "" also if that succeeded */
	char	methods[LOGIN_CACHE_METHODS + 1];
	int	sends_ext_info;	/* before it accepts the service */
	int	defer_session;	/* the next session is opened as in stock */

	/*
	 * Of a host and port. Without proposal_hash there is no guess; kex
	 * alone names a method whose key pair takes long to make.
	 */
	char	proposal_hash[LOGIN_CACHE_HASH + 1];	/* of our lists */
	char	kex[LOGIN_CACHE_NAME + 1];
	char	hostkey_alg[LOGIN_CACHE_NAME + 1];	/* for the next guess */
	int	rekeys_at_session;	/* unless with AES-GCM: HPN-SSH */

	/*
	 * Of both kinds of entry. While early_session_backoff is active in an
	 * entry of a host and port, a guess must be of stock's first method.
	 */
	struct backoff early_session_backoff;
	struct backoff early_auth_backoff;	/* the login is as in stock */
};

/*
 * Copies the salt of a text, with its NUL, to LOGIN_CACHE_SALT + 1 bytes.
 * Returns 0, or -1 if the text does not begin as ours.
 */
int	login_cache_read_salt(const char *text, char *salt);

/*
 * Copies the first valid entry with that ID. Returns 0, or -1 if there is none;
 * the entry is zero then.
 */
int	login_cache_find(const char *text, const char *id,
    struct login_cache_entry *);

/* Sets the methods, or "" if the list is too long or has odd characters. */
void	login_cache_set_methods(struct login_cache_entry *, const char *list);

/* Returns 1 if both entries would be written as the same line. */
int	login_cache_is_same(const struct login_cache_entry *,
    const struct login_cache_entry *);

/*
 * Returns a copy of the text with the entry as its last one, in place of any
 * with its ID; a new text with that salt if it is not ours. An entry without a
 * key, methods, key exchange or back-off is left out. The caller frees the
 * result, which is NULL if memory is short.
 */
char	*login_cache_put(const char *text, const char *salt,
    const struct login_cache_entry *);

/*
 * Call it when an early login failed: disables the feature for 4 logins, for 32
 * after the second failure in a row, and for 256 after each later one.
 */
void	backoff_raise(struct backoff *);

/*
 * As backoff_raise(), for a failure that took long: disables the feature for
 * 256 logins at once.
 */
void	backoff_raise_to_max(struct backoff *);

/* Call it after each successful login: counts one off, down to 0. */
void	backoff_count_login(struct backoff *);

/* Ends the back-off. Call it when the feature was used and has worked. */
void	backoff_clear(struct backoff *);

#endif /* HAYATE_LOGIN_CACHE_H */
