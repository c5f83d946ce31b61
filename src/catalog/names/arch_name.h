/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of networks as model hubs write them: "org/Name-Instruct". */

#ifndef DL_CATALOG_NAMES_ARCH_NAME_H
#define DL_CATALOG_NAMES_ARCH_NAME_H

#include <stdbool.h>

#include "base/text.h"

/* Appends what is left of a name without what does not change the network: the
 * organisation before the last slash, a final "-hf", and the words of
 * fine-tuned checkpoints ("-instruct", "-chat", "-it"); of a checkpoint of timm
 * also the tag of its weights (".a1_in1k"). False if nothing was removed, or
 * nothing remains. */
bool dl_arch_name_reduce(const char *name, struct dl_text *to);

#endif
