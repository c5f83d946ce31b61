/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads files of sysfs. */

#include "sensors/sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

enum { PATH_SIZE = 512, LINE_SIZE = 256 };

/* "hwmon2" comes before "hwmon10". */
static int by_number(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  while (*x && *y) {
    if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
      char *after_x, *after_y;
      unsigned long long m = strtoull(x, &after_x, 10);
      unsigned long long n = strtoull(y, &after_y, 10);
      if (m != n)
        return m < n ? -1 : 1;
      x = after_x;
      y = after_y;
    } else if (*x != *y) {
      break;
    } else {
      x++;
      y++;
    }
  }
  return (unsigned char)*x - (unsigned char)*y;
}

void dl_sysfs_find(const char *root, const char *pattern,
                   struct dl_strlist *paths) {
  DL_TEXT(all);
  glob_t found;
  dl_text_printf(&all, "%s/%s", root, pattern);
  int result = glob(dl_text_str(&all), GLOB_NOSORT, NULL, &found);
  if (result == GLOB_NOSPACE)
    dl_end_without_memory();
  if (result != 0)
    return;
  qsort((void *)found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv,
        by_number);
  for (size_t i = 0; i < found.gl_pathc; i++)
    dl_strlist_add(paths, found.gl_pathv[i]);
  globfree(&found);
}

static bool path_of(const char *folder, const char *file,
                    char path[PATH_SIZE]) {
  int n = snprintf(path, PATH_SIZE, "%s/%s", folder, file);
  return n > 0 && n < PATH_SIZE;
}

bool dl_sysfs_text(const char *folder, const char *file, char *to,
                   size_t size) {
  char path[PATH_SIZE];
  if (!path_of(folder, file, path))
    return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, to, size - 1);
  close(fd);
  if (n <= 0)
    return false;
  to[n] = '\0';
  to[strcspn(to, "\n")] = '\0';
  return true;
}

double dl_sysfs_number(const char *folder, const char *file) {
  char line[LINE_SIZE];
  double x;
  if (!dl_sysfs_text(folder, file, line, sizeof line))
    return NAN;
  return dl_parse_number(line, strcspn(line, " \t"), &x) == DL_NUMBER_OK ? x
                                                                         : NAN;
}

bool dl_sysfs_exists(const char *folder, const char *file) {
  char path[PATH_SIZE];
  return path_of(folder, file, path) && access(path, F_OK) == 0;
}

bool dl_sysfs_readable(const char *folder, const char *file) {
  char path[PATH_SIZE];
  return path_of(folder, file, path) && access(path, R_OK) == 0;
}
