/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words that columns of samples are made of. A name is cut into words at
 * everything but letters and digits, and before digits at the end of a word:
 * "GPU0 power [mW]" is gpu, 0, power, mw. Each word must be known, so that
 * "power_limit_w" or "gpu_mem_util" are not taken for what they are not. */

#include "logs/importers/tables/sample_columns.h"

#include <string.h>

#include "base/constants.h"

enum role {
  METER,      /* says of what */
  WEAK_METER, /* says so where no other word does */
  POWER,
  ENERGY,
  UTIL,
  USAGE, /* utilisation where no other quantity is named */
  WATTS, /* units */
  JOULES,
  SHARE,
  TOTAL, /* of power: the node where no device is named */
  FILLER /* adds nothing */
};

static const struct word {
  const char *word;
  enum role role;
  enum dl_meter_kind kind;
  double scale;
} words[] = {
    {"gpu", METER, DL_METER_GPU, 0},
    {"gpus", METER, DL_METER_GPU, 0},
    {"cuda", METER, DL_METER_GPU, 0},
    {"card", METER, DL_METER_GPU, 0},
    {"accelerator", METER, DL_METER_GPU, 0},
    {"nvml", WEAK_METER, DL_METER_GPU, 0},
    {"nvidia", WEAK_METER, DL_METER_GPU, 0},
    {"device", WEAK_METER, DL_METER_GPU, 0},
    {"board", WEAK_METER, DL_METER_GPU, 0},
    {"cpu", METER, DL_METER_CPU, 0},
    {"cpus", METER, DL_METER_CPU, 0},
    {"package", METER, DL_METER_CPU, 0},
    {"pkg", METER, DL_METER_CPU, 0},
    {"socket", METER, DL_METER_CPU, 0},
    {"rapl", WEAK_METER, DL_METER_CPU, 0},
    {"ram", METER, DL_METER_RAM, 0},
    {"dram", METER, DL_METER_RAM, 0},
    {"mem", METER, DL_METER_RAM, 0},
    {"memory", METER, DL_METER_RAM, 0},
    {"node", METER, DL_METER_NODE, 0},
    {"system", METER, DL_METER_NODE, 0},
    {"sys", METER, DL_METER_NODE, 0},
    {"server", METER, DL_METER_NODE, 0},
    {"machine", METER, DL_METER_NODE, 0},
    {"host", METER, DL_METER_NODE, 0},
    {"wall", METER, DL_METER_NODE, 0},
    {"plug", METER, DL_METER_NODE, 0},
    {"outlet", METER, DL_METER_NODE, 0},
    {"psu", METER, DL_METER_NODE, 0},
    {"ipmi", WEAK_METER, DL_METER_NODE, 0},
    {"power", POWER, 0, 0},
    {"energy", ENERGY, 0, 0},
    {"util", UTIL, 0, 0},
    {"utilization", UTIL, 0, 0},
    {"utilisation", UTIL, 0, 0},
    {"busy", UTIL, 0, 0},
    {"load", UTIL, 0, 0},
    {"usage", USAGE, 0, 0},
    {"use", USAGE, 0, 0},
    {"uw", WATTS, 0, 1e-6},
    {"microwatts", WATTS, 0, 1e-6},
    {"mw", WATTS, 0, 1e-3},
    {"milliwatts", WATTS, 0, 1e-3},
    {"w", WATTS, 0, 1},
    {"watt", WATTS, 0, 1},
    {"watts", WATTS, 0, 1},
    {"kw", WATTS, 0, 1e3},
    {"uj", JOULES, 0, 1e-6},
    {"microjoules", JOULES, 0, 1e-6},
    {"mj", JOULES, 0, 1e-3},
    {"millijoules", JOULES, 0, 1e-3},
    {"j", JOULES, 0, 1},
    {"joule", JOULES, 0, 1},
    {"joules", JOULES, 0, 1},
    {"kj", JOULES, 0, 1e3},
    {"wh", JOULES, 0, DL_J_PER_WH},
    {"kwh", JOULES, 0, DL_J_PER_KWH},
    {"%", SHARE, 0, 0.01},
    {"pct", SHARE, 0, 0.01},
    {"perc", SHARE, 0, 0.01},
    {"percent", SHARE, 0, 0.01},
    {"percentage", SHARE, 0, 0.01},
    {"fraction", SHARE, 0, 1},
    {"frac", SHARE, 0, 1},
    {"ratio", SHARE, 0, 1},
    {"share", SHARE, 0, 1},
    {"total", TOTAL, 0, 0},
    {"draw", FILLER, 0, 0},
    {"consumption", FILLER, 0, 0},
    {"current", FILLER, 0, 0},
    {"now", FILLER, 0, 0},
    {"instant", FILLER, 0, 0},
    {"instantaneous", FILLER, 0, 0},
    {"avg", FILLER, 0, 0},
    {"average", FILLER, 0, 0},
    {"mean", FILLER, 0, 0},
    {"reading", FILLER, 0, 0},
    {"value", FILLER, 0, 0},
    {"raw", FILLER, 0, 0},
    {"measured", FILLER, 0, 0},
    {"sensor", FILLER, 0, 0},
    {"counter", FILLER, 0, 0},
    {"cumulative", FILLER, 0, 0},
    {"cum", FILLER, 0, 0},
    {"accumulated", FILLER, 0, 0},
    {"in", FILLER, 0, 0},
};

