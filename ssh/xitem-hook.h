/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xitem-hook: one file or directory of a tree or list that is copied, and the
 * sides that know what to do with it: put, get, and cross, which is a get whose
 * files are written to another server. Shared by the hooks whose names begin
 * with x, and by no other file.
 */

#ifndef HAYATE_XITEM_HOOK_H
#define HAYATE_XITEM_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"

#include "xlink-hook.h"
#include "xmeter.h"
#include "xsched.h"
#include "xteam-hook.h"
#include "xwindow.h"

/* Directories have fewer levels, as in upstream. */
#define XITEM_DEPTH_MAX	64

/* An entry of a directory */
struct xname {
	char	*name;
	Attrib	 a;			/* from the server */
};

struct xtext {
	struct xtext *next;
	int	 level;			/* of log.h, or XTEXT_OUT */
	char	*text;
};
#define XTEXT_OUT	(-2)		/* standard output */

/* The server's, of an open file or directory */
struct xhandle {
	u_char	*id;			/* NULL: it is closed */
	size_t	 len;
};

struct xitem {
	char	*src, *dst;		/* paths */
	int	 depth;			/* of a directory; the root has 0 */
	Attrib	 a;
	struct xtext *text[2];		/* before and after what is below */

	/* a file */
	int	 fd;
	dev_t	 dev;			/* of a local file that is written */
	ino_t	 ino;
	struct xhandle handle;
	struct xhandle to_handle;	/* at the target, between servers */
	u_int	 status;		/* first error of data */
	u_int	 to_status;		/* of data, at that target */
	int	 write_errno;		/* first error of local data */
	int	 failed;
	int	*outcome;		/* set when printed: 1, or -1 failed */
	int	 has_data;		/* it came to reading and writing */
	int	 sparse;		/* its holes need not be sent */
	int	 ends_in_hole;
	int	 clears;		/* at a server: no open empties it */
	int	 emptied;		/* of a get: the old bytes are gone */
	int	 is_new;		/* a directory we made, or in one */
	int	 is_large;		/* see xturn-hook.h */
	uint64_t size, moved, skipped;	/* bytes; of holes */
	uint64_t begun_us, ended_us;	/* times; 0: not yet */

	/* a directory */
	struct xname *names;
	size_t	 nnames, added;
	int	 has_names;		/* all of them */
	uint32_t *places;		/* names by hash, from 1; 0: free */
	size_t	 nplaces;
};

struct xtree {
	struct sftp_conn *conn;
	struct sftp_conn *to_conn;	/* the target, between two servers */
	struct xs *s;
	struct xlink *link;		/* where one is sent or taken */
	struct xlink *to;		/* of the target, between two servers */
	uint64_t window[2];		/* of both connections, bytes */
	struct xteam team;		/* all of them */
	struct xwindow growth;		/* of the channels; to put */
	unsigned int large;		/* files that are, known and not done */
	uint64_t lent_us, lent_moved;	/* since xtree_lend(): time, bytes */
	const struct xside *side;
	int	 preserve, print, follow, in_place;
	u_int	 unit;
	u_int	*msg_id, *to_msg_id;	/* of the connections, for later */
	int	 dots;			/* a listing has "." and ".." */
	int	 alone;			/* one file, which the caller reports */
	int	 ret;			/* -1: something failed */
	struct xmeter meter;
	struct xmeter_count count;
	int	 counted;		/* the total is known from the start */
	uint64_t drawn_us;		/* when the progress line was drawn */
	int	 drawn;			/* it is on the screen */
	struct xitem **open;		/* local files that are written */
	size_t	 nopen;
};

/* A reply: the fields of a status, or the rest of the message */
struct xreply {
	u_char	 type;
	u_int	 status;		/* SSH2_FX_OK unless SSH2_FXP_STATUS */
	struct sshbuf *m;
};

