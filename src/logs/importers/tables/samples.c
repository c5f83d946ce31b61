/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of samples as users' own scripts write them: one row per time (and
 * device), with a column of times and other columns recognised by their names:
 *
 *   timestamp,gpu_power_w,cpu_power_w    t_s,gpu0_energy_mj,gpu1_energy_mj
 *   unix_time,index,power [mW],util_pct  # time;watts
 *   _timestamp,system.gpu.0.powerWatts   (Weights & Biases)
 *
 * sample_columns.c lists the names. Separators are commas, semicolons or tabs.
 * The header may be a comment, as numpy writes it; other lines that begin with
 * # are skipped. Times are points in time, or seconds (milliseconds ..., by the
 * name) since the beginning: values below 1e8 s are relative.
 *
 * Utilization is in percent, as NVML and psutil report it, unless the name has
 * "fraction" or similar. An energy must be a cumulative counter, not the energy
 * of one interval: a column that is constant or falls often is not used. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/device_turns.h"
#include "logs/importers/tables/sample_columns.h"
#include "logs/log.h"

enum {
  FIELDS_MAX = 256,
  CHANNELS_MAX = 96,
  HEAD_LINES = 64,
  LINE_SIZE = 8192,
  NAME_SIZE = 64,
  N_QUANTITIES = DL_SAMPLE_UTIL + 1
};

/* Columns of one meter, or of one meter per device that the rows name. */
struct channel {
  enum dl_meter_kind kind;
  long index; /* of the device, from the columns' names; -1: none */
  int at[N_QUANTITIES];
  double scale[N_QUANTITIES];
  bool util_has_unit;
  bool made;      /* meter is set */
  uint32_t meter; /* if the rows do not name the device */
  int64_t last_ns;
};

enum clock { NOT_KNOWN, POINTS, FROM_START };

struct samples {
  char separator;
  size_t n_fields;
  int time, label[DL_LABEL_OTHER]; /* fields; -1: none */
  double unit_s;
  char time_name[NAME_SIZE];
  char unclear[NAME_SIZE]; /* a column whose meter is unclear */
  char twice[NAME_SIZE];   /* a name that two columns have */
  char run[NAME_SIZE];     /* that the rows are of */
  char like[2][NAME_SIZE]; /* columns of one quantity: used, left out */
  enum clock clock;
  struct dl_turns turns; /* of GPUs, without a column that identifies them */
  size_t n_channels;
  struct channel channel[CHANNELS_MAX];
};

/* --- the header */

static void copy_name(char to[NAME_SIZE], const char *from) {
  snprintf(to, NAME_SIZE, "%.63s", from);
}

static struct channel *channel_of(struct samples *s,
                                  const struct dl_sample_column *c) {
  for (size_t i = 0; i < s->n_channels; i++)
    if (s->channel[i].kind == c->kind && s->channel[i].index == c->index)
      return &s->channel[i];
  if (s->n_channels == CHANNELS_MAX)
    return NULL;
  struct channel *new = &s->channel[s->n_channels++];
  *new = (struct channel){.kind = c->kind, .index = c->index};
  for (size_t q = 0; q < N_QUANTITIES; q++)
    new->at[q] = -1;
  return new;
}

/* The first column of a quantity is used. */
static void take_quantity(struct samples *s, char **names, int field) {
  const char *name = names[field];
  struct dl_sample_column c;
  if (!dl_sample_column(name, &c))
    return;
  struct channel *channel = channel_of(s, &c);
  int other = channel ? channel->at[c.quantity] : -1;
  if (other >= 0 && strcasecmp(names[other], name) == 0)
    copy_name(s->twice, name);
  if (other >= 0 && s->like[0][0] == '\0') {
    copy_name(s->like[0], names[other]);
    copy_name(s->like[1], name);
  }
  if (!channel || other >= 0)
    return;
  channel->at[c.quantity] = field;
  channel->scale[c.quantity] = c.scale;
  if (c.quantity == DL_SAMPLE_UTIL)
    channel->util_has_unit = !c.no_unit;
  else if (!c.names_meter && s->unclear[0] == '\0')
    copy_name(s->unclear, name);
}

static bool measures(const struct channel *c) {
  return c->at[DL_SAMPLE_POWER] >= 0 || c->at[DL_SAMPLE_ENERGY] >= 0;
}

/* Whether a column is one of trainings: beside it epoch_s is the time of an
 * epoch, not one since 1970. */
static bool is_of_trainings(const char *name) {
  return dl_word_among("arch|batch_size|train_samples|samples", name,
                       strlen(name)) >= 0;
}

/* A value instead of a name: the line is not a header. */
static bool is_value(const char *s) {
  struct dl_timestamp t;
  double x;
  return dl_parse_double(s, &x) || dl_parse_timestamp(s, strlen(s), &t);
}

