#include <csv.h>
#include <string.h>

#include "io/csv.h"

/* A reader removes blanks at the ends of a cell that has no quotes. */
static bool needs_quotes(const char *cell, size_t len) {
  if (len == 0)
    return false;
  return strpbrk(cell, ",\"\r\n") != NULL || strchr(" \t", cell[0]) != NULL ||
         strchr(" \t", cell[len - 1]) != NULL;
}

void dl_csv_write_cell(FILE *f, const char *cell) {
  size_t len = strlen(cell);

  if (needs_quotes(cell, len))
    csv_fwrite(f, cell, len);
  else
    fputs(cell, f);
}
