/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carbontracker: its standard log, *_carbontracker.log.
 *
 * Lines are "2022-11-14 15:43:37 - message"; in 1.0 and 1.1 "2020-05-17
 * 19:02:11,123 - MainThread - INFO - message". These messages are read:
 *
 *   carbontracker version 1.1.6
 *   ... multiplied by a PUE coefficient of 1.59 (...)
 *   The following components were found: GPU with device(s) A, B. CPU with
 *     device(s) cpu:0.
 *   Epoch 1:
 *   Duration: 0:00:53.25
 *   Average power usage (W) for gpu: [61.2 73.4]
 *   Average power usage (W) for cpu: [13.4]
 *   Training was interrupted before all 10 epochs were monitored.
 *   Monitoring thread ended.
 *
 * - A list of powers has one number per device. numpy formats it, over several
 *   lines if longer than 75 columns; it is None or [None] for an epoch that
 *   ended before the first sample. The energy of that epoch, and of the run, is
 *   then unknown.
 * - The energy of an epoch is its duration times the sum of the powers, without
 *   PUE; the other log (carbontracker_output.c) includes it. Memory is not
 *   measured. The power of CPUs is RAPL's, or modelled.
 * - Only epochs are measured. The duration of the run is the sum of their
 * durations; time between epochs is not included, nor in the start times of
 * epochs.
 * - Epochs count from 1 in the log, from 0 here. A file contains several runs
 * if their logs began within one minute or second. */

#include "logs/importers/trackers/carbontracker.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

/* --- shared with the output log */

char *dl_ct_message(char *s, struct dl_timestamp *t) {
  s = dl_cell_trim(s, s + strlen(s));
  char *dash = strstr(s, " - ");
  if (!isdigit((unsigned char)*s) || !dash || dash > s + 37 ||
      !dl_parse_timestamp(s, (size_t)(dash - s), t) || !t->dated) {
    *t = (struct dl_timestamp){0};
    return s;
  }
  s = dash + 3 + strspn(dash + 3, " \t");
  char *thread = strstr(s, " - ");
  char *level = thread ? thread + 3 : s, *end = strstr(level, " - ");
  if (thread && end &&
      dl_word_among("DEBUG|INFO|WARNING|ERROR|CRITICAL", level,
                    (size_t)(end - level)) >= 0)
    s = end + 3 + strspn(end + 3, " \t");
  return s;
}

bool dl_ct_take(char **message, const char *word) {
  size_t len = strlen(word);
  if (strncmp(*message, word, len) != 0)
    return false;
  *message += len;
  *message += strspn(*message, " \t");
  return true;
}

bool dl_ct_any(const struct dl_head *head,
               bool (*test)(char *message, bool dated)) {
  char text[DL_HEAD_LINE];
  struct dl_timestamp t;
  for (size_t at = 0; dl_head_line(head, &at, text, sizeof text);) {
    char *message = dl_ct_message(text, &t);
    if (head->text[at] != '\0' && test(message, t.dated))
      return true;
  }
  return false;
}

void dl_ct_components(const char *s, struct dl_run *r, bool *gpu, bool *cpu) {
  static const char gpu_word[] = "GPU with device(s)";
  const char *end = strstr(s, "CPU with device(s)");
  DL_SCOPED(dl_strlist_free) struct dl_strlist all = {0};
  DL_TEXT(names);
  *cpu = end != NULL;
  s = strstr(s, gpu_word);
  *gpu = s != NULL;
  if (!s)
    return;
  s += strlen(gpu_word);
  if (!end || end < s)
    end = s + strlen(s);
  while (end > s && strchr(" .", end[-1]))
    end--;
  dl_text_add_n(&names, s, (size_t)(end - s));
  dl_strlist_split(&all, dl_text_str(&names), ',');
  dl_text_clear(&names);
  for (size_t i = 0; i < all.n; i++)
    if (*all.s[i] != '\0' && dl_strlist_find(&all, all.s[i]) == (long)i)
      dl_text_printf(&names, "%s%s", names.len > 0 ? "/" : "", all.s[i]);
  dl_run_copy_text(r, DL_RUN_gpu, dl_text_str(&names));
}

/* --- the standard log */

enum part { GPU, CPU, N_PARTS }; /* by enum dl_meter_kind */

struct tracker {
  double pue;
  bool has[N_PARTS];      /* parts that the run measures */
  double energy[N_PARTS]; /* over its epochs */
  double duration, n_gpus;

  /* The epoch being read. */
  bool in_epoch;
  double number, epoch_s;
  struct dl_timestamp time; /* of its end */
  bool seen[N_PARTS];
  double power[N_PARTS];
  size_t n[N_PARTS];
  bool in_list; /* of the powers of `part` */
  enum part part;

  bool warned_unknown, warned_cut;
};

static const char version_word[] = "carbontracker version ";
static const char power_word[] = "Average power usage (W) for ";

