/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A time without a zone, as "ssh-keygen -V 20260701" has it, is one of the
 * clock on the wall, in summer as well. misc.c calls this for mktime()
 * (build-aux/overlay.mk); upstream took the time of winter for all of the year
 * before 10.6 (CVE-2026-106584), so certificates began and ended an hour late.
 */

#ifndef HAYATE_LOCALTIME_HOOK_H
#define HAYATE_LOCALTIME_HOOK_H

#include <time.h>

time_t	localtime_make(struct tm *);

#endif /* HAYATE_LOCALTIME_HOOK_H */
