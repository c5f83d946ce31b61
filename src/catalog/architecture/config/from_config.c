/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/from_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "catalog/architecture/config/config_families.h"
#include "catalog/architecture/config/config_keys.h"
#include "catalog/architecture/config/config_sam2.h"
#include "catalog/architecture/config/config_values.h"
#include "catalog/architecture/config/config_towers.h"
#include "catalog/architecture/file_name.h"

/* Longer contexts are reached by few trainings; a run says its own seq_len. */
#define MOST_TOKENS 8192

/* Suggests networks for a config without a reader: by its name, by its size, or
 * by the size of its text part. */
static void find_alike(const dl_json *j, dl_config_alike *add_alike,
                       void *catalog, struct dl_text *to) {
  static const char *const parts[] = {NULL, "text_config", "language_config",
                                      "llm_config"};
  static const int sizes[DL_NETWORK_SIZES] = {DL_CONFIG_HIDDEN,
                                              DL_CONFIG_LAYERS, DL_CONFIG_VOCAB,
                                              DL_CONFIG_HEADS, DL_CONFIG_FFN};
  const char *name = dl_json_get(j, "_name_or_path").text;
  for (size_t i = 0; i < DL_LENGTH(parts) && to->len == 0; i++) {
    const dl_json *of = parts[i] ? dl_json_member(j, parts[i]) : j;
    double size[DL_NETWORK_SIZES];
    for (size_t k = 0; k < DL_NETWORK_SIZES; k++)
      size[k] = dl_config_first(of, &dl_config_keys[sizes[k]]);
    add_alike(catalog, name, size, to);
  }
}

/* The entries of the catalogue that classes of Diffusers may be, by how their
 * names begin; their configs do not say how often a network runs. */
static const struct {
  const char *begins, *entries;
} pipelines[] = {
    {"Flux", "flux.1 or flux.1-schnell"},
    {"SD3", "stable-diffusion-3-medium or stable-diffusion-3.5-large"},
    {"StableDiffusion3",
     "stable-diffusion-3-medium or stable-diffusion-3.5-large"},
    {"StableDiffusionXL", "stable-diffusion-xl or sdxl-turbo"},
    {"StableDiffusion", "stable-diffusion-v1-5, -v2 or -v2-1"},
    {"UNet2DCondition", "stable-diffusion-xl, stable-diffusion-v1-5 or -v2-1"},
    {"DiT", "dit-xl-2"}};

static enum dl_status is_of_diffusers(const char *path, const char *class,
                                      struct dl_diag *d) {
  const char *entries = "an entry of 'dlest list archs', or an ONNX file";
  for (size_t i = DL_LENGTH(pipelines); i-- > 0;)
    if (strncmp(class, pipelines[i].begins, strlen(pipelines[i].begins)) == 0)
      entries = pipelines[i].entries;
  return dl_fail_at(d, DL_EINPUT, path, 0,
                    "'%.64s' of Diffusers is not read; give --arch %s", class,
                    entries);
}

static enum dl_status unknown_type(const char *path, const dl_json *j,
                                   dl_config_alike *add_alike, void *catalog,
                                   struct dl_diag *d) {
  const char *type = dl_json_get(j, "model_type").text;
  const char *class = dl_json_get(j, "_class_name").text;
  DL_TEXT(alike);
  if (!type && class)
    return is_of_diffusers(path, class, d);
  if (add_alike)
    find_alike(j, add_alike, catalog, &alike);
  if (!type)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "no 'model_type': not the config.json of a network%s",
                      dl_text_str(&alike));
  return dl_fail_at(d, DL_EINPUT, path, 0, "model_type '%.64s' is not known%s",
                    type,
                    alike.len > 0 ? alike.s
                                  : "; give its shape, --arch "
                                    "transformer:layers=N,..., or export it to "
                                    "ONNX");
}

/* Reads the value of a key by the first of its names that is there, else what
 * the family takes it for. */
