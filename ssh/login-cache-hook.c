/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See login-cache-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomicio.h"
#include "digest.h"
#include "hostfile.h"
#include "log.h"
#include "misc.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "sshkey.h"
#include "xmalloc.h"

#include "login-cache-hook.h"

extern Options options;

#define NAME	"hayate_logins"

/* That of the file, or of the one that we would write */
static char file_salt[LOGIN_CACHE_SALT + 1];

/* Returns the path, which the caller frees, or NULL: nothing is to be kept. */
static char *
cache_path(void)
{
	const char *hosts, *slash;
	struct stat st;
	char *path;

	if (options.num_user_hostfiles == 0 ||
	    (hosts = options.user_hostfiles[0]) == NULL ||
	    (stat(hosts, &st) == 0 && !S_ISREG(st.st_mode)))
		return NULL;
	slash = strrchr(hosts, '/');
	xasprintf(&path, "%.*s" NAME, slash == NULL ? 0 :
	    (int)(slash + 1 - hosts), hosts);
	return path;
}

/*
 * Returns the text, which the caller frees; "" if there is no file, and NULL if
 * there is one that is not ours to use.
 */
static char *
read_cache_file(const char *path)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT ? xstrdup("") : NULL;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_uid != getuid() || (st.st_mode & 077) != 0)
		debug("%s is not used: it must be a regular file that you own "
		    "and others cannot access", path);
	else if (st.st_size > LOGIN_CACHE_BYTES)
		text = xstrdup("");
	else {
		text = xcalloc(1, (size_t)st.st_size + 1);
		if (atomicio(read, fd, text, (size_t)st.st_size) !=
		    (size_t)st.st_size)
			text[0] = '\0';
	}
	close(fd);
	return text;
}

/* Hashes the salt and the contents of b. */
static int
hash_buffer(const struct sshbuf *b, char *out)
{
	u_char digest[SSH_DIGEST_MAX_LENGTH];
	struct ssh_digest_ctx *ctx = ssh_digest_start(SSH_DIGEST_SHA256);
	char *hex;
	int r = ctx == NULL ||
	    ssh_digest_update(ctx, file_salt, sizeof(file_salt)) != 0 ||
	    ssh_digest_update_buffer(ctx, b) != 0 ||
	    ssh_digest_final(ctx, digest, sizeof(digest)) != 0 ? -1 : 0;

	ssh_digest_free(ctx);
	if (r != 0)
		return -1;
	hex = tohex(digest, LOGIN_CACHE_HASH / 2);
	memcpy(out, hex, LOGIN_CACHE_HASH + 1);
	free(hex);
	return 0;
}

void
login_cache_hash_key(const struct sshkey *key, char *out)
{
	struct sshbuf *b = sshbuf_new();

	if (b == NULL || sshkey_putb(key, b) != 0 || hash_buffer(b, out) != 0)
		out[0] = '\0';
	sshbuf_free(b);
}

void
login_cache_hash_text(const char *text, char *out)
{
	struct sshbuf *b = sshbuf_new();

	if (b == NULL || sshbuf_put_cstring(b, text) != 0 ||
	    hash_buffer(b, out) != 0)
		out[0] = '\0';
	sshbuf_free(b);
}

static int
hash_server(const char *host, int port, const char *user,
    const struct sshkey *host_key, char *out)
{
	struct sshbuf *b = sshbuf_new();
	int r = b == NULL || sshbuf_put_cstring(b, host) != 0 ||
	    sshbuf_put_u32(b, (u_int32_t)port) != 0 ||
	    sshbuf_put_cstring(b, user) != 0 ||
	    (host_key != NULL && sshkey_puts(host_key, b) != 0) ?
	    -1 : hash_buffer(b, out);

	sshbuf_free(b);
	return r;
}

static void
make_salt(char *salt)
{
	u_char bytes[LOGIN_CACHE_SALT / 2];
	char *hex;

	arc4random_buf(bytes, sizeof(bytes));
	hex = tohex(bytes, sizeof(bytes));
	memcpy(salt, hex, LOGIN_CACHE_SALT + 1);
	free(hex);
}

int
login_cache_load(const char *host, int port, const char *user,
    const struct sshkey *host_key, struct login_cache_entry *e)
{
	char *path = cache_path(), *text, id[LOGIN_CACHE_HASH + 1];
	int r = -1;

	memset(e, 0, sizeof(*e));
	if (path == NULL)
		return -1;
	if ((text = read_cache_file(path)) != NULL) {
		if (login_cache_read_salt(text, file_salt) != 0 &&
		    file_salt[0] == '\0')
			make_salt(file_salt);
		r = hash_server(host, port, user, host_key, id);
	}
	if (r == 0 && login_cache_find(text, id, e) != 0)
		memcpy(e->id, id, sizeof(id));
	free(text);
	free(path);
	return r;
}

int
login_cache_load_host(const char *host, int port, struct login_cache_entry *e)
{
	return login_cache_load(host, port, "", NULL, e);
}

/* Makes ~/.ssh as stock does to learn a key, but says nothing if it cannot. */
static void
make_directory(const char *path)
{
	char *home = tilde_expand_filename("~/", getuid());

	if (access(home, W_OK) == 0)
		hostfile_create_user_ssh_dir(path, 0);
	free(home);
}

/* Returns 0, or -1 with errno. */
static int
write_cache_file(const char *path, const char *text)
{
	char *temp;
	size_t len = strlen(text);
	int fd, r = -1, saved_errno;

	make_directory(path);
	xasprintf(&temp, "%s.XXXXXXXXXX", path);
	if ((fd = mkstemp(temp)) != -1) {
		r = atomicio(vwrite, fd, (void *)(uintptr_t)text, len) == len ?
		    0 : -1;
		if (close(fd) == -1 || r == -1 || rename(temp, path) == -1) {
			r = -1;
			saved_errno = errno;
			unlink(temp);
			errno = saved_errno;
		}
	}
	free(temp);
	return r;
}

void
login_cache_save(const struct login_cache_entry *e)
{
	struct login_cache_entry old;
	char *path = e->id[0] == '\0' ? NULL : cache_path();
	char *text = NULL, *now = NULL, salt[LOGIN_CACHE_SALT + 1];

	if (path == NULL || (text = read_cache_file(path)) == NULL)
		goto out;
	if (login_cache_read_salt(text, salt) == 0 && strcmp(salt, file_salt) !=
	    0)
		goto out;	/* another one made it meanwhile */
	(void)login_cache_find(text, e->id, &old);
	if (old.id[0] == '\0')
		memcpy(old.id, e->id, sizeof(old.id));
	if (login_cache_is_same(&old, e))
		goto out;
	if ((now = login_cache_put(text, file_salt, e)) == NULL ||
	    write_cache_file(path, now) != 0)
		debug("cannot write %s: %s", path, strerror(errno));
	else
		debug2("%s was written", path);
out:
	free(now);
	free(text);
	free(path);
}
