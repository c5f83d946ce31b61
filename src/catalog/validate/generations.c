/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory.h"
#include "catalog/validate/generations.h"

#include <stddef.h>
#include <string.h>

/* Ratios follow from published rates, which are rounded: there are one, two or
 * four of them, a range, or none that is checked. */
#define SPAN(low, high)                                                        \
  { low, high }
#define ABOUT(x) SPAN(0.95 * (x), 1.05 * (x))
#define NONE                                                                   \
  { SPAN(0, 0) }
#define FROM(low, high)                                                        \
  { SPAN(low, high) }
#define ONE(a)                                                                 \
  { ABOUT(a) }
#define TWO(a, b)                                                              \
  { ABOUT(a), ABOUT(b) }
#define FOUR(a, b, c, d)                                                       \
  { ABOUT(a), ABOUT(b), ABOUT(c), ABOUT(d) }

/* The columns are family, memory, lanes, issue, FP32 per watt; FP64, FP16, and
 * in tensor units FP16, INT8, FP8 and TF32. */
static const struct dl_generation generations[] = {
    {"kepler", NULL, 192, 1, SPAN(0.012, 0.035), TWO(1. / 24, 1. / 3), NONE,
     NONE, NONE, NONE, 0},
    {"maxwell", NULL, 128, 1, SPAN(0.012, 0.06), ONE(1. / 32), ONE(2), NONE,
     NONE, NONE, 0},
    {"pascal", "hbm", 64, 1, SPAN(0.03, 0.06), ONE(1. / 2), ONE(2), NONE, NONE,
     NONE, 0},
    {"pascal", NULL, 128, 1, SPAN(0.02, 0.1), ONE(1. / 32), TWO(1. / 64, 2),
     NONE, NONE, NONE, 0},
    {"volta", NULL, 64, 1, SPAN(0.03, 0.09), ONE(1. / 2), ONE(2),
     FROM(7.3, 8.4), ONE(2), NONE, 0},
    {"turing", NULL, 64, 1, SPAN(0.025, 0.13), ONE(1. / 32), ONE(2), TWO(4, 8),
     TWO(2, 4), NONE, 0},
    {"ampere", "hbm", 64, 1, SPAN(0.04, 0.09), ONE(1. / 2), ONE(4), ONE(16),
     ONE(2), NONE, 2},
    {"ampere", "lpddr", 128, 1, SPAN(0.04, 0.12), ONE(1. / 64), ONE(1), ONE(8),
     ONE(2), NONE, 2},
    {"ampere", NULL, 128, 1, SPAN(0.05, 0.25), TWO(1. / 64, 1. / 32), ONE(1),
     TWO(2, 4), TWO(2, 4), NONE, 2},
    {"ada", NULL, 128, 1, SPAN(0.1, 0.5), ONE(1. / 64), ONE(1), TWO(2, 4),
     TWO(2, 4), TWO(2, 4), 2},
    {"hopper", NULL, 128, 1, SPAN(0.06, 0.18), ONE(1. / 2), ONE(2),
     FROM(13, 17), ONE(2), ONE(2), 2},
    {"blackwell", "hbm", 128, 1, SPAN(0.05, 0.1), TWO(1. / 64, 1. / 2), ONE(2),
     FROM(27, 37), ONE(2), ONE(2), 2},
    {"blackwell", "gddr", 128, 1, SPAN(0.1, 0.5), ONE(1. / 64), ONE(1),
     TWO(2, 4), TWO(2, 4), TWO(2, 4), 2},
    {"gcn", NULL, 64, 1, SPAN(0.015, 0.08),
     FOUR(1. / 16, 1. / 8, 1. / 4, 1. / 2), TWO(1, 2), NONE, NONE, NONE, 0},
    {"rdna", NULL, 64, 1, SPAN(0.03, 0.07), ONE(1. / 16), ONE(2), NONE, NONE,
     NONE, 0},
    {"rdna2", NULL, 64, 1, SPAN(0.05, 0.12), ONE(1. / 16), ONE(2), NONE, NONE,
     NONE, 0},
    {"rdna3", NULL, 64, 2, SPAN(0.1, 0.28), ONE(1. / 32), ONE(2), ONE(2),
     ONE(1), NONE, 0},
    {"rdna4", NULL, 64, 2, SPAN(0.1, 0.28), ONE(1. / 64), ONE(2), ONE(4),
     ONE(2), ONE(2), 0},
    {"cdna", NULL, 64, 1, SPAN(0.06, 0.09), ONE(1. / 2), ONE(2), ONE(8), ONE(1),
     NONE, 0},
    {"cdna2", NULL, 64, 1, SPAN(0.06, 0.12), ONE(1), NONE, ONE(8), ONE(1), NONE,
     0},
    {"cdna3", NULL, 64, 2, SPAN(0.14, 0.26), ONE(1. / 2), NONE, ONE(8), ONE(2),
     ONE(2), 2},
    {"cdna4", NULL, 64, 2, SPAN(0.1, 0.17), ONE(1. / 2), NONE, ONE(16), ONE(2),
     ONE(2), 0},
    {"alchemist", NULL, 128, 1, SPAN(0.04, 0.13), NONE, ONE(2), ONE(8), ONE(2),
     NONE, 0},
    {"battlemage", NULL, 128, 1, SPAN(0.05, 0.12), NONE, ONE(2), ONE(8), ONE(2),
     NONE, 0},
    {"ponte-vecchio", NULL, 128, 1, SPAN(0.06, 0.11), ONE(1), ONE(2), ONE(16),
     ONE(2), NONE, 2},
};

/* Bandwidths of a device by memory technology, GB/s, reach from one narrow
 * channel to the widest bus built, at the rates of the JEDEC standards. */
static const struct dl_memory_technology memories[] = {
    {"ddr3", {6, 80}},       {"ddr4", {12, 210}},     {"ddr5", {30, 850}},
    {"lpddr4", {10, 80}},    {"lpddr4x", {10, 140}},  {"lpddr5", {20, 850}},
    {"lpddr5x", {20, 1100}}, {"gddr5", {28, 400}},    {"gddr5x", {100, 550}},
    {"gddr6", {64, 1000}},   {"gddr6x", {250, 1050}}, {"gddr7", {250, 1850}},
    {"hbm", {120, 520}},     {"hbm2", {200, 1600}},   {"hbm2e", {350, 4000}},
    {"hbm3", {600, 5600}},   {"hbm3e", {800, 8200}},
};

const struct dl_generation *dl_generation_find(const char *family,
                                               const char *memory_type) {
  const char *memory = memory_type ? memory_type : "";
  for (size_t i = 0; family && i < DL_LENGTH(generations); i++) {
    const struct dl_generation *g = &generations[i];
    if (strcmp(g->family, family) == 0 &&
        (!g->memory || strncmp(memory, g->memory, strlen(g->memory)) == 0))
      return g;
  }
  return NULL;
}

const struct dl_memory_technology *dl_memory_find(const char *name) {
  for (size_t i = 0; i < DL_LENGTH(memories); i++)
    if (strcmp(memories[i].name, name) == 0)
      return &memories[i];
  return NULL;
}
