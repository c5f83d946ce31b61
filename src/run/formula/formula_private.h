/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a formula, shared by formula.c (parser) and evaluate.c. */

#ifndef DL_RUN_FORMULA_FORMULA_PRIVATE_H
#define DL_RUN_FORMULA_FORMULA_PRIVATE_H

#include "base/text.h"
#include "run/formula/formula.h"

enum { MOST_DEPTH = 64, MOST_OPS = 4096 };

/* clang-format off */
enum op {
  OP_NUMBER, OP_VAR, OP_TEXT_EQ,
  OP_NEG, OP_LOG, OP_LOG2, OP_LOG10, OP_LOG1P, OP_EXP, OP_SQRT, OP_NOT,
  OP_ABS,
  OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_MIN, OP_MAX, OP_COALESCE,
  OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_AND, OP_OR
};
/* clang-format on */

struct instruction {
  enum op op;
  double number;  /* OP_NUMBER */
  size_t index;   /* OP_VAR: variable; OP_TEXT_EQ: variable */
  size_t literal; /* OP_TEXT_EQ: index of the literal */
};

/* How a variable is used. */
struct use {
  bool as_text;
  bool needed; /* outside coalesce(HERE, b) */
};

struct dl_formula {
  char *text;
  struct instruction *code;
  size_t n, cap;
  struct dl_strlist vars;
  struct dl_strlist literals;
  struct use *use; /* one a variable */
  size_t cap_use;
};

#endif
