/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How batches, accelerators and what is trained follow from each other. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "run/setup/option_words.h"
#include "run/setup/training_setup.h"
#include "table.h"
#include "tests/messages.h"

static const char *const columns[] = {"arch",
                                      "gpu",
                                      "train_tokens",
                                      "epochs",
                                      "arch.layers",
                                      "gpu.tdp_w",
                                      "power_limit_w",
                                      "n_gpus",
                                      "batch_size",
                                      "tensor_parallel",
                                      "pipeline_parallel",
                                      "virtual_stages",
                                      "expert_parallel",
                                      "context_parallel",
                                      "grad_accum",
                                      "scaling",
                                      "fine_tune",
                                      "frozen_base",
                                      "lora_rank",
                                      "global_batch",
                                      "precision",
                                      "optimizer",
                                      "sharding",
                                      "stack",
                                      "gpus_per_node",
                                      "tokens",
                                      "samples_per_s",
                                      "tokens_per_s"};

/* A table of one row, all of whose columns are wanted. */
static struct table open_setup(const char *header, const char *cells) {
  char text[512];
  snprintf(text, sizeof text, "%s\n%s\n", header, cells);
  struct table t = open_table(text);

  for (size_t i = 0; i < COUNT(columns); i++)
    quantity(&t, columns[i], false);
  load(&t);
  row(&t, 0);
  return t;
}

static void equal(double got, double want, const char *what) {
  if (!(fabs(got - want) <= 1e-12 * want))
    fail_msg("%s: got %g, want %g", what, got, want);
}

/* global = batch x accumulation x GPUs / (tensor x pipeline) */
static void batches(void **state) {
  static const struct {
    const char *cells;
    double batch, accum, global, data;
  } cases[] = {
      {"8,16,,,,,", 16, 1, 128, 8},        {"8,16,,,4,,", 16, 4, 512, 8},
      {"16,4,2,4,8,,", 4, 8, 64, 2},       {"8,,,,,,256", 32, 1, 256, 8},
      {"8,,,,4,,256", 8, 4, 256, 8},       {"8,16,,,,,256", 16, 2, 256, 8},
      {"8,16,4,,,,256", 16, 8, 256, 2},    {"8,16,,,2,,256", 16, 2, 256, 8},
      {"8,64,,,2,strong,", 64, 2, 128, 8},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_setup("n_gpus,batch_size,tensor_parallel,"
                                "pipeline_parallel,grad_accum,scaling,"
                                "global_batch",
                                cases[i].cells);
    const struct dl_run *r = &t.row->run;
    assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
    equal(r->batch_size, cases[i].batch, cases[i].cells);
    equal(isnan(r->grad_accum) ? 1 : r->grad_accum, cases[i].accum,
          cases[i].cells);
    equal(r->global_batch, cases[i].global, cases[i].cells);
    equal(dl_global_batch(r), cases[i].global, cases[i].cells);
    equal(dl_degrees_of(r).data, cases[i].data, cases[i].cells);
    equal(dl_micro_batch(r), r->scaling ? cases[i].batch / 8 : cases[i].batch,
          cases[i].cells);
    close_table(&t);
  }
}

/* A default gives way to what follows from the batch of all GPUs. */
static void defaults(void **state) {
  struct table t = open_table("n_gpus,global_batch\n8,64\n8,\n");

  struct dl_run usual = dl_run_unknown;

  (void)state;
  dl_run_set_number(&usual, DL_RUN_batch_size, 256);
  assert_ok(dl_plan_begin(t.f, &usual, false, &t.d), &t.d);
  quantity(&t, "batch_size", false);
  quantity(&t, "n_gpus", false);
  quantity(&t, "global_batch", false);
  load(&t);
  row(&t, 0);
  equal(t.row->run.batch_size, 8, "derived");
  row(&t, 1);
  equal(t.row->run.batch_size, 256, "default");
  equal(t.row->run.global_batch, 2048, "derived of the default");
  close_table(&t);
}

