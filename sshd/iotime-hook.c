/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See iotime-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>

#include "log.h"
#include "sftp.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "clock.h"
#include "stall-stats.h"
#include "iotime-hook.h"
#include "sftpsrv-hook.h"
#include "usage.h"

static struct stall_stats f;
static uint64_t begun_us;		/* the first call; 0: there was none */
static uint64_t since_us, read_us;	/* start of the call; 0: none */

static int
is_write(u_char type)
{
	return type == SSH2_FXP_WRITE || type == SSH2_FXP_CLOSE;
}

void
iotime_begin(u_char type)
{
	since_us = is_write(type) ? clock_us() : 0;
	if (begun_us == 0)
		begun_us = clock_us();
}

void
iotime_restart(void)
{
	if (since_us != 0)
		since_us = clock_us();
}

void
iotime_end(void)
{
	if (since_us != 0)
		f.n[STAT_FILE_WRITE] += clock_us() - since_us;
	since_us = read_us = 0;
}

void
iotime_begin_read(void)
{
	read_us = clock_us();
}

void
iotime_end_read(void)
{
	if (read_us != 0)
		f.n[STAT_FILE_READ] += clock_us() - read_us;
	read_us = 0;
}

static struct stall_stats
get_stats(void)
{
	struct stall_stats stats = f;

	stats.n[STAT_TIME] = clock_us() - begun_us;
	if (!usage_read(&stats))
		stats.n[STAT_FILE_READ] = stats.n[STAT_FILE_WRITE] = 0;
	return stats;
}

static void
put_stats(struct sshbuf *m)
{
	unsigned char wire[STALL_STATS_WIRE_LEN];
	struct stall_stats stats = get_stats();
	int r;

	stall_stats_encode(&stats, wire);
	if ((r = sshbuf_put(m, wire, sizeof(wire))) != 0)
		fatal_fr(r, "compose");
}

static void
put_refusal(struct sshbuf *m, u_int version)
{
	int r;

	if ((r = sshbuf_put_u32(m, SSH2_FX_PERMISSION_DENIED)) != 0 ||
	    (version >= 3 && ((r = sshbuf_put_cstring(m, "TellLimits no")) !=
	    0 || (r = sshbuf_put_cstring(m, "")) != 0)))
		fatal_fr(r, "compose");
}

void
iotime_answer(u_int32_t id, struct sshbuf *out, u_int version)
{
	int disabled = sftpsrv_tag() == IOTIME_DISABLED, r;
	struct sshbuf *m;

	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, disabled ? SSH2_FXP_STATUS :
	    SSH2_FXP_EXTENDED_REPLY)) != 0 ||
	    (r = sshbuf_put_u32(m, id)) != 0)
		fatal_fr(r, "compose");
	if (disabled)
		put_refusal(m, version);
	else
		put_stats(m);
	if ((r = sshbuf_put_stringb(out, m)) != 0)
		fatal_fr(r, "enqueue");
	sshbuf_free(m);
}
