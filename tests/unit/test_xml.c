/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading, validating and writing XML. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "io/xml.h"
#include "unit.h"
#include "tests/messages.h"

#define SCHEMA                                                                 \
  "<grammar xmlns='http://relaxng.org/ns/structure/1.0' "                      \
  "datatypeLibrary='http://www.w3.org/2001/XMLSchema-datatypes'>"              \
  "<start><element name='list'><oneOrMore><element name='n'>"                  \
  "<data type='double'/></element></oneOrMore></element></start></grammar>"

static struct dl_diag d;

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

static struct dl_xml *read_text(const char *text) {
  struct dl_xml *x;

  assert_ok(dl_xml_read(&x, put_file("t.xml", text), NULL, &d), &d);
  return x;
}

/* The message behind "PATH". */
static void refused(const char *text, const char *schema,
                    const char *expected) {
  struct dl_xml *x;
  const char *path = put_file("t.xml", text);

  enum dl_status status = dl_xml_read(&x, path, NULL, &d);
  assert_true(x || status == DL_EINPUT);
  if (x && schema)
    dl_xml_validate(x, schema, &d);
  dl_xml_free(x);
  assert_int_equal(d.status, DL_EINPUT);
  assert_memory_equal(d.error, path, strlen(path));
  const char *rest = d.error + strlen(path);
  if (strncmp(rest, expected, strlen(expected)) != 0)
    fail_msg("expected \"%s\", got \"%s\"", expected, rest);
  dl_diag_free(&d);
}

static void walks(void **state) {
  struct dl_xml *x = read_text("<?xml version='1.0'?>\n<!-- c -->\n<r>\n"
                               "  text <a i='1'/>\n  <b/>\n<?pi?>\n"
                               "  <a i='2'>x</a></r>");
  dl_node *r = dl_xml_root(x);

  (void)state;
  assert_string_equal(dl_xml_name(r), "r");
  assert_int_equal(dl_xml_line(r), 3);
  dl_node *a = dl_xml_first(r, "a");
  assert_string_equal(dl_xml_attr(a, "i"), "1");
  assert_null(dl_xml_attr(a, "j"));
  assert_int_equal(dl_xml_line(a), 4);
  assert_string_equal(dl_xml_text(a), "");
  assert_string_equal(dl_xml_name(dl_xml_next(a, NULL)), "b");
  dl_node *second = dl_xml_next(a, "a");
  assert_string_equal(dl_xml_attr(second, "i"), "2");
  assert_string_equal(dl_xml_text(second), "x");
  assert_null(dl_xml_next(second, "a"));
  assert_null(dl_xml_first(r, "c"));
  assert_null(dl_xml_first(second, NULL));
  assert_ptr_equal(dl_xml_first(r, NULL), a);
  dl_xml_free(x);
  dl_xml_free(NULL);
}

/* References to characters, CDATA and comments leave one text. */
static void text_is_whole(void **state) {
  struct dl_xml *x =
      read_text("<r a='&lt;&amp;&#65;&#x42;&quot;'><t>1<!-- c -->5</t>"
                "<t>a<![CDATA[<&>]]>b&amp;&#67;</t><t>x<?pi?>y</t></r>");
  dl_node *t = dl_xml_first(dl_xml_root(x), "t");

  (void)state;
  assert_string_equal(dl_xml_attr(dl_xml_root(x), "a"), "<&AB\"");
  assert_string_equal(dl_xml_text(t), "15");
  t = dl_xml_next(t, "t");
  assert_string_equal(dl_xml_text(t), "a<&>b&C");
  t = dl_xml_next(t, "t");
  assert_string_equal(dl_xml_text(t), "xy");
  dl_xml_free(x);
}

