/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's own cache of a model hub. */

#ifndef DL_CLI_PASTED_HUB_CACHE_H
#define DL_CLI_PASTED_HUB_CACHE_H

#include <stdbool.h>

#include "base/text.h"

/* Appends the path of the config.json of a model "org/name" that
 * huggingface_hub has downloaded: in HF_HUB_CACHE, HF_HOME/hub or
 * ~/.cache/huggingface/hub. Nothing is written or downloaded. False: none. */
bool dl_hub_config(const char *id, struct dl_text *path);

#endif
