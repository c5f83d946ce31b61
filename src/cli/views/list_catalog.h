/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest list of descriptors: selected, ordered, with the requested columns. */

#ifndef DL_CLI_VIEWS_LIST_CATALOG_H
#define DL_CLI_VIEWS_LIST_CATALOG_H

#include "cli/command.h"

struct dl_list_options {
  const char *where;   /* formula, or NULL */
  const char *sort;    /* "tdp_w,-year", or NULL */
  const char *columns; /* "id,tdp_w", or NULL */
  size_t limit;        /* rows; SIZE_MAX: all */
};

/* Text shows the columns that fit a terminal and those used by --where and
 * --sort; JSON and CSV hold every attribute. --columns applies to all formats.
 */
enum dl_status dl_list_catalog(struct dl_cli *cli, enum dl_kind kind,
                               const struct dl_list_options *o);

#endif
