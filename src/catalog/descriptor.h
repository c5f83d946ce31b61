/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors: what is known about an accelerator, an architecture, a data
 * set or a grid.
 *
 * A descriptor is an identifier and one number per field of its kind, NaN
 * where unknown. Fields are data (see dl_kind_info): `show`, `--set`,
 * formulas and the files all go through the same table. */

#ifndef DL_CATALOG_DESCRIPTOR_H
#define DL_CATALOG_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

enum dl_kind {
  DL_ACCELERATOR,
  DL_ARCHITECTURE,
  DL_DATASET,
  DL_GRID,
  DL_SITE,
  DL_NODE
};
enum { DL_N_KINDS = DL_NODE + 1, DL_MAX_FIELDS = 32 };

enum dl_accelerator_field {
  DL_GPU_TDP_W,       /* thermal design power by the specification */
  DL_GPU_LIMIT_W,     /* power limit in force, where it is not the TDP */
  DL_GPU_IDLE_W,      /* powered, nothing running */
  DL_GPU_FP64_TFLOPS, /* peak rates: 1e12 FLOP/s, dense; outside tensor */
  DL_GPU_FP32_TFLOPS, /* (matrix) units, and within them where said */
  DL_GPU_FP16_TFLOPS,
  DL_GPU_BF16_TFLOPS,
  DL_GPU_FP64_TENSOR_TFLOPS,
  DL_GPU_TF32_TFLOPS,
  DL_GPU_FP16_TENSOR_TFLOPS,
  DL_GPU_BF16_TENSOR_TFLOPS,
  DL_GPU_FP8_TENSOR_TFLOPS,
  DL_GPU_INT8_TOPS, /* 1e12 operations/s */
  DL_GPU_INT8_TENSOR_TOPS,
  DL_GPU_MEMORY_GB,
  DL_GPU_BANDWIDTH_GB_S,
  DL_GPU_LINK_GB_S, /* to other accelerators, one direction */
  DL_GPU_CORES,     /* FP32 lanes */
  DL_GPU_MULTIPROCESSORS,
  DL_GPU_BASE_MHZ,
  DL_GPU_BOOST_MHZ,
  DL_GPU_L2_MB,
  DL_GPU_DEVICES,     /* that the system sees on this board; NaN: one */
  DL_GPU_EMBODIED_KG, /* CO2e of making the board, kg */
  DL_GPU_YEAR
};

enum dl_architecture_field {
  DL_ARCH_MACS_G,   /* 1e9 multiply-accumulates, one forward pass, 1 sample */
  DL_ARCH_ACTS_M,   /* 1e6 outputs of convolutions and dense layers */
  DL_ARCH_PARAMS_M, /* 1e6 parameters */
  DL_ARCH_ACTIVE_PARAMS_M, /* of them used by a token (mixture of experts) */
  DL_ARCH_IMAGE_PX,        /* side of the square input the figures are for */
  DL_ARCH_SEQ_LEN,         /* tokens of the sequence the figures are for */
  DL_ARCH_HEAD_MACS_G,     /* part of macs_g that does not grow with the input;
                              NaN: that of the classifier */
  DL_ARCH_HEAD_INPUTS,     /* features that the classifier takes */
  DL_ARCH_CLASSES,         /* its outputs; NaN: there is none */
  DL_ARCH_HEAD_PARAMS_M,   /* trained when the base is frozen */
  DL_ARCH_LAYERS,          /* convolutions and dense layers */
  DL_ARCH_LAUNCHES,        /* kernels of one forward pass */
  DL_ARCH_PATCH_PX,        /* attention: side of a patch, depth, width */
  DL_ARCH_DEPTH,
  DL_ARCH_WIDTH,
  DL_ARCH_HEADS,
  DL_ARCH_EXTRA_TOKENS,     /* besides the patches; NaN: one */
  DL_ARCH_ATTENTION_MACS_G, /* parts of the first input's that grow with */
  DL_ARCH_ATTENTION_ACTS_M, /* the square of the tokens */
  DL_ARCH_STRIDE_PX,        /* of the coarsest map; NaN: 32 */
  DL_ARCH_TRAFFIC_RATIO,    /* elements that all layers move, by acts_m */
  DL_ARCH_TOKEN_PARAMS_M,   /* decoders: 1e6 weights that a token meets */
  DL_ARCH_EXPERT_PARAMS_M,  /* of all experts; 0: none */
  DL_ARCH_EXPERT_SHARE,     /* of them that a token goes through */
  DL_ARCH_KEPT_PER_TOKEN,   /* keys and values kept of a token, in elements */
  DL_ARCH_PAIR_MACS         /* attention: MACs with each token before */
};

enum dl_dataset_field {
  DL_DATA_TRAIN,
  DL_DATA_VAL,
  DL_DATA_CLASSES,
  DL_DATA_IMAGE_PX
};

