/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See transfer-hook.h. The loop does what the scheduler says until it has to
 * wait, then moves bytes both ways, then gives it the replies.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
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

#include "bottleneck-hook.h"
#include "clock.h"
#include "conn-count.h"
#include "conns-hook.h"
#include "deferred-signals-hook.h"
#include "directions-hook.h"
#include "file-hook.h"
#include "files-from-hook.h"
#include "inspect-hook.h"
#include "longopt-hook.h"
#include "op-table.h"
#include "progress-hook.h"
#include "rendezvous.h"
#include "results-hook.h"
#include "server-hook.h"
#include "stock-hook.h"
#include "tempfile-hook.h"
#include "transfer-hook.h"
#include "verify-requests-hook.h"
#include "verify-run-hook.h"

/* Files in flight: enough for 25,000 a second where a round trip is 20 ms */
#define FILES_MAX	512

/* Descriptors that are left to all else */
#define DESCRIPTORS_SPARE	64

/* So many files are worth a further connection. */
#define MORE_CONNS_FILES	1000

/* How long the loss of the main connection waits for that of others, in us */
#define LOST_TOGETHER_US	300000

/* So long a signal waits at most that comes right before poll(). */
#define WAIT_MS		1000

/*
 * Bytes in flight between two servers, at most: for 80 MB/s where a round trip
 * to both takes 200 ms. If the target is slow, they wait here.
 */
#define CROSS_MAX	(16 * 1024 * 1024)

/*
 * Most hosts that write one file, because they lock their parts of it, and the
 * alignment of these parts in bytes
 */
#define WRITERS_MAX	4
#define ALIGNED		(1024 * 1024)

extern volatile sig_atomic_t interrupted;

int
transfer_can(struct sftp_conn *conn, int resume)
{
	const struct server_info *server = server_info(server_of(conn));

	if (longopt_verifies() && sftp_proto_version(conn) < 3)
		fatal("--resume and --checksum need SFTP version 3; the server "
		    "has version %u", sftp_proto_version(conn));
	return sftp_proto_version(conn) >= 3 && (server->is_tuned ||
	    longopt_verifies() || rendezvous_wants_retry() ||
	    (resume && !server->is_stock));
}

/* Actions */

/*
 * Nothing that was kept back is lost when the process has to end, and ssh,
 * which it waits for, ends when no channel is held. A ^C that ended ssh as well
 * is no lost connection.
 */
static void
before_fatal(void *tree)
{
	struct transfer *t = tree;
	struct sched_entry *j;
	struct file *file;
	unsigned int i;

	for (j = sched_next_in_order(t->sched, NULL); j != NULL; j =
	    sched_next_in_order(t->sched, j)) {
		file = sched_info(j).user;
		results_report(t, j, file);
		tempfile_report_leftover(file, j);
	}
	tempfile_report_proof(t);
	for (i = 0; i < t->conns.nslots; i++) {
		if (t->conns.stream[i] != NULL && i != t->conns.main)
			close(t->conns.fd[i]);
	}
	reconnect_end(&t->reconnect);
	signals_release();
}

static void
add_child(struct transfer *t, struct file *dir, const struct sched_action *a)
{
	struct sched_entry *entry = a->entry;
	struct dir_entry *name;

	if (files_from_is_root(dir)) {
		files_from_add(t, entry);
		return;
	}
	if (dir->added < dir->nnames) {
		name = &dir->names[dir->added++];
		t->ops->add(t, dir, entry, name);
		if (dir->names_complete) {
			free(name->name);
			name->name = NULL;
		}
	}
	if (dir->added == dir->nnames) {
		t->count.unlisted -= t->ops->is_put;
		sched_children(t->sched, entry, CHILDREN_COMPLETE);
	}
}

/* Its names are known, or none is added any more. */
static void
count_ended_entry(struct transfer *t, const struct file *file,
    enum sched_kind kind)
{
	size_t i;

