/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantities of a run: each row is a member of struct dl_run, a column of
 * the runs table, a name for --set, --define and formulas, a key of JSON, a
 * completion and an entry of the manual page.
 *
 *   NUMBER(name, unit, low, high, role, summary)   unit NULL: a plain number
 *   WHOLE(name, unit, low, high, role, summary)    a whole number
 *   TEXT(name, role, summary)
 *   WORD(name, words, others, role, summary)       one of some words, in any
 *                                                  case; others: or another;
 *                                                  run.c has synonyms
 *
 * Adding a column is adding a row, in the place where tables show it. Who
 * includes this file defines the macros it needs; without WHOLE and WORD, these
 * are NUMBER and TEXT. All are undefined at its end. */

#ifndef NUMBER
#define NUMBER(name, unit, low, high, role, summary)
#endif
#ifndef TEXT
#define TEXT(name, role, summary)
#endif
#ifndef WHOLE
#define WHOLE(name, unit, low, high, role, summary)                            \
  NUMBER(name, unit, low, high, role, summary)
#endif
#ifndef WORD
#define WORD(name, words, others, role, summary) TEXT(name, role, summary)
#endif

TEXT(run_id, NAME, "name of the run")
TEXT(arch, SETTING, "architecture, by any of its names")
TEXT(gpu, SETTING, "accelerator, by any of its names")
WHOLE(n_gpus, NULL, 1, 1e6, SETTING, "accelerators used")
WORD(phase, WORDS("training", "inference"), false, SETTING,
     "training or inference")
WORD(framework, WORDS("pytorch", "tensorflow", "jax"), true, SETTING,
     "pytorch, tensorflow or jax; fit and calibrate take others")
WORD(precision,
     WORDS("fp64", "fp32", "tf32", "fp16", "bf16", "amp", "fp8", "int8"), false,
     SETTING,
     "fp64, fp32, tf32, fp16, bf16, amp, fp8 or int8; float16, half, mixed, "
     "bfloat16, float32, double, ... are read too")
WORD(fine_tune, WORDS("full", "head", "lora", "qlora"), false, SETTING,
     "weights that are trained: full, head (the classifier alone), lora or "
     "qlora (low-rank adapters)")
WHOLE(lora_rank, NULL, 1, 1e6, SETTING, "rank of LoRA or QLoRA adapters")
WORD(optimizer, WORDS("adamw", "sgd", "adafactor", "adam8bit"), true, GIVEN,
     "adamw, sgd, adafactor, adam8bit; lamb, lars, lion, rmsprop, ... are read "
     "too")
WORD(checkpointing, WORDS("none", "selective", "full"), false, SETTING,
     "activation checkpointing: none, selective or full")
WHOLE(checkpointed_layers, NULL, 1, 1e6, SETTING,
      "layers that full checkpointing computes again (unknown: all)")
WORD(attention, WORDS("flash", "eager"), false, SETTING,
     "attention kernel: flash, or eager, which stores the scores")
WORD(sharding, WORDS("ddp", "zero1", "zero2", "zero3"), false, SETTING,
     "ddp (every GPU holds all), zero1 (optimizer states divided), zero2 "
     "(gradients too) or zero3 (weights too; FSDP)")
WHOLE(tensor_parallel, NULL, 1, 1e6, SETTING, "GPUs that share each layer")
WHOLE(pipeline_parallel, NULL, 1, 1e6, SETTING, "stages of layers on GPUs")
WHOLE(virtual_stages, NULL, 1, 1e6, SETTING,
      "virtual stages of each pipeline stage (interleaved schedule)")
WHOLE(expert_parallel, NULL, 1, 1e6, SETTING,
      "data-parallel GPUs that divide the experts of each layer")
WHOLE(context_parallel, NULL, 1, 1e6, SETTING, "GPUs that share each sequence")
WHOLE(grad_accum, NULL, 1, 1e9, SETTING,
      "batches whose gradients are added up before an optimizer step")
WORD(stack, WORDS("eager", "compiled", "ngc", "mlperf"), true, SETTING,
     "software stack: eager, compiled, ngc (NVIDIA's containers with its own "
     "training scripts), mlperf (tuned submissions); fit and calibrate take "
     "others")
NUMBER(network_gbps, "Gbit/s", 1e-3, 1e6, SETTING,
       "network between nodes, per GPU and direction")
WHOLE(gpus_per_node, NULL, 1, 1e5, GIVEN, "accelerators in a node")
TEXT(host, NAME, "name of the machine")
WORD(host_class, WORDS("server", "desktop"), true, SETTING,
     "server or desktop; fit and calibrate take others")
