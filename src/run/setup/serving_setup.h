/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules between settings of inference. */

#ifndef DL_RUN_SETUP_SERVING_SETUP_H
#define DL_RUN_SETUP_SERVING_SETUP_H

#include "run/row.h"
#include "run/setup/option_words.h"

/* Whether the settings of a row of inference contradict each other; then
 * appends what is wrong to *to, unless that is NULL. */
bool dl_serving_check(const struct dl_row *row, struct dl_message_style *to);

#endif
