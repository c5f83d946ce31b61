/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for the computer that a job runs on, and what follows from them. */

#include "cli/options/node_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "catalog/processors.h"
#include "estimate/node/peak_memory.h"

const struct dl_node_options dl_node_options_none = {
    .use_gpus = NAN,
    .device = DL_DEVICE_AUTO,
    .gpu_share = NAN,
    .charge = DL_CHARGE_AUTO,
    .boundary = DL_N_BOUNDS,
    .lifetime_years = 4,
    .in_use = 0.85, /* the BLOOM paper's, arXiv 2211.02001 */
};

static enum dl_status read_share(const struct dl_option *row, char *arg,
                                 void *at, struct dl_diag *d) {
  (void)row, (void)d;
  *(const char **)at = arg + 4;
  return strncmp(arg, "mig:", 4) == 0 ? DL_OK : DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_node_options, member)

const struct dl_option dl_node_options_rows[] = {
    DL_HEADING("The computer it runs on:", 4),
    {"node", 0, "NAME",
     "the whole computer: a name (dlest list nodes) or your own file; adds the "
     "energy by part and at every boundary",
     AT(TEXT, node), .reads = true},
    {"use-gpus", 0, "K",
     "accelerators of the node that the job uses (default: all), 0: its CPUs",
     AT(NUMBER, use_gpus), .high = 1e6, .whole = true, .with = "node"},
    {"device", 0, "WHAT",
     "what does the work: cpu, whose accelerators idle, or gpu (default: gpu "
     "where the node has any)",
     AT(CHOICE, device), .words = "cpu|gpu", .with = "node",
     .without = "use-gpus"},
    {"cooling", 0, "WHAT",
     "cooling of the node: air (default), liquid (water or immersion: without "
     "the power of fans)",
     AT(CHOICE, cooling), .words = "air|liquid", .with = "node"},
    {"share", 0, "mig:PROFILE", "slice of an accelerator, as mig:2g.10gb",
     AT(TEXT, profile), .read = read_share, .without = "gpu-share",
     .expected = "mig:PROFILE, as mig:2g.10gb; --gpu-share takes a number"},
    {"gpu-share", 0, "SHARE", "share of each accelerator that the job uses",
     AT(ABOVE, gpu_share), .high = 1},
    {"charge", 0, "WHAT",
     "what is charged to the job: node (default): the whole node; share "
     "(default with a share of a GPU): by the accelerators that it uses",
     AT(CHOICE, charge), .words = "node|share", .with = "node"},
    {"boundary", 0, "WHAT",
     "where energy and power of the answer are measured: gpu, gpu+ram, node-dc "
     "(behind the node's power supplies), node (at the plug, default), "
     "facility (default with a PUE)",
     AT(CHOICE, boundary), .words = DL_BOUNDARY_WORDS, .with = "node"},
    {"embodied", 0, NULL, "add the embodied carbon of the hardware",
     AT(FLAG, embodied), .with = "node"},
    {"lifetime", 0, "YEARS", "lifetime of the hardware (default 4)",
     AT(ABOVE, lifetime_years), .high = 100, .with = "embodied"},
    {"in-use", 0, "SHARE", "share of its lifetime in use (default 0.85)",
     AT(ABOVE, in_use), .high = 1, .with = "embodied"},
    {"parts", 0, NULL,
     "with --format csv: print the energy by part instead of the estimates",
     AT(FLAG, parts), .with = "node"},
    {0},
};

/* --- values for the job */

/* Moves overrides "PREFIX.FIELD=VALUE" out of the list, onto a descriptor. */
static enum dl_status take(struct dl_strlist *list, const char *prefix,
                           struct dl_descriptor *e, struct dl_diag *d) {
  size_t n = strlen(prefix), kept = 0;
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < list->n; i++) {
    char *eq = strchr(list->s[i], '=');
    if (strncmp(list->s[i], prefix, n) != 0 || list->s[i][n] != '.' || !eq ||
        status != DL_OK) {
      list->s[kept++] = list->s[i];
      continue;
    }
    *eq = '\0';
    status = dl_descriptor_set(e, list->s[i] + n + 1, eq + 1, d);
    free(list->s[i]);
  }
  list->n = kept;
  return status;
}

