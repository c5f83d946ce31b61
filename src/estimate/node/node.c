/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/node.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"

const char *dl_boundary_name(enum dl_boundary b) {
  static const char *const names[] = {[DL_BOUND_GPU] = "gpu",
                                      [DL_BOUND_GPU_RAM] = "gpu+ram",
                                      [DL_BOUND_NODE] = "node",
                                      [DL_BOUND_FACILITY] = "facility"};
  return names[b];
}

static bool begins(const char *s, const char *with) {
  return s && strncmp(s, with, strlen(with)) == 0;
}

static struct dl_figure assumed(double x) {
  return (struct dl_figure){x, "assumed"};
}

/* A word for where the value of a field comes from. */
static const char *origin_word(const struct dl_origin *v) {
  if (begins(v->source, "given"))
    return "given";
  if (begins(v->note, "assumed"))
    return "assumed";
  if (begins(v->note, "derived:"))
    return "derived";
  return begins(v->note, "disputed:") ? "disputed" : "published";
}

/* The value in a member of a descriptor. */
static struct dl_figure figure_of(const struct dl_descriptor *e,
                                  const double *member) {
  const struct dl_origin *v = &e->origin[dl_field_index(e, member)];
  return (struct dl_figure){*member, origin_word(v)};
}

/* Returns the node's own figure, else the one in the part's entry. */
static struct dl_figure own_or(const struct dl_node *e, const double *member,
                               const struct dl_accelerator *part,
                               const double *part_member) {
  if (!isnan(*member) || !part)
    return figure_of(&e->head, member);
  return figure_of(&part->head, part_member);
}

/* The first field that the power of a node cannot do without; NULL: none. */
static const char *missing_field(const struct dl_node_power *n) {
  if (isnan(n->sockets))
    return "sockets";
  if (isnan(n->memory_gb))
    return "memory_gb";
  return isnan(n->cpu_tdp_w.x) ? "cpu_tdp_w" : NULL;
}

static enum dl_status check(const struct dl_node_power *n,
                            const struct dl_descriptor *e, struct dl_diag *d) {
  const char *lacks = missing_field(n);
  if (lacks)
    return dl_fail_at(d, DL_EINPUT, e->file, e->line,
                      "node '%s' has no %s; give it with --set node.%s=VALUE",
                      e->id, lacks, lacks);
  if (n->cpu_idle_w.x > n->cpu_tdp_w.x)
    return dl_fail_at(d, DL_EINPUT, e->file, e->line,
                      "node '%s': cpu_idle_w %g is more than the TDP of %g W",
                      e->id, n->cpu_idle_w.x, n->cpu_tdp_w.x);
  if (n->gpus > 0 && isnan(n->gpu_tdp_w.x))
    return dl_fail_at(d, DL_EINPUT, e->file, e->line,
                      "node '%s': its accelerator has no tdp_w; give it with "
                      "--set gpu.tdp_w=VALUE",
                      e->id);
  if (n->gpus > 0 && n->gpu_idle_w.x > n->gpu_tdp_w.x)
    return dl_fail_at(d, DL_EINPUT, e->file, e->line,
                      "node '%s': gpu_idle_w %g is more than the TDP of %g W",
                      e->id, n->gpu_idle_w.x, n->gpu_tdp_w.x);
  return DL_OK;
}

/* Sets what is charged to the job. */
static void charge(struct dl_node_power *n) {
  const struct dl_node_use *u = &n->use;
  double in_use = u->on_cpu ? 0 : u->used * u->share.compute;
  n->charged = u->whole ? 1 : in_use / n->gpus;
  n->idle_gpus = u->whole ? n->gpus - in_use : 0;
}

