/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which device the rows of a table of samples are of, by its first rows. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/tables/sample_header.h"
#include "logs/log.h"

/* No GPU or CPU takes more. */
#define DEVICE_MAX_W 3000.0

int dl_samples_device_field(const struct dl_samples *s) {
  return s->label[DL_LABEL_UUID] >= 0 ? s->label[DL_LABEL_UUID]
                                      : s->label[DL_LABEL_INDEX];
}

static void set_roles(const struct dl_samples *s,
                      struct dl_device_table *table) {
  struct dl_sample_column c;
  size_t rank;
  for (size_t i = 0; i < s->n_fields; i++)
    if (dl_sample_time(table->name[i], &rank) > 0 ||
        dl_sample_column(table->name[i], &c))
      table->role[i] = DL_FIELD_MEASURED;
  for (int label = DL_LABEL_NAME; label < DL_LABEL_OTHER; label++)
    if (s->label[label] >= 0)
      table->role[s->label[label]] =
          label == DL_LABEL_DATE ? DL_FIELD_TIME : DL_FIELD_DEVICE;
  if (dl_samples_device_field(s) >= 0)
    table->role[dl_samples_device_field(s)] = DL_FIELD_DEVICE;
  table->role[s->time] = DL_FIELD_TIME;
}

/* How many kinds of sensors a column names; 0 if it names GPUs alone. `all`:
 * whether each of its values is a sensor's name. */
static size_t count_sensors(const struct dl_head *head,
                            const struct dl_device_table *table, int field,
                            bool *all) {
  char value[DL_DEVICE_VALUES][64];
  bool seen[DL_METER_NODE + 2] = {false};
  size_t n = 0;
  dl_device_values(head, table, field, value);
  *all = true;
  for (size_t i = 0; value[i][0] != '\0'; i++) {
    enum dl_meter_kind kind;
    enum dl_sample_sensor sensor = dl_sample_sensor(value[i], &kind);
    *all &= sensor != DL_SENSOR_UNKNOWN;
    if (sensor == DL_SENSOR_UNKNOWN)
      continue;
    bool *kind_seen =
        &seen[sensor == DL_SENSOR_PART ? DL_METER_NODE + 1 : (int)kind];
    n += !*kind_seen;
    *kind_seen = true;
  }
  return n == 1 && seen[DL_METER_GPU] ? 0 : n;
}

/* Whether a column names sensors: where it alone distinguishes rows, or is the
 * device's, one kind but GPUs is enough, and elsewhere two. Where rows have
 * devices besides, each value has to be a sensor's name. */
static bool names_sensors(const struct dl_samples *s,
                          const struct dl_head *head,
                          const struct dl_device_table *table, int field,
                          size_t *n) {
  bool device = field == s->label[DL_LABEL_INDEX], choice = false, all;
  if (!device && field != s->label[DL_LABEL_NAME] &&
      table->role[field] != DL_FIELD_OTHER)
    return false;
  for (size_t i = 0; i < s->more.n_choices; i++)
    choice |= s->more.choice[i] == field;
  *n = count_sensors(head, table, field, &all);
  return *n >= (device || choice ? 1 : 2) &&
         (all || (choice && dl_samples_device_field(s) < 0));
}

/* A power or an energy of nothing in particular, in rows of sensors. */
static void find_sensors(struct dl_samples *s, const struct dl_head *head,
                         const struct dl_device_table *table) {
  size_t most = 0, n;
  if (s->n_channels != 1 || s->unclear[0] == '\0')
    return;
  for (int i = 0; (size_t)i < s->n_fields; i++) {
    if (!names_sensors(s, head, table, i, &n) || n <= most)
      continue;
    most = n;
    s->of_sensors = true;
    s->sensor = i;
    dl_samples_name(s->sensor_name, table->name[i]);
    for (size_t k = 0; k < s->more.n_choices; k++)
      if (s->more.choice[k] == i)
        s->more.field[0] = i;
  }
}

/* Whether each row has a device of a channel: of GPUs, if rows are of GPUs.
 * Values of the node are repeated in rows of its GPUs. */
static enum dl_status split(struct dl_samples *s, const struct dl_head *head,
                            const struct dl_device_table *table,
                            struct dl_diag *d) {
  bool of_gpus = false;
  for (size_t i = 0; i < s->n_channels; i++)
    of_gpus |= s->channel[i].kind == DL_METER_GPU && s->channel[i].index < 0;
  for (size_t i = 0; i < s->n_channels; i++) {
    struct dl_sample_channel *c = &s->channel[i];
    int at = c->at[DL_SAMPLE_POWER] >= 0 ? c->at[DL_SAMPLE_POWER]
                                         : c->at[DL_SAMPLE_ENERGY];
    bool differs = at >= 0 && dl_device_differs(head, table, at);
    c->by_row = c->index < 0 && (c->kind == DL_METER_GPU || !of_gpus);
    if (c->by_row || !differs || s->label[DL_LABEL_HOST] >= 0)
      continue;
    if (s->more.host < 0)
      return dl_fail_at(d, DL_EINPUT, head->path, 1,
                        "column '%s' differs between rows of one time: of how "
                        "many nodes is unclear; add a column 'hostname'",
                        table->name[at]);
    c->by_row = true;
  }
  return DL_OK;
}

