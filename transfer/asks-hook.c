/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See asks-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "asks-hook.h"
#include "blocksum-hook.h"
#include "check-hook.h"
#include "checks.h"
#include "file-hook.h"
#include "hidden-hook.h"
#include "server-hook.h"

#define PIECE		(32 * 1024)

/* What is asked about: the file of the server, or a hidden one beside it */
static const char *
remote_path(const struct run *t, const struct file *file)
{
	if (file->check->is_hidden)
		return file->check->hidden;
	return t->side->is_put ? file->dst : file->src;
}

/* Requests */

static void
send_hash(struct run *t, struct file *file, const struct plan_action *a)
{
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_EXTENDED, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, "check-file-name")) != 0 ||
	    (r = sshbuf_put_cstring(m, remote_path(t, file))) != 0 ||
	    (r = sshbuf_put_cstring(m, BLOCKSUM_NAME)) != 0 ||
	    (r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_u64(m, a->len)) != 0 ||
	    (r = sshbuf_put_u32(m, VERIFY_BLOCK)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
	check_sum(t, file, a->job);
}

static void
send_size(struct run *t, struct file *file, const struct plan_action *a)
{
	Attrib size;

	attrib_clear(&size);
	size.flags = SSH2_FILEXFER_ATTR_SIZE;
	size.size = a->off;
	file_send_path(t, a, SSH2_FXP_SETSTAT, remote_path(t, file), &size);
}

/*
 * About a hidden file, or for the user's number there, his directory. The next
 * one need not wait for the reply.
 */
static void
send_hidden(struct run *t, struct file *file, const struct plan_action *a)
{
	if (a->off == LEFT_NAMES) {
		file_send_path(t, a, SSH2_FXP_STAT, ".", NULL);
		checks_later(t->s, a->job);
		return;
	}
	hidden_number(file->check->hidden, (unsigned int)a->off);
	if (a->op != PLAN_TAKE) {
		file_send_path(t, a, a->op == PLAN_FIND ? SSH2_FXP_LSTAT :
		    SSH2_FXP_REMOVE, file->check->hidden, NULL);
		checks_later(t->s, a->job);
		return;
	}
	file_send_rename(t, a, file->check->hidden, file->dst);
}

void
asks_send(struct run *t, struct file *file, const struct plan_action *a)
{
	switch (a->op) {
	case PLAN_LOOK:
		file_send_path(t, a, SSH2_FXP_STAT, remote_path(t, file), NULL);
		break;
	case PLAN_SEE:
	case PLAN_HELD:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_FSTAT, NULL);
		break;
	case PLAN_HASH:
		send_hash(t, file, a);
		break;
	case PLAN_SHORTEN:
		send_size(t, file, a);
		break;
	case PLAN_FIND:
	case PLAN_TAKE:
	case PLAN_SWEEP:
		send_hidden(t, file, a);
		break;
	case PLAN_HOLD:
		file_send_open(t, a, file->dst, file->check->flags, NULL);
		break;
	case PLAN_DRESS:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_FSETSTAT, &file->a);
		break;
	case PLAN_OPEN_BACK:
		file_send_open(t, a, remote_path(t, file), SSH2_FXF_READ, NULL);
		break;
	case PLAN_BACK:
		file_send_read(t, file, a);
		break;
	default:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_CLOSE, NULL);
	}
}

u_char
asks_wanted(enum plan_op op)
{
	switch (op) {
	case PLAN_LOOK:
	case PLAN_SEE:
	case PLAN_FIND:
	case PLAN_HELD:
		return SSH2_FXP_ATTRS;
	case PLAN_HASH:
		return SSH2_FXP_EXTENDED_REPLY;
	case PLAN_OPEN_BACK:
	case PLAN_HOLD:
		return SSH2_FXP_HANDLE;
	case PLAN_BACK:
		return SSH2_FXP_DATA;
	default:
		return SSH2_FXP_STATUS;
	}
}

/* Replies */

/* The reply begins with the algorithm, that of paramiko with a name more. */
static ssize_t
take_sums(struct sshbuf *m, unsigned char *sums, size_t most)
{
	char *name = NULL;
	size_t len;
	int r;

	if ((r = sshbuf_get_cstring(m, &name, NULL)) == 0 &&
	    strcmp(name, "check-file") == 0) {
		free(name);
		name = NULL;
		r = sshbuf_get_cstring(m, &name, NULL);
	}
	len = sshbuf_len(m);
	if (r != 0 || strcmp(name, BLOCKSUM_NAME) != 0 ||
	    len % BLOCKSUM_LEN != 0 || len / BLOCKSUM_LEN > most) {
		verbose("server sent %zu bytes of %.20s, not at most %zu "
		    "hashes of %s", len, r == 0 ? name : "no hash", most,
		    BLOCKSUM_NAME);
		free(name);
		return -1;
	}
	free(name);
	if ((r = sshbuf_get(m, sums, len)) != 0)
		fatal_fr(r, "parse");
	return (ssize_t)(len / BLOCKSUM_LEN);
}

static void
take_hashes(struct run *t, struct checking *c, const struct plan_action *a,
    struct reply *reply)
{
	c->has_theirs = 1;
	c->ntheirs = -1;
	if (reply->type == SSH2_FXP_EXTENDED_REPLY) {
		c->ntheirs = take_sums(reply->m, c->theirs,
		    (a->len + VERIFY_BLOCK - 1) / VERIFY_BLOCK);
		return;
	}
	verbose("server hashes no such range: %s", fx2txt(reply->status));
	if (reply->status == SSH2_FX_OP_UNSUPPORTED)
		server_lacks_hashes(t->server);
}

