/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xturn-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>

#include "sftpq-hook.h"
#include "xitem-hook.h"
#include "xreport-hook.h"
#include "xshow-hook.h"
#include "xstripe-hook.h"
#include "xturn-hook.h"

/*
 * With 1 Gbit/s it takes 2 s, so that round trips of 100 ms count little; one
 * channel to a stock server would take 13 s.
 */
#define TURN_LEAST	(256 * 1024 * 1024)

extern volatile sig_atomic_t interrupted;

int
xturn_wants(const struct xtree *t, uint64_t size)
{
	int is_put = t->side == &xput_side;

	if (size < TURN_LEAST || t->to != NULL ||
	    (is_put && !sftpq_can_stripe(t->conn, XSTRIPE_UNIT)))
		return 0;
	return t->team.channels > 0 ? !t->growth.never :
	    xteam_may_grow(t->team.main_fd);
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

int
xturn_copy(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	uint64_t before = sftpq_moved(t->conn);

	if (!xlink_is_idle(t->team.link[0]))
		return 0;
	xshow_clear(t);
	xreport_expect_file(t->side == &xput_side, item->src, item->dst);
	xtree_lend(t);
	item->failed = copy(t, item) != 0;
	xtree_return(t);
	item->moved = sftpq_moved(t->conn) - before;
	t->count.bytes += item->moved;
	if (item->failed)
		xs_fail(j);
	else
		xs_copied(j);
	if (interrupted)
		xs_interrupt(t->s);
	return 1;
}
