/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <gsl/gsl_errno.h>
#include <locale.h>

#include "fit.h"
#include "tests/messages.h"

static const double hyper[] = {0.37, 0.0231};

/* Three fits, with everything that a file can hold. */
static struct dl_model *make_model(void) {
  struct dl_model *m = calloc(1, sizeof *m);

  m->source = strdup("runs <1> & \"2\".csv");
  m->digest = strdup("0123456789abcdef0123456789abcdef");
  m->rows = 13;
  m->citation = strdup("M\xc3\xbcller, 2024");
  m->options = strdup("fit --features 'a<b, c'");
  m->fit = calloc(3, sizeof *m->fit);
  m->n_fits = 3;
  make_fit(&m->fit[0], "ols", hyper, true);
  make_fit(&m->fit[1], "ridge", hyper, false);
  make_fit(&m->fit[2], "krr", hyper, true);
  struct dl_fit *f = &m->fit[0];
  f->unit = strdup("W");
  f->boundary = strdup("gpu");
  f->offset = strdup("log(x0) < `a & b`");
  f->log_target = true;
  f->configurations = 5;
  add_range(f, "x0", 7.1, 12.9);
  add_range(f, "GPU \"power\" <W>", -0.1, 1e300);
  add_residuals(f, DL_HELD_OUT_CONFIG, 4, 0.1);
  add_residuals(f, DL_HELD_OUT_GPU, 2, 1.0 / 3);
  struct dl_group_residuals *g = &f->held_out_residuals[DL_HELD_OUT_GPU].g[1];
  g->n = 100;
  g->n_values = 21;
  for (size_t i = 0; i < 21; i++)
    g->value[i] = (double)i / 7 - 1;
  g->by_run = true;
  for (size_t i = 0; i < 21; i++)
    g->spread[i] = 1 + (double)i / 16;
  f->held_out_residuals[DL_HELD_OUT_GPU].pooled =
      (struct dl_scores){.n = 102,
                         .r2 = 0.1,
                         .rmse = 0.2,
                         .mae = 0.3,
                         .mape = NAN,
                         .bias = -0.4,
                         .median_ape = 0.5};
  dl_strlist_add(&f->archs, "resnet50");
  dl_strlist_add(&f->gpus, "rtx-3090");
  dl_strlist_add(&f->gpus, "rtx-3070");
  free(m->fit[1].target);
  m->fit[1].target = strdup("epoch_s");
  free(m->fit[2].target);
  m->fit[2].target = strdup("other");
  return m;
}

/* Predictions at some points, on the scale of the fit. */
static void predict(const struct dl_fit *f, double out[50]) {
  struct dl_diag d = {0};
  gsl_matrix *X = gsl_matrix_alloc(50, FIT_FEATURES);
  gsl_vector_view y = gsl_vector_view_array(out, 50);

  for (size_t i = 0; i < 50; i++) {
    gsl_matrix_set(X, i, 0, 5 + 0.21 * (double)i);
    gsl_matrix_set(X, i, 1, 0.7 * sin((double)i));
  }
  if (f->scaled)
    dl_scale_apply(&f->scale, X);
  assert_ok(f->method->predict(f->state, X, &y.vector, &d), &d);
  gsl_matrix_free(X);
}

static void same_text(const char *a, const char *b) {
  assert_int_equal(a == NULL, b == NULL);
  if (a)
    assert_string_equal(a, b);
}

static void same_list(const struct dl_strlist *a, const struct dl_strlist *b) {
  assert_int_equal(a->n, b->n);
  for (size_t i = 0; i < a->n; i++)
    assert_string_equal(a->s[i], b->s[i]);
}

static void same_number(double a, double b) {
  assert_true(a == b || (a != a && b != b));
}