TEXT(dataset, SETTING,
     "data set; predict takes its numbers of samples where a row has none")
NUMBER(batch_size, NULL, 1, 1e9, SETTING,
       "samples per step on each accelerator")
NUMBER(global_batch, NULL, 1, 1e12, GIVEN,
       "samples per optimizer step on all accelerators: batch_size x "
       "grad_accum x data-parallel accelerators")
WHOLE(image_px, "px", 1, 1e5, SETTING, "side of the square input image")
NUMBER(seq_len, NULL, 1, 1e9, SETTING, "tokens per sample")
WHOLE(classes, NULL, 1, 1e9, SETTING, "outputs of the classifier")
NUMBER(train_samples, NULL, 0, 1e15, SETTING, "training samples per epoch")
NUMBER(val_samples, NULL, 0, 1e15, SETTING, "validation samples per epoch")
WORD(drop_last, WORDS("no", "yes"), false, SETTING,
     "yes: the samples of an epoch that do not fill a last batch are left out, "
     "in training and validation; true, 1, false and 0 are read too")
WORD(loader, WORDS("disk", "cached", "synthetic"), false, GIVEN,
     "input pipeline: disk (files are read and decoded), cached (the files are "
     "in main memory) or synthetic (no input work)")
WHOLE(loader_workers, NULL, 1, 1024, GIVEN, "loader processes per accelerator")
NUMBER(stored_mpx, "MP", 1e-6, 1e4, GIVEN,
       "mean size of an image of the data set as it is stored, 1e6 pixels")
NUMBER(stored_kb, "kB", 1e-3, 1e6, GIVEN,
       "mean size of the file of an image of the data set")
NUMBER(tokens, NULL, 1, 1e18, GIVEN,
       "tokens that a language model is trained on in the whole run")
NUMBER(train_tokens, NULL, 1, 1e18, GIVEN,
       "tokens of the data set, which each epoch goes through")
NUMBER(prompt_tokens, NULL, 1, 1e9, SETTING,
       "inference: prompt tokens per request")
NUMBER(output_tokens, NULL, 0, 1e9, SETTING,
       "inference: output tokens per request")
WHOLE(denoising_steps, NULL, 1, 1e5, GIVEN,
      "inference: denoising steps per sample of a diffusion model")
NUMBER(requests, NULL, 1, 1e15, GIVEN, "inference: requests or samples")
NUMBER(request_rate, NULL, 1e-9, 1e9, GIVEN, "inference: requests per second")
NUMBER(idle_s, "s", 0, 1e9, GIVEN, "inference: pause after each batch")
NUMBER(epochs, NULL, 1e-6, 1e9, GIVEN, "epochs of the run")
NUMBER(frozen_base, NULL, 0, 1, SETTING,
       "share of the epochs that train the classifier alone (1: fine_tune "
       "head)")
NUMBER(macs_g, "GMAC", 1e-6, 1e8, GIVEN,
       "multiply-accumulates (2 FLOPs each) of a forward pass of one sample")
NUMBER(params_m, "M", 1e-6, 1e7, GIVEN, "parameters")
NUMBER(acts_m, "M", 1e-6, 1e12, GIVEN, "activations per sample")
NUMBER(launches, NULL, 1, 1e7, GIVEN, "kernels of a forward pass")
NUMBER(power_limit_w, "W", 1, 2000, GIVEN, "power limit of the GPU")
NUMBER(ram_gb, "GB", 0, 1e9, GIVEN, "memory of the node")
NUMBER(utilisation, NULL, 0, 1, GIVEN, "assumed GPU utilization, a share")
NUMBER(duration_s, "s", 0, 1e12, MEASURED, "duration of the run")
NUMBER(epoch_s, "s", 0, 1e12, MEASURED, "mean epoch time")
NUMBER(step_s, "s", 0, 1e9, MEASURED,
       "mean time of a training step, a batch on each accelerator")
NUMBER(samples_per_s, NULL, 0, 1e12, MEASURED,
       "training throughput of all accelerators, training samples per second "
       "without the time of validation")
NUMBER(tokens_per_s, NULL, 0, 1e15, MEASURED,
       "training throughput of all accelerators, tokens per second")
