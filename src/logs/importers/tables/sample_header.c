/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/tables/sample_header.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"

enum { HEAD_LINES = 64 };

void dl_samples_name(char to[DL_SAMPLE_NAME], const char *from) {
  snprintf(to, DL_SAMPLE_NAME, "%.63s", from);
}

static struct dl_sample_channel *channel_of(struct dl_samples *s,
                                            const struct dl_sample_column *c) {
  for (size_t i = 0; i < s->n_channels; i++)
    if (s->channel[i].kind == c->kind && s->channel[i].index == c->index)
      return &s->channel[i];
  if (s->n_channels == DL_SAMPLE_CHANNELS)
    return NULL;
  struct dl_sample_channel *new = &s->channel[s->n_channels++];
  *new = (struct dl_sample_channel){.kind = c->kind, .index = c->index};
  for (size_t q = 0; q < DL_SAMPLE_QUANTITIES; q++)
    new->at[q] = -1;
  return new;
}

/* Whether a column is of CPUs or memory, so that a total is the node's. */
static bool has_parts(const struct dl_samples *s, char **names) {
  struct dl_sample_column c;
  for (size_t i = 0; i < s->n_fields; i++)
    if (dl_sample_column(names[i], &c) && c.quantity != DL_SAMPLE_UTIL &&
        (c.kind == DL_METER_CPU || c.kind == DL_METER_RAM))
      return true;
  return false;
}

/* The first column of a quantity is used. */
static void take_quantity(struct dl_samples *s, char **names, int field) {
  const char *name = names[field];
  struct dl_sample_column c;
  if (!dl_sample_column(name, &c))
    return;
  if (c.total && c.quantity == DL_SAMPLE_ENERGY && has_parts(s, names)) {
    c.kind = DL_METER_NODE;
    c.names_meter = true;
  }
  struct dl_sample_channel *channel = channel_of(s, &c);
  int other = channel ? channel->at[c.quantity] : -1;
  if (other >= 0 && strcasecmp(names[other], name) == 0)
    dl_samples_name(s->twice, name);
  if (other >= 0 && s->like[0][0] == '\0' && channel->mean == c.mean) {
    dl_samples_name(s->like[0], names[other]);
    dl_samples_name(s->like[1], name);
  }
  bool better = other >= 0 && channel->mean && !c.mean;
  if (!channel || (other >= 0 && !better))
    return;
  channel->at[c.quantity] = field;
  channel->scale[c.quantity] = c.scale;
  if (c.quantity == DL_SAMPLE_POWER) {
    channel->mean = c.mean;
    channel->no_unit = c.no_unit;
  }
  if (c.quantity == DL_SAMPLE_ENERGY)
    channel->deltas = c.delta;
  if (c.quantity == DL_SAMPLE_UTIL)
    channel->util_has_unit = !c.no_unit;
  else if (!c.names_meter && s->unclear[0] == '\0')
    dl_samples_name(s->unclear, name);
}

bool dl_samples_measures(const struct dl_sample_channel *c) {
  return c->at[DL_SAMPLE_POWER] >= 0 || c->at[DL_SAMPLE_ENERGY] >= 0;
}

/* Whether a name is the name of a column which is read, after a prefix, as of
 * another node: "n2_gpu0_power_w" beside "gpu0_power_w". */
static bool is_of_another(const struct dl_samples *s, char **names,
                          const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < s->n_channels; i++)
    for (int q = 0; q < DL_SAMPLE_UTIL; q++) {
      const char *read =
          s->channel[i].at[q] >= 0 ? names[s->channel[i].at[q]] : "";
      size_t more = n - strlen(read);
      if (*read != '\0' && n > strlen(read) + 1 &&
          strchr("_.:/ -", name[more - 1]) &&
          strcasecmp(name + more, read) == 0)
        return true;
    }
  return false;
}

/* Finds a column that seems to be of a power or an energy and is not read, if
 * no other column is of its meter, or one of another node is. */
static void find_unread(struct dl_samples *s, char **names) {
  for (size_t i = 0; i < s->n_fields && s->unread[0] == '\0'; i++) {
    enum dl_meter_kind kind = DL_METER_GPU;
    bool unread = dl_sample_unread(names[i], &kind), measured = false;
    for (size_t k = 0; k < s->n_channels; k++)
      measured |=
          s->channel[k].kind == kind || s->channel[k].kind == DL_METER_NODE;
    if (unread && (!measured || is_of_another(s, names, names[i])))
      dl_samples_name(s->unread, names[i]);
  }
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

bool dl_samples_header(struct dl_samples *s, char **field, size_t n_fields,
                       char separator) {
  size_t rank, best = SIZE_MAX;
  bool trainings = false, wandb = false;
  *s = (struct dl_samples){.separator = separator, .time = -1};
  memset(s->label, -1, sizeof s->label);
  s->n_fields = n_fields;
  if (s->n_fields < 2 || s->n_fields > DL_SAMPLE_FIELDS)
    return false;
  for (size_t i = 0; i < s->n_fields; i++)
    wandb |= dl_sample_is_wandb(field[i]);
  for (size_t i = 0; i < s->n_fields; i++) {
    double unit_s = dl_sample_time(field[i], &rank);
    if (unit_s > 0 && rank < best) {
      best = rank;
      s->time = (int)i;
      s->unit_s = unit_s;
      dl_samples_name(s->time_name, field[i]);
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
    dl_samples_name(s->time_name, field[s->time]);
  }
  if (dl_word_among("time", s->time_name, strlen(s->time_name)) < 0)
    s->label[DL_LABEL_DATE] = -1;
  bool any = false, power = false;
  for (size_t i = 0; i < s->n_channels; i++) {
    any = any || dl_samples_measures(&s->channel[i]);
    power = power || s->channel[i].at[DL_SAMPLE_POWER] >= 0;
  }
  find_unread(s, field);
  /* Beside numbers of epochs, an energy is one epoch's: a row for each. */
  if (s->label[DL_LABEL_EPOCH] >= 0 && !power)
    return false;
  return any && s->time >= 0 &&
         !(trainings &&
           dl_word_among("epoch_s", s->time_name, strlen(s->time_name)) == 0);
}

bool dl_samples_find(struct dl_samples *s, const struct dl_head *head) {
  static const char separators[] = ",;\t";
  char buf[DL_SAMPLE_LINE], copy[DL_SAMPLE_LINE], *field[DL_SAMPLE_FIELDS];
  size_t at = 0;
  for (int i = 0; i < HEAD_LINES && dl_head_line(head, &at, buf, sizeof buf);
       i++) {
    const char *text = buf + strspn(buf, "# \t");
    for (const char *p = separators; *p != '\0'; p++) {
      memcpy(copy, text, strlen(text) + 1);
      size_t n = dl_cell_split(copy, *p, field, DL_SAMPLE_FIELDS);
      if (dl_samples_header(s, field, n, *p)) {
        memcpy(s->header, text, strlen(text) + 1);
        return true;
      }
    }
    if (buf[0] != '#')
      return false;
  }
  return false;
}
