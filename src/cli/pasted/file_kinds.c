/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files are files of settings, by their names. */

#include <string.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"
#include "io/json_read.h"

static bool ends_with(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n > m && strcasecmp(name + n - m, end) == 0;
}

/* A JSON file that describes a network. */
static bool is_network(const char *path) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  dl_json *j = NULL;
  bool is =
      dl_json_read(&j, path, &quiet) == DL_OK &&
      (dl_json_get(j, "model_type").text || dl_json_member(j, "architectures"));
  dl_json_free(j);
  return is;
}

bool dl_pasted_is_file(const char *name) {
  static const char *const ends[] = {".yaml",   ".yml",   ".sh",
                                     ".sbatch", ".slurm", ".batch"};
  for (size_t i = 0; i < DL_LENGTH(ends); i++)
    if (ends_with(name, ends[i]))
      return true;
  return ends_with(name, ".json") && !is_network(name);
}
