/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/node.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "physics/cpu/package_power.h"

const char *dl_boundary_name(enum dl_boundary b) {
  static const char *const names[] = {[DL_BOUND_GPU] = "gpu",
                                      [DL_BOUND_GPU_RAM] = "gpu+ram",
                                      [DL_BOUND_DC] = "node-dc",
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
  n->idle_sockets = u->on_cpu ? fmax(n->sockets - u->used, 0) : 0;
}

/* The load of the CPUs beside accelerators; NaN without. */
static double cpu_load(const struct dl_node_use *use) {
  if (use->on_cpu)
    return NAN;
  return use->inference || use->language ? DL_NODE_LOAD : DL_NODE_LOAD_LOADER;
}

enum dl_status dl_node_resolve(struct dl_node_power *n, const struct dl_node *e,
                               const struct dl_accelerator *cpu,
                               const struct dl_accelerator *gpu,
                               const struct dl_node_use *use,
                               struct dl_diag *d) {
  const struct dl_figure none = {NAN, NULL};
  double nodes = fmax(use->nodes, 1);
  *n = (struct dl_node_power){
      .use = *use,
      .nodes = nodes,
      .gpus = nodes * dl_or(e->gpus, 0),
      .sockets = nodes * e->sockets,
      .memory_gb = nodes * e->memory_gb,
      .fans_w = nodes * dl_or(e->fans_w, 0),
      .supply_w = nodes * e->supply_w,
      .gpu_tdp_w = gpu ? figure_of(&gpu->head, &gpu->tdp_w) : none,
      .gpu_idle_w = own_or(e, &e->gpu_idle_w, gpu, gpu ? &gpu->idle_w : NULL),
      .cpu_tdp_w = own_or(e, &e->cpu_tdp_w, cpu, cpu ? &cpu->tdp_w : NULL),
      .cpu_idle_w = own_or(e, &e->cpu_idle_w, cpu, cpu ? &cpu->idle_w : NULL),
      .memory_w_gb = figure_of(&e->head, &e->memory_w_gb),
      .rest_w = figure_of(&e->head, &e->rest_w),
      .efficiency = figure_of(&e->head, &e->supply_efficiency),
      .cores = nodes * e->cores,
      .load = cpu_load(use),
  };
  if (isnan(n->gpu_idle_w.x))
    n->gpu_idle_w = assumed(DL_NODE_GPU_IDLE * n->gpu_tdp_w.x);
  if (isnan(n->cpu_idle_w.x))
    n->cpu_idle_w = assumed(DL_PACKAGE_IDLE * n->cpu_tdp_w.x);
  if (isnan(n->memory_w_gb.x))
    n->memory_w_gb = assumed(DL_MEMORY_W_PER_GB);
  n->rest_w.x *= nodes;
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
      .time_given = dl_is_word(est->duration_from, "given"),
      .time_s = est->duration_s,
      .power_w = est->power_w,
      .capped = est->capped,
      .loader_core_s = dl_or(est->loader_core_s, 0),
      .loader_doubt = est->loader_doubt,
  };
}

static struct dl_interval within(double x, double spread) {
  return (struct dl_interval){x, x * (1 - spread), x * (1 + spread)};
}

static double cpu_power(const struct dl_node_power *n, double load) {
  double idle = n->cpu_idle_w.x;
  return n->charged * n->sockets * (idle + load * (n->cpu_tdp_w.x - idle));
}

bool dl_node_cpu_load(const struct dl_node_power *n,
                      const struct dl_node_load *load, struct dl_interval *of) {
  double taken = load->loader_core_s / load->duration_s / n->cores;
  *of = (struct dl_interval){n->load, DL_NODE_LOAD_LEAST, DL_NODE_LOAD_MOST};
  if (n->use.on_cpu || !(taken > 0))
    return false;
  of->x = fmin(DL_NODE_LOAD + taken, 1);
  of->low = of->x * exp(-load->loader_doubt);
  of->high = fmin(of->x * exp(load->loader_doubt), 1);
  return true;
}

static struct dl_interval cpu_energy(const struct dl_node_power *n,
                                     const struct dl_node_load *load) {
  double duration_s = load->duration_s;
  if (n->use.on_cpu)
    return within(duration_s * n->idle_sockets * n->cpu_idle_w.x,
                  DL_NODE_SPREAD_IDLE);
  struct dl_interval of;
  dl_node_cpu_load(n, load, &of);
  return (struct dl_interval){duration_s * cpu_power(n, of.x),
                              duration_s * cpu_power(n, of.low),
                              duration_s * cpu_power(n, of.high)};
}

