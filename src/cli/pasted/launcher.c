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

void dl_pasted_leave_out(struct dl_text *to, const char *word) {
  dl_text_printf(to, "%s%s", to->len > 0 ? ", " : "", word);
}

bool dl_pasted_serves(struct dl_pasted *p, const char *word) {
  if (!is_server(word) || !dl_pasted_option(p, "phase"))
    return false;
  dl_pasted_set(p, "phase", "inference", word, DL_PASTED_IMPLIED);
  if (is_among("ollama", word)) /* its names without a format are so */
    dl_pasted_set(p, "precision", "q4_k_m", word, DL_PASTED_FILE_SWITCH);
  return true;
}

void dl_pasted_launch(struct dl_pasted *p, const char *word) {
  if (!p->launcher)
    dl_pasted_leave_out(&p->unused, word);
  dl_pasted_serves(p, word);
  p->launcher = word;
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
  const char *dot = NULL; /* "model.lora_rank=8" */
  for (size_t i = 0; i < n; i++)
    dot = word[i] == '.' ? word + i : dot;
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
    dl_pasted_leave_out(capital ? &p->unused : &p->unknown, word);
    *taken = true;
  }
  return DL_OK;
}
