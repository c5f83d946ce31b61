/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors: names folded, fields set, architectures at other inputs. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "catalog/architecture/scaling.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_architecture at_px(const struct dl_architecture *e, double px,
                                    bool *scaled) {
  struct dl_use use = {.image_px = px, .seq_len = NAN, .classes = NAN};
  return dl_architecture_at(e, &use, scaled);
}

static void folds_names(void **state) {
  static const struct {
    enum dl_kind kind;
    const char *name, *folded;
  } cases[] = {
      {DL_ACCELERATOR, "NVIDIA GeForce RTX 3090", "rtx3090"},
      {DL_ACCELERATOR, "rtx-3090", "rtx3090"},
      {DL_ACCELERATOR, "RTX_3090", "rtx3090"},
      {DL_ACCELERATOR, "NVIDIA A100-SXM4-40GB", "a100sxm440gb"},
      {DL_ACCELERATOR, "Tesla V100", "v100"},
      {DL_ACCELERATOR, "AMD Instinct MI250X", "mi250x"},
      {DL_ACCELERATOR, "Radeon RX 480 Graphics", "rx480"},
      {DL_ACCELERATOR, "nvidia", ""},
      {DL_ACCELERATOR, "nvidiax", "nvidiax"},
      {DL_ACCELERATOR, "Intel(R) Arc", "rarc"},
      {DL_ARCHITECTURE, "ResNet-50", "resnet50"},
      {DL_ARCHITECTURE, "nvidia net", "nvidianet"},
      {DL_ARCHITECTURE, "RegNetX-1.6GF", "regnetx1.6gf"},
      {DL_ARCHITECTURE, "RegNetX-16GF", "regnetx16gf"},
      {DL_ARCHITECTURE, "a.5", "a5"},
      {DL_ARCHITECTURE, "5.a", "5a"},
      {DL_ARCHITECTURE, "v1.", "v1"},
      {DL_ARCHITECTURE, ".5", "5"},
      {DL_ARCHITECTURE, "1.2.3", "1.2.3"},
      {DL_ARCHITECTURE, "", ""},
      {DL_ARCHITECTURE, " - ", ""},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_text t = {0};
    dl_fold_name(cases[i].kind, cases[i].name, &t);
    if (strcmp(dl_text_str(&t), cases[i].folded) != 0)
      fail_msg("'%s' gives '%s'", cases[i].name, dl_text_str(&t));
    dl_text_free(&t);
  }
}

static void lists_its_fields(void **state) {
  (void)state;
  assert_int_equal(dl_field_find(DL_ACCELERATOR, "tdp_w")->offset,
                   offsetof(struct dl_accelerator, tdp_w));
  assert_int_equal(dl_field_find(DL_ARCHITECTURE, "macs_g")->offset,
                   offsetof(struct dl_architecture, macs_g));
  assert_int_equal(dl_field_find(DL_DATASET, "classes")->offset,
                   offsetof(struct dl_dataset, classes));
  assert_int_equal(dl_field_find(DL_GRID, "carbon_g_kwh")->offset,
                   offsetof(struct dl_grid, carbon_g_kwh));
  assert_null(dl_field_find(DL_GRID, "tdp_w"));
  assert_null(dl_field_find(DL_ACCELERATOR, "TDP_W"));
  for (int k = 0; k < DL_N_KINDS; k++) {
    const struct dl_kind_info *info = &dl_kinds[(enum dl_kind)k];
    assert_string_equal(info->fields[0].name, "id");
    assert_string_equal(info->fields[1].name, "name");
    for (size_t i = 0; i < info->n_fields; i++) {
      const struct dl_field *f = &info->fields[i];
      assert_non_null(f->name);
      assert_non_null(f->help);
      assert_true(f->is_text || f->low < f->high);
      /* Texts come first. */
      assert_true(i == 0 || f[-1].is_text || !f->is_text);
      assert_true(f->offset + sizeof(double) <= info->size);
      assert_ptr_equal(dl_field_find((enum dl_kind)k, f->name), f);
    }
  }
}

static void sets_fields(void **state) {
  struct dl_accelerator e;
  struct dl_diag d = {0};

  (void)state;
  dl_descriptor_init(&e.head, DL_ACCELERATOR);
  assert_ok(dl_descriptor_set(&e.head, "tdp_w", "312.5", &d), &d);
  assert_true(e.tdp_w == 312.5);
  size_t tdp = dl_field_index(&e.head, &e.tdp_w);
  assert_string_equal(e.head.origin[tdp].source, "given");
  assert_ok(dl_descriptor_set(&e.head, "tdp_w", "1", &d), &d);
  assert_ok(dl_descriptor_set(&e.head, "tdp_w", "2000", &d), &d);
  assert_true(e.tdp_w == 2000);

  static const struct {
    const char *field, *text;
    enum dl_status status;
    const char *error;
  } bad[] = {
      {"tdp", "1", DL_EUSAGE,
       MSG_has_no_field_nearest("gpu", "tdp", " (did you mean 'tdp_w'")},
      {"tdp_w", "x", DL_EUSAGE, MSG_invalid_number_3("gpu", "tdp_w", "x")},
      {"tdp_w", "", DL_EUSAGE, MSG_invalid_number_3("gpu", "tdp_w", "")},
      {"tdp_w", "nan", DL_EUSAGE, MSG_invalid_number_3("gpu", "tdp_w", "nan")},
      {"tdp_w", "inf", DL_EUSAGE, MSG_invalid_number_3("gpu", "tdp_w", "inf")},
      {"tdp_w", "300 W", DL_EUSAGE,
       MSG_invalid_number_3("gpu", "tdp_w", "300 W")},
      {"tdp_w", "0.99", DL_EINPUT,
       MSG_is_not_between_2("gpu", "tdp_w", "0.99", "1", "2000")},
      {"tdp_w", "2001", DL_EINPUT,
       MSG_is_not_between_2("gpu", "tdp_w", "2001", "1", "2000")},
      {"tdp_w", "-5", DL_EINPUT,
       MSG_is_not_between_2("gpu", "tdp_w", "-5", "1", "2000")},
  };
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_int_equal(dl_descriptor_set(&e.head, bad[i].field, bad[i].text, &d),
                     bad[i].status);
    assert_error_has(&d, bad[i].status, bad[i].error);
    assert_true(e.tdp_w == 2000);
  }
}