	t->count.files += kind == KIND_FILE;
	if (kind == KIND_LINK || (kind == KIND_DIR &&
	    (file->failed || !t->ops->is_put)))
		t->count.unlisted--;
	if (kind != KIND_DIR || !file->failed || t->ops->is_put)
		return;
	for (i = file->added; i < file->nnames; i++)
		file_count_listed(t, &file->names[i].a, -1);
}

/* The entry restarts, and reports then. */
static void
reset_for_restart(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	debug2_f("restarting \"%s\", with at most %u files in flight",
	    file->src, sched_stats(t->sched).limit);
	file->losses += sched_info(a->entry).restarts_after_loss;
	verify_run_forget(file);
	file_close(t, file);
	file_drop_messages(&file->messages[0]);
	file->status = file->dest_status = SSH2_FX_OK;
	file->failed = file->write_errno = t->read_errno = 0;
	file->seen_attrs.flags = 0;
	file->never_striped |=
	    tempfile_info(sched_info(a->entry).tempfile).must_restart;
	free(file->temp_name);
	file->temp_name = NULL;
	file->is_complete = file->no_truncate = file->truncate_late =
	    file->sparse = 0;
	file->open_truncates = file->has_data = file->old_bytes_gone = 0;
	t->count.bytes -= file->moved + file->skipped;
	file->moved = file->skipped = 0;
}

/* Connections */

static struct sftp_stream *
stream_of(const struct transfer *t, const struct sched_action *a)
{
	if (t->dest_stream != NULL && op_info(a->op)->to_dest)
		return t->dest_stream;
	return t->conns.stream[a->conn];
}

/* Bytes that are known and not yet moved */
static uint64_t
unmoved_bytes(const struct transfer *t)
{
	return t->count.bytes_known -
	    MINIMUM(t->count.bytes_known, t->count.bytes);
}

/*
 * Returns what has to be left of a file for one more connection; 0: none helps.
 */
static uint64_t
stripe_min_bytes(const struct transfer *t)
{
	if (t->dest_stream != NULL)
		return 0;
	if (t->conns.kind == CONNS_LOGINS)
		return STRIPE_MIN_REST;
	return t->channel_count.limited ? STRIPE_MIN_FILE : 0;
}

/* A further connection has files to copy, or a large one to carry. */
static int
wants_more_conns(const struct transfer *t)
{
	const struct progress_count *c = &t->count;

	if (t->dest_stream != NULL || !server_info(t->server)->is_tuned ||
	    (t->single_file && t->ops->is_put && t->keeps_target))
		return 0;
	if (t->single_file)
		return unmoved_bytes(t) >= (t->conns.kind == CONNS_LOGINS ?
		    STRIPE_MIN_REST : STRIPE_MIN_FILE);
	return c->files_known >= c->files + MORE_CONNS_FILES ||
	    (unmoved_bytes(t) >= STRIPE_MIN_FILE && (!t->ops->is_put ||
	    sched_stats(t->sched).tempfiles > 0 ||
	    c->files_known > c->files + conns_established(&t->conns)));
}

static uint64_t
known_rest(const struct transfer *t)
{
	return t->single_file ? unmoved_bytes(t) : CONNS_UNKNOWN;
}

/* A connection has begun or stopped to transfer a file. */
static void
note_conn_count(const struct transfer *t, const struct sched_entry *j,
    struct file *file)
{
	int is_put = t->ops->is_put;
	unsigned int n = sched_file_conns(t->sched, j);

	if (n <= file->max_conns || n == 1)
		return;
	file->max_conns = n;
	debug("\"%s\" %s over %u %s", is_put ? file->dst : file->src,
	    is_put ? "goes" : "comes", n,
	    t->conns.kind == CONNS_CHANNELS ? "channels" : "connections");
}

/*
 * Tells the scheduler which connections are established. Returns those that
 * take more data, as bits.
 */
