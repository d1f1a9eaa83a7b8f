/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A GSSAPI login leaves nothing to the next one (CVE-2026-106555), nor
 * credentials to a login by another method (CVE-2026-106553), as in upstream
 * from 10.6 on. auth2.c, monitor.c and sshd-session.c call these by
 * build-aux/overlay.mk, and they call upstream's.
 */

#ifndef HAYATE_GSS_HOOK_H
#define HAYATE_GSS_HOOK_H

struct ssh;

/* As auth2_challenge_stop(): a request for a login ends the one before. */
void	gss_challenge_stop(struct ssh *);

#ifdef GSSAPI
#include "ssh-gss.h"

/*
 * As ssh_gssapi_accept_ctx(). An exchange that is complete but proved no name,
 * and so left that of the one before it, has failed.
 */
OM_uint32 gss_accept_ctx(Gssctxt *, gss_buffer_desc *in, gss_buffer_desc *out,
    OM_uint32 *flags);

/* As ssh_gssapi_storecreds(), if GSSAPI has let the user in */
void	gss_store_creds(void);
#endif

#endif /* HAYATE_GSS_HOOK_H */
