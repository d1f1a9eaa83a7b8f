/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * longopt: the long options of scp and sftp.
 *
 * Upstream's scp and sftp read short options with getopt(3). The long ones are
 * taken out of argv before getopt sees it. Options end where they end for
 * getopt: at "--", or at the first word that is no option. The argument of a
 * short option is no option, however it looks.
 *
 * "-j N" is a short option of ours. ssh has to know it as well, so it becomes
 * "-oTransferStreams=N", which scp and sftp give to ssh.
 *
 * To add one: a field in struct longopt, and a row in the table of longopt.c.
 *
 * No upstream header.
 */

#ifndef HAYATE_LONGOPT_H
#define HAYATE_LONGOPT_H

#include <stddef.h>

struct longopt {
	int	 resume;		/* --resume */
	int	 checksum;		/* --checksum */
	const char *files_from;		/* --files-from LIST; NULL: none */
	int	 from0;			/* --from0 */
	const char *hosts;		/* --hosts LIST; NULL: none */
	const char *report;		/* --report FILE; NULL: none */
	const char *journal;		/* --journal FILE; NULL: none */
	const char *retry;		/* --retry TIME, not checked; or NULL */
	int	 streams;		/* -j was there */
	int	 one_stream;		/* -j 1 was there */

	int	 help;			/* --help */

	int	 recursive;		/* -r was there */
	int	 preserve;		/* -p was there */
	int	 into_dir;		/* scp -d was there */
	int	 away;			/* scp -R, and no -3 after it */
	int	 old_protocol;		/* scp -O was there */
	int	 direct;		/* -D was there: no ssh */
	int	 server;		/* scp -t or -f */
	int	 unknown;		/* a letter that upstream has not */
	int	 operands;		/* index of the first in the new argv */
};

/* The program that has an option, or is running; LONGOPT_BOTH: an option */
enum longopt_of { LONGOPT_BOTH, LONGOPT_SCP, LONGOPT_SFTP };

/*
 * Takes the long options out of argv, replaces -j, and sets fields of "o",
 * which is all 0 before and then points into argv. "letters" are the short
 * options, as upstream names them for getopt(3). Returns the new argc, or -1
 * with the reason in "why", for the user; argv cannot be used then.
 */
int	longopt_take(struct longopt *o, enum longopt_of, int argc, char **argv,
    const char *letters, char *why, size_t whylen);

/* Writes a line for each option of ours, as far as there is room. */
void	longopt_help(enum longopt_of, char *text, size_t len);

/* Writes the long options as a usage does: "[--a] [--b FILE]". */
void	longopt_usage(enum longopt_of, char *text, size_t len);

#endif /* HAYATE_LONGOPT_H */
