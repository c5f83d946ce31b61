/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words in the names of columns of samples. A name is split into words at
 * all characters but letters and digits, and before digits at the end of a
 * word: "GPU0 power [mW]" is gpu, 0, power, mw. Each word must be in the table,
 * so that "power_limit_w" or "gpu_mem_util" are not mistaken for a power or a
 * utilization. The number of a device stands behind the device or the quantity:
 * gpu_power_0. */

#include "logs/importers/tables/sample_columns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"

enum role {
  METER,      /* the measured device */
  WEAK_METER, /* the measured device, if no METER is named */
  POWER,
  ENERGY,
  UTIL,
  USAGE, /* utilization, unless another quantity is named */
  WATTS, /* units */
  JOULES,
  SHARE,
  TOTAL,  /* of a power without a device: of the node */
  MEAN,   /* over some time */
  DELTA,  /* of an energy: each interval's */
  FILLER, /* ignored */
  TIME    /* a whole name: a column of times, with its unit in s */
};

static const struct name_word {
  const char *words;
  enum role role;
  enum dl_meter_kind kind;
  double scale;
} words[] = {
    {"gpu|gpus|cuda|card|cards|accel|accelerator|accelerators", METER,
     DL_METER_GPU, 0},
    {"nvml|nvidia|device|devices|board", WEAK_METER, DL_METER_GPU, 0},
    {"cpu|cpus|package|pkg|socket|processor", METER, DL_METER_CPU, 0},
    {"rapl", WEAK_METER, DL_METER_CPU, 0},
    {"ram|dram|mem|memory", METER, DL_METER_RAM, 0},
    {"node|system|sys|server|machine|host|wall|plug|outlet|psu", METER,
     DL_METER_NODE, 0},
    {"ipmi", WEAK_METER, DL_METER_NODE, 0},
    {"power", POWER, 0, 0},
    {"energy", ENERGY, 0, 0},
    {"util|utilization|utilisation|busy|load", UTIL, 0, 0},
    {"usage|use", USAGE, 0, 0},
    {"uw|microwatts", WATTS, 0, 1e-6},
    {"mw|milliwatts", WATTS, 0, 1e-3},
    {"w|watt|watts", WATTS, 0, 1},
    {"kw", WATTS, 0, 1e3},
    {"uj|microjoules", JOULES, 0, 1e-6},
    {"mj|millijoules", JOULES, 0, 1e-3},
    {"j|joule|joules", JOULES, 0, 1},
    {"kj", JOULES, 0, 1e3},
    {"wh", JOULES, 0, DL_J_PER_WH},
    {"kwh", JOULES, 0, DL_J_PER_KWH},
    {"%|pct|perc|percent|percentage", SHARE, 0, 0.01},
    {"fraction|frac|ratio|share", SHARE, 0, 1},
    {"total|tot|sum", TOTAL, 0, 0},
    {"avg|average|mean", MEAN, 0, 0},
    {"delta|interval|increment|incremental", DELTA, 0, 0},
    {"draw|consumption|current|now|inst|instant|instantaneous|reading|value|"
     "raw|measured|sensor|counter|cumulative|cum|accumulated|in|input",
     FILLER, 0, 0},
};

/* The energy counter of NVML, whose whole name has a meaning, mJ. */
static const char *const nvml_energy[] = {"total_energy_consumption",
                                          "total_energy_consumption_mj"};
static const struct dl_sample_column nvml_energy_column = {.kind = DL_METER_GPU,
                                                           .names_meter = true,
                                                           .index = -1,
                                                           .quantity =
                                                               DL_SAMPLE_ENERGY,
                                                           .scale = 1e-3};

/* Columns of times in order of preference: points in time, then relative times.
 * The values decide which of the two a column holds. */
