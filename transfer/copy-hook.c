/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See copy-hook.h. The loop does what the scheduler says until it has to wait,
 * then moves bytes both ways, then gives it the replies.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "asks-hook.h"
#include "check-hook.h"
#include "clock.h"
#include "copy-hook.h"
#include "cross-hook.h"
#include "file-hook.h"
#include "from-hook.h"
#include "get-hook.h"
#include "landing-hook.h"
#include "links-hook.h"
#include "longopt-hook.h"
#include "outcome-hook.h"
#include "put-hook.h"
#include "server-hook.h"
#include "show-hook.h"
#include "signals-hook.h"
#include "verdict-hook.h"
#include "where-hook.h"
#include "width.h"

/* Files under way: enough for 25,000 a second where a round trip is 20 ms */
#define FILES_MAX	512

/* Descriptors that are left to all else */
#define DESCRIPTORS_SPARE	64

/* So many files are worth a further connection. */
#define FILES_LEAST	1000

/* So long a signal waits at most that comes right before poll(). */
#define WAIT_MS		1000

/*
 * Bytes under way between two servers, at most: for 80 MB/s where a round trip
 * to both takes 200 ms. If the target is slow, they wait here.
 */
#define CROSS_MOST	(16 * 1024 * 1024)

/*
 * Of a file that several hosts write, which lock their parts of it: so many do,
 * and each part begins at a multiple of so many bytes.
 */
#define WRITERS_MOST	4
#define ALIGNED		(1024 * 1024)

extern volatile sig_atomic_t interrupted;

int
copy_can(struct sftp_conn *conn, int resume)
{
	const struct server *q = server_of(conn);

	if (longopt_verifies() && sftp_proto_version(conn) < 3)
		fatal("--resume and --checksum need version 3 of SFTP, the "
		    "server has %u", sftp_proto_version(conn));
	return sftp_proto_version(conn) >= 3 && (server_is_tuned(q) ||
	    longopt_verifies() || (resume && !server_is_stock(q)));
}

/* Actions */

/* What the server keeps of files that are not in order, as errors */
static void
say_left(const struct job *j)
{
	char *text = landing_describe(plan_own(j), j);

	if (text != NULL)
		error("%s", text);
	free(text);
}

/* What a proof keeps there for a moment */
#define LEFT_TEXT	"the hidden file \"%s\" may be left at the server"

/*
 * Nothing that was kept back is lost when the process has to end, and ssh,
 * which it waits for, ends when no channel is held. A ^C that ended ssh as well
 * is no lost connection.
 */
static void
before_fatal(void *tree)
{
	struct run *t = tree;
	struct job *j;
	struct file *file;
	unsigned int i;

	for (j = plan_oldest(t->s); j != NULL; j = plan_after(t->s, j)) {
		file = plan_own(j);
		outcome_tell(t, j, file);
		say_left(j);
	}
	if (links_left(&t->team) != NULL)
		error(LEFT_TEXT, links_left(&t->team));
	for (i = 1; i < t->team.end; i++) {
		if (t->team.link[i] != NULL)
			close(t->team.fd[i]);
	}
	signals_release();
}

static void
add_child(struct run *t, struct file *dir, struct job *job)
{
	struct name *name;

	if (from_is_root(dir)) {
		from_add(t, job);
		return;
	}
	if (dir->added < dir->nnames) {
		name = &dir->names[dir->added++];
		t->side->add(t, dir, job, name);
		if (dir->has_names) {
			free(name->name);
			name->name = NULL;
		}
	}
	if (dir->added == dir->nnames) {
		t->count.unread -= t->side->is_put;
		plan_listed(t->s, job);
	}
}

/* Its names are known, or none is added any more. */
static void
count_ended(struct run *t, const struct file *file, enum plan_kind kind)
{
	size_t i;

	t->count.files += kind == PLAN_FILE;
	if (kind == PLAN_LINK || (kind == PLAN_DIR &&
	    (file->failed || !t->side->is_put)))
		t->count.unread--;
	if (kind != PLAN_DIR || !file->failed || t->side->is_put)
		return;
	for (i = file->added; i < file->nnames; i++)
		file_count_name(t, &file->names[i].a, -1);
}

