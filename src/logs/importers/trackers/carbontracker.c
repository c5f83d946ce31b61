/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carbontracker: its standard log, *_carbontracker.log.
 *
 * Lines are "2022-11-14 15:43:37 - message"; in 1.0 and 1.1 "2020-05-17
 * 19:02:11,123 - MainThread - INFO - message". Messages that matter:
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
 * - A list of powers has one number a device. It is numpy's text for one, which
 *   goes on in lines of its own behind 75 columns, and is None or [None] for
 *   an epoch that was over before the first sample. That epoch's energy, and
 *   that of the run, is unknown then.
 * - The energy of an epoch is its duration times the sum of the powers, without
 *   PUE; with it in the other log, import_carbontracker_output.c. Memory is
 *   not measured. Of processors it is RAPL's, or modelled.
 * - Only epochs are measured. The run's duration is the sum of theirs, and
 *   what lies between them counts neither in it nor in their beginnings.
 * - Epochs count from 1 there, from 0 here. A file has several runs where logs
 *   began in the same minute or second. */

#include "logs/importers/trackers/carbontracker.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

/* --- shared with the other log */

static struct dl_ct_text trimmed(const char *s, size_t len) {
  while (len > 0 && (*s == ' ' || *s == '\t')) {
    s++;
    len--;
  }
  while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t' ||
                     s[len - 1] == '\r' || s[len - 1] == '\n'))
    len--;
  return (struct dl_ct_text){s, len};
}

/* Cuts m behind the first " - ", within `most` bytes; before it in *head. */
static bool cut(struct dl_ct_text *m, size_t most, struct dl_ct_text *head) {
  size_t len = m->len < most ? m->len : most;
  const char *at = memmem(m->s, len, " - ", 3);
  if (!at)
    return false;
  *head = (struct dl_ct_text){m->s, (size_t)(at - m->s)};
  size_t taken = head->len + 3 < m->len ? head->len + 3 : m->len;
  *m = trimmed(m->s + taken, m->len - taken);
  return true;
}

static bool is_level(struct dl_ct_text m) {
  static const char *const levels[] = {"DEBUG", "INFO", "WARNING", "ERROR",
                                       "CRITICAL"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (m.len == strlen(levels[i]) && memcmp(m.s, levels[i], m.len) == 0)
      return true;
  return false;
}

struct dl_ct_text dl_ct_message(const char *s, size_t len,
                                struct dl_timestamp *t) {
  struct dl_ct_text m = trimmed(s, len), rest = m, head;
  if (m.len == 0 || *m.s < '0' || *m.s > '9' || !cut(&rest, 40, &head) ||
      !dl_parse_timestamp(head.s, head.len, t) || !t->dated) {
    *t = (struct dl_timestamp){0};
    return m;
  }
  m = rest;
  if (cut(&rest, 80, &head) && cut(&rest, 16, &head) && is_level(head))
    return rest;
  return m;
}

bool dl_ct_take(struct dl_ct_text *m, const char *word) {
  size_t len = strlen(word);
  if (m->len < len || memcmp(m->s, word, len) != 0)
    return false;
  *m = trimmed(m->s + len, m->len - len);
  return true;
}

bool dl_ct_any(const struct dl_head *head,
               bool (*test)(struct dl_ct_text m, bool dated)) {
  const char *s = head->text, *end = s + head->len, *stop;
  for (; s < end && (stop = memchr(s, '\n', (size_t)(end - s))); s = stop + 1) {
    struct dl_timestamp t;
    struct dl_ct_text m = dl_ct_message(s, (size_t)(stop - s), &t);
    if (test(m, t.dated))
      return true;
  }
  return false;
}

/* Appends a name to a list with "/" between, unless it is in there. */
static void add_name(struct dl_text *list, struct dl_ct_text name) {
  const char *s = dl_text_str(list);
  for (; *s != '\0'; s += strspn(s, "/")) {
    size_t len = strcspn(s, "/");
    if (len == name.len && memcmp(s, name.s, len) == 0)
      return;
    s += len;
  }
  if (list->len > 0)
    dl_text_add(list, "/");
  dl_text_add_n(list, name.s, name.len);
}

void dl_ct_components(struct dl_ct_text m, struct dl_run *r, bool *gpu,
                      bool *cpu) {
  static const char gpu_word[] = "GPU with device(s)";
  static const char cpu_word[] = "CPU with device(s)";
  struct dl_text list = {0};
  const char *end = m.s + m.len;
  const char *from = memmem(m.s, m.len, gpu_word, strlen(gpu_word));
  *gpu = from != NULL;
  *cpu = memmem(m.s, m.len, cpu_word, strlen(cpu_word)) != NULL;
  if (!from)
    return;
  from += strlen(gpu_word);
  const char *to =
      memmem(from, (size_t)(end - from), cpu_word, strlen(cpu_word));
  m = trimmed(from, (size_t)((to ? to : end) - from));
  if (m.len > 0 && m.s[m.len - 1] == '.')
    m.len--;
  while (m.len > 0) {
    const char *comma = memchr(m.s, ',', m.len);
    size_t len = comma ? (size_t)(comma - m.s) : m.len;
    struct dl_ct_text name = trimmed(m.s, len);
    if (name.len > 0)
      add_name(&list, name);
    m = trimmed(m.s + len + (comma != NULL), m.len - len - (comma != NULL));
  }
  dl_run_copy_text(r, DL_RUN_gpu, dl_text_str(&list));
  r->failed |= list.failed;
  dl_text_free(&list);
}

/* --- the standard log */

enum part { GPU, CPU, N_PARTS };

static const char *const part_names[] = {"gpu", "cpu"};

struct tracker {
  struct dl_run run;
  bool open; /* run is one */
  double pue;
  bool has[N_PARTS];      /* what the run measures */
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

  bool said_unknown, said_cut;
};

static const char version_word[] = "carbontracker version ";
static const char power_word[] = "Average power usage (W) for ";
static const char found_word[] = "The following components were found:";

static bool is_standard(struct dl_ct_text m, bool dated) {
  return dated && (dl_ct_take(&m, version_word) || dl_ct_take(&m, power_word));
}

static bool probe(const struct dl_head *head) {
  return dl_ct_any(head, is_standard);
}

/* Begins a run unless there is one. */
static void open_run(struct tracker *t) {
  if (t->open)
    return;
  t->run = dl_run_unknown;
  t->open = true;
  t->pue = NAN;
  t->has[GPU] = t->has[CPU] = false;
  t->energy[GPU] = t->energy[CPU] = 0;
  t->duration = t->n_gpus = 0;
}

/* Puts the epoch that was read into the run. One that the run, or the file,
 * ended in is left out. */
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
    if (!t->said_cut)
      dl_log_warn(log, "a run ends within an epoch, which is left out");
    t->said_cut = true;
    return;
  }
  struct dl_epoch *e = dl_run_add_epoch(&t->run, DL_PART_EPOCH);
  if (!e)
    return;
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
  if (isnan(e->energy_j) && !t->said_unknown) {
    dl_log_warn(log, "an epoch has no power or duration: the energy of its "
                     "run is unknown");
    t->said_unknown = true;
  }
  e->number = t->number;
  e->start_s = t->duration;
  e->duration_s = t->epoch_s;
  if (t->run.n_epochs == 1)
    dl_run_put_time(&t->run, &t->time, round(t->epoch_s));
  t->duration += t->epoch_s;
}

