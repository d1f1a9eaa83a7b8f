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

#include "conn-count.h"
#include "conns-hook.h"
#include "progress-text.h"
#include "reconnect-hook.h"
#include "scheduler.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"
#include "slow-conn.h"
#include "stall-stats.h"

/* Directories have fewer levels, as in upstream. */
#define FILE_DEPTH_MAX	64

/* An entry of a directory */
struct dir_entry {
	char	*name;
	Attrib	 a;			/* from the server */
	int	 case_clash;		/* one before, but for its case */
};

struct message {
	struct message *next;
	int	 level;			/* of log.h, or MESSAGE_STDOUT */
	char	*line;
};
#define MESSAGE_STDOUT	(-2)		/* standard output */

/* The handle of a file on one connection */
struct conn_handle {
	struct handle handle;
	unsigned int conn;
	struct conn_handle *next;	/* on another connection */
};

/* What a file has at one place, on one of two connections */
struct sample {
	struct sample *next;
	uint64_t off;
	size_t	 len;
	u_char	 data[];
};

struct verification;			/* see verify-run-hook.h */
struct server;				/* see server-hook.h */

/* Who has named it: a directory, or a list (files-from-hook.h) */
enum file_role { FILE_OF_TREE, FILE_NAMED, FILE_PARENT_DIR };

struct file {
	char	*src, *dst;		/* paths */
	int	 depth;			/* of a directory; the root has 0 */
	Attrib	 a;
	struct message *messages[2];	/* before and after what is below */
	/* of them, where there is one */
	struct message *last_message[2];

	/* a file */
	int	 fd;
	dev_t	 dev;			/* of a local file that is written */
	ino_t	 ino;
	struct conn_handle first_handle;
	struct handle dest_handle;	/* at the target, between servers */
	u_int	 status;		/* first error of data */
	u_int	 dest_status;		/* of data, at that target */
	int	 write_errno;		/* first error of local data */
	int	 failed;
	int	*result;		/* set when printed: 1, or -1 failed */
	int	 has_data;		/* it came to reading and writing */
	int	 sparse;		/* its holes need not be sent */
	/* OPEN without TRUNC; truncated before the first WRITE */
	int	 truncate_late;
	int	 no_truncate;		/* see struct sched_begin */
	int	 possible_source;	/* see struct sched_reply */
	struct timespec source_ctime;	/* then, of a local source: when */
	int	 open_truncates;	/* there: the one that opens it does */
	uint64_t sent_size;		/* of what was put, bytes */
	/* checks by OP_STAT_DEST_ON_HOST that failed */
	unsigned int verify_attempts;
	/* of a download: the old bytes are gone */
	int	 old_bytes_gone;
	int	 is_new;		/* a directory we made, or in one */
	char	*temp_name;	/* name of a temporary file; NULL: none */
	uint32_t temp_tag;			/* time of its temporary file */
	Attrib	 temp_attrs;	/* of that, by its first handle */
	int64_t	 clock_offset;	/* of its clock to ours, seconds */
	int	 never_striped;		/* it has no temporary file any more */
	unsigned int max_conns;	/* connections that transferred it, at most */
	Attrib	 seen_attrs;	/* by OP_STAT_DEST_ON_HOST; no flags: not yet */
	struct sample *samples;		/* that wait for the other connection */
	int	 is_journaled;		/* in the journal */
	uint64_t size, moved;		/* bytes */
	uint64_t skipped;		/* bytes of holes, or there before */
	uint64_t begun_us, ended_us;	/* times; 0: not yet */

	/* a file that is checked */
	struct verification *verification;	/* NULL: it is not, or ended */
	uint64_t start_off;	/* the copy goes on at this offset */
	int	 from_scratch;			/* what is there is not kept */
	/* restarts by a lost connection; then the target is compared */
	unsigned int losses;
	const char *verified_by;		/* as for report_verified() */
	uint64_t verified;		/* bytes */
	int	 is_complete;		/* nothing was copied */

	/* a directory */
	struct dir_entry *names;
	size_t	 nnames, added;
	int	 names_complete;	/* all of them */
	uint32_t *name_table;		/* names by hash, from 1; 0: free */
	size_t	 name_table_size;
	int	 fold_case;		/* names that are alike are told */
	int	 case_clash;		/* its name, or that of one above */

