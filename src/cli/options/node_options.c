/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/node_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
  KEY_NODE = 0x600,
  KEY_USE,
  KEY_SHARE,
  KEY_GPU_SHARE,
  KEY_CHARGE,
  KEY_EMBODIED,
  KEY_LIFETIME,
  KEY_IN_USE,
  KEY_PARTS
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The computer it runs on:", 4},
    {"node", KEY_NODE, "NAME", 0,
     "the whole computer: a name (dlest list nodes) or your own file; adds the "
     "energy by part and at every boundary",
     0},
    {"use-gpus", KEY_USE, "K", 0,
     "accelerators of the node that the job uses (default: all), 0: its CPUs",
     0},
    {"share", KEY_SHARE, "mig:PROFILE", 0,
     "slice of an accelerator, as mig:2g.10gb", 0},
    {"gpu-share", KEY_GPU_SHARE, "SHARE", 0,
     "share of each accelerator in use, where others have the rest", 0},
    {"charge", KEY_CHARGE, "WHAT", 0,
     "of the node: node, all of it (default), or share, by accelerators in use "
     "(default with a share of one)",
     0},
    {"embodied", KEY_EMBODIED, NULL, 0,
     "tell the carbon of making the hardware too", 0},
    {"lifetime", KEY_LIFETIME, "YEARS", 0, "of the hardware (default 4)", 0},
    {"in-use", KEY_IN_USE, "SHARE", 0,
     "share of its life that it works (default 0.85)", 0},
    {"parts", KEY_PARTS, NULL, 0,
     "CSV: the energy by part, in place of the estimates", 0},
    {0},
};

const struct dl_node_options dl_node_options_none = {
    .use_gpus = NAN,
    .gpu_share = NAN,
    .lifetime_years = 4,
    .in_use = 0.85, /* the BLOOM paper's, arXiv 2211.02001 */
};

static double number(struct argp_state *state, const char *name,
                     const char *arg, double most) {
  double x;
  if (!dl_parse_double(arg, &x) || x <= 0 || x > most)
    argp_error(state, "--%s: invalid value '%s' (above 0, at most %g)", name,
               arg, most);
  return x;
}

static void parse_charge(struct argp_state *state, struct dl_node_options *o,
                         const char *arg) {
  if (strcmp(arg, "node") == 0)
    o->charge = DL_CHARGE_NODE;
  else if (strcmp(arg, "share") == 0)
    o->charge = DL_CHARGE_SHARE;
  else
    argp_error(state, "--charge: invalid value '%s'; node or share", arg);
}

