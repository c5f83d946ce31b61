/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear whole or not at all. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "unit.h"
#include "tests/messages.h"

static void appears_on_commit(void **state) {
  struct dl_diag d = {0};
  struct dl_output o;

  (void)state;
  const char *path = put_file("out", "old");
  assert_ok(dl_output_open(&o, path, false, &d), &d);
  fputs("new text", o.f);
  fflush(o.f);
  char *before = get_file(path);
  assert_string_equal(before, "old");
  assert_int_equal(files_in_temp_dir(), 2);
  assert_ok(dl_output_commit(&o, &d), &d);
  char *after = get_file(path);
  assert_string_equal(after, "new text");
  assert_int_equal(files_in_temp_dir(), 1);
  dl_output_discard(&o);
  assert_int_equal(files_in_temp_dir(), 1);
  unlink(path);
  free(before);
  free(after);
}

static void leaves_nothing_when_discarded(void **state) {
  struct dl_diag d = {0};
  struct dl_output o, zero = {0};

  (void)state;
  const char *path = temp_path("out");
  assert_ok(dl_output_open(&o, path, false, &d), &d);
  fputs("new text", o.f);
  dl_output_discard(&o);
  assert_int_equal(files_in_temp_dir(), 0);
  dl_output_discard(&o);
  dl_output_discard(&zero);
}

static void has_usual_permissions(void **state) {
  struct dl_diag d = {0};
  struct dl_output o;
  struct stat st;

  (void)state;
  const char *path = temp_path("out");
  mode_t old = umask(027);
  assert_ok(dl_output_open(&o, path, false, &d), &d);
  assert_ok(dl_output_commit(&o, &d), &d);
  assert_int_equal(umask(old), 027);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
  unlink(path);
}

static void refuses_missing_directory(void **state) {
  struct dl_diag d = {0};
  struct dl_output o;
  char expected[PATH_SIZE + 64];

  (void)state;
  const char *path = temp_path("no/such/file");
  snprintf(expected, sizeof expected,
           "%s: cannot write: No such file or directory", path);
  assert_int_equal(dl_output_open(&o, path, false, &d), DL_EFAILED);
  assert_error(&d, DL_EFAILED, expected);
  assert_null(o.f);
}

/* A full device shows at the commit at the latest. */
static void notices_full_device(void **state) {
  struct dl_diag d = {0};
  struct dl_output o;

  (void)state;
  if (access("/dev/full", W_OK) != 0)
    skip();
  assert_ok(dl_output_open(&o, "/dev/full", false, &d), &d);
  fputs("text", o.f);
  assert_int_equal(dl_output_commit(&o, &d), DL_EFAILED);
  assert_error(&d, DL_EFAILED,
               "/dev/full: " MSG_cannot_write("No space left on device"));
  assert_int_equal(access("/dev/full", F_OK), 0);
}

/* Runs `use` with stdout in a file and returns what it wrote. */
static char *stdout_of(void (*use)(struct dl_diag *d), struct dl_diag *d) {
  const char *path = temp_path("stdout");

  fflush(stdout);
  int saved = dup(STDOUT_FILENO);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(saved >= 0 && fd >= 0);
  dup2(fd, STDOUT_FILENO);
  close(fd);
  use(d);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  char *text = get_file(path);
  unlink(path);
  return text;
}

static void use_spooled(struct dl_diag *d) {
  struct dl_output o;

  dl_output_open(&o, NULL, true, d);
  fputs("dropped ", o.f);
  dl_output_discard(&o);
  dl_output_open(&o, "-", true, d);
  fputs("behind", o.f);
  fputs("before ", stdout);
  dl_output_commit(&o, d);
}

static void use_stdout(struct dl_diag *d) {
  struct dl_output o;

  dl_output_open(&o, "-", false, d);
  fputs("at once", o.f);
  dl_output_commit(&o, d);
}

static void spools_stdout(void **state) {
  struct dl_diag d = {0};

  (void)state;
  char *text = stdout_of(use_spooled, &d);
  assert_ok(DL_OK, &d);
  assert_string_equal(text, "before behind");
  free(text);
  text = stdout_of(use_stdout, &d);
  assert_ok(DL_OK, &d);
  assert_string_equal(text, "at once");
  free(text);
}

static void reads_all(void **state) {
  struct dl_diag d = {0};
  char *data;
  size_t len;

  (void)state;
  const char *path = put_file("in", "0123456789");
  assert_ok(dl_read_file(path, 10, &data, &len, &d), &d);
  assert_int_equal(len, 10);
  assert_string_equal(data, "0123456789");
  free(data);
  path = put_file("in", "");
  assert_ok(dl_read_file(path, 10, &data, &len, &d), &d);
  assert_int_equal(len, 0);
  assert_string_equal(data, "");
  free(data);
  unlink(path);
}

static void bounds_what_it_reads(void **state) {
  struct dl_diag d = {0};
  char expected[PATH_SIZE + 64];
  char *data;
  size_t len;

  (void)state;
  const char *path = put_file("in", "0123456789");
  snprintf(expected, sizeof expected, "%s: larger than the 9 bytes allowed",
           path);
  assert_int_equal(dl_read_file(path, 9, &data, &len, &d), DL_EINPUT);
  assert_error(&d, DL_EINPUT, expected);
  assert_null(data);
  unlink(path);
  assert_int_equal(dl_read_file("/dev/zero", 1 << 20, &data, &len, &d),
                   DL_EINPUT);
  assert_error(&d, DL_EINPUT,
               "/dev/zero: " MSG_larger_than_bytes_allowed("1048576"));
}

static void refuses_to_read(void **state) {
  struct dl_diag d = {0};
  char expected[PATH_SIZE + 64];
  FILE *f;

  (void)state;
  snprintf(expected, sizeof expected, "%s: is a directory", temp_dir);
  assert_int_equal(dl_open_input(&f, temp_dir, &d), DL_EINPUT);
  assert_error(&d, DL_EINPUT, expected);
  assert_null(f);
  const char *path = temp_path("absent");
  snprintf(expected, sizeof expected,
           "%s: cannot open: No such file or directory", path);
  assert_int_equal(dl_open_input(&f, path, &d), DL_EFAILED);
  assert_error(&d, DL_EFAILED, expected);
  assert_null(f);
  dl_close_input(NULL);
  assert_ok(dl_open_input(&f, "-", &d), &d);
  assert_ptr_equal(f, stdin);
  dl_close_input(f);
  assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appears_on_commit),
      cmocka_unit_test(leaves_nothing_when_discarded),
      cmocka_unit_test(has_usual_permissions),
      cmocka_unit_test(refuses_missing_directory),
      cmocka_unit_test(notices_full_device),
      cmocka_unit_test(spools_stdout),
      cmocka_unit_test(reads_all),
      cmocka_unit_test(bounds_what_it_reads),
      cmocka_unit_test(refuses_to_read),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