	/* of a list */
	enum file_role role;
	struct parent_dir *parent_dir;	/* its directory; on the way: itself */
	struct file *next_same_hash;	/* of files_from_serialize_case() */
	struct sched_entry *entry;	/* while it waits, with others */
	/* the pointer to this entry; NULL: not queued */
	struct file *next, **pprev;
};

struct transfer {
	struct sftp_conn *conn;
	struct sftp_conn *dest_conn;	/* the target, between two servers */
	struct server *server, *dest_server;	/* from transfer_start() on */
	void	(*finish)(void);	/* of server_acquire() */
	struct sched *sched;
	struct sched_env env;	/* what it was told last */
	struct sftp_stream *stream;		/* where one is sent or taken */
	/* of the target, between two servers */
	struct sftp_stream *dest_stream;
	uint64_t window[2];		/* of both connections, bytes */
	struct conns conns;		/* all of them */
	struct reconnect reconnect;	/* --retry */
	struct conn_count channel_count;		/* of the channels */
	const struct direction_ops *ops;
	int	 preserve, print, follow, in_place;
	int	 resume, sync;		/* as sftp's commands say */
	int	 keeps_target;		/* what is there of files is kept */
	uint64_t hashed;		/* bytes hashed since the last poll() */
	int	 wake_soon;	/* poll() has to wake up after a second */
	int	 keep_dots;			/* a listing has "." and ".." */
	int	 single_file;	/* one file, which the caller reports */
	int	 had_tempfiles;	/* had temporary files in the last round */
	char	*root, *root_dir;	/* target of the first; its place */
	int	 root_is_dir;
	int	 read_errno;		/* of that file: it ends the process */
	int	 ret;			/* -1: something failed */
	struct progress_text progress;
	struct progress_count count;
	int	 total_known;		/* the total is known from the start */
	uint64_t moved;			/* bytes, as of all files */
	unsigned int width;		/* most connections that were up */
	struct stall_stats files, files_from;	/* of bottleneck-hook.c */
	struct slow_conn slow_conn;			/* likewise */
	uint64_t span_tag, figures_us;
	uint64_t drawn_us;		/* when the progress line was drawn */
	int	 drawn;			/* it is on the screen */
	char	*single_name;		/* of one file alone, in upstream's */
	int	 single_ended;
	off_t	 shown;			/* bytes, there */
	struct file **open;		/* local files that are written */
	size_t	 nopen;
};

/* A request of the scheduler, and its reply */
struct request {
	struct transfer *t;
	struct file *file;
	struct sched_action a;
	struct request_sink *sink;	/* while it is sent */

	/* the reply: the fields of a status, or the rest of the message */
	u_char	 type;
	u_int	 status;		/* SSH2_FX_OK unless SSH2_FXP_STATUS */
	struct sshbuf *m;
	struct sched_reply said;	/* what sched_reply() is given */
};

typedef void op_function(struct request *);

/*
 * How a request of one kind is sent, and what its reply means beside what
 * sched-replies.c does with it. Each direction has a table of these, and so
 * have temporary files and the verification.
 */
struct op_handler {
	op_function *send;
	/*
	 * Called before sched_reply() for a success, or of the verification for
	 * every reply, with the result of the status; NULL: that says all.
	 */
	op_function *reply;
	/* After sched_reply(), an error that does not restart the file: */
	const char *error;	/* its text, without the reason; NULL: none */
	enum op_error {
		NAMES_PATH = 1,		/* the text has the path as well */
		IS_LAST = 2,		/* and comes after what is below it */
		IS_DATA = 4,		/* the first status is kept */
		FAILS = 8		/* the file has failed */
	} flags;
	op_function *fail;	/* called last; or NULL */
};

/*
 * What upload, download and server-to-server copy do differently (put-hook.h,
 * get-hook.h, cross-hook.h)
 */
struct direction_ops {
	int	 is_put;
	/*
	 * Words for messages: the kind of transfer ("download", "origin"), and
	 * the place of a file ("remote", "origin").
	 */
	const char *kind_text, *place_text;
	/*
	 * By operation. Between two servers they are those of requests to the
	 * target, and the others are those of a download.
	 */
	const struct op_handler *handlers;
	void (*begin)(struct transfer *, struct file *, struct sched_entry *);
	void	(*data_done)(struct transfer *, struct file *,
	    const struct sched_action *);
	void	(*end)(struct transfer *, struct file *, struct sched_entry *);
	/* Adds one more child. */
	void	(*add)(struct transfer *, struct file *, struct sched_entry *,
	    const struct dir_entry *);
	/* The server has sent these bytes of the source, in a reply. */
	void	(*take_data)(struct request *, const u_char *);
};

