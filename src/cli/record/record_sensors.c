/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_sensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "physics/cpu/cpu_inputs.h"

/* Warns where tasks of Slurm hide GPUs of the job from each other. */
static void warn_hidden(struct dl_diag *d, const struct dl_record_machine *m,
                        const struct dl_record_job *job,
                        const struct dl_sensors *s) {
  const char *n = getenv("SLURM_GPUS_ON_NODE");
  size_t there = 0, all = n ? strtoul(n, NULL, 10) : 0;
  for (size_t i = 0; i < s->n; i++)
    there += s->s[i].part == DL_METER_GPU;
  if (!m->gpus && job->ranks > 1 && there > 0 && there < all)
    dl_warn(d,
            "%zu of the job's %zu GPUs on this node can be read by this task; "
            "one recorder for all: srun --ntasks-per-node=1 --overlap dlest "
            "record --pid PID",
            there, all);
}

/* Reads until each sensor has given power or energy, which decides on its
 * columns: a single reading may be unknown. */
static void read_first(struct dl_sensors *s) {
  enum { TRIES = 5, PAUSE_US = 20000 };
  DL_SCOPED(dl_diag_free) struct dl_diag unsaid = {0};
  for (int i = 0; i < TRIES; i++) {
    size_t n = 0;
    if (i > 0)
      usleep(PAUSE_US);
    dl_sensors_read(s, &unsaid);
    for (size_t k = 0; k < s->n; k++)
      n += s->s[k].gave_power || s->s[k].gave_energy;
    if (n == s->n)
      break;
  }
}

/* Assumes the power of this machine's CPUs, if the catalogue has them. Of a CPU
 * of which a virtual machine has some cores, so many count. */
static enum dl_status assume(struct dl_cli *cli, struct dl_sensors *s,
                             struct dl_record_machine *m) {
  char model[DL_SENSOR_NAME];
  const struct dl_descriptor *e = NULL;
  size_t sockets, cores;
  if (!dl_machine_cpus(model, &sockets, &cores))
    return DL_OK;
  DL_TRY(dl_catalog_look(dl_cli_catalog(cli), DL_ACCELERATOR, model, &e,
                         &cli->diag));
  const struct dl_accelerator *cpu = e ? DL_AS(accelerator, e) : NULL;
  if (!cpu || !dl_is_cpu(cpu) || isnan(cpu->tdp_w))
    return DL_OK;
  m->cpu = dl_strdup(e->name);
  m->n_cpus = (double)sockets;
  if (cpu->multiprocessors > 0)
    m->n_cpus = (double)cores / cpu->multiprocessors;
  m->tdp_w = m->n_cpus * cpu->tdp_w;
  dl_sensors_assume_cpus(s, m->tdp_w);
  return DL_OK;
}

/* Says that nothing is measured; fails where nothing is assumed either. */
static enum dl_status report_none(struct dl_cli *cli,
                                  const struct dl_record_machine *m,
                                  const struct dl_sensors *s) {
  struct dl_diag *d = &cli->diag;
  if (s->n == 0 && !m->allow_none)
    return dl_fail(d, DL_EINPUT,
                   "no sensor can be read on this machine: see 'dlest list "
                   "sensors'; --cpu-tdp W assumes the CPUs' power by their "
                   "load, --allow-none runs the program without figures");
  if (s->n > 0)
    dl_warn(d,
            "no sensor can be read on this machine: see 'dlest list sensors'; "
            "the CPUs' energy is assumed, by their load and a TDP of %.4g W",
            s->cpu_tdp_w);
  else
    dl_warn(d, "no sensor can be read on this machine: see 'dlest list "
               "sensors'; nothing will be measured");
  if (dl_cli_given(cli, "budget-kwh"))
    dl_warn(d, "--budget-kwh has no effect: no energy is measured");
  return DL_OK;
}

enum dl_status dl_record_sensors_find(struct dl_cli *cli,
                                      struct dl_record_machine *m,
                                      const struct dl_record_job *job,
                                      struct dl_sensors *s) {
  struct dl_diag *d = &cli->diag;
  dl_sensors_find(s, m->cpu_tdp_w);
  DL_TRY(dl_sensors_select(s, m->gpus, d));
  if (s->n == 0)
    DL_TRY(assume(cli, s, m));
  const bool none = !dl_sensors_measure(s);
  if (none && s->n > 0)
    DL_TRY(report_none(cli, m, s)); /* on the first line */
  for (size_t i = 0; i < s->n_notes; i++)
    dl_warn(d, "%s: %s", s->note[i].kind->name, s->note[i].text);
  warn_hidden(d, m, job, s);
  read_first(s);
  if (dl_cli_given(cli, "cpu-tdp") && dl_sensors_has(s, NULL, DL_METER_CPU) &&
      !s->s[s->n - 1].assumed)
    dl_warn(d, "--cpu-tdp has no effect: the CPUs are measured");
  return none && s->n == 0 ? report_none(cli, m, s) : DL_OK;
}

const char *dl_record_gpu_name(const struct dl_sensors *s) {
  const char *name = NULL;
  for (size_t i = 0; i < s->n; i++) {
    if (s->s[i].part != DL_METER_GPU)
      continue;
    if (name && strcmp(name, s->s[i].name) != 0)
      return NULL;
    name = s->s[i].name;
  }
  return name;
}

void dl_record_describe_assumed(const struct dl_sensors *s,
                                const struct dl_record_machine *m,
                                struct dl_text *to) {
  bool any = false;
  for (size_t i = 0; i < s->n; i++)
    any |= s->s[i].assumed;
  if (!any)
    return;
  dl_text_printf(to, "CPUs by load and TDP, %.4g W", s->cpu_tdp_w);
  if (m->cpu && m->tdp_w == s->cpu_tdp_w)
    dl_text_printf(to, " of %.3g x %s", m->n_cpus, m->cpu);
}
