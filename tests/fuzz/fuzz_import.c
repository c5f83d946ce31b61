/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the importers of power logs: the input is a file, read to its end by
 * the importer that the environment's IMPORTER names, or by the one that
 * recognises it. Seeds: tests/fuzz/corpus. `tools/fuzz.sh` builds and runs it;
 * with --names it prints the importers instead. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "logs/importers/importers.h"
#include "logs/log.h"
#include "logs/log_part.h"
#include "quantities/quantities.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct dl_importer *from;
static int fd;
static char path[64];
static char folder[] = "/tmp/fuzz-XXXXXX";
static volatile size_t touched; /* so that reads are not optimised away */

static void must(bool ok) {
  if (!ok)
    abort();
}

static void remove_link(void) {
  unlink(path);
  rmdir(folder);
}

/* Some files are known by their names. */
static void link_as(const char *name) {
  char link[sizeof path];
  must(mkdtemp(folder) != NULL);
  snprintf(link, sizeof link, "%s/%s", folder, name);
  must(symlink(path, link) == 0);
  strcpy(path, link);
  atexit(remove_link);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *name = getenv("IMPORTER");
  if (*argc > 1 && strcmp((*argv)[1], "--names") == 0) {
    for (size_t i = 0; dl_importers[i]; i++)
      puts(dl_importers[i]->name);
    exit(0);
  }
  if (name && *name && !(from = dl_importer_find(name))) {
    fprintf(stderr, "no importer '%s'\n", name);
    exit(2);
  }
  fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (name && strcmp(name, "mlflow") == 0)
    link_as("gpu_0_power_usage_watts");
  return 0;
}

static void touch_text(const char *s) {
  if (s)
    touched += strlen(s);
}

/* Unknown, or a number. */
static bool sound(double x) {
  return !isinf(x);
}

static void check_readings(const struct dl_log *log,
                           const struct dl_log_block *b, size_t *line) {
  for (size_t i = 0; i < b->n_readings; i++) {
    const struct dl_reading *r = &b->reading[i];
    must(r->line >= *line && r->line > 0);
    *line = r->line;
    must(r->meter < log->n_meters);
    must(sound(r->power_w) && sound(r->util) && sound(r->energy_j));
    touched += (size_t)r->ns;
  }
}

static void check_run(const struct dl_run *r) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    if (dl_run_columns[i].is_text)
      touch_text(dl_run_text(r, id));
    else
      must(sound(dl_run_number(r, id)));
  }
  for (size_t i = 0; i < r->n_epochs; i++) {
    const struct dl_epoch *e = &r->epoch[i];
    must(e->part == DL_PART_EPOCH || e->part == DL_PART_START ||
         e->part == DL_PART_END);
    must(sound(e->number) && sound(e->start_s) && sound(e->duration_s));
    must(sound(e->gpu_power_w) && sound(e->gpu_util) && sound(e->energy_j));
    must(sound(e->gpu_energy_j) && sound(e->ram_energy_j));
    must(sound(e->cpu_energy_j) && sound(e->node_energy_j));
  }
}

static void check_meters(const struct dl_log *log) {
  for (size_t i = 0; i < log->n_meters; i++) {
    const struct dl_meter_info *m = &log->meter[i];
    must(m->kind >= DL_METER_GPU && m->kind <= DL_METER_EPOCH);
    must(!isinf(m->limit_w));
    touch_text(m->id);
    touch_text(m->name);
  }
}

/* Reads to the end, which comes within as many calls as there are bytes. */
static void read_all(struct dl_log *log, size_t size, struct dl_diag *d) {
  struct dl_log_part *part = dl_log_part_new(log);
  struct dl_log_block block;
  size_t line = 0, calls = 0;
  enum dl_status status;
  while ((status = dl_log_part_next(log, part, &block, d)) == DL_OK) {
    if (block.n_readings == 0 && block.n_runs == 0)
      break;
    must(++calls <= size + 1);
    check_readings(log, &block, &line);
    for (size_t i = 0; i < block.n_runs; i++)
      check_run(&block.run[i]);
  }
  must(status == d->status);
  must(status == DL_OK || status == DL_EINPUT);
  check_meters(log);
  dl_log_part_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dl_log_options o = {.from = from};
  struct dl_log *log;
  struct dl_diag d = {0};
  o.drop_last = size % 8 == 7 ? 1 : 0;
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
    abort();
  enum dl_status status = dl_log_open(&log, path, &o, &d);
  must(status == DL_OK || status == DL_EINPUT);
  must((status == DL_OK) == (log != NULL) && status == d.status);
  if (status == DL_OK)
    read_all(log, size, &d);
  dl_log_free(log);
  for (size_t i = 0; i < d.n_warnings; i++)
    touch_text(d.warnings[i]);
  touch_text(d.error);
  dl_diag_free(&d);
  return 0;
}
