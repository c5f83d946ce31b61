/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions in place of the reader if dlest was built without it. */

#include "onnx/onnx.h"

#include "base/memory.h"

bool dl_onnx_built_in(void) {
  return false;
}

void dl_onnx_version(struct dl_text *t) {
  (void)t;
}

enum dl_status dl_onnx_open(struct dl_onnx **m, const char *path,
                            struct dl_diag *d) {
  *m = NULL;
  return dl_fail_at(d, DL_EINPUT, path, 0,
                    "this dlest was built without ONNX; install protobuf-c "
                    "and the schema (Debian: protobuf-c-compiler "
                    "libprotobuf-c-dev libonnx-dev) and build it again");
}

void dl_onnx_free(struct dl_onnx *m) {
  (void)m;
}

DL_FREES(dl_onnx_free, struct dl_onnx)

const char *dl_onnx_path(const struct dl_onnx *m) {
  (void)m;
  return "";
}

uint64_t dl_onnx_file_bytes(const struct dl_onnx *m) {
  (void)m;
  return 0;
}

const char *dl_onnx_producer(const struct dl_onnx *m) {
  (void)m;
  return "";
}

int64_t dl_onnx_opset(const struct dl_onnx *m) {
  (void)m;
  return 0;
}

enum dl_status dl_onnx_count(const struct dl_onnx *m,
                             const struct dl_onnx_asked *asked,
                             struct dl_onnx_count **c, struct dl_diag *d) {
  (void)asked;
  *c = NULL;
  (void)m;
  return dl_fail(d, DL_EINPUT, "this dlest was built without ONNX");
}

void dl_onnx_count_free(struct dl_onnx_count *c) {
  (void)c;
}

DL_FREES(dl_onnx_count_free, struct dl_onnx_count)
