/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats that other programs define: Prometheus' text format for exposition
 * 0.0.4 and Boavizta's BoAmps. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "config.h"

#include <jansson.h>

#include "output/render.h"
#include "unit.h"

/* A report as a format writes it, to be freed. */
static char *written(const struct dl_report *r, const char *format) {
  char *s = NULL;
  size_t n;
  struct dl_diag d = {0};
  FILE *f = open_memstream(&s, &n);
  assert_non_null(f);
  assert_ok(dl_format_report(dl_format_find(format), r, f, NULL, &d), &d);
  fclose(f);
  return s;
}

/* Rows of a stream as a format writes them, to be freed; each row has as many
 * values as the table has columns. */
static char *streamed(const struct dl_table_form *table,
                      const struct dl_value *values, size_t n_rows,
                      const char *format) {
  char *s = NULL;
  size_t n;
  struct dl_diag d = {0};
  struct dl_stream *stream;
  FILE *f = open_memstream(&s, &n);
  assert_non_null(f);
  assert_ok(dl_stream_begin(&stream, dl_format_find(format), f, table, &d), &d);
  for (size_t i = 0; i < n_rows; i++)
    assert_ok(dl_stream_row(stream, values + i * table->n, NULL, &d), &d);
  assert_ok(dl_stream_end(stream, &d), &d);
  fclose(f);
  return s;
}

/* Checks that the text has that line. */
static void assert_line(const char *text, const char *line) {
  size_t n = strlen(line);
  for (const char *p = text; (p = strstr(p, line)) != NULL; p += n)
    if ((p == text || p[-1] == '\n') && p[n] == '\n')
      return;
  fail_msg("no line \"%s\" in:\n%s", line, text);
}

static const struct dl_column estimate_columns[] = {
    {.key = "method", .heading = "method"},
    {.key = "energy_j", .heading = "energy", .unit = "J", .style = DL_ENERGY},
    {.key = "energy_kwh"},
    {.key = "carbon_g"},
    {.key = "mean-power_w"},
    {.key = NULL, .heading = "for people"}};

static void add_estimate(struct dl_table *t, const char *method, double energy,
                         double carbon) {
  struct dl_value row[] = {dl_string(method), dl_number(energy),
                           dl_number(energy), dl_number(carbon),
                           dl_number(2.5),    dl_string("not a label")};
  dl_table_row(t, row, NULL);
}

static void test_prometheus_report(void **state) {
  struct dl_report *r = dl_report_new();
  (void)state;
  dl_report_add(r, "arch", "arch", NULL, DL_PLAIN, dl_string("resnet50"));
  dl_report_add(r, "image_px", NULL, NULL, DL_PLAIN, dl_count(224));
  dl_report_add(r, "params_m", NULL, NULL, DL_PLAIN, dl_number(25.5));
  dl_report_add(r, "gpu_h", NULL, NULL, DL_PLAIN, dl_number(7));
  dl_report_add(r, "frozen", NULL, NULL, DL_PLAIN, dl_bool(true));
  dl_report_add(r, "epochs", NULL, NULL, DL_PLAIN, dl_number(NAN));
  struct dl_report *node = dl_report_group(r, "node", "node");
  dl_report_add(node, "idle_w", NULL, NULL, DL_PLAIN, dl_number(100));
  dl_report_add(node, "on", NULL, NULL, DL_PLAIN, dl_string("gpu"));
  struct dl_table *t = dl_report_table(r, "estimates", NULL, estimate_columns,
                                       COUNT(estimate_columns), true);
  add_estimate(t, "tdp", 1e6, NAN);
  add_estimate(t, "say \"x\"\\", 5, 0.25);
  char *s = written(r, "prometheus");
  assert_line(s,
              "dlest_info{arch=\"resnet50\",dlest=\"" PACKAGE_VERSION "\"} 1");
  assert_line(s, "# TYPE dlest_image_pixels gauge");
  assert_line(s, "dlest_image_pixels 224");
  assert_line(s, "dlest_params 25500000");
  assert_line(s, "dlest_frozen 1");
  assert_line(s, "dlest_node_idle_watts 100");
  assert_line(s, "dlest_node_info{on=\"gpu\"} 1");
  assert_line(
      s, "# HELP dlest_estimate_energy_joules energy, joules, in estimates");
  assert_line(s, "dlest_estimate_energy_joules{method=\"tdp\"} 1000000");
  assert_line(s,
              "dlest_estimate_energy_joules{method=\"say \\\"x\\\"\\\\\"} 5");
  assert_line(s,
              "dlest_estimate_carbon_grams{method=\"say \\\"x\\\"\\\\\"} 0.25");
  assert_line(s, "dlest_estimate_mean_power_watts{method=\"tdp\"} 2.5");
  assert_null(strstr(s, "kwh"));    /* the same as energy_j */
  assert_null(strstr(s, "gpu_h"));  /* the same as another in seconds */
  assert_null(strstr(s, "epochs")); /* unknown: no sample */
  assert_null(strstr(s, "carbon_grams{method=\"tdp\"}"));
  assert_null(strstr(s, "not a label"));
  free(s);
  dl_report_free(r);
}

