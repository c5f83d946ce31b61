/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of an ONNX file without its weights.
 *
 * An ONNX file is one message in the wire format of Protocol Buffers
 * (https://protobuf.dev/programming-guides/encoding/): a sequence of fields,
 * each a key (number, wire type) and a value; messages nest as fields with a
 * length. Nearly all of a file are the values of its large tensors, which do
 * not determine shapes. They are skipped without being read, and so are fields
 * that no count needs: the result is a small model of bounded nesting, which
 * protobuf-c can unpack. */

#ifndef DL_ONNX_WIRE_WIRE_H
#define DL_ONNX_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum {
  DL_ONNX_MOST_BYTES = 64 << 20, /* of the model without weights */
  DL_ONNX_MOST_FIELDS = 4 << 20, /* that are kept, in all */
  DL_ONNX_MOST_DEPTH = 64,       /* of messages within messages */
  DL_ONNX_MOST_NAME = 4 << 10,
  DL_ONNX_MOST_PAYLOAD = 4 << 10 /* bytes of a tensor's values */
};

/* Reads `path` ("-": stdin). *data is owned by the caller (free), *size are the
 * bytes of the whole file. Another file, or one beyond the bounds above, is
 * refused with the offset (DL_EINPUT). */
enum dl_status dl_onnx_slim(const char *path, uint8_t **data, size_t *len,
                            uint64_t *size, struct dl_diag *d);

#endif
