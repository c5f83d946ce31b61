/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BoAmps: Boavizta's format of reports on the energy of AI tasks, as its
 * schemas of 2025 have it (https://github.com/Boavizta/BoAmps, model/,
 * formatVersion 0.1 in the examples there; CC BY 4.0).
 *
 * A task is a report's settings with all its estimates as measures, or a row
 * of a stream. One JSON document a line. powerConsumption is an energy, kWh.
 * Fields that must be there and are not known say so: taskStage and taskFamily
 * "unknown", a component of type "other". An estimate says in taskDescription
 * and measurementMethod that it is none of a meter. */

#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"
#include "output/format.h"

#define SPECIFICATION "https://github.com/Boavizta/BoAmps/tree/main/model"

/* Where a task's figures are: a row, which goes first, and the report. */
struct task {
  const struct dl_report *r; /* or NULL */
  const struct dl_column *columns;
  const struct dl_value *values; /* or NULL */
  size_t n;
};

struct writer {
  FILE *f;
  bool more; /* a member stands before */
  bool no_memory;
};

static const struct dl_value *find(const struct task *t, const char *key) {
  for (size_t i = 0; t->values && i < t->n; i++)
    if (t->columns[i].key && strcmp(t->columns[i].key, key) == 0 &&
        !dl_value_absent(&t->values[i]))
      return &t->values[i];
  for (size_t i = 0; t->r && i < t->r->n_nodes; i++) {
    const struct dl_report_node *node = &t->r->nodes[i];
    if (node->type == DL_REPORT_VALUE && node->key &&
        strcmp(node->key, key) == 0 && !dl_value_absent(&node->value))
      return &node->value;
  }
  return NULL;
}

/* What predict --node says, or NULL. */
static const struct dl_report *node_of(const struct dl_report *r) {
  for (size_t i = 0; r && i < r->n_nodes; i++)
    if (r->nodes[i].type == DL_REPORT_GROUP && r->nodes[i].key &&
        strcmp(r->nodes[i].key, "node") == 0 && r->nodes[i].n_reports > 0)
      return r->nodes[i].reports[0];
  return NULL;
}

static const char *text_of(const struct task *t, const char *key) {
  const struct dl_value *v = find(t, key);
  return v && v->type == DL_STRING ? v->string : NULL;
}

/* A cell of a table may be a number as a text. */
static double number_of(const struct task *t, const char *key) {
  const struct dl_value *v = find(t, key);
  double x;
  if (!v)
    return NAN;
  if (v->type == DL_STRING)
    return dl_parse_double(v->string, &x) ? x : NAN;
  return v->type == DL_NUMBER  ? v->number
         : v->type == DL_COUNT ? (double)v->count
                               : NAN;
}

static void key(struct writer *w, const char *name) {
  fprintf(w->f, "%s\"%s\": ", w->more ? ", " : "", name);
  w->more = true;
}

static void open_part(struct writer *w, const char *name, const char *bracket) {
  if (name)
    key(w, name);
  else if (w->more)
    fputs(", ", w->f);
  fputs(bracket, w->f);
  w->more = false;
}

static void close_part(struct writer *w, const char *bracket) {
  fputs(bracket, w->f);
  w->more = true;
}

static void text(struct writer *w, const char *name, const char *s) {
  if (!s)
    return;
  key(w, name);
  w->no_memory = !dl_json_string(w->f, s) || w->no_memory;
}

static void number(struct writer *w, const char *name, double x) {
  char buf[DL_NUMBER_SIZE];
  if (!isfinite(x))
    return;
  key(w, name);
  fputs(dl_format_short(buf, x), w->f);
}

/* SOURCE_DATE_EPOCH, where it is set, makes documents that can be compared:
 * https://reproducible-builds.org/specs/source-date-epoch */
static void put_header(struct writer *w) {
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  size_t seconds;
  time_t now = epoch && dl_parse_count(epoch, &seconds) && seconds < 1u << 31
                   ? (time_t)seconds
                   : time(NULL);
  struct tm tm;
  char date[32] = "";
  if (gmtime_r(&now, &tm))
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
  open_part(w, "header", "{");
  text(w, "formatVersion", "0.1");
  text(w, "formatVersionSpecificationUri", SPECIFICATION);
  text(w, "reportDatetime", date);
  text(w, "reportStatus", "draft");
  close_part(w, "}");
}

static bool is_language(const struct task *t) {
  return !isnan(number_of(t, "tokens")) || !isnan(number_of(t, "seq_len")) ||
         !isnan(number_of(t, "prompt_tokens"));
}