/* An accelerator that an entry of a node names. */
static enum dl_status named(const struct dl_descriptor *node, const char *what,
                            const char *name, struct dl_catalog *catalog,
                            const struct dl_accelerator **gpu,
                            struct dl_diag *d) {
  const struct dl_descriptor *e = NULL;
  enum dl_status status =
      name ? dl_catalog_look(catalog, DL_ACCELERATOR, name, &e, d) : DL_OK;
  *gpu = DL_AS(accelerator, e);
  if (status == DL_OK && name && !e)
    status = dl_fail_at(d, DL_EINPUT, node->file, node->line,
                        "node '%s': unknown %s '%s' (see 'dlest list gpus')",
                        node->id, what, name);
  return status;
}

/* A liquid takes the place of fans. */
static enum dl_status cool(struct dl_node_options *o, struct dl_diag *d) {
  struct dl_node *e = &o->entry;
  if (o->cooling == DL_COOLING_AIR)
    return DL_OK;
  if (!(e->fans_w > 0))
    return dl_fail(d, DL_EUSAGE,
                   "--cooling liquid: node '%s' has no fans_w; give it with "
                   "--set node.fans_w=W, or the power without fans with --set "
                   "node.rest_w=W",
                   e->head.id);
  e->rest_w -= e->fans_w;
  e->fans_w = 0;
  return DL_OK;
}

static enum dl_status find_node(struct dl_node_options *o,
                                struct dl_job_options *job,
                                struct dl_catalog *catalog, struct dl_diag *d) {
  const struct dl_descriptor *e;
  DL_TRY(dl_catalog_open(catalog, DL_NODE, o->node, d));
  DL_TRY(dl_catalog_get(catalog, DL_NODE, o->node, &e, d));
  o->entry = *DL_AS(node, e);
  DL_TRY(take(&job->overrides, "node", &o->entry.head, d));
  DL_TRY(cool(o, d));
  DL_TRY(named(e, "cpu", o->entry.cpu, catalog, &o->cpu, d));
  DL_TRY(named(e, "gpu", o->entry.gpu, catalog, &o->gpu, d));
  o->found = true;
  return DL_OK;
}

/* Without a node the accelerator is the one that --gpu names. */
static enum dl_status find_gpu(struct dl_node_options *o,
                               struct dl_job_options *job,
                               struct dl_catalog *catalog, struct dl_diag *d) {
  const char *name = job->run.gpu;
  if (!name)
    return dl_fail(d, DL_EUSAGE,
                   "a share is one of an accelerator; give --gpu "
                   "or --node");
  const struct dl_descriptor *e;
  DL_TRY(dl_catalog_open(catalog, DL_ACCELERATOR, name, d));
  DL_TRY(dl_catalog_get(catalog, DL_ACCELERATOR, name, &e, d));
  o->gpu = DL_AS(accelerator, e);
  return DL_OK;
}

static bool is_share(const struct dl_node_options *o) {
  return o->profile || !isnan(o->gpu_share);
}

/* Sets how many nodes a job on `used` accelerators of nodes with `gpus` each
 * takes: whole ones. */
static enum dl_status count_nodes(struct dl_node_options *o, double used,
                                  double gpus, struct dl_diag *d) {
  const char *id = o->entry.head.id;
  double whole = gpus > 0 ? floor(used / gpus) : 0;
  o->use.nodes = 1;
  if (!(used > gpus))
    return DL_OK;
  if (!isnan(o->use_gpus) || !(gpus > 0))
    return dl_fail(d, DL_EUSAGE, "node '%s' has %g accelerators, not %g", id,
                   gpus, used);
  if (whole * gpus < used)
    return dl_fail(d, DL_EUSAGE,
                   "--gpus %g: node '%s' has %g accelerators, and of several "
                   "nodes a job uses all: give %g or %g",
                   used, id, gpus, whole * gpus, (whole + 1) * gpus);
  o->use.nodes = whole;
  return DL_OK;
}

/* Refuses an accelerator (--gpu) that is not what the job uses of the node. */
static enum dl_status check_kind(const struct dl_node_options *o,
                                 const char *gpu,
                                 const struct dl_descriptor *asked,
                                 struct dl_diag *d) {
  const struct dl_descriptor *its =
      o->use.on_cpu ? &o->cpu->head : &o->gpu->head;
  if (!gpu || (asked && strcmp(asked->id, its->id) == 0))
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "--gpu %.64s is not what the job uses of node '%s': '%s'", gpu,
                 o->entry.head.id, its->id);
}