/* It will begin once more, and then says what it has to say. */
static void
forget(struct run *t, struct file *file, const struct job *j)
{
	const struct landing *landing = plan_landing(j);

	debug2_f("\"%s\" is tried again, with at most %u under way",
	    file->src, plan_limit(t->s));
	check_forget(file);
	file_close(t, file);
	file_drop_texts(&file->text[0]);
	file->status = file->to_status = SSH2_FX_OK;
	file->failed = file->write_errno = 0;
	file->seen.flags = 0;
	file->is_narrow |= landing != NULL && landing_goes_again(landing);
	free(file->hidden);
	file->hidden = NULL;
	file->is_complete = file->over = file->clears = file->sparse = 0;
	file->empties = 0;
	t->count.bytes -= file->moved + file->skipped;
	file->moved = file->skipped = 0;
}

/* Connections */

static struct link *
link_of(const struct run *t, const struct plan_action *a)
{
	if (t->to != NULL && cross_is_to(a->op))
		return t->to;
	return t->team.link[a->lane];
}

/* Bytes that are known and not yet moved */
static uint64_t
bytes_left(const struct run *t)
{
	return t->count.bytes_known -
	    MINIMUM(t->count.bytes_known, t->count.bytes);
}

/* Returns what has to be left of a file for one more link; 0: none helps. */
static uint64_t
least_rest(const struct run *t)
{
	if (t->to != NULL)
		return 0;
	if (t->team.kind == LINKS_LOGINS)
		return WIDTH_REST;
	return t->growth.limited ? WIDTH_LEAST : 0;
}

/* A further link has files to copy, or a large one to carry. */
static int
is_worth_more(const struct run *t)
{
	const struct meter_count *c = &t->count;

	if (t->to != NULL || !server_is_tuned(t->server) ||
	    (t->alone && t->side->is_put && t->resumes))
		return 0;
	if (t->alone)
		return bytes_left(t) >= (t->team.kind == LINKS_LOGINS ?
		    WIDTH_REST : WIDTH_LEAST);
	return c->files_known >= c->files + FILES_LEAST ||
	    (bytes_left(t) >= WIDTH_LEAST && (!t->side->is_put ||
	    plan_landings(t->s) > 0 ||
	    c->files_known > c->files + links_size(&t->team)));
}

static uint64_t
rest_of(const struct run *t)
{
	return t->alone ? bytes_left(t) : LINKS_UNKNOWN;
}

/* A link has begun to carry a file, or another one does. */
static void
note_width(const struct run *t, const struct job *j, struct file *file)
{
	int is_put = t->side->is_put;
	unsigned int n = plan_width(t->s, j);

	if (n <= file->width || n == 1)
		return;
	file->width = n;
	debug("\"%s\" %s over %u %s", is_put ? file->dst : file->src,
	    is_put ? "goes" : "comes", n,
	    t->team.kind == LINKS_CHANNELS ? "channels" : "connections");
}

/* Each link is a lane. Returns those that take more, as bits. */
static unsigned int
set_lanes(struct run *t)
{
	unsigned int i, up = 0, takes = 0;
	int has = 0;

	for (i = 0; i < t->team.end; i++) {
		if (!links_is_up(&t->team, i))
			continue;
		has |= i == 0 ? 0 : landing_has(t->team.told[i]);
		up |= 1U << i;
		takes |= (link_is_full(t->team.link[i]) ? 0 : 1U) << i;
	}
	if (t->to != NULL && link_is_full(t->to))
		takes = 0;
	plan_set_uneven(t->s, t->team.kind == LINKS_LOGINS);
	plan_set_lanes(t->s, up, takes);
	plan_set_apart(t->s, links_apart(&t->team));
	plan_set_has(t->s, has);
	/* reads the name of a socket, which other files need not pay for */
	if (plan_landings(t->s) > 0)
		plan_set_wants(t->s, landing_is_wanted(t));
	return takes;
}

