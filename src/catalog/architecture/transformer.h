/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transformers by formula: parameters, multiply-accumulates and activations
 * from the shape of the network.
 *
 * Symbols: L layers, d hidden size, h heads of size e, g heads of keys and
 * values (grouped queries, arXiv 2305.13245), f size of the feed-forward
 * part, n tokens, V vocabulary.
 *
 * Weights of a layer (biases and norms are counted too):
 *
 *   attention     2 d h e (queries, output) + 2 d g e (keys, values)
 *   latent        d q + q h e (queries of rank q; without a rank d h e) +
 *                 d (c + r) + c h (e - r + v) + h v d (keys and values of rank
 *                 c, r of a head rotated, values of size v; arXiv 2405.04434)
 *                 A head may have a gate (another product of d x its outputs),
 *                 layers with a window heads of their own; keys may also be
 *                 the values.
 *   mixer         of a recurrent layer (state spaces, linear attention,
 *                 arXiv 2312.00752, 2412.06464): given as a number, as is its
 *                 state
 *   feed-forward  2 d f, gated (SwiGLU, GEGLU; arXiv 2002.05202) 3 d f;
 *                 with experts that many times, and d x experts to choose
 *
 * MACs of a forward pass over n tokens:
 *
 *   linear        n x weights that a token uses, embeddings not (looking up
 *                 is no multiplication), the output layer n V d; with an
 *                 embedding of size m < d, n (V m + 2 m d)
 *   attention     2 L n^2 h e: scores, and values mixed by them; latent
 *                 L n^2 h (e + v); disentangled 2 L n p h e more, of queries
 *                 and of keys with the p embeddings of relative positions
 *                 (arXiv 2006.03654; their projections, once a batch, are not
 *                 counted)
 *   mixer         n x the MACs of its state: by default each element is
 *                 updated and read once
 *
 * The square of n is counted in full for causal attention too, as PaLM
 * (arXiv 2204.02311, appendix B: 12 L h e n FLOPs a token, forward and
 * backward) and Chinchilla (arXiv 2203.15556, appendix F) do: a kernel that
 * skips what the mask hides does half of it. Training takes three forward
 * passes, so that without attention it is the 6 N FLOPs a token of Kaplan et
 * al. (arXiv 2001.08361), N without embeddings but with the output layer.
 *
 * A token of a mixture of experts goes through `active_experts` of them
 * (arXiv 2101.03961, 2401.04088). */

#ifndef DL_CATALOG_ARCHITECTURE_TRANSFORMER_H
#define DL_CATALOG_ARCHITECTURE_TRANSFORMER_H

#include <stdbool.h>

#include "base/diag.h"

enum dl_transformer_kind {
  DL_TF_DECODER,         /* GPT: every token sees those before it */
  DL_TF_ENCODER,         /* BERT */
  DL_TF_ENCODER_DECODER, /* T5, Whisper */
  DL_TF_VISION           /* ViT: tokens are patches of an image */
};

/* The shape of a transformer. Its members are named after the keys, and are
 * whole numbers as doubles; 0: none. */
struct dl_transformer {
  enum dl_transformer_kind kind;
  double layers, decoder_layers;       /* the latter of an encoder-decoder */
  double attention_layers, ffn_layers; /* of one stack, with these parts */
  double kv_layers; /* with keys and values of their own, not of others */
  double mixers, mixer_weights;   /* recurrent ones, and weights of each */
  double mixer_state, mixer_macs; /* elements; MACs for a token */
  double hidden, heads, kv_heads, head_dim, ffn, gated;
  double q_rank, kv_rank;     /* of latent attention; kv_rank 0: none */
  double rope_dim, value_dim; /* there, of a head: rotated part; values */
  double head_gate;           /* outputs of a head's gate */
  double keys_as_values; /* 1: in layers without a window keys are values */
  double vocab, seq;     /* seq: tokens that figures are for */
  double embedding;      /* size of a token's, where below the hidden size */
  double window;        /* tokens that layers with a window attend to; 0: all */
  double window_layers; /* their number */
  double window_heads, window_kv_heads, window_head_dim; /* 0: as the others */
  double context;           /* longest published sequence; 0: unknown */
  double decoder_seq;       /* of seq tokens; 0: as many as the encoder's */
  double positions;         /* learned, of the decoder or the only stack */
  double encoder_positions; /* stored, of an encoder before a decoder */
  double token_types, tied; /* tied: the output layer is the embedding */
  double bias, qkv_bias, key_bias, norm_bias, embedding_norm, final_norm;
  double relative;      /* buckets of position, one weight a head (T5) */
  double disentangled;  /* embeddings of relative positions (DeBERTa) */
  double shared_layers; /* 1: all layers share one set of weights (ALBERT) */
  double experts, active_experts, moe_every, moe_ffn, shared_ffn;
  double dense_layers; /* the first ones, without experts */
  double patch, image, channels, classes, pooler;
  double mel;           /* channels of a stem of two convolutions (Whisper) */
  double extra_weights; /* further ones that each token is multiplied by */
  double extra_params;  /* further ones that no token of a text needs: towers
                           for images and sounds, tables of embeddings */
};

