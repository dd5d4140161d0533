"""Estimators with fit, predict and score, trained by solve() on problems of the program: no Python runs while it solves.

With scikit-learn installed they are estimators of scikit-learn; without it they have the same methods.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._solve import Solution, solve

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data

    _SKLEARN = True
except ImportError:
    _SKLEARN = False

    class ConvergenceWarning(UserWarning):  # type: ignore[no-redef]
        """The gap was not reached."""

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """fit has not been called."""

    class ClassifierMixin:  # type: ignore[no-redef]
        """Stands in for the class of scikit-learn."""

        def score(self, X: Any, y: Any) -> float:
            """Share of examples whose class is predicted."""
            return float(np.mean(self.predict(X) == np.asarray(y)))  # type: ignore[attr-defined]

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for the class of scikit-learn."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The arguments of the constructor."""
            names = inspect.signature(type(self)).parameters
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> Any:
            """Changes arguments of the constructor."""
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"unknown parameter {name!r}; known: {', '.join(known)}")
                setattr(self, name, value)
            return self


class _Trained(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: their settings, and a run of the program on a file."""

    def __init__(
        self,
        alpha: Optional[float] = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        solver: str = "mp-bcfw",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state

    def _solve(self, kind: str, lines: Iterable[str]) -> Solution:
        for name in ("alpha", "tol", "max_iter"):
            value = getattr(self, name)
            if not (name == "alpha" and value is None or isinstance(value, (int, float, np.number)) and value > 0):
                raise ValueError(f"{name}={value!r}, expected a number above 0")
        with tempfile.TemporaryDirectory(prefix="ssvm-bench-") as folder:
            path = os.path.join(folder, "data")
            with open(path, "w", encoding="ascii") as file:
                file.writelines(lines)
            # The virtual clock: equal data and settings give equal weights.
            solution = solve(
                f"{kind}:{path}",
                self.solver,
                self.tol,
                iterations=self.max_iter,
                lambda_=self.alpha,
                seed=self._seed(),
                clock="virtual",
            )
        self.solution_ = solution
        self.n_iter_ = int(solution.summary["iterations"])
        if solution.stop_reason != "gap":
            warnings.warn(
                f"the gap is {solution.certificate.gap:.3g} after {self.n_iter_} iterations, tol is {self.tol:g}; raise "
                "max_iter or tol, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _seed(self) -> int:
        if self.random_state is None:
            return 1
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        if _SKLEARN:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        raise ValueError("random_state must be None or a whole number when scikit-learn is not installed")

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            if _SKLEARN:
                check_is_fitted(self, "classes_")
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit first")


class MulticlassClassifier(ClassifierMixin, _Trained):  # type: ignore[misc]
    """Linear multiclass SVM (Crammer-Singer, 0/1 loss): alpha/2 |w|^2 + the mean of the hinge losses.

    alpha          regularisation; 1/n when it is None
    tol            stop when the certified gap of the objective is at most this
    max_iter       passes over the data
    fit_intercept  add a feature that is always 1; its weights are regularised like the others
    """

    def __init__(
        self,
        alpha: Optional[float] = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        solver: str = "mp-bcfw",
        random_state: Any = None,
    ) -> None:
        super().__init__(alpha, tol, max_iter, solver, random_state)
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> "MulticlassClassifier":
        """Trains on X [n, p] and the classes y [n]."""
        if _SKLEARN:
            X, y = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(y)
        else:
            X, y = _matrix(X), np.asarray(y)
            if y.shape != (len(X),):
                raise ValueError(f"y has the shape {y.shape}, expected ({len(X)},): a class for each row of X")
            self.n_features_in_ = X.shape[1]
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"all examples have one class ({self.classes_.tolist()[0]!r}); training needs two or more classes")
        p, count = X.shape[1], len(self.classes_)
        solution = self._solve("libsvm", _libsvm(X, labels, self.fit_intercept))
        # The file ends at the last feature that is not 0 in some example.
        weights = np.zeros((count, p + 1))
        blocks = solution.weights.reshape(count, -1)
        weights[:, : blocks.shape[1]] = blocks
        self.coef_, self.intercept_ = weights[:, :p], weights[:, p]
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of all classes; with two classes, that of the second minus that of the first."""
        self._check_fitted()
        X = validate_data(self, X, dtype=np.float64, reset=False) if _SKLEARN else _matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, fit had {self.n_features_in_}")
        scores: npt.NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        if len(self.classes_) > 2:
            return scores
        difference: npt.NDArray[np.float64] = scores[:, 1] - scores[:, 0]
        return difference

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of the highest score."""
        scores = self.decision_function(X)
        chosen: npt.NDArray[Any] = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return chosen


def _matrix(X: Any) -> npt.NDArray[np.float64]:
    matrix: npt.NDArray[np.float64] = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"X has the shape {matrix.shape}, expected [examples, features]")
    if not np.isfinite(matrix).all():
        raise ValueError("X has a value that is not finite (NaN or infinity)")
    return matrix


def _libsvm(X: npt.NDArray[np.float64], labels: npt.NDArray[Any], bias: bool) -> Iterable[str]:
    last = f" {X.shape[1] + 1}:1" if bias else ""
    for row, label in zip(X, labels):
        entries = (f" {at + 1}:{row[at].item()!r}" for at in np.flatnonzero(row))
        yield f"{label}{''.join(entries)}{last}\n"


def _labels(y: Sequence[npt.ArrayLike], sequences: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Label sequences, as long as the sequences."""
    labels = [np.asarray(one) for one in y]
    if len(labels) != len(sequences):
        raise ValueError(f"{len(sequences)} sequences and {len(labels)} label sequences")
    for number, (one, truth) in enumerate(zip(sequences, labels)):
        if truth.shape != (len(one),):
            raise ValueError(f"y[{number}] has the shape {truth.shape}, expected ({len(one)},): a label per position")
    return labels


_LETTERS, _PIXELS = 26, 128


class ChainClassifier(_Trained):
    """Linear chain: a score per position and label, and one per pair of neighbouring labels; the loss is the share of wrong labels.

    X is a list of sequences, each an array [length, p] of zeros and ones with p <= 128; y is a list of label sequences with
    at most 26 different labels: the chain problem of the program has 26 labels and 128 binary features. Fewer features give
    the same problem. With fewer than 26 labels, the other labels count as alternatives in training and are never predicted.
    Any other input is an error.
    """

    def fit(self, X: Sequence[npt.ArrayLike], y: Sequence[npt.ArrayLike]) -> "ChainClassifier":
        """Trains on sequences X and their labels y."""
        sequences = self._sequences(X)
        labels = _labels(y, sequences)
        self.classes_, numbers = np.unique(np.concatenate(labels), return_inverse=True)
        if len(self.classes_) > _LETTERS:
            raise ValueError(f"{len(self.classes_)} different labels; the chain problem has at most {_LETTERS}")
        self.n_features_in_ = sequences[0].shape[1]
        weights = self._solve("letters", self._lines(sequences, numbers)).weights
        count = len(self.classes_)
        blocks = weights[: _LETTERS * _PIXELS].reshape(_LETTERS, _PIXELS)
        self.coef_ = blocks[:count, : self.n_features_in_]
        self.transitions_ = weights[_LETTERS * _PIXELS :].reshape(_LETTERS, _LETTERS)[:count, :count]
        return self

    def predict(self, X: Sequence[npt.ArrayLike]) -> list[npt.NDArray[Any]]:
        """The labels of the highest score, by dynamic programming."""
        self._check_fitted()
        return [self.classes_[self._best(one)] for one in self._sequences(X, self.n_features_in_)]

    def score(self, X: Sequence[npt.ArrayLike], y: Sequence[npt.ArrayLike]) -> float:
        """Share of all positions whose label is predicted."""
        found = self.predict(X)
        labels = _labels(y, found)
        return float(np.mean(np.concatenate(labels) == np.concatenate(found)))

    def _best(self, one: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        scores = one @ self.coef_.T
        length = len(scores)
        before = np.zeros(scores.shape, dtype=np.int64)
        best = scores[0]
        for at in range(1, length):
            joined = best[:, None] + self.transitions_
            before[at] = joined.argmax(axis=0)
            best = joined.max(axis=0) + scores[at]
        labels = np.zeros(length, dtype=np.int64)
        labels[-1] = best.argmax()
        for at in range(length - 1, 0, -1):
            labels[at - 1] = before[at, labels[at]]
        return labels

    def _sequences(self, X: Sequence[npt.ArrayLike], p: Optional[int] = None) -> list[npt.NDArray[np.float64]]:
        sequences = [np.asarray(one, dtype=np.float64) for one in X]
        if not sequences:
            raise ValueError("X is empty, expected at least one sequence")
        for number, one in enumerate(sequences):
            if one.ndim != 2 or not one.size:
                raise ValueError(f"X[{number}] has the shape {one.shape}, expected [length, features]")
            p = one.shape[1] if p is None else p
            if one.shape[1] != p:
                raise ValueError(f"X[{number}] has {one.shape[1]} features, expected {p}")
            if p > _PIXELS:
                raise ValueError(f"{p} features; the chain problem has at most {_PIXELS}")
            if not np.isin(one, (0.0, 1.0)).all():
                raise ValueError(f"X[{number}] has features other than 0 and 1, which the chain problem does not accept")
        return sequences

    @staticmethod
    def _lines(sequences: list[npt.NDArray[np.float64]], labels: npt.NDArray[Any]) -> Iterable[str]:
        """The layout of letter.data: id, letter, next_id, word_id, position, fold, pixels."""
        number = 0
        for word, one in enumerate(sequences):
            for position, row in enumerate(one):
                following = -1 if position + 1 == len(one) else number + 2
                letter = chr(ord("a") + int(labels[number]))
                pixels = [str(int(value)) for value in row] + ["0"] * (_PIXELS - len(row))
                head = [str(number + 1), letter, str(following), str(word + 1), str(position + 1), "0"]
                yield "\t".join(head + pixels) + "\n"
                number += 1
