/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-replay: the upload of one file to a server that answers in random
 * order.
 *
 * Each line is one file, in words KEY=VALUE; sizes are in pieces of 64 KiB:
 *
 *   size       of the file; a WRITE has four pieces
 *   old        of the file that exists; -1: none does
 *   striped    a second connection is established after N steps; -1: never
 *   server_caps TEMPFILE_HAS_*
 *   conns_wanted 1: several connections are wanted
 *   unsafe     1: others may write in the directory
 *   untagged   1: the server does not store the time that is set
 *   space      free space
 *   in_place, preserve   as in struct tempfile_conf
 *   stop       the user interrupts after N steps; -1: never
 *   fail       a bit for each TEMPFILE_* that fails, the first for the OPEN of
 *              the temporary file
 *   write      this WRITE fails; 0: none
 *   room       a COPY can write N pieces of the file; -1: all
 *   stale      a bit for each temporary name that exists, and
 *   alive      for each that another copy writes to, and
 *   foreign    for each that another user owns
 *   stolen     1: another copy renames the temporary file
 *   swapped    1: another file gets the temporary name, and that of the file
 *   searched   1: the names were looked at before
 *   made       another program makes the file after N steps; -1: never
 *   seed       of the random numbers
 *
 * Requests for the temporary file are served in order, as they are sent over
 * one connection, and so are WRITEs until the file is striped. Then WRITEs are
 * served in any order. After each request the file under its name must have no
 * hole: new data, and behind it the old data. But if a WRITE to it fails, those
 * behind it are already in flight, until it is truncated. A promise of
 * tempfile.h that is broken ends the run with its name.
 *
 * The report: the contents of the file under its name and of the temporary file
 * ("whole", "none", "other", or new and old pieces), the requests for the
 * temporary file, how many had errors that are reported, whether the file was
 * ever striped, whether it has failed or is restarted, and which temporary
 * names of others remain.
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
#define IN_FLIGHT_MAX	16

static struct {
	long size, old, striped, server_caps, space, in_place, preserve, stop;
	long fail, write, room, stale, alive, stolen, seed;
	long conns_wanted, unsafe, untagged, foreign, swapped, made;
	long searched;
} conf;

static const struct word keys[] = {
	{ "size", &conf.size, 3000 }, { "old", &conf.old, -1 },
	{ "striped", &conf.striped, 100 },
	{ "server_caps", &conf.server_caps, 3 },
	{ "space", &conf.space, MOST }, { "in_place", &conf.in_place, 0 },
	{ "preserve", &conf.preserve, 1 }, { "stop", &conf.stop, -1 },
	{ "fail", &conf.fail, 0 }, { "write", &conf.write, 0 },
	{ "room", &conf.room, -1 }, { "stale", &conf.stale, 0 },
	{ "alive", &conf.alive, 0 }, { "stolen", &conf.stolen, 0 },
	{ "seed", &conf.seed, 1 }, { "conns_wanted", &conf.conns_wanted, 1 },
	{ "unsafe", &conf.unsafe, 0 }, { "untagged", &conf.untagged, 0 },
	{ "foreign", &conf.foreign, 0 }, { "swapped", &conf.swapped, 0 },
	{ "made", &conf.made, -1 }, { "searched", &conf.searched, 0 },
};

struct content {
	int	 is_there;
	long	 size;
	enum { HOLE, OLD, NEW } map[2 * MOST];	/* of each piece */
};

static struct content named, temp;
static struct tempfile *l;
static struct extents rs;
static struct tempfile_request queue[64];
static size_t nqueue;
static long step, nreported, nrequests, nwrites, stale_names, found_names;
static uint64_t sent;
static unsigned int own_number;
static int is_open, stopped, failed, eof, is_torn, was_striped;
static int is_tagged, is_other;	/* the file; what has its name */

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
truncate_to(struct content *f, long size)
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

/* As sftp-server, which reports no error of the last chunk of a length. */
static int
copy_data(const struct tempfile_request *a)
{
	long at = (long)(a->at / PIECE), off = (long)(a->off / PIECE);
	long n = a->len == 0 ? temp.size - at : (long)(a->len / PIECE);

	for (; n > 0; n--, at++, off++) {
		if (conf.room >= 0 && off >= conf.room)
			return a->len != 0 && n == 1;
		must(temp.map[at] == NEW, "no hole is copied");
		fill(&named, off, 1);
	}
	return 1;
}

