/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the options of a job to what the rows of a plan begin with, and to the
 * axes of a sweep. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "catalog/sample_kinds.h"
#include "cli/command.h"
#include "cli/options/job_options.h"
#include "cli/options/known_options.h"
#include "estimate/accounting/core_power.h"
#include "quantities/quantities.h"
#include "run/setup/option_words.h"

/* The data set must be known, and the time that GPUs idle is said once. */
static enum dl_status check_data(const struct dl_job_options *o,
                                 struct dl_catalog *catalog, bool serves,
                                 struct dl_diag *d) {
  const struct dl_descriptor *e;
  if (o->run.dataset &&
      dl_catalog_get(catalog, DL_DATASET, o->run.dataset, &e, d) != DL_OK)
    return d->status;
  if (serves && dl_job_options_give(o, DL_RUN_request_rate) &&
      o->run.idle_s > 0)
    return dl_fail(d, DL_EUSAGE,
                   "--idle-s does not go with --request-rate, which says how "
                   "long the GPUs idle");
  return DL_OK;
}

/* Requires the size of a training that has no usual data set. */
static enum dl_status check_size(const struct dl_job_options *o,
                                 const struct dl_job_subject *s,
                                 struct dl_diag *d) {
  const char *dataset = o->run.dataset;
  bool per_epoch = dl_job_options_give(o, DL_RUN_train_tokens);
  if (per_epoch && dl_run_has(&o->run, DL_RUN_train_samples))
    return dl_fail(d, DL_EUSAGE,
                   "--train-tokens and --train-samples exclude each other");
  if (dl_job_options_give(o, DL_RUN_tokens)) {
    if (s->described && s->usual)
      return dl_fail(d, DL_EUSAGE,
                     "--tokens is for language models; '%.64s' needs --dataset "
                     "NAME or --train-samples N",
                     s->arch);
    if (dl_run_has(&o->run, DL_RUN_train_samples))
      return dl_fail(d, DL_EUSAGE,
                     "--tokens is the whole training; it does not go with "
                     "--train-samples");
    if (dl_run_has(&o->run, DL_RUN_epochs) && !per_epoch)
      dl_warn(d,
              "--tokens %g is the whole training, all %g epochs; give tokens "
              "per epoch by --train-tokens",
              o->run.tokens, o->run.epochs);
    return dataset ? dl_fail(d, DL_EUSAGE,
                             "--tokens is the whole training; it does not "
                             "go with --dataset")
                   : DL_OK;
  }
  if (s->usual || o->has_table || dataset || s->inference || per_epoch ||
      dl_job_options_give(o, DL_RUN_train_samples) ||
      dl_job_options_give(o, DL_RUN_duration_s))
    return DL_OK;
  const struct dl_axis *archs = dl_axes_find(&o->axes, "arch");
  if (!s->language)
    return dl_fail(d, DL_EUSAGE,
                   "no default data set for '%.64s'%s; give --dataset NAME or "
                   "--train-samples N",
                   s->arch, archs && archs->n > 1 ? " and others" : "");
  return dl_fail(d, DL_EUSAGE,
                 "no default data set for '%.64s'; give --dataset NAME, as %s, "
                 "--train-samples N, --train-tokens N or --tokens N of the "
                 "whole training",
                 s->arch, s->example);
}

enum dl_status dl_job_options_apply_table(const struct dl_job_options *o,
                                          struct dl_row_plan *f,
                                          struct dl_diag *d) {
  for (size_t i = 0; i < o->aliases.n; i++)
    DL_TRY(dl_plan_alias(f, o->aliases.s[i], d));
  for (size_t i = 0; i < o->defines.n; i++)
    DL_TRY(dl_plan_define(f, o->defines.s[i], d));
  for (size_t i = 0; i < o->overrides.n; i++)
    DL_TRY(dl_plan_override(f, o->overrides.s[i], d));
  return DL_OK;
}

/* Facts about the job of the options. */
enum {
  IS_LANGUAGE,
  TAKES_NO_SEQUENCES,
  HAS_NO_ATTENTION,
  IS_NO_DIFFUSION,
  INPUT_KEEPS_UP,
  IS_ALONE,
  N_FACTS
};

