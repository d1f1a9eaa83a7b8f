/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xturn-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>

#include "misc.h"

#include "sftp-tell.h"
#include "sftpq-hook.h"
#include "xitem-hook.h"
#include "xreport-hook.h"
#include "xshow-hook.h"
#include "xsparse-hook.h"
#include "xstripe-hook.h"
#include "xturn-hook.h"

/*
 * One channel to a stock server takes 13 s for it at 100 ms; several of them at
 * 1 Gbit/s take 5 s, of which round trips at the begin and the end are a half.
 */
#define LARGE_LEAST	(256 * 1024 * 1024)

extern volatile sig_atomic_t interrupted;

/* Returns 1 if a large file may go over several. */
static int
helps(const struct xtree *t)
{
	int is_put = t->side == &xput_side;

	if (t->to != NULL ||
	    (is_put && !sftpq_can_stripe(t->conn, XSTRIPE_UNIT)))
		return 0;
	if (t->team.channels > 0)
		return xwindow_may_limit(&t->growth);
	return is_put || xteam_may_grow(t->team.main_fd) ||
	    xteam_size(&t->team) > 1;
}

/*
 * With so many large files, each over one link, none waits. A path that holds
 * more than four channels is left idle in part, but so it is at the begin and
 * the end of a file that goes over all of them.
 */
static unsigned int
enough(const struct xtree *t)
{
	int streams = sftp_tell_offers(t->team.main_fd);

	return streams > 1 ? streams : 4;
}

void
xturn_add(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (item->size < LARGE_LEAST)
		return;
	item->is_large = 1;
	if (++t->large >= enough(t))
		xs_release(t->s);
	else if (helps(t) && (t->side != &xput_side ||
	    xsparse_size(item->src, 0) == 0))
		xs_hold(t->s, j);
}

static int
copy(struct xtree *t, struct xitem *item)
{
	if (t->side == &xput_side)
		return sftp_upload(t->conn, item->src, item->dst, t->preserve,
		    0, 0, t->in_place);
	return sftp_download(t->conn, item->src, item->dst, &item->a,
	    t->preserve, 0, 0, t->in_place);
}

/* Returns 1 if nothing is under way, not even a part of a message. */
static int
is_idle(const struct xtree *t)
{
	unsigned int i;

	for (i = 0; i < XTEAM_MOST; i++) {
		if (t->team.link[i] != NULL && !xlink_is_idle(t->team.link[i]))
			return 0;
	}
	return 1;
}

static void
copy_now(struct xtree *t, struct xitem *item)
{
	xshow_clear(t);
	xreport_expect_file(t->side == &xput_side, item->src, item->dst);
	xtree_lend(t);
	item->failed = copy(t, item) != 0;
	xtree_return(t);
	item->moved = sftpq_moved(t->conn) - t->lent_moved;
	t->count.bytes += item->failed ? item->moved :
	    MAXIMUM(item->moved, item->size);
}

int
xturn_copy(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (!interrupted && !is_idle(t))
		return 0;
	if (!interrupted)
		copy_now(t, item);
	else
		item->begun_us = 0;
	/* What is interrupted is not whole, although no error is returned. */
	if (item->failed || interrupted)
		xs_fail(j);
	else
		xs_copied(j);
	if (interrupted)
		xs_interrupt(t->s);
	return 1;
}
