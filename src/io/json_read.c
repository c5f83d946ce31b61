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

static bool is_among(char c, const char *set) {
  return c != '\0' && strchr(set, c);
}

/* Returns the length of NaN, Infinity or -Infinity at p, if it stands for a
 * value; else 0. */
static size_t no_number(const char *text, const char *p, const char *end) {
  static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
  const char *before = p, *after;
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(words) && n == 0; i++) {
    size_t len = strlen(words[i]);
    if ((size_t)(end - p) > len && memcmp(p, words[i], len) == 0)
      n = len;
  }
  if (n == 0)
    return 0;
  while (before > text && is_among(before[-1], " \t\r\n"))
    before--;
  for (after = p + n; after < end && is_among(*after, " \t\r\n");)
    after++;
  return before > text && is_among(before[-1], ":[,") && after < end &&
                 is_among(*after, ",]}")
             ? n
             : 0;
}

/* Replaces each of these words by an empty text of its length. */
static void take_out_no_numbers(char *text, size_t len) {
  const char *end = text + len;
  bool quoted = false;
  for (char *p = text; p < end; p++) {
    size_t n = !quoted && is_among(*p, "NI-") ? no_number(text, p, end) : 0;
    if (n > 0) {
      memset(p, ' ', n);
      p[0] = p[1] = '"';
      p += n - 1;
    } else if (quoted && *p == '\\') {
      p++;
    } else if (*p == '"') {
      quoted = !quoted;
    }
  }
}

enum dl_status dl_json_parse(dl_json **j, const char *text, size_t len,
                             const char *path, struct dl_diag *d) {
  json_error_t e;
  if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
    text += 3;
    len -= 3;
  }
  DL_FREED char *own = dl_malloc(len + 1);
  memcpy(own, text, len);
  take_out_no_numbers(own, len);
  *j = json_loadb(own, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
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

struct dl_json_value dl_json_value_of(const dl_json *v) {
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
  return dl_json_value_of(json_object_get(object, key));
}

struct dl_json_value dl_json_value_at(const dl_json *array, size_t i) {
  return dl_json_value_of(json_array_get(array, i));
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

size_t dl_json_members(const dl_json *value) {
  return json_is_array(value) ? json_array_size(value)
                              : json_object_size(value);
}

size_t dl_json_count(const dl_json *object, const char *key) {
  return dl_json_members(json_object_get(object, key));
}

const char *dl_json_text_at(const dl_json *object, const char *key, size_t i) {
  return json_string_value(json_array_get(json_object_get(object, key), i));
}

void dl_json_each(const dl_json *object,
                  void (*take)(void *ctx, const char *key,
                               const dl_json *value),
                  void *ctx) {
  const char *key;
  const json_t *value;
  json_object_foreach((json_t *)object, key, value) take(ctx, key, value);
}
