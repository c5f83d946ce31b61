/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a config.json. */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_VALUES_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_VALUES_H

#include <stdbool.h>

#include "io/json_read.h"

/* Sets a value that is unknown. */
void dl_config_preset(double *x, double usual);

/* Returns a member that is a number, else NaN; or another value in its place.
 */
double dl_config_number(const dl_json *j, const char *key);
double dl_config_number_or(const dl_json *j, const char *key, double otherwise);
bool dl_config_has_text(const dl_json *j, const char *key, const char *part);

/* The kinds of layers that a config lists, by the first of these keys that is
 * there: layer_types, layers_block_type. The list may be longer than the
 * layers: prediction of several tokens has layers of its own. */
const char *dl_config_layer_kind(const dl_json *j, size_t i);
double dl_config_listed(const dl_json *j, const char *kind, double layers);

#endif
