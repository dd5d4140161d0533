"""A result folder as data frames: the tables of `ssvm-bench figures --tables` and `show RESULTS claims`, and the latencies of every run."""

from __future__ import annotations

import base64
import csv
import functools
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _program

Columns = dict[str, npt.NDArray[Any]]
Path = Union[str, "os.PathLike[str]"]

_TEXT = frozenset("run_id dataset solver label clock status reason host host_class build axis quantity measure kind".split())
_COUNTS = frozenset(
    "repeat repeats seed evaluations iterations iteration oracle_calls proven terms jobs approx_passes cached_bytes".split()
)


@dataclass(frozen=True)
class Results:
    """Frames of the requested kind; with kind="numpy", dictionaries of columns."""

    runs: Any
    """A row per run, including failed ones."""
    points: Any
    """A row per evaluation."""
    bands: Any
    """Minimum, median and maximum of the repeats on a common grid, by axis and quantity."""
    bounds: Any
    """The best dual and primal of each data set."""
    claims: Any
    """The paper's claims with their verdicts."""
    histograms: dict[str, dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]]
    """By run_id: oracle_ns and approx_ns as (latencies in ns, counts)."""
    folder: str


def load(folder: Path, kind: Optional[str] = None) -> Results:
    """Reads a result folder. kind is "pandas", "polars" or "numpy"; by default the first of them that is installed."""
    folder = os.fspath(folder)
    make = _maker(kind)
    with _program.folder() as tables:
        _program.run(["figures", folder, f"--tables={tables}", "--no-figures"])
        frames = {}
        for name in ("runs", "points", "bands", "bounds"):
            with open(os.path.join(tables, f"{name}.csv"), newline="", encoding="utf-8") as file:
                frames[name] = make(_columns(file.read()))
    claims = _program.run(["show", folder, "claims", "--format", "csv"]).out
    return Results(**frames, claims=make(_columns(claims, text_only=True)), histograms=_histograms(folder), folder=folder)


def _maker(kind: Optional[str]) -> Any:
    """Columns → a frame."""
    kinds = ["pandas", "polars", "numpy"]
    if kind is not None and kind not in kinds:
        raise ValueError(f"kind={kind!r}, expected one of {', '.join(kinds)}")
    for name in kinds if kind is None else [kind]:
        if name == "numpy":
            break
        try:
            # A value that is missing is null, as in the Parquet tables: a median of polars would take NaN for the largest number.
            frame = __import__(name).DataFrame
            return functools.partial(frame, nan_to_null=True) if name == "polars" else frame
        except ImportError:
            if kind is not None:
                raise
    return dict


def _columns(text: str, text_only: bool = False) -> Columns:
    head, *rows = csv.reader(io.StringIO(text))
    columns: list[Sequence[str]] = list(zip(*rows)) if rows else [()] * len(head)
    return {name: _column(name, values, text_only) for name, values in zip(head, columns)}


def _column(name: str, values: Sequence[str], text: bool) -> npt.NDArray[Any]:
    if text or name in _TEXT:
        return np.array(values, dtype=object)
    try:
        if name in _COUNTS:
            # Signed, so that a difference of counts may be negative. A seed may have 64 bits.
            return np.array([int(value) for value in values], dtype=np.uint64 if name == "seed" else np.int64)
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return np.array(values, dtype=object)


def _histograms(folder: str) -> dict[str, dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]]:
    runs = os.path.join(folder, "runs")
    names = sorted(os.listdir(runs)) if os.path.isdir(runs) else []
    found = {}
    for name in names:
        if name.endswith(".parquet"):
            with open(os.path.join(runs, name), "rb") as file:
                data = file.read()
            keys = ("oracle_ns", "approx_ns")
            found[name[: -len(".parquet")]] = {key: decode_histogram(_metadata(data, f"ssvm.{key}", name)) for key in keys}
    return found


def _metadata(data: bytes, key: str, name: str) -> bytes:
    """The base64 value of a key in the footer of a Parquet file: behind the key as field 2 (0x18), with its length."""
    mark = key.encode() + b"\x18"
    at = data.rfind(mark)
    if at < 0:
        raise ValueError(f"{name} has no '{key}': it is not a run file of ssvm-bench")
    length, at = _varint(data, at + len(mark))
    return base64.b64decode(data[at : at + length])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where it ends. Nine bytes at most, of which the ninth has eight bits."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        if shift == 56:
            return value | byte << shift, at
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def decode_histogram(data: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """An HdrHistogram in its V2 form → (the lowest value of each bucket that was hit, its count)."""
    empty = np.zeros(0, dtype=np.int64)
    if not data:
        return empty, empty
    if data[:3] != b"\x1c\x84\x93":
        raise ValueError("this is not an HdrHistogram in V2 format")
    length = int.from_bytes(data[4:8], "big")
    digits = int.from_bytes(data[12:16], "big")
    unit = max(int.from_bytes(data[16:24], "big"), 1).bit_length() - 1
    half = (2 * 10**digits - 1).bit_length() - 1
    values, counts, index, at = [], [], 0, 40
    while at < 40 + length:
        coded, at = _varint(data, at)
        count = coded >> 1 if coded % 2 == 0 else -(coded >> 1) - 1
        if count < 0:
            # That many buckets are empty.
            index -= count
            continue
        if count > 0:
            bucket = max((index >> half) - 1, 0)
            slot = index - (bucket << half)
            values.append(slot << (bucket + unit))
            counts.append(count)
        index += 1
    return np.array(values, dtype=np.int64), np.array(counts, dtype=np.int64)


def plot(
    results: Results,
    axis: str = "iteration",
    quantities: Sequence[str] = ("primal_suboptimality", "dual_suboptimality", "gap"),
    datasets: Optional[Sequence[str]] = None,
    solvers: Optional[Sequence[str]] = None,
) -> Any:
    """The convergence figure: a row per data set, a column per quantity, medians and the range of repeats.

    Returns a matplotlib figure. axis is a value of the column `axis` of results.bands, quantities are values of `quantity`.
    """
    import matplotlib.pyplot as plt

    names = results.bands if isinstance(results.bands, dict) else results.bands.columns
    bands = {name: np.asarray(results.bands[name]) for name in names}
    for name, asked in (("axis", [axis]), ("quantity", quantities), ("dataset", datasets), ("label", solvers)):
        known = list(dict.fromkeys(bands[name]))
        for word in asked or ():
            if word not in known:
                raise ValueError(f"unknown {name} {word!r}; known: {', '.join(known)}")
    rows = list(datasets or dict.fromkeys(bands["dataset"]))
    labels = list(solvers or dict.fromkeys(bands["label"]))
    figure, grid = plt.subplots(
        len(rows), len(quantities), squeeze=False, figsize=(4.2 * len(quantities), 3.0 * len(rows)), layout="constrained"
    )
    for row, dataset in enumerate(rows):
        for column, quantity in enumerate(quantities):
            axes = grid[row][column]
            for number, label in enumerate(labels):
                chosen = (bands["dataset"] == dataset) & (bands["label"] == label)
                chosen &= (bands["axis"] == axis) & (bands["quantity"] == quantity)
                x, low, middle, high = (bands[name][chosen] for name in ("x", "min", "median", "max"))
                if len(x):
                    (line,) = axes.plot(x, middle, label=label, color=f"C{number % 10}")
                    axes.fill_between(x, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
            axes.set_yscale("log")
            axes.set_xscale("log")
            axes.set_title(f"{dataset}: {quantity.replace('_', ' ')}", fontsize="medium")
            axes.set_xlabel(axis.replace("_", " "))
    grid[0][0].legend(fontsize="small")
    return figure
