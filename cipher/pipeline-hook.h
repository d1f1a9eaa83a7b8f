/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pipeline-hook: packets sealed and opened by other cores, in order on the wire.
 *
 * No packet needs the one before it (sealer-hook.h), so each is a job of its own
 * (pool.h), for a thread with contexts of its own for each direction.
 *
 * Upstream's code goes on until there is something to gain (autoscale.h) or
 * CipherThreads says a number. From then on, until the next keys of that
 * direction, every packet comes through here, with threads or without:
 * upstream's own cipher context knows nothing of them.
 *
 * Outgoing packets wait in a queue and are written from it; what lies in
 * upstream's output buffer is older. Incoming ones are looked for in what has
 * been read, and begun before they are asked for, but never beyond a KEXINIT
 * that nobody has answered: NEWKEYS may follow. They are opened where they lie,
 * and where more is to be read before all of them are done, that goes into
 * another buffer: while one core reads, the others have something to do.
 *
 * Nothing starts before pipeline_serve(). One connection a process; not thread
 * safe. Memory of each direction: at most PIPELINE_BYTES of packets and as many
 * sealed bytes, and one packet more, in buffers that may be half empty; of
 * incoming ones also the reads that hold them, and the channels get more of
 * them at once.
 */

#ifndef PIPELINE_HOOK_H
#define PIPELINE_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;
struct newkeys;

#define PIPELINE_BYTES	(1024 * 1024)

/* Where the stream of a direction stands, as packet.c counts it */
struct pipeline_at {
	u_int32_t seqnr, packets;
	u_int64_t blocks, bytes;
};
#define PIPELINE_AT(state) (struct pipeline_at){ \
	(state).seqnr, (state).packets, (state).blocks, (state).bytes }

/* The session's loop begins; from here on threads may start. */
void	pipeline_serve(void);

/*
 * For packet.c. SSH_ERR_* is what upstream's code would have returned in its
 * place.
 */
#define PIPELINE_PASS	1	/* upstream's own code does it */

/*
 * Takes a packet with its padding and leaves an empty, wiped buffer. Returns 0,
 * PIPELINE_PASS or SSH_ERR_*.
 */
int	pipeline_seal(struct ssh *, const struct newkeys *,
    struct sshbuf **packet, struct pipeline_at);

/*
 * The next packet of what has been read, opened and taken out of "input", and
 * the length field of it; that is 0 if there is no whole one.
 */
int	pipeline_open(struct ssh *, const struct newkeys *,
    struct sshbuf *input, struct sshbuf **packet, struct pipeline_at,
    u_int *packlen);

/*
 * Reads as sshbuf_read() does. Others begin with what was read, while the loop
 * writes what came before.
 */
int	pipeline_read(struct ssh *, int fd, struct sshbuf **input, size_t most,
    struct pipeline_at, size_t *len);

/* Keys of that direction have changed, as of the next packet. */
int	pipeline_newkeys(struct ssh *, int mode, struct sshbuf *output);

/* Writes as write(2) does, what is in "output" first. 0 or SSH_ERR_* */
int	pipeline_write(struct ssh *, int fd, struct sshbuf *output);

/* Whether there is anything that pipeline_write() is needed for. */
int	pipeline_holds(struct ssh *);

/* Bytes to write, in the queue and in "output". */
size_t	pipeline_len(struct ssh *, const struct sshbuf *output);

/*
 * The same, less what may be under way while other cores are at it: what has
 * been sealed waits for the path, as in stock.
 */
size_t	pipeline_backlog(struct ssh *, const struct sshbuf *output);

/* The connection ends. */
void	pipeline_close(struct ssh *);

/*
 * Microseconds that sealing and opening took, added up over all threads: of the
 * packets that came through here and are no longer needed. For benchmarks.
 */
u_int64_t pipeline_crypto_us(void);

#endif /* PIPELINE_HOOK_H */
