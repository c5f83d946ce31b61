/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/mig.h"

#include <string.h>

enum { MOST_BOARDS = 4, PROFILES = 6 };

/* Compute and memory of each profile in slices; the last is the whole. */
static const struct dl_share sevenths[PROFILES] = {{1, 1}, {1, 2}, {2, 2},
                                                   {3, 4}, {4, 4}, {7, 8}};
static const struct dl_share quarters[PROFILES] = {{1, 1}, {2, 2}, {4, 4}};

/* Boards that share their profiles: identifiers of accelerators, and the names,
 * which have the memory in GB. */
static const struct mig_boards {
  const char *id[MOST_BOARDS];
  const struct dl_share *slices;
  const char *profile[PROFILES];
} boards[] = {
    {{"a100-sxm4-40gb", "a100-pcie-40gb"},
     sevenths,
     {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}},
    {{"a100-sxm4-80gb", "a100-pcie-80gb", "h100-sxm5-80gb", "h100-pcie"},
     sevenths,
     {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
    {{"h100-nvl"},
     sevenths,
     {"1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"}},
    {{"h200", "h200-nvl"},
     sevenths,
     {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"}},
    {{"a30"}, quarters, {"1g.6gb", "2g.12gb", "4g.24gb"}},
};

static const struct mig_boards *board_of(const char *id) {
  for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
    for (size_t j = 0; j < MOST_BOARDS && boards[i].id[j]; j++)
      if (strcmp(boards[i].id[j], id) == 0)
        return &boards[i];
  return NULL;
}

static size_t n_profiles(const struct mig_boards *b) {
  size_t n = 0;
  while (n < PROFILES && b->profile[n])
    n++;
  return n;
}

static enum dl_status no_profile(const struct dl_accelerator *gpu,
                                 const struct mig_boards *b,
                                 const char *profile, struct dl_diag *d) {
  DL_TEXT(names);
  for (size_t i = 0; i < n_profiles(b); i++)
    dl_text_printf(&names, "%s%s", i ? ", " : "", b->profile[i]);
  return dl_fail(d, DL_EUSAGE, "'%s' has no MIG profile '%.32s'; it has %s",
                 gpu->head.id, profile, dl_text_str(&names));
}

enum dl_status dl_mig_share(const struct dl_accelerator *gpu,
                            const char *profile, struct dl_share *share,
                            struct dl_diag *d) {
  const struct mig_boards *b = board_of(gpu->head.id);
  size_t len = strlen(profile);
  if (!b)
    return dl_fail(d, DL_EINPUT,
                   "no MIG profiles are known for '%s'; give --gpu-share SHARE "
                   "instead",
                   gpu->head.id);
  static const char media[] = "+me";
  size_t n_media = strlen(media);
  if (len > n_media && strcmp(profile + len - n_media, media) == 0)
    len -= n_media;
  for (size_t i = 0, n = n_profiles(b); i < n; i++)
    if (strlen(b->profile[i]) == len &&
        strncmp(b->profile[i], profile, len) == 0) {
      share->compute = b->slices[i].compute / b->slices[n - 1].compute;
      share->memory = b->slices[i].memory / b->slices[n - 1].memory;
      return DL_OK;
    }
  return no_profile(gpu, b, profile, d);
}

const char *dl_mig_profile_at(size_t i) {
  enum { MOST = PROFILES * (sizeof boards / sizeof *boards) };
  const char *seen[MOST] = {NULL};
  size_t n = 0;
  for (size_t j = 0; j < MOST; j++) {
    const char *name = boards[j / PROFILES].profile[j % PROFILES];
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
                          &gpu->most_limit_w,
                          &gpu->idle_w,
                          &gpu->context_w,
                          &gpu->peak_fp64_tflops,
                          &gpu->peak_fp32_tflops,
                          &gpu->peak_fp16_tflops,
                          &gpu->peak_bf16_tflops,
                          &gpu->peak_fp64_tensor_tflops,
                          &gpu->peak_tf32_tflops,
                          &gpu->peak_fp16_tensor_tflops,
                          &gpu->peak_bf16_tensor_tflops,
                          &gpu->peak_fp8_tensor_tflops,
                          &gpu->peak_fp4_tensor_tflops,
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
