/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/arch_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"

/* Words of a checkpoint that has the shape of the network it was made from. */
static const char *const endings[] = {"-hf", "-instruct", "-chat", "-it"};

/* Returns the length of a name without an ending. */
static size_t without_ending(const char *name, size_t n) {
  for (size_t i = 0; i < DL_LENGTH(endings); i++) {
    size_t m = strlen(endings[i]);
    if (n > m && strncasecmp(name + n - m, endings[i], m) == 0)
      return n - m;
  }
  return n;
}

/* Returns the length of a name without a tag of timm ("resnet50.a1_in1k") or
 * the ending of a file of weights ("yolov8n.pt"). A tag that ends in a size
 * ("_384") stays: it states another input. */
static size_t without_tag(const char *name, size_t n) {
  const char *dot = memchr(name, '.', n);
  if (!dot || !isalpha((unsigned char)dot[1]))
    return n;
  size_t size = n;
  while (isdigit((unsigned char)name[size - 1]))
    size--;
  bool sized = n - size == 3 && name[size - 1] == '_';
  bool plain = !memchr(dot + 1, '.', n - (size_t)(dot + 1 - name));
  return plain && !sized ? (size_t)(dot - name) : n;
}

bool dl_arch_name_reduce(const char *name, struct dl_text *to) {
  const char *own = dl_path_name(name);
  if (strchr(name, ' ') && strpbrk(name, "/.")) /* several words */
    return false;
  size_t n = without_tag(own, strlen(own)), shorter;
  while ((shorter = without_ending(own, n)) < n)
    n = shorter;
  if (n == 0 || n == strlen(name))
    return false;
  dl_text_add_n(to, own, n);
  return true;
}

/* Whether each number of a name, as a version, is in another one too. */
static bool has_numbers_of(const char *other, const char *name) {
  static const char digits[] = "0123456789.";
  for (const char *s = name; *(s += strcspn(s, digits));) {
    const size_t n = strspn(s, digits);
    bool has = false;
    for (const char *o = other; !has && *(o += strcspn(o, digits));
         o += strspn(o, digits))
      has = strspn(o, digits) == n && strncmp(o, s, n) == 0;
    if (!has)
      return false;
    s += n;
  }
  return true;
}

const char *dl_arch_title(const struct dl_descriptor *e, const char *typed) {
  const char *slash = typed ? strrchr(typed, '/') : NULL;
  for (size_t i = 0; typed && i < e->n_aliases; i++)
    if (strcasecmp(e->aliases[i], typed) == 0 &&
        !has_numbers_of(e->name, typed) && !has_numbers_of(e->id, typed))
      return slash ? slash + 1 : typed;
  return e->name;
}