static int
is_equal(int fd, uint64_t off, const u_char *theirs, size_t len)
{
	unsigned char ours[PIECE] = { 0 };
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, ours + done, len - done, (off_t)(off + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += n;
	}
	return memcmp(ours, theirs, len) == 0;
}

/* Takes what was read back, in any order. */
static void
take_back(struct run *t, struct file *file, const struct plan_action *a,
    const u_char *theirs, size_t len)
{
	struct checking *c = file->check;
	uint64_t off = a->off;
	size_t n;

	for (; len > 0; off += n, theirs += n, len -= n) {
		n = MINIMUM(len, PIECE);
		if (is_equal(c->fd, off, theirs, n))
			continue;
		c->differs = MINIMUM(c->differs, off);
		checks_enough(a->job);
		break;
	}
	check_show(t, file, off);
}

/* Ends */

/* The server's end. "a": NULL: it is not there. */
static void
take_look(struct run *t, struct file *file, struct job *j, const Attrib *a)
{
	struct checking *c = file->check;
	struct judge_end end = { 0 };

	if (a != NULL)
		end = check_end_of_attrib(a);
	judge_looked(check_judge(c), !t->side->is_put, &end);
	if (t->side->is_put && a != NULL && !c->is_hidden)
		c->target = *a;
	if (t->side->is_put || a == NULL || c->is_copied)
		return;
	file->a = *a;
	file->size = end.size;
	plan_set_size(t->s, j, file->size);
}

/* The source as the copy finds it. */
static void
see(struct file *file, const Attrib *a)
{
	struct judge_end end = check_end_of_attrib(a);

	judge_opened(&file->check->judge, &end);
	if (file->from == 0)
		file->a = *a;
}

/* Returns NULL for an error. */
static const Attrib *
take_attrs(struct run *t, struct reply *reply, Attrib *room)
{
	if (reply->type == SSH2_FXP_STATUS)
		return NULL;
	file_attrs(t, reply, room);
	return room;
}

static void
look(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	struct checking *c = file->check;
	struct left_file left = { .is = LEFT_ABSENT };
	Attrib room;
	const Attrib *found = take_attrs(t, reply, &room);

	c->status = reply->status;
	if (a->op == PLAN_LOOK)
		take_look(t, file, a->job, found);
	else if (a->op == PLAN_FIND) {
		if (found != NULL)
			left = hidden_found(found);
		if (a->off == LEFT_NAMES && (found == NULL ||
		    (found->flags & SSH2_FILEXFER_ATTR_UIDGID) == 0))
			left.is = LEFT_ABSENT;
		left_found(&c->left, (unsigned int)a->off, &left);
	} else if (found != NULL)
		see(file, found);
}

/* What changes something. Returns 1 if that was done. */
static void
take_status(struct file *file, const struct plan_action *a,
    const struct reply *reply)
{
	struct checking *c = file->check;
	int ok = reply->status == SSH2_FX_OK;

	if (a->op == PLAN_SHORTEN)
		judge_cut(check_judge(c), ok);
	else if (a->op == PLAN_TAKE) {
		c->is_hidden = 0;
		if (ok) {
			left_taken(&c->left, c->number);
			judge_take(&c->judge, &c->other);
		}
	}
}

/* Returns the next request for a file that is held. */
static enum plan_op
take_held(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	struct checking *c = file->check;
	int ok = reply->status == SSH2_FX_OK;
	Attrib found;

	if (a->op == PLAN_LET_GO)
		return PLAN_HOLD;
	c->status = reply->status;
	if (a->op == PLAN_HOLD && ok) {
		file_handle(t, file, reply, file_on(file, a->lane));
		return PLAN_HELD;
	}
	if (a->op == PLAN_HELD && ok) {
		file_attrs(t, reply, &found);
		if (check_is_kept(file, &found))
			return PLAN_DRESS;
		SAY(file, "\"%s\" is not what was compared", file->dst);
		file->failed = 1;
	}
	c->flags = ok || c->flags == SSH2_FXF_WRITE ? 0 : SSH2_FXF_WRITE;
	return a->op == PLAN_HOLD ? PLAN_HOLD : PLAN_LET_GO;
}

/* A file that is held, to be dressed */
static int
is_of_held(enum plan_op op)
{
	return op >= PLAN_HOLD && op <= PLAN_LET_GO;
}

enum plan_result
asks_reply(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	int ok = reply->status == SSH2_FX_OK;
	const u_char *p;
	size_t n = 0;

	if (is_of_held(a->op))
		file->check->held = take_held(t, file, a, reply);
	else if (asks_wanted(a->op) == SSH2_FXP_ATTRS)
		look(t, file, a, reply);
	else if (asks_wanted(a->op) == SSH2_FXP_STATUS)
		take_status(file, a, reply);
	else if (a->op == PLAN_HASH)
		take_hashes(t, file->check, a, reply);
	else if (a->op == PLAN_BACK && reply->status == SSH2_FX_EOF)
		file->check->has_ended = 1;
	else if (a->op == PLAN_BACK && ok) {
		file_data(t, a, reply, &p, &n);
		take_back(t, file, a, p, n);
	} else if (a->op == PLAN_OPEN_BACK && ok)
		file_handle(t, file, reply, file_on(file, a->lane));
	else if (a->op == PLAN_OPEN_BACK)
		verbose("server opens no \"%s\" to be read back: %s",
		    remote_path(t, file), fx2txt(reply->status));
	*len = n;
	return ok ? PLAN_OK : PLAN_FAILED;
}
