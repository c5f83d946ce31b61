/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/node_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "estimate/methods/work.h"

/* A node and the report that is filled. */
struct teller {
  const struct dl_node_subject *s;
  struct dl_report *r;
  struct dl_report *g; /* the group "node" of it */
  struct dl_node_power node;
};

static const char *const part_names[DL_N_PARTS] = {
    [DL_PART_BUSY] = "gpu_busy",  [DL_PART_IDLE] = "gpu_idle",
    [DL_PART_CPU] = "cpu",        [DL_PART_MEMORY] = "memory",
    [DL_PART_REST] = "rest",      [DL_PART_SUPPLY] = "supply",
    [DL_PART_COOLING] = "cooling"};

/* On CPUs these are what is busy. */
static const char *part_name(const struct dl_node_power *n, int i) {
  return i == DL_PART_BUSY && n->use.on_cpu ? "cpu_busy" : part_names[i];
}

/* Where the figure of a part comes from. */
static const char *part_from(const struct dl_node_power *n, int i) {
  switch (i) {
  case DL_PART_BUSY:
    return "estimate";
  case DL_PART_IDLE:
    return n->gpu_idle_w.from;
  case DL_PART_CPU:
    return "assumed"; /* its load */
  case DL_PART_MEMORY:
    return n->memory_w_gb.from;
  case DL_PART_REST:
    return n->rest_w.from;
  case DL_PART_SUPPLY:
    return n->efficiency.from;
  default:
    return "PUE";
  }
}

static void part_text(const struct teller *t, int i, char room[static 96]) {
  const struct dl_node_power *n = &t->node;
  const char *cpu = n->sockets == 1 ? "" : "s";
  *room = '\0';
  switch (i) {
  case DL_PART_BUSY:
    if (n->use.on_cpu)
      snprintf(room, 96, "%.3g CPU%s at work", n->sockets, cpu);
    else if (n->use.share.compute < 1)
      snprintf(room, 96, "%.3g of %g GPU%s at work",
               n->use.used * n->use.share.compute, n->gpus,
               n->gpus == 1 ? "" : "s");
    else
      snprintf(room, 96, "%g of %g GPU%s at work", n->use.used, n->gpus,
               n->gpus == 1 ? "" : "s");
    break;
  case DL_PART_IDLE:
    snprintf(room, 96, "%.3g GPU%s idle, %.3g W each", n->idle_gpus,
             n->idle_gpus == 1 ? "" : "s", n->gpu_idle_w.x);
    break;
  case DL_PART_CPU:
    snprintf(room, 96, "%.3g CPU%s, load %g %%", n->sockets, cpu,
             100 * n->load);
    break;
  case DL_PART_MEMORY:
    snprintf(room, 96, "memory, %g GB at %.3g W/GB", n->memory_gb,
             n->memory_w_gb.x);
    break;
  case DL_PART_REST:
    snprintf(room, 96, "board, fans, network, drives");
    break;
  case DL_PART_SUPPLY:
    snprintf(room, 96, "lost in the supply, efficiency %g", n->efficiency.x);
    break;
  case DL_PART_COOLING:
    snprintf(room, 96, "cooling and the like, PUE %g", n->use.pue);
    break;
  }
}

/* Whether the node has a part. */
static bool has_part(const struct dl_node_power *n, int i) {
  if (i == DL_PART_IDLE)
    return n->gpus > 0;
  return i == DL_PART_CPU ? !n->use.on_cpu : true;
}

/* The widest boundary with a known energy. */
static enum dl_boundary widest(const struct dl_node_power *n) {
  return isnan(n->use.pue) ? DL_BOUND_NODE : DL_BOUND_FACILITY;
}

static struct dl_node_energy compose(const struct teller *t, size_t i) {
  struct dl_node_load load = dl_node_load_of(&t->s->est[i]);
  struct dl_node_energy e = {0};
  dl_node_compose(&t->node, &load, &e);
  return e;
}

/* --- for programs: every estimate */

