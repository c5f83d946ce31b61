/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of pasted words: the option that each becomes, and what parts make
 * together. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/options/count_text.h"
#include "cli/pasted/pasted_private.h"
#include "quantities/quantities.h"

const struct dl_descriptor *
dl_pasted_look(struct dl_cli *cli, enum dl_kind kind, const char *name) {
  const struct dl_descriptor *e = NULL;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  if (*name)
    dl_catalog_look(dl_cli_catalog(cli), kind, name, &e, &quiet);
  return e;
}

void dl_pasted_fold(struct dl_text *to, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (isalnum((unsigned char)s[i])) {
      char c = (char)tolower((unsigned char)s[i]);
      dl_text_add_n(to, &c, 1);
    }
}

static bool is_called(const char *own, const char *name) {
  size_t n = own ? strlen(own) : 0, m = strlen(name);
  if (n == 0)
    return false;
  if (strcmp(own, name) == 0)
    return true;
  if (own[n - 1] == 's')
    return m == n - 1 && strncmp(own, name, m) == 0;
  return m == n + 1 && name[n] == 's' && strncmp(own, name, n) == 0;
}

const struct dl_option *dl_pasted_option(const struct dl_pasted *p,
                                         const char *name) {
  for (size_t i = 0; i < p->n_rows; i++)
    if (dl_same_text(p->row[i]->name, name) ||
        dl_same_text(p->row[i]->alias, name))
      return p->row[i];
  for (size_t i = 0; i < p->n_rows; i++)
    if (p->row[i]->argument && is_called(p->row[i]->name, name))
      return p->row[i];
  return NULL;
}

const char *dl_pasted_column(const struct dl_pasted *p, const char *option) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++)
    if (dl_same_text(dl_run_columns[i].option, option))
      return dl_pasted_option(p, "set") ? dl_run_columns[i].name : NULL;
  return NULL;
}

void dl_pasted_set(struct dl_pasted *p, const char *option, const char *value,
                   const char *from, enum dl_pasted_rank rank) {
  const struct dl_option *row = dl_pasted_option(p, option);
  DL_GROW(p->setting, p->cap, p->n + 1);
  p->setting[p->n++] = (struct dl_pasted_setting){
      row ? row->name : option, value ? dl_strdup(value) : NULL,
      dl_strdup(from), rank};
}

static const struct dl_pasted_setting *best_of(const struct dl_pasted *p,
                                               const char *option) {
  const struct dl_pasted_setting *best = NULL;
  for (size_t i = 0; i < p->n; i++)
    if (strcmp(p->setting[i].option, option) == 0 &&
        (!best || p->setting[i].rank >= best->rank))
      best = &p->setting[i];
  return best;
}

const char *dl_pasted_get(const struct dl_pasted *p, const char *option) {
  const struct dl_pasted_setting *s = best_of(p, option);
  return s ? s->value : NULL;
}

bool dl_pasted_infers(const struct dl_pasted *p) {
  const char *phase = dl_pasted_get(p, "phase");
  return phase && strcasecmp(phase, "inference") == 0;
}

/* --- parts */

void dl_pasted_part(struct dl_pasted *p, enum dl_pasted_part part,
                    const char *value, const char *from) {
  struct dl_pasted_setting *s = &p->part[part];
  if (s->from && p->file && s->rank == DL_PASTED_WORD)
    return;
  free(s->from);
  free(s->value);
  *s = (struct dl_pasted_setting){NULL, dl_strdup(value), dl_strdup(from),
                                  p->file ? DL_PASTED_FILE : DL_PASTED_WORD};
}

static bool has(const struct dl_pasted *p, enum dl_pasted_part part) {
  return p->part[part].from != NULL;
}

/* The number of a part. */
static enum dl_status number(struct dl_pasted *p, enum dl_pasted_part part,
                             double most, double *x) {
  const struct dl_pasted_setting *s = &p->part[part];
  *x = NAN;
  if (!s->from)
    return DL_OK;
  if (!dl_parse_large_count(s->value, x) || !(*x > 0) || *x > most)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s: invalid value '%.64s'; expected a number above 0",
                   s->from, s->value);
  return DL_OK;
}

/* A whole one. */
static enum dl_status whole(struct dl_pasted *p, enum dl_pasted_part part,
                            double *x) {
  DL_TRY(number(p, part, 1e12, x));
  if (!isnan(*x) && *x != floor(*x))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s: invalid value '%.64s'; expected a whole number",
                   p->part[part].from, p->part[part].value);
  return DL_OK;
}