/* Makes a temporary file. */
static int
make_temp(unsigned int n, int is_staging)
{
	own_number = n;
	must((found_names >> n & 1) == 0, "a name that is taken is not used");
	must((n >= STALE_TEMP_STAGING) == is_staging && n < STALE_TEMP_NAMES,
	    "a name is of its own kind");
	must(!conf.unsafe, "none is made where others may write");
	if ((stale_names >> n & 1) != 0)
		return 0;
	temp.is_there = 1;
	return 1;
}

static int
lstat_stale(unsigned int n, struct tempfile_reply *said)
{
	said->file = (struct stale_temp_file){ .is = STALE_TEMP_FILE,
	    .size = 1000, .owner = (conf.foreign >> n & 1) + 1,
	    .mtime = conf.alive >> n & 1 ? step : 5 };

	if ((stale_names >> n & 1) == 0)
		return 0;
	found_names |= 1L << n;
	return 1;
}

static int
rename_temp(void)
{
	if (conf.stolen || is_other)
		return 0;
	if (conf.swapped)
		is_other = 1;
	else
		move(&temp, &named);
	return 1;
}

static int
lstat_name(enum tempfile_op op, struct tempfile_reply *said)
{
	said->confirmed = op == TEMPFILE_LSTAT_TEMP ? !conf.swapped : !is_other;
	return op == TEMPFILE_LSTAT_TEMP ? temp.is_there && !conf.stolen :
	    named.is_there || is_other;
}

/* Returns 1 if it succeeds. */
static int
serve(const struct tempfile_request *a, struct tempfile_reply *said)
{
	if (conf.fail >> a->op & 1 && !(a->op == TEMPFILE_LSTAT_TARGET &&
	    named.is_there))
		return 0;
	switch (a->op) {
	case TEMPFILE_LSTAT_TARGET:
		return named.is_there;
	case TEMPFILE_LSTAT_DIR:
		said->confirmed = !conf.unsafe;
		break;
	case TEMPFILE_FSTAT_OLD:
		said->confirmed = said->has_owner = 1;
		said->file.owner = 1;
		said->file.size = (uint64_t)named.size * PIECE;
		break;
	case TEMPFILE_SET_TAG:
		is_tagged = !conf.untagged;
		break;
	case TEMPFILE_FSTAT_TAG:
		said->confirmed = is_tagged;
		said->has_owner = 1;
		said->file.owner = 1;
		break;
	case TEMPFILE_LSTAT_STALE:
		return lstat_stale(a->number, said);
	case TEMPFILE_REMOVE_STALE:
		must((conf.alive >> a->number & 1) == 0 &&
		    (stale_names >> a->number & 1) == 1,
		    "no file that another copy writes is removed");
		must((conf.foreign >> a->number & 1) == 0,
		    "no file of another user is removed");
		stale_names &= ~(1L << a->number);
		break;
	case TEMPFILE_OPEN_STAGING:
		return make_temp(a->number, 1);
	case TEMPFILE_STATVFS:
		said->free_space = (uint64_t)conf.space * PIECE;
		break;
	case TEMPFILE_COPY_BACK:
		return copy_data(a);
	case TEMPFILE_LSTAT_TEMP:
	case TEMPFILE_LSTAT_RENAMED:
		return lstat_name(a->op, said);
	case TEMPFILE_SETSIZE:
		must(!conf.stolen || named.is_there,
		    "another copy's file is not truncated");
		is_torn = 0;
		truncate_to(named.is_there ? &named : &temp,
		    (long)(a->off / PIECE));
		break;
	case TEMPFILE_RENAME:
		return rename_temp();
	case TEMPFILE_REMOVE:
		must(!conf.stolen && !conf.swapped,
		    "another program's file is not removed");
	/* FALLTHROUGH */
	case TEMPFILE_REMOVE_STAGING:
		memset(&temp, 0, sizeof(temp));
		break;
	case TEMPFILE_CLOSE:
		is_open = 0;
		break;
	default:
		break;
	}
	return 1;
}

/* The transfer */

