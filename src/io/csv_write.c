/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <csv.h>
#include <string.h>
#include <xxhash.h>

#include "io/csv.h"
#include "io/csv_header.h"

bool dl_csv_is_plain(const char *cell, size_t *len) {
  static const bool stops[256] = {
      ['\0'] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true};
  size_t n = 0;

  while (!stops[(unsigned char)cell[n]])
    n++;
  *len = n;
  return cell[n] == '\0' && (n == 0 || (!dl_csv_is_blank(cell[0]) &&
                                        !dl_csv_is_blank(cell[n - 1])));
}

void dl_csv_write_cell(FILE *f, const char *cell) {
  size_t len;

  if (dl_csv_is_plain(cell, &len))
    fwrite_unlocked(cell, 1, len, f);
  else
    csv_fwrite(f, cell, strlen(cell));
}

void dl_csv_add_cell(struct dl_text *t, const char *cell) {
  size_t len;

  if (dl_csv_is_plain(cell, &len)) {
    dl_text_add_n(t, cell, len);
    return;
  }
  dl_text_add(t, "\"");
  for (const char *quote; (quote = strchr(cell, '"')); cell = quote + 1) {
    dl_text_add_n(t, cell, (size_t)(quote - cell));
    dl_text_add(t, "\"\"");
  }
  dl_text_add(t, cell);
  dl_text_add(t, "\"");
}

void dl_csv_versions(struct dl_text *t) {
  unsigned x = XXH_versionNumber();
  dl_text_printf(t, "libcsv %d.%d.%d, xxHash %u.%u.%u", CSV_MAJOR, CSV_MINOR,
                 CSV_RELEASE, x / 10000, x / 100 % 100, x % 100);
}
