/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The requests that go out before their turn (transfer/sftp/early-requests.h).
 *
 *   early-requests-test           the cases below; exits with 1 if one fails
 *   early-requests-test random N  N sets of random replies: none breaks it, and
 *                                 no answer has more bytes than requested
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "early-requests.h"

#define LSTAT	"\7iiii\0\0\0\1f"
#define STAT	"\21iiii\0\0\0\1f"
#define OPEN	"\3iiii\0\0\0\1f\0\0\0\1\0\0\0\0"
#define H	"\0\0\0\4\0\0\0\0"
#define CLOSE	"\4iiii" H
#define READ(at, n)	"\5iiii" H "\0\0\0\0\0\0\0" at "\0\0\0" n
#define WRITE	"\6iiii" H "\0\0\0\0\0\0\0\0\0\0\0\1x"
#define ATTRS(size, mode)	\
    "\151iiii\0\0\0\5\0\0\0\0\0\0\0" size "\0\0" mode
#define REGULAR	"\201\244"
#define FIFO	"\21\244"
#define HANDLE	"\146iiii" H
#define DATA3	"\147iiii\0\0\0\3abc"
#define DATA8	"\147iiii\0\0\0\10abcdefgh"
#define EOF_	"\145iiii\0\0\0\1\0\0\0\0\0\0\0\0"
#define OK	"\145iiii\0\0\0\0\0\0\0\0\0\0\0\0"
#define NONE	"\145iiii\0\0\0\2\0\0\0\0\0\0\0\0"

/* A string with its length, without the NUL at its end */
#define M(s)	{ s, sizeof(s) - 1 }
struct message {
	const char *p;
	size_t	 len;
};

static int failed;

static void
check(int ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s\n", what);
	failed = 1;
}

static struct early_requests *
make(const struct message *requests, size_t n)
{
	struct early_requests *o = early_requests_new();
	size_t i;

	if (o == NULL)
		err(1, NULL);
	for (i = 0; i < n; i++) {
		if (early_requests_add(o, requests[i].p, requests[i].len) != 0)
			errx(1, "request %zu", i);
	}
	return o;
}

/* The reply to request i, or 0 if it is not taken. */
static int
reply(struct early_requests *o, unsigned int i, struct message m)
{
	char *copy = malloc(m.len);
	int r;

	if (copy == NULL)
		err(1, NULL);
	memcpy(copy, m.p, m.len);
	memcpy(copy + 1, (char[]){ '\200', 0, 0, i }, 4);
	r = early_requests_keep_reply(o, copy, m.len);
	free(copy);
	return r;
}

/* What is said to a request: "": it is to be sent; "+" before: both */
static const char *
ask(struct early_requests *o, struct message m)
{
	static char text[64];
	size_t len = 0;
	int sends;
	const char *p = early_requests_find_reply(o, m.p, m.len, &len, &sends);

	if (p == NULL)
		return "";
	check(memcmp(p + 1, m.p + 1, 4) == 0, "an answer has the ID");
	snprintf(text, sizeof(text), "%s%d %zu", sends ? "+" : "",
	    (unsigned char)p[0], len);
	return text;
}

#define ASKS(o, m, want, what)	\
    check(strcmp(ask(o, (struct message)M(m)), want) == 0, what)

static const struct message get[] = { M(LSTAT), M(STAT), M(OPEN),
    M(READ("\0", "\10")), M(READ("\10", "\10")) };

static struct early_requests *
got(struct message attrs, struct message first, struct message second)
{
	struct early_requests *o = make(get, 5);

	check(!early_requests_are_answered(o), "no reply was received");
	check(reply(o, 0, attrs) == 1 && reply(o, 1, attrs) == 1 &&
	    reply(o, 2, (struct message)M(HANDLE)) == 1 &&
	    reply(o, 3, first) == 1, "replies are kept");
	check(reply(o, 3, first) == 0, "a second one is not");
	check(reply(o, 5, first) == 0, "nor one to nothing");
	check(!early_requests_are_answered(o), "one is missing");
	check(reply(o, 4, second) == 1, "the last is kept");
	check(early_requests_are_answered(o), "all are there");
	return o;
}

