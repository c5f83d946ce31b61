/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi dmon [-s pucvmet] [-o DT] [--format csv[,nounit]]
 *
 *   #Date       Time        gpu    pwr  gtemp  mtemp     sm    mem ...
 *   #YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      % ...
 *    20230309   13:27:53      0    119     59      -    100     42 ...
 *
 * Both comment lines are repeated. The columns depend on the groups (-s; p has
 * pwr, u has sm) and on the driver: up to about 390 it writes `temp` instead of
 * gtemp and mtemp, from about 530 jpg and ofa after dec; -o adds Date and Time
 * in front. A board without a sensor has "-". Boards are listed by index. With
 * --format csv the separator is a comma; `nounit` omits the second comment,
 * `noheader` both: a table without names cannot be read. Power is in whole
 * watts; `sm` is the GPU utilization of NVML. Without -o T there are no times:
 * one round per second, or as --interval specifies. nvidia-smi pmon looks
 * alike, but lists processes. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "logs/log.h"

#define COLUMNS(X)                                                             \
  X(DATE, "date", DL_NO_DIMENSION, 1)                                          \
  X(TIME, "time", DL_NO_DIMENSION, 1)                                          \
  X(GPU, "gpu", DL_NO_DIMENSION, 1)                                            \
  X(POWER, "pwr", DL_POWER, 1)                                                 \
  X(UTIL, "sm", DL_SHARE, 0.01)                                                \
  X(PID, "pid", DL_NO_DIMENSION, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

enum { FIELDS_MAX = 128, HEAD_LINES = 32 };

/* Reads the comment with the names of the columns; false for other comments,
 * which change nothing. */
static bool read_header(struct dl_table_header *m, char *s) {
  struct dl_table_header now = {.separator = strchr(s, ',') ? ',' : ' '};
  char *field[FIELDS_MAX];
  s += strspn(s, "# \t");
  now.n_fields = now.separator == ',' ? dl_cell_split(s, ',', field, FIELDS_MAX)
                                      : dl_cell_words(s, field, FIELDS_MAX);
  if (now.n_fields > FIELDS_MAX)
    return false;
  dl_cell_columns(field, now.n_fields, columns, N_COLUMNS, now.at);
  if (now.at[GPU] < 0)
    return false;
  *m = now;
  return true;
}

static bool is_power_log(const struct dl_table_header *m) {
  return m->n_fields > 0 && m->at[PID] < 0 &&
         (m->at[POWER] >= 0 || m->at[UTIL] >= 0);
}

/* The first comment with names of columns decides. */
static bool probe(const struct dl_head *head) {
  char buf[DL_HEAD_LINE];
  struct dl_table_header m = {0};
  size_t at = 0;
  for (int i = 0; i < HEAD_LINES && dl_head_line(head, &at, buf, sizeof buf);
       i++)
    if (buf[0] == '#' && read_header(&m, buf))
      return is_power_log(&m);
  return false;
}

static bool time_of(struct dl_log *log, struct dl_table_header *m, char **field,
                    size_t gpu, int64_t *ns) {
  char text[64];
  if (m->at[TIME] < 0) {
    *ns = dl_log_time_of(log, dl_round_of(&log->rounds, gpu));
    return true;
  }
  const char *date = m->at[DATE] < 0 ? "" : field[m->at[DATE]];
  snprintf(text, sizeof text, "%s %s", date, field[m->at[TIME]]);
  return dl_cell_time(log, "time", text, ns);
}

static bool line(struct dl_log *log, char *s) {
  struct dl_table_header *m = log->state;
  char *field[FIELDS_MAX + 1];
  struct dl_reading r = dl_reading_at(0, 0);
  size_t gpu;
  s += strspn(s, " \t");
  if (*s == '#') {
    dl_log_comment(log, s);
    read_header(m, s);
    return true;
  }
  if (m->n_fields == 0)
    return dl_log_bad(log, "no line '# gpu pwr ...' before this one");
  if (!is_power_log(m))
    return dl_log_bad(log, "no column 'pwr' or 'sm' in the lines above");
  if (!dl_cell_row(log, s, m->separator, field, m->n_fields))
    return false;
  const char *id = field[m->at[GPU]];
  if (!dl_parse_count(id, &gpu) || gpu >= DL_ROUND_DEVICES)
    return dl_log_bad(log, "column 'gpu': invalid index '%.40s'", id);
  if ((m->at[POWER] >= 0 &&
       !dl_cell_quantity(log, &columns[POWER], field[m->at[POWER]],
                         &r.power_w)) ||
      (m->at[UTIL] >= 0 &&
       !dl_cell_quantity(log, &columns[UTIL], field[m->at[UTIL]], &r.util)) ||
      !time_of(log, m, field, gpu, &r.ns))
    return false;
  r.util = r.util <= 1 ? r.util : NAN;
  r.meter = dl_log_meter(log, DL_METER_GPU, id, NULL);
  dl_log_reading(log, &r);
  return true;
}

const struct dl_importer dl_import_nvidia_smi_dmon = {
    .name = "nvidia-smi-dmon",
    .summary = "nvidia-smi dmon -s pu [-o DT] [--format csv]",
    .state_size = sizeof(struct dl_table_header),
    .probe = probe,
    .line = line,
};
