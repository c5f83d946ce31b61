/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the reader of config.json files of model hubs. What is accepted is one
 * architecture with a shape whose parameters are counted. Seeds:
 * tests/fuzz/corpus/config. */

#include "fuzz.h"

#include "catalog/architecture/config/from_config.h"
#include "catalog/architecture/transformer.h"
#include "catalog/descriptor_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dl_catalog_file file = {0};
  struct dl_diag d = {0};
  dl_json *j = NULL;
  enum dl_status status =
      dl_json_parse(&j, (const char *)data, size, "config.json", &d);
  if (status == DL_OK)
    status = dl_config_take(&file, j, "config.json", NULL, NULL, &d);
  must((status == DL_OK) == !d.error);
  if (status == DL_OK) {
    must(file.n == 1);
    const struct dl_transformer *t =
        DL_AS(architecture, file.e[0])->transformer;
    must(t && dl_transformer_params(t) > 0);
  }
  dl_catalog_file_free(&file);
  dl_json_free(j);
  dl_diag_free(&d);
  return 0;
}
