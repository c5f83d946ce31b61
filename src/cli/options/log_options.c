/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of log formats on the command line. */

#include "cli/options/log_options.h"

#include "logs/importers/importers.h"

enum dl_status dl_read_importer(const struct dl_option *o, char *arg, void *at,
                                struct dl_diag *d) {
  const struct dl_importer **importer = at;
  *importer = dl_importer_find(arg);
  return *importer ? DL_OK
                   : dl_fail(d, DL_EUSAGE,
                             "--%s: unknown log format '%s'; see 'dlest list "
                             "importers'",
                             o->name, arg);
}
