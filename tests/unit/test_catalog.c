/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Catalogues: the files that ship, look-up by name, a user's own file. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/file.h"
#include "catalog/catalog.h"
#include "catalog/catalog_file.h"
#include "catalog/catalog_scan.h"
#include "catalog/datadir.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_diag d;

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

#define HEAD "<catalog kind='accelerator' version='1'>\n"

/* Loads a text as a shelf of accelerators and expects it to be refused. */
static void refused(const char *text, const char *schema, const char *error) {
  struct dl_catalog_file s;
  const char *path = put_file("own.xml", text);

  assert_int_equal(dl_catalog_file_read(&s, DL_ACCELERATOR, path, schema, &d),
                   DL_EINPUT);
  assert_null(s.e);
  assert_null(s.xml);
  assert_error_has(&d, DL_EINPUT, error);
}

/* By its name, the entry is found in the text of its file as in the file. */
static void scan_finds(const char *path, const struct dl_catalog_file *s,
                       const char *text, const char *folded) {
  const struct dl_descriptor *e = dl_catalog_file_find(s, folded);
  struct dl_text one = {0};
  struct dl_catalog_file scanned;

  if (!dl_scan_entry(e->kind, text, folded, &one))
    fail_msg("%s: no scan finds '%s'", path, folded);
  assert_ok(dl_catalog_file_parse(&scanned, e->kind, one.s, one.len, path, &d),
            &d);
  assert_int_equal(scanned.n, 1);
  const struct dl_descriptor *found = scanned.e[0];
  assert_string_equal(found->id, e->id);
  assert_int_equal(found->line, e->line);
  assert_int_equal(found->n_aliases, e->n_aliases);
  if (e->kind == DL_ARCHITECTURE)
    assert_int_equal(DL_AS(architecture, found)->n_inputs,
                     DL_AS(architecture, e)->n_inputs);
  const struct dl_kind_info *k = &dl_kinds[e->kind];
  for (size_t i = 0; i < k->n_fields; i++) {
    double x = dl_field_number(e, &k->fields[i]);
    if (!isnan(x)) {
      assert_true(dl_field_number(found, &k->fields[i]) == x);
      assert_string_equal(found->origin[i].source, e->origin[i].source);
    }
  }
  dl_catalog_file_free(&scanned);
  dl_text_free(&one);
}

/* An entry whose tag is not closed before its end has no names. */
static void scan_stays_within_an_entry(void **state) {
  struct dl_text one = {0};

  (void)state;
  assert_false(dl_scan_entry(DL_ACCELERATOR,
                             "<entry id=\"a\" </entry> x><alias>mine</alias>",
                             "mine", &one));
  assert_int_equal(one.len, 0);
  dl_text_free(&one);
}

/* Each entry says where its figures come from and is found by its names, by
 * the scan too. */
static void check_entries(const char *path, const struct dl_catalog_file *s) {
  char *text;
  size_t len;

  assert_ok(dl_read_file(path, DL_XML_MOST_BYTES, &text, &len, &d), &d);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_descriptor *e = s->e[i];
    struct dl_text folded = {0};
    dl_fold_name(e->kind, e->id, &folded);
    if (dl_catalog_file_find(s, dl_text_str(&folded)) != e)
      fail_msg("%s: '%s' is not found by its own name", path, e->id);
    dl_text_free(&folded);
    const struct dl_kind_info *k = &dl_kinds[e->kind];
    for (size_t f = 0; f < k->n_fields; f++)
      if (!isnan(dl_field_number(e, &k->fields[f])) && !e->origin[f].source)
        fail_msg("%s: %s has no source", e->id, k->fields[f].name);
    const struct dl_architecture *arch = DL_AS(architecture, e);
    for (size_t j = 0; e->kind == DL_ARCHITECTURE && j < arch->n_inputs; j++)
      assert_non_null(arch->inputs[j].macs_origin.source);
  }
  for (size_t i = 0; i < s->folded.n; i += 1 + s->folded.n / 200)
    scan_finds(path, s, text, s->folded.s[i]);
  free(text);
}

