/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of a config.json that no family takes. */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_KEYS_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_KEYS_H

#include <stdbool.h>

#include "io/json_read.h"

/* Whether a key with that value may change the parameters or the work of a
 * network: it counts something, turns something on, or holds a list or an
 * object, and is not known to be without effect on them. */
bool dl_config_may_matter(const char *key, const dl_json *value);

#endif
