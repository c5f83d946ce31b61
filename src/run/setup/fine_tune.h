/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which weights a training changes. */

#ifndef DL_RUN_SETUP_FINE_TUNE_H
#define DL_RUN_SETUP_FINE_TUNE_H

#include "catalog/architecture/transformer.h"
#include "catalog/descriptor_kinds.h"
#include "run/run.h"

/* Finds the kind by fine_tune, else by frozen_base: any share above 0 is
 * DL_TUNE_HEAD. */
enum dl_fine_tune dl_fine_tune_of(const struct dl_run *r);

/* The smallest dimension of the products that have adapters: queries, keys,
 * values and output of attention, and the feed-forward part. Networks with one
 * head of keys and values compute these together with the queries. */
double dl_smallest_product(const struct dl_transformer *t);

/* The rank of LoRA or QLoRA adapters that is taken where none is given: 16, or
 * the largest that the network's products (NULL: unknown) take. */
double dl_usual_rank(const struct dl_transformer *t);

/* Values that go into and come out of the products that fine_tune lora or qlora
 * adapts, for a token; 0 without the shape of the network (NULL). NVIDIA's
 * containers and MLPerf's rules (mlcommons/training, llama2_70b_lora: qkv_proj
 * and o_proj) adapt attention alone, networks for speech queries and values
 * (PEFT, examples/int8_training: q_proj and v_proj), other software all
 * products. */
double dl_adapted_sides(const struct dl_run *r, const struct dl_transformer *t);

/* Layers of a network without the shape of a transformer that adapters are put
 * beside: the products of attention. */
double dl_adapted_layers(const struct dl_architecture *arch);

/* Parameters of the adapters that fine_tune lora or qlora trains, of the usual
 * rank where it is unknown; 0 without the network's layers (or NULL). */
double dl_adapter_params(const struct dl_run *r,
                         const struct dl_architecture *arch);

#endif
