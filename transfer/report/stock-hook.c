/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stock-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"

#include "clock.h"
#include "report-hook.h"
#include "stock-hook.h"

/* Returns 1 if nobody has begun the report of this file. */
static int
begin_stock_report(enum report_way way, const char *from, const char *to)
{
	if (!report_is_wanted() || report_expects())
		return 0;
	report_expect_file(way, from, to);
	return 1;
}

/* Upstream counts no bytes, so the file has to be whole. */
static void
end_stock_report(const char *local, uint64_t begun_us, int ret)
{
	struct stat sb;
	uint64_t bytes = ret == 0 && stat(local, &sb) == 0 ? sb.st_size : 0;

	report_file(REPORT_IN_BOTH, bytes, clock_us() - begun_us, ret);
}

int
stock_put(struct sftp_conn *conn, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret)
{
	uint64_t begun_us = clock_us();

	if (!begin_stock_report(REPORT_PUT, local, remote))
		return 0;
	*ret = sftp_upload(conn, local, remote, preserve, resume, sync,
	    in_place);
	end_stock_report(local, begun_us, *ret);
	return 1;
}

int
stock_get(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place, int *ret)
{
	uint64_t begun_us = clock_us();

	if (!begin_stock_report(REPORT_GET, remote, local))
		return 0;
	*ret = sftp_download(conn, remote, local, a, preserve, resume, sync,
	    in_place);
	end_stock_report(local, begun_us, *ret);
	return 1;
}
