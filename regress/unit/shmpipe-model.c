/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * shmpipe-model: what a buffer with an attached slot (channels/shmpipe-hook.h)
 * means to others: a child, whoever closes the descriptor, and a link that
 * looks for room. One process plays both ends. Prints the first claim that does
 * not hold and exits with 1.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sshbuf.h"

#include "shmpipe-hook.h"

#define SLOT	(256 * 1024)
#define LEN	200000
#define SLOTS	8

static int in[2], out[2];	/* of the program: a pipe, sockets */
static u_char bytes[SLOT];

static void
claim(int so, const char *what)
{
	if (!so)
		errx(1, "not so: %s (errno %d)", what, errno);
}

static void
fill(u_char with)
{
	memset(bytes, with, sizeof(bytes));
}

/* Both ends are this process's: what out[1] gets is read from out[0]. */
static void
begin(void)
{
	size_t n;
	struct sshbuf *b = sshbuf_new();

	claim(b != NULL && pipe(in) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM, 0, out) == 0 &&
	    fcntl(out[0], F_SETFL, O_NONBLOCK) == 0 &&
	    fcntl(out[1], F_SETFL, O_NONBLOCK) == 0, "there are descriptors");
	shmpipe_offer(in, out);
	shmpipe_accept(in[0], out[1]);
	fill(1);
	claim(shmpipe_write(out[1], bytes, 10) == 10 &&
	    shmpipe_read(out[0], b, SLOT, &n) == 0 && n == 10,
	    "a record arrives");
	sshbuf_free(b);
}

static void
end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		shmpipe_forget(in[i]);
		shmpipe_forget(out[i]);
		close(in[i]);
		close(out[i]);
	}
}

static struct sshbuf *
attach_slot(u_char with)
{
	struct sshbuf *b = sshbuf_new();
	size_t n;

	fill(with);
	claim(b != NULL && shmpipe_write(out[1], bytes, LEN) == LEN &&
	    shmpipe_read(out[0], b, SLOT, &n) == 0 && n == LEN &&
	    sshbuf_ptr(b)[LEN - 1] == with, "a slot is read");
	return b;
}

/* sshd-session starts a program while a transfer goes on. */
static void
check_child(void)
{
	struct sshbuf *b;
	int go[2], status, i;
	pid_t child;

	begin();
	b = attach_slot(2);
	claim(pipe(go) == 0, "there is a pipe");
	if ((child = fork()) == 0) {
		close(go[1]);
		(void)read(go[0], bytes, 1);
		shmpipe_forget(out[0]);
		sshbuf_free(b);
		_exit(0);
	}
	for (i = 0; i < SLOTS; i++) {
		sshbuf_free(b);
		b = attach_slot((u_char)(3 + i));
	}
	close(go[1]);
	claim(waitpid(child, &status, 0) == child && status == 0,
	    "a child closes what it does not need");
	claim(shmpipe_write(out[1], bytes, LEN) == LEN,
	    "and the parent has room");
	sshbuf_free(b);
	close(go[0]);
	end();
}

/* What was read stays when the descriptor is closed. */
static void
check_closing(void)
{
	struct sshbuf *b;

	begin();
	b = attach_slot(7);
	shmpipe_forget(out[0]);
	claim(sshbuf_len(b) == LEN && sshbuf_ptr(b)[0] == 7 &&
	    sshbuf_ptr(b)[LEN - 1] == 7, "the content outlives the memory");
	sshbuf_free(b);
	end();
}

/* What was consumed is there until the next read (process_write()). */
static void
check_consumed(void)
{
	struct sshbuf *b;
	const u_char *p;
	size_t i, n;

	begin();
	b = attach_slot(9);
	p = sshbuf_ptr(b);
	claim(sshbuf_consume(b, LEN) == 0, "all is consumed");
	fill(10);
	while (shmpipe_write(out[1], bytes, LEN) == LEN)
		;
	claim(errno == EAGAIN && shmpipe_is_full(out[1], 0), "a ring is full");
	for (i = 0; i < LEN; i++)
		claim(p[i] == 9, "what was consumed stays");
	claim(shmpipe_read(out[0], b, SLOT, &n) == 0 && n == LEN &&
	    sshbuf_ptr(b)[0] == 10, "the next one comes");
	claim(!shmpipe_is_full(out[1], 0), "and there is room");
	sshbuf_free(b);
	end();
}

/* A reader that frees nothing: the writer may write, which is an error. */
static void
check_withheld(void)
{
	char record[16];
	int n = 0;

	begin();
	while (shmpipe_write(out[1], bytes, 1) == 1)
		claim(read(out[0], record, sizeof(record)) ==
		    (ssize_t)sizeof(record) && n++ < 100, "a record is taken");
	claim(errno == EPROTO && !shmpipe_is_full(out[1], 0),
	    "nobody waits for a stalled reader");
	end();
}

/* Returns the length of the next slot, which has "with" in it. */
static size_t
next_slot(u_char with)
{
	struct sshbuf *b = sshbuf_new();
	size_t n;

	claim(b != NULL && shmpipe_read(out[0], b, SLOT, &n) == 0 &&
	    sshbuf_ptr(b)[0] == with && sshbuf_ptr(b)[n - 1] == with,
	    "a slot comes in its turn");
	sshbuf_free(b);
	return n;
}

/* What was gathered goes at once, and each message in a slot of its own. */
static void
check_gathered(void)
{
	static u_char three[2 * LEN + 100];

	begin();
	memset(three, 1, 100);
	memset(three + 100, 2, LEN);
	memset(three + 100 + LEN, 3, LEN);
	shmpipe_set_record_size(out[1], LEN);
	claim(shmpipe_write(out[1], three, sizeof(three)) == sizeof(three),
	    "all of it is written");
	claim(next_slot(1) == 100 && next_slot(2) == LEN &&
	    next_slot(3) == LEN, "and cut where messages begin");
	claim(shmpipe_record_size(out[0]) == LEN, "the usual length is known");
	end();
}

/* A program that cannot be started leaves numbers, which others get. */
static void
check_not_started(void)
{
	struct sshbuf *b = sshbuf_new();
	int next[2];
	size_t n;

	claim(b != NULL && pipe(in) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM, 0, out) == 0, "there are files");
	shmpipe_offer(in, out);
	claim(pipe(next) == 0 && dup2(next[0], out[0]) == out[0] &&
	    dup2(next[1], in[1]) == in[1], "their numbers are another's");
	claim(shmpipe_write(in[1], "hello", 5) == 5 &&
	    shmpipe_read(out[0], b, SLOT, &n) == 0 && n == 5 &&
	    memcmp(sshbuf_ptr(b), "hello", 5) == 0, "and its bytes pass");
	sshbuf_free(b);
	close(next[0]);
	close(next[1]);
	end();
}

static void
check_cut(void)
{
	claim(shmpipe_split(100, 0) == 100 && shmpipe_split(100, 200) == 100 &&
	    shmpipe_split(200, 200) == 200 && shmpipe_split(400, 200) == 200 &&
	    shmpipe_split(450, 200) == 50,
	    "records of the usual size are at the end");
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	check_child();
	check_closing();
	check_consumed();
	check_withheld();
	check_gathered();
	check_not_started();
	check_cut();
	puts("ok");
	return 0;
}
