/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/cpu/package_power.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "physics/cpu/cpu_inputs.h"

/* Processors of notebooks have no higher TDP, or memory on their package. */
#define MOST_MOBILE_W 60

/* docs/lab/make/cpu_power.py compares them with tables of servers. */
static const struct dl_package_kind server = {0.95, 0.2, 1.2};
static const struct dl_package_kind epyc = {0.8, 0.25, 1};
static const struct dl_package_kind entry_server = {0.7, 0.35, 1.3};
static const struct dl_package_kind desktop = {1.35, 0.3, 2.1};
static const struct dl_package_kind mobile = {1, 0.3, 2.5};

const struct dl_package_kind *
dl_package_kind_of(const struct dl_accelerator *cpu) {
  bool small = cpu->tdp_w <= MOST_MOBILE_W || dl_has_soldered_memory(cpu);
  if (!dl_is_client_cpu(cpu))
    return strncmp(cpu->head.id, "epyc", strlen("epyc")) == 0 ? &epyc : &server;
  if (strncmp(cpu->head.id, "xeon", strlen("xeon")) == 0)
    return &entry_server;
  return small ? &mobile : &desktop;
}
