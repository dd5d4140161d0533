"""Max-oracles in Python: subclass Oracle, write max_oracle, then solve() it here or serve() it to the program.

docs/oracle-programs.md describes the protocol.
"""

from __future__ import annotations

import os
import struct
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any, BinaryIO, Callable, Optional, Union

import numpy as np
import numpy.typing as npt

VERSION = 1


class Plane:
    """One plane of a term, the function <values, w> + offset; the oracle returns the highest one at w.

    values        all d numbers, or with coordinates (ascending) only some of them
    offset        the number without w: the loss and fixed terms, divided by n
    bound         an upper bound of H_i(w), for oracles that are not exact
    key           text without spaces that names the labelling, so that equal planes are recognised without their numbers
    operations    operations of the call, for the virtual clock
    """

    __slots__ = ("values", "offset", "coordinates", "bound", "key", "operations")

    def __init__(
        self,
        values: npt.ArrayLike,
        offset: float,
        coordinates: Optional[npt.ArrayLike] = None,
        bound: Optional[float] = None,
        key: Optional[object] = None,
        operations: Optional[int] = None,
    ) -> None:
        numbers = np.asarray(values)
        # A cast would drop imaginary parts, read text as numbers, and take a sparse matrix for one object.
        if numbers.dtype.kind not in "fiub":
            raise TypeError(f"the values of a plane are {_described(values, numbers)}, expected an array of real numbers")
        self.values = np.ascontiguousarray(numbers, dtype="<f8")
        try:
            self.offset = float(offset)
        except (TypeError, ValueError):
            raise TypeError(f"the offset of a plane is {_described(offset, np.asarray(offset))}, expected a number") from None
        self.coordinates = None if coordinates is None else _coordinates(coordinates)
        self.bound = None if bound is None else float(bound)
        self.key = key
        self.operations = operations


def _described(given: object, array: npt.NDArray[Any]) -> str:
    """What the caller gave, for a message."""
    return f"an array of {array.dtype} of shape {array.shape}" if array.ndim else type(given).__name__


