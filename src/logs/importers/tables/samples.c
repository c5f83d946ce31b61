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
 * "fraction" or similar. An energy is a cumulative counter, unless its name has
 * "delta" or "interval", or it falls as no counter does and there is no power:
 * then it is that of the interval which ends with the row. A column that is
 * constant, or falls beside a power, is not used. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/tables/sample_header.h"
#include "logs/log.h"

static bool probe(const struct dl_head *head) {
  struct dl_samples s;
  return dl_samples_find(&s, head);
}

/* If there are columns per device, a column without a device number is their
 * sum or mean and would count them twice. */
static void drop_sums(struct dl_log *log, struct dl_samples *s) {
  bool numbered[DL_METER_NODE + 1] = {false};
  size_t n = 0;
  for (size_t i = 0; i < s->n_channels; i++)
    if (s->channel[i].index >= 0 && dl_samples_measures(&s->channel[i]))
      numbered[s->channel[i].kind] = true;
  for (size_t i = 0; i < s->n_channels; i++) {
    struct dl_sample_channel *c = &s->channel[i];
    if (c->index >= 0 || !numbered[c->kind])
      s->channel[n++] = *c;
    else if (dl_samples_measures(c))
      dl_log_warn(log, "a column without a device's number is left out, since "
                       "others have one");
  }
  s->n_channels = n;
}

/* --- rows */

/* Points in time and relative times cannot be mixed. */
static bool of_clock(struct dl_log *log, struct dl_samples *s,
                     enum dl_sample_clock clock, const char *text) {
  if (s->clock == DL_TIME_UNKNOWN)
    s->clock = clock;
  return s->clock == clock ||
         dl_log_bad(log, "column '%s': '%.40s' is no %s, as those before are",
                    s->time_name, text,
                    clock == DL_TIME_POINTS ? "time from the beginning"
                                            : "point in time");
}

/* Whether numbers of a table may have decimal commas: others separate its
 * columns. */
static bool has_commas(const struct dl_log *log) {
  const struct dl_samples *s = log->state;
  return s->separator != ',';
}

static bool read_time(struct dl_log *log, struct dl_samples *s, char **field,
                      int64_t *ns) {
  bool elapsed = strncasecmp(s->time_name, "elapsed", 7) == 0;
  char text[96];
  double x;
  int date = s->label[DL_LABEL_DATE];
  if (date < 0)
    snprintf(text, sizeof text, "%.60s", field[s->time]);
  else
    snprintf(text, sizeof text, "%s %.60s", field[date], field[s->time]);
  size_t len = strlen(text);
  bool from_start = false;
  char *comma = strchr(text, ',');
  if (comma && has_commas(log) && strspn(text, "0123456789,") == len)
    *comma = '.';
  if (dl_parse_double(text, &x))
    from_start = fabs(x * s->unit_s) < DL_SINCE_1970_S;
  else if (elapsed)
    from_start = dl_parse_elapsed(text, len, &x);
  if (from_start) {
    if (!of_clock(log, s, DL_TIME_FROM_START, text))
      return false;
    *ns = dl_log_time_since(log,
                            elapsed && strchr(text, ':') ? x : x * s->unit_s);
    return true;
  }
  if (!dl_log_time(log, text, len, ns)) {
    const char *remedy = dl_parse_double(text, &x)
                             ? ": in which unit? name the column time_ns, "
                               "time_us or time_ms"
                             : "";
    return dl_log_bad(log, "column '%s': invalid time '%.40s'%s", s->time_name,
                      text, remedy);
  }
  return of_clock(log, s, DL_TIME_POINTS, text);
}

/* Takes a comma for a decimal point. The first one is warned of if three digits
 * follow, as in a thousand. */
static void take_comma(struct dl_log *log, char *s, char *comma) {
  struct dl_samples *of = log->state;
  const size_t decimals = strspn(comma + 1, "0123456789");
  *comma = '.';
  if (!of->took_comma && decimals == 3)
    dl_log_warn(log,
                "'%.*s,%.3s' is taken for %.*s.%.3s; if its comma separates "
                "thousands, write it without",
                (int)(comma - s), s, comma + 1, (int)(comma - s), s, comma + 1);
  of->took_comma = true;
}

