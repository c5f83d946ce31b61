/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node in the report of dlest predict. */

#include "cli/views/node_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/views/summary/predict_summary.h"
#include "estimate/methods/work.h"
#include "output/units.h"

/* A node and its report. */
struct node_view {
  struct dl_predict_answer *s;
  struct dl_report *r;
  struct dl_report *g; /* the group "node" of it */
  struct dl_node_power node;
};

/* A part of the node: its name in JSON, its name for people, and where its
 * figure comes from. */
struct node_part_text {
  const char *name, *from;
  char text[96];
};

/* Names the CPUs beside accelerators, or those that idle beside others. */
static struct node_part_text cpus_of(const struct dl_node_power *n,
                                     const struct dl_node_load *load) {
  struct node_part_text p = {"cpu", "assumed", ""};
  struct dl_interval of;
  bool known = dl_node_cpu_load(n, load, &of);
  const char *s = n->sockets == 1 ? "" : "s";
  if (n->use.on_cpu) {
    p = (struct node_part_text){"cpu", n->cpu_idle_w.from, ""};
    snprintf(p.text, sizeof p.text, "%.3g CPU%s idle, %.3g W each",
             n->idle_sockets, n->idle_sockets == 1 ? "" : "s", n->cpu_idle_w.x);
    return p;
  }
  p.from = known ? "derived" : p.from;
  snprintf(p.text, sizeof p.text, "%.3g CPU%s, load %.3g %%%s", n->sockets, s,
           100 * of.x, known ? ", of it the loader" : "");
  return p;
}

static struct node_part_text part_of(const struct dl_node_power *n,
                                     const struct dl_node_load *load,
                                     const struct dl_node_energy *e, int i) {
  const char *cpus = n->sockets == 1 ? "CPU" : "CPUs";
  const char *gpus = n->gpus == 1 ? "GPU" : "GPUs";
  struct node_part_text p = {"gpu_busy", "estimate", ""};
  size_t room = sizeof p.text;
  switch (i) {
  case DL_PART_BUSY:
    if (n->idle_sockets > 0)
      snprintf(p.text, room, "%.3g of %.3g %s busy", n->use.used, n->sockets,
               cpus);
    else if (n->use.on_cpu)
      snprintf(p.text, room, "%.3g %s busy", n->sockets, cpus);
    else if (n->use.share.compute < 1)
      snprintf(p.text, room, "%.3g of %g %s busy",
               n->use.used * n->use.share.compute, n->gpus, gpus);
    else
      snprintf(p.text, room, "%g of %g %s busy", n->use.used, n->gpus, gpus);
    p.name = n->use.on_cpu ? "cpu_busy" : p.name;
    break;
  case DL_PART_IDLE:
    p = (struct node_part_text){"gpu_idle", n->gpu_idle_w.from, ""};
    snprintf(p.text, room, "%.3g GPU%s idle, %.3g W each", n->idle_gpus,
             n->idle_gpus == 1 ? "" : "s", n->gpu_idle_w.x);
    break;
  case DL_PART_CPU:
    return cpus_of(n, load);
  case DL_PART_MEMORY:
    p = (struct node_part_text){"memory", n->memory_w_gb.from, ""};
    snprintf(p.text, room, "memory, %g GB at %.3g W/GB", n->memory_gb,
             n->memory_w_gb.x);
    break;
  case DL_PART_REST:
    return (struct node_part_text){"rest", n->rest_w.from,
                                   "board, fans, network, drives"};
  case DL_PART_SUPPLY:
    p = (struct node_part_text){"supply", n->efficiency.from, ""};
    snprintf(p.text, room, "power supply losses, efficiency %.3g",
             e->efficiency);
    break;
  case DL_PART_COOLING:
    p = (struct node_part_text){"cooling", "PUE", ""};
    snprintf(p.text, room, "cooling and distribution, PUE %g", n->use.pue);
    break;
  }
  return p;
}

/* Whether part i applies to the node. */
static bool has_part(const struct dl_node_power *n, int i) {
  if (i == DL_PART_IDLE)
    return n->gpus > 0;
  return i == DL_PART_CPU ? !n->use.on_cpu || n->idle_sockets > 0 : true;
}

/* The widest boundary with a known energy. */
static enum dl_boundary widest(const struct dl_node_power *n) {
  return isnan(n->use.pue) ? DL_BOUND_NODE : DL_BOUND_FACILITY;
}

