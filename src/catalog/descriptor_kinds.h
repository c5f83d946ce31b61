/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of descriptors: a struct for each, with a member for each row of
 * descriptor_fields_body.h. Numbers are NaN and texts NULL where unknown. */

#ifndef DL_CATALOG_DESCRIPTOR_KINDS_H
#define DL_CATALOG_DESCRIPTOR_KINDS_H

#include "catalog/descriptor.h"

#define TEXT(name, help) const char *name;
#define NUMBER(name, unit, low, high, help) double name;

/* A GPU, or a CPU that jobs run on. */
struct dl_accelerator {
  struct dl_descriptor head;
#define FIELDS_OF_ACCELERATOR
#include "catalog/descriptor_fields_body.h"
};

/* How an architecture's MACs and activations follow the input size. */
enum dl_scaling {
  DL_SCALING_NONE,    /* they do not */
  DL_SCALING_AREA,    /* with the area, but for the head; maps round up */
  DL_SCALING_DOWN,    /* so, but maps round down */
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

/* A network. Figures of a pass are for the forward pass of one sample. */
struct dl_architecture {
  struct dl_descriptor head;
#define FIELDS_OF_ARCHITECTURE
#include "catalog/descriptor_fields_body.h"
  enum dl_scaling scaling;
  const struct dl_transformer *transformer; /* its shape, or NULL */
  const char *shape_source;                 /* who published the shape */
  const struct dl_input_size *inputs;       /* the first is the reference */
  size_t n_inputs;
  const struct dl_recount *recount; /* or NULL */
};

struct dl_dataset {
  struct dl_descriptor head;
#define FIELDS_OF_DATASET
#include "catalog/descriptor_fields_body.h"
};

/* The electricity of a country or region. */
struct dl_grid {
  struct dl_descriptor head;
#define FIELDS_OF_GRID
#include "catalog/descriptor_fields_body.h"
};

/* A data centre or cloud region. */
struct dl_site {
  struct dl_descriptor head;
#define FIELDS_OF_SITE
#include "catalog/descriptor_fields_body.h"
};

/* A computer and its parts; estimate/node/node.h says how they add up. */
struct dl_node {
  struct dl_descriptor head;
#define FIELDS_OF_NODE
#include "catalog/descriptor_fields_body.h"
};

#undef TEXT
#undef NUMBER

/* The kind's struct of a descriptor that is of that kind (or NULL):
 * DL_AS(accelerator, e). */
#define DL_AS(kind, e) ((const struct dl_##kind *)(const void *)(e))

#endif