/* Rows that no text tells apart are told by their number. */
static void test_prometheus_rows(void **state) {
  static const struct dl_column columns[] = {
      {.key = "gpu"}, {.key = "2nd"}, {.key = "energy_j"}};
  static const struct dl_table_form table = {"boundaries", columns, 3};
  struct dl_value rows[] = {dl_string("a"), dl_string("b"), dl_number(1),
                            dl_string("a"), dl_string("b"), dl_number(2)};
  (void)state;
  char *s = streamed(&table, rows, 2, "prometheus");
  assert_line(s, "dlest_boundary_energy_joules{gpu=\"a\",_2nd=\"b\","
                 "dlest_row=\"1\"} 1");
  assert_line(s, "dlest_boundary_energy_joules{gpu=\"a\",_2nd=\"b\","
                 "dlest_row=\"2\"} 2");
  free(s);
}

static void test_prometheus_limit(void **state) {
  static const struct dl_column columns[] = {{.key = "energy_j"}};
  static const struct dl_table_form table = {"runs", columns, 1};
  struct dl_value row = dl_number(1);
  struct dl_diag d = {0};
  struct dl_stream *stream;
  enum dl_status status = DL_OK;
  char *s = NULL;
  size_t n;
  (void)state;
  FILE *f = open_memstream(&s, &n);
  assert_ok(
      dl_stream_begin(&stream, dl_format_find("prometheus"), f, &table, &d),
      &d);
  for (size_t i = 0; i < 100000 && status == DL_OK; i++)
    status = dl_stream_row(stream, &row, NULL, &d);
  assert_ok(status, &d);
  assert_int_equal(dl_stream_row(stream, &row, NULL, &d), DL_EUSAGE);
  assert_error_has(&d, DL_EUSAGE, "more than 100000 rows");
  dl_stream_end(stream, &d);
  dl_diag_free(&d);
  fclose(f);
  assert_int_equal(n, 0);
  free(s);
}

/* The number or the text at a path of keys and indices, "a.0.b". */
static json_t *at(json_t *root, const char *path) {
  char copy[128], *save;
  snprintf(copy, sizeof copy, "%s", path);
  for (char *w = strtok_r(copy, ".", &save); w; w = strtok_r(NULL, ".", &save))
    root = json_is_array(root) ? json_array_get(root, (size_t)atoi(w))
                               : json_object_get(root, w);
  return root;
}

static void assert_text_at(json_t *root, const char *path, const char *want) {
  const char *got = json_string_value(at(root, path));
  if (!got || strcmp(got, want) != 0)
    fail_msg("%s: %s, want %s", path, got ? got : "nothing", want);
}