/* Settings, each with a fact where it has no effect. */
static const struct dl_quantity_of unused[] = {
    {DL_RUN_image_px, IS_LANGUAGE},
    {DL_RUN_seq_len, TAKES_NO_SEQUENCES},
    {DL_RUN_prompt_tokens, TAKES_NO_SEQUENCES},
    {DL_RUN_output_tokens, TAKES_NO_SEQUENCES},
    {DL_RUN_train_tokens, TAKES_NO_SEQUENCES},
    {DL_RUN_attention, HAS_NO_ATTENTION},
    {DL_RUN_denoising_steps, IS_NO_DIFFUSION},
    {DL_RUN_loader, INPUT_KEEPS_UP},
    {DL_RUN_loader_workers, INPUT_KEEPS_UP},
    {DL_RUN_augmentation, INPUT_KEEPS_UP},
    {DL_RUN_augmentation, IS_LANGUAGE},
    {DL_RUN_scaling, IS_ALONE},
    {DL_RUN_sharding, IS_ALONE},
    {DL_RUN_network_gbps, IS_ALONE},
    {DL_RUN_gpus_per_node, IS_ALONE},
    {DL_RUN_tensor_parallel, IS_ALONE},
    {DL_RUN_pipeline_parallel, IS_ALONE},
    {DL_RUN_virtual_stages, IS_ALONE},
    {DL_RUN_expert_parallel, IS_ALONE},
    {DL_RUN_context_parallel, IS_ALONE},
    {DL_RUN_replicas, IS_ALONE}};

/* The job whose input keeps up with any training; NULL: this one's may not. */
static const char *keeps_up(const struct dl_job_subject *s,
                            const struct dl_run *run) {
  bool sized =
      s->usual || run->dataset || dl_run_has(run, DL_RUN_train_samples) ||
      dl_run_has(run, DL_RUN_tokens) || dl_run_has(run, DL_RUN_train_tokens);
  if (s->arch && !s->images && !s->language)
    return "a network that takes no images";
  if (!isnan(run->duration_s) && !sized)
    return "a training whose samples are not known";
  return run->loader == DL_LOADER_SYNTHETIC ? "synthetic input" : NULL;
}

/* Warns of settings that have no effect on the job of the options. */
static void warn_unused(const struct dl_job_options *o,
                        const struct dl_job_subject *s, struct dl_diag *d) {
  const struct dl_run *run = &o->run;
  bool alone = (isnan(run->n_gpus) || run->n_gpus <= 1) &&
               !dl_axes_find(&o->axes, "n_gpus");
  char arch[80];
  snprintf(arch, sizeof arch, "'%.64s'", s->arch ? s->arch : "");
  const char *const on[N_FACTS] = {
      [IS_LANGUAGE] = s->language ? arch : NULL,
      [TAKES_NO_SEQUENCES] = s->arch && !s->sequences ? arch : NULL,
      [HAS_NO_ATTENTION] = s->arch && !s->attends ? arch : NULL,
      [IS_NO_DIFFUSION] = s->arch && !s->denoising ? arch : NULL,
      [INPUT_KEEPS_UP] = keeps_up(s, run),
      [IS_ALONE] = alone ? "one accelerator" : NULL};
  static const char *const why[N_FACTS] = {
      [IS_LANGUAGE] = ", a language model",
      [TAKES_NO_SEQUENCES] = ", which takes no sequences",
      [HAS_NO_ATTENTION] = ", which has no attention",
      [IS_NO_DIFFUSION] = ", which is no diffusion model"};
  for (size_t i = 0; i < DL_LENGTH(unused); i++) {
    enum dl_run_id id = unused[i].id;
    unsigned fact = unused[i].of;
    DL_TEXT(option);
    if (!on[fact] || !dl_run_has(run, id) ||
        (id == DL_RUN_loader && run->loader == DL_LOADER_SYNTHETIC))
      continue;
    dl_add_option(&option, dl_run_columns[id].name);
    dl_warn(d, "%s has no effect on %s%s", option.s, on[fact],
            dl_text_or(why[fact], ""));
  }
}

/* Warns of names of --alias that nothing uses. */
static void warn_unused_aliases(const struct dl_job_options *o,
                                struct dl_diag *d) {
  const char *const names[] = {o->run.arch, o->run.gpu};
  for (size_t i = 0; i < o->aliases.n && o->axes.n == 0; i++) {
    const char *alias = o->aliases.s[i];
    size_t n = strcspn(alias, "=");
    bool used = false;
    for (size_t k = 0; k < 2; k++)
      used |= names[k] && strlen(names[k]) == n &&
              strncasecmp(names[k], alias, n) == 0;
    if (!used)
      dl_warn(d, "--alias %.*s: nothing uses this name", (int)n, alias);
  }
}

