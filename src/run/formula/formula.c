/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recursive-descent parser that emits code for a stack machine. */

#include "run/formula/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/memory.h"
#include "base/nearest_names.h"
#include "base/number.h"
#include "run/formula/formula_private.h"

struct parser {
  const char *text;
  const char *p;
  struct dl_formula *f;
  struct dl_diag *d;
  size_t depth; /* of the stack at run time */
  size_t nest;  /* of the recursion */
  size_t spare; /* first arguments of coalesce that we are inside of */
};

static const struct {
  const char *name;
  enum op op;
  int arguments;
} functions[] = {
    {"log", OP_LOG, 1},           {"log2", OP_LOG2, 1}, {"log10", OP_LOG10, 1},
    {"log1p", OP_LOG1P, 1},       {"exp", OP_EXP, 1},   {"sqrt", OP_SQRT, 1},
    {"abs", OP_ABS, 1},           {"min", OP_MIN, 2},   {"max", OP_MAX, 2},
    {"coalesce", OP_COALESCE, 2},
};

static bool expression(struct parser *s);

/* A long formula is cut in messages. */
enum { MOST_SHOWN = 200 };

static const char *dots(const struct parser *s) {
  return strlen(s->text) > MOST_SHOWN ? "..." : "";
}

static bool complain(struct parser *s, const char *what) {
  dl_fail(s->d, DL_EUSAGE, "formula '%.*s%s': column %zu: %s", MOST_SHOWN,
          s->text, dots(s), (size_t)(s->p - s->text) + 1, what);
  return false;
}

static bool no_memory(struct parser *s) {
  dl_fail_memory(s->d);
  return false;
}

static void blanks(struct parser *s) {
  while (dl_is_space(*s->p))
    s->p++;
}

/* Takes `token` if it comes next. */
static bool take(struct parser *s, const char *token) {
  blanks(s);
  size_t n = strlen(token);
  if (strncmp(s->p, token, n) != 0)
    return false;
  s->p += n;
  return true;
}

static bool emit(struct parser *s, struct instruction in, int pops) {
  struct dl_formula *f = s->f;
  void *code = f->code;
  s->depth = s->depth + 1 - (size_t)pops;
  if (s->depth > MOST_DEPTH || f->n >= MOST_OPS)
    return complain(s, "formula too large");
  if (!dl_grow(&code, &f->cap, f->n + 1, sizeof *f->code))
    return no_memory(s);
  f->code = code;
  f->code[f->n++] = in;
  return true;
}

static bool emit_op(struct parser *s, enum op op, int pops) {
  return emit(s, (struct instruction){.op = op}, pops);
}

static bool number(struct parser *s) {
  const char *q = s->p;
  while (dl_is_digit(*q) || *q == '.')
    q++;
  if (*q == 'e' || *q == 'E') {
    const char *e = q + 1;
    if (*e == '+' || *e == '-')
      e++;
    if (dl_is_digit(*e)) {
      while (dl_is_digit(*e))
        e++;
      q = e;
    }
  }
  double x;
  if (dl_parse_number(s->p, (size_t)(q - s->p), &x) != DL_NUMBER_OK)
    return complain(s, "invalid number");
  s->p = q;
  return emit(s, (struct instruction){.op = OP_NUMBER, .number = x}, 0);
}

/* A text between two `quote` characters, behind the first. NULL: complained. */
static char *quoted(struct parser *s, char quote) {
  const char *end = strchr(s->p, quote);
  if (!end || end == s->p) {
    complain(s, end ? "empty name" : "missing closing quote");
    return NULL;
  }
  char *text = dl_strndup(s->p, (size_t)(end - s->p));
  if (!text)
    no_memory(s);
  s->p = end + 1;
  return text;
}

static bool name_char(char c) {
  return dl_is_alnum(c) || c == '_' || c == '.';
}