static int
is_over(void)
{
	return (eof && rs.npending == 0) || stopped || failed ||
	    tempfile_info(l).is_reverting;
}

static struct tempfile_now
now_of(enum tempfile_phase phase)
{
	return (struct tempfile_now){ .phase = phase,
	    .us = (uint64_t)step * 10000,
	    .contiguous_end = extents_contiguous_end(&rs), .cursor = rs.cursor,
	    .highest_sent = sent, .in_flight = (unsigned int)nqueue,
	    .no_more_data = is_over(), .stopped = stopped, .failed = failed,
	    .conns_wanted = (int)conf.conns_wanted,
	    .helper_idle = conf.striped >= 0 && step >= conf.striped,
	    .server_caps = (int)conf.server_caps };
}

static void
send(const struct tempfile_request *a)
{
	must(is_open || a->op == TEMPFILE_LSTAT_STALE || a->op ==
	    TEMPFILE_REMOVE_STALE || a->op == TEMPFILE_LSTAT_TARGET || a->op ==
	    TEMPFILE_LSTAT_DIR || a->op == TEMPFILE_LSTAT_RENAMED || a->op ==
	    TEMPFILE_REMOVE, "no request is made of a file that is not open");
	must(nqueue < sizeof(queue) / sizeof(*queue), "few are in flight");
	queue[nqueue++] = *a;
	nrequests++;
}

static void
serve_oldest(void)
{
	struct tempfile_request a = queue[0];
	struct tempfile_reply said = { 0 };
	struct tempfile_now now;

	said.ok = serve(&a, &said);

	memmove(queue, queue + 1, --nqueue * sizeof(*queue));
	if (a.op != TEMPFILE_COPY_BACK)
		check_named();
	now = now_of(TEMPFILE_WAITS);
	nreported += tempfile_reply(l, &now, &a, &said);
}

static void
assign_extent(void)
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
	unsigned int n = tempfile_info(l).may_stripe ?
	    (unsigned int)rand() % rs.nin_flight : 0;
	uint64_t at;
	int in_staging;

	while (n-- > 0)
		r = r->next;
	in_staging = tempfile_locate_write(l, r->off, &at);
	if (!in_staging && named.is_there) {
		r = rs.first;		/* in order, on connection 0 */
		in_staging = tempfile_locate_write(l, r->off, &at);
	}
	if (++nwrites == conf.write) {
		must(tempfile_write_failed(l, r->off) == in_staging,
		    "only a staging file is given up");
		extents_fail(&rs, r);
		is_torn |= !in_staging && named.is_there;
		failed |= !in_staging;
		return;
	}
	must(in_staging || !named.is_there || is_torn || at == 0 ||
	    named.map[at / PIECE - 1] == NEW, "the name grows in order");
	fill(in_staging || !named.is_there ? &temp : &named, (long)(at / PIECE),
	    r->len / PIECE);
	extents_done(&rs, r, r->len);
}

/* Makes or serves one request. Returns 0 when nothing is left to do. */
static int
step_data(void)
{
	struct tempfile_now now = now_of(TEMPFILE_MOVES);
	struct tempfile_request a;
	int may_assign;

	if (tempfile_next(l, &now, &a) == 1) {
		send(&a);
		return 1;
	}
	may_assign = !is_over() && rs.nin_flight < IN_FLIGHT_MAX;
	if (nqueue > 0 && rand() % 4 == 0)
		serve_oldest();
	else if (may_assign && (rs.nin_flight == 0 || rand() % 2 == 0))
		assign_extent();
	else if (rs.nin_flight > 0)
		write_one();
	else if (nqueue > 0)
		serve_oldest();
	return !is_over() || rs.nin_flight > 0 || nqueue > 0;
}

