/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/pasted/hub_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends the folder of the cache; false: no variable says it. */
static bool add_cache(struct dl_text *to) {
  static const struct dl_named_text places[] = {
      {"HF_HUB_CACHE", ""},
      {"HUGGINGFACE_HUB_CACHE", ""},
      {"HF_HOME", "/hub"},
      {"XDG_CACHE_HOME", "/huggingface/hub"},
      {"HOME", "/.cache/huggingface/hub"}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *at = getenv(places[i].name);
    if (at && *at) {
      dl_text_printf(to, "%s%s", at, places[i].text);
      return true;
    }
  }
  return false;
}

/* Appends the snapshot that refs/main names, or nothing. */
static void add_main(const char *folder, struct dl_text *to) {
  DL_TEXT(path);
  char commit[80] = "";
  dl_text_printf(&path, "%s/refs/main", folder);
  FILE *f = fopen(path.s, "r");
  if (f && fgets(commit, sizeof commit, f))
    dl_text_add_n(to, commit, strcspn(commit, "\r\n/"));
  if (f)
    fclose(f);
}

/* Appends the path of a snapshot's config.json; false: it has none. */
static bool add_config(const char *folder, const char *snapshot,
                       struct dl_text *to) {
  DL_TEXT(path);
  dl_text_printf(&path, "%s/snapshots/%s/config.json", folder, snapshot);
  bool is = *snapshot && access(path.s, R_OK) == 0;
  if (is)
    dl_text_add(to, path.s);
  return is;
}

bool dl_hub_config(const char *id, struct dl_text *path) {
  DL_TEXT(folder);
  DL_TEXT(snapshot);
  const char *slash = strchr(id, '/');
  if (!slash || slash == id || !slash[1] || strchr(slash + 1, '/') ||
      strstr(id, "..") || !add_cache(&folder))
    return false;
  dl_text_printf(&folder, "/models--%.*s--%s", (int)(slash - id), id,
                 slash + 1);
  add_main(folder.s, &snapshot);
  if (add_config(folder.s, dl_text_str(&snapshot), path))
    return true;
  /* A model that was fetched at another revision has no refs/main. */
  DL_TEXT(snapshots);
  dl_text_printf(&snapshots, "%s/snapshots", folder.s);
  DIR *all = opendir(snapshots.s);
  const struct dirent *e;
  bool found = false;
  while (all && !found && (e = readdir(all)))
    found = e->d_name[0] != '.' && add_config(folder.s, e->d_name, path);
  if (all)
    closedir(all);
  return found;
}
