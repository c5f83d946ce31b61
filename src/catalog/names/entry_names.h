/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for names that no entry of the catalogue has. */

#ifndef DL_CATALOG_NAMES_ENTRY_NAMES_H
#define DL_CATALOG_NAMES_ENTRY_NAMES_H

#include "base/text.h"
#include "catalog/descriptor.h"

/* Appends " (did you mean 'a', 'b' or 'c'?)" with the entries whose identifier,
 * name or alias is nearest to a name, in the form that is near; nothing if none
 * is. */
void dl_suggest_entries(enum dl_kind kind, const char *name,
                        const struct dl_descriptor *const *all, size_t n,
                        struct dl_text *to);

/* Sizes by which a network is found: hidden size, layers, vocabulary, heads and
 * feed-forward size; NaN where unknown. */
enum { DL_NETWORK_SIZES = 5 };

/* Appends the transformers of these sizes, as the end of a message: "; the
 * catalogue has ... (did you mean --arch gpt-oss-20b?)"; nothing where there is
 * none, or, of several entries, where too few sizes are known. */
void dl_suggest_networks(const struct dl_descriptor *const *all, size_t n,
                         const double size[DL_NETWORK_SIZES],
                         struct dl_text *to);

#endif