static void close_run(struct dl_log *log) {
  struct tracker *t = log->state;
  close_epoch(log, true);
  if (!t->open)
    return;
  t->open = false;
  struct dl_run *r = &t->run;
  if (r->n_epochs == 0) {
    dl_run_clear(r);
    return;
  }
  double energy =
      (t->has[GPU] ? t->energy[GPU] : 0) + (t->has[CPU] ? t->energy[CPU] : 0);
  dl_run_put(r, DL_RUN_duration_s, t->duration);
  dl_run_put(r, DL_RUN_n_gpus, t->n_gpus);
  if (t->has[GPU])
    dl_run_put_energy(r, DL_RUN_gpu_energy_j, DL_RUN_gpu_power_w,
                      t->energy[GPU], t->duration);
  if (t->has[CPU])
    dl_run_put_energy(r, DL_RUN_cpu_energy_j, DL_RUN_cpu_power_w,
                      t->energy[CPU], t->duration);
  if (t->has[GPU] || t->has[CPU]) {
    dl_run_put(r, DL_RUN_energy_j, energy);
    dl_run_put(r, DL_RUN_pue, t->pue);
    if (t->pue >= 1)
      dl_run_put(r, DL_RUN_facility_energy_j, energy * t->pue);
    dl_run_lend_text(r, DL_RUN_boundary,
                     dl_parts_boundary(t->has[GPU], t->has[CPU], false));
  }
  dl_run_put_epochs(r, (double)r->n_epochs);
  dl_log_add_run(log, r);
}

/* --- its messages */

static bool read_epoch(struct dl_log *log, struct dl_ct_text m,
                       const struct dl_timestamp *time) {
  struct tracker *t = log->state;
  double number;
  if (m.len == 0 || m.s[m.len - 1] != ':' ||
      dl_parse_number(m.s, m.len - 1, &number) != DL_NUMBER_OK ||
      !(number >= 0 && number <= 1e9 && number == floor(number)))
    return dl_log_bad(log, "invalid epoch '%.*s'",
                      (int)(m.len < 40 ? m.len : 40), m.s);
  number = number > 0 ? number - 1 : 0;
  if (t->in_epoch && t->number == number && isnan(t->epoch_s) &&
      !t->seen[GPU] && !t->seen[CPU])
    return true; /* written twice */
  bool again = t->in_epoch && number <= t->number;
  if (t->open && t->run.n_epochs > 0)
    again = again || number <= t->run.epoch[t->run.n_epochs - 1].number;
  if (again)
    close_run(log);
  else
    close_epoch(log, false);
  open_run(t);
  t->in_epoch = true;
  t->number = number;
  t->epoch_s = NAN;
  t->time = *time;
  for (enum part p = 0; p < N_PARTS; p++) {
    t->seen[p] = false;
    t->power[p] = NAN;
    t->n[p] = 0;
  }
  return true;
}

