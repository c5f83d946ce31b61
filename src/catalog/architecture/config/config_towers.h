/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of the parts of a network that turn images and sounds into tokens
 * of its text part: towers and what joins them to it. */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_TOWERS_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_TOWERS_H

#include "io/json_read.h"

/* Counts the parameters of a tower, the member `part` of a config, with its
 * projection to the hidden size `width` of texts; NaN: its kind is not known.
 */
double dl_config_tower(const dl_json *whole, const char *part, double width);

/* Counts the text tower of SigLIP from its part; accepts NULL. */
double dl_config_siglip_text(const dl_json *part);

#endif
