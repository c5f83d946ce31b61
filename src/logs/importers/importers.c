/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/importers.h"

#include <string.h>

#define ROW(importer) &importer,
const struct dl_importer *const dl_importers[] = {DL_IMPORTERS(ROW) NULL};

const struct dl_importer *dl_importer_find(const char *name) {
  for (size_t i = 0; dl_importers[i]; i++)
    if (strcmp(dl_importers[i]->name, name) == 0)
      return dl_importers[i];
  return NULL;
}
