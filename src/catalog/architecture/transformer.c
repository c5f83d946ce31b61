/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/transformer.h"

#include <math.h>

#include "base/number.h"

typedef const struct dl_transformer shape;

static bool two_stacks(shape *t) {
  return t->kind == DL_TF_ENCODER_DECODER;
}

bool dl_transformer_writes(const struct dl_transformer *t) {
  return t->kind == DL_TF_DECODER || two_stacks(t);
}

/* Layers with attention, and with a feed-forward part or experts. */
static double attending(shape *t, double layers) {
  return two_stacks(t) ? layers : t->attention_layers;
}

static double feeding(shape *t, double layers) {
  return two_stacks(t) ? layers : t->ffn_layers;
}

/* Returns the mean over layers with attention of a width that layers with a
 * window may have of their own. */
static double mean_width(shape *t, double usual, double of_window) {
  if (t->window_heads == 0 || t->attention_layers == 0)
    return usual;
  return usual + (of_window - usual) * t->window_layers / t->attention_layers;
}

static double query_width(shape *t) {
  return mean_width(t, t->heads * t->head_dim,
                    t->window_heads * t->window_head_dim);
}

static double key_width(shape *t) {
  return mean_width(t, t->kv_heads * t->head_dim,
                    t->window_kv_heads * t->window_head_dim);
}

/* Width of the values of so many heads, in layers with a window of others. */
static double values_of(shape *t, double heads, double window_heads) {
  double usual = t->value_dim > 0 ? t->value_dim : t->head_dim;
  double of_window = t->value_dim > 0 ? t->value_dim : t->window_head_dim;
  return mean_width(t, heads * usual, window_heads * of_window);
}

static double value_width(shape *t) {
  return values_of(t, t->heads, t->window_heads);
}

static double kv_value_width(shape *t) {
  return values_of(t, t->kv_heads, t->window_kv_heads);
}

/* Share of the layers with attention that have keys and values of their own. */
static double own_share(shape *t) {
  return t->attention_layers > 0 && !two_stacks(t)
             ? t->kv_layers / t->attention_layers
             : 1;
}

/* Elements of the keys and values stored per token. */
static double kept_width(shape *t) {
  return t->kv_rank > 0 ? t->kv_rank + t->rope_dim
                        : key_width(t) + kv_value_width(t);
}

/* Width of the keys and values made from the latent vector. */
static double latent_width(shape *t) {
  return t->heads * (t->head_dim - t->rope_dim + t->value_dim);
}

static double norm_params(shape *t) {
  return t->hidden * (1 + t->norm_bias);
}

static double query_weights(shape *t) {
  return t->q_rank > 0 ? t->q_rank * (t->hidden + query_width(t))
                       : t->hidden * query_width(t);
}

static double latent_weights(shape *t) {
  return query_weights(t) + t->hidden * kept_width(t) +
         t->kv_rank * latent_width(t) + t->hidden * value_width(t);
}

static double attention_weights(shape *t) {
  if (t->kv_rank > 0)
    return latent_weights(t);
  double joint = t->keys_as_values * (t->attention_layers - t->window_layers) /
                 fmax(t->attention_layers, 1);
  double gate = mean_width(t, t->heads, t->window_heads) * t->head_gate;
  double kept =
      key_width(t) + kv_value_width(t) - joint * t->kv_heads * t->head_dim;
  return query_weights(t) +
         t->hidden * (gate + value_width(t) + own_share(t) * kept);
}

static double attention_biases(shape *t) {
  return t->qkv_bias * (query_width(t) + key_width(t)) +
         t->key_bias * key_width(t) + t->bias * t->hidden;
}

static double ffn_weights(shape *t, double width) {
  return (2 + t->gated) * t->hidden * width;
}

/* Parameters of a feed-forward part of a width; 0 for width 0. */
static double ffn_params(shape *t, double width) {
  if (width == 0)
    return 0;
  return ffn_weights(t, width) + t->bias * ((1 + t->gated) * width + t->hidden);
}