/* The number that an option has, NaN: none. */
static double of_option(const struct dl_pasted *p, const char *option) {
  const char *value = dl_pasted_get(p, option);
  double x;
  return value && dl_parse_large_count(value, &x) ? x : (double)NAN;
}

static void set_number(struct dl_pasted *p, const char *option, double x,
                       const struct dl_pasted_setting *from) {
  char buf[DL_NUMBER_SIZE];
  dl_pasted_set(p, option, dl_format_short(buf, x), from->from, from->rank);
}

/* GPUs from nodes whose computer is named. */
static enum dl_status settle_computers(struct dl_pasted *p, double nodes) {
  const struct dl_pasted_setting *of = &p->part[DL_PASTED_NODES];
  const char *name = dl_pasted_get(p, "node");
  const double given = of_option(p, "gpus");
  if (isnan(nodes) || dl_pasted_get(p, "use-gpus"))
    return DL_OK;
  const struct dl_descriptor *e = dl_pasted_look(p->cli, DL_NODE, name);
  const double each = e ? DL_AS(node, e)->gpus : 0;
  if (!(each > 0) && nodes > 1 && isnan(given))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s %g: how many GPUs '%.64s' has is not known here; write "
                   "--gpus N, of all nodes",
                   of->from, nodes, name);
  const bool part = nodes == 1 && given < each; /* of one computer */
  if (each > 0 && !isnan(given) && given != nodes * each && !part)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s %g of '%.64s' have %g GPUs, --gpus says %g; give one",
                   of->from, nodes, name, nodes * each, given);
  if (each > 0 && nodes > 1 && isnan(given))
    set_number(p, "gpus", nodes * each, of);
  return DL_OK;
}

/* GPUs from nodes and GPUs of each. */
static enum dl_status settle_gpus(struct dl_pasted *p) {
  double nodes, each, total;
  const struct dl_pasted_setting *of = &p->part[DL_PASTED_NODES];
  DL_TRY(whole(p, DL_PASTED_NODES, &nodes));
  DL_TRY(whole(p, DL_PASTED_PER_NODE, &each));
  DL_TRY(whole(p, DL_PASTED_TOTAL, &total));
  const double given = of_option(p, "gpus");
  const struct dl_pasted_setting *own = best_of(p, "gpus-per-node");
  if (isnan(each))
    each = of_option(p, "gpus-per-node");
  if (own && own->rank == DL_PASTED_FILE && !of->from)
    of = own;
  if (has(p, DL_PASTED_TOTAL))
    of = &p->part[DL_PASTED_TOTAL];
  else if (has(p, DL_PASTED_PER_NODE))
    of = &p->part[DL_PASTED_PER_NODE];
  if (isnan(total) && !isnan(each) && of->from)
    total = each * dl_or(nodes, 1);
  if (isnan(total) && dl_pasted_get(p, "node"))
    DL_TRY(settle_computers(p, nodes));
  else if (isnan(total) && !isnan(nodes) && nodes > 1 && isnan(given))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s %g: how many GPUs a node has is not given; write --gpus "
                   "N, of all nodes",
                   of->from, nodes);
  if (!isnan(total) && (isnan(given) || !p->part[DL_PASTED_PER_NODE].from ||
                        given != each * nodes))
    set_number(p, "gpus", total, of);
  total = dl_or(total, given);
  if (nodes > 1 && total > nodes && dl_pasted_option(p, "gpus-per-node") &&
      !dl_pasted_get(p, "gpus-per-node") && !dl_pasted_get(p, "node"))
    set_number(p, "gpus-per-node", total / nodes, of);
  return DL_OK;
}

/* GPUs from the ways in which a model is divided among them, where all of them
 * are given: a server's, or with the number of copies. */
static void settle_copies(struct dl_pasted *p) {
  static const char *const ways[] = {"replicas", "tensor-parallel",
                                     "pipeline-parallel", "context-parallel"};
  const struct dl_pasted_setting *of = NULL;
  double n = 1;
  const double given = of_option(p, "gpus");
  bool serves = dl_pasted_infers(p);
  if (dl_pasted_get(p, "node") || has(p, DL_PASTED_TOTAL) ||
      !(serves || dl_pasted_get(p, "replicas")))
    return;
  for (size_t i = 0; i < DL_LENGTH(ways); i++) {
    const struct dl_pasted_setting *way = best_of(p, ways[i]);
    if (way && way->rank != DL_PASTED_OPTION && of_option(p, ways[i]) > 1) {
      n *= of_option(p, ways[i]);
      of = way;
    }
  }
  if (of && isnan(given))
    set_number(p, "gpus", n, of);
  if (!of || (given != n && !isnan(given)))
    return;
  for (size_t i = 0; !serves && i < p->n; i++)
    if (strcmp(p->setting[i].option, ways[0]) == 0)
      p->setting[i].rank = DL_PASTED_PASSED; /* the copies of a training */
}

