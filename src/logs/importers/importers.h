/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of importers. */

#ifndef DL_LOGS_IMPORTERS_IMPORTERS_H
#define DL_LOGS_IMPORTERS_IMPORTERS_H

#include "logs/importers/importer.h"

/* A row for each. The first importer that recognises a file is used, so those
 * that recognise it by few words come last. */
#define DL_IMPORTERS(ROW)                                                      \
  ROW(dl_import_nvidia_smi)                                                    \
  ROW(dl_import_nvidia_smi_dmon)                                               \
  ROW(dl_import_dcgmi_dmon)                                                    \
  ROW(dl_import_rocm_smi)                                                      \
  ROW(dl_import_psutil)                                                        \
  ROW(dl_import_perf)                                                          \
  ROW(dl_import_turbostat)                                                     \
  ROW(dl_import_ptdaemon)                                                      \
  ROW(dl_import_mlperf_training)                                               \
  ROW(dl_import_sacct)                                                         \
  ROW(dl_import_sstat)                                                         \
  ROW(dl_import_codecarbon)                                                    \
  ROW(dl_import_eco2ai)                                                        \
  ROW(dl_import_zeus)                                                          \
  ROW(dl_import_carbontracker)                                                 \
  ROW(dl_import_carbontracker_output)                                          \
  ROW(dl_import_prometheus)                                                    \
  ROW(dl_import_grafana)                                                       \
  ROW(dl_import_powerjoular)                                                   \
  ROW(dl_import_wandb_panel)                                                   \
  ROW(dl_import_mlflow)                                                        \
  ROW(dl_import_json_array)                                                    \
  ROW(dl_import_json_lines)                                                    \
  ROW(dl_import_table)                                                         \
  ROW(dl_import_epochs)                                                        \
  ROW(dl_import_samples)

#define DL_IMPORTER(importer) extern const struct dl_importer importer;
DL_IMPORTERS(DL_IMPORTER)
#undef DL_IMPORTER

/* All importers; NULL ends the list. */
extern const struct dl_importer *const dl_importers[];

/* Finds an importer by its name; NULL if there is none. */
const struct dl_importer *dl_importer_find(const char *name);

#endif
