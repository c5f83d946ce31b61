/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines of other programs: the launcher of a training ("torchrun
 * --nproc-per-node 8 train.py --lr 1e-4") or a server of language models
 * ("vllm serve NAME"). Their words are read by what they mean; what is not
 * known is named in a warning. */

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"

static const char trainers[] =
    "torchrun|accelerate|deepspeed|srun|sbatch|mpirun|mpiexec|horovodrun|"
    "torch.distributed.run|torch.distributed.launch|python|python3|composer|"
    "salloc|axolotl|llamafactory-cli|llamafactory|tune|lightning|fabric|litgpt|"
    "yolo|"
    "docker|podman|apptainer|singularity|nohup|time|uv|conda|swift|xtuner|"
    "autotrain|colossalai|ray|sky|bash|sh|sudo|env|trl|megatron|mlx_lm.lora";
static const char servers[] =
    "vllm|sglang|text-generation-launcher|text-generation-inference|ollama|"
    "llama-server|llama-cli|llama-bench|llama.cpp|trtllm-serve|trtllm-bench|"
    "tensorrt_llm|lmdeploy|mlc_llm|tritonserver|vllm-openai|"
    "mlx_lm.generate|mlx_lm.server";

/* Appends the last part of a path, without a tag or what follows a dot in a
 * module: "vllm/vllm-openai:latest" is vllm-openai. */
static void program_of(const char *word, struct dl_text *to) {
  const char *slash = strrchr(word, '/');
  const char *own = slash ? slash + 1 : word;
  dl_text_add_n(to, own, strcspn(own, ":@"));
}

static bool is_among(const char *names, const char *s) {
  return *s && dl_word_among(names, s, strlen(s)) >= 0;
}

/* Whether a word is a server's name, or a module of it. */
static bool is_server(const char *word) {
  DL_TEXT(own);
  DL_TEXT(package);
  program_of(word, &own);
  dl_text_add_n(&package, dl_text_str(&own), strcspn(dl_text_str(&own), "."));
  return is_among(servers, dl_text_str(&own)) ||
         is_among("vllm|sglang|lmdeploy|mlc_llm|tensorrt_llm",
                  dl_text_str(&package));
}

bool dl_pasted_is_launcher(const char *word) {
  DL_TEXT(own);
  program_of(word, &own);
  return is_among(trainers, dl_text_str(&own)) || is_server(word);
}

static void leave_out(struct dl_text *to, const char *word) {
  dl_text_printf(to, "%s%s", to->len > 0 ? ", " : "", word);
}

bool dl_pasted_serves(struct dl_pasted *p, const char *word) {
  if (!is_server(word) || !dl_pasted_option(p, "phase"))
    return false;
  dl_pasted_set(p, "phase", "inference", word, DL_PASTED_IMPLIED);
  if (strcmp(word, "ollama") == 0) /* what its names without a format mean */
    dl_pasted_set(p, "precision", "q4_k_m", word, DL_PASTED_FILE_SWITCH);
  return true;
}

void dl_pasted_launch(struct dl_pasted *p, const char *word) {
  if (!p->launcher)
    leave_out(&p->unused, word);
  dl_pasted_serves(p, word);
  p->launcher = word;
}

/* Whether a word of a command line is a script, or a command of a launcher. */
static bool is_script(const char *word) {
  static const char commands[] =
      "launch|run|serve|train|exec|bench|latency|throughput|detect|segment|"
      "classify|pose|obb|sft|dpo|pretrain|chat|start|jobs|submit|throughput";
  const size_t n = strlen(word);
  return is_among(commands, word) || strchr(word, '$') ||
         (n > 3 && strcmp(word + n - 3, ".py") == 0);
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
    leave_out(&p->unused, word);
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
    leave_out(&p->unknown, word);
  return DL_OK;
}

enum dl_status dl_pasted_assigned(struct dl_pasted *p, const char *word,
                                  bool *taken) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  word += strspn(word, "+");
  const size_t n = strcspn(word, "=");
  bool used, capital = true;
  *taken = false;
  if (word[n] != '=' || n == 0 || strspn(word, letters) < n ||
      !isalpha((unsigned char)*word))
    return DL_OK;
  DL_TRY(dl_pasted_word(p, word, NULL, taken, &used));
  const char *dot = memrchr(word, '.', n); /* "model.lora_rank=8" */
  if (!*taken && dot && dot > word)
    DL_TRY(dl_pasted_word(p, dot + 1, NULL, taken, &used));
  DL_TEXT(name);
  dl_text_add_n(&name, word, n);
  const struct dl_option *o = dl_pasted_option(p, name.s);
  if (!*taken && o && o->argument) {
    bool read = false;
    DL_TRY(dl_pasted_value(p, o->name, word + n + 1, word, &read));
    if (!read)
      dl_pasted_set(p, o->name, word + n + 1, word, DL_PASTED_WORD);
    *taken = true;
  }
  for (size_t i = 0; i < n; i++)
    capital = capital && !islower((unsigned char)word[i]);
  if (!*taken && (p->launcher || capital)) {
    leave_out(capital ? &p->unused : &p->unknown, word);
    *taken = true;
  }
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
    DL_TRY(dl_pasted_plain_word(p, next, &taken)); /* of llama.cpp */
  if (taken)
    return DL_OK;
  DL_TEXT(text);
  dl_text_add(&text, word);
  if (has_value)
    dl_text_printf(&text, " %s", next);
  const bool module = strcmp(word, "-m") == 0 && has_value;
  leave_out(module || contained ? &p->unused : &p->unknown, text.s);
  if (module)
    dl_pasted_launch(p, next);
  return DL_OK;
}
