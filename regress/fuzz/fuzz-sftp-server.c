/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fuzz-sftp-server: requests of any form, to upstream's sftp-server with our
 * hooks. An input is a list of messages: a byte that says whether the length in
 * front of the message is true, the length, and the message. Replies are read
 * by nobody.
 *
 * Run it in an empty directory, and not as root: what the server does to files
 * happens. The make target does so.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/* Upstream's file, with its variables; the process must not end with it. */
#define _exit(status)	fuzz_leave(status)
#include "sftp-server.c"
#undef _exit

#define FILE_MOST	(1024 * 1024)
#define MESSAGE_MOST	0xfff

static void
put_message(struct sshbuf *b, struct fuzz *f)
{
	unsigned how = fuzz_byte(f);
	size_t len = fuzz_pick(f, how & 1 ? MESSAGE_MOST : 0xff);
	u_int32_t said = (u_int32_t)len;

	len = MINIMUM(len, f->left);
	said = how < 0xf0 ? (u_int32_t)len : said << (how & 0xf);
	if (sshbuf_put_u32(b, said) != 0 || sshbuf_put(b, f->p, len) != 0)
		abort();
	f->p += len;
	f->left -= len;
}

/* Standard input holds INIT and the messages. */
static void
set_input(struct fuzz *f)
{
	struct sshbuf *b = sshbuf_new();
	int fd = memfd_create("requests", 0);

	if (b == NULL || fd == -1 || sshbuf_put_u32(b, 5) != 0 ||
	    sshbuf_put_u8(b, SSH2_FXP_INIT) != 0 || sshbuf_put_u32(b, 3) != 0)
		abort();
	while (f->left > 0)
		put_message(b, f);
	if (write(fd, sshbuf_ptr(b), sshbuf_len(b)) != (ssize_t)sshbuf_len(b) ||
	    lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) == -1)
		abort();
	close(fd);
	sshbuf_free(b);
}

static void
free_handles(void)
{
	u_int i;

	for (i = 0; i < num_handles; i++) {
		if (handle_is_ok(i, HANDLE_DIR))
			closedir(handles[i].dirp);
		else if (handle_is_ok(i, HANDLE_FILE))
			close(handles[i].fd);
		else
			continue;
		free(handles[i].name);
	}
	free(handles);
	handles = NULL;
	num_handles = 0;
	first_unused_handle = -1;
}

/* The server's variables as at its start */
static void
forget(void)
{
	free_handles();
	sshbuf_free(iqueue);
	sshbuf_free(oqueue);
	free(client_addr);
	if (pw != NULL) {
		free(pw->pw_name);
		free(pw->pw_passwd);
		free(pw->pw_gecos);
		free(pw->pw_dir);
		free(pw->pw_shell);
		free(pw);
	}
	iqueue = oqueue = NULL;
	client_addr = NULL;
	pw = NULL;
	version = 0;
	init_done = 0;
}

static void
begin(void)
{
	struct rlimit most = { FILE_MOST, FILE_MOST };
	int fd = open("/dev/null", O_WRONLY);

	if (fd == -1 || dup2(fd, STDOUT_FILENO) == -1 ||
	    setrlimit(RLIMIT_FSIZE, &most) == -1)
		abort();
	signal(SIGXFSZ, SIG_IGN);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int has_begun;
	char *argv[] = { "sftp-server", "-l", "QUIET", NULL };
	struct passwd user = { .pw_name = "fuzz", .pw_passwd = "",
	    .pw_gecos = "", .pw_dir = ".", .pw_shell = "/bin/sh" };
	struct fuzz f = { data, len };

	if (!has_begun)
		begin();
	has_begun = 1;
	set_input(&f);
	optind = 1;
	if (FUZZ_TRY())
		sftp_server_main(3, argv, &user);
	forget();
	return 0;
}
