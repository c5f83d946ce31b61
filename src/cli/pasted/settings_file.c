/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of settings: JSON (DeepSpeed, PEFT, trainer_state.json, arguments of a
 * trainer), YAML (accelerate, axolotl, LLaMA-Factory, LLM Foundry) and batch
 * scripts. YAML is read as far as such files need it: nested "key: value". */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/pasted/pasted_private.h"
#include "io/json_read.h"

enum { MOST_BYTES = 4 << 20, MOST_DEPTH = 8, MOST_FILES = 3 };

static bool is_script(const char *text) {
  return strncmp(text, "#!", 2) == 0 || strstr(text, "#SBATCH");
}

/* --- JSON */

struct json_walk {
  struct dl_pasted *p;
  const char *path; /* of the object */
  unsigned depth;
  bool deepspeed, adapter, redundant;
  enum dl_status status;
};

/* The meaning of a member that is called otherwise in its kind of file. */
static const char *name_in(const struct json_walk *w, const char *key) {
  static const char batch[] = "train_batch_size";
  if (w->deepspeed && strcmp(key, batch) == 0)
    return w->redundant ? "steps_per_print" : "global_batch_size";
  if (w->adapter && strcmp(key, "r") == 0)
    return "lora_r";
  return !w->deepspeed && strcmp(key, batch) == 0 ? "micro_batch_size" : NULL;
}

static void take_member(void *ctx, const char *key, const dl_json *value) {
  struct json_walk *w = ctx;
  struct dl_json_value v = dl_json_value_of(value);
  DL_TEXT(path);
  char buf[DL_NUMBER_SIZE];
  const char *text = v.text;
  dl_text_printf(&path, "%s%s%s", w->path, *w->path ? "." : "", key);
  if (w->status != DL_OK || v.type == DL_JSON_ABSENT)
    return;
  if (v.type == DL_JSON_OTHER) {
    struct json_walk inner = *w;
    inner.path = dl_text_str(&path);
    inner.depth++;
    if (inner.depth < MOST_DEPTH && dl_json_size(value) == 0)
      dl_json_each(value, take_member, &inner);
    w->status = inner.status;
    return;
  }
  if (v.type == DL_JSON_TRUTH)
    text = v.number > 0 ? "true" : "false";
  else if (!text)
    text = dl_format_short(buf, v.number);
  w->status = dl_pasted_member(w->p, dl_text_str(&path), name_in(w, key), text);
}

static enum dl_status read_json(struct dl_pasted *p, const char *text,
                                const char *path) {
  dl_json *j = NULL;
  DL_TRY(dl_json_parse(&j, text, strlen(text), path, &p->cli->diag));
  struct json_walk w = {.p = p, .path = ""};
  static const char micro[] = "train_micro_batch_size_per_gpu";
  bool sized = dl_json_get(j, micro).type == DL_JSON_NUMBER;
  w.deepspeed = sized || dl_json_member(j, "zero_optimization") ||
                dl_json_get(j, micro).text;
  w.redundant = sized && dl_json_get(j, "gradient_accumulation_steps").type ==
                             DL_JSON_NUMBER;
  w.adapter = dl_json_get(j, "peft_type").text != NULL;
  dl_json_each(j, take_member, &w);
  dl_json_free(j);
  return w.status;
}

/* --- YAML */

/* A line "key: value"; the value without quotes, comment and blanks. */
struct yaml_line {
  size_t indent;
  char *key, *value;
};

/* Cuts what stands behind a value, and its quotes. */
static char *trim_value(char *s) {
  s += strspn(s, " \t");
  size_t n = strlen(s);
  if (*s == '"' || *s == '\'') {
    char *end = strchr(s + 1, *s);
    if (end)
      *end = '\0';
    return s + 1;
  }
  for (size_t i = 0; i < n; i++)
    if (s[i] == '#' && (i == 0 || isblank((unsigned char)s[i - 1])))
      n = i;
  while (n > 0 && isspace((unsigned char)s[n - 1]))
    n--;
  s[n] = '\0';
  return s;
}

