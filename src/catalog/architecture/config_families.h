/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of networks (model_type) whose config.json is read, and their keys.
 */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_FAMILIES_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_FAMILIES_H

#include "io/json_read.h"

enum { DL_CONFIG_MOST_PARTS = 40, DL_CONFIG_MOST_KEY = 24 };

/* A key of a shape, and its names in configs, "a|b". */
struct dl_config_key {
  const char *key, *names;
};

/* A shape in the making: numbers by key, the later of two counts. */
struct dl_config_parts {
  const char *kind;
  struct {
    char key[DL_CONFIG_MOST_KEY];
    double x;
  } at[DL_CONFIG_MOST_PARTS];
  size_t n;
};

void dl_config_put(struct dl_config_parts *p, const char *key, double x);
double dl_config_part(const struct dl_config_parts *p, const char *key);

/* Keys of a shape, of which those with '?' may be absent; "key=N" is N where
 * the file does not say. */
struct dl_config_family {
  const char *types, *kind; /* model_type, "a|b" */
  const char *keys;
  void (*adjust)(struct dl_config_parts *p, const dl_json *j);
  const char *reads; /* what adjust takes from a file, "a|b" */
};
extern const struct dl_config_family dl_config_families[]; /* to types NULL */

/* That of the model_type of a config, or NULL; accepts NULL. */
const struct dl_config_family *dl_config_family_of(const dl_json *j);

/* The key of a shape with that name, or NULL. */
const struct dl_config_key *dl_config_key(const char *name);

/* The value of the first name of a key that is there; NaN. */
double dl_config_first(const dl_json *j, const struct dl_config_key *k);

/* The layers that a config lists with that kind of attention. */
double dl_config_listed(const dl_json *j, const char *kind);

#endif