/* The boundary of the answer, and whether it is known. */
static enum dl_status answered(const struct node_view *t, enum dl_boundary *b,
                               struct dl_diag *d) {
  *b = t->s->node->boundary;
  if (*b == DL_N_BOUNDS)
    *b = widest(&t->node);
  if (*b == DL_BOUND_FACILITY && isnan(t->node.use.pue))
    return dl_fail(d, DL_EUSAGE, DL_NEEDS_PUE);
  return DL_OK;
}

static struct dl_node_load load_of(const struct node_view *t, size_t i) {
  return dl_node_load_of(&t->s->result.est[i]);
}

static struct dl_node_energy compose(const struct node_view *t, size_t i) {
  struct dl_node_load load = load_of(t, i);
  struct dl_node_energy e = {0};
  dl_node_compose(&t->node, &load, &e);
  return e;
}

/* --- for programs: every estimate */

static void add_parts(struct node_view *t) {
  static const struct dl_column columns[] = {
      {.key = "estimate"}, {.key = "part"},   {.key = "energy_j"},
      {.key = "low_j"},    {.key = "high_j"}, {.key = "power_w"},
      {.key = "share"},    {.key = "from"}};
  struct dl_table *table =
      DL_TABLE(t->g, "parts", NULL, columns, t->s->node->parts);
  for (size_t i = 0; i < t->s->result.n; i++) {
    const struct dl_estimate *est = &t->s->result.est[i];
    const struct dl_node_energy e = compose(t, i);
    const struct dl_node_load load = load_of(t, i);
    double all = e.bound[widest(&t->node)].x;
    for (int p = 0; p < DL_N_PARTS && !isnan(est->energy_j.x); p++) {
      if (!has_part(&t->node, p))
        continue;
      const struct dl_interval *j = &e.part[p];
      const struct node_part_text part = part_of(&t->node, &load, &e, p);
      DL_ROW(table, NULL, dl_string(est->method), dl_string(part.name),
             dl_number(j->x), dl_number(j->low), dl_number(j->high),
             dl_number(j->x / est->duration_s.x), dl_number(j->x / all),
             dl_string(part.from));
    }
  }
}

static void add_bounds(struct node_view *t) {
  static const struct dl_column columns[] = {
      {.key = "estimate"},    {.key = "boundary"},    {.key = "energy_j"},
      {.key = "low_j"},       {.key = "high_j"},      {.key = "power_w"},
      {.key = "power_low_w"}, {.key = "power_high_w"}};
  struct dl_table *table = DL_TABLE(t->g, "boundaries", NULL, columns, false);
  for (size_t i = 0; i < t->s->result.n; i++) {
    const struct dl_estimate *est = &t->s->result.est[i];
    const struct dl_node_energy e = compose(t, i);
    for (int b = 0; b < DL_N_BOUNDS && !isnan(est->energy_j.x); b++) {
      DL_ROW(table, NULL, dl_string(est->method),
             dl_string(dl_boundary_name((enum dl_boundary)b)),
             dl_number(e.bound[b].x), dl_number(e.bound[b].low),
             dl_number(e.bound[b].high), dl_number(e.power_w[b].x),
             dl_number(e.power_w[b].low), dl_number(e.power_w[b].high));
    }
  }
}

/* --- for people: the recommended one */

static void show_parts(struct node_view *t, const struct dl_node_energy *e,
                       double duration_s) {
  static const struct dl_column columns[] = {
      {"part", "part", NULL, DL_CODE, false},
      {"power", "power", "W", DL_WATTS, false},
      {"energy", "energy", "J", DL_KWH, false},
      {"share", "share", "%", DL_PERCENT, false},
      {"from", "from", NULL, DL_CODE, false}};
  struct dl_table *table =
      DL_TABLE(t->g, NULL, "Energy by part", columns, false);
  struct dl_table *chart = dl_report_chart(t->g, "Energy by part", DL_KWH, "J");
  const struct dl_node_load load = load_of(t, (size_t)t->s->result.best);
  double all = e->bound[widest(&t->node)].x;
  for (int p = 0; p < DL_N_PARTS; p++) {
    double j = e->part[p].x;
    if (!has_part(&t->node, p) || isnan(j) || (p == DL_PART_IDLE && j <= 0))
      continue;
    const struct node_part_text part = part_of(&t->node, &load, e, p);
    DL_ROW(table, NULL, dl_string(part.text), dl_number(j / duration_s),
           dl_number(j), dl_number(j / all), dl_string(part.from));
    dl_chart_bar(chart, part.text, j, NAN, NAN);
  }
}

/* Shows the recommended estimate, the estimate with the TDP, and the estimate
 * by runtime only. */