static void add_parts(struct teller *t) {
  static const struct dl_column columns[] = {
      {"estimate", NULL, NULL, DL_CODE, false},
      {"part", NULL, NULL, DL_CODE, false},
      {"energy_j", NULL, "J", DL_ENERGY, false},
      {"low_j", NULL, "J", DL_ENERGY, false},
      {"high_j", NULL, "J", DL_ENERGY, false},
      {"power_w", NULL, "W", DL_PLAIN, false},
      {"share", NULL, NULL, DL_PERCENT, false},
      {"from", NULL, NULL, DL_CODE, false}};
  struct dl_table *table =
      dl_report_table(t->g, "parts", NULL, columns,
                      sizeof columns / sizeof *columns, t->s->o->parts);
  for (size_t i = 0; i < t->s->n; i++) {
    if (isnan(t->s->est[i].energy_j))
      continue;
    const struct dl_node_energy e = compose(t, i);
    double all = e.bound[widest(&t->node)].x;
    for (int p = 0; p < DL_N_PARTS; p++) {
      const struct dl_span_j *j = &e.part[p];
      if (!has_part(&t->node, p))
        continue;
      struct dl_value v[] = {dl_string(t->s->est[i].method),
                             dl_string(part_name(&t->node, p)),
                             dl_number(j->x),
                             dl_number(j->low),
                             dl_number(j->high),
                             dl_number(j->x / t->s->est[i].duration_s),
                             dl_number(j->x / all),
                             dl_string(part_from(&t->node, p))};
      dl_table_row(table, v, NULL);
    }
  }
}

static void add_bounds(struct teller *t) {
  static const struct dl_column columns[] = {
      {"estimate", NULL, NULL, DL_CODE, false},
      {"boundary", NULL, NULL, DL_CODE, false},
      {"energy_j", NULL, "J", DL_ENERGY, false},
      {"low_j", NULL, "J", DL_ENERGY, false},
      {"high_j", NULL, "J", DL_ENERGY, false}};
  struct dl_table *table =
      dl_report_table(t->g, "boundaries", NULL, columns,
                      sizeof columns / sizeof *columns, false);
  for (size_t i = 0; i < t->s->n; i++) {
    if (isnan(t->s->est[i].energy_j))
      continue;
    const struct dl_node_energy e = compose(t, i);
    for (int b = 0; b < DL_N_BOUNDS; b++) {
      struct dl_value v[] = {dl_string(t->s->est[i].method),
                             dl_string(dl_boundary_name((enum dl_boundary)b)),
                             dl_number(e.bound[b].x), dl_number(e.bound[b].low),
                             dl_number(e.bound[b].high)};
      dl_table_row(table, v, NULL);
    }
  }
}

/* --- for people: the recommended one */

static void show_parts(struct teller *t, const struct dl_node_energy *e,
                       double duration_s) {
  static const struct dl_column columns[] = {
      {"part", "part", NULL, DL_CODE, false},
      {"power", "power", "W", DL_PLAIN, false},
      {"energy", "energy", "kWh", DL_PLAIN, false},
      {"share", "share", "%", DL_PERCENT, false},
      {"from", "from", NULL, DL_CODE, false}};
  struct dl_table *table =
      dl_report_table(t->g, NULL, "Energy by part", columns,
                      sizeof columns / sizeof *columns, false);
  double all = e->bound[widest(&t->node)].x;
  for (int p = 0; p < DL_N_PARTS; p++) {
    char text[96];
    double j = e->part[p].x;
    if (!has_part(&t->node, p) || isnan(j) || (p == DL_PART_IDLE && j <= 0))
      continue;
    part_text(t, p, text);
    struct dl_value v[] = {dl_string(text), dl_number(j / duration_s),
                           dl_number(j / DL_J_PER_KWH), dl_number(j / all),
                           dl_string(part_from(&t->node, p))};
    dl_table_row(table, v, NULL);
  }
}

