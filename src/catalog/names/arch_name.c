/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/arch_name.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* Words of a checkpoint that has the shape of the network it was made from. */
static const char *const endings[] = {"-hf", "-instruct", "-chat", "-it"};

/* The length of a name without an ending. */
static size_t without_ending(const char *name, size_t n) {
  for (size_t i = 0; i < DL_LENGTH(endings); i++) {
    size_t m = strlen(endings[i]);
    if (n > m && strncasecmp(name + n - m, endings[i], m) == 0)
      return n - m;
  }
  return n;
}

bool dl_arch_name_reduce(const char *name, struct dl_text *to) {
  const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name;
  size_t n = strlen(own), shorter;
  if (slash && strncasecmp(name, "timm/", 5) == 0 && strchr(own, '.'))
    n = strcspn(own, ".");
  while ((shorter = without_ending(own, n)) < n)
    n = shorter;
  if (n == 0 || n == strlen(name))
    return false;
  dl_text_add_n(to, own, n);
  return true;
}
