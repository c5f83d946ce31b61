/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole ONNX models: work known by hand, inputs whose sizes are open, graphs
 * and files that are refused. */

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "unit.h"

#include "onnx_model.h"
#include "tests/messages.h"

/* The models of tests/fuzz/corpus/onnx; tests/cli/catalog/make_onnx.py
 * says what they are. The figures are worked out by hand from their nodes. */
static void test_known_models(void **state) {
  static const struct {
    const char *name;
    double macs, params, acts, launches;
    size_t n_guessed, n_unknown;
  } models[] = {
      {"attention", 16 * 64 + 2 * 16 * 16 * 8, 64, 512, 5, 0, 0},
      {"cnn", 8 * 32 * 32 * 27 + 16 * 16 * 16 * 36 + 160, 986, 8192 + 4096 + 10,
       6, 0, 0},
      {"disordered", 16, 16, 2, 2, 0, 0},
      {"einsum", 2 * 5 * 7 * 4, 0, 70, 3, 0, 0},
      {"functions", 3 * 64, 64, 24, 3, 0, 0},
      {"fused", 6 * 8 * 24 + 2 * 36 * 8 + 6 * 128, 824, 48 + 96, 5, 0, 0},
      {"if-known", 0, 0, 0, 1, 0, 0},
      {"if-open", 64, 64, 8, 1, 1, 0},
      {"loop", 5 * 64, 64, 40, 5, 0, 0},
      {"quantised", 5 * 16 * 3 + 2 * 80 + 5 * 16 * 7 + 3 * 16 * 7, 208,
       80 + 2 + 140 + 84, 5, 0, 0},
      {"recurrent", 9 * 7 * 6 * 11 + 2 * 4 * 6 * 11,
       24 * 11 + 48 + 18 * 11 + 12 * 11, 54 + 54 + 48, 26, 0, 0},
      {"scan", 7 * 12, 12, 28, 14, 0, 0},
      {"sizes", 120, 120, 5, 1, 0, 0},
      {"transposed", 100 * 27, 108, 3 * 121, 1, 0, 0},
      {"unknown", 16, 16, 2, 2, 0, 1},
      {"windows", 4 * 16 * 18 + 4 * 25 * 18, 72, 64 + 100, 2, 0, 0},
  };
  struct dl_onnx_asked asked = dl_onnx_as_it_is;
  (void)state;
  asked.batch = 1;
  for (size_t i = 0; i < COUNT(models); i++) {
    struct dl_diag d = {0};
    struct dl_onnx *m;
    struct dl_onnx_count *c;
    char name[64];
    snprintf(name, sizeof name, "tests/fuzz/corpus/onnx/%s.onnx",
             models[i].name);
    assert_ok(dl_onnx_open(&m, in_tree(name), &d), &d);
    assert_ok(dl_onnx_count(m, &asked, &c, &d), &d);
    if (c->macs != models[i].macs || c->params != models[i].params ||
        c->acts != models[i].acts || c->launches != models[i].launches ||
        c->n_guessed != models[i].n_guessed ||
        c->n_unknown != models[i].n_unknown)
      fail_msg("%s: macs %g params %g acts %g launches %g guessed %zu "
               "unknown %zu",
               name, c->macs, c->params, c->acts, c->launches, c->n_guessed,
               c->n_unknown);
    dl_onnx_count_free(c);
    dl_onnx_free(m);
  }
}

static void test_network(void **state) {
  struct dl_diag d = {0};
  struct dl_onnx *m;
  struct dl_onnx_count *c;
  const char *path = in_tree("data/examples/tiny-cnn.onnx");
  (void)state;
  dl_onnx_built_in();
  assert_ok(dl_onnx_open(&m, path, &d), &d);
  assert_string_equal(dl_onnx_path(m), path);
  assert_int_equal(dl_onnx_opset(m), 17);
  assert_true(dl_onnx_file_bytes(m) > 4 * 986);
  assert_non_null(dl_onnx_producer(m));
  assert_ok(dl_onnx_count(m, &dl_onnx_as_it_is, &c, &d), &d);
  assert_int_equal(c->n_layers, 6);
  assert_string_equal(c->layer[0].name, "first");
  assert_string_equal(c->layer[0].op, "Conv");
  assert_true(c->layer[0].macs == 8 * 32 * 32 * 27);
  assert_true(c->weight_bytes == 4 * 986);
  assert_true(c->image_px == 32 && c->batch == 1 && isnan(c->seq_len));
  assert_int_equal(c->n_ops, 5);
  assert_string_equal(c->op[0].op, "Conv");
  assert_int_equal(c->op[0].n, 2);
  assert_int_equal(c->weighted, 3);
  assert_ptr_equal(c->head, &c->layer[5]);
  assert_int_equal(c->head->in, 16);
  assert_int_equal(c->head->out, 10);
  assert_int_equal(c->n_inputs, 1);
  assert_string_equal(c->input[0].name, "x");
  dl_onnx_count_free(c);
  dl_onnx_free(m);
  struct dl_text version = {0};
  dl_onnx_version(&version);
  assert_true(strncmp(dl_text_str(&version), "protobuf-c ", 11) == 0);
  dl_text_free(&version);
}

/* A model of Relu on the input `x0`: counted with what is asked of it. */
static struct dl_onnx_count *relu(const char *input,
                                  const struct dl_onnx_asked *asked,
                                  struct dl_onnx **m, struct dl_diag *d) {
  struct dl_text model = onnx_of_case(&(struct onnx_case){
      .op = "Relu", .inputs = input, .attrs = "", .outputs = "?"});
  struct dl_onnx_count *c;
  *d = (struct dl_diag){0};
  count_bytes(&model, asked, m, &c, d);
  dl_text_free(&model);
  return c;
}

