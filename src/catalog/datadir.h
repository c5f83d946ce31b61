/* SPDX-License-Identifier: GPL-3.0-or-later
 * The folder that holds data/ and models/, which ship with dlest. */
#ifndef DL_CATALOG_DATADIR_H
#define DL_CATALOG_DATADIR_H

#include "base/diag.h"
#include "base/text.h"

/* Appends the folder: DLEST_DATADIR if set, else the first one beside the
 * program that holds dlest's data (an installation, which may have been moved,
 * a build folder, its source tree), else the one that configure was given. */
void dl_datadir(struct dl_text *dir);

/* Appends the path of a file under a data folder, `name` as "data/grids.xml".
 * If it cannot be read the error (DL_EFAILED) says what to do. */
enum dl_status dl_data_path(const char *datadir, const char *name,
                            struct dl_text *path, struct dl_diag *d);

/* Appends the path of a file under the folder of dl_datadir(). */
enum dl_status dl_shipped_path(const char *name, struct dl_text *path,
                               struct dl_diag *d);

#endif