/* A file that was not copied is never silent, whatever the reason was. */
static void
check_said(struct file *file, const struct job *j)
{
	if (file->failed || interrupted || plan_kind(j) != PLAN_FILE ||
	    !plan_has_failed(j))
		return;
	SAY(file, "\"%s\" is not known to be whole, as a connection was lost",
	    file->dst);
	file->failed = 1;
}

static void
end(struct run *t, struct file *file, struct job *j)
{
	check_end(file);
	check_said(file, j);
	t->side->end(t, file, j);
	from_ended(t, file, j);
	count_ended(t, file, plan_kind(j));
	file->ended_us = clock_us();
	if (file->failed)
		t->ret = -1;
	outcome_note(t, j, file);
}

static void
act(struct run *t, const struct plan_action *a)
{
	struct file *file = plan_own(a->job);

	switch (a->op) {
	case PLAN_BEGIN:
		file->begun_us = clock_us();
		if (from_starts(file, a->job) == 0)
			t->side->begin(t, file, a->job);
		break;
	case PLAN_CHECK:
		if (check_work(t, file, a->job) && t->side->is_put)
			put_go_on(t, file, a->job);
		break;
	case PLAN_SETTLE:
		t->side->settle(t, file, a);
		break;
	case PLAN_AGAIN:
		forget(t, file, a->job);
		break;
	case PLAN_END:
		end(t, file, a->job);
		break;
	case PLAN_MORE:
		add_child(t, file, a->job);
		break;
	case PLAN_PRINT:
		outcome_print(t, a->job, file);
		break;
	default:
		/* A directory's time is set when it changes no more. */
		if (a->op == PLAN_SETSTAT && file->depth == 0)
			links_stop_proofs(&t->team);
		t->link = link_of(t, a);
		if (plan_is_ask(a->op))
			asks_send(t, file, a);
		else
			t->side->send(t, file, a);
	}
}

/* Replies */

/* Returns the type of a reply that is no error. */
static u_char
wanted_type(const struct plan_action *a)
{
	if (plan_is_ask(a->op))
		return asks_wanted(a->op);
	switch (a->op) {
	case PLAN_LANDING:
		return landing_wanted(a);
	case PLAN_STAT:
	case PLAN_STAT_TO:
	case PLAN_FSTAT:
	case PLAN_SIZE:
	case PLAN_PROVE:
	case PLAN_SAME:
	case PLAN_SEEN:
		return SSH2_FXP_ATTRS;
	case PLAN_OPEN:
	case PLAN_OPEN_NEW:
	case PLAN_JOIN:
	case PLAN_REOPEN:
	case PLAN_OPEN_TO:
	case PLAN_EMPTY:
	case PLAN_OPENDIR:
		return SSH2_FXP_HANDLE;
	case PLAN_READ:
	case PLAN_REFER:
	case PLAN_PROBE:
	case PLAN_RECALL:
		return SSH2_FXP_DATA;
	case PLAN_READDIR:
		return SSH2_FXP_NAME;
	default:
		return SSH2_FXP_STATUS;
	}
}

static void
parse_reply(struct run *t, struct sshbuf *m, struct plan_action *a,
    struct reply *reply)
{
	uint32_t id;

	reply->m = m;
	link_head(t->link, m, &reply->type, &id);
	if (plan_find(t->s, id, a) != 0 || t->link != link_of(t, a))
		link_fatal(t->link, "Unexpected reply %u", id);
	reply->status = link_status(t->link, m, reply->type,
	    wanted_type(a), ((struct file *)plan_own(a->job))->src);
	debug3("Received reply T:%u I:%u", reply->type, id);
	if (reply->type == SSH2_FXP_STATUS)
		debug3("SSH2_FXP_STATUS %u", reply->status);
}

static enum plan_result
result_of(const struct plan_action *a, const struct reply *reply)
{
	if (reply->type != SSH2_FXP_STATUS)
		return PLAN_OK;
	if (wanted_type(a) == SSH2_FXP_STATUS)
		return reply->status == SSH2_FX_OK ? PLAN_OK : PLAN_FAILED;
	if (reply->status == SSH2_FX_EOF &&
	    (a->op == PLAN_READ || a->op == PLAN_READDIR))
		return PLAN_EOF;
	return PLAN_FAILED;
}

