/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names in the forms that people paste: counts, instances, addresses and sizes
 * of networks. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/pasted/pasted_private.h"

/* --- counts */

static void add_trimmed(struct dl_text *to, const char *s, size_t n) {
  static const char edges[] = " \t,;:()-";
  for (; n > 0 && strchr(edges, *s); s++)
    n--;
  while (n > 0 && strchr(edges, s[n - 1]))
    n--;
  dl_text_add_n(to, s, n);
}

/* The length of a sign between a count and a name: "x", "*", a multiplication
 * sign. */
static size_t sign_at(const char *s) {
  static const char times[] = "\xC3\x97";
  if (strncmp(s, times, 2) == 0)
    return 2;
  return *s && strchr("xX*", *s) ? 1 : 0;
}

/* "8xH100", "8 x H100", "8 H100". */
static bool count_ahead(const char *s, struct dl_text *count,
                        struct dl_text *name) {
  size_t digits = strspn(s, "0123456789");
  const char *t = s + digits;
  size_t blanks = strspn(t, " "), sign = sign_at(t + blanks);
  const char *rest = t + blanks + sign;
  if (digits == 0 || digits > 7 || (sign == 0 && blanks == 0) || !*rest)
    return false;
  dl_text_add_n(count, s, digits);
  add_trimmed(name, rest, strlen(rest));
  return name->len > 0;
}

/* Whether the letters in front of an "x" are those of a series, as in "RTX
 * 3090", "TX2" and "DGX 1", rather than the end of a name with a count. */
static bool is_series(const char *s, size_t n) {
  size_t letters = 0;
  while (letters < n && isalpha((unsigned char)s[n - letters - 1]))
    letters++;
  bool whole = letters == n || !isdigit((unsigned char)s[n - letters - 1]);
  return letters > 0 && letters <= 2 && whole;
}

/* "H100 x8", "H100:8", "H100 (8x)", "gpu=8". */
static bool count_behind(const char *s, struct dl_text *count,
                         struct dl_text *name) {
  size_t n = strlen(s), end;
  while (n > 0 && strchr(" )", s[n - 1]))
    n--;
  bool after = n > 1 && sign_at(s + n - 1) == 1 &&
               isdigit((unsigned char)s[n - 2]); /* "8x" */
  end = n -= after;
  while (n > 0 && isdigit((unsigned char)s[n - 1]))
    n--;
  size_t digits = end - n, start = n;
  while (n > 0 && s[n - 1] == ' ')
    n--;
  bool sign = n > 0 && strchr("xX*:=", s[n - 1]);
  bool times = n > 1 && strncmp(s + n - 2, "\xC3\x97", 2) == 0;
  bool apart = after && start > 0 && strchr(" (", s[start - 1]);
  if (digits == 0 || digits > 7 || !(sign || times || apart) ||
      (sign && strchr("xX", s[n - 1]) && is_series(s, n - 1)))
    return false;
  dl_text_add_n(count, s + start, digits);
  add_trimmed(name, s, n - (times ? 2 : sign));
  return name->len > 0;
}

/* Splits a name with a count: "8 x H100", or behind it "H100:8"; "gpu:a100:4".
 * `name` is empty for a count alone. False: it is no such text. */
static bool take_count(const char *text, bool behind, struct dl_text *count,
                       struct dl_text *name) {
  static const char *const prefixes[] = {"gres/",
                                         "gres:", "--gres=", "gpu:", "gpu="};
  DL_TEXT(s);
  const char *from = text;
  bool gres = false;
  for (size_t i = 0; i < DL_LENGTH(prefixes); i++)
    if (strncasecmp(from, prefixes[i], strlen(prefixes[i])) == 0) {
      from += strlen(prefixes[i]);
      gres = true;
    }
  const char *sockets = strstr(from, "(S:");
  const char *indices = strstr(from, "(IDX:");
  size_t n = strlen(from);
  if (sockets || indices)
    n = (size_t)((sockets ? sockets : indices) - from);
  dl_text_add_n(&s, from, n);
  const char *t = dl_text_str(&s);
  if (gres && *t && strspn(t, "0123456789") == s.len) {
    dl_text_add(count, t);
    return true;
  }
  if ((behind ? count_behind : count_ahead)(t, count, name))
    return true;
  dl_text_clear(count);
  dl_text_clear(name);
  if (gres)
    dl_text_add(name, t);
  return gres && *t;
}

