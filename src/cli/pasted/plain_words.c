/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words in the place of options: "predict resnet50 a100", "predict llama-2-7b
 * 8 x H100 1.5T tokens". */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/options/count_text.h"
#include "cli/pasted/pasted_private.h"

enum { MOST_JOINED = 8 };

/* Whether each of the parts between commas is an entry of a kind. */
static bool all_are(struct dl_pasted *p, enum dl_kind kind, const char *text) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  dl_strlist_split(&parts, text, ',');
  size_t n = 0;
  while (n < parts.n && dl_pasted_look(p->cli, kind, parts.s[n]))
    n++;
  return parts.n > 1 && n == parts.n;
}

/* "1 trilliontokens": the scale becomes an exponent of the number. Returns the
 * rest of the name. */
static const char *take_scale(const char *name, struct dl_text *number) {
  static const char *const scales[] = {"thousand", "million", "billion",
                                       "trillion"};
  for (size_t i = 0; i < DL_LENGTH(scales); i++)
    if (strncmp(name, scales[i], strlen(scales[i])) == 0) {
      dl_text_printf(number, "e%zu", 3 * (i + 1));
      return name + strlen(scales[i]);
    }
  return name;
}

/* "1.5T tokens", "52k samples", "3 epochs", "1000 steps", "8 gpus". */
static bool take_amount(struct dl_pasted *p, const char *text) {
  static const struct dl_named_text amounts[] = {
      {"tokens", "tokens"},
      {"tok", "tokens"},
      {"samples", "train-samples"},
      {"examples", "train-samples"},
      {"images", "train-samples"},
      {"sequences", "train-samples"},
      {"epochs", "epochs"},
      {"epoch", "epochs"},
      {"requests", "requests"},
      {"prompttokens", "prompt-tokens"},
      {"inputtokens", "prompt-tokens"},
      {"outputtokens", "output-tokens"},
      {"generatedtokens", "output-tokens"},
      {"qps", "request-rate"},
      {"rps", "request-rate"},
      {"px", "image-px"}};
  static const struct dl_named_text words[] = {
      {"gpuhours", "gpu-hours"}, {"gpuh", "gpu-hours"},
      {"steps", "steps"},        {"nodes", "nodes"},
      {"node", "nodes"},         {"gpuspernode", "num-gpus-per-node"}};
  static const char gpus[] = "gpus|gpu|accelerators";
  DL_TEXT(number);
  DL_TEXT(unit);
  size_t n = strspn(text, "0123456789.,eE+");
  if (n > 0 && text[n] && strchr("kKMBT", text[n]) &&
      !isalpha((unsigned char)text[n + 1]))
    n++;
  double x;
  dl_text_add_n(&number, text, n);
  dl_pasted_fold(&unit, text + n, strlen(text + n));
  const char *name = dl_text_str(&unit);
  if (n > 0 && isdigit((unsigned char)text[n - 1]))
    name = take_scale(name, &number);
  const char *rate = text[n] ? strpbrk(text + n, "/p") : NULL;
  if (rate && dl_word_among("/s|/sec|per second", rate, strlen(rate)) >= 0 &&
      strncmp(name, "req", 3) == 0)
    name = "rps";
  else if (strchr(text + n, '/'))
    return false;
  const char *option = dl_text_of_name(amounts, DL_LENGTH(amounts), name, NULL);
  const char *word = dl_text_of_name(words, DL_LENGTH(words), name, NULL);
  if (dl_word_among(gpus, name, strlen(name)) >= 0) {
    option = p->of_nodes ? NULL : "gpus";
    word = p->of_nodes ? "num-gpus-per-node" : NULL;
  }
  if (!(option || word) || !dl_parse_large_count(dl_text_str(&number), &x))
    return false;
  bool known, used;
  if (option)
    dl_pasted_set(p, option, number.s, text, DL_PASTED_WORD);
  else
    dl_pasted_word(p, word, number.s, &known, &used);
  return true;
}