static void show_bounds(struct node_view *t, const struct dl_node_energy *e,
                        double duration_s) {
  const struct dl_column columns[] = {
      {"boundary", "boundary", NULL, DL_CODE, false},
      {"energy_j", "energy", "J", DL_KWH, false},
      {"low_j", t->s->interval, "J", DL_KWH, true},
      {"high_j", "", "J", DL_KWH, false},
      {"tdp_j", "with TDP", "J", DL_KWH, false},
      {"runtime_j", "by runtime", "J", DL_KWH, false}};
  struct dl_table *table =
      DL_TABLE(t->g, NULL, "Energy by boundary", columns, false);
  double tdp = dl_node_busy_tdp(&t->node, duration_s);
  struct dl_node_load load = {.energy_j = {tdp, NAN, NAN},
                              .duration_s = duration_s};
  struct dl_node_energy with = {0};
  dl_node_compose(&t->node, &load, &with);
  for (int b = 0; b < DL_N_BOUNDS; b++) {
    const struct dl_interval *j = &e->bound[b];
    if (isnan(j->x))
      continue;
    double runtime = dl_node_rated(&t->node, duration_s, (enum dl_boundary)b);
    DL_ROW(table, NULL, dl_string(dl_boundary_name((enum dl_boundary)b)),
           dl_number(j->x), dl_number(j->low), dl_number(j->high),
           dl_number(with.bound[b].x), dl_number(runtime));
  }
}

static void say_bounds(struct node_view *t, bool interval) {
  const char *busy = t->node.use.on_cpu ? "the CPUs" : "the accelerators";
  dl_report_say(t->g,
                "gpu: %s in use; node-dc: behind the node's power supplies; "
                "node: at the plug. With TDP: %s at their TDP "
                "in place of the estimate. By runtime: the TDP of the whole "
                "node times the duration.",
                busy, busy);
  if (interval)
    dl_report_say(t->g, "The interval adds ranges to that of the estimate: "
                        "CPU load 0 to 50 %%, idle power +-25 %%, memory +-50 "
                        "%%, rest +-25 %%, or +-50 %% if it is assumed.");
  if (!t->node.use.whole)
    dl_report_say(t->g, "The job is charged its share of the node and no idle "
                        "accelerators (--charge share).");
}

/* --- embodied carbon */

/* Hardware and the share of its embodied carbon that the job is charged. */
struct hardware {
  const char *part;
  const struct dl_descriptor *of;
  const double *embodied_kg; /* member of the descriptor */
  double count, job_g;
};

static void add_hardware(struct dl_report *g, struct dl_table *table,
                         const struct hardware *h) {
  const struct dl_origin *from =
      &h->of->origin[dl_field_index(h->of, h->embodied_kg)];
  DL_ROW(table, NULL, dl_string(h->part), dl_number(h->count),
         dl_number(*h->embodied_kg), dl_number(h->job_g),
         dl_string(from->source), dl_string(from->note));
  if (!isnan(*h->embodied_kg))
    dl_report_say(g, "%s: %s%s%s%s", h->part,
                  dl_text_or(from->source, "no source"), from->note ? " (" : "",
                  dl_text_or(from->note, ""), from->note ? ")" : "");
}

static void add_embodied(struct node_view *t, double duration_s,
                         const struct dl_accelerator *gpu, struct dl_diag *d) {
  static const struct dl_column columns[] = {
      {"part", "hardware", NULL, DL_CODE, false},
      {"count", "count", NULL, DL_PLAIN, false},
      {"embodied_kg", "of one", "kg CO2e", DL_PLAIN, false},
      {"job_g", "this job", "g CO2e", DL_PLAIN, false},
      {.key = "source"},
      {.key = "note"}};
  const struct dl_node_options *o = t->s->node;
  const struct dl_node *node = &o->entry;
  double life = dl_life_share(duration_s, o->lifetime_years, o->in_use);
  double gpus = dl_node_charged_gpus(&t->node);
  double server_g = dl_embodied_servers_g(&t->node, node->embodied_kg, life);
  double gpus_g =
      dl_embodied_gpus_g(&t->node, gpu ? gpu->embodied_kg : NAN, life);
  DL_LINES(t->g,
           {.key = "lifetime_years", .value = dl_number(o->lifetime_years)},
           {.key = "in_use", .value = dl_number(o->in_use)});
  struct dl_table *table = DL_TABLE(
      t->g, "embodied", "Embodied carbon, not part of the emissions above",
      columns, false);
  dl_report_say(
      t->g, "Over %g years (--lifetime), at work %g %% of the time (--in-use).",
      o->lifetime_years, 100 * o->in_use);
  add_hardware(t->g, table,
               &(struct hardware){"server", &node->head, &node->embodied_kg,
                                  t->node.nodes * t->node.charged, server_g});
  if (isnan(node->embodied_kg))
    dl_warn(d,
            "no embodied carbon is known of node '%s'; give it with --set "
            "node.embodied_kg=KG",
            node->head.id);
  t->s->embodied_g = server_g + gpus_g;
  if (!(gpus > 0) || !gpu)
    return;
  add_hardware(t->g, table,
               &(struct hardware){"accelerator", &gpu->head, &gpu->embodied_kg,
                                  gpus, gpus_g});
  if (isnan(gpu->embodied_kg))
    dl_warn(d,
            "no embodied carbon is known of accelerator '%s'; give it "
            "with --set gpu.embodied_kg=KG",
            gpu->head.id);
}

