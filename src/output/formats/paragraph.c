/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats/statement.h"

#include "config.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "output/formats/document.h"
#include "output/units.h"

double dl_fact_number(const struct dl_facts *x, const char *key) {
  return dl_task_number(&x->t, key);
}

const char *dl_fact_text(const struct dl_facts *x, const char *key) {
  return dl_task_text(&x->t, key);
}

/* Appends words from outside: names, sources. */
void dl_write_words(struct dl_writer *w, const char *s) {
  if (w->latex)
    dl_latex_escape(&w->t, s, strlen(s));
  else
    dl_text_add(&w->t, s);
}

void dl_write_estimate(struct dl_writer *w, enum dl_style style,
                       const char *unit, const double x[3]) {
  DL_TEXT(t);
  dl_show_estimate(&t, style, unit, x);
  dl_write_words(w, dl_text_str(&t));
}

void dl_write_interval(struct dl_writer *w, enum dl_style style,
                       const char *unit, const double x[3]) {
  DL_TEXT(t);
  dl_show_interval(&t, style, unit, x[0], x[1], x[2]);
  dl_write_words(w, dl_text_str(&t));
}

static void add_number(struct dl_writer *w, double x) {
  char buf[DL_NUMBER_SIZE];
  dl_write_words(w, dl_group_digits(dl_format_short(buf, x)));
}

void dl_write_hardware(struct dl_writer *w, const struct dl_facts *x) {
  const char *gpu = dl_fact_text(x, "gpu_name");
  const double n = dl_fact_number(x, "n_gpus");
  gpu = gpu ? gpu : dl_fact_text(x, "gpu");
  if (!gpu)
    return;
  if (n >= 1) {
    add_number(w, n);
    dl_write_words(w, " x ");
  }
  dl_write_words(w, gpu);
}

/* "ResNet-50 (imagenet, 90 epochs, batch size 256, tf32)" */
static void add_work(struct dl_writer *w, const struct dl_facts *x) {
  static const struct {
    const char *key, *before, *after;
  } settings[] = {{"dataset", "", ""},
                  {"tokens", "", " tokens"},
                  {"epochs", "", " epochs"},
                  {"fine_tune", "", ""},
                  {"batch_size", "batch size ", ""},
                  {"precision", "", ""}};
  const char *name = dl_fact_text(x, "arch_name");
  const char *before = " (";
  name = name ? name : dl_fact_text(x, "arch");
  dl_write_words(w, name ? name : "a model");
  for (size_t i = 0; i < DL_LENGTH(settings); i++) {
    const char *s = dl_fact_text(x, settings[i].key);
    const double n = s ? NAN : dl_fact_number(x, settings[i].key);
    if (!s && isnan(n))
      continue;
    dl_write_words(w, before);
    dl_write_words(w, settings[i].before);
    for (; s && *s; s++) {
      const char c[] = {dl_is_word(settings[i].key, "precision")
                            ? (char)toupper((unsigned char)*s)
                            : *s,
                        '\0'};
      dl_write_words(w, c);
    }
    if (!isnan(n))
      add_number(w, n);
    dl_write_words(w, settings[i].after);
    before = ", ";
  }
  dl_write_words(w, before[0] == ' ' ? "" : ")");
}

/* Who does what: "Training ResNet-50 on 1 x A100". */
static void add_subject(struct dl_writer *w, const struct dl_facts *x) {
  const double requests = dl_fact_number(x, "requests");
  const char *input = dl_fact_text(x, "input");
  const char *run = dl_fact_text(x, "run_id");
  const char *phase = dl_fact_text(x, "phase");
  if (x->jobs >= 0) {
    dl_write_words(w, "The jobs of the cluster (");
    add_number(w, x->jobs);
    dl_write_words(w, ")");
    return;
  }
  if (dl_is_word(phase, "inference")) {
    dl_write_words(w, "Serving ");
    add_number(w, requests >= 1 ? requests : 1);
    dl_write_words(w, requests > 1 ? " requests with " : " request with ");
    add_work(w, x);
  } else if (dl_fact_text(x, "arch")) {
    dl_write_words(w, "Training ");
    add_work(w, x);
  } else {
    dl_write_words(w, x->method ? "The training" : "The run");
    if (input || run) {
      dl_write_words(w, " ");
      dl_write_words(w, input ? input : run);
    }
  }
  if (dl_fact_text(x, "gpu_name") || dl_fact_text(x, "gpu")) {
    dl_write_words(w, " on ");
    dl_write_hardware(w, x);
  }
}

