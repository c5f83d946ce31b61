/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/accounting/accounting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "estimate/accounting/core_power.h"

#define RAM_SOURCE "Green Algorithms, doi 10.1002/advs.202100707"
#define RAM_YEAR "2021"

/* A name that the accounting uses for GPUs, and what it stands for. */
struct gpu_name {
  const struct dl_descriptor *gpu; /* NULL: unknown */
  bool looked_up, used;
  double share; /* of a GPU that the name stands for (MIG) */
  size_t jobs;  /* that have it, where it is unknown */
};

/* Facts given of the nodes of a partition or ("") of all others: their mean
 * power, or their CPU. */
struct nodes_of {
  char *partition;
  double w;
  const struct dl_accelerator *cpu;
  bool used;
};

struct dl_accounting {
  const struct dl_cluster *o;
  struct dl_catalog *catalog;
  struct nodes_of *power, *cpu;
  size_t n_power, n_cpus;
  double core_w[3]; /* of servers in the catalogue, at their TDP: median, low
                       and high; 0: not looked up */
  struct dl_intern names; /* of GPUs: types and partitions */
  struct gpu_name *gpu;   /* one a name */
  size_t gpu_cap;
  bool used_ram, used_cores;
  struct dl_constant *added; /* from other estimates; owns their texts */
  size_t n_added, added_cap;
  size_t coreless;  /* jobs without GPUs whose cores are unknown */
  size_t unnamed;   /* jobs by the cores of a CPU that is not named */
  size_t doubted;   /* jobs whose measured energy no such node takes */
  double doubted_w; /* mean power of the first of them, and its line */
  size_t doubted_line;
};

const char *dl_energy_from_name(enum dl_energy_from from) {
  static const char *const names[] = {NULL,      "measured", "node-power",
                                      "gpu-use", "gpu-tdp",  "cores"};
  return names[from];
}

/* The entry of a name. */
static struct gpu_name *name_entry(struct dl_accounting *a, const char *name) {
  size_t before = a->names.n;
  DL_GROW(a->gpu, a->gpu_cap, before + 1);
  long i = dl_intern(&a->names, name);
  if (a->names.n > before) {
    a->gpu[i] = (struct gpu_name){0};
    dl_mig_type(name, strlen(name), &a->gpu[i].share);
  }
  return &a->gpu[i];
}

/* "A=B" or "B" (then "" for A). */
static char *split(const char *text, const char **value) {
  const char *eq = strchr(text, '=');
  *value = eq ? eq + 1 : text;
  return dl_strndup(text, eq ? (size_t)(eq - text) : 0);
}

static enum dl_status add_gpu(struct dl_accounting *a, const char *text,
                              struct dl_diag *d) {
  const char *value;
  DL_FREED char *name = split(text, &value);
  struct gpu_name *g = name_entry(a, name);
  double share;
  DL_FREED char *gpu =
      dl_strndup(value, dl_mig_type(value, strlen(value), &share));
  g->looked_up = true;
  if (share < 1)
    g->share = share;
  if (*gpu)
    value = gpu;
  DL_TRY(dl_catalog_open(a->catalog, DL_ACCELERATOR, value, d));
  return dl_catalog_get(a->catalog, DL_ACCELERATOR, value, &g->gpu, d);
}

static enum dl_status add_power(struct dl_accounting *a, const char *text,
                                struct dl_diag *d) {
  const char *value;
  struct nodes_of *p = &a->power[a->n_power];
  p->partition = split(text, &value);
  a->n_power++;
  if (!dl_parse_double(value, &p->w) || p->w <= 0 || p->w > 1e6)
    return dl_fail(d, DL_EUSAGE,
                   "--node-power: expected W or PARTITION=W, not '%.64s'",
                   text);
  return DL_OK;
}