static void refuses_document_types(void **state) {
  char text[PATH_SIZE + 128];

  (void)state;
  refused("<!DOCTYPE r><r/>", NULL, ":1: " MSG_a_document_type_declaration);
  refused("<!DOCTYPE r [<!ENTITY e 'text'>]><r>&e;</r>", NULL,
          ":1: " MSG_a_document_type_declaration);
  refused("<!DOCTYPE r [<!ENTITY e 'text'>]><r a='&e;'/>", NULL,
          ":1: " MSG_a_document_type_declaration);
  put_file("secret", "secret");
  snprintf(text, sizeof text,
           "<!DOCTYPE r [<!ENTITY e SYSTEM 'file://%s'>]><r>&e;</r>",
           temp_path("secret"));
  refused(text, NULL, ":1: " MSG_a_document_type_declaration);
  snprintf(text, sizeof text, "<!DOCTYPE r SYSTEM '%s'><r/>",
           temp_path("secret"));
  refused(text, NULL, ":1: " MSG_a_document_type_declaration);
}

/* A few hundred bytes that would grow to gigabytes. */
static void entities_do_not_grow(void **state) {
  char text[2048] = "<!DOCTYPE r [<!ENTITY a0 'ha'>";

  (void)state;
  for (int i = 1; i < 30; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "<!ENTITY a%d '&a%d;&a%d;'>", i, i - 1, i - 1);
  strcat(text, "]><r>&a29;</r>");
  refused(text, NULL, ":1: " MSG_a_document_type_declaration);
}

static void refuses_broken_files(void **state) {
  (void)state;
  refused("", NULL, ":1: " MSG_not_well_formed_xml(""));
  refused("plain text", NULL, ":1: " MSG_not_well_formed_xml(""));
  refused("<r>\n<a>\n", NULL, ":3: " MSG_not_well_formed_xml(""));
  refused("<r>\n<a></b></r>", NULL, ":2: " MSG_not_well_formed_xml(""));
  refused("<r>&none;</r>", NULL, ":1: " MSG_not_well_formed_xml(""));
  refused("<r a='1' a='2'/>", NULL, ":1: " MSG_not_well_formed_xml(""));
  refused("<r/><s/>", NULL, ":1: " MSG_not_well_formed_xml(""));
  refused("<r>\n\n\xff</r>", NULL, ":3: " MSG_not_well_formed_xml(""));
}

/* Every beginning of a file is refused. */
static void refuses_cut_files(void **state) {
  const char *text = "<?xml version='1.0'?><r a='x'><b>1 2</b><c/></r>";
  char part[64];

  (void)state;
  for (size_t n = 0; n < strlen(text); n++) {
    struct dl_xml *x;
    snprintf(part, sizeof part, "%.*s", (int)n, text);
    if (dl_xml_read(&x, put_file("t.xml", part), NULL, &d) != DL_EINPUT)
      fail_msg("took '%s'", part);
    assert_null(x);
    dl_diag_free(&d);
  }
  dl_xml_free(read_text(text));
}

