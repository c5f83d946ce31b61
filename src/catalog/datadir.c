/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/datadir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *dl_datadir(void) {
  const char *dir = getenv("DLEST_DATADIR");
  return dir && *dir ? dir : PKGDATADIR;
}

enum dl_status dl_data_path(const char *datadir, const char *name,
                            struct dl_text *path, struct dl_diag *d) {
  dl_text_printf(path, "%s/%s", datadir, name);
  if (access(path->s, R_OK) == 0)
    return DL_OK;
  char reason[128];
  return dl_fail_at(d, DL_EFAILED, path->s, 0,
                    "cannot open: %s; set DLEST_DATADIR to the folder that "
                    "holds dlest's data and models",
                    strerror_r(errno, reason, sizeof reason));
}