/* A word of a list of settings: "bf16", "lora:16", "zero3". */
static bool take_word(struct dl_pasted *p, const char *text) {
  static const enum dl_run_id of[] = {DL_RUN_precision, DL_RUN_fine_tune,
                                      DL_RUN_sharding, DL_RUN_optimizer,
                                      DL_RUN_phase};
  for (size_t i = 0; i < DL_LENGTH(of); i++) {
    const struct dl_run_column *c = &dl_run_columns[of[i]];
    const char *word = dl_run_word(c, text);
    bool bare = dl_word_among("full|none|single|float|double|"
                              "momentum|ddp|16|32|64",
                              text, strlen(text)) >= 0;
    if (!word || bare || !dl_pasted_option(p, c->option))
      continue;
    dl_pasted_set(p, c->option, word, text, DL_PASTED_WORD);
    return true;
  }
  return false;
}

/* "batch 128", "seq len 2048", "bs 64": the word of an option or of another
 * tool, and its number. */
static enum dl_status take_pair(struct dl_pasted *p, const char *text,
                                bool *taken) {
  const char *number = strrchr(text, ' ');
  DL_TEXT(name);
  double x;
  bool used;
  *taken = false;
  if (!number || !dl_parse_large_count(number + 1, &x))
    return DL_OK;
  dl_text_add_n(&name, text, (size_t)(number - text));
  for (char *c = name.s; *c; c++)
    if (*c == ' ' || *c == '_')
      *c = '-';
  const struct dl_option *own = dl_pasted_option(p, name.s);
  *taken = own && own->argument;
  if (!*taken)
    return dl_pasted_takes(p, name.s, number + 1)
               ? dl_pasted_word(p, name.s, number + 1, taken, &used)
               : DL_OK;
  dl_pasted_set(p, own->name, number + 1, text, DL_PASTED_WORD);
  return DL_OK;
}

/* Whether a file is a network's. */
static bool is_network_file(const char *path) {
  size_t n = strlen(path);
  return (n > 5 && strcasecmp(path + n - 5, ".onnx") == 0) ||
         !dl_pasted_is_file(path);
}

static enum dl_status take_file(struct dl_pasted *p, const char *path) {
  if (!is_network_file(path))
    return dl_pasted_file(p, path);
  dl_pasted_set(p, "arch", path, path, DL_PASTED_WORD);
  return DL_OK;
}

/* Takes a name that the catalogue has; *taken: it did. Names of two kinds are
 * refused. */
static enum dl_status take_name(struct dl_pasted *p, const char *text,
                                bool *taken) {
  DL_TEXT(arch);
  bool network = dl_pasted_network(p->cli, text, &arch) ||
                 all_are(p, DL_ARCHITECTURE, text);
  bool gpu = dl_pasted_look(p->cli, DL_ACCELERATOR, text) ||
             all_are(p, DL_ACCELERATOR, text);
  bool data = dl_pasted_look(p->cli, DL_DATASET, text) != NULL;
  *taken = false;
  if (network + gpu + data > 1)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "'%.64s' is the name of several things; write%s%s%s", text,
                   network ? " --arch" : "", gpu ? " --gpu" : "",
                   data ? " --dataset" : "");
  if (network)
    dl_pasted_set(p, "arch", arch.len > 0 ? arch.s : text, text,
                  DL_PASTED_WORD);
  else if (gpu)
    dl_pasted_set(p, "gpu", text, text, DL_PASTED_WORD);
  else if (data && dl_pasted_option(p, "dataset"))
    dl_pasted_set(p, "dataset", text, text, DL_PASTED_WORD);
  *taken = network || gpu || data;
  if (!*taken)
    DL_TRY(dl_pasted_quantized(p, text, text, DL_PASTED_WORD, taken));
  if (*taken)
    return DL_OK;
  DL_TEXT(again); /* another text: what it is must not be refused yet */
  dl_text_add(&again, text);
  return dl_pasted_value(p, "gpu", text, again.s, taken);
}

