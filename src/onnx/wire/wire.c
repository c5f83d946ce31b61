/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "onnx/wire/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"

/* The messages of a model. */
enum message {
  MODEL,
  OPSET,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  VALUE,
  TYPE,
  TENSOR_TYPE,
  SHAPE,
  DIMENSION,
  FUNCTION
};

enum action {
  KEEP,    /* as it is */
  PAYLOAD, /* values of a tensor: where there are few */
  ENTER    /* a message */
};

/* A field that is kept; all others are skipped. */
struct wire_field {
  enum message in;
  uint32_t number;
  enum action action;
  enum message enter;
  bool once; /* a second one is refused: it would have to be merged */
};

/* Numbers by onnx.proto. */
static const struct wire_field fields[] = {
    {MODEL, 1, KEEP, 0, false},           /* ir_version */
    {MODEL, 2, KEEP, 0, false},           /* producer_name */
    {MODEL, 3, KEEP, 0, false},           /* producer_version */
    {MODEL, 7, ENTER, GRAPH, true},       /* graph */
    {MODEL, 8, ENTER, OPSET, false},      /* opset_import */
    {MODEL, 25, ENTER, FUNCTION, false},  /* functions */
    {OPSET, 1, KEEP, 0, false},           /* domain */
    {OPSET, 2, KEEP, 0, false},           /* version */
    {GRAPH, 1, ENTER, NODE, false},       /* node */
    {GRAPH, 2, KEEP, 0, false},           /* name */
    {GRAPH, 5, ENTER, TENSOR, false},     /* initializer */
    {GRAPH, 11, ENTER, VALUE, false},     /* input */
    {GRAPH, 12, ENTER, VALUE, false},     /* output */
    {GRAPH, 13, ENTER, VALUE, false},     /* value_info */
    {GRAPH, 15, ENTER, SPARSE, false},    /* sparse_initializer */
    {NODE, 1, KEEP, 0, false},            /* input */
    {NODE, 2, KEEP, 0, false},            /* output */
    {NODE, 3, KEEP, 0, false},            /* name */
    {NODE, 4, KEEP, 0, false},            /* op_type */
    {NODE, 5, ENTER, ATTRIBUTE, false},   /* attribute */
    {NODE, 7, KEEP, 0, false},            /* domain */
    {ATTRIBUTE, 1, KEEP, 0, false},       /* name */
    {ATTRIBUTE, 2, KEEP, 0, false},       /* f */
    {ATTRIBUTE, 3, KEEP, 0, false},       /* i */
    {ATTRIBUTE, 4, PAYLOAD, 0, false},    /* s */
    {ATTRIBUTE, 5, ENTER, TENSOR, true},  /* t */
    {ATTRIBUTE, 6, ENTER, GRAPH, true},   /* g */
    {ATTRIBUTE, 7, PAYLOAD, 0, false},    /* floats */
    {ATTRIBUTE, 8, PAYLOAD, 0, false},    /* ints */
    {ATTRIBUTE, 20, KEEP, 0, false},      /* type */
    {ATTRIBUTE, 21, KEEP, 0, false},      /* ref_attr_name */
    {ATTRIBUTE, 22, ENTER, SPARSE, true}, /* sparse_tensor */
    {TENSOR, 1, KEEP, 0, false},          /* dims */
    {TENSOR, 2, KEEP, 0, false},          /* data_type */
    {TENSOR, 4, PAYLOAD, 0, false},       /* float_data */
    {TENSOR, 5, PAYLOAD, 0, false},       /* int32_data */
    {TENSOR, 7, PAYLOAD, 0, false},       /* int64_data */
    {TENSOR, 8, KEEP, 0, false},          /* name */
    {TENSOR, 9, PAYLOAD, 0, false},       /* raw_data */
    {TENSOR, 10, PAYLOAD, 0, false},      /* double_data */
    {TENSOR, 11, PAYLOAD, 0, false},      /* uint64_data */
    {TENSOR, 14, KEEP, 0, false},         /* data_location */
    {SPARSE, 1, ENTER, TENSOR, true},     /* values */
    {SPARSE, 3, KEEP, 0, false},          /* dims */
    {VALUE, 1, KEEP, 0, false},           /* name */
    {VALUE, 2, ENTER, TYPE, true},        /* type */
    {TYPE, 1, ENTER, TENSOR_TYPE, true},  /* tensor_type */
    {TENSOR_TYPE, 1, KEEP, 0, false},     /* elem_type */
    {TENSOR_TYPE, 2, ENTER, SHAPE, true}, /* shape */
    {SHAPE, 1, ENTER, DIMENSION, false},  /* dim */
    {DIMENSION, 1, KEEP, 0, true},        /* dim_value */
    {DIMENSION, 2, KEEP, 0, true},        /* dim_param */
    {FUNCTION, 1, KEEP, 0, false},        /* name */
    {FUNCTION, 4, KEEP, 0, false},        /* input */
    {FUNCTION, 5, KEEP, 0, false},        /* output */
    {FUNCTION, 7, ENTER, NODE, false},    /* node */
    {FUNCTION, 9, ENTER, OPSET, false},   /* opset_import */
    {FUNCTION, 10, KEEP, 0, false},       /* domain */
};