static unsigned int
update_conns(struct transfer *t)
{
	unsigned int i, up = 0, takes = 0;
	int has = 0;

	for (i = 0; i < t->conns.nslots; i++) {
		if (!conns_is_established(&t->conns, i))
			continue;
		has |= i == 0 ? 0 : tempfile_server_caps(t->conns.state[i]);
		up |= 1U << i;
		takes |= (stream_is_full(t->conns.stream[i]) ? 0 : 1U) << i;
	}
	if (t->dest_stream != NULL && stream_is_full(t->dest_stream))
		takes = 0;
	t->env.per_conn_limit = t->conns.kind == CONNS_LOGINS;
	t->env.established = up;
	t->env.writable = takes;
	t->env.other_hosts = conns_to_other_hosts(&t->conns);
	t->env.server_caps = has;
	/* reads the name of a socket, which other files need not pay for */
	if (sched_stats(t->sched).tempfiles > 0)
		t->env.conns_wanted = tempfile_wants_conns(t);
	sched_update(t->sched, &t->env);
	return takes;
}

/* A file that was not copied is never silent, whatever the reason was. */
static void
report_silent_failure(struct file *file, const struct sched_entry *j)
{
	if (file->failed || interrupted || sched_info(j).kind != KIND_FILE ||
	    !sched_info(j).has_failed)
		return;
	file_error(file, "\"%s\": a connection was lost before the copy was "
	    "confirmed", file->dst);
	file->failed = 1;
}

static void
begin_entry(struct transfer *t, struct file *file, const struct sched_action *a)
{
	file->begun_us = clock_us();
	if (files_from_entry_begins(file, a->entry) == 0)
		t->ops->begin(t, file, a->entry);
}

static void
verify_entry(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	if (verify_run_step(t, file, a->entry) && t->ops->is_put)
		put_go_on(t, file, a->entry);
}

static void
end_entry(struct transfer *t, struct file *file, const struct sched_action *a)
{
	struct sched_entry *j = a->entry;

	verify_run_end(file);
	report_silent_failure(file, j);
	t->ops->end(t, file, j);
	files_from_entry_ended(t, file, j);
	count_ended_entry(t, file, sched_info(j).kind);
	file->ended_us = clock_us();
	if (file->failed)
		t->ret = -1;
	results_journal(t, j, file);
}

static void (*const local_work[])(struct transfer *, struct file *,
    const struct sched_action *) = {
	[OP_BEGIN] = begin_entry,
	[OP_VERIFY] = verify_entry,
	[OP_RESTART] = reset_for_restart,
	[OP_END] = end_entry,
	[OP_ADD_CHILDREN] = add_child,
	[OP_PRINT] = results_print,
};

static const struct op_handler *
handler_of(const struct transfer *t, const struct sched_action *a)
{
	if (a->op == OP_TEMPFILE)
		return &tempfile_handlers[a->temp_request.op];
	if (a->op == OP_VERIFY_REQUEST)
		return verify_request_handler(a->verify);
	if (t->dest_stream != NULL && !op_info(a->op)->to_dest)
		return &get_handlers[a->op];
	return &t->ops->handlers[a->op];
}

static void
do_action(struct transfer *t, const struct sched_action *a)
{
	struct file *file = sched_info(a->entry).user;
	struct request r = { .t = t, .file = file, .a = *a };

	if (op_is_local(a->op)) {
		(a->op == OP_DATA_DONE ? t->ops->data_done :
		    local_work[a->op])(t, file, a);
		return;
	}
	/* A directory's time is set when it changes no more. */
	if (a->op == OP_SETSTAT && file->depth == 0)
		conns_stop_fs_checks(&t->conns);
	t->stream = stream_of(t, a);
	r.sink = stream_sink(t->stream);
	handler_of(t, a)->send(&r);
}

/* Replies */

static void
parse_reply(struct transfer *t, struct sshbuf *m, struct request *r)
{
	uint32_t id;

	r->m = m;
	stream_parse_head(t->stream, m, &r->type, &id);
	if (sched_find(t->sched, id, &r->a) != 0 || t->stream != stream_of(t,
	    &r->a))
		stream_fatal(t->stream, "Unexpected reply %u", id);
	r->file = sched_info(r->a.entry).user;
	r->status = stream_parse_status(t->stream, m, r->type,
	    op_info_of(&r->a)->reply, r->file->src);
	debug3("Received reply T:%u I:%u", r->type, id);
	if (r->type == SSH2_FXP_STATUS)
		debug3("SSH2_FXP_STATUS %u", r->status);
}

