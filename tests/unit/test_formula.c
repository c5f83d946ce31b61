/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text formulas. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"
#include "run/formula/formula.h"
#include "unit.h"
#include "tests/messages.h"

/* Names that formulas below use and their values. */
static const struct {
  const char *name;
  struct dl_cell cell;
} values[] = {
    {"a", {2, NULL}},           {"b", {3, NULL}},
    {"c", {0.5, NULL}},         {"unknown", {NAN, NULL}},
    {"gpu.tdp_w", {350, NULL}}, {"GPU power (W)", {120, NULL}},
    {"log", {7, NULL}},         {"_x1", {11, NULL}},
    {"arch", {NAN, "vgg16"}},   {"blank", {NAN, NULL}},
};

static struct dl_formula *parse(const char *text) {
  struct dl_formula *f;
  struct dl_diag d = {0};

  assert_ok(dl_formula_parse(&f, text, &d), &d);
  assert_string_equal(f->text, text);
  return f;
}

static double eval(const char *text) {
  struct dl_cell cells[COUNT(values)];
  struct dl_row_ref vars[32] = {0};
  const struct dl_row row = {.cell = cells};
  struct dl_formula *f = parse(text);

  /* Cells in the reverse order of the list. */
  for (size_t i = 0; i < COUNT(values); i++)
    cells[COUNT(values) - 1 - i] = values[i].cell;
  assert_true(f->n_vars <= COUNT(vars));
  for (size_t v = 0; v < f->n_vars; v++) {
    size_t i = 0;
    while (strcmp(values[i].name, f->var[v].name) != 0)
      assert_true(++i < COUNT(values));
    vars[v].at = COUNT(values) - 1 - i;
  }
  double x = dl_formula_eval(f, vars, &row);
  dl_formula_free(f);
  return x;
}

static const struct {
  const char *text;
  double x;
} cases_of_values[] = {
    {"1", 1},
    {" 1.5e2 ", 150},
    {"1E-2", 0.01},
    {"2e+3", 2000},
    {".5", 0.5},
    {"5.", 5},
    {"1+2*3", 7},
    {"(1+2)*3", 9},
    {"1-2-3", -4},
    {"1-(2-3)", 2},
    {"16/4/2", 2},
    {"16/(4/2)", 8},
    {"2*3/4*5", 7.5},
    {"2^3^2", 512},
    {"(2^3)^2", 64},
    {"-2^2", -4},
    {"(-2)^2", 4},
    {"2^-2", 0.25},
    {"2^-2^2", 0.0625},
    {"-2^-2", -0.25},
    {"--3", 3},
    {"-+-3", 3},
    {"+3", 3},
    {"2*-3", -6},
    {"2--3", 5},
    {"3*2^2", 12},
    {"a+b*c", 3.5},
    {"a^b", 8},
    {"a*a", 4},
    {"gpu.tdp_w/a", 175},
    {"`GPU power (W)`/2", 60},
    {"`a`+`b`", 5},
    {"log", 7},
    {"log + 1", 8},
    {"_x1", 11},
    {"log(1)", 0},
    {"log (exp(2))", 2},
    {"log2(8)", 3},
    {"log10(1000)", 3},
    {"sqrt(16)", 4},
    {"abs(-3)", 3},
    {"abs(3)", 3},
    {"exp(0)", 1},
    {"min(a,b)", 2},
    {"max(a,b)", 3},
    {"min(b,a)", 2},
    {"max(b, a)", 3},
    {"max(min(1,2),min(3,4))", 3},
    {"coalesce(a,b)", 2},
    {"coalesce(unknown,b)", 3},
    {"coalesce(coalesce(unknown,unknown),7)", 7},
    {"1<2", 1},
    {"2<1", 0},
    {"2<2", 0},
    {"2<=2", 1},
    {"3<=2", 0},
    {"2>1", 1},
    {"2>2", 0},
    {"2>=2", 1},
    {"1>=2", 0},
    {"a==2", 1},
    {"a==3", 0},
    {"a!=3", 1},
    {"a!=2", 0},
    {"1+1==2", 1},
    {"a<-1", 0},
    {"(a<b)*5", 5},
    {"(a<b)+(b<a)", 1},
    {"arch=='vgg16'", 1},
    {"arch == \"vgg16\"", 1},
    {"arch=='vgg1'", 0},
    {"arch=='VGG16'", 0},
    {"arch!='vgg16'", 0},
    {"arch = 'vgg16'", 1},
    {"arch ~ 'GG1'", 1},
    {"arch~'res'", 0},
    {"arch ~ gg1", 1},
    {"arch~vgg && a=2", 1},
    {"(arch !~ vgg)", 0},
    {"arch !~ 'gg'", 0},
    {"!arch~'res'", 1},
    {"a=2", 1},
    {"a=3", 0},
    {"arch!='x'", 1},
    {"`arch` == 'vgg16'", 1},
    {"10*(arch=='vgg16')", 10},
    {"coalesce(blank=='x',9)", 9},
    {"1&&1", 1},
    {"1&&0", 0},
    {"0||1", 1},
    {"0||0", 0},
    {"7&&-2", 1},
    {"0||0.5", 1},
    {"!0", 1},
    {"!3", 0},
    {"!!3", 1},
    {"! a", 0},
    {"-!0", -1},
    {"!a==0", 1},
    {"!(a==0)", 1},
    {"!a<b", 1},
    {"!(a<b)", 0},
    {"1||0&&0", 1},
    {"(1||0)&&0", 0},
    {"0&&0||1", 1},
    {"a<b&&b<4||0", 1},
    {"a>b || b>=3 && a!=2", 0},
    {"a+1==b && b-1==a", 1},
    {"(a<b)&&(b<a)", 0},
    {"arch=='vgg16'&&a==2", 1},
    {"arch!='vgg16'||a==3", 0},
    {"!arch=='vgg16'", 0},
    {"!`arch`!='vgg16'", 1},
    {"0&&unknown", 0},
    {"unknown<1&&0", 0},
    {"1||unknown", 1},
    {"unknown||2", 1},
    {"blank=='x'||a==2", 1},
    {"max(a&&b,0.5)", 1},
};