enum dl_status dl_node_resolve(struct dl_node_power *n, const struct dl_node *e,
                               const struct dl_accelerator *cpu,
                               const struct dl_accelerator *gpu,
                               const struct dl_node_use *use,
                               struct dl_diag *d) {
  const struct dl_figure none = {NAN, NULL};
  *n = (struct dl_node_power){
      .use = *use,
      .gpus = e->gpus,
      .sockets = e->sockets,
      .memory_gb = e->memory_gb,
      .gpu_tdp_w = gpu ? figure_of(&gpu->head, &gpu->tdp_w) : none,
      .gpu_idle_w = own_or(e, &e->gpu_idle_w, gpu, gpu ? &gpu->idle_w : NULL),
      .cpu_tdp_w = own_or(e, &e->cpu_tdp_w, cpu, cpu ? &cpu->tdp_w : NULL),
      .cpu_idle_w = own_or(e, &e->cpu_idle_w, cpu, cpu ? &cpu->idle_w : NULL),
      .memory_w_gb = figure_of(&e->head, &e->memory_w_gb),
      .rest_w = figure_of(&e->head, &e->rest_w),
      .efficiency = figure_of(&e->head, &e->supply_efficiency),
      .load = use->on_cpu      ? NAN
              : use->inference ? DL_NODE_LOAD_INFERENCE
                               : DL_NODE_LOAD_TRAINING,
  };
  if (isnan(n->gpus))
    n->gpus = 0;
  if (isnan(n->gpu_idle_w.x))
    n->gpu_idle_w = assumed(DL_NODE_GPU_IDLE * n->gpu_tdp_w.x);
  if (isnan(n->cpu_idle_w.x))
    n->cpu_idle_w = assumed(DL_NODE_CPU_IDLE * n->cpu_tdp_w.x);
  if (isnan(n->memory_w_gb.x))
    n->memory_w_gb = assumed(DL_MEMORY_W_PER_GB);
  if (isnan(n->rest_w.x))
    n->rest_w = assumed(0);
  if (isnan(n->efficiency.x))
    n->efficiency = assumed(DL_NODE_SUPPLY);
  charge(n);
  return check(n, &e->head, d);
}

struct dl_node_load dl_node_load_of(const struct dl_estimate *est) {
  return (struct dl_node_load){
      .energy_j = est->energy_j,
      .memory_w = est->memory_w,
      .duration_s = est->duration_s.x,
      .time_given =
          est->duration_from && strcmp(est->duration_from, "given") == 0,
  };
}

static struct dl_interval within(double x, double spread) {
  return (struct dl_interval){x, x * (1 - spread), x * (1 + spread)};
}

static double cpu_power(const struct dl_node_power *n, double load) {
  double idle = n->cpu_idle_w.x;
  return n->charged * n->sockets * (idle + load * (n->cpu_tdp_w.x - idle));
}

static struct dl_interval cpu_energy(const struct dl_node_power *n,
                                     double duration_s) {
  if (n->use.on_cpu)
    return within(0, 0);
  return (struct dl_interval){duration_s * cpu_power(n, n->load),
                              duration_s * cpu_power(n, DL_NODE_LOAD_LEAST),
                              duration_s * cpu_power(n, DL_NODE_LOAD_MOST)};
}

/* The estimate without the memory it counts. */
static struct dl_interval busy(const struct dl_node_load *l) {
  double memory_j = l->memory_w * l->duration_s;
  return (struct dl_interval){
      fmax(l->energy_j.x - memory_j, 0),
      isnan(l->energy_j.low) ? NAN : fmax(l->energy_j.low - memory_j, 0),
      l->energy_j.high - memory_j};
}

/* Parts up to `last` that `mask` has, with their interval. */
static struct dl_interval sum(const struct dl_node_energy *e, unsigned mask,
                              bool time_given) {
  const struct dl_interval *b = &e->part[DL_PART_BUSY];
  double x = 0, below = 0, above = 0;
  for (int i = 0; i <= DL_PART_REST; i++) {
    const struct dl_interval *p = &e->part[i];
    if (!(mask & (1u << i)))
      continue;
    x += p->x;
    if (i != DL_PART_BUSY) {
      below = hypot(below, p->x - p->low);
      above = hypot(above, p->high - p->x);
    }
  }
  double scale = time_given || b->x <= 0 ? 1 : x / b->x;
  below = hypot(below, scale * (b->x - b->low));
  above = hypot(above, scale * (b->high - b->x));
  return (struct dl_interval){x, fmax(x - below, 0), x + above};
}

