"""Tune a scikit-learn classifier with Optuna's TPE; the same trials for any number of workers.

python tune_digits.py
weft run weft.optuna:study --args "$(python tune_digits.py --json)" --out runs/shell
"""

import json
import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import weft
import weft.optuna

SPACE = {
    "c": weft.optuna.Float(0.01, 100.0, log=True),
    "gamma": weft.optuna.Float(1e-5, 0.1, log=True),
    "kernel": weft.optuna.Categorical("rbf", "sigmoid"),
}


@weft.task
def error(c: float, gamma: float, kernel: str, samples: int) -> float:
    """Return the cross-validated error of a support vector classifier on handwritten digits."""
    x, y = load_digits(return_X_y=True)
    model = SVC(C=c, gamma=gamma, kernel=kernel)
    return 1 - float(cross_val_score(model, x[:samples], y[:samples], cv=3).mean())


STUDY = {
    "trials": 24,
    "batch": 6,
    "rungs": {"samples": [200, 800]},
    "eta": 2,
    "libraries": ["scikit-learn"],
}


if __name__ == "__main__":
    if "--json" in sys.argv:
        space = weft.optuna.space_of(SPACE)
        print(json.dumps({"objective": "tune_digits:error", "space": space, **STUDY}))
    else:
        search = weft.optuna.study(error, SPACE, **STUDY)
        print(weft.run(search, out="runs/digits", workers=2).answer)
