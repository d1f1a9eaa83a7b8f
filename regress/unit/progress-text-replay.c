/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * progress-text-replay: prints progress lines. Standard input begins with the
 * time at which a copy begins, in seconds. Then each line is SECONDS FILES
 * BYTES FILES-KNOWN BYTES-KNOWN UNREAD, with "last" in front if the copy is
 * over. UNREAD may be left out.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "progress-text.h"

int
main(void)
{
	struct progress_text m;
	struct progress_count c;
	char in[256], line[PROGRESS_TEXT_LEN];
	double s;
	int last;

	if (scanf("%lf ", &s) != 1)
		return 1;
	progress_text_begin(&m, (uint64_t)(s * 1e6));
	while (fgets(in, sizeof(in), stdin) != NULL) {
		c.unlisted = 0;
		last = strncmp(in, "last ", 5) == 0;
		if (sscanf(in + 5 * last, "%lf %" SCNu64 " %" SCNu64 " %" SCNu64
		    " %" SCNu64 " %" SCNu64, &s, &c.files, &c.bytes,
		    &c.files_known, &c.bytes_known, &c.unlisted) < 5)
			return 1;
		progress_text_line(&m, &c, (uint64_t)(s * 1e6), last, line);
		printf("[%s]\n", line);
	}
	return 0;
}
