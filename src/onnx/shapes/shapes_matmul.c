/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products: [.., M, K] by [.., K, N] takes M K N MACs each. */

#include <string.h>

#include "onnx/graph/graph.h"

static void dense(struct dl_node_call *c, const struct dl_tensor *b, int64_t k,
                  int64_t n) {
  if (b->weight) {
    c->features = k;
    c->units = n;
    dl_pad_tiles(c, (double)k, (double)n, 1, 1);
  }
}

/* The variant is the input that holds the second matrix. */
void dl_infer_gemm(struct dl_node_call *c) {
  size_t second = (size_t)c->op->variant;
  const struct dl_tensor *a = c->in[0], *b = c->in[second];
  /* Before version 7 an input of more dimensions was flattened. */
  if (dl_fault_if(c,
                  a->s.rank < 2 || b->s.rank != 2 ||
                      (a->s.rank > 2 && c->opset >= 7),
                  "inputs that are no matrices"))
    return;
  int64_t rows = a->s.dim[0];
  int64_t inner = (int64_t)dl_shape_product(&a->s, 1, a->s.rank);
  if (dl_attr_int(c, "transA", 0)) {
    rows = inner;
    inner = a->s.dim[0];
  }
  bool turn_b = dl_attr_int(c, "transB", 0) != 0;
  int64_t k = b->s.dim[turn_b], n = b->s.dim[!turn_b];
  if (dl_fault_if(c, inner != k, "matrices whose sizes do not fit each other"))
    return;
  int64_t dim[2] = {rows, n};
  dl_output_set(c, 0, dim, 2, a->type);
  c->macs = (double)rows * (double)n * (double)k;
  c->attention_macs = a->weight || b->weight ? 0 : c->macs;
  dense(c, b, k, n);
}

/* Swaps the last two dimensions of a shape if `turn` is set. */
static struct dl_onnx_shape turned(const struct dl_onnx_shape *s, bool turn) {
  struct dl_onnx_shape t = *s;
  if (turn && s->rank >= 2) {
    t.dim[s->rank - 1] = s->dim[s->rank - 2];
    t.dim[s->rank - 2] = s->dim[s->rank - 1];
  }
  return t;
}

/* The variant is the input that holds the second matrix. */
void dl_infer_matmul(struct dl_node_call *c) {
  size_t second = (size_t)c->op->variant;
  const struct dl_tensor *x = c->in[0], *y = c->in[second];
  bool fused = c->op->flags & DL_OP_TRANSPOSES;
  struct dl_onnx_shape a = turned(&x->s, fused && dl_attr_int(c, "transA", 0)),
                       b = turned(&y->s, fused && dl_attr_int(c, "transB", 0));
  if (dl_fault_if(c, a.rank == 0 || b.rank == 0, "inputs that are no matrices"))
    return;
  bool row = a.rank == 1, column = b.rank == 1;
  int64_t m = row ? 1 : a.dim[a.rank - 2], k = a.dim[a.rank - 1];
  int64_t n = column ? 1 : b.dim[b.rank - 1];
  if (dl_fault_if(c, k != (column ? b.dim[0] : b.dim[b.rank - 2]),
                  "matrices whose sizes do not fit each other"))
    return;
  a.rank -= row ? 1 : 2;
  b.rank -= column ? 1 : 2;
  struct dl_onnx_shape s;
  if (!dl_broadcast(c, &a, &b, &s))
    return;
  c->macs = dl_shape_elements(&s) * (double)m * (double)n * (double)k;
  if (!row)
    s.dim[s.rank++] = m;
  if (!column)
    s.dim[s.rank++] = n;
  dl_output_set(c, 0, s.dim, s.rank,
                c->op->flags & DL_OP_INT32 ? DL_T_INT32 : x->type);
  c->attention_macs = x->weight || y->weight ? 0 : c->macs;
  if (b.rank == 0 && !column)
    dense(c, y, k, n);
}

/* The weights have few bits and are packed; their shape is in the attributes.
 */
