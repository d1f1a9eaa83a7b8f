/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * deferred-signals-hook: a signal waits while the server has a temporary file.
 *
 * In stock, SIGTERM, SIGHUP and, in scp, SIGINT end the process at once, which
 * would leave such a file behind. While signals_hold() says that there is one,
 * the first signal only interrupts the copy, which then removes or renames the
 * file. The second one, or the first while there is no such file, has the
 * effect of stock, after a line that names what is left. sftp itself handles
 * ^C. SIGPIPE is ignored meanwhile.
 *
 * Main thread only.
 */

#ifndef HAYATE_DEFERRED_SIGNALS_HOOK_H
#define HAYATE_DEFERRED_SIGNALS_HOOK_H

/* Call it first in scp, which ^C ends. */
void	signals_begin(void);

/*
 * Between the two, signals are caught. signals_release() raises the one that
 * has waited, if any. Further calls of either do nothing.
 */
void	signals_catch(void);
void	signals_release(void);

/*
 * "must" is 1 if a signal has to wait, else 0. The text, allocated and freed by
 * the next call, is the line that names what is left; NULL: nothing is.
 */
void	signals_hold(int must, char *text);

/* Returns 1 if a signal has waited for more than 10 seconds. */
int	signals_is_late(void);

#endif /* HAYATE_DEFERRED_SIGNALS_HOOK_H */
