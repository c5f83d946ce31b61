/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for names that no entry of the catalogue has. */

#ifndef DL_CATALOG_NAMES_ENTRY_NAMES_H
#define DL_CATALOG_NAMES_ENTRY_NAMES_H

#include "base/text.h"
#include "catalog/descriptor.h"

/* Appends " (did you mean 'a', 'b' or 'c'?)" with the entries whose identifier,
 * name or alias is nearest to a name, in the form that is near; nothing where
 * none is. */
void dl_suggest_entries(enum dl_kind kind, const char *name,
                        const struct dl_descriptor *const *all, size_t n,
                        struct dl_text *to);

#endif