/* Each file is valid against its schema. */
static void shipped_files_load(void **state) {
  static const size_t least[] = {50, 100, 20, 100, 1, 20};

  (void)state;
  for (int k = 0; k < DL_N_KINDS; k++) {
    const struct dl_kind_info *info = &dl_kinds[(enum dl_kind)k];
    size_t n = 0;
    for (size_t i = 0; info->files[i]; i++) {
      char path[PATH_SIZE];
      struct dl_catalog_file s;
      snprintf(path, sizeof path, "%s", in_tree(info->files[i]));
      assert_ok(dl_catalog_file_read(&s, (enum dl_kind)k, path,
                                     in_tree(info->schema), &d),
                &d);
      check_entries(path, &s);
      n += s.n;
      dl_catalog_file_free(&s);
    }
    assert_true(n >= least[k]);
  }
}

static const struct dl_descriptor *get(struct dl_catalog *c, enum dl_kind kind,
                                       const char *name) {
  const struct dl_descriptor *e;

  assert_ok(dl_catalog_get(c, kind, name, &e, &d), &d);
  assert_non_null(e);
  return e;
}

/* Figures of the manufacturers and of methods.md, section 5. */
static void finds_what_people_write(void **state) {
  static const struct {
    enum dl_kind kind;
    const char *name, *id;
  } cases[] = {
      {DL_ACCELERATOR, "rtx-3090", "rtx-3090"},
      {DL_ACCELERATOR, "RTX 3090", "rtx-3090"},
      {DL_ACCELERATOR, "NVIDIA GeForce RTX 3090", "rtx-3090"},
      {DL_ACCELERATOR, "rtx3090ti", "rtx-3090-ti"},
      {DL_ACCELERATOR, "GeForce RTX 3090 Ti", "rtx-3090-ti"},
      {DL_ACCELERATOR, "nvidia a100-sxm4-40gb", "a100-sxm4-40gb"},
      {DL_ARCHITECTURE, "resnet50", "resnet50"},
      {DL_ARCHITECTURE, "ResNet-50", "resnet50"},
      {DL_ARCHITECTURE, "tv_resnet50", "resnet50"},
      {DL_ARCHITECTURE, "RegNetX-1.6GF", "regnetx_016"},
      {DL_ARCHITECTURE, "RegNetX-16GF", "regnetx_160"},
      {DL_DATASET, "ImageNet 1k", "imagenet"},
      {DL_DATASET, "ILSVRC2012", "imagenet"},
      {DL_GRID, "AUT", "at"},
      {DL_GRID, "austria", "at"},
  };
  struct dl_catalog *c = dl_catalog_new(in_tree("."));

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_string_equal(get(c, cases[i].kind, cases[i].name)->id, cases[i].id);
  const struct dl_accelerator *gpu =
      DL_AS(accelerator, get(c, DL_ACCELERATOR, "rtx 3090"));
  assert_true(gpu->tdp_w == 350);
  assert_true(gpu->memory_gb == 24);
  assert_true(gpu->cuda_cores == 10496);
  assert_string_equal(gpu->vendor, "nvidia");
  assert_true(DL_AS(dataset, get(c, DL_DATASET, "imagenet"))->train_samples ==
              1281167);
  dl_catalog_free(c);
  dl_catalog_free(NULL);
}

static void names_the_nearest(void **state) {
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  const struct dl_descriptor *e;

  (void)state;
  assert_int_equal(dl_catalog_get(c, DL_ARCHITECTURE, "resnt50", &e, &d),
                   DL_EINPUT);
  assert_null(e);
  assert_non_null(strstr(d.error, "'resnet50'"));
  assert_non_null(strstr(d.error, "; see 'dlest list archs'"));
  assert_error_has(
      &d, DL_EINPUT,
      MSG_unknown_nearest("arch", "resnt50", " (did you mean 'resnet50'"));
  assert_int_equal(dl_catalog_get(c, DL_ACCELERATOR, "rtx 3091", &e, &d),
                   DL_EINPUT);
  assert_non_null(strstr(d.error, "'rtx-3090'"));
  assert_error_has(
      &d, DL_EINPUT,
      MSG_unknown_nearest("gpu", "rtx 3091", " (did you mean 'rtx-3090'"));
  /* Nothing is left of these names. */
  assert_int_equal(dl_catalog_get(c, DL_ACCELERATOR, "NVIDIA", &e, &d),
                   DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "unknown gpu 'NVIDIA'");
  assert_ok(dl_catalog_look(c, DL_ACCELERATOR, "", &e, &d), &d);
  assert_null(e);
  assert_ok(dl_catalog_look(c, DL_ACCELERATOR, "no such", &e, &d), &d);
  assert_null(e);
  dl_catalog_free(c);
}