static enum dl_status read_key(struct dl_transformer *t,
                               const struct dl_config_family *f,
                               unsigned char listed, const dl_json *j,
                               const char *path, struct dl_diag *d) {
  unsigned which = listed & ~(unsigned)DL_CONFIG_OPTIONAL;
  const struct dl_config_key *k = &dl_config_keys[which];
  for (const char *const *name = k->names; *name; name++) {
    struct dl_json_value v = dl_json_get(j, *name);
    if (v.type == DL_JSON_ABSENT)
      continue;
    if (k->truth && v.type != DL_JSON_TRUTH)
      return dl_fail_at(d, DL_EINPUT, path, 0, "'%s' is neither true nor false",
                        *name);
    if (!k->truth && v.type != DL_JSON_NUMBER)
      return dl_fail_at(d, DL_EINPUT, path, 0, "'%s' is no number", *name);
    dl_config_put(t, k, v.number);
    return DL_OK;
  }
  double usual = dl_config_usual(f, which);
  if (isnan(usual) && !(listed & DL_CONFIG_OPTIONAL))
    return dl_fail_at(d, DL_EINPUT, path, 0, "no '%s' (%s)", k->names[0],
                      k->key);
  if (!isnan(usual))
    dl_config_put(t, k, usual);
  return DL_OK;
}

/* The key that an element of a family's list stands for. */
static const struct dl_config_key *key_of(unsigned char listed) {
  return &dl_config_keys[listed & ~DL_CONFIG_OPTIONAL];
}

/* Reads all keys of a family. */
static enum dl_status read_keys(struct dl_transformer *t,
                                const struct dl_config_family *f,
                                const dl_json *j, const char *path,
                                struct dl_diag *d) {
  for (const unsigned char *k = f->keys; *k; k++)
    DL_TRY(read_key(t, f, *k, j, path, d));
  return DL_OK;
}

/* ALBERT's layers are counted as repeats of one. */
static enum dl_status check_repeats(const dl_json *j, const char *path,
                                    struct dl_diag *d) {
  static const char *const names[] = {"num_hidden_groups", "inner_group_num"};
  for (size_t i = 0; i < DL_LENGTH(names); i++) {
    double n = dl_json_get(j, names[i]).number;
    if (n > 1)
      return dl_fail_at(d, DL_EINPUT, path, 0,
                        "'%s' %g: layers are counted as repeats of one; export "
                        "the network to ONNX",
                        names[i], n);
  }
  return DL_OK;
}

/* Limits the tokens of a decoder. If its positions are not learned, their
 * number in the config is the published context, which may be longer than
 * trainings use. */
static void limit_tokens(struct dl_transformer *t, const char *path,
                         struct dl_diag *d) {
  if (t->kind != DL_TF_DECODER)
    return;
  if (t->seq > 0 && !(t->positions > 0))
    t->context = t->seq;
  if (!(t->seq > MOST_TOKENS))
    return;
  dl_warn_at(d, path, 0,
             "takes up to %g tokens; counted at %g unless --seq-len says "
             "another",
             t->seq, (double)MOST_TOKENS);
  t->seq = MOST_TOKENS;
}

/* Starts the catalogue of a network, which is named after the checkpoint, else
 * the folder. */
static struct dl_xml *new_catalog(const char *path, const dl_json *j,
                                  dl_node **entry) {
  static const char usual[] = "/config.json";
  const char *own = dl_json_get(j, "_name_or_path").text;
  DL_TEXT(folder);
  if (!own || !*own) {
    size_t n = strlen(path), m = strlen(usual);
    bool plain = n >= m && strcmp(path + n - m, usual) == 0;
    dl_text_add_n(&folder, path, plain ? n - m : n);
    own = dl_text_str(&folder);
  }
  return dl_new_catalog(path, own, "config", "config.json", entry);
}