static void parse_use(struct argp_state *state, struct dl_node_options *o,
                      const char *arg) {
  if (!dl_parse_double(arg, &o->use_gpus) || o->use_gpus < 0 ||
      o->use_gpus != floor(o->use_gpus) || o->use_gpus > 1e6)
    argp_error(state, "--use-gpus: invalid number '%s'", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct dl_node_options *o = state->input;
  switch (key) {
  case KEY_NODE:
    o->node = arg;
    return 0;
  case KEY_USE:
    parse_use(state, o, arg);
    return 0;
  case KEY_SHARE:
    if (strncmp(arg, "mig:", 4) != 0)
      argp_error(state,
                 "--share: expected mig:PROFILE, as mig:2g.10gb, not "
                 "'%s'; --gpu-share takes a number",
                 arg);
    o->profile = arg + 4;
    return 0;
  case KEY_GPU_SHARE:
    o->gpu_share = number(state, "gpu-share", arg, 1);
    return 0;
  case KEY_CHARGE:
    parse_charge(state, o, arg);
    return 0;
  case KEY_EMBODIED:
    o->embodied = true;
    return 0;
  case KEY_LIFETIME:
    o->lifetime_years = number(state, "lifetime", arg, 100);
    return 0;
  case KEY_IN_USE:
    o->in_use = number(state, "in-use", arg, 1);
    return 0;
  case KEY_PARTS:
    o->parts = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp dl_node_argp = {.options = options, .parser = parse};

/* --- what the job is told */

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

static enum dl_status find_node(struct dl_node_options *o,
                                struct dl_job_options *job,
                                struct dl_catalog *catalog, struct dl_diag *d) {
  const struct dl_descriptor *e;
  enum dl_status status = dl_catalog_open(catalog, DL_NODE, o->node, d);
  if (status == DL_OK)
    status = dl_catalog_get(catalog, DL_NODE, o->node, &e, d);
  if (status != DL_OK)
    return status;
  o->entry = *DL_AS(node, e);
  status = take(&job->overrides, "node", &o->entry.head, d);
  if (status == DL_OK)
    status = named(e, "cpu", o->entry.cpu, catalog, &o->cpu, d);
  if (status == DL_OK)
    status = named(e, "gpu", o->entry.gpu, catalog, &o->gpu, d);
  o->found = status == DL_OK;
  return status;
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
  enum dl_status status = dl_catalog_open(catalog, DL_ACCELERATOR, name, d);
  if (status == DL_OK)
    status = dl_catalog_get(catalog, DL_ACCELERATOR, name, &e, d);
  if (status == DL_OK)
    o->gpu = DL_AS(accelerator, e);
  return status;
}

static bool is_share(const struct dl_node_options *o) {
  return o->profile || !isnan(o->gpu_share);
}

/* How many accelerators, of which kind. --gpus and --gpu say the same. */
static enum dl_status count_used(struct dl_node_options *o,
                                 const struct dl_job_options *job,
                                 struct dl_catalog *catalog,
                                 struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  const struct dl_descriptor *asked = NULL;
  const char *gpu = job->run.gpu;
  double gpus = isnan(e->gpus) ? 0 : e->gpus;
  bool told = dl_run_has(&job->run, DL_RUN_n_gpus);
  double given = told ? job->run.n_gpus : NAN;
  if (told && !isnan(o->use_gpus) && given != o->use_gpus)
    return dl_fail(d, DL_EUSAGE, "--gpus %g is not --use-gpus %g", given,
                   o->use_gpus);
  double used = !isnan(o->use_gpus) ? o->use_gpus
                : !isnan(given)     ? given
                : is_share(o)       ? fmin(1, gpus)
                                    : gpus;
  if (used > gpus)
    return dl_fail(d, DL_EUSAGE, "node '%s' has %g accelerators, not %g",
                   e->head.id, gpus, used);
  o->use.on_cpu = used == 0;
  o->use.used = o->use.on_cpu ? e->sockets : used;
  if (o->use.on_cpu && !o->cpu)
    return dl_fail(d, DL_EINPUT,
                   "the CPUs of node '%s' are not in the catalogue: no job can "
                   "be estimated on them",
                   e->head.id);
  if (!o->use.on_cpu && !o->gpu)
    return dl_fail(d, DL_EINPUT,
                   "node '%s' does not tell its accelerators: name them in its "
                   "entry (gpu=\"a100\")",
                   e->head.id);
  enum dl_status status =
      gpu ? dl_catalog_look(catalog, DL_ACCELERATOR, gpu, &asked, d) : DL_OK;
  const struct dl_descriptor *its =
      o->use.on_cpu ? &o->cpu->head : &o->gpu->head;
  if (status == DL_OK && gpu && (!asked || strcmp(asked->id, its->id) != 0))
    status = dl_fail(d, DL_EUSAGE,
                     "--gpu %.64s is not what the job uses of node '%s': '%s'",
                     gpu, e->head.id, its->id);
  return status;
}

/* The share that was asked for, of o->gpu. */
static enum dl_status find_share(struct dl_node_options *o, struct dl_diag *d) {
  if (o->profile && !isnan(o->gpu_share))
    return dl_fail(d, DL_EUSAGE, "--share and --gpu-share exclude each other");
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
 * user's own values are those of the whole board. */
static enum dl_status apply_share(struct dl_node_options *o,
                                  struct dl_job_options *job,
                                  struct dl_diag *d) {
  const struct dl_accelerator *known = o->gpu;
  o->use.share = (struct dl_share){1, 1};
  if (!is_share(o))
    return DL_OK;
  enum dl_status status = find_share(o, d);
  if (status != DL_OK)
    return status;
  /* A share is refused where there is none.
   * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  o->board = *known;
  o->gpu = &o->board;
  status = take(&job->overrides, "gpu", &o->board.head, d);
  struct dl_accelerator cut = o->board;
  dl_share_cut(&cut, &o->use.share);
  const struct dl_kind_info *k = dl_kind_info(DL_ACCELERATOR);
  for (size_t i = 0; i < k->n_fields && status == DL_OK; i++) {
    struct dl_text name = {0};
    double x = dl_field_number(&cut.head, &k->fields[i]);
    if (isnan(x) || x == dl_field_number(&known->head, &k->fields[i]))
      continue;
    char buf[DL_NUMBER_SIZE];
    dl_text_printf(&name, "gpu.%s=%s", k->fields[i].name,
                   dl_format_short(buf, x));
    if (name.failed || !dl_strlist_add(&job->overrides, name.s))
      status = dl_fail_memory(d);
    dl_text_free(&name);
  }
  return status;
}

/* What follows from the node, where the user did not say it. */
static void tell_job(const struct dl_node_options *o,
                     struct dl_job_options *job) {
  double gb = o->entry.memory_gb;
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
}

/* The node stands at its site, unless the user says where. A country goes with
 * a site that has a PUE alone. */
static enum dl_status tell_site(const struct dl_node_options *o,
                                struct dl_job_options *job,
                                struct dl_catalog *catalog, struct dl_diag *d) {
  const struct dl_node *e = &o->entry;
  const struct dl_descriptor *found;
  struct dl_site_options *s = &job->site;
  if (!e->site || s->site || s->cloud)
    return DL_OK;
  enum dl_status status = dl_catalog_look(catalog, DL_SITE, e->site, &found, d);
  if (status != DL_OK)
    return status;
  const struct dl_site *site = DL_AS(site, found);
  if (!site)
    return dl_fail_at(d, DL_EINPUT, e->head.file, e->head.line,
                      "node '%s': unknown site '%s' (see 'dlest list sites')",
                      e->head.id, e->site);
  if (!(s->country && (site->grid || !isnan(site->carbon_g_kwh))))
    s->site = e->site;
  return DL_OK;
}

static enum dl_status check_alone(const struct dl_node_options *o,
                                  const struct dl_job_options *job,
                                  struct dl_diag *d) {
  const char *needs = !isnan(o->use_gpus)           ? "--use-gpus"
                      : o->charge != DL_CHARGE_AUTO ? "--charge"
                      : o->parts                    ? "--parts"
                      : o->embodied                 ? "--embodied"
                                                    : NULL;
  if (!o->node && needs)
    return dl_fail(d, DL_EUSAGE, "%s is about a node; give --node NAME", needs);
  if ((job->has_table || job->axes.n > 0) && (o->node || is_share(o)))
    return dl_fail(d, DL_EUSAGE, "%s is for one run; it does not go with %s",
                   o->node ? "--node" : "a share of an accelerator",
                   job->has_table ? "--input" : "a list");
  return DL_OK;
}

enum dl_status dl_node_options_apply(struct dl_node_options *o,
                                     struct dl_job_options *job,
                                     struct dl_catalog *catalog,
                                     struct dl_diag *d) {
  enum dl_status status = check_alone(o, job, d);
  if (status != DL_OK || (!o->node && !is_share(o)))
    return status;
  o->use.used = 1;
  if (o->node) {
    status = find_node(o, job, catalog, d);
    if (status == DL_OK)
      status = count_used(o, job, catalog, d);
  } else {
    status = find_gpu(o, job, catalog, d);
  }
  if (status == DL_OK)
    status = apply_share(o, job, d);
  if (status == DL_OK && o->node)
    tell_job(o, job);
  if (status == DL_OK && o->node)
    status = tell_site(o, job, catalog, d);
  o->use.whole = o->charge == DL_CHARGE_NODE ||
                 (o->charge == DL_CHARGE_AUTO && !is_share(o)) || o->use.on_cpu;
  return status;
}

void dl_node_footprint(const struct dl_node_options *o,
                       struct dl_footprint *foot) {
  const struct dl_node *node = &o->entry;
  if (!o->found || isnan(node->pue) ||
      (foot->pue.of && strcmp(foot->pue.of, "given") == 0))
    return;
  const struct dl_origin *from =
      &node->head.origin[dl_field_index(&node->head, &node->pue)];
  foot->pue = (struct dl_factor){.x = node->pue,
                                 .of = node->head.name,
                                 .source = from->source,
                                 .note = from->note,
                                 .year = NAN};
}
