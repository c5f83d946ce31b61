/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of fields, made from descriptor_fields_body.h, and the kinds. */

#include <string.h>
#include <strings.h>

#include "catalog/descriptor_kinds.h"

#define TEXT(name, help)                                                       \
  {#name, true, NULL, 0, 0, offsetof(struct KIND, name), help},
#define NUMBER(name, unit, low, high, help)                                    \
  {#name, false, unit, low, high, offsetof(struct KIND, name), help},
/* Every kind begins with these. */
#define ID_AND_NAME                                                            \
  {"id", true, NULL, 0, 0, offsetof(struct dl_descriptor, id), "id"},          \
      {"name", true, NULL, 0, 0, offsetof(struct dl_descriptor, name), "name"},

#define KIND dl_accelerator
#define FIELDS_OF_ACCELERATOR
static const struct dl_field accelerator_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

#define KIND dl_architecture
#define FIELDS_OF_ARCHITECTURE
static const struct dl_field architecture_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

#define KIND dl_dataset
#define FIELDS_OF_DATASET
static const struct dl_field dataset_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

#define KIND dl_grid
#define FIELDS_OF_GRID
static const struct dl_field grid_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

#define KIND dl_site
#define FIELDS_OF_SITE
static const struct dl_field site_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

#define KIND dl_node
#define FIELDS_OF_NODE
static const struct dl_field node_fields[] = {ID_AND_NAME
#include "catalog/descriptor_fields_body.h"
};
#undef KIND

static const char *const no_noise[] = {NULL};
static const char *const accelerator_noise[] = {
    "nvidia", "amd",      "intel",    "geforce", "tesla",
    "radeon", "instinct", "graphics", NULL};

_Static_assert(DL_LENGTH(accelerator_fields) <= DL_MOST_FIELDS &&
                   DL_LENGTH(architecture_fields) <= DL_MOST_FIELDS,
               "DL_MOST_FIELDS is too small");

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct dl_kind_info dl_kinds[DL_N_KINDS] = {
    [DL_ACCELERATOR] = {"accelerator", "gpu", "gpus",
                        FILES("data/accelerators.xml", "data/cpus.xml"),
                        "data/accelerators.rng", accelerator_fields,
                        DL_LENGTH(accelerator_fields),
                        sizeof(struct dl_accelerator), accelerator_noise},
    [DL_ARCHITECTURE] = {"architecture", "arch", "archs",
                         FILES("data/architectures.xml",
                               "data/task-networks.xml",
                               "data/transformers.xml"),
                         "data/architectures.rng", architecture_fields,
                         DL_LENGTH(architecture_fields),
                         sizeof(struct dl_architecture), no_noise},
    [DL_DATASET] = {"dataset", "dataset", "datasets",
                    FILES("data/datasets.xml"), "data/datasets.rng",
                    dataset_fields, DL_LENGTH(dataset_fields),
                    sizeof(struct dl_dataset), no_noise},
    [DL_GRID] = {"grid", "grid", "grids", FILES("data/grids.xml"),
                 "data/grids.rng", grid_fields, DL_LENGTH(grid_fields),
                 sizeof(struct dl_grid), no_noise},
    [DL_SITE] = {"site", "site", "sites", FILES("data/sites.xml"),
                 "data/sites.rng", site_fields, DL_LENGTH(site_fields),
                 sizeof(struct dl_site), no_noise},
    [DL_NODE] = {"node", "node", "nodes", FILES("data/nodes.xml"),
                 "data/nodes.rng", node_fields, DL_LENGTH(node_fields),
                 sizeof(struct dl_node), no_noise},
};

/* Whether a word is a name, or the name and an s. */
static bool is_number_of(const char *word, const char *name) {
  size_t n = strlen(name);
  return strncasecmp(word, name, n) == 0 &&
         (word[n] == '\0' || (word[n] == 's' && word[n + 1] == '\0'));
}

bool dl_kind_find(const char *word, enum dl_kind *kind) {
  for (size_t k = 0; k < DL_N_KINDS; k++)
    if (is_number_of(word, dl_kinds[k].word) ||
        is_number_of(word, dl_kinds[k].name)) {
      *kind = (enum dl_kind)k;
      return true;
    }
  return false;
}