/* The estimate without the memory it counts. */
static struct dl_interval busy(const struct dl_node_load *l) {
  double memory_j = l->memory_w * l->duration_s;
  return (struct dl_interval){
      fmax(l->energy_j.x - memory_j, 0),
      isnan(l->energy_j.low) ? NAN : fmax(l->energy_j.low - memory_j, 0),
      l->energy_j.high - memory_j};
}

/* The efficiency of the supply at a power that it puts out. */
static double efficiency_at(const struct dl_node_power *n, double watts) {
  double half = n->charged * n->supply_w / 2;
  double lost = 1 / n->efficiency.x - 1;
  if (!(half > 0) || !(watts > 0))
    return n->efficiency.x;
  return 1 / (1 + lost * (DL_NODE_SUPPLY_FIXED * half / watts +
                          (1 - DL_NODE_SUPPLY_FIXED)));
}

/* The cube of the accelerators' power by their TDP, of those that are charged;
 * 1 where there are none. */
static double fan_load(const struct dl_node_power *n, double busy_w) {
  double gpus = n->use.on_cpu ? 0 : n->use.used * n->use.share.compute;
  double most = (gpus + n->idle_gpus) * n->gpu_tdp_w.x;
  double idle_w = n->idle_gpus > 0 ? n->idle_gpus * n->gpu_idle_w.x : 0;
  if (!(most > 0))
    return 1;
  return pow(fmin(((gpus > 0 ? busy_w : 0) + idle_w) / most, 1), 3);
}

/* Relative errors of an estimate to one side. */
struct estimate_errors {
  double energy, time, power;
  bool by_power; /* the error of the power is known */
};

/* The relative distance of a bound; NaN where it is unknown. */
static double distance(double x, double bound) {
  return x > 0 ? fabs(bound - x) / x : (double)NAN;
}

static struct estimate_errors errors_of(const struct dl_node_load *l,
                                        double energy, bool high) {
  const struct dl_interval *t = &l->time_s, *p = &l->power_w;
  struct estimate_errors e = {energy, distance(t->x, high ? t->high : t->low),
                              distance(p->x, high ? p->high : p->low), true};
  if (l->time_given)
    return (struct estimate_errors){energy, 0, dl_or(e.power, energy), true};
  if (isnan(e.time) || isnan(e.power))
    return (struct estimate_errors){energy, energy, 0, false};
  return e;
}

/* Some parts together: their energy, and relative errors of what is assumed. */
struct parts_sum {
  double x, below, above;
  double follows; /* what grows with the accelerators' power */
  double capped;  /* how much lower it may be, a share */
};

static struct parts_sum sum_parts(const struct dl_node_energy *e,
                                  unsigned mask) {
  struct parts_sum s = {.follows = e->part[DL_PART_BUSY].x};
  for (int i = 0; i <= DL_PART_REST; i++) {
    const struct dl_interval *p = &e->part[i];
    if (!(mask & (1u << i)))
      continue;
    s.x += p->x;
    if (i != DL_PART_BUSY) {
      s.below = hypot(s.below, p->x - p->low);
      s.above = hypot(s.above, p->high - p->x);
    }
  }
  s.below /= s.x;
  s.above /= s.x;
  return s;
}

/* The energy and the power of parts with their intervals (node.h). */
static void bound_by(const struct parts_sum *s, const struct dl_node_load *l,
                     const struct dl_interval *busy, struct dl_interval *energy,
                     struct dl_interval *power) {
  double w = fmin(s->follows / s->x, 1);
  double error[2][2]; /* of energy and power, below and above */
  for (int high = 0; high < 2; high++) {
    double own = busy->x > 0 ? distance(busy->x, high ? busy->high : busy->low)
                             : 0 * (high ? busy->high : busy->low);
    struct estimate_errors e = errors_of(l, own, high);
    double doubt = high ? s->above : s->below;
    double square = (1 - w) * e.time * e.time + w * e.energy * e.energy -
                    w * (1 - w) * e.power * e.power;
    if (square < 0)
      square = 0;
    error[0][high] = sqrt(square + doubt * doubt);
    double own_w = hypot(e.power, high ? 0 : s->capped);
    error[1][high] = e.by_power ? hypot(w * own_w, doubt) : (double)NAN;
  }
  double watts = s->x / l->duration_s;
  struct dl_interval *const to[] = {energy, power};
  const double x[] = {s->x, watts};
  for (int i = 0; i < 2; i++) {
    double low = x[i] * (1 - error[i][0]);
    *to[i] =
        (struct dl_interval){x[i], low < 0 ? 0 : low, x[i] * (1 + error[i][1])};
  }
}

/* The parts of the node without losses; returns the energy of fans that an
 * infinitesimal change of the accelerators' power adds, per relative change. */
