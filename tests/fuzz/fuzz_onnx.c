/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the reader of ONNX models: the bytes of a file, the rules of its
 * operators, and the descriptor that comes of it, as they are and at another
 * input. Seeds: tests/fuzz/corpus/onnx. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalog/architecture/from_onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const struct dl_onnx *m, const struct dl_onnx_asked *asked) {
  struct dl_onnx_count *c;
  struct dl_diag d = {0};
  if (dl_onnx_count(m, asked, &c, &d) == DL_OK) {
    if (!isfinite(c->macs) || !(c->macs >= 0) || !(c->params >= 0))
      abort();
    dl_xml_free(dl_onnx_descriptor(m, asked, c));
    dl_onnx_count_free(c);
  } else if (!d.error) {
    abort();
  }
  dl_diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dl_onnx *m;
  struct dl_diag d = {0};
  char path[64];
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (dl_onnx_open(&m, path, &d) == DL_OK) {
    struct dl_onnx_asked other = dl_onnx_as_it_is;
    count(m, &other);
    other.image_px = 61;
    other.seq_len = 17;
    other.batch = 3;
    count(m, &other);
    dl_onnx_free(m);
  } else if (!d.error) {
    abort();
  }
  dl_diag_free(&d);
  close(fd);
  return 0;
}