/* The recommended estimate, with tdp in its place, and by runtime alone. */
static void show_bounds(struct teller *t, const struct dl_node_energy *e,
                        double duration_s) {
  const struct dl_column columns[] = {
      {"boundary", "boundary", NULL, DL_CODE, false},
      {"energy_j", "energy", "kWh", DL_PLAIN, false},
      {"low_j", t->s->interval, "kWh", DL_PLAIN, true},
      {"high_j", "", "kWh", DL_PLAIN, false},
      {"tdp_j", "with TDP", "kWh", DL_PLAIN, false},
      {"runtime_j", "by runtime", "kWh", DL_PLAIN, false}};
  struct dl_table *table =
      dl_report_table(t->g, NULL, "Energy by boundary", columns,
                      sizeof columns / sizeof *columns, false);
  double tdp = dl_node_busy_tdp(&t->node, duration_s);
  struct dl_node_load load = {.energy_j = {tdp, NAN, NAN},
                              .duration_s = duration_s};
  struct dl_node_energy with = {0};
  dl_node_compose(&t->node, &load, &with);
  for (int b = 0; b < DL_N_BOUNDS; b++) {
    const struct dl_span_j *j = &e->bound[b];
    if (isnan(j->x))
      continue;
    double runtime = dl_node_rated(&t->node, duration_s, (enum dl_boundary)b);
    struct dl_value v[] = {dl_string(dl_boundary_name((enum dl_boundary)b)),
                           dl_number(j->x / DL_J_PER_KWH),
                           dl_number(j->low / DL_J_PER_KWH),
                           dl_number(j->high / DL_J_PER_KWH),
                           dl_number(with.bound[b].x / DL_J_PER_KWH),
                           dl_number(runtime / DL_J_PER_KWH)};
    dl_table_row(table, v, NULL);
  }
}

static void say_bounds(struct teller *t, bool interval) {
  struct dl_text s = {0};
  dl_text_printf(&s,
                 "gpu: %s in use; node: at the plug. With TDP: the same parts, "
                 "but %s at the TDP. By runtime: the TDP of everything in "
                 "the node, times the time.",
                 t->node.use.on_cpu ? "the CPUs" : "the accelerators",
                 t->node.use.on_cpu ? "the CPUs" : "these");
  dl_report_say(t->g, dl_text_str(&s));
  if (interval)
    dl_report_say(t->g, "The interval adds assumed ranges to that of the "
                        "estimate: CPU load 0 to 60 %, idle power +-25 %, "
                        "memory and rest +-50 %. It was not tested on "
                        "measured nodes.");
  if (!t->node.use.whole)
    dl_report_say(t->g, "Others use the rest of the node: the job is charged "
                        "its share of it, and nothing that idles "
                        "(--charge share).");
  dl_text_free(&s);
}

/* --- embodied carbon */

static void say_source(struct dl_report *g, const char *what, double kg,
                       const struct dl_origin *v) {
  struct dl_text s = {0};
  if (isnan(kg))
    return;
  dl_text_printf(&s, "%s: %s%s%s%s", what, v->source ? v->source : "no source",
                 v->note ? " (" : "", v->note ? v->note : "",
                 v->note ? ")" : "");
  dl_report_say(g, dl_text_str(&s));
  dl_text_free(&s);
}

