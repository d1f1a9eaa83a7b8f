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
 * A MARK is left by a surprise: for so many logins something is not done, and
 * then it is tried again. A network that fails once costs a few round trips in
 * that way. Where it fails each time, few logins in a thousand meet it.
 *
 * A line that is not whole or not valid is left out, and so are words that this
 * version does not know. The newest entry is the last. Nothing has a time, so a
 * login that learns nothing new, and counts off no mark, writes nothing.
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
	int	remaining;		/* logins until it is tried again */
	int	failures;	/* surprises, one after the other; 0: none */
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
	int	sends_ext_info;		/* EXT_INFO was the first message */
	/* keys are exchanged again, but with AES-GCM */
	int	rekeys_at_session;
	int	defer_session;	/* the next session is not opened early */
	/* none is, and a guess only of our first method */
	struct backoff early_session_backoff;
	struct backoff early_auth_backoff;	/* only as stock does it */
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

/* A surprise: 4 logins without, at the second one 32, and 256 from then on. */
void	backoff_raise(struct backoff *);

/* One that took long: 256 logins without at once. */
void	backoff_raise_to_max(struct backoff *);

/* A login that succeeded while it was in force, or not. */
void	backoff_count_login(struct backoff *);

/* It was tried, and has worked. */
void	backoff_clear(struct backoff *);

/*
 * Returns the text, or a new one if it is not ours, with the entry as the last
 * one and in place of any with its id. An entry that says nothing is left out.
 * The caller frees it. NULL: no memory.
 */
char	*login_cache_put(const char *text, const char *salt,
    const struct login_cache_entry *);

#endif /* HAYATE_LOGIN_CACHE_H */
