/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * scheduler: schedules the requests of many files over one SFTP connection.
 *
 * A small file takes four round trips one after the other: OPEN, READ or WRITE,
 * the setting of its size, CLOSE. If files take turns, a tree takes four times
 * as many round trips as it has files. Here many files are in flight at once,
 * each in its own step, so a round trip serves all of them.
 *
 * The work is a list of entries in walk order: the order in which stock would
 * do them, one after the other. A directory is two entries, of which the second
 * (KIND_DIR_END) begins after everything below is done. What is below begins
 * while the directory is still read, if the server announces its limit of open
 * handles. Should the reading fail later, what had begun is copied. Entries
 * finish in any order; OP_PRINT comes in walk order, so that what a user reads
 * is what stock would write.
 *
 * No order of replies is assumed. A file that is downloaded is written in
 * order, so it is a beginning of its source at any moment; what comes early
 * waits in memory, and counts as in flight. A file's size is set, and it is
 * closed, after all its data is acknowledged. An unknown server gets these
 * requests one after the other, another one together.
 *
 * A file that is uploaded over an old one is emptied right before its first
 * WRITE (OP_SETSIZE_0), with nothing between them, so that a lost connection or
 * an interrupt finds few files that are empty or in part: one of each
 * connection. Before the server has emptied the first one, no other is touched.
 * If it does not do that, or answers in another order, the files restarts, and
 * are emptied when they are opened. But a device or a fifo cannot be emptied,
 * and gets its data once: what could not be emptied is looked at
 * (OP_FSTAT_TYPE). One that is written in place is likewise cut right after its
 * last WRITE (OP_SETSIZE_END), if the server announces its limit, and so is
 * each that goes over another connection than the first
 * (struct sched_begin). If the server refuses that, and the size is
 * another (OP_FSTAT_SIZE), the file restarts , on the first connection, and is
 * emptied when it is opened. Each one after it goes over that connection.
 *
 * Between two servers an entry has requests for both. A file is opened at the
 * target when it is open at the source, what a READ brings becomes a WRITE, and
 * one window has room for both. OP_SETSIZE_0 comes when the first READ has
 * brought something. What was not copied whole is emptied at the target, by
 * opening it again, as in stock, unless nothing has arrived: then it stays as
 * it was.
 *
 * concurrency.h says how many entries are in flight, sequence.h in which order
 * one of them sends its requests, conn-sched.h over which connection, stripe.h
 * over how many, and failover.h what follows if one is lost.
 *
 * Files may go over several connections. Each is a connection of its own: it
 * has its share of the window, and files are opened as long as a connection
 * lacks data. A file, or a link, takes the connection that has least to do, and
 * keeps it. All else takes connection 0. A connection that is left without work
 * carries a large file of another one as well. If a connection is lost, others
 * do what it had to do.
 *
 * Events and bytes go in, actions come out. No I/O, no clock, no upstream
 * header. Not thread safe. regress/unit/sched-replay.c drives it alone.
 */

#ifndef HAYATE_SCHEDULER_H
#define HAYATE_SCHEDULER_H

#include <stddef.h>
#include <stdint.h>

#include "sched-action.h"

/* What a caller may know of an entry, at the time of the call */
struct sched_info {
	enum sched_kind kind;
	void	*user;			/* of sched_add() */
	unsigned int owner;		/* connection that has the file */
	uint32_t pending_children;	/* of the end of a directory: not done */
	int	 has_failed;
	int	 restarts;		/* after it is closed, unless interrupted */
	/*
	 * The source was read to its end, no data is missing, and the file has
	 * neither failed nor restarts.
	 */
	int	 is_whole;
	/*
	 * The FSTAT after OPEN is in flight: a download was opened on another
	 * host, or an upload continues a file that was verified. A mismatch
	 * restarts the file, over the first host or from the beginning.
	 */
	int	 identity_pending;
	/*
	 * A truncation had no effect: OP_OPEN has to use SSH2_FXF_TRUNC. That is
	 * safe, as a file of another size is not the source itself.
	 */
	int	 must_open_trunc;
	/* a lost connection's server may still execute some for this file */
	int	 unconfirmed_writes;
	struct tempfile *tempfile;	/* NULL: it is written in place */
	/* the same, or what only removes stale ones: it has sent OP_TEMPFILE */
	struct tempfile *tempfile_requester;
};

/* What a caller may know of the scheduler */
struct sched_stats {
	uint32_t limit;			/* entries in flight, at most */
	uint32_t active;		/* entries in flight */
	unsigned int tempfiles;		/* files that have a temporary file */
	unsigned int stale_removals;	/* files that wait for one, see now_us */
	unsigned int busy_conns;	/* connections that transfer a file */
	uint32_t conn_files[SCHED_CONNS_MAX]; /* that begun, of each owner */
	/*
	 * A truncation by this server had no effect. It cannot be relied on to
	 * extend a file either, so holes must not be skipped from then on.
	 */
	int	 truncate_unreliable;
	uint32_t next_id;		/* of the next request */
};

/* Returns NULL if out of memory. */
struct sched *sched_new(const struct sched_conf *);

/* Frees the scheduler and all entries, not what they own. Accepts NULL. */
void	sched_free(struct sched *);

void	sched_update(struct sched *, const struct sched_env *);
struct sched_info sched_info(const struct sched_entry *);
struct sched_stats sched_stats(const struct sched *);

