/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sacct --json, data parsers v0.0.37 to v0.0.43 (Slurm 21.08 to 25.05): numbers
 * are plain, or objects {"set", "infinite", "number"}; a state is a text or a
 * list of texts; a step is named by a text or by an object. */

#include "logs/slurm/sacct_json.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/json_read.h"

bool dl_sacct_json_is(const char *head) {
  const char *s = head + strspn(head, " \t\r\n");
  return *s == '{' && strstr(s, "\"jobs\"") &&
         (strstr(s, "\"data_parser\"") || strstr(s, "\"job_id\"") ||
          strstr(s, "\"association\""));
}

static double number_of(const dl_json *j, const char *key) {
  struct dl_json_value v = dl_json_get(j, key);
  const dl_json *inner = dl_json_member(j, key);
  if (v.type == DL_JSON_NUMBER)
    return v.number;
  return inner && dl_json_get(inner, "set").number > 0
             ? dl_json_get(inner, "number").number
             : (double)NAN;
}

/* Text and numbers of a cell, which '|' ends. */
static void add_text(struct dl_text *to, const char *s) {
  for (; s && *s; s++)
    dl_text_add_n(to, *s == '|' || (unsigned char)*s < ' ' ? "_" : s, 1);
  dl_text_add(to, "|");
}

static void add_number(struct dl_text *to, double x) {
  if (x >= 0)
    dl_text_printf(to, "%.0f", x);
  dl_text_add(to, "|");
}

static void add_time(struct dl_text *to, double seconds) {
  if (seconds > 0)
    dl_text_printf(to, "%.0f|", seconds);
  else
    dl_text_add(to, "Unknown|");
}

static void add_clock(struct dl_text *to, const dl_json *total) {
  double s = number_of(total, "seconds");
  if (s >= 0)
    dl_text_printf(to, "%.0f:%02.0f:%02.0f", floor(s / 3600),
                   fmod(floor(s / 60), 60), fmod(s, 60));
  dl_text_add(to, "|");
}

static void add_state(struct dl_text *to, const dl_json *j) {
  const dl_json *state = dl_json_member(j, "state");
  const char *is = dl_json_get(j, "state").text;
  if (!is)
    is = dl_json_get(state, "current").text;
  add_text(to, is ? is : dl_json_text_at(state, "current", 0));
}

/* Resources as AllocTRES lists them: "cpu=16,mem=512M,gres/gpu:a100=4". */
static void add_resources(struct dl_text *to, const dl_json *list) {
  bool any = false;
  for (size_t i = 0; i < dl_json_size(list); i++) {
    const dl_json *r = dl_json_at(list, i);
    const char *type = dl_json_get(r, "type").text;
    const char *name = dl_json_get(r, "name").text;
    double count = number_of(r, "count");
    if (!type || !(count > 0) || dl_is_word(type, "energy"))
      continue;
    if (any)
      dl_text_add(to, ",");
    dl_text_add(to, type);
    if (name && *name)
      dl_text_printf(to, "/%s", name);
    dl_text_printf(to, "=%.0f%s", count, dl_is_word(type, "mem") ? "M" : "");
    any = true;
  }
  dl_text_add(to, "\n");
}

static const char header[] =
    "JobID|JobName|User|Account|Cluster|Partition|State|ElapsedRaw|Start|End|"
    "NodeList|NNodes|NCPUS|NTasks|TotalCPU|ConsumedEnergyRaw|AllocTRES\n";

static double count_of(const dl_json *list, const char *type) {
  for (size_t i = 0; i < dl_json_size(list); i++) {
    const dl_json *r = dl_json_at(list, i);
    const char *is = dl_json_get(r, "type").text;
    if (is && strcmp(is, type) == 0)
      return number_of(r, "count");
  }
  return NAN;
}

static void add_id(struct dl_text *to, const dl_json *job) {
  const dl_json *array = dl_json_member(job, "array");
  double task = number_of(array, "task_id"), of = number_of(array, "job_id");
  if (of > 0 && task >= 0)
    dl_text_printf(to, "%.0f_%.0f", of, task);
  else
    dl_text_printf(to, "%.0f", number_of(job, "job_id"));
}