static void assert_number_at(json_t *root, const char *path, double want) {
  double got = json_number_value(at(root, path));
  if (!(fabs(got - want) <= 1e-12 * fabs(want)))
    fail_msg("%s: %.17g, want %.17g", path, got, want);
}

static json_t *parsed(char *s) {
  json_error_t error;
  json_t *root = json_loads(s, 0, &error);
  if (!root)
    fail_msg("%s in %s", error.text, s);
  free(s);
  return root;
}

static void test_boamps_run(void **state) {
  static const struct dl_column columns[] = {
      {.key = "arch"},     {.key = "gpu"},        {.key = "n_gpus"},
      {.key = "energy_j"}, {.key = "duration_s"}, {.key = "train_samples"},
      {.key = "image_px"}, {.key = "epochs"},     {.key = "site"},
      {.key = "precision"}};
  static const struct dl_table_form table = {"runs", columns, COUNT(columns)};
  struct dl_value row[] = {
      dl_string("resnet50"), dl_string("a100"), dl_count(4),
      dl_number(7.2e6),      dl_number(3600),   dl_string("50000"),
      dl_number(224),        dl_number(10),     dl_string("cloud:region"),
      dl_string("fp16")};
  (void)state;
  setenv("SOURCE_DATE_EPOCH", "86400", 1);
  json_t *j = parsed(streamed(&table, row, 1, "boamps"));
  unsetenv("SOURCE_DATE_EPOCH");
  assert_text_at(j, "header.reportDatetime", "1970-01-02 00:00:00");
  assert_text_at(j, "task.taskStage", "training");
  assert_text_at(j, "task.taskFamily", "imageClassification");
  assert_text_at(j, "task.algorithms.0.algorithmName", "resnet50");
  assert_text_at(j, "task.algorithms.0.quantization", "fp16");
  assert_number_at(j, "task.algorithms.0.epochsNumber", 10);
  assert_text_at(j, "task.dataset.0.dataType", "image");
  assert_number_at(j, "task.dataset.0.dataQuantity", 50000);
  assert_number_at(j, "measures.0.powerConsumption", 2); /* kWh */
  assert_number_at(j, "measures.0.measurementDuration", 3600);
  assert_text_at(j, "infrastructure.infraType", "publicCloud");
  assert_text_at(j, "infrastructure.cloudProvider", "cloud");
  assert_text_at(j, "infrastructure.components.0.componentName", "a100");
  assert_number_at(j, "infrastructure.components.0.nbComponent", 4);
  json_decref(j);
}

/* A row without an energy is no report; what is unknown says so. */
static void test_boamps_unknown(void **state) {
  static const struct dl_column columns[] = {{.key = "energy_j"},
                                             {.key = "energy_from"}};
  static const struct dl_table_form table = {"jobs", columns, 2};
  struct dl_value rows[] = {dl_number(NAN), dl_string(NULL), dl_number(3.6e6),
                            dl_string("tdp")};
  (void)state;
  json_t *j = parsed(streamed(&table, rows, 2, "boamps"));
  assert_text_at(j, "task.taskStage", "unknown");
  assert_text_at(j, "task.taskFamily", "unknown");
  assert_text_at(j, "task.taskDescription", "estimated by dlest, not measured");
  assert_text_at(j, "infrastructure.components.0.componentType", "other");
  assert_text_at(j, "measures.0.measurementMethod",
                 "dlest, tdp, boundary unknown");
  json_decref(j);
}

