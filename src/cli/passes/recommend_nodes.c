/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices for dlest recommend among nodes: whole computers. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/passes/recommend.h"
#include "estimate/methods/work.h"

/* Axes of the sweep on each node. */
static const char *const node_axes[] = {"arch",       "seq_len",   "image_px",
                                        "batch_size", "precision", NULL};

void dl_recommend_free_nodes(struct dl_recommend_data *r) {
  for (size_t i = 0; i < r->n_nodes; i++) {
    r->node[i].job.axes = (struct dl_axes){0};
    dl_job_options_free(&r->node[i].job);
    dl_engine_free(r->node[i].engine);
    dl_plan_free(r->node[i].f);
  }
  free(r->node);
}

static void copy_list(struct dl_strlist *to, const struct dl_strlist *from) {
  *to = (struct dl_strlist){0};
  for (size_t i = 0; i < from->n; i++)
    dl_strlist_add(to, from->s[i]);
}

/* The options of a job, without axes. */
static void copy_job(struct dl_job_options *to,
                     const struct dl_job_options *from) {
  *to = *from;
  to->axes = (struct dl_axes){0};
  copy_list(&to->overrides, &from->overrides);
  copy_list(&to->defines, &from->defines);
  copy_list(&to->aliases, &from->aliases);
}

/* Whether a node is one of the provider of a region, or of none. */
static bool is_of_any(const struct dl_recommend_data *r, const char *node) {
  bool is = false;
  for (size_t i = 0; i < r->n_regions && !is; i++)
    is = dl_is_of_provider(node, r->region[i].cloud);
  return is;
}

/* The nodes of the catalogue, with --cloud its providers' alone. */
static enum dl_status every_node(struct dl_cli *cli,
                                 const struct dl_recommend_data *r,
                                 struct dl_text *names) {
  const struct dl_descriptor **list;
  size_t n;
  DL_TRY(dl_catalog_all(dl_cli_catalog(cli), DL_NODE, &list, &n, &cli->diag));
  for (size_t i = 0; i < n; i++) {
    const struct dl_node *e = DL_AS(node, list[i]);
    /* else of a CPU that the job names */
    if ((e->cpu || e->gpus > 0) && is_of_any(r, e->head.id))
      dl_text_printf(names, "%s%s", names->len > 0 ? "," : "", e->head.id);
  }
  free((void *)list);
  return names->len > 0
             ? DL_OK
             : dl_fail(&cli->diag, DL_EINPUT,
                       "no node of the provider of '%s' is known; see 'dlest "
                       "list nodes', and name one",
                       r->region[0].cloud);
}

/* Makes an axis of the requested nodes, and takes the numbers of accelerators
 * (none: all of a node) out of the axes of the job. */
static enum dl_status find_asked(struct dl_cli *cli,
                                 struct dl_recommend_options *o,
                                 const struct dl_recommend_data *r,
                                 struct dl_axes *nodes,
                                 struct dl_strlist *gpus) {
  const struct dl_axis *a = dl_axes_find(&o->job.axes, "n_gpus");
  DL_TEXT(names);
  for (size_t i = 0; a && i < a->n; i++)
    dl_strlist_add(gpus, a->text.s[i]);
  o->searched = strcmp(o->nodes, "all") == 0;
  if (o->extrapolate && !o->searched)
    return dl_fail(&cli->diag, DL_EUSAGE, "--%s has no effect without --%s",
                   "extrapolate", "node all");
  if (o->searched)
    DL_TRY(every_node(cli, r, &names));
  DL_TRY(dl_axes_set(nodes, "node",
                     o->searched ? dl_text_str(&names) : o->nodes, false,
                     &cli->diag));
  return dl_job_options_sweep(&o->job, node_axes, &cli->diag);
}

/* Whether a node, or several whole ones, have so many accelerators. */
static enum dl_status has_gpus(struct dl_cli *cli,
                               const struct dl_recommend_options *o,
                               const char *name, const char *gpus, bool *has) {
  const struct dl_descriptor *e;
  double n = 0;
  DL_TRY(dl_catalog_open(dl_cli_catalog(cli), DL_NODE, name, &cli->diag));
  DL_TRY(dl_catalog_get(dl_cli_catalog(cli), DL_NODE, name, &e, &cli->diag));
  if (!gpus || !dl_parse_double(gpus, &n))
    return DL_OK;
  double of = fmax(0, DL_AS(node, e)->gpus);
  *has = n <= of || (of > 0 && fmod(n, of) == 0);
  if (!*has && !o->searched)
    dl_warn(&cli->diag,
            "node '%s' has %g accelerator%s, and %s are no multiple: skipped",
            e->id, of, of > 1 || of < 1 ? "s" : "", gpus);
  return DL_OK;
}