static bool read_header(struct samples *s, char **field, size_t n_fields,
                        char separator) {
  size_t rank, best = SIZE_MAX;
  bool trainings = false, wandb = false;
  *s = (struct samples){.separator = separator, .time = -1};
  memset(s->label, -1, sizeof s->label);
  s->n_fields = n_fields;
  if (s->n_fields < 2 || s->n_fields > FIELDS_MAX)
    return false;
  for (size_t i = 0; i < s->n_fields; i++)
    wandb |= dl_sample_is_wandb(field[i]);
  for (size_t i = 0; i < s->n_fields; i++) {
    double unit_s = dl_sample_time(field[i], &rank);
    if (unit_s > 0 && rank < best) {
      best = rank;
      s->time = (int)i;
      s->unit_s = unit_s;
      copy_name(s->time_name, field[i]);
    }
    enum dl_sample_label label = dl_sample_label(field[i], wandb);
    trainings |= is_of_trainings(field[i]);
    if (is_value(field[i]) || label == DL_LABEL_OTHER)
      return false;
    if (label != DL_LABEL_NONE && s->label[label] < 0)
      s->label[label] = (int)i;
    else if (label == DL_LABEL_NONE && unit_s == 0)
      take_quantity(s, field, (int)i);
  }
  if (s->time < 0 && s->label[DL_LABEL_DATE] >= 0) { /* date and time in one */
    s->time = s->label[DL_LABEL_DATE];
    s->unit_s = 1;
    copy_name(s->time_name, field[s->time]);
  }
  if (strcasecmp(s->time_name, "time") != 0)
    s->label[DL_LABEL_DATE] = -1;
  bool any = false;
  for (size_t i = 0; i < s->n_channels; i++)
    any = any || measures(&s->channel[i]);
  return any && s->time >= 0 &&
         !(trainings && strcasecmp(s->time_name, "epoch_s") == 0);
}

/* The header is the first line that is not a comment, or a comment itself. */
static bool find_header(struct samples *s, const struct dl_head *head) {
  static const char separators[] = ",;\t";
  char buf[LINE_SIZE], copy[LINE_SIZE], *field[FIELDS_MAX];
  size_t at = 0;
  for (int i = 0; i < HEAD_LINES && dl_head_line(head, &at, buf, sizeof buf);
       i++) {
    const char *text = buf + strspn(buf, "# \t");
    for (const char *p = separators; *p != '\0'; p++) {
      memcpy(copy, text, strlen(text) + 1);
      size_t n = dl_cell_split(copy, *p, field, FIELDS_MAX);
      if (read_header(s, field, n, *p))
        return true;
    }
    if (buf[0] != '#')
      return false;
  }
  return false;
}

static bool probe(const struct dl_head *head) {
  struct samples s;
  return find_header(&s, head);
}

/* The field that identifies the device of a row; -1: none. */
static int device_field(const struct samples *s) {
  return s->label[DL_LABEL_UUID] >= 0 ? s->label[DL_LABEL_UUID]
                                      : s->label[DL_LABEL_INDEX];
}

/* If there are columns per device, a column without a device number is their
 * sum or mean and would count them twice. */
static void drop_sums(struct dl_log *log, struct samples *s) {
  bool numbered[DL_METER_NODE + 1] = {false};
  size_t n = 0;
  for (size_t i = 0; i < s->n_channels; i++)
    if (s->channel[i].index >= 0 && measures(&s->channel[i]))
      numbered[s->channel[i].kind] = true;
  for (size_t i = 0; i < s->n_channels; i++) {
    struct channel *c = &s->channel[i];
    if (c->index >= 0 || !numbered[c->kind])
      s->channel[n++] = *c;
    else if (measures(c))
      dl_log_warn(log, "a column without a device's number is left out, since "
                       "others have one");
  }
  s->n_channels = n;
}

/* --- rows */

/* Points in time and relative times cannot be mixed. */
static bool of_clock(struct dl_log *log, struct samples *s, enum clock clock,
                     const char *text) {
  if (s->clock == NOT_KNOWN)
    s->clock = clock;
  return s->clock == clock ||
         dl_log_bad(log, "column '%s': '%.40s' is no %s, as those before are",
                    s->time_name, text,
                    clock == POINTS ? "time from the beginning"
                                    : "point in time");
}

