/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: the work of a forward pass, node by node.
 *
 * A model is read without its weights (wire.h). Counting it computes the shape
 * of every value of the graph from the shapes of the inputs, by the rules of
 * the operators (https://onnx.ai/onnx/operators/), and the elements of the
 * small integer tensors that shapes are computed from. It gives every node its
 *
 *   MACs         multiply-accumulates of convolutions, matrix products,
 *                Einsum and recurrent layers; none for elementwise work,
 *                pooling and normalisation
 *   parameters   elements of the weights it is the first to use; running
 *                statistics of batch normalisation, scales and zero points
 *                are no parameters
 *   activations  elements of the outputs of nodes that have MACs
 *   launches     kernels: one a node that computes or moves data, one a step
 *                of a recurrent layer, none for views (Reshape), for what is
 *                known beforehand, and for constants
 *
 * Figures are for one sample. Nodes in loops count as often as they run. */

#ifndef DL_ONNX_ONNX_H
#define DL_ONNX_ONNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/names/intern.h"
#include "base/text.h"

enum { DL_ONNX_MAX_RANK = 8, DL_ONNX_MAX_ASKED = 16 };

struct dl_onnx_shape {
  bool known;
  unsigned rank;
  int64_t dim[DL_ONNX_MAX_RANK];
};

/* A model that was read. */
struct dl_onnx;

/* Whether dlest was built with the reader of ONNX. */
bool dl_onnx_built_in(void);

/* Appends "protobuf-c 1.4.1", the version of the library that is running;
 * nothing if dlest was built without it. */
void dl_onnx_version(struct dl_text *t);

/* Reads a file ("-": stdin). A file that is no ONNX model, is cut off, or
 * claims more than it can hold, is refused (DL_EINPUT). */
enum dl_status dl_onnx_open(struct dl_onnx **m, const char *path,
                            struct dl_diag *d);
void dl_onnx_free(struct dl_onnx *m); /* accepts NULL */
void dl_onnx_free_local(struct dl_onnx **at);

const char *dl_onnx_path(const struct dl_onnx *m);
uint64_t dl_onnx_file_bytes(const struct dl_onnx *m);
const char *dl_onnx_producer(const struct dl_onnx *m); /* "" if not given */
int64_t dl_onnx_opset(const struct dl_onnx *m);

/* Requested input shapes, which override the model's. */
struct dl_onnx_asked {
  const char *name[DL_ONNX_MAX_ASKED]; /* of the input, not owned */
  struct dl_onnx_shape shape[DL_ONNX_MAX_ASKED];
  size_t n;
  double image_px; /* sides of the image input; NaN: its own. Where it is
                      given, an input of rank 4 must be there */
  double seq_len;  /* tokens of every sequence input; NaN: its own */
  double batch;    /* samples that the inputs hold; NaN: by their shapes */
};
extern const struct dl_onnx_asked dl_onnx_as_it_is;

/* Reads "NAME=1x3x224x224". The name points into `text`, which is cut at the
 * '='. DL_EUSAGE if it is none. */
enum dl_status dl_onnx_ask(struct dl_onnx_asked *a, char *text,
                           struct dl_diag *d);

/* An input that is no weight, or an output. */
struct dl_onnx_value {
  const char *name;
  const char *type; /* "float32"; "unknown" */
  struct dl_onnx_shape shape;
};

struct dl_onnx_layer {
  const char *name; /* of the node; of its first output where it has none */
  const char *op;   /* "Conv"; "com.microsoft.Gelu" outside the standard */
  struct dl_onnx_shape output;
  double macs, params, acts, launches, bytes; /* bytes: of the parameters */
  double times; /* how often it runs: included in macs, acts, launches */
  double attention_macs; /* part of macs whose product has no weights */
  double padded_macs;    /* on tensor cores, with their padding; 0: depthwise */
  int64_t in, out;       /* features of a dense layer, else 0 */
  bool weighted;         /* a convolution, dense or recurrent layer */
  bool unknown;          /* its operator: taken as elementwise */
  bool uncounted;        /* its MACs could not be: a shape is missing */
};

/* The counts of one operator. */
struct dl_onnx_op {
  const char *op;
  size_t n;
  double macs, launches;
  bool unknown; /* taken as elementwise */
};

struct dl_onnx_count {
  struct dl_onnx_layer *layer; /* nodes that do something, in graph order */
  size_t n_layers;
  struct dl_onnx_op *op; /* by first appearance */
  size_t n_ops;
  struct dl_onnx_value *input, *output;
  size_t n_inputs, n_outputs;
  double macs, params, acts, launches, weight_bytes;
  double attention_macs, padded_macs, depthwise_macs;
  size_t weighted;    /* convolutions, dense and recurrent layers */
  size_t n_nodes;     /* that were looked at */
  size_t n_unknown;   /* nodes of unknown operators */
  size_t n_shapeless; /* nodes with work but without a shape: not counted */
  size_t n_guessed;   /* branches and loops whose course is not known */
  double batch;       /* of the model; figures are divided by it */
  double image_px;    /* side of a square image input; NaN without one */
  double seq_len;     /* of a sequence input; NaN without one */
  /* The classifier: a dense layer that feeds the output; NULL without. */
  const struct dl_onnx_layer *head;
  struct dl_intern op_names; /* of operators outside the standard */
};

/* Counts a model. Names belong to the model, all else to *c. Refused: a
 * dimension that is not known (the message says how to give it), graphs with
 * cycles, values that nothing or two nodes give, sizes that overflow, shapes
 * that contradict each other. */
enum dl_status dl_onnx_count(const struct dl_onnx *m,
                             const struct dl_onnx_asked *asked,
                             struct dl_onnx_count **c, struct dl_diag *d);
void dl_onnx_count_free(struct dl_onnx_count *c); /* accepts NULL */
void dl_onnx_count_free_local(struct dl_onnx_count **at);

#endif
