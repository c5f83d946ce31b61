/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why no importer recognises a file. */

#ifndef DL_LOGS_IMPORTERS_UNKNOWN_FORMAT_H
#define DL_LOGS_IMPORTERS_UNKNOWN_FORMAT_H

#include "logs/importers/importer.h"

/* The reason of the nearest importer (`lacks`), or what the file is otherwise,
 * and what to do; NULL where neither is known. */
const char *dl_unknown_format(const struct dl_head *head);

#endif
