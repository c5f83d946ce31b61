/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/cgroup.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Groups below a group, and groups below each other, that are looked into. */
enum { DEEPEST = 8, LINE_SIZE = 4096 };

/* The path behind "0::" in /proc/PID/cgroup. */
static bool path_of(pid_t pid, char path[LINE_SIZE]) {
  char name[64], line[LINE_SIZE];
  bool found = false;
  snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
  FILE *f = fopen(name, "re");
  while (f && !found && fgets(line, sizeof line, f))
    if (strncmp(line, "0::/", 4) == 0) {
      line[strcspn(line, "\n")] = '\0';
      strcpy(path, line + 3);
      found = true;
    }
  if (f)
    fclose(f);
  return found;
}

bool dl_cgroup_find(struct dl_cgroup *g, const char *sysfs, pid_t pid) {
  /* Beside version 1 it is below "unified". */
  static const char *const mounts[] = {"fs/cgroup", "fs/cgroup/unified"};
  char path[LINE_SIZE];
  if (!path_of(pid, path))
    return false;
  for (size_t i = 0; i < DL_LENGTH(mounts); i++) {
    dl_text_clear(&g->folder);
    dl_text_printf(&g->folder, "%s/%s%s", sysfs, mounts[i], path);
    if (!isnan(dl_cgroup_seconds(g)))
      return true;
  }
  dl_text_clear(&g->folder);
  return false;
}

static bool list_group(struct dl_cgroup *g, const char *folder) {
  DL_TEXT(path);
  long pid;
  dl_text_printf(&path, "%s/cgroup.procs", folder);
  FILE *f = fopen(path.s, "re");
  if (!f)
    return false;
  while (fscanf(f, "%ld", &pid) == 1) {
    DL_GROW(g->pid, g->cap, g->n + 1);
    g->pid[g->n++] = (pid_t)pid;
  }
  fclose(f);
  return true;
}

static bool list_below(struct dl_cgroup *g, const char *folder, int depth) {
  bool done = depth < DEEPEST && list_group(g, folder);
  DIR *dir = done ? opendir(folder) : NULL;
  for (struct dirent *e; done && dir && (e = readdir(dir));) {
    DL_TEXT(path);
    if (e->d_type != DT_DIR || e->d_name[0] == '.')
      continue;
    dl_text_printf(&path, "%s/%s", folder, e->d_name);
    done = list_below(g, path.s, depth + 1);
  }
  if (dir)
    closedir(dir);
  return done && dir;
}

bool dl_cgroup_list(struct dl_cgroup *g) {
  g->n = 0;
  return g->folder.len > 0 && list_below(g, g->folder.s, 0);
}

double dl_cgroup_seconds(const struct dl_cgroup *g) {
  DL_TEXT(path);
  unsigned long long us;
  dl_text_printf(&path, "%s/cpu.stat", dl_text_str(&g->folder));
  FILE *f = fopen(path.s, "re");
  if (!f)
    return NAN;
  bool found = fscanf(f, "usage_usec %llu", &us) == 1; /* its first line */
  fclose(f);
  return found ? (double)us * 1e-6 : (double)NAN;
}

void dl_cgroup_free(struct dl_cgroup *g) {
  dl_text_free(&g->folder);
  free(g->pid);
  *g = (struct dl_cgroup){0};
}
