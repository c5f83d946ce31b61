/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/unknown_format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "logs/importers/importers.h"

#define SMI_QUERY                                                              \
  "nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -l 1"

/* Files that are no logs of power over time. Each text must occur in the head;
 * NULL: no further one. `first`: the file begins with the first of them. */
static const struct unread_format {
  const char *text[2];
  bool first;
  const char *why;
} known[] = {
    {{"<!DOCTYPE html", NULL},
     true,
     "an HTML page, as a server's answer to a failed download"},
    {{"<html", NULL},
     true,
     "an HTML page, as a server's answer to a failed download"},
    {{"<nvidia_smi_log", NULL},
     false,
     "nvidia-smi -q is one sample without a time; log " SMI_QUERY},
    {{"NVSMI LOG", NULL},
     false,
     "nvidia-smi -q is one sample without a time; log " SMI_QUERY},
    {{"| NVIDIA-SMI", "+--"},
     false,
     "the screen of nvidia-smi is one sample without columns; log " SMI_QUERY},
    {{"'C,", " / "}, false, "gpustat prints no columns; log " SMI_QUERY},
    {{"GR3D_FREQ", NULL},
     false,
     "tegrastats prints no columns; record with dlest record, or write a table "
     "of CSV with a header, such as timestamp,node_power_mw,gpu_power_mw"},
    {{"*** Sampled system activity", NULL},
     false,
     "powermetrics prints no columns; write a table of CSV with a header, such "
     "as timestamp,cpu_power_mw,gpu_power_mw"},
    {{"<?xml", NULL}, true, "XML, which no log format is"},
    {{"{'", NULL},
     true,
     "a Python dictionary; write a table of CSV with a header, such as "
     "timestamp,gpu_power_w"},
    {{"{", NULL},
     true,
     "JSON of none of the formats that are read; write a table of CSV with a "
     "header, such as timestamp,gpu_power_w"},
    {{"[{", NULL},
     true,
     "JSON of none of the formats that are read; write a table of CSV with a "
     "header, such as timestamp,gpu_power_w"},
};

static bool matches(const struct unread_format *k, const char *s) {
  if (k->first && strncasecmp(s, k->text[0], strlen(k->text[0])) != 0)
    return false;
  for (size_t i = 0; i < 2 && k->text[i]; i++)
    if (!strcasestr(s, k->text[i]))
      return false;
  return true;
}

/* Whether the first line has values in place of names. */
static bool has_no_header(const struct dl_head *head) {
  char line[DL_HEAD_LINE], *field[DL_HEAD_FIELDS];
  struct dl_timestamp t;
  size_t at = 0;
  return dl_head_line(head, &at, line, sizeof line) &&
         dl_cell_split(line, ',', field, DL_HEAD_FIELDS) > 1 &&
         dl_parse_timestamp(field[0], strlen(field[0]), &t);
}

const char *dl_unknown_format(const struct dl_head *head) {
  const char *s = head->text;
  while (isspace((unsigned char)*s))
    s++;
  for (size_t i = 0; dl_importers[i]; i++) {
    const char *why =
        dl_importers[i]->lacks ? dl_importers[i]->lacks(head) : NULL;
    if (why)
      return why;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (matches(&known[i], s))
      return known[i].why;
  return has_no_header(head)
             ? "the first line has no names of columns, and no units; give "
               "--from nvidia-smi --columns timestamp,power.draw,..., or write "
               "a header"
             : NULL;
}
