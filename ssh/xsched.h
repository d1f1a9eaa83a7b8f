/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xsched: schedules the requests of many files over one SFTP connection.
 *
 * A small file takes four round trips one after the other: OPEN, READ or WRITE,
 * the setting of its size, CLOSE. If files take turns, a tree takes four times
 * as many round trips as it has files. Here many files are under way at once,
 * each in its own step, so a round trip serves all of them.
 *
 * The work is a list of jobs in walk order: the order in which stock would do
 * them, one after the other. A directory is two jobs, of which the second
 * (XS_LEAVE) begins after everything below is done. What is below begins while
 * the directory is still read, if the server tells its limit of open handles.
 * Should the reading fail later, what had begun is copied. Jobs finish in any
 * order; XS_PRINT comes in walk order, so that what a user reads is what stock
 * would write.
 *
 * No order of replies is assumed. A file's size is set, and it is closed, after
 * all its data is acknowledged. An unknown server gets these requests one after
 * the other, another one together.
 *
 * A file that is put over an old one is emptied right before its first WRITE
 * (XS_CLEAR), with nothing between them, so that a lost link or an interrupt
 * finds few files that are empty or in part: one of each lane. Before the
 * server has emptied the first one, no other is touched. If it does not do
 * that, or answers in another order, the files begin once more, and are emptied
 * when they are opened. But a device or a fifo cannot be emptied, and gets its
 * data once: what could not be emptied is looked at (XS_FSTAT). One that is
 * written in place is likewise cut right after its last WRITE (XS_CUT), if the
 * server tells its limit.
 *
 * Between two servers a job has requests for both. A file is opened at the
 * target when it is open at the source, what a READ brings becomes a WRITE, and
 * one window has room for both. XS_CLEAR comes when the first READ has brought
 * something. What was not copied whole is emptied at the target, by opening it
 * once more, as in stock, unless nothing has come: then it stays as it was.
 *
 * How many jobs are under way depends on the server:
 *
 *   told      It has told its limit of open handles: as many as that allows.
 *   unknown   8 at first, twice as many after each round without a failure.
 *   strict    What fails beside others is tried again, with half as many, down
 *             to one. Only what fails alone has failed. If it then succeeds,
 *             the number stays as low.
 *
 * A file that is held is the caller's to copy, when all before it are printed,
 * those behind it are known, and nothing is under way: the caller has the
 * connection while it is in XS_BEGIN.
 *
 * Files may go over several connections. Each is a lane of its own: it has its
 * share of the window, and files are opened as long as a lane lacks data. A
 * file, or a link, takes the lane that has least to do, and keeps it. All else
 * takes lane 0.
 *
 * Events and bytes go in, actions come out. No I/O, no clock, no upstream
 * header. Not thread safe. Called by xtree-hook.c, and alone by
 * regress/unit/xsched-replay.c.
 */

#ifndef HAYATE_XSCHED_H
#define HAYATE_XSCHED_H

#include <stddef.h>
#include <stdint.h>

struct xs;			/* private to xsched.c: one per tree */
struct xs_job;			/* likewise: one file, or half a directory */

enum xs_kind {
	XS_FILE,		/* a regular file */
	XS_DIR,			/* a directory: made and listed */
	XS_LEAVE,		/* the same after all below; made by XS_DIR */
	XS_LINK,		/* of the server, not yet followed */
	XS_NOTE,		/* nothing but text */
};

enum xs_op {
	/* Requests. The reply goes to xs_reply(). */
	XS_STAT = 1,
	XS_MKDIR,
	XS_OPENDIR,
	XS_READDIR,
	XS_OPEN,
	XS_READ,
	XS_WRITE,		/* answered by xs_sent() as well */
	XS_CLEAR,		/* to no bytes, before the first XS_WRITE */
	XS_CUT,			/* to "off" bytes, right after the last one */
	XS_FSTAT,		/* after XS_CLEAR failed: what it is */
	XS_TRUNCATE,		/* to "off" bytes */
	XS_ATTRS,
	XS_CLOSE,
	XS_SETSTAT,

	/*
	 * Between two servers XS_MKDIR, XS_WRITE, XS_CLEAR, XS_FSTAT, XS_ATTRS
	 * and XS_SETSTAT go to the target, and these do.
	 */
	XS_STAT_TO,
	XS_OPEN_TO,
	XS_EMPTY,		/* opens it once more */
	XS_CLOSE_TO,

	/* Local work, done when xs_next() or xs_worked() is called */
	XS_BEGIN,		/* before all requests; xs_fail() ends it */
	XS_SETTLE,		/* all data is acknowledged up to "off" */
	XS_AGAIN,		/* forget it: it begins once more, later */
	XS_END,			/* after the last reply */
	XS_MORE,		/* xs_add() some of its children, xs_listed() */
	XS_PRINT,		/* its texts, in walk order; the job ends */
};

struct xs_action {
	enum xs_op op;
	struct xs_job *job;
	uint32_t id;		/* of a request */
	uint64_t off;		/* XS_READ, XS_WRITE, XS_TRUNCATE, XS_SETTLE */
	uint32_t len;		/* XS_READ, XS_WRITE: bytes, at most */
};

enum xs_result { XS_OK, XS_FAILED, XS_EOF };

struct xs_conf {
	int put;		/* to the server */
	int cross;		/* between two servers; "put" is 0 */
	int in_place;		/* each file is cut to its size at the end */
	int preserve;		/* attributes are set before a put closes */
	int keep_found;		/* a directory that was there keeps its own */
	uint32_t files;		/* most jobs under way: descriptors, memory */
	uint32_t unit;		/* bytes of one READ or WRITE, at most */
	uint32_t first_id;
};

