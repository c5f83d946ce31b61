/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of clouds in the forms that people paste: "us-east-1",
 * "gcp/us-central1", "us-central1-a", "East US". */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"

static bool same_folded(const char *a, size_t n, const char *b) {
  DL_TEXT(x);
  DL_TEXT(y);
  dl_pasted_fold(&x, a, n);
  dl_pasted_fold(&y, b, strlen(b));
  return x.len > 0 && strcmp(dl_text_str(&x), dl_text_str(&y)) == 0;
}

/* The provider that a text begins with; NULL: none. *n: its length, with what
 * stands behind it. */
static const char *provider_in(const char *s, size_t *n) {
  static const struct dl_named_text providers[] = {
      {"aws", "aws"},          {"amazon", "aws"},      {"ec2", "aws"},
      {"gcp", "gcp"},          {"google", "gcp"},      {"gce", "gcp"},
      {"azure", "azure"},      {"microsoft", "azure"}, {"ovh", "ovh"},
      {"oci", "oci"},          {"oracle", "oci"},      {"lambda", "lambda"},
      {"lambdalabs", "lambda"}};
  size_t m = strcspn(s, ":/ ");
  for (size_t i = 0; s[m] && i < DL_LENGTH(providers); i++)
    if (strlen(providers[i].name) == m &&
        strncasecmp(s, providers[i].name, m) == 0) {
      *n = m + strspn(s + m, ":/ ");
      return providers[i].text;
    }
  *n = 0;
  return NULL;
}

/* A region as it was pasted. */
struct pasted_region {
  const char *provider; /* NULL: any */
  const char *name;
  size_t len;
  bool borrowed; /* Lambda's names too, which AWS had before */
};

/* Whether a region of the catalogue is called so, exactly or in letters and
 * digits. */
static bool is_called(const struct dl_descriptor *e,
                      const struct pasted_region *r, bool exact) {
  const char *colon = strchr(e->id, ':');
  size_t m = colon ? (size_t)(colon - e->id) : 0;
  if (!colon || (r->provider && (strlen(r->provider) != m ||
                                 strncmp(r->provider, e->id, m) != 0)))
    return false;
  if (!r->provider && !r->borrowed && strncmp(e->id, "lambda:", m + 1) == 0)
    return false;
  if (exact)
    return strlen(colon + 1) == r->len &&
           strncasecmp(colon + 1, r->name, r->len) == 0;
  return same_folded(r->name, r->len, colon + 1);
}

size_t dl_pasted_regions(struct dl_cli *cli, const char *value,
                         struct dl_text *to) {
  const struct dl_descriptor **all = NULL;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  size_t n = 0, skip, count = 0;
  if (dl_catalog_all(dl_cli_catalog(cli), DL_SITE, &all, &n, &quiet) != DL_OK)
    return 0;
  struct pasted_region r = {.provider = provider_in(value, &skip)};
  r.name = value + skip;
  size_t len = strlen(r.name);
  for (size_t cut = 0; cut < 3 && cut < len && count == 0; cut++)
    for (int pass = 0; pass < 4 && count == 0; pass++) {
      const bool exact = pass % 2 == 0;
      r.borrowed = pass >= 2;
      if (cut > 0 && !isalpha((unsigned char)r.name[len - 1]))
        continue;
      r.len = len - cut;
      for (size_t i = 0; i < n; i++)
        if (is_called(all[i], &r, exact))
          dl_text_printf(to, "%s%s", count++ > 0 ? " or " : "", all[i]->id);
    }
  free(all);
  return count;
}

/* "us-east-1,eu-west-1": each of them a region of one provider. */
static enum dl_status read_clouds(struct dl_pasted *p, const char *value,
                                  const char *from, bool *taken) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  DL_TEXT(all);
  const enum dl_pasted_rank rank = p->file ? DL_PASTED_FILE : DL_PASTED_WORD;
  size_t known = 0;
  dl_strlist_split(&parts, value, ',');
  for (size_t i = 0; i < parts.n; i++) {
    DL_TEXT(found);
    if (dl_pasted_look(p->cli, DL_SITE, parts.s[i]))
      dl_text_add(&found, parts.s[i]);
    else if (dl_pasted_regions(p->cli, parts.s[i], &found) != 1)
      continue;
    dl_text_printf(&all, "%s%s", all.len > 0 ? "," : "", found.s);
    known++;
  }
  *taken = known == parts.n && strcmp(dl_text_str(&all), value) != 0;
  if (*taken)
    dl_pasted_set(p, "cloud", all.s, from, rank);
  return DL_OK;
}

enum dl_status dl_pasted_cloud(struct dl_pasted *p, const char *value,
                               const char *from, bool *taken) {
  DL_TEXT(found);
  const enum dl_pasted_rank rank = p->file ? DL_PASTED_FILE : DL_PASTED_WORD;
  if (strchr(value, ':') && dl_pasted_look(p->cli, DL_SITE, value))
    return DL_OK;
  if (strchr(value, ','))
    return read_clouds(p, value, from, taken);
  size_t count = dl_pasted_regions(p->cli, value, &found);
  if (count > 1)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "'%.64s' is a region of several providers; write --cloud %s",
                   value, found.s);
  *taken = count == 1;
  if (*taken)
    dl_pasted_set(p, "cloud", found.s, from, rank);
  return DL_OK;
}
