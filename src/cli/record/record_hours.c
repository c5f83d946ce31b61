/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_hours.h"

#include <math.h>
#include <time.h>

#include "base/constants.h"
#include "base/timestamp.h"

enum dl_status dl_record_hours_open(struct dl_hours *h, const char *path,
                                    struct dl_footprint *foot,
                                    struct dl_diag *d) {
  const int64_t now_ns = dl_time_after(0, (double)time(NULL));
  double g;
  if (!path)
    return DL_OK;
  foot->intensity = (struct dl_factor){.x = NAN, .year = NAN};
  DL_TRY(dl_hours_read(h, path, d));
  return dl_hours_mean(h, now_ns, dl_time_after(now_ns, 1), &g, d);
}

const struct dl_hours *dl_record_hours_take(struct dl_hours *h,
                                            const char *path,
                                            const struct dl_record_result *of,
                                            struct dl_footprint *foot,
                                            struct dl_diag *d) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  double g;
  if (!path)
    return NULL;
  dl_hours_free(h);
  *h = (struct dl_hours){0};
  enum dl_status status = dl_hours_read(h, path, &quiet);
  if (status == DL_OK)
    status = dl_hours_mean(h, of->start_ns, of->end_ns, &g, &quiet);
  if (status == DL_OK)
    foot->intensity = (struct dl_factor){.x = g, .of = path, .year = NAN};
  else
    dl_warn(d, "the emissions are unknown: %s", quiet.error);
  return status == DL_OK ? h : NULL;
}

void dl_record_hours_weigh(const struct dl_run *run,
                           struct dl_footprint *foot) {
  if (run->co2e_g >= 0 && run->energy_j > 0)
    foot->intensity.x = run->co2e_g / (run->energy_j / DL_J_PER_KWH);
}
