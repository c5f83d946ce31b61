#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Posterior of working and waiting by brute force, for tests/unit/test_waiting.c.

The joint density of d, log W and log P is evaluated on grids, with what is known
as a condition; nothing is integrated in closed form. Where a time is known and no
power, energies are regressed on the time by the minimax formula of isotonic
regression, max over j <= i of min over k >= i of the mean of j .. k. Prints means of the
logarithms of energy and time, of the busy share, and the 5 % and 95 % quantiles
of the energy's logarithm.
"""

import math

import numpy as np
from scipy.special import ndtr

WAITS, POWER_SD, STATIC_SD = 0.2, 0.03, 0.2
LAST = 6.0  # of d


def normal(x, var):
    return np.exp(-x * x / (2 * var)) / np.sqrt(2 * np.pi * var)


def posterior(time, power, vt, vp, cov, share, known_time=None,
              known_power=None, known_util=None, var_util=None, n=1201,
              known_input=None, var_input=None):
    """Every d: a grid over log W (exact where the time is known) and log P.
    Returns the density of what is known, and what is printed."""
    d = np.linspace(0, LAST, n)
    prior = WAITS * np.exp(-d) * (d[1] - d[0])
    prior[[0, -1]] /= 2
    of_input = known_input is not None
    d = np.append(d, 0)
    prior = np.append(prior, 0 if of_input else 1 - WAITS)
    z = np.linspace(-7, 7, 281)
    weights, energies, times, busies, variances = [], [], [], [], []
    step = d[1] - d[0]
    for di, waits in zip(d, prior):
        pi = waits
        b = math.exp(-di)
        factor = math.log(b + (1 - b) * share)
        wait = (1 - b) * share / (b + (1 - b) * share) * STATIC_SD
        if known_time is None:
            x = time + z * math.sqrt(vt)
            px = normal(x - time, vt) * (x[1] - x[0])
        else:
            x = np.array([known_time - di])
            px = normal(x - time, vt)
        left = vp - cov * cov / vt
        for xi, pxi in zip(x, px):
            if pxi < 1e-300:
                continue
            if of_input and di > 0:
                # input alone: log I = log W + log(exp(2 d) - 1) / 2
                dense = normal(xi + math.log(math.expm1(2 * di)) / 2 -
                               known_input, var_input)
                jacobian = 1 / -math.expm1(-2 * di)
                pi = waits + (1 - WAITS) * dense * jacobian * step
            mean = power + cov / vt * (xi - time)
            if known_time is not None and known_util is not None:
                # it waits at static power, whatever it draws at work; cases
                # are above the power at which dynamic energies would fall
                static = share * math.exp(power)
                assert math.exp(mean) * (1 + cov / vt) >= static
                factor = math.log(b + (1 - b) * static / math.exp(mean))
                wait = (1 - b) * share / (b + (1 - b) * share) * STATIC_SD
            y = mean + z * math.sqrt(left)
            py = normal(y - mean, left) * (y[1] - y[0])
            if known_power is not None:
                py = py * normal(known_power - y - factor, POWER_SD ** 2)
            w = pi * pxi * py
            if known_util is not None:
                w = w * normal(known_util + di, var_util)
            t = xi + di
            if known_power is not None:
                # the meter is off by what is given; the energy keeps it open
                e, v = np.full_like(y, t + known_power), POWER_SD ** 2
            else:
                e, v = t + y + factor, wait ** 2
            weights.append(w)
            energies.append(e)
            times.append(np.full_like(y, t))
            busies.append(np.full_like(y, b))
            variances.append(np.full_like(y, v))
    w, e, t, b, v = (np.concatenate(a) for a in
                     (weights, energies, times, busies, variances))
    density = w.sum()
    w /= density
    order = np.argsort(e)

    def below(x):
        return float((w * ndtr((x - e) / np.sqrt(np.maximum(v, 1e-18)))).sum())

    def quantile(p):
        lo, hi = e[order[0]] - 1, e[order[-1]] + 1
        for _ in range(32):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if below(mid) < p else (lo, mid)
        return (lo + hi) / 2
    keep = w > 1e-9
    w, e, t, b, v = (a[keep] for a in (w, e, t, b, v))
    w /= w.sum()
    order = np.argsort(e)
    return density, [(w * e).sum(), (w * t).sum(), (w * b).sum(),
                     quantile(0.05), quantile(0.95)]


TIMES, STEP = 21, 0.2  # from the expected time on


def rising(case):
    """The posterior, and its energies regressed on the time."""
    out = posterior(**BASE, **case)[1]
    off = (case["known_time"] - BASE["time"]) / STEP
    if not 0 < off < TIMES - 1:
        return out
    at = [posterior(**BASE, **dict(case, known_time=BASE["time"] + i * STEP),
                    n=4801 if "known_input" in case else 301)
          for i in range(TIMES)]
    weight = np.array([a[0] for a in at])
    i = int(off)
    for k in (0, 3, 4):
        y = np.array([a[1][k] for a in at])

        def fitted(m):
            return max(min(np.average(y[j:k + 1], weights=weight[j:k + 1])
                           for k in range(m, TIMES)) for j in range(m + 1))
        two = np.array([fitted(i), fitted(i + 1)])
        if abs(two - y[i:i + 2]).max() > 1e-9:
            out[k] = two[0] + (off - i) * (two[1] - two[0])
    return out


BASE = dict(time=math.log(300), power=math.log(250), vt=0.09, vp=0.0225,
            cov=-0.015, share=0.2)
CASES = [dict(known_time=math.log(300)), dict(known_time=math.log(450)),
         dict(known_time=math.log(800)),
         dict(known_time=math.log(1000)), dict(known_time=math.log(180)),
         dict(known_util=math.log(0.4), var_util=0.04),
         dict(known_power=math.log(120)),
         dict(known_time=math.log(700), known_util=math.log(0.5),
              var_util=0.04),
         dict(known_time=math.log(700), known_power=math.log(140)),
         *(dict(known_time=math.log(t), known_input=math.log(i), var_input=0.09)
           for t, i in ((300, 300), (450, 300), (800, 700), (1000, 100)))]

if __name__ == "__main__":
    for case in CASES:
        time = "known_time" in case
        out = rising(case) if time and "known_power" not in case else \
            posterior(**BASE, **case, n=1201 if time else 301)[1]
        print(", ".join("%.4f" % x for x in out))
