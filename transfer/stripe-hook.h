/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe-hook: scp and sftp put a large file over several channels of their
 * connection, or over several connections if the user wants them. stripe.c
 * decides, serve-hook.c in ssh opens the channels, and links-hook.c has the
 * connections.
 *
 * Called from patches/164-sftp-client-channels.patch and
 * 192-scp-channels.patch, and by resume-hook.c. Does nothing, so that stock
 * behaviour remains, if ssh offers no channels, for a file below 32 MiB, and if
 * the user chose the requests (-R, -B, -X) or a rate (-l). Main thread only.
 */

#ifndef HAYATE_STRIPE_HOOK_H
#define HAYATE_STRIPE_HOOK_H

#include <sys/types.h>

struct sftp_conn;

/* A server that takes less at once is not for this: each WRITE costs work. */
#define STRIPE_UNIT	(32 * 1024)

/*
 * In scp: channels are wanted only if the last of the arguments is at a server
 * and the others, with what is in them, are together large. sftp does not know
 * what will be put.
 */
void	stripe_judge(int argc, char **argv);

/*
 * "fd" leads to an ssh that was just started. "chosen" as in server_begin().
 * Whoever gets files can use connections, but no channels.
 */
void	stripe_wish(int fd, int chosen);

/*
 * Puts a file as sftp_upload() does. Returns 1 and the result in "*ret", or 0
 * if the file is left to sftp_upload(). "plain": only that can do what is
 * wanted.
 */
int	stripe_put(struct sftp_conn *, const char *local, const char *remote,
    int preserve, int plain, int in_place, int *ret);

#endif /* HAYATE_STRIPE_HOOK_H */
