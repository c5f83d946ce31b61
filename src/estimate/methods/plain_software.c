/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/plain_software.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/sample_kinds.h"
#include "physics/conditioning/gpu_waiting.h"
#include "quantities/gguf.h"
#include "run/setup/training_setup.h"

#define START_S 25e-3     /* of a call of a language model */
#define LAYER_S 0.6e-3    /* a layer of a pass */
#define CROSS (23.0 / 14) /* kernels with an attention to an encoder */
#define IMAGE_S 17e-3     /* an image: copies, launches, synchronisation */
#define PIXEL_S 80e-9     /* and its decoding, scaling and normalisation */
#define OVERLAP_POWER 3.0 /* the norm by which host and GPU add up */

static bool writes(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) && !dl_encodes(arch);
}

bool dl_is_plain(const struct dl_job *job) {
  enum dl_software stack = dl_stack_of(job->run);
  return dl_run_is_inference(job->run) &&
         (stack == DL_SOFTWARE_TRANSFORMERS ||
          (stack == DL_SOFTWARE_EAGER && writes(job)));
}

bool dl_may_be_plain(const struct dl_job *job) {
  const struct dl_run *r = job->run;
  return dl_run_is_inference(r) && !r->stack && writes(job) &&
         !(r->batch_size > 1) && !(r->idle_s > 0) && !(r->request_rate > 0);
}

bool dl_works_in_turn(const struct dl_job *job) {
  const struct dl_run *r = job->run;
  bool divided = dl_run_set_has(&job->row->given, DL_RUN_tensor_parallel);
  return dl_is_plain(job) ||
         (dl_is_gguf(r->precision) && !r->stack && !divided);
}

/* Time of the host for a batch of requests. An encoder is passed once. */
static double host_of_requests(const struct dl_job *job) {
  const struct dl_transformer *t = job->found.arch->transformer;
  double passes = fmax(job->run->output_tokens, 1);
  double layers = passes * job->found.arch->depth;
  if (dl_has_encoder(job->found.arch))
    layers = t->layers + passes * CROSS * t->decoder_layers;
  return START_S + layers * LAYER_S;
}

static double host_of_images(const struct dl_job *job, double images) {
  const struct dl_architecture *arch = job->found.arch;
  double px = job->run->image_px;
  if (!arch || isnan(px) || dl_samples_of_network(arch) != DL_SAMPLES_IMAGES)
    return 0;
  return images * (IMAGE_S + (dl_generator(job) ? 0 : PIXEL_S * px * px));
}

/* Time of the GPU and the host that overlap. */
static double together(double host_s, double gpu_s) {
  return pow(pow(host_s, OVERLAP_POWER) + pow(gpu_s, OVERLAP_POWER),
             1 / OVERLAP_POWER);
}

void dl_add_plain_host(const struct dl_job *job, double images, double gpus,
                       struct dl_serving_cost *r) {
  double more = host_of_images(job, images), *time = &r->prefill_s,
         *energy = &r->prefill_j;
  if (writes(job)) {
    more = fmax(
        together(host_of_requests(job), r->time_s - r->host_s) - r->time_s, 0);
    time = &r->decode_s;
    energy = &r->decode_j;
  }
  if (more > r->time_s)
    r->bound = "host";
  *time += more;
  *energy += more * gpus * r->static_w;
  r->time_s += more;
  r->host_s += more;
  r->plain_s += more;
  r->plain_j += more * gpus * r->static_w;
}

/* Widens an interval by a part that is on the host: by the factor above, and
 * below by that or, where it is assumed, by all of it. */
static void widen(struct dl_interval *i, double part, double factor,
                  bool assumed) {
  i->low = i->x - hypot(i->x - i->low, part * (assumed ? 1 : 1 - 1 / factor));
  i->high = i->x + hypot(i->high - i->x, part * (factor - 1));
}

void dl_widen_by_host(const struct dl_job *job, const struct dl_served *s,
                      double coverage, struct dl_estimate *est) {
  double z = 1 / dl_interval_sd(-1, 1, coverage);
  const struct dl_architecture *arch = job->found.arch;
  double sd =
      arch && dl_has_encoder(arch) ? DL_PLAIN_ENCODER_SD : DL_PLAIN_HOST_SD;
  double factor = exp(z * sd);
  bool assumed = dl_is_assumed(job->row, DL_RUN_stack);
  if (s->plain_s > 0) {
    widen(&est->energy_j, s->plain_j, factor, assumed);
    widen(&est->duration_s, s->plain_s, factor, assumed);
  }
  if (!(s->maybe_s > 0))
    return;
  est->energy_j.high =
      fmax(est->energy_j.high, est->energy_j.x + factor * s->maybe_j);
  est->duration_s.high =
      fmax(est->duration_s.high, est->duration_s.x + factor * s->maybe_s);
  est->software_matters = true;
}
