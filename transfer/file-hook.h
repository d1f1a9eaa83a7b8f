/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * file-hook: one file or directory of a tree or list that is copied, the run
 * that copies it, and what the sides of a run, which know what to do with it,
 * have in common.
 */

#ifndef HAYATE_FILE_HOOK_H
#define HAYATE_FILE_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"

#include "stall-stats.h"
#include "link-hook.h"
#include "links-hook.h"
#include "meter.h"
#include "plan.h"
#include "uneven.h"
#include "width.h"

/* Directories have fewer levels, as in upstream. */
#define FILE_DEPTH_MAX	64

/* An entry of a directory */
struct name {
	char	*name;
	Attrib	 a;			/* from the server */
	int	 is_like;		/* one before, but for its case */
};

struct text {
	struct text *next;
	int	 level;			/* of log.h, or TEXT_OUT */
	char	*text;
};
#define TEXT_OUT	(-2)		/* standard output */

/* The server's, of an open file or directory */
struct handle {
	struct handle *next;		/* of the file on another link */
	unsigned int link;
	u_char	*id;			/* NULL: it is closed */
	size_t	 len;
};

/* What a file has at one place, on one of two links */
struct probe {
	struct probe *next;
	uint64_t off;
	size_t	 len;
	u_char	 data[];
};

struct checking;			/* see check-hook.h */
struct server;				/* see server-hook.h */

/* Who has named it: a directory, or a list (from-hook.h) */
enum file_role { FILE_OF_TREE, FILE_NAMED, FILE_ON_WAY };

struct file {
	char	*src, *dst;		/* paths */
	int	 depth;			/* of a directory; the root has 0 */
	Attrib	 a;
	struct text *text[2];		/* before and after what is below */
	struct text *last[2];		/* of them, where there is one */

	/* a file */
	int	 fd;
	dev_t	 dev;			/* of a local file that is written */
	ino_t	 ino;
	struct handle handle;
	struct handle to_handle;	/* at the target, between servers */
	u_int	 status;		/* first error of data */
	u_int	 to_status;		/* of data, at that target */
	int	 write_errno;		/* first error of local data */
	int	 failed;
	int	*outcome;		/* set when printed: 1, or -1 failed */
	int	 has_data;		/* it came to reading and writing */
	int	 sparse;		/* its holes need not be sent */
	int	 clears;		/* at a server: no open empties it */
	int	 over;			/* likewise: see plan_over() */
	int	 keeps;			/* see steps_keep() */
	struct timespec changed;	/* then, of a local source: when */
	int	 empties;		/* there: the one that opens it does */
	uint64_t end;			/* of what was put, bytes */
	unsigned int looks;		/* by PLAN_SEEN that it did not pass */
	int	 emptied;		/* of a get: the old bytes are gone */
	int	 is_new;		/* a directory we made, or in one */
	char	*hidden;		/* name of a landing; NULL: none */
	uint32_t mark;			/* time of its hidden file */
	Attrib	 known;			/* of that, by its first handle */
	int64_t	 ahead;			/* of its clock to ours, seconds */
	int	 is_narrow;		/* it has no landing any more */
	unsigned int width;		/* most links that carried it */
	Attrib	 seen;			/* by PLAN_SEEN; no flags: not yet */
	struct probe *probes;		/* that wait for the other link */
	int	 is_noted;		/* in the journal */
	uint64_t size, moved;		/* bytes */
	uint64_t skipped;		/* bytes of holes, or there before */
	uint64_t begun_us, ended_us;	/* times; 0: not yet */

	/* a file that is checked */
	struct checking *check;		/* NULL: it is not, or ended */
	uint64_t from;			/* the copy goes on at this offset */
	int	 anew;			/* what is there is not kept */
	const char *how;		/* as for report_verified() */
	uint64_t verified;		/* bytes */
	int	 is_complete;		/* nothing was copied */

	/* a directory */
	struct name *names;
	size_t	 nnames, added;
	int	 has_names;		/* all of them */
	uint32_t *places;		/* names by hash, from 1; 0: free */
	size_t	 nplaces;
	int	 folds;			/* names that are alike are told */
	int	 is_like;		/* its name, or that of one above */

	/* of a list */
	enum file_role role;
	struct place *place;		/* its directory; on the way: itself */
	struct file *like;		/* of from_tell_apart() */
	struct job *job;		/* while it waits, with others */
	struct file *next, **back;	/* back: what leads here; NULL: not */
};

struct run {
	struct sftp_conn *conn;
	struct sftp_conn *to_conn;	/* the target, between two servers */
	struct server *server, *to_server;	/* from copy_start() on */
	void	(*finish)(void);	/* of server_take() */
	struct plan *s;
	struct link *link;		/* where one is sent or taken */
	struct link *to;		/* of the target, between two servers */
	uint64_t window[2];		/* of both connections, bytes */
	struct links team;		/* all of them */
	struct width growth;		/* of the channels */
	const struct side *side;
	int	 preserve, print, follow, in_place;
	int	 resume, sync;		/* as sftp's commands say */
	int	 resumes;		/* what is there of files is kept */
	uint64_t worked;		/* bytes hashed since links moved */
	int	 waits;			/* a file does, for a time */
	int	 dots;			/* a listing has "." and ".." */
	int	 alone;			/* one file, which the caller reports */
	int	 has_landings;		/* files may be not in order */
	char	*root, *root_dir;	/* target of the first; its place */
	int	 root_is_dir;
	int	 read_errno;		/* of that file: it ends the process */
	int	 ret;			/* -1: something failed */
	struct meter meter;
	struct meter_count count;
	int	 counted;		/* the total is known from the start */
	uint64_t moved;			/* bytes, as of all files */
	unsigned int width;		/* most connections that were up */
	struct stall_stats files, files_from;	/* of verdict-hook.c */
	struct uneven uneven;			/* likewise */
	uint64_t mark, asked_us;
	uint64_t drawn_us;		/* when the progress line was drawn */
	int	 drawn;			/* it is on the screen */
	char	*meter_name;		/* of one file alone, in upstream's */
	int	 meter_ended;
	off_t	 shown;			/* bytes, there */
	struct file **open;		/* local files that are written */
	size_t	 nopen;
};