static void
set_window(struct run *t)
{
	plan_set_window(t->s, t->to == NULL ? t->window[0] :
	    MINIMUM(t->window[0] + t->window[1], CROSS_MOST));
}

/* "len" bytes came or were written; between two servers the latter count. */
static void
count_bytes(struct run *t, struct file *file, enum plan_op op, uint32_t len)
{
	int is_to = t->link == t->to;

	if (op != PLAN_BACK && (t->to == NULL || is_to)) {
		file->moved += len;
		t->moved += len;
		t->count.bytes += len;
	}
	if (link_was_ahead(t->link))
		return;		/* Its age says nothing of the path. */
	t->window[is_to] = server_count_tree(is_to ? t->to_server : t->server,
	    len);
	set_window(t);
}

/* Returns 1 if the message is none of the tree's. */
static int
is_for_others(struct run *t, struct sshbuf *m)
{
	if (t->link == t->team.link[0])
		return server_sees(t->server, m);
	return t->link == t->to && server_sees(t->to_server, m);
}

/*
 * A server with a fixed window gets more channels, both ways. Only those that
 * carry a file use their window; one that is up and waits to join has none yet.
 * The RTT is the least age of a reply: the first one of a transfer may be late,
 * and a window looks large where a round trip looks long. A reply that was
 * there before it was asked for has no age.
 */
static void
judge_window(struct run *t, const struct plan_action *a, uint32_t len)
{
	uint64_t now = clock_us();

	if (t->team.kind != LINKS_CHANNELS || link_was_ahead(t->link))
		return;
	if (a->op != PLAN_WRITE && a->op != PLAN_READ)
		len = 0;
	width_acked(&t->growth, len, now - a->sent, now,
	    MAXIMUM(plan_carrying(t->s), 1));
	t->team.channels = width_want(&t->growth);
}

static void
take_reply(struct run *t, struct sshbuf *m)
{
	struct plan_action a;
	struct reply reply;
	struct file *file;
	enum plan_result result;
	uint32_t len = 0;
	int r, is_error;

	if (is_for_others(t, m))
		return;
	parse_reply(t, m, &a, &reply);
	file = plan_own(a.job);
	result = result_of(&a, &reply);
	if (t->side->is_put && check_is_gone(file, &a, reply.status))
		result = PLAN_EOF;
	is_error = result == PLAN_FAILED;
	if (plan_is_ask(a.op))
		result = asks_reply(t, file, &a, &reply, &len);
	else if (result == PLAN_OK)
		result = t->side->reply(t, file, &a, &reply, &len);
	if (a.op == PLAN_WRITE && result == PLAN_OK)
		len = a.len;
	if ((r = plan_reply(t->s, a.id, result, len)) == -1)
		link_fatal(t->link, "Server sent %u bytes of \"%s\" where "
		    "%u were asked for", len, file->src, a.len);
	if (is_error && r == 0 && !plan_is_ask(a.op))
		t->side->fail(t, file, &a, reply.status);
	if (a.op == PLAN_SAME || a.op == PLAN_JOIN ||
	    a.op == PLAN_REFER || a.op == PLAN_PROBE)
		note_width(t, a.job, file);
	count_bytes(t, file, a.op, len);
	judge_window(t, &a, len);
	verdict_acked(t, &a, len);
	links_count(&t->team, len, rest_of(t));
}

/* The loop */

/* Does what need not wait. Returns 1 if that set "*until". */
static int
work(struct run *t, const int *until)
{
	struct plan_action a;
	unsigned int takes;
	int r;

	do {
		takes = set_lanes(t);
		if ((r = plan_next(t->s, &a)) == -1)
			fatal_f("out of memory");
		if (r == 1) {
			act(t, &a);
			plan_worked(t->s);	/* A printed file is freed. */
		}
		if (until != NULL && *until != 0)
			return 1;
	} while (r == 1 && takes != 0 && t->worked == 0 && !t->waits);
	return 0;
}