/* Splits a line; false: it is blank, a comment, or an element of a list. */
static bool split_line(char *s, struct yaml_line *l) {
  l->indent = strspn(s, " ");
  s += l->indent;
  while (*s == '-' && s[1] == ' ') { /* an element of a list of mappings */
    const size_t n = 1 + strspn(s + 1, " ");
    l->indent += n;
    s += n;
  }
  if (!*s || *s == '#' || *s == '-' || *s == '%' || strncmp(s, "...", 3) == 0)
    return false;
  char *colon = strchr(s, ':');
  while (colon && colon[1] && !isspace((unsigned char)colon[1]))
    colon = strchr(colon + 1, ':');
  if (!colon)
    return false;
  *colon = '\0';
  l->key = trim_value(s);
  l->value = trim_value(colon + 1);
  return *l->key != '\0';
}

enum dl_status dl_pasted_yaml(struct dl_pasted *p, char *text) {
  struct {
    size_t indent;
    char *key;
  } open[MOST_DEPTH];
  size_t depth = 0, number = 0;
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    struct yaml_line l;
    number++;
    if (!split_line(line, &l))
      continue;
    if (*l.value && strchr("{&*|>!", *l.value))
      return dl_fail(&p->cli->diag, DL_EINPUT,
                     "%s: '%.40s' is beyond the YAML that is read here, nested "
                     "'key: value'; give its settings as options",
                     p->file, l.key);
    while (depth > 0 && open[depth - 1].indent >= l.indent)
      depth--;
    DL_TEXT(path);
    for (size_t i = 0; i < depth; i++)
      dl_text_printf(&path, "%s.", open[i].key);
    dl_text_add(&path, l.key);
    if (*l.value && *l.value != '[' && !strstr(l.value, "${"))
      DL_TRY(dl_pasted_member(p, dl_text_str(&path), NULL, l.value));
    else if (!*l.value && depth < MOST_DEPTH) {
      open[depth].indent = l.indent;
      open[depth++].key = l.key;
    }
  }
  return DL_OK;
}

/* --- any */

static bool has_part(const struct dl_pasted *p) {
  for (size_t i = 0; i < DL_PASTED_PARTS; i++)
    if (p->part[i].from)
      return true;
  return false;
}

static enum dl_status no_settings(struct dl_pasted *p, const char *path) {
  return dl_fail(&p->cli->diag, DL_EINPUT,
                 "%s: no file of settings (JSON of DeepSpeed, PEFT or a "
                 "trainer, YAML of accelerate or a trainer, or a batch script)",
                 path);
}

static enum dl_status read_text(struct dl_pasted *p, const char *path,
                                char *text) {
  const char *start = text + strspn(text, " \t\r\n\xEF\xBB\xBF");
  if (*start == '{')
    return read_json(p, start, path);
  if (is_script(start))
    return dl_pasted_script(p, start);
  if (strstr(start, ": ") || strstr(start, ":\n"))
    return dl_pasted_yaml(p, text);
  return no_settings(p, path);
}

enum dl_status dl_pasted_file(struct dl_pasted *p, const char *path) {
  DL_FREED char *data = NULL;
  DL_FREED char *text = NULL;
  size_t n = 0;
  const char *outer = p->file;
  if (p->depth == MOST_FILES)
    return dl_fail(&p->cli->diag, DL_EINPUT, "%s: files name each other", path);
  DL_TRY(dl_read_file(path, MOST_BYTES, &data, &n, &p->cli->diag));
  text = dl_strndup(data, n);
  size_t before = p->n, unused = p->unused.len;
  p->file = path;
  p->depth++;
  enum dl_status status = read_text(p, path, text);
  if (status == DL_OK && p->n == before && p->unused.len == unused &&
      !has_part(p))
    status = no_settings(p, path);
  p->depth--;
  p->file = outer;
  return status;
}
