/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See turn-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>

#include "misc.h"

#include "file-hook.h"
#include "report-hook.h"
#include "server-hook.h"
#include "show-hook.h"
#include "sparse-hook.h"
#include "stripe-hook.h"
#include "tell.h"
#include "turn-hook.h"

/*
 * One channel to a stock server takes 13 s for it at 100 ms; several of them at
 * 1 Gbit/s take 5 s, of which round trips at the begin and the end are a half.
 */
#define LARGE_LEAST	(256 * 1024 * 1024)

extern volatile sig_atomic_t interrupted;

/* Returns 1 if a large file may go over several. */
static int
helps(const struct run *t)
{
	if (t->side != &put_side || !server_can_stripe(t->conn, STRIPE_UNIT))
		return 0;
	return t->team.kind != LINKS_CHANNELS ||
	    width_may_be_limited(&t->growth);
}

/*
 * With so many large files, each over one link, none waits. A path that holds
 * more than four channels is left idle in part, but so it is at the begin and
 * the end of a file that goes over all of them.
 */
static unsigned int
enough(const struct run *t)
{
	int streams = tell_offers(t->team.main_fd);

	return streams > 1 ? streams : 4;
}

void
turn_add(struct run *t, struct file *file, struct job *j)
{
	if (file->size < LARGE_LEAST)
		return;
	file->is_large = 1;
	if (++t->large >= enough(t))
		plan_release(t->s);
	else if (helps(t) && (t->side != &put_side ||
	    sparse_size(file->src, 0) == 0))
		plan_hold(t->s, j);
}

static int
copy(struct run *t, struct file *file)
{
	if (t->side == &put_side)
		return sftp_upload(t->conn, file->src, file->dst, t->preserve,
		    0, 0, t->in_place);
	return sftp_download(t->conn, file->src, file->dst, &file->a,
	    t->preserve, 0, 0, t->in_place);
}

/* Returns 1 if nothing is under way, not even a part of a message. */
static int
is_idle(const struct run *t)
{
	unsigned int i;

	for (i = 0; i < LINKS_MOST; i++) {
		if (t->team.link[i] != NULL && !link_is_idle(t->team.link[i]))
			return 0;
	}
	return 1;
}

static void
copy_now(struct run *t, struct file *file)
{
	show_clear(t);
	report_expect_file(t->side == &put_side ? REPORT_PUT : REPORT_GET,
	    file->src, file->dst);
	copy_lend(t);
	file->failed = copy(t, file) != 0;
	copy_return(t);
	file->moved = server_moved(t->conn) - t->lent_moved;
	t->count.bytes += file->failed ? file->moved :
	    MAXIMUM(file->moved, file->size);
}

int
turn_copy(struct run *t, struct file *file, struct job *j)
{
	if (!interrupted && !is_idle(t))
		return 0;
	if (!interrupted)
		copy_now(t, file);
	else
		file->begun_us = 0;
	/* What is interrupted is not whole, although no error is returned. */
	if (file->failed || interrupted)
		plan_fail(j);
	else
		plan_copied(j);
	if (interrupted)
		plan_interrupt(t->s);
	return 1;
}