void dl_infer_matmul_nbits(struct dl_node_call *c) {
  const struct dl_tensor *a = c->in[0];
  int64_t k = dl_attr_int(c, "K", -1), n = dl_attr_int(c, "N", -1);
  if (a->s.rank == 0 || n < 0) {
    c->uncounted = true;
    return;
  }
  struct dl_onnx_shape s = a->s;
  if (dl_fault_if(c, s.dim[s.rank - 1] != k,
                  "matrices whose sizes do not fit each other"))
    return;
  c->macs = dl_shape_elements(&s) * (double)n;
  s.dim[s.rank - 1] = n;
  dl_output_set(c, 0, s.dim, s.rank, a->type);
  c->features = k;
  c->units = n;
  dl_pad_tiles(c, (double)k, (double)n, 1, 1);
}

/* Counts the elements of `bits` in a byte. */
static double packed_in_byte(const struct dl_node_call *c) {
  int64_t bits = dl_attr_int(c, "bits", 4);
  return bits == 2 || bits == 4 ? 8 / (double)bits : 1;
}

/* Picks rows of a table whose last axis may be packed in bytes; the output has
 * the type of the scales. */
void dl_infer_gather_blocks(struct dl_node_call *c) {
  struct dl_tensor *table = c->in[0], wide = *table;
  const struct dl_tensor *scales = dl_input(c, 2);
  if (dl_attr_int(c, "gather_axis", 0) != 0 || wide.s.rank == 0) {
    c->uncounted = true;
    return;
  }
  if (wide.type == DL_T_UINT8)
    wide.s.dim[wide.s.rank - 1] *= (int64_t)packed_in_byte(c);
  wide.type = scales ? scales->type : DL_T_FLOAT;
  c->in[0] = &wide;
  dl_infer_gather(c);
  c->in[0] = table;
}

double dl_packed_elements(const struct dl_node_call *c, size_t i,
                          double stored) {
  if (c->op && c->op->infer == dl_infer_matmul_nbits && i == 1 && c->units > 0)
    return (double)c->features * (double)c->units;
  if (c->op && c->op->infer == dl_infer_gather_blocks && i == 0 &&
      c->in[0]->type == DL_T_UINT8)
    return stored * packed_in_byte(c);
  return stored;
}

/* In the equation of Einsum letters stand for axes, "..." for axes that
 * broadcast. These get letters of their own here, from the end: '\1' is the
 * last. */
enum { MOST_OPERANDS = 8 };
struct einsum_terms {
  char term[MOST_OPERANDS + 1][2 * DL_ONNX_MAX_RANK + 1]; /* the output last */
  size_t n;                                               /* operands */
  int64_t size[128];
};

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads one term of the equation, of a shape of `rank` axes (0: the output). */
static const char *read_term(const char *p, const char *end, unsigned rank,
                             bool output, unsigned dots_most, char *to) {
  size_t n = 0, letters = 0;
  for (const char *q = p; q < end && *q != ',' && *q != '-'; q++)
    letters += is_letter(*q);
  unsigned dots = rank > letters ? rank - (unsigned)letters : 0;
  if (output)
    dots = dots_most;
  for (; p < end && *p != ',' && *p != '-'; p++) {
    if (*p == ' ')
      continue;
    if (*p == '.' && p + 2 < end && p[1] == '.' && p[2] == '.') {
      for (unsigned i = 0; i < dots && n < 2 * DL_ONNX_MAX_RANK; i++)
        to[n++] = (char)(dots - i);
      p += 2;
    } else if (is_letter(*p) && n < 2 * DL_ONNX_MAX_RANK) {
      to[n++] = *p;
    } else {
      return NULL;
    }
  }
  to[n] = '\0';
  return p;
}

static bool enter_sizes(struct einsum_terms *e, const char *term,
                        const struct dl_onnx_shape *s) {
  if (strlen(term) != s->rank)
    return false;
  for (unsigned i = 0; i < s->rank; i++) {
    int64_t *size = &e->size[(unsigned char)term[i]];
    if (*size != -1 && *size != 1 && s->dim[i] != 1 && *size != s->dim[i])
      return false;
    if (*size <= 1)
      *size = s->dim[i];
  }
  return true;
}

