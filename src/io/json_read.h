/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading small JSON files, on jansson. */

#ifndef DL_IO_JSON_READ_H
#define DL_IO_JSON_READ_H

#include <stddef.h>

#include "base/diag.h"

/* A value of a file; a member belongs to the value that dl_json_read gave. */
typedef struct json_t dl_json;

enum { DL_JSON_MOST_BYTES = 16 << 20 };

/* Makes jansson allocate memory as dlest does; call it before its other
 * functions. */
void dl_json_setup(void);

/* Reads a file whose value is an object ("-": stdin). DL_EINPUT: too large, not
 * JSON, a key twice, no object. *j is owned by the caller. NaN, Infinity and
 * -Infinity, which Python's json module writes, are empty texts. */
enum dl_status dl_json_read(dl_json **j, const char *path, struct dl_diag *d);

/* Reads JSON from a text; `path` is its name in messages. */
enum dl_status dl_json_parse(dl_json **j, const char *text, size_t len,
                             const char *path, struct dl_diag *d);
void dl_json_free(dl_json *j); /* accepts NULL */

/* Types of a member: absent also stands for null. */
enum dl_json_type {
  DL_JSON_ABSENT,
  DL_JSON_NUMBER,
  DL_JSON_TRUTH, /* true and false, also as the numbers 1 and 0 */
  DL_JSON_TEXT,
  DL_JSON_OTHER
};

/* A member of an object, and its value where it has one of the first types. */
struct dl_json_value {
  enum dl_json_type type;
  double number;    /* NaN: none */
  const char *text; /* NULL: none */
};
struct dl_json_value dl_json_get(const dl_json *object, const char *key);
struct dl_json_value dl_json_value_of(const dl_json *value); /* or of NULL */

/* Returns a member of any kind, or NULL; accepts NULL. */
const dl_json *dl_json_member(const dl_json *object, const char *key);

/* Elements of an array: their number (0: it is none), one, and its value. */
size_t dl_json_size(const dl_json *array);
const dl_json *dl_json_at(const dl_json *array, size_t i);
struct dl_json_value dl_json_value_at(const dl_json *array, size_t i);

/* Counts the members of an object or array, or of one that is a member; 0 where
 * there is none. */
size_t dl_json_members(const dl_json *value);
size_t dl_json_count(const dl_json *object, const char *key);

/* Hands over the members of an object in the order of the file. */
void dl_json_each(const dl_json *object,
                  void (*take)(void *ctx, const char *key,
                               const dl_json *value),
                  void *ctx);

/* Returns element i of an array of texts that is a member, or NULL. */
const char *dl_json_text_at(const dl_json *object, const char *key, size_t i);

#endif
