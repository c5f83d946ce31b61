#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values of the unit tests of src/math, from scikit-learn 1.2 and
numpy / scipy. The data are formulas, so that the C tests can build the same.

Run: python3 math_reference.py (Debian: python3-sklearn, python3-scipy)
"""

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import (
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    r2_score,
)
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def show(name, *values):
    print(name, " ".join(f"{float(v):.15g}" for v in np.hstack(values).ravel()))


def data(n, p):
    i = np.arange(n)[:, None]
    j = np.arange(p)[None, :]
    X = (j + 1) * np.sin((1.7 + 0.31 * j) * i + 0.9 * j) + 10 * j
    y = 5 + X @ (0.5 * np.arange(p) - 1) + 3 * np.cos(2.3 * np.arange(n))
    w = 1 + np.arange(n) % 3
    return X, y, w.astype(float)


X, y, w = data(40, 4)

m = LinearRegression().fit(X, y, sample_weight=w)
show("ols weighted", m.coef_, m.intercept_)

m = Ridge(alpha=2.5, solver="svd").fit(X, y)
show("ridge lambda 2.5", m.coef_, m.intercept_)
m = Ridge(alpha=2.5, solver="svd").fit(X, y, sample_weight=w)
show("ridge lambda 2.5 weighted", m.coef_, m.intercept_)


def gcv(log_lambda):
    """GCV with the hat matrix written out, intercept column unpenalised."""
    A = np.hstack([np.ones((len(y), 1)), X])
    D = np.diag([0.0] + [np.exp(log_lambda)] * X.shape[1])
    H = A @ np.linalg.solve(A.T @ A + D, A.T)
    n = len(y)
    r = y - H @ y
    return n * (r @ r) / (n - np.trace(H)) ** 2


best = minimize_scalar(
    gcv, bounds=(np.log(1e-6), np.log(1e4)), method="bounded",
    options={"xatol": 1e-10},
)
show("ridge gcv lambda, score", np.exp(best.x), best.fun)

m = KernelRidge(kernel="rbf", alpha=0.05, gamma=0.3).fit(X / 10, y)
show("krr alpha 0.05 gamma 0.3, rows 0 7 39",
     m.predict(X[[0, 7, 39]] / 10 + 0.05))

s = StandardScaler().fit(X)
show("scale mean, sd", s.mean_, s.scale_)
s = StandardScaler().fit(X, sample_weight=w)
show("scale weighted mean, sd", s.mean_, s.scale_)

f = y + np.sin(np.arange(40))
show("scores r2 rmse mae mape median bias", r2_score(y, f),
     mean_squared_error(y, f) ** 0.5, mean_absolute_error(y, f),
     mean_absolute_percentage_error(y, f), np.median(abs(y - f) / abs(y)),
     np.mean(f - y))
show("weighted", r2_score(y, f, sample_weight=w),
     mean_squared_error(y, f, sample_weight=w) ** 0.5,
     mean_absolute_error(y, f, sample_weight=w),
     mean_absolute_percentage_error(y, f, sample_weight=w),
     np.median(np.repeat(abs(y - f) / abs(y), w.astype(int))),
     np.average(f - y, weights=w))

m = make_pipeline(StandardScaler(), Ridge(alpha=2.5, solver="svd"))
folds = list(KFold(5).split(X))
f = cross_val_predict(m, X, y, cv=folds)
show("cv scaled ridge prediction 0, 19, 39", f[[0, 19, 39]])
show("cv pooled r2 rmse", r2_score(y, f), mean_squared_error(y, f) ** 0.5)
show("cv mean r2 rmse mape",
     np.mean([r2_score(y[t], f[t]) for _, t in folds]),
     np.mean([mean_squared_error(y[t], f[t]) ** 0.5 for _, t in folds]),
     np.mean([mean_absolute_percentage_error(y[t], f[t]) for _, t in folds]))

# Logarithmic target with an offset: t = log(z) - o.
z = np.exp(y / 20)
o = 0.1 * (np.arange(40) % 3)
t = np.log(z) - o
f = cross_val_predict(m, X, t, cv=folds)
show("cv log prediction 0, 19, 39", np.exp(f + o)[[0, 19, 39]])
show("cv log pooled rmse", mean_squared_error(z, np.exp(f + o)) ** 0.5)
show("search score of lambda 2.5", mean_squared_error(t, f) ** 0.5)