/* Names that mean more than their words. */
static const struct {
  const char *name;
  struct dl_sample_column column;
} wholes[] = {
    /* of NVML, in millijoules */
    {"total_energy_consumption",
     {DL_METER_GPU, true, -1, DL_SAMPLE_ENERGY, 1e-3, false}},
    {"total_energy_consumption_mj",
     {DL_METER_GPU, true, -1, DL_SAMPLE_ENERGY, 1e-3, false}},
};

/* Columns of times, the better ones first: points in time before such as count
 * from the beginning. Both are told apart by their values. */
static const struct {
  const char *name;
  double unit_s;
} times[] = {
    {"timestamp", 1},
    {"datetime", 1},
    {"date_time", 1},
    {"timestamp_utc", 1},
    {"utc_timestamp", 1},
    {"datetime_utc", 1},
    {"time_utc", 1},
    {"utc_time", 1},
    {"utc", 1},
    {"timestamp_iso", 1},
    {"iso_timestamp", 1},
    {"ts_iso", 1},
    {"time_iso", 1},
    {"iso_time", 1},
    {"ts_utc", 1},
    {"ts", 1},
    {"timestamp_ns", 1e-9},
    {"time_ns", 1e-9},
    {"ts_ns", 1e-9},
    {"unix_ns", 1e-9},
    {"unix_time_ns", 1e-9},
    {"timestamp_us", 1e-6},
    {"time_us", 1e-6},
    {"ts_us", 1e-6},
    {"timestamp_ms", 1e-3},
    {"ts_ms", 1e-3},
    {"unix_ms", 1e-3},
    {"unix_time_ms", 1e-3},
    {"epoch_ms", 1e-3},
    {"unix_time", 1},
    {"unix_timestamp", 1},
    {"unix_time_s", 1},
    {"unix_s", 1},
    {"unix", 1},
    {"time_unix", 1},
    {"timestamp_unix", 1},
    {"epoch_time", 1},
    {"epoch_s", 1},
    {"epoch_seconds", 1},
    {"timestamp_s", 1},
    {"timestamp_sec", 1},
    {"ts_s", 1},
    {"wall_time", 1},
    {"local_time", 1},
    {"time", 1},
    {"time_ms", 1e-3},
    {"time_s", 1},
    {"time_sec", 1},
    {"time_secs", 1},
    {"time_seconds", 1},
    {"t_ms", 1e-3},
    {"t_s", 1},
    {"t_sec", 1},
    {"t", 1},
    {"elapsed_ms", 1e-3},
    {"elapsed_s", 1},
    {"elapsed_sec", 1},
    {"elapsed_seconds", 1},
    {"elapsed_time", 1},
    {"elapsed_time_s", 1},
    {"elapsed", 1},
    {"relative_time", 1},
    {"relative_time_s", 1},
    {"rel_time_s", 1},
    {"seconds", 1},
    {"secs", 1},
    {"sec", 1},
};