static enum sched_result
result_of(const struct request *r)
{
	if (r->type != SSH2_FXP_STATUS)
		return RESULT_OK;
	if (op_info_of(&r->a)->reply == SFTP_STATUS)
		return r->status == SSH2_FX_OK ? RESULT_OK : RESULT_FAILED;
	if (r->status == SSH2_FX_EOF &&
	    (r->a.op == OP_READ || r->a.op == OP_READDIR))
		return RESULT_EOF;
	return RESULT_FAILED;
}

static void
update_window(struct transfer *t)
{
	t->env.window = t->dest_stream == NULL ? t->window[0] :
	    MINIMUM(t->window[0] + t->window[1], CROSS_MAX);
	sched_update(t->sched, &t->env);
}

/* "len" bytes came or were written; between two servers the latter count. */
static void
count_moved_bytes(const struct request *r)
{
	struct transfer *t = r->t;
	uint32_t len = r->said.len;
	int is_to = t->stream == t->dest_stream;

	if (r->a.op != OP_VERIFY_REQUEST && (t->dest_stream == NULL || is_to)) {
		r->file->moved += len;
		t->moved += len;
		t->count.bytes += len;
	}
	if (stream_was_early(t->stream))
		return;		/* Its age says nothing of the path. */
	t->window[is_to] = server_count_acked(is_to ? t->dest_server :
	    t->server, len);
	update_window(t);
}

/*
 * A server with a fixed window gets more channels, both ways. Only those that
 * carry a file use their window; one that is up and waits to join has none yet.
 * The RTT is the least age of a reply: the first one of a transfer may be late,
 * and a window looks large where a round trip looks long. A reply that was
 * there before it was asked for has no age.
 */
static void
update_channel_count(struct transfer *t, const struct sched_action *a,
    uint32_t len)
{
	uint64_t now = clock_us();

	if (t->conns.kind != CONNS_CHANNELS || stream_was_early(t->stream))
		return;
	if (a->op != OP_WRITE && a->op != OP_READ)
		len = 0;
	conn_count_acked(&t->channel_count, len, now - a->sent_us, now,
	    MAXIMUM(sched_stats(t->sched).busy_conns, 1));
	t->conns.channels_wanted = conn_count_wanted(&t->channel_count);
}

static void
take_reply(struct transfer *t, struct sshbuf *m)
{
	const struct op_handler *h;
	struct request r = { .t = t, .said = SCHED_REPLY_INIT };
	struct sched_reply *said = &r.said;
	int known, verifies, is_error;

	parse_reply(t, m, &r);
	h = handler_of(t, &r.a);
	verifies = r.a.op == OP_VERIFY_REQUEST;
	said->result = result_of(&r);
	if (t->ops->is_put && verify_run_is_gone(r.file, &r.a, r.status))
		said->result = RESULT_EOF;
	is_error = said->result == RESULT_FAILED;
	if (h->reply != NULL && (verifies || said->result == RESULT_OK))
		h->reply(&r);
	if (r.a.op == OP_WRITE && said->result == RESULT_OK)
		said->len = r.a.len;
	if ((known = sched_reply(t->sched, r.a.id, said)) == -2)
		fatal_f("out of memory");
	if (known == -1)
		stream_fatal(t->stream, "Server sent %u bytes of \"%s\"; %u "
		    "were requested", said->len, r.file->src, r.a.len);
	if (is_error && known == 0 && !verifies)
		file_report_error(&r, h);
	note_conn_count(t, r.a.entry, r.file);
	count_moved_bytes(&r);
	update_channel_count(t, &r.a, said->len);
	bottleneck_acked(t, &r.a, said->len);
	conns_count_moved(&t->conns, said->len, known_rest(t));
}

/* The loop */