/* A new file; takes over the two paths. */
struct file *file_new(char *src, char *dst, int depth);
void	file_free(struct file *);

/* Returns 1 if the entry makes a directory. */
int	file_is_dir(const struct sched_entry *);

/* A file, with its size, is known: it belongs to the total. */
void	file_count(struct transfer *, const struct file *);

/* Likewise for a name that a server lists; -1: it is not copied after all */
void	file_count_listed(struct transfer *, const Attrib *, int sign);

/* Adds it to the tree; returns its entry. "dir" is as in sched_add(). */
struct sched_entry *file_add(struct transfer *, struct sched_entry *dir,
    enum sched_kind, struct file *, uint64_t size);

/* Keeps a text until the file is printed. "after": after what is below it */
void	file_message(struct file *, int after, int level, const char *, ...)
    __attribute__((format(printf, 4, 5)));
#define file_error(file, ...) \
	file_message(file, 0, SYSLOG_LEVEL_ERROR, __VA_ARGS__)
#define file_info(file, ...) \
	file_message(file, 0, SYSLOG_LEVEL_INFO, __VA_ARGS__)
void	file_drop_messages(struct message **);

/*
 * A keyed hash: a hostile server cannot force collisions. With "folds" names
 * that differ only in case have the same one.
 */
uint32_t file_hash(const char *name, int folds);

/*
 * dir_add() adds an entry to the listing of a directory. dir_add_unique() does
 * not add it, and returns -1, if there is one with this name, or with
 * "fold_case" one that differs only in case. After dir_entries_complete() no
 * entry may be added; until then names are kept, to be compared.
 */
void	dir_add(struct file *, const char *, const Attrib *);
int	dir_add_unique(struct file *, const char *, const Attrib *);
void	dir_entries_complete(struct file *);

/* Closes the local file and forgets the handles. Returns 0, or -1: errno. */
int	file_close(struct transfer *, struct file *);

/*
 * Returns the handle of the file on that connection. It may be a new one, with
 * no "id" yet.
 */
struct handle *file_handle_for(struct file *, unsigned int conn);

/* The handle and the path that a request is about */
struct handle *file_handle_of(const struct request *);
const char *file_path_of(const struct request *);

/*
 * Send a request about these: the message that op_info_of() says, without
 * attributes or with those of the file or others; SETSTAT or FSETSTAT of a
 * size; READ, and OPEN to read. Another OPEN can be of any path.
 */
op_function file_send, file_send_size, file_send_read;
op_function file_send_open_read, file_send_own_attrs;
void	file_send_attrs(struct request *, const Attrib *);
void	file_send_open(struct request *, const char *path, u_int flags,
    const Attrib *);

/*
 * An error in the reply to a request, as its handler says; and the status of
 * the data, which was read or written: returns 1 if it is the first error
 */
int	file_note_status(struct request *);
void	file_report_error(struct request *, const struct op_handler *);

/* Takes the handle out of a reply. */
op_function file_take_handle;

/* The reply to OP_FSTAT_TYPE: a success unless the file is a regular one */
op_function file_take_type;

/* The reply to OP_MKDIR; and to the STAT after it failed: is it there? */
op_function file_take_new_dir, file_take_dir;

/* Returns 1 if both have size and time, and the same. */
int	file_is_same(const Attrib *, const Attrib *);

/*
 * What may be the source, by what is there (struct sched_reply); the
 * reply to OP_FSTAT_SOURCE; and a text that says so
 */
void	file_note_possible_source(struct request *, const Attrib *);
op_function file_take_source;
void	file_report_same_file(struct file *);

/* Takes the attributes out of a reply, or its bytes, of which "most" may be. */
void	file_parse_attrs(struct request *, Attrib *);
void	file_parse_data(struct request *, uint32_t most, const u_char **,
    size_t *);

/*
 * Sets mode and times of a local file as the server has them; the times alone,
 * by its name, "after" what is below a directory.
 */
void	file_apply_attrs(struct file *, int fd);
void	file_set_times(struct file *, int after);

#endif /* HAYATE_FILE_HOOK_H */
