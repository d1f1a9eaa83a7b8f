/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <string.h>

#include "log.h"
#include "misc.h"
#include "packet.h"

#include "hayopt.h"
#include "mptcp.h"
#include "tcp-path.h"
#include "tcpopt-hook.h"

static void
set_congestion(int fd, const char *name)
{
	const char *why = tcp_path_set_congestion(fd, name);

	if (why == NULL)
		debug("CongestionControl %s", name);
	else if (strcmp(why, TCP_PATH_NO_TCP) == 0)
		verbose("CongestionControl %s has no effect: %s", name, why);
	else if (log_is_on_stderr())	/* unless LogLevel is QUIET */
		sshlog(__FILE__, __func__, __LINE__, 0, SYSLOG_LEVEL_FATAL,
		    NULL, "CongestionControl %s has no effect: %s", name, why);
	else
		error("CongestionControl %s has no effect: %s", name, why);
}

static void
set_rate(int fd, uint64_t rate)
{
	const char *why = tcp_path_set_rate(fd, rate);

	if (why == NULL)
		debug("MaxRate %llu", (unsigned long long)rate);
	else if (strcmp(why, TCP_PATH_MPTCP) == 0)
		error("MaxRate %llu has no effect: %s",
		    (unsigned long long)rate, why);
	else
		verbose("MaxRate %llu has no effect: %s",
		    (unsigned long long)rate, why);
}

void
tcpopt_set(struct ssh *ssh)
{
	static int done;
	const struct hayopt *opt = hayopt_get();
	int fd = ssh_packet_get_connection_out(ssh);

	if (done)
		return;
	done = 1;
	if (opt->congestion_control != NULL)
		set_congestion(fd, opt->congestion_control);
	if (opt->max_rate != 0)
		set_rate(fd, opt->max_rate);
}

void
tcpopt_no_delay(struct ssh *ssh)
{
	const struct hayopt *opt = hayopt_get();
	int fd = ssh_packet_get_connection_in(ssh);

	if (!opt->hayate || !ssh_packet_connection_is_on_socket(ssh))
		return;
	set_nodelay(fd);
	if (opt->use_mptcp)
		debug("UseMPTCP: the connection uses %s",
		    mptcp_is_used(fd) ? "MPTCP" : "TCP");
}
