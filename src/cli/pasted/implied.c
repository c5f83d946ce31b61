/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that several words imply together: the shape of a transformer, and
 * inference. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/options/count_text.h"
#include "cli/pasted/pasted_private.h"

void dl_pasted_shape(struct dl_pasted *p, const char *text, const char *from) {
  dl_strlist_add(&p->shape, text);
  dl_strlist_add(&p->shape_from, from);
}

/* Whether a part of the shape begins so, "layers=". */
static bool has(const struct dl_pasted *p, const char *key) {
  for (size_t i = 0; i < p->shape.n; i++)
    if (strncmp(p->shape.s[i], key, strlen(key)) == 0)
      return true;
  return false;
}

static void not_used(struct dl_pasted *p) {
  for (size_t i = 0; i < p->shape_from.n; i++)
    dl_text_printf(&p->unused, "%s%s", p->unused.len > 0 ? ", " : "",
                   p->shape_from.s[i]);
}

enum dl_status dl_pasted_settle_shape(struct dl_pasted *p) {
  static const struct dl_named_text needed[] = {
      {"layers=", "--num-layers"},
      {"hidden=", "--hidden-size"},
      {"heads=", "--num-attention-heads"},
      {"vocab=", "--vocab-size"}};
  const char *arch = dl_pasted_get(p, "arch");
  DL_TEXT(found);
  DL_TEXT(text);
  DL_TEXT(from);
  if (p->shape.n == 0)
    return DL_OK;
  if (arch && dl_pasted_network(p->cli, arch, &found)) {
    not_used(p);
    return DL_OK;
  }
  const char *seq = dl_pasted_get(p, "seq-len");
  const bool any = has(p, "layers=") || has(p, "hidden=");
  for (size_t i = 0; any && i < DL_LENGTH(needed); i++)
    if (!has(p, needed[i].name))
      return dl_fail(&p->cli->diag, DL_EUSAGE,
                     "%s: the shape of the transformer lacks %s N, or give "
                     "--arch NAME",
                     p->shape_from.s[0], needed[i].text);
  if (!any) {
    not_used(p);
    return DL_OK;
  }
  for (size_t i = 0; i < p->shape.n; i++)
    dl_text_printf(&text, "%s%s", i > 0 ? "," : "transformer:", p->shape.s[i]);
  if (!seq)
    return dl_fail(
        &p->cli->diag, DL_EUSAGE,
        "%s: the shape of the transformer lacks --seq-len N, or give "
        "--arch NAME",
        p->shape_from.s[0]);
  dl_text_printf(&text, ",seq=%s", seq);
  for (size_t i = 0; i < p->shape_from.n; i++)
    dl_text_printf(&from, "%s%s", i > 0 ? " " : "", p->shape_from.s[i]);
  dl_pasted_set(p, "arch", text.s, from.s, DL_PASTED_IMPLIED);
  return DL_OK;
}

/* "100 images" beside a word of inference are requests. */
static void serve_amounts(struct dl_pasted *p) {
  static const char counted[] = "train-samples";
  const bool serves = dl_pasted_get(p, "phase")
                          ? dl_pasted_infers(p)
                          : dl_pasted_get(p, "denoising-steps") ||
                                dl_pasted_get(p, "request-rate");
  for (size_t i = 0; serves && i < p->n; i++)
    if (strcmp(p->setting[i].option, counted) == 0 &&
        p->setting[i].rank == DL_PASTED_WORD &&
        isdigit((unsigned char)p->setting[i].from[0]))
      p->setting[i].option = "requests";
}

void dl_pasted_settle_phase(struct dl_pasted *p) {
  static const char *const serving[] = {"prompt-tokens",   "output-tokens",
                                        "request-rate",    "requests",
                                        "denoising-steps", "beams"};
  static const char *const training[] = {
      "phase",   "epochs",        "tokens",      "train-tokens",
      "dataset", "train-samples", "val-samples", "fine-tune"};
  const char *phase = dl_pasted_get(p, "phase");
  if (!dl_pasted_option(p, "phase"))
    return;
  serve_amounts(p);
  for (size_t i = 0; i < DL_LENGTH(training); i++)
    for (size_t k = 0; k < p->n; k++)
      if (strcmp(p->setting[k].option, training[i]) == 0) {
        p->samples_train = !dl_pasted_get(p, "train-samples") &&
                           (!phase || strcmp(phase, "training") == 0);
        return;
      }
  for (size_t i = 0; i < DL_LENGTH(serving); i++)
    for (size_t k = 0; k < p->n; k++) {
      const struct dl_pasted_setting *s = &p->setting[k];
      if (strcmp(s->option, serving[i]) != 0 ||
          strncmp(s->from, "--sample", 8) == 0)
        continue;
      DL_TEXT(from);
      dl_text_add(&from, s->from);
      dl_pasted_set(p, "phase", "inference", from.s, DL_PASTED_IMPLIED);
      return;
    }
}

void dl_pasted_settle_length(struct dl_pasted *p) {
  static const char most[] =
      "sequencelen|maxseqlength|maxseqlen|cutofflen|modelmaxlength|maxlength";
  const char *name = dl_pasted_get(p, "dataset");
  const struct dl_descriptor *e =
      name ? dl_pasted_look(p->cli, DL_DATASET, name) : NULL;
  if (!e)
    return;
  const double mean = DL_AS(dataset, e)->sample_tokens;
  for (size_t i = 0; i < p->n; i++) {
    struct dl_pasted_setting *s = &p->setting[i];
    const char *dot = strrchr(s->from, '.'), *leaf = dot ? dot + 1 : s->from;
    double x;
    DL_TEXT(folded);
    dl_pasted_fold(&folded, leaf, strlen(leaf));
    if (strcmp(s->option, "seq-len") != 0 || s->rank == DL_PASTED_OPTION ||
        dl_word_among(most, folded.s, folded.len) < 0 ||
        !dl_parse_large_count(s->value, &x) || !(mean < x))
      continue;
    dl_text_printf(&p->unused,
                   "%s%s (a maximum; samples of %s have %.0f tokens)",
                   p->unused.len > 0 ? ", " : "", s->from, e->id, mean);
    free(s->value);
    free(s->from);
    *s = p->setting[--p->n];
    i--;
  }
}
