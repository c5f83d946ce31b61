/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interface of importers. An importer reads one log format; each is one file
 * and one row in the table of importers.c.
 *
 * A log contains readings of meters over time (nvidia-smi), finished runs
 * (CodeCarbon's emissions.csv), or both. The importer is called for each line,
 * or for each row of a table with quoted cells, and returns what it finds by
 * calling the dl_log_... functions below. Its only memory is log->state, which
 * starts as zero bytes and is freed with the log.
 *
 * An importer judges each line by itself: log.c handles incomplete files. It
 * neither sorts nor repairs times: that happens later
 * (readings/reading_sequencer.h). */

#ifndef DL_LOGS_IMPORTERS_IMPORTER_H
#define DL_LOGS_IMPORTERS_IMPORTER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/timestamp.h"
#include "run/run.h"

struct dl_log;
struct dl_cluster_job;

/* The device that a meter measures. Readings of DL_METER_EPOCH are end times of
 * epochs and have no values. */
enum dl_meter_kind {
  DL_METER_GPU,
  DL_METER_CPU,
  DL_METER_RAM,
  DL_METER_NODE,
  DL_METER_EPOCH
};

/* One sample of one meter. NaN: not in the log. */
struct dl_reading {
  int64_t ns;     /* time, as in dl_timestamp */
  uint32_t meter; /* from dl_log_meter */
  double power_w;
  double util;        /* share of the time the device was busy, 0..1 */
  double memory_util; /* likewise for its memory; 0 if the log has none */
  double energy_j;    /* a counter that only grows, until it is reset */
  size_t line;        /* of the file; set by dl_log_reading */
  bool is_mean;       /* power_w is the mean since the reading before */
  bool after_header;  /* a later header stands before it; likewise */
  bool other_device;  /* a comment or column says so from here on; likewise */
};

/* The beginning of a file, for recognising it. */
struct dl_head {
  const char *text; /* NUL-terminated; its last line may be cut off */
  size_t len;
  const char *path;
};

/* How a log relates to runs. */
enum dl_log_role {
  DL_LOG_PRIMARY,   /* the trace of a run: nvidia-smi */
  DL_LOG_COMPANION, /* belongs to the trace of a run: perf */
  DL_LOG_MEMORY,    /* a companion that is joined sample by sample: psutil */
  DL_LOG_RUNS,      /* contains the runs themselves: emissions.csv */
  DL_LOG_UNREADABLE /* no importer recognises it */
};

struct dl_importer {
  const char *name;    /* "nvidia-smi": argument of --from */
  const char *summary; /* what writes such logs, for `dlest list importers` */
  enum dl_log_role role;
  size_t folders_up; /* from a file to the folder that names the run; 0: the
                        file does */
  bool has_jobs;     /* DL_LOG_RUNS: jobs of a scheduler, metered by node */
  size_t state_size; /* of the importer's state */

  /* Whether the file has this format. The first importer in the table that
   * returns true is used, so it must return false for the formats of others. */
  bool (*probe)(const struct dl_head *head);

  /* Why a file that no importer recognises, and that looks like this format, is
   * not read ("column 'JobID' is missing"); NULL for other files. May be
   * NULL. */
  const char *(*lacks)(const struct dl_head *head);

  /* Called before the first line or row, which `head` contains; may be NULL.
   * With --from the file may have any format. Of `row` again, without a text,
   * when a later header has new columns. */
  enum dl_status (*begin)(struct dl_log *log, const struct dl_head *head,
                          struct dl_diag *d);

  /* Exactly one of line, row and text is set. */

  /* Imports a line: NUL-terminated, without its end, of log->len bytes; may be
   * modified. Blank lines are skipped. Returns true if the line was used or
   * ignored on purpose (a header, a comment), otherwise the value of
   * dl_log_bad. */
  bool (*line)(struct dl_log *log, char *s);

  /* Imports a row of a table with a header; cells as in io/csv.h. In `begin`
   * and here dl_log_column finds columns by name. */
  bool (*row)(struct dl_log *log, const char *const *cell);
  char delimiter;  /* of the table; 0: a comma */
  bool equal_rows; /* of tables of runs: equal rows are no repeats */

  /* Imports the whole text, of DL_JSON_MOST_BYTES at most. Errors end the
   * reading. */
  enum dl_status (*text)(struct dl_log *log, const char *s, size_t len,
                         struct dl_diag *d);

  /* Called after the last line; may be NULL. */
  void (*end)(struct dl_log *log);

  /* For tables of jobs with `line`, read in parts by several threads
   * (log_part.h); all NULL for others. Each part has a log of its own. */

  /* Before a part is imported: takes over what `layout` has noted. */
  void (*begin_part)(struct dl_log *part, const struct dl_log *log);

  /* Notes a line that changes how later ones are read: a header. False for
   * other lines. s is not modified. */
  bool (*layout)(struct dl_log *log, const char *s, size_t len);

  /* Whether a line describes a run; *run is then a hash that identifies the
   * run. s is modified. */
  bool (*run_of)(const struct dl_log *log, char *s, size_t len, uint64_t *run);

  /* Whether job i of a part counts; called in the order of the log. If the job
   * does not count, the reason has been reported. */
  bool (*settle)(struct dl_log *log, struct dl_log *part, size_t i);

  /* Frees what the state points to; may be NULL. */
  void (*free)(void *state);
};

/* --- functions for importers */

/* Index of a column of the table, or -1. */
long dl_log_column(const struct dl_log *log, const char *name);

/* The meter with this kind and identifier ("0", a UUID, "package-0"; NULL: the
 * only one of its kind), created if it is new. `name` is the name of the
 * device, NULL if unknown. Fast if `kind` and `id` equal the previous call's.
 */
uint32_t dl_log_meter(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, const char *name);

/* Sets the node that a meter is in; "": unknown. */
void dl_log_host(struct dl_log *log, uint32_t meter, const char *host);

/* Says that the identifier of a meter is from a column of UUIDs. */
void dl_log_uuid(struct dl_log *log, uint32_t meter);

/* Sets the power limit of a GPU, W. */
void dl_log_limit(struct dl_log *log, uint32_t meter, double limit_w);

/* Notes that a later header was read, in a format in which only a log that was
 * begun again has one: the next reading may be of another run. */
void dl_log_later_header(struct dl_log *log);

/* Notes that the following readings come from another node or device than those
 * before, according to a comment or to a column that seldom changes. */
void dl_log_other_device(struct dl_log *log);

/* Reads a comment. If it names a host ("# host: NAME", "# node NAME") and an
 * earlier one named another, calls dl_log_other_device() and warns. Other
 * comments change nothing. */
void dl_log_comment(struct dl_log *log, const char *text);

/* Whether an identifier (NULL: none) names a sum or a mean: "total", "n1:all
 * GPUs". */
bool dl_log_names_sum(const char *id);

/* Adds a reading. */
void dl_log_reading(struct dl_log *log, const struct dl_reading *r);

/* Parses a timestamp. Times of day without a date continue past midnight.
 * False if s is no timestamp, or is before 1970 or after 2100: differences of
 * two results do not overflow. */
bool dl_log_time(struct dl_log *log, const char *s, size_t len, int64_t *ns);

/* For logs without times: the time of sample `i` (0, 1, ...), given the
 * interval of --interval, by default 1 s. Warns once about this assumption. */
int64_t dl_log_time_of(struct dl_log *log, size_t i);

/* For logs whose times count from their own beginning. */
int64_t dl_log_time_since(struct dl_log *log, double seconds);

/* Adds an empty run, to be filled immediately: the pointer is valid until the
 * next call. */
struct dl_run *dl_log_run(struct dl_log *log);

/* Adds an empty job, in importers with parts; otherwise like dl_log_run(). */
struct dl_cluster_job *dl_log_job(struct dl_log *log);

/* Adds a run that was put together before, with its `line`, and empties
 * *run. */
void dl_log_add_run(struct dl_log *log, struct dl_run *run);

/* For runs that take several lines: the run being read (log->open_run while
 * log->in_run), an empty one if there is none; closing it adds or drops it. A
 * run that is open when the log is freed is dropped. */
struct dl_run *dl_log_open_run(struct dl_log *log);
void dl_log_close_run(struct dl_log *log, bool add);

/* Reports that the line or row cannot be used, and why ("column 'x': invalid
 * number 'abc'"). Returns false. Without a log nothing is reported. */
bool dl_log_bad(struct dl_log *log, const char *fmt, ...) DL_PRINTF(2, 3);

/* Warns about the current line; each text once. */
void dl_log_warn(struct dl_log *log, const char *fmt, ...) DL_PRINTF(2, 3);

/* A reading of which only meter and time are known. */
static inline struct dl_reading dl_reading_at(uint32_t meter, int64_t ns) {
  return (struct dl_reading){
      .meter = meter, .ns = ns, .power_w = NAN, .util = NAN, .energy_j = NAN};
}

/* --- parsing of cells, rows and headers (importer_cells.c) */

enum dl_dimension { DL_NO_DIMENSION, DL_POWER, DL_ENERGY_UNIT, DL_SHARE };

/* A unit of a dimension ("mW", "kWh", "%") in W, J or as a share of 1; NaN for
 * other texts. */
double dl_unit(const char *s, size_t len, enum dl_dimension dimension);

/* A number with an optional unit after it, "85.23 W", in W, J or as a share;
 * `scale` is the unit of a number without one. NaN and true for "", "[N/A]",
 * "N/A", "[Not Supported]", "[Unknown Error]", "-", "nan", "<not counted>";
 * false for other texts and for units of another dimension. */
bool dl_cell_value(const char *s, size_t len, enum dl_dimension dimension,
                   double scale, double *x);

/* Like dl_cell_value() without a dimension: any unit is ignored. */
bool dl_cell_number(const char *s, size_t len, double *x);

/* Removes blanks around s..end, and ends the text with a NUL. */
char *dl_cell_trim(char *s, char *end);

/* Splits s in place at each `separator` outside quotes, removes blanks and
 * quotes around the fields and stores at most `most` of them. Returns the total
 * number of fields. */
size_t dl_cell_split(char *s, char separator, char **field, size_t most);

/* Like dl_cell_split() at blanks; several blanks count as one. */
size_t dl_cell_words(char *s, char **field, size_t most);

/* Joins the fields of a row that was split at commas where one of them was that
 * before the decimals of a time ("10:00:00,123456789+02:00", as `date
 * --iso-8601=ns` writes it): there is one field more than expected. Returns the
 * number of fields. */
size_t dl_cell_join_time(char **field, size_t n, size_t expected);

/* Advice about a row of n fields, to be appended to the message; "": none. */
const char *dl_cell_hint(char separator, size_t n, size_t expected);

/* Whether a cell is a UUID of NVML, "GPU-1c2d3e4f-...", that no other device
 * has, whatever wrote the log. */
bool dl_cell_is_uuid(const char *s);

/* Splits a row, at blanks if the separator is ' '; `field` has room for one
 * more than expected. False, and reported, if it has not that number of
 * fields. */
bool dl_cell_row(struct dl_log *log, char *s, char separator, char **field,
                 size_t expected);

/* Whether the n fields of a row are as many as expected; reported if not. There
 * is room for one more. */
bool dl_cell_fields(struct dl_log *log, char separator, char **field, size_t n,
                    size_t expected);

/* A column of a log. `names` are its names, "a|b", of which messages use the
 * first. `scale` is the unit of numbers that have none, in W, J or as a share.
 */
struct dl_cell_column {
  const char *names;
  enum dl_dimension dimension;
  double scale;
};

enum { DL_TABLE_COLUMNS = 16 };

/* The header in force of a table, as the state of its importer. */
struct dl_table_header {
  int at[DL_TABLE_COLUMNS]; /* field of each column, -1 without */
  size_t n_fields;          /* of a row; 0: no header so far */
  char separator;           /* ',' or ' ' */
};

/* An importer lists its columns once, COLUMNS(X) with X(ID, "names", ...), for
 * enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS } and the table. */
#define DL_COLUMN_ID(id, ...) id,
#define DL_COLUMN_ROW(id, ...) {__VA_ARGS__},

/* Finds columns: at[c] is the index of the first of the n fields that has a
 * name of column c, or -1. A unit in brackets after a name is ignored. */
void dl_cell_columns(char *const *field, size_t n,
                     const struct dl_cell_column *columns, size_t n_columns,
                     int *at);

/* Finds columns in the fields of any line, which may be a later header. False
 * if a field begins with a number, as in most rows. */
bool dl_cell_header(char *const *field, size_t n,
                    const struct dl_cell_column *columns, size_t n_columns,
                    int *at);

/* The value, not negative, and the time in a cell of a column. False, and
 * reported, if there is none. */
bool dl_cell_quantity(struct dl_log *log, const struct dl_cell_column *column,
                      const char *s, double *x);
bool dl_cell_time(struct dl_log *log, const char *column, const char *s,
                  int64_t *ns);

/* A time as `date` and ctime() print it, with the words in any order: "Thu Mar
 * 9 13:27:53 UTC 2023", "Thu 09 Mar 2023 01:27:53 PM UTC". Zones except UTC are
 * ambiguous and are ignored. s is modified. */
bool dl_cell_date(struct dl_log *log, char *s, int64_t *ns);

enum { DL_HEAD_LINE = 16384, DL_HEAD_FIELDS = 1024 };

/* Copies the next non-blank line of the head to buf, without blanks around it
 * and cut to `size`. *at is the position in the head: 0 at first. False after
 * the last line, and without a head. */
bool dl_head_line(const struct dl_head *head, size_t *at, char *buf,
                  size_t size);

/* Whether the first non-blank line of the head has all these fields, "a,b", in
 * any order and case. */
bool dl_head_has(const struct dl_head *head, const char *names);

/* Devices with a number below this can be distinguished in rounds. */
#define DL_ROUND_DEVICES 256

/* Counts rounds in logs without times, which list the devices in turn. Starts
 * as zero bytes. */
struct dl_rounds {
  size_t round;
  size_t first; /* device that began the first round */
  bool begun;
  size_t last;           /* device */
  bool again;            /* it came at once again */
  size_t n_twice, twice; /* how often one did before another came; which */
  uint64_t seen[DL_ROUND_DEVICES / 64]; /* in this round */
};

/* The round, from 0, of a row of `device`. A new round begins with the device
 * that began the first one, and with a device that is already in the round. */
size_t dl_round_of(struct dl_rounds *r, size_t device);

/* Notes that a device comes twice where it can come once. */
void dl_round_twice(struct dl_rounds *r, size_t device);

#endif
