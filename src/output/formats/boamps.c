/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BoAmps: Boavizta's format of reports on the energy of AI tasks, as its
 * schemas of 2025 have it (https://github.com/Boavizta/BoAmps, model/,
 * formatVersion 0.1 in the examples there; CC BY 4.0).
 *
 * A task is a report's settings with all its estimates as measures, or a row
 * of a stream. It becomes a report of its own, which is written as one line of
 * JSON without what is unknown. powerConsumption is an energy, kWh. Required
 * fields that are unknown say so: taskStage and taskFamily "unknown", a
 * component of type "other". An estimate says in taskDescription and
 * measurementMethod that it was not measured. */

#include "config.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "output/format.h"
#include "output/formats/task.h"
#include "output/units.h"

#define SPECIFICATION "https://github.com/Boavizta/BoAmps/tree/main/model"
#define ESTIMATED "estimated by dlest, not measured"

static void add_header(struct dl_report *doc) {
  char date[32];
  dl_document_date(date, "%Y-%m-%d %H:%M:%S");
  DL_LINES(dl_report_group(doc, "header", NULL),
           {.key = "formatVersion", .value = dl_string("0.1")},
           {.key = "formatVersionSpecificationUri",
            .value = dl_string(SPECIFICATION)},
           {.key = "reportDatetime", .value = dl_string(date)},
           {.key = "reportStatus", .value = dl_string("draft")});
}

static void add_dataset(struct dl_report *task, const char *usage,
                        const char *type, double quantity) {
  DL_LINES(dl_report_item(task, "dataset", NULL),
           {.key = "dataUsage", .value = dl_string(usage)},
           {.key = "dataType", .value = dl_string(type)},
           {.key = "dataQuantity", .value = dl_number(quantity)});
}

static void add_task(struct dl_report *doc, const struct dl_task *t,
                     const char *description) {
  const char *phase = dl_task_text(t, "phase");
  bool inference = dl_is_word(phase, "inference");
  bool images = !isnan(dl_task_number(t, "image_px"));
  bool tokens = !isnan(dl_task_number(t, "tokens")) ||
                !isnan(dl_task_number(t, "seq_len")) ||
                !isnan(dl_task_number(t, "prompt_tokens"));
  double requests = fmax(dl_task_number(t, "requests"), 1);
  double quantity = dl_task_number(t, "tokens");
  if (isnan(quantity))
    quantity = dl_task_number(t, "prompt_tokens") * requests;
  if (isnan(quantity))
    quantity = dl_task_number(t, inference ? "requests" : "train_samples");
  const char *family = "unknown", *data = "other";
  if (tokens) {
    family = "textGeneration";
    data = "token";
  } else if (images) {
    family = "imageClassification";
    data = "image";
  }
  const struct dl_report_line lines[] = {
      {.key = "taskStage",
       .value = dl_string(dl_text_or(
           phase, dl_task_text(t, "arch") ? "training" : "unknown"))},
      {.key = "taskFamily", .value = dl_string(family)},
      {.key = "nbRequest",
       .value = dl_number(inference ? dl_task_number(t, "requests") : NAN)}};
  const struct dl_report_line algorithm[] = {
      {.key = "algorithmName", .value = dl_string(dl_task_text(t, "arch"))},
      {.key = "parametersNumber",
       .value = dl_number(dl_task_number(t, "params_m") / 1000)},
      {.key = "framework", .value = dl_string(dl_task_text(t, "framework"))},
      {.key = "epochsNumber", .value = dl_number(dl_task_number(t, "epochs"))},
      {.key = "quantization",
       .value = dl_string(dl_task_text(t, "precision"))}};
  struct dl_report *task = dl_report_group(doc, "task", NULL);
  dl_report_lines(task, lines, DL_LENGTH(lines));
  dl_report_lines(dl_report_item(task, "algorithms", NULL), algorithm,
                  DL_LENGTH(algorithm));
  add_dataset(task, "input", data, quantity);
  if (!isnan(dl_task_number(t, "output_tokens")))
    add_dataset(task, "output", "token",
                dl_task_number(t, "output_tokens") * requests);
  dl_report_add(task, "taskDescription", NULL, NULL, DL_CODE,
                dl_string(description));
}

