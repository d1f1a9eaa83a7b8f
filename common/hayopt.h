/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hayopt: Hayate's configuration keywords and the values they lead to.
 *
 * The option parsers of ssh and sshd hand every line to one hook each
 * (cliopt-hook.h, srvopt-hook.h) before they look the keyword up themselves.
 * The hook splits the line as they would and asks here. A word that is not in
 * our table is passed back untouched, so it works, or fails, as in stock
 * OpenSSH.
 *
 * Values live in two layers. In the global one the first value seen wins;
 * that is all a client needs, whose parser tells for each line whether its
 * Host or Match block applies. The match layer takes the first value of the
 * applying Match blocks in sshd's second pass over its configuration, and
 * overrides the global one.
 *
 * It reads no file, prints nothing and includes no upstream header: what to
 * log comes back as text. One state per process. Not thread safe.
 */

#ifndef HAYATE_HAYOPT_H
#define HAYATE_HAYOPT_H

#include <stddef.h>
#include <stdint.h>

#define HAYOPT_THREADS_AUTO	(-1)	/* as many as bring something */
#define HAYOPT_THREADS_MOST	16

/* What is in force: defaults applied, names inherited from HPN-SSH folded in */
struct hayopt {
	int		hayate;		/* 0: behave as stock OpenSSH */
	int		window_tuning;	/* 0 also whenever hayate is 0 */
	uint64_t	window_max;	/* bytes, ceiling of one channel */
	uint64_t	window_memory_max; /* bytes, ceiling of this process */
	int		none_enabled;	/* data in clear: allowed */
	int		none_switch;	/* client: wanted */
	int		cipher_threads;	/* or HAYOPT_THREADS_AUTO */
};

/*
 * The options in force in this process; never NULL. Ask again where it
 * matters rather than keep a copy: in sshd the values of a Match block come
 * in only once the user is known. Before any parsing it holds the defaults.
 * A call costs a test of a flag when nothing was parsed since the last one.
 */
const struct hayopt *hayopt_get(void);

/*
 * For the parsers.
 */

/* Whose configuration a line stands in; a set of these in the table */
#define HAYOPT_CLIENT	0x1
#define HAYOPT_SERVER	0x2

enum hayopt_layer { HAYOPT_GLOBAL, HAYOPT_MATCH };

enum hayopt_verdict {
	HAYOPT_PASS,		/* not ours: upstream's business */
	HAYOPT_TAKEN,		/* ours and in order */
	HAYOPT_REFUSED,		/* likewise, but msg is for the user's eyes */
	HAYOPT_STOP,		/* ours: the process has to end, with msg */
	HAYOPT_BAD		/* ours and wrong: msg says what is allowed */
};

/*
 * One line, after the keyword split in "ac" words at "av". A line of a block
 * that does not apply ("active" 0) is checked but has no effect. "msg" is
 * always terminated: for HAYOPT_BAD the reason, for HAYOPT_TAKEN either ""
 * or one note worth a debug line, given once per keyword and process, for
 * HAYOPT_REFUSED such a note that is worth an error, for HAYOPT_STOP what to
 * say at the end.
 */
enum hayopt_verdict hayopt_line(int side, enum hayopt_layer layer,
    const char *keyword, int ac, char **av, int active,
    char *msg, size_t msglen);

/*
 * Whether the word is one of ours on that side. Of those that only other
 * builds of OpenSSH know, the answer is HAYOPT_FOREIGN: an upstream that
 * knows such a word obeys it itself.
 */
enum hayopt_claim { HAYOPT_UNKNOWN, HAYOPT_OURS, HAYOPT_FOREIGN };
enum hayopt_claim hayopt_claim(int side, const char *keyword);

/* Upstream's name, in lower case, for a HAYOPT_FOREIGN word; or NULL. */
const char *hayopt_upstream_name(int side, const char *keyword);

/*
 * The value of Ciphers, or of ssh -c: names that only HPN-SSH has are replaced
 * in place by the stock names of the same ciphers, each of which then stands
 * there once. A list of ciphers to remove ('-') stays as it is, since the
 * names are in no list that it could remove them from. Returns whether
 * anything was replaced. The text does not become longer.
 */
int	hayopt_ciphers(char *text);

/*
 * The i-th option as "ssh -G" and "sshd -T" show it, in "name value" form
 * (lower case, sizes in bytes). Returns -1 past the last one.
 */
int	hayopt_dump(int side, size_t i, char *buf, size_t len);

/* Forget all values. For tests. */
void	hayopt_reset(void);

#endif /* HAYATE_HAYOPT_H */