static void words(void **state) {
  static const struct {
    const char *column, *typed, *word;
  } cases[] = {
      {"precision", "BF16", "bf16"},    {"precision", "BFloat16", "bf16"},
      {"precision", "float16", "fp16"}, {"precision", "Half", "fp16"},
      {"precision", "AMP", "amp"},      {"precision", "mixed", "amp"},
      {"precision", "TF32", "tf32"},    {"precision", "FP8", "fp8"},
      {"precision", "float32", "fp32"}, {"precision", "double", "fp64"},
      {"optimizer", "Adam", "adamw"},   {"optimizer", "lion", "sgd"},
      {"sharding", "FSDP", "zero3"},    {"sharding", "none", "ddp"},
      {"stack", "NGC", "ngc"},          {"stack", "my own", "my own"},
      {"fine_tune", "QLoRA", "qlora"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_setup(cases[i].column, cases[i].typed);
    assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
    assert_string_equal(
        dl_run_text(&t.row->run, dl_run_column_find(cases[i].column)->id),
        cases[i].word);
    close_table(&t);
  }
}

static void trained_part(void **state) {
  static const struct {
    const char *header, *cells;
    enum dl_fine_tune tune;
    double frozen; /* NaN: unknown */
  } cases[] = {
      {"n_gpus", "1", DL_TUNE_FULL, NAN},
      {"fine_tune", "full", DL_TUNE_FULL, 0},
      {"fine_tune", "head", DL_TUNE_HEAD, 1},
      {"frozen_base", "1", DL_TUNE_HEAD, 1},
      {"frozen_base", "0", DL_TUNE_FULL, 0},
      {"fine_tune,frozen_base", "head,0.125", DL_TUNE_HEAD, 0.125},
      {"fine_tune,lora_rank", "lora,16", DL_TUNE_LORA, 0},
      {"arch,fine_tune,lora_rank", "llama-3-8b,lora,1024", DL_TUNE_LORA, 0},
      {"arch,fine_tune,lora_rank", "gemma-2b,lora,1024", DL_TUNE_LORA, 0},
      {"fine_tune", "qlora", DL_TUNE_QLORA, 0},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_setup(cases[i].header, cases[i].cells);
    double frozen = t.row->run.frozen_base;
    assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
    assert_int_equal(dl_fine_tune_of(&t.row->run), cases[i].tune);
    assert_true(isnan(cases[i].frozen) ? isnan(frozen)
                                       : frozen == cases[i].frozen);
    close_table(&t);
  }
}

static void other_quantities(void **state) {
  struct table t =
      open_setup("n_gpus,n_nodes,train_tokens,epochs,samples_per_s,seq_len",
                 "16,2,1e9,3,50,2048");

  (void)state;
  equal(t.row->run.gpus_per_node, 8, "16 / 2");
  equal(t.row->run.tokens, 3e9, "3 x 1e9");
  equal(t.row->run.tokens_per_s, 102400, "50 x 2048");
  close_table(&t);
  t = open_setup("tokens_per_s,seq_len", "102400,2048");
  equal(t.row->run.samples_per_s, 50, "102400 / 2048");
  close_table(&t);
}

static const struct {
  const char *header, *cells, *message;
} contradicting[] = {
    {"n_gpus,tensor_parallel", "8,3", MSG_degrees_divide("8", "3", "1")},
    {"n_gpus,tensor_parallel,pipeline_parallel", "8,4,4",
     MSG_degrees_divide("8", "4", "4")},
    {"n_gpus,global_batch", "8,12",
     MSG_global_batch_multiple("12", "grad_accum", "1", "8")},
    {"n_gpus,global_batch", "8,4",
     MSG_global_batch_below_samples("4", "8", "4")},
    {"n_gpus,batch_size,global_batch", "8,3,32",
     MSG_global_batch_multiple("32", "batch_size", "3", "8")},
    {"n_gpus,batch_size,global_batch", "8,32,64",
     MSG_global_batch_multiple("64", "batch_size", "32", "8")},
    {"n_gpus,batch_size,grad_accum,global_batch", "8,2,2,64",
     MSG_global_batch_product("64", "2", "2", "8")},
    {"fine_tune,frozen_base", "full,1", MSG_fine_tune_contradicts("full", "1")},
    {"fine_tune,frozen_base", "head,0", MSG_fine_tune_contradicts("head", "0")},
    /* 400 W: a fifth at least */
    {"gpu,power_limit_w", "a100,79",
     MSG_power_limit_not_possible("79", "a100-sxm4-40gb", "400", "80", "600")},
    {"gpu,power_limit_w", "a100,601",
     MSG_power_limit_not_possible("601", "a100-sxm4-40gb", "400", "80", "600")},
    {"lora_rank", "8", MSG_lora_rank_goes_with},
    /* 8 heads of keys and values of 128 in 32 of queries */
    {"arch,fine_tune,lora_rank", "llama-3-8b,lora,1025",
     MSG_lora_rank_is_more("1025", "llama-3-8b", "1024")},
    {"arch,fine_tune", "resnet50,lora",
     MSG_fine_tune_is_for("lora", "resnet50")},
    {"arch,tensor_parallel", "gpt2,5",
     MSG_tensor_parallel_does_not("5", "12", "gpt2")},
    {"arch,pipeline_parallel", "gpt2,13",
     MSG_pipeline_parallel_is_more("13", "12", "gpt2")},
    {"virtual_stages", "2", MSG_virtual_stages_goes_with("2")},
    {"arch,pipeline_parallel,virtual_stages", "gpt2,4,2",
     MSG_virtual_stages_do_not("2", "4", "12", "gpt2", "1")},
    {"arch,pipeline_parallel,virtual_stages", "gpt2,2,4",
     MSG_virtual_stages_do_not("4", "2", "12", "gpt2", "3")},
    {"arch,n_gpus,expert_parallel", "llama-3-8b,8,2",
     MSG_expert_parallel_is_for("llama-3-8b")},
    {"arch,n_gpus,expert_parallel", "resnet50,8,2",
     MSG_expert_parallel_is_for("resnet50")},
    /* 8 experts; 4 of 8 GPUs have copies of their own */
    {"arch,n_gpus,expert_parallel", "mixtral-8x7b,12,3",
     MSG_expert_parallel_experts("3", "8", "mixtral-8x7b")},
    {"arch,n_gpus,tensor_parallel,expert_parallel", "mixtral-8x7b,8,2,8",
     MSG_expert_parallel_data("8", "4")},
    {"n_gpus,tensor_parallel,context_parallel", "12,2,4",
     MSG_degrees_divide_with("12", "2", "1", "4")},
    {"arch,context_parallel", "resnet50,2",
     MSG_is_for_language_models("context_parallel", "resnet50")},
    {"gpu,precision", "v100-sxm2-16gb,FP8",
     MSG_precision_fp_has_no("fp8", "v100-sxm2-16gb", "fp16", "fp8")},
    {"arch,n_gpus,batch_size,train_tokens", "gpt2,2,8,16000",
     MSG_a_step_takes_tokens("16384", "16", "1024", "train_tokens", "16000")},
    {"tokens,train_tokens,epochs", "100,60,2",
     MSG_tokens_is_not_train("100", "60", "2")},
};

static void contradictions(void **state) {

  (void)state;
  for (size_t i = 0; i < COUNT(contradicting); i++) {
    struct table t =
        open_setup(contradicting[i].header, contradicting[i].cells);
    assert_int_equal(t.row->fault.kind, DL_FAULT_SETUP);
    assert_int_equal(dl_plan_complain(t.f, t.row, "runs.csv", 2, &t.d), DL_OK);
    assert_int_equal(t.d.n_warnings, 1);
    assert_non_null(strstr(t.d.warnings[0], contradicting[i].message));
    close_table(&t);
  }
}

/* 61 layers, embedding, output and the layer for a further token: 64. Degrees
 * of NVIDIA's Megatron Bridge. */
static void further_token(void **state) {
  struct table t =
      open_setup("arch,pipeline_parallel,virtual_stages", "deepseek-v3,4,4");

  (void)state;
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  equal(t.row->run.virtual_stages, 4, "virtual stages");
  close_table(&t);
}

/* Marks of the format are columns or their options; a name of the user's that
 * looks like one is left as it is. */
static void marks(void **state) {
  static const struct {
    bool options;
    const char *said;
  } cases[] = {{false, "seq_len of '{seq_len}' and n_gpus 8 %"},
               {true, "--seq-len of '{seq_len}' and --gpus 8 %"}};

  (void)state;
  for (size_t i = 0; i < DL_LENGTH(cases); i++) {
    struct dl_message_style w = {.options = cases[i].options};
    char word[DL_WORD_SIZE];
    assert_true(dl_rule_message(&w, "{seq_len} of '%s' and %s %g %%",
                                "{seq_len}", dl_column_word(&w, "n_gpus", word),
                                8.0));
    assert_string_equal(w.text.s, cases[i].said);
    dl_text_free(&w.text);
  }
  assert_true(dl_rule_message(NULL, "{seq_len}"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches),
      cmocka_unit_test(defaults),
      cmocka_unit_test(words),
      cmocka_unit_test(trained_part),
      cmocka_unit_test(other_quantities),
      cmocka_unit_test(contradictions),
      cmocka_unit_test(further_token),
      cmocka_unit_test(marks),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
