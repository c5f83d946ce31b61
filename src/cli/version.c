/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --version. */

#include "cli/version.h"

#include <string.h>

#include "base/text.h"
#include "config.h"
#include "io/csv.h"
#include "io/xml.h"
#include "math/numeric/math_setup.h"
#include "onnx/onnx.h"
#include "output/render.h"

enum { WIDTH = 79 };

static const char licence[] =
    "Copyright (C) 2026 the dlest authors\n"
    "License GPLv3+: GNU GPL version 3 or later "
    "<https://gnu.org/licenses/gpl.html>\n"
    "This is free software: you are free to change and redistribute it.\n"
    "There is NO WARRANTY, to the extent permitted by law.\n";

/* A list, broken behind commas. */
static void print_list(FILE *f, const char *head, const char *list) {
  size_t at = strlen(head);
  fputs(head, f);
  while (*list) {
    size_t n = strcspn(list, ",");
    n += list[n] == ',';
    if (at + 1 + n > WIDTH) {
      putc('\n', f);
      at = 0;
    }
    fprintf(f, "%s%.*s", at ? " " : "", (int)n, list);
    at += n + (at > 0);
    list += n;
    list += strspn(list, " ");
  }
  putc('\n', f);
}

void dl_print_version(FILE *f) {
  DL_TEXT(t);
  dl_math_versions(&t);
  dl_text_add(&t, ", ");
  dl_xml_version(&t);
  dl_text_add(&t, ", ");
  dl_csv_versions(&t);
  dl_text_add(&t, ", ");
  dl_json_version(&t);
  dl_text_add(&t, dl_onnx_built_in() ? ", " : "");
  dl_onnx_version(&t);
  fprintf(f, "dlest %s\n%s\n", PACKAGE_VERSION, licence);
  print_list(f, "Libraries:", dl_text_str(&t));
}
