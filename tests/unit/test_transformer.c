/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transformers by their shape: counts against what PyTorch counts while small
 * ones run, against published figures, and by hand; texts that are refused. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/catalog_file.h"
#include "catalog/architecture/scaling.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/layer_shapes.h"
#include "catalog/architecture/transformer.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_diag d;

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

static struct dl_transformer shape(const char *text) {
  struct dl_transformer t;

  assert_ok(dl_transformer_parse(&t, text, "arch", 1, &d), &d);
  return t;
}

/* Figures of tests/reference/transformer_reference.py. */
static const struct counted {
  const char *text;
  double n, params, macs, acts;
} counted[] = {
    {"layers=3,hidden=48,heads=4,vocab=101,seq=32", 20, 91296, 1871040, 35620},
    {"layers=4,hidden=64,heads=8,kv_heads=2,ffn=176,vocab=97,seq=24", 24,
     189120, 4670976, 82200},
    {"layers=2,hidden=40,heads=5,head_dim=16,ffn=100,vocab=53,seq=11", 11,
     54040, 607640, 14993},
    {"layers=4,hidden=32,heads=4,kv_heads=2,ffn=80,experts=8,"
     "active_experts=2,vocab=61,seq=30",
     30, 263264, 2531520, 78630},
    {"layers=5,hidden=32,heads=4,ffn=80,experts=4,active_experts=1,"
     "moe_every=2,vocab=61,seq=30",
     30, 109472, 2120640, 72870},
    {"kind=encoder,layers=3,hidden=48,heads=6,ffn=160,vocab=71,seq=40,"
     "token_types=2,pooler=1",
     25, 83376, 2025504, 44898},
    {"kind=encoder-decoder,layers=3,decoder_layers=2,hidden=32,heads=4,"
     "ffn=96,vocab=83,seq=17,decoder_seq=9",
     17, 64480, 922400, 29863},
    {"kind=vision,layers=4,hidden=72,heads=6,ffn=288,patch=16,image=64,"
     "classes=37",
     17, 312085, 5284008, 57085},
};

static void as_pytorch_counts(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(counted); i++) {
    struct dl_transformer t = shape(counted[i].text);
    struct dl_pass p = dl_transformer_pass(&t, counted[i].n);
    assert_near(dl_transformer_params(&t), counted[i].params, 0);
    assert_near(p.macs, counted[i].macs, 0);
    assert_near(p.acts, counted[i].acts, 0);
  }
  struct dl_transformer vit = shape(counted[7].text);
  assert_true(dl_transformer_tokens(&vit, NAN) == 17);
  assert_true(dl_transformer_tokens(&vit, 128) == 65);
}

/* Token after token each step attends to those before it; a pass counts the
 * whole square. So n steps without the part that grows, and n^2 times that
 * part, are the pass. */
static void steps_add_up_to_a_pass(void **state) {
  (void)state;
  for (size_t i = 0; i < 5; i++) {
    struct dl_transformer t = shape(counted[i].text);
    struct dl_decoding s = dl_transformer_decoding(&t, 0);
    double n = counted[i].n;
    assert_near(n * s.macs + n * n * s.macs_more, counted[i].macs, 1e-15);
    assert_true(s.kept == 0);
  }
  struct dl_transformer two = shape(counted[6].text);
  struct dl_decoding s = dl_transformer_decoding(&two, 17);
  double encoder = dl_transformer_encoding(&two, 17);
  assert_near(encoder + 9 * s.macs + 81 * s.macs_more, 922400, 1e-15);
  /* The decoder: 2 layers of attention 4096 + 2048 with biases 256,
   * feed-forward 6144 + 128, norms 192; final norm 64, output 83 x 32. */
  assert_near(dl_transformer_step_params(&two, 0), 2 * 12864 + 64 + 2656, 0);
  struct dl_transformer bert = shape(counted[5].text);
  s = dl_transformer_decoding(&bert, 5);
  assert_true(s.macs == 0 && s.kept_more == 0);
}

/* L = 2, d = 8, h = 2, f = 32, V = 16: a layer has 4 d^2 + 2 d f = 768
 * weights, the output 128; attention 2 L d = 32 MACs for each pair. */
