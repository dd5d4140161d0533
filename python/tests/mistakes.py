"""A multiclass oracle, and the mistakes that a user makes in one. `python mistakes.py NAME` serves one of them."""

import sys

import numpy as np

from ssvm_bench import Oracle, Plane


class Right(Oracle):
    """Crammer-Singer, 0/1 loss."""

    def __init__(self, n=60, features=16, labels=8):
        random = np.random.default_rng(7)
        self.n, self.p, self.labels = n, features, labels
        self.d = labels * features
        self.y = random.integers(0, labels, n)
        centres = random.uniform(size=(labels, features))
        self.x = np.abs(centres[self.y] + 0.4 * random.normal(size=(n, features)))

    def scores(self, i, w):
        scores = w.reshape(self.labels, self.p) @ self.x[i] + 1.0
        scores[self.y[i]] -= 1.0
        return scores

    def best(self, i, w):
        return int(np.argmax(self.scores(i, w)))

    def plane(self, i, label):
        values = np.zeros((self.labels, self.p))
        values[label] += self.x[i]
        values[self.y[i]] -= self.x[i]
        return Plane(values.ravel() / self.n, float(label != self.y[i]) / self.n, key=label)

    def max_oracle(self, i, w):
        return self.plane(i, self.best(i, w))


class FeaturesWithWrongSign(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(-right.values, right.offset, key=label)


class LossWithWrongSign(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values, -right.offset, key=label)


class LossSubtracted(Right):
    """Minimises the loss together with the score: the truth is best at w = 0."""

    def scores(self, i, w):
        scores = w.reshape(self.labels, self.p) @ self.x[i] - 1.0
        scores[self.y[i]] += 1.0
        return scores


class RemembersTheFirstAnswer(Right):
    def max_oracle(self, i, w):
        known = self.__dict__.setdefault("known", {})
        return known.setdefault(i, super().max_oracle(i, w))


class NoLossInTheScores(Right):
    def scores(self, i, w):
        return w.reshape(self.labels, self.p) @ self.x[i]


class NoDivisionAtAll(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values * self.n, right.offset * self.n, key=label)


class NoDivisionOfTheLoss(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values, right.offset * self.n, key=label)


class NoDivisionOfTheFeatures(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values * self.n, right.offset, key=label)


class WrongIndex(Right):
    """The plane of the example before."""

    def max_oracle(self, i, w):
        return self.plane(i - 1, self.best(i, w))


class NoIndex(Right):
    def max_oracle(self, i, w):
        return super().max_oracle(3, w)


class CountsFromOne(Right):
    def max_oracle(self, i, w):
        return super().max_oracle(i + 1, w)


class OneKeyForAll(Right):
    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values, right.offset, key=f"term{i}")


class NoiseOnScores(Right):
    random = np.random.default_rng(1)

    def scores(self, i, w):
        return super().scores(i, w) + 0.05 * self.random.normal(size=self.labels)


class RandomAnswers(Right):
    random = np.random.default_rng(1)

    def best(self, i, w):
        return int(self.random.integers(self.labels)) if self.random.random() < 0.3 else super().best(i, w)


class TruthNotSubtracted(Right):
    def plane(self, i, label):
        values = np.zeros((self.labels, self.p))
        values[label] += self.x[i]
        return Plane(values.ravel() / self.n, float(label != self.y[i]) / self.n, key=label)


class Centred(Right):
    """Features of either sign: some label has a score above 0 at nearly every w, so that little is negative."""

    def __init__(self):
        super().__init__(labels=10)
        self.x = self.x - self.x.mean(axis=0)


class CentredTruthNotSubtracted(Centred, TruthNotSubtracted):
    pass


class CentredTinyLoss(Centred):
    """Losses of 0.3: nothing is a whole number without 1/n."""

    def scores(self, i, w):
        return super().scores(i, w) - 0.7 * (np.arange(self.labels) != self.y[i])

    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values, 0.3 * right.offset, key=label)


class SmallFeaturesNoDivisionOfTheLoss(NoDivisionOfTheLoss):
    """The truth is never the maximiser, so that the loss of all answers is the same."""

    def __init__(self):
        super().__init__()
        self.x = self.x * 0.05


class Counts(Oracle):
    """A right oracle whose loss counts wrong positions, of which each example has as many as there are examples."""

    n, d = 10, 8
    x = np.random.default_rng(5).normal(size=(10, 10, 8))
    y = np.random.default_rng(6).choice([-1.0, 1.0], size=(10, 10))

    def max_oracle(self, i, w):
        other = 1.0 - 2.0 * self.y[i] * (self.x[i] @ w) > 0
        wrong = np.where(other, -2.0 * self.y[i], 0.0)
        return Plane(wrong @ self.x[i] / self.n, other.sum() / self.n)


class Blocks(Counts):
    """The same with parts of 25: every loss is a multiple of that, and at w = 0 of the number of examples."""

    def max_oracle(self, i, w):
        other = 25.0 - 2.0 * self.y[i] * (self.x[i] @ w) > 0
        wrong = np.where(other, -2.0 * self.y[i], 0.0)
        return Plane(wrong @ self.x[i] / self.n, 25.0 * other.sum() / self.n)


class Margin(Oracle):
    """A right binary SVM on four points: far out every answer is the truth."""

    n, d = 4, 2
    x = np.array([[2.0, 1.0], [0.0, 1.0], [-1.0, 2.0], [1.0, -2.0]])
    y = np.array([1, -1, -1, 1])

    def max_oracle(self, i, w):
        return Plane(-self.y[i] * self.x[i] / 4, 0.25) if self.y[i] * (self.x[i] @ w) < 1 else Plane(np.zeros(2), 0.0)


