/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/job_parts.h"

#include "base/text.h"
#include "catalog/processors.h"
#include "physics/rows/inputs.h"

void dl_predict_waits(struct dl_report *r, const struct dl_job *job,
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

void dl_predict_cores(struct dl_report *r, const struct dl_job *job,
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
