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
 * Values are kept in two layers. In each, the first value of a keyword wins,
 * and our keyword wins over HPN-SSH's for the same option. The match layer has
 * the values of the Match blocks that apply when sshd reads its configuration a
 * second time; it overrides the global layer. A client has only the global one:
 * when it reads a line, it knows whether the line's block applies.
 *
 * This file reads no file, logs nothing and includes no upstream header: texts
 * for the log are returned, and the caller passes in how much memory there is.
 * One state per process. Not thread safe.
 */

#ifndef HAYATE_HAYOPT_H
#define HAYATE_HAYOPT_H

#include <stddef.h>
#include <stdint.h>

#define HAYOPT_THREADS_AUTO	(-1)	/* as many threads as help */
#define HAYOPT_THREADS_MAX	16	/* largest number of CipherThreads */
#define HAYOPT_NAME_MAX		15	/* characters: TCP_CA_NAME_MAX - 1 */
#define HAYOPT_STREAMS_AUTO	0	/* as many connections as help */
#define HAYOPT_STREAMS_MAX	8	/* largest number of TransferStreams */
#define HAYOPT_HOSTS_MAX	7	/* besides the named host */
#define HAYOPT_HOSTS_ALL "all"	/* all addresses of the named host */
#define HAYOPT_HOSTS_LEN	512	/* bytes of the list, with its NUL */

/*
 * EarlyLogin: whether a login sends requests before the replies that it waits
 * for; YES: to any server, AUTO: to those known to accept that.
 */
enum hayopt_early { HAYOPT_EARLY_NO, HAYOPT_EARLY_YES, HAYOPT_EARLY_AUTO };

/*
 * The values in force: those configured, also by HPN-SSH's keywords, or the
 * defaults; an option that the program does not have is at its default. With
 * "Hayate no", window_max, window_memory_max, happy_delay and version_details
 * stay as configured, and all others mean stock behaviour: 0, NULL,
 * HAYOPT_EARLY_NO, one connection.
 */
struct hayopt {
	int		hayate;		/* 0: behave as stock OpenSSH */
	int		window_tuning;	/* 1: windows follow the path */
	int		avoid_bufferbloat; /* 1: they leave no queue on it */
	uint64_t	window_max;	/* bytes, limit of one channel */
	uint64_t	window_memory_max; /* bytes, sum over the process */
	int		none_enabled;	/* 1: unencrypted data is permitted */
	int		none_switch;	/* client, 1: asks for data in clear */
	int		cipher_threads;	/* up to 16; 0: none; _THREADS_AUTO */
	const char	*congestion_control; /* NULL: the kernel's default */
	uint64_t	max_rate;	/* bytes/s to a socket; 0: no limit */
	int		transfer_streams; /* client, 1 to 8 or _STREAMS_AUTO */
	const char	*transfer_hosts; /* client, list or "all"; NULL: none */
	enum hayopt_early early_login;	/* client */
	int		session_log;	/* server, 1: one line per connection */
	int		tell_limits;	/* server, 1: sends its stall_stats */
	int		version_details; /* 1: long banner */
	int		happy_eyes;	/* client, 1: several at a time */
	uint64_t	happy_delay;	/* client, ms; 0: the default */
	int		use_mptcp;	/* 1: sockets of MPTCP, if possible */
};

/*
 * Returns the options in force in this process; never NULL. Before any parsing
 * these are the defaults. The structure and its strings are static, and the
 * next call updates them. Do not keep copies of values: in sshd those of a
 * Match block are known only once the user is. Cheap: a call tests one flag
 * unless something has changed since the last one. Callers that need window_max
 * or window_memory_max use machine_options() instead.
 */
const struct hayopt *hayopt_get(void);

/*
 * Sets the memory of the machine in bytes, from which the default of WindowMax
 * follows: a 32nd of it, from 64 MiB to 256 MiB. Before the first call, and
 * with 0 (not known), the default is 64 MiB. Called by machine-hook.c.
 */
void	hayopt_set_memory(uint64_t bytes);

/*
 * Says whether the user of the session can run only one forced command, or is
 * in a chroot, and so can use up no memory but that of this process. If this is
 * so and WindowMax is not configured, the default of WindowMemoryMax is 64 MiB;
 * in all other cases it is twice WindowMax, and at least 256 MiB. A configured
 * WindowMemoryMax stays in force.
 */
