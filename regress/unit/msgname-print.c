/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * msgname-print: prints the name that msgname_peek() returns for a message.
 *
 *   msgname-print [no-memory]
 *
 * With an argument, malloc() fails for the copy of the name.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "packet.h"

#include "msgname-hook.h"

#define NAME	"a name of a length that is used for nothing else"

void *__real_malloc(size_t);
void *__wrap_malloc(size_t);
const u_char *__wrap_sshpkt_ptr(struct ssh *, size_t *);

static int malloc_fails;

void *
__wrap_malloc(size_t len)
{
	return malloc_fails && len == sizeof(NAME) ? NULL : __real_malloc(len);
}

const u_char *
__wrap_sshpkt_ptr(struct ssh *ssh, size_t *len)
{
	static u_char message[4 + sizeof(NAME) - 1] = { 0, 0, 0 };

	(void)ssh;
	message[3] = sizeof(NAME) - 1;
	memcpy(message + 4, NAME, sizeof(NAME) - 1);
	*len = sizeof(message);
	return message;
}

int
main(int argc, char **argv)
{
	char *name;

	(void)argv;
	log_init("msgname-print", SYSLOG_LEVEL_INFO, SYSLOG_FACILITY_AUTH, 1);
	malloc_fails = argc > 1;
	name = msgname_peek(NULL);
	printf("%s\n", name == NULL ? "no name" : name);
	free(name);
	return 0;
}
