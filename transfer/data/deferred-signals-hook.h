/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * deferred-signals-hook: a signal waits while the server has what is not in
 * order.
 *
 * scp and sftp leave at once, and with them a file that stands under a
 * temporary name. While signals_hold() says that there is one, the first signal
 * only interrupts the copy, which then brings it to an end. Where all is in
 * order, a signal does what it always did. The second one does so too, after a
 * line that names what is left. sftp goes on after a ^C by itself.
 *
 * Main thread only.
 */

#ifndef HAYATE_DEFERRED_SIGNALS_HOOK_H
#define HAYATE_DEFERRED_SIGNALS_HOOK_H

/* This is scp: ^C ends it. */
void	signals_begin(void);

/*
 * From here to signals_release() signals are caught. It then does what one that
 * came would have done.
 */
void	signals_catch(void);
void	signals_release(void);

/*
 * Something is not in order, or all is: "must". The text is written when a
 * signal ends the process all the same, and kept; NULL: nothing is left.
 */
void	signals_hold(int must, char *text);

/* Returns 1 if a signal has waited for too long. */
int	signals_is_late(void);

#endif /* HAYATE_DEFERRED_SIGNALS_HOOK_H */