static void by_hand(void **state) {
  struct dl_transformer t = shape("layers=2,hidden=8,heads=2,vocab=16,seq=16");
  struct dl_pass p = dl_transformer_pass(&t, 10);
  struct dl_decoding s = dl_transformer_decoding(&t, 10);

  (void)state;
  assert_true(t.ffn == 32 && t.kv_heads == 2 && t.head_dim == 4);
  assert_true(p.attention_macs == 32 * 100);
  assert_true(p.macs == 10 * (2 * 768 + 128) + 3200);
  /* scores of 2 heads and 8 mixed values for each of 10 tokens */
  assert_true(p.attention_acts == 2 * 10 * (2 * 10 + 8));
  assert_true(s.macs == 1664 + 32 * 10 && s.macs_more == 32);
  assert_true(s.kept == 320 && s.kept_more == 32);
  /* biases 4 x 8 + 40, norms 4 x 8 a layer; final norm, 16 positions */
  assert_true(dl_transformer_params(&t) ==
              2 * (768 + 72 + 32) + 16 + 128 + 128);
  assert_true(dl_transformer_embedding_params(&t) == 128);
  assert_true(dl_transformer_head_params(&t) == 128);
  assert_true(dl_transformer_active_params(&t) == dl_transformer_params(&t));
  /* 6 dense layers each, and the output */
  assert_true(dl_transformer_dense(&t) == 13);
  assert_true(dl_transformer_launches(&t) == 13 + 2 * 8 + 3);
}

/* The same with an embedding of 4: 16 x 4 rows, projected up by 4 x 8 weights
 * and down again, tied to the output. */
static void narrow_embedding(void **state) {
  struct dl_transformer t = shape("layers=2,hidden=8,heads=2,vocab=16,seq=16");
  struct dl_transformer n =
      shape("layers=2,hidden=8,heads=2,vocab=16,embedding=4,seq=16");
  struct dl_transformer same =
      shape("layers=2,hidden=8,heads=2,vocab=16,embedding=8,seq=16");
  struct dl_transformer bert =
      shape("kind=encoder,layers=2,hidden=8,heads=2,vocab=16,embedding=4,"
            "seq=16,positions=0");
  struct dl_pass p = dl_transformer_pass(&t, 10);
  struct dl_pass q = dl_transformer_pass(&n, 10);

  (void)state;
  assert_true(dl_transformer_params(&t) - dl_transformer_params(&n) ==
              16 * 8 - 16 * 4 - 2 * 32);
  assert_true(p.macs - q.macs == 10 * (128 - 64 - 2 * 32));
  assert_true(q.acts - p.acts == 10 * (8 + 4));
  assert_true(dl_transformer_head_params(&n) == 16 * 4 + 32);
  assert_true(dl_transformer_dense(&n) == dl_transformer_dense(&t) + 2);
  assert_true(dl_transformer_decoding(&n, 0).macs == 1664 - 128 + 64 + 64);
  assert_true(dl_transformer_params(&same) == dl_transformer_params(&t));
  /* Encoders look up: 16 rows of 4 and one projection. */
  assert_true(dl_transformer_embedding_params(&bert) == 64);
  assert_true(dl_transformer_head_params(&bert) != 96);
}

/* The weights of a layer, 768 + 72 biases + 32 of norms, once for both; the
 * work of both. */
static void shared_layers(void **state) {
  struct dl_transformer t =
      shape("kind=encoder,layers=2,hidden=8,heads=2,vocab=16,seq=16");
  struct dl_transformer s = shape("kind=encoder,layers=2,hidden=8,heads=2,"
                                  "vocab=16,seq=16,shared_layers=1");

  (void)state;
  assert_true(dl_transformer_params(&t) - dl_transformer_params(&s) ==
              768 + 72 + 32);
  assert_true(dl_transformer_pass(&t, 10).macs ==
              dl_transformer_pass(&s, 10).macs);
  assert_true(2 * dl_transformer_adapted_sides(&s, DL_ADAPTED_ALL, 1) ==
              dl_transformer_adapted_sides(&t, DL_ADAPTED_ALL, 1));
}

/* Whisper large with adapters of rank 32 beside q_proj and v_proj: PEFT counts
 * 15,728,640 parameters. A token passes 448 / 1500 of the decoder, but its
 * attention to the encoder has values of all tokens. */
