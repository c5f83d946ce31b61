/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes catalogues as `dlest check` and look-ups read them: values in their
 * ranges, names that can be found again, rules between values, the schema.
 * What reading refuses is a finding of the check, and the other way round.
 * Seeds: tests/fuzz/corpus/catalog. */

#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "catalog/catalog_file.h"
#include "catalog/catalog_scan.h"
#include "catalog/datadir.h"
#include "catalog/validate/rules.h"

/* The schema is parsed for each validation: only some inputs are worth it. */
enum { VALIDATE_EVERY = 8 };

static void check_values(const struct dl_descriptor *e) {
  const struct dl_kind_info *kind = &dl_kinds[e->kind];
  must(e->id != NULL);
  for (size_t i = 0; i < kind->n_fields; i++) {
    const struct dl_field *f = &kind->fields[i];
    double x = dl_field_number(e, f);
    must(isnan(x) || (x >= f->low && x <= f->high));
    const char *text = dl_field_text(e, f);
    must(!text || strlen(text) < 1 << 20);
  }
}

static void check_names(const struct dl_catalog_file *file) {
  for (size_t i = 0; i < file->n; i++) {
    struct dl_text folded = {0};
    dl_fold_name(file->e[i]->kind, file->e[i]->id, &folded);
    must(!folded.s || !*folded.s || dl_catalog_file_find(file, folded.s));
    dl_text_free(&folded);
  }
}

/* A file that was read without findings. */
static void read_again(enum dl_kind kind, const char *text, size_t size,
                       bool valid) {
  struct dl_catalog_file file = {0};
  struct dl_text folded = {0}, cut = {0};
  struct dl_diag d = {0};
  enum dl_status status =
      dl_catalog_file_parse(&file, kind, text, size, "fuzz", &d);
  must((status == DL_OK) == valid && (valid || d.error));
  if (valid && file.n > 0) {
    check_names(&file);
    dl_fold_name(kind, file.e[0]->id, &folded);
    if (folded.s && *folded.s)
      dl_scan_entry(kind, text, folded.s, &cut);
  }
  dl_text_free(&folded);
  dl_text_free(&cut);
  dl_catalog_file_free(&file);
  dl_diag_free(&d);
}

static void no_entry(const struct dl_descriptor *e, void *ctx) {
  (void)e, (void)ctx;
}

/* Whether what is left of the file, read entry by entry, is valid. */
static enum dl_status validate_walk(const char *text, size_t size,
                                    const char *schema) {
  struct dl_findings findings = {0};
  struct dl_catalog_walk walk = {.findings = &findings, .entry = no_entry};
  char path[32];
  struct dl_diag d = {0};
  int fd = memfd_create("catalog", 0);
  must(fd >= 0 && write(fd, text, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  enum dl_status status = dl_catalog_file_walk(&walk, path, &d);
  must(status == DL_OK && walk.n > 0);
  status = dl_xml_validate(walk.xml, schema, &d);
  dl_xml_free(walk.xml);
  dl_findings_free(&findings);
  dl_diag_free(&d);
  close(fd);
  return status;
}

static void check(struct dl_xml *xml, const char *text, size_t size) {
  struct dl_catalog_file file = {0};
  struct dl_findings findings = {0};
  struct dl_diag d = {0};
  enum dl_status status = dl_catalog_file_take(&file, xml, &findings, &d);
  must(status == DL_OK || d.error);
  if (status == DL_OK && file.n > 0) {
    size_t errors = dl_findings_errors(&findings);
    for (size_t i = 0; i < file.n; i++)
      check_values(file.e[i]);
    read_again(file.kind, text, size, errors == 0);
    struct dl_rules names = {0};
    for (size_t i = 0; i < file.n; i++)
      dl_rules_next(&names, file.e[i], &findings);
    dl_rules_free(&names);
    errors = findings.n;
    for (size_t i = 0; i < file.n; i++)
      dl_rules_against(file.e[i], file.e[i], &findings);
    must(findings.n == errors);
    if (size % VALIDATE_EVERY == 0) {
      struct dl_text schema = {0};
      must(dl_shipped_path(dl_kinds[file.kind].schema, &schema, &d) == DL_OK);
      status = dl_xml_validate(file.xml, schema.s, &d);
      must(status == DL_OK || (status == DL_EINPUT && d.error));
      must(status == validate_walk(text, size, schema.s));
      dl_text_free(&schema);
    }
  }
  dl_catalog_file_free(&file);
  dl_findings_free(&findings);
  dl_diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  struct dl_xml *xml;
  struct dl_diag d = {0};
  if (dl_xml_parse(&xml, text, size, "fuzz", NULL, &d) == DL_OK)
    check(xml, text, size);
  else
    must(d.error != NULL);
  dl_diag_free(&d);
  free(text);
  return 0;
}
