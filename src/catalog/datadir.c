/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/datadir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed.h"

/* Whether a folder holds dlest's data: another program may have a folder "data"
 * of its own. */
static bool holds_data(const char *dir) {
  DL_TEXT(data);
  DL_TEXT(models);
  dl_text_printf(&data, "%s/data/accelerators.xml", dir);
  dl_text_printf(&models, "%s/models/physical.xml", dir);
  return access(data.s, R_OK) == 0 && access(models.s, R_OK) == 0;
}

static bool found(struct dl_text *dir, const char *place, const char *below) {
  DL_TEXT(candidate);
  dl_text_printf(&candidate, "%s%s", place, below);
  if (!holds_data(candidate.s))
    return false;
  dl_text_add(dir, candidate.s);
  return true;
}

/* Cuts the last component off an absolute path; the root folder becomes "". */
static void cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = '\0';
}

/* Looks beside the program, whose symbolic links the kernel has resolved: at
 * an installation, at a build folder (configure links data and models there if
 * they are not in the folder above), and at the source tree around it. */
static bool found_beside(struct dl_text *dir) {
  char own[PATH_MAX], above[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", own, sizeof own);
  if (n <= 0 || (size_t)n == sizeof own || *own != '/')
    return false;
  own[n] = '\0';
  cut_last(own);
  memcpy(above, own, sizeof own);
  cut_last(above);
  return found(dir, above, "/share/dlest") || found(dir, own, "") ||
         found(dir, above, "");
}

void dl_datadir(struct dl_text *dir) {
  const char *set = getenv("DLEST_DATADIR");
  if (set && *set)
    dl_text_add(dir, set);
  else if (!found_beside(dir))
    dl_text_add(dir, PKGDATADIR);
}

enum dl_status dl_data_path(const char *datadir, const char *name,
                            struct dl_text *path, struct dl_diag *d) {
  dl_text_printf(path, "%s/%s", datadir, name);
  if (access(path->s, R_OK) == 0)
    return DL_OK;
  return dl_fail_at(d, DL_EFAILED, path->s, 0,
                    "cannot open: %s; set DLEST_DATADIR to the folder that "
                    "holds dlest's data and models",
                    strerror(errno));
}

enum dl_status dl_shipped_path(const char *name, struct dl_text *path,
                               struct dl_diag *d) {
  DL_TEXT(dir);
  dl_datadir(&dir);
  return dl_data_path(dl_text_str(&dir), name, path, d);
}
