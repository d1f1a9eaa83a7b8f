/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See monitor-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdio.h>

#include "monitor.h"

#include "monitor-hook.h"
#include "sessionlog-hook.h"

extern struct Authctxt *the_authctxt;

void
monitor_hook_reinit(struct monitor *monitor)
{
	sessionlog_share();
	monitor_reinit(monitor);
}

void
monitor_hook_postauth(struct ssh *ssh, struct monitor *monitor)
{
	sessionlog_watch(ssh, the_authctxt);
	monitor_child_postauth(ssh, monitor);
}
