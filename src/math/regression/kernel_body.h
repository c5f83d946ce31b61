/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to kernel.c, which includes it once for each set of instructions,
 * after defining
 *
 *   NAME(f)  the name of function f in this set
 *   TARGET   the attribute that selects it
 *   WIDTH    values in a vector, a divisor of LANES
 *   TOGETHER rows that are taken together, a divisor of ROWS: as many as the
 *            registers hold, to hide each other's latency
 *
 * The vectors are GCC's and Clang's. There is no include guard. */

typedef double NAME(vec) __attribute__((vector_size(8 * WIDTH)));
typedef uint64_t NAME(bits) __attribute__((vector_size(8 * WIDTH)));

/* A vector anywhere in an array of double. */
typedef double NAME(loose)
    __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

/* Replaces t by exp(t). The low bits of k hold the integer once `shift` has
 * been added; it goes into the exponent of the result as it is. What comes
 * out for t below -708, where that would overflow, is masked to 0; a NaN
 * stays one. */
TARGET INLINE void NAME(exp_negative)(NAME(vec) * t) {
  const double shift = 0x1.8p52;
  NAME(vec) k = *t * 0x1.71547652b82fep+0 + shift; /* 1 / ln 2 */
  NAME(bits) power = (NAME(bits))k << 52;
  k -= shift;
  NAME(vec) r = (*t - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
  NAME(vec) q = r * 2.5100375924709717e-08 + 2.762007599981065e-07;
  q = q * r + 2.7557268480116333e-06;
  q = q * r + 2.4801521322116825e-05;
  q = q * r + 0.0001984126986304067;
  q = q * r + 0.0013888888917196881;
  q = q * r + 0.008333333333330065;
  q = q * r + 0.041666666666624164;
  q = q * r + 0.16666666666666669;
  q = q * r + 0.5000000000000001;
  NAME(bits) value = (NAME(bits))(1 + (r + r * r * q));
  NAME(bits) lost = (NAME(bits))(*t < -708.0);
  *t = (NAME(vec))(~lost & (value + power));
}

/* LANES values. */
TARGET static void NAME(decay)(double *out, const double *d, double gamma) {
  for (size_t u = 0; u < LANES; u += WIDTH) {
    NAME(vec) t = -gamma * *(const NAME(loose) *)(d + u);
    NAME(exp_negative)(&t);
    *(NAME(loose) *)(out + u) = t;
  }
}

/* Adds dual k(x_k, point) of WIDTH points to total_k, for each row k. */
TARGET INLINE void NAME(add_points)(NAME(vec) * total, const double *points,
                                    const double *dual, const double *const *x,
                                    size_t p, double gamma) {
  NAME(vec) d[TOGETHER];
  UNROLL
  for (size_t k = 0; k < TOGETHER; k++)
    d[k] = (NAME(vec)){0};
  for (size_t j = 0; j < p; j++) {
    UNROLL
    for (size_t k = 0; k < TOGETHER; k++) {
      NAME(vec) e = *(const NAME(loose) *)(points + j * LANES) - x[k][j];
      d[k] += e * e;
    }
  }
  UNROLL
  for (size_t k = 0; k < TOGETHER; k++) {
    d[k] *= -gamma;
    NAME(exp_negative)(&d[k]);
    total[k] += *(const NAME(loose) *)dual * d[k];
  }
}

/* sum_k = sum over all points of dual k(x_k, point), for TOGETHER rows. */
TARGET INLINE void NAME(sum_points)(double *sum, const struct dl_rbf_points *s,
                                    const double *const *x, double gamma) {
  NAME(vec) total[TOGETHER];
  UNROLL
  for (size_t k = 0; k < TOGETHER; k++)
    total[k] = (NAME(vec)){0};
  for (size_t b = 0; b < s->blocks; b++)
    for (size_t u = 0; u < LANES; u += WIDTH)
      NAME(add_points)
  (total, s->x + b * s->p * LANES + u, s->dual + b * LANES + u, x, s->p, gamma);
  UNROLL
  for (size_t k = 0; k < TOGETHER; k++) {
    sum[k] = 0;
    for (size_t u = 0; u < WIDTH; u++)
      sum[k] += total[k][u];
  }
}

/* Distances for ROWS rows. */
TARGET static void NAME(expand)(double *sum, const struct dl_rbf_points *s,
                                const double *const *x, double gamma) {
  for (size_t k = 0; k < ROWS; k += TOGETHER)
    NAME(sum_points)(sum + k, s, x + k, gamma);
}

#undef NAME
#undef TARGET
#undef WIDTH
#undef TOGETHER
