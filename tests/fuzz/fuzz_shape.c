/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the shapes of transformers ("layers=32,hidden=4096,..."). What is
 * accepted has finite counts that do not contradict each other. Seeds:
 * tests/fuzz/corpus/shape. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalog/architecture/transformer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds) {
  if (!holds)
    abort();
}

static void check(const struct dl_transformer *t) {
  double params = dl_transformer_params(t);
  double active = dl_transformer_active_params(t);
  struct dl_pass one = dl_transformer_pass(t, 1);
  struct dl_pass most = dl_transformer_pass(t, 1e9);
  struct dl_decoding step = dl_transformer_decoding(t, 1e9);
  struct dl_text words = {0};
  expect(isfinite(params) && params > 0 && params <= 1e15);
  expect(active > 0 && active <= params);
  expect(dl_transformer_embedding_params(t) < params);
  if (dl_transformer_writes(t)) {
    double read = dl_transformer_step_params(t, 1);
    expect(read > 0 && read <= params);
  }
  expect(one.macs > 0 && one.attention_macs < one.macs);
  expect(isfinite(most.macs) && most.macs > one.macs);
  expect(isfinite(most.acts) && most.acts > one.acts);
  expect(isfinite(step.macs) && isfinite(step.kept));
  expect(dl_transformer_launches(t) > dl_transformer_dense(t));
  dl_transformer_describe(t, &words);
  dl_text_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dl_transformer t;
  struct dl_diag d = {0};
  char *text = malloc(size + 1);
  if (!text)
    abort();
  memcpy(text, data, size);
  text[size] = '\0';
  if (dl_transformer_parse(&t, text, "arch", 1, &d) == DL_OK)
    check(&t);
  else
    expect(d.error != NULL);
  dl_diag_free(&d);
  free(text);
  return 0;
}
