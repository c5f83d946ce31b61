/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of networks in the forms that people paste: addresses, sizes, and the
 * formats of weights that a checkpoint's name ends in. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/names/usual_shapes.h"
#include "cli/pasted/hub_cache.h"
#include "cli/pasted/pasted_private.h"

/* Takes the words of an address and of a library off a network's name. */
void dl_pasted_strip_address(const char *name, struct dl_text *to) {
  static const char *const prefixes[] = {
      "https://",   "http://",       "www.",          "huggingface.co/",
      "hf.co/",     "hf://",         "hf_hub:",       "hf-hub:",
      "models/",    "torchvision.",  "keras.",        "tf.keras",
      "timm.",      "torchvision/",  "applications.", "models.",
      "detection.", "segmentation.", "torch.hub:"};
  static const char *const ends[] = {"/tree/", "/blob/",   "/resolve/", "?",
                                     "#",      "_Weights", "_weights",  "()"};
  for (size_t i = 0; i < DL_LENGTH(prefixes); i++)
    if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      name += strlen(prefixes[i]);
  size_t n = strlen(name);
  for (size_t i = 0; i < DL_LENGTH(ends); i++) {
    const char *at = strstr(name, ends[i]);
    if (at && (size_t)(at - name) < n)
      n = (size_t)(at - name);
  }
  while (n > 0 && name[n - 1] == '/')
    n--;
  dl_text_add_n(to, name, n);
}

/* "7B", "1.3B parameters", "transformer:1.3B", in parameters; 0: none. */
static double size_in(const char *s) {
  static const char *const prefixes[] = {"transformer:", "llm:", "gpt:"};
  char number[DL_NUMBER_SIZE];
  for (size_t i = 0; i < DL_LENGTH(prefixes); i++)
    if (strncasecmp(s, prefixes[i], strlen(prefixes[i])) == 0)
      s += strlen(prefixes[i]);
  size_t n = strspn(s, "0123456789.");
  const char *unit = n > 0 && s[n] ? strchr("MBTmbt", s[n]) : NULL;
  double x;
  if (!unit || n >= sizeof number)
    return 0;
  const char *rest = s + n + 1 + strspn(s + n + 1, " -");
  if (*rest && dl_word_among("parameters|params|parameter|param|model|"
                             "parameter model|llm|language model",
                             rest, strlen(rest)) < 0)
    return 0;
  snprintf(number, sizeof number, "%.*s", (int)n, s);
  if (!dl_parse_double(number, &x))
    return 0;
  const double units[] = {1e6, 1e9, 1e12};
  return x *
         units[(size_t)(strchr("MBT", toupper((unsigned char)*unit)) - "MBT")];
}

/* A function that makes a network: "torchtune.models.qwen2_5.lora_qwen2_5_7b"
 * is qwen2.5-7b, or qwen2.5:7b. */
static bool from_component(struct dl_cli *cli, const char *name,
                           struct dl_text *arch) {
  static const char *const prefixes[] = {"lora_", "qlora_"};
  const char *last = strrchr(name, '.');
  DL_TEXT(own);
  if (!last || !strchr(name, '_'))
    return false;
  for (size_t i = 0; i < DL_LENGTH(prefixes); i++)
    if (strncmp(last + 1, prefixes[i], strlen(prefixes[i])) == 0)
      last += strlen(prefixes[i]);
  dl_text_add(&own, last + 1);
  if (own.len == 0)
    return false;
  char *dash = NULL;
  for (char *c = own.s + 1; *c; c++)
    if (*c == '_') {
      bool version = isdigit((unsigned char)c[-1]) &&
                     isdigit((unsigned char)c[1]) && !dash && c[2] == '_';
      *c = version ? '.' : '-';
      dash = version || dash ? dash : c;
    }
  bool known = dl_pasted_look(cli, DL_ARCHITECTURE, own.s) != NULL;
  if (!known && dash) {
    *dash = ':';
    known = dl_pasted_look(cli, DL_ARCHITECTURE, own.s) != NULL;
  }
  if (known)
    dl_text_add(arch, own.s);
  return known;
}

