/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a formula: formula.c writes it, formula_evaluate.c runs it. */

#ifndef DL_RUN_FORMULA_FORMULA_PRIVATE_H
#define DL_RUN_FORMULA_FORMULA_PRIVATE_H

#include "run/formula/formula.h"

enum { MOST_DEPTH = 64, MOST_OPS = 4096 };

/* In groups: operands, operators on one value, operators on two. */
/* clang-format off */
enum op {
  OP_NUMBER, OP_VAR, OP_TEXT_EQ, OP_TEXT_HAS,
  OP_NEG, OP_LOG, OP_LOG2, OP_LOG10, OP_LOG1P, OP_EXP, OP_SQRT, OP_NOT,
  OP_ABS,
  OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_MIN, OP_MAX, OP_COALESCE,
  OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_AND, OP_OR
};
/* clang-format on */

/* Values that an operator takes from the stack. */
static inline size_t arguments_of(enum op op) {
  return op <= OP_TEXT_HAS ? 0 : op <= OP_ABS ? 1 : 2;
}

struct dl_instruction {
  enum op op;
  double number; /* OP_NUMBER */
  size_t index;  /* OP_VAR, OP_TEXT_*: of the variable */
  char *literal; /* OP_TEXT_*: owned; else NULL */
};

#endif
