/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes logs that arrive piece by piece, as `dlest step --follow` reads them.
 * What a pipe delivers in pieces must give the same readings, runs and
 * messages as the whole file. A file that grows is read again and again for
 * its epochs. Seeds: tests/fuzz/corpus; the input decides where it is cut. */

#include "fuzz.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "estimate/projection/epoch_series.h"
#include "logs/log.h"
#include "logs/log_part.h"
#include "quantities/quantities.h"

/* A packet of a pipe takes one of its slots; a read returns one packet. */
enum { PIECES_MAX = 12 };

/* A file grows in so many steps, for some inputs. */
enum { GROWTHS = 3, GROW_EVERY = 4 };

static int fd;
static char path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  fd = memfd_create("fuzz", MFD_CLOEXEC);
  must(fd >= 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return 0;
}

/* What reading a log came to. */
struct outcome {
  enum dl_status status;
  size_t n_readings, n_runs, n_meters, n_skipped, n_warnings;
  uint64_t sum;
};

static uint64_t add_number(uint64_t sum, double x) {
  if (isnan(x))
    return digest(sum, "nan", 3);
  return digest(sum, &x, sizeof x);
}

static uint64_t add_text(uint64_t sum, const char *s) {
  return s ? digest(sum, s, strlen(s) + 1) : digest(sum, "", 1);
}

static void add_reading(struct outcome *o, const struct dl_reading *r) {
  o->n_readings++;
  o->sum = digest(o->sum, &r->ns, sizeof r->ns);
  o->sum = digest(o->sum, &r->line, sizeof r->line);
  o->sum = digest(o->sum, &r->meter, sizeof r->meter);
  o->sum = add_number(o->sum, r->power_w);
  o->sum = add_number(o->sum, r->util);
  o->sum = add_number(o->sum, r->energy_j);
}

static void add_run(struct outcome *o, const struct dl_run *r) {
  o->n_runs++;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    o->sum = dl_run_columns[i].is_text
                 ? add_text(o->sum, dl_run_text(r, id))
                 : add_number(o->sum, dl_run_number(r, id));
  }
  for (size_t i = 0; i < r->n_epochs; i++) {
    o->sum = add_number(o->sum, r->epoch[i].duration_s);
    o->sum = add_number(o->sum, r->epoch[i].energy_j);
  }
}

static struct outcome read_log(const char *name) {
  struct outcome o = {.sum = 1};
  const struct dl_log_options options = {0};
  struct dl_log_block block;
  struct dl_log *log;
  struct dl_diag d = {0};
  o.status = dl_log_open(&log, name, &options, &d);
  struct dl_log_part *part = log ? dl_log_part_new(log) : NULL;
  while (o.status == DL_OK) {
    o.status = dl_log_part_next(log, part, &block, &d);
    if (o.status != DL_OK || block.n_readings + block.n_runs == 0)
      break;
    for (size_t i = 0; i < block.n_readings; i++)
      add_reading(&o, &block.reading[i]);
    for (size_t i = 0; i < block.n_runs; i++)
      add_run(&o, &block.run[i]);
  }
  o.n_meters = log ? log->n_meters : 0;
  o.n_skipped = d.n_skipped;
  o.n_warnings = d.n_warnings;
  dl_log_part_free(part);
  dl_log_free(log);
  dl_diag_free(&d);
  return o;
}

static void put(const uint8_t *data, size_t size) {
  must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
}

static struct outcome read_pieces(const uint8_t *data, size_t size,
                                  uint64_t seed) {
  char name[64];
  int ends[2];
  must(pipe2(ends, O_CLOEXEC | O_DIRECT) == 0);
  for (size_t at = 0, n = 1; at < size; n++) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    size_t piece = 1 + (seed >> 33) % (seed >> 63 ? 8 : size);
    if (n == PIECES_MAX || piece > size - at)
      piece = size - at;
    must(write(ends[1], data + at, piece) == (ssize_t)piece);
    at += piece;
  }
  close(ends[1]);
  snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
  struct outcome o = read_log(name);
  close(ends[0]);
  return o;
}

/* The epochs of what is there so far. */
static size_t count_epochs(void) {
  char *const paths[] = {path};
  const struct dl_extract_options o = {.find_epochs = true};
  struct dl_epoch_series s = DL_EPOCH_SERIES_EMPTY;
  struct dl_diag d = {0};
  enum dl_status status =
      dl_epoch_series_from_logs(&s, paths, 1, &o, false, &d);
  must(status == DL_OK || (status == DL_EINPUT && d.error));
  for (size_t i = 0; status == DL_OK && i < s.n; i++) {
    must(!(s.duration_s[i] < 0) && !isinf(s.duration_s[i]));
    must(!isinf(s.energy_j[i]) && !isinf(s.power_w[i]));
  }
  size_t n = status == DL_OK ? s.n : 0;
  if (status == DL_OK)
    dl_epoch_series_free(&s);
  dl_diag_free(&d);
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 4096)
    return 0;
  uint64_t seed = digest(UINT64_C(14695981039346656037), data, size);
  put(data, size);
  struct outcome whole = read_log(path);
  struct outcome pieces = read_pieces(data, size, seed);
  must(whole.status == pieces.status);
  must(whole.n_readings == pieces.n_readings);
  must(whole.n_runs == pieces.n_runs && whole.n_meters == pieces.n_meters);
  must(whole.n_skipped == pieces.n_skipped);
  must(whole.n_warnings == pieces.n_warnings && whole.sum == pieces.sum);
  for (size_t i = 1; size % GROW_EVERY == 0 && i <= GROWTHS; i++) {
    put(data, size * i / GROWTHS);
    count_epochs();
  }
  return 0;
}