/* --- the group */

static void add_share(struct dl_report *r, const struct dl_node_options *o) {
  bool shared = o->profile || !isnan(o->gpu_share);
  char text[96] = "";
  if (shared)
    snprintf(text, sizeof text, "%s%s%.3g %% of the GPU, %.3g %% of its memory",
             dl_text_or(o->profile, ""), o->profile ? ": " : "",
             100 * o->use.share.compute, 100 * o->use.share.memory);
  DL_LINES(r, {NULL, shared ? "share" : NULL, NULL, DL_CODE, dl_string(text)},
           {.key = "share_compute",
            .value = dl_number(shared ? o->use.share.compute : NAN)},
           {.key = "share_memory",
            .value = dl_number(shared ? o->use.share.memory : NAN)});
}

/* The cost of the job at the widest boundary. */
static void add_cost(struct dl_report *g, const struct dl_footprint *foot,
                     double energy_j, const char *boundary) {
  double cost = energy_j / DL_J_PER_KWH * foot->price;
  char sum[DL_NUMBER_SIZE];
  const struct dl_value energy = dl_number(energy_j);
  DL_TEXT(text);
  dl_text_add(&text, dl_format_digits(sum, cost, 3));
  if (foot->currency)
    dl_text_printf(&text, " %s", foot->currency);
  dl_text_add(&text, " (");
  dl_show(&text, DL_KWH, "J", &energy, NULL);
  dl_text_printf(&text, ", boundary %s)", boundary);
  DL_LINES(g,
           {NULL, isnan(cost) ? NULL : "cost", NULL, DL_CODE,
            dl_string(dl_text_str(&text))},
           {.key = "cost", .value = dl_number(cost)},
           {.key = "cost_boundary",
            .value = dl_string(isnan(cost) ? NULL : boundary)});
}

static void add_settings(const struct node_view *t,
                         const struct dl_node_energy *e) {
  const struct dl_node_options *o = t->s->node;
  const struct dl_node_power *n = &t->node;
  const struct dl_descriptor *cpu = o->cpu ? &o->cpu->head : NULL;
  const struct dl_descriptor *gpu = o->gpu ? &o->gpu->head : NULL;
  const struct dl_node_load load = load_of(t, (size_t)t->s->result.best);
  struct dl_interval of;
  dl_node_cpu_load(n, &load, &of);
  DL_LINES(
      t->g, {.key = "id", .value = dl_string(o->entry.head.id)},
      {.key = "name", .value = dl_string(o->entry.head.name)},
      {.key = "nodes", .value = dl_number(n->nodes)},
      {.key = "cpu", .value = dl_string(cpu ? cpu->id : NULL)},
      {.key = "gpu", .value = dl_string(gpu ? gpu->id : NULL)},
      {.key = "on", .value = dl_string(n->use.on_cpu ? "cpu" : "gpu")},
      {.key = "used", .value = dl_number(n->use.used)},
      {.key = "charge", .value = dl_string(n->use.whole ? "node" : "share")},
      {.key = "charged", .value = dl_number(n->charged)},
      {.key = "cpu_load", .value = dl_number(n->use.on_cpu ? NAN : of.x)},
      {.key = "cpu_tdp_w", .value = dl_number(n->cpu_tdp_w.x)},
      {.key = "cpu_idle_w", .value = dl_number(n->cpu_idle_w.x)},
      {.key = "cpu_idle_from", .value = dl_string(n->cpu_idle_w.from)},
      {.key = "gpu_idle_w", .value = dl_number(n->gpu_idle_w.x)},
      {.key = "supply_efficiency", .value = dl_number(e->efficiency)});
}

