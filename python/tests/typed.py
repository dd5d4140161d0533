"""Calls that a type checker accepts, and three that it refuses."""

import numpy as np
import numpy.typing as npt

import ssvm_bench
from ssvm_bench import Plane

Floats = npt.NDArray[np.float64]


def one(i: int, w: Floats) -> tuple[Floats, float]:
    return np.zeros(2), 0.1


def sparse(i: int, w: Floats) -> Plane:
    return Plane([1.0], 0.1, coordinates=[0])


def many(terms: npt.NDArray[np.int64], w: Floats) -> tuple[Floats, Floats]:
    return np.zeros((len(terms), 2)), np.full(len(terms), 0.1)


def listed(terms: npt.NDArray[np.int64], w: Floats) -> list[Plane]:
    return [Plane([0.0, 1.0], 0.1) for _ in terms]


gap: float = ssvm_bench.solve(one, n=3, d=2).certificate.gap
ssvm_bench.solve(sparse, "fw", n=3, d=2, iterations=3, N=10)
ssvm_bench.solve(many, n=3, d=2, vectorized=True)
ssvm_bench.solve(listed, "fw", 1e-2, n=3, d=2, vectorized=True)
ssvm_bench.solve("usps-synth:n=20")
ok: bool = ssvm_bench.check_oracle(many, n=3, d=2, vectorized=True).ok
ssvm_bench.check_oracle(one, n=3, d=2)
ssvm_bench.solve(many, n=3, d=2)  # type: ignore
ssvm_bench.solve(one, n=3, d=2, vectorized=True)  # type: ignore
ssvm_bench.solve(many, d=2, vectorized=True)  # type: ignore