static void energy_sentence(struct dl_writer *w, const struct dl_facts *x) {
  const double measured = dl_fact_number(x, "measured_share");
  char share[DL_NUMBER_SIZE];
  const bool interval = !isnan(x->energy_j[1]);
  add_subject(w, x);
  dl_write_words(w, x->method ? " takes an estimated " : " took ");
  dl_write_estimate(w, DL_KWH, "J", x->energy_j);
  dl_write_words(w, " of electricity (");
  if (interval) {
    dl_text_printf(&w->t, "%g", 100 * x->coverage);
    dl_write_words(w, " % prediction interval ");
    dl_write_interval(w, DL_KWH, "J", x->energy_j);
    dl_write_words(w, "; ");
  }
  if (dl_is_word(x->boundary, "mixed"))
    dl_write_words(w, "what the cluster's accounting covers");
  else
    dl_write_words(
        w, x->boundary
               ? dl_boundary_words(x->boundary, dl_fact_number(x, "n_gpus") > 1)
               : "boundary unknown");
  dl_write_words(w, ")");
  if (!isnan(x->duration_s) && isnan(x->jobs)) {
    dl_write_words(w, " and ");
    dl_write_estimate(w, DL_TIME, "s",
                      (const double[3]){x->duration_s, NAN, NAN});
  }
  if (x->jobs >= 0 && measured < 1) {
    dl_write_words(w, ", of which ");
    dl_write_words(w, dl_format_digits(share, 100 * measured, 3));
    dl_write_words(w, " % was measured and the rest estimated");
  }
  dl_write_words(w, ".");
}

static void emissions_sentence(struct dl_writer *w, const struct dl_facts *x) {
  const struct dl_task *p = &x->place;
  const char *of = dl_task_text(p, "intensity_of");
  const char *source = dl_task_text(p, "intensity_source");
  const double year = dl_task_number(p, "intensity_year");
  const double pue = dl_task_number(p, "pue");
  const double g = dl_task_number(p, "intensity_g_kwh");
  if (isnan(x->co2e_g[0]))
    return;
  if (!isnan(g)) {
    dl_write_words(w, " At ");
    add_number(w, g);
    dl_write_words(w, " g CO2e/kWh (");
    dl_write_words(w, dl_is_word(of, "given") || !of ? "given" : of);
    if (!isnan(year))
      dl_text_printf(&w->t, ", %g", year);
    if (source) {
      dl_write_words(w, "; ");
      dl_write_words(w, source);
    }
    dl_write_words(w, ")");
    if (!isnan(pue)) {
      dl_write_words(w, " and a PUE of ");
      add_number(w, pue);
    }
    dl_write_words(w, ", this emits ");
  } else {
    dl_write_words(w, " This emits ");
  }
  dl_write_estimate(w, DL_MASS, "g CO2e", x->co2e_g);
  if (!isnan(x->co2e_g[1])) {
    dl_write_words(w, " (");
    dl_write_interval(w, DL_MASS, "g", x->co2e_g);
    dl_write_words(w, ")");
  }
  dl_write_words(w, ".");
}

