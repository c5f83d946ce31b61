/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable texts, lists of strings, memory, interned strings and records. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "unit.h"

static void text_grows(void **state) {
  struct dl_text t = {0};

  (void)state;
  assert_string_equal(dl_text_str(&t), "");
  for (int i = 0; i < 1000; i++)
    dl_text_printf(&t, "%03d,", i);
  assert_int_equal(t.len, 4000);
  assert_int_equal(strlen(t.s), 4000);
  assert_memory_equal(t.s + 4 * 517, "517,", 4);
  dl_text_clear(&t);
  assert_int_equal(t.len, 0);
  assert_string_equal(dl_text_str(&t), "");
  dl_text_add(&t, "ab");
  dl_text_add_n(&t, "cdef", 2);
  dl_text_add_n(&t, "", 0);
  dl_text_add(&t, "");
  assert_string_equal(t.s, "abcd");
  dl_text_free(&t);
  assert_null(t.s);
  dl_text_free(&t);
}

static void adding_nothing_makes_a_text(void **state) {
  struct dl_text t = {0};

  (void)state;
  dl_text_add_n(&t, NULL, 0);
  assert_non_null(t.s);
  assert_string_equal(t.s, "");
  dl_text_free(&t);
}

static void lists(void **state) {
  struct dl_strlist l = {0};

  (void)state;
  assert_int_equal(dl_strlist_find(&l, "a"), -1);
  char name[] = "a";
  dl_strlist_add(&l, name);
  name[0] = 'b'; /* it keeps a copy */
  dl_strlist_add(&l, name);
  dl_strlist_add(&l, "b");
  assert_int_equal(l.n, 3);
  assert_int_equal(dl_strlist_find(&l, "a"), 0);
  assert_int_equal(dl_strlist_find(&l, "b"), 1);
  assert_int_equal(dl_strlist_find(&l, "A"), -1);
  dl_strlist_free(&l);
  assert_int_equal(l.n, 0);
  assert_null(l.s);
}

static void splits(void **state) {
  static const struct {
    const char *text;
    char separator;
    const char *parts[5];
  } cases[] = {
      {"", ',', {""}},
      {"a", ',', {"a"}},
      {" a , b\t,\nc ", ',', {"a", "b", "c"}},
      {",a,", ',', {"", "a", ""}},
      {"min(a,b),c", ',', {"min(a,b)", "c"}},
      {"max(min(a,b),c),d", ',', {"max(min(a,b),c)", "d"}},
      {"`a,b`,c", ',', {"`a,b`", "c"}},
      {"`a(b`,c", ',', {"`a(b`", "c"}},
      {"a b,c", ',', {"a b", "c"}},
      {"a;b,c", ';', {"a", "b,c"}},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_strlist l = {0};
    size_t n = 0;

    dl_strlist_split(&l, cases[i].text, cases[i].separator);
    while (n < COUNT(cases[i].parts) && cases[i].parts[n])
      n++;
    assert_int_equal(l.n, n);
    for (size_t k = 0; k < n; k++)
      assert_string_equal(l.s[k], cases[i].parts[k]);
    dl_strlist_free(&l);
  }
}

static void split_appends(void **state) {
  struct dl_strlist l = {0};

  (void)state;
  dl_strlist_split(&l, "a,b", ',');
  dl_strlist_split(&l, "c", ',');
  assert_int_equal(l.n, 3);
  assert_string_equal(l.s[2], "c");
  dl_strlist_free(&l);
}

static void memory_is_zeroed(void **state) {
  double *x = dl_calloc(5, sizeof *x);
  void *none = dl_calloc(0, sizeof *x);

  (void)state;
  assert_non_null(x);
  for (size_t i = 0; i < 5; i++)
    assert_true(x[i] == 0);
  assert_non_null(none);
  free(x);
  free(none);
}

static void copies_strings(void **state) {
  char *a = dl_strdup("abc"), *b = dl_strndup("abcdef", 4);
  char *c = dl_strndup("ab", 100);

  (void)state;
  assert_string_equal(a, "abc");
  assert_string_equal(b, "abcd");
  assert_string_equal(c, "ab");
  free(a);
  free(b);
  free(c);
}