/* A measure: an estimate by its method, or a measured run. */
static void add_measure(struct dl_report *doc, const struct dl_task *t,
                        double duration_s) {
  /* of a row, of a node's energy, of a scheduler's job, of a log */
  static const char *const sources[] = {"method", "estimate", "energy_from",
                                        "format"};
  const char *method = NULL, *boundary = dl_task_text(t, "boundary");
  DL_TEXT(name);
  for (size_t i = 0; i < DL_LENGTH(sources) && !method; i++)
    method = dl_task_text(t, sources[i]);
  dl_text_printf(&name, "dlest, %s, boundary %s", dl_text_or(method, "runs"),
                 dl_text_or(boundary, "unknown"));
  DL_LINES(dl_report_item(doc, "measures", NULL),
           {.key = "measurementMethod", .value = dl_string(dl_text_str(&name))},
           {.key = "version", .value = dl_string(PACKAGE_VERSION)},
           {.key = "averageUtilizationCpu",
            .value = dl_number(dl_task_number(t, "cpu_util"))},
           {.key = "averageUtilizationGpu",
            .value = dl_number(dl_task_number(t, "gpu_util"))},
           {.key = "powerConsumption",
            .value = dl_number(dl_task_number(t, "energy_j") / DL_J_PER_KWH)},
           {.key = "measurementDuration", .value = dl_number(duration_s)});
}

static void add_component(struct dl_report *infrastructure, const char *name,
                          const char *type, double count) {
  DL_LINES(dl_report_item(infrastructure, "components", NULL),
           {.key = "componentName", .value = dl_string(name)},
           {.key = "componentType", .value = dl_string(type)},
           {.key = "nbComponent",
            .value = dl_number(count >= 1 ? floor(count) : 1)});
}

static void add_infrastructure(struct dl_report *doc, const struct dl_task *t) {
  const char *site = dl_task_text(t, "site"),
             *gpu = dl_task_text(t, "gpu_name");
  const char *colon = site ? strchr(site, ':') : NULL;
  double gpus = dl_task_number(t, "n_gpus"), cpus = dl_task_number(t, "n_cpus");
  /* If the job runs on the CPUs of a node, these are its accelerators. */
  const struct dl_report *node = dl_task_group(t->r, "node");
  const char *on =
      node ? dl_task_text(&(struct dl_task){.r = node}, "on") : NULL;
  struct dl_report *g = dl_report_group(doc, "infrastructure", NULL);
  DL_TEXT(provider);
  if (!gpu)
    gpu = dl_task_text(t, "gpu");
  if (colon)
    dl_text_add_n(&provider, site, (size_t)(colon - site));
  DL_LINES(
      g,
      {.key = "infraType", .value = dl_string(colon ? "publicCloud" : "other")},
      {.key = "cloudProvider",
       .value = dl_string(colon ? dl_text_str(&provider) : NULL)});
  if (gpu || gpus >= 1)
    add_component(g, gpu, dl_is_word(on, "cpu") ? "cpu" : "gpu", gpus);
  if (cpus >= 1)
    add_component(g, NULL, "cpu", cpus);
  if (!gpu && !(gpus >= 1) && !(cpus >= 1))
    add_component(g, NULL, "other", 1);
}

/* Header and task of a new document. */
static struct dl_report *new_document(const struct dl_task *t,
                                      const char *description) {
  struct dl_report *doc = dl_report_new();
  add_header(doc);
  add_task(doc, t, description);
  return doc;
}

