/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of a launcher's command line that are no options of this program. */

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"

static bool is_among(const char *names, const char *s) {
  return *s && dl_word_among(names, s, strlen(s)) >= 0;
}

/* Whether a word of a command line is a script, or a command of a launcher. */
static bool is_script(const char *word) {
  static const char commands[] =
      "launch|run|serve|train|exec|bench|latency|throughput|detect|segment|"
      "classify|pose|obb|sft|dpo|pretrain|chat|start|jobs|submit|throughput";
  const char *dot = strrchr(word, '.');
  return is_among(commands, word) || strchr(word, '$') ||
         (dot && is_among(".py", dot));
}

enum dl_status dl_pasted_launched(struct dl_pasted *p, const char *word) {
  bool taken = false;
  if (dl_pasted_is_launcher(word)) {
    dl_pasted_launch(p, word);
    return DL_OK;
  }
  DL_TRY(dl_pasted_switch(p, word, &taken));
  if (taken)
    return DL_OK;
  if (is_script(word)) {
    dl_pasted_leave_out(&p->unused, word);
    if (strstr(word, "lora")) { /* train_dreambooth_lora.py --rank 4 */
      dl_pasted_part(p, DL_PASTED_ADAPTERS, "lora", word);
      p->launcher = "lora";
    }
    return DL_OK;
  }
  DL_TRY(dl_pasted_plain_word(p, word, &taken));
  if (!taken && strchr(word, '/') && dl_pasted_dataset(p->cli, word))
    DL_TRY(dl_pasted_value(p, "dataset", word, word, &taken));
  if (!taken)
    dl_pasted_leave_out(&p->unknown, word);
  return DL_OK;
}

/* Counts of launchers whose options have one letter. */
static bool take_letter(struct dl_pasted *p, const char *word,
                        const char *next) {
  static const struct {
    const char *word;
    enum dl_pasted_part part;
  } counts[] = {{"-np", DL_PASTED_TOTAL},
                {"-n", DL_PASTED_TOTAL},
                {"-N", DL_PASTED_NODES},
                {"-G", DL_PASTED_TOTAL}};
  for (size_t i = 0; i < DL_LENGTH(counts); i++)
    if (strcmp(word, counts[i].word) == 0 && next &&
        isdigit((unsigned char)*next)) {
      dl_pasted_part(p, counts[i].part, next, word);
      return true;
    }
  return false;
}

enum dl_status dl_pasted_foreign(struct dl_pasted *p, char *const *words,
                                 size_t *n) {
  const char *word = words[0], *next = words[1];
  const bool has_value =
      next && *next != '-' && !strchr(word, '=') && !is_script(next);
  const bool contained =
      p->launcher && is_among("docker|podman|apptainer", p->launcher);
  bool taken = has_value && take_letter(p, word, next);
  *n = has_value ? 2 : 1;
  if (has_value && is_among("-m|-hf|-hfr", word) &&
      !dl_pasted_is_launcher(next))
    DL_TRY(dl_pasted_plain_word(p, next, &taken)); /* llama.cpp */
  if (taken)
    return DL_OK;
  DL_TEXT(text);
  dl_text_add(&text, word);
  if (has_value)
    dl_text_printf(&text, " %s", next);
  const bool module = is_among("-m", word) && has_value;
  dl_pasted_leave_out(module || contained ? &p->unused : &p->unknown, text.s);
  if (module)
    dl_pasted_launch(p, next);
  return DL_OK;
}
