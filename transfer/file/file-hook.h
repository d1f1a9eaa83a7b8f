/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * file-hook: a file or directory that is copied, the transfer that copies it,
 * and the functions that all directions use.
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

/* A directory at this depth fails, as in upstream. */
#define FILE_DEPTH_MAX	64

/* An entry of a directory */
struct dir_entry {
	char	*name;			/* owned; NULL: no longer needed */
	Attrib	 a;			/* from the server; 0 in an upload */
	int	 case_clash;		/* an earlier name differs in case */
};

/* A text that is kept until its file is printed */
struct message {
	struct message *next;
	int	 level;			/* of log.h, or MESSAGE_STDOUT */
	char	*line;			/* no newline, but MESSAGE_STDOUT */
};
#define MESSAGE_STDOUT	(-2)		/* to standard output, as it is */

/* The handle of a file on one connection */
struct conn_handle {
	struct handle handle;
	unsigned int conn;
	struct conn_handle *next;	/* on another connection */
};

/* A sample that one handle of a file has read, and the other not yet */
struct sample {
	struct sample *next;
	uint64_t off;
	size_t	 len;
	u_char	 data[];
};

struct verification;		/* see verify-requests-hook.h */
struct server;				/* see server-hook.h */

/* In a tree, named by a list (files-from-hook.h), or on the way to a name */
enum file_role { FILE_OF_TREE, FILE_NAMED, FILE_PARENT_DIR };

struct file {
	char	*src, *dst;		/* paths, owned */
	int	 depth;			/* the root has 0 */
	Attrib	 a;			/* the source's, for the target */
	struct message *messages[2];	/* [1]: after those below a directory */
	struct message *last_message[2];	/* unless that list is empty */

	/* a file */
	int	 fd;			/* the local file; -1: none */
	dev_t	 dev;			/* of a local file that is written */
	ino_t	 ino;
	struct conn_handle first_handle;	/* head of a list */
	struct handle dest_handle;	/* between servers; or staging file */
	u_int	 status;		/* first error of data */
	u_int	 dest_status;		/* of data, at that target */
	int	 write_errno;		/* first error of local data */
	int	 failed;
	int	*result;	/* when printed, set to 1, or -1; or NULL */
	int	 has_data;		/* both files were opened */
	int	 sparse;		/* its holes need not be sent */
	/* OPEN without TRUNC; truncated before the first WRITE */
	int	 truncate_late;
	int	 no_truncate;		/* see struct sched_begin */
	int	 possible_source;	/* see struct sched_reply */
	/* Of an upload with possible_source: the source's, when it was found */
	struct timespec source_ctime;
	/* Of an upload in place: OPEN truncates, as no old bytes are needed */
	int	 open_truncates;
	uint64_t sent_size;		/* of an upload, bytes */
	/* OP_STAT_DEST_ON_HOST that found a wrong size, and a wrong time */
	unsigned int wrong_sizes, wrong_times;
	int	 old_bytes_gone;	/* of a download: it was truncated */
	int	 is_new;		/* a directory we made, or in one */
	char	*temp_name;	/* path of its temporary file; NULL: none */
	uint32_t temp_tag;	/* random future time that marks that file */
	Attrib	 temp_attrs;	/* of that file, by its first handle */
	int64_t	 clock_offset;	/* server's clock minus ours, seconds */
	int	 never_striped;	/* gets no temporary file any more */
	/* names the temporary file that a lost connection has left; or NULL */
	char	*leftover;
	unsigned int max_conns;	/* connections that transferred it, at most */
	Attrib	 seen_attrs;	/* by OP_STAT_DEST_ON_HOST; no flags: not yet */
	struct sample *samples;		/* wait for the other handle */
	int	 is_journaled;		/* its line is in the journal */
	uint64_t size, moved;		/* bytes */
	uint64_t skipped;		/* bytes of holes, or there before */
	uint64_t begun_us, ended_us;	/* times; 0: not yet */

	/* a file that is verified */
	struct verification *verification;	/* owned; NULL: none or ended */
	uint64_t start_off;	/* the copy continues at this offset */
	int	 from_scratch;	/* the data at the target is not kept */
	/* restarts because of SCHED_CONNS_ALL; the target is then compared */
	unsigned int losses;
	const char *verified_by;		/* as for report_verified() */
	uint64_t verified;		/* bytes */
	int	 is_complete;		/* nothing was copied */

	/* a directory */
	struct dir_entry *names;
	size_t	 nnames, added;		/* added: to the scheduler */
	int	 names_complete;	/* the listing is */
	uint32_t *name_table;		/* names by hash, from 1; 0: free */
	size_t	 name_table_size;
	int	 fold_case;	/* dir_add_unique() ignores the case */
	int	 case_clash;	/* its name, or the name of one above, does */

	/* of a list, for files-from-hook.c */
	enum file_role role;
	struct parent_dir *parent_dir;	/* FILE_PARENT_DIR: of itself */
	struct file *next_same_hash;	/* of files_from_serialize_case() */
	struct sched_entry *entry;	/* valid in either list */
	/* files that wait for parent_dir; back link NULL: not this one */
	struct file *next, **pprev;
};