/* Layers of a stack that have experts in place of the feed-forward part. */
static double moe_layers(shape *t, double layers) {
  return t->experts > 0
             ? floor((feeding(t, layers) - t->dense_layers) / t->moe_every)
             : 0;
}

double dl_transformer_moe_layers(const struct dl_transformer *t) {
  return moe_layers(t, t->layers) +
         (two_stacks(t) ? moe_layers(t, t->decoder_layers) : 0);
}

double dl_transformer_expert_params(const struct dl_transformer *t) {
  return dl_transformer_moe_layers(t) * t->experts * ffn_params(t, t->moe_ffn);
}

/* Layers with their norms; `attentions` is 2 where a layer also attends to
 * the encoder. */
static double stack_params(shape *t, double layers, double attentions) {
  double moe = moe_layers(t, layers);
  double with = attending(t, layers), ffn = feeding(t, layers);
  if (t->shared_layers > 0)
    with = ffn = 1;
  double attention =
      attention_weights(t) + attention_biases(t) + norm_params(t);
  return with * attentions * attention + ffn * norm_params(t) +
         t->mixers * (t->mixer_weights + norm_params(t)) + t->extra_weights +
         (ffn - moe) * ffn_params(t, t->ffn) +
         moe * (t->experts * ffn_params(t, t->moe_ffn) +
                t->hidden * t->experts + ffn_params(t, t->shared_ffn)) +
         t->final_norm * norm_params(t) + t->relative * t->heads +
         (t->disentangled > 0) * norm_params(t);
}

static double patches(shape *t, double image_px) {
  double side = floor(image_px / t->patch);
  return side * side;
}

/* Weights of the stem, which turns images or sounds into tokens. */
static double stem_weights(shape *t) {
  if (t->kind == DL_TF_VISION)
    return t->patch * t->patch * t->channels * t->hidden;
  return t->mel > 0 ? 3 * t->hidden * (t->mel + t->hidden) : 0;
}

static double stem_params(shape *t) {
  if (t->kind == DL_TF_VISION) /* and a bias, the class token */
    return stem_weights(t) + 2 * t->hidden;
  return stem_weights(t) + (t->mel > 0 ? 2 * t->hidden : 0);
}

/* Size of the embedding of a token. */
static double embedding_size(shape *t) {
  return t->embedding > 0 ? t->embedding : t->hidden;
}

/* Parameters of the dense layer from a narrow embedding to the hidden size,
 * without bias (OPT 350M); the output layer has another back. */
static double projection(shape *t) {
  return t->embedding * t->hidden;
}

double dl_transformer_embedding_params(const struct dl_transformer *t) {
  double rows =
      t->positions + t->encoder_positions + t->token_types + t->disentangled;
  if (t->kind == DL_TF_VISION)
    rows += patches(t, t->image) + 1;
  bool lookup_only = !dl_transformer_writes(t) || !t->tied;
  return rows * t->hidden + lookup_only * t->vocab * embedding_size(t);
}

/* The output layer alone; a tied one is the embedding of tokens. */
static double output_weights(shape *t) {
  return dl_transformer_writes(t) ? t->vocab * embedding_size(t) + projection(t)
                                  : 0;
}

static double classifier_params(shape *t) {
  return t->classes > 0 ? t->hidden * t->classes + t->classes : 0;
}

double dl_transformer_params(const struct dl_transformer *t) {
  double sum = dl_transformer_embedding_params(t) + projection(t) +
               t->extra_params + output_weights(t) +
               t->embedding_norm * norm_params(t) + stem_params(t) +
               stack_params(t, t->layers, 1) + classifier_params(t);
  if (two_stacks(t))
    sum += stack_params(t, t->decoder_layers, 2);
  if (t->pooler > 0)
    sum += t->hidden * t->hidden + t->hidden;
  return sum;
}

