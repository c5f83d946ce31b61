/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference by plain Python software, Hugging Face Transformers and Diffusers:
 * the host launches each kernel of a language model, and prepares each image in
 * the process that waits for the GPU.
 *
 * A language model that decodes v tokens with L layers takes
 *
 *   T = (Th^3 + Tg^3)^(1/3),   Th = 25 ms + v L .6 ms
 *
 * for a batch, Tg its time on the GPU by the physics of serving without the
 * server's host: launches and kernels overlap, but for the end of a token. An
 * encoder-decoder has Th = 25 ms + (Le + 23/14 v Ld) .6 ms: its layers have 23
 * kernels in the place of 14 where they attend to the encoder.
 * Tensor parallelism is not plain: GPUs that share a model have its layers one
 * after another (device_map). An image takes 17 ms and 80 ns a pixel beside its
 * forward pass. A GPU that waits for the host draws static power.
 *
 * The constants are of 16 settings of three sources with A100s: Luccioni et al.
 * (arXiv 2311.16863; four language models in FP32, six image networks, one
 * request at a time) and Wilkins et al. (arXiv 2407.04014; three models of 7B
 * in 16 bits, 32 requests): .45 to 1.0 ms per layer and token; hosts, versions
 * and networks differ by the deviations below. docs/lab/inference.md. */

#ifndef DL_ESTIMATE_METHODS_PLAIN_SOFTWARE_H
#define DL_ESTIMATE_METHODS_PLAIN_SOFTWARE_H

#include "estimate/methods/estimator.h"
#include "estimate/predictions.h"
#include "physics/serving/serving_cost.h"

/* Standard deviation of the logarithm of the host's time; likewise with an
 * encoder, which no constant is of: Whisper is at .3 to .57 of its times. */
#define DL_PLAIN_HOST_SD 0.35
#define DL_PLAIN_ENCODER_SD 0.6

/* Whether a job of inference runs plain software, given or assumed. */
bool dl_is_plain(const struct dl_job *job);

/* Whether the GPUs of a copy of a model work one after another, each on its
 * layers: in plain software, and with the weights of GGUF files, which
 * llama.cpp serves, unless tensor parallelism is given. */
bool dl_works_in_turn(const struct dl_job *job);

/* Whether plain software is as usual as a server where a job does not say it: a
 * single request to a language model. */
bool dl_may_be_plain(const struct dl_job *job);

/* Adds to a round what plain software takes beyond it on the host: of a batch
 * of requests, or of so many images on one GPU, one after another. `gpus`: so
 * many wait for the host. */
void dl_add_plain_host(const struct dl_job *job, double images, double gpus,
                       struct dl_serving_cost *r);

/* Widens the energy and the time of inference by the uncertainty of that time,
 * and where plain software is assumed, or may run, by what it adds. */
void dl_widen_by_host(const struct dl_job *job, const struct dl_served *s,
                      double coverage, struct dl_estimate *est);

#endif