static bool read_time(struct dl_log *log, struct samples *s, char **field,
                      int64_t *ns) {
  bool elapsed = strncasecmp(s->time_name, "elapsed", 7) == 0;
  char text[96];
  double x;
  snprintf(text, sizeof text, "%s%s%.60s",
           s->label[DL_LABEL_DATE] < 0 ? "" : field[s->label[DL_LABEL_DATE]],
           s->label[DL_LABEL_DATE] < 0 ? "" : " ", field[s->time]);
  size_t len = strlen(text);
  bool from_start = dl_parse_double(text, &x)
                        ? fabs(x * s->unit_s) < DL_SINCE_1970_S
                    : elapsed ? dl_parse_elapsed(text, len, &x)
                              : false;
  if (from_start) {
    if (!of_clock(log, s, FROM_START, text))
      return false;
    *ns = dl_log_time_since(log,
                            elapsed && strchr(text, ':') ? x : x * s->unit_s);
    return true;
  }
  if (!dl_log_time(log, text, len, ns))
    return dl_log_bad(log, "column '%s': invalid time '%.40s'", s->time_name,
                      text);
  return of_clock(log, s, POINTS, text);
}

/* A value of a channel; NaN if there is no such column. */
static bool number(struct dl_log *log, const struct channel *c,
                   enum dl_sample_quantity q, char **field, double *x) {
  static const char *const what[] = {"power", "energy", "utilisation"};
  static const enum dl_dimension dimension[] = {DL_POWER, DL_ENERGY_UNIT,
                                                DL_SHARE};
  *x = NAN;
  if (c->at[q] < 0)
    return true;
  const char *s = field[c->at[q]];
  if (!dl_cell_value(s, strlen(s), dimension[q], c->scale[q], x) || *x < 0)
    return dl_log_bad(
        log, "field %d (%s): invalid number '%.40s'%s", c->at[q] + 1, what[q],
        s, strchr(s, ',') ? ": write points for decimal commas" : "");
  if (q != DL_SAMPLE_UTIL) {
    if (!isfinite(*x))
      *x = NAN;
    return true;
  }
  if (!c->util_has_unit && *x > 0 && *x < 0.01 && !strchr(s, '%'))
    dl_log_warn(log,
                "field %d (utilisation): read as percent; name it "
                "'..._fraction' if it is none",
                c->at[q] + 1);
  if (!(*x <= 1))
    *x = NAN;
  return true;
}

/* Comments of dlest record: what recordings of a job's nodes have in common. */
static void read_origin(struct dl_log *log, const struct dl_head *head) {
  struct dl_log_origin *o = &log->origin;
  char text[LINE_SIZE];
  size_t at = 0, node, n;
  while (dl_head_line(head, &at, text, sizeof text) && text[0] == '#')
    if (sscanf(text, "# node: %zu of %zu", &node, &n) == 2)
      o->n_nodes = n;
    else if (strncmp(text, "# job: ", 7) == 0)
      snprintf(o->job, sizeof o->job, "%.159s", text + 7);
    else if (strncmp(text, "# host: ", 8) == 0)
      snprintf(o->host, sizeof o->host, "%.63s", text + 8);
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct samples *s = log->state;
  read_origin(log, head);
  if (!find_header(s, head))
    return dl_fail_at(d, DL_EINPUT, head->path, 1,
                      "no header with a column of times and one of power or "
                      "energy, such as 'timestamp,gpu_power_w'");
  if (s->twice[0] != '\0')
    return dl_fail_at(d, DL_EINPUT, head->path, 1, "duplicate column '%s'",
                      s->twice);
  drop_sums(log, s);
  if (s->like[0][0] != '\0')
    dl_log_warn(log,
                "columns '%s' and '%s' are of one quantity: the first is "
                "used",
                s->like[0], s->like[1]);
  if (s->unclear[0] != '\0' && device_field(s) < 0)
    dl_log_warn(log, "column '%s' does not say of what: taken for a GPU's",
                s->unclear);
  if (device_field(s) < 0 && s->label[DL_LABEL_HOST] < 0 &&
      s->n_channels == 1 && s->channel[0].kind == DL_METER_GPU &&
      s->channel[0].index < 0) {
    const struct dl_turns_rows rows = {s->separator, s->n_fields, s->time,
                                       s->unit_s};
    dl_turns_find(&s->turns, log, head, &rows);
  }
  return DL_OK;
}

static uint32_t meter_of(struct dl_log *log, struct samples *s,
                         struct channel *c, char **field) {
  int name_at = s->label[DL_LABEL_NAME], host_at = s->label[DL_LABEL_HOST];
  const char *name = name_at < 0 ? NULL : field[name_at];
  const char *host = host_at < 0 ? NULL : field[host_at];
  char id[128];
  if (s->turns.n > 1) {
    snprintf(id, sizeof id, "%zu", dl_turns_next(&s->turns, c->last_ns));
    return dl_log_meter(log, DL_METER_GPU, id, name);
  }
  if (c->kind == DL_METER_GPU && c->index < 0 && device_field(s) >= 0) {
    snprintf(id, sizeof id, "%.40s%s%.80s", host ? host : "", host ? ":" : "",
             field[device_field(s)]);
    return dl_log_meter(log, DL_METER_GPU, id, name);
  }
  if (host && c->index < 0) {
    snprintf(id, sizeof id, "%.80s", host);
    return dl_log_meter(log, c->kind, id, NULL);
  }
  if (host) {
    snprintf(id, sizeof id, "%.80s:%ld", host, c->index);
    return dl_log_meter(log, c->kind, id, NULL);
  }
  if (!c->made) {
    snprintf(id, sizeof id, "%ld", c->index);
    c->meter = dl_log_meter(log, c->kind, c->index < 0 ? NULL : id,
                            c->kind == DL_METER_GPU ? name : NULL);
    c->made = true;
  }
  return c->meter;
}