enum { N_FIELDS = sizeof fields / sizeof *fields, WINDOW = 16 << 10 };
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 }; /* wire types */

struct wire_reader {
  FILE *f;
  const char *path;
  uint64_t size; /* of the file */
  uint64_t at;   /* offset of buf[pos] */
  uint8_t *buf;
  size_t pos, fill;
  uint8_t *out;
  size_t n_out, cap_out, n_fields;
  struct dl_diag *d;
};

static enum dl_status bad(struct wire_reader *r, const char *what) {
  return dl_fail_at(r->d, DL_EINPUT, r->path, 0, "%s at byte %llu", what,
                    (unsigned long long)r->at);
}

static enum dl_status cut_off(struct wire_reader *r) {
  return bad(r, "not an ONNX model, or cut off: a field ends beyond its "
                "message");
}

static enum dl_status refill(struct wire_reader *r) {
  r->pos = 0;
  r->fill = fread(r->buf, 1, WINDOW, r->f);
  if (r->fill > 0)
    return DL_OK;
  if (ferror(r->f))
    return dl_fail_errno(r->d, r->path, "cannot read", errno);
  r->size = r->at;
  return cut_off(r);
}

/* Copies n bytes to `to`, or leaves them out if it is NULL. */
static enum dl_status take(struct wire_reader *r, uint8_t *to, uint64_t n) {
  while (n > 0) {
    size_t here = r->fill - r->pos;
    if (!to && n > here + WINDOW) {
      /* The claimed length was checked against the size of the file. */
      if (fseeko(r->f, (off_t)(r->at + n), SEEK_SET) != 0)
        return dl_fail_errno(r->d, r->path, "cannot seek", errno);
      r->at += n;
      r->pos = r->fill = 0;
      return DL_OK;
    }
    if (here == 0) {
      DL_TRY(refill(r));
      continue;
    }
    size_t part = n < here ? (size_t)n : here;
    if (to) {
      memcpy(to, r->buf + r->pos, part);
      to += part;
    }
    r->pos += part;
    r->at += part;
    n -= part;
  }
  return DL_OK;
}

static enum dl_status room(struct wire_reader *r, uint64_t n) {
  if (n > DL_ONNX_MOST_BYTES || r->n_out + n > DL_ONNX_MOST_BYTES)
    return bad(r, "more than 64 MiB of graph, without weights,");
  DL_GROW(r->out, r->cap_out, r->n_out + (size_t)n);
  return DL_OK;
}

static enum dl_status read_varint(struct wire_reader *r, uint64_t end,
                                  uint64_t *x) {
  *x = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t b;
    if (r->at >= end)
      return cut_off(r);
    DL_TRY(take(r, &b, 1));
    if (shift == 63 && b > 1)
      break;
    *x |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80)
      return DL_OK;
  }
  return bad(r, "not an ONNX model: a number of more than 64 bits");
}

static void put_varint(struct wire_reader *r, uint64_t x) {
  for (; x >= 0x80; x >>= 7)
    r->out[r->n_out++] = (uint8_t)(x | 0x80);
  r->out[r->n_out++] = (uint8_t)x;
}

