/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SAM 2, a network that segments images and videos: a Hiera encoder whose
 * stages differ in width, grid and window, and a decoder of masks (arXiv
 * 2408.00714, 2306.00989). */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_SAM2_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_SAM2_H

#include "base/diag.h"
#include "io/json_read.h"
#include "io/xml.h"

bool dl_config_is_sam2(const dl_json *whole);

/* Adds parameters and the work of one image with a prompt of one point to an
 * entry of a catalogue whose source is "config". The memory of videos counts
 * as parameters, and a warning says so. Errors (DL_EINPUT): values that are no
 * numbers, or sizes that do not fit each other. */
enum dl_status dl_config_add_sam2(struct dl_xml *x, dl_node *entry,
                                  const dl_json *whole, const char *path,
                                  struct dl_diag *d);

#endif