/* --- accelerators and computers */

/* Whether a name is one of a cloud's instances, as providers form them. */
static bool is_instance(const char *s) {
  static const char *const parts[] = {".xlarge",   "xlarge",    ".metal",
                                      "-highgpu-", "-megagpu-", "-ultragpu-",
                                      "-edgegpu-", "-hightpu-", "-maxgpu-"};
  for (size_t i = 0; i < DL_LENGTH(parts); i++)
    if (strcasestr(s, parts[i]))
      return true;
  return strncasecmp(s, "standard_n", 10) == 0 ||
         strncasecmp(s, "bm.gpu", 6) == 0 || strncasecmp(s, "vm.gpu", 6) == 0;
}

/* A name, or its singular, or without SageMaker's prefix. */
static const struct dl_descriptor *find(struct dl_cli *cli, enum dl_kind kind,
                                        const char *name, struct dl_text *as) {
  const struct dl_descriptor *e = dl_pasted_look(cli, kind, name);
  dl_text_clear(as);
  dl_text_add(as, name);
  if (e)
    return e;
  if (kind == DL_NODE && strncasecmp(name, "ml.", 3) == 0) {
    dl_text_clear(as);
    dl_text_add(as, name + 3);
    return dl_pasted_look(cli, kind, name + 3);
  }
  if (kind == DL_ACCELERATOR && as->len > 1 && as->s[as->len - 1] == 's') {
    as->s[--as->len] = '\0';
    return dl_pasted_look(cli, kind, as->s);
  }
  return NULL;
}

/* Sets a computer, of which there may be several. */
static enum dl_status set_node(struct dl_pasted *p,
                               const struct dl_descriptor *e, const char *count,
                               const char *from, enum dl_pasted_rank rank) {
  double gpus = DL_AS(node, e)->gpus, n = 1;
  if (!dl_pasted_option(p, "node"))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "'%.64s' is a computer with %g accelerators; write --gpu "
                   "NAME --gpus N",
                   from, gpus);
  dl_pasted_set(p, "node", e->id, from, rank);
  if (*count && dl_parse_double(count, &n) && n > 1 && gpus > 0) {
    char buf[DL_NUMBER_SIZE];
    dl_pasted_set(p, "gpus", dl_format_short(buf, n * gpus), from, rank);
  }
  return DL_OK;
}

static enum dl_pasted_rank rank_of(const struct dl_pasted *p) {
  return p->file ? DL_PASTED_FILE : DL_PASTED_WORD;
}

static enum dl_status unknown_instance(struct dl_pasted *p, const char *name) {
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "'%.64s' is an instance that the catalogue does not have "
                 "(dlest list nodes); write its accelerators: --gpu NAME "
                 "--gpus N",
                 name);
}

/* Splits off a count that stands before a name or behind it: "4090x2" is no
 * 4090 of a thing called 2. */
static bool split_count(struct dl_cli *cli, const char *value,
                        struct dl_text *count, struct dl_text *name) {
  static const enum dl_kind kinds[] = {DL_ACCELERATOR, DL_NODE};
  DL_TEXT(as);
  for (int behind = 0; behind < 2; behind++) {
    dl_text_clear(count);
    dl_text_clear(name);
    if (!take_count(value, behind, count, name))
      continue;
    for (size_t i = 0; i < DL_LENGTH(kinds); i++)
      if (name->len == 0 || find(cli, kinds[i], name->s, &as))
        return true;
  }
  dl_text_clear(count);
  dl_text_clear(name);
  return take_count(value, false, count, name) ||
         take_count(value, true, count, name);
}

/* Sets a number of GPUs, which Slurm's generic resources, and words behind
 * "nodes of", give of a node. */