static void validates(void **state) {
  struct dl_xml *x;
  char schema[PATH_SIZE];

  (void)state;
  snprintf(schema, sizeof schema, "%s", put_file("s.rng", SCHEMA));
  const char *good = put_file("t.xml", "<list><n>1</n><n>2e3</n></list>");
  assert_ok(dl_xml_read(&x, good, NULL, &d), &d);
  assert_string_equal(dl_xml_path(x), good);
  assert_ok(dl_xml_validate(x, schema, &d), &d);
  dl_xml_free(x);
  refused("<list>\n<n>1</n>\n<n>one</n>\n</list>", schema,
          ":3: " MSG_not_valid(""));
  refused("<list>\n\n<m>1</m></list>", schema, ":3: " MSG_not_valid(""));
  refused("\n<other/>", schema, ":2: " MSG_not_valid(""));
  x = read_text("<list/>");
  assert_int_equal(dl_xml_validate(x, schema, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "t.xml:1: " MSG_not_valid(""));
  dl_xml_free(x);
}

/* A schema that cannot be read is no fault of the file. */
static void needs_the_schema(void **state) {
  struct dl_xml *x = read_text("<list><n>1</n></list>");
  const char *broken = put_file("broken.rng", "<grammar");

  (void)state;
  assert_int_equal(dl_xml_validate(x, temp_path("absent.rng"), &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED,
                   "absent.rng: " MSG_cannot_read_schema("failed"));
  assert_int_equal(dl_xml_validate(x, broken, &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED,
                   "broken.rng: " MSG_cannot_read_schema("Could"));
  dl_xml_free(x);
}

static void absent_file_fails(void **state) {
  struct dl_xml *x;

  (void)state;
  assert_int_equal(dl_xml_read(&x, temp_path("absent.xml"), NULL, &d),
                   DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "absent.xml: " MSG_cannot_open(""));
  /* A name is a file's, never an address to fetch. */
  assert_int_equal(dl_xml_read(&x, "http://localhost/a.xml", NULL, &d),
                   DL_EFAILED);
  assert_error_has(&d, DL_EFAILED,
                   "http://localhost/a.xml: " MSG_cannot_open(""));
}

static void writes_special_characters(void **state) {
  static const char *const texts[] = {
      "<&>\"'",        "]]>",        "&amp; &#65; &lt;",
      "a\nb\tc\rd",    "  blanks  ", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
      "-- <!-- x -->", "%s%n",       "x",
  };
  struct dl_xml *x = dl_xml_new("r");

  (void)state;
  assert_non_null(x);
  for (size_t i = 0; i < COUNT(texts); i++) {
    dl_node *n = dl_xml_add(x, dl_xml_root(x), "n");
    dl_xml_set(x, n, "a", texts[i]);
    dl_xml_set_text(x, n, texts[i]);
  }
  const char *path = temp_path("w.xml");
  assert_ok(dl_xml_write(x, path, &d), &d);
  dl_xml_free(x);
  assert_ok(dl_xml_read(&x, path, NULL, &d), &d);
  dl_node *n = dl_xml_first(dl_xml_root(x), "n");
  for (size_t i = 0; i < COUNT(texts); i++) {
    assert_non_null(n);
    assert_string_equal(dl_xml_attr(n, "a"), texts[i]);
    assert_string_equal(dl_xml_text(n), texts[i]);
    n = dl_xml_next(n, "n");
  }
  assert_null(n);
  dl_xml_free(x);
}

/* What XML cannot hold is refused, or what is written could not be read. */
static void refuses_to_write(void **state) {
  static const char *const texts[] = {"a\001b", "M\xfcller", "\xc3",
                                      "\x7f\x1b"};

  (void)state;
  for (size_t i = 0; i < COUNT(texts); i++)
    for (int attribute = 0; attribute < 2; attribute++) {
      struct dl_xml *x = dl_xml_new("r");
      const char *path = temp_path("bad.xml");
      if (attribute)
        dl_xml_set(x, dl_xml_root(x), "a", texts[i]);
      else
        dl_xml_set_text(x, dl_xml_root(x), texts[i]);
      assert_int_equal(dl_xml_write(x, path, &d), DL_EINPUT);
      assert_error_has(&d, DL_EINPUT, "bad.xml: not writable as XML: ");
      assert_int_not_equal(access(path, F_OK), 0);
      dl_xml_free(x);
    }
}

static void write_failures_show(void **state) {
  struct dl_xml *x = dl_xml_new("r");

  (void)state;
  assert_int_equal(dl_xml_write(x, temp_path("no/dir.xml"), &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "no/dir.xml: " MSG_cannot_write(""));
  if (access("/dev/full", W_OK) == 0) {
    assert_int_equal(dl_xml_write(x, "/dev/full", &d), DL_EFAILED);
    assert_error_has(&d, DL_EFAILED, "/dev/full: " MSG_cannot_write(""));
  }
  dl_xml_free(x);
}

#define TEST(f) cmocka_unit_test_teardown(f, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(walks),
      TEST(text_is_whole),
      TEST(refuses_document_types),
      TEST(entities_do_not_grow),
      TEST(refuses_broken_files),
      TEST(refuses_cut_files),
      TEST(validates),
      TEST(needs_the_schema),
      TEST(absent_file_fails),
      TEST(writes_special_characters),
      TEST(refuses_to_write),
      TEST(write_failures_show),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
