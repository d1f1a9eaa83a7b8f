/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * meter: what the benchmarks measure with, and the small programs that they
 * put at the ends of a connection.
 *
 *   run [-i IN] [-o OUT] [-r RATE] [-t LIMIT] [-n PID] [-f PID] [-p PROCS]
 *	COMMAND...
 *	Time a whole process: CLOCK_MONOTONIC, from just before the fork until
 *	it was waited for and, with -r, its output was read to the end. Prints
 *	    seconds near far kib status
 *	near and far are CPU seconds, user and system: near of the command with
 *	all it waited for, and of the process trees given by -n; far of those
 *	given by -f. kib is the largest resident set under the command.
 *	-r reads the output at RATE bytes per second, as "slow" does.
 *	-p writes to PROCS what each process near and far did: see limits.py
 *	for the items. A process of its own reads them 50 times a second, so
 *	the last moments of each are missing.
 *   slow RATE			read stdin no faster than that
 *   source ADDR PORT FILE	send FILE to all who connect
 *   pull ADDR PORT BYTES	connect, read to the end, expect BYTES
 *   relay ADDR PORT		stdin and stdout to a connection (ProxyCommand)
 *   echo COUNT PAUSE COMMAND...
 *	Wait for a line from the command, then type COUNT times one byte, read
 *	one byte back, print the milliseconds between, and think for PAUSE ms,
 *	half of it more or less.
 *
 * The CPU time of a server that runs on is read from /proc. A tree's time is
 * that of its living processes and of all children that they have reaped, so
 * it includes sessions that have ended. The clock stops before we wait for the
 * sessions to be reaped. The kernel counts these times in ticks (usually
 * 10 ms), so the CPU time of a short run is not exact.
 */

#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	(64 * 1024)
/* A slow reader makes up for sleeping too long, but not for waiting. */
#define SLACK	0.010
/* Sessions are reaped within this many seconds, or not counted in full. */
#define REAPED	3.0
#define MAXPIDS	16

static pid_t child;

static double
clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double
now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void
sleep_until(double when)
{
	struct timespec ts;

	ts.tv_sec = (time_t)when;
	ts.tv_nsec = (long)((when - ts.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	    EINTR)
		;
}

static double
number(const char *s)
{
	char *end;
	double d;

	d = strtod(s, &end);
	if (*s == '\0' || *end != '\0' || d < 0)
		errx(2, "not a number: %s", s);
	return d;
}

static void
write_all(int fd, const char *p, size_t n)
{
	ssize_t w;

	for (; n > 0; p += w, n -= w) {
		if ((w = write(fd, p, n)) == -1)
			err(1, "write");
	}
}

/* Reads fd to the end at no more than rate bytes a second; 0: no limit. */
static uint64_t
drain(int fd, double rate)
{
	static char buf[CHUNK];
	uint64_t total = 0;
	double due = now(), t;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n == -1) {
			if (errno == EINTR)
				continue;
			err(1, "read");
		}
		total += n;
		if (rate <= 0)
			continue;
		if ((t = now() - SLACK) > due)
			due = t;
		due += n / rate;
		sleep_until(due);
	}
	return total;
}

/*
 * CPU time of process trees.
 */

struct proc {
	pid_t pid, ppid;
	uint64_t ticks;
	int in;
};

struct tree {
	pid_t root[MAXPIDS];
	size_t nroots;
	double cpu;
	size_t count;
};

/* One line of /proc: 0, or -1 if the process is gone. */
static int
read_proc(const char *pid, struct proc *p)
{
	char path[64], line[1024], *s;
	unsigned long t[4];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if ((f = fopen(path, "r")) == NULL)
		return -1;
	s = fgets(line, sizeof(line), f);
	fclose(f);
	if (s == NULL || (s = strrchr(line, ')')) == NULL)
		return -1;
	if (sscanf(s + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
	    " %lu %lu %lu %lu", &p->ppid, &t[0], &t[1], &t[2], &t[3]) != 5)
		return -1;
	p->pid = atoi(pid);
	p->ticks = t[0] + t[1] + t[2] + t[3];
	p->in = 0;
	return 0;
}

