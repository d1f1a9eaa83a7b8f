/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sim: one SFTP server without bytes, for the drivers of the cores that decide
 * on requests. An operation is a number, and a request carries data that the
 * driver gets back with the reply, so this file knows no core.
 *
 *   files     each unit of a file (a byte, or a KiB) is old, new, or a hole
 *   handles   how many are open at once, and how many are allowed
 *   requests  wait in the order in which they were sent, each on its
 *             connection, and are answered in a given order
 *   faults    the Nth request of an operation fails, or its reply is late; a
 *             connection is lost, and with it the requests that wait there
 *
 * A promise of the driver that is broken ends it by sim_must().
 */

#ifndef HAYATE_SIM_H
#define HAYATE_SIM_H

#include <stddef.h>
#include <stdint.h>

#define SIM_OPS		48
#define SIM_LINKS	32
#define SIM_REQUESTS	20000		/* that wait at once */
#define SIM_BODY	160		/* bytes of the driver's data */

/* Prints "broken: PROMISE" on standard error, and ends the driver. */
void	sim_must(int holds, const char *promise);

/* Files */

enum sim_content { SIM_HOLE, SIM_OLD, SIM_NEW };

struct sim_file {
	uint64_t size, most;		/* units */
	uint64_t frontier;		/* all below it are new */
	unsigned char *map;		/* what each unit is */
};

/* A file of old units that may grow to "most". */
struct sim_file *sim_file_new(uint64_t size, uint64_t most);
void	sim_file_free(struct sim_file *);	/* accepts NULL */

/* Writes. Returns -1 if it does not fit, or there is no file. */
int	sim_fill(struct sim_file *, uint64_t at, uint64_t len,
    enum sim_content);

/* Truncates the file, or extends it by a hole. */
void	sim_truncate(struct sim_file *, uint64_t size);

uint64_t sim_count(const struct sim_file *, enum sim_content);
int	sim_has_hole(const struct sim_file *, uint64_t at, uint64_t len);

/* Returns 1 if new units come first, then old ones, and there is no hole. */
int	sim_is_in_order(const struct sim_file *);

/* Handles */

struct sim_handles {
	uint64_t open, most;		/* now, and ever */
	uint64_t allowed;		/* 0: any number */
};

/* Returns 1, or 0 if that many are open. */
int	sim_may_open(const struct sim_handles *);
void	sim_open(struct sim_handles *);
void	sim_close(struct sim_handles *, int *is_open);

/* Requests */

struct sim_request {
	unsigned int link;
	uint64_t wait;			/* round trips until the reply */
	uint64_t left;			/* units not yet received */
	_Alignas(8) unsigned char body[SIM_BODY];
};

enum { SIM_FORWARDS, SIM_BACKWARDS };	/* another order: shuffled */

struct sim {
	struct sim_request queue[SIM_REQUESTS], now[SIM_REQUESTS];
	size_t	 n;
	uint64_t seen[SIM_OPS];		/* requests so far */
	uint64_t fail[SIM_OPS];		/* which one fails; 0: none */
	uint64_t late[SIM_OPS], late_rounds[SIM_OPS];
};

/* Forgets all requests, and keeps the faults. */
void	sim_reset(struct sim *);

/* Counts a request as served. Returns 1 if it is the one to fail. */
int	sim_serve(struct sim *, unsigned int op);

/* Returns the round trips by which the reply to that request is late. */
uint64_t sim_wait(const struct sim *, unsigned int op);

/* Queues a request with "wait" and "left" 0. Fails if too many wait. */
struct sim_request *sim_push(struct sim *, unsigned int conn,
    const void *body, size_t len);

/*
 * Removes and returns the oldest request on the connection, or NULL. The result
 * is valid until the next call.
 */
const struct sim_request *sim_pop(struct sim *, unsigned int conn);
size_t	sim_waiting(const struct sim *, unsigned int conn);

/* Loses the connection. */
void	sim_lose(struct sim *, unsigned int conn);

/* A round trip: sets "now" to the answered requests, and returns how many. */
size_t	sim_round(struct sim *, uint64_t order);

/*
 * Likewise, where the path transfers "path" units and each connection has a
 * window of "window" units. A request that is not received in full delays those
 * behind it on its connection.
 */
size_t	sim_carry(struct sim *, uint64_t path, uint64_t window);

#endif /* HAYATE_SIM_H */
