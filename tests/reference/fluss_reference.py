#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values of tests/unit/test_fluss.c and test_changes.c, by plain
programs: every pair of subsequences from its definition, and change points by
dynamic programming over all segmentations without pruning. Needs numpy."""

import numpy as np


def numbers(n, seed):
    """n integers 0 ... 99 (the tests make the same ones)."""
    values = []
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2 ** 31
        values.append(seed // 65536 % 100)
    return values


def two_regimes(n, switch):
    """A sawtooth of 9 samples, then one of 14, under a little noise; flat for
    some samples at the switch."""
    noise = numbers(n, 1)
    values = []
    for i in range(n):
        period, height = (9, 40) if i < switch else (14, 60)
        values.append(100 + i % period * height // period + noise[i] // 20)
        if switch <= i < switch + 14:
            values[-1] = 90
    return values


def fluss(x, m, length):
    n = len(x)
    k = n - m + 1
    r = np.full((k, k), -np.inf)
    for i in range(k):
        for j in range(k):
            a = [int(v) for v in x[i:i + m]]
            b = [int(v) for v in x[j:j + m]]
            if abs(i - j) <= -(-m // 4):
                continue
            va = m * sum(v * v for v in a) - sum(a) ** 2
            vb = m * sum(v * v for v in b) - sum(b) ** 2
            if va == 0 or vb == 0:
                r[i, j] = 1.0 if va == vb else 0.5
            else:
                top = m * sum(p * q for p, q in zip(a, b)) - sum(a) * sum(b)
                r[i, j] = round(top / np.sqrt(va * vb), 9)
    near = [int(np.argmax(row)) for row in r]
    arcs = np.zeros(k)
    for i, j in enumerate(near):
        arcs[min(i, j)] += 1
        arcs[max(i, j)] -= 1
    arcs = np.cumsum(arcs)
    cac = np.ones(k)
    for i in range(3 * length, k - 3 * length):
        cac[i] = min(1, arcs[i] / (2 * i * (k - i) / k))
    at = int(np.argmin(cac))
    return at, cac[at], near, r


def changes(signals, least, smallest, q, penalty):
    n = len(signals[0])

    def cost(a, b):
        total = 0
        for x, low in zip(signals, least):
            s = np.var(x[a:b])
            v = max(s, low ** 2)
            total += (b - a) / (2 * q) * (np.log(v) + s / v)
        return total

    best, parts = [-penalty] + [np.inf] * n, [[]] + [None] * n
    for t in range(smallest, n + 1):
        for s in range(0, t - smallest + 1):
            c = best[s] + cost(s, t) + penalty
            if c < best[t]:
                best[t], parts[t] = c, parts[s] + [s]
    return parts[n][1:], best[n]


def steps(n):
    """Two signals that change together and apart."""
    a, b = numbers(n, 7), numbers(n, 11)
    x = [a[i] / 10 + (20 if 40 <= i < 46 else 0) + (6 if i >= 90 else 0)
         for i in range(n)]
    y = [b[i] / 10 * (3 if i >= 130 else 1) for i in range(n)]
    return [x, y]


def main():
    for n, switch, m, length in ((200, 80, 10, 10), (150, 100, 9, 5)):
        at, cac, near, r = fluss(two_regimes(n, switch), m, length)
        print(f"fluss n {n} switch {switch} m {m} L {length}: {at} {cac:.9f}")
        print("  neighbours of 0, 50, 79, 85, 120:",
              *(f"{near[i]} ({r[i, near[i]]:.9f})"
                for i in (0, 50, 79, 85, 120)))
    x = steps(180)
    for signals, smallest, q, penalty in ((x, 2, 1, 2.5 * np.log(180)),
                                          (x[:1], 5, 1, 8.0),
                                          (x, 10, 2, 6.0)):
        least = [0.1] * len(signals)
        at, cost = changes(signals, least, smallest, q, penalty)
        print(f"changes of {len(signals)}, min {smallest}, q {q}, "
              f"penalty {penalty:.6f}: {at} cost {cost:.9f}")


if __name__ == "__main__":
    main()