static void
take_all(struct run *t)
{
	struct sshbuf *m;
	unsigned int i;

	t->link = t->to;
	while (t->to != NULL && (m = link_take(t->to)) != NULL)
		take_reply(t, m);

	do {
		if ((m = links_next(&t->team, &i)) != NULL) {
			t->link = t->team.link[i];
			take_reply(t, m);
		} else if (i < LINKS_MOST)
			plan_lost(t->s, i);
	} while (m != NULL || i < LINKS_MOST);
}

/* What the servers tell, if all have told it */
static uint64_t
handles(const struct run *t)
{
	uint64_t n = server_handles(t->server);

	return t->to == NULL ? n : MINIMUM(n, server_handles(t->to_server));
}

/* What would be left if the process ended now: a line each; or NULL */
static char *
farewell(const struct run *t)
{
	char *all = NULL, *line, *text;
	struct job *j;

	if (links_left(&t->team) != NULL)
		xasprintf(&all, LEFT_TEXT "\r\n", links_left(&t->team));
	for (j = plan_oldest(t->s); j != NULL; j = plan_after(t->s, j)) {
		if ((line = landing_describe(plan_own(j), j)) == NULL)
			continue;
		text = all;
		xasprintf(&all, "%s%s\r\n", text != NULL ? text : "", line);
		free(text);
		free(line);
	}
	/* A handler writes it, and a server has named what is in it. */
	if (all != NULL) {
		if (stravis(&text, all, VIS_SAFE | VIS_OCTAL) == -1)
			fatal_f("out of memory");
		free(all);
		all = text;
	}
	return all;
}

/* A signal waits for files that are not in order, but not for ever. */
static void
tend_landings(struct run *t)
{
	char *text;

	plan_set_widen(t->s, least_rest(t));
	plan_set_clock(t->s, clock_us());
	if (plan_landings(t->s) == 0 && !t->has_landings &&
	    !links_owe(&t->team))
		return;
	t->has_landings = plan_landings(t->s) > 0 || links_owe(&t->team);
	text = farewell(t);
	signals_hold(text != NULL, text);
	if (signals_is_late())
		before_fatal(t);
}

/* How long poll() may wait, in milliseconds; -1: for ever */
static int
wait_ms(const struct run *t)
{
	if (t->worked > 0)
		return 0;
	return t->has_landings || t->waits || plan_sweeping(t->s) > 0 ?
	    WAIT_MS : show_wait();
}

void
copy_run(struct run *t, const int *until)
{
	for (;;) {
		if (interrupted)
			plan_interrupt(t->s);
		plan_set_handles(t->s, handles(t));
		tend_landings(t);
		if (work(t, until) || plan_done(t->s))
			break;
		tend_landings(t);
		if (from_look(t))
			continue;
		show_tick(t);
		verdict_tick(t);
		if (is_worth_more(t))
			links_grow(&t->team);
		links_tend_proofs(&t->team);
		if (links_owe(&t->team))
			tend_landings(t);
		links_move(&t->team, from_fd(), wait_ms(t));
		t->worked = t->waits = 0;
		take_all(t);
	}
}

/*
 * Files that may be under way: a file that is compared when it is copied is
 * open twice, and the user may have chosen the number of requests.
 */
static uint32_t
most_files(const struct run *t)
{
	uint32_t each = longopt_get()->checksum ? 2 : 1, most = FILES_MAX;
	struct rlimit lim;

	if (!server_is_tuned(t->server))
		most = MINIMUM(most,
		    *server_get_conn(t->server)->num_requests);
	if (getrlimit(RLIMIT_NOFILE, &lim) == -1 ||
	    lim.rlim_cur == RLIM_INFINITY ||
	    lim.rlim_cur >= FILES_MAX * each + DESCRIPTORS_SPARE)
		return most;
	return lim.rlim_cur <= 2 * DESCRIPTORS_SPARE ? 1 :
	    MINIMUM(most, (lim.rlim_cur - DESCRIPTORS_SPARE) / each);
}