void	hayopt_set_confined(int is_confined);

/*
 * For the parsers.
 */

/* The program whose configuration is read; "side" is one of these. */
#define HAYOPT_CLIENT	0x1
#define HAYOPT_SERVER	0x2

/* MATCH is for sshd's second pass, and overrides GLOBAL; see above. */
enum hayopt_layer { HAYOPT_GLOBAL, HAYOPT_MATCH };

enum hayopt_result {
	HAYOPT_PASS,		/* not our keyword: upstream reads the line */
	HAYOPT_ACCEPTED,	/* log "msg" for debugging, if it is not "" */
	HAYOPT_ACCEPTED_LOUD,	/* valid, but log "msg" as an error */
	HAYOPT_STOP,		/* RefuseConnection: end with "msg" as error */
	HAYOPT_BAD		/* invalid value: "msg" says what is allowed */
};

/*
 * Reads one line and stores its value, which hayopt_get() has from then on. A
 * value that is already stored for this keyword in this layer stays, without a
 * message. The case of "keyword" does not count. "av" has the "ac" words behind
 * it, and is not kept. If "active" is 0, because the block of the line does not
 * apply, the line is only checked: HAYOPT_PASS, HAYOPT_ACCEPTED or HAYOPT_BAD.
 * A missing, empty or second value is HAYOPT_BAD, and nothing is stored.
 *
 * "msg" is always NUL terminated and may be truncated. The messages that a
 * keyword has no effect, and that WindowMemoryMax is below WindowMax, are given
 * once per process and keyword; later lines are HAYOPT_ACCEPTED without one.
 * The latter is an error for the user (HAYOPT_ACCEPTED_LOUD) only if both are
 * configured.
 */
enum hayopt_result hayopt_read_line(int side, enum hayopt_layer layer,
    const char *keyword, int ac, char **av, int active,
    char *msg, size_t msglen);

/*
 * Says whose keyword it is on that side. HAYOPT_OURS includes HPN-SSH's
 * keywords, also those that have no effect. HAYOPT_FOREIGN means a keyword of
 * other builds of OpenSSH: upstream reads the line if it knows the keyword, or
 * if there is a hayopt_upstream_name(); otherwise hayopt_read_line() does. All
 * other keywords are HAYOPT_UNKNOWN, and upstream reads the line.
 */
enum hayopt_claim { HAYOPT_UNKNOWN, HAYOPT_OURS, HAYOPT_FOREIGN };
enum hayopt_claim hayopt_classify(int side, const char *keyword);

/*
 * Returns the name, in lower case, under which upstream has the option of a
 * HAYOPT_FOREIGN keyword; NULL if it has none, or for any other keyword. The
 * text is constant.
 */
const char *hayopt_upstream_name(int side, const char *keyword);

/*
 * Replaces HPN-SSH's name of ChaCha20 by the stock name, in place, in a value
 * of Ciphers, which may be in quotes, or of ssh -c. A list with both names
 * keeps the first. A list that begins with '-' stays as it is: it removes
 * ciphers from the default list, which has no name of HPN-SSH. Text behind the
 * list is kept. Returns 1 if anything was replaced, else 0. The text never
 * becomes longer.
 */
int	hayopt_replace_ciphers(char *text);

/*
 * Checks a list of host names for TransferHosts, or "all": 1 to
 * HAYOPT_HOSTS_MAX names, separated by commas, of less than HAYOPT_HOSTS_LEN
 * bytes in all. A name must not be empty, begin with '-', or have spaces,
 * control characters or special characters of the shell; nothing is looked up.
 * Returns NULL if the list is valid, or a constant text that says what is
 * allowed.
 */
const char *hayopt_refuse_hosts(const char *list);

/*
 * Writes the i-th option of that side, from 0 on, as "ssh -G" and "sshd -T"
 * show it: "name value" without a newline, the name in lower case, sizes in
 * bytes, values and defaults as without "Hayate no". Keywords of HPN-SSH and of
 * other builds are not among them. Returns 0, or -1 after the last option, with
 * nothing written. A "len" of 64 + HAYOPT_HOSTS_LEN is enough for any.
 */
int	hayopt_dump(int side, size_t i, char *buf, size_t len);

/*
 * For tests: forgets the parsed values, and which messages were given. Keeps
 * memory and confinement.
 */
void	hayopt_reset(void);

#endif /* HAYATE_HAYOPT_H */
