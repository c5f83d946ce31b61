/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of keys are those of the transformers library
 * (https://huggingface.co/docs/transformers), in which they differ by family.
 */

#include "catalog/architecture/from_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/file_name.h"

/* Longer contexts are reached by few trainings; a run says its own seq_len. */
#define MOST_TOKENS 8192

/* A key of a shape (transformer_shape.c) and what configs call it. */
static const struct key {
  const char *key, *names;
} keys[] = {
    {"layers", "num_hidden_layers|n_layer|n_layers|encoder_layers|num_layers"},
    {"hidden", "hidden_size|n_embd|d_model|dim"},
    {"heads", "num_attention_heads|n_head|n_heads|encoder_attention_heads|"
              "num_heads"},
    {"kv_heads", "num_key_value_heads"},
    {"head_dim", "head_dim|d_kv|kv_channels"},
    {"ffn", "intermediate_size|n_inner|d_ff|ffn_dim|encoder_ffn_dim|"
            "hidden_dim"},
    {"vocab", "vocab_size"},
    {"embedding", "word_embed_proj_dim|embedding_size"},
    {"seq", "max_position_embeddings|n_positions|n_ctx|max_source_positions|"
            "seq_length"},
    {"tied", "tie_word_embeddings"},
    {"qkv_bias", "attention_bias"},
    {"decoder_layers", "decoder_layers|num_decoder_layers"},
    {"decoder_seq", "max_target_positions"},
    {"token_types", "type_vocab_size"},
    {"relative", "relative_attention_num_buckets"},
    {"experts", "num_local_experts|num_experts"},
    {"active_experts", "num_experts_per_tok"},
    {"moe_ffn", "moe_intermediate_size"},
    {"moe_every", "decoder_sparse_step"},
    {"shared_ffn", "shared_expert_intermediate_size"},
    {"image", "image_size"},
    {"patch", "patch_size"},
    {"channels", "num_channels"},
    {"mel", "num_mel_bins"},
};

enum { MOST_PARTS = 40, MOST_KEY = 24 };

/* A shape in the making: numbers by key, the later of two counts. */
struct parts {
  const char *kind;
  struct part {
    char key[MOST_KEY];
    double x;
  } at[MOST_PARTS];
  size_t n;
};

static void put(struct parts *p, const char *key, double x) {
  size_t i = 0;
  while (i < p->n && strcmp(p->at[i].key, key) != 0)
    i++;
  snprintf(p->at[i].key, MOST_KEY, "%s", key);
  p->at[i].x = x;
  p->n += i == p->n;
}

static double part(const struct parts *p, const char *key) {
  for (size_t i = 0; i < p->n; i++)
    if (strcmp(p->at[i].key, key) == 0)
      return p->at[i].x;
  return NAN;
}

/* --- What a family adds to its keys. */

static bool has_text(const dl_json *j, const char *key, const char *part_of) {
  const char *text = dl_json_get(j, key).text;
  return text && strstr(text, part_of);
}

/* Positions are learned, and may be more than the sequence. */
static void learned(struct parts *p, const dl_json *j) {
  (void)j;
  put(p, "positions", part(p, "seq"));
}

/* The variant with a narrow embedding has norms behind its layers. */
static void opt(struct parts *p, const dl_json *j) {
  (void)j;
  put(p, "positions", part(p, "seq") + 2);
  if (part(p, "embedding") < part(p, "hidden"))
    put(p, "final_norm", 0);
}

/* Positions below 2 stand for padding. */
static void roberta(struct parts *p, const dl_json *j) {
  learned(p, j);
  put(p, "seq", part(p, "seq") - 2);
}

/* Relative positions, if any, in both directions, as many as buckets. */
static void deberta(struct parts *p, const dl_json *j) {
  struct dl_json_value buckets = dl_json_get(j, "position_buckets");
  struct dl_json_value absolute = dl_json_get(j, "position_biased_input");
  bool some = buckets.type == DL_JSON_NUMBER && buckets.number > 0;
  bool none = absolute.type == DL_JSON_TRUTH && absolute.number == 0;
  if (dl_json_get(j, "relative_attention").number > 0)
    put(p, "disentangled", 2 * (some ? buckets.number : part(p, "seq")));
  put(p, "positions", none ? 0 : part(p, "seq"));
}

static void qwen(struct parts *p, const dl_json *j) {
  (void)j; /* intermediate_size counts both matrices of the gate */
  put(p, "ffn", part(p, "ffn") / 2);
}

/* Layers with a window: as listed, else all of Mistral's, and all but every
 * second of Gemma 2 or sixth of Gemma 3. */
static void windows(struct parts *p, const dl_json *j) {
  struct dl_json_value window = dl_json_get(j, "sliding_window");
  struct dl_json_value pattern = dl_json_get(j, "sliding_window_pattern");
  size_t listed = dl_json_count(j, "layer_types");
  double layers = part(p, "layers"), with = layers;
  if (has_text(j, "model_type", "gemma")) {
    double every = has_text(j, "model_type", "gemma2") ? 2 : 6;
    if (pattern.type == DL_JSON_NUMBER && pattern.number >= 1)
      every = pattern.number;
    with = layers - floor(layers / every);
  } else if (!has_text(j, "model_type", "mistral")) {
    with = 0; /* not used unless the layers are listed */
  }
  if (listed > 0)
    with = 0;
  for (size_t i = 0; i < listed; i++) {
    const char *type = dl_json_text_at(j, "layer_types", i);
    with += type && strcmp(type, "sliding_attention") == 0;
  }
  if (window.type == DL_JSON_NUMBER && window.number >= 1 && with >= 1) {
    put(p, "window", window.number);
    put(p, "window_layers", with);
  }
}

static void t5(struct parts *p, const dl_json *j) {
  put(p, "gated", has_text(j, "feed_forward_proj", "gated"));
  if (isnan(part(p, "seq")))
    put(p, "seq", 512);
}

static void whisper(struct parts *p, const dl_json *j) {
  (void)j;
  put(p, "encoder_positions", part(p, "seq"));
  put(p, "positions", part(p, "decoder_seq"));
}

/* A classifier where the checkpoint is one, else the pooling layer. */
static void vit(struct parts *p, const dl_json *j) {
  const char *is = dl_json_text_at(j, "architectures", 0);
  size_t labels = dl_json_count(j, "id2label");
  if (is && strstr(is, "Classification"))
    put(p, "classes", labels > 0 ? (double)labels : 2);
  else
    put(p, "pooler", 1);
}

#define DECODER "layers hidden heads vocab seq "
#define LLAMA DECODER "ffn gated=1 kv_heads? head_dim? tied? qkv_bias? "
#define MOE "experts active_experts "

/* Keys of a shape, of which those with '?' may be absent; "key=N" is N where
 * the file does not say. */
static const struct family {
  const char *types, *kind; /* model_type, "a|b" */
  const char *keys;
  void (*adjust)(struct parts *p, const dl_json *j);
} families[] = {
    {"llama|mistral|qwen3", "decoder", LLAMA, windows},
    {"gemma|gemma2|gemma3_text", "decoder", LLAMA "tied=1", windows},
    {"mixtral", "decoder", LLAMA MOE, NULL},
    {"qwen2", "decoder", LLAMA "qkv_bias=1", NULL},
    {"qwen2_moe", "decoder",
     LLAMA MOE "moe_ffn shared_ffn moe_every? qkv_bias=1", NULL},
    {"qwen3_moe", "decoder", LLAMA MOE "moe_ffn moe_every?", NULL},
    {"qwen", "decoder", DECODER "ffn head_dim? tied? gated=1 qkv_bias=1", qwen},
    {"gpt2", "decoder", DECODER "ffn? tied? gated=0", learned},
    {"opt", "decoder", DECODER "ffn tied? embedding? gated=0", opt},
    {"gpt_neox", "decoder", DECODER "ffn gated=0 tied=0 positions=0", NULL},
    {"bert", "encoder", DECODER "ffn token_types=2 pooler=1", learned},
    {"roberta|xlm-roberta|camembert", "encoder",
     DECODER "ffn token_types=1 pooler=1", roberta},
    {"distilbert", "encoder", DECODER "ffn", learned},
    {"albert", "encoder",
     DECODER "ffn embedding? positions=0 pooler=1 shared_layers=1", NULL},
    {"deberta-v2", "encoder", DECODER "ffn token_types?", deberta},
    {"t5|mt5", "encoder-decoder",
     "layers hidden heads head_dim ffn vocab seq? decoder_layers? tied=1 "
     "relative=32 bias=0 norm_bias=0",
     t5},
    {"whisper", "encoder-decoder",
     DECODER "ffn decoder_layers decoder_seq mel tied=1 key_bias=0", whisper},
    {"vit|deit", "vision",
     "layers hidden heads ffn image patch channels? gated=0", vit},
};

static const struct family *find_family(const char *type) {
  size_t len = strlen(type);
  for (size_t i = 0; i < DL_LENGTH(families); i++)
    for (const char *s = families[i].types, *end; *s; s = end + (*end == '|')) {
      end = strchrnul(s, '|');
      if ((size_t)(end - s) == len && memcmp(s, type, len) == 0)
        return &families[i];
    }
  return NULL;
}

static enum dl_status unknown_type(const char *path, const char *type,
                                   struct dl_diag *d) {
  DL_TEXT(known);
  for (size_t i = 0; i < DL_LENGTH(families); i++) {
    dl_text_add(&known, i == 0 ? "" : ", ");
    for (const char *s = families[i].types; *s; s++)
      dl_text_add_n(&known, *s == '|' ? ", " : s, *s == '|' ? 2 : 1);
  }
  return type ? dl_fail_at(
                    d, DL_EINPUT, path, 0,
                    "model_type '%.64s' is none of %s; give its shape, "
                    "--arch transformer:layers=N,..., or export it to ONNX",
                    type, dl_text_str(&known))
              : dl_fail_at(d, DL_EINPUT, path, 0,
                           "no 'model_type': not the config.json of a network");
}

static bool is_truth(const struct key *k) {
  return strcmp(k->key, "tied") == 0 || strcmp(k->key, "qkv_bias") == 0;
}

/* Reads the value of a key by the first of its names that is there. */
static enum dl_status read_key(struct parts *p, const struct key *k,
                               bool optional, const dl_json *j,
                               const char *path, struct dl_diag *d) {
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
    put(p, k->key, v.number);
    return DL_OK;
  }
  return optional ? DL_OK
                  : dl_fail_at(d, DL_EINPUT, path, 0, "no '%.*s' (%s)",
                               (int)strcspn(k->names, "|"), k->names, k->key);
}