struct transfer {
	struct sftp_conn *conn;
	struct sftp_conn *dest_conn;	/* the target, between two servers */
	struct server *server, *dest_server;	/* from transfer_start() on */
	void	(*finish)(void);	/* of server_acquire() */
	struct sched *sched;
	struct sched_env env;	/* of the last sched_update() */
	struct sftp_stream *stream;	/* of the current request or reply */
	struct sftp_stream *dest_stream;	/* of dest_conn; or NULL */
	uint64_t window[2];	/* bytes in flight allowed; [1]: dest_conn */
	struct conns conns;		/* all to "server" */
	struct reconnect reconnect;	/* --retry */
	struct conn_count channel_count;		/* of the channels */
	const struct direction_ops *ops;
	int	 preserve, print, follow, in_place;
	int	 resume, sync;		/* as sftp's commands say */
	int	 keeps_target;	/* resumes: data at the target is kept */
	uint64_t hashed;		/* bytes hashed since the last poll() */
	int	 wake_soon;	/* poll() has to wake up after a second */
	int	 keep_dots;		/* listings keep "." and ".." */
	int	 single_file;	/* one file, which the caller reports */
	uint64_t single_moved;	/* bytes of it, when it is printed */
	int	 had_tempfiles;	/* had temporary files in the last round */
	/* target path of the first entry; directory of a proof on it */
	char	*root, *root_dir;
	int	 root_is_dir;
	/* Of an upload with single_file: ends the process after the copy */
	int	 read_errno;
	int	 ret;			/* -1: something failed */
	struct progress_text progress;
	struct progress_count count;
	int	 total_known;		/* files are not counted when added */
	uint64_t moved;			/* bytes of all files */
	/* of bottleneck-hook.c */
	unsigned int width;		/* most connections established */
	struct stall_stats files, files_from;	/* so far; at the begin */
	struct slow_conn slow_conn;
	/* number of the copy, which ssh repeats; last server_ask_figures() */
	uint64_t span_tag, figures_us;
	/* of progress-hook.c */
	uint64_t drawn_us;		/* when the line was drawn */
	int	 drawn;			/* it is on the screen */
	char	*single_name;	/* name in upstream's meter; NULL: no meter */
	int	 single_ended;		/* that meter has ended */
	off_t	 shown;			/* bytes that it shows */
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

/* A function of an op_handler, or one that such functions share */
typedef void op_function(struct request *);

/*
 * How a request of one kind is sent, and what its reply means beside what
 * sched-replies.c does with it. Each direction has a table of these, and so
 * have temporary files and the verification.
 */
struct op_handler {
	op_function *send;	/* never NULL */
	/*
	 * Called before sched_reply() if the request has succeeded, and for a
	 * request of the verification in any case. said.result is set from the
	 * status before. NULL: nothing else is needed.
	 */
	op_function *reply;
	/* After sched_reply(), for an error that does not restart the file: */
	const char *error;	/* its text, without the reason; NULL: none */
	enum op_error {
		NAMES_PATH = 1,		/* the text has the path as well */
		IS_LAST = 2,		/* that text is in messages[1] */
		IS_DATA = 4,		/* the first status is kept */
		FAILS = 8		/* the file has failed */
	} flags;
	op_function *fail;	/* called last; or NULL */
};

/*
 * What upload, download and server-to-server copy do differently
 * (directions-hook.h)
 */
struct direction_ops {
	int	 is_put;		/* an upload */
	/*
	 * Words for messages: the kind of transfer ("download", "origin"), and
	 * the place of a file ("remote", "origin").
	 */
	const char *kind_text, *place_text;
	/*
	 * By enum sched_op. Between two servers this table has only requests to
	 * the target; requests to the source are in that of a download.
	 */
	const struct op_handler *handlers;
	/* OP_BEGIN, OP_DATA_DONE and OP_END */
	void (*begin)(struct transfer *, struct file *, struct sched_entry *);
	void	(*data_done)(struct transfer *, struct file *,
	    const struct sched_action *);
	void	(*end)(struct transfer *, struct file *, struct sched_entry *);
	/* Adds one more child of a directory that is listed. */
	void	(*add)(struct transfer *, struct file *, struct sched_entry *,
	    const struct dir_entry *);
	/* A reply has said.len bytes of the source. NULL in an upload. */
	void	(*take_data)(struct request *, const u_char *);
	/* Of struct conns, with the transfer as the first argument. */
	int	(*locate)(void *, unsigned int n, struct fs_location *);
};

/* Returns a new file, and takes over the two paths. */
struct file *file_new(char *src, char *dst, int depth);
struct file *file_new_child(const struct file *dir, const char *name);

/* Returns the part of the path behind its last slash, which may be "". */
const char *file_base_name(const char *path);

/* file_close() and the end of its verification come before. */
void	file_free(struct file *);

/* Its "leftover" has got another name, or was removed. */
void	file_forget_leftover(struct file *);

/* Returns 1 if the entry makes a directory. */
int	file_is_dir(const struct sched_entry *);

/* Adds a file and its size to the total of the progress line. */
void	file_count(struct transfer *, const struct file *);

/*
 * Adds a name that a server lists to the total, or with sign -1 takes it out
 * again, because it is not copied.
 */
void	file_count_listed(struct transfer *, const Attrib *, int sign);

/* Adds it to the tree; returns its entry. "dir" is as in sched_add(). */
struct sched_entry *file_add(struct transfer *, struct sched_entry *dir,
    enum sched_kind, struct file *, uint64_t size);

/*
 * Keeps a text until the file is printed, or with "after" until all below the
 * directory is printed. Does not make the file fail.
 */
void	file_message(struct file *, int after, int level, const char *, ...)
    __attribute__((format(printf, 4, 5)));
#define file_error(file, ...) \
	file_message(file, 0, SYSLOG_LEVEL_ERROR, __VA_ARGS__)
#define file_info(file, ...) \
	file_message(file, 0, SYSLOG_LEVEL_INFO, __VA_ARGS__)

/* Frees the list and makes it empty. */
void	file_drop_messages(struct message **);

/*
 * Returns a keyed hash, whose collisions no hostile server can choose. With
 * "folds", names that differ only in case have the same hash.
 */
uint32_t file_hash(const char *name, int folds);

/*
 * dir_add() adds an entry to the listing of a directory; NULL: its attributes
 * are not known. dir_add_unique() returns 0, or -1 without adding it if there
 * is an equal name, as fold_case says. After dir_entries_complete() no entry
 * may be added, and the names of children that were added are freed.
 */
void	dir_add(struct file *, const char *, const Attrib *);
int	dir_add_unique(struct file *, const char *, const Attrib *);
void	dir_entries_complete(struct file *);

/*
 * Closes the local file and frees the handles, but sends no CLOSE. Returns 0,
 * or -1 with errno.
 */
int	file_close(struct transfer *, struct file *);

/*
 * Returns the handle of the file on that connection, which the file owns. If it
 * has none there, a new one without "id" is added.
 */
struct handle *file_handle_for(struct file *, unsigned int conn);

/* The handle and the path that a request is about */
struct handle *file_handle_of(const struct request *);
const char *file_path_of(const struct request *);

/*
 * Each of these sends one request. file_send() sends the message of
 * op_info_of() without attributes, file_send_own_attrs() with those of the
 * file, and file_send_attrs() with others. file_send_size() sends FSETSTAT with
 * the size r->a.off. file_send_open_read() opens file_path_of(), and
 * file_send_open() any path, with SSH2_FXF_* as "flags".
 */
op_function file_send, file_send_size, file_send_read;
op_function file_send_open_read, file_send_own_attrs;
void	file_send_attrs(struct request *, const Attrib *);
void	file_send_open(struct request *, const char *path, u_int flags,
    const Attrib *);

/*
 * Keeps the status of a request for data, at the side that it was sent to.
 * Returns 1 if it is the first error there.
 */
int	file_note_status(struct request *);

/* Treats an error in a reply as the handler says. */
void	file_report_error(struct request *, const struct op_handler *);

/* About the temporary name of the target with a number (temp-name-hook.h) */
void	file_send_stale(struct request *, unsigned int number);

/* Takes the handle out of a reply. */
op_function file_take_handle;

/* The reply to OP_FSTAT_TYPE: fails for a regular file, or without a type. */
op_function file_take_type;

/*
 * The reply to OP_MKDIR: the directory is new. The reply to the STAT after
 * OP_MKDIR has failed: fails as well unless there is a directory.
 */
op_function file_take_new_dir, file_take_dir;

/*
 * The STAT of a target has failed, so the directory fails. Nothing was found
 * where a file will be, or nothing is known of it.
 */
op_function file_fail_stat;

/*
 * A directory begins, which is printed if the user wants that. Returns 0, or -1
 * with a text if it may not be entered.
 */
int	file_enter(struct transfer *, struct file *, int is_dir);

/* Returns 1 if both have a size and an mtime, and these are equal. */
int	file_is_same(const Attrib *, const Attrib *);

/* Sets possible_source if the target that was found may be the source. */
void	file_note_possible_source(struct request *, const Attrib *);

/* The reply to OP_FSTAT_SOURCE: the file fails if the source has changed. */
op_function file_take_source;

/* Makes the file fail: the source has changed, or is the target. */
void	file_report_same_file(struct file *);

/*
 * Take the attributes out of a reply, or its bytes, "most" of them, which lie
 * in the message. Anything else is a stream_fatal().
 */
void	file_parse_attrs(struct request *, Attrib *);
void	file_parse_data(struct request *, uint32_t most, const u_char **,
    size_t *);

/*
 * Give a local file the mode and times that it has at the server, or a file or
 * directory, by its name, the times alone. An error is a file_message(), with
 * "after" as there.
 */
void	file_apply_attrs(struct file *, int fd);
void	file_set_times(struct file *, int after);

#endif /* HAYATE_FILE_HOOK_H */