/* A length takes five bytes, whatever it is: it becomes known later. */
enum { LENGTH_BYTES = 5 };
static void put_length(uint8_t *to, size_t n) {
  for (int i = 0; i < LENGTH_BYTES; i++, n >>= 7)
    to[i] = (uint8_t)((n & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

static const struct wire_field *find_field(enum message in, uint64_t number) {
  for (size_t i = 0; i < N_FIELDS; i++)
    if (fields[i].in == in && fields[i].number == number)
      return &fields[i];
  return NULL;
}

static enum dl_status walk(struct wire_reader *r, enum message in, uint64_t end,
                           int depth);

/* Reads a field with a length, and keeps its bytes, a message, or nothing. */
static enum dl_status walk_length(struct wire_reader *r,
                                  const struct wire_field *f, uint64_t key,
                                  uint64_t end, int depth) {
  uint64_t n;
  DL_TRY(read_varint(r, end, &n));
  if (n > end - r->at)
    return cut_off(r);
  if (!f || (f->action == PAYLOAD && n > DL_ONNX_MOST_PAYLOAD))
    return take(r, NULL, n);
  if (f->action == KEEP && n > DL_ONNX_MOST_NAME)
    return bad(r, "a name of more than 4096 bytes");
  DL_TRY(room(r, (f->action == ENTER ? 0 : n) + 20));
  put_varint(r, key);
  size_t length_at = r->n_out;
  r->n_out += LENGTH_BYTES;
  if (f->action == ENTER) {
    DL_TRY(walk(r, f->enter, r->at + n, depth + 1));
  } else {
    DL_TRY(take(r, r->out + r->n_out, n));
    r->n_out += (size_t)n;
  }
  put_length(r->out + length_at, r->n_out - length_at - LENGTH_BYTES);
  return DL_OK;
}

static enum dl_status walk_scalar(struct wire_reader *r,
                                  const struct wire_field *f, uint64_t key,
                                  uint64_t end) {
  unsigned type = key & 7;
  uint64_t x, n = type == FIXED64 ? 8 : 4;
  if (type == VARINT) {
    n = 0;
    DL_TRY(read_varint(r, end, &x));
  }
  if (n > end - r->at)
    return cut_off(r);
  if (!f)
    return take(r, NULL, n);
  DL_TRY(room(r, 20));
  put_varint(r, key);
  if (type == VARINT)
    put_varint(r, x);
  DL_TRY(take(r, r->out + r->n_out, n));
  r->n_out += (size_t)n;
  return DL_OK;
}

/* Values that come one by one belong to a tensor too large to be kept. */
static bool too_many(const struct wire_field *f, size_t *n) {
  return f->action == PAYLOAD && ++*n > DL_ONNX_MOST_PAYLOAD / 8;
}

static enum dl_status walk(struct wire_reader *r, enum message in, uint64_t end,
                           int depth) {
  uint32_t seen = 0;
  size_t n_values = 0;
  if (depth > DL_ONNX_MOST_DEPTH)
    return bad(r, "messages are nested too deeply");
  while (r->at < end) {
    uint64_t key;
    DL_TRY(read_varint(r, end, &key));
    const struct wire_field *f = find_field(in, key >> 3);
    unsigned type = key & 7;
    if (key >> 3 == 0 || key > UINT32_MAX)
      return bad(r, "not an ONNX model: no field has such a number");
    if (f && f->action == ENTER && type != LENGTH)
      return bad(r, "not an ONNX model: a number in place of a message");
    if (f && f->once) {
      if (seen & 1u << f->number)
        return bad(r, "not an ONNX model: a field is there twice");
      seen |= 1u << f->number;
    }
    if (f && type != LENGTH && too_many(f, &n_values))
      f = NULL;
    if (f && ++r->n_fields > DL_ONNX_MOST_FIELDS)
      return bad(r, "more than 4 million fields");
    if (type == LENGTH)
      DL_TRY(walk_length(r, f, key, end, depth));
    else if (type == VARINT || type == FIXED64 || type == FIXED32)
      DL_TRY(walk_scalar(r, f, key, end));
    else
      return bad(r, "not an ONNX model: no such kind of field");
  }
  return DL_OK;
}

enum dl_status dl_onnx_slim(const char *path, uint8_t **data, size_t *len,
                            uint64_t *size, struct dl_diag *d) {
  struct wire_reader r = {.path = path, .d = d};
  struct stat st;
  DL_TRY(dl_open_seekable(&r.f, path, d));
  setvbuf(r.f, NULL, _IONBF, 0);
  r.buf = dl_malloc(WINDOW);
  enum dl_status status =
      fstat(fileno(r.f), &st) == 0
          ? walk(&r, MODEL, r.size = (uint64_t)st.st_size, 0)
          : dl_fail_errno(d, path, "cannot read", errno);
  if (status == DL_OK && r.n_out == 0)
    status = dl_fail_at(d, DL_EINPUT, path, 0, "empty: not an ONNX model");
  dl_close_input(r.f);
  free(r.buf);
  if (status != DL_OK) {
    free(r.out);
    return status;
  }
  *data = r.out;
  *len = r.n_out;
  *size = r.size;
  return DL_OK;
}