static enum dl_status add_cpu(struct dl_accounting *a, const char *text,
                              struct dl_diag *d) {
  const char *value;
  const struct dl_descriptor *e;
  struct nodes_of *p = &a->cpu[a->n_cpus];
  p->partition = split(text, &value);
  a->n_cpus++;
  DL_TRY(dl_catalog_open(a->catalog, DL_ACCELERATOR, value, d));
  DL_TRY(dl_catalog_get(a->catalog, DL_ACCELERATOR, value, &e, d));
  p->cpu = DL_AS(accelerator, e);
  return dl_cpu_check(p->cpu, value, d);
}

enum dl_status dl_accounting_new(struct dl_accounting **out,
                                 const struct dl_cluster *o,
                                 struct dl_catalog *catalog,
                                 struct dl_diag *d) {
  struct dl_accounting *a = *out = dl_calloc(1, sizeof *a);
  a->o = o;
  a->catalog = catalog;
  a->power = dl_calloc(o->node_power.n, sizeof *a->power);
  for (size_t i = 0; i < o->node_power.n; i++)
    DL_TRY(add_power(a, o->node_power.s[i], d));
  for (size_t i = 0; i < o->gpus.n; i++)
    DL_TRY(add_gpu(a, o->gpus.s[i], d));
  a->cpu = dl_calloc(o->cpus.n, sizeof *a->cpu);
  for (size_t i = 0; i < o->cpus.n; i++)
    DL_TRY(add_cpu(a, o->cpus.s[i], d));
  return DL_OK;
}

static void free_texts(struct dl_constant *c) {
  const char *const texts[] = {c->name, c->unit, c->of, c->source, c->year};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    free((char *)texts[i]);
}

void dl_accounting_add_constant(struct dl_accounting *a,
                                const struct dl_constant *c) {
  for (size_t i = 0; i < a->n_added; i++)
    if (dl_same_text(a->added[i].name, c->name) && a->added[i].x == c->x &&
        dl_same_text(a->added[i].of, c->of))
      return;
  DL_GROW(a->added, a->added_cap, a->n_added + 1);
  const char *const from[] = {c->name, c->unit, c->of, c->source, c->year};
  const char *to[5];
  for (size_t i = 0; i < 5; i++)
    to[i] = from[i] ? dl_strdup(from[i]) : NULL;
  a->added[a->n_added++] =
      (struct dl_constant){to[0], to[1], c->x, to[2], to[3], to[4]};
}

void dl_accounting_free(struct dl_accounting *a) {
  if (!a)
    return;
  for (size_t i = 0; i < a->n_power; i++)
    free(a->power[i].partition);
  for (size_t i = 0; i < a->n_cpus; i++)
    free(a->cpu[i].partition);
  for (size_t i = 0; i < a->n_added; i++)
    free_texts(&a->added[i]);
  free(a->added);
  free(a->power);
  free(a->cpu);
  free(a->gpu);
  dl_intern_free(&a->names);
  free(a);
}

/* The last one that names the partition, otherwise the last that names none. */
static struct nodes_of *find_nodes(struct nodes_of *list, size_t n,
                                   const char *partition) {
  struct nodes_of *any = NULL;
  for (size_t i = n; i > 0; i--) {
    struct nodes_of *p = &list[i - 1];
    if (partition && strcmp(p->partition, partition) == 0)
      return p;
    if (!any && p->partition[0] == '\0')
      any = p;
  }
  return any;
}

/* Returns how the user described a name; NULL: not at all. */
static struct gpu_name *given(struct dl_accounting *a, const char *name) {
  long i = name ? dl_intern_find(&a->names, name) : -1;
  return i >= 0 && a->gpu[i].gpu ? &a->gpu[i] : NULL;
}

/* The accelerator of a job: what the user says of its type or partition, the
 * type's own name, what the user says of all others. *out NULL: unknown. */
