/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See json.h. */

#include <string.h>

#include "json.h"

static const char digits[] = "0123456789abcdef";

/*
 * Returns the length of the character of UTF-8 that "s" begins with, or 0 if it
 * is none: overlong, a surrogate, or beyond U+10FFFF.
 */
static size_t
utf8_len(const unsigned char *s)
{
	size_t n, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

int
json_is_text(const char *s)
{
	size_t n;

	for (; *s != '\0'; s += n) {
		if ((n = utf8_len((const unsigned char *)s)) == 0)
			return 0;
	}
	return 1;
}

static size_t
put_literal(char *out, const char *text)
{
	size_t n = strlen(text);

	memcpy(out, text, n);
	return n;
}

/*
 * A character of more than one byte that tells a terminal something else than
 * to show it: C1, or a control of the direction of text. Returns it, or 0.
 */
static unsigned int
terminal_control(const unsigned char *s, size_t n)
{
	unsigned int c;

	if (n == 2)
		c = (s[0] & 0x1fU) << 6 | (s[1] & 0x3fU);
	else if (n == 3)
		c = (s[0] & 0xfU) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
	else
		return 0;
	return c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f ||
	    (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ?
	    c : 0;
}

/* At most 16 bits */
static size_t
escape_unit(char *out, unsigned int c)
{
	int shift;

	*out++ = '\\';
	*out++ = 'u';
	for (shift = 12; shift >= 0; shift -= 4)
		*out++ = digits[c >> shift & 15];
	return JSON_BYTE;
}

/* One byte that is a character of its own */
static size_t
escape_byte(char *out, unsigned char c)
{
	if (c == '"' || c == '\\') {
		out[0] = '\\';
		out[1] = (char)c;
		return 2;
	}
	if (c >= 0x20 && c != 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	return escape_unit(out, c);
}

size_t
json_escape(char *out, const char *s)
{
	const char *from = out;
	unsigned int c;
	size_t n;

	while (*s != '\0') {
		n = utf8_len((const unsigned char *)s);
		if (n == 0)
			out += put_literal(out, "\\ufffd");
		else if (n == 1)
			out += escape_byte(out, (unsigned char)*s);
		else if ((c = terminal_control((const unsigned char *)s, n)) !=
		    0)
			out += escape_unit(out, c);
		else {
			memcpy(out, s, n);
			out += n;
		}
		s += n == 0 ? 1 : n;
	}
	*out = '\0';
	return (size_t)(out - from);
}

size_t
json_hex(char *out, const char *s)
{
	const char *from = out;

	for (; *s != '\0'; s++) {
		*out++ = digits[(unsigned char)*s >> 4];
		*out++ = digits[(unsigned char)*s & 15];
	}
	*out = '\0';
	return (size_t)(out - from);
}

size_t
json_number(char *out, unsigned long long n)
{
	char text[20];
	size_t len = 0, i;

	do {
		text[len++] = digits[n % 10];
		n /= 10;
	} while (n != 0);
	for (i = 0; i < len; i++)
		out[i] = text[len - 1 - i];
	out[len] = '\0';
	return len;
}
