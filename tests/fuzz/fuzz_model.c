/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the reader of model files, and with it XML, formulas and the states
 * of regressions. What can be read can be written and read again. Seeds:
 * models.
 *
 *   clang -std=gnu17 -D_GNU_SOURCE -DPACKAGE_VERSION='"0"' -g -O1 -Isrc
 *     -I_build $(pkg-config --cflags libxml-2.0)
 *     -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_model.c
 *     src/base/[!z]*.c src/io/xml.c src/math/[!z]*.c
 *     src/model/{model,file,load,formula,evaluate}.c
 *     -lgsl -lgslcblas -lxml2 -lm */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "run/formula/formula.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_formula(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  struct dl_formula *f;
  struct dl_diag d = {0};
  if (!text)
    abort();
  for (size_t i = 0; i < size; i++)
    text[i] = (char)data[i];
  text[size] = '\0';
  if (dl_formula_parse(&f, text, &d) == DL_OK) {
    size_t n = f->n_vars;
    struct dl_cell *cells = calloc(n + 1, sizeof *cells);
    struct dl_row_ref *vars = calloc(n + 1, sizeof *vars);
    const struct dl_row row = {.cell = cells};
    if (!cells || !vars)
      abort();
    for (size_t i = 0; i < n; i++)
      vars[i].at = i;
    dl_formula_eval(f, vars, &row);
    free(cells);
    free(vars);
  }
  dl_formula_free(f);
  dl_diag_free(&d);
  free(text);
}

static void read_again(const struct dl_model *m) {
  char path[] = "/tmp/fuzz-model-XXXXXX";
  struct dl_model *again;
  struct dl_diag d = {0};
  int fd = mkstemp(path);
  if (fd < 0)
    return;
  close(fd);
  if (dl_model_write(m, path, &d) == DL_OK &&
      dl_model_read(&again, path, NULL, &d) == DL_OK)
    dl_model_free(again);
  else if (d.status == DL_OK)
    abort();
  unlink(path);
  dl_diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dl_model *m;
  struct dl_diag d = {0};
  char path[64];
  gsl_set_error_handler_off();
  if (size < 256)
    read_formula(data, size);
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (dl_model_read(&m, path, NULL, &d) == DL_OK) {
    read_again(m);
    dl_model_free(m);
  }
  dl_diag_free(&d);
  close(fd);
  return 0;
}
