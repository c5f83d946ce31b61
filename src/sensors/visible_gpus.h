/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPUs that a program sees. */

#ifndef DL_SENSORS_VISIBLE_GPUS_H
#define DL_SENSORS_VISIBLE_GPUS_H

#include "sensors/sensors.h"

/* Keeps the GPUs of a list of indices and of beginnings of UUIDs, "0,2"; "all"
 * keeps all of them, NULL those that a program sees (kind->visible). Sensors of
 * other parts stay. Error (DL_EUSAGE): `gpus` names a GPU that is not there. */
enum dl_status dl_sensors_select(struct dl_sensors *s, const char *gpus,
                                 struct dl_diag *d);

#endif
