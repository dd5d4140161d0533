"""solve(): the same bits as the command line, every kind of problem, and nothing left running."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import mistakes
import numpy as np
import pytest

import ssvm_bench
from ssvm_bench import _program

TESTS = pathlib.Path(__file__).parent


def by_command_line(program, dataset, folder, *more):
    weights = folder / "w.npy"
    command = [program, "solve", "--dataset", dataset, "--clock", "virtual", "--format", "json", "--save-weights", weights]
    out = subprocess.run([*command, *more], check=True, capture_output=True, text=True).stdout
    return np.load(weights), [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("solver", ["mp-bcfw", "bcfw-avg", "fw", "one-slack", "ssg-avg"])
def test_the_bits_are_those_of_the_command_line(program, tmp_path, solver):
    limits = ["--solver", solver, "--iterations", "12", "--gap", "0.001", "--seed", "5"]
    script = f"oracle:{sys.executable} {TESTS / 'mistakes.py'} Right"
    weights, lines = by_command_line(program, script, tmp_path, *limits)
    solution = ssvm_bench.solve(mistakes.Right(), solver, iterations=12, seed=5, clock="virtual")
    assert solution.weights.tobytes() == weights.tobytes()
    *points, summary = lines
    for key in ("iteration", "time_s", "oracle_calls", "primal", "dual", "gap", "approx_passes", "planes_mean"):
        infinite = {"dual": -np.inf, "gap": np.inf}
        expected = [infinite[key] if point[key] is None else point[key] for point in points]
        assert solution.trace[key].tolist() == expected, key
    assert solution.stop_reason == summary["stop_reason"]
    assert solution.certificate.primal == summary["primal"]


def test_a_function_and_its_vectorised_form_agree():
    right = mistakes.Right()
    calls = []

    def together(terms, w):
        calls.append(len(terms))
        planes = [right.max_oracle(int(i), w) for i in terms]
        return np.array([plane.values for plane in planes]), np.array([plane.offset for plane in planes])

    arguments = {"solver": "fw", "iterations": 5, "n": right.n, "d": right.d, "clock": "virtual"}
    one = ssvm_bench.solve(right.max_oracle, **arguments)
    many = ssvm_bench.solve(together, vectorized=True, **arguments)
    assert (one.weights == many.weights).all()
    assert max(calls) > 1
    assert ssvm_bench.check_oracle(together, vectorized=True, n=right.n, d=right.d).ok


def test_the_wrong_number_of_planes_is_named():
    right = mistakes.Right()
    right.max_oracles = lambda terms, w: [right.max_oracle(0, w)]
    with pytest.raises(ValueError, match="max_oracles returned 1 planes for"):
        ssvm_bench.solve(right, "fw")


def test_a_data_set_of_the_program_needs_no_oracle(program, tmp_path):
    weights, _ = by_command_line(program, "usps-synth:n=50", tmp_path, "--solver", "mp-bcfw", "--iterations", "8", "--set", "N=4")
    solution = ssvm_bench.solve("usps-synth:n=50", iterations=8, gap=None, clock="virtual", N=4)
    assert solution.weights.tobytes() == weights.tobytes()
    assert "primal" in repr(solution)


def test_sparse_planes_bounds_and_a_truth_that_is_not_zero():
    class Hinges(ssvm_bench.Oracle):
        """H_i(w) = max(0, 1 - a_i w), with the truth's plane in every plane; bounds are 0.01 too high."""

        n, d, lambda_, exact, truth_is_zero = 5, 3, 0.25, False, False
        a = np.arange(15.0).reshape(5, 3) / 7.0

        def max_oracle(self, i, w):
            lose = 1.0 - self.a[i] @ w > 0
            bound = max(1.0, self.a[i] @ w) / self.n + 0.01
            at = [] if lose else [0, 1, 2]
            return ssvm_bench.Plane(self.a[i][at] / self.n, lose / self.n, coordinates=at, bound=bound, key=lose)

        def truth(self, i):
            return self.a[i] / self.n, 0.0

    solution = ssvm_bench.solve(Hinges(), gap=None, iterations=40)
    assert solution.certificate.oracle_slack == pytest.approx(0.05, abs=1e-9)
    assert solution.certificate.gap >= 0.05 - 1e-9


def test_lambda_of_the_caller_wins():
    right = mistakes.Right()
    right.lambda_ = 5.0
    own = ssvm_bench.solve(right, gap=1e-2)
    given = ssvm_bench.solve(right, gap=1e-2, lambda_=0.05)
    assert np.linalg.norm(own.weights) < np.linalg.norm(given.weights)


def test_numbers_of_numpy_are_numbers():
    numbers = {"gap": np.float64(1e-2), "lambda_": np.float64(0.05), "limit": np.float32(30), "oracle_cost": np.float64(2)}
    plain = {"gap": 1e-2, "lambda_": 0.05, "limit": 30, "oracle_cost": 2.0}
    rest = {"clock": "virtual", "seed": np.int64(3), "iterations": np.int32(9)}
    one, other = (ssvm_bench.solve(mistakes.Right(), **given, **rest) for given in (numbers, plain))
    assert one.weights.tobytes() == other.weights.tobytes()


def test_check_oracle_takes_lambda():
    report = ssvm_bench.check_oracle(mistakes.Right().max_oracle, n=60, d=128, lambda_=np.float64(0.5))
    assert report.ok and report.facts["lambda"] == 0.5


