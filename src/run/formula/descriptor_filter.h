/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing and ordering descriptors by their fields. */

#ifndef DL_RUN_FORMULA_DESCRIPTOR_FILTER_H
#define DL_RUN_FORMULA_DESCRIPTOR_FILTER_H

#include "catalog/descriptor.h"

/* Keeps, in order, the descriptors for which a formula (formula.h) over their
 * fields is true: neither 0 nor unknown. *n is set to their number.
 * Errors (DL_EUSAGE): the formula is wrong, names what the kind does not
 * have, takes a text for a number or a number for a text. */
enum dl_status dl_filter(const struct dl_descriptor **e, size_t *n,
                         enum dl_kind kind, const char *where,
                         struct dl_diag *d);

/* Keeps, in order, the descriptors that have each of n texts in their
 * identifier, name or an alias: letters and digits count, in any case. */
void dl_filter_texts(const struct dl_descriptor **e, size_t *n,
                     char *const *text, size_t n_texts);

/* Orders them by fields, "tdp_w,-year": with '-' the largest first. Unknown
 * values come last either way; equal ones keep their order. Case does not count
 * in texts. */
enum dl_status dl_sort(const struct dl_descriptor **e, size_t n,
                       enum dl_kind kind, const char *keys, struct dl_diag *d);

/* Appends the names of the fields that a formula uses. */
enum dl_status dl_formula_names(const char *where, struct dl_strlist *names,
                                struct dl_diag *d);

#endif
