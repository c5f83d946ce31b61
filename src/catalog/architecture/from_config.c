/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/from_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/config_families.h"
#include "catalog/architecture/config_keys.h"
#include "catalog/architecture/file_name.h"

/* Longer contexts are reached by few trainings; a run says its own seq_len. */
#define MOST_TOKENS 8192

/* Appends what the catalogue has under the name of a network without a reader,
 * or of its size, or of the size of its text part. */
static void find_alike(const dl_json *j, dl_config_alike *add_alike,
                       void *catalog, struct dl_text *to) {
  static const char *const parts[] = {NULL, "text_config", "language_config",
                                      "llm_config"};
  static const char *const sizes[DL_NETWORK_SIZES] = {"hidden", "layers",
                                                      "vocab", "heads", "ffn"};
  const char *name = dl_json_get(j, "_name_or_path").text;
  for (size_t i = 0; i < DL_LENGTH(parts) && to->len == 0; i++) {
    const dl_json *of = parts[i] ? dl_json_member(j, parts[i]) : j;
    double size[DL_NETWORK_SIZES];
    for (size_t k = 0; k < DL_NETWORK_SIZES; k++)
      size[k] = dl_config_first(of, dl_config_key(sizes[k]));
    add_alike(catalog, name, size, to);
  }
}

static enum dl_status unknown_type(const char *path, const dl_json *j,
                                   dl_config_alike *add_alike, void *catalog,
                                   struct dl_diag *d) {
  const char *type = dl_json_get(j, "model_type").text;
  DL_TEXT(known);
  DL_TEXT(alike);
  if (add_alike)
    find_alike(j, add_alike, catalog, &alike);
  for (size_t i = 0; dl_config_families[i].types; i++) {
    dl_text_add(&known, i == 0 ? "" : ", ");
    for (const char *s = dl_config_families[i].types; *s; s++)
      dl_text_add_n(&known, *s == '|' ? ", " : s, *s == '|' ? 2 : 1);
  }
  if (!type)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "no 'model_type': not the config.json of a network%s",
                      dl_text_str(&alike));
  return alike.len > 0
             ? dl_fail_at(d, DL_EINPUT, path, 0,
                          "model_type '%.64s' is none of %s%s", type,
                          dl_text_str(&known), alike.s)
             : dl_fail_at(d, DL_EINPUT, path, 0,
                          "model_type '%.64s' is none of %s; give its shape, "
                          "--arch transformer:layers=N,..., or export it to "
                          "ONNX",
                          type, dl_text_str(&known));
}

static bool is_truth(const struct dl_config_key *k) {
  return strcmp(k->key, "tied") == 0 || strcmp(k->key, "qkv_bias") == 0;
}

/* Reads the value of a key by the first of its names that is there. */
static enum dl_status read_key(struct dl_config_parts *p,
                               const struct dl_config_key *k, bool optional,
                               const dl_json *j, const char *path,
                               struct dl_diag *d) {
  char name[64];
  for (const char *s = k->names; *s; s += *s == '|') {
    size_t n = strcspn(s, "|");
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    struct dl_json_value v = dl_json_get(j, name);
    s += n;
    if (v.type == DL_JSON_ABSENT)
      continue;
    if (v.type != (is_truth(k) ? DL_JSON_TRUTH : DL_JSON_NUMBER))
      return dl_fail_at(d, DL_EINPUT, path, 0,
                        is_truth(k) ? "'%s' is neither true nor false"
                                    : "'%s' is no number",
                        name);
    dl_config_put(p, k->key, v.number);
    return DL_OK;
  }
  return optional ? DL_OK
                  : dl_fail_at(d, DL_EINPUT, path, 0, "no '%.*s' (%s)",
                               (int)strcspn(k->names, "|"), k->names, k->key);
}