static void water_sentence(struct dl_writer *w, const struct dl_facts *x) {
  const struct dl_report *node = dl_task_group(x->r, "node");
  const double own = dl_fact_number(x, "water_l");
  const double of_node =
      node ? dl_task_number(&(struct dl_task){.r = node}, "water_l") : NAN;
  const double l = isnan(of_node) ? own : of_node;
  char buf[DL_NUMBER_SIZE];
  if (isnan(l))
    return;
  dl_write_words(w, " Cooling takes ");
  dl_write_words(w, dl_group_digits(dl_format_digits(buf, l, 3)));
  dl_write_words(w, " L of water (water usage effectiveness ");
  add_number(w, dl_task_number(&x->place, "wue_l_kwh"));
  dl_write_words(w, " L/kWh).");
}

/* E, I, M and R, for each functional unit. */
static void intensity_sentence(struct dl_writer *w, const struct dl_facts *x) {
  const struct dl_table *t = dl_task_table(x->r, "sci");
  for (size_t i = 0; t && i < t->n_rows; i++) {
    const struct dl_task row = dl_task_row(t, i);
    const double sci = dl_task_number(&row, "sci_g");
    const double e = dl_task_number(&row, "energy_kwh") * DL_J_PER_KWH;
    if (isnan(sci))
      continue;
    dl_write_words(
        w, i == 0 ? " Its Software Carbon Intensity (ISO/IEC 21031), (E I + M) "
                    "/ R, is "
                  : ", and ");
    dl_write_estimate(w, DL_MASS, "g CO2e", (const double[3]){sci, NAN, NAN});
    dl_write_words(w, " per ");
    dl_write_words(w, dl_task_text(&row, "unit"));
    if (i + 1 < t->n_rows)
      continue;
    dl_write_words(w, ", with E = ");
    dl_write_estimate(w, DL_KWH, "J", (const double[3]){e, NAN, NAN});
    dl_write_words(w, ", I = ");
    add_number(w, dl_task_number(&row, "intensity_g_kwh"));
    dl_write_words(w, " g/kWh and M = ");
    dl_write_estimate(
        w, DL_MASS, "g",
        (const double[3]){dl_task_number(&row, "embodied_g"), NAN, NAN});
    dl_write_words(w, ".");
  }
}

static void method_sentence(struct dl_writer *w, const struct dl_facts *x) {
  const char *cite = w->latex ? "~\\cite{dlest}" : " [1]";
  if (x->method) {
    dl_text_printf(&w->t, " %s dlest %s%s by its method ",
                   dl_fact_text(x, "input")
                       ? "The estimate was made during the "
                         "training with"
                       : "The estimate was made before the run "
                         "with",
                   PACKAGE_VERSION, cite);
    dl_write_words(w, x->method);
    dl_write_words(w, ", not measured.");
  } else if (x->jobs >= 0) {
    dl_text_printf(&w->t,
                   " The figures are from the scheduler's accounting "
                   "and dlest %s%s.",
                   PACKAGE_VERSION, cite);
  } else {
    dl_text_printf(&w->t, " The energy was measured; dlest %s%s summed it up.",
                   PACKAGE_VERSION, cite);
  }
}

void dl_write_paper(FILE *f, const struct dl_facts *x, bool latex) {
  struct dl_writer w = {.latex = latex};
  char year[32];
  dl_document_date(year, "%Y");
  energy_sentence(&w, x);
  emissions_sentence(&w, x);
  intensity_sentence(&w, x);
  water_sentence(&w, x);
  method_sentence(&w, x);
  fprintf(f, "%s\n\n", dl_text_str(&w.t));
  if (!latex)
    fprintf(f,
            "[1] The dlest authors: dlest, energy of training and running "
            "deep-learning models, version %s, %s.\n\n",
            PACKAGE_VERSION, year);
  const char *mark = latex ? "% " : "";
  fprintf(f, "%s@software{dlest,\n%s  author  = {{The dlest authors}},\n", mark,
          mark);
  fprintf(f,
          "%s  title   = {dlest: energy of training and running deep-learning "
          "models},\n%s  version = {%s},\n%s  year    = {%s}\n%s}\n",
          mark, mark, PACKAGE_VERSION, mark, year, mark);
  dl_text_free(&w.t);
}
