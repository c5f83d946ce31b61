/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes on the command line have the form NAME=1x3x224x224. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "onnx/onnx.h"

const struct dl_onnx_asked dl_onnx_as_it_is = {
    .image_px = NAN, .seq_len = NAN, .batch = NAN};

static bool read_shape(const char *text, struct dl_onnx_shape *s) {
  *s = (struct dl_onnx_shape){.known = true};
  while (s->rank < DL_ONNX_MAX_RANK) {
    char part[24];
    size_t len = strcspn(text, "x,"), n;
    if (len == 0 || len >= sizeof part)
      return false;
    memcpy(part, text, len);
    part[len] = '\0';
    if (!dl_parse_count(part, &n) || n == 0 || (uint64_t)n > UINT64_C(1) << 40)
      return false;
    s->dim[s->rank++] = (int64_t)n;
    text += len;
    if (!*text++)
      return true;
  }
  return false;
}

enum dl_status dl_onnx_ask(struct dl_onnx_asked *a, char *text,
                           struct dl_diag *d) {
  char *equals = strrchr(text, '=');
  if (a->n == DL_ONNX_MAX_ASKED)
    return dl_fail(d, DL_EUSAGE, "more than %d shapes of inputs",
                   DL_ONNX_MAX_ASKED);
  if (!equals || equals == text || !read_shape(equals + 1, &a->shape[a->n]))
    return dl_fail(d, DL_EUSAGE,
                   "'%s' is no shape of an input; say NAME=1x3x224x224", text);
  *equals = '\0';
  a->name[a->n++] = text;
  return DL_OK;
}