/* All keys of a family, and its constants. */
static enum dl_status read_keys(struct dl_config_parts *p,
                                const struct dl_config_family *f,
                                const dl_json *j, const char *path,
                                struct dl_diag *d) {
  for (const char *s = f->keys; *s; s += strspn(s, " ")) {
    char name[DL_CONFIG_MOST_KEY];
    size_t n = strcspn(s, " ?=");
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    const struct dl_config_key *k = dl_config_key(name);
    if (s[n] == '=')
      dl_config_put(p, name, atoi(s + n + 1));
    if (k)
      DL_TRY(read_key(p, k, s[n] == '?' || s[n] == '=', j, path, d));
    s += strcspn(s, " ");
  }
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

/* What a config calls positions is the published context where these are not
 * learned. It may be longer than trainings use. */
static void limit_tokens(struct dl_config_parts *p, const char *path,
                         struct dl_diag *d) {
  double seq = dl_config_part(p, "seq");
  if (strcmp(p->kind, "decoder") != 0)
    return;
  if (seq > 0 && !(dl_config_part(p, "positions") > 0))
    dl_config_put(p, "context", seq);
  if (!(seq > MOST_TOKENS))
    return;
  dl_warn_at(d, path, 0,
             "takes up to %g tokens; counted at %g unless --seq-len says "
             "another",
             seq, (double)MOST_TOKENS);
  dl_config_put(p, "seq", MOST_TOKENS);
}

/* The network is named after the checkpoint, else the folder. */
static struct dl_xml *write_shape(const char *path, const dl_json *j,
                                  const struct dl_config_parts *p) {
  const char *slash = strrchr(path, '/');
  const char *own = dl_json_get(j, "_name_or_path").text;
  char number[DL_NUMBER_SIZE];
  DL_TEXT(folder);
  if (!own || !*own) {
    bool plain = slash && strcmp(slash, "/config.json") == 0;
    dl_text_add_n(&folder, path, plain ? (size_t)(slash - path) : strlen(path));
    own = dl_text_str(&folder);
  }
  dl_node *entry;
  struct dl_xml *x = dl_new_catalog(path, own, "config", "config.json", &entry);
  dl_xml_set(x, entry, "scaling", "sequence");
  dl_node *shape = dl_xml_add(x, entry, "transformer");
  dl_xml_set(x, shape, "source", "config");
  dl_xml_set(x, shape, "kind", p->kind);
  for (size_t i = 0; i < p->n; i++)
    if (!isnan(p->at[i].x))
      dl_xml_set(x, shape, p->at[i].key, dl_format_short(number, p->at[i].x));
  return x;
}

/* A file whose keys are looked through, and those that nothing reads. */
struct unread {
  const struct dl_config_family *f;
  const struct dl_config_parts *parts;
  const dl_json *j;
  struct dl_text names;
  size_t n;
};

/* Whether a family takes a key from a file: it is a name of a key of its shape,
 * and says what the first of its names says (sequences may be of several
 * lengths), or adjust reads it. */
static bool is_read(const struct unread *u, const char *key,
                    const dl_json *value) {
  size_t n = strlen(key);
  double x = dl_json_value_of(value).number;
  for (const char *s = u->f->keys; *s; s += strspn(s, " ")) {
    char name[DL_CONFIG_MOST_KEY];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(s, " ?="), s);
    const struct dl_config_key *k = dl_config_key(name);
    if (k && dl_word_among(k->names, key, n) >= 0)
      return strcmp(name, "seq") == 0 || x == dl_config_first(u->j, k);
    s += strcspn(s, " ");
  }
  if (!u->f->reads || dl_word_among(u->f->reads, key, n) < 0)
    return false;
  double known = dl_config_listed(u->j, "full_attention") +
                 dl_config_listed(u->j, "sliding_attention");
  return strcmp(key, "layer_types") != 0 ||
         known == dl_config_part(u->parts, "layers");
}

enum { MOST_NAMED = 5 };

static void note_unread(void *ctx, const char *key, const dl_json *value) {
  struct unread *u = ctx;
  if (is_read(u, key, value) || !dl_config_may_matter(key, value))
    return;
  if (u->n < MOST_NAMED)
    dl_text_printf(&u->names, "%s'%.64s'", u->n > 0 ? ", " : "", key);
  u->n++;
}

/* Names the keys that no reader takes. */
static void warn_unread(const struct dl_config_family *f,
                        const struct dl_config_parts *p, const dl_json *j,
                        const char *path, struct dl_diag *d) {
  struct unread u = {.f = f, .parts = p, .j = j};
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
  for (const char *s = f->keys; *s; s += strspn(s, " ")) {
    char name[DL_CONFIG_MOST_KEY];
    size_t n = strcspn(s, " ?=");
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    const struct dl_config_key *k = dl_config_key(name);
    if (k && (s[n] == ' ' || !s[n]) && isnan(dl_config_first(j, k)))
      return false;
    s += strcspn(s, " ");
  }
  return true;
}

enum dl_status dl_config_take(struct dl_catalog_file *s, const dl_json *whole,
                              const char *path, dl_config_alike *add_alike,
                              void *catalog, struct dl_diag *d) {
  const dl_json *j = whole, *text = dl_json_member(whole, "text_config");
  const struct dl_config_family *f = dl_config_family_of(j);
  const struct dl_config_family *of_text = dl_config_family_of(text);
  enum dl_kind kind;
  if (!f && of_text && is_whole(of_text, text)) {
    f = of_text;
    j = text;
    dl_warn_at(d, path, 0,
               "'text_config' alone is counted, not the other parts of the "
               "network");
  }
  if (!f)
    return unknown_type(path, j, add_alike, catalog, d);
  struct dl_config_parts p = {.kind = f->kind};
  DL_TRY(read_keys(&p, f, j, path, d));
  DL_TRY(check_repeats(j, path, d));
  if (f->adjust)
    f->adjust(&p, j);
  warn_unread(f, &p, j, path, d);
  limit_tokens(&p, path, d);
  if (dl_json_get(whole, "quantization_config").type != DL_JSON_ABSENT)
    dl_warn_at(d, path, 0,
               "'quantization_config' is not read: weights take the bytes of "
               "--precision unless --set weight_bytes=VALUE says others");
  return dl_catalog_file_take(s, write_shape(path, whole, &p), &kind, NULL, d);
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