/* Enters a variable, taking over `name`; -1 when memory is out. */
static long variable(struct parser *s, char *name) {
  struct dl_formula *f = s->f;
  long i = dl_strlist_find(&f->vars, name);
  void *use = f->use;
  if (i < 0 && dl_grow(&use, &f->cap_use, f->vars.n + 1, sizeof *f->use)) {
    f->use = use;
    if (dl_strlist_add(&f->vars, name)) {
      i = (long)f->vars.n - 1;
      f->use[i] = (struct use){false, false};
    }
  }
  free(name);
  if (i < 0)
    no_memory(s);
  else if (s->spare == 0)
    f->use[i].needed = true;
  return i;
}

/* name == 'text'; the name has been read. */
static bool text_comparison(struct parser *s, long var, bool equal) {
  blanks(s);
  char quote = *s->p++;
  char *literal = quoted(s, quote);
  if (!literal)
    return false;
  bool ok = dl_strlist_add(&s->f->literals, literal);
  free(literal);
  if (!ok)
    return no_memory(s);
  s->f->use[var].as_text = true;
  struct instruction in = {
      .op = OP_TEXT_EQ, .index = (size_t)var, .literal = s->f->literals.n - 1};
  if (!emit(s, in, 0))
    return false;
  if (equal)
    return true;
  return emit(s, (struct instruction){.op = OP_NUMBER, .number = 0}, 0) &&
         emit_op(s, OP_EQ, 2);
}

static bool use_variable(struct parser *s, char *name) {
  long var = variable(s, name);
  if (var < 0)
    return false;
  const char *here = s->p;
  bool equal = take(s, "==");
  if (equal || take(s, "!=")) {
    blanks(s);
    if (*s->p == '\'' || *s->p == '"')
      return text_comparison(s, var, equal);
    s->p = here;
  }
  return emit(s, (struct instruction){.op = OP_VAR, .index = (size_t)var}, 0);
}

static bool call(struct parser *s, const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(functions[i].name, name) != 0)
      continue;
    for (int a = 0; a < functions[i].arguments; a++) {
      if (a > 0 && !take(s, ","))
        return complain(s, "expected ','");
      bool spare = functions[i].op == OP_COALESCE && a == 0;
      s->spare += spare;
      bool ok = expression(s);
      s->spare -= spare;
      if (!ok)
        return false;
    }
    if (!take(s, ")"))
      return complain(s, "expected ')'");
    return emit_op(s, functions[i].op, functions[i].arguments);
  }
  struct dl_text near = {0};
  const char *names[sizeof functions / sizeof *functions];
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    names[i] = functions[i].name;
  dl_nearest_names(name, names, sizeof functions / sizeof *functions, 3, &near);
  dl_fail(s->d, DL_EUSAGE,
          "formula '%.*s%s': unknown function '%.*s'; nearest: %s", MOST_SHOWN,
          s->text, dots(s), MOST_SHOWN, name, dl_text_str(&near));
  dl_text_free(&near);
  return false;
}

static bool name_or_call(struct parser *s) {
  const char *q = s->p;
  while (name_char(*q))
    q++;
  char *name = dl_strndup(s->p, (size_t)(q - s->p));
  if (!name)
    return no_memory(s);
  s->p = q;
  if (take(s, "(")) {
    bool ok = call(s, name);
    free(name);
    return ok;
  }
  return use_variable(s, name);
}

static bool primary(struct parser *s) {
  blanks(s);
  char c = *s->p;
  if (dl_is_digit(c) || c == '.')
    return number(s);
  if (c == '`') {
    s->p++;
    char *name = quoted(s, '`');
    return name && use_variable(s, name);
  }
  if (dl_is_alpha(c) || c == '_')
    return name_or_call(s);
  if (take(s, "(")) {
    if (!expression(s))
      return false;
    return take(s, ")") || complain(s, "expected ')'");
  }
  return complain(s, c ? "expected a number, a name or '('"
                       : "ends where a value is expected");
}

