/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of the end times of epochs, written by a callback of the training:
 * epoch,end_time and any other columns. Times are absolute, or seconds since
 * the beginning of the trace that it belongs to. */

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "logs/log.h"

enum { FIELDS_MAX = 64 };

enum column { EPOCH, END, N_COLUMNS };
static const struct dl_cell_column columns[] = {
    {"epoch", DL_NO_DIMENSION, 1},
    {"end_time|end|epoch_end|end_timestamp|end_s|finished", DL_NO_DIMENSION,
     1}};

struct epochs {
  int at[N_COLUMNS];
  size_t n_fields; /* 0 before the header */
  double last;     /* number of the last epoch */
};

/* Whether a line is a header, the first or a later one. */
static bool read_header(struct epochs *e, char *const *field, size_t n) {
  int at[N_COLUMNS];
  if (n > FIELDS_MAX || !dl_cell_header(field, n, columns, N_COLUMNS, at) ||
      at[EPOCH] < 0 || at[END] < 0)
    return false;
  memcpy(e->at, at, sizeof at);
  if (e->n_fields == 0)
    e->last = NAN;
  e->n_fields = n;
  return true;
}

static bool probe(const struct dl_head *head) {
  struct epochs e = {.n_fields = 0};
  char buf[DL_HEAD_LINE], *field[FIELDS_MAX];
  size_t at = 0;
  return dl_head_line(head, &at, buf, sizeof buf) &&
         read_header(&e, field, dl_cell_split(buf, ',', field, FIELDS_MAX));
}

static bool end_of(struct dl_log *log, const char *s, int64_t *ns) {
  double x;
  if (dl_parse_double(s, &x) && x >= 0 && x < DL_SINCE_1970_S) {
    *ns = dl_log_time_since(log, x);
    return true;
  }
  return dl_log_time(log, s, strlen(s), ns);
}

/* Epochs count from 0 or 1, each once. */
static void check_number(struct dl_log *log, double number, double last) {
  if (isnan(last) && number > 1)
    dl_log_warn(log,
                "epoch %g is the first: the time before it is taken for it",
                number);
  else if (number <= last)
    dl_log_warn(log, "epoch %g follows epoch %g: repeated epochs count twice",
                number, last);
  else if (!isnan(last) && number != last + 1)
    dl_log_warn(log,
                "epoch %g follows epoch %g: the time since is taken for one",
                number, last);
}

static bool line(struct dl_log *log, char *s) {
  struct epochs *e = log->state;
  char *field[FIELDS_MAX + 1];
  double number;
  int64_t ns;
  size_t n = dl_cell_split(s, ',', field, FIELDS_MAX + 1);
  if (read_header(e, field, n))
    return true;
  if (e->n_fields == 0)
    return dl_log_bad(log, "no columns 'epoch' and 'end_time'");
  if (!dl_cell_fields(log, ',', field, n, e->n_fields))
    return false;
  if (!dl_parse_double(field[e->at[EPOCH]], &number))
    return dl_log_bad(log, "column 'epoch': invalid number '%.40s'",
                      field[e->at[EPOCH]]);
  if (!end_of(log, field[e->at[END]], &ns))
    return dl_log_bad(log, "column 'end_time': invalid time '%.40s'",
                      field[e->at[END]]);
  check_number(log, number, e->last);
  e->last = number;
  struct dl_reading r =
      dl_reading_at(dl_log_meter(log, DL_METER_EPOCH, NULL, NULL), ns);
  dl_log_reading(log, &r);
  return true;
}

const struct dl_importer dl_import_epochs = {
    .name = "epochs",
    .summary = "epoch, end_time: the ends of epochs, with a power log",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(struct epochs),
    .probe = probe,
    .line = line,
};
