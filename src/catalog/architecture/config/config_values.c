/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/config_values.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void dl_config_preset(double *x, double usual) {
  if (isnan(*x))
    *x = usual;
}

double dl_config_number(const dl_json *j, const char *key) {
  struct dl_json_value v = dl_json_get(j, key);
  return v.type == DL_JSON_NUMBER ? v.number : (double)NAN;
}

double dl_config_number_or(const dl_json *j, const char *key,
                           double otherwise) {
  return dl_or(dl_config_number(j, key), otherwise);
}

bool dl_config_has_text(const dl_json *j, const char *key, const char *part) {
  const char *text = dl_json_get(j, key).text;
  return text && strstr(text, part);
}

const char *dl_config_layer_kind(const dl_json *j, size_t i) {
  const char *listed = dl_json_text_at(j, "layer_types", i);
  return listed ? listed : dl_json_text_at(j, "layers_block_type", i);
}

double dl_config_listed(const dl_json *j, const char *kind, double layers) {
  double n = 0;
  const char *is;
  for (size_t i = 0; (double)i < layers && (is = dl_config_layer_kind(j, i));
       i++)
    n += strcmp(is, kind) == 0;
  return n;
}