def test_a_slow_oracle_is_named():
    class Slow(mistakes.Right):
        def max_oracle(self, i, w):
            time.sleep(2.0)
            return super().max_oracle(i, w)

    with pytest.raises(ssvm_bench.ProgramError, match="oracle program 'Slow' did nothing within its time limit"):
        ssvm_bench.solve(Slow(), limit=0.3)
    with pytest.raises(ssvm_bench.ProgramError, match=r"asked for term \d+ \(limit= sets it\)"):
        ssvm_bench.solve(Slow(), limit=0.3)


def test_the_limit_is_that_of_a_term_and_not_of_a_batch():
    def together(terms, w):
        time.sleep(0.05 * len(terms))
        return np.zeros((len(terms), 2)), np.full(len(terms), 0.1 / 64)

    solution = ssvm_bench.solve(together, "fw", n=64, d=2, vectorized=True, iterations=1, limit=1.0)
    assert solution.certificate.primal == pytest.approx(0.1)


def test_a_gap_alone_ends_after_many_iterations(monkeypatch):
    monkeypatch.setattr(ssvm_bench._solve, "PASSES", 20)
    with pytest.warns(RuntimeWarning, match="after 20 iterations; give iterations="):
        solution = ssvm_bench.solve(mistakes.Right(), "bcfw", gap=1e-12)
    assert solution.trace["iteration"][-1] == 20 and solution.summary["dataset"] == "Right"


def test_a_program_that_is_none_is_named(monkeypatch, tmp_path):
    for path, words in [(tmp_path / "missing", "missing', which is no program"), ("/bin/true", "'/bin/true' printed no result")]:
        monkeypatch.setenv("SSVM_BENCH", str(path))
        for call in (ssvm_bench.solve, ssvm_bench.check_oracle):
            with pytest.raises(ssvm_bench.ProgramError, match=words):
                call(mistakes.Right())


def test_folders_of_killed_callers_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(_program.tempfile, "tempdir", None)
    for name in ("ssvm-bench-py-killed", "ssvm-bench-py-new", "another"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights.npy").touch()
    with _program.folder() as living:
        for path in (tmp_path / "ssvm-bench-py-killed", living):
            os.utime(path, (0, 0))
        with _program.folder():
            pass
        assert {path.name for path in tmp_path.iterdir()} == {"ssvm-bench-py-new", "another", os.path.basename(living)}


WAITS = """
import sys, time
sys.path.insert(0, sys.argv[1])
import mistakes, ssvm_bench

class Waits(mistakes.Right):
    def max_oracle(self, i, w):
        print("asked", flush=True)
        time.sleep(600)

ssvm_bench.solve(Waits(), seed=int(sys.argv[2]), limit=1000)
"""


def processes(*words):
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parent = int((entry / "stat").read_text().rsplit(") ", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if all(word in line for word in words):
                found[int(entry.name)] = parent
    return found


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_python_ends_the_program(end):
    seed = str(900_000_000 + os.getpid())
    # A shell may have started the tests with SIGINT ignored.
    heard = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    command = [sys.executable, "-c", WAITS, str(TESTS), seed]
    caller = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    assert caller.stdout.readline() == "asked\n"
    programs = [pid for pid in processes("ssvm-bench", "solve", seed) if pid != caller.pid]
    relays = [pid for pid, parent in processes("_relay.py").items() if parent in programs]
    assert len(programs) == 1 and len(relays) == 1
    caller.send_signal(end)
    _, errors = caller.communicate(timeout=20)
    if end == signal.SIGINT:
        assert "KeyboardInterrupt" in errors and "in max_oracle" in errors
    deadline = time.monotonic() + 20
    alive = lambda: [pid for pid in programs + relays if os.path.exists(f"/proc/{pid}")]  # noqa: E731
    while alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_python_ends_a_run_on_a_data_set_of_the_program(end):
    seed = str(800_000_000 + os.getpid())
    code = f"import ssvm_bench; ssvm_bench.solve('usps-synth:n=200', gap=None, time=600, seed={seed})"
    heard = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, preexec_fn=heard) as caller:
        try:
            deadline = time.monotonic() + 60
            programs = []
            while not programs and time.monotonic() < deadline:
                time.sleep(0.05)
                # Its command is the program's from when it has become it.
                programs = [pid for pid in processes("ssvm-bench", "--seed", seed) if pid not in processes("_start.py")]
            assert len(programs) == 1
            caller.send_signal(end)
            caller.wait(20)
            while os.path.exists(f"/proc/{programs[0]}") and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not os.path.exists(f"/proc/{programs[0]}")
        finally:
            caller.kill()


def test_the_overhead_of_a_call_is_measured():
    """d = 2560 with a new w and a dense plane in every call. Seconds are printed, not asserted."""

    class Nothing(ssvm_bench.Oracle):
        n, d, operations = 2000, 2560, 1

        def __init__(self):
            self.planes = np.random.default_rng(0).normal(size=(self.n, self.d)) / self.n

        def max_oracle(self, i, w):
            return self.planes[i], 1.0 / self.n

    calls = [ssvm_bench.check_oracle(Nothing(), terms=100).facts for _ in range(3)]
    total = statistics.median(facts["total_ns"] for facts in calls)
    inside = statistics.median(facts["call_ns"] for facts in calls)
    pipe = statistics.median(facts["pipe_ns"] for facts in calls)
    print(f"\na call at d = 2560: {total / 1e3:.1f} µs, {inside / 1e3:.1f} in the oracle, {pipe / 1e3:.1f} around it")
    assert total > 0
