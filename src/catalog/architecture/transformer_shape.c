/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the shape of a transformer, from a text or from attributes. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/names/nearest_names.h"
#include "base/number.h"
#include "base/text.h"
#include "catalog/architecture/transformer.h"

#define KEY(name, low, high, otherwise)                                        \
  { #name, offsetof(struct dl_transformer, name), low, high, otherwise }

/* Bounds keep every sum far within a double, and absurd values out. */
static const struct shape_key {
  const char *name;
  size_t offset;
  double low, high;
  double otherwise; /* value of a key that is not given; NaN: take_defaults */
} keys[] = {
    KEY(layers, 1, 1e4, NAN),
    KEY(decoder_layers, 1, 1e4, NAN),
    KEY(attention_layers, 0, 1e4, NAN),
    KEY(kv_layers, 0, 1e4, NAN),
    KEY(ffn_layers, 0, 1e4, NAN),
    KEY(mixers, 0, 1e4, 0),
    KEY(mixer_weights, 0, 1e12, 0),
    KEY(mixer_state, 0, 1e12, 0),
    KEY(mixer_macs, 0, 1e12, NAN),
    KEY(hidden, 1, 1e6, NAN),
    KEY(heads, 1, 1e5, NAN),
    KEY(kv_heads, 1, 1e5, NAN),
    KEY(head_dim, 1, 1e5, NAN),
    KEY(q_rank, 1, 1e6, 0),
    KEY(kv_rank, 1, 1e6, 0),
    KEY(window, 1, 1e9, 0),
    KEY(window_layers, 1, 1e4, NAN),
    KEY(window_heads, 1, 1e5, 0),
    KEY(window_kv_heads, 1, 1e5, NAN),
    KEY(window_head_dim, 1, 1e5, NAN),
    KEY(head_gate, 1, 1e5, 0),
    KEY(keys_as_values, 0, 1, 0),
    KEY(rope_dim, 0, 1e5, 0),
    KEY(value_dim, 1, 1e5, NAN),
    KEY(ffn, 1, 1e7, NAN),
    KEY(gated, 0, 1, NAN),
    KEY(vocab, 1, 1e8, NAN),
    KEY(embedding, 1, 1e6, 0),
    KEY(seq, 1, 1e8, NAN),
    KEY(context, 1, 1e9, 0),
    KEY(decoder_seq, 1, 1e8, 0),
    KEY(positions, 0, 1e8, NAN),
    KEY(encoder_positions, 0, 1e8, 0),
    KEY(token_types, 0, 1e4, 0),
    KEY(tied, 0, 1, NAN),
    KEY(bias, 0, 1, NAN),
    KEY(qkv_bias, 0, 1, NAN),
    KEY(key_bias, 0, 1, NAN),
    KEY(norm_bias, 0, 1, NAN),
    KEY(embedding_norm, 0, 1, NAN),
    KEY(final_norm, 0, 1, NAN),
    KEY(relative, 0, 1e5, 0),
    KEY(disentangled, 0, 1e6, 0),
    KEY(shared_layers, 0, 1, 0),
    KEY(experts, 1, 1e5, NAN),
    KEY(active_experts, 1, 1e5, NAN),
    KEY(moe_every, 1, 1e4, 1),
    KEY(dense_layers, 0, 1e4, 0),
    KEY(moe_ffn, 1, 1e7, NAN),
    KEY(shared_ffn, 1, 1e7, 0),
    KEY(patch, 1, 1e5, NAN),
    KEY(image, 1, 1e5, NAN),
    KEY(channels, 1, 1e4, 3),
    KEY(classes, 0, 1e8, 0),
    KEY(pooler, 0, 1, 0),
    KEY(mel, 1, 1e4, 0),
    KEY(extra_weights, 0, 1e13, 0),
    KEY(extra_params, 0, 1e13, 0),
};

enum { KEYS = sizeof keys / sizeof *keys, MOST_SHOWN = 40 };

static const char *const kinds[] = {"decoder", "encoder", "encoder-decoder",
                                    "vision"};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const char kind_key[] = "kind";

/* The place of a key or a shape, for messages: a file with a line, or a text
 * with a column. */
struct shape_place {
  const char *where;
  size_t line, column;
};

static double *member(struct dl_transformer *t, const struct shape_key *k) {
  return (double *)(void *)((char *)t + k->offset);
}

const char *dl_transformer_key(const struct dl_transformer *t, size_t i,
                               double *value) {
  if (i >= KEYS)
    return NULL;
  memcpy(value, (const char *)t + keys[i].offset, sizeof *value);
  return keys[i].name;
}

const char *dl_transformer_kind_word(enum dl_transformer_kind kind) {
  return kinds[kind];
}

static enum dl_status fail(struct dl_diag *d, const struct shape_place *at,
                           const char *fmt, ...) DL_PRINTF(3, 4);

static enum dl_status fail(struct dl_diag *d, const struct shape_place *at,
                           const char *fmt, ...) {
  DL_TEXT(what);
  va_list args;
  va_start(args, fmt);
  dl_text_vprintf(&what, fmt, args);
  va_end(args);
  return at->column > 0
             ? dl_fail(d, DL_EINPUT, "%s: column %zu: %s", at->where,
                       at->column, what.s)
             : dl_fail_at(d, DL_EINPUT, at->where, at->line, "%s", what.s);
}

static enum dl_status
unknown_key(const char *name, const struct shape_place *at, struct dl_diag *d) {
  const char *names[KEYS + 1] = {kind_key};
  DL_TEXT(near);
  DL_TEXT(cut);
  for (size_t i = 0; i < KEYS; i++)
    names[i + 1] = keys[i].name;
  dl_text_add_n(&cut, name, strnlen(name, MOST_SHOWN));
  dl_suggest_names(dl_text_str(&cut), names, KEYS + 1, &near);
  return fail(d, at, "unknown key '%s'%s", dl_text_str(&cut),
              dl_text_str(&near));
}

static enum dl_status set_kind(struct dl_transformer *t, const char *value,
                               const struct shape_place *at,
                               struct dl_diag *d) {
  for (size_t i = 0; i < KINDS; i++)
    if (strcmp(value, kinds[i]) == 0) {
      t->kind = (enum dl_transformer_kind)i;
      return DL_OK;
    }
  return fail(d, at,
              "kind '%.*s' is none of decoder, encoder, encoder-decoder, "
              "vision",
              MOST_SHOWN, value);
}

static enum dl_status set_number(struct dl_transformer *t,
                                 const struct shape_key *k, const char *value,
                                 const struct shape_place *at,
                                 struct dl_diag *d) {
  double x;
  if (!dl_parse_double(value, &x))
    return fail(d, at, "%s: invalid number '%.*s'", k->name, MOST_SHOWN, value);
  if (x < k->low || x > k->high || x != floor(x))
    return fail(d, at, "%s: %.*s is no whole number between %g and %g", k->name,
                MOST_SHOWN, value, k->low, k->high);
  *member(t, k) = x;
  return DL_OK;
}

void dl_transformer_unknown(struct dl_transformer *t,
                            enum dl_transformer_kind kind) {
  t->kind = kind;
  for (size_t i = 0; i < KEYS; i++)
    *member(t, &keys[i]) = NAN;
}

static void unless_given(double *x, double otherwise) {
  if (isnan(*x))
    *x = otherwise;
}

/* Whether a decoder is built like Llama: its feed-forward part is narrow, or
 * all else that sets Llama apart is given. */
static bool is_like_llama(const struct dl_transformer *t) {
  bool narrow = !isnan(t->ffn) && t->ffn != 4 * t->hidden;
  bool given = !isnan(t->kv_heads) && t->tied == 0 && t->bias == 0 &&
               t->positions == 0 && !(t->norm_bias > 0);
  return t->kind == DL_TF_DECODER && (narrow || given);
}

/* Sets the keys that are not given: decoders are built like Llama or GPT-2, all
 * others like BERT. */
static void take_defaults(struct dl_transformer *t) {
  bool decoder = t->kind == DL_TF_DECODER, encoder = t->kind == DL_TF_ENCODER;
  for (size_t i = 0; i < KEYS; i++)
    unless_given(member(t, &keys[i]), keys[i].otherwise);
  unless_given(&t->gated, is_like_llama(t));
  unless_given(&t->head_dim, t->hidden / t->heads);
  unless_given(&t->kv_heads, t->heads);
  unless_given(&t->attention_layers, t->layers);
  unless_given(&t->kv_layers, t->attention_layers);
  unless_given(&t->ffn_layers, t->layers);
  unless_given(&t->mixer_macs, 2 * t->mixer_state);
  unless_given(&t->window_layers, t->window > 0 ? t->attention_layers : 0);
  unless_given(&t->window_kv_heads, t->window_heads > 0 ? t->kv_heads : 0);
  unless_given(&t->window_head_dim, t->window_heads > 0 ? t->head_dim : 0);
  unless_given(&t->value_dim, t->kv_rank > 0 ? t->head_dim : 0);
  unless_given(&t->ffn, 4 * t->hidden);
  unless_given(&t->decoder_layers,
               t->kind == DL_TF_ENCODER_DECODER ? t->layers : 0);
  if (t->embedding == t->hidden)
    t->embedding = 0;
  unless_given(&t->positions,
               encoder || (decoder && t->gated == 0) ? t->seq : 0);
  unless_given(&t->bias, t->gated == 0);
  unless_given(&t->qkv_bias, t->bias);
  unless_given(&t->key_bias, t->qkv_bias);
  unless_given(&t->norm_bias, t->gated == 0);
  unless_given(&t->tied, t->gated == 0);
  unless_given(&t->embedding_norm, encoder);
  unless_given(&t->final_norm, !encoder);
  unless_given(&t->moe_ffn, t->ffn);
  if (isnan(t->experts))
    t->experts = t->active_experts = t->moe_every = t->dense_layers =
        t->moe_ffn = t->shared_ffn = 0;
  if (t->kind == DL_TF_VISION) {
    t->vocab = 0;
    t->seq = floor(t->image / t->patch) * floor(t->image / t->patch) + 1;
  } else {
    t->patch = t->image = t->channels = 0;
  }
}

/* Returns a key that a kind must have and that is not given, or NULL. */
static const char *absent(const struct dl_transformer *t) {
  bool vision = t->kind == DL_TF_VISION;
  if (isnan(t->layers))
    return "layers";
  if (isnan(t->hidden))
    return "hidden";
  if (isnan(t->heads))
    return "heads";
  if (vision && isnan(t->patch))
    return "patch";
  if (vision && isnan(t->image))
    return "image";
  if (!vision && isnan(t->vocab))
    return "vocab";
  if (!vision && isnan(t->seq))
    return "seq";
  if (!isnan(t->experts) && isnan(t->active_experts))
    return "active_experts";
  return NULL;
}

/* Returns why the values of the keys contradict each other, or NULL. */
static const char *contradiction(const struct dl_transformer *t) {
  if (t->head_dim != floor(t->head_dim))
    return "heads do not divide hidden; give head_dim";
  if (t->kv_heads > t->heads || fmod(t->heads, t->kv_heads) != 0)
    return "kv_heads do not divide heads";
  if (t->kv_rank > 0 ? t->kind != DL_TF_DECODER || t->kv_heads != t->heads ||
                           t->rope_dim >= t->head_dim
                     : t->rope_dim > 0)
    return "rope_dim (below head_dim) is for decoders with kv_rank, without "
           "kv_heads";
  if (t->window_layers > 0 &&
      (!(t->window > 0) || t->window_layers > t->attention_layers ||
       t->kind == DL_TF_ENCODER_DECODER))
    return "window and window_layers (at most those with attention) are for "
           "one stack";
  if (t->window_heads > 0 && !(t->window_layers > 0))
    return "window_heads are for layers with a window";
  if (t->attention_layers > t->layers || t->kv_layers > t->attention_layers ||
      t->ffn_layers > t->layers ||
      (t->decoder_layers > 0 &&
       (t->mixers > 0 || t->attention_layers < t->layers ||
        t->ffn_layers < t->layers || t->extra_weights > 0)))
    return "attention_layers, kv_layers and ffn_layers (at most layers), "
           "mixers and extra_weights are for one stack";
  if (t->shared_layers > 0 && t->experts > 0)
    return "shared_layers is for layers without experts";
  if (t->dense_layers > t->ffn_layers)
    return "more dense_layers than layers with a feed-forward part";
  if (t->active_experts > t->experts)
    return "more active_experts than experts";
  if (t->kind == DL_TF_VISION && t->patch > t->image)
    return "a patch larger than the image";
  if (t->kind != DL_TF_ENCODER_DECODER &&
      (t->decoder_layers > 0 || t->decoder_seq > 0 || t->mel > 0 ||
       t->encoder_positions > 0))
    return "decoder_layers, decoder_seq, encoder_positions and mel are for "
           "kind=encoder-decoder";
  if (t->embedding > 0 && (t->embedding > t->hidden ||
                           t->kind == DL_TF_VISION || t->decoder_layers > 0))
    return "embedding is for tokens of one stack, and below hidden";
  if (dl_transformer_params(t) > 1e15)
    return "more than 1e15 parameters";
  return NULL;
}

static enum dl_status complete(struct dl_transformer *t,
                               const struct shape_place *at,
                               struct dl_diag *d) {
  const char *key = absent(t);
  if (key)
    return fail(d, at, "transformer without %s; give %s=N", key, key);
  take_defaults(t);
  const char *wrong = contradiction(t);
  return wrong ? fail(d, at, "%s", wrong) : DL_OK;
}

static enum dl_status set_key(struct dl_transformer *t, const char *name,
                              const char *value, const struct shape_place *at,
                              struct dl_diag *d) {
  if (strcmp(name, kind_key) == 0)
    return set_kind(t, value, at, d);
  for (size_t i = 0; i < KEYS; i++) {
    if (strcmp(name, keys[i].name) != 0)
      continue;
    if (isnan(*member(t, &keys[i])))
      return set_number(t, &keys[i], value, at, d);
    return fail(d, at, "key '%s' is given twice", name);
  }
  return unknown_key(name, at, d);
}

/* Reads "key=value" of n bytes. */
static enum dl_status set_part(struct dl_transformer *t, const char *part,
                               size_t n, const struct shape_place *at,
                               struct dl_diag *d) {
  DL_TEXT(name);
  DL_TEXT(value);
  const char *eq = memchr(part, '=', n);
  if (!eq)
    return fail(d, at, "expected key=value");
  dl_text_add_n(&name, part, (size_t)(eq - part));
  dl_text_add_n(&value, eq + 1, n - (size_t)(eq + 1 - part));
  return set_key(t, dl_text_str(&name), dl_text_str(&value), at, d);
}

enum dl_status dl_transformer_parse(struct dl_transformer *t, const char *text,
                                    const char *where, size_t column,
                                    struct dl_diag *d) {
  dl_transformer_unknown(t, DL_TF_DECODER);
  for (const char *p = text;; p++) {
    size_t n = strcspn(p, ",");
    struct shape_place at = {where, 0, column + (size_t)(p - text)};
    DL_TRY(set_part(t, p, n, &at, d));
    p += n;
    if (!*p)
      break;
  }
  struct shape_place end = {where, 0, column + strlen(text)};
  return complete(t, &end, d);
}

enum dl_status dl_transformer_read(struct dl_transformer *t,
                                   dl_shape_value *value, const void *ctx,
                                   const char *file, size_t line,
                                   struct dl_diag *d) {
  struct shape_place at = {file, line, 0};
  const char *kind = value(ctx, kind_key);
  dl_transformer_unknown(t, DL_TF_DECODER);
  if (kind)
    DL_TRY(set_kind(t, kind, &at, d));
  for (size_t i = 0; i < KEYS; i++) {
    const char *text = value(ctx, keys[i].name);
    if (text)
      DL_TRY(set_number(t, &keys[i], text, &at, d));
  }
  return complete(t, &at, d);
}

/* Whether a key counts layers that have a part, which are usually all. */
static bool is_of_all_layers(size_t key) {
  return key == offsetof(struct dl_transformer, attention_layers) ||
         key == offsetof(struct dl_transformer, kv_layers) ||
         key == offsetof(struct dl_transformer, ffn_layers);
}

void dl_transformer_describe(const struct dl_transformer *t,
                             struct dl_text *to) {
  const char *key;
  double x;
  dl_text_add(to, kinds[t->kind]);
  for (size_t i = 0; (key = dl_transformer_key(t, i, &x)); i++)
    if (x != 0 && !(is_of_all_layers(keys[i].offset) && x == t->layers))
      dl_text_printf(to, ", %s %.0f", key, x);
}
