/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/hours_options.h"

#include <math.h>
#include <string.h>

#include "base/timestamp.h"

#define AT(kind, member) DL_STORE(kind, struct dl_hours_options, member)

const struct dl_option dl_hours_options_rows[] = {
    {DL_HOURS_OPTION(struct dl_hours_options, path), .group = 60},
    {"start", 0, "TIME",
     "when the run starts: 2024-03-05T22:00+01:00; UTC without a zone",
     AT(TEXT, start), .with = "intensity-hours", .group = 60},
    {"start-within", 0, "TIME",
     "find the start with the lowest emissions that is at most so much later: "
     "24h",
     AT(TIME, within_s), .with = "start", .group = 60},
    {0},
};

enum dl_status dl_hours_options_read(struct dl_hours_options *o,
                                     struct dl_diag *d) {
  struct dl_timestamp t;
  if (!o->path)
    return DL_OK;
  if (!o->start)
    return dl_fail(d, DL_EUSAGE,
                   "--intensity-hours needs --start TIME, when the run starts");
  bool read = dl_parse_timestamp(o->start, strlen(o->start), &t) ||
              dl_parse_start(o->start, &t);
  if (!read || !t.dated || t.ns < 0)
    return dl_fail(
        d, DL_EUSAGE,
        "--start: invalid value '%s'; expected a date and a time, as "
        "2024-03-05T22:00+01:00",
        o->start);
  o->start_ns = t.ns;
  return dl_hours_read(&o->hours, o->path, d);
}

void dl_hours_options_free(struct dl_hours_options *o) {
  dl_hours_free(&o->hours);
}

enum dl_status dl_hours_find_start(const struct dl_hours_options *o,
                                   double duration_s,
                                   struct dl_hours_start *start,
                                   double *at_start, struct dl_diag *d) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  bool best = o->within_s > 0;
  enum dl_status given = dl_hours_mean(&o->hours, o->start_ns,
                                       dl_time_after(o->start_ns, duration_s),
                                       at_start, best ? &quiet : d);
  if (given != DL_OK)
    *at_start = NAN;
  *start = (struct dl_hours_start){o->start_ns, *at_start};
  return best ? dl_hours_best(&o->hours, o->start_ns, o->within_s, duration_s,
                              start, d)
              : given;
}

enum dl_status dl_hours_take(const struct dl_hours_options *o,
                             double duration_s, struct dl_footprint *foot,
                             struct dl_hours_used *used, struct dl_diag *d) {
  char start[DL_TIMESTAMP_SIZE], number[DL_NUMBER_SIZE] = "unknown";
  struct dl_hours_start at;
  if (isnan(duration_s))
    return dl_fail(d, DL_EUSAGE,
                   "--intensity-hours needs the time of the run: give "
                   "--duration, or what a method needs to estimate it");
  DL_TRY(dl_hours_find_start(o, duration_s, &at, &used->given_g_kwh, d));
  dl_text_clear(&used->of);
  dl_text_printf(&used->of, "%s from %s", o->path,
                 dl_format_timestamp(start, at.ns, true));
  if (!isnan(used->given_g_kwh))
    dl_format_digits(number, used->given_g_kwh, 3);
  if (o->within_s > 0 && at.ns == o->start_ns)
    dl_text_add(&used->of, ", the best start");
  else if (o->within_s > 0)
    dl_text_printf(&used->of, ", the best start; %s as given", number);
  used->start_ns = at.ns;
  foot->intensity =
      (struct dl_factor){.x = at.g, .of = dl_text_str(&used->of), .year = NAN};
  return DL_OK;
}
