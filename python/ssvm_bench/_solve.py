"""One run of a solver, on an oracle of this process or on a data set of the program."""

from __future__ import annotations

import copy
import os
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Literal, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from . import _program
from .oracle import Answer, Answers, Oracle, Vector, one_by_one

Function = Callable[[int, Vector], Answer]
Vectorized = Callable[[npt.NDArray[np.int64], Vector], Answers]
Problem = Union[Oracle, str, Function, Vectorized]

PASSES = 1000
"""Most iterations of a run that only a gap limits."""

_MISSING = {"dual": -np.inf, "dual_solution": -np.inf, "gap": np.inf}
"""Values of a solver without a dual, for which JSON has null because it has no infinity."""


class OracleWarning(UserWarning):
    """The program found something suspicious about the oracle."""


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
    """The result of a run."""

    weights: Vector
    trace: dict[str, npt.NDArray[Any]]
    """One entry per evaluation; docs/format.md describes the columns."""
    certificate: Certificate
    stop_reason: str
    notes: list[str]
    """What the program found suspicious about the oracle."""
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
            self.function = lambda i, w: one_by_one(function(np.array([i]), w), 1)[0]

    def max_oracle(self, i: int, w: Vector) -> Answer:
        answer: Answer = self.function(i, w)
        return answer


def _oracle(problem: Problem, n: Optional[int], d: Optional[int], vectorized: bool) -> Oracle:
    if isinstance(problem, type) and issubclass(problem, Oracle):
        raise TypeError(f"{problem.__name__} is a class: pass an instance, {problem.__name__}(…)")
    if isinstance(problem, Oracle):
        _refuse_sizes(type(problem).__name__, n, d, vectorized)
        return problem
    if callable(problem):
        # Messages name the class of an oracle.
        name = getattr(problem, "__name__", type(problem).__name__)
        oracle: Oracle = type(name, (_Function,), {})(problem, n, d, vectorized)
        return oracle
    raise TypeError(f"{type(problem).__name__} is not an Oracle, a function max_oracle(i, w) or the name of a data set")


def _refuse_sizes(name: str, n: Optional[int], d: Optional[int], vectorized: bool) -> None:
    if n is not None or d is not None or vectorized:
        raise TypeError(f"n, d and vectorized belong to a function; {name} states its own sizes")


def _word(value: Any) -> str:
    """A value as the command line reads it. NumPy's numbers print themselves as np.float64(0.1)."""
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _options(limit: float) -> str:
    if not 1e-3 <= limit <= 1e6:
        raise ValueError(f"limit={limit!r}, expected seconds from 0.001 to 1000000")
    return f",limit={_word(limit)}"


@overload
def solve(
    problem: Union[Oracle, str, Function],
    solver: str = ...,
    gap: Optional[float] = ...,
    *,
    n: Optional[int] = ...,
    d: Optional[int] = ...,
    vectorized: Literal[False] = ...,
    lambda_: Optional[float] = ...,
    iterations: Optional[int] = ...,
    time: Optional[float] = ...,
    oracle_calls: Optional[int] = ...,
    seed: int = ...,
    clock: str = ...,
    oracle_cost: Union[float, str] = ...,
    evaluate: str = ...,
    limit: float = ...,
    **parameters: Any,
) -> Solution: ...


