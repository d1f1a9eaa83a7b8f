/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hop-hook: the hop between a channel and a program of ours goes through
 * shared memory (ring.h).
 *
 * sshd-session offers rings to the SFTP server that it starts: it sends the
 * memory through the socket that will be the program's output, which nobody
 * reads at that end. The server attaches when it begins to read; any other
 * program leaves it there, and keeps its pipes.
 *
 * Called from patches/135-channels-hop.patch and subsys-hook.c. Does nothing
 * where the memory cannot be had: one line at -v. Main thread only.
 */

#ifndef HAYATE_HOP_HOOK_H
#define HAYATE_HOP_HOOK_H

#include <sys/types.h>

struct sshbuf;

/*
 * "in" is a pipe and "out" a pair of sockets, as pipe() returns them, for a
 * program that is about to be started.
 */
void	hop_offer(const int in[2], const int out[2]);

/*
 * As sshbuf_read() and write(). From a ring, a whole slot is read, which may be
 * more than "most" bytes: what is left there would not wake poll().
 */
int	hop_read(int fd, struct sshbuf *, size_t most, size_t *len);
ssize_t	hop_write(int fd, const void *, size_t len);

/* The descriptor is about to be closed. */
void	hop_forget(int fd);

/* For the program: attaches. The ends are NULL where nothing is offered. */
struct ring;
void	hop_accept(int in, int out, struct ring *ends[2]);

#endif /* HAYATE_HOP_HOOK_H */
