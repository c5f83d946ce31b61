/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/from_onnx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/file_name.h"

/* Adds a value with a note. */
static void add(struct dl_xml *m, dl_node *to, const char *note,
                const char *name, double x) {
  dl_add_value(m, to, "onnx", note, name, x);
}

/* Counts at another size without messages; NULL if the model refuses it. */
static struct dl_onnx_count *quietly(const struct dl_onnx *m,
                                     const struct dl_onnx_asked *asked) {
  struct dl_onnx_count *c = NULL;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  if (dl_onnx_count(m, asked, &c, &quiet) != DL_OK)
    c = NULL;
  return c;
}

/* Whether all layers whose work changes grow fourfold at twice the side. *fixed
 * are the MACs of the others. */
static bool follows_area(const struct dl_onnx *m,
                         const struct dl_onnx_asked *asked,
                         const struct dl_onnx_count *c, double *fixed) {
  struct dl_onnx_asked twice = *asked;
  *fixed = 0;
  if (isnan(c->image_px) || c->macs == 0)
    return false;
  twice.image_px = 2 * c->image_px;
  DL_SCOPED(dl_onnx_count_free_local)
  struct dl_onnx_count *more = quietly(m, &twice);
  bool same = more && more->n_layers == c->n_layers;
  double grown = 0;
  for (size_t i = 0; same && i < c->n_layers; i++) {
    if (more->layer[i].macs == c->layer[i].macs)
      *fixed += c->layer[i].macs;
    else
      grown += more->layer[i].macs;
  }
  double want = 4 * (c->macs - *fixed);
  return same && grown > 0 && fabs(grown - want) <= 0.005 * want;
}

static void add_head(struct dl_xml *m, dl_node *entry, const char *note,
                     const struct dl_onnx_count *c) {
  if (!c->head)
    return;
  add(m, entry, note, "head_inputs", (double)c->head->in);
  add(m, entry, note, "classes", (double)c->head->out);
  add(m, entry, note, "head_params_m", c->head->params * 1e-6);
}

static void add_entry(struct dl_xml *m, dl_node *entry, const char *note,
                      const struct dl_onnx *model,
                      const struct dl_onnx_asked *asked,
                      const struct dl_onnx_count *c) {
  double fixed;
  bool area = follows_area(model, asked, c, &fixed);
  dl_xml_set(m, entry, "scaling",
             dl_scaling_names[area ? DL_SCALING_AREA : DL_SCALING_NONE]);
  add(m, entry, note, "params_m", c->params * 1e-6);
  if (area)
    add(m, entry, note, "head_macs_g", fixed * 1e-9);
  add_head(m, entry, note, c);
  add(m, entry, note, "layers", (double)c->weighted);
  add(m, entry, note, "launches", c->launches);
  add(m, entry, note, "padding_ratio", c->padded_macs / c->macs);
  add(m, entry, note, "depthwise_share", c->depthwise_macs / c->macs);
  double macs_g = c->macs * 1e-9, acts_m = c->acts * 1e-6;
  bool image = !isnan(c->image_px) && macs_g >= 1e-6;
  dl_node *at = entry;
  if (image) {
    char px[DL_NUMBER_SIZE];
    at = dl_xml_add(m, entry, "input");
    dl_format_plain(px, c->image_px, 0);
    dl_xml_set(m, at, "image_px", px);
  } else {
    add(m, entry, note, "seq_len", c->seq_len);
  }
  add(m, at, note, "macs_g", macs_g);
  add(m, at, note, "acts_m", acts_m);
}

struct dl_xml *dl_onnx_descriptor(const struct dl_onnx *m,
                                  const struct dl_onnx_asked *asked,
                                  const struct dl_onnx_count *c) {
  char file[DL_MOST_ID + 1], title[3 * DL_MOST_ID];
  DL_TEXT(note);
  dl_node *entry;
  dl_name_of_file(dl_onnx_path(m), false, file);
  snprintf(title, sizeof title, "%s.onnx, counted by its graph", file);
  dl_text_printf(&note, "derived: counted from %s.onnx (%llu bytes)", file,
                 (unsigned long long)dl_onnx_file_bytes(m));
  struct dl_xml *x =
      dl_new_catalog(dl_onnx_path(m), dl_onnx_path(m), "onnx", title, &entry);
  add_entry(x, entry, note.s, m, asked, c);
  return x;
}

