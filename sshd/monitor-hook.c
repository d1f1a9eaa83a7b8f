/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See monitor-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdio.h>
#include <strings.h>

#include "auth-options.h"
#include "log.h"
#include "misc.h"
#include "monitor.h"
#include "servconf.h"

#include "hayopt.h"
#include "monitor-hook.h"
#include "sessionlog-hook.h"

extern struct Authctxt *the_authctxt;
extern struct sshauthopt *auth_opts;
extern ServerOptions options;

/* Returns 1 if the user cannot choose the programs of the session. */
static int
user_is_confined(void)
{
	return (options.chroot_directory != NULL &&
	    strcasecmp(options.chroot_directory, "none") != 0) ||
	    options.adm_forced_command != NULL ||
	    (auth_opts != NULL && auth_opts->force_command != NULL);
}

void
monitor_hook_reinit(struct monitor *monitor)
{
	if (user_is_confined()) {
		hayopt_set_confined(1);
		debug("confined user: all windows together hold at most "
		    "%llu bytes",
		    (unsigned long long)hayopt_get()->window_memory_max);
	}
	sessionlog_share();
	monitor_reinit(monitor);
}

void
monitor_hook_postauth(struct ssh *ssh, struct monitor *monitor)
{
	sessionlog_watch(ssh, the_authctxt);
	monitor_child_postauth(ssh, monitor);
}