/* A value of a channel; NaN if there is no such column. */
static bool number(struct dl_log *log, const struct dl_sample_channel *c,
                   enum dl_sample_quantity q, char **field, double *x) {
  static const char *const what[] = {"power", "energy", "utilisation"};
  static const enum dl_dimension dimension[] = {DL_POWER, DL_ENERGY_UNIT,
                                                DL_SHARE};
  *x = NAN;
  if (c->at[q] < 0)
    return true;
  char *s = field[c->at[q]], *comma = strchr(s, ',');
  if (comma && has_commas(log) && !strchr(s, '.') && !strchr(comma + 1, ','))
    take_comma(log, s, comma);
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
  char text[DL_SAMPLE_LINE];
  size_t at = 0, node, n;
  while (dl_head_line(head, &at, text, sizeof text) && text[0] == '#')
    if (sscanf(text, "# node: %zu of %zu", &node, &n) == 2)
      o->n_nodes = n;
    else if (strncmp(text, "# job: ", 7) == 0)
      snprintf(o->job, sizeof o->job, "%.159s", text + 7);
    else if (strncmp(text, "# host: ", 8) == 0)
      snprintf(o->host, sizeof o->host, "%.63s", text + 8);
}

/* Names the GPUs of a recording of dlest by its comments: "# gpu0: NAME, ID, by
 * nvml, limit 400 W". */
static void name_devices(struct dl_log *log, struct dl_samples *s,
                         const struct dl_head *head) {
  char text[DL_SAMPLE_LINE], id[16];
  size_t at = 0;
  long index;
  while (dl_head_line(head, &at, text, sizeof text) && text[0] == '#') {
    int name_at = 0; /* %n is not stored where the colon is missing. */
    if (sscanf(text, "# gpu%ld: %n", &index, &name_at) != 1 || name_at == 0)
      continue;
    for (size_t i = 0; i < s->n_channels; i++) {
      struct dl_sample_channel *c = &s->channel[i];
      const char *limit = strstr(text, ", limit ");
      double watts;
      if (c->kind != DL_METER_GPU || c->index != index)
        continue;
      text[name_at + (int)strcspn(text + name_at, ",")] = '\0';
      snprintf(id, sizeof id, "%ld", index);
      c->meter = dl_log_meter(log, DL_METER_GPU, id, text + name_at);
      c->made = true;
      if (limit && sscanf(limit, ", limit %lf W", &watts) == 1)
        dl_log_limit(log, c->meter, watts);
    }
  }
}

/* Distinguishes several GPUs in one column that no other column identifies. */
static enum dl_status find_turns(struct dl_samples *s, struct dl_log *log,
                                 const struct dl_head *head,
                                 struct dl_diag *d) {
  int host = s->label[DL_LABEL_HOST];
  if (dl_samples_device_field(s) >= 0 || s->n_channels != 1 ||
      s->channel[0].kind != DL_METER_GPU || s->channel[0].index >= 0 ||
      s->more.n > 1 || (s->of_sensors && host >= 0))
    return DL_OK;
  const int *at = s->channel[0].at;
  struct dl_turns turns = {.separator = s->separator,
                           .n_fields = s->n_fields,
                           .time = s->time,
                           .unit_s = s->unit_s,
                           .value = at[DL_SAMPLE_POWER],
                           .of = s->more.n == 1 ? s->more.field[0] : host};
  if (s->of_sensors)
    turns.of = s->sensor;
  if (turns.value < 0)
    turns.value = at[DL_SAMPLE_ENERGY];
  if (turns.of >= 0)
    return dl_turns_refuse(turns, log, head, d);
  s->turns = turns;
  dl_turns_find(&s->turns, log, head);
  return DL_OK;
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct dl_samples *s = log->state;
  read_origin(log, head);
  if (!dl_samples_find(s, head))
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
  if (s->unread[0] != '\0')
    dl_log_warn(log,
                "column '%s' is not read: if it is a power or an energy, give "
                "it a name such as gpu0_power_w or cpu_energy_j",
                s->unread);
  s->epoch = NAN;
  log->has_epochs = s->label[DL_LABEL_EPOCH] >= 0;
  name_devices(log, s, head);
  DL_TRY(dl_samples_devices(s, log, head, d));
  if (s->unclear[0] != '\0' && !s->of_sensors && dl_samples_device_field(s) < 0)
    dl_log_warn(log, "column '%s' does not say of what: taken for a GPU's",
                s->unclear);
  return find_turns(s, log, head, d);
}

/* The identifier of a sensor: its host, the device and further columns that
 * distinguish it, and its name. */
static void name_sensor(const struct dl_samples *s, char *const *field,
                        char *id, size_t size) {
  const int at[] = {s->label[DL_LABEL_HOST], dl_samples_device_field(s),
                    s->more.n > 0 ? s->more.field[0] : -1,
                    s->more.n > 1 ? s->more.field[1] : -1};
  id[0] = '\0';
  for (size_t i = 0; i < DL_LENGTH(at); i++)
    if (at[i] >= 0 && at[i] != s->sensor)
      snprintf(id + strlen(id), size - strlen(id), "%.60s:", field[at[i]]);
  snprintf(id + strlen(id), size - strlen(id), "%.60s", field[s->sensor]);
}

