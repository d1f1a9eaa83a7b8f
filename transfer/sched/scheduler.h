/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * scheduler: decides which SFTP request of which file is sent next, and over
 * which connection.
 *
 * A small file takes four round trips one after the other: OPEN, READ or WRITE,
 * the setting of its size, CLOSE. With one file at a time a tree takes four
 * times as many round trips as it has files. Here hundreds of files are in
 * flight, each in a state of its own (enum entry_state in sched-internal.h), so
 * that one round trip serves all of them.
 *
 * Order. The work is a list of entries in walk order, in which stock would do
 * them one after the other. A directory is two entries: the second one
 * (KIND_DIR_END) begins after everything below the directory is done. If the
 * server has announced its limit of open handles, entries below a directory
 * begin while the directory is still being listed; if the listing fails later,
 * they are copied nevertheless. Entries finish in any order, but OP_PRINT comes
 * in walk order, so that the user reads the messages of stock.
 *
 * Data. Replies may arrive in any order. A download is written in order: data
 * that arrives early waits in memory and counts as in flight, so the local file
 * is a prefix of its source at any time. A file gets its size and is closed
 * after all of its data was acknowledged. These last requests are sent together
 * if the server has announced its limit of open handles, otherwise one by one.
 *
 * Old targets. If the server has announced its limit of handles, an upload
 * truncates an old file in one of two ways, or OPEN does; an upload with a
 * temporary file does what tempfile.h says. Without the limit OPEN truncates,
 * or OP_SETSIZE_FINAL.
 *
 *   OP_SETSIZE_0, before the first WRITE: on the main connection, if the caller
 *   wants it (sched_begin.truncate_late). An interrupt then leaves few files
 *   empty. All new data waits for the reply to the first one. After an error,
 *   OP_FSTAT_TYPE follows in STATE_FINISHING. A device returns to STATE_DATA,
 *   and the next file is tried. A regular file restarts, and so does one whose
 *   WRITE was answered first: the truncation may have followed it. All files
 *   that wait for OP_SETSIZE_0 then restart as well, and OPEN truncates these
 *   and later ones.
 *
 *   OP_SETSIZE_END, after the last WRITE: with sched_conf.in_place (scp), and
 *   on other connections. After an error OP_SETSIZE_FINAL tries again when all
 *   data is acknowledged, and then OP_FSTAT_SIZE follows. A device, or a file
 *   of the right size, is complete. Any other file restarts on the main
 *   connection, where OPEN truncates it; later files stay on that connection.
 *
 * Two servers. An entry has requests for both. A file is opened at the target
 * after it is open at the source, each READ becomes a WRITE, and both share one
 * window. OP_SETSIZE_0 waits until the first READ has brought data. A target
 * that was not copied completely is truncated by another OPEN, as in stock,
 * unless no data has arrived: then it stays as it was.
 *
 * Connections. Each has its share of the window, and files are opened ahead
 * while a connection lacks data. A file, or a link, is assigned to the
 * connection with the least work and keeps it; everything else uses the main
 * connection, which is the first one. An idle connection helps with a large
 * file (stripe.c). If a connection is lost, others take over its work
 * (failover.c).
 *
 * sequence.c has the order of requests of each kind of entry in a table,
 * op-table.c a row for each kind of request, and sched-replies.c a function for
 * each kind of reply.
 *
 * Events and bytes go in, actions come out. No I/O, no clock, no upstream
 * header. Not thread safe. regress/unit/sched-replay.c drives it alone, and
 * build-aux/same-requests compares it with that of another commit.
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
	uint32_t pending_children;	/* of a KIND_DIR_END: not done */
	int	 has_failed;
	/* it restarts when it is closed, unless the user interrupts */
	int	 restarts;
	int	 restarts_after_loss;	/* because of SCHED_CONNS_ALL */
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
	 * A truncation had no effect: OP_OPEN has to use SSH2_FXF_TRUNC. That
	 * is safe, as a file of another size is not the source itself.
	 */
	int	 must_open_trunc;
	/* OP_VERIFY: what was asked had no reply, as its connection was lost */
	int	 verify_request_lost;
	/* OP_VERIFY after VERIFY_NEXT_READ: bytes without a gap; else 0 */
	uint64_t verify_read_len;
	/* the server of a lost connection may still write to the target */
	int	 unconfirmed_writes;
	/* owned by the scheduler; NULL: one connection writes the target */
	const struct tempfile *tempfile;
};