static const struct {
  const char *name;
  enum dl_sample_label label;
} labels[] = {
    {"uuid", DL_LABEL_UUID},
    {"gpu_uuid", DL_LABEL_UUID},
    {"device_uuid", DL_LABEL_UUID},
    {"index", DL_LABEL_INDEX},
    {"gpu", DL_LABEL_INDEX},
    {"gpu_index", DL_LABEL_INDEX},
    {"gpu_idx", DL_LABEL_INDEX},
    {"gpu_id", DL_LABEL_INDEX},
    {"device", DL_LABEL_INDEX},
    {"device_index", DL_LABEL_INDEX},
    {"device_id", DL_LABEL_INDEX},
    {"card", DL_LABEL_INDEX},
    {"gpu_name", DL_LABEL_NAME},
    {"device_name", DL_LABEL_NAME},
    {"gpu_model", DL_LABEL_NAME},
    {"name", DL_LABEL_NAME},
    {"hostname", DL_LABEL_HOST},
    {"host", DL_LABEL_HOST},
    {"node", DL_LABEL_HOST},
    {"date", DL_LABEL_DATE},
    /* Tables of runs, of epochs, of other tools. */
    {"run_id", DL_LABEL_OTHER},
    {"duration", DL_LABEL_OTHER},
    {"duration_s", DL_LABEL_OTHER},
    {"duration_sec", DL_LABEL_OTHER},
    {"epoch", DL_LABEL_OTHER},
    {"epochs", DL_LABEL_OTHER},
    {"epoch_energy_j", DL_LABEL_OTHER},
    {"project_name", DL_LABEL_OTHER},
    {"experiment_id", DL_LABEL_OTHER},
    {"emissions", DL_LABEL_OTHER},
    {"window_name", DL_LABEL_OTHER},
    {"socket_power", DL_LABEL_OTHER}, /* amd-smi's, of a GPU */
    {"jobid", DL_LABEL_OTHER},
    {"job_id", DL_LABEL_OTHER},
};

enum { NAME_SIZE = 64 };

/* Lower case, with one '_' for all between words and none at the ends; '%'
 * stays. The sign for micro is a u. False for other letters and long names. */
static bool plain_name(const char *name, char plain[NAME_SIZE]) {
  size_t n = 0;
  bool gap = false;
  for (const char *s = name; *s != '\0'; s++) {
    char c = *s;
    if (strncmp(s, "\xC2\xB5", 2) == 0 || strncmp(s, "\xCE\xBC", 2) == 0) {
      c = 'u';
      s++;
    } else if (c >= 'A' && c <= 'Z') {
      c = (char)(c - 'A' + 'a');
    } else if ((c & 0x80) != 0) {
      return false;
    } else if (c != '%' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) {
      gap = n > 0;
      continue;
    }
    if (n + 3 > NAME_SIZE)
      return false;
    if (gap)
      plain[n++] = '_';
    gap = false;
    plain[n++] = c;
  }
  plain[n] = '\0';
  return n > 0;
}

/* What the words of a name have said. */
struct parse {
  const struct word *meter, *weak_meter, *unit;
  bool said[FILLER + 1];
  long index;
  bool after_meter; /* the last word was a meter */
  bool failed;
};