static void adapters_of_two_stacks(void **state) {
  struct dl_transformer t = shape(
      "kind=encoder-decoder,layers=32,decoder_layers=32,hidden=1280,heads=20,"
      "vocab=51866,seq=1500,decoder_seq=448,mel=128");
  const enum dl_adapted pair = DL_ADAPTED_QUERIES_VALUES;

  (void)state;
  assert_true(32 * dl_transformer_adapted_sides(&t, pair, 1) == 15728640);
  assert_true(dl_transformer_adapted_sides(&t, pair, 0) ==
              32 * 2 * 2560 + 32 * 2560);
}

/* 6 embeddings of 8 with a norm; in both layers 8 MACs for each of 10 tokens
 * with each of them, of queries and of keys, and 2 heads' scores. */
static void disentangled(void **state) {
  struct dl_transformer t =
      shape("kind=encoder,layers=2,hidden=8,heads=2,vocab=16,seq=16");
  struct dl_transformer s = shape("kind=encoder,layers=2,hidden=8,heads=2,"
                                  "vocab=16,seq=16,disentangled=6");
  struct dl_pass p = dl_transformer_pass(&t, 10);
  struct dl_pass q = dl_transformer_pass(&s, 10);

  (void)state;
  assert_true(dl_transformer_params(&s) - dl_transformer_params(&t) ==
              6 * 8 + 2 * 8);
  assert_true(q.attention_macs - p.attention_macs == 2 * 2 * 10 * 6 * 8);
  assert_true(q.macs - p.macs == 2 * 2 * 10 * 6 * 8);
  assert_true(q.attention_acts - p.attention_acts == 2 * 2 * 10 * 6 * 2);
}

static void check_entry(const struct dl_architecture *e) {
  double params = dl_transformer_params(e->transformer) / 1e6;
  double active = e->active_params_m;

  if (!(fabs(params / e->params_m - 1) <= 0.01))
    fail_msg("%s: %.8g M parameters, published are %g M", e->head.id, params,
             e->params_m);
  assert_non_null(
      e->head.origin[dl_field_index(&e->head, &e->params_m)].source);
  assert_non_null(e->shape_source);
  if (!isnan(active))
    assert_near(dl_transformer_active_params(e->transformer) / 1e6, active,
                0.01);
}

static void published_counts(void **state) {
  struct dl_catalog_file s;
  char path[PATH_SIZE];

  (void)state;
  snprintf(path, sizeof path, "%s", in_tree("data/transformers.xml"));
  assert_ok(dl_catalog_file_read(&s, DL_ARCHITECTURE, path,
                                 in_tree("data/architectures.rng"), &d),
            &d);
  assert_true(s.n >= 70);
  for (size_t i = 0; i < s.n; i++)
    check_entry(DL_AS(architecture, s.e[i]));
  dl_catalog_file_free(&s);
}

/* Exact counts of checkpoints, from defaults alone. */
static void exact_counts(void **state) {
  struct dl_transformer gpt2 =
      shape("layers=12,hidden=768,heads=12,vocab=50257,seq=1024");
  struct dl_transformer llama =
      shape("layers=32,hidden=4096,heads=32,ffn=11008,vocab=32000,seq=2048");
  struct dl_transformer mixtral =
      shape("layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,experts=8,"
            "active_experts=2,vocab=32000,seq=32768");

  struct dl_transformer deberta =
      shape("kind=encoder,layers=12,hidden=768,heads=12,vocab=128100,seq=512,"
            "positions=0,disentangled=512");
  /* TeenyTinyLlama 460m, as its model card counts them. */
  struct dl_transformer wide =
      shape("layers=24,hidden=1024,heads=16,kv_heads=16,ffn=4096,vocab=32000,"
            "seq=2048,tied=0,bias=0,positions=0");
  struct dl_transformer not_gated =
      shape("layers=24,hidden=1024,heads=16,kv_heads=16,ffn=4096,vocab=32000,"
            "seq=2048,tied=0,bias=0,positions=0,gated=0");

  (void)state;
  assert_true(dl_transformer_params(&wide) == 468239360);
  assert_true(dl_transformer_params(&not_gated) < 4e8);
  assert_true(dl_transformer_params(&deberta) == 183831552);
  assert_true(dl_transformer_params(&gpt2) == 124439808);
  assert_true(dl_transformer_params(&llama) == 6738415616);
  assert_true(dl_transformer_params(&mixtral) == 46702792704);
  assert_true(dl_transformer_active_params(&mixtral) == 12879925248);
}

