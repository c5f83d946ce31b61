/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading text by lines. Each text is read from a file and from pipes that
 * give a few bytes at a time: lines, numbers and messages must be the same. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>

#include "base/text.h"
#include "io/lines.h"
#include "unit.h"
#include "tests/messages.h"

#define TEXT(s) s, sizeof(s) - 1
#define BOM "\357\273\277"
#define KIB ((size_t)1024)

/* --- sources */

static const char *put_bytes(const char *text, size_t len) {
  const char *path = temp_path("text");
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
  return path;
}

/* A pipe of packets: each read gives what one write gave. */
struct packets {
  const char *text;
  size_t len, size;
  int fd[2];
  char path[32];
  pthread_t thread;
};

static void *write_packets(void *arg) {
  const struct packets *p = arg;

  for (size_t at = 0; at < p->len; at += p->size) {
    size_t n = p->len - at < p->size ? p->len - at : p->size;
    if (write(p->fd[1], p->text + at, n) != (ssize_t)n)
      break;
  }
  close(p->fd[1]);
  return NULL;
}

static void open_packets(struct packets *p, const char *text, size_t len,
                         size_t size) {
  *p = (struct packets){.text = text, .len = len, .size = size};
  assert_int_equal(pipe2(p->fd, O_DIRECT | O_CLOEXEC), 0);
  snprintf(p->path, sizeof p->path, "/dev/fd/%d", p->fd[0]);
  assert_int_equal(pthread_create(&p->thread, NULL, write_packets, p), 0);
}

static void close_packets(struct packets *p) {
  char rest[4096];

  while (read(p->fd[0], rest, sizeof rest) > 0)
    continue;
  close(p->fd[0]);
  assert_int_equal(pthread_join(p->thread, NULL), 0);
}

/* --- reading */

/* Adds a text without the name of its file. */
static void add_message(struct dl_text *out, const char *kind,
                        const char *message, const char *path) {
  size_t n = strlen(path);

  dl_text_printf(out, "%s %s\n", kind,
                 strncmp(message, path, n) == 0 ? message + n : message);
}

/* All that comes of a file: "NUMBER:LINE" with "..." where no line end
 * followed, then warnings and the error. */
static void read_lines(struct dl_text *out, const char *path) {
  struct dl_lines *l = NULL;
  struct dl_line line = {0};
  struct dl_diag d = {0};

  dl_text_clear(out);
  if (dl_lines_open(&l, path, &d) == DL_OK)
    while (dl_lines_next(l, &line, &d) == DL_OK && line.s) {
      assert_int_equal(strlen(line.s), line.len);
      dl_text_printf(out, "%zu:%s%s\n", line.number, line.s,
                     line.ended ? "" : "...");
      memset(line.s, '#', line.len); /* may be changed */
    }
  for (size_t i = 0; i < d.n_warnings; i++)
    add_message(out, "W", d.warnings[i], path);
  if (d.error)
    add_message(out, "E", d.error, path);
  dl_lines_free(l);
  dl_diag_free(&d);
}

static void assert_lines(const char *text, size_t len, const char *expected) {
  static const size_t sizes[] = {1, 2, 3, 7, 4096};
  struct dl_text out = {0};

  read_lines(&out, put_bytes(text, len));
  assert_string_equal(dl_text_str(&out), expected);
  for (size_t i = 0; i < COUNT(sizes); i++) {
    struct packets p;
    open_packets(&p, text, len, sizes[i]);
    read_lines(&out, p.path);
    close_packets(&p);
    if (strcmp(dl_text_str(&out), expected) != 0)
      fail_msg("packets of %zu bytes: %s", sizes[i], out.s);
  }
  dl_text_free(&out);
}

static void splits(void **state) {
  (void)state;
  assert_lines(TEXT("a\nbc\n"), "1:a\n2:bc\n");
  assert_lines(TEXT("a\r\nbc\r\n"), "1:a\n2:bc\n");
  assert_lines(TEXT("a\r\nbc\nd\r\n"), "1:a\n2:bc\n3:d\n");
  assert_lines(TEXT("a\nbc"), "1:a\n2:bc...\n");
  assert_lines(TEXT("a\nbc\r"), "1:a\n2:bc...\n");
  assert_lines(TEXT("abc"), "1:abc...\n");
  assert_lines(TEXT("\n\na\n\n"), "1:\n2:\n3:a\n4:\n");
  assert_lines(TEXT("\r\n\r\n"), "1:\n2:\n");
  assert_lines(TEXT("\n"), "1:\n");
  assert_lines(TEXT("a\rb\nc\r\r\n"), "1:a\rb\n2:c\r\n");
  assert_lines(TEXT(BOM "a\nb\n"), "1:a\n2:b\n");
  assert_lines(TEXT(BOM "\nb"), "1:\n2:b...\n");
  assert_lines(TEXT("a\n" BOM "b\n"), "1:a\n2:" BOM "b\n");
  assert_lines(TEXT("\303\251,\342\202\254\n"), "1:\303\251,\342\202\254\n");
  assert_lines(TEXT(" \ta\t \n"), "1: \ta\t \n");
}