static const struct name_word times[] = {
    {"timestamp|datetime|date_time|timestamp_utc|utc_timestamp|"
     "datetime_utc|time_utc|utc_time|utc|timestamp_iso|iso_timestamp|"
     "ts_iso|time_iso|iso_time|ts_utc|ts|query_time",
     TIME, 0, 1},
    {"timestamp_ns|time_ns|ts_ns|unix_ns|unix_time_ns", TIME, 0, 1e-9},
    {"timestamp_us|time_us|ts_us", TIME, 0, 1e-6},
    {"timestamp_ms|ts_ms|unix_ms|unix_time_ms|epoch_ms", TIME, 0, 1e-3},
    {"unix_time|unix_timestamp|unix_time_s|unix_s|unix|time_unix|"
     "timestamp_unix|epoch_time|epoch_s|epoch_seconds|timestamp_s|"
     "timestamp_sec|ts_s|wall_time|local_time|time",
     TIME, 0, 1},
    {"time_ms", TIME, 0, 1e-3},
    {"time_s|time_sec|time_secs|time_seconds", TIME, 0, 1},
    {"t_ms", TIME, 0, 1e-3},
    {"t_s|t_sec|t", TIME, 0, 1},
    {"elapsed_ms", TIME, 0, 1e-3},
    {"elapsed_s|elapsed_sec|elapsed_seconds|elapsed_time|elapsed_time_s|"
     "elapsed_time_sec|"
     "elapsed|relative_time|relative_time_s|rel_time_s|seconds|secs|sec",
     TIME, 0, 1},
};

/* Names by label. DL_LABEL_OTHER: columns of tables of runs and epochs, and of
 * other tools (socket_power: power of a GPU in amd-smi). */
static const char *const labels[DL_LABEL_OTHER + 1] = {
    [DL_LABEL_UUID] = "uuid|gpu_uuid|device_uuid",
    [DL_LABEL_INDEX] =
        "index|gpu|gpu_index|gpu_idx|gpu_id|device|device_index|device_id|"
        "card",
    [DL_LABEL_NAME] = "gpu_name|device_name|gpu_model|name",
    [DL_LABEL_HOST] = "hostname|host|node",
    [DL_LABEL_DATE] = "date",
    [DL_LABEL_RUN] = "run|run_name|run_number|run_display_name|display_name|"
                     "run_path|wandb_run|wandb_run_id|wandb_run_name|wandb_id|"
                     "experiment|experiment_name|trial|trial_id|trial_name",
    [DL_LABEL_EPOCH] = "epoch|epoch_number|current_epoch|train_epoch",
    [DL_LABEL_OTHER] =
        "run_id|duration|duration_s|duration_sec|epochs|"
        "epoch_energy_j|project_name|experiment_id|emissions|window_name|"
        "socket_power|jobid|job_id",
};

enum { NAME_SIZE = 64, NAMES_MAX = 100 /* per row of times */ };

/* Converts to lower case with one '_' between words and none at the ends; keeps
 * '%'; the micro sign becomes u. False for other letters and long names. */
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

/* Meaning of the words of a name. */
struct name_words {
  const struct name_word *meter, *weak_meter, *unit;
  bool said[FILLER + 1];
  long index;
  bool numbered; /* the last word may have a number behind it */
  bool failed;
};

static void take_number(struct name_words *p, const char *s, size_t len) {
  if (!p->numbered || p->index >= 0 || len > 4) {
    p->failed = true;
    return;
  }
  p->index = 0;
  for (size_t i = 0; i < len; i++)
    p->index = p->index * 10 + (s[i] - '0');
  p->numbered = false;
}

static void take_word(struct name_words *p, const char *s, size_t len) {
  const struct name_word *w = NULL;
  for (size_t i = 0; !w && i < sizeof words / sizeof *words; i++)
    if (dl_word_among(words[i].words, s, len) >= 0)
      w = &words[i];
  if (!w) {
    p->failed = true;
    return;
  }
  p->said[w->role] = true;
  bool meter = w->role == METER || w->role == WEAK_METER;
  p->numbered = meter || w->role == POWER || w->role == ENERGY ||
                w->role == WATTS || w->role == JOULES;
  const struct name_word **place = &p->unit;
  if (meter)
    place = w->role == METER ? &p->meter : &p->weak_meter;
  else if (w->role < WATTS || w->role > SHARE)
    return;
  if (*place && ((*place)->kind != w->kind || place == &p->unit))
    p->failed = true;
  *place = w;
}

