#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What dlest is compared with: scikit-learn and pandas, one task a run.

peer.py TASK FILE... prints JSON with the seconds of each part. Run by
run.py, each in a process of its own.
"""

import json
import sys
import time

START = time.perf_counter()


def ols(path):
    import pandas
    from sklearn.linear_model import LinearRegression
    imported = time.perf_counter()
    table = pandas.read_csv(path)
    read = time.perf_counter()
    fit = LinearRegression().fit(table.drop(columns="y"), table["y"])
    done = time.perf_counter()
    return {"import": imported - START, "read": read - imported,
            "fit": done - read, "work": done - imported,
            "coefficients": list(fit.coef_)}


def search(path, jobs):
    import numpy
    import pandas
    from scipy.stats import loguniform
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import KFold, RandomizedSearchCV
    imported = time.perf_counter()
    table = pandas.read_csv(path)
    x = table[[c for c in table.columns if c.startswith("z_")]]
    y = table["y_avg_gpu_power_W"]
    cv = RandomizedSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": loguniform(1e-6, 1e2), "gamma": loguniform(1e-5, 1e1)},
        n_iter=100, cv=KFold(5), random_state=1, n_jobs=int(jobs),
        scoring="neg_root_mean_squared_error")
    cv.fit(numpy.asarray(x), y)
    done = time.perf_counter()
    return {"import": imported - START, "work": done - imported,
            "best": cv.best_params_}


def grid(path, method, alphas, gammas):
    """All combinations of the hyperparameters, by five folds."""
    import numpy
    import pandas
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, KFold
    imported = time.perf_counter()
    table = pandas.read_csv(path)
    x = numpy.asarray(table.drop(columns="y"))
    of = {"alpha": [float(a) for a in alphas.split(",")]}
    if method == "krr":
        of["gamma"] = [float(g) for g in gammas.split(",")]
    cv = GridSearchCV(KernelRidge(kernel="rbf") if method == "krr" else Ridge(),
                      of, cv=KFold(5), refit=False,
                      scoring="neg_root_mean_squared_error")
    cv.fit(x, table["y"])
    return {"import": imported - START, "work": time.perf_counter() - imported,
            "candidates": len(cv.cv_results_["params"]),
            "best": cv.best_params_}


def logs(names):
    import pandas
    imported = time.perf_counter()
    rows = 0
    with open(names, encoding="utf-8") as f:
        for path in f.read().splitlines():
            rows += len(pandas.read_csv(path))
    return {"work": time.perf_counter() - imported, "rows": rows}


def accounting(path):
    import pandas
    imported = time.perf_counter()
    rows = len(pandas.read_csv(path, sep="|", dtype=str))
    return {"work": time.perf_counter() - imported, "rows": rows}


def krr(support, rows, repeats):
    import pandas
    from sklearn.kernel_ridge import KernelRidge
    table = pandas.read_csv(support).to_numpy()
    x = pandas.read_csv(rows).to_numpy()
    fit = KernelRidge(kernel="rbf", alpha=1e-3, gamma=0.1)
    fit.fit(table[:, :-1], table[:, -1])
    times = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        out = fit.predict(x)
        times.append(time.perf_counter() - start)
    return {"times": times, "sum": float(out.sum())}


def versions():
    import numpy
    import pandas
    import sklearn
    return {"python": sys.version.split()[0], "numpy": numpy.__version__,
            "pandas": pandas.__version__, "scikit-learn": sklearn.__version__}


if __name__ == "__main__":
    TASKS = {"ols": ols, "search": search, "grid": grid,
             "krr": krr, "logs": logs,
             "accounting": accounting, "versions": versions}
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