static const char *text_of(const dl_json *job, const char *key) {
  const char *own = dl_json_get(job, key).text;
  return own ? own : dl_json_get(dl_json_member(job, "association"), key).text;
}

static void add_times(struct dl_text *to, const dl_json *time) {
  add_number(to, number_of(time, "elapsed"));
  add_time(to, number_of(time, "start"));
  add_time(to, number_of(time, "end"));
}

static void add_job(struct dl_text *to, const dl_json *job) {
  static const char *const texts[] = {"name", "user", "account", "cluster",
                                      "partition"};
  const dl_json *tres =
      dl_json_member(dl_json_member(job, "tres"), "allocated");
  const dl_json *time = dl_json_member(job, "time");
  add_id(to, job);
  dl_text_add(to, "|");
  for (size_t i = 0; i < DL_LENGTH(texts); i++)
    add_text(to, text_of(job, texts[i]));
  add_state(to, job);
  add_times(to, time);
  add_text(to, dl_json_get(job, "nodes").text);
  add_number(to, count_of(tres, "node"));
  add_number(to, count_of(tres, "cpu"));
  dl_text_add(to, "|"); /* tasks are of steps */
  add_clock(to, dl_json_member(time, "total"));
  dl_text_add(to, "|"); /* and so are energies */
  add_resources(to, tres);
}

/* The step's own name: "batch", "0". */
static void add_step_id(struct dl_text *to, const dl_json *step) {
  const dl_json *of = dl_json_member(step, "step");
  const char *id = dl_json_get(of, "id").text;
  const dl_json *parts = dl_json_member(of, "id");
  if (!id)
    id = dl_json_get(parts, "step_id").text;
  const char *dot = id ? strchr(id, '.') : NULL;
  dl_text_add(to, ".");
  if (id)
    add_text(to, dot ? dot + 1 : id);
  else
    add_number(to, number_of(parts, "step_id"));
}

static void add_step(struct dl_text *to, const dl_json *job,
                     const dl_json *step) {
  const dl_json *tres = dl_json_member(step, "tres");
  const dl_json *time = dl_json_member(step, "time");
  const dl_json *nodes = dl_json_member(step, "nodes");
  const dl_json *energy =
      dl_json_member(dl_json_member(step, "statistics"), "energy");
  add_id(to, job);
  add_step_id(to, step);
  add_text(to, dl_json_get(dl_json_member(step, "step"), "name").text);
  dl_text_add(to, "||");
  add_text(to, text_of(job, "cluster"));
  dl_text_add(to, "|");
  add_state(to, step);
  add_times(to, time);
  add_text(to, dl_json_get(nodes, "range").text);
  add_number(to, number_of(nodes, "count"));
  add_number(to, count_of(dl_json_member(tres, "allocated"), "cpu"));
  add_number(to, number_of(dl_json_member(step, "tasks"), "count"));
  add_clock(to, dl_json_member(time, "total"));
  add_number(to, number_of(energy, "consumed"));
  add_resources(to, dl_json_member(tres, "allocated"));
}

enum dl_status dl_sacct_json_table(struct dl_text *to, const char *text,
                                   size_t len, const char *path,
                                   struct dl_diag *d) {
  dl_json *whole;
  DL_TRY(dl_json_parse(&whole, text, len, path, d));
  const dl_json *jobs = dl_json_member(whole, "jobs");
  enum dl_status status = DL_OK;
  dl_text_add(to, header);
  for (size_t i = 0; i < dl_json_size(jobs) && status == DL_OK; i++) {
    const dl_json *job = dl_json_at(jobs, i);
    const dl_json *steps = dl_json_member(job, "steps");
    if (isnan(number_of(job, "job_id")))
      status =
          dl_fail_at(d, DL_EINPUT, path, 0, "job %zu has no 'job_id'", i + 1);
    else
      add_job(to, job);
    for (size_t k = 0; k < dl_json_size(steps) && status == DL_OK; k++)
      add_step(to, job, dl_json_at(steps, k));
  }
  if (status == DL_OK && dl_json_size(jobs) == 0)
    status = dl_fail_at(d, DL_EINPUT, path, 0, "no jobs");
  dl_json_free(whole);
  return status;
}