static enum dl_status find_gpu(struct dl_accounting *a,
                               const struct dl_cluster_job *r,
                               struct gpu_name **out, struct dl_diag *d) {
  const char *type = r->gpu;
  *out = given(a, type);
  if (!*out)
    *out = given(a, r->partition);
  if (*out)
    return DL_OK;
  struct gpu_name *g = type ? name_entry(a, type) : given(a, "");
  if (type && !g->looked_up) {
    g->looked_up = true;
    double share;
    DL_FREED char *gpu =
        dl_strndup(type, dl_mig_type(type, strlen(type), &share));
    enum dl_status status =
        dl_catalog_look(a->catalog, DL_ACCELERATOR, gpu, &g->gpu, d);
    if (status != DL_OK)
      return status;
  }
  if (type && !g->gpu && given(a, ""))
    g = given(a, "");
  if (!type && !g)
    g = name_entry(a, "");
  if (!g->gpu)
    g->jobs++;
  *out = g->gpu ? g : NULL;
  return DL_OK;
}

/* Returns the fraction of a whole GPU that each GPU of a job is, from its type
 * or from the user's description. */
static double share_of(struct dl_accounting *a,
                       const struct dl_cluster_job *r) {
  if (r->gpu_share < 1 || a->o->gpus.n == 0)
    return r->gpu_share;
  const struct gpu_name *g = given(a, r->gpu);
  if (!g)
    g = given(a, r->partition);
  if (!g && !r->gpu)
    g = given(a, "");
  return g ? g->share : 1;
}

static double gpu_power(const struct dl_accelerator *gpu, double use) {
  double tdp = gpu->tdp_w, idle = gpu->idle_w;
  if (isnan(use))
    return tdp;
  if (isnan(idle))
    idle = 0;
  return idle + (tdp - idle) * use;
}

/* The power of the cores of a job: given, of the CPU that is named, or, where
 * no GPU counts, of one that is not. x is NaN: unknown. */
static enum dl_status find_cores(struct dl_accounting *a,
                                 const struct dl_cluster_job *r, bool gpu,
                                 struct dl_interval *w, struct dl_diag *d) {
  struct nodes_of *p = find_nodes(a->cpu, a->n_cpus, r->partition);
  *w = (struct dl_interval){NAN, NAN, NAN};
  if (!(r->n_cpus > 0))
    return DL_OK;
  if (a->o->core_power_w > 0) {
    a->used_cores = true;
    w->x = a->o->core_power_w * dl_or(r->cpu_util, 1);
    w->low = w->high = w->x;
  } else if (p) {
    p->used = true;
    dl_core_power(p->cpu, r->cpu_util, a->o->threads, w);
  } else if (!gpu) {
    a->unnamed++;
    if (!(a->core_w[0] > 0))
      DL_TRY(dl_server_core_power(a->catalog, a->core_w, d));
    dl_core_power_range(a->core_w, r->cpu_util, a->o->threads, w);
  }
  w->x *= r->n_cpus;
  w->low *= r->n_cpus;
  w->high *= r->n_cpus;
  return DL_OK;
}

/* The power of the GPUs of a job, 0 without any; NaN: unknown. */
static enum dl_status find_gpu_power(struct dl_accounting *a,
                                     const struct dl_cluster_job *r,
                                     double *power, struct dl_diag *d) {
  struct gpu_name *g = NULL;
  *power = 0;
  if (!(r->n_gpus > 0))
    return DL_OK;
  *power = NAN;
  DL_TRY(find_gpu(a, r, &g, d));
  if (!g || isnan(DL_AS(accelerator, g->gpu)->tdp_w))
    return DL_OK;
  g->used = true;
  *power = r->n_gpus * share_of(a, r) *
           gpu_power(DL_AS(accelerator, g->gpu), r->gpu_util);
  return DL_OK;
}