static void set_count(struct dl_pasted *p, const char *count,
                      const char *from) {
  if (p->of_nodes || strstr(from, "gres") || strstr(from, "per-node"))
    dl_pasted_part(p, DL_PASTED_PER_NODE, count, from);
  else
    dl_pasted_set(p, "gpus", count, from, rank_of(p));
}

/* "8xH100,8xA100": one count for all. */
static enum dl_status read_gpu_list(struct dl_pasted *p, const char *value,
                                    const char *from, bool *taken) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  DL_TEXT(names);
  DL_TEXT(first);
  size_t counted = 0;
  dl_strlist_split(&parts, value, ',');
  for (size_t i = 0; i < parts.n; i++) {
    DL_TEXT(count);
    DL_TEXT(name);
    if (!dl_pasted_look(p->cli, DL_ACCELERATOR, parts.s[i]) &&
        (take_count(parts.s[i], false, &count, &name) ||
         take_count(parts.s[i], true, &count, &name)) &&
        dl_pasted_look(p->cli, DL_ACCELERATOR, dl_text_str(&name))) {
      if (counted++ == 0)
        dl_text_add(&first, count.s);
      counted = strcmp(first.s, count.s) == 0 ? counted : parts.n + 1;
    }
    dl_text_printf(&names, "%s%s", i > 0 ? "," : "",
                   name.len > 0 ? name.s : parts.s[i]);
  }
  if (counted == 0)
    return DL_OK;
  if (counted != parts.n)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "--gpu: '%.64s' has several counts; write --gpus N for all "
                   "of a list, or a command for each",
                   value);
  *taken = true;
  dl_pasted_set(p, "gpu", dl_text_str(&names), from, rank_of(p));
  set_count(p, first.s, from);
  return DL_OK;
}

/* Takes off what nvidia-smi, lspci and lscpu write around a name: "GPU 0: NAME
 * (UUID: ...)", "|   0  NAME    On  | ...", "Model name:   NAME". */
static void strip_listing(const char *s, struct dl_text *to) {
  static const char *const ends[] = {" (UUID", " (rev", "  On ", "  Off ",
                                     " |",     "]",     "   "};
  const char *bracket = strstr(s, "controller: ") ? strrchr(s, '[') : NULL;
  if (bracket)
    s = bracket + 1;
  s += *s == '|';
  s += strspn(s, " \t");
  if (strncmp(s, "GPU ", 4) == 0 && strchr(s, ':'))
    s = strchr(s, ':') + 1;
  else if (strncasecmp(s, "model name", 10) == 0 && strchr(s, ':'))
    s = strchr(s, ':') + 1;
  else if (strspn(s, "0123456789") < 3 && s[strspn(s, "0123456789")] == ' ' &&
           s[strspn(s, "0123456789") + 1] == ' ')
    s += strspn(s, "0123456789");
  s += strspn(s, " \t");
  size_t n = strlen(s);
  for (size_t i = 0; i < DL_LENGTH(ends); i++) {
    const char *end = strstr(s, ends[i]);
    if (end && end > s && (size_t)(end - s) < n)
      n = (size_t)(end - s);
  }
  dl_text_add_n(to, s, n);
}

/* The computer of several accelerators that a name means where it is counted,
 * though it also names one of them by its parts: "2 x DGX A100". */
static const struct dl_descriptor *
computer_of(struct dl_cli *cli, const char *name, struct dl_text *as) {
  const struct dl_descriptor *gpu = dl_pasted_look(cli, DL_ACCELERATOR, name),
                             *node = find(cli, DL_NODE, name, as);
  bool own = false; /* it is the accelerator's name as well */
  for (size_t i = 0; gpu && i < gpu->n_aliases; i++)
    own = own || strcasecmp(gpu->aliases[i], name) == 0;
  return node && DL_AS(node, node)->gpus > 1 && !own ? node : NULL;
}