double dl_transformer_step_params(const struct dl_transformer *t,
                                  double share) {
  bool cross = two_stacks(t);
  double layers = cross ? t->decoder_layers : t->layers;
  double experts =
      moe_layers(t, layers) * t->experts * ffn_params(t, t->moe_ffn);
  double sum = stack_params(t, layers, cross ? 2 : 1) - (1 - share) * experts +
               projection(t) + output_weights(t) +
               t->embedding_norm * norm_params(t);
  /* Keys and values of the encoder are there already. */
  return cross ? sum - 2 * layers * t->hidden * key_width(t) : sum;
}

double dl_transformer_active_params(const struct dl_transformer *t) {
  double idle = t->experts - t->active_experts;
  return dl_transformer_params(t) - t->extra_params -
         dl_transformer_moe_layers(t) * idle * ffn_params(t, t->moe_ffn);
}

double dl_transformer_unquantized_params(const struct dl_transformer *t) {
  double norms = attending(t, t->layers) + feeding(t, t->layers) + t->mixers +
                 t->final_norm + t->embedding_norm;
  if (two_stacks(t))
    norms += 3 * t->decoder_layers + t->final_norm;
  return dl_transformer_embedding_params(t) + t->extra_params +
         dl_or(dl_transformer_head_params(t), 0) + norms * norm_params(t);
}

double dl_transformer_head_params(const struct dl_transformer *t) {
  if (t->classes > 0)
    return classifier_params(t);
  return dl_transformer_writes(t) ? output_weights(t) : NAN;
}

/* Counts the inputs and outputs of the products of an attention. */
static double attention_sides(shape *t) {
  double d = t->hidden, out = value_width(t) + d;
  if (t->kv_rank == 0)
    return d + query_width(t) + 2 * d + kept_width(t) + out;
  double queries =
      t->q_rank > 0 ? d + 2 * t->q_rank + query_width(t) : d + query_width(t);
  return queries + d + kept_width(t) + t->kv_rank + latent_width(t) + out;
}

/* Counts them if queries, keys and values are one product. */
static double joint_attention_sides(shape *t) {
  return t->kv_rank > 0 ? attention_sides(t)
                        : t->hidden + query_width(t) + kept_width(t) +
                              value_width(t) + t->hidden;
}

double dl_transformer_adapted_sides(const struct dl_transformer *t,
                                    enum dl_adapted which, double targets) {
  const bool shared = t->shared_layers > 0; /* adapters too */
  const double first = shared ? 1 : attending(t, t->layers);
  const double second = shared ? t->decoder_layers > 0 : t->decoder_layers;
  const double written = targets * second; /* layers a token passes */
  const double layers = (shared ? 1 : feeding(t, t->layers)) + written;
  const double moe = dl_transformer_moe_layers(t);
  const double dense =
      layers * t->hidden + (layers - moe) * t->ffn + moe * t->moe_ffn;
  /* Keys and values for the attention to an encoder are its tokens'. */
  const double read = second * (1 - targets) * (t->hidden + key_width(t));
  const double attentions = first + 2 * written;
  switch (which) {
  case DL_ADAPTED_QUERIES_VALUES:
    return attentions * (2 * t->hidden + query_width(t) + key_width(t)) + read;
  case DL_ADAPTED_ATTENTION:
    return attentions * joint_attention_sides(t) + 2 * read;
  default:
    return attentions * attention_sides(t) + 2 * read + (2 + t->gated) * dense;
  }
}

double dl_transformer_tokens(const struct dl_transformer *t, double image_px) {
  if (t->kind != DL_TF_VISION)
    return t->seq;
  return patches(t, dl_or(image_px, t->image)) + 1;
}

/* MACs of the feed-forward parts of a stack for one token. */
static double ffn_macs(shape *t, double layers) {
  double moe = moe_layers(t, layers);
  return (feeding(t, layers) - moe) * ffn_weights(t, t->ffn) +
         moe * (t->active_experts * ffn_weights(t, t->moe_ffn) +
                t->hidden * t->experts + ffn_weights(t, t->shared_ffn));
}