static void lists_all(void **state) {
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  const struct dl_descriptor **list;
  size_t n;

  (void)state;
  assert_ok(dl_catalog_all(c, DL_GRID, &list, &n, &d), &d);
  assert_true(n > 100);
  assert_string_equal(list[0]->id, "world");
  assert_ptr_equal(list[0], get(c, DL_GRID, "World"));
  for (size_t i = 1; i < n; i++)
    assert_true(list[i]->line > list[i - 1]->line);
  free(list);
  dl_catalog_free(c);
}

static void needs_its_files(void **state) {
  struct dl_catalog *c = dl_catalog_new(temp_dir);
  const struct dl_descriptor *e;
  const struct dl_descriptor **list;
  size_t n;

  (void)state;
  assert_int_equal(dl_catalog_get(c, DL_GRID, "at", &e, &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "data/grids.xml: " MSG_cannot_open(""));
  assert_int_equal(dl_catalog_all(c, DL_GRID, &list, &n, &d), DL_EFAILED);
  assert_null(list);
  assert_error_has(&d, DL_EFAILED, "data/grids.xml: " MSG_cannot_open(""));
  dl_catalog_free(c);
}

static void takes_own_files(void **state) {
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  const char *path = put_file(
      "own.xml", HEAD "<entry id='my-gpu' name='Mine'>\n<alias>m</alias>"
                      "<value name='tdp_w'>123.5</value></entry>\n"
                      "<entry id='other' name='Other'/></catalog>");

  (void)state;
  const struct dl_descriptor *none;
  assert_ok(dl_catalog_look(c, DL_ACCELERATOR, path, &none, &d), &d);
  assert_null(none); /* a name alone opens nothing */
  assert_ok(dl_catalog_open(c, DL_ACCELERATOR, path, &d), &d);
  assert_ok(dl_catalog_open(c, DL_ACCELERATOR, path, &d), &d);
  assert_ok(dl_catalog_open(c, DL_ACCELERATOR, "rtx-3090", &d), &d);
  const struct dl_descriptor *e = get(c, DL_ACCELERATOR, path);
  assert_string_equal(e->id, "my-gpu");
  assert_string_equal(e->file, path);
  assert_int_equal(e->line, 2);
  assert_int_equal(e->n_aliases, 1);
  assert_true(DL_AS(accelerator, e)->tdp_w == 123.5);
  assert_null(
      e->origin[dl_field_index(e, &DL_AS(accelerator, e)->tdp_w)].source);
  assert_true(isnan(DL_AS(accelerator, e)->memory_gb));
  assert_int_equal(d.n_warnings, 1);
  assert_non_null(strstr(
      d.warnings[0], "own.xml: " MSG_holds_entries_first_is("2", "my-gpu")));
  /* Read once. */
  assert_ptr_equal(get(c, DL_ACCELERATOR, path), e);
  assert_ok(dl_catalog_look(c, DL_GRID, path, &none, &d), &d);
  assert_null(none);
  assert_int_equal(dl_catalog_open(c, DL_GRID, path, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT,
                   "own.xml:1: " MSG_not_a_catalogue_kind("grid"));
  const char *absent = temp_path("absent.xml");
  assert_int_equal(dl_catalog_open(c, DL_ACCELERATOR, absent, &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "absent.xml: " MSG_cannot_open(""));
  dl_catalog_free(c);
}

static void refuses_bad_files(void **state) {
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", in_tree("data/accelerators.rng"));
  refused("<catalog kind='grid'/>", NULL,
          "own.xml:1: " MSG_not_a_catalogue_kind("accelerator"));
  refused("\n<other kind='accelerator'/>", NULL,
          "own.xml:2: " MSG_not_a_catalogue_kind("accelerator"));
  refused(HEAD "</catalog>", NULL, "own.xml: " MSG_no_entry_in_this);
  refused(HEAD "<entry id='x' name='x'/>\n<more/></catalog>", schema,
          "own.xml:3: " MSG_not_valid(""));
  refused(HEAD "<entry name='x'/></catalog>", NULL,
          "own.xml:2: " MSG_entry_without_id);
  refused(HEAD "<entry id='x' name='x'>\n<value name='volts'>1</value>"
               "</entry></catalog>",
          NULL, "own.xml:3: " MSG_unknown_value("volts"));
  refused(HEAD "<entry id='x' name='x'>\n<value name='tdp_w'>x</value>"
               "</entry></catalog>",
          NULL, "own.xml:3: " MSG_value_invalid_number("tdp_w", "x"));
  refused(HEAD "<entry id='x' name='x'>\n<value name='tdp_w'>2500</value>"
               "</entry></catalog>",
          schema,
          "own.xml:3: " MSG_value_is_not_between("tdp_w", "2500", "1", "2000"));
  refused(HEAD "<entry id='x' name='x'><value name='tdp_w'>0</value>"
               "</entry></catalog>",
          NULL,
          "own.xml:2: " MSG_value_is_not_between("tdp_w", "0", "1", "2000"));
  refused(HEAD "<entry id='ok' name='x'/>\n"
               "<entry id='x' name='x'><value name='tdp_w'/></entry></catalog>",
          NULL, "own.xml:3: " MSG_value_invalid_number("tdp_w", ""));
}

static void reads_inputs(void **state) {
  static const char text[] =
      "<catalog kind='architecture' version='1'><sources>"
      "<source id='s' title='The Source'/></sources>"
      "<entry id='a' name='A' scaling='tokens'>"
      "<value name='depth' source='s' note='derived: x'>12</value>"
      "<input image_px='32'><value name='macs_g' source='t'>2</value></input>"
      "<input image_px='64'><value name='macs_g'>9</value>"
      "<value name='acts_m'>3</value></input></entry></catalog>";
  struct dl_catalog_file s;

  (void)state;
  assert_ok(dl_catalog_file_read(&s, DL_ARCHITECTURE, put_file("a.xml", text),
                                 in_tree("data/architectures.rng"), &d),
            &d);
  assert_int_equal(s.n, 1);
  const struct dl_architecture *e = DL_AS(architecture, s.e[0]);
  const struct dl_origin *depth =
      &e->head.origin[dl_field_index(&e->head, &e->depth)];
  assert_int_equal(e->scaling, DL_SCALING_TOKENS);
  assert_string_equal(depth->source, "The Source");
  assert_string_equal(depth->note, "derived: x");
  assert_int_equal(e->n_inputs, 2);
  assert_true(e->inputs[0].image_px == 32);
  assert_string_equal(e->inputs[0].macs_origin.source, "t");
  assert_true(isnan(e->inputs[0].acts_m));
  assert_true(e->inputs[1].acts_m == 3);
  dl_catalog_file_free(&s);

  const char *bad =
      put_file("a.xml", "<catalog kind='architecture'><entry id='a'>\n"
                        "<input image_px='0'/></entry></catalog>");
  assert_int_equal(dl_catalog_file_read(&s, DL_ARCHITECTURE, bad, NULL, &d),
                   DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "a.xml:2: " MSG_input_invalid_image_px("0"));
}

static void data_directory(void **state) {
  char *old = getenv("DLEST_DATADIR");
  char *kept = old ? strdup(old) : NULL;
  DL_TEXT(dir);

  (void)state;
  setenv("DLEST_DATADIR", "/some/where", 1);
  dl_datadir(&dir);
  assert_string_equal(dir.s, "/some/where");
  dl_text_clear(&dir);
  setenv("DLEST_DATADIR", "", 1);
  dl_datadir(&dir);
  assert_true(*dir.s == '/');
  if (kept)
    setenv("DLEST_DATADIR", kept, 1);
  else
    unsetenv("DLEST_DATADIR");
  free(kept);
}

#define TEST(f) cmocka_unit_test_teardown(f, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(shipped_files_load), TEST(finds_what_people_write),
      TEST(names_the_nearest),  TEST(lists_all),
      TEST(needs_its_files),    TEST(takes_own_files),
      TEST(refuses_bad_files),  TEST(reads_inputs),
      TEST(data_directory),     TEST(scan_stays_within_an_entry),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