static void same_residuals(const struct dl_residuals *a,
                           const struct dl_residuals *b) {
  assert_int_equal(a->n, b->n);
  if (a->n == 0)
    return;
  assert_int_equal(a->pooled.n, b->pooled.n);
  same_number(a->pooled.r2, b->pooled.r2);
  same_number(a->pooled.rmse, b->pooled.rmse);
  same_number(a->pooled.mae, b->pooled.mae);
  same_number(a->pooled.mape, b->pooled.mape);
  same_number(a->pooled.bias, b->pooled.bias);
  same_number(a->pooled.median_ape, b->pooled.median_ape);
  for (size_t i = 0; i < a->n; i++) {
    assert_string_equal(a->g[i].name, b->g[i].name);
    assert_int_equal(a->g[i].n, b->g[i].n);
    assert_int_equal(a->g[i].n_values, b->g[i].n_values);
    assert_memory_equal(a->g[i].value, b->g[i].value,
                        a->g[i].n_values * sizeof(double));
    assert_int_equal(a->g[i].by_run, b->g[i].by_run);
    if (a->g[i].by_run)
      assert_memory_equal(a->g[i].spread, b->g[i].spread,
                          a->g[i].n_values * sizeof(double));
  }
}

static void same_fit(const struct dl_fit *a, const struct dl_fit *b) {
  double from_a[50], from_b[50];

  same_text(a->target, b->target);
  same_text(a->unit, b->unit);
  same_text(a->boundary, b->boundary);
  same_text(a->offset, b->offset);
  same_list(&a->features, &b->features);
  same_list(&a->archs, &b->archs);
  same_list(&a->gpus, &b->gpus);
  assert_int_equal(a->log_target, b->log_target);
  assert_int_equal(a->scaled, b->scaled);
  assert_ptr_equal(a->method, b->method);
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->configurations, b->configurations);
  for (size_t i = 0; i < a->method->n_hyper; i++)
    assert_true(a->hyper[i] == b->hyper[i]);
  assert_int_equal(a->n_ranges, b->n_ranges);
  for (size_t i = 0; i < a->n_ranges; i++) {
    assert_string_equal(a->range[i].name, b->range[i].name);
    assert_true(a->range[i].low == b->range[i].low);
    assert_true(a->range[i].high == b->range[i].high);
  }
  for (size_t i = 0; i < DL_N_HELD_OUT; i++)
    same_residuals(&a->held_out_residuals[i], &b->held_out_residuals[i]);
  predict(a, from_a);
  predict(b, from_b);
  assert_memory_equal(from_a, from_b, sizeof from_a);
}

static void round_trip(void **state) {
  struct dl_model *m = make_model(), *back;
  struct dl_diag d = {0};

  (void)state;
  const char *path = temp_path("m.xml");
  assert_ok(dl_model_write(m, path, &d), &d);
  assert_ok(dl_model_read(&back, path, in_tree("models/model.rng"), &d), &d);
  same_text(back->path, path);
  same_text(back->source, m->source);
  same_text(back->digest, m->digest);
  same_text(back->citation, m->citation);
  same_text(back->options, m->options);
  assert_non_null(back->version);
  assert_int_equal(back->rows, 13);
  assert_int_equal(back->n_fits, 3);
  for (size_t i = 0; i < 3; i++)
    same_fit(&m->fit[i], &back->fit[i]);
  assert_string_equal(back->fit[1].target, "epoch_s");
  dl_model_free(m);
  dl_model_free(back);
  dl_model_free(NULL);
}

/* Written and read again it is the same file, under any locale. */
static void writes_the_same(void **state) {
  struct dl_model *m = make_model(), *back;
  struct dl_diag d = {0};

  (void)state;
  const char *first = temp_path("1.xml"), *second = temp_path("2.xml");
  assert_ok(dl_model_write(m, first, &d), &d);
  assert_ok(dl_model_read(&back, first, NULL, &d), &d);
  assert_ok(dl_model_write(back, second, &d), &d);
  char *a = get_file(first), *b = get_file(second);
  assert_string_equal(a, b);
  free(a);
  free(b);
  dl_model_free(m);
  dl_model_free(back);
}