bool dl_pasted_network(struct dl_cli *cli, const char *name,
                       struct dl_text *arch) {
  DL_TEXT(own);
  double params = size_in(name);
  if (dl_pasted_look(cli, DL_ARCHITECTURE, name)) {
    dl_text_add(arch, name);
    return true;
  }
  if (params > 0)
    return dl_usual_shape(params, arch);
  if (strchr(name, ' ')) /* "ResNet50_Weights.DEFAULT a100" */
    return false;
  dl_pasted_strip_address(name, &own);
  if (own.len > 0 && dl_pasted_look(cli, DL_ARCHITECTURE, own.s)) {
    dl_text_add(arch, own.s);
    return true;
  }
  if (own.len > 0 && dl_hub_config(own.s, arch))
    return true;
  return from_component(cli, name, arch);
}

/* Words at the end of a checkpoint's name that say in what format its weights
 * are stored. */
enum weights { WEIGHTS_GGUF, WEIGHTS_4_BITS, WEIGHTS_OTHER };

static enum weights format_of(const char *s, const char **precision) {
  static const char bits4[] = "4bit|bnb-4bit|unsloth-bnb-4bit|int4|nf4";
  static const char others[] =
      "awq|gptq|gptq-int4|gptq-int8|gguf|fp8|nvfp4|mxfp4|int8|8bit|w4a16|w8a8|"
      "awq-int4|fp8-dynamic|mlx|qat|exl2";
  const struct dl_run_column *c = &dl_run_columns[DL_RUN_precision];
  const size_t n = strlen(s);
  const char *word = dl_run_word(c, s);
  const bool gguf = tolower((unsigned char)*s) == 'q' ||
                    dl_word_among("fp16|FP16|F16", s, n) >= 0 ||
                    strcasestr(s, "iq") == s;
  *precision = gguf ? word : NULL;
  if (*precision)
    return WEIGHTS_GGUF;
  DL_TEXT(lower);
  for (size_t i = 0; i < n; i++) {
    const char low = (char)tolower((unsigned char)s[i]);
    dl_text_add_n(&lower, &low, 1);
  }
  if (n == 0)
    return WEIGHTS_OTHER;
  if (dl_word_among(bits4, lower.s, n) >= 0)
    return WEIGHTS_4_BITS;
  *precision = dl_word_among(others, lower.s, n) >= 0 ? "" : NULL;
  return WEIGHTS_OTHER;
}

enum dl_status dl_pasted_quantized(struct dl_pasted *p, const char *name,
                                   const char *from, enum dl_pasted_rank rank,
                                   bool *taken) {
  DL_TEXT(arch);
  DL_TEXT(own);
  const char *precision = NULL;
  enum weights format = WEIGHTS_OTHER;
  *taken = false;
  DL_TEXT(bare); /* "model.Q4_K_M.gguf" */
  size_t m;
  const char *dot = strrchr(name, '.');
  if (dot && strcasestr(dot, ".gguf")) {
    dl_text_add_n(&bare, name, (size_t)(dot - name));
    name = bare.s;
  }
  const char *last = strrchr(name, '/');
  for (const char *s = last ? last : name; *s && !*taken; s++) {
    if (!strchr("-:.", *s) || strchr(name, ' '))
      continue;
    format = format_of(s + 1, &precision);
    if (!precision && format != WEIGHTS_4_BITS)
      continue;
    dl_text_clear(&own);
    m = (size_t)(s - name);
    if (m > 5 && strncasecmp(s - 5, "-gguf", 5) == 0) /* "X-GGUF:Q8_0" */
      m -= 5;
    dl_text_add_n(&own, name, m);
    *taken = dl_pasted_network(p->cli, dl_text_str(&own), &arch);
  }
  if (!*taken)
    return DL_OK;
  if (format == WEIGHTS_OTHER)
    return dl_fail(&p->cli->diag, DL_EUSAGE,
                   "'%.64s' has weights in another format; write --arch %s, "
                   "for inference with --precision q4_k_m or another, or --set "
                   "weight_bytes=N",
                   name, arch.s);
  dl_pasted_set(p, "arch", arch.s, from, rank);
  if (format == WEIGHTS_4_BITS)
    dl_pasted_part(p, DL_PASTED_BITS, "4", from);
  else
    dl_pasted_set(p, "precision", precision, from, rank);
  return DL_OK;
}
