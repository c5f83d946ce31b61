/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several unit tests share: a directory for temporary files, the data
 * that ship, checks of diagnostics. Include after cmocka.h. */

#ifndef DL_TESTS_UNIT_H
#define DL_TESTS_UNIT_H

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define UNUSED __attribute__((unused))

/* Room for a path. */
enum { PATH_SIZE = 512 };

/* A file of the source tree; the result lives until the next call. */
static UNUSED const char *in_tree(const char *name) {
  static char path[PATH_SIZE];
  const char *top = getenv("TOP_SRCDIR");

  snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
  return path;
}

/* The directory for temporary files, as a group's set-up and tear-down. */
static char temp_dir[] = "/tmp/dlest-test-XXXXXX";

static UNUSED int make_temp_dir(void **state) {
  (void)state;
  return mkdtemp(temp_dir) ? 0 : -1;
}

static UNUSED size_t files_in_temp_dir(void) {
  size_t n = 0;
  DIR *dir = opendir(temp_dir);

  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;)
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(dir);
  return n;
}

static UNUSED int remove_temp_dir(void **state) {
  DIR *dir = opendir(temp_dir);
  char path[PATH_SIZE];

  (void)state;
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", temp_dir, e->d_name);
    unlink(path);
  }
  if (dir)
    closedir(dir);
  return rmdir(temp_dir);
}

/* Path of a temporary file; lives until the next call but three. */
static UNUSED const char *temp_path(const char *name) {
  static char path[4][PATH_SIZE];
  static size_t i;
  char *p = path[i++ % 4];

  snprintf(p, PATH_SIZE, "%s/%s", temp_dir, name);
  return p;
}

/* Writes a temporary file and returns its path. */
static UNUSED const char *put_file(const char *name, const char *text) {
  const char *path = temp_path(name);
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
  return path;
}

/* The whole of a file, to be freed. */
static UNUSED char *get_file(const char *path) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *s = calloc(1, 1 << 20);
  assert_non_null(s);
  size_t n = fread(s, 1, (1 << 20) - 1, f);
  s[n] = '\0';
  fclose(f);
  return s;
}

/* Checks that d holds this error and clears it. */
static UNUSED void assert_error(struct dl_diag *d, enum dl_status status,
                                const char *text) {
  assert_int_equal(d->status, status);
  assert_non_null(d->error);
  assert_string_equal(d->error, text);
  dl_diag_free(d);
}

/* The same for an error that contains the text. */
static UNUSED void assert_error_has(struct dl_diag *d, enum dl_status status,
                                    const char *text) {
  assert_int_equal(d->status, status);
  assert_non_null(d->error);
  if (!strstr(d->error, text))
    fail_msg("no \"%s\" in \"%s\"", text, d->error);
  dl_diag_free(d);
}

/* Checks that all went well. */
static UNUSED void assert_ok(enum dl_status status, const struct dl_diag *d) {
  if (status != DL_OK || d->status != DL_OK)
    fail_msg("status %d: %s", (int)status, d->error ? d->error : "no error");
}

/* |got - want| <= share * |want|. */
static UNUSED void assert_near(double got, double want, double share) {
  if (!(fabs(got - want) <= share * fabs(want)))
    fail_msg("got %.17g, want %.17g", got, want);
}

#endif
