/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-replay: one file that is put, and a server that serves as chance
 * wants.
 *
 * Each line is one file, in words KEY=VALUE; sizes are in pieces of 64 KiB:
 *
 *   size       of the file; a WRITE has four pieces
 *   old        of the file that exists; -1: none does
 *   striped    a further link is there after so many steps; -1: never
 *   server_caps TEMPFILE_HAS_*
 *   conns_wanted 1: several links are wanted
 *   unsafe     1: others may write in the directory
 *   untagged   1: the server does not keep the time that is set
 *   space      that is free
 *   in_place, preserve   as in struct tempfile_conf
 *   stop       the user interrupts after so many steps; -1: never
 *   fail       a bit for each TEMPFILE_* that fails, the first for the OPEN of
 *              the hidden file
 *   write      this WRITE fails; 0: none
 *   room       a COPY can write so many pieces of the file; -1: all
 *   stale      a bit for each hidden name that exists, and
 *   alive      for each that another copy writes to, and
 *   foreign    for each that another user owns
 *   stolen     1: another copy renames the hidden file
 *   swapped    1: another file gets the hidden name, and that of the file
 *   made       another program makes the file after so many steps; -1: never
 *   seed       of chance
 *
 * Requests of the landing are served in order, as they go over one link, and so
 * are WRITEs until the file is wide. Then WRITEs are served in any order. After
 * each request the file under its name must have no hole: new data, and behind
 * it what was there before. But if a WRITE to it fails, those behind it are
 * already in flight, until it is cut. A promise of tempfile.h that is broken
 * ends the run with its name.
 *
 * The report: what lies under the name and the hidden name ("whole", "none",
 * "other", or new and old pieces), the requests of the landing, how many had
 * errors that are told, whether the file was ever wide, whether it has failed,
 * or goes again, and which hidden names of others are left.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "stale-temp.h"
#include "tempfile.h"
#include "words.h"

#define PIECE	(64 * 1024)
#define UNIT	(4 * PIECE)
#define MOST	100000
#define STEPS	1000000
#define UNDER_WAY	16

static struct {
	long size, old, wide, has, space, in_place, preserve, stop, fail;
	long write, room, left, alive, stolen, seed;
	long wants, unsafe, unmarked, foreign, swapped, made;
} conf;

static const struct word keys[] = {
	{ "size", &conf.size, 3000 }, { "old", &conf.old, -1 },
	{ "striped", &conf.wide, 100 }, { "server_caps", &conf.has, 3 },
	{ "space", &conf.space, MOST }, { "in_place", &conf.in_place, 0 },
	{ "preserve", &conf.preserve, 1 }, { "stop", &conf.stop, -1 },
	{ "fail", &conf.fail, 0 }, { "write", &conf.write, 0 },
	{ "room", &conf.room, -1 }, { "stale", &conf.left, 0 },
	{ "alive", &conf.alive, 0 }, { "stolen", &conf.stolen, 0 },
	{ "seed", &conf.seed, 1 }, { "conns_wanted", &conf.wants, 1 },
	{ "unsafe", &conf.unsafe, 0 }, { "untagged", &conf.unmarked, 0 },
	{ "foreign", &conf.foreign, 0 }, { "swapped", &conf.swapped, 0 },
	{ "made", &conf.made, -1 },
};

struct content {
	int	 is_there;
	long	 size;
	enum { HOLE, OLD, NEW } map[2 * MOST];	/* of each piece */
};

static struct content named, hidden;
static struct tempfile *l;
static struct extents rs;
static struct tempfile_request queue[64];
static size_t nqueue;
static long step, told, asked, nwrites, others, seen;
static uint64_t sent;
static unsigned int number;
static int is_open, stopped, failed, eof, is_torn, was_wide;
static int is_marked, is_other;	/* the file; what has its name */

static void
must(int holds, const char *promise)
{
	if (!holds)
		errx(1, "broken: %s, in step %ld", promise, step);
}

/* The server */

static void
check_named(void)
{
	int last = NEW;
	long i;

	for (i = 0; !is_torn && named.is_there && i < named.size; i++) {
		must(named.map[i] != HOLE, "no hole is under the name");
		must((int)named.map[i] <= last, "new data is before old");
		last = (int)named.map[i];
	}
}

static void
cut(struct content *f, long size)
{
	for (; f->size > size; f->size--)
		f->map[f->size - 1] = HOLE;
	f->size = size;
}

static void
fill(struct content *f, long at, long n)
{
	must(f->is_there, "a file that is written is there");
	for (; n > 0; n--, at++) {
		f->map[at] = NEW;
		if (f->size <= at)
			f->size = at + 1;
	}
}

