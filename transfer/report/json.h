/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * json: text for JSON.
 *
 * A name of a file is any bytes, a string of JSON is Unicode. So what is not
 * UTF-8 becomes U+FFFD, and a reader who needs the name exactly gets its bytes
 * as well, in hexadecimal. A server chooses names, and a terminal may show the
 * text: controls are escaped, C1 and those of the direction of text as well.
 *
 * No upstream header, no allocation.
 */

#ifndef HAYATE_JSON_H
#define HAYATE_JSON_H

#include <stddef.h>

/* What one byte of text becomes, at most: \u0000 */
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

/* Writes a decimal number of at most 20 digits, and a NUL; safe in a signal. */
size_t	json_number(char *out, unsigned long long n);

#endif /* HAYATE_JSON_H */
