/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/user_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

static enum dl_status read_one(struct dl_user_files *u, const char *path,
                               struct dl_diag *d) {
  struct dl_xml *xml;
  DL_GROW(u->file, u->cap, u->n + 1);
  DL_TRY(dl_xml_read(&xml, path, NULL, d));
  DL_TRY(dl_catalog_file_take(&u->file[u->n], xml, NULL, d));
  if (u->file[u->n].n > 0)
    u->n++;
  return DL_OK;
}

bool dl_is_xml_name(const char *name) {
  static const char ending[] = ".xml";
  size_t n = strlen(name), m = strlen(ending);
  return n > m && strcmp(name + n - m, ending) == 0;
}

static int is_xml(const struct dirent *e) {
  return dl_is_xml_name(e->d_name);
}

/* Reads a file that happens to be in a folder. If it cannot be read it is
 * skipped with a warning. Only a regular file is opened: a pipe would block
 * every command. */
static enum dl_status read_found(struct dl_user_files *u, const char *path,
                                 struct dl_diag *d) {
  struct stat st;
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
    return DL_OK;
  enum dl_status status = read_one(u, path, &own);
  if (status != DL_OK && own.error && strstr(own.error, path)) {
    dl_warn(&own, "%s; this file is skipped", own.error);
    status = DL_OK;
    own.status = DL_OK;
    free(own.error);
    own.error = NULL;
  }
  dl_diag_take(d, &own);
  return status;
}

static enum dl_status read_folder(struct dl_user_files *u, const char *dir,
                                  bool must, struct dl_diag *d) {
  struct dirent **entry = NULL;
  int n = scandir(dir, &entry, is_xml, alphasort);
  if (n < 0 && !must && (errno == ENOENT || errno == ENOTDIR))
    return DL_OK;
  if (n < 0)
    return dl_fail_errno(d, dir, "cannot read", errno);
  enum dl_status status = DL_OK;
  for (int i = 0; i < n; i++) {
    DL_TEXT(path);
    dl_text_printf(&path, "%s/%s", dir, entry[i]->d_name);
    if (status == DL_OK)
      status = read_found(u, path.s, d);
    free(entry[i]);
  }
  free(entry);
  return status;
}

static enum dl_status read_listed(struct dl_user_files *u, const char *places,
                                  struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist list = {0};
  enum dl_status status = DL_OK;
  dl_strlist_split(&list, places, ':');
  for (size_t i = 0; i < list.n && status == DL_OK; i++) {
    struct stat st;
    if (!*list.s[i])
      continue;
    if (stat(list.s[i], &st) == 0 && !S_ISDIR(st.st_mode))
      status = read_one(u, list.s[i], d);
    else
      status = read_folder(u, list.s[i], true, d);
  }
  return status;
}

/* Returns the folder that a variable names. A relative path is invalid and is
 * ignored, as the XDG Base Directory Specification demands. */
static const char *folder_of(const char *variable) {
  const char *path = getenv(variable);
  return path && *path == '/' ? path : NULL;
}

enum dl_status dl_user_files_read(struct dl_user_files *u, struct dl_diag *d) {
  const char *places = getenv("DLEST_PATH");
  const char *config = folder_of("XDG_CONFIG_HOME"), *home = folder_of("HOME");
  struct dl_text dir = {0};
  enum dl_status status = DL_OK;
  if (u->read)
    return DL_OK;
  if (places && *places)
    status = read_listed(u, places, d);
  if (config)
    dl_text_printf(&dir, "%s/dlest", config);
  else if (home)
    dl_text_printf(&dir, "%s/.config/dlest", home);
  if (status == DL_OK && dir.s)
    status = read_folder(u, dir.s, false, d);
  dl_text_free(&dir);
  if (status != DL_OK)
    dl_user_files_free(u);
  u->read = status == DL_OK;
  return status;
}

void dl_user_files_free(struct dl_user_files *u) {
  for (size_t i = 0; i < u->n; i++)
    dl_catalog_file_free(&u->file[i]);
  free(u->file);
  *u = (struct dl_user_files){0};
}

const struct dl_descriptor *dl_user_files_find(const struct dl_user_files *u,
                                               enum dl_kind kind,
                                               const char *folded) {
  const struct dl_descriptor *e = NULL;
  for (size_t i = 0; i < u->n && !e; i++)
    if (u->file[i].kind == kind)
      e = dl_catalog_file_find(&u->file[i], folded);
  return e;
}

bool dl_user_files_replace(const struct dl_user_files *u,
                           const struct dl_descriptor *e) {
  DL_TEXT(folded);
  dl_fold_name(e->kind, e->id, &folded);
  return folded.s && dl_user_files_find(u, e->kind, folded.s);
}

size_t dl_user_files_count(const struct dl_user_files *u, enum dl_kind kind) {
  size_t n = 0;
  for (size_t i = 0; i < u->n; i++)
    n += u->file[i].kind == kind ? u->file[i].n : 0;
  return n;
}

size_t dl_user_files_list(const struct dl_user_files *u, enum dl_kind kind,
                          const struct dl_descriptor **list) {
  size_t n = 0;
  for (size_t i = 0; i < u->n; i++) {
    const struct dl_user_files before = {.file = u->file, .n = i};
    const struct dl_catalog_file *f = &u->file[i];
    for (size_t j = 0; f->kind == kind && j < f->n; j++)
      if (!dl_user_files_replace(&before, f->e[j]))
        list[n++] = f->e[j];
  }
  return n;
}