/* "8xH100", "p4d.24xlarge", "2 x p4d.24xlarge". */
static enum dl_status read_gpu(struct dl_pasted *p, const char *text,
                               const char *from, bool *taken) {
  DL_TEXT(bare);
  if (access(text, F_OK) != 0 && !dl_pasted_look(p->cli, DL_ACCELERATOR, text))
    strip_listing(text, &bare);
  const char *value = bare.len > 0 ? bare.s : text;
  const bool changed = strcmp(value, text) != 0, option = from == text;
  DL_TEXT(count);
  DL_TEXT(name);
  DL_TEXT(as);
  const struct dl_descriptor *e;
  *taken = changed && dl_pasted_look(p->cli, DL_ACCELERATOR, value);
  if (*taken)
    dl_pasted_set(p, "gpu", value, from, rank_of(p));
  if (*taken || access(value, F_OK) == 0 ||
      dl_pasted_look(p->cli, DL_ACCELERATOR, value))
    return DL_OK;
  *taken = !option && dl_word_among("gpu|cuda|auto", value, strlen(value)) >= 0;
  if (*taken)
    return DL_OK;
  if (strchr(value, ','))
    return read_gpu_list(p, value, from, taken);
  bool counted = split_count(p->cli, value, &count, &name);
  const char *own = counted ? dl_text_str(&name) : value;
  if (counted && !*own) {
    *taken = true;
    set_count(p, count.s, from);
    return DL_OK;
  }
  e = counted ? computer_of(p->cli, own, &as) : NULL;
  if (!e && find(p->cli, DL_ACCELERATOR, own, &as)) {
    *taken = true;
    dl_pasted_set(p, "gpu", as.s, from, rank_of(p));
    if (count.len > 0)
      set_count(p, count.s, from);
    return DL_OK;
  }
  e = e ? e : find(p->cli, DL_NODE, own, &as);
  *taken = e != NULL;
  if (e)
    return set_node(p, e, dl_text_str(&count), from, rank_of(p));
  if (is_instance(own) && !strchr(own, ' '))
    return unknown_instance(p, own);
  return counted && option
             ? dl_catalog_get(dl_cli_catalog(p->cli), DL_ACCELERATOR, own, &e,
                              &p->cli->diag)
             : DL_OK;
}

/* "8xH100" and "H100:8" as a number of GPUs; "4 gpus". */
static enum dl_status read_gpus(struct dl_pasted *p, const char *value,
                                const char *from, bool *taken) {
  size_t digits = strspn(value, "0123456789");
  *taken =
      p->launcher && dl_word_among("all|auto|-1", value, strlen(value)) >= 0;
  if (*taken) /* docker run --gpus all */
    return DL_OK;
  if (!value[digits] || strpbrk(value, ","))
    return DL_OK;
  return read_gpu(p, value, from, taken);
}

/* --- networks */

static enum dl_status read_arch(struct dl_pasted *p, const char *value,
                                const char *from, bool *taken) {
  DL_TEXT(arch);
  dl_text_printf(&arch, "%s/config.json", value);
  *taken = access(arch.s, R_OK) == 0; /* the folder of a checkpoint */
  if (!*taken) {
    if (access(value, F_OK) == 0 ||
        dl_pasted_look(p->cli, DL_ARCHITECTURE, value))
      return DL_OK;
    dl_text_clear(&arch);
    *taken = dl_pasted_network(p->cli, value, &arch);
  }
  if (!*taken)
    return dl_pasted_quantized(p, value, from, rank_of(p), taken);
  dl_pasted_set(p, "arch", arch.s, from, rank_of(p));
  return DL_OK;
}

/* --model is a file here, and a network elsewhere. */
static enum dl_status read_model(struct dl_pasted *p, const char *value,
                                 const char *from, bool *taken) {
  DL_TEXT(arch);
  if (access(value, F_OK) == 0)
    return DL_OK;
  *taken = dl_pasted_network(p->cli, value, &arch);
  if (!*taken)
    return dl_pasted_quantized(p, value, from, rank_of(p), taken);
  dl_pasted_set(p, "arch", arch.s, from, rank_of(p));
  return DL_OK;
}

/* Finds a data set by its name, or "https://huggingface.co/datasets/org/name".
 */
