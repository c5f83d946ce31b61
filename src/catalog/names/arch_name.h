/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of networks as model hubs write them: "org/Name-Instruct". */

#ifndef DL_CATALOG_NAMES_ARCH_NAME_H
#define DL_CATALOG_NAMES_ARCH_NAME_H

#include <stdbool.h>

#include "base/text.h"
#include "catalog/descriptor.h"

/* Appends a name without the parts that do not change the network: the
 * organisation before the last slash, a final "-hf", the words of fine-tuned
 * checkpoints ("-instruct", "-chat", "-it"), and the tag of a timm checkpoint's
 * weights (".a1_in1k"). Returns false if nothing was removed, or nothing
 * remains. */
bool dl_arch_name_reduce(const char *name, struct dl_text *to);

/* The name of an entry in a title. An alias of another version, whose sizes are
 * the entry's, stays as it was typed: Llama 3.1 8B is not Llama 3 8B. The
 * result is part of the entry or of `typed` (may be NULL). */
const char *dl_arch_title(const struct dl_descriptor *e, const char *typed);

#endif