static void put_dataset(struct writer *w, const struct task *t) {
  bool tokens = is_language(t);
  const char *phase = text_of(t, "phase");
  double requests = fmax(number_of(t, "requests"), 1);
  double quantity = number_of(t, "tokens");
  if (isnan(quantity))
    quantity = number_of(t, "prompt_tokens") * requests;
  if (isnan(quantity))
    quantity = phase && strcmp(phase, "inference") == 0
                   ? number_of(t, "requests")
                   : number_of(t, "train_samples");
  open_part(w, "dataset", "[");
  open_part(w, NULL, "{");
  text(w, "dataUsage", "input");
  text(w, "dataType",
       tokens                            ? "token"
       : isnan(number_of(t, "image_px")) ? "other"
                                         : "image");
  number(w, "dataQuantity", quantity);
  close_part(w, "}");
  if (!isnan(number_of(t, "output_tokens"))) {
    open_part(w, NULL, "{");
    text(w, "dataUsage", "output");
    text(w, "dataType", "token");
    number(w, "dataQuantity", number_of(t, "output_tokens") * requests);
    close_part(w, "}");
  }
  close_part(w, "]");
}

static void put_algorithm(struct writer *w, const struct task *t) {
  open_part(w, "algorithms", "[");
  open_part(w, NULL, "{");
  text(w, "algorithmName", text_of(t, "arch"));
  number(w, "parametersNumber", number_of(t, "params_m") / 1000);
  text(w, "framework", text_of(t, "framework"));
  number(w, "epochsNumber", number_of(t, "epochs"));
  text(w, "quantization", text_of(t, "precision"));
  close_part(w, "}");
  close_part(w, "]");
}

static void put_task(struct writer *w, const struct task *t,
                     const char *description) {
  const char *phase = text_of(t, "phase");
  open_part(w, "task", "{");
  text(w, "taskStage",
       phase                ? phase
       : text_of(t, "arch") ? "training"
                            : "unknown");
  text(w, "taskFamily",
       is_language(t)                    ? "textGeneration"
       : isnan(number_of(t, "image_px")) ? "unknown"
                                         : "imageClassification");
  if (phase && strcmp(phase, "inference") == 0)
    number(w, "nbRequest", number_of(t, "requests"));
  put_algorithm(w, t);
  put_dataset(w, t);
  text(w, "taskDescription", description);
  close_part(w, "}");
}

/* A measure: an estimate by its method, or a measured run. */
static void put_measure(struct writer *w, const struct task *t,
                        double duration_s) {
  struct dl_text name = {0};
  const char *method = text_of(t, "method");
  if (!method)
    method = text_of(t, "estimate"); /* of a node's energy */
  if (!method)
    method = text_of(t, "energy_from"); /* of a scheduler's job */
  if (!method)
    method = text_of(t, "format"); /* of a log */
  const char *boundary = text_of(t, "boundary");
  dl_text_printf(&name, "dlest, %s, boundary %s", method ? method : "runs",
                 boundary ? boundary : "unknown");
  open_part(w, NULL, "{");
  text(w, "measurementMethod", name.failed ? "dlest" : name.s);
  text(w, "version", PACKAGE_VERSION);
  number(w, "averageUtilizationCpu", number_of(t, "cpu_util"));
  number(w, "averageUtilizationGpu", number_of(t, "gpu_util"));
  number(w, "powerConsumption", number_of(t, "energy_j") / DL_J_PER_KWH);
  number(w, "measurementDuration", duration_s);
  close_part(w, "}");
  dl_text_free(&name);
}

static void put_component(struct writer *w, const char *name, const char *type,
                          double count) {
  open_part(w, NULL, "{");
  text(w, "componentName", name);
  text(w, "componentType", type);
  number(w, "nbComponent", count >= 1 ? floor(count) : 1);
  close_part(w, "}");
}

/* The job's accelerators are then those of the node that are no GPUs. */
static bool runs_on_cpu(const struct task *t) {
  const struct dl_report *node = node_of(t->r);
  const char *on = node ? text_of(&(struct task){.r = node}, "on") : NULL;
  return on && strcmp(on, "cpu") == 0;
}

static void put_infrastructure(struct writer *w, const struct task *t) {
  const char *site = text_of(t, "site"), *gpu = text_of(t, "gpu_name");
  const char *colon = site ? strchr(site, ':') : NULL;
  double gpus = number_of(t, "n_gpus"), cpus = number_of(t, "n_cpus");
  const char *type = runs_on_cpu(t) ? "cpu" : "gpu";
  if (!gpu)
    gpu = text_of(t, "gpu");
  open_part(w, "infrastructure", "{");
  text(w, "infraType", colon ? "publicCloud" : "other");
  if (colon) {
    struct dl_text provider = {0};
    dl_text_add_n(&provider, site, (size_t)(colon - site));
    text(w, "cloudProvider", dl_text_str(&provider));
    w->no_memory = w->no_memory || provider.failed;
    dl_text_free(&provider);
  }
  open_part(w, "components", "[");
  if (gpu || gpus >= 1)
    put_component(w, gpu, type, gpus);
  if (cpus >= 1)
    put_component(w, NULL, "cpu", cpus);
  if (!gpu && !(gpus >= 1) && !(cpus >= 1))
    put_component(w, NULL, "other", 1);
  close_part(w, "]");
  close_part(w, "}");
}