NUMBER(gpu_power_w, "W", 0, 1e9, MEASURED, "mean power of the GPUs")
NUMBER(gpu_util, NULL, 0, 1, MEASURED, "measured mean GPU utilization, a share")
NUMBER(gpu_energy_j, "J", 0, 1e300, MEASURED, "energy of the GPUs")
NUMBER(ram_energy_j, "J", 0, 1e300, MEASURED, "energy of the memory")
NUMBER(cpu_energy_j, "J", 0, 1e300, MEASURED, "energy of the CPUs")
NUMBER(node_energy_j, "J", 0, 1e300, MEASURED, "energy of the node")
NUMBER(energy_j, "J", 0, 1e300, MEASURED,
       "energy of the run within its boundary")
NUMBER(epoch_energy_j, "J", 0, 1e300, MEASURED, "mean energy per epoch")
NUMBER(request_s, "s", 0, 1e12, MEASURED,
       "inference: server time per request, 1 / requests per second")
NUMBER(request_energy_j, "J", 0, 1e300, MEASURED,
       "inference: energy per request")
NUMBER(request_power_w, "W", 0, 1e9, MEASURED, "inference: mean power per GPU")
NUMBER(rest_energy_j, "J", 0, 1e300, MEASURED,
       "energy of the node without its GPUs")
NUMBER(facility_energy_j, "J", 0, 1e300, MEASURED,
       "energy of the run with cooling and power distribution")
NUMBER(pue, NULL, 1, 100, NAME,
       "power usage effectiveness applied to facility_energy_j")
NUMBER(co2e_g, "g", 0, 1e300, MEASURED, "emissions as stated in the log")
NUMBER(gpu_idle_w, "W", 0, 1e9, MEASURED,
       "mean power of the GPUs in samples with utilization 0 before the first "
       "and after the last use, below 70 % of the power in use")
NUMBER(gpu_peak_w, "W", 0, 1e9, MEASURED, "highest power of the GPUs")
NUMBER(gpu_limit_w, "W", 0, 1e9, NAME, "power limit of the GPUs")
NUMBER(cpu_power_w, "W", 0, 1e9, MEASURED, "mean power of the CPUs")
NUMBER(ram_power_w, "W", 0, 1e9, MEASURED, "mean power of the memory")
NUMBER(node_power_w, "W", 0, 1e9, MEASURED, "mean power of the node")
NUMBER(cpu_util, NULL, 0, 1, MEASURED, "mean CPU utilization, a share")
NUMBER(samples, NULL, 0, 1e15, MEASURED, "samples of the log that were used")
NUMBER(interval_s, "s", 0, 1e9, MEASURED, "median time between samples")
NUMBER(missing, NULL, 0, 1, MEASURED,
       "share of the samples of the log that are missing")
NUMBER(counter_deviation, NULL, -1, 1e9, MEASURED,
       "integrated power / energy counter - 1")
NUMBER(epochs_low, NULL, 0, 1e9, MEASURED,
       "lower end of the number of epochs found in the trace")
NUMBER(epochs_high, NULL, 0, 1e9, MEASURED,
       "upper end of the number of epochs found in the trace")
TEXT(epochs_verdict, NAME,
     "reliability of the number of epochs: given, sure, unsure, none")
TEXT(boundary, NAME,
     "what energy_j includes: gpu, gpu+ram, node, facility, ...")
TEXT(config, NAME, "key that repeated runs of one configuration share")
TEXT(source, NAME, "where the run comes from")
TEXT(start_time, NAME, "start of the run")
TEXT(project, NAME, "project or experiment")
TEXT(job_name, NAME, "name of the job")
TEXT(user, NAME, "user who ran the job")
TEXT(partition, NAME, "partition of the scheduler")
TEXT(state, NAME, "final state of the job")
WHOLE(n_nodes, NULL, 0, 1e9, GIVEN, "nodes of the job")
WHOLE(n_cpus, NULL, 0, 1e9, GIVEN, "processors of the job")
TEXT(format, NAME, "log format")
TEXT(file, NAME, "log that the run was read from")

/* Assumptions of an estimate: options and --set take them, the runs table has
 * no column for them. DL_N_RUN_COLUMNS is the number of rows above. */
WORD(scaling, WORDS("weak", "strong"), false, ASSUMED,
     "weak or strong, with several accelerators")
NUMBER(efficiency, NULL, 1e-6, 1, ASSUMED, "share of the peak rate reached")
NUMBER(peak_tflops, "TFLOP/s", 1e-4, 1e5, ASSUMED,
       "peak rate of a GPU at the precision in use")

#undef NUMBER
#undef TEXT
#undef WHOLE
#undef WORD