static void take_words(struct name_words *p, const char *s) {
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

/* The quantity, if the words and the unit agree; false otherwise. */
static bool quantity_of(const struct name_words *p,
                        struct dl_sample_column *c) {
  const struct name_word *unit = p->unit;
  bool power = p->said[POWER] || (unit && unit->role == WATTS);
  bool energy = p->said[ENERGY] || (unit && unit->role == JOULES);
  bool util = p->said[UTIL] || (unit && unit->role == SHARE) ||
              (p->said[USAGE] && !power && !energy);
  if (power + energy + util != 1)
    return false;
  c->no_unit = !unit;
  c->mean = p->said[MEAN];
  c->delta = p->said[DELTA];
  if (c->delta && !energy)
    return false;
  c->scale = unit ? unit->scale : 1;
  if (util) {
    c->quantity = DL_SAMPLE_UTIL;
    c->scale = unit ? unit->scale : 0.01;
    return p->said[UTIL] || p->said[USAGE];
  }
  c->quantity = power ? DL_SAMPLE_POWER : DL_SAMPLE_ENERGY;
  /* Energies come in many units; power_usage is mW in NVML, W elsewhere. */
  return unit || (power && !p->said[USAGE]);
}

/* Whether the unit "mW" or "mJ" of a name is milli. "MW" is mega, but unclear
 * in a name in capital letters only. False: unclear. */
static bool read_prefix(const char *name, double *scale) {
  const char *at = NULL;
  bool lower = false;
  for (const char *s = name; *s != '\0'; s++) {
    bool unit = (s[0] == 'm' || s[0] == 'M') && s[1] != '\0' &&
                strchr("wWjJ", s[1]) && !isalpha((unsigned char)s[2]) &&
                (s == name || !isalpha((unsigned char)s[-1]));
    at = unit ? s : at;
    lower = lower || islower((unsigned char)*s);
  }
  if (!at || at[0] == 'm')
    return true;
  *scale = 1e6;
  return lower && isupper((unsigned char)at[1]);
}

/* jtop's column of the whole board, whose values are in mW whatever its name.
 */
static bool jtop_column(const char *name, struct dl_sample_column *c) {
  *c = (struct dl_sample_column){
      .kind = DL_METER_NODE, .names_meter = true, .index = -1, .scale = 1e-3};
  return strcmp(name, "Power TOT") == 0;
}

/* Columns of Weights & Biases: "system.gpu.0.powerWatts" in the history of the
 * stream "events", "system/gpu.0.powerWatts" in its panels. Columns of
 * processes, "gpu.process.0...", repeat the GPU's values and are not read. */
static bool wandb_column(const char *name, struct dl_sample_column *c) {
  const char *s = name;
  if (strncmp(s, "system", 6) == 0 && (s[6] == '.' || s[6] == '/'))
    s += 7;
  size_t digits = strncmp(s, "gpu.", 4) == 0 ? strspn(s + 4, "0123456789") : 0;
  if (digits == 0 || digits > 4 || s[4 + digits] != '.')
    return false;
  *c = (struct dl_sample_column){.kind = DL_METER_GPU, .names_meter = true};
  for (size_t i = 0; i < digits; i++)
    c->index = c->index * 10 + (s[4 + i] - '0');
  bool power = dl_is_word(s + 5 + digits, "powerWatts");
  c->quantity = power ? DL_SAMPLE_POWER : DL_SAMPLE_UTIL;
  c->scale = power ? 1 : 0.01;
  return power || dl_is_word(s + 5 + digits, "gpu");
}

/* The power in the JSON of amd-smi metric: of the socket of a GPU. */
static bool amd_smi_column(const char *name, struct dl_sample_column *c) {
  *c = (struct dl_sample_column){.kind = DL_METER_GPU,
                                 .names_meter = true,
                                 .index = -1,
                                 .scale = 1,
                                 .mean = strstr(name, "average") != NULL};
  return dl_word_among("power.socket_power|power.current_socket_power|"
                       "power.average_socket_power",
                       name, strlen(name)) >= 0;
}

/* Columns of nvitop's ResourceMetricCollector, "TAG/cuda:0 (gpu:3)/power_usage
 * (W)/mean": of the values of an interval the mean counts, and the number of
 * the GPU in the machine. */
static bool nvitop_column(const char *name, struct dl_sample_column *c) {
  static const char *const metrics[] = {"/power_usage (W)/mean",
                                        "/gpu_utilization (%)/mean"};
  const char *gpu = strstr(name, "gpu:");
  char *metric;
  if (!gpu || !isdigit((unsigned char)gpu[4]))
    return false;
  *c = (struct dl_sample_column){.kind = DL_METER_GPU, .names_meter = true};
  c->index = strtol(gpu + 4, &metric, 10);
  metric += *metric == ')';
  int which = dl_text_index(metrics, DL_LENGTH(metrics), metric);
  c->quantity = which == 0 ? DL_SAMPLE_POWER : DL_SAMPLE_UTIL;
  c->scale = which == 0 ? 1 : 0.01;
  return which >= 0;
}

bool dl_sample_column(const char *name, struct dl_sample_column *c) {
  char plain[NAME_SIZE];
  struct name_words p = {.index = -1};
  if (wandb_column(name, c) || nvitop_column(name, c) || jtop_column(name, c) ||
      amd_smi_column(name, c))
    return true;
  if (!plain_name(name, plain))
    return false;
  if (dl_text_index(nvml_energy, DL_LENGTH(nvml_energy), plain) >= 0) {
    *c = nvml_energy_column;
    return read_prefix(name, &c->scale);
  }
  take_words(&p, plain);
  if (p.failed || !quantity_of(&p, c) || !read_prefix(name, &c->scale))
    return false;
  const struct name_word *meter = p.meter ? p.meter : p.weak_meter;
  c->index = p.index;
  c->names_meter = meter != NULL;
  c->kind = meter ? meter->kind : DL_METER_GPU;
  /* NVML calls a GPU's counter a total consumption. */
  c->total = !meter && p.said[TOTAL] &&
             !(c->quantity == DL_SAMPLE_ENERGY && strstr(plain, "consumption"));
  if (c->total && c->quantity == DL_SAMPLE_POWER) {
    c->kind = DL_METER_NODE;
    c->names_meter = true;
  }
  /* The amount of memory in use does not determine its power. */
  return c->quantity != DL_SAMPLE_UTIL || c->kind != DL_METER_RAM;
}

bool dl_sample_unread(const char *name, enum dl_meter_kind *kind) {
  static const char others[] =
      "limit|max|maximum|min|minimum|peak|cap|default|enforced|requested|tdp|"
      "management|state|states|mode|usage|used|util|utilization|percent|pct|"
      "cost|price|saved|efficiency|per|budget|target|std|var|baseline|idle|"
      "core|cores|uncore|pp|ia|gt|gfx|soc|ane|rest|fan|disk|battery|module";
  char plain[NAME_SIZE];
  struct dl_sample_column c;
  struct name_words p = {.index = -1};
  bool gpu = false;
  size_t len;
  *kind = DL_METER_EPOCH;             /* as no column is of */
  if (strstr(name, ".powerWatts/l:")) /* of a labelled node, beside others */
    return true;
  if (dl_sample_column(name, &c) || !plain_name(name, plain))
    return false;
  for (const char *s = plain; *s != '\0'; s += len) {
    len = strcspn(s, "_0123456789%");
    if (len > 0 && dl_word_among(others, s, len) >= 0)
      return false;
    if (len > 0)
      take_word(&p, s, len);
    gpu |= p.meter && p.meter->kind == DL_METER_GPU;
    len += len == 0;
  }
  *kind = gpu || !p.meter ? DL_METER_GPU : p.meter->kind;
  return p.said[POWER] || p.said[ENERGY] || p.said[WATTS] || p.said[JOULES];
}

enum dl_sample_sensor dl_sample_sensor(const char *name,
                                       enum dl_meter_kind *kind) {
  static const char *const meters[] = {
      [DL_METER_GPU] = "gpu|gpus|cuda|nvidia",
      [DL_METER_CPU] = "cpu|cpus|package|pkg|socket|processor",
      [DL_METER_RAM] = "memory|mem|ram|dram",
      [DL_METER_NODE] = "psys|platform|system|node|wall|total|psu|outlet"};
  static const char parts[] =
      "core|cores|uncore|graphics|igpu|gfx|gt|soc|sa|pp|rest";
  char plain[NAME_SIZE];
  bool has[DL_METER_NODE + 1] = {false}, part = false;
  size_t len;
  if (!plain_name(name, plain))
    return DL_SENSOR_UNKNOWN;
  for (const char *s = plain; *s != '\0'; s += len) {
    len = strcspn(s, "_0123456789");
    for (int k = 0; k <= DL_METER_NODE && len > 0; k++)
      has[k] |= dl_word_among(meters[k], s, len) >= 0;
    part |= len > 0 && dl_word_among(parts, s, len) >= 0;
    len += len == 0;
  }
  *kind = DL_METER_NODE;
  if (has[DL_METER_GPU])
    *kind = DL_METER_GPU;
  else if (has[DL_METER_RAM])
    *kind = DL_METER_RAM;
  else if (has[DL_METER_CPU])
    *kind = DL_METER_CPU;
  if (part || (has[DL_METER_GPU] && (has[DL_METER_CPU] || has[DL_METER_RAM])))
    return DL_SENSOR_PART;
  return has[*kind] ? DL_SENSOR_WHOLE : DL_SENSOR_UNKNOWN;
}

double dl_sample_time(const char *name, size_t *rank) {
  char plain[NAME_SIZE];
  const char *slash = strrchr(name, '/'); /* nvitop: "TAG/timestamp" */
  if (dl_same_text(slash, "/timestamp"))
    name = slash + 1;
  if (!plain_name(name, plain))
    return 0;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    int at = dl_word_among(times[i].words, plain, strlen(plain));
    if (at >= 0) {
      *rank = i * NAMES_MAX + (size_t)at;
      return times[i].scale;
    }
  }
  return 0;
}

