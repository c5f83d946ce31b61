/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Architectures at other inputs and with other heads: parts that stay, grow
 * with the tokens and grow with their square. */

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "catalog/architecture/scaling.h"
#include "unit.h"

/* An architecture with one input of 224 px. */
static struct dl_architecture network(enum dl_scaling scaling,
                                      struct dl_input_size *in, double macs_g,
                                      double acts_m) {
  struct dl_architecture e;
  dl_descriptor_init(&e.head, DL_ARCHITECTURE);
  e.head.id = "net";
  e.scaling = scaling;
  e.inputs = in;
  e.n_inputs = 1;
  *in = (struct dl_input_size){
      .image_px = 224, .macs_g = macs_g, .acts_m = acts_m};
  return e;
}

/* The field of that name. */
static double at(const struct dl_architecture *e, double px, double classes,
                 const char *field) {
  struct dl_use use = {.image_px = px, .seq_len = NAN, .classes = classes};
  bool scaled;
  struct dl_architecture used = dl_architecture_at(e, &use, &scaled);
  return dl_field_number(&used.head, dl_field_find(DL_ARCHITECTURE, field));
}

/* ViT-B/16 of torchvision 0.14, counted operator by operator: 17.56383 GMACs
 * and 16.4915 + 7.40405 M activations at 224 px; 55.48435 and 48.30206 +
 * 53.2594 at 384 px. */
static void a_vision_transformer(void **state) {
  (void)state;
  struct dl_input_size in;
  struct dl_architecture e =
      network(DL_SCALING_TOKENS, &in, 17.56383, 16.4915 + 7.40405);
  e.patch_px = 16;
  e.depth = 12;
  e.hidden_size = 768;
  e.heads = 12;
  e.head_inputs = 768;
  e.classes = 1000;
  assert_near(at(&e, 384, NAN, "macs_g"), 55.48435, 1e-4);
  assert_near(at(&e, 384, NAN, "acts_m"), 48.30206 + 53.2594, 1e-3);
  /* Without a class token there are 196 and 576. */
  e.extra_tokens = 0;
  e.depth = 0;
  e.head_inputs = NAN;
  assert_near(at(&e, 384, NAN, "macs_g"), 17.56383 * 576 / 196, 1e-14);
}

/* A part of 0.5 grows with the square: (4 - 0.5) * 4 + 0.5 * 16. */
static void attention_beside_convolutions(void **state) {
  (void)state;
  struct dl_input_size in;
  struct dl_architecture e = network(DL_SCALING_AREA, &in, 4, 11);
  e.attention_macs_g = 0.5;
  e.attention_acts_m = 1;
  assert_near(at(&e, 448, NAN, "macs_g"), 22, 1e-15);
  assert_near(at(&e, 448, NAN, "acts_m"), 56, 1e-15);
  /* A part that is more than the whole leaves nothing to grow with it. */
  e.attention_macs_g = 5;
  assert_near(at(&e, 448, NAN, "macs_g"), 80, 1e-15);
}

/* A second input is nearer: its square part is that of the first, grown. */
static void from_another_input(void **state) {
  (void)state;
  struct dl_input_size in[2];
  struct dl_architecture e = network(DL_SCALING_AREA, in, 4, 11);
  e.attention_macs_g = 0.5;
  in[1] = in[0];
  in[1].image_px = 448;
  in[1].macs_g = 22;
  e.n_inputs = 2;
  /* 3.5 * 16 + 0.5 * 256 */
  assert_near(at(&e, 896, NAN, "macs_g"), 184, 1e-15);
}

static void the_coarsest_map(void **state) {
  (void)state;
  struct dl_input_size in;
  struct dl_architecture e = network(DL_SCALING_AREA, &in, 4, 11);
  /* 240 px are 7.5 elements of 32 px: 8. */
  double rounded = 0.78 * 240 * 240 + 0.22 * 256 * 256;
  assert_near(at(&e, 240, NAN, "macs_g"), 4 * rounded / (224 * 224), 1e-14);
  e.stride_px = 16;
  assert_near(at(&e, 240, NAN, "macs_g"), 4.591836734693878, 1e-14);
  e.stride_px = 1;
  assert_near(at(&e, 225, NAN, "macs_g"), 4 * 225. * 225 / (224 * 224), 1e-14);
}

/* ResNet-50 and MobileNet v2 with ten classes have 23,528,522 and 2,236,682
 * parameters. */
static void another_head(void **state) {
  (void)state;
  struct dl_input_size in;
  struct dl_architecture e = network(DL_SCALING_AREA, &in, 4.089184, 11.11);
  e.params_m = 25.557032;
  e.head_inputs = 2048;
  e.classes = 1000;
  assert_near(dl_classifier_macs_g(&e), 0.002048, 1e-15);
  assert_near(at(&e, NAN, 10, "params_m"), 23.528522, 1e-14);
  assert_near(at(&e, NAN, 10, "macs_g"), 4.087156480, 1e-14);
  assert_near(at(&e, NAN, 10, "acts_m"), 11.10901, 1e-14);
  assert_near(at(&e, NAN, 10, "head_params_m"), 0.02049, 1e-14);
  assert_true(at(&e, NAN, 10, "classes") == 10);
  assert_near(at(&e, NAN, NAN, "head_params_m"), 2.049, 1e-14);
  /* The head does not grow with the input, whichever it is. */
  assert_near(at(&e, 448, 10, "macs_g"), 4.087136 * 4 + 2.048e-5, 1e-14);
  e.params_m = 3.504872;
  e.head_inputs = 1280;
  assert_near(at(&e, NAN, 10, "params_m"), 2.236682, 1e-14);
  /* A classifier without biases */
  e.head_params_m = 1.28;
  assert_near(at(&e, NAN, 10, "params_m"), 3.504872 - 1.2672, 1e-14);
}

static void no_head(void **state) {
  (void)state;
  struct dl_input_size in;
  struct dl_architecture e = network(DL_SCALING_AREA, &in, 4, 11);
  e.params_m = 20;
  /* Unknown: nothing changes. */
  assert_true(isnan(dl_classifier_macs_g(&e)));
  assert_true(at(&e, NAN, 10, "params_m") == 20);
  assert_true(at(&e, NAN, 10, "macs_g") == 4);
  assert_true(isnan(at(&e, NAN, 10, "classes")));
  /* A network for features gets one. */
  e.head_inputs = 1000;
  assert_true(dl_classifier_macs_g(&e) == 0);
  assert_near(at(&e, NAN, 10, "params_m"), 20.01001, 1e-14);
  assert_near(at(&e, NAN, 10, "macs_g"), 4.00001, 1e-14);
  /* Counted without its head of 1000: 10 are added, none taken away. */
  e.classes = 1000;
  in.headless = true;
  assert_near(at(&e, NAN, 10, "macs_g"), 4.00001, 1e-14);
  assert_near(at(&e, NAN, 10, "params_m"), 20 - 1001 * 990e-6, 1e-14);
  assert_near(at(&e, 448, NAN, "macs_g"), 16, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_vision_transformer),
      cmocka_unit_test(attention_beside_convolutions),
      cmocka_unit_test(from_another_input),
      cmocka_unit_test(the_coarsest_map),
      cmocka_unit_test(another_head),
      cmocka_unit_test(no_head),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
