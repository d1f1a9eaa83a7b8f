/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * libssh-server ADDRESS PORT HOST-KEY USER.PUB: an SSH server of libssh, which
 * takes that key and runs one command for each connection. The command gets its
 * input when that has ended. Prints "ready" when it listens.
 */

#include <sys/types.h>
#include <sys/wait.h>

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* So it calls what its own examples use. */
#define SSH_SUPPRESS_DEPRECATED

#include <libssh/libssh.h>
#include <libssh/server.h>

static ssh_key user;

static void
authenticate(ssh_message m)
{
	enum ssh_publickey_state_e state =
	    ssh_message_auth_publickey_state(m);

	if (ssh_message_subtype(m) != SSH_AUTH_METHOD_PUBLICKEY ||
	    ssh_key_cmp(ssh_message_auth_pubkey(m), user,
	    SSH_KEY_CMP_PUBLIC) != 0) {
		ssh_message_auth_set_methods(m, SSH_AUTH_METHOD_PUBLICKEY);
		ssh_message_reply_default(m);
	} else if (state == SSH_PUBLICKEY_STATE_NONE)
		ssh_message_auth_reply_pk_ok_simple(m);
	else if (state == SSH_PUBLICKEY_STATE_VALID)
		ssh_message_auth_reply_success(m, 0);
	else
		ssh_message_reply_default(m);
}

/* What the client sends, in a file without a name, which is at its begin */
static FILE *
take_input(ssh_channel c)
{
	FILE *f = tmpfile();
	char buf[32768];
	int n;

	if (f == NULL)
		err(1, "tmpfile");
	while ((n = ssh_channel_read(c, buf, sizeof(buf), 0)) > 0)
		fwrite(buf, 1, (size_t)n, f);
	rewind(f);
	return f;
}

static void
run(ssh_channel c, const char *command)
{
	FILE *in = take_input(c), *out;
	char buf[32768];
	size_t n;
	int status;

	if (dup2(fileno(in), STDIN_FILENO) == -1)
		err(1, "dup2");
	if ((out = popen(command, "r")) == NULL)
		err(1, "popen");
	while ((n = fread(buf, 1, sizeof(buf), out)) > 0)
		ssh_channel_write(c, buf, (uint32_t)n);
	status = pclose(out);
	ssh_channel_request_send_exit_status(c, WEXITSTATUS(status));
	ssh_channel_send_eof(c);
	ssh_channel_close(c);
}

static void
serve(ssh_session s)
{
	ssh_channel c = NULL;
	ssh_message m;
	char *command;

	if (ssh_handle_key_exchange(s) != SSH_OK)
		errx(1, "%s", ssh_get_error(s));
	for (; (m = ssh_message_get(s)) != NULL; ssh_message_free(m)) {
		if (ssh_message_type(m) == SSH_REQUEST_AUTH)
			authenticate(m);
		else if (ssh_message_type(m) == SSH_REQUEST_CHANNEL_OPEN)
			c = ssh_message_channel_request_open_reply_accept(m);
		else if (ssh_message_subtype(m) == SSH_CHANNEL_REQUEST_EXEC &&
		    c != NULL && (command = strdup(
		    ssh_message_channel_request_command(m))) != NULL) {
			ssh_message_channel_request_reply_success(m);
			run(c, command);
		} else
			ssh_message_reply_default(m);
	}
	ssh_disconnect(s);
}

int
main(int argc, char **argv)
{
	ssh_bind b = ssh_bind_new();
	ssh_session s;

	if (argc != 5)
		errx(2, "usage: libssh-server ADDRESS PORT HOST-KEY USER.PUB");
	signal(SIGCHLD, SIG_IGN);
	ssh_bind_options_set(b, SSH_BIND_OPTIONS_BINDADDR, argv[1]);
	ssh_bind_options_set(b, SSH_BIND_OPTIONS_BINDPORT_STR, argv[2]);
	ssh_bind_options_set(b, SSH_BIND_OPTIONS_HOSTKEY, argv[3]);
	if (ssh_pki_import_pubkey_file(argv[4], &user) != SSH_OK)
		errx(1, "%s: no key", argv[4]);
	if (ssh_bind_listen(b) < 0)
		errx(1, "%s", ssh_get_error(b));
	puts("ready");
	fflush(stdout);
	for (;;) {
		if ((s = ssh_new()) == NULL ||
		    ssh_bind_accept(b, s) != SSH_OK)
			errx(1, "%s", ssh_get_error(b));
		if (fork() == 0) {
			signal(SIGCHLD, SIG_DFL);
			serve(s);
			_exit(0);
		}
		ssh_free(s);
	}
}
