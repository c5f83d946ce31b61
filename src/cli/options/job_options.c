/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a job, what follows from them, and which of them have an effect.
 */

#include "cli/options/job_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/command.h"
#include "cli/options/known_options.h"
#include "quantities/quantities.h"

/* Stores the number of a column, within the column's range, or the word that a
 * text stands for. A flag stores 1 or the last word. */
static enum dl_status set_value(struct dl_run *run, const struct dl_option *o,
                                enum dl_run_id id, char *arg,
                                struct dl_diag *d) {
  const struct dl_run_column *c = &dl_run_columns[id];
  enum dl_status status = DL_OK;
  if (c->is_text) {
    const char *word = arg ? dl_run_word(c, arg) : NULL;
    DL_TEXT(what);
    for (size_t i = 0; !arg && c->words[i]; i++)
      word = c->words[i];
    if (!word) {
      dl_run_column_explain(c, DL_FAULT_WORD, arg, &what);
      status = dl_fail(d, DL_EUSAGE, "--%s: %s", o->name, dl_text_str(&what));
    }
    dl_run_lend_text(run, id, word);
    return status;
  }
  const struct dl_option number = {
      .name = o->name,
      .kind = c->form == DL_FORM_TIME ? DL_OPTION_TIME : DL_OPTION_NUMBER,
      .low = fmax(c->least, c->low),
      .from_zero = id == DL_RUN_startup_s || id == DL_RUN_idle_tail_s,
      .high = c->high,
      .whole = c->whole || c->typed_whole,
      .large = c->form == DL_FORM_LARGE};
  double x = 1;
  if (arg)
    status = dl_option_store(&number, arg, &x, d);
  dl_run_set_number(run, id, x);
  return status;
}

/* "lora:16" sets the rank too. */
static enum dl_status set_tuning(struct dl_run *run, const struct dl_option *o,
                                 char *arg, struct dl_diag *d) {
  char *colon = strchr(arg, ':');
  if (colon)
    *colon = '\0';
  DL_TRY(set_value(run, o, DL_RUN_fine_tune, arg, d));
  return colon ? set_value(run, o, DL_RUN_lora_rank, colon + 1, d) : DL_OK;
}

static enum dl_status read_frozen(const struct dl_option *o, char *arg,
                                  void *at, struct dl_diag *d) {
  static char head[] = "head";
  (void)arg;
  return set_value(&((struct dl_job_options *)at)->run, o, DL_RUN_fine_tune,
                   head, d);
}

char *dl_counted_name(char *arg) {
  size_t digits = strspn(arg, "0123456789");
  char *s = arg + digits + strspn(arg + digits, " ");
  bool times = *s == 'x' || *s == 'X' || *s == '*';
  s += times;
  s += strspn(s, " ");
  return digits > 0 && times && isalpha((unsigned char)*s) ? s : NULL;
}

static enum dl_status read_sockets(const struct dl_option *o, char *arg,
                                   void *at, struct dl_diag *d) {
  return set_value(&((struct dl_job_options *)at)->run, o, DL_RUN_n_gpus, arg,
                   d);
}

/* Files of settings are read before the options (cli/pasted). */
static enum dl_status read_from(const struct dl_option *o, char *arg, void *at,
                                struct dl_diag *d) {
  (void)at, (void)arg;
  return dl_fail(d, DL_EUSAGE,
                 "--%s has no effect here: it is for predict and "
                 "recommend",
                 o->name);
}

/* A list of values makes an axis, of values that the option takes. */
static enum dl_status read_axis(struct dl_job_options *job,
                                const struct dl_option *o, const char *arg,
                                struct dl_diag *d) {
  const struct dl_run_column *c = &dl_run_columns[o->column];
  struct dl_run scratch = dl_run_unknown;
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  enum dl_status status =
      dl_axes_set(&job->axes, c->name, arg, !c->is_text, &inner);
  if (status != DL_OK)
    dl_fail(d, status, "--%s: %s", o->name, inner.error);
  const struct dl_axis *a = dl_axes_find(&job->axes, c->name);
  bool checked = !c->is_text || c->words;
  for (size_t i = 0; status == DL_OK && checked && i < a->n; i++)
    status = set_value(&scratch, o, c->id, a->text.s[i], d);
  return status;
}

