/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * proof-hook: whether a link to another host sees the same files as the first.
 *
 * For a put, a hidden file of a random name, mode 0600, is made over the first
 * link in the target's directory, with random contents. For a get, a file of
 * the source is looked at over the first link: its size, time and a random
 * block. That is the witness. It begins before the further links are there,
 * because an answer of the first one comes behind all data that is under way.
 * Then each of the others reads the hidden file, or looks at the same file, and
 * has to find the same. The hidden file is removed over the first link,
 * whatever came out.
 *
 * A server that answers in bad faith can refuse, and is left out. It cannot
 * know the contents of a file that it does not see.
 *
 * Requests have IDs of their own, so they go beside those of the transfer.
 *
 * Main thread only.
 */

#ifndef HAYATE_PROOF_HOOK_H
#define HAYATE_PROOF_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct link;
struct sshbuf;
struct witness;				/* private to proof-hook.c */
struct proof;				/* likewise */

/* Where it is tried: one of these is not NULL. They are copied. */
struct proof_where {
	const char *dir;		/* a put: "" is the working directory */
	const char *file;		/* a get: not an empty one */
	uint64_t size;			/* of that file */
};

enum proof_result { PROOF_RUNS, PROOF_GOOD, PROOF_BAD };

/* "*why" is for people, and valid as long as the witness or proof. */
struct witness *proof_witness_new(struct link *first,
    const struct proof_where *);
enum proof_result proof_witness_result(const struct witness *,
    const char **why);

/* Returns 1 if the message of the first link was an answer to this. */
int	proof_witness_takes(struct witness *, struct sshbuf *);

/* It is not needed any more: the hidden file is removed. May be repeated. */
void	proof_witness_stop(struct witness *);
int	proof_witness_is_stopped(const struct witness *);

/* Returns 1 while the first link owes answers. */
int	proof_witness_owes(const struct witness *);

/* The hidden file that would be left if the process ended now, or NULL */
const char *proof_witness_left(const struct witness *);

/* Accepts NULL. Nothing may be owed. */
void	proof_witness_free(struct witness *);

/* The witness is good; it may end before the proof. */
struct proof *proof_new(struct link *other, const struct witness *);

/* A message of the other link. What it sends beside the answers is bad. */
void	proof_takes(struct proof *, struct sshbuf *);

/* What came out, when all that it was asked for is answered */
enum proof_result proof_result(const struct proof *, const char **why);

/* Accepts NULL. */
void	proof_free(struct proof *);

#endif /* HAYATE_PROOF_HOOK_H */