static void arrays_grow(void **state) {
  size_t *array = NULL;
  size_t cap = 0;

  (void)state;
  DL_GROW(array, cap, 0);
  assert_int_equal(cap, 0);
  for (size_t want = 1; want <= 1000; want++) {
    size_t before = cap;
    DL_GROW(array, cap, want);
    assert_true(cap >= want);
    assert_true(cap == before || cap >= 2 * before);
    array[want - 1] = want;
  }
  for (size_t i = 0; i < 1000; i++)
    assert_int_equal(array[i], i + 1);
  free(array);
}

/* Sizes that no memory holds: the sums must not wrap. The program ends. */
static void growth_is_checked(void **state) {
  static const size_t wants[][2] = {{SIZE_MAX, 1}, {SIZE_MAX / 8 + 2, 8}};
  (void)state;
  for (size_t i = 0; i < DL_LENGTH(wants); i++) {
    int messages[2], status = -1;
    char said[64] = "";
    assert_int_equal(pipe(messages), 0);
    pid_t child = fork();
    if (child < 0)
      skip(); /* there are no processes */
    if (child == 0) {
      size_t cap = 0;
      dup2(messages[1], STDERR_FILENO);
      free(dl_grown(NULL, &cap, wants[i][0], wants[i][1]));
      _exit(0);
    }
    close(messages[1]);
    assert_true(read(messages[0], said, sizeof said - 1) > 0);
    close(messages[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
#ifndef __SANITIZE_ADDRESS__ /* it aborts on such sizes with its own text */
    assert_string_equal(said, "dlest: out of memory\n");
    assert_int_equal(WEXITSTATUS(status), DL_EFAILED);
#endif
    assert_int_not_equal(status, 0);
  }
}

static void interns(void **state) {
  struct dl_intern t = {0};
  char name[32];

  (void)state;
  assert_int_equal(dl_intern_find(&t, "none"), -1);
  for (long i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "name %ld", i);
    assert_int_equal(dl_intern(&t, name), i);
  }
  for (long i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "name %ld", i);
    assert_int_equal(dl_intern(&t, name), i);
    assert_int_equal(dl_intern_find(&t, name), i);
    assert_string_equal(t.s[i], name);
  }
  assert_int_equal(t.n, 5000);
  assert_int_equal(dl_intern_find(&t, "name"), -1);
  assert_int_equal(dl_intern(&t, ""), 5000);
  assert_int_equal(dl_intern_find(&t, ""), 5000);
  dl_intern_free(&t);
  assert_int_equal(t.n, 0);
  dl_intern_free(&t);
}

/* Squares modulo 101 have (101 + 1) / 2 values, and i and 101 - i the same. */
static void equal_records_get_the_same_number(void **state) {
  struct dl_intern t = {.size = sizeof(uint64_t)};
  size_t number[101], n = 0;

  (void)state;
  for (uint64_t i = 0; i < 101; i++) {
    uint64_t square = i * i % 101;
    number[i] = (size_t)dl_intern(&t, &square);
    if (number[i] == n)
      n++;
  }
  assert_int_equal(t.n, 51);
  assert_int_equal(n, 51);
  for (uint64_t i = 1; i < 101; i++) {
    uint64_t square = i * i % 101;
    assert_int_equal(number[i], number[101 - i]);
    assert_memory_equal(t.s[number[i]], &square, sizeof square);
  }
  dl_intern_free(&t);
  assert_null(t.s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_grows),
      cmocka_unit_test(adding_nothing_makes_a_text),
      cmocka_unit_test(lists),
      cmocka_unit_test(splits),
      cmocka_unit_test(split_appends),
      cmocka_unit_test(memory_is_zeroed),
      cmocka_unit_test(copies_strings),
      cmocka_unit_test(arrays_grow),
      cmocka_unit_test(growth_is_checked),
      cmocka_unit_test(interns),
      cmocka_unit_test(equal_records_get_the_same_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
