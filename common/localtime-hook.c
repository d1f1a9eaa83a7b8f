/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include "localtime-hook.h"

time_t
localtime_make(struct tm *tm)
{
	tm->tm_isdst = -1;		/* as the zone has it on that day */
	return mktime(tm);
}
