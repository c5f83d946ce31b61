/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands. */

#include <string.h>

#include "cli/command.h"

const struct dl_command *const dl_commands[DL_MOST_COMMANDS + 1] = {
    &dl_cmd_predict, &dl_cmd_fit,       &dl_cmd_extract, &dl_cmd_step,
    &dl_cmd_compare, &dl_cmd_describe,  &dl_cmd_list,    &dl_cmd_show,
    &dl_cmd_check,   &dl_cmd_calibrate, &dl_cmd_plot,    &dl_cmd_recommend,
    &dl_cmd_report,  &dl_cmd_record,
};

const struct dl_command *dl_command_find(const char *name) {
  for (size_t i = 0; dl_commands[i]; i++)
    if (strcmp(dl_commands[i]->name, name) == 0)
      return dl_commands[i];
  return NULL;
}