/* Adapters from their rank and the bits of the weights. */
static enum dl_status settle_adapters(struct dl_pasted *p) {
  const struct dl_pasted_setting *of = &p->part[DL_PASTED_LORA_RANK];
  const struct dl_pasted_setting *on = &p->part[DL_PASTED_ADAPTERS];
  const struct dl_pasted_setting *bits = &p->part[DL_PASTED_BITS];
  static const char off[] = "false|no|none|null|off|0|full|freeze|~|";
  const char *kind = on->from ? on->value : "";
  bool none = on->from && dl_word_among(off, kind, strlen(kind)) >= 0;
  bool four = bits->from && dl_word_among("true|yes|4|1|on", bits->value,
                                          strlen(bits->value)) >= 0;
  bool ranked = of->from && !none;
  char text[DL_NUMBER_SIZE + 8], rank[DL_NUMBER_SIZE];
  double x;
  if (bits->from && strcmp(bits->value, "8") == 0)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s 8: adapters on weights of 8 bits are not estimated; "
                   "write --fine-tune lora:RANK or qlora:RANK",
                   bits->from);
  four |= strcasecmp(kind, "qlora") == 0;
  if (strcasecmp(kind, "full") == 0)
    dl_pasted_set(p, "fine-tune", "full", on->from, on->rank);
  if (!ranked) {
    const struct dl_pasted_setting *what = four && bits->from ? bits : on;
    const char *tune = dl_pasted_get(p, "fine-tune");
    if (four && dl_pasted_infers(p))
      return dl_fail(&p->cli->diag, DL_EUSAGE,
                     "%s: write the format of the weights, as --precision "
                     "q4_k_m",
                     what->from);
    if ((four || (on->from && !none)) && what->from && !tune)
      dl_pasted_set(p, "fine-tune", four ? "qlora" : "lora", what->from,
                    what->rank);
    if (four && tune && strncmp(tune, "lora", 4) == 0)
      return dl_fail(&p->cli->diag, DL_EUSAGE,
                     "%s and --fine-tune %s contradict each other; write "
                     "--fine-tune q%s",
                     bits->from ? bits->from : on->from, tune, tune);
    return DL_OK;
  }
  DL_TRY(whole(p, DL_PASTED_LORA_RANK, &x));
  snprintf(text, sizeof text, "%s:%s", four ? "qlora" : "lora",
           dl_format_short(rank, x));
  dl_pasted_set(p, "fine-tune", text, of->from, of->rank);
  return DL_OK;
}

/* The samples of an optimizer step, NaN: they are not given. */
static double samples_of_step(const struct dl_pasted *p) {
  double all = of_option(p, "global-batch");
  double split = dl_or(of_option(p, "tensor-parallel"), 1) *
                 dl_or(of_option(p, "pipeline-parallel"), 1) *
                 dl_or(of_option(p, "context-parallel"), 1);
  double each = of_option(p, "batch-size") *
                dl_or(of_option(p, "grad-accum"), 1) *
                dl_or(of_option(p, "gpus"), 1) / split;
  return dl_or(all, each);
}

/* Samples from optimizer steps and the batch. */
static enum dl_status settle_steps(struct dl_pasted *p) {
  const struct dl_pasted_setting *of = &p->part[DL_PASTED_STEPS];
  double steps, samples = samples_of_step(p), epochs = of_option(p, "epochs");
  if (!of->from ||
      dl_word_among("-1|0|none|null|true", of->value, strlen(of->value)) >= 0)
    return DL_OK;
  DL_TRY(whole(p, DL_PASTED_STEPS, &steps));
  if (dl_pasted_infers(p))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s is not certain in inference; write --denoising-steps N "
                   "or --output-tokens N",
                   of->from);
  if (isnan(samples) && of->rank == DL_PASTED_FILE && !isnan(epochs))
    return DL_OK;
  if (isnan(samples))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s %g: how many samples a step has is not given; add "
                   "--global-batch N, or --batch-size N of each GPU",
                   of->from, steps);
  if (!isnan(epochs) && of->rank != DL_PASTED_FILE)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s and --epochs both say how long the training is; give "
                   "one",
                   of->from);
  static const char *const sizes[] = {"tokens", "train-tokens",
                                      "train-samples"};
  for (size_t i = 0; i < DL_LENGTH(sizes); i++) {
    if (dl_pasted_get(p, sizes[i]) && of->rank == DL_PASTED_FILE)
      return DL_OK;
    if (dl_pasted_get(p, sizes[i]))
      return dl_fail(&p->cli->diag, DL_EUSAGE,
                     "%s and --%s both say how long the training is; give one",
                     of->from, sizes[i]);
  }
  set_number(p, "train-samples", round(steps * samples / dl_or(epochs, 1)), of);
  if (isnan(epochs))
    set_number(p, "epochs", 1, of);
  return DL_OK;
}