/* The work of one forward pass; attention: the part with the square of the
 * tokens. */
struct dl_pass {
  double macs, attention_macs;
  double acts, attention_acts; /* outputs of convolutions, dense layers and
                                  products of matrices */
};

/* The cost a + b i of the step that generates token i = 1, 2, ... after a
 * prompt, with a KV cache. */
struct dl_decoding {
  double macs, macs_more; /* MACs of the step */
  double kept, kept_more; /* size of the KV cache it reads, in elements */
};

/* Reads "key=value,key=value", the text behind "transformer:". Keys that are
 * not given take the defaults of docs/language-models.md. Errors (DL_EINPUT)
 * name key, column and the nearest key, and begin with `where`; `column` is
 * where the text begins there (1: at the start). */
enum dl_status dl_transformer_parse(struct dl_transformer *t, const char *text,
                                    const char *where, size_t column,
                                    struct dl_diag *d);

/* Returns the text of a key, or NULL. */
typedef const char *dl_shape_value(const void *ctx, const char *key);

/* Reads the shape from attributes. Errors name file and line. */
enum dl_status dl_transformer_read(struct dl_transformer *t,
                                   dl_shape_value *value, const void *ctx,
                                   const char *file, size_t line,
                                   struct dl_diag *d);

/* Makes t a shape of a kind in which every key is unknown (NaN). */
void dl_transformer_unknown(struct dl_transformer *t,
                            enum dl_transformer_kind kind);

/* Returns the name of key i and stores its value; NULL past the last key. */
const char *dl_transformer_key(const struct dl_transformer *t, size_t i,
                               double *value);

/* Returns the word for a kind: "decoder". */
const char *dl_transformer_kind_word(enum dl_transformer_kind kind);

/* Appends the shape in words: "decoder, 32 layers, ..." */
struct dl_text;
void dl_transformer_describe(const struct dl_transformer *t,
                             struct dl_text *to);

/* These count parameters: all; active ones, which a token of a text uses, and
 * the embeddings with them, as most publications do; embeddings of
 * tokens and positions that are not the output layer. */
double dl_transformer_params(const struct dl_transformer *t);
double dl_transformer_active_params(const struct dl_transformer *t);
double dl_transformer_embedding_params(const struct dl_transformer *t);

/* Counts the parameters that a generation step reads: decoder and output layer,
 * with a share of the experts. */
double dl_transformer_step_params(const struct dl_transformer *t, double share);

/* These count the layers with experts, and the parameters of all their experts,
 * without shared experts and routers. */
double dl_transformer_moe_layers(const struct dl_transformer *t);
double dl_transformer_expert_params(const struct dl_transformer *t);

/* Counts the parameters of the output layer or classifier, which training with
 * a frozen backbone trains. NaN without one. */
double dl_transformer_head_params(const struct dl_transformer *t);

/* Counts the parameters that quantization of a checkpoint to 4 bits leaves as
 * they are: embeddings, the output layer or classifier, and norms. */
double dl_transformer_unquantized_params(const struct dl_transformer *t);

/* The products that low-rank adapters stand beside: of attention and of the
 * feed-forward parts (one in a mixture of experts), of attention with queries,
 * keys and values as one, or of queries and values. */
enum dl_adapted {
  DL_ADAPTED_ALL,
  DL_ADAPTED_ATTENTION,
  DL_ADAPTED_QUERIES_VALUES
};

/* Counts the values that go into and come out of these products (LoRA, arXiv
 * 2106.09685), for a token; `targets` is the tokens of a decoder for each of
 * its encoder. With 1, adapters have a rank times as many parameters, in two
 * matrices beside each product. */
double dl_transformer_adapted_sides(const struct dl_transformer *t,
                                    enum dl_adapted which, double targets);

/* Counts the tokens of a sample: of the sequence, or of a vision transformer at
 * an image of that side (NaN: its own), the class token included. */
double dl_transformer_tokens(const struct dl_transformer *t, double image_px);

/* Returns the tokens of the decoder for n of the encoder, in proportion to
 * those of the shape; n of a single stack. */
double dl_transformer_targets(const struct dl_transformer *t, double n);

/* Computes a pass over n tokens (of the encoder, if there are two stacks). */
struct dl_pass dl_transformer_pass(const struct dl_transformer *t, double n);

/* Whether it generates tokens: decoders do. */
bool dl_transformer_writes(const struct dl_transformer *t);

/* Counts the MACs of the encoder of an encoder-decoder alone, with the keys and
 * values that its decoder keeps of n tokens. */
double dl_transformer_encoding(const struct dl_transformer *t, double n);

/* Computes the cost of steps after a prompt of n tokens; all zeros if nothing
 * is generated (encoders, vision). */
struct dl_decoding dl_transformer_decoding(const struct dl_transformer *t,
                                           double n);

/* These count the dense layers and convolutions of a pass, and its kernels:
 * also two products, a softmax, norms, sums and activations, one by one. */
double dl_transformer_dense(const struct dl_transformer *t);
double dl_transformer_launches(const struct dl_transformer *t);

#endif
