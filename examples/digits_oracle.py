"""scikit-learn's digits as a multiclass problem (Crammer-Singer, 0/1 loss), its oracle in Python.

    ssvm-bench data test 'oracle:python3 examples/digits_oracle.py'
    ssvm-bench solve --dataset 'oracle:python3 examples/digits_oracle.py' --solver mp-bcfw --iterations 20

With --libsvm FILE it writes the same data as a LIBSVM file, for `--dataset libsvm:FILE`, and ends.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from ssvm_bench import Oracle, Plane


class Digits(Oracle):
    version = "digits of scikit-learn, pixels over 16"

    def __init__(self):
        digits = load_digits()
        self.x = digits.data / 16.0
        self.y = digits.target
        self.labels = 10
        self.n, self.pixels = self.x.shape
        self.d = self.labels * self.pixels

    def max_oracle(self, i, w):
        x, truth = self.x[i], self.y[i]
        scores = w.reshape(self.labels, self.pixels) @ x + 1.0
        scores[truth] -= 1.0
        best = int(np.argmax(scores))
        if best == truth:
            return Plane([], 0.0, coordinates=[], key=best)
        p = self.pixels
        first, second = min(best, truth), max(best, truth)
        sign = 1.0 if first == best else -1.0
        coordinates = np.concatenate([np.arange(first * p, (first + 1) * p), np.arange(second * p, (second + 1) * p)])
        values = np.concatenate([sign * x, -sign * x]) / self.n
        return Plane(values, 1.0 / self.n, coordinates=coordinates, key=best, operations=self.d)

    def write_libsvm(self, path):
        with open(path, "w") as file:
            for x, y in zip(self.x, self.y):
                file.write(f"{y} " + " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(x.tolist()) if v != 0) + "\n")


if __name__ == "__main__":
    oracle = Digits()
    if len(sys.argv) == 3 and sys.argv[1] == "--libsvm":
        oracle.write_libsvm(sys.argv[2])
    else:
        oracle.serve()
