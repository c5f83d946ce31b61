/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of a job on which the physical method's estimate does not depend. */

#ifndef DL_ESTIMATE_RULES_UNUSED_SETTINGS_H
#define DL_ESTIMATE_RULES_UNUSED_SETTINGS_H

#include "base/text.h"
#include "estimate/result.h"

/* Whether a given setting has no effect; then appends a message that names all
 * of them to *say, unless that is NULL. */
bool dl_has_unused_settings(const struct dl_result *r, struct dl_text *say);

/* Whether settings of training are given for inference, or of inference for
 * training, on which no estimate depends; the message names them. */
bool dl_has_other_phase(const struct dl_result *r, struct dl_text *say);

#endif
