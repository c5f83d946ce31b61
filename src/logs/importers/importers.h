/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of importers, in importers.c. */

#ifndef DL_LOGS_IMPORTERS_IMPORTERS_H
#define DL_LOGS_IMPORTERS_IMPORTERS_H

#include "logs/importers/importer.h"

extern const struct dl_importer dl_import_nvidia_smi, dl_import_psutil,
    dl_import_epochs, dl_import_nvidia_smi_dmon, dl_import_dcgmi_dmon,
    dl_import_rocm_smi, dl_import_codecarbon, dl_import_eco2ai, dl_import_zeus,
    dl_import_grafana, dl_import_prometheus,
    dl_import_carbontracker, dl_import_carbontracker_output, dl_import_sacct,
    dl_import_sstat, dl_import_ptdaemon, dl_import_perf, dl_import_turbostat,
    dl_import_samples, dl_import_table;

/* All importers; NULL ends the list. */
extern const struct dl_importer *const dl_importers[];

/* By name; NULL if there is none. */
const struct dl_importer *dl_importer_find(const char *name);

#endif
