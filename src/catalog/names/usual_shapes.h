/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of language models of which the number of parameters alone is known.
 */

#ifndef DL_CATALOG_NAMES_USUAL_SHAPES_H
#define DL_CATALOG_NAMES_USUAL_SHAPES_H

#include <stdbool.h>

#include "base/text.h"

/* Appends a decoder of about so many parameters, "transformer:layers=32,...":
 * hidden size and heads are those of the nearest row of GPT-3 (arXiv
 * 2005.14165, table 2.1), OPT (2205.01068, table 1) and Megatron-LM
 * (2104.04473, table 1), which Chinchilla (2203.15556, table A9) lies between;
 * layers make up the number, to half a layer. False: below 10 million or above
 * 10 trillion parameters. */
bool dl_usual_shape(double params, struct dl_text *to);

#endif