/* Frame and engine of a node. */
static enum dl_status open_node(struct dl_cli *cli,
                                const struct dl_recommend_options *o,
                                const struct dl_model *m,
                                struct dl_recommend_node *n) {
  struct dl_catalog *catalog = dl_cli_catalog(cli);
  struct dl_diag *d = &cli->diag;
  n->f = dl_plan_new(catalog);
  DL_TRY(dl_node_options_apply(&n->o, &n->job, catalog, d));
  n->job.axes = o->job.axes;
  DL_TRY(dl_plan_axes(n->f, &o->job.axes, d));
  DL_TRY(dl_job_options_apply(&n->job, n->f, catalog, true, d));
  DL_TRY(dl_engine_new(&n->engine, n->f, m, o->method, o->coverage, d));
  return dl_engine_learn_families(n->engine, NULL, catalog, d);
}

static void warn_node(struct dl_cli *cli, const struct dl_recommend_node *n,
                      const struct dl_result *r) {
  const struct dl_node *e = &n->o.entry;
  if (isnan(e->rest_w))
    dl_warn(&cli->diag,
            "node '%s' has no rest_w: board, fans, network and drives count "
            "nothing",
            e->head.id);
  const struct dl_estimate *est = &r->est[0];
  if (n->o.use.on_cpu && est->model && !r->predictions.served.on_cpu)
    dl_warn(&cli->diag,
            "node '%s' has no accelerators, and %s was fitted on GPUs: it says "
            "little of CPUs",
            e->head.id, est->method);
}

/* Power of the node in its first combination: the user may have set values of
 * the accelerator, and the load of the CPUs depends on the phase. */
static enum dl_status resolve(struct dl_cli *cli, struct dl_recommend_node *n) {
  DL_SCOPED(dl_cursor_free_local) struct dl_cursor *cursor = NULL;
  struct dl_result result;
  DL_TRY(dl_cursor_new(&cursor, n->f, &cli->diag));
  DL_TRY(dl_cursor_to(cursor, 0, &cli->diag));
  const struct dl_row *row = dl_cursor_row(cursor);
  if (dl_row_is_invalid(row))
    return dl_plan_complain(n->f, row, NULL, 0, &cli->diag);
  dl_engine_make_room(n->engine, &result);
  DL_FREED struct dl_estimate *est = result.est;
  DL_TRY(dl_engine_row(n->engine, row, &result, &cli->diag));
  const struct dl_node_options *o = &n->o;
  const struct dl_accelerator *in_use = result.job.found.gpu;
  struct dl_node_use use = o->use;
  dl_node_footprint(o, &n->job.foot);
  use.inference = dl_run_is_inference(result.job.run);
  use.language =
      result.job.found.arch && dl_is_language_model(result.job.found.arch);
  use.pue = n->job.foot.pue.x;
  n->at.id = o->entry.head.id;
  enum dl_status status =
      dl_node_resolve(&n->at.node, &o->entry, use.on_cpu ? in_use : o->cpu,
                      use.on_cpu ? o->gpu : in_use, &use, &cli->diag);
  warn_node(cli, n, &result);
  return status;
}

/* A node with some of its accelerators in use, in a region. */
static enum dl_status add_node(struct dl_cli *cli,
                               const struct dl_recommend_options *o,
                               size_t region, const char *name,
                               const char *gpus, struct dl_recommend_data *r) {
  double count;
  DL_GROW(r->node, r->cap_nodes, r->n_nodes + 1);
  struct dl_recommend_node *n = &r->node[r->n_nodes++];
  *n = (struct dl_recommend_node){.o = dl_node_options_none};
  n->o.node = name;
  copy_job(&n->job, &o->job);
  n->job.foot = r->region[region];
  n->at.region = dl_recommend_region_name(r, region);
  if (gpus && dl_parse_double(gpus, &count))
    dl_run_set_number(&n->job.run, DL_RUN_n_gpus, count);
  DL_TRY(open_node(cli, o, r->m, n));
  return resolve(cli, n);
}