/* Outputs of the feed-forward parts of a stack for one token. */
static double ffn_acts(shape *t, double layers) {
  double moe = moe_layers(t, layers), up = 1 + t->gated;
  double shared = t->shared_ffn > 0 ? up * t->shared_ffn + t->hidden : 0;
  return (feeding(t, layers) - moe) * (up * t->ffn + t->hidden) +
         moe * (t->active_experts * (up * t->moe_ffn + t->hidden) + t->experts +
                shared);
}

/* Adds projections and feed-forward parts of a stack for n tokens. Products
 * of mixers have inputs and outputs of about the hidden size on one side. */
static void add_stack(struct dl_pass *p, shape *t, double layers, double n) {
  double outputs = t->q_rank + query_width(t) + kept_width(t) + t->hidden;
  if (t->kv_rank > 0)
    outputs += latent_width(t);
  double with = attending(t, layers);
  double mixer = t->mixer_weights + t->mixer_macs;
  p->macs += n * (with * attention_weights(t) + ffn_macs(t, layers) +
                  t->mixers * mixer + t->extra_weights);
  p->acts +=
      n * (with * outputs + ffn_acts(t, layers) +
           (t->mixers * t->mixer_weights + t->extra_weights) / t->hidden);
}

/* Returns how many of m tokens one attends to, as a mean over layers. Windows
 * of a decoder do not count here: its layers count in full. */
static double seen(shape *t, double m) {
  double hidden =
      t->kind == DL_TF_ENCODER && t->window > 0 ? fmax(m - t->window, 0) : 0;
  return hidden > 0 ? m - hidden * t->window_layers / t->attention_layers : m;
}

/* Adds scores and mixed values of n tokens that attend to m. In disentangled
 * attention their queries and keys also attend to relative positions. */
static void add_products(struct dl_pass *p, shape *t, double layers, double n,
                         double m) {
  m = seen(t, m);
  double scores = m + 2 * t->disentangled;
  layers = attending(t, layers);
  p->attention_macs +=
      layers * n * (scores * query_width(t) + m * value_width(t));
  p->attention_acts += layers * n * (t->heads * scores + value_width(t));
}

/* Adds the attention of n tokens to an encoder's m: queries and output for the
 * former, keys and values for the latter. */
static void add_cross(struct dl_pass *p, shape *t, double n, double m) {
  double layers = t->decoder_layers;
  p->macs += 2 * layers * t->hidden * (n * query_width(t) + m * key_width(t));
  p->acts += layers * (n * (query_width(t) + t->hidden) + m * 2 * key_width(t));
  add_products(p, t, layers, n, m);
}

static void add_stem(struct dl_pass *p, shape *t, double n) {
  if (t->kind == DL_TF_VISION) {
    p->macs += (n - 1) * stem_weights(t);
    p->acts += (n - 1) * t->hidden;
  } else if (t->mel > 0) {
    /* The second convolution has a stride of 2. */
    p->macs += n * (2 * 3 * t->mel + 3 * t->hidden) * t->hidden;
    p->acts += n * 3 * t->hidden;
  }
}

/* A narrow embedding is projected up, and down again before the output. */
static void add_embedding(struct dl_pass *p, shape *t, double n) {
  p->macs += n * projection(t);
  if (t->embedding > 0)
    p->acts += n * (t->hidden + (dl_transformer_writes(t) ? t->embedding : 0));
}

static void add_heads(struct dl_pass *p, shape *t, double n) {
  if (dl_transformer_writes(t)) {
    p->macs += n * output_weights(t);
    p->acts += n * t->vocab;
  }
  if (t->pooler > 0) {
    p->macs += t->hidden * t->hidden;
    p->acts += t->hidden;
  }
  p->macs += t->hidden * t->classes;
  p->acts += t->classes;
}

double dl_transformer_targets(const struct dl_transformer *t, double n) {
  if (!two_stacks(t) || !(t->decoder_seq > 0))
    return n;
  return t->seq > 0 ? fmax(round(t->decoder_seq * n / t->seq), 1)
                    : t->decoder_seq;
}

