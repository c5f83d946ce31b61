/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formulas: precedence climbing emits code for a stack machine, which evaluates
 * it. */

#include "run/formula/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "base/number.h"

enum { MOST_DEPTH = 64, MOST_OPS = 4096 };

/* The code of a formula in groups: operands, operators on one value, operators
 * on two values. */
/* clang-format off */
enum op {
  OP_NUMBER, OP_VAR, OP_TEXT_EQ, OP_TEXT_HAS,
  OP_NEG, OP_LOG, OP_LOG2, OP_LOG10, OP_LOG1P, OP_EXP, OP_SQRT, OP_NOT,
  OP_ABS,
  OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_MIN, OP_MAX, OP_COALESCE,
  OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_AND, OP_OR
};
/* clang-format on */

/* Counts the values that an operator takes from the stack. */
static size_t arguments_of(enum op op) {
  if (op <= OP_TEXT_HAS)
    return 0;
  return op <= OP_ABS ? 1 : 2;
}

struct dl_instruction {
  enum op op;
  double number; /* OP_NUMBER */
  size_t index;  /* OP_VAR, OP_TEXT_*: of the variable */
  char *literal; /* OP_TEXT_*: owned; else NULL */
};

struct formula_parser {
  const char *p; /* the rest of the text */
  struct dl_formula *f;
  struct dl_diag *d;
  size_t depth;    /* of the stack at run time */
  size_t nest;     /* of the recursion */
  size_t optional; /* first arguments of coalesce that p is inside of */
};

/* The name of a function, or a binary operator by level: a higher one binds
 * more tightly. */
struct formula_token {
  const char *text;
  enum op op;
  int level;
};

