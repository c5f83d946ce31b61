/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/gpu_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/names/gpu_name.h"

/* A name of an entry. */
struct dl_gpu_listed {
  struct dl_gpu_name name;
  const struct dl_accelerator *gpu;
  size_t next; /* of this product, in the order of entry; 0: none */
};

/* A driver reports up to 8.1 % less memory than a board has, if a part holds
 * error correction (A10G), and rounds. */
#define LEAST_MEMORY 0.918
#define MOST_MEMORY 1.01
/* Names state whole GB, so that memories within half a GB are equal. */
#define SAME_GB 0.5
/* Boards accept power limits in this range, by TDP. */
#define LEAST_POWER 0.2
#define MOST_POWER 1.5

static void list_name(struct dl_gpu_match *m, const char *text,
                      const struct dl_accelerator *gpu) {
  struct dl_gpu_name name;
  if (!dl_gpu_name_parse(text, true, &name) || !isnan(name.watts))
    return;
  size_t before = m->products.n;
  long product = dl_intern(&m->products, name.product);
  DL_GROW(m->first, m->cap_first, m->products.n);
  if (m->products.n > before)
    m->first[product] = 0;
  /* Element 0 stays empty: its number says "none". */
  DL_GROW(m->listed, m->cap_listed, m->n_listed + 2);
  size_t *at = &m->first[product];
  while (*at)
    at = &m->listed[*at].next;
  *at = ++m->n_listed;
  m->listed[m->n_listed] = (struct dl_gpu_listed){name, gpu, 0};
}

void dl_gpu_match_read(struct dl_gpu_match *m,
                       const struct dl_descriptor *const *all, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct dl_accelerator *gpu = DL_AS(accelerator, all[i]);
    list_name(m, gpu->head.id, gpu);
    list_name(m, gpu->head.name, gpu);
    for (size_t k = 0; k < gpu->head.n_aliases; k++)
      list_name(m, gpu->head.aliases[k], gpu);
  }
}

void dl_gpu_match_free(struct dl_gpu_match *m) {
  for (size_t i = 0; i < m->n_limited; i++)
    free(m->limited[i]);
  free(m->limited);
  free(m->listed);
  free(m->first);
  dl_intern_free(&m->products);
  *m = (struct dl_gpu_match){0};
}

/* Whether a part that a name states is equal to the entry's, or begins it. */
static bool begins(const char *stated, const char *entry) {
  return !*stated || (entry && strncmp(entry, stated, strlen(stated)) == 0);
}

static bool is_memory(double stated, double of_entry) {
  double ratio = stated / of_entry;
  return ratio >= LEAST_MEMORY && ratio <= MOST_MEMORY;
}

static bool fits(const struct dl_gpu_name *name,
                 const struct dl_gpu_listed *listed) {
  const struct dl_accelerator *gpu = listed->gpu;
  double power = name->watts / gpu->tdp_w;
  return (begins(name->form, gpu->form) ||
          begins(name->form, listed->name.form)) &&
         begins(name->memory_type, gpu->memory_type) &&
         (!*name->family ||
          (gpu->family && strcmp(name->family, gpu->family) == 0)) &&
         (isnan(name->memory_gb) ||
          is_memory(name->memory_gb, gpu->memory_gb) ||
          is_memory(name->memory_gb, listed->name.memory_gb)) &&
         (isnan(name->watts) || (power >= LEAST_POWER && power <= MOST_POWER));
}

static bool is_bare(const struct dl_gpu_name *name) {
  return !*name->form && !*name->memory_type && isnan(name->memory_gb);
}

/* Measures how near an entry is: its memory counts most, if it is the one that
 * the name states; then how near it is to the entry that the product alone
 * names. */
static int nearness(const struct dl_gpu_name *name,
                    const struct dl_accelerator *gpu,
                    const struct dl_accelerator *usual) {
  int memory = fabs(name->memory_gb - gpu->memory_gb) < SAME_GB ? 8 : 0;
  if (!usual)
    return memory;
  if (gpu == usual)
    return memory + 4;
  /* No entry of the list is NULL: a product begins at one.
   * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  bool form = gpu->form && usual->form && strcmp(gpu->form, usual->form) == 0;
  return memory + 2 * form + (gpu->memory_gb == usual->memory_gb);
}

/* Returns the entry that a name means, or NULL. */
static const struct dl_accelerator *find(const struct dl_gpu_match *m,
                                         const struct dl_gpu_name *name) {
  const struct dl_accelerator *usual = NULL, *best = NULL;
  bool several = false;
  int near = -1;
  long product = dl_intern_find(&m->products, name->product);
  size_t first = product < 0 ? 0 : m->first[product];
  for (size_t i = first; i && !usual; i = m->listed[i].next)
    if (is_bare(&m->listed[i].name))
      usual = m->listed[i].gpu;
  for (size_t i = first; i; i = m->listed[i].next) {
    const struct dl_accelerator *gpu = m->listed[i].gpu;
    int n = nearness(name, gpu, usual);
    if (gpu == best || n < near || !fits(name, &m->listed[i]))
      continue;
    several = n == near;
    best = gpu;
    near = n;
  }
  return several ? NULL : best;
}

/* Returns the copy of a board with a power limit. */
static const struct dl_descriptor *
limit(struct dl_gpu_match *m, const struct dl_accelerator *gpu, double watts) {
  for (size_t i = 0; i < m->n_limited; i++)
    if (m->limited[i]->head.id == gpu->head.id &&
        m->limited[i]->power_limit_w == watts)
      return &m->limited[i]->head;
  struct dl_accelerator *copy = dl_calloc(1, sizeof *copy);
  DL_GROW(m->limited, m->cap_limited, m->n_limited + 1);
  m->limited[m->n_limited++] = copy;
  *copy = *gpu;
  dl_field_set(&copy->head, dl_field_find(DL_ACCELERATOR, "power_limit_w"),
               watts, (struct dl_origin){.source = "given"});
  return &copy->head;
}

/* Finds the board that a name without its series means: "4090", "1080 Ti",
 * "7900 XTX", "v5e". "6000" stays unknown: boards of several series have it. */
static const struct dl_accelerator *
find_in_series(const struct dl_gpu_match *m, const struct dl_gpu_name *name) {
  static const char *const series[] = {"rtx", "gtx", "rx", "tpu"};
  const struct dl_accelerator *found = NULL;
  for (size_t i = 0; i < sizeof series / sizeof *series && !found; i++) {
    struct dl_gpu_name whole = *name;
    if (strlen(series[i]) + strlen(name->product) >= DL_GPU_PRODUCT)
      continue;
    strcpy(whole.product, series[i]);
    strcat(whole.product, name->product);
    found = find(m, &whole);
    if (found && strncmp(found->head.id, series[i], strlen(series[i])) != 0)
      found = NULL;
  }
  return found;
}

void dl_gpu_match_find(struct dl_gpu_match *m, const char *name,
                       const struct dl_descriptor **e) {
  const struct dl_accelerator *gpu = NULL;
  struct dl_gpu_name parts = {.watts = NAN};
  *e = NULL;
  for (int keep = 1; keep >= 0 && !gpu; keep--)
    if (dl_gpu_name_parse(name, keep, &parts))
      gpu = find(m, &parts);
  if (!gpu && dl_gpu_name_parse(name, true, &parts))
    gpu = find_in_series(m, &parts);
  if (gpu)
    *e = isnan(parts.watts) ? &gpu->head : limit(m, gpu, parts.watts);
}
