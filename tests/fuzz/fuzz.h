/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fuzzers share. */

#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds) {
  if (!holds)
    abort();
}

/* The input as a text of its own, to be freed. */
static inline char *text_of(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  must(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* FNV-1a. */
static inline uint64_t digest(uint64_t sum, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ p[i]) * UINT64_C(1099511628211);
  return sum;
}

#endif
