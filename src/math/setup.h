/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the numerical libraries need once, at the start of a program. */

#ifndef DL_MATH_SETUP_H
#define DL_MATH_SETUP_H

/* Turns off GSL's error handler, which aborts: every status is looked at; and
 * the threads of OpenBLAS, for dlest spreads the work itself. */
void dl_math_setup(void);

#endif
