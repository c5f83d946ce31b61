/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands. */

#include <assert.h>
#include <string.h>

#include "cli/command.h"

static const struct dl_command *const commands[] = {
    &dl_cmd_predict, &dl_cmd_fit,       &dl_cmd_extract, &dl_cmd_step,
    &dl_cmd_compare, &dl_cmd_describe,  &dl_cmd_list,    &dl_cmd_show,
    &dl_cmd_check,   &dl_cmd_calibrate, &dl_cmd_plot,    &dl_cmd_recommend,
    &dl_cmd_report,  &dl_cmd_record,
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };
static_assert(sizeof commands / sizeof *commands <= DL_MOST_COMMANDS,
              "names of commands");

size_t dl_command_count(void) {
  return N_COMMANDS;
}

const struct dl_command *dl_command_at(size_t i) {
  return commands[i];
}

const struct dl_command *dl_command_find(const char *name) {
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  return NULL;
}
