/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See journald.h for the idea. */

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "journald.h"

/* Adds a field for each word "name=value" of the line. */
static void
put_fields(FILE *out, const char *line)
{
	size_t len, name, i;

	for (; *line != '\0'; line += len + (line[len] == ' ')) {
		len = strcspn(line, " ");
		name = strcspn(line, "= ");
		if (name == 0 || name >= len)
			continue;
		fputs("HAYATE_", out);
		for (i = 0; i < name; i++)
			fputc(toupper((unsigned char)line[i]), out);
		fprintf(out, "%.*s\n", (int)(len - name), line + name);
	}
}

/* Returns the length of the message in "buf", or 0 if it does not fit. */
static size_t
compose_message(char *buf, size_t size, const char *identifier, int facility,
    const char *line)
{
	FILE *out = fmemopen(buf, size, "w");
	long len;

	if (out == NULL)
		return 0;
	fprintf(out, "MESSAGE=%s\nMESSAGE_ID=%s\nPRIORITY=%d\n"
	    "SYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=%s\nSYSLOG_PID=%ld\n",
	    line, JOURNALD_ID, LOG_INFO, LOG_FAC(facility), identifier,
	    (long)getpid());
	put_fields(out, line);
	len = fflush(out) == 0 && !ferror(out) ? ftell(out) : 0;
	fclose(out);
	return len > 0 && (size_t)len < size ? (size_t)len : 0;
}

static int
has_control(const char *text)
{
	for (; *text != '\0'; text++) {
		if (iscntrl((unsigned char)*text))
			return 1;
	}
	return 0;
}

int
journald_send(const char *socket_path, const char *identifier, int facility,
    const char *line)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char buf[8192];
	size_t len;
	ssize_t n;
	int fd;

	if (has_control(line) || strlen(socket_path) >= sizeof(to.sun_path) ||
	    (len = compose_message(buf, sizeof(buf), identifier, facility,
	    line)) == 0)
		return -1;
	memcpy(to.sun_path, socket_path, strlen(socket_path));
	if ((fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	n = sendto(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL,
	    (struct sockaddr *)&to, sizeof(to));
	close(fd);
	return n == (ssize_t)len ? 0 : -1;
}
