/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See tcp-path.h. The kernel's own header is used where there is one: the C
 * library's struct tcp_info ends before tcpi_min_rtt.
 */

#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <netinet/in.h>
#ifdef __linux__
# include <linux/sock_diag.h>
# include <linux/tcp.h>
# include <linux/version.h>
#else
# include <netinet/tcp.h>
#endif

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mptcp.h"
#include "tcp-path.h"

/* A kernel older than the header fills in less of the structure. */
#define HAVE_FIELD(len, field) \
	((len) >= offsetof(struct tcp_info, field) + \
	sizeof(((struct tcp_info *)NULL)->field))

#if defined(TCP_INFO) && defined(__linux__)
/* Fills in the fields that show what limits a sender. */
static void
read_sending(const struct tcp_info *ti, socklen_t len, struct tcp_path *p)
{
	p->mss = ti->tcpi_snd_mss;
	p->resent = ti->tcpi_total_retrans;
	if (HAVE_FIELD(len, tcpi_bytes_acked))
		p->acked = ti->tcpi_bytes_acked;
	if (HAVE_FIELD(len, tcpi_segs_out))
		p->segments = ti->tcpi_segs_out;
	if (HAVE_FIELD(len, tcpi_data_segs_out))
		p->segments = ti->tcpi_data_segs_out;
	p->cwnd = (uint64_t)ti->tcpi_snd_cwnd * ti->tcpi_snd_mss;
	if (HAVE_FIELD(len, tcpi_notsent_bytes))
		p->unsent = ti->tcpi_notsent_bytes;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 4, 0)
	if (HAVE_FIELD(len, tcpi_snd_wnd))
		p->window = ti->tcpi_snd_wnd;
#endif
}
#endif

int
tcp_path_read(int fd, struct tcp_path *p)
{
#ifdef TCP_INFO
	struct tcp_info ti;
	socklen_t len = sizeof(ti);

	memset(p, 0, sizeof(*p));
	memset(&ti, 0, sizeof(ti));
	if (mptcp_is_used(fd) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len) == -1)
		return -1;
	p->min_rtt_us = p->rtt_us = ti.tcpi_rtt;
#ifdef __linux__
	p->unacked = (uint64_t)ti.tcpi_unacked * ti.tcpi_snd_mss;
	/* UINT32_MAX: nothing measured yet */
	if (HAVE_FIELD(len, tcpi_min_rtt) && ti.tcpi_min_rtt != 0 &&
	    ti.tcpi_min_rtt != UINT32_MAX)
		p->min_rtt_us = ti.tcpi_min_rtt;
	if (HAVE_FIELD(len, tcpi_delivery_rate))
		p->delivery_rate = ti.tcpi_delivery_rate;
	if (HAVE_FIELD(len, tcpi_bytes_received))
		p->received = ti.tcpi_bytes_received;
	if (HAVE_FIELD(len, tcpi_rcv_ooopack))
		p->out_of_order = (uint64_t)ti.tcpi_rcv_ooopack *
		    ti.tcpi_rcv_mss;
	read_sending(&ti, len, p);
#endif
	return 0;
#else
	(void)fd;
	memset(p, 0, sizeof(*p));
	return -1;
#endif
}

uint64_t
tcp_path_out_of_order(int fd)
{
#if defined(SO_MEMINFO) && defined(FIONREAD)
	uint32_t mem[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);
	int readable = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, mem, &len) == -1 ||
	    ioctl(fd, FIONREAD, &readable) == -1 || readable < 0)
		return 0;
	/* a buffer takes up to about twice the memory of its bytes */
	if (mem[SK_MEMINFO_RMEM_ALLOC] <= 2 * (uint64_t)readable)
		return 0;
	return mem[SK_MEMINFO_RMEM_ALLOC] - 2 * (uint64_t)readable;
#else
	(void)fd;
	return 0;
#endif
}

int
tcp_path_limit_unsent(int fd, uint32_t bytes)
{
#ifdef TCP_NOTSENT_LOWAT
	return setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes,
	    sizeof(bytes));
#else
	(void)fd;
	(void)bytes;
	return -1;
#endif
}

int
tcp_path_tolerates_loss(int fd)
{
#ifdef TCP_CONGESTION
	char now[64] = "";
	socklen_t len = sizeof(now) - 1;

	return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, now, &len) == 0 &&
	    strncmp(now, "bbr", 3) == 0;
#else
	(void)fd;
	return 0;
#endif
}

#define NO_OPTION	"this system cannot set it"

const char *
tcp_path_set_congestion(int fd, const char *name)
{
#ifdef TCP_CONGESTION
	char now[64];
	socklen_t len = sizeof(now);

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, now, &len) == -1)
		return TCP_PATH_NO_TCP;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
	    (socklen_t)strlen(name)) == 0)
		return NULL;
	return errno == ENOENT ? "the kernel has no such algorithm" :
	    errno == EPERM ? "the kernel does not allow it to this user "
	    "(net.ipv4.tcp_allowed_congestion_control)" : strerror(errno);
#else
	(void)fd;
	(void)name;
	return NO_OPTION;
#endif
}

const char *
tcp_path_set_rate(int fd, uint64_t bytes_per_second)
{
#ifdef SO_MAX_PACING_RATE
	/* all ones would mean no limit */
	uint32_t rate = bytes_per_second < UINT32_MAX ?
	    (uint32_t)bytes_per_second : UINT32_MAX - 1;
	struct tcp_path path;

	if (mptcp_is_used(fd))
		return TCP_PATH_MPTCP;
	if (tcp_path_read(fd, &path) == -1)
		return TCP_PATH_NO_TCP;
	return setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate,
	    sizeof(rate)) == 0 ? NULL : strerror(errno);
#else
	(void)fd;
	(void)bytes_per_second;
	return NO_OPTION;
#endif
}
