"""Estimators: scikit-learn's own checks, the objective of the program, and what the chain refuses."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import ssvm_bench
from ssvm_bench import ChainClassifier, MulticlassClassifier


def test_scikit_learn_accepts_the_multiclass_estimator():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for result in checks.check_estimator(MulticlassClassifier(tol=1e-2), on_fail=None):
            assert result["status"] in ("passed", "skipped"), (result["check_name"], result["exception"])


def blobs(n=90, labels=3, p=5):
    random = np.random.default_rng(3)
    y = random.integers(0, labels, n)
    return random.normal(size=(labels, p))[y] * 2 + random.normal(size=(n, p)), np.array(["red", "green", "blue"])[y]


def test_the_weights_minimise_the_objective():
    X, y = blobs()
    model = MulticlassClassifier(alpha=0.05, tol=1e-6).fit(X, y)
    assert model.score(X, y) > 0.9 and list(model.classes_) == ["blue", "green", "red"]
    scores = X @ model.coef_.T + model.intercept_
    own = np.searchsorted(model.classes_, y)
    margin = scores + 1.0
    margin[np.arange(len(y)), own] -= 1.0
    hinge = (margin.max(axis=1) - scores[np.arange(len(y)), own]).mean()
    weights = np.hstack([model.coef_, model.intercept_[:, None]])
    primal = 0.025 * (weights**2).sum() + hinge
    assert primal == pytest.approx(model.solution_.certificate.primal, rel=1e-12)
    assert model.solution_.certificate.gap <= 1e-6


def test_features_that_are_zero_at_the_end_keep_their_weights():
    X, y = blobs()
    X = np.hstack([X, np.zeros((len(X), 2))])
    model = MulticlassClassifier(fit_intercept=False).fit(X, y)
    assert model.coef_.shape == (3, 7) and (model.coef_[:, 5:] == 0).all() and (model.intercept_ == 0).all()


def test_equal_settings_give_equal_weights():
    X, y = blobs()
    one, two = (MulticlassClassifier(random_state=4).fit(X, y) for _ in range(2))
    assert one.coef_.tobytes() == two.coef_.tobytes()


def test_a_gap_that_is_not_reached_is_a_warning():
    X, y = blobs()
    with pytest.warns(UserWarning, match="the gap is .* after 1 iterations"):
        MulticlassClassifier(tol=1e-9, max_iter=1).fit(X, y)


def words(count=60, labels=6, p=20, seed=2):
    """Chains whose labels mostly count upwards; a position shows its label in three pixels, with noise."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        length = int(random.integers(2, 7))
        truth = (random.integers(labels) + np.arange(length)) % labels
        pixels = (random.random((length, p)) < 0.2).astype(float)
        for at in range(3):
            pixels[np.arange(length), 3 * truth + at] = random.random(length) < 0.6
        X.append(pixels)
        y.append(np.array(list("uvwxyz"))[truth])
    return X, y


def test_a_chain_learns_its_transitions():
    X, y = words()
    model = ChainClassifier(alpha=0.02, tol=1e-3).fit(X[:40], y[:40])
    alone = np.mean(
        [
            label == truth
            for one, own in zip(X[40:], y[40:])
            for label, truth in zip(model.classes_[(one @ model.coef_.T).argmax(axis=1)], own)
        ]
    )
    assert model.score(X[40:], y[40:]) > alone + 0.1
    assert model.coef_.shape == (6, 20) and model.transitions_.shape == (6, 6)
    assert model.transitions_[0, 1] > model.transitions_[0, 3]


def test_the_prediction_of_a_chain_is_the_best_of_all():
    import itertools

    X, y = words(count=30)
    model = ChainClassifier(tol=1e-2).fit(X, y)
    one = next(x for x in X if len(x) == 4)

    def score(labels):
        unary = sum(one[at] @ model.coef_[label] for at, label in enumerate(labels))
        return unary + sum(model.transitions_[a, b] for a, b in zip(labels, labels[1:]))

    best = max(itertools.product(range(6), repeat=4), key=score)
    assert list(model.predict([one])[0]) == list(model.classes_[list(best)])