static void add_node(struct node_view *t, enum dl_boundary answer,
                     const struct dl_accelerator *gpu, struct dl_diag *d) {
  const struct dl_predict_answer *s = t->s;
  const struct dl_node_energy e = compose(t, (size_t)s->result.best);
  double duration_s = s->result.est[s->result.best].duration_s.x;
  enum dl_boundary b = widest(&t->node);
  double tdp_j = dl_node_busy_tdp(&t->node, duration_s);
  double grams = e.bound[b].x / DL_J_PER_KWH * s->o->foot.intensity.x;
  double runtime_j = dl_node_rated(&t->node, duration_s, DL_BOUND_NODE);
  t->s->node_j = e.bound[answer];
  t->s->node_power_w = e.power_w[answer];
  t->s->node_boundary = dl_boundary_name(answer);
  t->s->node_paid = e.bound[b].x / e.bound[answer].x;
  const struct dl_report_line lines[] = {
      {.key = "estimate",
       .value = dl_string(s->result.est[s->result.best].method)},
      {.key = "boundary", .value = dl_string(t->s->node_boundary)},
      {.key = "tdp_j", .value = dl_number(tdp_j)},
      {.key = "runtime_j", .value = dl_number(runtime_j)}};
  add_settings(t, &e);
  dl_report_lines(t->g, lines, DL_LENGTH(lines));
  show_parts(t, &e, duration_s);
  show_bounds(t, &e, duration_s);
  dl_report_add(t->g, "co2e_g", "emissions", "g CO2e", DL_MASS,
                dl_known(grams));
  dl_report_add(t->g, "water_l", "water", "L", DL_PLAIN,
                dl_known(e.bound[b].x / dl_paid_energy(&s->o->foot, 1) /
                         DL_J_PER_KWH * s->o->foot.wue));
  add_cost(t->g, &s->o->foot, e.bound[b].x, dl_boundary_name(b));
  add_parts(t);
  add_bounds(t);
  say_bounds(t, !isnan(e.bound[b].low));
  if (s->node->embodied)
    add_embodied(t, duration_s, gpu, d);
}

enum dl_status dl_node_report(struct dl_report *r, struct dl_predict_answer *s,
                              struct dl_diag *d) {
  const struct dl_node_options *o = s->node;
  struct node_view t = {.s = s, .r = r};
  add_share(r, o);
  if (!o->found || s->result.best < 0)
    return DL_OK;
  const struct dl_accelerator *in_use = s->result.job.found.gpu;
  bool shared = o->profile || !isnan(o->gpu_share);
  const struct dl_accelerator *cpu = o->use.on_cpu ? in_use : o->cpu;
  const struct dl_accelerator *gpu = o->use.on_cpu || shared ? o->gpu : in_use;
  const char *its = o->use.on_cpu ? o->cpu->head.id : o->gpu->head.id;
  if (!in_use || strcmp(in_use->head.id, its) != 0)
    return dl_fail(d, DL_EUSAGE,
                   "the job's accelerator is not '%s' of node "
                   "'%s'",
                   its, o->entry.head.id);
  struct dl_node_use use = o->use;
  use.inference = dl_run_is_inference(s->result.job.run);
  use.language = s->result.job.found.arch &&
                 dl_is_language_model(s->result.job.found.arch);
  use.pue = s->o->foot.pue.x;
  DL_TRY(dl_node_resolve(&t.node, &o->entry, cpu, gpu, &use, d));
  if (isnan(o->entry.rest_w))
    dl_warn(d,
            "node '%s' has no rest_w: board, fans, network and drives count "
            "nothing",
            o->entry.head.id);
  if (use.on_cpu && s->result.est[s->result.best].model &&
      !s->result.predictions.served.on_cpu)
    dl_warn(d, "%s was fitted on GPUs: it says little of CPUs",
            s->result.est[s->result.best].method);
  DL_TEXT(title);
  if (t.node.nodes > 1)
    dl_text_printf(&title, "%g nodes %s, by %s", t.node.nodes, o->entry.head.id,
                   s->result.est[s->result.best].method);
  else
    dl_text_printf(&title, "Node %s, by %s", o->entry.head.id,
                   s->result.est[s->result.best].method);
  enum dl_boundary answer;
  DL_TRY(answered(&t, &answer, d));
  t.g = dl_report_group(r, "node", dl_text_str(&title));
  add_node(&t, answer, gpu, d);
  return DL_OK;
}