static const struct formula_token functions[] = {
    {"log", OP_LOG, 0},           {"log2", OP_LOG2, 0}, {"log10", OP_LOG10, 0},
    {"log1p", OP_LOG1P, 0},       {"exp", OP_EXP, 0},   {"sqrt", OP_SQRT, 0},
    {"abs", OP_ABS, 0},           {"min", OP_MIN, 0},   {"max", OP_MAX, 0},
    {"coalesce", OP_COALESCE, 0},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* If two operators begin alike the longer one comes first. '^' and prefixes are
 * read by operand(). */
enum { LOWEST = 1, COMPARISON = 3, HIGHEST = 5 };
static const struct formula_token operators[] = {
    {"||", OP_OR, LOWEST},     {"&&", OP_AND, 2},
    {"<=", OP_LE, COMPARISON}, {">=", OP_GE, COMPARISON},
    {"==", OP_EQ, COMPARISON}, {"!=", OP_NE, COMPARISON},
    {"=", OP_EQ, COMPARISON},  {"<", OP_LT, COMPARISON},
    {">", OP_GT, COMPARISON},  {"+", OP_ADD, 4},
    {"-", OP_SUB, 4},          {"*", OP_MUL, HIGHEST},
    {"/", OP_DIV, HIGHEST},
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static enum dl_status expression(struct formula_parser *s, int lowest);

/* Messages cut a long formula. */
enum { MOST_SHOWN = 200 };

static enum dl_status complain(struct formula_parser *s, const char *what) {
  const char *text = s->f->text;
  return dl_fail(s->d, DL_EUSAGE, "formula '%.*s%s': column %zu: %s",
                 MOST_SHOWN, text, strlen(text) > MOST_SHOWN ? "..." : "",
                 (size_t)(s->p - text) + 1, what);
}

/* Takes `token` if it comes next; "": skips blanks. */
static bool take(struct formula_parser *s, const char *token) {
  size_t n = strlen(token);
  while (isspace((unsigned char)*s->p))
    s->p++;
  if (strncmp(s->p, token, n) != 0)
    return false;
  s->p += n;
  return true;
}

/* Appends an instruction, and takes over in.literal. */
static enum dl_status emit(struct formula_parser *s, struct dl_instruction in) {
  struct dl_formula *f = s->f;
  s->depth = s->depth + 1 - arguments_of(in.op);
  if (s->depth > MOST_DEPTH || f->n_code == MOST_OPS) {
    free(in.literal);
    return complain(s, "formula too large");
  }
  DL_GROW(f->code, f->cap_code, f->n_code + 1);
  f->code[f->n_code++] = in;
  return DL_OK;
}

static enum dl_status number(struct formula_parser *s) {
  static const char digits[] = "0123456789";
  size_t n = strspn(s->p, "0123456789.");
  if (s->p[n] == 'e' || s->p[n] == 'E') {
    size_t sign = s->p[n + 1] == '+' || s->p[n + 1] == '-';
    size_t more = strspn(s->p + n + 1 + sign, digits);
    n += more > 0 ? 1 + sign + more : 0;
  }
  double x;
  if (dl_parse_number(s->p, n, &x) != DL_NUMBER_OK)
    return complain(s, "invalid number");
  s->p += n;
  return emit(s, (struct dl_instruction){.op = OP_NUMBER, .number = x});
}

/* Reads a text up to the next `quote`. */
static enum dl_status quoted(struct formula_parser *s, char quote,
                             char **text) {
  const char *end = strchr(s->p, quote);
  if (!end || end == s->p)
    return complain(s, end ? "empty name" : "missing closing quote");
  *text = dl_strndup(s->p, (size_t)(end - s->p));
  s->p = end + 1;
  return DL_OK;
}

/* Takes the text that a variable is compared with: in quotes, or behind `~` a
 * word without. Returns false where there is none. */
static bool take_text(struct formula_parser *s, enum op op, char **text,
                      enum dl_status *status) {
  static const char more[] = "_.-/";
  const char *from = s->p;
  if (*s->p == '\'' || *s->p == '"') {
    s->p++;
    *status = quoted(s, *from, text);
    return true;
  }
  while (
      op == OP_TEXT_HAS && *s->p &&
      (isalnum((unsigned char)*s->p) || (s->p > from && strchr(more, *s->p))))
    s->p++;
  if (s->p == from)
    return false;
  *text = dl_strndup(from, (size_t)(s->p - from));
  *status = DL_OK;
  return true;
}

/* Takes a comparison of texts: "==", "=", "!=", "~" or "!~". */
static bool take_comparison(struct formula_parser *s, enum op *op,
                            bool *negated) {
  bool has = false;
  *negated = take(s, "!=") || (has = take(s, "!~"));
  has = has || (!*negated && take(s, "~"));
  *op = has ? OP_TEXT_HAS : OP_TEXT_EQ;
  return *negated || has || take(s, "==") || take(s, "=");
}

/* Reads the comparison of a name with a 'text', or the name alone, which has
 * been read and is taken over. */
static enum dl_status variable(struct formula_parser *s, char *name) {
  struct dl_formula *f = s->f;
  struct dl_instruction in = {.op = OP_VAR};
  while (in.index < f->n_vars && strcmp(f->var[in.index].name, name) != 0)
    in.index++;
  if (in.index < f->n_vars) {
    free(name);
  } else {
    DL_GROW(f->var, f->cap_vars, f->n_vars + 1);
    f->var[f->n_vars++] = (struct dl_formula_variable){.name = name};
  }
  if (s->optional == 0)
    f->var[in.index].needed = true;
  const char *behind = s->p;
  enum op op;
  bool negated, compares = take_comparison(s, &op, &negated);
  take(s, "");
  enum dl_status status;
  if (!compares || !take_text(s, op, &in.literal, &status)) {
    if (compares && op == OP_TEXT_HAS)
      return complain(s, "expected a text");
    s->p = behind;
    return emit(s, in);
  }
  in.op = op;
  f->var[in.index].as_text = true;
  if (status == DL_OK)
    status = emit(s, in);
  if (status == DL_OK && negated)
    status = emit(s, (struct dl_instruction){.op = OP_NOT});
  return status;
}

/* Reads a function's arguments; the name of n bytes and '(' have been read. */
static enum dl_status call(struct formula_parser *s, const char *name,
                           size_t n) {
  size_t i = 0;
  while (i < N_FUNCTIONS && (strncmp(functions[i].text, name, n) != 0 ||
                             functions[i].text[n] != '\0'))
    i++;
  if (i == N_FUNCTIONS) {
    DL_TEXT(near);
    DL_TEXT(what);
    DL_TEXT(unknown);
    const char *names[N_FUNCTIONS];
    for (size_t k = 0; k < N_FUNCTIONS; k++)
      names[k] = functions[k].text;
    dl_text_add_n(&unknown, name, n < MOST_SHOWN ? n : MOST_SHOWN);
    dl_suggest_names(dl_text_str(&unknown), names, N_FUNCTIONS, &near);
    dl_text_printf(&what, "unknown function '%s'%s", dl_text_str(&unknown),
                   dl_text_str(&near));
    s->p = name;
    return complain(s, dl_text_str(&what));
  }
  size_t arguments = arguments_of(functions[i].op);
  for (size_t a = 0; a < arguments; a++) {
    if (a > 0 && !take(s, ","))
      return complain(s, "expected ','");
    bool optional = functions[i].op == OP_COALESCE && a == 0;
    s->optional += optional;
    enum dl_status status = expression(s, LOWEST);
    s->optional -= optional;
    if (status != DL_OK)
      return status;
  }
  if (!take(s, ")"))
    return complain(s, "expected ')'");
  return emit(s, (struct dl_instruction){.op = functions[i].op});
}

/* Reads a number, a name, a call or an expression in parentheses. */
static enum dl_status primary(struct formula_parser *s) {
  take(s, "");
  char c = *s->p, *name = NULL;
  if (isdigit((unsigned char)c) || c == '.')
    return number(s);
  if (take(s, "(")) {
    enum dl_status status = expression(s, LOWEST);
    return status != DL_OK || take(s, ")") ? status
                                           : complain(s, "expected ')'");
  }
  if (take(s, "`")) {
    enum dl_status status = quoted(s, '`', &name);
    return status == DL_OK ? variable(s, name) : status;
  }
  if (!isalpha((unsigned char)c) && c != '_')
    return complain(s, c ? "expected a number, a name or '('"
                         : "ends where a value is expected");
  const char *from = s->p;
  while (isalnum((unsigned char)*s->p) || *s->p == '_' || *s->p == '.')
    s->p++;
  size_t n = (size_t)(s->p - from);
  if (take(s, "("))
    return call(s, from, n);
  return variable(s, dl_strndup(from, n));
}

/* Reads an operand with its prefixes and its power: -a^b is -(a^b), a^b^c is
 * a^(b^c), a^-b is a^(-b). */
static enum dl_status operand(struct formula_parser *s) {
  if (++s->nest > MOST_DEPTH)
    return complain(s, "formula too deep");
  enum dl_status status;
  struct dl_instruction in = {.op = OP_NUMBER};
  bool plus = take(s, "+"); /* skips blanks too */
  if (*s->p == '-')
    in.op = OP_NEG;
  else if (*s->p == '!' && s->p[1] != '=')
    in.op = OP_NOT;
  if (plus) {
    in.op = OP_NUMBER;
    status = operand(s);
  } else if (in.op != OP_NUMBER) {
    s->p++;
    status = operand(s);
  } else {
    status = primary(s);
    if (status == DL_OK && take(s, "^")) {
      in.op = OP_POW;
      status = operand(s);
    }
  }
  s->nest--;
  return status == DL_OK && in.op != OP_NUMBER ? emit(s, in) : status;
}

/* Reads operands and operators of at least a level, from left to right;
 * comparisons do not chain. */
static enum dl_status expression(struct formula_parser *s, int lowest) {
  enum dl_status status = operand(s);
  for (int highest = HIGHEST; status == DL_OK;) {
    const struct formula_token *o = operators, *end = operators + N_OPERATORS;
    while (o < end &&
           (o->level < lowest || o->level > highest || !take(s, o->text)))
      o++;
    if (o == end)
      break;
    status = expression(s, o->level + 1);
    if (status == DL_OK)
      status = emit(s, (struct dl_instruction){.op = o->op});
    highest = o->level == COMPARISON ? COMPARISON - 1 : o->level;
  }
  return status;
}

enum dl_status dl_formula_parse(struct dl_formula **out, const char *text,
                                struct dl_diag *d) {
  *out = NULL;
  struct dl_formula *f = dl_calloc(1, sizeof *f);
  f->text = dl_strdup(text);
  struct formula_parser s = {.p = f->text, .f = f, .d = d};
  enum dl_status status = expression(&s, LOWEST);
  take(&s, "");
  if (status == DL_OK && *s.p)
    status = complain(&s, "unexpected text");
  if (status != DL_OK) {
    dl_formula_free(f);
    return status;
  }
  f->is_name = f->n_code == 1 && f->code[0].op == OP_VAR;
  *out = f;
  return DL_OK;
}

void dl_formula_free(struct dl_formula *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->n_vars; i++)
    free(f->var[i].name);
  for (size_t i = 0; i < f->n_code; i++)
    free(f->code[i].literal);
  free(f->text);
  free(f->code);
  free(f->var);
  free(f);
}

DL_FREES(dl_formula_free, struct dl_formula)

/* Below is the stack machine that runs formulas. A comparison with NaN is NaN,
 * not false: unknown stays unknown. */
static double truth(double a, double b, bool holds) {
  return isnan(a) || isnan(b) ? NAN : (double)holds;
}

/* Logic is three-valued, as in SQL: a side that decides does so beside an
 * unknown one. */
static double both(double a, double b) {
  if (a == 0 || b == 0)
    return 0;
  return isnan(a) || isnan(b) ? NAN : 1;
}

static double either(double a, double b) {
  if ((!isnan(a) && a != 0) || (!isnan(b) && b != 0))
    return 1;
  return isnan(a) || isnan(b) ? NAN : 0;
}

static double unary_op(enum op op, double a) {
  switch (op) {
  case OP_NEG:
    return -a;
  case OP_LOG:
    return log(a);
  case OP_LOG2:
    return log2(a);
  case OP_LOG10:
    return log10(a);
  case OP_LOG1P:
    return log1p(a);
  case OP_EXP:
    return exp(a);
  case OP_SQRT:
    return sqrt(a);
  case OP_NOT:
    return isnan(a) ? NAN : a == 0;
  default:
    return fabs(a);
  }
}

static double binary_op(enum op op, double a, double b) {
  switch (op) {
  case OP_ADD:
    return a + b;
  case OP_SUB:
    return a - b;
  case OP_MUL:
    return a * b;
  case OP_DIV:
    return a / b;
  case OP_POW:
    return pow(a, b);
  case OP_MIN:
    return isnan(a) || isnan(b) ? NAN : fmin(a, b);
  case OP_MAX:
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
  case OP_COALESCE:
    return isnan(a) ? b : a;
  case OP_LT:
    return truth(a, b, a < b);
  case OP_LE:
    return truth(a, b, a <= b);
  case OP_GT:
    return truth(a, b, a > b);
  case OP_GE:
    return truth(a, b, a >= b);
  case OP_EQ:
    return truth(a, b, !(a < b) && !(a > b));
  case OP_AND:
    return both(a, b);
  case OP_OR:
    return either(a, b);
  default:
    return truth(a, b, a < b || a > b);
  }
}

static double text_op(const struct dl_instruction *in, const char *s) {
  if (!s)
    return NAN;
  return in->op == OP_TEXT_EQ ? strcmp(s, in->literal) == 0
                              : strcasestr(s, in->literal) != NULL;
}

double dl_formula_eval(const struct dl_formula *f,
                       const struct dl_row_ref *vars,
                       const struct dl_row *row) {
  double stack[MOST_DEPTH + 1];
  stack[0] = NAN;
  size_t top = 0;
  for (size_t i = 0; i < f->n_code; i++) {
    const struct dl_instruction *in = &f->code[i];
    switch (in->op) {
    case OP_NUMBER:
      stack[top++] = in->number;
      break;
    case OP_VAR:
      stack[top++] = dl_row_number(row, &vars[in->index]);
      break;
    case OP_TEXT_EQ:
    case OP_TEXT_HAS:
      stack[top++] = text_op(in, dl_row_text(row, &vars[in->index]));
      break;
    default:
      if (arguments_of(in->op) == 1) {
        /* The parser sees to it that the stack is deep enough.
         * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        stack[top - 1] = unary_op(in->op, stack[top - 1]);
      } else {
        top--;
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        stack[top - 1] = binary_op(in->op, stack[top - 1], stack[top]);
      }
    }
  }
  return stack[0];
}