/* All processes; the caller frees *vp. */
static size_t
read_procs(struct proc **vp)
{
	struct proc *v = NULL;
	struct dirent *e;
	size_t n = 0, room = 0;
	DIR *d;

	if ((d = opendir("/proc")) == NULL)
		err(1, "/proc");
	while ((e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (n == room) {
			room = room * 2 + 256;
			if ((v = reallocarray(v, room, sizeof(*v))) == NULL)
				err(1, NULL);
		}
		if (read_proc(e->d_name, &v[n]) == 0)
			n++;
	}
	closedir(d);
	*vp = v;
	return n;
}

static int
belongs(const struct tree *t, const struct proc *v, size_t n, size_t i)
{
	size_t j;

	for (j = 0; j < t->nroots; j++) {
		if (v[i].pid == t->root[j])
			return 1;
	}
	for (j = 0; j < n; j++) {
		if (v[j].in && v[j].pid == v[i].ppid)
			return 1;
	}
	return 0;
}

/* Fills in cpu and count of the trees under the roots. */
static void
read_tree(struct tree *t)
{
	struct proc *v;
	size_t i, n;
	int more;

	t->cpu = 0;
	t->count = 0;
	if (t->nroots == 0)
		return;
	n = read_procs(&v);
	do {
		more = 0;
		for (i = 0; i < n; i++) {
			if (v[i].in || !belongs(t, v, n, i))
				continue;
			v[i].in = more = 1;
			t->cpu += (double)v[i].ticks / sysconf(_SC_CLK_TCK);
			t->count++;
		}
	} while (more);
	free(v);
}

/*
 * Reads the tree when no more than "most" processes are left. Then it reads it
 * again, because a process may have been reaped after its parent was read and
 * before it was read itself.
 */
static void
read_quiet(struct tree *t, size_t most)
{
	double end = now() + REAPED;
	int quiet = 0;

	for (;;) {
		read_tree(t);
		quiet = t->count <= most ? quiet + 1 : 0;
		if (quiet == 2 || now() > end)
			return;
		sleep_until(now() + 0.01);
	}
}

/* CPU seconds since "t". */
static double
spent(const struct tree *t)
{
	struct tree u = *t;

	if (t->nroots == 0)
		return 0;
	read_quiet(&u, t->count);
	return u.cpu > t->cpu ? u.cpu - t->cpu : 0;
}

/* Reads the tree when no process has started or ended for a moment. */
static void
read_still(struct tree *t)
{
	double end = now() + REAPED;
	size_t before;

	do {
		read_tree(t);
		before = t->count;
		sleep_until(now() + 0.02);
		read_tree(t);
	} while (t->count != before && now() < end);
}

static void
add_root(struct tree *t, const char *pid)
{
	if (t->nroots == MAXPIDS)
		errx(2, "too many processes to watch");
	t->root[t->nroots++] = (pid_t)number(pid);
}

/*
 * Sampling of what each process does.
 */

/*
 * Seconds between two samples. The interval grows if sampling would take more
 * than 5 % of a core in CPU time. Elapsed time does not count, because on a
 * crowded machine a sample takes long and costs little.
 */
#define LOOK	0.02
#define THRIFT	20

enum { USER, SYS, SWITCHES, CALLS, COUNTERS };

struct look {
	double t;
	uintmax_t run, wait;	/* ns */
};

/* A process; pid 0 stands for the cores of the machine. */
struct seen {
	pid_t pid;
	int far, counted, blind;	/* blind: its calls are unreadable */
	char comm[32];
	uintmax_t n[COUNTERS], old[COUNTERS];
	struct look *look;
	size_t nlooks;
};

static struct seen *seen;
static size_t nseen;
static int under_way;		/* earlier work does not count */

static int
read_file(const char *path, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	return 0;
}

/* The sum of two lines "KEY: NUMBER"; -1 if it cannot be read. */
static int
two_lines(const char *path, const char *key1, const char *key2, uintmax_t *sum)
{
	char buf[4096], *p, *q;

	if (read_file(path, buf, sizeof(buf)) == -1 ||
	    (p = strstr(buf, key1)) == NULL || (q = strstr(buf, key2)) == NULL)
		return -1;
	*sum = strtoull(p + strlen(key1), NULL, 10) +
	    strtoull(q + strlen(key2), NULL, 10);
	return 0;
}

static struct seen *
seen_of(pid_t pid, int far)
{
	size_t i;

	for (i = 0; i < nseen; i++) {
		if (seen[i].pid == pid)
			return &seen[i];
	}
	if ((seen = reallocarray(seen, nseen + 1, sizeof(*seen))) == NULL)
		err(1, NULL);
	memset(&seen[nseen], 0, sizeof(*seen));
	seen[nseen].pid = pid;
	seen[nseen].far = far;
	return &seen[nseen++];
}

static void
add_look(struct seen *s, double t, uintmax_t run, uintmax_t wait)
{
	if ((s->nlooks & (s->nlooks - 1)) == 0 && (s->look = reallocarray(
	    s->look, s->nlooks * 2 + 1, sizeof(*s->look))) == NULL)
		err(1, NULL);
	s->look[s->nlooks].t = t;
	s->look[s->nlooks].run = run;
	s->look[s->nlooks++].wait = wait;
}

/* Name, CPU time and threads; -1 if it is gone. */
static int
look_stat(struct seen *s, int *threads)
{
	char path[64], buf[1024], *p, *q;

	snprintf(path, sizeof(path), "/proc/%d/stat", s->pid);
	if (read_file(path, buf, sizeof(buf)) == -1 ||
	    (p = strchr(buf, '(')) == NULL || (q = strrchr(p, ')')) == NULL)
		return -1;
	*q = '\0';
	snprintf(s->comm, sizeof(s->comm), "%s", p + 1);
	for (p = s->comm; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("-._+", *p) == NULL)
			*p = '_';
	}
	return sscanf(q + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
	    " %ju %ju %*d %*d %*d %*d %d", &s->n[USER], &s->n[SYS],
	    threads) == 3 ? 0 : -1;
}

