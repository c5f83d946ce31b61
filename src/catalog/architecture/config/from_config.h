/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The config.json of a network on a model hub (transformers library) as an
 * architecture of the catalogue. */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_FROM_CONFIG_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_FROM_CONFIG_H

#include "catalog/catalog_file.h"
#include "catalog/names/entry_names.h"
#include "io/json_read.h"

/* Appends the networks of the catalogue with a name (or NULL) or with these
 * sizes to a message (names/entry_names.h). */
typedef void dl_config_alike(void *catalog, const char *name,
                             const double size[DL_NETWORK_SIZES],
                             struct dl_text *to);

/* Reads the shape of a transformer from a config.json. The longest sequence
 * counts, up to 8192 tokens. Warns of keys that may change the network and are
 * not read. Errors (DL_EINPUT): not JSON, a model_type that is not known, keys
 * that are missing or no whole numbers. */
enum dl_status dl_config_load(struct dl_catalog_file *s, const char *path,
                              dl_config_alike *add_alike, void *catalog,
                              struct dl_diag *d);

/* Reads the shape from JSON that was parsed; add_alike may be NULL. */
enum dl_status dl_config_take(struct dl_catalog_file *s, const dl_json *whole,
                              const char *path, dl_config_alike *add_alike,
                              void *catalog, struct dl_diag *d);

#endif