/* Whether the rows name their device, so that values of the whole node are
 * repeated in several rows. */
static bool repeats(const struct samples *s, const struct channel *c) {
  return device_field(s) >= 0 && s->label[DL_LABEL_HOST] < 0 &&
         !(c->kind == DL_METER_GPU && c->index < 0);
}

/* Two runs in one table would be read as one: the second is left out. */
static bool is_of_run(struct dl_log *log, struct samples *s, char **field) {
  const char *run =
      s->label[DL_LABEL_RUN] < 0 ? "" : field[s->label[DL_LABEL_RUN]];
  if (s->run[0] == '\0')
    copy_name(s->run, run);
  return strncmp(s->run, run, NAME_SIZE - 1) == 0 || *run == '\0' ||
         dl_log_bad(log,
                    "a row of another run, '%.63s' after '%s'; make one log of "
                    "each run",
                    run, s->run);
}

/* Reads a later header, whose columns may differ. False if the fields are not a
 * header. */
static bool read_next_header(struct dl_log *log, struct samples *s,
                             char **field, size_t n) {
  struct samples new;
  char c = (size_t)s->time < n ? field[s->time][0] : 'x';
  if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.' ||
      !read_header(&new, field, n, s->separator))
    return false;
  drop_sums(log, &new);
  for (size_t i = 0; i < new.n_channels; i++)
    for (size_t k = 0; k < s->n_channels; k++) {
      const struct channel *old = &s->channel[k];
      struct channel *same = &new.channel[i];
      if (old->kind != same->kind || old->index != same->index)
        continue;
      same->made = old->made;
      same->meter = old->meter;
      same->last_ns = old->last_ns;
    }
  new.clock = s->clock;
  copy_name(new.run, s->run);
  new.turns = s->turns;
  *s = new;
  dl_log_later_header(log);
  return true;
}

static bool line(struct dl_log *log, char *text) {
  struct samples *s = log->state;
  struct dl_reading r[CHANNELS_MAX];
  char *field[FIELDS_MAX + 1];
  int64_t ns;
  text += strspn(text, " ");
  size_t n = dl_cell_split(text, s->separator, field, FIELDS_MAX + 1);
  if (text[0] == '#' || read_next_header(log, s, field, n))
    return true;
  if (s->separator == ',')
    n = dl_cell_join_time(field, n, s->n_fields);
  if (n != s->n_fields)
    return dl_log_bad(log, "expected %zu fields, found %zu%s", s->n_fields, n,
                      dl_cell_hint(s->separator, n, s->n_fields));
  if (!is_of_run(log, s, field))
    return false;
  size_t n_channels = s->n_channels;
  for (size_t i = 0; i < n_channels; i++)
    if (!number(log, &s->channel[i], DL_SAMPLE_POWER, field, &r[i].power_w) ||
        !number(log, &s->channel[i], DL_SAMPLE_ENERGY, field, &r[i].energy_j) ||
        !number(log, &s->channel[i], DL_SAMPLE_UTIL, field, &r[i].util))
      return false;
  if (!read_time(log, s, field, &ns))
    return false;
  for (size_t i = 0; i < n_channels; i++) {
    struct channel *c = &s->channel[i];
    bool empty =
        isnan(r[i].power_w) && isnan(r[i].energy_j) && isnan(r[i].util);
    bool again = repeats(s, c) && c->made && c->last_ns == ns;
    if ((empty && n_channels > 1) || again)
      continue;
    r[i].ns = c->last_ns = ns;
    r[i].meter = meter_of(log, s, c, field);
    if (s->label[DL_LABEL_HOST] >= 0)
      dl_log_host(log, r[i].meter, field[s->label[DL_LABEL_HOST]]);
    dl_log_reading(log, &r[i]);
  }
  return true;
}

static void end(struct dl_log *log) {
  const struct samples *s = log->state;
  dl_turns_end(&s->turns, log);
}

const struct dl_importer dl_import_samples = {
    .name = "samples",
    .summary = "a table with a column of times and some of power or energy",
    .state_size = sizeof(struct samples),
    .probe = probe,
    .lacks = dl_sample_lacks,
    .begin = begin,
    .line = line,
    .end = end,
};
