/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/predict_warnings.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/views/summary/answer.h"
#include "estimate/rules/estimate_rules.h"

/* Warns of facts that the report itself states: people read them there, unless
 * --strict makes an error of them. Quantities outside the training data are
 * reported for the recommended method. With --strict the warnings are those of
 * the answer: they concern no other method, unless it was named. */
static void warn_methods(struct dl_cli *cli, const struct dl_predict_answer *s,
                         bool all) {
  struct dl_diag *d = &cli->diag;
  void (*print)(void *, const char *) = d->on_warning;
  const struct dl_estimate *best =
      s->result.best >= 0 ? &s->result.est[s->result.best] : NULL;
  DL_TEXT(t);
  if (cli->format->document && !cli->strict && best)
    d->on_warning = NULL;
  if (best) {
    dl_add_quantities(&t, best->outside, best->n_outside);
    if (t.len > 0)
      dl_warn(d, "%s outside the training data", dl_text_str(&t));
  }
  if (!all)
    d->on_warning = print;
  for (size_t i = 0; i < s->result.n && !(all && best && cli->strict); i++)
    /* All were estimated, or there was an error.
     * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    if (isnan(s->result.est[i].energy_j.x) && s->result.est[i].lacks) {
      dl_text_clear(&t);
      dl_add_setting(&t, s->result.est[i].lacks);
      dl_warn(d, "%s: no estimate without %s", s->result.est[i].method, t.s);
    }
  d->on_warning = print;
}

static void warn_disagreement(struct dl_cli *cli,
                              const struct dl_predict_answer *s) {
  for (size_t i = 0; i < s->result.n; i++)
    for (size_t j = i + 1; j < s->result.n; j++) {
      const struct dl_estimate *a = &s->result.est[i], *b = &s->result.est[j];
      if (a->energy_j.high < b->energy_j.low ||
          b->energy_j.high < a->energy_j.low)
        dl_warn(&cli->diag,
                "%s and %s disagree by more than their intervals allow",
                a->method, b->method);
    }
}

/* Whether the prompt of a network is sound: Whisper has 50 positions a second
 * (Radford et al., arXiv 2212.04356). */
static bool hears(const struct dl_job *job) {
  return job->found.arch && dl_same_text(job->found.arch->family, "whisper");
}

/* Appends the options for what methods need: the size of a request, else
 * fields of the descriptors or a duration. */
static void add_remedy(const struct dl_predict_answer *s, struct dl_text *to) {
  enum { PROMPT, OUTPUT, DURATION, N_GIVEN };
  static const char *const columns[N_GIVEN] = {"prompt_tokens", "output_tokens",
                                               "duration_s"};
  bool lacking[N_GIVEN] = {false};
  enum dl_kind kind;
  DL_TEXT(set);
  for (size_t i = 0; i < s->result.n; i++) {
    const char *lacks = s->result.est[i].lacks ? s->result.est[i].lacks : "";
    int given = dl_text_index(columns, N_GIVEN, lacks);
    if (given >= 0)
      lacking[given] = true;
    if (dl_field_of(lacks, &kind) && !strstr(dl_text_str(&set), lacks))
      dl_text_printf(&set, "%s--set %s=VALUE", set.len ? " and " : "", lacks);
  }
  if (lacking[PROMPT] || lacking[OUTPUT])
    dl_text_printf(to, "%s--output-tokens",
                   lacking[PROMPT] ? "--prompt-tokens and " : "");
  else if (lacking[DURATION])
    dl_text_printf(to, "%s%s--duration", dl_text_str(&set),
                   set.len ? ", or " : "");
  else
    dl_text_add(to, dl_text_str(&set));
  if (lacking[PROMPT] && hears(&s->result.job))
    dl_text_add(to, " (Whisper: 1500 prompt tokens per window of 30 s)");
}

/* Fails without an estimate, unless a user's model has other targets: at once
 * where an option would help and no method is named, else when each method has
 * said why. */
static enum dl_status check_estimates(struct dl_cli *cli,
                                      const struct dl_predict_answer *s,
                                      const struct dl_predict_options *o,
                                      bool at_once) {
  const char *arch = s->result.job.run->arch, *gpu = s->result.job.run->gpu;
  bool named = strcmp(o->methods, "all") != 0, both = arch && gpu;
  DL_TEXT(give);
  if (s->result.best >= 0 || o->model)
    return DL_OK;
  if (both)
    add_remedy(s, &give);
  else
    dl_text_add(&give, arch ? "--gpu" : gpu ? "--arch" : "--arch and --gpu");
  if (at_once && both && (named || give.len == 0))
    return DL_OK;
  const enum dl_status status = both ? DL_EINPUT : DL_EUSAGE;
  return dl_fail(&cli->diag, status, "no method can estimate this%s%s",
                 give.len > 0 ? "; give " : "", dl_text_str(&give));
}

enum dl_status dl_predict_warn(struct dl_cli *cli,
                               const struct dl_predict_answer *s,
                               const struct dl_predict_options *o,
                               struct dl_row_plan *f) {
  const bool all = strcmp(o->methods, "all") == 0;
  DL_TRY(check_estimates(cli, s, o, true));
  warn_methods(cli, s, all);
  dl_estimate_rules_warn(&s->result, cli->format->document && !cli->strict,
                         &cli->diag);
  if (!all || (o->all && !cli->strict))
    warn_disagreement(cli, s);
  dl_plan_warn_unused(f, &cli->diag);
  return check_estimates(cli, s, o, false);
}