/* Does what need not wait. Returns 1 if that set "*until". */
static int
do_actions(struct transfer *t, const int *until)
{
	struct sched_action a;
	unsigned int takes;
	int r;

	do {
		takes = update_conns(t);
		if ((r = sched_next(t->sched, &a)) == -1)
			fatal_f("out of memory");
		if (r == 1) {
			do_action(t, &a);
			/* A printed file is freed. */
			sched_local_done(t->sched);
		}
		if (until != NULL && *until != 0)
			return 1;
	} while (r == 1 && takes != 0 && t->hashed == 0 && !t->wake_soon);
	return 0;
}

static void
take_all_replies(struct transfer *t)
{
	struct sshbuf *m;
	unsigned int i;

	t->stream = t->dest_stream;
	while (t->dest_stream != NULL && (m = stream_next(t->dest_stream)) !=
	    NULL)
		take_reply(t, m);

	do {
		if ((m = conns_next(&t->conns, &i)) != NULL) {
			t->stream = t->conns.stream[i];
			take_reply(t, m);
		} else if (i < CONNS_MAX) {
			/* The next sched_update() must not bring it back. */
			t->env.established &= ~(1U << i);
			t->env.writable &= ~(1U << i);
			sched_conn_lost(t->sched, i, t->conns.main);
		}
	} while (m != NULL || i < CONNS_MAX);
}

/*
 * Returns the limit of open handles of both servers; 0 until each has announced
 * it.
 */
static uint64_t
common_handle_limit(const struct transfer *t)
{
	uint64_t n = server_info(t->server)->handles;

	return t->dest_stream == NULL ? n : MINIMUM(n,
	    server_info(t->dest_server)->handles);
}

/* A signal waits for files that are not in order, but not for ever. */
static void
update_tempfiles(struct transfer *t)
{
	char *text;

	t->env.stripe_min = stripe_min_bytes(t);
	t->env.now_us = clock_us();
	sched_update(t->sched, &t->env);
	if (sched_stats(t->sched).tempfiles == 0 && !t->had_tempfiles &&
	    !conns_fs_check_in_flight(&t->conns))
		return;
	text = tempfile_describe_all(t);
	t->had_tempfiles = sched_stats(t->sched).tempfiles > 0 ||
	    conns_fs_check_in_flight(&t->conns) || text != NULL;
	signals_hold(text != NULL, text);
	if (signals_is_late())
		before_fatal(t);
}

/* How long poll() may wait, in milliseconds */
static int
poll_timeout(const struct transfer *t)
{
	if (t->hashed > 0)
		return 0;
	return t->had_tempfiles || t->wake_soon ||
	    sched_stats(t->sched).stale_removals > 0 || progress_interval() ==
	    -1 ? WAIT_MS : progress_interval();
}

/* Of the stream of the main connection to that server */
static struct sftp_stream_conf
stream_conf(struct transfer *t, struct server *q)
{
	const struct server_conn *c = &server_info(q)->conn;

	return (struct sftp_stream_conf){ .fd_in = c->fd_in,
	    .fd_out = c->fd_out, .may_be_replaced = 1,
	    .before_fatal = before_fatal, .arg = t,
	    .replies = &server_info(q)->replies };
}

static struct sftp_stream *
new_stream(struct transfer *t, struct server *q)
{
	struct sftp_stream_conf conf = stream_conf(t, q);

	return stream_new(&conf);
}

static void
start_conns(struct transfer *t)
{
	t->stream = new_stream(t, t->server);
	conns_begin(&t->conns, server_info(t->server)->conn.fd_in,
	    &server_info(t->server)->idle_conns, t->stream, before_fatal, t);
	t->conns.locate = t->ops->locate;
	t->conns.other_stream = t->dest_stream;
	t->channel_count.window = t->ops->is_put ? CHANNEL_WINDOW_STOCK :
	    CHANNEL_WINDOW_OURS;
	t->channel_count.window_is_ours = !t->ops->is_put;
	if (t->dest_stream == NULL && server_info(t->server)->is_tuned)
		conns_use_channels(&t->conns);
}

/* Returns 1 if a connection is lost without which nothing can go on. */
static int
main_conn_is_lost(const struct transfer *t)
{
	return stream_is_lost(t->conns.stream[t->conns.main]) ||
	    (t->dest_stream != NULL && stream_is_lost(t->dest_stream));
}