/* Returns how many connections transfer a file, its owner included. */
unsigned int sched_file_conns(const struct sched *, const struct sched_entry *);

/*
 * Prints a line for each entry that has begun and is not done: its state,
 * handle, requests in flight and what it waits for. "print" gets the user's
 * pointer of the entry, and the line.
 */
void	sched_dump(const struct sched *, void (*print)(void *arg, void *user,
    const char *line), void *arg);

/*
 * Reports that a connection other than connection 0 is lost. Its files and
 * extents are assigned to other connections. Do not hand in replies of it any
 * more, and forget the handles that it had.
 */
void	sched_conn_lost(struct sched *, unsigned int conn);

/*
 * The user has interrupted: nothing starts any more, and what is in flight
 * ends.
 */
void	sched_interrupt(struct sched *);

/* Entries */

/*
 * Adds the next child of a directory, or with NULL the next root. "user"
 * belongs to the caller. "size" is the expected size of a file in bytes. Two
 * kinds are for a list of names: KIND_LIST is a KIND_DIR whose children the
 * caller adds, and KIND_NAME a KIND_LINK whose STAT is sent ahead of entries
 * that copy, because it takes no handle; it starts as a file or directory when
 * its turn has arrived. Returns NULL if out of memory.
 */
struct sched_entry *sched_add(struct sched *, struct sched_entry *dir,
    enum sched_kind, void *user, uint64_t size);

/*
 * Of the directory that OP_ADD_CHILDREN has: all that are known so far were
 * added; OP_ADD_CHILDREN shall not come until CHILDREN_RESUME, which does
 * nothing unless it was stopped.
 */
enum sched_children { CHILDREN_COMPLETE, CHILDREN_PAUSE, CHILDREN_RESUME };
void	sched_children(struct sched *, struct sched_entry *dir,
    enum sched_children);

/* Right after sched_add(): stops the entry, until it is called with 0. */
void	sched_hold(struct sched *, struct sched_entry *, int on);

/* Before OP_BEGIN: the entry begins when nothing else is in flight. */
void	sched_set_exclusive(struct sched_entry *);

/* The entry behind this one in walk order; NULL: the oldest not printed */
struct sched_entry *sched_next_in_order(const struct sched *,
    const struct sched_entry *);

/* Actions */

/*
 * Returns 1 and the next action; 0: nothing until a reply comes; -1: out of
 * memory.
 */
int	sched_next(struct sched *, struct sched_action *);

/*
 * Reports the last local action of sched_next() as done. The next sched_next()
 * implies it; call it only if entries are examined before that.
 */
void	sched_local_done(struct sched *);

/* Returns 1 after all is printed and no reply is due. */
int	sched_is_done(const struct sched *);

/*
 * Marks the entry as failed. Nothing but OP_CLOSE is sent for it from here on.
 */
void	sched_fail(struct sched_entry *);

/*
 * In OP_BEGIN of an upload or a copy between two servers, or in the OP_VERIFY
 * that decides that the file is copied.
 */
void	sched_begin(struct sched *, struct sched_entry *, struct sched_begin *);

/* Corrects the expected size of a file before its data is requested. */
void	sched_set_size(struct sched *, struct sched_entry *, uint64_t size);

/*
 * Answers an OP_WRITE: "len" bytes of it were sent, from "off" on. A larger
 * "off" than the action has skips a hole; OP_SETSIZE_FINAL sets the size of the
 * file if it ends in one. A "len" of 0: nothing was sent, because the source has
 * ended, or after sched_fail() because it cannot be read.
 */
void	sched_sent(struct sched *, uint32_t id, uint64_t off, uint32_t len);

/*
 * Call before sched_reply() to an OP_READ of a download, with its data. A file
 * is written in order; data that arrives early is buffered. Returns 1 and in
 * "*w" what is to be written now: call sched_data_written() then, which returns
 * likewise what was buffered. Returns 0 if nothing is to be written, -1 if out
 * of memory.
 */
struct sched_bytes {
	uint64_t off;
	uint32_t len;
	const unsigned char *data;
};
int	sched_data_in(struct sched *, uint32_t id, const unsigned char *data,
    uint32_t len, struct sched_bytes *w);
int	sched_data_written(struct sched *, struct sched_entry *, int ok,
    struct sched_bytes *w);

/*
 * Call before sched_reply() to an OP_READ of a server-to-server copy, whose
 * "len" bytes belong at "off" of the target. Returns 1 and the request to send
 * to the target: OP_WRITE, or OP_SETSIZE_0, after which it is called again for
 * the OP_WRITE. Returns 0 if the data must be dropped, because the file failed
 * or will be restarted. Returns -1 if out of memory.
 */
int	sched_relay(struct sched *, struct sched_entry *, uint64_t off,
    uint32_t len, struct sched_action *);

/*
 * Fills in the action to which a reply with this ID belongs. Returns 0, or -1
 * if no such request is in flight.
 */
int	sched_find(const struct sched *, uint32_t id, struct sched_action *);

/*
 * Hands in a reply. Returns 0. Returns 1 if the request failed but the file will
 * be restarted, so that no error is to be reported. Returns -1 if the server
 * breaks the protocol: no such request, more data than requested, or twice no
 * data; -2: out of memory.
 */
int	sched_reply(struct sched *, uint32_t id, const struct sched_reply *);

#endif /* HAYATE_SCHEDULER_H */