static bool is_standard(char *message, bool dated) {
  return dated && (dl_ct_take(&message, version_word) ||
                   dl_ct_take(&message, power_word));
}

static bool probe(const struct dl_head *head) {
  return dl_ct_any(head, is_standard);
}

/* The open run; begins one if there is none. */
static struct dl_run *open_run(struct dl_log *log) {
  struct tracker *t = log->state;
  if (!log->in_run) {
    t->pue = NAN;
    t->has[GPU] = t->has[CPU] = false;
    t->energy[GPU] = t->energy[CPU] = 0;
    t->duration = t->n_gpus = 0;
  }
  return dl_log_open_run(log);
}

/* Adds the epoch that was read to the run, unless it is incomplete because the
 * run or the file ended. */
static void close_epoch(struct dl_log *log, bool last) {
  struct tracker *t = log->state;
  double energy = 0;
  t->in_list = false;
  if (!t->in_epoch)
    return;
  t->in_epoch = false;
  bool whole = !isnan(t->epoch_s) && (t->seen[GPU] || t->seen[CPU]);
  for (enum part p = 0; p < N_PARTS; p++)
    whole = whole && (t->seen[p] || !t->has[p]);
  if (last && !whole) {
    if (!t->warned_cut)
      dl_log_warn(log, "a run ends within an epoch, which is left out");
    t->warned_cut = true;
    return;
  }
  struct dl_epoch *e = dl_run_add_epoch(&log->open_run, DL_PART_EPOCH);
  for (enum part p = 0; p < N_PARTS; p++) {
    if (!t->has[p])
      continue;
    double joule = t->power[p] * t->epoch_s;
    *(p == GPU ? &e->gpu_energy_j : &e->cpu_energy_j) = joule;
    t->energy[p] += joule;
    energy += joule;
  }
  if (t->has[GPU])
    e->gpu_power_w = t->power[GPU];
  t->n_gpus = fmax(t->n_gpus, (double)t->n[GPU]);
  if (t->has[GPU] || t->has[CPU])
    e->energy_j = energy;
  if (isnan(e->energy_j) && !t->warned_unknown) {
    dl_log_warn(log, "an epoch has no power or duration: the energy of its "
                     "run is unknown");
    t->warned_unknown = true;
  }
  e->number = t->number;
  e->start_s = t->duration;
  e->duration_s = t->epoch_s;
  if (log->open_run.n_epochs == 1)
    dl_run_put_time(&log->open_run, &t->time, round(t->epoch_s));
  t->duration += t->epoch_s;
}

static void close_run(struct dl_log *log) {
  struct tracker *t = log->state;
  struct dl_run *r = &log->open_run;
  close_epoch(log, true);
  if (!log->in_run || r->n_epochs == 0) {
    dl_log_close_run(log, false);
    return;
  }
  double energy = 0;
  for (enum part p = 0; p < N_PARTS; p++)
    energy += t->has[p] ? t->energy[p] : 0;
  dl_run_put(r, DL_RUN_duration_s, t->duration);
  dl_run_put(r, DL_RUN_n_gpus, t->n_gpus);
  for (enum part p = 0; p < N_PARTS; p++)
    if (t->has[p])
      dl_run_put_energy(r, (enum dl_meter_kind)p, t->energy[p], t->duration);
  if (t->has[GPU] || t->has[CPU]) {
    dl_run_put(r, DL_RUN_energy_j, energy);
    dl_run_put(r, DL_RUN_pue, t->pue);
    if (t->pue >= 1)
      dl_run_put(r, DL_RUN_facility_energy_j, energy * t->pue);
    dl_run_lend_text(r, DL_RUN_boundary,
                     dl_parts_boundary(t->has[GPU], t->has[CPU], false));
  }
  dl_run_put_epochs(r, (double)r->n_epochs);
  dl_log_close_run(log, true);
}

/* --- its messages */

static void begin_epoch(struct dl_log *log, double number,
                        const struct dl_timestamp *time) {
  struct tracker *t = log->state;
  open_run(log);
  t->in_epoch = true;
  t->number = number;
  t->epoch_s = NAN;
  t->time = *time;
  for (enum part p = 0; p < N_PARTS; p++) {
    t->seen[p] = false;
    t->power[p] = NAN;
    t->n[p] = 0;
  }
}

static bool read_epoch(struct dl_log *log, const char *s,
                       const struct dl_timestamp *time) {
  struct tracker *t = log->state;
  double number;
  size_t len = strlen(s);
  if (len == 0 || s[len - 1] != ':' ||
      dl_parse_number(s, len - 1, &number) != DL_NUMBER_OK ||
      !(number >= 0 && number <= 1e9 && number == floor(number)))
    return dl_log_bad(log, "invalid epoch '%.40s'", s);
  number = number > 0 ? number - 1 : 0;
  if (t->in_epoch && t->number == number && isnan(t->epoch_s) &&
      !t->seen[GPU] && !t->seen[CPU])
    return true; /* written twice */
  const struct dl_run *r = &log->open_run;
  bool again = t->in_epoch && number <= t->number;
  if (log->in_run && r->n_epochs > 0)
    again = again || number <= r->epoch[r->n_epochs - 1].number;
  if (again)
    close_run(log);
  else
    close_epoch(log, false);
  begin_epoch(log, number, time);
  return true;
}

