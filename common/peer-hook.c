/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See peer-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "hayopt.h"
#include "peer.h"
#include "peer-hook.h"

/*
 * Bits of kex->flags, because upstream passes that word from the process that
 * authenticates to the process that serves the session. Upstream uses the low
 * bits, eight of them in 10.3, so the high bits are free for long. The highest
 * is not used, because the type of kex->flags might become a signed one.
 */
#define PEER_IS_HAYATE		0x40000000U
#define PEER_KNOWS_AUTHONLY	0x20000000U
#define PEER_KNOWS_STALL_STATS	0x10000000U

/*
 * From 10.4 on sshd-auth, which sends the banner and the extension, reads no
 * configuration: it gets upstream's options from sshd-session, and these words
 * from the environment. A word counts only if it comes from the parent, because
 * a listener that reads its configuration again has the environment of the
 * first time.
 */
#define OFF_BY		"HAYATE_OFF_BY"		/* Hayate no */
#define RELEASE_BY	"HAYATE_RELEASE_BY"	/* VersionDetails no */

/* Sets the word in the environment of child processes, or removes it. */
static void
export_word(const char *word, int set)
{
	char pid[32];

	if (!set) {
		(void)unsetenv(word);
		return;
	}
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (setenv(word, pid, 1) == -1)
		fatal_f("setenv: %s", strerror(errno));
}

void
peer_export_options(void)
{
	export_word(OFF_BY, !hayopt_get()->hayate);
	export_word(RELEASE_BY, !hayopt_get()->version_details);
}

static int off_by_parent, release_by_parent;

static int
parent_exported(const char *word)
{
	const char *pid = getenv(word);

	return pid != NULL && atol(pid) == (long)getppid();
}

/*
 * Runs before main(), because later the sandbox kills a process that calls
 * getppid().
 */
static void __attribute__((constructor))
import_words(void)
{
	off_by_parent = parent_exported(OFF_BY);
	release_by_parent = parent_exported(RELEASE_BY);
}

const char *
peer_banner_version(const char *release, const char *whole)
{
	return release_by_parent || !hayopt_get()->version_details ? release :
	    whole;
}

int
peer_is_disabled(void)
{
	return off_by_parent || !hayopt_get()->hayate;
}

void
peer_add_extension(struct ssh *ssh, struct sshbuf *m)
{
	const size_t before = sshbuf_len(m);
	u_int32_t n;
	int r;

	if (peer_is_disabled())
		return;
	if ((r = sshbuf_peek_u32(m, 0, &n)) == 0 &&
	    (r = sshbuf_put_cstring(m, PEER_EXT_NAME)) == 0 &&
	    (r = sshbuf_put_cstring(m, PEER_EXT_VALUE)) == 0 &&
	    (r = sshbuf_poke_u32(m, 0, n + 1)) == 0)
		return;
	debug_fr(r, "not sending %s", PEER_EXT_NAME);
	if (sshbuf_len(m) > before)
		(void)sshbuf_consume_end(m, sshbuf_len(m) - before);
}

int
peer_read_extension(struct ssh *ssh, const char *name,
    const unsigned char *value, size_t len)
{
	unsigned int version;

	if (strcmp(name, PEER_EXT_NAME) != 0)
		return 0;
	/*
	 * With "Hayate no" we did not name ourselves, so the peer takes us
	 * for stock, and we take it for stock as well. The same applies to a
	 * name in a later message, since we send ours in the first one only.
	 */
	if (peer_is_disabled() || ssh->kex->ext_info_received != 1)
		return 0;
	if ((version = peer_parse_version(value, len)) == 0) {
		debug_f("%s: no version in its %zu byte value, ignored",
		    name, len);
		return 1;
	}
	debug_f("%s=<%u>, the peer is Hayate", name, version);
	ssh->kex->flags |= PEER_IS_HAYATE;
	if (version >= PEER_VERSION_AUTHONLY)
		ssh->kex->flags |= PEER_KNOWS_AUTHONLY;
	if (version >= PEER_VERSION_STALL_STATS)
		ssh->kex->flags |= PEER_KNOWS_STALL_STATS;
	return 1;
}

int
peer_is_hayate(const struct ssh *ssh)
{
	return ssh != NULL && ssh->kex != NULL &&
	    (ssh->kex->flags & PEER_IS_HAYATE) != 0 && hayopt_get()->hayate;
}

int
peer_knows_authonly(const struct ssh *ssh)
{
	return peer_is_hayate(ssh) &&
	    (ssh->kex->flags & PEER_KNOWS_AUTHONLY) != 0;
}

int
peer_knows_stall_stats(const struct ssh *ssh)
{
	return peer_is_hayate(ssh) &&
	    (ssh->kex->flags & PEER_KNOWS_STALL_STATS) != 0;
}

int
peer_banner_matches(const struct ssh *ssh, int (*kind)(const char *banner))
{
	char *banner = sshbuf_dup_string(ssh->kex->server ?
	    ssh->kex->client_version : ssh->kex->server_version);
	int matches = banner != NULL && kind(banner);

	free(banner);
	return matches;
}

int
peer_takes_large_packets(const struct ssh *ssh)
{
	if (!hayopt_get()->hayate || ssh == NULL || ssh->kex == NULL)
		return 0;
	return peer_is_hayate(ssh) || peer_banner_matches(ssh, peer_is_openssh);
}
