/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "kex.h"
#include "mac.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "hayopt.h"
#include "packet-ends.h"
#include "peer.h"
#include "peer-hook.h"

u_char *
end_copy(const u_char *data, size_t len)
{
	u_char *copy = xmalloc(len + 1);

	memcpy(copy, data, len);
	return copy;
}

static struct newkeys *
make_keys(const struct end_keys *from)
{
	struct newkeys *k = xcalloc(1, sizeof(*k));

	k->enc.name = xstrdup(from->cipher);
	if ((k->enc.cipher = cipher_by_name(from->cipher)) == NULL)
		errx(2, "no cipher %s", from->cipher);
	k->enc.key_len = cipher_keylen(k->enc.cipher);
	k->enc.iv_len = cipher_ivlen(k->enc.cipher);
	k->enc.block_size = cipher_blocksize(k->enc.cipher);
	k->enc.key = end_copy(from->bytes, k->enc.key_len);
	k->enc.iv = end_copy(from->iv != NULL ? from->iv : from->bytes,
	    k->enc.iv_len);
	if (from->mac != NULL) {
		k->mac.name = xstrdup(from->mac);
		if (mac_setup(&k->mac, k->mac.name) != 0)
			errx(2, "no MAC %s", from->mac);
		k->mac.key = end_copy(from->bytes, k->mac.key_len);
	}
	k->comp.name = xstrdup(from->compresses ? "zlib@openssh.com" : "none");
	k->comp.type = from->compresses ? COMP_DELAYED : COMP_NONE;
	return k;
}

/* Keys for sending follow NEWKEYS; with strict KEX seqnr 0 is next. */
static int
newkeys_sent(struct ssh *ssh)
{
	int r;

	if ((r = sshpkt_start(ssh, SSH2_MSG_NEWKEYS)) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)
		return r;
	sshbuf_reset(ssh_packet_get_output(ssh));
	return 0;
}

struct ssh *
end_new(const struct end_keys *keys, int mode, int fd)
{
	struct ssh *ssh;
	int r;

	if ((ssh = ssh_packet_set_connection(NULL, fd, fd)) == NULL ||
	    (ssh->kex = kex_new()) == NULL)
		errx(2, "out of memory");
	ssh->kex->kex_strict = ssh->kex->done = 1;
	ssh->kex->newkeys[mode] = make_keys(keys);
	r = mode == MODE_OUT ? newkeys_sent(ssh) : ssh_set_newkeys(ssh, mode);
	if (r != 0)
		errx(2, "keys: %s", ssh_err(r));
	return ssh;
}

void
end_next_keys(struct ssh *ssh, const struct end_keys *keys, int mode)
{
	struct end_keys next = *keys;
	size_t i;

	for (i = 0; i < sizeof(next.bytes); i++)
		next.bytes[i] ^= 0x5a;
	ssh->kex->newkeys[mode] = make_keys(&next);
}

void
end_free(struct ssh *ssh)
{
	kex_free(ssh->kex);
	ssh->kex = NULL;
	ssh_packet_close(ssh);
	free(ssh);
}

static void
ignore(struct ssh *ssh)
{
	(void)ssh;
}

void
ends_offer_modes(void)
{
	static const struct authonly_side side = { .mode_changed = ignore };
	static char *yes[] = { "yes" };
	char msg[256], *prop[PROPOSAL_MAX];
	struct ssh *ssh;
	int i, r;

	hayopt_read_line(HAYOPT_CLIENT, HAYOPT_GLOBAL, "NoneEnabled", 1, yes, 1,
	    msg, sizeof(msg));
	if ((ssh = ssh_packet_set_connection(NULL, -1, -1)) == NULL ||
	    (ssh->kex = kex_new()) == NULL)
		errx(2, "out of memory");
	ssh->kex->ext_info_received = 1;
	peer_read_extension(ssh, PEER_EXT_NAME,
	    (const u_char *)PEER_EXT_VALUE, strlen(PEER_EXT_VALUE));
	for (i = 0; i < PROPOSAL_MAX; i++)
		prop[i] = "";
	prop[PROPOSAL_ENC_ALGS_CTOS] = prop[PROPOSAL_ENC_ALGS_STOC] =
	    "aes128-ctr";
	prop[PROPOSAL_MAC_ALGS_CTOS] = prop[PROPOSAL_MAC_ALGS_STOC] =
	    "hmac-sha2-256-etm@openssh.com";
	if ((r = kex_prop2buf(ssh->kex->my, prop)) != 0)
		errx(2, "proposal: %s", ssh_err(r));
	authonly_start(&side, 1);
	if ((r = authonly_edit_proposal(ssh)) != 0)
		errx(2, "offer: %s", ssh_err(r));
	end_free(ssh);
}

