/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * localtime-hook: converts a local time without a zone, as in "ssh-keygen -V
 * 20260701", with daylight saving time where it applies.
 *
 * Before 10.6 upstream assumed standard time for the whole year
 * (CVE-2026-106584), so certificates began and ended an hour late in summer.
 * build-aux/overlay.mk lets misc.c call this function instead of mktime().
 */

#ifndef HAYATE_LOCALTIME_HOOK_H
#define HAYATE_LOCALTIME_HOOK_H

#include <time.h>

/*
 * As mktime(3), but ignores tm_isdst and sets it to what applies at that time
 * in the zone of the process. Normalises the structure. Returns -1 as mktime(3)
 * does.
 */
time_t	localtime_make(struct tm *);

#endif /* HAYATE_LOCALTIME_HOOK_H */
