/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/predict_limits.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "estimate/methods/work.h"
#include "estimate/node/parallel.h"
#include "estimate/node/peak_memory.h"

/* Gradient all-reduce. The time of a step is that of its work at the
 * efficiency of the method flops. For one GPU nothing is known of a step: its
 * time stands in the estimates. */
static void add_exchange(struct dl_report *r, const struct dl_job *job) {
  struct dl_parallel p;
  struct dl_parallel_step s;
  bool assumed, told = job->run->n_gpus > 1 && !dl_is_inference(job);
  dl_parallel_job(job, &p, &assumed);
  double batch = dl_parallel_batch(job->run->batch_size, p.n, p.strong);
  p.step_s = dl_work_step_flop(job) * batch /
             (1e12 * dl_work_peak_tflops(job) * job->run->efficiency);
  p.strong = false; /* step_s is for each GPU's part */
  dl_parallel_of(&p, &s);
  dl_report_add(r, "scaling", told ? "scaling" : NULL, NULL, DL_CODE,
                dl_string(dl_parallel_is_strong(job) ? "strong" : "weak"));
  dl_report_add(r, "link_gb_s", NULL, "GB/s", DL_PLAIN,
                dl_number(told ? p.link_gb_s : NAN));
  dl_report_add(r, "exchange_gb", NULL, "GB", DL_PLAIN,
                dl_number(told ? p.bytes / 1e9 : NAN));
  dl_report_add(r, "exchange_s", NULL, "s", DL_TIME,
                dl_number(told ? s.comm_s : NAN));
  dl_report_add(r, "exchange_share", NULL, NULL, DL_PERCENT,
                dl_number(told ? s.share : NAN));
  if (!told || isnan(s.comm_s))
    return;
  char text[256], gb[DL_NUMBER_SIZE], ms[DL_NUMBER_SIZE];
  const char *note = "assumed: PCIe 3.0 x16";
  if (!assumed) {
    const struct dl_accelerator *gpu = job->found.gpu;
    note = gpu->head.origin[dl_field_index(&gpu->head, &gpu->link_gb_s)].note;
  }
  int n = snprintf(text, sizeof text, "%s GB a step at %g GB/s%s%.80s%s, %s ms",
                   dl_format_digits(gb, p.bytes / 1e9, 3), p.link_gb_s,
                   note ? " (" : "", note ? note : "", note ? ")" : "",
                   dl_format_digits(ms, 1e3 * s.comm_s, 3));
  if (!isnan(s.share) && n > 0 && (size_t)n < sizeof text)
    snprintf(text + n, sizeof text - (size_t)n,
             "; waits about %.2g %% of the time", 100 * s.share);
  dl_report_add(r, NULL, "gradients exchanged", NULL, DL_CODE, dl_string(text));
}

void dl_predict_limits(struct dl_report *r, const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  struct dl_memory_need m;
  dl_memory_of(job, &m);
  dl_report_add(r, "memory_need_gb", NULL, "GB", DL_PLAIN,
                dl_number(m.need_gb));
  if (!isnan(m.need_gb)) {
    char text[96], need[DL_NUMBER_SIZE], of[48] = "";
    if (gpu && !isnan(gpu->memory_gb))
      snprintf(of, sizeof of, " of %g GB", gpu->memory_gb);
    snprintf(text, sizeof text, "about %s GB%s",
             dl_format_digits(need, m.need_gb, 3), of);
    dl_report_add(r, NULL, "memory needed", NULL, DL_CODE, dl_string(text));
  }
  add_exchange(r, job);
}

/* The batch that does not fit, and the one that would. */
static void warn_memory(const struct dl_job *job,
                        const struct dl_memory_need *m, struct dl_diag *d) {
  const struct dl_accelerator *gpu = job->found.gpu;
  double has = gpu->memory_gb;
  bool split = dl_parallel_is_strong(job) && job->run->n_gpus > 1;
  bool shared = job->run->n_gpus > 1 && m->shared;
  char each[48] = "", fits[80] = "not even one sample fits";
  char need[DL_NUMBER_SIZE];
  if (split)
    snprintf(each, sizeof each, " (%g on each GPU)", m->batch);
  if (m->fits > 0)
    snprintf(fits, sizeof fits, "about %g fits%s",
             split ? m->fits * job->run->n_gpus : m->fits,
             job->run->n_gpus > 1 && !split && !shared ? " on each GPU" : "");
  if (m->model_gb > has)
    snprintf(fits, sizeof fits, "%s GB without any sample",
             dl_format_digits(need, m->model_gb, 3));
  dl_warn(d, "batch of %g%s needs about %s GB, more than the %g GB of %s; %s%s",
          split ? job->run->batch_size : m->batch, each,
          dl_format_digits(need, m->need_gb, 3), has, gpu->head.id, fits,
          m->model_gb > has && job->run->n_gpus > 1 && !shared
              ? ", and every GPU is taken to hold a full copy"
              : "");
}

void dl_warn_limits(const struct dl_job *job, struct dl_diag *d) {
  struct dl_memory_need m;
  const char *used, *rate = dl_work_lacks_rate(job, &used);
  dl_memory_of(job, &m);
  if (m.over)
    warn_memory(job, &m, d);
  if (rate)
    dl_warn(d,
            "%s has no %s rate for --precision %s: its %s peak of %.3g "
            "TFLOP/s is used instead",
            job->found.gpu->head.id, rate, job->run->precision, used,
            dl_work_peak_tflops(job));
}

void dl_limits_count(struct dl_limits *l, const struct dl_job *job) {
  struct dl_memory_need m;
  const char *used;
  dl_memory_of(job, &m);
  l->over += m.over;
  l->no_rate += dl_work_lacks_rate(job, &used) != NULL;
}

void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d) {
  if (l->over)
    dl_warn_at(d, path, 0,
               "%zu row%s: the batch needs more than the GPU's memory "
               "(memory_need_gb)",
               l->over, l->over == 1 ? "" : "s");
  if (l->no_rate)
    dl_warn_at(d, path, 0,
               "%zu row%s: the GPU has no tensor rate for the precision; its "
               "next best peak is used instead",
               l->no_rate, l->no_rate == 1 ? "" : "s");
}