static void values_are_right(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(cases_of_values); i++) {
    double x = eval(cases_of_values[i].text);
    if (!(fabs(x - cases_of_values[i].x) <= 1e-15 * fabs(cases_of_values[i].x)))
      fail_msg("%s is %.17g", cases_of_values[i].text, x);
  }
  /* log(1 + x) for an x that 1 + x would lose: x - x^2 / 2 */
  assert_near(eval("log1p(1e-20)"), 1e-20, 1e-15);
}

static void unknown_stays_unknown(void **state) {
  static const char *const texts[] = {
      "unknown",          "-unknown",       "unknown+1",
      "unknown*0",        "unknown^0.5",    "log(unknown)",
      "min(unknown,1)",   "min(1,unknown)", "max(unknown,1)",
      "max(1,unknown)",   "unknown<1",      "1<=unknown",
      "unknown>1",        "1>=unknown",     "unknown==unknown",
      "unknown!=unknown", "unknown!=1",     "coalesce(unknown,unknown)",
      "blank=='x'",       "blank!='x'",     "abs(unknown)",
      "log(-1)",          "sqrt(-1)",       "0/0",
      "unknown&&1",       "1&&unknown",     "0||unknown",
      "unknown||0",       "!unknown",       "!(unknown<1)",
      "!blank=='x'",
  };

  (void)state;
  for (size_t i = 0; i < COUNT(texts); i++)
    if (!isnan(eval(texts[i])))
      fail_msg("%s is %g", texts[i], eval(texts[i]));
  assert_true(isinf(eval("1/0")) && eval("1/0") > 0);
  assert_true(isinf(eval("log(0)")) && eval("log(0)") < 0);
}

