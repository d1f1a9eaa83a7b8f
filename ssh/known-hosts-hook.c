/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See known-hosts-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#include "hayopt.h"
#include "known-hosts-hook.h"

extern Options options;

/* What a file has of a host */
struct host_file {
	struct host_file	*next;
	char		*host, *path;
	struct stat	 st;		/* of the file before it was read */
	struct hostkeys	*keys;
	char		*text;		/* that is read instead; or NULL */
	size_t		 len;
};

static struct host_file *host_files;
static int other_source_read;		/* one was read that is no file */

static int
is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int
is_same_file(const struct stat *a, const struct stat *b)
{
	return S_ISREG(a->st_mode) && a->st_dev == b->st_dev &&
	    a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    is_same_time(&a->st_mtim, &b->st_mtim) &&
	    is_same_time(&a->st_ctim, &b->st_ctim);
}

static struct host_file *
find_host_file(const char *host, const char *path, const struct stat *st)
{
	struct host_file *f;

	for (f = host_files; f != NULL; f = f->next) {
		if (strcmp(f->host, host) == 0 && strcmp(f->path, path) == 0 &&
		    is_same_file(&f->st, st))
			return f;
	}
	return NULL;
}

static struct sshkey *
copy_key(const struct sshkey *key)
{
	struct sshbuf *b = sshbuf_new();
	struct sshkey *copy;
	int r;

	if (b == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshkey_putb(key, b)) != 0 || (r = sshkey_fromb(b, &copy)) != 0)
		fatal_fr(r, "copy");
	sshbuf_free(b);
	return copy;
}

static void
add_copy(struct hostkeys *keys, const struct hostkey_entry *e, u_int note)
{
	struct hostkey_entry *new;

	keys->entries = xrecallocarray(keys->entries, keys->num_entries,
	    keys->num_entries + 1, sizeof(*keys->entries));
	new = &keys->entries[keys->num_entries++];
	*new = *e;
	new->host = xstrdup(e->host);
	new->file = xstrdup(e->file);
	new->key = copy_key(e->key);
	new->note = note;
}

/*
 * The line, in which a pattern that no name matches stands for the names that
 * did not: so nothing is hashed when it is read again.
 */
static int
write_line(struct hostkey_foreach_line *l, void *out)
{
	if (l->status == HKF_STATUS_COMMENT)
		fprintf(out, "\n");
	else if (l->status == HKF_STATUS_OK)
		fprintf(out, "%s!* %s\n", l->marker == MRK_CA ? CA_MARKER " " :
		    l->marker == MRK_REVOKE ? REVOKE_MARKER " " : "",
		    l->rawkey);
	else
		fprintf(out, "%s\n", l->line);
	return 0;
}

/* Sets f->text, the file with such lines. Returns 0 or -1. */
static int
read_lines(struct host_file *f)
{
	FILE *in = fopen(f->path, "r"), *out;
	int r;

	if (in == NULL || (out = open_memstream(&f->text, &f->len)) == NULL) {
		if (in != NULL)
			fclose(in);
		return -1;
	}
	r = hostkeys_foreach_file(f->path, in, write_line, out, f->host, NULL,
	    0, 0);
	fclose(in);
	if (ferror(out))
		r = -1;
	if (fclose(out) == 0 && r == 0 && f->len > 0)
		return 0;
	free(f->text);
	f->text = NULL;
	return -1;
}

/* As upstream's load_hostkeys(), from the text. */
static void
load_lines(struct host_file *f)
{
	FILE *in = fmemopen(f->text, f->len, "r");

	if (in == NULL)
		fatal_f("fmemopen failed");
	load_hostkeys_file(f->keys, f->host, f->path, in, 0);
	fclose(in);
}

static struct host_file *
read_host_file(const char *host, const char *path, const struct stat *st)
{
	struct host_file *f = xcalloc(1, sizeof(*f));

	f->host = xstrdup(host);
	f->path = xstrdup(path);
	f->st = *st;
	f->keys = init_hostkeys();
	if (!options.update_hostkeys || read_lines(f) != 0)
		load_hostkeys(f->keys, host, path, 0);
	else
		load_lines(f);
	f->next = host_files;
	host_files = f;
	return f;
}