/* Applies the options to one architecture, the first or a further one. */
static enum dl_status add_subject(struct dl_job_subject *s,
                                  struct dl_catalog *c, const char *arch,
                                  struct dl_diag *d) {
  const struct dl_descriptor *found = NULL;
  DL_TRY(dl_catalog_open(c, DL_ARCHITECTURE, arch, d));
  DL_TRY(dl_catalog_look(c, DL_ARCHITECTURE, arch, &found, d));
  const struct dl_architecture *e = DL_AS(architecture, found);
  const char *usual = e ? dl_usual_dataset(e) : s->usual;
  bool first = !s->arch, language = e && dl_is_language_model(e);
  if (language && !s->example)
    s->example = dl_encodes(e) ? "mnli" : "alpaca";
  if (language && dl_same_text(e->family, "whisper"))
    s->example = "common-voice";
  s->described |= e != NULL;
  s->sequences |= e && e->transformer;
  s->encodes |= e && dl_encodes(e);
  s->attends |=
      e && (e->transformer || !isnan(e->heads) || !isnan(e->attention_acts_m));
  s->images |= !e || dl_samples_of_network(e) == DL_SAMPLES_IMAGES ||
               dl_samples_of_network(e) == DL_SAMPLES_UNKNOWN;
  s->denoising |= e && !isnan(e->denoising_steps);
  s->usual = first || (usual && s->usual && strcmp(usual, s->usual) == 0)
                 ? usual
                 : NULL;
  if (!first && language != s->language)
    return dl_fail(d, DL_EUSAGE,
                   "'%.64s' and '%.64s': language models and others do not go "
                   "in one sweep",
                   s->arch, arch);
  s->arch = first ? arch : s->arch;
  s->language = language;
  return DL_OK;
}

enum dl_status dl_job_subject_find(struct dl_job_subject *s,
                                   const struct dl_job_options *o,
                                   struct dl_catalog *c, struct dl_diag *d) {
  const struct dl_axis *a = dl_axes_find(&o->axes, "arch");
  *s = (struct dl_job_subject){
      .usual = "imagenet",
      .inference = dl_job_options_word(o, DL_RUN_phase) == DL_PHASE_INFERENCE};
  for (size_t i = 0; a && i < a->n; i++)
    DL_TRY(add_subject(s, c, a->text.s[i], d));
  return !a && o->run.arch ? add_subject(s, c, o->run.arch, d) : DL_OK;
}

/* Whether a job may have another value of a quantity than the options say. */
static bool is_open(const struct dl_job_options *o, const struct dl_csv *table,
                    const char *name) {
  return dl_value_in(&o->defines, name) ||
         (table && dl_csv_find(table, name) >= 0);
}

/* The fit of language models has all precisions but fp64, which the fit of
 * other networks covers. Encoders pass a text once, as those do. */
unsigned dl_job_kinds(const struct dl_job_options *o,
                      struct dl_catalog *catalog, const struct dl_csv *table) {
  struct dl_job_subject s;
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  unsigned kinds = DL_ANY_JOB;
  if (dl_job_subject_find(&s, o, catalog, &own) != DL_OK)
    return kinds;
  if (!is_open(o, table, "phase"))
    kinds &= s.inference ? DL_SERVES_LANGUAGE | DL_SERVES_OTHER
                         : DL_TRAINS_LANGUAGE | DL_TRAINS_OTHER;
  bool fp64 = is_open(o, table, "precision") ||
              dl_job_options_word(o, DL_RUN_precision) == DL_PRECISION_FP64;
  bool renamed = o->aliases.n > 0 || dl_value_in(&o->overrides, "arch") ||
                 is_open(o, table, "arch");
  if (s.described && !renamed && !(s.language && fp64))
    kinds &= s.language ? DL_TRAINS_LANGUAGE | DL_SERVES_LANGUAGE |
                              (s.encodes ? DL_SERVES_OTHER : 0u)
                        : DL_TRAINS_OTHER | DL_SERVES_OTHER;
  return kinds;
}

/* Warns of --set gpu.FIELD=X and arch.FIELD=X whose X is far from the value of
 * the catalogue: TB/s in place of GB/s. */