static void lists_its_variables(void **state) {
  struct dl_formula *f =
      parse("log(a.b*c) + coalesce(d, e) + c*(g == 'x') + coalesce(h+1, 0)");
  static const struct {
    const char *name;
    bool needed, text;
  } vars[] = {
      {"a.b", true, false}, {"c", true, false}, {"d", false, false},
      {"e", true, false},   {"g", true, true},  {"h", false, false},
  };

  (void)state;
  assert_int_equal(f->n_vars, COUNT(vars));
  for (size_t i = 0; i < COUNT(vars); i++) {
    assert_string_equal(f->var[i].name, vars[i].name);
    assert_int_equal(f->var[i].needed, vars[i].needed);
    assert_int_equal(f->var[i].as_text, vars[i].text);
  }
  dl_formula_free(f);
  /* Needed where it stands outside as well, before or behind. */
  f = parse("coalesce(a, 0) + a");
  assert_true(f->var[0].needed);
  dl_formula_free(f);
  f = parse("a + coalesce(a, 0)");
  assert_true(f->var[0].needed);
  dl_formula_free(f);
  f = parse("coalesce(coalesce(a, b), c)");
  assert_false(f->var[0].needed);
  assert_false(f->var[1].needed);
  assert_true(f->var[2].needed);
  dl_formula_free(f);
  dl_formula_free(NULL);
}

static void recognises_plain_names(void **state) {
  static const struct {
    const char *text;
    bool plain;
  } cases[] = {{"a", true},         {" a ", true},     {"`b c`", true},
               {"gpu.tdp_w", true}, {"a+0", false},    {"-a", false},
               {"1", false},        {"a=='x'", false}, {"log(a)", false}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_formula *f = parse(cases[i].text);
    assert_int_equal(f->is_name, cases[i].plain);
    dl_formula_free(f);
  }
}

static void errors_say_where(void **state) {
  static const struct {
    const char *text, *what;
  } cases[] = {
      {"", "column 1: " MSG_ends_where_a_value},
      {"  ", "column 3: " MSG_ends_where_a_value},
      {"a+", "column 3: " MSG_ends_where_a_value},
      {"a ^ ", "column 5: " MSG_ends_where_a_value},
      {"a ** b", "column 4: " MSG_expected_a_number_a},
      {"a+)", "column 3: " MSG_expected_a_number_a},
      {"'x'", "column 1: " MSG_expected_a_number_a},
      {"\xc3\xa4", "column 1: " MSG_expected_a_number_a},
      {"log(x", "column 6: " MSG_expected},
      {"(a", "column 3: " MSG_expected},
      {"(a,b)", "column 3: " MSG_expected},
      {"log(a,b)", "column 6: " MSG_expected},
      {"log()", "column 5: " MSG_expected_a_number_a},
      {"min(a)", "column 6: " MSG_expected_2},
      {"coalesce(a)", "column 11: " MSG_expected_2},
      {"coalesce(a,b,c)", "column 13: " MSG_expected},
      {"a b", "column 3: " MSG_unexpected_text},
      {"a)", "column 2: " MSG_unexpected_text},
      {"1e", "column 2: " MSG_unexpected_text},
      {"0x10", "column 2: " MSG_unexpected_text},
      {"1<2<3", "column 4: " MSG_unexpected_text},
      {"a ~ b c", "column 7: " MSG_unexpected_text},
      {"a ~", "column 4: " MSG_expected_a_text},
      {"a ~ -b", "column 5: " MSG_expected_a_text},
      {"a & b", "column 3: " MSG_unexpected_text},
      {"a | b", "column 3: " MSG_unexpected_text},
      {"a &&", "column 5: " MSG_ends_where_a_value},
      {"a ||", "column 5: " MSG_ends_where_a_value},
      {"&& a", "column 1: " MSG_expected_a_number_a},
      {"a && || b", "column 6: " MSG_expected_a_number_a},
      {"!", "column 2: " MSG_ends_where_a_value},
      {"!=a", "column 1: " MSG_expected_a_number_a},
      {"a !b", "column 3: " MSG_unexpected_text},
      {"1.2.3", "column 1: " MSG_invalid_number_4},
      {".", "column 1: " MSG_invalid_number_4},
      {"a + 1e999", "column 5: " MSG_invalid_number_4},
      {"`a", "column 2: " MSG_missing_closing_quote},
      {"``", "column 2: " MSG_empty_name},
      {"a == 'x", "column 7: " MSG_missing_closing_quote},
      {"a == \"x'", "column 7: " MSG_missing_closing_quote},
      {"a == ''", "column 7: " MSG_empty_name},
      {"lgo(a)", "column 1: " MSG_unknown_nearest("function", "lgo",
                                                  " (did you mean 'log'")},
      {"sin(a)", "column 1: " MSG_unknown_nearest("function", "sin", "")},
      {"gpu.x(1)", "column 1: " MSG_unknown_nearest("function", "gpu.x", "")},
  };
  struct dl_formula *f;
  struct dl_diag d = {0};
  char expected[256];

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    snprintf(expected, sizeof expected, "formula '%s': %s", cases[i].text,
             cases[i].what);
    if (dl_formula_parse(&f, cases[i].text, &d) != DL_EUSAGE)
      fail_msg("took '%s'", cases[i].text);
    assert_null(f);
    if (strstr(cases[i].what, "unknown function"))
      assert_error_has(&d, DL_EUSAGE, expected);
    else
      assert_error(&d, DL_EUSAGE, expected);
  }
}