/* Words between others, which say nothing. */
static bool is_filler(const char *word) {
  static const char fillers[] =
      "on|with|for|using|and|at|training|train|of|the|each";
  const size_t n = strlen(word);
  const bool comma = n > 1 && word[n - 1] == ',';
  return dl_word_among(fillers, word, comma ? n - 1 : n) >= 0;
}

static enum dl_status take(struct dl_pasted *p, const char *text, size_t words,
                           bool *taken) {
  *taken = true;
  if (words == 1 && is_filler(text))
    return DL_OK;
  if (words == 1 && access(text, F_OK) == 0 && strchr(text, '.'))
    return take_file(p, text);
  DL_TEXT(config); /* of a checkpoint's folder */
  dl_text_printf(&config, "%s/config.json", text);
  if (words == 1 && access(config.s, R_OK) == 0) {
    dl_pasted_set(p, "arch", config.s, text, DL_PASTED_WORD);
    return DL_OK;
  }
  if (take_amount(p, text) || (words == 1 && take_word(p, text)))
    return DL_OK;
  DL_TRY(take_name(p, text, taken));
  if (!*taken)
    DL_TRY(take_pair(p, text, taken));
  return *taken ? DL_OK : dl_pasted_switch(p, text, taken);
}

enum dl_status dl_pasted_plain_word(struct dl_pasted *p, const char *word,
                                    bool *taken) {
  if (dl_pasted_is_file(word)) {
    *taken = true;
    return dl_pasted_file(p, word);
  }
  return take(p, word, 1, taken);
}

/* Appends the names that are near, of the first kind that has any: networks are
 * compared the most strictly, data sets are the fewest. */
static void suggest(struct dl_pasted *p, const char *word,
                    struct dl_text *near) {
  static const enum dl_kind kinds[] = {DL_ARCHITECTURE, DL_ACCELERATOR,
                                       DL_DATASET};
  for (size_t i = 0; i < DL_LENGTH(kinds) && near->len == 0; i++) {
    DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
    const struct dl_descriptor *e = NULL;
    dl_catalog_get(dl_cli_catalog(p->cli), kinds[i], word, &e, &quiet);
    const char *hint =
        quiet.error ? strstr(quiet.error, " (did you mean '") : NULL;
    if (hint)
      dl_text_add_n(near, hint, strcspn(hint, ";"));
  }
}

static enum dl_status refuse(struct dl_pasted *p, const char *word) {
  DL_TEXT(near);
  double x;
  if (dl_pasted_is_file(word))
    return dl_pasted_file(p, word);
  if (dl_parse_large_count(word, &x))
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "'%.64s' is a number without a word; write --gpus, "
                   "--batch-size, --epochs or another option before it",
                   word);
  suggest(p, word, &near);
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "'%.64s' is no network, accelerator or data set%s; see 'dlest "
                 "list', or write the option before it, as --arch NAME --gpu "
                 "NAME",
                 word, dl_text_str(&near));
}

enum dl_status dl_pasted_plain(struct dl_pasted *p, char *const *words,
                               size_t n) {
  for (size_t i = 0; i < n;) {
    size_t most = 1;
    while (i + most < n && most < MOST_JOINED && !is_filler(words[i + most]))
      most++;
    most = is_filler(words[i]) ? 1 : most;
    p->of_nodes =
        i > 1 && is_filler(words[i - 1]) &&
        dl_word_among("node|nodes", words[i - 2], strlen(words[i - 2])) >= 0;
    bool taken = false;
    for (; most > 0 && !taken; most -= !taken) {
      DL_TEXT(text);
      for (size_t k = 0; k < most; k++)
        dl_text_printf(&text, "%s%s", k > 0 ? " " : "", words[i + k]);
      DL_TRY(take(p, dl_text_str(&text), most, &taken));
    }
    if (!taken)
      return refuse(p, words[i]);
    i += most;
  }
  return DL_OK;
}