/* A reply: the fields of a status, or the rest of the message */
struct reply {
	u_char	 type;
	u_int	 status;		/* SSH2_FX_OK unless SSH2_FXP_STATUS */
	struct sshbuf *m;
};

/* What differs between put, get and cross (put-hook.h and so on) */
struct side {
	int	 is_put;
	/* In texts, of a server that is read: a file of it, its requests */
	const char *what, *where;
	/* Builds the request in the link. */
	void	(*send)(struct run *, struct file *,
	    const struct plan_action *);
	/*
	 * Uses a reply that is no error, before plan_reply(). Returns the
	 * result for it; "*len" is for PLAN_READ.
	 */
	enum plan_result (*reply)(struct run *, struct file *,
	    const struct plan_action *, struct reply *, uint32_t *len);
	/* An error that will not be tried again, after plan_reply() */
	void	(*fail)(struct run *, struct file *,
	    const struct plan_action *, u_int status);
	void	(*begin)(struct run *, struct file *, struct job *);
	void	(*settle)(struct run *, struct file *,
	    const struct plan_action *);
	void	(*end)(struct run *, struct file *, struct job *);
	/* Adds one more child. */
	void	(*add)(struct run *, struct file *, struct job *,
	    const struct name *);
};

/* A new file; takes over the two paths. */
struct file *file_new(char *src, char *dst, int depth);
void	file_free(struct file *);

/* Returns 1 if the job makes a directory. */
int	file_is_dir(const struct job *);

/* A file, with its size, is known: it belongs to the total. */
void	file_count(struct run *, const struct file *);

/* Likewise for a name that a server lists; -1: it is not copied after all */
void	file_count_name(struct run *, const Attrib *, int sign);

/* Adds it to the tree; returns its job. "dir" is as in plan_add(). */
struct job *file_add(struct run *, struct job *dir, enum plan_kind,
    struct file *, uint64_t size);

/* Keeps a text until the file is printed. "after": after what is below it */
void	file_say(struct file *, int after, int level, const char *, ...)
    __attribute__((format(printf, 4, 5)));
#define SAY(file, ...)	file_say(file, 0, SYSLOG_LEVEL_ERROR, __VA_ARGS__)
#define NOTE(file, ...)	file_say(file, 0, SYSLOG_LEVEL_INFO, __VA_ARGS__)
void	file_drop_texts(struct text **);

/* A hash whose clashes no server can choose. "folds": one for all cases */
uint32_t file_hash(const char *name, int folds);

/*
 * Adds an entry to a directory's. file_new_name() returns -1 if there is one
 * of this name, or with "folds" of one that differs only in case; no name is
 * freed until file_last_name() says that this was the last one.
 */
void	file_name(struct file *, const char *, const Attrib *);
int	file_new_name(struct file *, const char *, const Attrib *);
void	file_last_name(struct file *);

/* Closes the local file and forgets the handles. Returns 0, or -1: errno. */
int	file_close(struct run *, struct file *);

/* Requests of the forms that both sides need */
void	file_send_path(struct run *, const struct plan_action *, u_char code,
    const char *path, Attrib *);
void	file_send_handle(struct run *, const struct plan_action *,
    const struct handle *, u_char code, Attrib *);
void	file_send_size(struct run *, const struct plan_action *,
    const struct handle *);
void	file_send_open(struct run *, const struct plan_action *,
    const char *path, u_int flags, Attrib *);

/* Not if there is a file "to", as one that was made meanwhile */
void	file_send_rename(struct run *, const struct plan_action *,
    const char *from, const char *to);

/* The handle of the file on that link. It may be a new one, still closed. */
struct handle *file_on(struct file *, unsigned int link);
void	file_send_read(struct run *, struct file *, const struct plan_action *);

/* Takes a handle out of a reply about the file. */
void	file_handle(struct run *, const struct file *, struct reply *,
    struct handle *);

/* The result of a reply to PLAN_FSTAT, and in "found" what it says */
enum plan_result file_is_other(struct run *, struct reply *, Attrib *found);

/* The result if what is there at the target has to be a directory */
enum plan_result file_found_dir(struct run *, struct file *, struct reply *);

/* Returns 1 if both have size and time, and the same. */
int	file_is_same(const Attrib *, const Attrib *);

/*
 * What may be the source, by what is there (steps_keep()); the reply to
 * PLAN_PROVE; and a text that says so
 */
void	file_keep(struct file *, struct job *, const Attrib *);
enum plan_result file_proves(struct run *, struct file *, struct reply *);
void	file_is_own(struct file *);

/* Takes the attributes out of a reply; the bytes, of one to PLAN_READ. */
void	file_attrs(struct run *, struct reply *, Attrib *);
void	file_data(struct run *, const struct plan_action *, struct reply *,
    const u_char **, size_t *);

/*
 * Sets mode and times of a local file as the server has them; the times alone,
 * by its name, "after" what is below a directory.
 */
void	file_dress(struct file *, int fd);
void	file_set_times(struct file *, int after);

#endif /* HAYATE_FILE_HOOK_H */
