/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * recall: what an earlier login learnt of a server, as lines of text.
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
 * No I/O, no clock and no upstream header; recall-hook.c keeps the file.
 */

#ifndef HAYATE_RECALL_H
#define HAYATE_RECALL_H

#define RECALL_HASH	40	/* hex digits of a hash */
#define RECALL_SALT	32	/* hex digits */
#define RECALL_METHODS	120	/* characters; a longer list is not kept */
#define RECALL_NAME	64	/* characters of an algorithm (RFC 4251) */
#define RECALL_MOST	500	/* entries; the oldest ones go */
#define RECALL_BYTES	(512 * 1024)	/* a larger file is none of ours */

struct recall_mark {
	int	left;		/* logins until it is tried again */
	int	times;		/* surprises, one after the other; 0: none */
};

struct recall_entry {
	char	id[RECALL_HASH + 1];	/* host, port, user and host key */
	char	key[RECALL_HASH + 1];	/* that was accepted; "": none */
	char	methods[RECALL_METHODS + 1]; /* to begin with; "": unknown */
	char	algs[RECALL_HASH + 1];	/* of signatures; "": unknown */
	char	own[RECALL_HASH + 1];	/* our proposal; "": no guess */
	char	kex[RECALL_NAME + 1];	/* the method that was chosen */
	char	hostkey[RECALL_NAME + 1]; /* the algorithm of the host key */
	int	sftp;		/* the last session with "key" spoke SFTP */
	int	ext;		/* EXT_INFO was the first message */
	int	again;		/* keys are exchanged again, but with AES-GCM */
	int	wait;		/* the next session is not opened early */
	/* none is, and a guess only of our first method */
	struct recall_mark late;
	struct recall_mark plain;	/* only as stock does it */
};

/* Copies the salt of a text, RECALL_SALT digits. Returns 0, or -1: not ours. */
int	recall_salt(const char *text, char *salt);

/* Returns 0, or -1 if the text has no valid entry with that id. */
int	recall_find(const char *text, const char *id, struct recall_entry *);

/* Sets the methods if they can be kept, or "". */
void	recall_set_methods(struct recall_entry *, const char *list);

int	recall_same(const struct recall_entry *, const struct recall_entry *);

/* A surprise: 4 logins without, at the second one 32, and 256 from then on. */
void	recall_mark_set(struct recall_mark *);

/* One that took long: 256 logins without at once. */
void	recall_mark_longest(struct recall_mark *);

/* A login that succeeded while it was in force, or not. */
void	recall_mark_count(struct recall_mark *);

/* It was tried, and has worked. */
void	recall_mark_clear(struct recall_mark *);

/*
 * Returns the text, or a new one if it is not ours, with the entry as the last
 * one and in place of any with its id. An entry that says nothing is left out.
 * The caller frees it. NULL: no memory.
 */
char	*recall_put(const char *text, const char *salt,
    const struct recall_entry *);

#endif /* HAYATE_RECALL_H */