static bool read_duration(struct dl_log *log, struct dl_ct_text m) {
  struct tracker *t = log->state;
  double s;
  if (!t->in_epoch)
    return dl_log_bad(log, "a duration without an epoch");
  if (!dl_parse_elapsed(m.s, m.len, &s))
    return dl_log_bad(log, "invalid duration '%.*s'",
                      (int)(m.len < 40 ? m.len : 40), m.s);
  t->epoch_s = s;
  return true;
}

/* Adds the numbers of a list, up to its "]" where it has one. */
static bool read_list(struct dl_log *log, struct dl_ct_text m) {
  struct tracker *t = log->state;
  const char *s = m.s, *end = m.s + m.len;
  for (; s < end && *s != ']'; s++) {
    double x = NAN;
    size_t n = 0;
    while (s + n < end && s[n] != '\0' && !strchr(" \t,[]", s[n]))
      n++;
    if (n == 0)
      continue;
    if (!dl_cell_number(s, n, &x) || x < 0 || x > 1e9) {
      t->in_list = false;
      t->power[t->part] = NAN;
      t->n[t->part] = 0;
      return dl_log_bad(log, "invalid power '%.*s'", (int)(n < 40 ? n : 40), s);
    }
    t->power[t->part] += x;
    if (!isnan(x))
      t->n[t->part]++;
    s += n - 1;
  }
  if (s < end) {
    t->in_list = false;
    t->seen[t->part] = true;
    if (t->n[t->part] == 0)
      t->power[t->part] = NAN; /* "[]" */
  }
  return true;
}

static bool read_power(struct dl_log *log, struct dl_ct_text m) {
  struct tracker *t = log->state;
  enum part p = 0;
  if (!t->in_epoch)
    return dl_log_bad(log, "a power without an epoch");
  while (p < N_PARTS &&
         !(m.len > 3 && m.s[3] == ':' && memcmp(m.s, part_names[p], 3) == 0))
    p++;
  if (p == N_PARTS)
    return dl_log_bad(log, "power of an unknown component");
  m = trimmed(m.s + 4, m.len - 4);
  t->part = p;
  if (!t->has[p] && t->run.n_epochs > 0)
    t->energy[p] = NAN; /* as it is for the epochs before */
  t->has[p] = true;
  t->power[p] = 0;
  t->n[p] = 0;
  t->seen[p] = false;
  t->in_list = m.len > 0 && *m.s == '[';
  if (m.len == 0)
    return dl_log_bad(log, "invalid power ''");
  if (!read_list(log, m)) {
    t->seen[p] = true; /* but unknown */
    return false;
  }
  if (!t->in_list)
    t->seen[p] = true;
  return true;
}

static void read_pue(struct tracker *t, struct dl_ct_text m) {
  static const char word[] = "PUE coefficient of ";
  const char *at = memmem(m.s, m.len, word, strlen(word));
  if (!at)
    return;
  open_run(t);
  at += strlen(word);
  size_t n = 0;
  while (at + n < m.s + m.len && at[n] != ' ')
    n++;
  dl_parse_number(at, n, &t->pue);
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct tracker *t = log->state;
  struct dl_timestamp time;
  struct dl_ct_text m = dl_ct_message(s, len, &time);
  if (!time.dated && t->in_list)
    return read_list(log, m);
  t->in_list = false;
  dl_ct_take(&m, "CarbonTracker: ");
  if (dl_ct_take(&m, version_word) ||
      dl_ct_take(&m, "Monitoring thread ended.")) {
    close_run(log);
  } else if (dl_ct_take(&m, found_word)) {
    open_run(t);
    dl_ct_components(m, &t->run, &t->has[GPU], &t->has[CPU]);
  } else if (dl_ct_take(&m, "Epoch ")) {
    /* "Epoch duration is too short ..." is a warning. */
    return m.len == 0 || *m.s < '0' || *m.s > '9' || read_epoch(log, m, &time);
  } else if (dl_ct_take(&m, "Duration:")) {
    return read_duration(log, m);
  } else if (dl_ct_take(&m, power_word)) {
    return read_power(log, m);
  } else if (dl_ct_take(&m, "Only predicted and actual")) {
    read_pue(t, m);
  } else if (t->open && dl_ct_take(&m, "Training was interrupted")) {
    dl_run_lend_text(&t->run, DL_RUN_state, "interrupted");
  }
  return true; /* what else there is, does not matter */
}

static void free_state(void *state) {
  struct tracker *t = state;
  if (t->open)
    dl_run_clear(&t->run);
}

const struct dl_importer dl_import_carbontracker = {
    .name = "carbontracker",
    .summary = "carbontracker's standard log: power of each epoch",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct tracker),
    .probe = probe,
    .line = line,
    .end = close_run,
    .free = free_state,
};
