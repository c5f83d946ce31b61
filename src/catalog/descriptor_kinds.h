/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of descriptors. A field is a member here and a row in
 * descriptor_fields.c. Numbers are NaN and texts NULL where unknown. */

#ifndef DL_CATALOG_DESCRIPTOR_KINDS_H
#define DL_CATALOG_DESCRIPTOR_KINDS_H

#include "catalog/descriptor.h"

/* A GPU, or a CPU that jobs run on. Peak rates are dense, in 1e12 operations
 * per second, outside tensor (matrix) units unless the name says tensor. */
struct dl_accelerator {
  struct dl_descriptor head;
  const char *vendor, *family;
  const char *form;        /* of the board: "pcie", "sxm", "socket" */
  const char *memory_type; /* "gddr6", "hbm2e" */
  double tdp_w;            /* thermal design power by the specification */
  double power_limit_w;    /* in force, where it is not the TDP */
  double idle_w;           /* powered, nothing running */
  double peak_fp64_tflops, peak_fp32_tflops, peak_fp16_tflops;
  double peak_bf16_tflops, peak_fp64_tensor_tflops, peak_tf32_tflops;
  double peak_fp16_tensor_tflops, peak_bf16_tensor_tflops;
  double peak_fp8_tensor_tflops, peak_int8_tops, peak_int8_tensor_tops;
  double memory_gb;       /* 1e9 bytes */
  double bandwidth_gb_s;  /* of the memory */
  double link_gb_s;       /* to other accelerators, one direction */
  double cuda_cores;      /* FP32 lanes */
  double multiprocessors; /* compute units, CPU cores */
  double base_mhz, boost_mhz;
  double l2_mb;       /* last-level cache, 1e6 bytes */
  double devices;     /* that the system sees on this board; NaN: one */
  double embodied_kg; /* CO2e of making the board */
  double year;        /* of release */
};

/* How an architecture's MACs and activations follow the input size. */
enum dl_scaling {
  DL_SCALING_NONE,    /* they do not */
  DL_SCALING_AREA,    /* with the area, but for the head; maps round up */
  DL_SCALING_DOWN,    /* the same, maps round down */
  DL_SCALING_TOKENS,  /* attention: linear and quadratic parts */
  DL_SCALING_SEQUENCE /* by the shape of a transformer (transformer.h) */
};

/* Figures of an architecture at one input size. */
struct dl_input_size {
  double image_px;
  bool headless; /* counted without what follows the pooling */
  double macs_g, acts_m;
  struct dl_origin macs_origin, acts_origin;
};

struct dl_recount;     /* counts anew at another input: from_onnx.h */
struct dl_transformer; /* architecture/transformer.h */

/* A network. Figures of a pass are those of one sample's forward pass. */
struct dl_architecture {
  struct dl_descriptor head;
  const char *family;
  double macs_g;           /* 1e9 multiply-accumulates */
  double acts_m;           /* 1e6 outputs of convolutions and dense layers */
  double params_m;         /* 1e6 parameters */
  double active_params_m;  /* of them used by a token (mixture of experts) */
  double image_px;         /* side of the square input of the figures */
  double seq_len;          /* tokens of the sequence of the figures */
  double head_macs_g;      /* part of macs_g that does not grow with the input;
                              NaN: that of the classifier */
  double head_inputs;      /* features that the classifier takes */
  double classes;          /* its outputs; NaN: there is none */
  double head_params_m;    /* trained when the base is frozen */
  double layers;           /* convolutions and dense layers */
  double launches;         /* kernels */
  double patch_px;         /* attention: side of a patch */
  double depth;            /* attention blocks */
  double hidden_size;      /* elements of the embedding of a token */
  double heads;            /* of attention */
  double extra_tokens;     /* in addition to the patches; NaN: one */
  double attention_macs_g; /* parts of the first input's that grow with */
  double attention_acts_m; /* the square of the tokens */
  double stride_px;        /* of the coarsest map; NaN: 32 */
  double traffic_ratio;    /* elements that all layers move, by acts_m */
  double token_params_m;   /* decoders: 1e6 weights that a token meets */
  double expert_params_m;  /* of all experts; 0: none */
  double expert_share;     /* of them that a token goes through */
  double kv_cache_per_token; /* size of the KV cache per token, elements */
  double pair_macs;          /* attention: MACs with each token before */
  enum dl_scaling scaling;
  const struct dl_transformer *transformer; /* its shape, or NULL */
  const char *shape_source;                 /* who published the shape */
  const struct dl_input_size *inputs;       /* the first is the reference */
  size_t n_inputs;
  const struct dl_recount *recount; /* or NULL */
};

struct dl_dataset {
  struct dl_descriptor head;
  const char *family;
  double train_samples, val_samples, classes;
  double image_px; /* usual input size */
};

/* The electricity of a country or region. */
struct dl_grid {
  struct dl_descriptor head;
  double carbon_g_kwh; /* CO2e per kWh */
  double year;
};

/* A data centre or cloud region. */
struct dl_site {
  struct dl_descriptor head;
  const char *vendor;
  const char *grid;    /* identifier of the grid that feeds it */
  const char *place;   /* where it is */
  double pue;          /* power usage effectiveness */
  double carbon_g_kwh; /* of its own electricity */
  double year;
};

/* A computer and what is in it; estimate/node/node.h says how the parts add
 * up. */
struct dl_node {
  struct dl_descriptor head;
  const char *vendor;
  const char *cpu, *gpu, *site; /* identifiers of other entries */
  double sockets;               /* CPUs; a fraction for a slice of a host */
  double cpu_tdp_w;             /* of one CPU; NaN: that of its own entry */
  double cpu_idle_w;            /* of one CPU, nothing running */
  double gpus;                  /* accelerators */
  double gpu_idle_w; /* of one, nothing running; overrides its entry */
  double memory_gb;
  double memory_w_gb;       /* W per GB fitted */
  double rest_w;            /* board, fans, network, drives */
  double supply_efficiency; /* of the power supply, 0 .. 1 */
  double pue;               /* of where it stands; overrides its site */
  double embodied_kg;       /* CO2e of making it, without accelerators */
  double year;
};

/* The kind's struct of a descriptor that is of that kind (or NULL):
 * DL_AS(accelerator, e). */
#define DL_AS(kind, e) ((const struct dl_##kind *)(const void *)(e))

#endif