enum dl_grid_field { DL_GRID_CARBON_G_KWH, DL_GRID_YEAR };

enum dl_site_field { DL_SITE_PUE, DL_SITE_CARBON_G_KWH, DL_SITE_YEAR };

/* A computer and what is in it; estimate/node/node.h says how the parts add up.
 */
enum dl_node_field {
  DL_NODE_SOCKETS,    /* CPUs; a part of one for a slice of a host */
  DL_NODE_CPU_TDP_W,  /* of one CPU; NaN: that of the CPU's own entry */
  DL_NODE_CPU_IDLE_W, /* of one CPU, nothing running */
  DL_NODE_GPUS,       /* accelerators */
  DL_NODE_GPU_IDLE_W, /* of one, nothing running; over its own entry's */
  DL_NODE_MEMORY_GB,
  DL_NODE_MEMORY_W_GB, /* W per GB fitted */
  DL_NODE_REST_W,      /* board, fans, network, drives */
  DL_NODE_EFFICIENCY,  /* of the power supply, 0 .. 1 */
  DL_NODE_PUE,         /* of where it stands; over its site's */
  DL_NODE_EMBODIED_KG, /* CO2e of making it, without accelerators, kg */
  DL_NODE_YEAR
};

struct dl_field {
  const char *name; /* as in files, formulas and --set: "tdp_w" */
  const char *unit; /* "W"; NULL for plain numbers */
  double low, high; /* allowed range */
  const char *summary;
};

struct dl_kind_info {
  const char *name;         /* root attribute in files: "accelerator" */
  const char *word;         /* in commands and messages: "gpu" */
  const char *words;        /* its plural: "gpus" */
  const char *const *files; /* under the data directory, NULL-terminated:
                               "data/accelerators.xml" */
  const char *schema;
  const struct dl_field *fields;
  size_t n_fields;
  const char *const *noise; /* words that do not count in a name */
};

const struct dl_kind_info *dl_kind_info(enum dl_kind kind);

/* Index of a field by name, or -1. */
long dl_field_find(enum dl_kind kind, const char *name);

/* How an architecture's MACs and activations follow the input size. */
enum dl_scaling {
  DL_SCALING_NONE,    /* they do not */
  DL_SCALING_AREA,    /* with the area, but for the head; maps round up */
  DL_SCALING_DOWN,    /* the same, maps round down */
  DL_SCALING_TOKENS,  /* attention: linear and quadratic parts */
  DL_SCALING_SEQUENCE /* by the shape of a transformer (transformer.h) */
};

struct dl_value_of {
  double x;           /* NaN: unknown */
  const char *source; /* title of its source, or NULL; owned by the catalog */
  const char *note;   /* "derived: ...", "assumed: ...", or NULL */
};

/* Figures of an architecture at one input size. */
struct dl_input {
  double image_px;
  bool headless; /* counted without what follows the pooling */
  struct dl_value_of macs_g;
  struct dl_value_of acts_m;
};

struct dl_recount; /* counts anew at another input: from_onnx.h */

struct dl_descriptor {
  enum dl_kind kind;
  const char *id;
  const char *name;
  const char *vendor; /* accelerators; NULL where not given */
  const char *family;
  const char *form; /* of a board: "pcie", "sxm", "socket" */
  const char *memory_type;
  const char *grid;  /* sites: identifier of the grid that feeds it */
  const char *place; /* sites: where it is */
  const char *cpu;   /* nodes: identifiers of its CPU, accelerator and site */
  const char *gpu;
  const char *site;
  const char *file; /* where it was read */
  size_t line;
  const char *const *aliases;
  size_t n_aliases;
  struct dl_value_of value[DL_MAX_FIELDS];
  size_t value_line[DL_MAX_FIELDS];         /* where it was read; 0: nowhere */
  const char *value_year[DL_MAX_FIELDS];    /* of its source, or NULL */
  enum dl_scaling scaling;                  /* architectures */
  const struct dl_transformer *transformer; /* its shape, or NULL */
  const char *shape_source;                 /* who published the shape */
  const struct dl_input *inputs;
  size_t n_inputs;
  const struct dl_recount *recount; /* or NULL */
};

/* Sets a field as the user asks; the source becomes "given". Errors: no such
 * field (names the nearest) or no number (DL_EUSAGE), not within its range
 * (DL_EINPUT). */
enum dl_status dl_descriptor_set(struct dl_descriptor *e, const char *field,
                                 const char *text, struct dl_diag *d);

/* Folds a name for comparison: lower case, letters, digits and decimal
 * points alone, words of the kind's noise list left out. Appends to *to. */
void dl_fold_name(enum dl_kind kind, const char *name, struct dl_text *to);

#endif