/* The duration from GPU hours. */
static enum dl_status settle_hours(struct dl_pasted *p) {
  const struct dl_pasted_setting *of = &p->part[DL_PASTED_GPU_HOURS];
  char text[DL_NUMBER_SIZE + 2], buf[DL_NUMBER_SIZE];
  double hours;
  DL_TRY(number(p, DL_PASTED_GPU_HOURS, 1e12, &hours));
  if (isnan(hours))
    return DL_OK;
  if (dl_pasted_get(p, "node") && !dl_pasted_get(p, "gpus"))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s: give the number of GPUs by --gpus too, or --duration",
                   of->from);
  snprintf(text, sizeof text, "%ss",
           dl_format_short(buf, hours * 3600 / dl_or(of_option(p, "gpus"), 1)));
  dl_pasted_set(p, "duration", text, of->from, of->rank);
  return DL_OK;
}

/* A data set of the user's own has a size that only the user knows. */
static enum dl_status settle_data(struct dl_pasted *p) {
  static const char *const sizes[] = {"dataset",  "train-samples", "tokens",
                                      "requests", "train-tokens",  "duration"};
  if (p->no_data.len == 0)
    return DL_OK;
  bool sized = dl_pasted_infers(p);
  for (size_t i = 0; i < DL_LENGTH(sizes); i++)
    sized = sized || dl_pasted_get(p, sizes[i]);
  if (!sized)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "%s is no data set of the catalogue; write its size, as "
                   "--train-samples N",
                   p->no_data.s);
  dl_text_printf(&p->unused, "%s%s", p->unused.len > 0 ? ", " : "",
                 p->no_data.s);
  return DL_OK;
}

/* --- contradictions */

static bool is_equal(const char *a, const char *b) {
  double x, y;
  if (!a || !b)
    return a == b;
  if (dl_parse_large_count(a, &x) && dl_parse_large_count(b, &y))
    return x == y;
  return strcasecmp(a, b) == 0;
}

static enum dl_status check_pair(struct dl_pasted *p,
                                 const struct dl_pasted_setting *a,
                                 const struct dl_pasted_setting *b) {
  bool files = a->rank <= DL_PASTED_FILE || b->rank <= DL_PASTED_FILE;
  bool weak = a->rank == DL_PASTED_SWITCH || b->rank == DL_PASTED_SWITCH;
  bool both = a->rank == DL_PASTED_OPTION && b->rank == DL_PASTED_OPTION;
  bool same_kind = a->rank == b->rank;
  if (strcmp(a->option, b->option) != 0 || both ||
      is_equal(a->value, b->value) || ((files || weak) && !same_kind))
    return DL_OK;
  for (size_t i = 0; i < p->n; i++) /* a third one that holds */
    if (strcmp(p->setting[i].option, a->option) == 0 &&
        p->setting[i].rank > a->rank && p->setting[i].rank > b->rank)
      return DL_OK;
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "'%s' and '%s' both say --%s: %s and %s; give one", a->from,
                 b->from, a->option, dl_text_or(a->value, "set"),
                 dl_text_or(b->value, "set"));
}

enum dl_status dl_pasted_settle(struct dl_pasted *p) {
  settle_copies(p);
  DL_TRY(settle_gpus(p));
  DL_TRY(settle_adapters(p));
  DL_TRY(settle_steps(p));
  DL_TRY(settle_data(p));
  return settle_hours(p);
}

enum dl_status dl_pasted_check(struct dl_pasted *p) {
  for (size_t i = 0; i < p->n; i++)
    for (size_t k = 0; k < i; k++)
      DL_TRY(check_pair(p, &p->setting[k], &p->setting[i]));
  return DL_OK;
}