static void test_boamps_report(void **state) {
  static const struct dl_column bounds[] = {
      {.key = "estimate"}, {.key = "boundary"}, {.key = "energy_j"}};
  static const struct dl_column columns[] = {{.key = "method"},
                                             {.key = "boundary"},
                                             {.key = "energy_j"},
                                             {.key = "duration_s"}};
  struct dl_report *r = dl_report_new();
  (void)state;
  dl_report_add(r, "arch", NULL, NULL, DL_PLAIN, dl_string("llama"));
  dl_report_add(r, "phase", NULL, NULL, DL_PLAIN, dl_string("inference"));
  dl_report_add(r, "prompt_tokens", NULL, NULL, DL_PLAIN, dl_number(100));
  dl_report_add(r, "output_tokens", NULL, NULL, DL_PLAIN, dl_number(20));
  dl_report_add(r, "requests", NULL, NULL, DL_PLAIN, dl_number(5));
  dl_report_add(r, "grid", NULL, NULL, DL_PLAIN, dl_string("SE"));
  dl_report_add(r, "intensity_of", NULL, NULL, DL_PLAIN, dl_string("Sweden"));
  dl_report_add(r, "intensity_g_kwh", NULL, NULL, DL_PLAIN, dl_number(40));
  struct dl_table *t =
      dl_report_table(r, "estimates", NULL, columns, COUNT(columns), true);
  struct dl_value row[] = {dl_string("tdp"), dl_string("gpu"), dl_number(3.6e6),
                           dl_number(60)};
  struct dl_value none[] = {dl_string("flops"), dl_string("gpu"),
                            dl_number(NAN), dl_number(60)};
  dl_table_row(t, none, NULL);
  dl_table_row(t, row, NULL);
  struct dl_report *node = dl_report_group(r, "node", "node");
  dl_report_add(node, "estimate", NULL, NULL, DL_PLAIN, dl_string("tdp"));
  t = dl_report_table(node, "boundaries", NULL, bounds, COUNT(bounds), false);
  struct dl_value own[] = {dl_string("tdp"), dl_string("gpu"), dl_number(1)};
  struct dl_value wall[] = {dl_string("tdp"), dl_string("wall"),
                            dl_number(7.2e6)};
  dl_table_row(t, own, NULL);
  dl_table_row(t, wall, NULL);
  json_t *j = parsed(written(r, "boamps"));
  assert_text_at(j, "task.taskStage", "inference");
  assert_text_at(j, "task.taskFamily", "textGeneration");
  assert_number_at(j, "task.nbRequest", 5);
  assert_number_at(j, "task.dataset.0.dataQuantity", 500);
  assert_number_at(j, "task.dataset.1.dataQuantity", 100);
  assert_text_at(j, "environment.country", "Sweden");
  assert_number_at(j, "environment.powerSourceCarbonIntensity", 40);
  assert_int_equal(json_array_size(at(j, "measures")), 2);
  assert_number_at(j, "measures.0.powerConsumption", 1);
  assert_text_at(j, "measures.1.measurementMethod",
                 "dlest, tdp, boundary wall");
  assert_number_at(j, "measures.1.powerConsumption", 2);
  json_decref(j);
  dl_report_free(r);
}

static void test_boamps_without_task(void **state) {
  static const struct dl_column columns[] = {{.key = "energy_j"}};
  static const struct dl_table_form table = {"devices", columns, 1};
  const struct dl_format *boamps = dl_format_find("boamps");
  struct dl_diag d = {0};
  struct dl_stream *stream = NULL;
  struct dl_report *r = dl_report_new();
  (void)state;
  assert_int_equal(dl_stream_begin(&stream, boamps, stdout, &table, &d),
                   DL_EUSAGE);
  assert_error_has(&d, DL_EUSAGE, "there is none here");
  assert_int_equal(dl_stream_end(stream, &d), DL_OK);
  assert_int_equal(dl_format_report(boamps, r, stdout, NULL, &d), DL_EUSAGE);
  assert_error_has(&d, DL_EUSAGE, "there is none here");
  dl_report_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prometheus_report),
      cmocka_unit_test(test_prometheus_rows),
      cmocka_unit_test(test_prometheus_limit),
      cmocka_unit_test(test_boamps_run),
      cmocka_unit_test(test_boamps_unknown),
      cmocka_unit_test(test_boamps_report),
      cmocka_unit_test(test_boamps_without_task),
  };
  return cmocka_run_group_tests_name("exports", tests, NULL, NULL);
}
