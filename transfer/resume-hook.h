/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * resume-hook: a file that is there in part is verified, and the copy goes on.
 *
 * With scp --resume, and with reget, reput and -a of sftp, what the target has
 * is compared with the source first (verify.h), with a meter if it takes long.
 * The target is cut behind what is equal. Then upstream's function writes the
 * rest, or copies the whole file if there is nothing to keep. A file that is
 * complete is left alone, but its times and mode are set if they are preserved.
 *
 * With --checksum the hashes of both files are compared when the copy is done.
 * A server without hashes ends the process before anything is copied.
 *
 * A source that changed during the copy is reported. With --checksum or
 * --resume the copy failed.
 *
 * sftp's reget and reput refuse a target that is longer than its source, as
 * stock's do. With --resume it is cut.
 *
 * Called from patches/161-sftp-client-resume.patch, and by copy-hook.c. Main
 * thread only.
 */

#ifndef HAYATE_RESUME_HOOK_H
#define HAYATE_RESUME_HOOK_H

struct Attrib;
struct sftp_conn;

/*
 * sftp_upload() and sftp_download() call these first, with their own arguments.
 * The result is 1 if the file is done, and "*ret" is what upstream's function
 * has to return then. It is 0 if upstream's function has to copy the file. To
 * copy the rest of a file these call upstream's function again, and that call
 * gets 0. A file for which nothing is to be verified is left to copy_put() or
 * copy_get().
 */
int	resume_put(struct sftp_conn *, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret);
int	resume_get(struct sftp_conn *, const char *remote, const char *local,
    struct Attrib *, int preserve, int resume, int sync, int in_place,
    int *ret);

/*
 * The flag with which sftp_upload() opens a file whose rest it writes: to
 * append in stock, none when called from here. After a kill the server may
 * still write what it got before; then the end is not where this copy goes on.
 */
unsigned int resume_open_flag(void);

#endif /* HAYATE_RESUME_HOOK_H */
