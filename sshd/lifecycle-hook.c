/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See lifecycle-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>

#include "log.h"
#include "misc.h"
#include "packet.h"
#include "servconf.h"

#include "authonly-server-hook.h"
#include "stall-stats-hook.h"
#include "hayopt.h"
#include "machine-hook.h"
#include "lifecycle-hook.h"
#include "sessionlog-hook.h"

extern ServerOptions options;

void
lifecycle_begin(struct ssh *ssh, const struct Authctxt *authctxt)
{
	/* Stock sets it before it knows which Match blocks apply. */
	if (hayopt_get()->hayate)
		ssh_packet_set_qos(ssh, options.ip_qos_interactive,
		    options.ip_qos_bulk);
	authonly_server_start(ssh, authctxt);
	machine_read_memory();	/* by now in the control group of the user */
	stall_stats_serve(ssh);
	sessionlog_begin(ssh);
}

int
lifecycle_refuses_request(struct ssh *ssh, const char *type)
{
	if (authonly_server_refuses_request(ssh, type))
		return 1;
	sessionlog_request(type);
	return 0;
}

void
lifecycle_end(struct ssh *ssh)
{
	authonly_server_log_end(ssh);
	sessionlog_end(ssh);
}
