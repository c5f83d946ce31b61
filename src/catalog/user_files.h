/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's own catalogues: *.xml files in the folders (or files) that
 * DLEST_PATH names, separated by colons, and in $XDG_CONFIG_HOME/dlest (else
 * ~/.config/dlest). An entry replaces those that come later and those that
 * ship. XML files that are not catalogues are skipped. */

#ifndef DL_CATALOG_USER_FILES_H
#define DL_CATALOG_USER_FILES_H

#include "catalog/catalog_file.h"

/* The files in order of precedence. Starts as {0}. */
struct dl_user_files {
  struct dl_catalog_file *file;
  size_t n, cap;
  bool read;
};

/* Reads the files, once. A folder or file of DLEST_PATH that is missing is an
 * error, a missing configuration folder is none. A file of a folder that is not
 * valid is skipped with a warning; one that DLEST_PATH names is an error. */
enum dl_status dl_user_files_read(struct dl_user_files *u, struct dl_diag *d);
void dl_user_files_free(struct dl_user_files *u);

/* Whether the name of a file ends in ".xml", and has more before it. */
bool dl_is_xml_name(const char *name);

/* Returns the entry of a kind with a folded name, or NULL. */
const struct dl_descriptor *dl_user_files_find(const struct dl_user_files *u,
                                               enum dl_kind kind,
                                               const char *folded);

/* dl_user_files_count returns how many entries of a kind there are at most;
 * dl_user_files_list stores them, without entries that an earlier file
 * replaces, and returns their number. */
size_t dl_user_files_count(const struct dl_user_files *u, enum dl_kind kind);
size_t dl_user_files_list(const struct dl_user_files *u, enum dl_kind kind,
                          const struct dl_descriptor **list);

/* Whether an entry that ships is replaced: its identifier is a name there. */
bool dl_user_files_replace(const struct dl_user_files *u,
                           const struct dl_descriptor *e);

#endif
