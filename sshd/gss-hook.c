/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See gss-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sshkey.h"
#include "hostfile.h"
#include "auth.h"
#include "dispatch.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"

#include "gss-hook.h"

extern Authctxt *the_authctxt;

void
gss_challenge_stop(struct ssh *ssh)
{
	auth2_challenge_stop(ssh);
#ifdef GSSAPI
	ssh_dispatch_range(ssh, SSH2_MSG_USERAUTH_GSSAPI_TOKEN,
	    SSH2_MSG_USERAUTH_GSSAPI_MIC, NULL);
#endif
}

#ifdef GSSAPI

OM_uint32
gss_accept_ctx(Gssctxt *ctx, gss_buffer_desc *in, gss_buffer_desc *out,
    OM_uint32 *flags)
{
	const OM_uint32 needed = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG;
	OM_uint32 status = ssh_gssapi_accept_ctx(ctx, in, out, flags);

	if (status == GSS_S_COMPLETE && (*flags & needed) != needed) {
		debug_f("no mutual authentication, or no integrity");
		status = GSS_S_FAILURE;
	}
	return status;
}

/* Returns 1 if one of the methods that let the user in is of GSSAPI. */
static int
is_by_gssapi(void)
{
	const char method[] = "gssapi-";
	const struct sshbuf *info = the_authctxt->session_info;
	size_t at;

	for (at = 0; info != NULL && sshbuf_len(info) - at >= strlen(method);
	    at++) {
		if ((at == 0 || sshbuf_ptr(info)[at - 1] == '\n') &&
		    memcmp(sshbuf_ptr(info) + at, method, strlen(method)) == 0)
			return 1;
	}
	return 0;
}

void
gss_store_creds(void)
{
	if (is_by_gssapi())
		ssh_gssapi_storecreds();
	else
		debug_f("the login was not by GSSAPI");
}

#endif /* GSSAPI */