static void warn_units(const struct dl_job_options *o, struct dl_catalog *c,
                       struct dl_diag *d) {
  const double far = 100;
  for (size_t i = 0; i < o->overrides.n; i++) {
    const char *set = o->overrides.s[i];
    size_t n = strcspn(set, "=");
    char field[64];
    enum dl_kind kind;
    double x;
    DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
    const struct dl_descriptor *e = NULL;
    snprintf(field, sizeof field, "%.*s", (int)n, set);
    const struct dl_field *of = dl_field_of(field, &kind);
    const char *name = NULL;
    if (of && kind == DL_ACCELERATOR)
      name = o->run.gpu;
    else if (of && kind == DL_ARCHITECTURE)
      name = o->run.arch;
    if (name && dl_parse_double(set + n + (set[n] == '='), &x) &&
        dl_catalog_open(c, kind, name, &own) == DL_OK &&
        dl_catalog_look(c, kind, name, &e, &own) == DL_OK && e) {
      double known = dl_field_number(e, of);
      if (x > 0 && known > 0 && fabs(log(x / known)) > log(far))
        dl_warn(d, "--set %s: the catalogue has %g for '%.64s'; check the unit",
                set, known, name);
    }
  }
}

/* Warns of the name of a computer with several accelerators in the place of one
 * of them. */
static void warn_system(const struct dl_job_options *o, struct dl_catalog *c,
                        struct dl_diag *d) {
  const char *name = o->run.gpu;
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  const struct dl_descriptor *e = NULL;
  if (!name || dl_job_options_give(o, DL_RUN_n_gpus) ||
      (strncasecmp(name, "dgx", 3) != 0 && strncasecmp(name, "hgx", 3) != 0))
    return;
  if (dl_catalog_look(c, DL_ACCELERATOR, name, &e, &own) == DL_OK && e &&
      DL_AS(accelerator, e)->link_domain > 1)
    dl_warn(d,
            "--gpu '%.64s' is one %s; give --gpus for more, or --node for the "
            "whole computer",
            name, e->id);
}

/* The samples of a language model are as long as the data set's, on average;
 * a length that nothing says is the network's, with a warning. Corpora are read
 * by tokens. */
static enum dl_status set_length(struct dl_job_options *o,
                                 const struct dl_job_subject *s,
                                 struct dl_catalog *c, struct dl_diag *d) {
  const struct dl_descriptor *e = NULL;
  bool sized = dl_run_has(&o->run, DL_RUN_train_samples) || o->run.dataset;
  if (!s->language || s->inference || !sized ||
      dl_job_options_give(o, DL_RUN_seq_len) ||
      dl_axes_find(&o->axes, "seq_len"))
    return DL_OK;
  if (o->run.dataset)
    DL_TRY(dl_catalog_get(c, DL_DATASET, o->run.dataset, &e, d));
  const struct dl_dataset *data = DL_AS(dataset, e);
  if (data && !isnan(data->sample_tokens)) {
    dl_run_set_number(&o->run, DL_RUN_seq_len, round(data->sample_tokens));
    return DL_OK;
  }
  if (data && !isnan(data->tokens) &&
      !dl_run_has(&o->run, DL_RUN_train_samples)) {
    dl_run_set_number(&o->run, DL_RUN_train_tokens, data->tokens);
    return DL_OK;
  }
  if (!s->arch || s->encodes || dl_axes_find(&o->axes, "arch"))
    return DL_OK;
  DL_TRY(dl_catalog_look(c, DL_ARCHITECTURE, s->arch, &e, d));
  const struct dl_architecture *arch = DL_AS(architecture, e);
  double length =
      arch ? dl_or(arch->seq_len, arch->transformer->seq) : (double)NAN;
  /* A data set of other samples is refused. */
  bool text = !data || dl_samples_of_dataset(data) == DL_SAMPLES_TEXT ||
              dl_samples_of_dataset(data) == DL_SAMPLES_UNKNOWN;
  if (text && length > 0 && dl_samples_of_network(arch) == DL_SAMPLES_TEXT)
    dl_warn(d,
            "each training sample is taken for %g tokens, the length of "
            "'%.64s'; give --seq-len N",
            length, s->arch);
  return DL_OK;
}

/* Whether a name has no number of a model, as in virtual machines: "Intel(R)
 * Xeon(R) CPU @ 2.20GHz", "AMD EPYC-Rome Processor"; or is of a core that
 * several processors have: "Neoverse-N1". */