static struct link *
new_link(struct run *t, const struct server *q)
{
	const struct server_conn *c = server_get_conn(q);
	struct link_conf conf = { .fd_in = c->fd_in, .fd_out = c->fd_out,
	    .before_fatal = before_fatal, .arg = t };

	return link_new(&conf);
}

/* The connection to the target, between two servers */
static void
start_target(struct run *t, struct plan_conf *conf)
{
	u_int unit = server_take(t->to_server, t->finish, 1, 0, &t->window[1]);

	conf->cross = 1;
	conf->unit = MINIMUM(conf->unit, unit);
	conf->first_id = MAXIMUM(conf->first_id,
	    *server_get_conn(t->to_server)->msg_id);
	t->to = new_link(t, t->to_server);
}

static void
start_links(struct run *t)
{
	t->link = new_link(t, t->server);
	links_begin(&t->team, server_get_conn(t->server)->fd_in,
	    server_further(t->server), t->link, before_fatal, t);
	t->team.where = where_to_prove;
	t->team.also = t->to;
	t->growth.window = t->side->is_put ? WIDTH_WINDOW : WIDTH_OURS;
	t->growth.is_ours = !t->side->is_put;
	if (t->to == NULL && server_is_tuned(t->server))
		links_take_channels(&t->team);
}

void
copy_start(struct run *t)
{
	struct plan_conf conf = { .put = t->side->is_put,
	    .preserve = t->preserve,
	    .keep_found = HAYATE_OPENSSH >= 1003 && !t->preserve };

	t->server = server_of(t->conn);
	t->to_server = server_of(t->to_conn);
	check_run(t);
	conf.files = most_files(t);
	conf.in_place = t->in_place;
	conf.sync = t->sync && server_has_fsync(t->server);
	conf.unit = server_take(t->server, t->finish, conf.put, t->alone,
	    &t->window[0]);
	conf.first_id = *server_get_conn(t->server)->msg_id;
	arc4random_buf(&conf.seed, sizeof(conf.seed));
	if (t->to_conn != NULL)
		start_target(t, &conf);
	if ((t->s = plan_new(&conf)) == NULL)
		fatal_f("out of memory");
	set_window(t);
	start_links(t);
	if (hosts_are_many(&server_further(t->server)->hosts))
		plan_set_shared(t->s, WRITERS_MOST, ALIGNED);
	t->open = xcalloc(conf.files, sizeof(*t->open));
	verdict_begin(t);
}

/* No reply is due when upstream's functions go on. */
static void
await_last(struct run *t)
{
	links_stop_proofs(&t->team);
	while (server_owes_figures(t->server) || links_owe(&t->team)) {
		links_tend_proofs(&t->team);
		links_move(&t->team, -1, -1);
		take_all(t);
	}
}

void
copy_stop(struct run *t)
{
	await_last(t);
	show_end(t);
	verdict_end(t);
	server_give(t->server, plan_next_id(t->s));
	links_end(&t->team);
	link_free(t->team.link[0]);
	if (t->to != NULL) {
		server_give(t->to_server, plan_next_id(t->s));
		link_free(t->to);
		t->to = NULL;
	}
	plan_free(t->s);
	free(t->open);
	free(t->root);
	free(t->root_dir);
	signals_release();
}

static int
copy(struct run *t, enum plan_kind kind, const char *src, const char *dst,
    const Attrib *a, uint64_t size)
{
	struct file *root = file_new(xstrdup(src), xstrdup(dst), 0);
	struct job *j;

	if (a != NULL)
		root->a = *a;
	copy_start(t);
	j = file_add(t, NULL, kind, root, size);
	if (from_is_wanted())
		from_begin(t, root, j);
	copy_run(t, NULL);
	copy_stop(t);
	if (t->read_errno != 0)
		fatal("read local \"%s\": %s", src, strerror(t->read_errno));
	return t->ret;
}