/* Connections to one host often end together, and not in the same moment. */
static void
await_other_losses(struct transfer *t)
{
	uint64_t now, until = clock_us() + LOST_TOGETHER_US;

	while (conns_other_main(&t->conns) != CONNS_MAX &&
	    (now = clock_us()) < until) {
		conns_poll(&t->conns, -1, (int)((until - now) / 1000) + 1);
		take_all_replies(t);
	}
}

/*
 * Another connection becomes the main one. Upstream's functions know the main
 * connection by its descriptors. Returns 0, or -1 if there is no other one.
 */
static int
replace_main_conn(struct transfer *t)
{
	struct conns *c = &t->conns;
	unsigned int lost = c->main, i;
	long ssh = rendezvous_process(c->main_fd);
	struct sftp_stream_conf conf;

	if (t->dest_stream != NULL)
		return -1;
	await_other_losses(t);
	if ((i = conns_other_main(c)) == CONNS_MAX)
		return -1;
	progress_clear(t);
	logit("Connection %u was lost; connection %u takes over, and the copy "
	    "goes on", lost + 1, i + 1);
	if (ssh != 0)			/* 0: it was not scp's */
		stock_forgive_ssh((pid_t)ssh);
	reconnect_keep_ssh(&t->reconnect);
	tempfile_report_proof(t);
	conns_replace_main(c, i, reconnect_is_possible(&t->reconnect));
	if (reconnect_take_over(t->server, c->fd[i], c->state[i]) == -1)
		fatal("dup2: %s", strerror(errno));
	c->fd[i] = c->main_fd;
	conf = stream_conf(t, t->server);
	stream_set_conf(c->stream[i], &conf);
	t->env.established &= ~(1U << lost);
	t->env.writable &= ~(1U << lost);
	tempfile_keep_leftovers(t);
	sched_conn_lost(t->sched, lost, i);
	return 0;
}

/* All connections are lost, or one of two servers is. */
static void
end_if_not_replaced(struct transfer *t)
{
	struct sftp_stream *stream = t->conns.stream[t->conns.main];

	if (!reconnect_is_possible(&t->reconnect))
		stream_fatal_lost(stream_is_lost(stream) ? stream :
		    t->dest_stream);
}

/* With --retry new connections take the place of all that there were. */
static void
replace_lost_conns(struct transfer *t)
{
	while (main_conn_is_lost(t) && replace_main_conn(t) == 0)
		;
	if (!main_conn_is_lost(t))
		return;
	end_if_not_replaced(t);
	progress_clear(t);
	tempfile_report_proof(t);
	tempfile_keep_leftovers(t);
	sched_conn_lost(t->sched, SCHED_CONNS_ALL, 0);
	conns_abandon(&t->conns);
	if (t->dest_stream != NULL)
		stream_free(t->dest_stream);
	if (reconnect_wait(&t->reconnect) == -1) {
		before_fatal(t);
		fatal("Connection closed");
	}
	if (t->dest_stream != NULL)
		t->dest_stream = new_stream(t, t->dest_server);
	t->env.established = t->env.writable = 1;
	start_conns(t);
}

void
transfer_run(struct transfer *t, const int *until)
{
	for (;;) {
		if (interrupted)
			sched_interrupt(t->sched);
		t->env.handle_limit = common_handle_limit(t);
		update_tempfiles(t);
		if (do_actions(t, until) || sched_is_done(t->sched))
			break;
		update_tempfiles(t);
		if (files_from_poll(t))
			continue;
		progress_tick(t);
		bottleneck_tick(t);
		inspect_tick(t);
		if (wants_more_conns(t))
			conns_grow(&t->conns);
		conns_run_fs_checks(&t->conns);
		if (conns_fs_check_in_flight(&t->conns))
			update_tempfiles(t);
		conns_poll(&t->conns, files_from_fd(), poll_timeout(t));
		t->hashed = t->wake_soon = 0;
		take_all_replies(t);
		replace_lost_conns(t);
	}
}