struct dl_pass dl_transformer_pass(const struct dl_transformer *t, double n) {
  struct dl_pass p = {0};
  double last = n;
  add_stem(&p, t, n);
  add_stack(&p, t, t->layers, n);
  add_products(&p, t, t->layers, n, n);
  if (two_stacks(t)) {
    last = dl_transformer_targets(t, n);
    add_stack(&p, t, t->decoder_layers, last);
    add_products(&p, t, t->decoder_layers, last, last);
    add_cross(&p, t, last, n);
  }
  add_embedding(&p, t, last);
  add_heads(&p, t, last);
  p.macs += p.attention_macs;
  p.acts += p.attention_acts;
  return p;
}

double dl_transformer_encoding(const struct dl_transformer *t, double n) {
  struct dl_pass p = {0};
  add_stem(&p, t, n);
  add_stack(&p, t, t->layers, n);
  add_products(&p, t, t->layers, n, n);
  return p.macs + p.attention_macs +
         2 * t->decoder_layers * t->hidden * n * key_width(t);
}

struct dl_decoding dl_transformer_decoding(const struct dl_transformer *t,
                                           double n) {
  struct dl_decoding s = {0};
  struct dl_pass p = {0};
  if (!dl_transformer_writes(t))
    return s;
  bool cross = two_stacks(t);
  double layers = cross ? t->decoder_layers : t->layers;
  add_stack(&p, t, layers, 1);
  add_products(&p, t, layers, 1, n); /* to the prompt */
  add_embedding(&p, t, 1);
  add_heads(&p, t, 1);
  if (cross)
    p.macs += 2 * layers * t->hidden * query_width(t);
  s.macs = p.macs + p.attention_macs;
  s.macs_more = attending(t, layers) * (query_width(t) + value_width(t));
  s.kept_more = attending(t, layers) * own_share(t) * kept_width(t);
  s.kept = s.kept_more * n + t->mixers * t->mixer_state;
  return s;
}

/* Counts the dense layers of a stack, in attention and feed-forward parts. */
static double stack_dense(shape *t, double layers, double attentions) {
  double moe = moe_layers(t, layers), ffn = 2 + t->gated;
  double shared = t->shared_ffn > 0 ? ffn : 0;
  double products = t->kv_rank > 0 ? 4 + (t->q_rank > 0) : 4;
  return attending(t, layers) * products * attentions +
         (feeding(t, layers) - moe) * ffn + 2 * t->mixers +
         moe * (t->active_experts * ffn + 1 + shared);
}

double dl_transformer_dense(const struct dl_transformer *t) {
  double stem = t->mel > 0 ? 2 : 0;
  if (t->kind == DL_TF_VISION)
    stem = 1;
  double sum = stem + stack_dense(t, t->layers, 1) + (t->pooler > 0) +
               (t->classes > 0) + dl_transformer_writes(t) +
               (t->embedding > 0 ? 1 + dl_transformer_writes(t) : 0);
  if (two_stacks(t))
    sum += stack_dense(t, t->decoder_layers, 2);
  return sum;
}

enum { MIXER_KERNELS = 5 }; /* convolution, scan, gate, norm, sum */

/* Counts the kernels beside dense layers: an attention has two products, a
 * softmax, a norm and a sum; a feed-forward part has an activation (gated: and
 * a product), a norm and a sum. */
static double stack_others(shape *t, double layers, double attentions) {
  double moe = moe_layers(t, layers), ffn = 1 + t->gated;
  double feed = feeding(t, layers);
  return 5 * attending(t, layers) * attentions + 2 * feed + (feed - moe) * ffn +
         MIXER_KERNELS * t->mixers +
         moe * (t->active_experts + (t->shared_ffn > 0)) * ffn;
}

double dl_transformer_launches(const struct dl_transformer *t) {
  double sum = dl_transformer_dense(t) + stack_others(t, t->layers, 1) +
               t->final_norm + t->embedding_norm + (t->positions > 0) +
               (t->vocab > 0);
  if (two_stacks(t))
    sum += stack_others(t, t->decoder_layers, 2) + t->final_norm;
  return sum;
}