/* Adds the name of a CPU. A chip with a GPU is an accelerator by its own name,
 * and its CPU has an entry of its cores. */
static void add_cpu_name(struct dl_text *to, const char *name, size_t n) {
  static const char *const chips[] = {"apple m", "apple-m", "jetson",
                                      "nvidia jetson"};
  DL_FREED char *one = dl_strndup(name, n);
  bool cores = false;
  for (size_t i = 0; i < DL_LENGTH(chips); i++)
    cores |= strncasecmp(one, chips[i], strlen(chips[i])) == 0;
  dl_text_printf(to, "%s%s%s", to->len > 0 ? "," : "", one,
                 cores && !strcasestr(one, "cores") ? " CPU cores" : "");
}

/* "2 x Xeon Platinum 8380": sockets and a CPU, in one or by two options; or
 * several CPUs. */
static enum dl_status read_cpu(const struct dl_option *o, char *arg, void *at,
                               struct dl_diag *d) {
  struct dl_job_options *job = at;
  char *name = dl_counted_name(arg);
  if (name) {
    arg[strspn(arg, "0123456789")] = '\0';
    DL_TRY(set_value(&job->run, o, DL_RUN_n_gpus, arg, d));
  }
  dl_text_clear(&job->cpu_names);
  for (const char *p = name ? name : arg; p; p = *p ? p + 1 : NULL) {
    size_t n = strcspn(p, ",");
    add_cpu_name(&job->cpu_names, p, n);
    p += n;
  }
  job->cpus = dl_text_str(&job->cpu_names);
  if (job->merges_cpus)
    return DL_OK;
  return job->takes_lists && dl_axis_is_list(job->cpus)
             ? read_axis(job, o, job->cpus, d)
             : set_value(&job->run, o, DL_RUN_gpu, job->cpu_names.s, d);
}

/* Stores the value of a quantity in the job. */
static enum dl_status read_setting(const struct dl_option *o, char *arg,
                                   void *at, struct dl_diag *d) {
  struct dl_job_options *job = at;
  const struct dl_run_column *c = &dl_run_columns[o->column];
  if (c->form == DL_FORM_STEP_TIME || c->form == DL_FORM_RATE ||
      c->form == DL_FORM_PERCENT)
    return dl_read_known(o, arg, at, d);
  if (o->column == DL_RUN_fine_tune)
    return set_tuning(&job->run, o, arg, d);
  return arg && job->takes_lists && c->sweeps && dl_axis_is_list(arg)
             ? read_axis(job, o, arg, d)
             : set_value(&job->run, o, c->id, arg, d);
}

/* An option for each row of quantities.def that has one. */
#define OPTION(name_, letter_, argument_, help_)                               \
  .name = (name_), .letter = (letter_), .argument = (argument_),               \
  .help = (help_),
#define ALSO(name_) .alias = (name_),
#define READS .reads = true,
#define METHODS(mask_) .methods = (mask_),
#define SET_BY(name_)
#define FORM(form_)
#define TYPED_WHOLE
#define LEAST(x_)
#define SWEEPS
#define PHASE(phase_)
#define OFFERS(words_)
#define SETUP
#define LABEL(text_)
#define LABEL_UNIT(unit_)
#define HEADING(text_)
#define MAIN
#define EXTRACTED
#define CALLED(names_)
#define PARTS(summary_, ...) __VA_ARGS__
#define ROW(name_, ...)                                                        \
  {.kind = DL_OPTION_READ,                                                     \
   .read = read_setting,                                                       \
   .column = DL_RUN_##name_,                                                   \
   PARTS(__VA_ARGS__)},

