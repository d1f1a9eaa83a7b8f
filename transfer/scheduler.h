/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * scheduler: schedules the requests of many files over one SFTP connection.
 *
 * A small file takes four round trips one after the other: OPEN, READ or WRITE,
 * the setting of its size, CLOSE. If files take turns, a tree takes four times
 * as many round trips as it has files. Here many files are under way at once,
 * each in its own step, so a round trip serves all of them.
 *
 * The work is a list of jobs in walk order: the order in which stock would do
 * them, one after the other. A directory is two jobs, of which the second
 * (KIND_DIR_END) begins after everything below is done. What is below begins
 * while the directory is still read, if the server tells its limit of open
 * handles. Should the reading fail later, what had begun is copied. Jobs finish
 * in any order; OP_PRINT comes in walk order, so that what a user reads is
 * what stock would write.
 *
 * No order of replies is assumed. A file that is got is written in order, so it
 * is a beginning of its source at any moment; what comes early waits in memory,
 * and counts as under way. A file's size is set, and it is closed, after all
 * its data is acknowledged. An unknown server gets these requests one after the
 * other, another one together.
 *
 * A file that is put over an old one is emptied right before its first WRITE
 * (OP_SETSIZE_0), with nothing between them, so that a lost link or an
 * interrupt finds few files that are empty or in part: one of each lane. Before
 * the server has emptied the first one, no other is touched. If it does not do
 * that, or answers in another order, the files begin once more, and are emptied
 * when they are opened. But a device or a fifo cannot be emptied, and gets its
 * data once: what could not be emptied is looked at (OP_FSTAT_TYPE). One that
 * is written in place is likewise cut right after its last WRITE
 * (OP_SETSIZE_END), if the server tells its limit, and so is each that goes
 * over another lane than the first (sched_forbid_truncate()). If the server
 * refuses that, and the size is another (OP_FSTAT_SIZE), the file begins once
 * more, on the first lane, and is emptied when it is opened. Each one after it
 * goes over that lane.
 *
 * Between two servers a job has requests for both. A file is opened at the
 * target when it is open at the source, what a READ brings becomes a WRITE, and
 * one window has room for both. OP_SETSIZE_0 comes when the first READ has
 * brought something. What was not copied whole is emptied at the target, by
 * opening it once more, as in stock, unless nothing has come: then it stays as
 * it was.
 *
 * concurrency.h says how many jobs are under way, sequence.h in which order one
 * of them sends its requests, conn-sched.h over which connection, stripe.h over
 * how many, and failover.h what follows if one is lost.
 *
 * Files may go over several connections. Each is a lane of its own: it has its
 * share of the window, and files are opened as long as a lane lacks data. A
 * file, or a link, takes the lane that has least to do, and keeps it. All else
 * takes lane 0. A lane that is left without work carries a large file of
 * another one as well. If a lane is lost, others do what it had to do.
 *
 * Events and bytes go in, actions come out. No I/O, no clock, no upstream
 * header. Not thread safe. regress/unit/sched-replay.c drives it alone.
 */

#ifndef HAYATE_SCHEDULER_H
#define HAYATE_SCHEDULER_H

#include <stddef.h>
#include <stdint.h>

#include "sched-action.h"

/* Returns NULL if out of memory. */
struct sched *sched_new(const struct sched_conf *);

/* Frees the scheduler and all jobs, not what they own. Accepts NULL. */
void	sched_free(struct sched *);

/*
 * The server's limit of open handles, or the lower one of two servers, as soon
 * as it is known; 0: unknown
 */
void	sched_set_handle_limit(struct sched *, uint64_t handles);

/* So many bytes may be under way; one request of each lane always may. */
void	sched_set_window(struct sched *, uint64_t bytes);

/*
 * Lanes: a bit for each that files may take, of which lane 0 is one, and for
 * each that can take more data now. At first both have lane 0 alone.
 */
void	sched_set_conns(struct sched *, unsigned int up, unsigned int takes);

/*
 * 1: each lane is a connection, and one may be slower than the others. 0, as at
 * first: they share one. To be called before lanes come up.
 */
void	sched_set_per_conn_limit(struct sched *, int uneven);

/*
 * Lanes that lead to other hosts than lane 0, a bit for each. What such a lane
 * cannot open, or is another file there, is copied over the others.
 */
void	sched_set_other_hosts(struct sched *, unsigned int conns);

/*
 * Several hosts write one file: over so many lanes at most, each of which moves
 * on to the next multiple of "align" bytes. 0 is no bound.
 */
void	sched_set_writers(struct sched *, unsigned int writers, uint32_t align);

/*
 * A lane without anything of its own carries a file of another one, if so many
 * bytes of it are left. 0: none, as at first.
 */
void	sched_set_stripe_min(struct sched *, uint64_t least);