static void leaves_out_lines_with_nul(void **state) {
  char text[200];
  size_t n = (size_t)snprintf(text, sizeof text, "%0*d\nb?d\nc\n?", 80, 0);
  struct dl_text want = {0};

  (void)state;
  for (size_t i = 0; i < n; i++)
    if (text[i] == '?')
      text[i] = '\0';
  dl_text_printf(&want, "1:%0*d\n3:c\nW :2: NUL byte\nW :4: NUL byte\n", 80, 0);
  assert_lines(text, n, want.s);
  dl_text_free(&want);
}

static void refuses(void **state) {
  static const struct {
    const char *text;
    size_t len;
    const char *expected;
  } cases[] = {
      {TEXT("\x1f\x8b\x08\n\n"),
       "E : " MSG_compressed_pass_through("zcat") "\n"},
      {TEXT("BZh91AY&SY\n\n"),
       "E : " MSG_compressed_pass_through("bzcat") "\n"},
      {TEXT("\xfd"
            "7zXZ\0\0\n\n"),
       "E : " MSG_compressed_pass_through("xzcat") "\n"},
      {TEXT("\x28\xb5\x2f\xfd\n\n"),
       "E : " MSG_compressed_pass_through("zstdcat") "\n"},
      {TEXT("\xff\xfet\0i\0\n\0\n\0"), "E : " MSG_utf_16_text_pass "\n"},
      {TEXT("\xfe\xff\0t\0i\0\n\0\n"), "E : " MSG_utf_16_text_pass "\n"},
      {TEXT("t\0i\0m\0\n\0\n\0"), "E : " MSG_utf_16_text_pass "le\n"},
      {TEXT("\177ELF\2\1\1\0\n\n"), "E : " MSG_not_a_text_file "\n"},
      {TEXT("\211PNG\r\n\032\n"), "E : " MSG_not_a_text_file "\n"},
      {TEXT("\033[1mhello\n\n"), "E : " MSG_not_a_text_file "\n"},
      {TEXT("a\n\0"), "E : " MSG_not_a_text_file "\n"},
      {TEXT(""), "E : " MSG_empty_file "\n"},
      {TEXT(BOM), "E : " MSG_empty_file "\n"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_lines(cases[i].text, cases[i].len, cases[i].expected);
}

static void refuses_what_it_cannot_open(void **state) {
  struct dl_text out = {0};

  (void)state;
  read_lines(&out, temp_dir);
  assert_string_equal(dl_text_str(&out), "E : " MSG_is_a_directory "\n");
  read_lines(&out, temp_path("absent"));
  assert_string_equal(dl_text_str(&out),
                      "E : " MSG_cannot_open("No such file or directory") "\n");
  read_lines(&out, "/dev/null");
  assert_string_equal(dl_text_str(&out), "E : " MSG_empty_file "\n");
  dl_text_free(&out);
  dl_lines_free(NULL);
}

/* A line of n bytes between two others, which must come through. */
static void check_long_line(size_t n, const char *line_end, size_t size) {
  char *text = malloc(n + 16);
  struct dl_text out = {0}, want = {0};
  struct packets p;
  bool fits = n <= DL_LINE_MAX;

  assert_non_null(text);
  memcpy(text, "a\n", 2);
  memset(text + 2, 'x', n);
  size_t len = 2 + n + (size_t)sprintf(text + 2 + n, "%sb\n", line_end);
  dl_text_add(&want, "1:a\n");
  if (fits) {
    dl_text_add(&want, "2:");
    dl_text_add_n(&want, text + 2, n);
    dl_text_add(&want, "\n");
  }
  dl_text_add(&want, "3:b\n");
  if (!fits)
    dl_text_add(&want, "W :2: " MSG_line_longer_than_kib("64") "\n");
  if (size > 0) {
    open_packets(&p, text, len, size);
    read_lines(&out, p.path);
    close_packets(&p);
  } else {
    read_lines(&out, put_bytes(text, len));
  }
  if (strcmp(dl_text_str(&out), dl_text_str(&want)) != 0)
    fail_msg("line of %zu bytes, packets of %zu: %.60s", n, size, out.s);
  free(text);
  dl_text_free(&out);
  dl_text_free(&want);
}

static void bounds_its_lines(void **state) {
  static const size_t lengths[] = {
      DL_LINE_MAX - 1, DL_LINE_MAX,     DL_LINE_MAX + 1,
      DL_LINE_MAX + 2, 2 * DL_LINE_MAX, 192 * KIB,
      256 * KIB - 3,   256 * KIB,       3 * 256 * KIB + 1};

  (void)state;
  for (size_t i = 0; i < COUNT(lengths); i++) {
    check_long_line(lengths[i], "\n", 0);
    check_long_line(lengths[i], "\r\n", 0);
    check_long_line(lengths[i], "\n", 4096);
    check_long_line(lengths[i], "\r\n", 4096);
  }
  /* each place where a read may end: between CR and LF too */
  for (size_t n = DL_LINE_MAX - 2; n <= DL_LINE_MAX + 2; n++) {
    check_long_line(n, "\n", 1);
    check_long_line(n, "\r\n", 1);
  }
}

static void long_last_line(void **state) {
  size_t n = 300 * KIB;
  char *text = malloc(n);
  struct dl_text out = {0};

  (void)state;
  assert_non_null(text);
  memset(text, 'x', n);
  text[1] = '\n';
  read_lines(&out, put_bytes(text, n));
  assert_string_equal(dl_text_str(&out),
                      "1:x\nW :2: line longer than 64 KiB\n");
  dl_text_free(&out);
  free(text);
}

/* Line i of a text, with many lengths. */
static size_t make_line(char *s, size_t i) {
  size_t pad = i % 1000 == 999 ? 9000 : i * 7919 % 97;

  return (size_t)sprintf(s, "%zu,%0*d", i, (int)pad, 0);
}

/* The first line's length moves all the others against the buffers. */
static void lines_across_buffers(void **state) {
  static char text[900 * KIB], want[10 * KIB];
  struct dl_diag d = {0};

  (void)state;
  for (size_t shift = 0; shift < 130; shift++) {
    size_t len = shift, n = 0;
    memset(text, '-', shift);
    text[len++] = '\n';
    for (; len < sizeof text - 10 * KIB; n++) {
      len += make_line(text + len, n);
      text[len++] = '\n';
    }
    struct dl_lines *l;
    struct dl_line line;
    assert_ok(dl_lines_open(&l, put_bytes(text, len), &d), &d);
    assert_ok(dl_lines_next(l, &line, &d), &d);
    assert_int_equal(line.len, shift);
    for (size_t i = 0; i < n; i++) {
      assert_ok(dl_lines_next(l, &line, &d), &d);
      size_t bytes = make_line(want, i);
      if (line.len != bytes || memcmp(line.s, want, bytes + 1) != 0 ||
          line.number != i + 2 || !line.ended)
        fail_msg("shift %zu, line %zu: %.40s", shift, i + 2, line.s);
    }
    assert_ok(dl_lines_next(l, &line, &d), &d);
    assert_null(line.s);
    assert_ok(dl_lines_next(l, &line, &d), &d);
    assert_null(line.s);
    assert_int_equal(l->bytes, len);
    dl_lines_free(l);
  }
}

/* The same from a pipe that delivers a byte at a time. */
static void shows_the_head(void **state) {
  static char text[40 * KIB];
  struct dl_lines *l;
  struct dl_diag d = {0};
  struct packets p;
  size_t n;

  (void)state;
  open_packets(&p, TEXT(BOM "ab\nc\nd\n"), 1);
  assert_ok(dl_lines_open(&l, p.path, &d), &d);
  assert_string_equal(dl_lines_head(l, &n), "ab\nc\nd\n");
  assert_int_equal(n, 7);
  assert_string_equal(l->path, p.path);
  dl_lines_free(l);
  close_packets(&p);

  assert_ok(dl_lines_open(&l, put_file("head", "one line"), &d), &d);
  assert_string_equal(dl_lines_head(l, &n), "one line");
  dl_lines_free(l);

  memset(text, 'x', sizeof text);
  assert_ok(dl_lines_open(&l, put_bytes(text, sizeof text), &d), &d);
  assert_int_equal(strlen(dl_lines_head(l, &n)), 16 * KIB);
  assert_int_equal(n, 16 * KIB);
  assert_int_equal(l->bytes, 16 * KIB);
  dl_lines_free(l);
}

/* The head and the rest as a stream are the file, but for a mark of order; a
 * last line without an end is told. */
static void check_stream(const char *path, const char *text, size_t len) {
  struct dl_diag d = {0};
  struct dl_lines *l;
  char *got = malloc(len + 1);

  assert_non_null(got);
  assert_ok(dl_lines_open(&l, path, &d), &d);
  FILE *f = dl_lines_stream(l);
  assert_non_null(f);
  assert_int_equal(fread(got, 1, len + 1, f), len);
  assert_memory_equal(got, text, len);
  assert_true(feof(f) && !ferror(f));
  size_t lines = 0;
  for (size_t i = 0; i < len; i++)
    lines += text[i] == '\n';
  assert_int_equal(dl_lines_cut(l), text[len - 1] == '\n' ? 0 : lines + 1);
  fclose(f);
  dl_lines_free(l);
  free(got);
}

static void streams(void **state) {
  static const size_t lengths[] = {
      1, 5, 1000, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 600 * KIB};
  static char text[600 * KIB];
  struct packets p;

  (void)state;
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = i % 61 == 60 ? '\n' : (char)('0' + i % 75);
  for (size_t i = 0; i < COUNT(lengths); i++) {
    check_stream(put_bytes(text, lengths[i]), text, lengths[i]);
    open_packets(&p, text, lengths[i], lengths[i] > 20000 ? 4096 : 1);
    check_stream(p.path, text, lengths[i]);
    close_packets(&p);
  }
  check_stream(put_bytes(TEXT(BOM "a,b\n1,2\n")), TEXT("a,b\n1,2\n"));
}

/* Whether a last field ends as those above it: nothing of it is missing. */
static void test_ends(void **state) {
  static const struct {
    const char *s, *above, *other;
    bool like;
  } cases[] = {
      {"100.25 W", "99.50 W", "9.00 W", true},
      {"100.2", "99.50", "9.00", false},
      {"100.25", "99.50", "9.00", true},
      {"100.25", "99.50", "9.5", false},
      {"100.2", "100.2", "9.25", true},
      {"50", "50 %", "5 %", false},
      {"5 %", "50 %", "50 %", true},
      {"7200000", "3600000", NULL, true},
      {"720000", "3600000", NULL, false},
      {"10:00:1", "10:00:09", NULL, false},
      {"10:00:10", "9:00:09", NULL, true},
      {"COMPLETED", "COMPLETED", NULL, true},
      {"FAILED", "COMPLETED", "FAILED", true},
      {"FAIL", "COMPLETED", "FAILED", false},
      {"100.25", "99.50", "watts", true},
      {"", "", NULL, true},
      {"", "1", NULL, false},
      {"cpu=2,node=1", "cpu=16,node=2", NULL, true},
      {"cpu=2,node=1", "cpu=16,node=12", NULL, false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (dl_ends_like(cases[i].s, cases[i].above, cases[i].other) !=
        cases[i].like)
      fail_msg("'%s' below '%s'", cases[i].s, cases[i].above);
}

static void test_whole_lines(void **state) {
  dl_lines_above a = {0};
  (void)state;
  assert_false(dl_line_is_whole(a, "1,2"));
  dl_lines_above_add(a, "time,watts", 10);
  assert_false(dl_line_is_whole(a, "1,2"));
  dl_lines_above_add(a, "0,2.50", 6);
  assert_true(dl_line_is_whole(a, "1,7.50"));
  dl_lines_above_add(a, "1,2.50", 6);
  assert_true(dl_line_is_whole(a, "2,7.50"));
  assert_false(dl_line_is_whole(a, "2,7.5"));
  assert_false(dl_line_is_whole(a, "2.50"));
  assert_false(dl_line_is_whole(a, "2,7.50,"));
  dl_lines_above_add(a, "  0   61   40", 13);
  dl_lines_above_add(a, "  0   62   41", 13);
  assert_true(dl_line_is_whole(a, "  0  162   42"));
  assert_false(dl_line_is_whole(a, "  0  162"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_whole_lines),
      cmocka_unit_test(splits),
      cmocka_unit_test(leaves_out_lines_with_nul),
      cmocka_unit_test(refuses),
      cmocka_unit_test(refuses_what_it_cannot_open),
      cmocka_unit_test(bounds_its_lines),
      cmocka_unit_test(long_last_line),
      cmocka_unit_test(lines_across_buffers),
      cmocka_unit_test(shows_the_head),
      cmocka_unit_test(streams),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