static void take_number(struct parse *p, const char *s, size_t len) {
  if (!p->after_meter || p->index >= 0 || len > 4) {
    p->failed = true;
    return;
  }
  p->index = 0;
  for (size_t i = 0; i < len; i++)
    p->index = p->index * 10 + (s[i] - '0');
  p->after_meter = false;
}

static void take_word(struct parse *p, const char *s, size_t len) {
  const struct word *w = NULL;
  for (size_t i = 0; !w && i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == len && memcmp(words[i].word, s, len) == 0)
      w = &words[i];
  if (!w) {
    p->failed = true;
    return;
  }
  p->said[w->role] = true;
  p->after_meter = w->role == METER || w->role == WEAK_METER;
  const struct word **place = w->role == METER        ? &p->meter
                              : w->role == WEAK_METER ? &p->weak_meter
                                                      : &p->unit;
  if (place == &p->unit && (w->role < WATTS || w->role > SHARE))
    return;
  if (*place && ((*place)->kind != w->kind || place == &p->unit))
    p->failed = true;
  *place = w;
}

static void take_words(struct parse *p, const char *s) {
  while (*s != '\0' && !p->failed) {
    size_t letters = strcspn(s, "_0123456789%");
    size_t digits = strspn(s, "0123456789");
    if (letters > 0) {
      take_word(p, s, letters);
      s += letters;
    } else if (digits > 0) {
      take_number(p, s, digits);
      s += digits;
    } else {
      if (*s == '%')
        take_word(p, s, 1);
      s++;
    }
  }
}

/* The quantity that the words and the unit agree on; false where they do
 * not. */
static bool quantity_of(const struct parse *p, struct dl_sample_column *c) {
  const struct word *unit = p->unit;
  bool power = p->said[POWER] || (unit && unit->role == WATTS);
  bool energy = p->said[ENERGY] || (unit && unit->role == JOULES);
  bool util = p->said[UTIL] || (unit && unit->role == SHARE) ||
              (p->said[USAGE] && !power && !energy);
  if (power + energy + util != 1)
    return false;
  c->no_unit = !unit;
  c->scale = unit ? unit->scale : 1;
  if (util) {
    c->quantity = DL_SAMPLE_UTIL;
    c->scale = unit ? unit->scale : 0.01;
    return p->said[UTIL] || p->said[USAGE];
  }
  c->quantity = power ? DL_SAMPLE_POWER : DL_SAMPLE_ENERGY;
  /* Energies have many units; NVML's power_usage is in mW, others' in W. */
  return unit || (power && !p->said[USAGE]);
}

bool dl_sample_column(const char *name, struct dl_sample_column *c) {
  char plain[NAME_SIZE];
  struct parse p = {.index = -1};
  if (!plain_name(name, plain))
    return false;
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
    if (strcmp(wholes[i].name, plain) == 0) {
      *c = wholes[i].column;
      return true;
    }
  take_words(&p, plain);
  if (p.failed || !quantity_of(&p, c))
    return false;
  const struct word *meter = p.meter ? p.meter : p.weak_meter;
  c->index = p.index;
  c->names_meter = meter != NULL;
  c->kind = meter ? meter->kind : DL_METER_GPU;
  if (!meter && p.said[TOTAL] && c->quantity == DL_SAMPLE_POWER) {
    c->kind = DL_METER_NODE;
    c->names_meter = true;
  }
  /* How much of the memory is in use says nothing about its power. */
  return c->quantity != DL_SAMPLE_UTIL || c->kind != DL_METER_RAM;
}

double dl_sample_time(const char *name, size_t *rank) {
  char plain[NAME_SIZE];
  if (plain_name(name, plain))
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
      if (strcmp(times[i].name, plain) == 0) {
        *rank = i;
        return times[i].unit_s;
      }
  return 0;
}

enum dl_sample_label dl_sample_label(const char *name) {
  char plain[NAME_SIZE];
  if (plain_name(name, plain))
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
      if (strcmp(labels[i].name, plain) == 0)
        return labels[i].label;
  return DL_LABEL_NONE;
}