static struct dl_xml *write_shape(const char *path, const dl_json *j,
                                  const struct dl_transformer *t) {
  const char *key;
  char number[DL_NUMBER_SIZE];
  double value;
  dl_node *entry;
  struct dl_xml *x = new_catalog(path, j, &entry);
  dl_xml_set(x, entry, "scaling", "sequence");
  dl_node *shape = dl_xml_add(x, entry, "transformer");
  dl_xml_set(x, shape, "source", "config");
  dl_xml_set(x, shape, "kind", dl_transformer_kind_word(t->kind));
  for (size_t i = 0; (key = dl_transformer_key(t, i, &value)); i++)
    if (!isnan(value))
      dl_xml_set(x, shape, key, dl_format_short(number, value));
  return x;
}

static enum dl_status take_sam2(struct dl_catalog_file *s, const dl_json *whole,
                                const char *path, struct dl_diag *d) {
  dl_node *entry;
  struct dl_xml *x = new_catalog(path, whole, &entry);
  enum dl_status status = dl_config_add_sam2(x, entry, whole, path, d);
  if (status == DL_OK)
    return dl_catalog_file_take(s, x, NULL, d);
  dl_xml_free(x);
  return status;
}

/* Parts of a network for images and sounds. */
static const char *const media[] = {"vision_config", "audio_config", NULL};

/* A file whose keys are looked through, and the keys that nothing reads. */
struct unread_keys {
  const struct dl_config_family *f;
  const struct dl_transformer *t;
  const dl_json *j;
  struct dl_text names;
  size_t n;
};

/* Whether a family knows all kinds of layers that a config lists. */
static bool knows_layers(const struct dl_config_family *f, const dl_json *j,
                         double layers) {
  static const char *const usual[] = {"full_attention", "sliding_attention",
                                      NULL};
  const char *const *kinds = f->layer_kinds ? f->layer_kinds : usual;
  double known = 0;
  for (; *kinds; kinds++)
    known += dl_config_listed(j, *kinds, layers);
  return known == layers;
}

/* Whether a family takes a key from a file: adjust reads it, or it is a name of
 * a key of its shape and agrees with the first of its names (sequences may be
 * of several lengths). */
static bool is_read(const struct unread_keys *u, const char *key,
                    const dl_json *value) {
  double x = dl_json_value_of(value).number;
  for (const unsigned char *k = u->f->keys; *k; k++)
    if (dl_config_has_word(key_of(*k)->names, key))
      return key_of(*k) == &dl_config_keys[DL_CONFIG_SEQ] ||
             x == dl_config_first(u->j, key_of(*k));
  if (!dl_config_has_word(u->f->reads, key))
    return false;
  static const char *const lists[] = {"layer_types", "layers_block_type", NULL};
  return !dl_config_has_word(lists, key) ||
         knows_layers(u->f, u->j, u->t->layers);
}

enum { MOST_NAMED = 5 };

static void note_unread(void *ctx, const char *key, const dl_json *value) {
  struct unread_keys *u = ctx;
  if (is_read(u, key, value) || !dl_config_may_matter(key, value) ||
      dl_config_has_word(media, key)) /* add_towers */
    return;
  if (u->n < MOST_NAMED)
    dl_text_printf(&u->names, "%s'%.64s'", u->n > 0 ? ", " : "", key);
  u->n++;
}

/* Warns about the keys that no reader takes. */
static void warn_unread(const struct dl_config_family *f,
                        const struct dl_transformer *t, const dl_json *j,
                        const char *path, struct dl_diag *d) {
  struct unread_keys u = {.f = f, .t = t, .j = j};
  dl_json_each(j, note_unread, &u);
  if (u.n > 0)
    dl_warn_at(
        d, path, 0,
        "keys that are not read may change the network: %s%s; compare its "
        "parameters with the published number",
        u.names.s, u.n > MOST_NAMED ? ", ..." : "");
  dl_text_free(&u.names);
}

/* Whether a config has all that its family needs. */
static bool is_whole(const struct dl_config_family *f, const dl_json *j) {
  for (const unsigned char *k = f->keys; *k; k++)
    if (!(*k & DL_CONFIG_OPTIONAL) && isnan(dl_config_usual(f, *k)) &&
        isnan(dl_config_first(j, key_of(*k))))
      return false;
  return true;
}

