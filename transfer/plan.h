/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * plan: schedules the requests of many files over one SFTP connection.
 *
 * A small file takes four round trips one after the other: OPEN, READ or WRITE,
 * the setting of its size, CLOSE. If files take turns, a tree takes four times
 * as many round trips as it has files. Here many files are under way at once,
 * each in its own step, so a round trip serves all of them.
 *
 * The work is a list of jobs in walk order: the order in which stock would do
 * them, one after the other. A directory is two jobs, of which the second
 * (PLAN_LEAVE) begins after everything below is done. What is below begins
 * while the directory is still read, if the server tells its limit of open
 * handles. Should the reading fail later, what had begun is copied. Jobs finish
 * in any order; PLAN_PRINT comes in walk order, so that what a user reads is
 * what stock would write.
 *
 * No order of replies is assumed. A file that is got is written in order, so it
 * is a beginning of its source at any moment; what comes early waits in memory,
 * and counts as under way. A file's size is set, and it is closed, after all
 * its data is acknowledged. An unknown server gets these requests one after the
 * other, another one together.
 *
 * A file that is put over an old one is emptied right before its first WRITE
 * (PLAN_CLEAR), with nothing between them, so that a lost link or an interrupt
 * finds few files that are empty or in part: one of each lane. Before the
 * server has emptied the first one, no other is touched. If it does not do
 * that, or answers in another order, the files begin once more, and are emptied
 * when they are opened. But a device or a fifo cannot be emptied, and gets its
 * data once: what could not be emptied is looked at (PLAN_FSTAT). One that is
 * written in place is likewise cut right after its last WRITE (PLAN_CUT), if
 * the server tells its limit, and so is each that goes over another lane than
 * the first (plan_over()). If the server refuses that, and the size is another
 * (PLAN_SIZE), the file begins once more, on the first lane, and is emptied
 * when it is opened. Each one after it goes over that lane.
 *
 * Between two servers a job has requests for both. A file is opened at the
 * target when it is open at the source, what a READ brings becomes a WRITE, and
 * one window has room for both. PLAN_CLEAR comes when the first READ has
 * brought something. What was not copied whole is emptied at the target, by
 * opening it once more, as in stock, unless nothing has come: then it stays as
 * it was.
 *
 * pace.h says how many jobs are under way, steps.h in which order one of them
 * sends its requests, lanes.h over which connection, wide.h over how many, and
 * loss.h what follows if one is lost.
 *
 * Files may go over several connections. Each is a lane of its own: it has its
 * share of the window, and files are opened as long as a lane lacks data. A
 * file, or a link, takes the lane that has least to do, and keeps it. All else
 * takes lane 0. A lane that is left without work carries a large file of
 * another one as well. If a lane is lost, others do what it had to do.
 *
 * Events and bytes go in, actions come out. No I/O, no clock, no upstream
 * header. Not thread safe. regress/unit/plan-replay.c drives it alone.
 */

#ifndef HAYATE_PLAN_H
#define HAYATE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "action.h"

/* Returns NULL if out of memory. */
struct plan *plan_new(const struct plan_conf *);

/* Frees the scheduler and all jobs, not what they own. Accepts NULL. */
void	plan_free(struct plan *);

/*
 * The server's limit of open handles, or the lower one of two servers, as soon
 * as it is known; 0: unknown
 */
void	plan_set_handles(struct plan *, uint64_t handles);

/* So many bytes may be under way; one request of each lane always may. */
void	plan_set_window(struct plan *, uint64_t bytes);

/*
 * Lanes: a bit for each that files may take, of which lane 0 is one, and for
 * each that can take more data now. At first both have lane 0 alone.
 */
void	plan_set_lanes(struct plan *, unsigned int up, unsigned int takes);

/*
 * 1: each lane is a connection, and one may be slower than the others. 0, as at
 * first: they share one. To be called before lanes come up.
 */
void	plan_set_uneven(struct plan *, int uneven);

/*
 * Lanes that lead to other hosts than lane 0, a bit for each. What such a lane
 * cannot open, or is another file there, is copied over the others.
 */
void	plan_set_apart(struct plan *, unsigned int lanes);

/*
 * Several hosts write one file: over so many lanes at most, each of which moves
 * on to the next multiple of "align" bytes. 0 is no bound.
 */
void	plan_set_shared(struct plan *, unsigned int writers, uint32_t align);

/*
 * A lane without anything of its own carries a file of another one, if so many
 * bytes of it are left. 0: none, as at first.
 */
void	plan_set_widen(struct plan *, uint64_t least);