/*
 * In OP_BEGIN of a file that is put: it may go over several lanes. Returns 0,
 * and it goes over one, if "most" such files are under way or the server has
 * not told its limit.
 */
int sched_allow_tempfile(struct sched *, struct sched_entry *,
    const struct tempfile_conf *, unsigned int most);

/*
 * Likewise, if sched_allow_tempfile() has returned 0: what copies that were
 * killed have left beside it is removed, if the server has told its limit.
 */
void	sched_remove_stale(struct sched *, struct sched_entry *);

/* Its landing; NULL: none. What has sent OP_TEMPFILE of it */
struct tempfile *sched_tempfile(const struct sched_entry *);
struct tempfile *sched_tempfile_requester(const struct sched_entry *);

/*
 * How many such files are under way, and how many wait, with a clock, until
 * something can be removed
 */
unsigned int sched_tempfiles(const struct sched *);
unsigned int sched_stale_removals(const struct sched *);

/*
 * What the server has of LANDING_HAS_*, whether several lanes are wanted, and a
 * clock that only goes forward
 */
void	sched_set_server_caps(struct sched *, int has);
void	sched_set_conns_wanted(struct sched *, int wants);
void	sched_set_clock(struct sched *, uint64_t us);

/* In the reply to TEMPFILE_STATVFS, before sched_reply(): bytes */
void	sched_set_free_space(struct sched_entry *, uint64_t available);

/*
 * The lane is lost, not lane 0: what it had under way goes over others. Replies
 * of it are unknown from now on, and so are the handles that it had.
 */
void	sched_conn_lost(struct sched *, unsigned int conn);

/* The lane of a file; how many carry it */
unsigned int sched_owner_conn(const struct sched_entry *);
unsigned int sched_file_conns(const struct sched *, const struct sched_entry *);

/*
 * OP_FSTAT_IDENTITY follows OP_OPEN over a lane to another host. If the file is
 * another one there, it is copied over lane 0.
 */
int	sched_is_identity_pending(const struct sched_entry *);

/* How many lanes have a file, their own or one of another lane */
unsigned int sched_busy_conns(const struct sched *);

/* How many files a lane has under way */
uint32_t sched_conn_files(const struct sched *, unsigned int conn);

/*
 * Adds the next child of a directory, or with NULL the next root. "own" is the
 * caller's. "size" is expected, of a file. Returns NULL if out of memory.
 */
struct sched_entry *sched_add(struct sched *, struct sched_entry *dir,
    enum sched_kind, void *own, uint64_t size);

/* The directory has no more children, as far as it is read. */
void	sched_children_complete(struct sched *, struct sched_entry *dir);

/*
 * A list of names. sched_set_external_children(), right after sched_add() of a
 * root directory: it is made and not listed, its children are what the caller
 * has. OP_ADD_CHILDREN comes until sched_pause_children(), and again after
 * sched_resume_children(). sched_pending_children() says how many children are
 * not done. These three get the job that OP_ADD_CHILDREN has.
 */
void	sched_set_external_children(struct sched_entry *dir);
void	sched_pause_children(struct sched *, struct sched_entry *dir);
void	sched_resume_children(struct sched *, struct sched_entry *dir);
uint32_t sched_pending_children(const struct sched_entry *dir);

/*
 * Right after sched_add() of a link: it is looked up ahead of those that copy,
 * because that takes no handle. It begins once more when its turn has come.
 */
void	sched_lookup_first(struct sched_entry *);

/*
 * Right after sched_add(), and that: it does not go on before sched_release().
 */
void	sched_hold(struct sched *, struct sched_entry *);
void	sched_release(struct sched *, struct sched_entry *);

enum sched_kind sched_kind(const struct sched_entry *);
void	*sched_userdata(const struct sched_entry *);

/*
 * Returns 1 and the next action; 0: nothing until a reply comes; -1: out of
 * memory.
 */
int	sched_next(struct sched *, struct sched_action *);

/*
 * The local work that sched_next() has returned last is done. sched_next()
 * takes that for granted; to be called where the jobs are looked at before.
 */
void	sched_local_done(struct sched *);

/* Returns 1 after all is printed and no reply is due. */
int	sched_is_done(const struct sched *);

/* The oldest job that is not printed, or NULL */
struct sched_entry *sched_oldest(const struct sched *);

/* The job behind this one in walk order, or NULL */
struct sched_entry *sched_next_in_order(const struct sched *,
    const struct sched_entry *);

/* Local work of this job has failed: nothing more than OP_CLOSE is sent. */
void	sched_fail(struct sched_entry *);

/*
 * In OP_BEGIN of a file that is put, or goes between two servers: OP_STAT,
 * or OP_STAT_DEST, comes before OP_OPEN, which follows whatever the reply is.
 */
void	sched_stat_first(struct sched_entry *);

