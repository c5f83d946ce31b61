/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of networks (model_type) whose config.json is read, and their keys.
 */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_FAMILIES_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_FAMILIES_H

#include "catalog/architecture/transformer.h"
#include "io/json_read.h"

/* Keys of a shape that configs give; see dl_config_keys. */
enum {
  DL_CONFIG_END,
  DL_CONFIG_LAYERS,
  DL_CONFIG_HIDDEN,
  DL_CONFIG_HEADS,
  DL_CONFIG_KV_HEADS,
  DL_CONFIG_HEAD_DIM,
  DL_CONFIG_FFN,
  DL_CONFIG_VOCAB,
  DL_CONFIG_EMBEDDING,
  DL_CONFIG_SEQ,
  DL_CONFIG_TIED,
  DL_CONFIG_QKV_BIAS,
  DL_CONFIG_DECODER_LAYERS,
  DL_CONFIG_DECODER_SEQ,
  DL_CONFIG_TOKEN_TYPES,
  DL_CONFIG_RELATIVE,
  DL_CONFIG_Q_RANK,
  DL_CONFIG_KV_RANK,
  DL_CONFIG_ROPE_DIM,
  DL_CONFIG_VALUE_DIM,
  DL_CONFIG_EXPERTS,
  DL_CONFIG_ACTIVE_EXPERTS,
  DL_CONFIG_MOE_FFN,
  DL_CONFIG_DENSE_LAYERS,
  DL_CONFIG_MOE_EVERY,
  DL_CONFIG_SHARED_FFN,
  DL_CONFIG_IMAGE,
  DL_CONFIG_PATCH,
  DL_CONFIG_CHANNELS,
  DL_CONFIG_MEL,
  DL_CONFIG_OPTIONAL = 128 /* flag of a family's key: it may be absent */
};

enum {
  DL_CONFIG_MOST_NAMES = 10,
  DL_CONFIG_MOST_KEYS = 20,
  DL_CONFIG_MOST_TYPES = 16,
  DL_CONFIG_MOST_USUAL = 8
};

/* A key of a shape, and its names in configs, to NULL: the first that is there
 * counts, and others agree with it. */
struct dl_config_key {
  const char *key; /* "layers" */
  size_t offset;   /* of the member of struct dl_transformer */
  bool truth;      /* it is true or false, not a number */
  const char *names[DL_CONFIG_MOST_NAMES];
};
extern const struct dl_config_key dl_config_keys[]; /* by key */

/* Sets the member of a shape for a key. */
void dl_config_put(struct dl_transformer *t, const struct dl_config_key *k,
                   double x);

/* A family: its keys are read in order, then `adjust` sets what they leave
 * unknown (NaN) or mean otherwise. */
struct dl_config_family {
  const char *types[DL_CONFIG_MOST_TYPES]; /* values of model_type, to NULL */
  enum dl_transformer_kind kind;
  unsigned char keys[DL_CONFIG_MOST_KEYS]; /* to DL_CONFIG_END */
  void (*adjust)(struct dl_transformer *t, const dl_json *j);
  const char *const *reads;       /* further keys that adjust takes; or NULL */
  const char *const *layer_kinds; /* in layer_types; NULL: with and without a
                                     window */
  const char *part; /* member that has the keys of the shape; or NULL */
  struct {
    unsigned key;
    double value;
  } usual[DL_CONFIG_MOST_USUAL]; /* of keys that files leave out: defaults of
                                    the transformers library */
};
extern const struct dl_config_family
    dl_config_families[]; /* to types[0] NULL */

/* Returns the family of the model_type of a config, or NULL; accepts NULL. */
const struct dl_config_family *dl_config_family_of(const dl_json *j);

/* Whether a word is in a list that ends at NULL, in any case; a list may be
 * NULL. */
bool dl_config_has_word(const char *const *words, const char *word);

/* Returns the value of the first name of a key that is there, or NaN. */
double dl_config_first(const dl_json *j, const struct dl_config_key *k);

/* Returns what a key stands for where a file of the family leaves it out, or
 * NaN. */
double dl_config_usual(const struct dl_config_family *f, unsigned key);

#endif
