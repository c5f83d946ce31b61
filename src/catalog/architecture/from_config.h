/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The config.json of a network on a model hub (transformers library) as an
 * architecture of the catalogue. */

#ifndef DL_CATALOG_ARCHITECTURE_FROM_CONFIG_H
#define DL_CATALOG_ARCHITECTURE_FROM_CONFIG_H

#include "catalog/catalog_file.h"
#include "io/json_read.h"

/* Reads the shape of a transformer from a config.json. The longest sequence
 * counts, up to 8192 tokens. Errors (DL_EINPUT): not JSON, a model_type that is
 * not known, keys that are missing or no whole numbers. */
enum dl_status dl_config_load(struct dl_catalog_file *s, const char *path,
                              struct dl_diag *d);

/* The same of JSON that was read. */
enum dl_status dl_config_take(struct dl_catalog_file *s, const dl_json *j,
                              const char *path, struct dl_diag *d);

#endif