const struct dl_option dl_job_options_rows[] = {
    DL_HEADING("What is run:", 1),
#define NUMBER(name_, unit_, low_, high_, role_, ...) ROW(name_, __VA_ARGS__)
#define TEXT(name_, role_, ...) ROW(name_, __VA_ARGS__)
#include "quantities/quantities.def"
    {"from", 0, "FILE",
     "settings of a training: JSON of DeepSpeed, PEFT or a trainer, YAML of "
     "accelerate or a trainer, a batch script; what is taken is printed",
     .kind = DL_OPTION_READ, .read = read_from},
    {"frozen", 0, NULL, "the same as --fine-tune head", .kind = DL_OPTION_READ,
     .read = read_frozen, .column = DL_RUN_fine_tune},
    {"cpu", 0, "NAME",
     "CPU that does the work, with its sockets: \"2 x Xeon Platinum 8380\"; "
     "recommend takes a list beside --gpu, and all",
     .kind = DL_OPTION_READ, .read = read_cpu, .column = DL_RUN_gpu},
    {"sockets", 0, "N", "number of those CPUs (default 1)",
     .kind = DL_OPTION_READ, .read = read_sockets, .column = DL_RUN_n_gpus,
     .with = "cpu", .without = "gpus"},
    {0},
};

#define AT(member) DL_STORE(LIST, struct dl_job_options, member)

const struct dl_option dl_table_options_rows[] = {
    DL_HEADING("Values and columns:", 3),
    {"set", 's', "NAME=VALUE",
     "set a column or a field of a descriptor (gpu.tdp_w=300); overrides all "
     "else",
     AT(overrides)},
    {"define", 0, "NAME=FORMULA",
     "compute a column from others (macs_g=GFLOPs/2), or rename one",
     AT(defines)},
    {"alias", 0, "NAME=ID",
     "use descriptor ID for the architecture or GPU NAME of a table",
     AT(aliases)},
    {0},
};

void dl_job_options_init(struct dl_job_options *o) {
  *o =
      (struct dl_job_options){.run = dl_run_unknown, .foot = dl_footprint_none};
}

void dl_job_options_free(void *options) {
  struct dl_job_options *o = options;
  dl_strlist_free(&o->overrides);
  dl_strlist_free(&o->defines);
  dl_strlist_free(&o->aliases);
  dl_axes_free(&o->axes);
  dl_text_free(&o->cpu_names);
}

bool dl_job_options_give(const struct dl_job_options *o, enum dl_run_id id) {
  const char *name = dl_run_columns[id].name;
  return dl_run_has(&o->run, id) || dl_value_in(&o->overrides, name) ||
         dl_value_in(&o->defines, name);
}

/* The estimators in a list "a,b". */
static unsigned methods_in(const char *list) {
  unsigned methods = 0;
  for (size_t n; *list; list += n + (list[n] == ',')) {
    n = strcspn(list, ",");
    for (size_t i = 1; dl_method_words[i]; i++)
      if (strlen(dl_method_words[i]) == n &&
          memcmp(dl_method_words[i], list, n) == 0)
        methods |= 1u << i;
  }
  return methods;
}

unsigned dl_job_options_word(const struct dl_job_options *o,
                             enum dl_run_id id) {
  const struct dl_run_column *c = &dl_run_columns[id];
  const char *set = dl_value_in(&o->overrides, c->name);
  return set ? dl_word_id(c, dl_run_word(c, set)) : dl_run_word_of(&o->run, id);
}

static unsigned phase_of(const struct dl_job_options *o) {
  unsigned phase = dl_job_options_word(o, DL_RUN_phase);
  return phase != DL_PHASE_UNKNOWN ? phase : DL_PHASE_TRAINING;
}

/* Whether a setting has no effect in a phase; then says why. */
static bool is_of_other_phase(const struct dl_run_column *c, unsigned phase,
                              char why[80]) {
  if (c->phase == DL_PHASE_UNKNOWN || c->phase == phase)
    return false;
  snprintf(why, 80, "here: it is for --phase %s%s",
           dl_run_phase_words[c->phase],
           c->id == DL_RUN_requests ? "; a training has --train-samples" : "");
  return true;
}

