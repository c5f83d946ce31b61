/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A remedy is a setting that makes a training fit into the memory of its
 * GPUs. */

#ifndef DL_ESTIMATE_NODE_MEMORY_REMEDY_H
#define DL_ESTIMATE_NODE_MEMORY_REMEDY_H

#include "base/text.h"
#include "estimate/job.h"

/* Appends what would make a training fit at its batch: "fits with
 * --checkpointing full, or --sharding zero3 on 4 GPUs", or either with
 * --attention flash in place of eager; false: nothing of these. Sharding is for
 * language models; where it is not given, the number of GPUs alone is said. */
bool dl_memory_remedy(const struct dl_job *job, struct dl_text *to);

#endif