static void test_open_sizes(void **state) {
  static const struct {
    const char *input, *shape; /* "x0=...", or NULL */
    double image_px, seq_len;
    const char *gives; /* the input's shape, or an error after '!' */
  } cases[] = {
      {"Nx3x8x8", NULL, NAN, NAN, "1x3x8x8"},
      {"Nx3xNxN", NULL, 16, NAN, "1x3x16x16"},
      {"NxNxNx3", NULL, 16, NAN, "1x16x16x3"},
      {"1x3x8x8", NULL, 16, NAN, "1x3x16x16"},
      {"Nx3xNxN", "x0=2x3x4x5", NAN, NAN, "2x3x4x5"},
      {"int64:NxN", NULL, NAN, 7, "1x7"},
      {"NxNx8", NULL, NAN, 7, "1x7x8"},
      {"NxN", NULL, NAN, NAN,
       "!" MSG_input_dimension_is_open("x0", "2", "x0", "1xN")},
      {"Nx3xNxN", "x0=2x3x4", NAN, NAN,
       "!" MSG_input_has_dimensions_not("x0", "4", "3")},
      {"Nx3", "z=2x3", NAN, NAN, "!" MSG_there_is_no_input("z", "'x0'")},
      {"Nx3", NULL, 16, NAN, "!" MSG_no_input_is_image},
      {"1x3x8x8", NULL, NAN, 9, "!" MSG_no_input_is_a},
      {"1x1x1x1x1x1x1x1x1", NULL, NAN, NAN,
       "!" MSG_input_has_more_than("x0", "8")},
      {"99999999x99999999x99", NULL, NAN, NAN,
       "!" MSG_input_has_more_than_elements("x0")},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_onnx_asked asked = dl_onnx_as_it_is;
    struct dl_diag d = {0};
    struct dl_onnx *m;
    struct dl_text got = {0};
    char shape[32];
    snprintf(shape, sizeof shape, "%s", cases[i].shape ? cases[i].shape : "");
    if (cases[i].shape)
      assert_ok(dl_onnx_ask(&asked, shape, &d), &d);
    asked.image_px = cases[i].image_px;
    asked.seq_len = cases[i].seq_len;
    struct dl_onnx_count *c = relu(cases[i].input, &asked, &m, &d);
    if (c)
      shape_text(&c->input[0], false, &got);
    if (c ? strcmp(dl_text_str(&got), cases[i].gives) != 0
          : !d.error || !strstr(d.error, cases[i].gives + 1))
      fail_msg("%s: got %s, want %s", cases[i].input,
               c ? dl_text_str(&got) : d.error, cases[i].gives);
    dl_text_free(&got);
    dl_onnx_count_free(c);
    dl_onnx_free(m);
    dl_diag_free(&d);
  }
}

/* Figures are for one sample, of how many the first input holds. */
static void test_samples(void **state) {
  static const struct {
    const char *input;
    double batch, image_px, seq_len;
  } cases[] = {{"4x3x8x8", 4, 8, NAN},   {"4x3x8x9", 4, NAN, NAN},
               {"9x1x5", 1, NAN, 9},     {"2x9x5", 2, NAN, 9},
               {"int64:2x7", 2, NAN, 7}, {"5", 1, NAN, NAN}};
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_diag d;
    struct dl_onnx *m;
    struct dl_onnx_count *c = relu(cases[i].input, &dl_onnx_as_it_is, &m, &d);
    assert_ok(d.status, &d);
    assert_true(c->batch == cases[i].batch);
    assert_true(isnan(cases[i].image_px) ? isnan(c->image_px)
                                         : c->image_px == cases[i].image_px);
    assert_true(isnan(cases[i].seq_len) ? isnan(c->seq_len)
                                        : c->seq_len == cases[i].seq_len);
    dl_onnx_count_free(c);
    dl_onnx_free(m);
  }
}

static void test_asked_shapes(void **state) {
  struct dl_onnx_asked a = dl_onnx_as_it_is;
  struct dl_diag d = {0};
  char good[] = "a=b=1x3,5",
       *bad[] = {
           "x", "=1x3", "x=", "x=1x", "x=0x1", "x=1xy", "x=1x1x1x1x1x1x1x1x1"};
  char text[32];
  (void)state;
  assert_ok(dl_onnx_ask(&a, good, &d), &d);
  assert_string_equal(a.name[0], "a=b");
  assert_int_equal(a.shape[0].rank, 3);
  assert_int_equal(a.shape[0].dim[2], 5);
  for (size_t i = 0; i < COUNT(bad); i++) {
    snprintf(text, sizeof text, "%s", bad[i]);
    assert_int_equal(dl_onnx_ask(&a, text, &d), DL_EUSAGE);
    assert_error_has(&d, DL_EUSAGE, "is no shape of an input");
  }
  a.n = DL_ONNX_MAX_ASKED;
  assert_int_equal(dl_onnx_ask(&a, good, &d), DL_EUSAGE);
  assert_error_has(&d, DL_EUSAGE, MSG_more_than_shapes_inputs("16"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_models), cmocka_unit_test(test_network),
      cmocka_unit_test(test_open_sizes),   cmocka_unit_test(test_samples),
      cmocka_unit_test(test_asked_shapes),
  };
  return cmocka_run_group_tests_name("onnx", tests, make_temp_dir,
                                     remove_temp_dir);
}
