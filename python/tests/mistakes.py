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