/*
 * Files that may be in flight: a file that is compared when it is copied is
 * open twice, and the user may have chosen the number of requests.
 */
static uint32_t
max_open_files(const struct transfer *t)
{
	uint32_t each = longopt_get()->checksum ? 2 : 1, most = FILES_MAX;
	struct rlimit lim;

	if (!server_info(t->server)->is_tuned)
		most = MINIMUM(most,
		    *server_info(t->server)->conn.num_requests);
	if (getrlimit(RLIMIT_NOFILE, &lim) == -1 ||
	    lim.rlim_cur == RLIM_INFINITY ||
	    lim.rlim_cur >= FILES_MAX * each + DESCRIPTORS_SPARE)
		return most;
	return lim.rlim_cur <= 2 * DESCRIPTORS_SPARE ? 1 :
	    MINIMUM(most, (lim.rlim_cur - DESCRIPTORS_SPARE) / each);
}

/* The connection to the target, between two servers */
static void
start_target(struct transfer *t, struct sched_conf *conf)
{
	u_int unit = server_acquire(t->dest_server, t->finish, 1, 0,
	    &t->window[1]);

	conf->cross = 1;
	conf->unit = MINIMUM(conf->unit, unit);
	conf->first_id = MAXIMUM(conf->first_id,
	    *server_info(t->dest_server)->conn.msg_id);
	t->dest_stream = new_stream(t, t->dest_server);
}

void
transfer_start(struct transfer *t)
{
	struct sched_conf conf = { .put = t->ops->is_put,
	    .preserve = t->preserve,
	    .keep_found = HAYATE_OPENSSH >= 1003 && !t->preserve };

	t->server = server_of(t->conn);
	t->dest_server = t->dest_conn == NULL ? NULL :
	    server_of(t->dest_conn);
	verify_run_start(t);
	conf.files = max_open_files(t);
	conf.in_place = t->in_place;
	conf.sync = t->sync &&
	    (server_info(t->server)->caps & SFTP_CAP_FSYNC) != 0;
	conf.unit = server_acquire(t->server, t->finish, conf.put,
	    t->single_file, &t->window[0]);
	conf.first_id = *server_info(t->server)->conn.msg_id;
	arc4random_buf(&conf.seed, sizeof(conf.seed));
	reconnect_begin(&t->reconnect, t->server, t->dest_server);
	if (t->dest_conn != NULL)
		start_target(t, &conf);
	if ((t->sched = sched_new(&conf)) == NULL)
		fatal_f("out of memory");
	t->env.established = t->env.writable = 1;
	update_window(t);
	start_conns(t);
	if (conns_has_hosts(t->conns.kept)) {
		t->env.max_writers = WRITERS_MAX;
		t->env.align = ALIGNED;
	}
	t->open = xcalloc(conf.files, sizeof(*t->open));
	bottleneck_begin(t);
	inspect_begin();
}

/* No reply is due when upstream's functions go on. */
static void
await_last_replies(struct transfer *t)
{
	conns_stop_fs_checks(&t->conns);
	while (server_info(t->server)->figures_in_flight ||
	    conns_fs_check_in_flight(&t->conns)) {
		conns_run_fs_checks(&t->conns);
		conns_poll(&t->conns, -1, -1);
		take_all_replies(t);
		replace_lost_conns(t);
	}
}

void
transfer_stop(struct transfer *t)
{
	await_last_replies(t);
	inspect_end();
	progress_end(t);
	bottleneck_end(t);
	server_release(t->server, sched_stats(t->sched).next_id);
	conns_end(&t->conns);
	stream_free(t->conns.stream[t->conns.main]);
	if (t->dest_stream != NULL) {
		server_release(t->dest_server, sched_stats(t->sched).next_id);
		stream_free(t->dest_stream);
		t->dest_stream = NULL;
	}
	reconnect_end(&t->reconnect);
	sched_free(t->sched);
	free(t->open);
	free(t->root);
	free(t->root_dir);
	signals_release();
}