/*
 * In PLAN_BEGIN of a file that is put: it may go over several lanes. Returns 0,
 * and it goes over one, if "most" such files are under way or the server has
 * not told its limit.
 */
int	plan_lands(struct plan *, struct job *, const struct landing_conf *,
    unsigned int most);

/*
 * Likewise, if plan_lands() has returned 0: what copies that were killed have
 * left beside it is removed, if the server has told its limit.
 */
void	plan_sweeps(struct plan *, struct job *);

/* Its landing; NULL: none. What has sent PLAN_LANDING of it */
struct landing *plan_landing(const struct job *);
struct landing *plan_asker(const struct job *);

/*
 * How many such files are under way, and how many wait, with a clock, until
 * something can be removed
 */
unsigned int plan_landings(const struct plan *);
unsigned int plan_sweeping(const struct plan *);

/*
 * What the server has of LANDING_HAS_*, whether several lanes are wanted, and a
 * clock that only goes forward
 */
void	plan_set_has(struct plan *, int has);
void	plan_set_wants(struct plan *, int wants);
void	plan_set_clock(struct plan *, uint64_t us);

/* In the reply to LANDING_SPACE, before plan_reply(): bytes */
void	plan_space(struct job *, uint64_t available);

/*
 * The lane is lost, not lane 0: what it had under way goes over others. Replies
 * of it are unknown from now on, and so are the handles that it had.
 */
void	plan_lost(struct plan *, unsigned int lane);

/* The lane of a file; how many carry it */
unsigned int plan_lane(const struct job *);
unsigned int plan_width(const struct plan *, const struct job *);

/*
 * PLAN_SAME follows PLAN_OPEN over a lane to another host. If the file is
 * another one there, it is copied over lane 0.
 */
int	plan_is_looked_at(const struct job *);

/* How many lanes have a file, their own or one of another lane */
unsigned int plan_carrying(const struct plan *);

/* How many files a lane has under way */
uint32_t plan_lane_files(const struct plan *, unsigned int lane);

/*
 * Adds the next child of a directory, or with NULL the next root. "own" is the
 * caller's. "size" is expected, of a file. Returns NULL if out of memory.
 */
struct job *plan_add(struct plan *, struct job *dir, enum plan_kind, void *own,
    uint64_t size);

/* The directory has no more children, as far as it is read. */
void	plan_listed(struct plan *, struct job *dir);

/*
 * A list of names. plan_give(), right after plan_add() of a root directory: it
 * is made and not listed, its children are what the caller has. PLAN_MORE comes
 * until plan_pause(), and again after plan_resume(). plan_pending() says how
 * many children are not done. These three get the job that PLAN_MORE has.
 */
void	plan_give(struct job *dir);
void	plan_pause(struct plan *, struct job *dir);
void	plan_resume(struct plan *, struct job *dir);
uint32_t plan_pending(const struct job *dir);

/*
 * Right after plan_add() of a link: it is looked up ahead of those that copy,
 * because that takes no handle. It begins once more when its turn has come.
 */
void	plan_look_ahead(struct job *);

/* Right after plan_add(), and that: it does not go on before plan_go(). */
void	plan_wait(struct plan *, struct job *);
void	plan_go(struct plan *, struct job *);

enum plan_kind plan_kind(const struct job *);
void	*plan_own(const struct job *);

/*
 * Returns 1 and the next action; 0: nothing until a reply comes; -1: out of
 * memory.
 */
int	plan_next(struct plan *, struct plan_action *);

/*
 * The local work that plan_next() has returned last is done. plan_next() takes
 * that for granted; to be called where the jobs are looked at before.
 */
void	plan_worked(struct plan *);

/* Returns 1 after all is printed and no reply is due. */
int	plan_done(const struct plan *);

/* The oldest job that is not printed, or NULL */
struct job *plan_oldest(const struct plan *);

/* The job behind this one in walk order, or NULL */
struct job *plan_after(const struct plan *, const struct job *);

/* Local work of this job has failed: nothing more than PLAN_CLOSE is sent. */
void	plan_fail(struct job *);

/*
 * In PLAN_BEGIN of a file that is put, or goes between two servers: PLAN_STAT,
 * or PLAN_STAT_TO, comes before PLAN_OPEN, which follows whatever the reply is.
 */
void	plan_look(struct job *);