/* Without an arrow the output has the letters that come once, in order. */
static void implied_output(struct einsum_terms *e, unsigned dots) {
  char *out = e->term[e->n];
  size_t n = 0;
  for (unsigned i = 0; i < dots; i++)
    out[n++] = (char)(dots - i);
  for (int letter = 'A'; letter <= 'z'; letter++) {
    char l = (char)letter;
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++)
      for (const char *p = e->term[i]; is_letter(l) && *p; p++)
        count += *p == l;
    if (count == 1 && n < 2 * DL_ONNX_MAX_RANK)
      out[n++] = l;
  }
  out[n] = '\0';
}

static bool read_equation(struct dl_node_call *c, const Onnx__AttributeProto *a,
                          struct einsum_terms *e) {
  const char *p = (const char *)a->s.data, *end = p + a->s.len;
  unsigned dots = 0;
  for (e->n = 0; e->n < c->n_in && e->n < MOST_OPERANDS; e->n++) {
    const struct dl_onnx_shape *s = &c->in[e->n]->s;
    if (e->n > 0 && (p >= end || *p++ != ','))
      return false;
    p = read_term(p, end, s->rank, false, 0, e->term[e->n]);
    if (!p || !enter_sizes(e, e->term[e->n], s))
      return false;
    for (const char *q = e->term[e->n]; *q; q++)
      if (*q < 'A' && (unsigned)*q > dots)
        dots = (unsigned)*q;
  }
  if (e->n < c->n_in)
    return false;
  if (p + 1 < end && p[0] == '-' && p[1] == '>')
    return read_term(p + 2, end, 0, true, dots, e->term[e->n]) == end;
  implied_output(e, dots);
  return p == end;
}

/* Counts MACs from left to right: each product runs over the letters of both;
 * letters that are needed no more are summed away. A product that sums nothing
 * is elementwise and has no MACs. */
static double einsum_macs(const struct einsum_terms *e) {
  bool have[128] = {false};
  double macs = 0;
  for (const char *p = e->term[0]; *p; p++)
    have[(unsigned char)*p] = true;
  for (size_t i = 1; i < e->n; i++) {
    double n = 1;
    bool summed = false;
    for (const char *p = e->term[i]; *p; p++)
      have[(unsigned char)*p] = true;
    for (int l = 0; l < 128; l++) {
      if (!have[l])
        continue;
      n *= (double)e->size[l];
      bool needed = false;
      for (size_t k = i + 1; k <= e->n; k++)
        needed = needed || strchr(e->term[k], l);
      summed = summed || !needed;
      have[l] = needed;
    }
    macs += summed ? n : 0;
  }
  return macs;
}

void dl_infer_einsum(struct dl_node_call *c) {
  const Onnx__AttributeProto *a = dl_attr(c, "equation");
  struct einsum_terms e = {.n = 0};
  int64_t dim[2 * DL_ONNX_MAX_RANK];
  size_t rank = 0, weights = 0;
  for (size_t i = 0; i < c->n_in; i++) {
    const struct dl_tensor *t = dl_input_known(c, i);
    if (!t) {
      c->uncounted = true;
      return;
    }
    weights += t->weight;
  }
  for (int l = 0; l < 128; l++)
    e.size[l] = -1;
  if (dl_fault_if(c,
                  !a || !a->has_s || c->n_in == 0 || !read_equation(c, a, &e),
                  "an equation that does not fit its inputs"))
    return;
  for (const char *p = e.term[e.n]; *p; p++) {
    if (e.size[(unsigned char)*p] < 0)
      dl_fault(c, "an equation that does not fit its inputs");
    dim[rank++] = e.size[(unsigned char)*p];
  }
  if (c->fault)
    return;
  c->macs = einsum_macs(&e);
  c->attention_macs = weights == 0 ? c->macs : 0;
  dl_output_set(c, 0, dim, rank, c->in[0]->type);
}