/* The meter of a row of a sensor. False if it counts in no sum. */
static bool sensor_of(struct dl_log *log, struct dl_samples *s, char **field,
                      uint32_t *meter) {
  enum dl_meter_kind kind;
  const char *name = field[s->sensor];
  char id[256];
  switch (dl_sample_sensor(name, &kind)) {
  case DL_SENSOR_WHOLE:
    name_sensor(s, field, id, sizeof id);
    *meter = dl_log_meter(log, kind, id, NULL);
    return true;
  case DL_SENSOR_PART:
    if (!s->warned_part)
      dl_log_warn(log, "sensor '%.60s' is a part of another one: not counted",
                  name);
    s->warned_part = true;
    return false;
  case DL_SENSOR_UNKNOWN:
    break;
  }
  return dl_log_bad(log, "sensor '%.60s': of what is unknown", name);
}

static uint32_t meter_of(struct dl_log *log, struct dl_samples *s,
                         struct dl_sample_channel *c, char **field) {
  int name_at = s->label[DL_LABEL_NAME], host_at = s->label[DL_LABEL_HOST];
  const char *name = name_at < 0 ? NULL : field[name_at];
  bool of_row = c->kind == DL_METER_GPU && c->index < 0;
  bool named = of_row && dl_samples_device_field(s) >= 0;
  char id[256] = "";
  if (s->turns.n > 1) {
    snprintf(id, sizeof id, "%zu", dl_turns_next(&s->turns, c->last_ns));
    return dl_log_meter(log, DL_METER_GPU, id, name);
  }
  if (!named && host_at < 0 && !c->by_row) {
    if (c->kind != DL_METER_GPU)
      name = NULL;
    if (c->index >= 0)
      snprintf(id, sizeof id, "%ld", c->index);
    if (!c->made)
      c->meter = dl_log_meter(log, c->kind, *id ? id : NULL, name);
    c->made = true;
    return c->meter;
  }
  if (host_at >= 0)
    snprintf(id, sizeof id, "%.60s", field[host_at]);
  size_t len = strlen(id);
  if (named)
    snprintf(id + len, sizeof id - len, "%s%.60s", len > 0 ? ":" : "",
             field[dl_samples_device_field(s)]);
  else if (c->index >= 0)
    snprintf(id + len, sizeof id - len, "%s%ld", len > 0 ? ":" : "", c->index);
  if (c->by_row)
    dl_device_columns_id(&s->more, field, id, sizeof id);
  uint32_t meter = dl_log_meter(
      log, c->kind, id,
      c->kind == DL_METER_GPU && (named || c->by_row) ? name : NULL);
  if (named && s->label[DL_LABEL_UUID] >= 0)
    dl_log_uuid(log, meter);
  return meter;
}

/* Whether the rows name their device, so that values of the whole node are
 * repeated in several rows. */
static bool repeats(const struct dl_samples *s,
                    const struct dl_sample_channel *c) {
  return (dl_samples_device_field(s) >= 0 || s->more.n > 0) && !c->by_row &&
         s->label[DL_LABEL_HOST] < 0 &&
         !(c->kind == DL_METER_GPU && c->index < 0);
}

/* Two runs in one table would be read as one: the second is left out. */
static bool is_of_run(struct dl_log *log, struct dl_samples *s, char **field) {
  const char *run =
      s->label[DL_LABEL_RUN] < 0 ? "" : field[s->label[DL_LABEL_RUN]];
  if (s->run[0] == '\0')
    dl_samples_name(s->run, run);
  return strncmp(s->run, run, DL_SAMPLE_NAME - 1) == 0 || *run == '\0' ||
         dl_log_bad(log,
                    "a row of another run, '%.63s' after '%s'; make one log of "
                    "each run",
                    run, s->run);
}

/* Reads a later header, whose columns may differ. False if the fields are not a
 * header. */