/*
 * In PLAN_BEGIN of a file that a server gets. Returns 1 if PLAN_CLEAR comes
 * before its first PLAN_WRITE, and 0 if PLAN_OPEN or PLAN_OPEN_TO has to empty
 * it: the server has not told its limit, or did not do what PLAN_CLEAR asked.
 * The reply to PLAN_FSTAT is PLAN_OK of all that is not a regular file, else
 * PLAN_FAILED.
 */
int	plan_clear(struct plan *, struct job *);

/*
 * Before the reply to PLAN_OPEN: its local file is being written by another
 * job. The file is closed, and begins once more when nothing else is under way.
 */
void	plan_defer(struct job *);

/* Before PLAN_BEGIN: the file turned out to have this size */
void	plan_set_size(struct plan *, struct job *, uint64_t size);

/* In the reply to PLAN_STAT of a link: what it leads to */
int	plan_become(struct plan *, struct job *, enum plan_kind, uint64_t size);

/*
 * In PLAN_BEGIN of a file that is put, or in PLAN_CHECK. Returns 1 if its lane
 * may be lost: what is sent there may be done when another lane has written the
 * file anew. So nothing there may make a file shorter than it will be. It is
 * not emptied, but written over and cut last; and what the reply to PLAN_STAT
 * says is not there is opened by PLAN_OPEN_NEW. If that fails, PLAN_STAT and
 * PLAN_OPEN follow. "is_ours": no other than us has made the file. "is_shared":
 * another copy may write it, so that this is done on lane 0 as well.
 */
int	plan_over(struct job *, int is_ours, int is_shared);

/* The server did not cut some file: it makes no hole at an end either. */
int	plan_cuts_not(const struct plan *);

/*
 * It did not cut this one, which PLAN_OPEN is to empty. As the size was not
 * that of what was put, it is not its own source.
 */
int	plan_was_not_cut(const struct job *);

/* It is not whole, and PLAN_AGAIN follows unless the user interrupts. */
int	plan_goes_again(const struct job *);

/* What a lost lane had under way may still change the file. */
int	plan_is_late(const struct job *);

/*
 * "len" bytes of the PLAN_WRITE were sent; 0: nothing was, because the source
 * ended, or after plan_fail() could not be read
 */
void	plan_sent(struct plan *, uint32_t id, uint32_t len);

/*
 * Before plan_sent(): nothing is sent up to "off", where this PLAN_WRITE begins
 * now, because a hole of the server's file will do. If the source ended, its
 * size is "off". PLAN_TRUNCATE makes the file that long.
 */
void	plan_skip(struct plan *, uint32_t id, uint64_t off);

/*
 * In the reply to a PLAN_READ of a file that is got, before plan_reply(): its
 * data has come. A file is written in order, and what comes early waits in
 * memory. Returns 1 and in "*w" what is to be written now; plan_written()
 * follows, and likewise returns what has waited; 0: nothing; -1: out of memory.
 */
struct plan_bytes {
	uint64_t off;
	uint32_t len;
	const unsigned char *data;
};
int	plan_data(struct plan *, uint32_t id, const unsigned char *data,
    uint32_t len, struct plan_bytes *w);
int	plan_written(struct plan *, struct job *, int ok, struct plan_bytes *w);

/*
 * In the reply to a PLAN_READ, between two servers: "len" bytes that it
 * brought are going to be written at "off". Returns 1 and the PLAN_WRITE, or a
 * PLAN_CLEAR, which is sent before the next call has the PLAN_WRITE; 0: they
 * are of no use; -1: out of memory.
 */
int	plan_relay(struct plan *, struct job *, uint64_t off, uint32_t len,
    struct plan_action *);

/*
 * What a request was, by the ID of its reply. Returns 0 and fills in the
 * action, or -1 if there is none under way.
 */
int	plan_find(const struct plan *, uint32_t id, struct plan_action *);

/*
 * A reply has come; "len" bytes with PLAN_READ. Returns 0; 1 if it failed but
 * will be tried again, so nothing is to be said; -1 if the server breaks the
 * protocol: no such request, more data than asked, no data twice.
 */
int	plan_reply(struct plan *, uint32_t id, enum plan_result, uint32_t len);

/* The user interrupted: nothing begins any more, what is under way ends. */
void	plan_interrupt(struct plan *);

/* Whether the source or the file of the server was read to its end */
int	plan_is_whole(const struct job *);
int	plan_has_failed(const struct job *);

/* How many jobs may be under way, and how many are */
uint32_t plan_limit(const struct plan *);
uint32_t plan_active(const struct plan *);

/* The ID that the next request would have */
uint32_t plan_next_id(const struct plan *);

#endif /* HAYATE_PLAN_H */
