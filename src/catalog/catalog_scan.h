/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding one entry in the text of a catalogue without parsing all of it.
 *
 * Parsing the shipped catalogues takes libxml2 about 30 ms (its streaming
 * reader 15 ms), and a command needs an entry or two of them. The scan looks
 * for the entry by its identifier, name and aliases, and cuts it out for the
 * XML parser: values come from the file itself, there is no index that could
 * be out of date. It relies on the form of the shipped files (attributes in
 * double quotes, no CDATA); a test checks that it finds every name. */

#ifndef DL_CATALOG_CATALOG_SCAN_H
#define DL_CATALOG_CATALOG_SCAN_H

#include "catalog/descriptor.h"

/* Appends to *to a catalogue of the file's sources and its one entry with a
 * folded name (dl_fold_name), on the line where it stands in `text`
 * (NUL-terminated). Returns false if there is none. */
bool dl_scan_entry(enum dl_kind kind, const char *text, const char *folded,
                   struct dl_text *to);

#endif