/* Writes a document whose measures are complete, and frees it. */
static void end_document(struct dl_report *doc, const struct dl_task *t,
                         FILE *f) {
  const struct dl_report_line lines[] = {
      {.key = "country", .value = dl_string(dl_task_text(t, "intensity_of"))},
      {.key = "powerSourceCarbonIntensity",
       .value = dl_number(dl_task_number(t, "intensity_g_kwh"))}};
  add_infrastructure(doc, t);
  if (dl_task_text(t, "grid"))
    dl_report_lines(dl_report_group(doc, "environment", NULL), lines,
                    DL_LENGTH(lines));
  dl_json_line(f, doc);
  dl_report_free(doc);
}

static bool is_task(const char *table) {
  static const char *const tables[] = {"estimates", "runs", "jobs"};
  return dl_text_index(tables, DL_LENGTH(tables), table) >= 0;
}

static enum dl_status no_task(struct dl_diag *d) {
  return dl_fail(
      d, DL_EUSAGE,
      "BoAmps describes the energy of tasks, and there is none here: "
      "it goes with predict, step, extract and the jobs of report");
}

/* The energies of the whole node, if this is the recommended estimate. */
static void add_node(struct dl_report *doc, const struct dl_report *node,
                     const struct dl_task *estimate) {
  const struct dl_table *bounds = dl_task_table(node, "boundaries");
  const char *used = dl_task_text(&(struct dl_task){.r = node}, "estimate");
  const char *method = dl_task_text(estimate, "method");
  const char *own = dl_task_text(estimate, "boundary");
  bool recommended = used && method && strcmp(used, method) == 0;
  for (size_t i = 0; recommended && bounds && i < bounds->n_rows; i++) {
    struct dl_task t = dl_task_row(bounds, i);
    const char *of = dl_task_text(&t, "estimate");
    const char *boundary = dl_task_text(&t, "boundary");
    if (of && strcmp(of, used) == 0 && boundary &&
        (!own || strcmp(boundary, own) != 0) &&
        !isnan(dl_task_number(&t, "energy_j")))
      add_measure(doc, &t, dl_task_number(estimate, "duration_s"));
  }
}

static enum dl_status boamps_report(const struct dl_format *format,
                                    const struct dl_report *r, FILE *f,
                                    struct dl_diag *d) {
  (void)format;
  const struct dl_table *estimates = dl_task_table(r, "estimates");
  const struct dl_report *node = dl_task_group(r, "node");
  struct dl_report *doc = NULL;
  for (size_t i = 0; estimates && i < estimates->n_rows; i++) {
    struct dl_task t = dl_task_row(estimates, i);
    if (isnan(dl_task_number(&t, "energy_j")))
      continue;
    struct dl_task whole = t;
    whole.r = r;
    if (!doc)
      doc = new_document(&whole, ESTIMATED);
    add_measure(doc, &t, dl_task_number(&t, "duration_s"));
    if (node)
      add_node(doc, node, &t);
  }
  if (!doc)
    return no_task(d);
  end_document(doc, &(struct dl_task){.r = r}, f);
  return DL_OK;
}

static enum dl_status boamps_begin(struct dl_stream *s, struct dl_diag *d) {
  return is_task(s->key) ? DL_OK : no_task(d);
}

/* Rows without an energy have no document. */
static enum dl_status boamps_row(struct dl_stream *s,
                                 const struct dl_value *values,
                                 struct dl_diag *d) {
  struct dl_task t = {NULL, s->columns, values, s->n_cols};
  (void)d;
  if (isnan(dl_task_number(&t, "energy_j")))
    return DL_OK;
  const char *from = dl_task_text(&t, "energy_from");
  bool estimate = dl_is_word(s->key, "estimates") ||
                  (from && !dl_is_word(from, "measured"));
  struct dl_report *doc = new_document(&t, estimate ? ESTIMATED : NULL);
  add_measure(doc, &t, dl_task_number(&t, "duration_s"));
  end_document(doc, &t, s->f);
  return DL_OK;
}

const struct dl_format dl_format_boamps = {
    .name = "boamps",
    .summary = "a BoAmps report of each task, one JSON document a line",
    .whole = true,
    .report = boamps_report,
    .begin = boamps_begin,
    .row = boamps_row,
};