static bool read_duration(struct dl_log *log, const char *s,
                          const struct dl_timestamp *time) {
  struct tracker *t = log->state;
  double seconds;
  if (!t->in_epoch)
    return dl_log_bad(log, "a duration without an epoch");
  if (!dl_parse_elapsed(s, strlen(s), &seconds))
    return dl_log_bad(log, "invalid duration '%.40s'", s);
  if (!isnan(t->epoch_s)) { /* of the epoch before */
    dl_log_warn(log, "a duration without its epoch: taken for the next one");
    double number = t->number + 1;
    close_epoch(log, false);
    begin_epoch(log, number, time);
  }
  t->epoch_s = seconds;
  return true;
}

/* Adds the numbers of a list, up to its "]" if it is in this line. */
static bool read_list(struct dl_log *log, const char *s) {
  struct tracker *t = log->state;
  double *power = &t->power[t->part], x;
  while (*s != '\0' && *s != ']') {
    size_t n = strcspn(s, " \t,[]");
    if (n > 0 && (!dl_cell_number(s, n, &x) || x < 0 || x > 1e9)) {
      t->in_list = false;
      *power = NAN;
      t->n[t->part] = 0;
      return dl_log_bad(log, "invalid power '%.*s'", (int)(n < 40 ? n : 40), s);
    }
    if (n > 0) {
      *power += x;
      t->n[t->part] += isnan(x) ? 0 : 1;
    }
    s += n > 0 ? n : 1;
  }
  if (*s == ']') {
    t->in_list = false;
    t->seen[t->part] = true;
    if (t->n[t->part] == 0)
      *power = NAN; /* "[]" */
  }
  return true;
}

static bool read_power(struct dl_log *log, char *s) {
  struct tracker *t = log->state;
  if (!t->in_epoch)
    return dl_log_bad(log, "a power without an epoch");
  enum part p = GPU;
  if (!dl_ct_take(&s, "gpu:")) {
    p = CPU;
    if (!dl_ct_take(&s, "cpu:"))
      return dl_log_bad(log, "power of an unknown component");
  }
  t->part = p;
  if (!t->has[p] && log->open_run.n_epochs > 0)
    t->energy[p] = NAN; /* as it is for the epochs before */
  t->has[p] = true;
  t->power[p] = 0;
  t->n[p] = 0;
  t->in_list = *s == '[';
  if (*s == '\0') {
    t->seen[p] = false;
    return dl_log_bad(log, "invalid power ''");
  }
  bool ok = read_list(log, s);
  t->seen[p] = !t->in_list; /* if invalid: seen, but unknown */
  return ok;
}

static void read_pue(struct dl_log *log, const char *s) {
  static const char word[] = "PUE coefficient of ";
  struct tracker *t = log->state;
  if (!(s = strstr(s, word)))
    return;
  open_run(log);
  s += strlen(word);
  dl_parse_number(s, strcspn(s, " "), &t->pue);
}

static bool line(struct dl_log *log, char *s) {
  struct tracker *t = log->state;
  struct dl_timestamp time;
  char *message = dl_ct_message(s, &time);
  if (!time.dated && t->in_list)
    return read_list(log, message);
  t->in_list = false;
  dl_ct_take(&message, "CarbonTracker: ");
  if (dl_ct_take(&message, version_word) ||
      dl_ct_take(&message, "Monitoring thread ended.")) {
    close_run(log);
  } else if (dl_ct_take(&message, "The following components were found:")) {
    dl_ct_components(message, open_run(log), &t->has[GPU], &t->has[CPU]);
  } else if (dl_ct_take(&message, "Epoch ")) {
    /* "Epoch duration is too short ..." is a warning. */
    return !isdigit((unsigned char)*message) || read_epoch(log, message, &time);
  } else if (dl_ct_take(&message, "Duration:")) {
    return read_duration(log, message, &time);
  } else if (dl_ct_take(&message, power_word)) {
    return read_power(log, message);
  } else if (dl_ct_take(&message, "Only predicted and actual")) {
    read_pue(log, message);
  } else if (log->in_run && dl_ct_take(&message, "Training was interrupted")) {
    dl_run_lend_text(&log->open_run, DL_RUN_state, "interrupted");
  }
  return true; /* other messages do not matter */
}

const struct dl_importer dl_import_carbontracker = {
    .name = "carbontracker",
    .summary = "carbontracker's standard log: power of each epoch",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct tracker),
    .probe = probe,
    .line = line,
    .end = close_run,
};