static double fill_parts(const struct dl_node_power *n,
                         const struct dl_node_load *load,
                         struct dl_interval *p) {
  double t = load->duration_s;
  p[DL_PART_BUSY] = busy(load);
  p[DL_PART_IDLE] =
      within(n->idle_gpus > 0 ? t * n->idle_gpus * n->gpu_idle_w.x : 0,
             DL_NODE_SPREAD_IDLE);
  p[DL_PART_CPU] = cpu_energy(n, load);
  p[DL_PART_MEMORY] = within(t * n->charged * n->memory_gb * n->memory_w_gb.x,
                             DL_NODE_SPREAD_MEMORY);
  double at_work = n->fans_w > 0 ? fan_load(n, p[DL_PART_BUSY].x / t) : 1;
  double rest_w = n->rest_w.x - n->fans_w * (1 - at_work);
  bool guessed = begins(n->rest_w.from, "assumed");
  p[DL_PART_REST] =
      within(t * n->charged * rest_w,
             guessed ? DL_NODE_SPREAD_REST_ASSUMED : DL_NODE_SPREAD_REST);
  return n->use.on_cpu || !(at_work < 1)
             ? 0
             : 3 * t * n->charged * n->fans_w * at_work;
}

void dl_node_compose(const struct dl_node_power *n,
                     const struct dl_node_load *load,
                     struct dl_node_energy *out) {
  enum {
    GPU = 1u << DL_PART_BUSY,
    RAM = 1u << DL_PART_MEMORY,
    ALL = (1u << (DL_PART_REST + 1)) - 1
  };
  struct dl_interval *p = out->part, *b = out->bound, *w = out->power_w;
  struct dl_interval *const dc = &b[DL_BOUND_DC], *const dc_w = &w[DL_BOUND_DC];
  double fans_j = fill_parts(n, load, p);
  const struct parts_sum gpu = sum_parts(out, GPU),
                         ram = sum_parts(out, GPU | RAM);
  struct parts_sum all = sum_parts(out, ALL);
  all.follows += fans_j;
  all.capped = load->capped;
  bound_by(&gpu, load, &p[DL_PART_BUSY], &b[DL_BOUND_GPU], &w[DL_BOUND_GPU]);
  b[DL_BOUND_GPU] = p[DL_PART_BUSY];
  bound_by(&ram, load, &p[DL_PART_BUSY], &b[DL_BOUND_GPU_RAM],
           &w[DL_BOUND_GPU_RAM]);
  bound_by(&all, load, &p[DL_PART_BUSY], dc, dc_w);
  out->efficiency = efficiency_at(n, dc_w->x);
  b[DL_BOUND_NODE] = dl_interval_scale(*dc, 1 / out->efficiency);
  w[DL_BOUND_NODE] = dl_interval_scale(*dc_w, 1 / out->efficiency);
  b[DL_BOUND_FACILITY] = dl_interval_scale(b[DL_BOUND_NODE], n->use.pue);
  w[DL_BOUND_FACILITY] = dl_interval_scale(w[DL_BOUND_NODE], n->use.pue);
  p[DL_PART_SUPPLY] = dl_interval_scale(*dc, 1 / out->efficiency - 1);
  p[DL_PART_COOLING] = dl_interval_scale(b[DL_BOUND_NODE], n->use.pue - 1);
}

double dl_node_busy_tdp(const struct dl_node_power *n, double duration_s) {
  return duration_s * n->use.used *
         (n->use.on_cpu ? n->cpu_tdp_w.x
                        : n->gpu_tdp_w.x * n->use.share.compute);
}

double dl_node_rated(const struct dl_node_power *n, double duration_s,
                     enum dl_boundary b) {
  if (b < DL_BOUND_DC)
    return NAN;
  double watts = n->sockets * n->cpu_tdp_w.x + n->memory_gb * n->memory_w_gb.x +
                 n->rest_w.x;
  if (n->gpus > 0)
    watts += n->gpus * n->gpu_tdp_w.x;
  watts *= n->charged;
  if (b == DL_BOUND_DC)
    return duration_s * watts;
  double joules = duration_s * watts / efficiency_at(n, watts);
  return b == DL_BOUND_NODE ? joules : joules * n->use.pue;
}

double dl_node_charged_gpus(const struct dl_node_power *n) {
  return n->charged * n->gpus;
}

double dl_life_share(double duration_s, double lifetime_years, double in_use) {
  return duration_s / (lifetime_years * DL_S_PER_YEAR * in_use);
}

double dl_embodied_servers_g(const struct dl_node_power *n, double kg,
                             double life_share) {
  return 1e3 * kg * n->nodes * n->charged * life_share;
}

double dl_embodied_gpus_g(const struct dl_node_power *n, double kg,
                          double life_share) {
  double gpus = dl_node_charged_gpus(n);
  return gpus > 0 ? 1e3 * kg * gpus * life_share : 0;
}
