/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <csv.h>
#include <xxhash.h>

#include "io/csv.h"

void dl_csv_versions(struct dl_text *t) {
  unsigned x = XXH_versionNumber();
  dl_text_printf(t, "libcsv %d.%d.%d, xxHash %u.%u.%u", CSV_MAJOR, CSV_MINOR,
                 CSV_RELEASE, x / 10000, x / 100 % 100, x % 100);
}
