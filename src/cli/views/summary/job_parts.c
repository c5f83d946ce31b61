/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/job_parts.h"

#include "base/text.h"
#include "catalog/processors.h"
#include "cli/views/predict_report.h"
#include "physics/rows/inputs.h"

/* Time and energy of start-up and idle tail by the physical method. */
static void add_waits(struct dl_report *r, const struct dl_job *job,
                      const struct dl_estimate *est) {
  static const struct dl_column columns[] = {
      {"part", "beside the work", NULL, DL_CODE, false},
      {"duration_s", "time", "s", DL_TIME, false},
      {"energy_j", "energy", "J", DL_ENERGY, false}};
  const struct dl_named_number parts[] = {{"start-up", job->run->startup_s},
                                          {"idle tail", job->run->idle_tail_s}};
  if (!(est->waits_w > 0))
    return;
  struct dl_table *t =
      DL_TABLE(r, "waits", "Beside the work, by physical", columns, false);
  for (size_t i = 0; i < DL_LENGTH(parts); i++)
    if (parts[i].x > 0)
      DL_ROW(t, NULL, dl_string(parts[i].name), dl_number(parts[i].x),
             dl_number(parts[i].x * est->waits_w));
}

/* The cores that a job on CPUs uses, and how: for people alone. writes: a
 * language model writes tokens. */
static void add_cores(struct dl_report *r, const struct dl_job *job,
                      bool writes) {
  const struct dl_accelerator *cpu = job->found.gpu;
  double sockets = job->run->n_gpus;
  DL_TEXT(cores);
  DL_TEXT(numa);
  if (!dl_is_cpu(cpu) || isnan(cpu->multiprocessors))
    return;
  double all = sockets * cpu->multiprocessors;
  dl_text_printf(&cores, "%g of %g, a thread on each (no hyper-threads)",
                 all * dl_cores_share(job->run, cpu), all);
  dl_text_printf(&numa, "%g, of a socket each", sockets);
  if (sockets > 1)
    dl_text_add(&numa, writes ? "; weights are read from all, without placement"
                              : "; each has a process with memory of its own");
  DL_LINES(r, {NULL, "CPU cores", NULL, DL_CODE, dl_string(cores.s)},
           {NULL, "NUMA nodes", NULL, DL_CODE, dl_string(numa.s)});
}

void dl_predict_job_parts(struct dl_report *r, const struct dl_result *s) {
  const struct dl_job *job = &s->job;
  bool physical = false;
  add_cores(r, job, s->predictions.served.tokens);
  dl_predict_parts(r, &s->predictions,
                   s->predictions.parts.bound &&
                       !dl_run_is_inference(job->run));
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_estimate *est = &s->est[i];
    physical |= est->id == DL_METHOD_PHYSICAL && !isnan(est->energy_j.x);
    add_waits(r, job, est);
  }
  if (physical)
    dl_predict_served(r, job, &s->predictions.served, true);
  dl_predict_work(r, job, !physical);
}
