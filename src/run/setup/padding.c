/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/padding.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "run/setup/training_setup.h"

bool dl_pads_texts(const struct dl_row *row) {
  const struct dl_dataset *data = row->found.dataset;
  enum dl_software stack = dl_stack_of(&row->run);
  bool packs = stack == DL_SOFTWARE_NGC || stack == DL_SOFTWARE_MLPERF ||
               stack == DL_SOFTWARE_TUNED;
  const struct dl_architecture *arch = row->found.arch;
  bool padded = (arch && dl_encodes(arch)) || (data && !isnan(data->classes));
  return data && !packs && !padded && !dl_run_is_inference(&row->run) &&
         fabs(round(data->sample_tokens) - row->run.seq_len) < 0.5;
}

double dl_padding(const struct dl_row *row) {
  double n = dl_micro_batch(&row->run), longest = 1;
  for (double i = 2; i <= n && dl_pads_texts(row); i++)
    longest += 1 / i;
  return longest;
}