static bool has_no_model(const char *name) {
  static const char *const cores[] = {"neoverse", "cortex", "armv8"};
  bool core = false;
  for (size_t i = 0; i < DL_LENGTH(cores); i++)
    core |= strncasecmp(name, cores[i], strlen(cores[i])) == 0;
  return core || strcspn(name, "@") <= strcspn(name, "0123456789");
}

/* The name that --cpu has must be a CPU's; an unknown name is refused where
 * rows are made. */
static enum dl_status check_cpus(const struct dl_job_options *o,
                                 struct dl_catalog *catalog,
                                 struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist names = {0};
  static const char all[] = "all";
  if (o->cpus && strcmp(o->cpus, all) != 0)
    dl_strlist_split(&names, o->cpus, ',');
  for (size_t i = 0; i < names.n; i++) {
    const struct dl_descriptor *e = NULL;
    DL_TRY(dl_catalog_look(catalog, DL_ACCELERATOR, names.s[i], &e, d));
    if (!e && has_no_model(names.s[i]))
      return dl_fail(d, DL_EINPUT,
                     "--cpu: '%.64s' does not say which model it is; give a "
                     "model, as in 'dlest list gpus xeon' or epyc",
                     names.s[i]);
    if (e)
      DL_TRY(dl_cpu_check(DL_AS(accelerator, e), names.s[i], d));
  }
  return DL_OK;
}

enum dl_status dl_job_options_apply(struct dl_job_options *o,
                                    struct dl_row_plan *f,
                                    struct dl_catalog *catalog, bool defaults,
                                    struct dl_diag *d) {
  struct dl_job_subject s;
  struct dl_run usual = dl_run_unknown;
  DL_TRY(dl_job_options_apply_table(o, f, d));
  DL_TRY(check_cpus(o, catalog, d));
  DL_TRY(dl_job_subject_find(&s, o, catalog, d));
  if (s.language)
    dl_settle_throughput(o);
  if (defaults && !o->has_table) {
    warn_unused(o, &s, d);
    warn_unused_aliases(o, d);
    warn_units(o, catalog, d);
    warn_system(o, catalog, d);
  }
  if (defaults)
    DL_TRY(check_size(o, &s, d));
  DL_TRY(check_data(o, catalog, defaults && s.inference, d));
  if (defaults && !o->has_table)
    DL_TRY(set_length(o, &s, catalog, d));
  dl_run_set_number(&usual, DL_RUN_n_gpus, 1);
  dl_run_set_number(&usual, DL_RUN_utilisation, 1);
  dl_run_set_number(&usual, DL_RUN_ram_gb, 32);
  DL_TRY(dl_plan_begin(f, &usual, false, d));
  DL_TRY(dl_plan_begin(f, &o->run, true, d));
  o->dataset = o->run.dataset;
  if (!o->dataset && defaults && !s.inference &&
      !dl_job_options_give(o, DL_RUN_tokens) &&
      !dl_run_has(&o->run, DL_RUN_train_samples))
    o->dataset = s.usual;
  if (defaults)
    dl_plan_take_usual(f, o->dataset);
  return dl_site_find(&o->foot, catalog, d);
}

/* --- axes of a sweep */

/* Hands an axis over, which then belongs to `to`. */
static void move(struct dl_axes *to, struct dl_axes *from, size_t i) {
  to->a[to->n++] = from->a[i];
  from->a[i] = from->a[--from->n];
}

enum dl_status dl_job_options_sweep(struct dl_job_options *o,
                                    const char *const *columns,
                                    struct dl_diag *d) {
  struct dl_axes axes = {0};
  enum dl_status status = DL_OK;
  for (; *columns && status == DL_OK; columns++) {
    const struct dl_axis *a = dl_axes_find(&o->axes, *columns);
    enum dl_run_id id = dl_run_column_find(*columns)->id;
    char buf[DL_NUMBER_SIZE];
    if (a)
      move(&axes, &o->axes, (size_t)(a - o->axes.a));
    else if (dl_run_has(&o->run, id))
      status = dl_axes_set_one(
          &axes, *columns,
          dl_run_columns[id].is_text
              ? dl_run_text(&o->run, id)
              : dl_format_short(buf, dl_run_number(&o->run, id)),
          d);
  }
  dl_axes_free(&o->axes);
  o->axes = axes;
  return status;
}