/* What a caller may know of the scheduler */
struct sched_stats {
	uint32_t limit;			/* entries in flight, at most */
	uint32_t active;		/* entries in flight */
	unsigned int tempfiles;		/* files that have a temporary file */
	/* files that wait, by now_us, to remove a stale temporary file */
	unsigned int stale_removals;
	unsigned int busy_conns;	/* connections that transfer a file */
	/* files in flight that each connection owns */
	uint32_t conn_files[SCHED_CONNS_MAX];
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

/* Copies what is outside the scheduler; call it before sched_next(). */
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
 * Reports that a connection is lost. Its files and extents are assigned to
 * other connections. Do not hand in replies of it any more, forget the handles
 * that it had, and clear its bits in struct sched_env before the next
 * sched_update(). "main" is the main connection from here on, which is
 * established and leads to the same host as the one before: another one if that
 * is lost. The main connection is 0 at first.
 *
 * With SCHED_CONNS_ALL: all connections are lost, also that to the target of a
 * copy between two servers, and a new connection 0 is there. Every file that
 * has begun and is not done restarts (restarts_after_loss). A directory is made
 * and listed again: names that it brings a second time must not be added.
 */
void	sched_conn_lost(struct sched *, unsigned int conn, unsigned int main);

/*
 * The user has interrupted: nothing starts any more, and what is in flight
 * ends.
 */
void	sched_interrupt(struct sched *);

/* Entries */

/*
 * Adds the next child of a directory, or with NULL the next root. "user"
 * belongs to the caller. "size" is the expected size of a file in bytes. Two
 * kinds are for a list of names. KIND_LIST becomes a KIND_DIR whose children
 * the caller adds. KIND_NAME becomes a KIND_LINK whose STAT is sent early, as
 * it takes no handle; the file or directory that it names is copied in its
 * turn. Returns NULL if out of memory.
 */
struct sched_entry *sched_add(struct sched *, struct sched_entry *dir,
    enum sched_kind, void *user, uint64_t size);

/*
 * Reports on the children of the directory of OP_ADD_CHILDREN. Until one of the
 * first two is reported, OP_ADD_CHILDREN is repeated.
 */
enum sched_children {
	CHILDREN_COMPLETE,	/* all that were listed so far are added */
	CHILDREN_PAUSE,		/* there are none now */
	CHILDREN_RESUME		/* ends the pause, if there is one */
};
void	sched_children(struct sched *, struct sched_entry *dir,
    enum sched_children);

/* Right after sched_add(): stops the entry, until it is called with 0. */
void	sched_hold(struct sched *, struct sched_entry *, int on);

/* Before OP_BEGIN: the entry begins when nothing else is in flight. */
void	sched_set_exclusive(struct sched_entry *);

/*
 * Returns the entry behind this one in walk order, or with NULL the oldest that
 * is not printed. Returns NULL if there is none.
 */
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
 * file if it ends in one. A "len" of 0: nothing was sent, because the source
 * has ended, or after sched_fail() because it cannot be read.
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
 * Hands in a reply. Returns 0. Returns 1 if the request failed but the file
 * will be restarted, so that no error is to be reported. Returns -1 if the
 * server breaks the protocol: no such request, more data than requested, or a
 * second DATA without bytes; -2: out of memory.
 */
int	sched_reply(struct sched *, uint32_t id, const struct sched_reply *);

#endif /* HAYATE_SCHEDULER_H */