/* An architecture with two inputs; activations known for one of them. */
static const struct dl_input_size inputs[] = {
    {224, false, 4.0, 11.0, {.source = "s"}, {.source = "s"}},
    {128, false, 1.5, NAN, {.source = "s"}, {.source = NULL}},
};

static struct dl_architecture architecture(enum dl_scaling scaling) {
  struct dl_architecture e;

  dl_descriptor_init(&e.head, DL_ARCHITECTURE);
  e.head.id = "net";
  e.scaling = scaling;
  e.inputs = inputs;
  e.n_inputs = 2;
  return e;
}

static const char *note(const struct dl_architecture *e, const double *member) {
  return e->head.origin[dl_field_index(&e->head, member)].note;
}

static void takes_listed_inputs(void **state) {
  struct dl_architecture e = architecture(DL_SCALING_AREA);
  bool scaled;

  (void)state;
  struct dl_architecture at = at_px(&e, NAN, &scaled);
  assert_false(scaled);
  assert_true(at.image_px == 224);
  assert_true(at.macs_g == 4);
  assert_true(at.acts_m == 11);
  at = at_px(&e, 224, &scaled);
  assert_false(scaled);
  assert_true(at.macs_g == 4);
  assert_null(note(&at, &at.macs_g));
  at = at_px(&e, 128, &scaled);
  assert_false(scaled);
  assert_true(at.image_px == 128);
  assert_true(at.macs_g == 1.5);
  /* 11 * (128 / 224)^2 */
  assert_near(at.acts_m, 3.59183673469388, 1e-14);
  assert_non_null(note(&at, &at.acts_m));
}

static void scales_with_the_area(void **state) {
  struct dl_architecture e = architecture(DL_SCALING_AREA);
  bool scaled;

  (void)state;
  /* Nearest is 224: twice the side is four times the area. */
  struct dl_architecture at = at_px(&e, 448, &scaled);
  assert_true(scaled);
  assert_near(at.macs_g, 16, 1e-15);
  assert_near(at.acts_m, 44, 1e-15);
  assert_true(at.image_px == 448);
  assert_string_equal(note(&at, &at.macs_g),
                      "derived: scaled with the area of the input");
  /* Nearest is 128: 1.5 / 4 */
  at = at_px(&e, 64, &scaled);
  assert_near(at.macs_g, 0.375, 1e-15);
  /* Nearness is a ratio: 170 lies closer to 224, 168 closer to 128. Maps are
   * rounded up: 4 (0.04 170^2 + 0.14 172^2 + 0.6 176^2 + 0.22 192^2) / 224^2
   * and 1.5 (0.38 168^2 + 0.4 176^2 + 0.22 192^2) / 128^2. */
  at = at_px(&e, 170, &scaled);
  assert_near(at.macs_g, 2.5504974489795916, 1e-14);
  at = at_px(&e, 168, &scaled);
  assert_near(at.macs_g, 2.8587890625, 1e-14);
  /* The head stays: 0.4 + (4 - 0.4) * 4 */
  e.head_macs_g = 0.4;
  at = at_px(&e, 448, &scaled);
  assert_near(at.macs_g, 14.8, 1e-15);
  assert_near(at.acts_m, 44, 1e-15);
}

/* 2 blocks of width 1000, patches of 32 px: 50 tokens at 224 px, 197 at 448.
 * Attention takes 2 * 2 * n^2 * 1000 MACs: 0.01 G and 0.155236 G. */
static void scales_with_tokens(void **state) {
  struct dl_architecture e = architecture(DL_SCALING_TOKENS);
  bool scaled;

  (void)state;
  e.patch_px = 32;
  e.depth = 2;
  e.hidden_size = 1000;
  struct dl_architecture at = at_px(&e, 448, &scaled);
  assert_true(scaled);
  /* (4 - 0.01) * 197 / 50 + 0.155236 */
  assert_near(at.macs_g, 15.875836, 1e-14);
  /* 11 * 197 / 50 */
  assert_near(at.acts_m, 43.34, 1e-14);
  /* Part of a patch makes no token: 479 px are 448 px. */
  at = at_px(&e, 479, &scaled);
  assert_near(at.macs_g, 15.875836, 1e-14);
  /* Without its depth the rule cannot be applied. */
  e.depth = NAN;
  at = at_px(&e, 448, &scaled);
  assert_true(isnan(at.macs_g));
}

static void may_not_scale(void **state) {
  struct dl_architecture e = architecture(DL_SCALING_NONE);
  bool scaled;

  (void)state;
  struct dl_architecture at = at_px(&e, 448, &scaled);
  assert_true(at.macs_g == 4);
  assert_true(at.acts_m == 11);
  e.n_inputs = 0;
  e.macs_g = 7;
  at = at_px(&e, 448, &scaled);
  assert_false(scaled);
  assert_true(at.macs_g == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folds_names),
      cmocka_unit_test(lists_its_fields),
      cmocka_unit_test(sets_fields),
      cmocka_unit_test(takes_listed_inputs),
      cmocka_unit_test(scales_with_the_area),
      cmocka_unit_test(scales_with_tokens),
      cmocka_unit_test(may_not_scale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
