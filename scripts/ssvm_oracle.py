"""A max-oracle in Python for ssvm-bench: subclass Oracle, write max_oracle, call serve().

    from ssvm_oracle import Oracle, Plane

    class Mine(Oracle):
        n, d = 100, 2560
        def max_oracle(self, i, w):
            ...
            return Plane(values, offset)          # or Plane(values, offset, coordinates=...)

    Mine().serve()

and then:  ssvm-bench oracle test 'oracle:python3 mine.py'
           ssvm-bench solve --dataset 'oracle:python3 mine.py' --solver mp-bcfw

One file, the standard library and numpy. docs/oracle-programs.md describes the protocol.
"""

import os
import struct
import sys
import time

import numpy as np

VERSION = 1


class Plane:
    """One plane of a term: the maximum of <values, w> + offset is wanted.

    values        all d numbers, or with coordinates (ascending) only some of them
    offset        the number without w: the loss and fixed terms, divided by n
    bound         H_i(w) is not more; for oracles that are not exact
    key           text without spaces that identifies the labelling, so that equal planes are recognised
    operations    what the call took, for the virtual clock
    """

    def __init__(self, values, offset, coordinates=None, bound=None, key=None, operations=None):
        self.values = np.ascontiguousarray(values, dtype="<f8")
        self.offset = float(offset)
        self.coordinates = None if coordinates is None else np.ascontiguousarray(coordinates, dtype="<u4")
        self.bound = None if bound is None else float(bound)
        self.key = key
        self.operations = operations


class Oracle:
    """What ssvm-bench has to know. n and d are needed; the rest has defaults."""

    n = None
    """Terms."""
    d = None
    """Weights."""
    lambda_ = None
    """Lambda; 1/n when it is None."""
    exact = True
    """Whether max_oracle always finds a maximiser."""
    truth_is_zero = True
    """Whether the ground truth's plane is 0; if not, truth(i) returns it and ssvm-bench subtracts it."""
    operations = None
    """Operations of a call for the virtual clock; d when it is None."""
    version = ""
    """Your name for data and code; part of the identity of runs."""

    def max_oracle(self, i, w):
        """The plane of term i that is highest at w: a Plane, or (values, offset)."""
        raise NotImplementedError

    def certify(self, i, w):
        """The same, asked off the clock; may take longer to find a bound."""
        return self.max_oracle(i, w)

    def truth(self, i):
        """The ground truth's plane, where it is not 0."""
        raise NotImplementedError

    def serve(self):
        """Answers on standard input and output until the input ends. What is printed goes to standard error."""
        source = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
        sink = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
        # print() must not write into the protocol.
        sys.stdout.flush()
        os.dup2(2, 1)
        try:
            self._hello(sink)
            self._answer_all(source, sink)
        except BrokenPipeError:
            pass
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            sink.write(f"error {text}\n".encode())
            sink.flush()
            raise

    def _hello(self, sink):
        lines = [f"ssvm-oracle {VERSION}", f"n {int(self.n)}", f"d {int(self.d)}"]
        if self.lambda_ is not None:
            lines.append(f"lambda {float(self.lambda_)!r}")
        lines.append(f"exact {'yes' if self.exact else 'no'}")
        lines.append(f"truth {'zero' if self.truth_is_zero else 'given'}")
        if self.operations is not None:
            lines.append(f"operations {int(self.operations)}")
        if self.version:
            lines.append(f"version {' '.join(str(self.version).split())}")
        lines += ["numbers binary", "ready"]
        sink.write(("\n".join(lines) + "\n").encode())
        sink.flush()

    def _answer_all(self, source, sink):
        w = np.zeros(self.d)
        questions = {b"call": self.max_oracle, b"certify": self.certify, b"truth": lambda i, _: self.truth(i)}
        while True:
            line = source.readline()
            if not line:
                return
            word, *rest = line.split()
            if word in questions:
                for term in rest:
                    began = time.perf_counter_ns()
                    plane = questions[word](int(term), w)
                    took = time.perf_counter_ns() - began
                    self._send(sink, int(term), plane, took)
            elif word == b"w":
                w = np.frombuffer(source.read(8 * self.d), dtype="<f8")
            elif word == b"echo":
                sink.write(line + source.read(int(rest[0])))
                sink.flush()
            elif word == b"ssvm-oracle":
                if int(rest[0]) != VERSION:
                    raise ValueError(f"ssvm-bench speaks version {int(rest[0])} of the protocol, this is {VERSION}")
            else:
                raise ValueError(f"unknown request {line!r}")

    def _send(self, sink, term, plane, took):
        if not isinstance(plane, Plane):
            plane = Plane(*plane)
        kind = "dense" if plane.coordinates is None else "sparse"
        if plane.coordinates is not None and len(plane.coordinates) != len(plane.values):
            raise ValueError(f"term {term}: {len(plane.coordinates)} coordinates, {len(plane.values)} values")
        head = f"plane {term} {kind} {len(plane.values)} ns={took}"
        if plane.key is not None:
            head += f" key={plane.key}"
        if plane.operations is not None:
            head += f" operations={int(plane.operations)}"
        numbers = struct.pack("<d", plane.offset)
        if plane.bound is not None:
            head += " bound"
            numbers += struct.pack("<d", plane.bound)
        sink.write(head.encode() + b"\n" + numbers)
        if plane.coordinates is not None:
            sink.write(plane.coordinates.tobytes())
        sink.write(plane.values.tobytes())
        sink.flush()
