#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coefficients of the polynomial behind src/math/regression/kernel.c.

exp(r) = 1 + r + r^2 q(r) for |r| <= ln(2)/2. q, of degree 9, interpolates
(exp(r) - 1 - r) / r^2 at Chebyshev nodes in 60-digit arithmetic, which comes
within a few percent of the minimax polynomial. Prints q[0] .. q[9] and the
largest relative error of the whole.

Run: python3 exp_polynomial.py
"""

from mpmath import mp, mpf, cos, pi, exp, log, lu_solve, matrix

mp.dps = 60
DEGREE = 9
HALF = log(2) / 2 * (1 + mpf(2) ** -20)


def q_exact(r):
    if abs(r) < mpf(10) ** -20:
        return mpf(1) / 2 + r / 6
    return (exp(r) - 1 - r) / r**2


n = DEGREE + 1
nodes = [HALF * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
vander = matrix(n, n)
rhs = matrix(n, 1)
for i, r in enumerate(nodes):
    rhs[i] = q_exact(r)
    for j in range(n):
        vander[i, j] = r**j
coef = lu_solve(vander, rhs)
rounded = [mpf(float(c)) for c in coef]
worst = mpf(0)
for i in range(-2000, 2001):
    r = HALF * i / 2000
    q = sum(c * r**j for j, c in enumerate(rounded))
    worst = max(worst, abs((1 + r + r * r * q) / exp(r) - 1))
for c in rounded:
    print(f"{float(c)!r}")
print("largest relative error", mp.nstr(worst, 3))