@overload
def solve(
    problem: Vectorized,
    solver: str = ...,
    gap: Optional[float] = ...,
    *,
    n: int,
    d: int,
    vectorized: Literal[True],
    lambda_: Optional[float] = ...,
    iterations: Optional[int] = ...,
    time: Optional[float] = ...,
    oracle_calls: Optional[int] = ...,
    seed: int = ...,
    clock: str = ...,
    oracle_cost: Union[float, str] = ...,
    evaluate: str = ...,
    limit: float = ...,
    **parameters: Any,
) -> Solution: ...


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

    The run stops at the first limit that is reached: certified gap, iterations, time in seconds or oracle calls. Where only gap
    limits it, it also stops after 1000 iterations, with a warning. A call of the oracle may take `limit` seconds, one for several
    terms that long for each. Other keywords are parameters of the solver (`ssvm-bench list solvers` lists them): N=10, passes=3.

    Exceptions of the oracle are raised unchanged. Ctrl-C ends the run. Equal arguments give equal bits with
    clock="virtual"; on the other clocks some solvers decide by measured times.
    """
    only_gap = gap is not None and iterations is None and time is None and oracle_calls is None
    if only_gap:
        iterations = PASSES
    with _program.folder() as folder:
        weights = os.path.join(folder, "weights.npy")
        options = {"solver": solver, "seed": seed, "clock": clock, "oracle_cost": oracle_cost, "evaluate": evaluate}
        options.update({"gap": gap, "iterations": iterations, "time": time, "oracle_calls": oracle_calls, "lambda": lambda_})
        # With "=" a value may begin with a minus.
        after = ["--format=json", f"--save-weights={weights}"]
        for name, value in options.items():
            after += [] if value is None else [f"--{name.replace('_', '-')}={_word(value)}"]
        for name, value in parameters.items():
            after += [] if value is None else [f"--set={name}={_word(value)}"]
        before = ["solve", "--dataset"]
        if isinstance(problem, str):
            _refuse_sizes(repr(problem), n, d, vectorized)
            output = _program.run(["solve", f"--dataset={problem}", *after])
            name = problem
        else:
            oracle = _oracle(problem, n, d, vectorized)
            name = type(oracle).__name__
            output = _program.run_with(oracle, before, after, _options(limit), (0,))
        lines = _program.results(output.out)
        solution = _solution(lines, np.load(weights), name)
    if only_gap and solution.stop_reason == "iterations":
        reached = f"the gap is {solution.certificate.gap:.3g} after {PASSES} iterations"
        warnings.warn(f"{reached}; give iterations=, time= or oracle_calls= for a longer run", RuntimeWarning, stacklevel=2)
    return solution


def _solution(lines: list[dict[str, Any]], weights: Vector, name: str) -> Solution:
    *points, summary = lines
    summary["dataset"] = name
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
    """The report of check_oracle; print it to read it."""

    ok: bool
    findings: list[dict[str, Any]]
    """check, term (None for a finding about all terms) and text."""
    advice: dict[str, str]
    """The likely mistake behind a failed check."""
    facts: dict[str, Any]
    """Everything that the program printed: sizes, times, the sum of H_i(0), the length of features."""

    def __str__(self) -> str:
        facts = self.facts
        lines = [f"n = {facts['n']}, d = {facts['d']}, sum of H_i(0) = {facts['loss_at_zero']:.6g} (the mean largest loss)"]
        lines += [f"remark: {remark}" for remark in facts["remarks"]]
        for check in facts["checks"]:
            found = [finding for finding in self.findings if finding["check"] == check["check"]]
            verdict = f"{len(found)} of {check['count']} checks failed" if found else f"fine ({check['count']} checks)"
            lines.append(f"{check['check']}: {verdict}")
            lines += [f"  {self.advice[check['check']]}"] if check["check"] in self.advice else []
            for finding in found[:3]:
                term = "" if finding["term"] is None else f"term {finding['term']}: "
                lines.append(f"  {term}{finding['text']}")
        return "\n".join(lines)


@overload
def check_oracle(
    problem: Union[Oracle, Function],
    *,
    n: Optional[int] = ...,
    d: Optional[int] = ...,
    vectorized: Literal[False] = ...,
    lambda_: Optional[float] = ...,
    terms: int = ...,
    seed: int = ...,
    limit: float = ...,
) -> OracleReport: ...


@overload
def check_oracle(
    problem: Vectorized,
    *,
    n: int,
    d: int,
    vectorized: Literal[True],
    lambda_: Optional[float] = ...,
    terms: int = ...,
    seed: int = ...,
    limit: float = ...,
) -> OracleReport: ...


def check_oracle(
    problem: Union[Oracle, Function, Vectorized],
    *,
    n: Optional[int] = None,
    d: Optional[int] = None,
    vectorized: bool = False,
    lambda_: Optional[float] = None,
    terms: int = 50,
    seed: int = 1,
    limit: float = 60.0,
) -> OracleReport:
    """Calls the oracle for some terms near 0, near the solution and between, and checks the answers. print() the report."""
    oracle = _oracle(problem, n, d, vectorized)
    if lambda_ is not None:
        # `data test` has no option for lambda, which determines the solution near which the oracle is called.
        oracle = copy.copy(oracle)
        oracle.lambda_ = lambda_
    after = [f"--terms={terms}", f"--seed={seed}", "--format=json"]
    output = _program.run_with(oracle, _program.ORACLE_TEST, after, _options(limit), (0, 2))
    (facts,) = _program.results(output.out)
    advice = {entry["check"]: entry["text"] for entry in facts["advice"]}
    return OracleReport(output.code == 0, facts["findings"], advice, facts)
