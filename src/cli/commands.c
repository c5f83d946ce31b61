/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands, in the order of dlest --help. */

#include <string.h>

#include "cli/command.h"

const struct dl_command *const dl_commands[DL_MOST_COMMANDS + 1] = {
    /* before, during and after a training */
    &dl_cmd_predict,
    &dl_cmd_recommend,
    &dl_cmd_record,
    &dl_cmd_step,
    &dl_cmd_extract,
    &dl_cmd_report,
    /* models of measured runs */
    &dl_cmd_fit,
    &dl_cmd_calibrate,
    &dl_cmd_compare,
    &dl_cmd_plot,
    /* networks, GPUs, catalogues */
    &dl_cmd_describe,
    &dl_cmd_list,
    &dl_cmd_show,
    &dl_cmd_check,
};

const struct dl_command *dl_command_find(const char *name) {
  for (size_t i = 0; dl_commands[i]; i++)
    if (strcmp(dl_commands[i]->name, name) == 0)
      return dl_commands[i];
  return NULL;
}