class VoidParts(Oracle):
    """A right oracle whose loss does not count one of two parts: labellings without loss are not only the truth."""

    n, d = 40, 12
    x = np.random.default_rng(3).normal(size=(40, 2, 6))
    y = np.random.default_rng(4).choice([-1.0, 1.0], size=(40, 2))

    def max_oracle(self, i, w):
        scores = self.x[i] @ w.reshape(2, 6).T
        scores = np.array([scores[0, 0], scores[1, 1]])
        counts = np.array([1.0, 0.0])
        other = -self.y[i] * scores * 2 + counts > 0
        wrong = np.where(other, -2.0 * self.y[i], 0.0)
        return Plane((wrong[:, None] * self.x[i]).ravel() / self.n, (counts * other).sum() / self.n)


class YesNo(Oracle):
    """Right: labels 0 and 1, and phi(x, y) = y x."""

    n, d = 60, 10
    x = np.random.default_rng(0).normal(size=(60, 10))
    y = (x @ np.random.default_rng(1).normal(size=10) + np.random.default_rng(2).normal(size=60) > 0).astype(int)

    def features(self, i, label):
        return (label - self.y[i]) * self.x[i]

    def max_oracle(self, i, w):
        label = int(np.argmax([label * (self.x[i] @ w) + (label != self.y[i]) for label in (0, 1)]))
        return Plane(self.features(i, label) / self.n, float(label != self.y[i]) / self.n, key=label)


class YesNoTruthNotSubtracted(YesNo):
    """Terms whose truth is 0 rightly return the plane 0."""

    def features(self, i, label):
        return label * self.x[i]


class Sets(Oracle):
    """Right: sets of five labels with 1 - F1 as their loss."""

    n, d = 35, 30
    x = np.random.default_rng(3).normal(size=(35, 6))
    sets = np.array([[k >> bit & 1 for bit in range(5)] for k in range(32)])
    truth_set = (x @ np.random.default_rng(4).normal(size=(6, 5)) > 0).astype(int) @ (1 << np.arange(5))

    def __init__(self):
        sizes = self.sets.sum(axis=1)
        both = np.maximum(sizes[:, None] + sizes, 1)
        self.loss = np.where(sizes[:, None] + sizes == 0, 0.0, 1.0 - 2.0 * (self.sets @ self.sets.T) / both)

    def features(self, i, label):
        return np.outer(self.sets[label] - self.sets[self.truth_set[i]], self.x[i]).ravel()

    def max_oracle(self, i, w):
        loss = self.loss[self.truth_set[i]]
        label = int(np.argmax(self.sets @ (w.reshape(5, 6) @ self.x[i]) + loss))
        return Plane(self.features(i, label) / self.n, loss[label] / self.n, key=label)


class SetsTruthNotSubtracted(Sets):
    def features(self, i, label):
        return np.outer(self.sets[label], self.x[i]).ravel()


class NextTruthSubtracted(Right):
    """phi(x_i, y) - phi(x_i, y_{i+1}): right where the next label is the same."""

    def plane(self, i, label):
        values = np.zeros((self.labels, self.p))
        values[label] += self.x[i]
        values[self.y[(i + 1) % self.n]] -= self.x[i]
        return Plane(values.ravel() / self.n, float(label != self.y[i]) / self.n, key=label)


class Tolerant(Oracle):
    """Right: ordinal labels 1 to 5 on one line, and no loss beside the truth: in the middle, the truth is never the highest."""

    n, d = 40, 3
    x = np.random.default_rng(8).normal(size=(40, 3))
    y = np.random.default_rng(9).integers(1, 6, 40)

    def max_oracle(self, i, w):
        labels = np.arange(1, 6)
        loss = (abs(labels - self.y[i]) > 1).astype(float)
        label = int(np.argmax(labels * (self.x[i] @ w) + loss))
        return Plane((labels[label] - self.y[i]) * self.x[i] / self.n, loss[label] / self.n, key=label)


class LossOfN(Right):
    """Right: every mistake has the loss n."""

    size = 60.0

    def scores(self, i, w):
        return super().scores(i, w) + (self.size - 1.0) * (np.arange(self.labels) != self.y[i])

    def plane(self, i, label):
        right = super().plane(i, label)
        return Plane(right.values, self.size * right.offset, key=label)


class Percent(LossOfN):
    """Right: every mistake has the loss 100, of 20 examples."""

    size = 100.0

    def __init__(self):
        super().__init__(n=20)


class WholeNoDivisionAtAll(NoDivisionAtAll):
    """Features that are counts."""

    def __init__(self):
        super().__init__()
        self.x = np.round(4.0 * self.x)


class SearchesAPart(Right):
    """Says that it is not exact, and often misses the truth."""

    exact = False

    def best(self, i, w):
        return 3 * int(np.argmax(self.scores(i, w)[::3]))


class Prints(Right):
    def max_oracle(self, i, w):
        print("term", i)
        return super().max_oracle(i, w)


class Raises(Right):
    def max_oracle(self, i, w):
        return super().max_oracle(i, w) if i != 5 else {}["missing"]


class WrongShape(Right):
    def plane(self, i, label):
        return Plane(np.zeros(self.d - 1), 0.0)


class NotAPlane(Right):
    def max_oracle(self, i, w):
        return self.best(i, w)


class NotFinite(Right):
    def plane(self, i, label):
        return Plane(np.full(self.d, np.nan), 0.0)


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()