static void
test_get(void)
{
	const struct message eof = M(EOF_), three = M(DATA3), eight = M(DATA8);
	struct early_requests *o = got((struct message)M(ATTRS("\3", REGULAR)),
	    three, eof);

	ASKS(o, LSTAT, "105 21", "lstat");
	ASKS(o, LSTAT, "", "nothing is used twice");
	ASKS(o, OPEN, "102 13", "open");
	ASKS(o, STAT, "", "nothing older is used");
	ASKS(o, READ("\0", "\2"), "", "more than was asked for");
	ASKS(o, READ("\0", "\3"), "103 12", "what was asked for");
	ASKS(o, READ("\3", "\377"), "101 17", "the end");
	ASKS(o, CLOSE, "+101 17", "close is answered, and sent");
	early_requests_free(o);

	o = got((struct message)M(ATTRS("\4", REGULAR)), three, eof);
	ASKS(o, OPEN, "102 13", "open");
	ASKS(o, READ("\0", "\10"), "103 12", "less than the size");
	ASKS(o, READ("\3", "\5"), "", "is not the end");
	ASKS(o, READ("\10", "\5"), "101 17", "but this is");
	early_requests_free(o);

	o = got((struct message)M(NONE), three, eof);
	ASKS(o, OPEN, "102 13", "open");
	ASKS(o, READ("\0", "\10"), "103 12", "no size is known");
	ASKS(o, READ("\3", "\5"), "", "so no end is");
	early_requests_free(o);

	o = got((struct message)M(ATTRS("\20", REGULAR)), eight, eight);
	ASKS(o, OPEN, "102 13", "open");
	ASKS(o, READ("\0", "\100"), "", "a large file is read");
	ASKS(o, READ("\10", "\70"), "", "as ever");
	ASKS(o, CLOSE, "+101 17", "and is closed");
	early_requests_free(o);

	o = got((struct message)M(ATTRS("\3", REGULAR)), three,
	    (struct message)M(NONE));
	check(early_requests_have_failed(o), "a READ that fails");
	ASKS(o, LSTAT, "105 21", "changes nothing before");
	ASKS(o, OPEN, "", "and makes the file open again");
	ASKS(o, READ("\0", "\3"), "", "and read");
	early_requests_free(o);

	o = make(get, 5);
	check(reply(o, 0, (struct message)M(ATTRS("\0", FIFO))) == 1 &&
	    !early_requests_are_answered(o), "a FIFO has attributes");
	check(reply(o, 1, (struct message)M(ATTRS("\0", FIFO))) == 1 &&
	    early_requests_are_answered(o) && early_requests_are_stuck(o),
	    "and is not opened");
	ASKS(o, STAT, "105 21", "is looked at");
	ASKS(o, STAT, "105 21", "and again, while the server opens it");
	ASKS(o, OPEN, "", "a missing reply is no answer");
	early_requests_free(o);
}

static const struct message put[] = { M(STAT), M(OPEN), M(WRITE), M(CLOSE) };

/* A put of which request "fails", which is none of 4 */
static struct early_requests *
stored(unsigned int fails)
{
	static const struct message replies[] = { M(NONE), M(HANDLE), M(OK),
	    M(OK) };
	struct early_requests *o = make(put, 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		check(reply(o, i, i == fails ? (struct message)M(NONE) :
		    replies[i]) == 1, "put");
	return o;
}

static void
test_put(void)
{
	struct early_requests *o = stored(4);
	unsigned int i;

	check(!early_requests_have_failed(o), "all went well");
	ASKS(o, STAT, "101 17", "stat");
	ASKS(o, OPEN "x", "", "another open");
	ASKS(o, OPEN, "102 13", "open");
	ASKS(o, CLOSE, "101 17", "close waits for the server's answer");
	ASKS(o, CLOSE, "", "once");
	early_requests_free(o);
	for (i = 1; i < 4; i++) {
		o = stored(i);
		check(early_requests_have_failed(o), "one has failed");
		ASKS(o, STAT, "101 17", "stat");
		ASKS(o, OPEN, "", "the file is opened again");
		ASKS(o, WRITE, "", "written again");
		ASKS(o, CLOSE, "", "and closed");
		early_requests_free(o);
	}
	o = stored(4);
	ASKS(o, OPEN "x", "", "a different file is opened");
	ASKS(o, WRITE, "", "so its handle is another");
	ASKS(o, CLOSE, "", "and is to be closed");
	early_requests_free(o);
	o = make(put, 1);
	check(reply(o, 0, (struct message)M(NONE)) == 1, "put");
	ASKS(o, STAT, "101 17", "stat alone");
	early_requests_free(o);
	o = make(put, 4);
	check(reply(o, 0, (struct message)M(ATTRS("\0", FIFO))) == 1 &&
	    !early_requests_are_answered(o),
	    "a FIFO to write into is waited for");
	early_requests_free(o);
	check(early_requests_add(o = make(put, 4), "abcd", 4) == -1,
	    "too short");
	for (i = 4; i < 8; i++)
		check(early_requests_add(o, "abcde", 5) == 0, "eight requests");
	check(early_requests_add(o, "abcde", 5) == -1, "and no more");
	early_requests_free(o);
}

static unsigned int
below(unsigned int n)
{
	return (unsigned int)random() % n;
}

/* A reply that is nearly right */
static struct message
random_reply(char *room)
{
	static const struct message like[] = { M(ATTRS("\3", REGULAR)),
	    M(HANDLE), M(DATA3), M(DATA8), M(EOF_), M(NONE) };
	struct message m = like[below(6)];
	unsigned int i;

	memcpy(room, m.p, m.len);
	for (i = below(3); i > 0; i--)
		room[below(m.len)] = random();
	if (!below(3))
		m.len = 5 + below(m.len - 4);
	return (struct message){ room, m.len };
}

static void
test_random(unsigned long n)
{
	static const struct message asked[] = { M(LSTAT), M(STAT), M(OPEN),
	    M(READ("\0", "\10")), M(READ("\3", "\4")), M(READ("\10", "\2")),
	    M(CLOSE), M("\5"), M("\5iiii") };
	char room[64];
	struct early_requests *o;
	const unsigned char *p;
	size_t len;
	unsigned int i;
	int sends;

	for (; n > 0; n--) {
		o = make(get, 5);
		for (i = 0; i < 5; i++)
			(void)reply(o, i, random_reply(room));
		(void)early_requests_are_answered(o);
		for (i = 0; i < 12; i++) {
			struct message m = asked[below(9)];

			p = early_requests_find_reply(o, m.p, m.len, &len,
			    &sends);
			check(p == NULL || m.p[0] != 5 || p[0] != 103 ||
			    len - 9 <= (unsigned char)m.p[m.len - 1],
			    "an answer with too many bytes");
		}
		early_requests_free(o);
	}
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "random") == 0)
		test_random(strtoul(argv[2], NULL, 10));
	else {
		test_get();
		test_put();
	}
	return failed;
}