static bool is_setting(const struct dl_option *o) {
  return o >= dl_job_options_rows &&
         o < dl_job_options_rows +
                 sizeof dl_job_options_rows / sizeof *dl_job_options_rows;
}

enum dl_status dl_job_options_refuse(struct dl_cli *cli, const char *why) {
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    if (is_setting(row) &&
        (!dl_run_columns[row->column].sweeps || row->read != read_setting))
      return dl_cli_refuse(cli, row->name, why);
  }
  return DL_OK;
}

enum dl_status dl_job_options_check_table(struct dl_cli *cli,
                                          const struct dl_job_options *o,
                                          const struct dl_csv *csv) {
  bool phases =
      dl_csv_find(csv, "phase") >= 0 || dl_value_in(&o->defines, "phase");
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    const struct dl_run_column *c = &dl_run_columns[row->column];
    const char *column = "";
    if (row->read == read_setting || row->read == read_cpu ||
        row->read == read_sockets)
      column = c->id == DL_RUN_dataset ? "train_samples" : c->name;
    char why[80];
    if (!phases && is_of_other_phase(c, phase_of(o), why))
      return dl_cli_refuse(cli, row->name, why);
    bool selects = dl_axes_find(&o->axes, column) != NULL;
    if (*column && !selects && dl_csv_find(csv, column) >= 0)
      dl_warn_at(&cli->diag, dl_csv_path(csv), 0,
                 "--%s has an effect only on rows where column '%s' is empty; "
                 "--set %s=VALUE overrides it",
                 row->name, column, column);
  }
  return DL_OK;
}

/* DL_EUSAGE where --set gives what an option of the other phase does. */
static enum dl_status check_set(const struct dl_job_options *o, unsigned phase,
                                struct dl_diag *d) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS && o->overrides.n > 0; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    char why[80];
    if (c->option && is_of_other_phase(c, phase, why) &&
        dl_value_in(&o->overrides, c->name))
      return dl_fail(d, DL_EUSAGE,
                     "--set %s has no effect here: it is for --phase %s",
                     c->name, dl_run_phase_words[c->phase]);
  }
  return DL_OK;
}

enum dl_status dl_job_options_check(struct dl_cli *cli,
                                    const struct dl_job_options *o,
                                    const char *methods) {
  unsigned phase = phase_of(o);
  if (o->cpus && dl_cli_given(cli, "gpu") &&
      (!o->merges_cpus || dl_cli_given(cli, "sockets")))
    return dl_fail(&cli->diag, DL_EUSAGE, "--%s does not go with --gpu",
                   o->merges_cpus ? "sockets" : "cpu");
  if (dl_cli_given(cli, "frozen") && dl_cli_given(cli, "fine-tune"))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--frozen is --fine-tune head, and "
                   "--fine-tune is given too; give one");
  if (!o->has_table)
    DL_TRY(check_set(o, phase, &cli->diag));
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    char why[80];
    if (!o->has_table &&
        is_of_other_phase(&dl_run_columns[row->column], phase, why))
      return dl_cli_refuse(cli, row->name, why);
    /* Language models must fit the memory of the CPUs, by any method. */
    bool fits = row->column == DL_RUN_ram_gb && dl_cli_given(cli, "cpu");
    if (row->methods && strcmp(methods, "all") != 0 && !fits &&
        !(row->methods & methods_in(methods)))
      dl_warn(&cli->diag, "--%s has no effect on --method %s", row->name,
              methods);
  }
  return DL_OK;
}

void dl_add_setting(struct dl_text *to, const char *name) {
  const struct dl_run_column *c = dl_run_column_find(name);
  enum dl_kind kind;
  if (c && c->option)
    dl_text_printf(to, "--%s", c->option);
  else if (c || dl_field_of(name, &kind))
    dl_text_printf(to, "--set %s=VALUE", name);
  else
    dl_text_add(to, name);
}