static bool find_dataset(struct dl_cli *cli, const char *value,
                         struct dl_text *to) {
  DL_TEXT(own);
  dl_pasted_strip_address(value, &own);
  const char *name = strrchr(dl_text_str(&own), '/');
  name = name ? name + 1 : dl_text_str(&own);
  const char *dot = strrchr(name, '.');
  if (dot && strstr(name, "datasets.")) { /* torchtune.datasets.NAME_dataset */
    const char *end = strstr(dot + 1, "_dataset");
    dl_text_add_n(to, dot + 1, end ? (size_t)(end - dot - 1) : strlen(dot + 1));
    return dl_pasted_look(cli, DL_DATASET, dl_text_str(to)) != NULL;
  }
  if (dot && dl_word_among(".yaml", dot, strlen(dot)) >= 0) { /* Ultralytics */
    dl_text_add_n(to, name, (size_t)(dot - name));
    return dl_pasted_look(cli, DL_DATASET, dl_text_str(to)) != NULL;
  }
  dl_text_add(to, dl_pasted_look(cli, DL_DATASET, value) ? value : name);
  return dl_pasted_look(cli, DL_DATASET, dl_text_str(to)) != NULL;
}

bool dl_pasted_dataset(struct dl_cli *cli, const char *name) {
  DL_TEXT(to);
  return find_dataset(cli, name, &to);
}

static enum dl_status read_dataset(struct dl_pasted *p, const char *value,
                                   const char *from, bool *taken) {
  DL_TEXT(name);
  if (find_dataset(p->cli, value, &name) && strcmp(name.s, value) != 0) {
    dl_pasted_set(p, "dataset", name.s, from, rank_of(p));
    *taken = true;
  }
  return DL_OK;
}

/* --- numbers with a word behind them */

/* "52k samples" for --train-samples. */
static enum dl_status read_number(struct dl_pasted *p, const char *option,
                                  const char *value, const char *from,
                                  bool *taken) {
  static const struct dl_named_text units[] = {
      {"tokens", "tokens|tok"},
      {"train-tokens", "tokens|tok"},
      {"train-samples", "samples|examples|images|rows|sequences|instances"},
      {"val-samples", "samples|examples|images|rows|sequences"},
      {"seq-len", "tokens"},
      {"epochs", "epochs|epoch"},
      {"batch-size", "samples|sequences|images"},
      {"requests", "requests|samples|images|prompts"}};
  const char *names = dl_text_of_name(units, DL_LENGTH(units), option, NULL);
  const char *blank = strchr(value, ' ');
  if (!names || !blank)
    return DL_OK;
  static const char scales[] = "thousand|million|billion|trillion";
  const char *unit = blank + strspn(blank, " ");
  const size_t word = strcspn(unit, " ");
  const long scale = dl_word_among(scales, unit, word);
  const char *rest = scale < 0 ? unit : unit + word + strspn(unit + word, " ");
  if ((*rest || scale < 0) && dl_word_among(names, rest, strlen(rest)) < 0)
    return DL_OK;
  DL_TEXT(number);
  dl_text_add_n(&number, value, (size_t)(blank - value));
  if (scale >= 0) /* "1.5 billion tokens" */
    dl_text_printf(&number, "e%ld", 3 * (scale + 1));
  dl_pasted_set(p, option, dl_text_str(&number), from, rank_of(p));
  *taken = true;
  return DL_OK;
}

enum dl_status dl_pasted_value(struct dl_pasted *p, const char *option,
                               const char *value, const char *from,
                               bool *taken) {
  static const struct {
    const char *option;
    enum dl_status (*read)(struct dl_pasted *p, const char *value,
                           const char *from, bool *taken);
  } readers[] = {{"gpu", read_gpu},
                 {"gpus", read_gpus},
                 {"gpus-per-node", read_gpus},
                 {"arch", read_arch},
                 {"model", read_model},
                 {"cloud", dl_pasted_cloud},
                 {"dataset", read_dataset}};
  *taken = false;
  if (!value || !*value)
    return DL_OK;
  for (size_t i = 0; i < DL_LENGTH(readers); i++)
    if (strcmp(readers[i].option, option) == 0)
      return readers[i].read(p, value, from, taken);
  return read_number(p, option, value, from, taken);
}
