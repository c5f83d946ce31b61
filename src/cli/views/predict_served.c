/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/predict_served.h"

#include <math.h>

struct work {
  const char *part;
  double seconds, joules;
};

static void add_work(struct dl_report *r, const struct dl_job *job,
                     const struct dl_served *s) {
  bool tokens = s->tokens;
  const struct dl_column columns[] = {
      {"part", "work", NULL, DL_CODE, false},
      {"duration_s", "time", "s", DL_TIME, false},
      {"energy_j", "energy", "J", DL_ENERGY, false},
      {"share", "share", "%", DL_PERCENT, false},
      {"request_energy_j", tokens ? "a request" : "a sample", "J", DL_PLAIN,
       false},
      {"token_energy_j", tokens ? "a token" : NULL, "J", DL_PLAIN, false}};
  double all = s->prefill_j + s->decode_j + s->idle_j;
  double out = s->requests * job->run->output_tokens;
  const struct work parts[] = {
      {tokens ? "prefill" : "forward", s->prefill_s, s->prefill_j},
      {"decode", s->decode_s, s->decode_j},
      {"idle", s->idle_s, s->idle_j},
      {"all", s->time_s, all}};
  struct dl_table *t = dl_report_table(r, "work", "", columns,
                                       sizeof columns / sizeof *columns, false);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const struct work *p = &parts[i];
    bool there = i == 1 ? tokens : i == 2 ? s->idle_s > 0 : true;
    if (!there)
      continue;
    struct dl_value v[] = {
        dl_string(p->part),
        dl_number(p->seconds),
        dl_number(p->joules),
        dl_number(p->joules / all),
        dl_number(p->joules / s->requests),
        dl_number(tokens && out > 0 ? p->joules / out : NAN)};
    dl_table_row(t, v, NULL);
  }
}

static void add_parts(struct dl_report *r, const struct dl_served *s,
                      bool explain) {
  const struct dl_column columns[] = {
      {"part", explain ? "part" : NULL, NULL, DL_CODE, false},
      {"seconds", explain ? "time" : NULL, "s", DL_TIME, false},
      {"what", explain ? "what it is" : NULL, NULL, DL_CODE, false}};
  const struct {
    const char *part, *what;
    double s;
  } parts[] = {
      {"memory",
       s->tokens ? "reading weights, keys and values"
                 : "activations over the memory's bandwidth",
       s->memory_s},
      {"compute", "arithmetic at the share of the peak rate reached",
       s->compute_s},
      {s->tokens ? "layers" : "kernels",
       s->tokens ? "what every layer takes beside"
                 : "starting and ending kernels on the GPU",
       s->layers_s},
      {"exchange", "between GPUs", s->exchange_s},
      {s->tokens ? "host" : "launch",
       s->tokens ? "the host, between steps" : "launching kernels on the host",
       s->host_s},
      {"prompts", "reading prompts", s->prefill_s}};
  size_t n = sizeof parts / sizeof *parts - !s->tokens;
  struct dl_table *t = dl_report_table(r, "parts", "", columns,
                                       sizeof columns / sizeof *columns, false);
  for (size_t i = 0; i < n; i++) {
    if (!s->tokens && i == 3)
      continue;
    struct dl_value v[] = {dl_string(parts[i].part), dl_number(parts[i].s),
                           dl_string(parts[i].what)};
    dl_table_row(t, v, NULL);
  }
}

void dl_predict_served(struct dl_report *r, const struct dl_job *job,
                       const struct dl_served *s, bool explain) {
  if (isnan(s->time_s))
    return;
  bool idles = s->idle_s > 0;
  double steps = s->tokens ? job->run->output_tokens : NAN;
  double none = NAN;
  struct dl_report *g = dl_report_group(r, "served", "Inference, by physical");
  add_work(g, job, s);
  dl_report_known(g, "at_once", "at once", s->tokens ? "requests" : "samples",
                  DL_PLAIN, s->batch);
  dl_report_known(g, "latency_s", "a batch takes", "s", DL_TIME, s->latency_s);
  dl_report_known(
      g, "token_s", steps > 0 ? "of it each token" : NULL, "s", DL_TIME,
      steps > 0 ? s->decode_s / s->requests * s->batch / steps : none);
  dl_report_known(g, "most_a_second", "served at most",
                  s->tokens ? "requests/s" : "samples/s", DL_PLAIN,
                  s->most_a_second);
  dl_report_known(g, "most_tokens_a_second", steps > 0 ? "in tokens" : NULL,
                  "tokens/s", DL_PLAIN,
                  steps > 0 ? s->most_a_second * steps : none);
  dl_report_known(g, "power_w", "power of a GPU at work", "W", DL_PLAIN,
                  s->power_w);
  dl_report_known(g, "idle_w", idles ? "idle" : NULL, "W", DL_PLAIN, s->idle_w);
  dl_report_add(g, "idle_assumed", NULL, NULL, DL_CODE,
                dl_bool(s->idle_assumed));
  dl_report_add(g, "bound", "bound by", NULL, DL_CODE, dl_string(s->bound));
  add_parts(g, s, explain);
}