/* Finds the family of a config, and the part that has the shape. */
static const struct dl_config_family *find_family(const dl_json **j) {
  static const char *const texts[] = {"text_config", "language_config",
                                      "llm_config"};
  const dl_json *whole = *j;
  const struct dl_config_family *f = dl_config_family_of(whole);
  if (f && f->part) {
    const dl_json *part = dl_json_member(whole, f->part);
    *j = part ? part : whole;
    return f;
  }
  for (size_t i = 0; i < DL_LENGTH(texts); i++) {
    const dl_json *text = dl_json_member(whole, texts[i]);
    const struct dl_config_family *of_text = dl_config_family_of(text);
    if (!of_text)
      of_text = f;
    if (!text || !of_text || !is_whole(of_text, text))
      continue;
    *j = text;
    return of_text;
  }
  return f;
}

/* Adds the parameters of the parts for images and sounds. Their work
 * depends on the images in a sample, which a text does not have. */
static void add_towers(struct dl_transformer *t, const dl_json *whole,
                       const char *path, struct dl_diag *d) {
  double sum = 0;
  DL_TEXT(counted);
  for (size_t i = 0; media[i]; i++) {
    if (!dl_json_member(whole, media[i]))
      continue;
    double params = dl_config_tower(whole, media[i], t->hidden);
    if (isnan(params)) {
      dl_warn_at(d, path, 0,
                 "'%s' is of a kind that is not known: the network is counted "
                 "without it",
                 media[i]);
      continue;
    }
    sum += params;
    dl_text_printf(&counted, "%s'%s'", counted.len > 0 ? ", " : "", media[i]);
  }
  if (counted.len == 0)
    return;
  t->extra_params = dl_or(t->extra_params, 0) + sum;
  dl_warn_at(d, path, 0,
             "parameters of %s are counted, work is not: samples are taken as "
             "texts without images or sounds",
             counted.s);
}

/* Warns about parts of a network that are not counted as they work. */
static void warn_parts(const struct dl_config_family *f, const dl_json *whole,
                       const char *path, struct dl_diag *d) {
  if (f->part)
    dl_warn_at(d, path, 0,
               "parameters of 'text_config' are counted, work is not: samples "
               "are taken as images");
  if (dl_json_get(whole, "quantization_config").type != DL_JSON_ABSENT)
    dl_warn_at(d, path, 0,
               "'quantization_config' is not read: weights take the bytes of "
               "--precision unless --set weight_bytes=VALUE says others");
}

enum dl_status dl_config_take(struct dl_catalog_file *s, const dl_json *whole,
                              const char *path, dl_config_alike *add_alike,
                              void *catalog, struct dl_diag *d) {
  const dl_json *j = whole;
  if (dl_config_is_sam2(whole))
    return take_sam2(s, whole, path, d);
  const struct dl_config_family *f = find_family(&j);
  if (!f)
    return unknown_type(path, j, add_alike, catalog, d);
  struct dl_transformer t;
  dl_transformer_unknown(&t, f->kind);
  DL_TRY(read_keys(&t, f, j, path, d));
  DL_TRY(check_repeats(j, path, d));
  f->adjust(&t, f->part ? whole : j);
  warn_unread(f, &t, j, path, d);
  if (!f->part)
    add_towers(&t, whole, path, d);
  limit_tokens(&t, path, d);
  warn_parts(f, whole, path, d);
  return dl_catalog_file_take(s, write_shape(path, whole, &t), NULL, d);
}

enum dl_status dl_config_load(struct dl_catalog_file *s, const char *path,
                              dl_config_alike *add_alike, void *catalog,
                              struct dl_diag *d) {
  dl_json *j;
  enum dl_status status = dl_json_read(&j, path, d);
  if (status == DL_OK)
    status = dl_config_take(s, j, path, add_alike, catalog, d);
  dl_json_free(j);
  return status;
}