bool dl_sample_is_wandb(const char *name) {
  struct dl_sample_column c;
  return wandb_column(name, &c) || dl_is_word(name, "_runtime");
}

enum dl_sample_label dl_sample_label(const char *name, bool wandb) {
  char plain[NAME_SIZE];
  int label = plain_name(name, plain) ? DL_LABEL_OTHER : DL_LABEL_NONE;
  if (wandb && label &&
      dl_word_among("name|id|run_id", plain, strlen(plain)) >= 0)
    return DL_LABEL_RUN;
  while (label > DL_LABEL_NONE &&
         dl_word_among(labels[label], plain, strlen(plain)) < 0)
    label--;
  return (enum dl_sample_label)label;
}

enum { LACKS_FIELDS = 256, LACKS_LINE = 8192 };

/* Whether a line has a column of times, and one of power or energy. */
static void look_at(char *line, char separator, bool *time, bool *measure) {
  char *field[LACKS_FIELDS];
  struct dl_sample_column c;
  size_t rank;
  size_t n = separator == ' '
                 ? dl_cell_words(line, field, LACKS_FIELDS)
                 : dl_cell_split(line, separator, field, LACKS_FIELDS);
  *time = *measure = false;
  for (size_t i = 0; n > 1 && i < n && i < LACKS_FIELDS; i++) {
    *time |= dl_sample_time(field[i], &rank) > 0 ||
             dl_sample_label(field[i], false) == DL_LABEL_DATE;
    *measure |= dl_sample_column(field[i], &c) && c.quantity != DL_SAMPLE_UTIL;
  }
}

const char *dl_sample_lacks(const struct dl_head *head) {
  static const char separators[] = ",;\t| ";
  char buf[LACKS_LINE], copy[LACKS_LINE];
  size_t at = 0;
  bool time, measure;
  do
    if (!dl_head_line(head, &at, buf, sizeof buf))
      return NULL;
  while (buf[0] == '#');
  if (strchr("{[<", buf[0]))
    return NULL; /* no table */
  for (const char *p = separators; *p != '\0'; p++) {
    memcpy(copy, buf, strlen(buf) + 1);
    look_at(copy, *p, &time, &measure);
    bool read = *p != '|' && *p != ' '; /* as separators */
    if (time && measure && !read)
      return "a table of samples with '|' or blanks between columns: separate "
             "them by commas, semicolons or tabs";
    if (time && !measure && read)
      return "a table with times, but without a column of power or energy "
             "whose name says so, such as 'gpu_power_w'";
    if (measure && !time && read)
      return "a table with a power or energy, but without a column of times, "
             "such as 'timestamp'";
  }
  return NULL;
}