def test_the_primal_of_a_chain_is_that_of_its_weights():
    """The layout of the weights is read as docs/format.md describes it."""
    X, y = words(count=12, p=20)
    model = ChainClassifier(alpha=0.5, tol=1e-3).fit(X, y)
    weights = model.solution_.weights
    unary = weights[: 26 * 128].reshape(26, 128)[:, :20]
    pairs = weights[26 * 128 :].reshape(26, 26)
    total = 0.0
    for one, own in zip(X, y):
        truth = np.searchsorted(model.classes_, own)
        scores = one @ unary.T
        right = scores[np.arange(len(truth)), truth].sum() + pairs[truth[:-1], truth[1:]].sum()
        scores = scores + 1.0 / len(truth)
        scores[np.arange(len(truth)), truth] -= 1.0 / len(truth)
        best = scores[0]
        for at in range(1, len(truth)):
            best = (best[:, None] + pairs).max(axis=0) + scores[at]
        total += best.max() - right
    primal = 0.25 * weights @ weights + total / len(X)
    assert primal == pytest.approx(model.solution_.certificate.primal, rel=1e-10)


@pytest.mark.parametrize(
    "X, y, words",
    [
        ([np.zeros((2, 129))], [[0, 1]], "129 features; the chain problem has at most 128"),
        ([np.full((2, 3), 0.5)], [[0, 1]], "features other than 0 and 1"),
        ([np.zeros((2, 3))], [[0, 1, 2]], "a label per position"),
        ([np.zeros((27, 3))], [list(range(27))], "27 different labels; the chain problem has at most 26"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], [[0, 1], [0, 1]], r"X\[1\] has 4 features, expected 3"),
        ([], [], "X is empty"),
    ],
)
def test_a_chain_refuses_what_the_program_has_no_problem_for(X, y, words):
    with pytest.raises(ValueError, match=words):
        ChainClassifier().fit(X, y)


def test_an_estimator_that_is_not_fitted_is_named():
    with pytest.raises(ValueError, match="not fitted"):
        MulticlassClassifier().predict(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="not fitted"):
        ChainClassifier().predict([np.zeros((1, 2))])


WITHOUT = """
import sys
sys.modules["sklearn"] = None
import numpy as np
from ssvm_bench import MulticlassClassifier
X = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 1.0], [1.0, 0.1]])
model = MulticlassClassifier().set_params(tol=1e-4)
print(model.get_params()["tol"], model.fit(X, [0, 1, 0, 1]).score(X, [0, 1, 0, 1]))
for wrong in (X[:, 0], np.full((2, 2), np.nan), X[:, :1]):
    try:
        model.predict(wrong)
    except ValueError as error:
        print(error)
"""


def test_estimators_work_without_scikit_learn():
    out = subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True).stdout.splitlines()
    assert out[0] == "0.0001 1.0" and len(out) == 4, out
    assert ssvm_bench.__version__


def test_settings_may_be_numbers_of_numpy_and_wrong_ones_are_named():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    plain = ssvm_bench.MulticlassClassifier(alpha=0.1, tol=0.01).fit(X, y)
    numbers = ssvm_bench.MulticlassClassifier(alpha=np.float64(0.1), tol=np.float64(0.01), max_iter=np.int64(1000)).fit(X, y)
    assert (plain.coef_ == numbers.coef_).all()
    for name in ("alpha", "tol", "max_iter"):
        with pytest.raises(ValueError, match=f"{name}=0, expected a number above 0"):
            ssvm_bench.MulticlassClassifier(**{name: 0}).fit(X, y)
    with pytest.raises(ValueError, match="one class .'a'."):
        ssvm_bench.MulticlassClassifier().fit(X, np.full(30, "a"))


def test_a_chain_is_not_scored_against_labels_of_another_length():
    X, y = [[[1, 0], [0, 1]], [[0, 1]]], [["x", "y"], ["y"]]
    chains = ssvm_bench.ChainClassifier(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="2 sequences and 1 label sequences"):
        chains.score(X, y[:1])
    with pytest.raises(ValueError, match="a label per position"):
        chains.score(X, [["x"], ["y"]])
