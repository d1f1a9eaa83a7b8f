/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * json: text for JSON.
 *
 * The name of a file is any bytes, a string of JSON is Unicode. A byte that is
 * not UTF-8 becomes U+FFFD, and a reader who needs the exact name gets its
 * bytes in hexadecimal as well. Because a server chooses names and a terminal
 * may show them, control characters are escaped as \uXXXX, also C1 and those
 * that change the direction of text.
 *
 * No upstream header, no allocation.
 */

#ifndef HAYATE_JSON_H
#define HAYATE_JSON_H

#include <stddef.h>

/* Bytes that one byte of text becomes, at most: \u0000 */
#define JSON_BYTE	6

/* Returns 1 if all of it is UTF-8, so that json_escape() loses nothing. */
int	json_is_text(const char *s);

/*
 * Writes the inside of a JSON string, and a NUL. "out" has room for JSON_BYTE
 * bytes for each of "s", and one. Returns the length.
 */
size_t	json_escape(char *out, const char *s);

/* Writes two digits for each byte, and a NUL. Returns the length. */
size_t	json_hex(char *out, const char *s);

/*
 * Writes a decimal number of at most 20 digits, and a NUL. Returns the length.
 * A signal handler may call it.
 */
size_t	json_number(char *out, unsigned long long n);

#endif /* HAYATE_JSON_H */