static void
move(struct content *from, struct content *to)
{
	must(from->is_there && !to->is_there, "a rename replaces nothing");
	*to = *from;
	memset(from, 0, sizeof(*from));
}

/* As sftp-server: it tells no error of the last chunk, if there is a length. */
static int
copy_data(const struct tempfile_request *a)
{
	long at = (long)(a->at / PIECE), off = (long)(a->off / PIECE);
	long n = a->len == 0 ? hidden.size - at : (long)(a->len / PIECE);

	for (; n > 0; n--, at++, off++) {
		if (conf.room >= 0 && off >= conf.room)
			return a->len != 0 && n == 1;
		must(hidden.map[at] == NEW, "no hole is copied");
		fill(&named, off, 1);
	}
	return 1;
}

/* A hidden file is made. */
static int
choose(unsigned int n, int is_second)
{
	number = n;
	must((seen >> n & 1) == 0, "a name that is taken is not used");
	must((n >= STALE_TEMP_STAGING) == is_second && n < STALE_TEMP_NAMES,
	    "a name is of its own kind");
	must(!conf.unsafe, "none is made where others may write");
	if ((others >> n & 1) != 0)
		return 0;
	hidden.is_there = 1;
	return 1;
}

static int
find(unsigned int n)
{
	struct stale_temp_file f = { .is = STALE_TEMP_FILE, .size = 1000,
	    .owner = (conf.foreign >> n & 1) + 1,
	    .mtime = conf.alive >> n & 1 ? step : 5 };

	if ((others >> n & 1) == 0)
		return 0;
	seen |= 1L << n;
	tempfile_found_stale(l, n, &f);
	return 1;
}

static int
show(void)
{
	if (conf.stolen || is_other)
		return 0;
	if (conf.swapped)
		is_other = 1;
	else
		move(&hidden, &named);
	return 1;
}

static int
look(enum tempfile_op op)
{
	int is_there = op == TEMPFILE_LSTAT_TEMP ? hidden.is_there &&
	    !conf.stolen : named.is_there || is_other;

	if (is_there)
		tempfile_saw_name(l, op, op == TEMPFILE_LSTAT_TEMP ?
		    !conf.swapped : !is_other);
	return is_there;
}

/* Returns 1 if it succeeds. */
static int
serve(const struct tempfile_request *a)
{
	uint64_t cursor = rs.cursor, size = (uint64_t)conf.size * PIECE;

	if (conf.fail >> a->op & 1 && !(a->op == TEMPFILE_LSTAT_TARGET &&
	    named.is_there))
		return 0;
	switch (a->op) {
	case TEMPFILE_LSTAT_TARGET:
		return named.is_there;
	case TEMPFILE_LSTAT_DIR:
		tempfile_set_dir_safe(l, !conf.unsafe);
		break;
	case TEMPFILE_FSTAT_OLD:
		tempfile_set_old(l, 1, (uint64_t)named.size * PIECE);
		tempfile_set_owner(l, 1);
		break;
	case TEMPFILE_SET_TAG:
		is_marked = !conf.unmarked;
		break;
	case TEMPFILE_FSTAT_TAG:
		tempfile_set_tagged(l, is_marked);
		tempfile_set_owner(l, 1);
		break;
	case TEMPFILE_LSTAT_STALE:
		return find(a->number);
	case TEMPFILE_REMOVE_STALE:
		must((conf.alive >> a->number & 1) == 0 &&
		    (others >> a->number & 1) == 1,
		    "what another copy writes to is not removed");
		must((conf.foreign >> a->number & 1) == 0,
		    "what another user owns is not removed");
		others &= ~(1L << a->number);
		break;
	case TEMPFILE_OPEN_STAGING:
		return choose(a->number, 1);
	case TEMPFILE_STATVFS:
		tempfile_set_free_space(l, (uint64_t)conf.space * PIECE,
		    size - (cursor < size ? cursor : size));
		break;
	case TEMPFILE_COPY_BACK:
		return copy_data(a);
	case TEMPFILE_LSTAT_TEMP:
	case TEMPFILE_LSTAT_RENAMED:
		return look(a->op);
	case TEMPFILE_SETSIZE:
		must(!conf.stolen || named.is_there,
		    "another copy's file is not cut");
		is_torn = 0;
		cut(named.is_there ? &named : &hidden, (long)(a->off / PIECE));
		break;
	case TEMPFILE_RENAME:
		return show();
	case TEMPFILE_REMOVE:
		must(!conf.stolen && !conf.swapped,
		    "another's file is not removed");
	/* FALLTHROUGH */
	case TEMPFILE_REMOVE_STAGING:
		memset(&hidden, 0, sizeof(hidden));
		break;
	case TEMPFILE_CLOSE:
		is_open = 0;
		break;
	default:
		break;
	}
	return 1;
}

