/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "catalog/architecture/file_name.h"

#include <string.h>
#include <strings.h>

bool dl_file_ends(const char *name, const char *ending) {
  size_t n = strlen(name), m = strlen(ending);
  return n > m && strcasecmp(name + n - m, ending) == 0;
}

void dl_name_of_file(const char *path, bool id, char to[DL_MOST_ID + 1]) {
  const char *base = dl_path_name(path);
  size_t len = strlen(base), n = 0;
  if (dl_file_ends(base, ".onnx") || dl_file_ends(base, ".json"))
    len -= 5;
  for (size_t i = 0; i < len && n < DL_MOST_ID; i++) {
    char c = base[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (c >= 'A' && c <= 'Z') {
      letter = true;
      c = id ? (char)(c - 'A' + 'a') : c;
    }
    if (letter || (n > 0 && strchr("._+-", c)))
      to[n++] = c;
    else if (n > 0 && to[n - 1] != '-')
      to[n++] = '-';
  }
  while (n > 0 && strchr("._-", to[n - 1]))
    n--;
  to[n] = '\0';
  if (n == 0)
    memcpy(to, "model", sizeof "model");
}