/* Returns 0 if the file continues as it began, or when all is done. */
static int
step_end(void)
{
	struct tempfile_now now = now_of(TEMPFILE_ENDS);
	struct tempfile_request a = { 0 };

	if (tempfile_next(l, &now, &a) == 0) {
		if (nqueue > 0)
			serve_oldest();
	} else if (a.op == TEMPFILE_CONTINUE) {
		extents_clear(&rs);
		extents_begin(&rs, a.off);
		eof = 0;
	} else if (a.op != TEMPFILE_END)
		send(&a);
	return a.op != TEMPFILE_CONTINUE && a.op != TEMPFILE_END;
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

/* The requests before OPEN are answered in order, at once. */
static void
open_file(void)
{
	struct tempfile_reply said = { 0 };
	struct tempfile_request a;
	struct tempfile_now now;

	while (!is_open) {
		now = now_of(TEMPFILE_BEGINS);
		if (tempfile_next(l, &now, &a) == 0) {
			must(nqueue > 0, "a file is opened");
			serve_oldest();
		} else if (a.op < TEMPFILE_OPEN_TEMP)
			send(&a);
		else if (a.op == TEMPFILE_OPEN_OLD)
			is_open = named.is_there = 1;
		else {
			must(a.op != TEMPFILE_OPEN_TEMP || conf.conns_wanted,
			    "a temporary file is for several connections");
			said.ok = a.op == TEMPFILE_OPEN_TEMP ?
			    (conf.fail & 1) == 0 && make_temp(a.number, 0) :
			    !named.is_there;
			tempfile_reply(l, &now, &a, &said);
			is_open = said.ok;
			named.is_there |= said.ok && a.op == TEMPFILE_OPEN_NEW;
		}
	}
}

/* Looks at all names, as the verification does before. */
static void
look_before(struct stale_temp *stale)
{
	static const struct stale_temp_file none = { .is = STALE_TEMP_ABSENT };
	struct tempfile_reply said;
	struct stale_temp_action a;

	stale_temp_begin(stale, 0);
	stale_temp_set_owner(stale, 1);
	for (;;) {
		stale_temp_next(stale, 0, &a);
		if (a.op == STALE_TEMP_END)
			break;
		must(a.op == STALE_TEMP_LSTAT, "names are only looked at");
		stale_temp_found(stale, a.number, lstat_stale(a.number, &said) ?
		    &said.file : &none);
	}
}

static void
begin(void)
{
	struct stale_temp stale;
	struct tempfile_conf c = { .size = (uint64_t)conf.size * PIECE,
	    .in_place = (int)conf.in_place, .preserve = (int)conf.preserve,
	    .number = (unsigned int)conf.seed % STALE_TEMP_NAMES };
	long i;

	srand((unsigned int)conf.seed);
	memset(&named, 0, sizeof(named));
	memset(&temp, 0, sizeof(temp));
	named.is_there = conf.old >= 0;
	named.size = conf.old > 0 && conf.in_place ? conf.old : 0;
	for (i = 0; i < named.size; i++)
		named.map[i] = OLD;
	nqueue = 0;
	step = nreported = nrequests = nwrites = found_names = 0;
	stale_names = conf.stale;
	sent = 0;
	stopped = failed = eof = is_torn = was_striped = 0;
	is_open = is_tagged = is_other = 0;
	extents_begin(&rs, 0);
	if (conf.searched) {
		look_before(&stale);
		c.searched = &stale;
	}
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
			is_moving = step_data();
		else if ((r = step_end()) == 0 && tempfile_info(l).state !=
		    TEMPFILE_ENDED)
			is_moving = r = 1;
		was_striped |= tempfile_info(l).may_stripe;
	}
	must(nqueue == 0 && rs.nin_flight == 0,
	    "nothing is in flight at the end");
	must((tempfile_info(l).leftover == TEMPFILE_LEAVES_TEMP) ==
	    (!named.is_there && temp.is_there && !conf.stolen &&
	    !conf.swapped && (conf.fail >> TEMPFILE_LSTAT_TEMP & 1) == 0),
	    "a temporary file is reported");
	must(!is_other || tempfile_info(l).has_failed,
	    "another program's file is no success");
	must((tempfile_info(l).leftover == TEMPFILE_LEAVES_STAGING) ==
	    (named.is_there && temp.is_there), "a staging file is reported");
	print("name", &named);
	print("temp", &temp);
	printf("requests=%ld reported=%ld striped=%d failed=%d restart=%d "
	    "stale=%ld\n",
	    nrequests, nreported, was_striped,
	    tempfile_info(l).has_failed || failed,
	    tempfile_info(l).must_restart || tempfile_info(l).not_truncated,
	    stale_names);
	extents_clear(&rs);
	tempfile_free(l);
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), put);
	return 0;
}
