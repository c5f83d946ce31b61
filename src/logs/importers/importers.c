/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/importers.h"

#include <string.h>

/* The first importer that recognises a file is used, so those that recognise
 * it by few words come last. */
const struct dl_importer *const dl_importers[] = {
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
    &dl_import_prometheus,
    &dl_import_grafana,
    &dl_import_table,
    &dl_import_epochs,
    &dl_import_samples,
    NULL,
};

const struct dl_importer *dl_importer_find(const char *name) {
  for (size_t i = 0; dl_importers[i]; i++)
    if (strcmp(dl_importers[i]->name, name) == 0)
      return dl_importers[i];
  return NULL;
}