/* Adds what one thread did. Without schedstat, run stays 0. */
static void
look_thread(pid_t pid, const char *tid, struct look *l, uintmax_t *switches)
{
	char path[96], buf[128];
	uintmax_t n, run, wait;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/status", pid, tid);
	if (two_lines(path, "\nvoluntary_ctxt_switches:",
	    "\nnonvoluntary_ctxt_switches:", &n) == 0)
		*switches += n;
	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", pid, tid);
	if (read_file(path, buf, sizeof(buf)) == 0 &&
	    sscanf(buf, "%ju %ju", &run, &wait) == 2) {
		l->run += run;
		l->wait += wait;
	}
}

static void
look_threads(struct seen *s, int threads, struct look *l)
{
	char path[64];
	uintmax_t n = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%d", s->pid);
	if (threads == 1) {
		look_thread(s->pid, path, l, &n);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
		if ((d = opendir(path)) == NULL)
			return;
		while ((e = readdir(d)) != NULL) {
			if (isdigit((unsigned char)e->d_name[0]))
				look_thread(s->pid, e->d_name, l, &n);
		}
		closedir(d);
	}
	/* The count of a thread that has ended is gone. */
	if (n > s->n[SWITCHES])
		s->n[SWITCHES] = n;
}

/* Samples a process and its descendants, but no children of its threads. */
static void
look_at(pid_t pid, int far, double t)
{
	struct seen *s = seen_of(pid, far);
	struct look l = { 0, 0, 0 };
	char path[64], buf[16384], *p, *end;
	int threads;

	if (look_stat(s, &threads) == -1)
		return;
	look_threads(s, threads, &l);
	if (l.run == 0)
		l.run = (s->n[USER] + s->n[SYS]) * UINTMAX_C(1000000000) /
		    sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	s->blind = two_lines(path, "syscr:", "syscw:", &s->n[CALLS]) == -1 &&
	    s->n[CALLS] == 0;
	if (!under_way)
		memcpy(s->old, s->n, sizeof(s->old));
	add_look(s, t, l.run, l.wait);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (read_file(path, buf, sizeof(buf)) == -1)
		return;
	for (p = buf; (pid = strtol(p, &end, 10)) > 0; p = end)
		look_at(pid, far, t);
}

