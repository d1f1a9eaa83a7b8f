/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fs-location-hook: where a run proves that other hosts see the same files
 * (fs-identity-hook.h): what is uploaded, in the directory that is the target,
 * or if no file can be made there, in the one above; what is downloaded, with a
 * file that is in flight and not empty.
 */

#ifndef HAYATE_FS_LOCATION_HOOK_H
#define HAYATE_FS_LOCATION_HOOK_H

struct fs_location;

/*
 * The "locate" of struct conns; "run" is the struct transfer. What it sets is
 * valid until the next call. From here on signals are caught if a temporary
 * file is going to be made.
 */
int	fs_location_find(void *run, unsigned int n, struct fs_location *);

#endif /* HAYATE_FS_LOCATION_HOOK_H */
