/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See cliopt-hook.h. A client uses one layer of options. ssh may read its files
 * twice (Match final, canonical host names); the first value of the first pass
 * wins, as it does for upstream's options.
 *
 * scp and sftp are told of "Hayate no" as soon as the line is read, because an
 * ssh that passes its session to a ControlMaster runs none of our code later.
 * So with "HPNDisabled yes" followed by "Hayate yes", Hayate is in use, but the
 * requests of scp and sftp are stock's.
 */

#include "includes.h"

#include <string.h>

#include "cliopt-hook.h"
#include "extra-conn-hook.h"
#include "optline-hook.h"
#include "prompted-hook.h"
#include "rendezvous.h"

/* Weak: another program that reads options does not link it. */
extern void	spawn_quiet_jump(void) __attribute__((weak));
extern void	spawn_resolve_hosts(void) __attribute__((weak));

static int has_hosts;		/* that the command line names */

int
cliopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int *ret)
{
	struct optline_table table = { first, stride };
	int ours;

	extra_conn_begin();
	ours = optline_read(HAYOPT_CLIENT, HAYOPT_GLOBAL, table, keyword,
	    rest, filename, linenum, active, ret);

	if (ours && !hayopt_get()->hayate)
		rendezvous_set_stock();
	if (strcmp(filename, "command-line") == 0)
		has_hosts = hayopt_get()->transfer_hosts != NULL;
	return ours;
}

void
cliopt_replace_ciphers(char *list)
{
	optline_replace_ciphers(list, "command-line", 0);
}

void
cliopt_log_deferred(void)
{
	optline_log_deferred();
	if (spawn_quiet_jump != NULL)
		spawn_quiet_jump();
	if (has_hosts && spawn_resolve_hosts != NULL)
		spawn_resolve_hosts();
	if (hayopt_get()->hayate && (hayopt_get()->transfer_streams != 1 ||
	    hayopt_get()->transfer_hosts != NULL))
		prompted_begin();
}

void
cliopt_dump(void)
{
	optline_dump(HAYOPT_CLIENT);
}