static int
copy_root(struct transfer *t, enum sched_kind kind, const char *src,
    const char *dst, const Attrib *a, uint64_t size)
{
	struct file *root = file_new(xstrdup(src), xstrdup(dst), 0);

	if (a != NULL)
		root->a = *a;
	transfer_start(t);
	file_add(t, NULL, files_from_is_wanted() ? KIND_LIST : kind, root,
	    size);
	if (files_from_is_wanted())
		files_from_begin(t, root);
	transfer_run(t, NULL);
	transfer_stop(t);
	if (t->read_errno != 0)
		fatal("read local \"%s\": %s", src, strerror(t->read_errno));
	return t->ret;
}

/*
 * Returns what is known of a file, or in "room" what the server says, or NULL
 * with an error.
 */
static Attrib *
stat_source_file(const struct transfer *t, const char *src, Attrib *a,
    Attrib *room)
{
	if (a == NULL)
		a = server_use_kept_lstat(server_of(t->conn), src, room);
	if (a == NULL && sftp_stat(t->conn, src, 0, room) != 0)
		return NULL;
	if (a == NULL)
		a = room;
	if ((a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a->perm))
		return a;
	error(t->dest_conn != NULL ? "download \"%s\": not a regular file" :
	    "download %s: not a regular file", src);
	return NULL;
}

int
transfer_file(struct transfer *t, const char *src, const char *dst, Attrib *a)
{
	Attrib room;
	struct stat sb;

	t->single_file = 1;
	if (t->ops->is_put)
		return copy_root(t, KIND_FILE, src, dst, NULL,
		    stat(src, &sb) == 0 ? sb.st_size : 0);
	if ((a = stat_source_file(t, src, a, &room)) == NULL)
		return -1;
	return copy_root(t, KIND_FILE, src, dst, a,
	    (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? a->size : 0);
}

/* Returns "a", or in "room" what the server says of the root, or NULL. */
static Attrib *
stat_source_root(struct sftp_conn *conn, const char *src, Attrib *a,
    Attrib *room)
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

static int
copy_tree(struct transfer *t, const char *src, const char *dst, Attrib *a,
    int *ret)
{
	int can = transfer_can(t->conn, t->resume) &&
	    (t->dest_conn == NULL || transfer_can(t->dest_conn, 0));
	Attrib room;

	if (!can && files_from_is_wanted())
		*ret = files_from_refuse(NULL);
	else if (!can)
		return 0;
	else if (!t->ops->is_put &&
	    (a = stat_source_root(t->conn, src, a, &room)) == NULL) {
		error("stat remote \"%s\"%s failed", src,
		    t->dest_conn == NULL ? " directory" : "");
		*ret = -1;
	} else
		*ret = copy_root(t, KIND_DIR, src, dst, a, 0);
	return 1;
}

int
transfer_put_tree(struct sftp_conn *conn, const char *src, const char *dst,
    int preserve, int print, int resume, int sync, int follow, int in_place,
    int *ret)
{
	struct transfer t = { .conn = conn, .ops = &put_ops,
	    .preserve = preserve, .print = print, .resume = resume,
	    .sync = sync, .follow = follow, .in_place = in_place };

	return copy_tree(&t, src, dst, NULL, ret);
}

int
transfer_get_tree(struct sftp_conn *conn, const char *src, const char *dst,
    Attrib *a, int preserve, int print, int resume, int sync, int follow,
    int in_place, int *ret)
{
	struct transfer t = { .conn = conn, .ops = &get_ops,
	    .preserve = preserve, .print = print, .resume = resume,
	    .sync = sync, .follow = follow, .in_place = in_place };

	return copy_tree(&t, src, files_from_is_wanted() ?
	    files_from_target() : dst, a, ret);
}

int
transfer_cross_tree(struct sftp_conn *from, struct sftp_conn *to,
    const char *src, const char *dst, Attrib *a, int preserve, int print,
    int follow, int *ret)
{
	struct transfer t = { .conn = from, .dest_conn = to, .ops = &cross_ops,
	    .preserve = preserve, .print = print, .follow = follow };

	return copy_tree(&t, src, dst, a, ret);
}
