/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-run-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "xmalloc.h"

#include "blocksum-hook.h"
#include "clock.h"
#include "conn-count.h"
#include "file-hook.h"
#include "longopt-hook.h"
#include "server-hook.h"
#include "temp-name-hook.h"
#include "verify-requests-hook.h"
#include "verify-run-hook.h"
#include "verify-sched.h"

extern volatile sig_atomic_t interrupted;

static const char *
local_path(const struct transfer *t, const struct file *file)
{
	return t->ops->is_put ? file->src : file->dst;
}

/* Ends */

static struct verify_end
end_from_stat(const struct stat *sb)
{
	return (struct verify_end){ .is_there = S_ISREG(sb->st_mode),
	    .is_not_regular = !S_ISREG(sb->st_mode), .size = sb->st_size,
	    .has_time = 1, .mtime = sb->st_mtime,
	    .nsec = sb->st_mtim.tv_nsec };
}

static void
stat_local_end(struct transfer *t, struct file *file, int is_source)
{
	struct verification *c = file->verification;
	struct verify_answer now = { 0 };

	if (stat(local_path(t, file), &c->compared_stat) == 0)
		now.end = end_from_stat(&c->compared_stat);
	else
		memset(&c->compared_stat, 0, sizeof(c->compared_stat));
	if (!is_source)
		stat_to_attrib(&c->compared_stat, &c->target);
	verify_answer(&c->verify, &now);
}

void
verify_run_source_opened(struct file *file)
{
	struct verify_end now;
	struct stat sb;

	if (file->verification == NULL || fstat(file->fd, &sb) == -1)
		return;
	now = end_from_stat(&sb);
	verify_source_opened(&file->verification->verify, &now);
}

/* Begin and end */

static int
verifies_file(const struct transfer *t, const struct file *file)
{
	return t->dest_stream == NULL && (t->resume || longopt_verifies() ||
	    file->losses > 0);
}

void
verify_run_start(struct transfer *t)
{
	if (t->dest_conn != NULL)
		return;
	t->keeps_target = t->resume || longopt_get()->resume;
	if (longopt_get()->checksum &&
	    (server_info(t->server)->caps & SFTP_CAP_HASHES) == 0)
		fatal("--checksum needs a server that can hash files, such as "
		    "Hayate's sftp-server; this one cannot, and nothing was "
		    "copied");
	/*
	 * A file is copied in place because it may be the source itself. What
	 * differs from the source is not, and no size has to be set at the end.
	 */
	if (longopt_get()->resume)
		t->in_place = 0;
}