/* All keys of a family, and its constants. */
static enum dl_status read_keys(struct parts *p, const struct family *f,
                                const dl_json *j, const char *path,
                                struct dl_diag *d) {
  for (const char *s = f->keys; *s; s += strspn(s, " ")) {
    char name[MOST_KEY];
    size_t n = strcspn(s, " ?=");
    const struct key *k = keys;
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    if (s[n] == '=')
      put(p, name, atoi(s + n + 1));
    while (k < keys + DL_LENGTH(keys) && strcmp(k->key, name) != 0)
      k++;
    if (k < keys + DL_LENGTH(keys))
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
static void limit_tokens(struct parts *p, const char *path, struct dl_diag *d) {
  double seq = part(p, "seq");
  if (strcmp(p->kind, "decoder") != 0)
    return;
  if (seq > 0 && !(part(p, "positions") > 0))
    put(p, "context", seq);
  if (!(seq > MOST_TOKENS))
    return;
  dl_warn_at(d, path, 0,
             "takes up to %g tokens; counted at %g unless --seq-len says "
             "another",
             seq, (double)MOST_TOKENS);
  put(p, "seq", MOST_TOKENS);
}

/* The network is named after the checkpoint, else the folder. */
static struct dl_xml *write_shape(const char *path, const dl_json *j,
                                  const struct parts *p) {
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

enum dl_status dl_config_take(struct dl_catalog_file *s, const dl_json *j,
                              const char *path, struct dl_diag *d) {
  const char *type = dl_json_get(j, "model_type").text;
  const struct family *f = type ? find_family(type) : NULL;
  enum dl_kind kind;
  if (!f)
    return unknown_type(path, type, d);
  struct parts p = {.kind = f->kind};
  DL_TRY(read_keys(&p, f, j, path, d));
  DL_TRY(check_repeats(j, path, d));
  if (f->adjust)
    f->adjust(&p, j);
  limit_tokens(&p, path, d);
  if (dl_json_get(j, "quantization_config").type != DL_JSON_ABSENT)
    dl_warn_at(d, path, 0,
               "'quantization_config' is not read: weights take the bytes of "
               "--precision unless --set weight_bytes=VALUE says others");
  return dl_catalog_file_take(s, write_shape(path, j, &p), &kind, NULL, d);
}

enum dl_status dl_config_load(struct dl_catalog_file *s, const char *path,
                              struct dl_diag *d) {
  dl_json *j;
  enum dl_status status = dl_json_read(&j, path, d);
  if (status == DL_OK)
    status = dl_config_take(s, j, path, d);
  dl_json_free(j);
  return status;
}
