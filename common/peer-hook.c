/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "hayopt.h"
#include "peer.h"
#include "peer-hook.h"

/*
 * Kept in kex->flags because upstream carries that word from the process
 * which authenticates to the one which serves the session. Upstream takes
 * its bits from the low end, eight of them by 10.3, so a bit near the top is
 * free for long; the topmost is left for a compiler that would make the
 * constant a signed one.
 */
#define PEER_IS_HAYATE	0x40000000U
#define PEER_KNOWS_AUTHONLY 0x20000000U

void
peer_ext_info_compose(struct ssh *ssh, struct sshbuf *m)
{
	const size_t before = sshbuf_len(m);
	u_int32_t n;
	int r;

	if (!hayopt_get()->hayate)
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
peer_ext_info_input(struct ssh *ssh, const char *name,
    const unsigned char *value, size_t len)
{
	unsigned int version;

	if (strcmp(name, PEER_EXT_NAME) != 0)
		return 0;
	/*
	 * With "Hayate no" we did not name ourselves, so the peer takes us
	 * for stock; to count it as one of ours would be one-sided. The same
	 * goes for a name that comes later than ours did.
	 */
	if (!hayopt_get()->hayate || ssh->kex->ext_info_received != 1)
		return 0;
	if ((version = peer_version(value, len)) == 0) {
		debug_f("%s: no version in its %zu byte value, ignored",
		    name, len);
		return 1;
	}
	debug_f("%s=<%u>, the peer is Hayate", name, version);
	ssh->kex->flags |= PEER_IS_HAYATE;
	if (version >= PEER_VERSION_AUTHONLY)
		ssh->kex->flags |= PEER_KNOWS_AUTHONLY;
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