/* Samples all cores together, by the first line of /proc/stat. */
static void
look_cores(double t)
{
	char buf[512];
	uintmax_t v[8];

	if (read_file("/proc/stat", buf, sizeof(buf)) == 0 &&
	    sscanf(buf, "cpu %ju %ju %ju %ju %ju %ju %ju %ju", &v[0], &v[1],
	    &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8)
		add_look(seen_of(0, 0), t, (v[0] + v[1] + v[2] + v[5] + v[6] +
		    v[7]) * UINTMAX_C(1000000000) / sysconf(_SC_CLK_TCK), 0);
}

static void
look_round(const struct tree *near, const struct tree *far)
{
	double t = now();
	size_t i;

	look_cores(t);
	for (i = 0; i < near->nroots; i++)
		look_at(near->root[i], 0, t);
	for (i = 0; i < far->nroots; i++)
		look_at(far->root[i], 1, t);
}

/* Run or wait time at t, between two samples; 0 before the first. */
static double
at(const struct seen *s, double t, int wait)
{
	const struct look *l = s->look;
	double a, b;
	size_t i;

	if (s->nlooks == 0 || t < l[0].t)
		return 0;
	for (i = 0; i + 1 < s->nlooks && l[i + 1].t < t; i++)
		;
	a = wait ? l[i].wait : l[i].run;
	if (i + 1 == s->nlooks)
		return a / 1e9;
	b = wait ? l[i + 1].wait : l[i + 1].run;
	return (a + (b - a) * (t - l[i].t) / (l[i + 1].t - l[i].t)) / 1e9;
}

/* The share of the middle half that it ran, or waited for a core. */
static double
share(const struct seen *s, double start, double end, int wait)
{
	double half = (end - start) / 2;

	return (at(s, end - half / 2, wait) - at(s, start + half / 2, wait)) /
	    half;
}

/* Sums up one name at one end; busy and wait are those of the busiest. */
static void
print_name(FILE *f, size_t first, double start, double end)
{
	uintmax_t n[COUNTERS] = { 0 };
	double alive = 0, busy = 0, wait = 0, all = 0, b, w;
	double tick = sysconf(_SC_CLK_TCK);
	int count = 0, blind = 0, k;
	struct seen *s;

	for (s = seen + first; s < seen + nseen; s++) {
		if (s->far != seen[first].far || s->nlooks == 0 ||
		    strcmp(s->comm, seen[first].comm) != 0)
			continue;
		s->counted = 1;
		count++;
		blind |= s->blind;
		for (k = 0; k < COUNTERS; k++)
			n[k] += s->n[k] - s->old[k];
		if ((b = s->look[s->nlooks - 1].t - s->look[0].t) > alive)
			alive = b;
		b = share(s, start, end, 0);
		w = share(s, start, end, 1);
		all += b + w;
		if (b + w > busy + wait) {
			busy = b;
			wait = w;
		}
	}
	fprintf(f, "%s%s:%d:%.2f:%.2f:%ju:", seen[first].far ? "@" : "",
	    seen[first].comm, count, n[USER] / tick, n[SYS] / tick,
	    n[SWITCHES]);
	if (blind)
		fprintf(f, "-");
	else
		fprintf(f, "%ju", n[CALLS]);
	fprintf(f, ":%.2f:%.3f:%.3f:%.3f ", alive, busy, wait, all);
}

static void
print_seen(const char *path, double start, double end)
{
	size_t i;
	FILE *f;

	if ((f = fopen(path, "w")) == NULL)
		err(1, "%s", path);
	for (i = 0; i < nseen; i++) {
		if (seen[i].pid != 0 && !seen[i].counted && seen[i].nlooks > 0)
			print_name(f, i, start, end);
	}
	fprintf(f, "cores=%.2f", share(seen_of(0, 0), start, end, 0));
	if (fclose(f) != 0)
		err(1, "%s", path);
}

/*
 * The sampling process. It sends a byte when it has sampled what exists. The
 * pid of the command starts it, and the end of file stops it.
 */
static void
observe(const char *path, struct tree near, const struct tree *far, int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	double t, took, start;
	pid_t pid;

	/* if permitted, because late samples miss more */
	(void)setpriority(PRIO_PROCESS, 0, -10);
	look_round(&near, far);
	if (write(fd, "", 1) != 1 || read(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	start = now();
	under_way = 1;
	if (near.nroots < MAXPIDS)
		near.root[near.nroots++] = pid;
	do {
		t = clock_of(CLOCK_PROCESS_CPUTIME_ID);
		look_round(&near, far);
		took = clock_of(CLOCK_PROCESS_CPUTIME_ID) - t;
		t = took * THRIFT > LOOK ? took * THRIFT : LOOK;
	} while (poll(&p, 1, (int)(t * 1e3)) == 0);
	print_seen(path, start, now());
	_exit(0);
}

/* Starts the sampling process; returns the socket to it. */
static int
observer(const char *path, const struct tree *near, const struct tree *far,
    pid_t *pid)
{
	int s[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == -1 ||
	    (*pid = fork()) == -1)
		err(1, "observer");
	if (*pid == 0) {
		close(s[0]);
		observe(path, *near, far, s[1]);
	}
	close(s[1]);
	if (read(s[0], &c, 1) != 1)
		errx(1, "the observer has nothing to say");
	return s[0];
}

/*
 * Commands.
 */

struct job {
	const char *in, *out, *procs;
	double rate, limit;
	struct tree near, far;
};

static void
onto(int fd, const char *path, int flags)
{
	int f;

	if ((f = open(path, flags, 0600)) == -1)
		err(127, "%s", path);
	dup2(f, fd);
	close(f);
}

/* Starts the command; in and out are its stdin and stdout, or -1. */
static void
start(char **argv, int in, int out)
{
	if ((child = fork()) == -1)
		err(1, "fork");
	if (child > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	if (in != -1)
		dup2(in, 0);
	if (out != -1)
		dup2(out, 1);
	execvp(argv[0], argv);
	err(127, "%s", argv[0]);
}

static void
too_late(int sig)
{
	(void)sig;
	if (child > 0)
		kill(child, SIGTERM);
	alarm(5);		/* again, if the command ignored it */
}

static void
options(struct job *j, int argc, char **argv)
{
	int ch;

	memset(j, 0, sizeof(*j));
	j->in = j->out = "/dev/null";
	j->limit = 900;
	while ((ch = getopt(argc, argv, "+i:o:r:t:n:f:p:")) != -1) {
		switch (ch) {
		case 'i': j->in = optarg; break;
		case 'o': j->out = optarg; break;
		case 'r': j->rate = number(optarg); break;
		case 't': j->limit = number(optarg); break;
		case 'n': add_root(&j->near, optarg); break;
		case 'f': add_root(&j->far, optarg); break;
		case 'p': j->procs = optarg; break;
		default: exit(2);
		}
	}
}

static int
run(int argc, char **argv)
{
	struct rusage ru;
	struct job j;
	int p[2] = { -1, -1 }, out, status, watch = -1;
	pid_t watcher = -1;
	double t, near;

	options(&j, argc, argv);
	if (optind == argc)
		errx(2, "run: no command");
	out = dup(1);
	onto(0, j.in, O_RDONLY);
	onto(1, j.out, O_WRONLY | O_CREAT | O_TRUNC);
	fcntl(out, F_SETFD, FD_CLOEXEC);
	read_still(&j.near);
	read_still(&j.far);
	/* before the pipe, or the sampling process would hold it open */
	if (j.procs != NULL)
		watch = observer(j.procs, &j.near, &j.far, &watcher);
	if (j.rate > 0 && pipe2(p, O_CLOEXEC) == -1)
		err(1, "pipe");
	signal(SIGALRM, too_late);
	alarm((unsigned)j.limit);

	t = now();
	start(argv + optind, -1, p[1]);
	if (watch != -1)
		write_all(watch, (char *)&child, sizeof(child));
	if (j.rate > 0) {
		close(p[1]);
		drain(p[0], j.rate);
	}
	while (wait4(child, &status, 0, &ru) == -1 && errno == EINTR)
		;
	t = now() - t;

	alarm(0);
	if (watch != -1) {
		close(watch);
		waitpid(watcher, NULL, 0);
	}
	near = ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6 +
	    ru.ru_stime.tv_sec + ru.ru_stime.tv_usec / 1e6;
	status = WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
	dprintf(out, "%.6f %.3f %.3f %ld %d\n", t, near + spent(&j.near),
	    spent(&j.far), ru.ru_maxrss, status);
	return 0;
}

/* Types one byte and waits for it to come back: milliseconds. */
static double
keystroke(int to, int from)
{
	double t = now();
	char c = 'x';

	write_all(to, &c, 1);
	if (read(from, &c, 1) != 1)
		errx(1, "the echo did not come");
	return (now() - t) * 1e3;
}

static int
echo(int argc, char **argv)
{
	int to[2], from[2], i, count;
	double pause;
	char c = 0;

	if (argc < 4)
		errx(2, "usage: meter echo COUNT PAUSE COMMAND...");
	count = (int)number(argv[1]);
	pause = number(argv[2]) / 1e3;
	signal(SIGALRM, too_late);
	if (pipe2(to, O_CLOEXEC) == -1 || pipe2(from, O_CLOEXEC) == -1)
		err(1, "pipe");
	start(argv + 3, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	alarm(60);
	while (c != '\n') {
		if (read(from[0], &c, 1) != 1)
			errx(1, "the command did not greet");
	}
	srandom(1);
	for (i = 0; i < count; i++) {
		alarm(60);
		printf("%.3f\n", keystroke(to[1], from[0]));
		sleep_until(now() +
		    pause * (0.5 + random() / (double)RAND_MAX));
	}
	close(to[1]);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return 0;
}

/*
 * Ends of a forwarded connection.
 */

static struct sockaddr_in
address(const char *addr, const char *port)
{
	struct sockaddr_in sin;

	memset(&sin, 0, sizeof(sin));
	sin.sin_family = AF_INET;
	sin.sin_port = htons((uint16_t)number(port));
	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		errx(2, "not an address: %s", addr);
	return sin;
}

static int
connected(const char *addr, const char *port)
{
	struct sockaddr_in sin = address(addr, port);
	int s;

	if ((s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(s, (struct sockaddr *)&sin, sizeof(sin)) == -1)
		err(1, "%s:%s", addr, port);
	return s;
}

static void
send_file(int s, const char *path)
{
	struct stat st;
	off_t off = 0;
	int f;

	if ((f = open(path, O_RDONLY)) == -1 || fstat(f, &st) == -1)
		err(1, "%s", path);
	while (off < st.st_size) {
		if (sendfile(s, f, &off, st.st_size - off) <= 0)
			err(1, "sendfile");
	}
	shutdown(s, SHUT_WR);
	drain(s, 0);
}

static int
source(const char *addr, const char *port, const char *path)
{
	struct sockaddr_in sin = address(addr, port);
	int l, s, on = 1;

	signal(SIGCHLD, SIG_IGN);
	if ((l = socket(AF_INET, SOCK_STREAM, 0)) == -1)
		err(1, "socket");
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(l, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(l, 8) == -1)
		err(1, "%s:%s", addr, port);
	for (;;) {
		if ((s = accept(l, NULL, NULL)) == -1)
			err(1, "accept");
		if (fork() == 0) {
			send_file(s, path);
			_exit(0);
		}
		close(s);
	}
}

static int
pull(const char *addr, const char *port, const char *bytes)
{
	uint64_t n = drain(connected(addr, port), 0);

	if (n != (uint64_t)number(bytes))
		errx(1, "%ju bytes came, not %s", (uintmax_t)n, bytes);
	return 0;
}

static void
copy(int from, int to)
{
	static char buf[CHUNK];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		write_all(to, buf, n);
}

static int
relay(const char *addr, const char *port)
{
	int s = connected(addr, port);

	if ((child = fork()) == -1)
		err(1, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		copy(0, s);
		shutdown(s, SHUT_WR);
		_exit(0);
	}
	copy(s, 1);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(verb, "run") == 0)
		return run(argc - 1, argv + 1);
	if (strcmp(verb, "echo") == 0)
		return echo(argc - 1, argv + 1);
	if (strcmp(verb, "slow") == 0 && argc == 3)
		return drain(0, number(argv[2])), 0;
	if (strcmp(verb, "source") == 0 && argc == 5)
		return source(argv[2], argv[3], argv[4]);
	if (strcmp(verb, "pull") == 0 && argc == 5)
		return pull(argv[2], argv[3], argv[4]);
	if (strcmp(verb, "relay") == 0 && argc == 4)
		return relay(argv[2], argv[3]);
	errx(2, "usage: meter run|slow|source|pull|relay|echo ...");
}
