/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gss-hook: a failed GSSAPI login leaves no state for the next attempt
 * (CVE-2026-106555), and no credentials for a login by another method
 * (CVE-2026-106553). Upstream does both from 10.6 on. build-aux/overlay.mk lets
 * auth2.c, monitor.c and sshd-session.c call these functions, each of which
 * calls upstream's.
 */

#ifndef HAYATE_GSS_HOOK_H
#define HAYATE_GSS_HOOK_H

struct ssh;

/*
 * As auth2_challenge_stop(), which runs at each authentication request. Also
 * removes the handlers of all GSSAPI messages, so the next message of an
 * exchange that an earlier request began ends the connection. In a build
 * without GSSAPI there are none.
 */
void	gss_challenge_stop(struct ssh *);

#ifdef GSSAPI
#include "ssh-gss.h"

/*
 * As ssh_gssapi_accept_ctx(), but returns GSS_S_FAILURE, with a line at debug
 * level, if the exchange is complete without mutual authentication and
 * integrity. Such an exchange has not set the client's name, and the name of an
 * earlier one would be used. "flags" must not be NULL.
 */
OM_uint32 gss_accept_ctx(Gssctxt *, gss_buffer_desc *in, gss_buffer_desc *out,
    OM_uint32 *flags);

/*
 * As ssh_gssapi_storecreds(), but does nothing, except for a line at debug
 * level, unless one of the methods that have let the user in is of GSSAPI.
 */
void	gss_store_creds(void);
#endif

#endif /* HAYATE_GSS_HOOK_H */
