/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * hayopt: Hayate's configuration keywords and their values.
 *
 * The option parsers of ssh and sshd pass every line to one hook each
 * (cliopt-hook.h, srvopt-hook.h) before they look the keyword up. The hook
 * splits the line as they would and passes it on to this file. A keyword that
 * is not in our table goes back to upstream unchanged, so it works, or fails,
 * as in stock OpenSSH.
 *
 * Values are kept in two layers. In the global layer the first value wins. A
 * client needs no other, because its parser knows for each line whether its
 * Host or Match block applies. The match layer overrides the global layer. It
 * takes the first value of the Match blocks that apply in sshd's second pass
 * over its configuration.
 *
 * It reads no file, logs nothing and includes no upstream header: what to log
 * is returned as text, and the memory of the machine is told. One state per
 * process. Not thread safe.
 */

#ifndef HAYATE_HAYOPT_H
#define HAYATE_HAYOPT_H

#include <stddef.h>
#include <stdint.h>

#define HAYOPT_THREADS_AUTO	(-1)	/* as many as help */
#define HAYOPT_THREADS_MAX	16
#define HAYOPT_NAME_MAX		15	/* as in the kernel, TCP_CA_NAME_MAX */
#define HAYOPT_STREAMS_AUTO	0	/* as many as help */
#define HAYOPT_STREAMS_MAX	8
#define HAYOPT_HOSTS_MAX	7	/* beside the first */
#define HAYOPT_HOSTS_ALL "all"	/* in the place of names: its addresses */
#define HAYOPT_HOSTS_LEN	512	/* of their list, with its NUL */

/* What a login sends before it is answered */
enum hayopt_early { HAYOPT_EARLY_NO, HAYOPT_EARLY_YES, HAYOPT_EARLY_AUTO };

/* The values in force: defaults and HPN-SSH's names are included. */
struct hayopt {
	int		hayate;		/* 0: behave as stock OpenSSH */
	int		window_tuning;	/* 0 also whenever hayate is 0 */
	uint64_t	window_max;	/* bytes, ceiling of one channel */
	uint64_t	window_memory_max; /* bytes, ceiling of this process */
	int		none_enabled;	/* data in clear is permitted */
	int		none_switch;	/* client: and is asked for */
	int		cipher_threads;	/* or HAYOPT_THREADS_AUTO */
	const char	*congestion_control; /* NULL: the kernel's default */
	uint64_t	max_rate;	/* sent bytes per second; 0: any */
	int		transfer_streams; /* or HAYOPT_STREAMS_AUTO */
	const char	*transfer_hosts; /* names and commas; NULL: none */
	enum hayopt_early early_login;
	int		session_log;	/* server: a line at the end */
	int		tell_limits;	/* server: to a client that asks */
	int		version_details; /* more in the banner than a release */
};

/*
 * Returns the options in force in this process; never NULL. Before any parsing
 * these are the defaults. Do not keep a copy: in sshd the values of a Match
 * block are known only when the user is. A call tests one flag if nothing was
 * parsed since the last call.
 */
const struct hayopt *hayopt_get(void);

/*
 * The memory, bytes, from which the default of WindowMax comes.
 * What was not told is taken for little. machine-hook.h tells it.
 */
void	hayopt_set_memory(uint64_t bytes);

/*
 * The user of the session runs no program of their own: a forced command, or a
 * chroot. What they can make this process hold is then all the memory that they
 * reach, and WindowMemoryMax has a smaller default.
 */
void	hayopt_set_confined(int is_confined);

/*
 * For the parsers.
 */

/* Whose configuration a line belongs to. Values may be combined. */
#define HAYOPT_CLIENT	0x1
#define HAYOPT_SERVER	0x2

enum hayopt_layer { HAYOPT_GLOBAL, HAYOPT_MATCH };

enum hayopt_result {
	HAYOPT_PASS,		/* not ours: upstream reads the line */
	HAYOPT_ACCEPTED,		/* ours and correct */
	HAYOPT_ACCEPTED_LOUD,		/* likewise, but log msg as an error */
	HAYOPT_STOP,		/* ours: end the process with msg */
	HAYOPT_BAD		/* ours and wrong: msg says what is allowed */
};

/*
 * Reads one line, whose text after the keyword is split into "ac" words at
 * "av". A line of a block that does not apply ("active" is 0) is checked and
 * has no effect. Sets "msg", always terminated: for HAYOPT_ACCEPTED to "" or to
 * a note for the debug log, once per keyword and process; for the others to the
 * message.
 */
enum hayopt_result hayopt_read_line(int side, enum hayopt_layer layer,
    const char *keyword, int ac, char **av, int active,
    char *msg, size_t msglen);

/*
 * Returns whether the keyword is one of ours on that side. HAYOPT_FOREIGN is a
 * keyword of other builds of OpenSSH: it is ours only if upstream does not know
 * it.
 */
enum hayopt_claim { HAYOPT_UNKNOWN, HAYOPT_OURS, HAYOPT_FOREIGN };
enum hayopt_claim hayopt_classify(int side, const char *keyword);

/*
 * Returns upstream's name, in lower case, of a HAYOPT_FOREIGN keyword; NULL if
 * it has none.
 */
const char *hayopt_upstream_name(int side, const char *keyword);

/*
 * Replaces names in the value of Ciphers or of ssh -c, in place: HPN-SSH's own
 * names become the stock names of the same ciphers, each of them once. A list
 * of ciphers to remove ('-') is not changed, because no list contains HPN-SSH's
 * names. Returns 1 if anything was replaced. The text does not become longer.
 */
int	hayopt_replace_ciphers(char *text);

/*
 * Returns NULL if "list" is one of names for TransferHosts: 1 to
 * HAYOPT_HOSTS_MAX of them, with commas between. Otherwise what is allowed.
 */
const char *hayopt_refuse_hosts(const char *list);

/*
 * Writes the i-th option as "ssh -G" and "sshd -T" show it: "name value", the
 * name in lower case, sizes in bytes. Returns 0, or -1 behind the last option.
 */
int	hayopt_dump(int side, size_t i, char *buf, size_t len);

/* Forgets all values. For tests. */
void	hayopt_reset(void);

#endif /* HAYATE_HAYOPT_H */