/* A list needs what upstream's functions do not have. Returns 1 with a text. */
static int
refuses(struct sftp_conn *conn)
{
	return from_is_wanted() && !copy_can(conn, 0) && from_refuse(NULL);
}

int
copy_put_tree(copy_put_dir *stock, struct sftp_conn *conn, const char *src,
    const char *dst, int depth, int preserve, int print, int resume, int sync,
    int follow, int in_place)
{
	struct run t = { .conn = conn, .side = &put_side,
	    .preserve = preserve, .print = print, .resume = resume,
	    .sync = sync, .follow = follow, .in_place = in_place };

	if (refuses(conn))
		return -1;
	if (!copy_can(conn, resume))
		return stock(conn, src, dst, depth, preserve, print, resume,
		    sync, follow, in_place);
	return copy(&t, PLAN_DIR, src, dst, NULL, 0);
}

/*
 * Returns what is known of a file, or in "room" what the server says, or NULL
 * with an error.
 */
static Attrib *
look_at_file(const struct run *t, const char *src, Attrib *a, Attrib *room)
{
	if (a == NULL)
		a = server_use_kept_lstat(t->conn, src, NULL, room);
	if (a == NULL && sftp_stat(t->conn, src, 0, room) != 0)
		return NULL;
	if (a == NULL)
		a = room;
	if ((a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a->perm))
		return a;
	error(t->to_conn != NULL ? "download \"%s\": not a regular file" :
	    "download %s: not a regular file", src);
	return NULL;
}

int
copy_file(struct run *t, const char *src, const char *dst, Attrib *a)
{
	Attrib room;
	struct stat sb;

	t->alone = 1;
	if (t->side->is_put)
		return copy(t, PLAN_FILE, src, dst, NULL,
		    stat(src, &sb) == 0 ? sb.st_size : 0);
	if ((a = look_at_file(t, src, a, &room)) == NULL)
		return -1;
	return copy(t, PLAN_FILE, src, dst, a,
	    (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? a->size : 0);
}

/* Returns "a", or in "room" what the server says of the root, or NULL. */
static Attrib *
look_at_root(struct sftp_conn *conn, const char *src, Attrib *a, Attrib *room)
{
	const Attrib *known = server_last_dir(server_of(conn), src);

	if (a != NULL)
		return a;
	if (known != NULL)
		*room = *known;
	else if (sftp_stat(conn, src, 1, room) != 0)
		return NULL;
	return room;
}

int
copy_get_tree(copy_get_dir *stock, struct sftp_conn *conn, const char *src,
    const char *dst, int depth, Attrib *a, int preserve, int print, int resume,
    int sync, int follow, int in_place)
{
	struct run t = { .conn = conn, .side = &get_side,
	    .preserve = preserve, .print = print, .resume = resume,
	    .sync = sync, .follow = follow, .in_place = in_place };
	Attrib room;

	if (refuses(conn))
		return -1;
	if (!copy_can(conn, resume))
		return stock(conn, src, dst, depth, a, preserve, print, resume,
		    sync, follow, in_place);
	if ((a = look_at_root(conn, src, a, &room)) == NULL) {
		error("stat remote \"%s\" directory failed", src);
		return -1;
	}
	return copy(&t, PLAN_DIR, src, from_is_wanted() ? from_target() : dst,
	    a, 0);
}

int
copy_cross(copy_cross_dir *stock, struct sftp_conn *from,
    struct sftp_conn *to, const char *src, const char *dst, int depth,
    Attrib *a, int preserve, int print, int follow)
{
	struct run t = { .conn = from, .to_conn = to, .side = &cross_side,
	    .preserve = preserve, .print = print, .follow = follow };
	Attrib room;

	if (refuses(from) || refuses(to))
		return -1;
	if (!copy_can(from, 0) || !copy_can(to, 0))
		return stock(from, to, src, dst, depth, a, preserve, print,
		    follow);
	if ((a = look_at_root(from, src, a, &room)) == NULL) {
		error("stat remote \"%s\" failed", src);
		return -1;
	}
	return copy(&t, PLAN_DIR, src, dst, a, 0);
}