static bool read_next_header(struct dl_log *log, struct dl_samples *s,
                             char **field, size_t n) {
  struct dl_samples new;
  char c = (size_t)s->time < n ? field[s->time][0] : 'x';
  if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.' ||
      !dl_samples_header(&new, field, n, s->separator))
    return false;
  drop_sums(log, &new);
  for (size_t i = 0; i < new.n_channels; i++)
    for (size_t k = 0; k < s->n_channels; k++) {
      const struct dl_sample_channel *old = &s->channel[k];
      struct dl_sample_channel *same = &new.channel[i];
      if (old->kind != same->kind || old->index != same->index)
        continue;
      same->made = old->made;
      same->meter = old->meter;
      same->last_ns = old->last_ns;
      same->by_row = old->by_row;
      same->deltas = same->deltas || old->deltas;
    }
  new.clock = s->clock;
  new.epoch = s->epoch;
  new.last_ns = s->last_ns;
  dl_samples_name(new.run, s->run);
  dl_samples_keep_devices(s, &new, field);
  *s = new;
  dl_log_later_header(log);
  return true;
}

static void end_epoch(struct dl_log *log, int64_t ns) {
  struct dl_reading r =
      dl_reading_at(dl_log_meter(log, DL_METER_EPOCH, NULL, NULL), ns);
  dl_log_reading(log, &r);
}

/* An epoch ends where the next one's first row is; rows without a number, of a
 * validation, belong to it. */
static void follow_epoch(struct dl_log *log, struct dl_samples *s, char **field,
                         int64_t ns) {
  double x;
  int at = s->label[DL_LABEL_EPOCH];
  s->last_ns = ns;
  if (at < 0 || !dl_parse_double(field[at], &x))
    return;
  if (!isnan(s->epoch) && floor(x) > s->epoch)
    end_epoch(log, ns);
  s->epoch = floor(x);
}

static bool line(struct dl_log *log, char *text) {
  struct dl_samples *s = log->state;
  struct dl_reading r[DL_SAMPLE_CHANNELS];
  char *field[DL_SAMPLE_FIELDS + 1];
  int64_t ns;
  text += strspn(text, " ");
  size_t n = dl_cell_split(text, s->separator, field, DL_SAMPLE_FIELDS + 1);
  if (text[0] == '#')
    dl_log_comment(log, text);
  if (text[0] == '#' || read_next_header(log, s, field, n))
    return true;
  if (s->separator == ',')
    n = dl_cell_join_time(field, n, s->n_fields);
  if (n != s->n_fields)
    return dl_log_bad(log, "expected %zu fields, found %zu%s", s->n_fields, n,
                      dl_cell_hint(s->separator, n, s->n_fields));
  if (!is_of_run(log, s, field))
    return false;
  dl_device_columns_follow(&s->more, field, log);
  size_t n_channels = s->n_channels;
  int host =
      s->label[DL_LABEL_HOST] >= 0 ? s->label[DL_LABEL_HOST] : s->more.host;
  for (size_t i = 0; i < n_channels; i++)
    if (!number(log, &s->channel[i], DL_SAMPLE_POWER, field, &r[i].power_w) ||
        !number(log, &s->channel[i], DL_SAMPLE_ENERGY, field, &r[i].energy_j) ||
        !number(log, &s->channel[i], DL_SAMPLE_UTIL, field, &r[i].util))
      return false;
  if (!read_time(log, s, field, &ns))
    return false;
  follow_epoch(log, s, field, ns);
  for (size_t i = 0; i < n_channels; i++) {
    struct dl_sample_channel *c = &s->channel[i];
    bool empty =
        isnan(r[i].power_w) && isnan(r[i].energy_j) && isnan(r[i].util);
    bool again = repeats(s, c) && c->made && c->last_ns == ns;
    if ((empty && n_channels > 1) || again)
      continue;
    r[i].ns = c->last_ns = ns;
    r[i].memory_util = 0;
    r[i].is_mean = false;
    if (s->of_sensors) {
      if (!sensor_of(log, s, field, &r[i].meter))
        return true;
    } else {
      r[i].meter = meter_of(log, s, c, field);
    }
    if (host >= 0)
      dl_log_host(log, r[i].meter, field[host]);
    if (c->deltas && r[i].meter < log->n_meters && !isnan(r[i].energy_j))
      r[i].energy_j = log->meter[r[i].meter].sum_j += r[i].energy_j;
    dl_log_reading(log, &r[i]);
  }
  return true;
}

static void end(struct dl_log *log) {
  const struct dl_samples *s = log->state;
  dl_turns_end(&s->turns, log);
  if (s->label[DL_LABEL_EPOCH] >= 0 && !isnan(s->epoch))
    end_epoch(log, s->last_ns);
}

const struct dl_importer dl_import_samples = {
    .name = "samples",
    .summary = "a table with a column of times and some of power or energy",
    .state_size = sizeof(struct dl_samples),
    .probe = probe,
    .lacks = dl_sample_lacks,
    .begin = begin,
    .line = line,
    .end = end,
};
