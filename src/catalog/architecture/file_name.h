/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of architectures that come from files. */

#ifndef DL_CATALOG_ARCHITECTURE_FILE_NAME_H
#define DL_CATALOG_ARCHITECTURE_FILE_NAME_H

#include <stdbool.h>

/* Whether a name has an ending, ".onnx", in any case, and more before it. */
bool dl_file_ends(const char *name, const char *ending);

enum { DL_MOST_ID = 80 };

/* A name without folders and ending; as an identifier it has lower case
 * letters, digits and ". _ + -" alone. "model" where nothing is left. */
void dl_name_of_file(const char *path, bool id, char to[DL_MOST_ID + 1]);

#endif