/* Estimates the energy of the parts that are known. */
static enum dl_status estimate_parts(struct dl_accounting *a,
                                     const struct dl_cluster_job *r,
                                     struct dl_accounted *out,
                                     struct dl_diag *d) {
  double power;
  struct dl_interval cores;
  DL_TRY(find_gpu_power(a, r, &power, d));
  if (isnan(power))
    return DL_OK;
  bool gpu = r->n_gpus > 0, ram = r->ram_gb > 0;
  DL_TRY(find_cores(a, r, gpu, &cores, d));
  bool cpu = !isnan(cores.x);
  a->coreless += !gpu && !cpu;
  if (!gpu && !cpu)
    return DL_OK;
  double memory = ram ? DL_MEMORY_W_PER_GB * r->ram_gb : 0;
  a->used_ram |= ram;
  out->energy_j = (power + dl_or(cores.x, 0) + memory) * out->duration_s;
  out->boundary = dl_parts_boundary(gpu, cpu, ram);
  out->from = isnan(r->gpu_util) ? DL_ENERGY_GPU_TDP : DL_ENERGY_GPU_USE;
  if (gpu)
    return DL_OK;
  out->from = DL_ENERGY_CORES;
  if (cores.low < cores.high) {
    out->low_j = (cores.low + DL_LEAST_MEMORY * memory) * out->duration_s;
    out->high_j = (cores.high + memory) * out->duration_s;
  }
  return DL_OK;
}

/* Warns of an energy whose units look mistaken. It may cover whole nodes with
 * all of their GPUs, or some parts of one. */
static void doubt_energy(struct dl_accounting *a,
                         const struct dl_cluster_job *r) {
  const double least_w = 1, least_s = 300; /* meters are slow */
  bool parts = r->boundary && strcmp(r->boundary, "node") != 0 &&
               strcmp(r->boundary, "facility") != 0;
  const double most_w_per_node = parts && r->n_gpus > 0 ? 5e3 : 5e4;
  const double most_w_per_gpu = 5e3;
  double most_w = fmax(most_w_per_node * dl_or(r->n_nodes, 1),
                       most_w_per_gpu * dl_or(r->n_gpus, 0));
  double w = r->energy_j / r->duration_s;
  bool low = w < least_w && r->duration_s >= least_s;
  if (!(r->duration_s > 0) || !((low && !r->shared) || w > most_w))
    return;
  if (a->doubted++ == 0) {
    a->doubted_w = w;
    a->doubted_line = r->line;
  }
}

enum dl_status dl_account(struct dl_accounting *a,
                          const struct dl_cluster_job *r,
                          struct dl_accounted *out, struct dl_diag *d) {
  double n_gpus = r->n_gpus * share_of(a, r), nodes = r->n_nodes;
  double use = r->gpu_util;
  *out = (struct dl_accounted){.job = r,
                               .duration_s = r->duration_s,
                               .energy_j = r->energy_j,
                               .low_j = NAN,
                               .high_j = NAN};
  out->gpu_s = n_gpus > 0 ? n_gpus * out->duration_s : 0;
  out->idle_gpu_s = n_gpus > 0 ? out->gpu_s * (1 - use) : NAN;
  if (!isnan(out->energy_j)) {
    doubt_energy(a, r);
    out->from = DL_ENERGY_MEASURED;
    out->boundary = r->boundary;
    return DL_OK;
  }
  if (isnan(out->duration_s))
    return DL_OK;
  struct nodes_of *p = find_nodes(a->power, a->n_power, r->partition);
  if (!p)
    return estimate_parts(a, r, out, d);
  p->used = true;
  out->from = DL_ENERGY_NODE_POWER;
  out->boundary = "node";
  out->energy_j = p->w * (nodes > 0 ? nodes : 1) * out->duration_s;
  return DL_OK;
}

