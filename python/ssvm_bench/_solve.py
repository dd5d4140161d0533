"""One run of a solver, on an oracle of this process or on a data set of the program."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _program
from .oracle import Answer, Oracle, Vector

Problem = Union[Oracle, str, Callable[[int, Vector], Answer]]

_MISSING = {"dual": -np.inf, "dual_solution": -np.inf, "gap": np.inf}
"""JSON has no infinity: what a solver without a dual has instead of null."""


class OracleWarning(UserWarning):
    """The program noticed something about the oracle."""


@dataclass(frozen=True)
class Certificate:
    """Bounds of the optimum P*: dual <= P* <= primal."""

    primal: float
    dual: float
    gap: float
    oracle_slack: float
    """Part of the gap that may be due to an oracle that is not exact."""
    proven: int
    """Terms whose maximiser is proven."""


@dataclass(frozen=True)
class Solution:
    """What a run leaves behind."""

    weights: Vector
    trace: dict[str, npt.NDArray[Any]]
    """One entry per evaluation; docs/format.md describes the columns."""
    certificate: Certificate
    stop_reason: str
    notes: list[str]
    """What the program noticed about the oracle."""
    summary: dict[str, Any]
    """Totals and latencies, as the program prints them."""

    def __repr__(self) -> str:
        bounds = self.certificate
        return (
            f"Solution(stopped by {self.stop_reason}: primal {bounds.primal:.6g}, dual {bounds.dual:.6g}, "
            f"gap {bounds.gap:.3g}, {self.summary['iterations']} iterations)"
        )


class _Function(Oracle):
    def __init__(self, function: Callable[..., Any], n: Optional[int], d: Optional[int], vectorized: bool) -> None:
        if n is None or d is None:
            raise TypeError("solve(function, n=…, d=…): a function needs the number of terms n and of weights d")
        self.n, self.d, self.function = n, d, function
        if vectorized:
            self.max_oracles = function
            self.function = lambda i, w: _first(function(np.array([i]), w))

    def max_oracle(self, i: int, w: Vector) -> Answer:
        answer: Answer = self.function(i, w)
        return answer


def _first(answers: Any) -> Answer:
    return (answers[0][0], answers[1][0]) if isinstance(answers, tuple) else answers[0]


def _oracle(problem: Problem, n: Optional[int], d: Optional[int], vectorized: bool) -> Oracle:
    if isinstance(problem, type) and issubclass(problem, Oracle):
        raise TypeError(f"{problem.__name__} is a class: pass an object of it, {problem.__name__}(…)")
    if isinstance(problem, Oracle):
        return problem
    if callable(problem):
        return _Function(problem, n, d, vectorized)
    raise TypeError(f"{type(problem).__name__} is no Oracle, function max_oracle(i, w) or name of a data set")


def solve(
    problem: Problem,
    solver: str = "mp-bcfw",
    gap: Optional[float] = 1e-3,
    *,
    n: Optional[int] = None,
    d: Optional[int] = None,
    vectorized: bool = False,
    lambda_: Optional[float] = None,
    iterations: Optional[int] = None,
    time: Optional[float] = None,
    oracle_calls: Optional[int] = None,
    seed: int = 1,
    clock: str = "wall",
    oracle_cost: Union[float, str] = 1,
    evaluate: str = "log",
    limit: float = 60.0,
    **parameters: Any,
) -> Solution:
    """Minimises lambda/2 |w|^2 + sum_i H_i(w), and returns weights, trace and certificate.

    problem is an Oracle, a function max_oracle(i, w) with n= and d= (vectorized=True: it takes an array of terms and
    returns (values [k, d], offsets [k])), or the name of a data set of the program, such as "usps-synth:n=1000" or
    "libsvm:FILE".

    The run stops at the first limit: the certified gap, iterations, time in seconds, oracle calls. A call of the oracle may
    take `limit` seconds. Other keywords are parameters of the solver (`ssvm-bench list solvers` lists them): N=10, passes=3.

    Exceptions of the oracle are raised here, as they are. Ctrl-C ends the run. Equal arguments give equal bits with
    clock="virtual"; on the other clocks some solvers decide by measured times.
    """
    with tempfile.TemporaryDirectory(prefix="ssvm-bench-") as folder:
        weights = os.path.join(folder, "weights.npy")
        after = ["--solver", solver, "--seed", str(seed), "--clock", clock, "--oracle-cost", str(oracle_cost)]
        after += ["--evaluate", evaluate, "--format", "json", "--save-weights", weights]
        limits = {"gap": gap, "iterations": iterations, "time": time, "oracle-calls": oracle_calls, "lambda": lambda_}
        for key, value in limits.items():
            if value is not None:
                after += [f"--{key}", str(value)]
        for key, value in parameters.items():
            if value is not None:
                after += ["--set", f"{key}={value}"]
        before = ["solve", "--dataset"]
        if isinstance(problem, str):
            output = _program.run([*before, problem, *after])
        else:
            oracle = _oracle(problem, n, d, vectorized)
            try:
                output = _program.run_with(oracle, before, after, f",limit={limit!r}", (0,))
            except _program.ProgramError as error:
                hint = "; check_oracle names the mistake" if "gap is negative" in str(error) else ""
                raise _program.ProgramError(f"{error}{hint}") from None
        return _solution(output.out, np.load(weights))


def _solution(text: str, weights: Vector) -> Solution:
    *points, summary = (json.loads(line) for line in text.splitlines())
    numbers = [key for key, value in points[-1].items() if not isinstance(value, str)]
    trace = {key: np.array([_number(point, key) for point in points]) for key in numbers}
    bounds = {key: _number(summary, key) for key in ("primal", "dual", "gap", "oracle_slack", "proven")}
    for note in summary["notes"]:
        warnings.warn(note, OracleWarning, stacklevel=3)
    return Solution(weights, trace, Certificate(**bounds), summary["stop_reason"], summary["notes"], summary)


def _number(values: dict[str, Any], key: str) -> Any:
    value = values[key]
    return _MISSING.get(key, np.nan) if value is None else value


@dataclass(frozen=True)
class OracleReport:
    """What check_oracle found; its text is for people."""

    ok: bool
    findings: list[dict[str, Any]]
    """check, term (None when it is about all) and text."""
    advice: dict[str, str]
    """The mistake behind a failed check."""
    facts: dict[str, Any]
    """Everything that the program printed: sizes, times, the sum of H_i(0), the length of features."""

    def __str__(self) -> str:
        facts = self.facts
        lines = [f"n = {facts['n']}, d = {facts['d']}, sum of H_i(0) = {facts['loss_at_zero']:.6g} (the mean largest loss)"]
        for check in facts["checks"]:
            found = [finding for finding in self.findings if finding["check"] == check["check"]]
            verdict = f"{len(found)} of {check['count']} checks failed" if found else f"fine ({check['count']} checks)"
            lines.append(f"{check['check']}: {verdict}")
            lines += [f"  {self.advice[check['check']]}"] if check["check"] in self.advice else []
            for finding in found[:3]:
                term = "" if finding["term"] is None else f"term {finding['term']}: "
                lines.append(f"  {term}{finding['text']}")
        return "\n".join(lines)


def check_oracle(
    problem: Union[Oracle, Callable[[int, Vector], Answer]],
    *,
    n: Optional[int] = None,
    d: Optional[int] = None,
    vectorized: bool = False,
    terms: int = 50,
    seed: int = 1,
    limit: float = 60.0,
) -> OracleReport:
    """Asks some terms near 0, near the solution and between, and checks the answers. print() the report."""
    oracle = _oracle(problem, n, d, vectorized)
    after = ["--terms", str(terms), "--seed", str(seed), "--format", "json"]
    output = _program.run_with(oracle, _program.ORACLE_TEST, after, f",limit={limit!r}", (0, 2))
    facts = json.loads(output.out)
    advice = {entry["check"]: entry["text"] for entry in facts["advice"]}
    return OracleReport(output.code == 0, facts["findings"], advice, facts)