static bool unary(struct parser *s);

static bool power(struct parser *s) {
  if (!primary(s))
    return false;
  if (!take(s, "^"))
    return true;
  return unary(s) && emit_op(s, OP_POW, 2);
}

/* A '!' that does not begin "!=". */
static bool next_is_not(struct parser *s) {
  blanks(s);
  return s->p[0] == '!' && s->p[1] != '=';
}

static bool unary(struct parser *s) {
  if (++s->nest > MOST_DEPTH)
    return complain(s, "formula too deep");
  bool ok;
  if (take(s, "-"))
    ok = unary(s) && emit_op(s, OP_NEG, 1);
  else if (next_is_not(s) && take(s, "!"))
    ok = unary(s) && emit_op(s, OP_NOT, 1);
  else if (take(s, "+"))
    ok = unary(s);
  else
    ok = power(s);
  s->nest--;
  return ok;
}

/* Binary operators by level; those of a higher level bind more tightly. */
enum { LOWEST = 1, COMPARISON = 3, HIGHEST = 5 };
static const struct {
  const char *token;
  enum op op;
  int level;
} operators[] = {
    {"||", OP_OR, LOWEST},     {"&&", OP_AND, 2},
    {"<=", OP_LE, COMPARISON}, {">=", OP_GE, COMPARISON},
    {"==", OP_EQ, COMPARISON}, {"!=", OP_NE, COMPARISON},
    {"<", OP_LT, COMPARISON},  {">", OP_GT, COMPARISON},
    {"+", OP_ADD, 4},          {"-", OP_SUB, 4},
    {"*", OP_MUL, HIGHEST},    {"/", OP_DIV, HIGHEST},
};

/* Operands and operators of a level, from left to right; comparisons do not
 * chain. */
static bool binary(struct parser *s, int level) {
  if (level > HIGHEST)
    return unary(s);
  bool ok = binary(s, level + 1), more = true;
  while (ok && more) {
    more = false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators && !more; i++)
      if (operators[i].level == level && take(s, operators[i].token)) {
        ok = binary(s, level + 1) && emit_op(s, operators[i].op, 2);
        more = true;
      }
    if (level == COMPARISON)
      return ok;
  }
  return ok;
}

static bool expression(struct parser *s) {
  return binary(s, LOWEST);
}

enum dl_status dl_formula_parse(struct dl_formula **out, const char *text,
                                struct dl_diag *d) {
  *out = NULL;
  struct dl_formula *f = dl_calloc(1, sizeof *f);
  if (!f || !(f->text = dl_strdup(text))) {
    free(f);
    return dl_fail_memory(d);
  }
  struct parser s = {.text = f->text, .p = f->text, .f = f, .d = d};
  bool ok = expression(&s);
  blanks(&s);
  if (ok && *s.p)
    ok = complain(&s, "unexpected text");
  if (!ok) {
    dl_formula_free(f);
    return d->status == DL_OK ? DL_EUSAGE : d->status;
  }
  *out = f;
  return DL_OK;
}

void dl_formula_free(struct dl_formula *f) {
  if (!f)
    return;
  free(f->text);
  free(f->code);
  free(f->use);
  dl_strlist_free(&f->vars);
  dl_strlist_free(&f->literals);
  free(f);
}

const char *dl_formula_text(const struct dl_formula *f) {
  return f->text;
}

size_t dl_formula_n_vars(const struct dl_formula *f) {
  return f->vars.n;
}

const char *dl_formula_var(const struct dl_formula *f, size_t i) {
  return f->vars.s[i];
}

bool dl_formula_var_is_text(const struct dl_formula *f, size_t i) {
  return f->use[i].as_text;
}

bool dl_formula_var_is_needed(const struct dl_formula *f, size_t i) {
  return f->use[i].needed;
}

bool dl_formula_is_name(const struct dl_formula *f) {
  return f->n == 1 && f->code[0].op == OP_VAR;
}
