/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for reading power logs that several commands have. */

#ifndef DL_CLI_OPTIONS_LOG_OPTIONS_H
#define DL_CLI_OPTIONS_LOG_OPTIONS_H

#include "cli/options/option.h"

/* For --from: finds the log format, a const struct dl_importer *. */
enum dl_status dl_read_importer(const struct dl_option *o, char *arg, void *at,
                                struct dl_diag *d);

#endif
