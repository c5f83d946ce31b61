/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/text.h"
#include "catalog/architecture/file_name.h"
#include "catalog/descriptor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool dl_file_ends(const char *name, const char *ending) {
  size_t n = strlen(name), m = strlen(ending);
  return n > m && strcasecmp(name + n - m, ending) == 0;
}

void dl_name_of_file(const char *path, bool id, char to[DL_MOST_ID + 1]) {
  const char *base = dl_path_name(path);
  size_t len = strlen(base), n = 0;
  if (dl_file_ends(base, ".onnx") || dl_file_ends(base, ".json"))
    len -= 5;
  for (size_t i = 0; i < len && n < DL_MOST_ID; i++) {
    char c = base[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (c >= 'A' && c <= 'Z') {
      letter = true;
      c = id ? (char)(c - 'A' + 'a') : c;
    }
    if (letter || (n > 0 && strchr("._+-", c)))
      to[n++] = c;
    else if (n > 0 && to[n - 1] != '-')
      to[n++] = '-';
  }
  while (n > 0 && strchr("._-", to[n - 1]))
    n--;
  to[n] = '\0';
  if (n == 0)
    memcpy(to, "model", sizeof "model");
}

struct dl_xml *dl_new_catalog(const char *path, const char *named_after,
                              const char *source, const char *title,
                              dl_node **entry) {
  char name[DL_MOST_ID + 1];
  struct dl_xml *x = dl_xml_new("catalog");
  dl_node *root = dl_xml_root(x);
  dl_xml_set_path(x, path);
  dl_xml_set(x, root, "kind", "architecture");
  dl_xml_set(x, root, "version", "1");
  dl_node *node = dl_xml_add(x, dl_xml_add(x, root, "sources"), "source");
  dl_xml_set(x, node, "id", source);
  dl_xml_set(x, node, "title", title);
  *entry = dl_xml_add(x, root, "entry");
  dl_name_of_file(named_after, true, name);
  dl_xml_set(x, *entry, "id", name);
  dl_name_of_file(named_after, false, name);
  dl_xml_set(x, *entry, "name", name);
  return x;
}

void dl_format_plain(char to[DL_NUMBER_SIZE], double x, int decimals) {
  snprintf(to, DL_NUMBER_SIZE, "%.*f", decimals, x);
  for (char *p = to; *p; p++)
    if (*p == ',')
      *p = '.'; /* of the locale */
  size_t n = strlen(to);
  while (strchr(to, '.') && n > 1 && to[n - 1] == '0')
    to[--n] = '\0';
  if (n > 1 && to[n - 1] == '.')
    to[n - 1] = '\0';
}

void dl_add_value(struct dl_xml *m, dl_node *to, const char *source,
                  const char *note, const char *name, double x) {
  const struct dl_field *f = dl_field_find(DL_ARCHITECTURE, name);
  char text[DL_NUMBER_SIZE];
  if (isnan(x) || x < f->low || x > f->high)
    return;
  dl_format_plain(text, x, dl_same_text(f->unit, "GMAC") ? 9 : 6);
  dl_node *node = dl_xml_add(m, to, "value");
  dl_xml_set(m, node, "name", f->name);
  dl_xml_set(m, node, "source", source);
  dl_xml_set(m, node, "note", note);
  dl_xml_set_text(m, node, text);
}