/* What two states have in common is in the file once. */
static void common_arrays_once(void **state) {
  static const char same[] = " as_before=\"true\"";
  struct dl_model *m = make_model(), *back;
  struct dl_diag d = {0};
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", in_tree("models/model.rng"));
  dl_fit_free(&m->fit[2]);
  make_fit(&m->fit[2], "ridge", hyper, false);
  const char *path = temp_path("once.xml");
  assert_ok(dl_model_write(m, path, &d), &d);
  assert_ok(dl_model_read(&back, path, schema, &d), &d);
  for (size_t i = 0; i < 3; i++)
    same_fit(&m->fit[i], &back->fit[i]);
  dl_model_free(back);
  dl_model_free(m);
  char *text = get_file(path);
  char *at = strstr(text, same);
  assert_non_null(at);
  memset(at, ' ', strlen(same));
  path = put_file("bad.xml", text);
  assert_int_equal(dl_model_read(&back, path, NULL, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, MSG_too_few_numbers);
  /* The first state has none before it. */
  at = strstr(text, "<array ");
  struct dl_text changed = {0};
  dl_text_add_n(&changed, text, (size_t)(at - text));
  dl_text_printf(&changed, "<array%s %s", same, at + strlen("<array "));
  path = put_file("bad.xml", changed.s);
  assert_int_equal(dl_model_read(&back, path, NULL, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, MSG_no_such_array_before);
  dl_text_free(&changed);
  free(text);
}

static void other_locale(void **state) {
  /* Some C libraries take any name and have decimal points alone. */
  if ((setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
       setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) ||
      localeconv()->decimal_point[0] != ',') {
    print_message("no locale with a decimal comma is installed\n");
    skip();
  }
  round_trip(state);
  writes_the_same(state);
  char *text = get_file(temp_path("m.xml"));
  assert_non_null(strstr(text, ">0.37<"));
  free(text);
}

static int back_to_c(void **state) {
  (void)state;
  return setlocale(LC_ALL, "C") == NULL;
}

/* Writes a changed copy of a good file and reads it. */
static void refused(const char *from, const char *to, const char *schema,
                    const char *error) {
  struct dl_model *m = make_model(), *back;
  struct dl_text changed = {0};
  struct dl_diag d = {0};

  assert_ok(dl_model_write(m, temp_path("good.xml"), &d), &d);
  char *text = get_file(temp_path("good.xml"));
  char *at = strstr(text, from);
  if (!at)
    fail_msg("no \"%s\" to replace", from);
  dl_text_add_n(&changed, text, (size_t)(at - text));
  dl_text_add(&changed, to);
  dl_text_add(&changed, at + strlen(from));
  const char *path = put_file("bad.xml", changed.s);
  if (dl_model_read(&back, path, schema, &d) != DL_EINPUT)
    fail_msg("took \"%s\" for \"%s\"", to, from);
  assert_null(back);
  assert_error_has(&d, DL_EINPUT, "bad.xml:");
  dl_model_read(&back, path, schema, &d);
  assert_error_has(&d, DL_EINPUT, error);
  dl_text_free(&changed);
  free(text);
  dl_model_free(m);
}

static void refuses_bad_files(void **state) {
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", in_tree("models/model.rng"));
  refused("format=\"2\"", "format=\"3\"", schema,
          ":2: " MSG_model_format_this_reads("3", "2"));
  refused("format=\"2\"", "format=\"x\"", NULL, "<model>: a count is ");
  refused("<model ", "<catalog ", NULL, MSG_not_well_formed_xml(""));
  refused("method=\"ols\"", "method=\"magic\"", NULL,
          "<fit>: " MSG_no_target_or_method);
  refused("target=\"other\"", "", NULL, "<fit>: " MSG_no_target_or_method);
  refused("log=\"true\"", "log=\"perhaps\"", schema, MSG_not_valid(""));
  refused("<hyper name=\"", "<hyper name=\"x", NULL,
          "<hyper>: " MSG_not_a_hyper_parameter);
  refused("mean=\"", "mean=\"x", NULL, "<feature>: " MSG_invalid_number_4);
  refused(" sd=\"", " sd=\"-", NULL, "<feature>: " MSG_invalid_scaling);
  refused("low=\"7.", "low=\"7,", NULL, "<range>: " MSG_invalid_number_4);
  refused("left_out=\"gpu\"", "left_out=\"config\"", NULL,
          "<residuals>: " MSG_unknown_or_repeated_protocol);
  refused("left_out=\"gpu\"", "left_out=\"moon\"", NULL,
          "<residuals>: " MSG_unknown_or_repeated_protocol);
  refused("n=\"100\"", "n=\"3\"", NULL, "<group>: " MSG_invalid_or_too_many);
  refused("name=\"g0\" n=\"1\"", "name=\"g0\" n=\"2\"", NULL,
          "<group>: " MSG_too_few_numbers);
  refused("<state>", "<state><other/>", schema, MSG_not_valid(""));
  refused("xxh3_128=", "unknown=", schema, MSG_not_valid(""));
  refused("<array name=\"coefficient", "<array name=\"other", NULL,
          "<state>: no array 'coefficient'");
}

/* A huge array is refused before memory is asked for. */
static void refuses_huge_arrays(void **state) {
  (void)state;
  refused("<array ",
          SIZE_MAX > UINT32_MAX ? "<array name=\"a\" rows=\"4294967296\" "
                                  "cols=\"4294967296\">1</array><array "
                                : "<array name=\"a\" rows=\"65536\" "
                                  "cols=\"65536\">1</array><array ",
          NULL, "<array>: " MSG_invalid_shape);
  refused("<array ", "<array name=\"a\" rows=\"0\" cols=\"1\"/><array ", NULL,
          "<array>: " MSG_invalid_shape);
}

static void refuses_other_files(void **state) {
  struct dl_model *m;
  struct dl_diag d = {0};
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", in_tree("models/model.rng"));
  assert_int_equal(dl_model_read(&m, in_tree("data/grids.xml"), schema, &d),
                   DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "<catalog>: " MSG_not_a_model_file);
  const char *empty =
      put_file("e.xml", "<model format='1' dlest='0'><provenance source='s' "
                        "rows='1'/></model>");
  assert_int_equal(dl_model_read(&m, empty, NULL, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "e.xml:1: <model>: " MSG_holds_no_fit);
  assert_int_equal(dl_model_read(&m, temp_path("absent.xml"), NULL, &d),
                   DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "absent.xml: " MSG_cannot_open(""));
}

/* Cut off anywhere, a file is refused. */
static void refuses_cut_files(void **state) {
  struct dl_model *m = make_model(), *back;
  struct dl_diag d = {0};

  (void)state;
  assert_ok(dl_model_write(m, temp_path("good.xml"), &d), &d);
  dl_model_free(m);
  char *text = get_file(temp_path("good.xml"));
  size_t len = strlen(text) - strlen("</model>\n");
  for (size_t n = len; n > 0; n = n > 97 ? n - 97 : 0) {
    text[n] = '\0';
    assert_int_equal(dl_model_read(&back, put_file("cut.xml", text), NULL, &d),
                     DL_EINPUT);
    assert_null(back);
    assert_error_has(&d, DL_EINPUT, "cut.xml:");
  }
  free(text);
}

/* A label that XML cannot hold must not make a file that no one can read. */
static void refuses_to_write(void **state) {
  struct dl_model *m = make_model();
  struct dl_diag d = {0};

  (void)state;
  free(m->fit[0].held_out_residuals[DL_HELD_OUT_CONFIG].g[0].name);
  m->fit[0].held_out_residuals[DL_HELD_OUT_CONFIG].g[0].name =
      strdup("M\xfcller");
  assert_int_equal(dl_model_write(m, temp_path("no.xml"), &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "no.xml: not writable as XML: ");
  assert_int_not_equal(access(temp_path("no.xml"), F_OK), 0);
  dl_model_free(m);
}

static void shipped_models_are_valid(void **state) {
  struct dl_model *m;
  struct dl_diag d = {0};
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", in_tree("models/model.rng"));
  assert_ok(dl_model_read(&m, in_tree("models/pre.xml"), schema, &d), &d);
  const struct dl_model *owner;
  assert_non_null(dl_model_search(m, "gpu_power_w", NULL, &owner));
  assert_non_null(dl_model_search(m, "epoch_energy_j", NULL, &owner));
  assert_ptr_equal(owner, m);
  assert_null(dl_model_search(m, "epoch", NULL, &owner));
  dl_model_free(m);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),
      cmocka_unit_test(writes_the_same),
      cmocka_unit_test(common_arrays_once),
      cmocka_unit_test_teardown(other_locale, back_to_c),
      cmocka_unit_test(refuses_bad_files),
      cmocka_unit_test(refuses_huge_arrays),
      cmocka_unit_test(refuses_other_files),
      cmocka_unit_test(refuses_cut_files),
      cmocka_unit_test(refuses_to_write),
      cmocka_unit_test(shipped_models_are_valid),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