/*
 * In OP_BEGIN of a file that a server gets. Returns 1 if OP_SETSIZE_0 comes
 * before its first OP_WRITE, and 0 if OP_OPEN or OP_OPEN_DEST has to empty it:
 * the server has not told its limit, or did not do what OP_SETSIZE_0 asked. The
 * reply to OP_FSTAT_TYPE is RESULT_OK of all that is not a regular file, else
 * RESULT_FAILED.
 */
int	sched_truncate_late(struct sched *, struct sched_entry *);

/*
 * Before the reply to OP_OPEN: its local file is being written by another
 * job. The file is closed, and begins once more when nothing else is under way.
 */
void	sched_defer(struct sched_entry *);

/* Before OP_BEGIN: the file turned out to have this size */
void	sched_set_size(struct sched *, struct sched_entry *, uint64_t size);

/* In the reply to OP_STAT of a link: what it leads to */
int sched_set_kind(struct sched *, struct sched_entry *, enum sched_kind,
    uint64_t size);

/*
 * In OP_BEGIN of a file that is put, or in OP_VERIFY. Returns 1 if its lane
 * may be lost: what is sent there may be done when another lane has written the
 * file anew. So nothing there may make a file shorter than it will be. It is
 * not emptied, but written over and cut last; and what the reply to OP_STAT
 * says is not there is opened by OP_OPEN_EXCL. If that fails, OP_STAT and
 * OP_OPEN follow. "is_ours": no other than us has made the file. "is_shared":
 * another copy may write it, so that this is done on lane 0 as well.
 */
int	sched_forbid_truncate(struct sched_entry *, int is_ours, int is_shared);

/* The server did not cut some file: it makes no hole at an end either. */
int	sched_truncate_unreliable(const struct sched *);

/*
 * It did not cut this one, which OP_OPEN is to empty. As the size was not
 * that of what was put, it is not its own source.
 */
int	sched_must_open_trunc(const struct sched_entry *);

/* It is not whole, and OP_RESTART follows unless the user interrupts. */
int	sched_will_restart(const struct sched_entry *);

/* What a lost lane had under way may still change the file. */
int	sched_has_unconfirmed_writes(const struct sched_entry *);

/*
 * "len" bytes of the OP_WRITE were sent; 0: nothing was, because the source
 * ended, or after sched_fail() could not be read
 */
void	sched_sent(struct sched *, uint32_t id, uint32_t len);

/*
 * Before sched_sent(): nothing is sent up to "off", where this OP_WRITE begins
 * now, because a hole of the server's file will do. If the source ended, its
 * size is "off". OP_SETSIZE_FINAL makes the file that long.
 */
void	sched_skip_hole(struct sched *, uint32_t id, uint64_t off);

/*
 * In the reply to a OP_READ of a file that is got, before sched_reply(): its
 * data has come. A file is written in order, and what comes early waits in
 * memory. Returns 1 and in "*w" what is to be written now; sched_data_written()
 * follows, and likewise returns what has waited; 0: nothing; -1: out of memory.
 */
struct sched_bytes {
	uint64_t off;
	uint32_t len;
	const unsigned char *data;
};
int	sched_data_in(struct sched *, uint32_t id, const unsigned char *data,
    uint32_t len, struct sched_bytes *w);
int sched_data_written(struct sched *, struct sched_entry *, int ok,
    struct sched_bytes *w);

/*
 * In the reply to a OP_READ, between two servers: "len" bytes that it
 * brought are going to be written at "off". Returns 1 and the OP_WRITE, or a
 * OP_SETSIZE_0, which is sent before the next call has the OP_WRITE; 0: they
 * are of no use; -1: out of memory.
 */
int sched_relay(struct sched *, struct sched_entry *, uint64_t off,
    uint32_t len, struct sched_action *);

/*
 * What a request was, by the ID of its reply. Returns 0 and fills in the
 * action, or -1 if there is none under way.
 */
int	sched_find(const struct sched *, uint32_t id, struct sched_action *);

/*
 * A reply has come; "len" bytes with OP_READ. Returns 0; 1 if it failed but
 * will be tried again, so nothing is to be said; -1 if the server breaks the
 * protocol: no such request, more data than asked, no data twice.
 */
int sched_reply(struct sched *, uint32_t id, enum sched_result, uint32_t len);

/* The user interrupted: nothing begins any more, what is under way ends. */
void	sched_interrupt(struct sched *);

/* Whether the source or the file of the server was read to its end */
int	sched_is_whole(const struct sched_entry *);
int	sched_has_failed(const struct sched_entry *);

/* How many jobs may be under way, and how many are */
uint32_t sched_concurrency_limit(const struct sched *);
uint32_t sched_active(const struct sched *);

/* The ID that the next request would have */
uint32_t sched_next_id(const struct sched *);

#endif /* HAYATE_SCHEDULER_H */
