/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a model, and its metadata. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "onnx/graph/model_walk.h"
#include "onnx/wire/wire.h"

bool dl_onnx_built_in(void) {
  return true;
}

void dl_onnx_version(struct dl_text *t) {
  dl_text_printf(t, "protobuf-c %s", protobuf_c_version());
}

/* protobuf-c allocates by these. */
static void *allocate(void *ctx, size_t size) {
  (void)ctx;
  return dl_malloc(size);
}

static void release(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

static ProtobufCAllocator allocator = {allocate, release, NULL};

enum dl_status dl_onnx_open(struct dl_onnx **m, const char *path,
                            struct dl_diag *d) {
  uint8_t *data;
  size_t len;
  uint64_t size;
  enum dl_status status = dl_onnx_slim(path, &data, &len, &size, d);
  if (status != DL_OK)
    return status;
  struct dl_onnx *own = dl_calloc(1, sizeof *own);
  own->path = dl_strdup(path);
  own->bytes = size;
  own->model = onnx__model_proto__unpack(&allocator, len, data);
  free(data);
  if (!own->model)
    status = dl_fail_at(d, DL_EINPUT, path, 0,
                        "not an ONNX model: a field of the wrong kind");
  else if (own->model->n_opset_import == 0 && own->model->ir_version >= 3)
    status = dl_fail_at(d, DL_EINPUT, path, 0,
                        "not an ONNX model, or cut off: no version of its "
                        "operators");
  else if (!own->model->graph)
    status = dl_fail_at(d, DL_EINPUT, path, 0, "not an ONNX model: no graph");
  if (status != DL_OK) {
    dl_onnx_free(own);
    return status;
  }
  *m = own;
  return DL_OK;
}

void dl_onnx_free(struct dl_onnx *m) {
  if (!m)
    return;
  if (m->model)
    onnx__model_proto__free_unpacked(m->model, &allocator);
  free(m->path);
  free(m);
}

DL_FREES(dl_onnx_free, struct dl_onnx)

const char *dl_onnx_path(const struct dl_onnx *m) {
  return m->path;
}

uint64_t dl_onnx_file_bytes(const struct dl_onnx *m) {
  return m->bytes;
}

const char *dl_onnx_producer(const struct dl_onnx *m) {
  return dl_or_empty(m->model->producer_name);
}

int64_t dl_onnx_opset(const struct dl_onnx *m) {
  for (size_t i = 0; i < m->model->n_opset_import; i++) {
    const Onnx__OperatorSetIdProto *o = m->model->opset_import[i];
    if (dl_is_standard_domain(o->domain) && o->has_version)
      return o->version;
  }
  return 1; /* models before version fields */
}
