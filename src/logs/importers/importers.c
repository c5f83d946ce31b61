/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/importers.h"

#include <string.h>

/* The first that knows a file is taken: what is told apart by few words comes
 * last. */
static const struct dl_importer *const importers[] = {
    &dl_import_nvidia_smi,
    &dl_import_nvidia_smi_dmon,
    &dl_import_dcgmi_dmon,
    &dl_import_rocm_smi,
    &dl_import_psutil,
    &dl_import_perf,
    &dl_import_turbostat,
    &dl_import_ptdaemon,
    &dl_import_sacct,
    &dl_import_sstat,
    &dl_import_codecarbon,
    &dl_import_eco2ai,
    &dl_import_zeus,
    &dl_import_carbontracker,
    &dl_import_carbontracker_output,
    &dl_import_table,
    &dl_import_epochs,
    &dl_import_samples,
};

size_t dl_importer_count(void) {
  return sizeof importers / sizeof *importers;
}

const struct dl_importer *dl_importer_at(size_t i) {
  return importers[i];
}

const struct dl_importer *dl_importer_find(const char *name) {
  for (size_t i = 0; i < dl_importer_count(); i++)
    if (strcmp(importers[i]->name, name) == 0)
      return importers[i];
  return NULL;
}
