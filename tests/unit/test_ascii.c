/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of ASCII text: against the C locale's functions. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"

static void test_kinds(void **state) {
  (void)state;
  for (int c = 0; c < 256; c++) {
    char x = (char)c;
    assert_int_equal(dl_is_digit(x), isdigit(c) != 0);
    assert_int_equal(dl_is_alpha(x), isalpha(c) != 0);
    assert_int_equal(dl_is_alnum(x), isalnum(c) != 0);
    assert_int_equal(dl_is_space(x), isspace(c) != 0);
    assert_int_equal(dl_is_upper(x), isupper(c) != 0);
    assert_int_equal(dl_is_lower(x), islower(c) != 0);
    assert_int_equal(dl_is_control(x), iscntrl(c) != 0);
    assert_int_equal((unsigned char)dl_lower(x), tolower(c));
    assert_int_equal((unsigned char)dl_upper(x), toupper(c));
  }
}

static int sign(int x) {
  return (x > 0) - (x < 0);
}

static void test_compare(void **state) {
  static const char *const words[] = {"",       "a",  "A",         "b", "ab",
                                      "AB",     "aC", "inference", "INFERENCE",
                                      "infer_", "_",  "\xc4\xb0", "\xff"};
  enum { N = sizeof words / sizeof *words };
  (void)state;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      assert_int_equal(sign(dl_strcasecmp(words[i], words[j])),
                       sign(strcasecmp(words[i], words[j])));
      for (size_t n = 0; n < 4; n++)
        assert_int_equal(sign(dl_strncasecmp(words[i], words[j], n)),
                         sign(strncasecmp(words[i], words[j], n)));
    }
}

static void test_find(void **state) {
  static const char text[] = "User|JobID|State";
  (void)state;
  assert_ptr_equal(dl_strcasestr(text, "jobid"), text + 5);
  assert_ptr_equal(dl_strcasestr(text, "STATE"), text + 11);
  assert_ptr_equal(dl_strcasestr(text, ""), text);
  assert_null(dl_strcasestr(text, "states"));
  assert_null(dl_strcasestr("", "x"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_compare),
      cmocka_unit_test(test_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
