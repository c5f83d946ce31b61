/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of dlest predict for a recorded run. */

#ifndef DL_CLI_RECORD_RECORD_ESTIMATE_H
#define DL_CLI_RECORD_RECORD_ESTIMATE_H

#include "base/number.h"
#include "cli/command.h"
#include "run/run.h"

/* The quantity of a run without which there is no estimate. */
enum dl_record_lack {
  DL_LACKS_NOTHING,
  DL_LACKS_GPU,
  DL_LACKS_GPU_ENERGY,
  DL_LACKS_CPU_ENERGY,
  DL_LACKS_EPOCHS,
  DL_LACKS_SAMPLES,
  DL_LACKS_REQUESTS
};

/* Energies of the GPUs alone, or of the CPUs that do the work; NaN if unknown.
 */
struct dl_record_estimate {
  const char *method; /* the recommended one; NULL: none */
  bool of_cpus;
  struct dl_interval energy_j;
  double measured_j; /* of them */
  double duration_s;
  enum dl_record_lack lacks; /* why there is no estimate */
};

/* Estimates a run by its settings, without what was measured. Nothing where
 * architecture, GPU or CPU, epochs or samples are unknown. */
enum dl_status dl_record_estimate(struct dl_cli *cli, const struct dl_run *run,
                                  struct dl_record_estimate *e);

/* The machine: what the options say of it, and the CPUs that were found. */
struct dl_record_machine {
  const char *gpus;     /* NULL: those that the program sees */
  double cpu_tdp_w;     /* of all CPUs, by --cpu-tdp or --cpu; NaN: not given */
  bool allow_none;      /* no sensor is no error */
  char *cpu;            /* name of the CPUs, owned; NULL: unknown */
  double n_cpus, tdp_w; /* their number, and the TDP of all */
};

/* Finds the CPUs of a text, "2 x Xeon Platinum 8380". Errors: unknown names,
 * GPUs (DL_EINPUT). */
enum dl_status dl_record_cpus_find(struct dl_cli *cli, const char *text,
                                   struct dl_record_machine *m);

#endif