/* n times `open`, 1, n times `close`. */
static enum dl_status nested(size_t n, const char *open, const char *close,
                             double *x, struct dl_diag *d) {
  struct dl_text t = {0};
  struct dl_formula *f;

  for (size_t i = 0; i < n; i++)
    dl_text_add(&t, open);
  dl_text_add(&t, "1");
  for (size_t i = 0; i < n; i++)
    dl_text_add(&t, close);
  enum dl_status status = dl_formula_parse(&f, t.s, d);
  if (status == DL_OK)
    *x = dl_formula_eval(f, NULL, NULL);
  dl_formula_free(f);
  dl_text_free(&t);
  return status;
}

static void nesting_is_bounded(void **state) {
  static const struct {
    const char *open, *close;
    size_t deep;
    double x; /* of 30 levels */
  } cases[] = {
      {"(", ")", 63, 1},    {"-", "", 63, 1},     {"1^", "", 63, 1},
      {"abs(", ")", 63, 1}, {"1+(", ")", 63, 31}, {"max(1,", ")", 63, 1},
      {"!", "", 63, 1},     {"1&&(", ")", 63, 1}, {"0||(", ")", 63, 1},
  };
  struct dl_diag d = {0};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double x;
    assert_ok(nested(30, cases[i].open, cases[i].close, &x, &d), &d);
    assert_true(x == cases[i].x);
    assert_ok(nested(cases[i].deep, cases[i].open, cases[i].close, &x, &d), &d);
    for (size_t n = 1000; n <= 100000; n *= 100) {
      assert_int_equal(nested(n, cases[i].open, cases[i].close, &x, &d),
                       DL_EUSAGE);
      assert_error_has(&d, DL_EUSAGE, ": formula too ");
    }
  }
}

/* Long, but not deep. */
static void length_is_bounded(void **state) {
  struct dl_text t = {0};
  struct dl_formula *f;
  struct dl_diag d = {0};

  (void)state;
  dl_text_add(&t, "1");
  for (int i = 0; i < 2000; i++)
    dl_text_add(&t, "+1");
  assert_ok(dl_formula_parse(&f, t.s, &d), &d);
  assert_true(dl_formula_eval(f, NULL, NULL) == 2001);
  dl_formula_free(f);
  for (int i = 0; i < 1000; i++)
    dl_text_add(&t, "+1");
  assert_int_equal(dl_formula_parse(&f, t.s, &d), DL_EUSAGE);
  assert_error_has(&d, DL_EUSAGE, ": " MSG_formula_too_large);
  dl_text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_right),
      cmocka_unit_test(unknown_stays_unknown),
      cmocka_unit_test(lists_its_variables),
      cmocka_unit_test(recognises_plain_names),
      cmocka_unit_test(errors_say_where),
      cmocka_unit_test(nesting_is_bounded),
      cmocka_unit_test(length_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