struct dl_recount {
  struct dl_onnx *m;
  struct dl_onnx_asked asked;
};

void dl_recount_free(struct dl_recount *r) {
  if (r)
    dl_onnx_free(r->m);
  free(r);
}

/* Counts a model as it is or, if it leaves dimensions open, at usual ones. */
static enum dl_status count_somehow(struct dl_recount *r,
                                    struct dl_onnx_count **c,
                                    struct dl_diag *d) {
  static const double image_px[] = {224, NAN, 224}, seq_len[] = {NAN, 128, 128};
  static const char *const size[] = {"224 px", "128 tokens",
                                     "224 px and 128 tokens"};
  *c = quietly(r->m, &r->asked);
  for (size_t i = 0; !*c && i < DL_LENGTH(size); i++) {
    struct dl_onnx_asked a = r->asked;
    a.image_px = image_px[i];
    a.seq_len = seq_len[i];
    *c = quietly(r->m, &a);
    if (!*c)
      continue;
    r->asked = a;
    dl_warn_at(d, dl_onnx_path(r->m), 0,
               "leaves its input open; counted at %s unless the run says "
               "another",
               size[i]);
  }
  return *c ? DL_OK : dl_onnx_count(r->m, &r->asked, c, d);
}

enum dl_status dl_onnx_load(struct dl_catalog_file *s, const char *path,
                            struct dl_recount **recount, struct dl_diag *d) {
  struct dl_recount *r = dl_calloc(1, sizeof *r);
  DL_SCOPED(dl_onnx_count_free_local) struct dl_onnx_count *c = NULL;
  r->asked = dl_onnx_as_it_is;
  enum dl_status status = dl_onnx_open(&r->m, path, d);
  if (status == DL_OK)
    status = count_somehow(r, &c, d);
  if (status == DL_OK)
    status = dl_catalog_file_take(s, dl_onnx_descriptor(r->m, &r->asked, c),
                                  NULL, d);
  if (status != DL_OK) {
    dl_recount_free(r);
    return status;
  }
  ((struct dl_architecture *)s->e[0])->recount = r;
  *recount = r;
  return DL_OK;
}

static bool other(double asked, double has) {
  return !isnan(asked) && asked != has;
}

/* Sets a value that was counted. */
static void set(struct dl_architecture *e, double *member, double x,
                struct dl_origin origin) {
  *member = x;
  e->head.origin[dl_field_index(&e->head, member)] = origin;
}

bool dl_recount_at(const struct dl_recount *r, const struct dl_use *use,
                   struct dl_architecture *e) {
  double px = e->n_inputs > 0 ? e->inputs[0].image_px : NAN;
  struct dl_onnx_asked a = r->asked;
  if (other(use->image_px, px))
    a.image_px = use->image_px;
  else if (other(use->seq_len, e->seq_len))
    a.seq_len = use->seq_len;
  else
    return false;
  struct dl_onnx_count *c = quietly(r->m, &a);
  if (!c)
    return false;
  size_t params = dl_field_index(&e->head, &e->params_m);
  struct dl_origin counted = {.source = e->head.origin[params].source,
                              .note = "derived: counted at this input"};
  set(e, &e->macs_g, c->macs * 1e-9, counted);
  set(e, &e->acts_m, c->acts * 1e-6, counted);
  set(e, &e->launches, c->launches, counted);
  set(e, &e->image_px, c->image_px, (struct dl_origin){0});
  set(e, &e->seq_len, c->seq_len, (struct dl_origin){0});
  dl_onnx_count_free(c);
  return true;
}