/* PaLM, appendix B, table: 540 B parameters; 6 N + 12 L h e n FLOPs a token,
 * with L 118, h 48, e 256, n 2048, N 540.35e9. N there includes the embedding,
 * which is the output layer. */
static void palm(void **state) {
  const struct dl_descriptor *e;
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  bool scaled;

  (void)state;
  assert_ok(dl_catalog_get(c, DL_ARCHITECTURE, "PaLM 540B", &e, &d), &d);
  struct dl_architecture at =
      dl_architecture_at(DL_AS(architecture, e), &dl_use_reference, &scaled);
  double flop = 6e9 * at.macs_g / 2048;
  assert_near(flop, 6 * 540.35e9 + 12. * 118 * 48 * 256 * 2048, 1e-4);
  assert_false(scaled);
  dl_catalog_free(c);
}

static void at_another_use(void **state) {
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  const struct dl_descriptor *e, *again;
  struct dl_use use = dl_use_reference;
  bool scaled;

  (void)state;
  assert_ok(dl_catalog_get(c, DL_ARCHITECTURE, "google-bert/bert-base-uncased",
                           &e, &d),
            &d);
  assert_true(dl_is_language_model(DL_AS(architecture, e)));
  use.seq_len = 128;
  use.classes = 2;
  struct dl_architecture at =
      dl_architecture_at(DL_AS(architecture, e), &use, &scaled);
  assert_true(scaled);
  assert_true(at.seq_len == 128);
  assert_true(at.head_params_m == (768 * 2 + 2) / 1e6);
  /* 12 layers of 12 d^2, two products of 128^2 d each, pooler, classifier */
  assert_near(at.macs_g * 1e9,
              12. * 768 * (12 * 768 * 128 + 2 * 128 * 128) + 768 * 770, 1e-15);
  assert_true(at.params_m == 110);
  assert_ok(dl_catalog_get(c, DL_ARCHITECTURE, "vit_giant_patch14_224", &e, &d),
            &d);
  assert_false(dl_is_language_model(DL_AS(architecture, e)));
  use.image_px = 448;
  at = dl_architecture_at(DL_AS(architecture, e), &use, &scaled);
  assert_true(scaled && at.image_px == 448);
  assert_true(at.classes == 2);
  assert_ok(dl_catalog_get(c, DL_ARCHITECTURE,
                           "transformer:layers=1,hidden=8,heads=2,vocab=9,"
                           "seq=4",
                           &e, &d),
            &d);
  assert_ok(dl_catalog_get(c, DL_ARCHITECTURE, e->id, &again, &d), &d);
  assert_ptr_equal(e, again);
  dl_catalog_free(c);
}

#define SMALL "layers=2,hidden=8,heads=2,vocab=9,seq=4"

static const struct refused {
  const char *text, *error;
} refused[] = {
    {"", "arch: column 1: expected key=value"},
    {"layers", "arch: column 1: expected key=value"},
    {"layers=2,", "arch: column 10: expected key=value"},
    {"layers=2,hiden=8", "arch: column 10: " MSG_unknown_key_nearest(
                             "hiden", " (did you mean 'hidden'?)")},
    {"layers=2,hidden=x",
     "arch: column 10: " MSG_invalid_number("hidden", "x")},
    {"layers=nan", "arch: column 1: " MSG_invalid_number("layers", "nan")},
    {"layers=", "arch: column 1: " MSG_invalid_number("layers", "")},
    {"layers=2.5", "arch: column 1: layers: 2.5 is no whole number between 1 "
                   "and 10000"},
    {"layers=-1", "arch: column 1: layers: -1 is no whole number between 1 "
                  "and 10000"},
    {"hidden=1e30", "arch: column 1: hidden: 1e30 is no whole number between "
                    "1 and 1e+06"},
    {"layers=2,layers=3", "arch: column 10: key 'layers' is given twice"},
    {"kind=cnn", "arch: column 1: kind 'cnn' is none of decoder, encoder, "
                 "encoder-decoder, vision"},
    {"layers=2,hidden=8,heads=2,vocab=9",
     "arch: column 34: transformer without seq; give seq=N"},
    {"hidden=8", "arch: column 9: transformer without layers; give layers=N"},
    {"kind=vision,layers=2,hidden=8,heads=2",
     "arch: column 38: transformer without patch; give patch=N"},
    {SMALL ",experts=4", "arch: column 50: transformer without "
                         "active_experts; give active_experts=N"},
    {SMALL ",experts=4,active_experts=5",
     "arch: column 67: more active_experts than experts"},
    {"layers=2,hidden=8,heads=3,vocab=9,seq=4",
     "arch: column 40: heads do not divide hidden; give head_dim"},
    {SMALL ",kv_heads=3", "arch: column 51: kv_heads do not divide heads"},
    {SMALL ",mel=80", "arch: column 47: decoder_layers, decoder_seq, "
                      "encoder_positions and mel are for "
                      "kind=encoder-decoder"},
    {SMALL ",embedding=16",
     "arch: column 53: embedding is for tokens of one stack, and below hidden"},
    {"kind=vision,layers=2,hidden=8,heads=2,patch=16,image=8",
     "arch: column 55: a patch larger than the image"},
    {"layers=1e4,hidden=1e6,heads=1,vocab=9,seq=4",
     "arch: column 44: more than 1e15 parameters"},
};