int
verify_run_begin(struct transfer *t, struct file *file, struct sched_entry *j)
{
	const struct server_info *server = server_info(t->server);
	int has_hashes = (server->caps & SFTP_CAP_HASHES) != 0;
	int is_retry = file->losses > 0;
	/* The server may still execute what was in flight when it was lost. */
	int is_unsure = is_retry && sched_info(j).unconfirmed_writes &&
	    has_hashes;
	const struct verify_conf conf = { .put = t->ops->is_put,
	    .resume = (t->keeps_target || is_retry) && !file->from_scratch,
	    .truncates = longopt_get()->resume || is_retry,
	    .checksum = longopt_get()->checksum, .is_unsure = is_unsure,
	    .strict = longopt_verifies(), .preserve = t->preserve && !is_retry,
	    .now = time(NULL) };
	struct verify_end source;
	struct verification *c;
	int is_known = t->ops->is_put ||
	    (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0;

	if (!verifies_file(t, file))
		return 0;
	file->verification = c = xcalloc(1, sizeof(*c));
	c->begun_us = clock_us();
	c->fd_is_shared = t->ops->is_put;
	c->fd = t->ops->is_put ? file->fd : -1;
	if (t->ops->is_put && fstat(file->fd, &c->compared_stat) == 0)
		source = end_from_stat(&c->compared_stat);
	else
		source = verify_end_of_attrib(&file->a);
	verify_begin(&c->verify, &conf, is_known ? &source : NULL,
	    !t->ops->is_put, has_hashes);
	if (conf.put && conf.resume && source.size >= STRIPE_MIN_FILE &&
	    server->is_tuned) {
		c->temp_name = temp_name_new(file->dst);
		stale_temp_begin(&c->stale, 1);
	}
	if (verify_sched_begin(t->sched, j) != 0)
		fatal_f("out of memory");
	return 1;
}

static void
close_compared_file(struct verification *c)
{
	if (c->fd != -1 && !c->fd_is_shared)
		close(c->fd);
	c->fd_is_shared = 0;
	c->fd = -1;
}

static void
end_compare_meter(struct verification *c)
{
	if (c->progress_name == NULL)
		return;
	c->progress_off = (off_t)c->verify.verified;
	stop_progress_meter();
	free(c->progress_name);
	c->progress_name = NULL;
}

void
verify_run_forget(struct file *file)
{
	struct verification *c = file->verification;

	if (c == NULL)
		return;
	close_compared_file(c);
	end_compare_meter(c);
	blocksum_free(c->our_hashes);
	free(c->temp_name);
	free(c);
	file->verification = NULL;
	file->start_off = 0;
}

void
verify_run_end(struct file *file)
{
	static const char *const hows[] = { NULL, "time", "hashes", "bytes" };
	struct verification *c = file->verification;

	if (c == NULL)
		return;
	file->verified = c->verify.verified;
	file->verified_by = file->verified > 0 ? hows[c->verify.verified_by] :
	    NULL;
	verify_run_forget(file);
}

const struct stale_temp *
verify_run_search(const struct file *file)
{
	return file->verification == NULL || file->verification->temp_name ==
	    NULL ? NULL : &file->verification->stale;
}

void
verify_run_end_search(struct file *file)
{
	if (file->verification == NULL)
		return;
	free(file->verification->temp_name);
	file->verification->temp_name = NULL;
}

int
verify_run_is_same(const struct file *file, const struct stat *sb)
{
	const struct stat *seen = &file->verification->compared_stat;

	return sb->st_ino == seen->st_ino && sb->st_dev == seen->st_dev &&
	    sb->st_size == seen->st_size &&
	    sb->st_mtime == seen->st_mtime &&
	    sb->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

int
verify_run_target_is_shared(const struct transfer *t)
{
	return t->ops->is_put && t->keeps_target &&
	    server_info(t->server)->handles != 0 &&
	    !sched_stats(t->sched).truncate_unreliable;
}

int
verify_run_is_unchanged(struct file *file, const Attrib *found)
{
	int is_kept = verify_attrs_match(file, found);

	if (!is_kept) {
		verbose("\"%s\" has changed since it was compared; starting "
		    "over", file->dst);
		file->from_scratch = 1;
	}
	return is_kept;
}

int
verify_run_is_gone(struct file *file, const struct sched_action *a,
    u_int status)
{
	if (file->start_off == 0 || status == SSH2_FX_OK)
		return 0;
	file->from_scratch |= a->op == OP_FSTAT_IDENTITY;
	if (a->op != OP_OPEN || status != SSH2_FX_NO_SUCH_FILE)
		return 0;
	verbose("\"%s\" was removed after it was compared; starting over",
	    file->dst);
	return file->from_scratch = 1;
}

/* Comparison */

static void
fail_file(struct file *file, struct sched_entry *j)
{
	file->failed = 1;
	sched_fail(j);
}

/*
 * Opens a local file that was looked at, for what its name may not be trusted
 * with: somebody may have given it to another file. Returns -1 with errno.
 */
static int
open_same_file(const struct transfer *t, const struct file *file, int how)
{
	struct stat sb;
	int fd = open(local_path(t, file), how | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1 || (fstat(fd, &sb) == 0 && verify_run_is_same(file, &sb)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* Returns -1 if there is nothing to compare with. */
static int
open_compared_file(struct transfer *t, struct file *file)
{
	struct verification *c = file->verification;

	if (c->fd != -1)
		return 0;
	c->fd = open_same_file(t, file, O_RDONLY);
	if (c->fd == -1)
		debug_f("\"%s\" cannot be read: %s", local_path(t, file),
		    strerror(errno));
	return c->fd == -1 ? -1 : 0;
}

static void
next_step(struct transfer *t, struct sched_entry *j, enum verify_next next)
{
	verify_sched_next(t->sched, j, &(struct verify_step){ .next = next });
}

static void
ask_server(struct transfer *t, struct sched_entry *j,
    enum verify_request request, uint64_t off, uint64_t len)
{
	const struct verify_step step = { .next = VERIFY_NEXT_REQUEST,
	    .request = verify_request_info(request), .off = off, .len = len };

	verify_sched_next(t->sched, j, &step);
}

/* Returns 1 if the comparison that is in flight has arrived to its end. */
static int
finish_comparison(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verification *c = file->verification;
	struct verify_answer answer = { 0 };

	if (c->comparison.op == VERIFY_READ_PAST_END)
		answer.bytes = !c->has_ended;
	else if (c->comparison.op == VERIFY_READ_BACK)
		answer.bytes = MINIMUM(sched_info(j).verify_read_len,
		    c->first_difference - c->comparison.off);
	else {
		if (c->comparison.len > 0)
			verify_hash_slice(t, file, j);
		if (c->comparison.len > 0 || !c->has_their_hashes)
			return 0;
		answer.failed = c->ntheir_hashes == -1;
		answer.nours = blocksum_get(c->our_hashes, &answer.ours);
		answer.theirs = c->their_hashes;
		answer.ntheirs = answer.failed ? 0 : c->ntheir_hashes;
	}
	c->comparison.op = 0;
	verify_answer(verify_current(c), &answer);
	blocksum_free(c->our_hashes);
	c->our_hashes = NULL;
	return 1;
}

/* Returns 1 if it has arrived to its end at once. */
static int
begin_comparison(struct transfer *t, struct file *file, struct sched_entry *j,
    const struct verify_action *a)
{
	struct verification *c = file->verification;

	if (open_compared_file(t, file) == -1) {
		verify_answer(verify_current(c),
		    &(struct verify_answer){ 0 });
		return 1;
	}
	verify_show_progress(t, file, a->off);
	c->comparison = *a;
	if (a->op == VERIFY_COMPARE_HASH) {
		c->has_their_hashes = 0;
		c->our_hashes = blocksum_new(a->off, a->len,
		    VERIFY_BLOCK);
		ask_server(t, j, VERIFY_ASK_HASH, a->off, a->len);
		return 0;
	}
	verbose("the server cannot hash files: reading all of \"%s\" back to "
	    "compare it", file->dst);
	c->first_difference = UINT64_MAX;
	ask_server(t, j, VERIFY_ASK_OPEN, 0, 0);
	return 0;
}

/* One byte is read behind the size that the server has reported. */
static void
read_past_end(struct transfer *t, struct file *file, struct sched_entry *j,
    const struct verify_action *a)
{
	file->verification->comparison = *a;
	file->verification->has_ended = 0;
	ask_server(t, j, VERIFY_ASK_OPEN, 0, 0);
}

/* Answers */

/* So many bytes need not be moved. */
static void
count_kept_bytes(struct transfer *t, struct file *file, uint64_t bytes)
{
	file->skipped += bytes;
	t->count.bytes += bytes;
}

/* What is not known of a source, the copy finds out; but not what it is. */
static int
refuse_source(struct transfer *t, struct file *file)
{
	const struct verification *c = file->verification;

	if (t->ops->is_put || c->verify.source.is_there)
		return 0;
	if (c->status != SSH2_FX_OK)
		file_error(file, "stat remote: %s", fx2txt(c->status));
	else if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(file->a.perm))
		file_error(file, "download %s: not a regular file", file->src);
	else
		return 0;
	return 1;
}

static void
begin_copy_at(struct transfer *t, struct file *file, struct sched_entry *j,
    uint64_t off)
{
	struct verification *c = file->verification;
	const struct verify_step step = { .next = VERIFY_NEXT_COPY_FROM,
	    .off = off, .request = t->ops->is_put ? NULL :
	    verify_request_info(VERIFY_ASK_FSTAT) };

	c->copy_begun = 1;
	close_compared_file(c);
	end_compare_meter(c);
	if (refuse_source(t, file)) {
		fail_file(file, j);
		return;
	}
	if (off > 0)
		debug_f("\"%s\" continues at byte %llu of %llu", file->dst,
		    (unsigned long long)off,
		    (unsigned long long)c->verify.source.size);
	file->start_off = off;
	verify_sched_next(t->sched, j, &step);
	count_kept_bytes(t, file, off);
}

static void
set_local_attrs(struct transfer *t, struct file *file, struct sched_entry *j)
{
	int fd = open_same_file(t, file, O_RDONLY);

	if (fd == -1 && errno == EACCES)
		fd = open_same_file(t, file, O_WRONLY);
	if (fd != -1) {
		file_apply_attrs(file, fd);
		close(fd);
		return;
	}
	file_error(file, "\"%s\" was compared, but cannot be opened to set its "
	    "attributes: %s", file->dst, strerror(errno));
	fail_file(file, j);
}

/*
 * The server sets mode and time through a handle, because another user may have
 * given the name to another file. The file is opened for reading, as it may be
 * read-only and no server takes that for a new version; a server that refuses
 * is asked again with the file open for writing. Returns 0 if no request is
 * left.
 */
static int
request_setstat(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verification *c = file->verification;

	if (c->setstat_conn != t->conns.main)	/* its handle is lost */
		c->setstat_next = VERIFY_ASK_SETSTAT_OPEN;
	if (c->setstat_next != VERIFY_ASK_SETSTAT_OPEN || c->flags != 0) {
		ask_server(t, j, c->setstat_next, 0, 0);
		return 1;
	}
	c->setstat_next = 0;
	if (c->status != SSH2_FX_OK)
		file_error(file, "remote setstat \"%s\": %s", file->dst,
		    fx2txt(c->status));
	if (file->failed || c->status != SSH2_FX_OK)
		fail_file(file, j);
	return 0;
}

/* Sets what a copy would have set. Returns 1 if the server does. */
static int
set_attrs(struct transfer *t, struct file *file, struct sched_entry *j)
{
	const Attrib *target = &file->verification->target;

	if (!t->preserve || ((target->flags & SSH2_FILEXFER_ATTR_ACMODTIME) &&
	    target->mtime == file->verification->verify.source.mtime &&
	    ((target->perm ^ file->a.perm) & 0777) == 0))
		return 0;
	if (!t->ops->is_put) {
		set_local_attrs(t, file, j);
		return 0;
	}
	file->verification->setstat_next = VERIFY_ASK_SETSTAT_OPEN;
	file->verification->flags = SSH2_FXF_READ;
	return request_setstat(t, file, j);
}

/* Returns 1 if nothing more is to be asked. */
static int
finish_complete_file(struct transfer *t, struct file *file,
    struct sched_entry *j)
{
	file->is_complete = 1;
	next_step(t, j, VERIFY_NEXT_COMPLETE);
	count_kept_bytes(t, file, file->verification->verify.source.size);
	if (t->resume)
		file_info(file, "File \"%s\" was not modified", file->dst);
	else
		verbose("\"%s\" is complete and is not copied", file->dst);
	return !set_attrs(t, file, j);
}

static void
refuse_longer(struct transfer *t, struct file *file, struct sched_entry *j)
{
	if (t->ops->is_put)
		file_error(file, "resume \"%s\": destination file same size or "
		    "larger", file->src);
	else
		file_error(file,
		    "Unable to resume download of \"%s\": local file is "
		    "larger than remote", file->dst);
	fail_file(file, j);
}

static void
report_changed_source(const struct transfer *t, struct file *file,
    struct sched_entry *j)
{
	if (t->in_place)
		file_report_same_file(file);
	else if (!file->possible_source || !file->failed)
		file_error(file, "\"%s\" changed while it was copied",
		    file->src);
	verify_answer(&file->verification->verify,
	    &(struct verify_answer){ 0 });
	if (file->verification->verify.conf.strict)
		fail_file(file, j);
}

static void
report_mismatch(struct file *file, struct sched_entry *j)
{
	file_error(file, "checksum: \"%s\" and \"%s\" differ", file->src,
	    file->dst);
	fail_file(file, j);
}

static void
report_not_regular(struct file *file, struct sched_entry *j)
{
	file_error(file, "checksum: \"%s\" is not a regular file and cannot be "
	    "compared", file->dst);
	fail_file(file, j);
}

/* What is left over */

/* Nothing is believed of it but its size. */
static void
begin_stale_comparison(struct verification *c, unsigned int number)
{
	struct verify_conf conf = c->verify.conf;
	struct verify_answer target = { .end = { .is_there = 1,
	    .size = c->stale.name[number].size } };

	temp_name_set_number(c->temp_name, number);
	conf.preserve = 0;
	conf.truncates = 1;
	verify_begin(&c->temp_verify, &conf, &c->verify.source, 0,
	    c->verify.has_hashes);
	verify_answer(&c->temp_verify, &target);
}

/* Returns 1 if nothing more is to be asked for now. */
static int
search_stale_temps(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verification *c = file->verification;
	struct stale_temp_action a;

	for (;;) {
		stale_temp_next(&c->stale, clock_us(), &a);
		switch (a.op) {
		case STALE_TEMP_LSTAT:
		case STALE_TEMP_REMOVE:
			ask_server(t, j, a.op ==
			    STALE_TEMP_LSTAT ? VERIFY_ASK_STALE_LSTAT :
			    VERIFY_ASK_STALE_REMOVE,
			    a.number, 0);
			return 0;
		case STALE_TEMP_WAIT:
			t->wake_soon = 1;
			next_step(t, j, VERIFY_NEXT_LATER);
			return 0;
		case STALE_TEMP_COMPARE:
			begin_stale_comparison(c, a.number);
			return 1;
		case STALE_TEMP_IN_USE:
			temp_name_set_number(c->temp_name, a.number);
			file_info(file, "temporary file \"%s\" is in use by "
			    "another copy", c->temp_name);
			break;
		case STALE_TEMP_BUSY:
			return 0;
		case STALE_TEMP_END:
			return 1;
		}
	}
}

/* What was found is compared up to "off". */
static void
adopt_stale_temp(struct transfer *t, struct file *file, struct sched_entry *j,
    uint64_t off)
{
	struct verification *c = file->verification;

	if (off > 0) {
		ask_server(t, j, VERIFY_ASK_STALE_RENAME, c->stale.number, 0);
		return;
	}
	/* After a loss it may be our own, with holes. */
	if (file->losses == 0)
		file_info(file, "temporary file \"%s\" belongs to a different "
		    "source; starting over", c->temp_name);
	stale_temp_compared(&c->stale, 0);
}

/* All is done, but for what is left over. */
static void
remove_stale_temps(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verification *c = file->verification;

	if (c->temp_name == NULL)
		return;
	stale_temp_remove_all(&c->stale);
	(void)search_stale_temps(t, file, j);
}

/* The work */

/*
 * Truncates the target, unless that is left for the end, as another copy may
 * write to it. Returns 1 if no reply is due.
 */
static int
truncate_target(struct transfer *t, struct file *file, struct sched_entry *j,
    const struct verify_action *a)
{
	struct verification *c = file->verification;
	struct verify_answer answer = { .left = a->len > 0 &&
	    !stale_temp_compares(&c->stale) &&
	    verify_run_target_is_shared(t) };
	int fd;

	if (t->ops->is_put && !answer.left) {
		ask_server(t, j, VERIFY_ASK_SETSIZE, a->off, 0);
		return 0;
	}
	if (!t->ops->is_put) {
		fd = open_same_file(t, file, O_WRONLY);
		answer.failed = fd == -1 || ftruncate(fd, (off_t)a->off) != 0;
		if (fd != -1)
			close(fd);
	}
	verify_answer(&c->verify, &answer);
	return 1;
}

/* Returns 1 if the next question can be asked at once. */
static int
stat_end(struct transfer *t, struct file *file, struct sched_entry *j,
    int is_source)
{
	if (is_source == t->ops->is_put) {
		stat_local_end(t, file, is_source);
		return 1;
	}
	file->verification->status = SSH2_FX_OK;
	ask_server(t, j, VERIFY_ASK_STAT, 0, 0);
	return 0;
}

/* The copy can begin, or need not. Returns 1 if something is next at once. */
static int
act_on_decision(struct transfer *t, struct file *file, struct sched_entry *j,
    const struct verify_action *a)
{
	struct verification *c = file->verification;

	if (stale_temp_compares(&c->stale)) {
		adopt_stale_temp(t, file, j, a->off);
		return !stale_temp_compares(&c->stale);
	}
	if (a->off == 0 && !c->verify.target.is_there &&
	    stale_temp_search(&c->stale))
		return 1;
	if (a->op == VERIFY_COPY_FROM)
		begin_copy_at(t, file, j, a->off);
	else if (finish_complete_file(t, file, j))
		remove_stale_temps(t, file, j);
	return 0;
}

/* Does what is next. Returns 1 if something else is next at once. */
static int
do_next(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verify_action a;

	verify_next(verify_current(file->verification), &a);
	switch (a.op) {
	case VERIFY_STAT_SOURCE:
	case VERIFY_STAT_TARGET:
		return stat_end(t, file, j, a.op == VERIFY_STAT_SOURCE);
	case VERIFY_COMPARE_HASH:
	case VERIFY_READ_BACK:
		return begin_comparison(t, file, j, &a);
	case VERIFY_TRUNCATE:
		return truncate_target(t, file, j, &a);
	case VERIFY_READ_PAST_END:
		read_past_end(t, file, j, &a);
		return 0;
	case VERIFY_COPY_FROM:
	case VERIFY_COMPLETE:
		return act_on_decision(t, file, j, &a);
	case VERIFY_TOO_LONG:
		refuse_longer(t, file, j);
		return 0;
	case VERIFY_SOURCE_CHANGED:
		report_changed_source(t, file, j);
		return !file->failed;
	case VERIFY_MISMATCH:
		report_mismatch(file, j);
		return 0;
	case VERIFY_NOT_REGULAR:
		report_not_regular(file, j);
		return 0;
	default:
		remove_stale_temps(t, file, j);
		return 0;
	}
}

/*
 * What was asked is lost with its connection. If that was a truncation, the
 * server may execute it when the copy has written behind it.
 */
static void
repeat_lost_request(struct transfer *t, struct verification *c,
    struct sched_entry *j)
{
	c->verify.conf.is_unsure |= sched_info(j).unconfirmed_writes &&
	    (server_info(t->server)->caps & SFTP_CAP_HASHES) != 0;
	c->comparison.op = 0;
	blocksum_free(c->our_hashes);
	c->our_hashes = NULL;
	stale_temp_replies_lost(&c->stale);
}

int
verify_run_step(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct verification *c = file->verification;
	int was_copying = c->copy_begun;

	if (sched_info(j).verify_request_lost)
		repeat_lost_request(t, c, j);
	if ((c->setstat_next != 0 && request_setstat(t, file, j)) ||
	    interrupted || file->failed)
		return 0;
	if (file->is_complete || c->stale.phase >= STALE_TEMP_WATCHING) {
		remove_stale_temps(t, file, j);
		return 0;
	}
	if (c->copy_begun && c->verify.state == VERIFY_AT_COPY)
		verify_answer(&c->verify, &(struct verify_answer){ 0 });
	if (c->comparison.op != 0 && !finish_comparison(t, file, j))
		return 0;
	do {
		if (c->temp_name != NULL && !c->copy_begun &&
		    !stale_temp_compares(&c->stale) &&
		    !search_stale_temps(t, file, j))
			return 0;
	} while (do_next(t, file, j));
	return c->copy_begun && !was_copying && !file->failed;
}