static void add_embodied(struct teller *t, double duration_s,
                         const struct dl_accelerator *gpu, struct dl_diag *d) {
  static const struct dl_column columns[] = {
      {"part", "hardware", NULL, DL_CODE, false},
      {"count", "count", NULL, DL_PLAIN, false},
      {"embodied_kg", "of one", "kg CO2e", DL_PLAIN, false},
      {"job_g", "this job", "g CO2e", DL_PLAIN, false},
      {"source", NULL, NULL, DL_CODE, false},
      {"note", NULL, NULL, DL_CODE, false}};
  const struct dl_node_options *o = t->s->o;
  const struct dl_node *node = &o->entry;
  const struct dl_origin none = {0};
  const struct dl_origin *server =
      &node->head.origin[dl_field_index(&node->head, &node->embodied_kg)];
  const struct dl_origin *board =
      gpu ? &gpu->head.origin[dl_field_index(&gpu->head, &gpu->embodied_kg)]
          : &none;
  double server_kg = node->embodied_kg, board_kg = gpu ? gpu->embodied_kg : NAN;
  struct dl_embodied m;
  char text[96];
  m = dl_node_embodied(&t->node, server_kg, board_kg, duration_s,
                       o->lifetime_years, o->in_use);
  dl_report_add(t->g, "lifetime_years", NULL, "years", DL_PLAIN,
                dl_number(o->lifetime_years));
  dl_report_add(t->g, "in_use", NULL, NULL, DL_PERCENT, dl_number(o->in_use));
  struct dl_table *table = dl_report_table(
      t->g, "embodied", "Embodied carbon, apart from the emissions of running",
      columns, sizeof columns / sizeof *columns, false);
  struct dl_value v[] = {dl_string("server"),       dl_number(t->node.charged),
                         dl_number(server_kg),      dl_number(m.server_g),
                         dl_string(server->source), dl_string(server->note)};
  dl_table_row(table, v, NULL);
  if (isnan(server_kg))
    dl_warn(d,
            "no embodied carbon is known of node '%s'; give it with --set "
            "node.embodied_kg=KG",
            o->entry.head.id);
  if (m.gpus > 0) {
    struct dl_value w[] = {dl_string("accelerator"), dl_number(m.gpus),
                           dl_number(board_kg),      dl_number(m.gpus_g),
                           dl_string(board->source), dl_string(board->note)};
    dl_table_row(table, w, NULL);
    if (isnan(board_kg))
      dl_warn(d,
              "no embodied carbon is known of accelerator '%s'; give it "
              "with --set gpu.embodied_kg=KG",
              gpu->head.id);
  }
  snprintf(text, sizeof text,
           "Over %g years (--lifetime), at work %g %% of the time (--in-use).",
           o->lifetime_years, 100 * o->in_use);
  dl_report_say(t->g, text);
  say_source(t->g, "server", server_kg, server);
  if (m.gpus > 0)
    say_source(t->g, "accelerator", board_kg, board);
}

/* --- all of it */

static void add_share(struct dl_report *r, const struct dl_node_options *o) {
  bool shared = o->profile || !isnan(o->gpu_share);
  char text[96];
  if (shared)
    snprintf(text, sizeof text, "%s%s%.3g %% of the GPU, %.3g %% of its memory",
             o->profile ? o->profile : "", o->profile ? ": " : "",
             100 * o->use.share.compute, 100 * o->use.share.memory);
  dl_report_add(r, NULL, shared ? "share" : NULL, NULL, DL_CODE,
                dl_string(shared ? text : NULL));
  dl_report_add(r, "share_compute", NULL, NULL, DL_PERCENT,
                dl_number(shared ? o->use.share.compute : NAN));
  dl_report_add(r, "share_memory", NULL, NULL, DL_PERCENT,
                dl_number(shared ? o->use.share.memory : NAN));
}

/* What the job costs: what `energy_j` at the widest boundary does. */
static void add_cost(struct dl_report *g, const struct dl_footprint *foot,
                     double energy_j, const char *boundary) {
  double cost = energy_j / DL_J_PER_KWH * foot->price;
  if (!isnan(cost)) {
    char text[160], sum[DL_NUMBER_SIZE], kwh[DL_NUMBER_SIZE];
    snprintf(text, sizeof text, "%s%s%s (%s kWh, boundary %s)",
             dl_format_digits(sum, cost, 3), foot->currency ? " " : "",
             foot->currency ? foot->currency : "",
             dl_format_digits(kwh, energy_j / DL_J_PER_KWH, 3), boundary);
    dl_report_add(g, NULL, "cost", NULL, DL_CODE, dl_string(text));
  }
  dl_report_add(g, "cost", NULL, NULL, DL_PLAIN, dl_number(cost));
  dl_report_add(g, "cost_boundary", NULL, NULL, DL_CODE,
                dl_string(isnan(cost) ? NULL : boundary));
}