/* A node in the regions of its provider. One of another provider has none,
 * one of no provider may be anywhere. */
static enum dl_status add_regions(struct dl_cli *cli,
                                  const struct dl_recommend_options *o,
                                  const char *name, const char *gpus,
                                  struct dl_recommend_data *r) {
  bool anywhere = !strchr(name, ':') || strchr(name, '/');
  size_t before = r->n_nodes;
  for (size_t i = 0; i < r->n_regions; i++)
    if (anywhere || dl_is_of_provider(name, r->region[i].cloud))
      DL_TRY(add_node(cli, o, i, name, gpus, r));
  return r->n_nodes > before
             ? DL_OK
             : dl_fail(&cli->diag, DL_EUSAGE,
                       "--cloud %s: node '%s' is of another provider",
                       r->region[0].cloud, name);
}

static enum dl_status add_all(struct dl_cli *cli,
                              const struct dl_recommend_options *o,
                              const struct dl_intern *names,
                              const struct dl_strlist *numbers,
                              struct dl_recommend_data *r) {
  size_t counts = numbers->n > 0 ? numbers->n : 1;
  for (size_t i = 0; i < names->n; i++)
    for (size_t k = 0; k < counts; k++) {
      const char *gpus = numbers->n > 0 ? numbers->s[k] : NULL;
      bool has = true;
      DL_TRY(has_gpus(cli, o, names->s[i], gpus, &has));
      if (has)
        DL_TRY(add_regions(cli, o, names->s[i], gpus, r));
    }
  return r->n_nodes > 0 ? DL_OK
                        : dl_fail(&cli->diag, DL_EINPUT,
                                  "no node has as many accelerators as --gpus "
                                  "asks for, or a part of them");
}

/* Sets one boundary for all, so that they compare: the requested one, or the
 * widest that all have, which is also what is paid for. */
static enum dl_status set_boundary(struct dl_cli *cli, enum dl_boundary asked,
                                   struct dl_recommend_data *r) {
  const char *without = NULL;
  bool any = false;
  for (size_t i = 0; i < r->n_nodes; i++) {
    if (isnan(r->node[i].at.node.use.pue))
      without = r->node[i].at.id;
    else
      any = true;
  }
  if (without && asked == DL_BOUND_FACILITY)
    return dl_fail(&cli->diag, DL_EUSAGE, DL_NEEDS_PUE);
  for (size_t i = 0; i < r->n_nodes; i++) {
    struct dl_choice_node *at = &r->node[i].at;
    at->paid = without ? DL_BOUND_NODE : DL_BOUND_FACILITY;
    at->boundary = asked == DL_N_BOUNDS ? at->paid : asked;
  }
  if (without && any && asked == DL_N_BOUNDS)
    dl_warn(&cli->diag,
            "node '%s' has no PUE: energies are those at the plug; --pue gives "
            "one",
            without);
  return DL_OK;
}

enum dl_status dl_recommend_nodes(struct dl_cli *cli,
                                  struct dl_recommend_options *o,
                                  struct dl_recommend_data *r) {
  DL_SCOPED(dl_axes_free) struct dl_axes nodes = {0};
  DL_SCOPED(dl_strlist_free) struct dl_strlist gpus = {0};
  DL_TRY(find_asked(cli, o, r, &nodes, &gpus));
  DL_TRY(add_all(cli, o, &nodes.a[0].text, &gpus, r));
  DL_TRY(set_boundary(cli, o->boundary, r));
  o->job.dataset = r->node[0].job.dataset; /* equal for all nodes */
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_recommend_node *n = &r->node[i];
    dl_plan_warn_unused(n->f, &cli->diag);
    const struct dl_rows rows = {
        .f = n->f, .catalog = dl_cli_catalog(cli), .axes = &o->job.axes};
    size_t first = r->choices.n;
    DL_TRY(dl_choices_sweep(&r->choices, &rows, n->engine, &n->at, &cli->diag));
    double hour = n->o.entry.price_h * n->at.node.nodes;
    for (size_t k = first; k < r->choices.n; k++)
      dl_recommend_cost(o, &n->job.foot, hour, &r->choices.c[k]);
  }
  return DL_OK;
}