def _coordinates(coordinates: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    given = np.asarray(coordinates)
    if given.ndim != 1 or given.size and given.dtype.kind not in "iu":
        raise TypeError(f"coordinates are {_described(coordinates, given)}, expected a list or an array of whole numbers")
    # The program checks that they ascend, so the ends are enough.
    if given.size and not (given[0] >= 0 and given[-1] < 2**32):
        raise ValueError(f"coordinates from {given[0]} to {given[-1]}, expected 0 to d - 1 and ascending")
    return np.ascontiguousarray(given, dtype="<u4")


Vector = npt.NDArray[np.float64]
Answer = Union[Plane, tuple[npt.ArrayLike, float]]
Answers = Union[Sequence[Answer], tuple[npt.NDArray[Any], npt.ArrayLike]]


class Oracle:
    """Base class of oracles. Set n and d and implement max_oracle; everything else has defaults."""

    n: int = 0
    """Terms."""
    d: int = 0
    """Weights."""
    lambda_: Optional[float] = None
    """Lambda; 1/n when it is None."""
    exact: bool = True
    """Whether max_oracle always finds a maximiser."""
    truth_is_zero: bool = True
    """Whether the ground truth's plane is 0; if not, truth(i) returns it and the program subtracts it."""
    operations: Optional[int] = None
    """Operations of a call for the virtual clock; d when it is None."""
    version: str = ""
    """Your name for data and code; part of the identity of runs."""

    def max_oracle(self, i: int, w: Vector) -> Answer:
        """The plane of term i that is highest at w: a Plane, or (values, offset). w must not be changed."""
        raise NotImplementedError(f"{type(self).__name__} has no max_oracle(i, w)")

    max_oracles: Optional[Callable[[npt.NDArray[np.int64], Vector], Answers]] = None
    """Optional: the planes of several terms at one w, as a list, or as (values [k, d], offsets [k])."""

    def certify(self, i: int, w: Vector) -> Answer:
        """The same as max_oracle, but off the clock, so that it may take longer to find a bound."""
        return self.max_oracle(i, w)

    def truth(self, i: int) -> Answer:
        """The ground truth's plane, where it is not 0."""
        raise NotImplementedError(f"{type(self).__name__} has truth_is_zero = False but no truth(i)")

    def serve(self) -> None:
        """Answers requests on standard input and output until the input ends. print() writes to standard error."""
        source = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
        sink = os.dup(1)
        # print() must not write into the protocol.
        sys.stdout.flush()
        os.dup2(2, 1)
        try:
            serve_on(self, source, sink, traceback.print_exc)
        except Exception:
            sys.exit(1)


def serve_on(oracle: Oracle, source: BinaryIO, sink: int, report: Callable[[], None] = lambda: None) -> None:
    """Answers on a stream and a descriptor until either ends. An exception of the oracle is sent as an error, then raised.

    report is called before it is sent: the program does not wait for what comes after.
    """
    try:
        _write(sink, _handshake(oracle))
        _answer_all(oracle, source, sink)
    except _Ended:
        pass
    except BaseException as error:
        report()
        try:
            _write(sink, f"error {_one_line(error)}\n".encode())
        except (OSError, _Ended):
            pass
        raise


class _Ended(Exception):
    """The program no longer reads. A BrokenPipeError would not do: the oracle may raise one of its own."""


def _one_line(error: BaseException) -> str:
    """The exception and where it was raised, without line breaks."""
    frames = traceback.extract_tb(error.__traceback__)
    own = os.path.abspath(__file__)
    place = next((frame for frame in reversed(frames) if os.path.abspath(frame.filename) != own), None)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if place is None else f"{text} ({os.path.basename(place.filename)}:{place.lineno} in {place.name})"


def _handshake(oracle: Oracle) -> bytes:
    for name in ("n", "d"):
        value = getattr(oracle, name)
        if not isinstance(value, (int, float, np.integer)) or value != value // 1 or value < 1:
            raise ValueError(f"{type(oracle).__name__}.{name} is {value!r}, expected a whole number above 0")
    lines = [f"ssvm-oracle {VERSION}", f"n {int(oracle.n)}", f"d {int(oracle.d)}"]
    if oracle.lambda_ is not None:
        lines.append(f"lambda {float(oracle.lambda_)!r}")
    lines.append(f"exact {'yes' if oracle.exact else 'no'}")
    lines.append(f"truth {'zero' if oracle.truth_is_zero else 'given'}")
    if oracle.operations is not None:
        lines.append(f"operations {int(oracle.operations)}")
    if oracle.version:
        lines.append(f"version {' '.join(str(oracle.version).split())}")
    return ("\n".join([*lines, "numbers binary", "ready"]) + "\n").encode()


def _answer_all(oracle: Oracle, source: BinaryIO, sink: int) -> None:
    d, clock = int(oracle.d), time.perf_counter_ns
    w: Vector = np.zeros(d)
    questions: dict[bytes, Callable[[int, Vector], Answer]] = {
        b"call": oracle.max_oracle,
        b"certify": oracle.certify,
        b"truth": lambda i, _: oracle.truth(i),
    }
    together = {b"call"} if type(oracle).certify is not Oracle.certify else {b"call", b"certify"}
    while True:
        line = source.readline()
        if not line:
            return
        word, *rest = line.split()
        if word in questions:
            if len(rest) > 1 and oracle.max_oracles is not None and word in together:
                terms = np.array([int(term) for term in rest])
                began = clock()
                planes = one_by_one(oracle.max_oracles(terms, w), len(terms))
                took = (clock() - began) // len(terms)
                for name, plane in zip(rest, planes):
                    _write(sink, *_frame(int(name), plane, d, took))
                continue
            question = questions[word]
            for name in rest:
                term = int(name)
                began = clock()
                answer = question(term, w)
                took = clock() - began
                _write(sink, *_frame(term, answer, d, took))
        elif word == b"w":
            # Bytes of its own each time: an oracle may keep a w.
            numbers = source.read(8 * d)
            if len(numbers) < 8 * d:
                # The program ended while it wrote.
                return
            w = np.frombuffer(numbers, dtype="<f8")
        elif word == b"echo":
            _write(sink, line, source.read(int(rest[0])))
        elif word == b"ssvm-oracle":
            if int(rest[0]) != VERSION:
                raise ValueError(f"the program speaks version {int(rest[0])} of the protocol, this package speaks version {VERSION}")
        else:
            raise ValueError(f"unknown request {line!r}")


def one_by_one(answers: Answers, count: int) -> Sequence[Answer]:
    """One answer per term: a list as it is, two arrays row by row."""
    planes: Any = answers
    if not hasattr(planes, "__len__"):
        raise TypeError(f"max_oracles returned {type(planes).__name__}, expected (values, offsets) or a list of planes")
    if isinstance(planes, tuple) and len(planes) == 2 and getattr(planes[0], "ndim", 0) == 2:
        planes = list(zip(planes[0], np.asarray(planes[1])))
    if len(planes) != count:
        raise ValueError(f"max_oracles returned {len(planes)} planes for {count} terms")
    checked: Sequence[Answer] = planes
    return checked


def _write(sink: int, *parts: Any) -> None:
    """Writes all bytes at once, without a copy of the numbers."""
    try:
        _write_all(sink, parts)
    except BrokenPipeError:
        raise _Ended from None


def _write_all(sink: int, parts: tuple[Any, ...]) -> None:
    written = os.writev(sink, parts)
    if written < sum(memoryview(part).nbytes for part in parts):
        # A signal came between.
        rest = memoryview(b"".join(bytes(part) for part in parts))[written:]
        while rest:
            rest = rest[os.write(sink, rest) :]


def _frame(term: int, answer: Answer, d: int, took: int) -> tuple[Any, ...]:
    """The parts of an answer, in order."""
    if isinstance(answer, Plane):
        plane = answer
    else:
        try:
            values, offset = answer
        except (TypeError, ValueError):
            raise TypeError(
                f"term {term}: the oracle returned {type(answer).__name__}, expected a Plane or (values, offset)"
            ) from None
        try:
            plane = Plane(values, offset)
        except (TypeError, ValueError) as error:
            raise type(error)(f"term {term}: {error}") from None
    values, coordinates = plane.values, plane.coordinates
    count = values.size
    if coordinates is None:
        if values.shape != (d,):
            raise ValueError(f"term {term}: a plane of shape {values.shape}, expected ({d},): one number per weight")
        head = f"plane {term} dense {count} ns={took}"
    else:
        if coordinates.size != count:
            raise ValueError(f"term {term}: {coordinates.size} coordinates, {count} values")
        head = f"plane {term} sparse {count} ns={took}"
    if plane.key is not None:
        key = str(plane.key)
        if not key or any(sign.isspace() for sign in key):
            raise ValueError(f"term {term}: the key is {key!r}, expected text without spaces")
        head += f" key={key}"
    if plane.operations is not None:
        head += f" operations={int(plane.operations)}"
    numbers = struct.pack("<d", plane.offset)
    if plane.bound is not None:
        head += " bound"
        numbers += struct.pack("<d", plane.bound)
    first = head.encode() + b"\n" + numbers
    return (first, values) if coordinates is None else (first, coordinates, values)