/* Refuses numbers without a unit that are no watts. */
static enum dl_status check_units(const struct dl_samples *s,
                                  const struct dl_head *head,
                                  const struct dl_device_table *table,
                                  struct dl_diag *d) {
  char value[DL_DEVICE_VALUES][64];
  for (size_t i = 0; i < s->n_channels && s->unclear[0] == '\0'; i++) {
    const struct dl_sample_channel *c = &s->channel[i];
    int at = c->at[DL_SAMPLE_POWER];
    double x;
    if (at < 0 || !c->no_unit || c->kind > DL_METER_CPU)
      continue;
    dl_device_values(head, table, at, value);
    for (size_t k = 0; value[k][0] != '\0'; k++)
      if (dl_parse_double(value[k], &x) && x > DEVICE_MAX_W)
        return dl_fail_at(d, DL_EINPUT, head->path, 1,
                          "column '%s' has no unit, and %g are no watts; name "
                          "it '%s (mW)' if they are milliwatts",
                          table->name[at], x, table->name[at]);
  }
  return DL_OK;
}

/* Finds energies of intervals without a power beside them: a column that is
 * called so, or falls as no counter does. */
static void find_deltas(struct dl_samples *s, struct dl_log *log,
                        const struct dl_head *head,
                        const struct dl_device_table *table) {
  for (size_t i = 0; i < s->n_channels; i++) {
    struct dl_sample_channel *c = &s->channel[i];
    int at = c->at[DL_SAMPLE_ENERGY];
    if (at < 0 || c->deltas || c->at[DL_SAMPLE_POWER] >= 0 ||
        !dl_device_falls(head, table, &s->more, at))
      continue;
    c->deltas = true;
    dl_log_warn(log,
                "column '%s' falls as no counter does: read as the energy of "
                "each interval",
                table->name[at]);
  }
}

/* Warns of a counter whose rows have names each: they may be of runs. */
static void doubt_counter(const struct dl_samples *s, struct dl_log *log,
                          const struct dl_head *head,
                          const struct dl_device_table *table) {
  int at = s->channel[0].at[DL_SAMPLE_ENERGY];
  bool counter = s->n_channels > 0 && at >= 0 && !s->channel[0].deltas &&
                 s->channel[0].at[DL_SAMPLE_POWER] < 0;
  for (int i = 0; counter && (size_t)i < s->n_fields; i++)
    if (table->role[i] == DL_FIELD_OTHER &&
        dl_device_each_named(head, table, i)) {
      dl_log_warn(log,
                  "column '%s' differs in each row: if rows are of runs, '%s' "
                  "is no counter; name the columns of a table of runs "
                  "'run_id' and 'duration_s'",
                  table->name[i], table->name[at]);
      return;
    }
}

/* Warns of a number of GPUs beside a power of GPUs that no column divides. */
static void doubt_count(const struct dl_samples *s, struct dl_log *log,
                        const struct dl_head *head,
                        const struct dl_device_table *table) {
  static const char names[] =
      "n_gpus|num_gpus|n_gpu|num_gpu|ngpus|gpu_count|gpus|world_size";
  char value[DL_DEVICE_VALUES][64];
  double n;
  size_t n_gpus = 0;
  for (size_t i = 0; i < s->n_channels; i++)
    n_gpus += s->channel[i].kind == DL_METER_GPU;
  if (n_gpus != 1 || s->more.n > 0 || dl_samples_device_field(s) >= 0)
    return;
  for (int i = 0; (size_t)i < s->n_fields; i++) {
    if (dl_word_among(names, table->name[i], strlen(table->name[i])) < 0)
      continue;
    dl_device_values(head, table, i, value);
    if (dl_parse_double(value[0], &n) && n > 1)
      dl_log_warn(log,
                  "column '%s' has %g, but one power: taken for that of all "
                  "GPUs together",
                  table->name[i], n);
  }
}

enum dl_status dl_samples_devices(struct dl_samples *s, struct dl_log *log,
                                  const struct dl_head *head,
                                  struct dl_diag *d) {
  char *name[DL_SAMPLE_FIELDS], names[DL_SAMPLE_LINE];
  struct dl_device_table table = {
      .separator = s->separator, .n_fields = s->n_fields, .name = name};
  memcpy(names, s->header, sizeof names);
  dl_cell_split(names, s->separator, name, DL_SAMPLE_FIELDS);
  set_roles(s, &table);
  DL_TRY(check_units(s, head, &table, d));
  dl_device_columns_find(&s->more, head, &table);
  find_deltas(s, log, head, &table);
  doubt_counter(s, log, head, &table);
  find_sensors(s, head, &table);
  doubt_count(s, log, head, &table);
  if (s->more.n == 0)
    return DL_OK;
  if (!s->of_sensors)
    dl_device_columns_warn(&s->more, &table, log);
  for (size_t i = 0; i < s->more.n; i++)
    dl_samples_name(s->more_name[i], name[s->more.field[i]]);
  return split(s, head, &table, d);
}

void dl_samples_keep_devices(const struct dl_samples *old,
                             struct dl_samples *new, char *const *field) {
  new->more = old->more;
  if (new->n_fields != old->n_fields)
    new->more.n_seldom = 0; /* columns have moved */
  new->of_sensors = old->of_sensors;
  dl_samples_name(new->sensor_name, old->sensor_name);
  for (size_t k = 0; old->of_sensors && k < new->n_fields; k++)
    if (strncmp(field[k], old->sensor_name, DL_SAMPLE_NAME - 1) == 0)
      new->sensor = (int)k;
  new->turns = old->turns;
  for (size_t i = 0; i < old->more.n; i++) {
    dl_samples_name(new->more_name[i], old->more_name[i]);
    for (size_t k = 0; k < new->n_fields; k++)
      if (strcmp(field[k], old->more_name[i]) == 0) {
        if (new->more.host == old->more.field[i])
          new->more.host = (int)k;
        new->more.field[i] = (int)k;
      }
    if (new->more.field[i] >= (int)new->n_fields)
      new->more.n = 0;
  }
}