static void refuses(void **state) {
  struct dl_transformer t;

  (void)state;
  for (size_t i = 0; i < COUNT(refused); i++) {
    assert_int_equal(dl_transformer_parse(&t, refused[i].text, "arch", 1, &d),
                     DL_EINPUT);
    assert_error(&d, DL_EINPUT, refused[i].error);
  }
}

static void refuses_in_a_file(void **state) {
  static const char text[] =
      "<catalog kind='architecture' version='1'>\n"
      "<entry id='a' name='A' scaling='sequence'>\n%s</entry></catalog>";
  static const struct refused files[] = {
      {"<transformer layers='2'/>", "a.xml:3: transformer without hidden; "
                                    "give hidden=N"},
      {"<transformer layers='0'/>", "a.xml:3: layers: 0 is no whole number"},
      {"<transformer kind='x'/>", "a.xml:3: kind 'x' is none of"},
      {"", "a.xml:2: " MSG_scaling_sequence_without_a},
  };
  struct dl_catalog_file s;
  char file[512];

  (void)state;
  for (size_t i = 0; i < COUNT(files); i++) {
    snprintf(file, sizeof file, text, files[i].text);
    assert_int_equal(dl_catalog_file_read(&s, DL_ARCHITECTURE,
                                          put_file("a.xml", file), NULL, &d),
                     DL_EINPUT);
    assert_error_has(&d, DL_EINPUT, files[i].error);
  }
}

/* The largest values that are allowed stay finite, or are refused. */
static void nothing_overflows(void **state) {
  struct dl_transformer t;

  (void)state;
  assert_ok(dl_transformer_parse(&t,
                                 "layers=10000,hidden=10000,heads=100000,"
                                 "head_dim=1,ffn=10000,vocab=100000000,"
                                 "seq=100000000",
                                 "arch", 1, &d),
            &d);
  struct dl_pass p = dl_transformer_pass(&t, 1e9);
  assert_true(isfinite(p.macs) && p.macs > 1e27);
  assert_true(isfinite(dl_transformer_launches(&t)));
}

static void in_words(void **state) {
  struct dl_transformer t = shape(SMALL ",gated=1");
  struct dl_text words = {0};

  (void)state;
  dl_transformer_describe(&t, &words);
  assert_string_equal(dl_text_str(&words),
                      "decoder, layers 2, hidden 8, heads 2, kv_heads 2, "
                      "head_dim 4, ffn 32, gated 1, vocab 9, seq 4, "
                      "final_norm 1");
  dl_text_free(&words);
}

#define TEST(f) cmocka_unit_test_teardown(f, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(as_pytorch_counts), TEST(steps_add_up_to_a_pass),
      TEST(by_hand),           TEST(published_counts),
      TEST(exact_counts),      TEST(palm),
      TEST(at_another_use),    TEST(refuses),
      TEST(refuses_in_a_file), TEST(nothing_overflows),
      TEST(in_words),          TEST(narrow_embedding),
      TEST(shared_layers),     TEST(adapters_of_two_stacks),
      TEST(disentangled),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