static void put_environment(struct writer *w, const struct task *t) {
  if (!text_of(t, "grid"))
    return;
  open_part(w, "environment", "{");
  text(w, "country", text_of(t, "intensity_of"));
  number(w, "powerSourceCarbonIntensity", number_of(t, "intensity_g_kwh"));
  close_part(w, "}");
}

static void begin_task(struct writer *w, const struct task *t,
                       const char *description) {
  open_part(w, NULL, "{");
  put_header(w);
  put_task(w, t, description);
  open_part(w, "measures", "[");
}

static void end_task(struct writer *w, const struct task *t) {
  close_part(w, "]");
  put_infrastructure(w, t);
  put_environment(w, t);
  fputs("}\n", w->f);
  w->more = false;
}

static bool is_task(const char *table) {
  return strcmp(table, "estimates") == 0 || strcmp(table, "runs") == 0 ||
         strcmp(table, "jobs") == 0;
}

static enum dl_status no_task(struct dl_diag *d) {
  return dl_fail(d, DL_EUSAGE,
                 "BoAmps tells of the energy of tasks, and there is none here: "
                 "it goes with predict, step, extract and the jobs of report");
}

static const struct dl_table *table_of(const struct dl_report *r,
                                       const char *name) {
  for (size_t i = 0; i < r->n_nodes; i++)
    if (r->nodes[i].type == DL_REPORT_TABLE && r->nodes[i].key &&
        strcmp(r->nodes[i].key, name) == 0)
      return r->nodes[i].table;
  return NULL;
}

static struct task row_of(const struct dl_table *t, size_t i) {
  return (struct task){NULL, t->columns, t->values + i * t->n_cols, t->n_cols};
}

/* What the estimate that dlest would use means for the whole node. */
static void put_node(struct writer *w, const struct dl_report *node,
                     const struct task *estimate) {
  const struct dl_table *bounds = table_of(node, "boundaries");
  const char *used = text_of(&(struct task){.r = node}, "estimate");
  const char *method = text_of(estimate, "method");
  const char *told = text_of(estimate, "boundary");
  bool recommended = used && method && strcmp(used, method) == 0;
  for (size_t i = 0; recommended && bounds && i < bounds->n_rows; i++) {
    struct task t = row_of(bounds, i);
    const char *of = text_of(&t, "estimate");
    const char *boundary = text_of(&t, "boundary");
    if (of && strcmp(of, used) == 0 && boundary &&
        (!told || strcmp(boundary, told) != 0) &&
        !isnan(number_of(&t, "energy_j")))
      put_measure(w, &t, number_of(estimate, "duration_s"));
  }
}

static enum dl_status boamps_report(const struct dl_report *r, FILE *f,
                                    struct dl_diag *d) {
  struct writer w = {.f = f};
  const struct dl_table *estimates = table_of(r, "estimates");
  const struct dl_report *node = node_of(r);
  size_t n = 0;
  for (size_t i = 0; estimates && i < estimates->n_rows; i++) {
    struct task t = row_of(estimates, i);
    if (isnan(number_of(&t, "energy_j")))
      continue;
    struct task whole = t;
    whole.r = r;
    if (n++ == 0)
      begin_task(&w, &whole, "estimated by dlest, not measured");
    put_measure(&w, &t, number_of(&t, "duration_s"));
    if (node)
      put_node(&w, node, &t);
  }
  if (n == 0)
    return no_task(d);
  end_task(&w, &(struct task){.r = r});
  return w.no_memory ? dl_fail_memory(d) : DL_OK;
}

static enum dl_status boamps_begin(struct dl_stream *s, struct dl_diag *d) {
  return is_task(s->key) ? DL_OK : no_task(d);
}

/* Rows without an energy are no report. */
static enum dl_status boamps_row(struct dl_stream *s,
                                 const struct dl_value *values,
                                 struct dl_diag *d) {
  struct writer w = {.f = s->f};
  struct task t = {NULL, s->columns, values, s->n_cols};
  if (isnan(number_of(&t, "energy_j")))
    return DL_OK;
  const char *from = text_of(&t, "energy_from");
  bool estimate = strcmp(s->key, "estimates") == 0 ||
                  (from && strcmp(from, "measured") != 0);
  begin_task(&w, &t, estimate ? "estimated by dlest, not measured" : NULL);
  put_measure(&w, &t, number_of(&t, "duration_s"));
  end_task(&w, &t);
  return w.no_memory ? dl_fail_memory(d) : DL_OK;
}

const struct dl_format dl_format_boamps = {
    .name = "boamps",
    .summary = "a BoAmps report of each task, one JSON document a line",
    .report = boamps_report,
    .begin = boamps_begin,
    .row = boamps_row,
};