/* A node of no particular CPU has the one that the job names, and as many. A
 * module of 16 GB is on each memory channel, two on each of a desktop. */
static void take_cpu(struct dl_node_options *o,
                     const struct dl_accelerator *cpu, double sockets) {
  struct dl_node *e = &o->entry;
  if (o->cpu || e->gpus > 0)
    return;
  o->cpu = cpu;
  if (isnan(e->sockets))
    e->sockets = dl_or(sockets, 1);
  if (isnan(e->memory_gb))
    e->memory_gb = dl_usable_gb(cpu) * e->sockets;
  if (isnan(e->cores))
    e->cores = cpu->multiprocessors * e->sockets;
}

/* Finds how many sockets are used, of how many nodes: all of one, or the number
 * that --sockets or --gpus gives. */
static enum dl_status count_sockets(struct dl_node_options *o, double given,
                                    struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  double nodes = ceil(given / e->sockets);
  o->use.on_cpu = true;
  o->use.nodes = 1;
  if (!o->cpu && !(e->gpus > 0) && !e->cpu && isnan(e->cpu_tdp_w))
    return dl_fail(d, DL_EUSAGE,
                   "node '%s' is of any CPU: name yours with --cpu",
                   e->head.id);
  if (!o->cpu)
    return dl_fail(d, DL_EINPUT,
                   "the CPUs of node '%s' are not in the catalogue: no job can "
                   "be estimated on them",
                   e->head.id);
  if (given > e->sockets && nodes * e->sockets > given)
    return dl_fail(d, DL_EUSAGE,
                   "--sockets %g: node '%s' has %g, and of several nodes a job "
                   "uses all: give %g or %g",
                   given, e->head.id, e->sockets, (nodes - 1) * e->sockets,
                   nodes * e->sockets);
  o->use.used = dl_or(given, e->sockets);
  o->use.nodes = fmax(dl_or(nodes, 1), 1);
  return DL_OK;
}

/* Finds how many accelerators are used, of how many nodes, and their kind.
 * --gpus and --gpu both give them; a CPU that is named does the work. */
static enum dl_status count_used(struct dl_node_options *o,
                                 const struct dl_job_options *job,
                                 struct dl_catalog *catalog,
                                 struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  const char *name = job->run.gpu;
  double gpus = isnan(e->gpus) ? 0 : e->gpus;
  bool has_number = dl_run_has(&job->run, DL_RUN_n_gpus);
  double given = has_number ? job->run.n_gpus : NAN;
  const struct dl_descriptor *asked = NULL;
  if (name)
    DL_TRY(dl_catalog_look(catalog, DL_ACCELERATOR, name, &asked, d));
  bool names_cpu = asked && dl_is_cpu(DL_AS(accelerator, asked));
  bool none = (o->use_gpus == 0 && !has_number) || o->device == DL_DEVICE_CPU ||
              (o->device == DL_DEVICE_AUTO && isnan(o->use_gpus) &&
               !has_number && gpus == 0);
  if (names_cpu)
    take_cpu(o, DL_AS(accelerator, asked), given);
  if (none || (names_cpu && !(o->use_gpus > 0))) {
    DL_TRY(count_sockets(o, given, d));
    return check_kind(o, name, asked, d);
  }
  if (has_number && !isnan(o->use_gpus) && given != o->use_gpus)
    return dl_fail(d, DL_EUSAGE, "--gpus %g is not --use-gpus %g", given,
                   o->use_gpus);
  double most = is_share(o) ? fmin(1, gpus) : gpus;
  double used = dl_or(o->use_gpus, dl_or(given, most));
  DL_TRY(count_nodes(o, used, gpus, d));
  o->use.used = used;
  if (!o->gpu)
    return dl_fail(d, DL_EINPUT,
                   "node '%s' does not name its accelerators: name them in its "
                   "entry (gpu=\"a100\")",
                   e->head.id);
  return check_kind(o, name, asked, d);
}