/* Returns NULL if out of memory. */
struct xs *xs_new(const struct xs_conf *);

/* Frees the scheduler and all jobs, not what they own. Accepts NULL. */
void	xs_free(struct xs *);

/*
 * The server's limit of open handles, or the lower one of two servers, as soon
 * as it is known; 0: unknown
 */
void	xs_set_handles(struct xs *, uint64_t handles);

/* So many bytes may be under way; one request of each lane always may. */
void	xs_set_window(struct xs *, uint64_t bytes);

/*
 * Lanes: a bit for each that files may take, of which lane 0 is one, and for
 * each that can take more data now. At first both have lane 0 alone.
 */
#define XS_LANES	8
void	xs_set_lanes(struct xs *, unsigned int up, unsigned int takes);

/* The lane of a job that has begun, and how many files a lane has under way */
unsigned int xs_lane(const struct xs_job *);
uint32_t xs_lane_files(const struct xs *, unsigned int lane);

/*
 * Adds the next child of a directory, or with NULL the next root. "own" is the
 * caller's. "size" is expected, of a file. Returns NULL if out of memory.
 */
struct xs_job *xs_add(struct xs *, struct xs_job *dir, enum xs_kind, void *own,
    uint64_t size);

/* Right after xs_add() of a file: it is held. */
void	xs_hold(struct xs *, struct xs_job *);

/* In XS_BEGIN: whether it was held, and that the caller has copied it whole */
int	xs_is_held(const struct xs_job *);
void	xs_copied(struct xs_job *);

/* The files that are held begin as all others. */
void	xs_release(struct xs *);

/* The directory has no more children, as far as it is read. */
void	xs_listed(struct xs *, struct xs_job *dir);

enum xs_kind xs_kind(const struct xs_job *);
void	*xs_own(const struct xs_job *);

/*
 * Returns 1 and the next action; 0: nothing until a reply comes; -1: out of
 * memory.
 */
int	xs_next(struct xs *, struct xs_action *);

/*
 * The local work that xs_next() has returned last is done. xs_next() takes that
 * for granted; to be called where the jobs are looked at before.
 */
void	xs_worked(struct xs *);

/* Returns 1 after all is printed and no reply is due. */
int	xs_done(const struct xs *);

/* The oldest job that is not printed, or NULL */
struct xs_job *xs_oldest(const struct xs *);

/* The job behind this one in walk order, or NULL */
struct xs_job *xs_after(const struct xs *, const struct xs_job *);

/* Local work of this job has failed: nothing more than XS_CLOSE is sent. */
void	xs_fail(struct xs_job *);

/*
 * In XS_BEGIN of a file that is put: XS_STAT comes before XS_OPEN, which
 * follows whatever the reply is.
 */
void	xs_look(struct xs_job *);

/*
 * In XS_BEGIN of a file that a server gets. Returns 1 if XS_CLEAR comes before
 * its first XS_WRITE, and 0 if XS_OPEN or XS_OPEN_TO has to empty it: the
 * server has not told its limit, or did not do what XS_CLEAR asked. The reply
 * to XS_FSTAT is XS_OK of all that is not a regular file, else XS_FAILED.
 */
int	xs_clear(struct xs *, struct xs_job *);

/*
 * Before the reply to XS_OPEN: its local file is being written by another job.
 * The file is closed, and begins once more when nothing else is under way.
 */
void	xs_defer(struct xs_job *);

/* Before XS_BEGIN: the file turned out to have this size */
void	xs_set_size(struct xs *, struct xs_job *, uint64_t size);

/* In the reply to XS_STAT of a link: what it leads to */
int	xs_become(struct xs *, struct xs_job *, enum xs_kind, uint64_t size);

/*
 * "len" bytes of the XS_WRITE were sent; 0: nothing was, because the source
 * ended, or after xs_fail() could not be read
 */
void	xs_sent(struct xs *, uint32_t id, uint32_t len);

/*
 * Before xs_sent(): nothing is sent up to "off", where this XS_WRITE begins
 * now, because a hole of the server's file will do. If the source ended, its
 * size is "off". XS_TRUNCATE makes the file that long.
 */
void	xs_skip(struct xs *, uint32_t id, uint64_t off);

/*
 * In the reply to an XS_READ, between two servers: "len" bytes that it brought
 * are going to be written at "off". Returns 1 and the XS_WRITE, or an XS_CLEAR,
 * which is sent before the next call has the XS_WRITE; 0: they are of no use;
 * -1: out of memory.
 */
int	xs_relay(struct xs *, struct xs_job *, uint64_t off, uint32_t len,
    struct xs_action *);

/*
 * What a request was, by the ID of its reply. Returns 0 and fills in the
 * action, or -1 if there is none under way.
 */
int	xs_find(const struct xs *, uint32_t id, struct xs_action *);

/*
 * A reply has come; "len" bytes with XS_READ. Returns 0; 1 if it failed but
 * will be tried again, so nothing is to be said; -1 if the server breaks the
 * protocol: no such request, more data than asked, no data twice.
 */
int	xs_reply(struct xs *, uint32_t id, enum xs_result, uint32_t len);

/* The user interrupted: nothing begins any more, what is under way ends. */
void	xs_interrupt(struct xs *);

/* Whether the source or the file of the server was read to its end */
int	xs_is_whole(const struct xs_job *);

/* How many jobs may be under way, and how many are */
uint32_t xs_limit(const struct xs *);
uint32_t xs_active(const struct xs *);

/* The ID that the next request would have, or is to have */
uint32_t xs_next_id(const struct xs *);
void	xs_set_next_id(struct xs *, uint32_t);

#endif /* HAYATE_XSCHED_H */
