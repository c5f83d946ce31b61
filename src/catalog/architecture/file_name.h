/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Architectures that come from files: their names and values. */

#ifndef DL_CATALOG_ARCHITECTURE_FILE_NAME_H
#define DL_CATALOG_ARCHITECTURE_FILE_NAME_H

#include <stdbool.h>

#include "base/number.h"
#include "io/xml.h"

/* Whether a name has an ending, ".onnx", in any case, and more before it. */
bool dl_file_ends(const char *name, const char *ending);

enum { DL_MOST_ID = 80 };

/* Stores a name without folders and ending; as an identifier it has lower case
 * letters, digits and ". _ + -" alone. It is "model" where nothing is left. */
void dl_name_of_file(const char *path, bool id, char to[DL_MOST_ID + 1]);

/* Makes a catalogue of one architecture that is named after a file, and of its
 * one source; *entry is its entry. The caller owns it. */
struct dl_xml *dl_new_catalog(const char *path, const char *named_after,
                              const char *source, const char *title,
                              dl_node **entry);

/* Writes a plain decimal, because XML's type has no exponent. */
void dl_format_plain(char to[DL_NUMBER_SIZE], double x, int decimals);

/* Adds a value with a source and a note. One beyond its field's range is
 * skipped: it could not be read. */
void dl_add_value(struct dl_xml *m, dl_node *to, const char *source,
                  const char *note, const char *name, double x);

#endif