/* The mover */

static int
is_over(void)
{
	return (eof && rs.npending == 0) || stopped || failed ||
	    tempfile_is_reverting(l);
}

static struct tempfile_now
now_of(void)
{
	return (struct tempfile_now){ .us = (uint64_t)step * 10000,
	    .contiguous_end = extents_contiguous_end(&rs), .cursor = rs.cursor,
	    .highest_sent = sent, .in_flight = (unsigned int)nqueue,
	    .no_more_data = is_over(), .stopped = stopped, .failed = failed,
	    .conns_wanted = (int)conf.wants,
	    .helper_idle = conf.wide >= 0 && step >= conf.wide,
	    .server_caps = (int)conf.has };
}

static void
send(const struct tempfile_request *a)
{
	must(is_open || a->op == TEMPFILE_LSTAT_STALE || a->op ==
	    TEMPFILE_REMOVE_STALE || a->op == TEMPFILE_LSTAT_TARGET || a->op ==
	    TEMPFILE_LSTAT_DIR || a->op == TEMPFILE_LSTAT_RENAMED || a->op ==
	    TEMPFILE_REMOVE, "nothing is asked of a file that is not open");
	must(nqueue < sizeof(queue) / sizeof(*queue), "few are under way");
	queue[nqueue++] = *a;
	asked++;
}

static void
answer(void)
{
	struct tempfile_request a = queue[0];
	struct tempfile_now now;
	int ok = serve(&a);

	memmove(queue, queue + 1, --nqueue * sizeof(*queue));
	if (a.op != TEMPFILE_COPY_BACK)
		check_named();
	now = now_of();
	told += tempfile_reply(l, &a, ok, &now);
}

static void
deal(void)
{
	uint64_t size = (uint64_t)conf.size * PIECE, left;
	struct extent *r = extents_assign(&rs, 0, UNIT);

	must(r != NULL, "memory");
	left = r->off < size ? size - r->off : 0;
	eof |= left < r->len;
	left = left < r->len ? left : r->len;
	if (r->off + left > sent)
		sent = r->off + left;
	extents_sent(&rs, r, r->off, (uint32_t)left);
}

static void
write_one(void)
{
	struct extent *r = rs.first;
	unsigned int n = tempfile_may_stripe(l) ?
	    (unsigned int)rand() % rs.nin_flight : 0;
	uint64_t at;
	int second;

	while (n-- > 0)
		r = r->next;
	second = tempfile_locate_write(l, r->off, &at);
	if (!second && named.is_there) {
		r = rs.first;		/* They are in order, on link 0. */
		second = tempfile_locate_write(l, r->off, &at);
	}
	if (++nwrites == conf.write) {
		extents_fail(&rs, r);
		is_torn |= !second && named.is_there;
		if (second)
			tempfile_staging_failed(l);
		failed |= !second;
		return;
	}
	must(second || !named.is_there || is_torn || at == 0 ||
	    named.map[at / PIECE - 1] == NEW, "the name grows in order");
	fill(second || !named.is_there ? &hidden : &named, (long)(at / PIECE),
	    r->len / PIECE);
	extents_done(&rs, r, r->len);
}

/* One request is made or served. Returns 0 when nothing is left to be done. */
static int
move_on(void)
{
	struct tempfile_now now = now_of();
	struct tempfile_request a;
	int may_deal;

	if (tempfile_ask_during_data(l, &now, &a) == 1) {
		send(&a);
		return 1;
	}
	may_deal = !is_over() && rs.nin_flight < UNDER_WAY;
	if (nqueue > 0 && rand() % 4 == 0)
		answer();
	else if (may_deal && (rs.nin_flight == 0 || rand() % 2 == 0))
		deal();
	else if (rs.nin_flight > 0)
		write_one();
	else if (nqueue > 0)
		answer();
	return !is_over() || rs.nin_flight > 0 || nqueue > 0;
}

/* Returns 0 if the file goes on as it began, or when all is done. */
static int
end_one(void)
{
	struct tempfile_now now = now_of();
	uint64_t kept = tempfile_copied_bytes(l, now.contiguous_end);
	struct tempfile_request a;

	if (tempfile_ask_at_end(l, &now, &a) == 1)
		send(&a);
	else if (tempfile_reverts(l, &now)) {
		extents_clear(&rs);
		extents_begin(&rs, kept);
		eof = 0;
		return 0;
	} else if (nqueue > 0)
		answer();
	return !tempfile_has_ended(l);
}

