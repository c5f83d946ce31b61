/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/layer_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "catalog/architecture/transformer.h"

static const char prefix[] = "transformer:";
enum { PREFIX = sizeof prefix - 1 };

void dl_shapes_free(struct dl_shapes *s) {
  for (size_t i = 0; i < s->texts.n; i++) {
    free((void *)DL_AS(architecture, s->e[i])->transformer);
    free(s->e[i]);
  }
  free(s->e);
  dl_intern_free(&s->texts);
  *s = (struct dl_shapes){0};
}

bool dl_is_shape(const char *name) {
  return strncasecmp(name, prefix, PREFIX) == 0;
}

/* Makes an architecture of a shape, of which it holds a copy. */
static struct dl_descriptor *make(const struct dl_transformer *t) {
  struct dl_architecture *e = dl_calloc(1, sizeof *e);
  struct dl_transformer *own = dl_malloc(sizeof *own);
  *own = *t;
  dl_descriptor_init(&e->head, DL_ARCHITECTURE);
  e->family = "transformer";
  e->scaling = DL_SCALING_SEQUENCE;
  e->transformer = own;
  return &e->head;
}

enum dl_status dl_shapes_get(struct dl_shapes *s, const char *text,
                             const struct dl_descriptor **e,
                             struct dl_diag *d) {
  long known = dl_intern_find(&s->texts, text);
  struct dl_transformer t;
  if (known >= 0) {
    *e = s->e[known];
    return DL_OK;
  }
  DL_TRY(dl_transformer_parse(&t, text + PREFIX, "arch", PREFIX + 1, d));
  DL_GROW(s->e, s->cap, s->texts.n + 1);
  struct dl_descriptor *made = make(&t);
  long i = dl_intern(&s->texts, text);
  made->id = made->name = s->texts.s[i];
  s->e[i] = made;
  *e = made;
  return DL_OK;
}