static struct dl_interval times(struct dl_interval r, double by) {
  return (struct dl_interval){r.x * by, r.low * by, r.high * by};
}

void dl_node_compose(const struct dl_node_power *n,
                     const struct dl_node_load *load,
                     struct dl_node_energy *out) {
  enum {
    GPU = 1u << DL_PART_BUSY,
    RAM = 1u << DL_PART_MEMORY,
    ALL = (1u << (DL_PART_REST + 1)) - 1
  };
  double t = load->duration_s;
  struct dl_interval *p = out->part, *b = out->bound;
  p[DL_PART_BUSY] = busy(load);
  p[DL_PART_IDLE] =
      within(n->idle_gpus > 0 ? t * n->idle_gpus * n->gpu_idle_w.x : 0,
             DL_NODE_SPREAD_IDLE);
  p[DL_PART_CPU] = cpu_energy(n, t);
  p[DL_PART_MEMORY] = within(t * n->charged * n->memory_gb * n->memory_w_gb.x,
                             DL_NODE_SPREAD_MEMORY);
  p[DL_PART_REST] = within(t * n->charged * n->rest_w.x, DL_NODE_SPREAD_REST);
  b[DL_BOUND_GPU] = p[DL_PART_BUSY];
  b[DL_BOUND_GPU_RAM] = sum(out, GPU | RAM, load->time_given);
  struct dl_interval dc = sum(out, ALL, load->time_given);
  if (isnan(p[DL_PART_BUSY].low)) /* fmax drops NaN */
    b[DL_BOUND_GPU_RAM].low = dc.low = NAN;
  b[DL_BOUND_NODE] = times(dc, 1 / n->efficiency.x);
  b[DL_BOUND_FACILITY] = times(b[DL_BOUND_NODE], n->use.pue);
  p[DL_PART_SUPPLY] = times(dc, 1 / n->efficiency.x - 1);
  p[DL_PART_COOLING] = times(b[DL_BOUND_NODE], n->use.pue - 1);
}

double dl_node_busy_tdp(const struct dl_node_power *n, double duration_s) {
  return duration_s * n->use.used *
         (n->use.on_cpu ? n->cpu_tdp_w.x
                        : n->gpu_tdp_w.x * n->use.share.compute);
}

double dl_node_rated(const struct dl_node_power *n, double duration_s,
                     enum dl_boundary b) {
  if (b < DL_BOUND_NODE)
    return NAN;
  double watts = n->sockets * n->cpu_tdp_w.x + n->memory_gb * n->memory_w_gb.x +
                 n->rest_w.x;
  if (n->gpus > 0)
    watts += n->gpus * n->gpu_tdp_w.x;
  double joules = duration_s * n->charged * watts / n->efficiency.x;
  return b == DL_BOUND_NODE ? joules : joules * n->use.pue;
}

struct dl_embodied dl_node_embodied(const struct dl_node_power *n,
                                    double server_kg, double gpu_kg,
                                    double duration_s, double lifetime_years,
                                    double in_use) {
  double part = duration_s / (lifetime_years * DL_S_PER_YEAR * in_use);
  double gpus = n->charged * n->gpus;
  return (struct dl_embodied){
      .server_kg = server_kg,
      .gpu_kg = gpu_kg,
      .gpus = gpus,
      .server_g = 1e3 * server_kg * n->charged * part,
      .gpus_g = gpus > 0 ? 1e3 * gpu_kg * gpus * part : 0,
  };
}