/* The requested share of o->gpu. */
static enum dl_status find_share(struct dl_node_options *o, struct dl_diag *d) {
  if (o->use.on_cpu)
    return dl_fail(d, DL_EUSAGE,
                   "a share is one of an accelerator, and the job uses none");
  if (o->profile && o->use.used > 1)
    return dl_fail(d, DL_EUSAGE,
                   "a slice by MIG is of one accelerator; the job uses %g",
                   o->use.used);
  if (o->profile)
    return dl_mig_share(o->gpu, o->profile, &o->use.share, d);
  o->use.share = (struct dl_share){o->gpu_share, o->gpu_share};
  return DL_OK;
}

/* The job sees an accelerator that has the share's part of everything; the
 * user's own values are for the whole board. */
static enum dl_status apply_share(struct dl_node_options *o,
                                  struct dl_job_options *job,
                                  struct dl_diag *d) {
  const struct dl_accelerator *known = o->gpu;
  o->use.share = (struct dl_share){1, 1};
  if (!is_share(o))
    return DL_OK;
  DL_TRY(find_share(o, d));
  /* A share is refused where there is none.
   * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  o->board = *known;
  o->gpu = &o->board;
  DL_TRY(take(&job->overrides, "gpu", &o->board.head, d));
  struct dl_accelerator cut = o->board;
  dl_share_cut(&cut, &o->use.share);
  const struct dl_kind_info *k = &dl_kinds[DL_ACCELERATOR];
  for (size_t i = 0; i < k->n_fields; i++) {
    DL_TEXT(name);
    double x = dl_field_number(&cut.head, &k->fields[i]);
    if (isnan(x) || x == dl_field_number(&known->head, &k->fields[i]))
      continue;
    char buf[DL_NUMBER_SIZE];
    dl_text_printf(&name, "gpu.%s=%s", k->fields[i].name,
                   dl_format_short(buf, x));
    dl_strlist_add(&job->overrides, dl_text_str(&name));
  }
  return DL_OK;
}

/* Loader processes per accelerator: an equal part of the cores where a loader
 * is described without their number, or is assumed (n_cpus), and no more than
 * there are cores. */
static void set_loader(const struct dl_node_options *o, struct dl_run *run,
                       struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  double used = o->use.used / o->use.nodes; /* of a node */
  double most = fmax(1, floor(e->cores / used));
  bool reads = run->loader != DL_LOADER_SYNTHETIC &&
               (run->loader != DL_LOADER_UNKNOWN ||
                run->augmentation != DL_AUGMENT_UNKNOWN);
  if (o->use.on_cpu || isnan(e->cores))
    return;
  if (!dl_run_has(run, DL_RUN_loader_workers)) {
    if (reads)
      dl_run_set_number(run, DL_RUN_loader_workers,
                        fmax(1, round(e->cores / e->gpus)));
    if (!dl_run_has(run, DL_RUN_n_cpus))
      dl_run_set_number(run, DL_RUN_n_cpus,
                        o->use.nodes * ceil(e->cores / e->gpus * used));
  } else if (run->loader_workers > most) {
    dl_warn(d,
            "--loader-workers %g: node '%s' has %g cores for %g GPU%s; %g per "
            "GPU count",
            run->loader_workers, e->head.id, e->cores, used,
            used > 1 ? "s" : "", most);
    dl_run_set_number(run, DL_RUN_loader_workers, most);
  }
}

/* The cores of a node bound the loader of the options alone. */
static enum dl_status refuse_other_loader(const struct dl_job_options *job,
                                          struct dl_diag *d) {
  static const char *const of_loader[][2] = {
      {"loader", "--loader"}, {"loader_workers", "--loader-workers"}};
  for (size_t i = 0; i < DL_LENGTH(of_loader); i++) {
    bool set = dl_value_in(&job->overrides, of_loader[i][0]) != NULL;
    if (set || dl_value_in(&job->defines, of_loader[i][0]))
      return dl_fail(d, DL_EUSAGE, "--%s %s does not go with --node; give %s",
                     set ? "set" : "define", of_loader[i][0], of_loader[i][1]);
  }
  return DL_OK;
}

/* The network of several nodes, unless the user gave another. */
static enum dl_status set_network(const struct dl_node_options *o,
                                  struct dl_run *run, struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  if (!(o->use.nodes > 1))
    return DL_OK;
  if (dl_run_has(run, DL_RUN_gpus_per_node) && run->gpus_per_node != e->gpus)
    return dl_fail(d, DL_EUSAGE, "--gpus-per-node %g: node '%s' has %g",
                   run->gpus_per_node, e->head.id, e->gpus);
  dl_run_set_number(run, DL_RUN_gpus_per_node, e->gpus);
  if (!dl_run_has(run, DL_RUN_network_gbps) && !isnan(e->network_gbps))
    dl_run_set_number(run, DL_RUN_network_gbps, e->network_gbps);
  return DL_OK;
}

/* Sets what follows from the node and was not given by the user. */
static void set_job(const struct dl_node_options *o, struct dl_job_options *job,
                    struct dl_diag *d) {
  double gb = o->use.nodes * o->entry.memory_gb;
  struct dl_run *run = &job->run;
  if (!run->gpu) /* what is used is known */
    dl_run_lend_text(run, DL_RUN_gpu,
                     /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
                     o->use.on_cpu ? o->cpu->head.id : o->gpu->head.id);
  if (!dl_run_has(run, DL_RUN_n_gpus))
    dl_run_set_number(run, DL_RUN_n_gpus,
                      o->use.on_cpu ? ceil(o->use.used) : o->use.used);
  if (!isnan(gb) && !dl_run_has(run, DL_RUN_ram_gb))
    dl_run_set_number(run, DL_RUN_ram_gb, gb);
  set_loader(o, run, d);
}

/* Sets the site of the node unless the user gave one. --country can be combined
 * with a site that only has a PUE. */
static enum dl_status set_site(const struct dl_node_options *o,
                               struct dl_job_options *job,
                               struct dl_catalog *catalog, struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  const struct dl_descriptor *found;
  struct dl_footprint *s = &job->foot;
  if (!e->site || s->site_name || s->cloud)
    return DL_OK;
  DL_TRY(dl_catalog_look(catalog, DL_SITE, e->site, &found, d));
  const struct dl_site *site = DL_AS(site, found);
  if (!site)
    return dl_fail_at(d, DL_EINPUT, e->head.file, e->head.line,
                      "node '%s': unknown site '%s' (see 'dlest list sites')",
                      e->head.id, e->site);
  if (!(s->country && (site->grid || !isnan(site->carbon_g_kwh))))
    s->site_name = e->site;
  return DL_OK;
}

enum dl_status dl_node_options_apply(struct dl_node_options *o,
                                     struct dl_job_options *job,
                                     struct dl_catalog *catalog,
                                     struct dl_diag *d) {
  if (!o->node && !is_share(o))
    return DL_OK;
  const char *option = o->node ? "--node" : "a share of an accelerator";
  if (job->has_table || job->axes.n > 0)
    return dl_fail(d, DL_EUSAGE,
                   job->has_table
                       ? "%s is for one run; it does not go with --input"
                       : "%s is for one run; it does not go with a list",
                   option);
  o->use.used = 1;
  if (o->node) {
    DL_TRY(find_node(o, job, catalog, d));
    DL_TRY(count_used(o, job, catalog, d));
  } else {
    DL_TRY(find_gpu(o, job, catalog, d));
  }
  DL_TRY(apply_share(o, job, d));
  if (o->node) {
    DL_TRY(refuse_other_loader(job, d));
    DL_TRY(set_network(o, &job->run, d));
    set_job(o, job, d);
    DL_TRY(set_site(o, job, catalog, d));
  }
  o->use.whole = o->charge == DL_CHARGE_NODE ||
                 (o->charge == DL_CHARGE_AUTO && !is_share(o)) || o->use.on_cpu;
  return DL_OK;
}

void dl_node_footprint(const struct dl_node_options *o,
                       struct dl_footprint *foot) {
  const struct dl_node *node = &o->entry;
  if (isnan(node->pue) || dl_is_word(foot->pue.of, "given"))
    return;
  const struct dl_origin *from =
      &node->head.origin[dl_field_index(&node->head, &node->pue)];
  foot->pue = (struct dl_factor){.x = node->pue,
                                 .of = node->head.name,
                                 .source = from->source,
                                 .note = from->note,
                                 .year = NAN};
}
