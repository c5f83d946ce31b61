/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/mig.h"

#include <string.h>

enum { MOST_BOARDS = 4, PROFILES = 6 };

struct profile {
  const char *name;
  double slices;   /* of compute */
  double memories; /* slices of memory */
};

/* Boards whose profiles are the same: identifiers of accelerators. */
static const struct board {
  const char *id[MOST_BOARDS];
  double slices, memories; /* of the whole */
  struct profile profile[PROFILES];
} boards[] = {
    {{"a100-sxm4-40gb", "a100-pcie-40gb"},
     7,
     8,
     {{"1g.5gb", 1, 1},
      {"1g.10gb", 1, 2},
      {"2g.10gb", 2, 2},
      {"3g.20gb", 3, 4},
      {"4g.20gb", 4, 4},
      {"7g.40gb", 7, 8}}},
    {{"a100-sxm4-80gb", "a100-pcie-80gb", "h100-sxm5-80gb", "h100-pcie"},
     7,
     8,
     {{"1g.10gb", 1, 1},
      {"1g.20gb", 1, 2},
      {"2g.20gb", 2, 2},
      {"3g.40gb", 3, 4},
      {"4g.40gb", 4, 4},
      {"7g.80gb", 7, 8}}},
    {{"h100-nvl"},
     7,
     8,
     {{"1g.12gb", 1, 1},
      {"1g.24gb", 1, 2},
      {"2g.24gb", 2, 2},
      {"3g.47gb", 3, 4},
      {"4g.47gb", 4, 4},
      {"7g.94gb", 7, 8}}},
    {{"h200", "h200-nvl"},
     7,
     8,
     {{"1g.18gb", 1, 1},
      {"1g.35gb", 1, 2},
      {"2g.35gb", 2, 2},
      {"3g.71gb", 3, 4},
      {"4g.71gb", 4, 4},
      {"7g.141gb", 7, 8}}},
    {{"a30"}, 4, 4, {{"1g.6gb", 1, 1}, {"2g.12gb", 2, 2}, {"4g.24gb", 4, 4}}},
};

static const struct board *board_of(const char *id) {
  for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
    for (size_t j = 0; j < MOST_BOARDS && boards[i].id[j]; j++)
      if (strcmp(boards[i].id[j], id) == 0)
        return &boards[i];
  return NULL;
}

static enum dl_status no_profile(const struct dl_accelerator *gpu,
                                 const struct board *b, const char *profile,
                                 struct dl_diag *d) {
  DL_TEXT(names);
  for (size_t i = 0; i < PROFILES && b->profile[i].name; i++)
    dl_text_printf(&names, "%s%s", i ? ", " : "", b->profile[i].name);
  dl_fail(d, DL_EUSAGE, "'%s' has no MIG profile '%.32s'; it has %s",
          gpu->head.id, profile, dl_text_str(&names));
  return DL_EUSAGE;
}

enum dl_status dl_mig_share(const struct dl_accelerator *gpu,
                            const char *profile, struct dl_share *share,
                            struct dl_diag *d) {
  const struct board *b = board_of(gpu->head.id);
  size_t len = strlen(profile);
  if (!b)
    return dl_fail(d, DL_EINPUT,
                   "no MIG profiles are known for '%s'; give --gpu-share SHARE "
                   "instead",
                   gpu->head.id);
  if (len > 3 && strcmp(profile + len - 3, "+me") == 0)
    len -= 3;
  for (size_t i = 0; i < PROFILES && b->profile[i].name; i++) {
    const struct profile *p = &b->profile[i];
    if (strlen(p->name) == len && strncmp(p->name, profile, len) == 0) {
      share->compute = p->slices / b->slices;
      share->memory = p->memories / b->memories;
      return DL_OK;
    }
  }
  return no_profile(gpu, b, profile, d);
}

const char *dl_mig_profile_at(size_t i) {
  enum { MOST = PROFILES * (sizeof boards / sizeof *boards) };
  const char *seen[MOST] = {NULL};
  size_t n = 0;
  for (size_t j = 0; j < MOST; j++) {
    const char *name = boards[j / PROFILES].profile[j % PROFILES].name;
    size_t k = 0;
    while (name && k < n && strcmp(seen[k], name) != 0)
      k++;
    if (!name || k < n)
      continue;
    if (n == i)
      return name;
    seen[n++] = name;
  }
  return NULL;
}

void dl_share_cut(struct dl_accelerator *gpu, const struct dl_share *share) {
  double *by_compute[] = {&gpu->tdp_w,
                          &gpu->power_limit_w,
                          &gpu->idle_w,
                          &gpu->peak_fp64_tflops,
                          &gpu->peak_fp32_tflops,
                          &gpu->peak_fp16_tflops,
                          &gpu->peak_bf16_tflops,
                          &gpu->peak_fp64_tensor_tflops,
                          &gpu->peak_tf32_tflops,
                          &gpu->peak_fp16_tensor_tflops,
                          &gpu->peak_bf16_tensor_tflops,
                          &gpu->peak_fp8_tensor_tflops,
                          &gpu->peak_int8_tops,
                          &gpu->peak_int8_tensor_tops,
                          &gpu->cuda_cores,
                          &gpu->multiprocessors};
  double *by_memory[] = {&gpu->memory_gb, &gpu->bandwidth_gb_s, &gpu->l2_mb};
  for (size_t i = 0; i < sizeof by_compute / sizeof *by_compute; i++)
    *by_compute[i] *= share->compute;
  for (size_t i = 0; i < sizeof by_memory / sizeof *by_memory; i++)
    *by_memory[i] *= share->memory;
}
