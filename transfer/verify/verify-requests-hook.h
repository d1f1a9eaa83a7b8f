/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-requests-hook: asks a server about a file that is checked
 * (verify-run-hook.h): what it is, its hashes, its bytes; and cuts, renames and
 * removes.
 *
 * A server is asked for hashes with the request check-file-name (PROTOCOL, 4),
 * if it may have it (server_has_hashes()). Without hashes a range is read back.
 * Hashes of another kind or number than asked for are no answer.
 *
 * Main thread only.
 */

#ifndef HAYATE_VERIFY_REQUESTS_HOOK_H
#define HAYATE_VERIFY_REQUESTS_HOOK_H

#include "file-hook.h"

/* For the operations of which op_info() says that they verify */
extern const struct op_handler verify_requests_handlers[];

#endif /* HAYATE_VERIFY_REQUESTS_HOOK_H */
