/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the files that ship are: descriptors, schemas, models. */

#ifndef DL_CATALOG_DATADIR_H
#define DL_CATALOG_DATADIR_H

#include "base/diag.h"
#include "base/text.h"

/* The directory that holds data/ and models/: DLEST_DATADIR if set, else
 * where dlest was installed. */
const char *dl_datadir(void);

/* Appends the path of a file under it, `name` as "data/grids.xml". An error
 * (DL_EFAILED) that says what to do if it cannot be read. */
enum dl_status dl_data_path(const char *datadir, const char *name,
                            struct dl_text *path, struct dl_diag *d);

#endif