void
known_hosts_load(struct hostkeys *keys, const char *host, const char *path,
    u_int note)
{
	struct host_file *f;
	struct stat st;
	u_int i;

	if (!hayopt_get()->hayate || stat(path, &st) == -1 ||
	    !S_ISREG(st.st_mode) || access(path, R_OK) != 0) {
		other_source_read |= access(path, F_OK) == 0;
		load_hostkeys(keys, host, path, note);
		return;
	}
	if ((f = find_host_file(host, path, &st)) == NULL)
		f = read_host_file(host, path, &st);
	else
		debug3("%s was read before", path);
	for (i = 0; i < f->keys->num_entries; i++)
		add_copy(keys, &f->keys->entries[i], note);
}

int
known_hosts_foreach(const char *path, hostkeys_foreach_fn *callback, void *ctx,
    const char *host, const char *ip, u_int wanted, u_int note)
{
	struct host_file *f = NULL;
	struct stat st;
	FILE *in;
	int r;

	if (ip == NULL && stat(path, &st) == 0)
		f = find_host_file(host, path, &st);
	if (f == NULL || f->text == NULL ||
	    (in = fmemopen(f->text, f->len, "r")) == NULL)
		return hostkeys_foreach(path, callback, ctx, host, ip, wanted,
		    note);
	debug3("%s was read before", path);
	r = hostkeys_foreach_file(path, in, callback, ctx, host, ip, wanted,
	    note);
	fclose(in);
	return r;
}

static int
is_plain(int type)
{
	return type == KEY_RSA || type == KEY_ECDSA || type == KEY_ED25519;
}

static int
is_key_for(const struct sshkey *key, const char *alg)
{
	if (key->type != sshkey_type_from_name(alg))
		return 0;
	switch (key->type) {
	case KEY_RSA:
		/* NIST SP 800-57, section 5.6.1 */
		return sshkey_size(key) >= 3072 &&
		    (int)sshkey_size(key) >= options.required_rsa_size;
	case KEY_ECDSA:
		return key->ecdsa_nid == sshkey_ecdsa_nid_from_name(alg);
	}
	return 1;
}

/* Whether other keys may be known, or revoked, than are in these files. */
static int
is_known_elsewhere(void)
{
	return other_source_read || options.verify_host_key_dns != 0 ||
	    options.known_hosts_command != NULL ||
	    options.revoked_host_keys != NULL || options.check_host_ip == 1;
}

int
known_hosts_allow_alg(const char *alg, const char *preferred)
{
	const struct hostkey_entry *e;
	const struct host_file *f;
	int is_named = 0;
	u_int i;

	if (!is_plain(sshkey_type_from_name(alg)) ||
	    !is_plain(sshkey_type_from_name(preferred)) ||
	    strcmp(alg, "ssh-rsa") == 0 || is_known_elsewhere())
		return 0;
	for (f = host_files; f != NULL; f = f->next) {
		for (i = 0; i < f->keys->num_entries; i++) {
			e = &f->keys->entries[i];
			if (e->marker != MRK_NONE)
				return 0;
			is_named |= is_key_for(e->key, alg);
		}
	}
	return is_named;
}

int
known_hosts_has_key(const struct sshkey *key)
{
	const struct host_file *f;
	u_int i;

	for (f = host_files; f != NULL; f = f->next) {
		for (i = 0; i < f->keys->num_entries; i++) {
			if (f->keys->entries[i].marker == MRK_NONE &&
			    sshkey_equal(f->keys->entries[i].key, key))
				return 1;
		}
	}
	return 0;
}

const struct hostkey_entry *
known_hosts_other_key(const struct sshkey *key)
{
	const struct hostkey_entry *e;
	const struct host_file *f;
	u_int i;

	for (f = host_files; f != NULL; f = f->next) {
		for (i = 0; i < f->keys->num_entries; i++) {
			e = &f->keys->entries[i];
			if (e->marker == MRK_NONE &&
			    e->key->type == key->type &&
			    e->key->ecdsa_nid == key->ecdsa_nid)
				return e;
		}
	}
	return NULL;
}