static void add_settings(const struct teller *t) {
  const struct dl_node_options *o = t->s->o;
  const struct dl_node_power *n = &t->node;
  struct dl_report *g = t->g;
  dl_report_add(g, "id", NULL, NULL, DL_CODE, dl_string(o->entry.head.id));
  dl_report_add(g, "name", NULL, NULL, DL_CODE, dl_string(o->entry.head.name));
  dl_report_add(g, "cpu", NULL, NULL, DL_CODE,
                dl_string(o->cpu ? o->cpu->head.id : NULL));
  dl_report_add(g, "gpu", NULL, NULL, DL_CODE,
                dl_string(o->gpu ? o->gpu->head.id : NULL));
  dl_report_add(g, "on", NULL, NULL, DL_CODE,
                dl_string(n->use.on_cpu ? "cpu" : "gpu"));
  dl_report_add(g, "used", NULL, NULL, DL_PLAIN, dl_number(n->use.used));
  dl_report_add(g, "charge", NULL, NULL, DL_CODE,
                dl_string(n->use.whole ? "node" : "share"));
  dl_report_add(g, "charged", NULL, NULL, DL_PERCENT, dl_number(n->charged));
  dl_report_add(g, "cpu_load", NULL, NULL, DL_PERCENT, dl_number(n->load));
  dl_report_add(g, "cpu_tdp_w", NULL, "W", DL_PLAIN, dl_number(n->cpu_tdp_w.x));
  dl_report_add(g, "cpu_idle_w", NULL, "W", DL_PLAIN,
                dl_number(n->cpu_idle_w.x));
  dl_report_add(g, "cpu_idle_from", NULL, NULL, DL_CODE,
                dl_string(n->cpu_idle_w.from));
  dl_report_add(g, "gpu_idle_w", NULL, "W", DL_PLAIN,
                dl_number(n->gpu_idle_w.x));
  dl_report_add(g, "supply_efficiency", NULL, NULL, DL_PLAIN,
                dl_number(n->efficiency.x));
}

static void tell(struct teller *t, const struct dl_accelerator *gpu,
                 struct dl_diag *d) {
  const struct dl_node_subject *s = t->s;
  const struct dl_node_energy e = compose(t, (size_t)s->best);
  double duration_s = s->est[s->best].duration_s;
  enum dl_boundary b = widest(&t->node);
  double tdp_j = dl_node_busy_tdp(&t->node, duration_s);
  double grams = e.bound[b].x / DL_J_PER_KWH * s->foot->intensity.x;
  add_settings(t);
  dl_report_add(t->g, "estimate", NULL, NULL, DL_CODE,
                dl_string(s->est[s->best].method));
  dl_report_add(t->g, "tdp_j", NULL, "J", DL_ENERGY, dl_number(tdp_j));
  dl_report_add(t->g, "runtime_j", NULL, "J", DL_ENERGY,
                dl_number(dl_node_rated(&t->node, duration_s, DL_BOUND_NODE)));
  show_parts(t, &e, duration_s);
  show_bounds(t, &e, duration_s);
  dl_report_add(t->g, "co2e_g", isnan(grams) ? NULL : "emissions", "g CO2e",
                DL_MASS, dl_number(grams));
  add_cost(t->g, s->foot, e.bound[b].x, dl_boundary_name(b));
  add_parts(t);
  add_bounds(t);
  say_bounds(t, !isnan(e.bound[b].low));
  if (s->o->embodied)
    add_embodied(t, duration_s, gpu, d);
}

enum dl_status dl_node_report(struct dl_report *r,
                              const struct dl_node_subject *s,
                              struct dl_diag *d) {
  const struct dl_node_options *o = s->o;
  struct teller t = {.s = s, .r = r};
  add_share(r, o);
  if (!o->found || s->best < 0)
    return DL_OK;
  const struct dl_accelerator *in_use = s->job->found.gpu;
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
  use.inference = dl_is_inference(s->job);
  use.pue = s->foot->pue.x;
  enum dl_status status =
      dl_node_resolve(&t.node, &o->entry, cpu, gpu, &use, d);
  if (status != DL_OK)
    return status;
  if (isnan(o->entry.rest_w))
    dl_warn(d,
            "node '%s' has no rest_w: board, fans, network and drives count "
            "nothing",
            o->entry.head.id);
  if (use.on_cpu && s->est[s->best].model)
    dl_warn(d, "%s was fitted on GPUs: it says little of CPUs",
            s->est[s->best].method);
  struct dl_text title = {0};
  dl_text_printf(&title, "Node %s, by %s", o->entry.head.id,
                 s->est[s->best].method);
  t.g = dl_report_group(r, "node", dl_text_str(&title));
  dl_text_free(&title);
  tell(&t, gpu, d);
  return DL_OK;
}