/* What differs between put, get and cross */
struct xside {
	/* In texts, of a server that is read: a file of it, its requests */
	const char *what, *where;
	/* Builds the request in the link. */
	void	(*send)(struct xtree *, struct xitem *,
	    const struct xs_action *);
	/*
	 * Uses a reply that is no error, before xs_reply(). Returns the result
	 * for it; "*len" is for XS_READ.
	 */
	enum xs_result (*reply)(struct xtree *, struct xitem *,
	    const struct xs_action *, struct xreply *, uint32_t *len);
	/* An error that will not be tried again, after xs_reply() */
	void	(*fail)(struct xtree *, struct xitem *,
	    const struct xs_action *, u_int status);
	void	(*begin)(struct xtree *, struct xitem *, struct xs_job *);
	void	(*settle)(struct xtree *, struct xitem *,
	    const struct xs_action *);
	void	(*end)(struct xtree *, struct xitem *, struct xs_job *);
	/* Adds one more child. */
	void	(*add)(struct xtree *, struct xitem *, struct xs_job *,
	    const struct xname *);
};

extern const struct xside xput_side, xget_side, xcross_side;

/* Returns 1 if a request goes to the target, between two servers. */
int	xcross_is_to(enum xs_op);

/*
 * A directory of the server begins. Returns 0, or -1 with a text if it may not
 * be entered.
 */
int	xget_enter(struct xtree *, struct xitem *);

/* Takes the bytes out of a reply to XS_READ. */
void	xget_data(struct xtree *, const struct xs_action *, struct xreply *,
    const u_char **, size_t *);

/*
 * A tree or list begins; its connection, side and flags are set. The connection
 * is its own until xtree_stop().
 */
void	xtree_start(struct xtree *);

/*
 * Copies until "*until" is not 0, or with NULL until all is printed and no
 * reply is due. An interrupt ends it, but what is under way is waited for.
 */
void	xtree_run(struct xtree *, const int *until);

/* All is printed and no reply is due. */
void	xtree_stop(struct xtree *);

/*
 * In XS_BEGIN of the only job under way: upstream's functions have the
 * connection from the one to the other.
 */
void	xtree_lend(struct xtree *);
void	xtree_return(struct xtree *);

/* A new item; takes over the two paths. */
struct xitem *xitem_new(char *src, char *dst, int depth);

/* A file, with its size, is known: it belongs to the total. */
void	xitem_count(struct xtree *, const struct xitem *);

/* Likewise for a name that a server lists; -1: it is not copied after all */
void	xitem_count_name(struct xtree *, const Attrib *, int sign);

/* Adds it to the tree. "dir" is as in xs_add(). */
void	xitem_add(struct xtree *, struct xs_job *dir, enum xs_kind,
    struct xitem *, uint64_t size);

/* Keeps a text until the item is printed. "after": after what is below it */
void	xitem_say(struct xitem *, int after, int level, const char *, ...)
    __attribute__((format(printf, 4, 5)));
#define SAY(item, ...)	xitem_say(item, 0, SYSLOG_LEVEL_ERROR, __VA_ARGS__)
#define NOTE(item, ...)	xitem_say(item, 0, SYSLOG_LEVEL_INFO, __VA_ARGS__)

/*
 * Adds an entry to a directory's. xitem_new_name() returns -1 if there is one
 * of this name; no name is freed until xitem_last_name() says that this was the
 * last one.
 */
void	xitem_name(struct xitem *, const char *, const Attrib *);
int	xitem_new_name(struct xitem *, const char *, const Attrib *);
void	xitem_last_name(struct xitem *);

/* Closes the local file and forgets the handles. Returns 0, or -1: errno. */
int	xitem_close(struct xtree *, struct xitem *);

/* Requests of the forms that both sides need */
void	xitem_send_path(struct xtree *, const struct xs_action *, u_char code,
    const char *path, Attrib *);
void	xitem_send_handle(struct xtree *, const struct xs_action *,
    const struct xhandle *, u_char code, Attrib *);
void	xitem_send_size(struct xtree *, const struct xs_action *,
    const struct xhandle *);
void	xitem_send_open(struct xtree *, const struct xs_action *,
    const char *path, u_int flags, Attrib *);

/* Takes a handle out of a reply about the item. */
void	xitem_handle(struct xtree *, const struct xitem *, struct xreply *,
    struct xhandle *);

/* Forgets it. */
void	xitem_forget(struct xhandle *);

/* The result of a reply to XS_FSTAT */
enum xs_result xitem_is_other(struct xtree *, struct xreply *);

/* Takes the attributes out of a reply. */
void	xitem_attrs(struct xtree *, struct xreply *, Attrib *);

#endif /* HAYATE_XITEM_HOOK_H */