static void
print(const char *name, const struct content *f)
{
	long fresh = 0, i;

	for (i = 0; i < f->size; i++)
		fresh += f->map[i] == NEW;
	if (f == &named && is_other)
		printf("%s=other ", name);
	else if (!f->is_there)
		printf("%s=none ", name);
	else if (fresh == conf.size && f->size == conf.size)
		printf("%s=whole ", name);
	else
		printf("%s=%ld+%ld ", name, fresh, f->size - fresh);
}

/* What is asked before is answered in order, at once. */
static enum tempfile_open_mode
open_as(void)
{
	struct tempfile_now now = now_of();
	struct tempfile_request a;
	enum tempfile_open_mode way;

	while ((way = tempfile_decide_open(l, &now)) == TEMPFILE_UNDECIDED) {
		if (tempfile_ask_before_open(l, &now, &a) == 1)
			send(&a);
		else if (nqueue > 0)
			answer();
		now = now_of();
	}
	return way;
}

static void
open_file(void)
{
	enum tempfile_open_mode way = open_as();
	unsigned int n;
	int ok;

	do {
		(void)tempfile_open_mode(l, &n);
		must(way != TEMPFILE_OPEN_TEMP || conf.wants,
		    "a file is hidden for several links");
		ok = way == TEMPFILE_OPEN_TEMP ? (conf.fail & 1) == 0 &&
		    choose(n, 0) : way != TEMPFILE_OPEN_NEW || !named.is_there;
		if (way == TEMPFILE_OPEN_OLD)
			break;
		must(tempfile_opened(l, ok) == !ok,
		    "a failed OPEN is retried");
		way = tempfile_open_mode(l, &n);
	} while (!ok);
	named.is_there |= way != TEMPFILE_OPEN_TEMP;
	is_open = 1;
}

static void
begin(void)
{
	struct tempfile_conf c = { .size = (uint64_t)conf.size * PIECE,
	    .in_place = (int)conf.in_place, .preserve = (int)conf.preserve,
	    .number = (unsigned int)conf.seed % STALE_TEMP_NAMES };
	long i;

	srand((unsigned int)conf.seed);
	memset(&named, 0, sizeof(named));
	memset(&hidden, 0, sizeof(hidden));
	named.is_there = conf.old >= 0;
	named.size = conf.old > 0 && conf.in_place ? conf.old : 0;
	for (i = 0; i < named.size; i++)
		named.map[i] = OLD;
	nqueue = 0;
	step = told = asked = nwrites = seen = 0;
	others = conf.left;
	sent = 0;
	stopped = failed = eof = is_torn = was_wide = 0;
	is_open = is_marked = is_other = 0;
	extents_begin(&rs, 0);
	must((l = tempfile_new(&c)) != NULL, "memory");
	open_file();
}

static void
put(void)
{
	int is_moving = 1, r = 1;

	if (conf.size >= MOST || conf.old >= MOST)
		errx(1, "too much");
	begin();
	while (is_moving || r) {
		must(++step < STEPS, "it ends");
		stopped |= step == conf.stop;
		is_other |= step == conf.made && !named.is_there;
		if (is_moving)
			is_moving = move_on();
		else if ((r = end_one()) == 0 && !tempfile_has_ended(l))
			is_moving = r = 1;
		was_wide |= tempfile_may_stripe(l);
	}
	must(nqueue == 0 && rs.nin_flight == 0,
	    "nothing is in flight at the end");
	must((tempfile_leftover(l) == TEMPFILE_LEAVES_TEMP) ==
	    (!named.is_there && hidden.is_there && !conf.stolen &&
	    !conf.swapped && (conf.fail >> TEMPFILE_LSTAT_TEMP & 1) == 0),
	    "what is hidden is told");
	must(!is_other || tempfile_has_failed(l),
	    "what is another's is no success");
	must((tempfile_leftover(l) == TEMPFILE_LEAVES_STAGING) ==
	    (named.is_there && hidden.is_there), "a second file is told");
	print("name", &named);
	print("temp", &hidden);
	printf("asked=%ld reported=%ld striped=%d failed=%d restart=%d "
	    "stale=%ld\n",
	    asked, told, was_wide, tempfile_has_failed(l) || failed,
	    tempfile_wants_restart(l) || tempfile_truncate_failed(l), others);
	extents_clear(&rs);
	tempfile_free(l);
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), put);
	return 0;
}