void dl_accounting_warn(const struct dl_accounting *a, struct dl_diag *d) {
  for (size_t i = 0; i < a->names.n; i++) {
    const struct gpu_name *g = &a->gpu[i];
    const char *s = g->jobs == 1 ? "" : "s";
    if (g->jobs > 0 && a->names.s[i][0] != '\0')
      dl_warn(d,
              "%zu job%s without energy: GPU '%.64s' is not known; say what it "
              "is with --gpu %.64s=NAME",
              g->jobs, s, a->names.s[i], a->names.s[i]);
    else if (g->jobs > 0)
      dl_warn(d,
              "%zu job%s without energy: the accounting does not say which "
              "GPUs; name them with --gpu NAME",
              g->jobs, s);
  }
  if (a->doubted > 0)
    dl_warn(d,
            "%zu job%s with a measured energy that is not plausible, the first "
            "in line %zu with a mean power of %.3g W; check the units",
            a->doubted, a->doubted == 1 ? "" : "s", a->doubted_line,
            a->doubted_w);
  if (a->coreless > 0)
    dl_warn(d,
            "%zu job%s without GPUs and without energy: the accounting has no "
            "cores; add NCPUS, or say what nodes take with --node-power",
            a->coreless, a->coreless == 1 ? "" : "s");
  if (a->unnamed > 0)
    dl_warn(d,
            "%zu job%s by the cores of a usual server, %.3g W a core at its "
            "TDP: name the CPU with --cpu",
            a->unnamed, a->unnamed == 1 ? "" : "s", a->core_w[0]);
}

/* Whether another name before this one stands for its accelerator, too. */
static bool counted_before(const struct dl_accounting *a, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (a->gpu[j].used && a->gpu[j].gpu == a->gpu[i].gpu)
      return true;
  return false;
}

/* Adds a power of an accelerator, a member of it, unless it is unknown. */
static void add_gpu_constant(const struct dl_accelerator *gpu, const char *name,
                             const double *w, struct dl_constant *to,
                             size_t *n) {
  const struct dl_origin *from =
      &gpu->head.origin[dl_field_index(&gpu->head, w)];
  if (!isnan(*w))
    to[(*n)++] = (struct dl_constant){name,           "W",          *w,
                                      gpu->head.name, from->source, from->year};
}

struct dl_constant *dl_accounting_constants(const struct dl_accounting *a,
                                            size_t *n) {
  struct dl_constant *to = dl_calloc(
      a->n_added + a->n_power + 2 * a->names.n + a->n_cpus + 3, sizeof *to);
  *n = 0;
  for (size_t i = 0; i < a->n_added; i++)
    to[(*n)++] = a->added[i];
  for (size_t i = 0; i < a->n_power; i++)
    if (a->power[i].used)
      to[(*n)++] =
          (struct dl_constant){"node_power_w",        "W",     a->power[i].w,
                               a->power[i].partition, "given", NULL};
  for (size_t i = 0; i < a->names.n; i++)
    if (a->gpu[i].used && !counted_before(a, i)) {
      const struct dl_accelerator *gpu = DL_AS(accelerator, a->gpu[i].gpu);
      add_gpu_constant(gpu, "tdp_w", &gpu->tdp_w, to, n);
      add_gpu_constant(gpu, "idle_w", &gpu->idle_w, to, n);
    }
  for (size_t i = 0; i < a->n_cpus; i++)
    if (a->cpu[i].used)
      add_gpu_constant(a->cpu[i].cpu, "tdp_w", &a->cpu[i].cpu->tdp_w, to, n);
  if (a->unnamed > 0)
    to[(*n)++] = (struct dl_constant){"core_tdp_w",   "W",
                                      a->core_w[0],   "a core of servers",
                                      DL_CORE_SOURCE, NULL};
  if (a->used_cores)
    to[(*n)++] = (struct dl_constant){
        "core_power_w", "W", a->o->core_power_w, "a core", "given", NULL};
  if (a->used_ram)
    to[(*n)++] =
        (struct dl_constant){"ram_w_per_gb", "W/GB",     DL_MEMORY_W_PER_GB,
                             "memory",       RAM_SOURCE, RAM_YEAR};
  return to;
}
