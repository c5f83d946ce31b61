/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding one entry in the text of a catalogue without reading all of it.
 *
 * The catalogues that ship are large and a command asks for a name or two.
 * The scan walks over the tags, folds identifiers, names and aliases, and
 * hands the one entry that has the name to the XML reader: the values come
 * from the file itself, there is no index to grow stale. It knows the form
 * that catalogues are written in (attributes in double quotes, no CDATA); a
 * test holds that it finds what reading the whole file finds. */

#ifndef DL_CATALOG_CATALOG_SCAN_H
#define DL_CATALOG_CATALOG_SCAN_H

#include <stddef.h>

#include "catalog/descriptor.h"

/* Appends to *to a catalogue with the sources and the one entry that goes by
 * a folded name, on the line where it stands in `text` (NUL-terminated). False
 * when there is none; when memory is out, to->failed is set. */
bool dl_scan_entry(enum dl_kind kind, const char *text, const char *folded,
                   struct dl_text *to);

#endif
