/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"

void dl_json_setup(void) {
  json_set_alloc_funcs(dl_malloc, free);
}

enum dl_status dl_json_parse(dl_json **j, const char *text, size_t len,
                             const char *path, struct dl_diag *d) {
  json_error_t e;
  if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
    text += 3;
    len -= 3;
  }
  *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
                  &e);
  if (!*j)
    return dl_fail_at(d, DL_EINPUT, path, e.line > 0 ? (size_t)e.line : 0,
                      "not valid JSON: %s", e.text);
  if (json_is_object(*j))
    return DL_OK;
  json_decref(*j);
  *j = NULL;
  return dl_fail_at(d, DL_EINPUT, path, 0, "JSON, but not an object");
}

enum dl_status dl_json_read(dl_json **j, const char *path, struct dl_diag *d) {
  DL_FREED char *text = NULL;
  size_t len;
  enum dl_status status =
      dl_read_file(path, DL_JSON_MOST_BYTES, &text, &len, d);
  *j = NULL;
  if (status == DL_OK)
    status = dl_json_parse(j, text, len, path, d);
  return status;
}

void dl_json_free(dl_json *j) {
  json_decref(j);
}

static struct dl_json_value value_of(const json_t *v) {
  struct dl_json_value x = {DL_JSON_OTHER, NAN, NULL};
  if (!v || json_is_null(v))
    x.type = DL_JSON_ABSENT;
  else if (json_is_string(v))
    x = (struct dl_json_value){DL_JSON_TEXT, NAN, json_string_value(v)};
  else if (json_is_boolean(v))
    x = (struct dl_json_value){DL_JSON_TRUTH, json_is_true(v), NULL};
  else if (json_is_number(v))
    x = (struct dl_json_value){DL_JSON_NUMBER, json_number_value(v), NULL};
  return x;
}

struct dl_json_value dl_json_get(const dl_json *object, const char *key) {
  return value_of(json_object_get(object, key));
}

struct dl_json_value dl_json_value_at(const dl_json *array, size_t i) {
  return value_of(json_array_get(array, i));
}

const dl_json *dl_json_member(const dl_json *object, const char *key) {
  return json_object_get(object, key);
}

size_t dl_json_size(const dl_json *array) {
  return json_array_size(array);
}

const dl_json *dl_json_at(const dl_json *array, size_t i) {
  return json_array_get(array, i);
}

size_t dl_json_count(const dl_json *object, const char *key) {
  const json_t *v = json_object_get(object, key);
  return json_is_array(v) ? json_array_size(v) : json_object_size(v);
}

const char *dl_json_text_at(const dl_json *object, const char *key, size_t i) {
  return json_string_value(json_array_get(json_object_get(object, key), i));
}
