"""The mistakes that a user makes in an oracle: each gives a message that names it, from check_oracle and from solve."""

import os
import pathlib
import shutil
import subprocess
import sys
import traceback
import warnings

import mistakes
import numpy as np
import pytest

import ssvm_bench

# Messages are compared as one line, however wide a terminal is.
WIDE = {"COLUMNS": "10000"}

NAMED = {
    "FeaturesWithWrongSign": ("no plane is above H_i", "the features have the wrong sign"),
    "LossWithWrongSign": ("H_i is not negative", "the loss has the wrong sign"),
    "LossSubtracted": ("some loss at w = 0", "the loss is missing or has the wrong sign"),
    "NoLossInTheScores": ("no plane is above H_i", "maximises without the loss"),
    "WholeNoDivisionAtAll": ("the loss is divided by n", "1/n is missing: divide the loss and the features by n = 60"),
    "NoDivisionOfTheLoss": ("no plane is above H_i", "1/n is missing in the loss"),
    "NoDivisionOfTheFeatures": ("no plane is above H_i", "1/n is missing in the features"),
    "WrongIndex": ("no plane is above H_i", "must use the same term i"),
    "NoIndex": ("terms have planes of their own", "does not use its argument i"),
    "RemembersTheFirstAnswer": ("H_i is not negative", "the answers do not depend on w"),
    "OneKeyForAll": ("planes with the same key are the same", "the key must name the labelling"),
    "NoiseOnScores": ("the same answer to the same question", "noise on scores"),
    "RandomAnswers": ("the same answer to the same question", "not deterministic"),
    "TruthNotSubtracted": ("H_i is not negative", "subtract the truth's features"),
    "CentredTruthNotSubtracted": ("the truth's plane is 0", "subtract the truth's features"),
    "YesNoTruthNotSubtracted": ("the truth's plane is 0", "subtract the truth's features"),
    "SetsTruthNotSubtracted": ("the truth's plane is 0", "subtract the truth's features"),
    "NextTruthSubtracted": ("the truth's plane is 0", "subtract the truth's features"),
}


OF_OTHER_KINDS = ["Centred", "CentredTinyLoss", "Blocks", "Counts", "Margin", "VoidParts", "YesNo", "Sets", "Tolerant"]
OF_OTHER_KINDS += ["LossOfN", "Percent", "SearchesAPart"]


@pytest.mark.parametrize("name", NAMED)
def test_check_oracle_names_the_mistake(name):
    report = ssvm_bench.check_oracle(getattr(mistakes, name)())
    check, words = NAMED[name]
    assert not report.ok
    assert words in report.advice[check], report
    assert words in str(report)


def test_the_right_oracle_passes():
    report = ssvm_bench.check_oracle(mistakes.Right(), terms=60)
    assert report.ok, report
    assert report.facts["loss_at_zero"] == pytest.approx(1.0)
    assert "sum of H_i(0) = 1" in str(report)


@pytest.mark.parametrize("name", OF_OTHER_KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_right_oracles_of_other_kinds_pass(name, seed):
    report = ssvm_bench.check_oracle(getattr(mistakes, name)(), seed=seed)
    assert report.ok, report
    assert "1/n" not in str(report).replace("unless losses are this large, 1/n is missing", "")
    assert report.facts["exact"] == (not report.facts["notes"])


@pytest.mark.parametrize("name", ["NoDivisionAtAll", "SmallFeaturesNoDivisionOfTheLoss", "LossOfN"])
def test_whole_losses_alone_are_remarked(name):
    """A loss of n has the same planes as one of 1 that is not divided by n."""
    report = ssvm_bench.check_oracle(getattr(mistakes, name)())
    assert report.ok, report
    part = " in the loss" if name.startswith("Small") else ""
    assert f"1/n is missing{part}; H_i(0) is a whole number for most terms" in str(report)


@pytest.mark.parametrize("terms", [1, 2, 50, 59, 60, 100])
def test_as_many_terms_are_called_as_were_asked_for(terms):
    called = set()

    class Counted(mistakes.Right):
        def max_oracle(self, i, w):
            called.add(i)
            return super().max_oracle(i, w)

    assert ssvm_bench.check_oracle(Counted(), terms=terms).ok
    assert len(called) == min(terms, 60)
    assert terms == 1 or {0, 59} <= called


def test_a_sum_of_losses_above_one_is_remarked():
    """Nothing is a whole number here, so that no check can fail."""
    oracle = mistakes.CentredTinyLoss()
    right = oracle.plane
    oracle.plane = lambda i, label: ssvm_bench.Plane(right(i, label).values * 60, right(i, label).offset * 60, key=label)
    report = ssvm_bench.check_oracle(oracle)
    assert report.facts["loss_at_zero"] == pytest.approx(18.0)
    assert "unless losses are this large, 1/n is missing" in str(report)


@pytest.mark.parametrize(
    "name",
    ["FeaturesWithWrongSign", "LossWithWrongSign", "NoLossInTheScores", "NoDivisionOfTheLoss", "NoDivisionOfTheFeatures"]
    + ["WrongIndex", "NoiseOnScores", "RandomAnswers", "TruthNotSubtracted"],
)
def test_solve_refuses_a_negative_gap(name):
    with pytest.raises(ssvm_bench.ProgramError, match="the gap is negative in iteration .* check_oracle"):
        ssvm_bench.solve(getattr(mistakes, name)(), gap=1e-9, iterations=200, clock="virtual", evaluate="every:1")


def test_solve_warns_when_every_call_returned_the_truth():
    with pytest.warns(ssvm_bench.OracleWarning, match="every oracle call returned the truth"):
        solution = ssvm_bench.solve(mistakes.LossSubtracted())
    assert solution.certificate.primal == 0 and len(solution.notes) == 1


def test_solve_warns_of_two_planes_with_one_key():
    with pytest.warns(ssvm_bench.OracleWarning, match="two planes with the key"):
        ssvm_bench.solve(mistakes.OneKeyForAll(), iterations=30, clock="virtual")


@pytest.mark.parametrize("call", [ssvm_bench.solve, ssvm_bench.check_oracle])
def test_an_exception_comes_back_with_its_traceback(call):
    with pytest.raises(KeyError, match="missing") as raised:
        call(mistakes.Raises())
    assert 'else {}["missing"]' in "".join(traceback.format_tb(raised.value.__traceback__))


@pytest.mark.parametrize("call", [ssvm_bench.solve, ssvm_bench.check_oracle])
def test_a_term_beyond_the_last_is_an_index_error(call):
    with pytest.raises(IndexError, match="out of bounds"):
        call(mistakes.CountsFromOne())


@pytest.mark.parametrize(
    "name, error, words",
    [
        ("WrongShape", ValueError, r"a plane of shape \(127,\), expected \(128,\)"),
        ("NotAPlane", TypeError, r"the oracle returned int, expected a Plane or \(values, offset\)"),
        ("NotFinite", ssvm_bench.ProgramError, "oracle program 'NotFinite' answered term .* with NaN at coordinate 0"),
    ],
)
def test_an_answer_that_is_no_plane_is_named(name, error, words):
    with pytest.raises(error, match=words):
        ssvm_bench.solve(getattr(mistakes, name)())


@pytest.mark.parametrize(
    "answer, error, words",
    [
        (lambda w: (w + 1j, 0.0), TypeError, r"term \d+: the values of a plane are an array of complex128"),
        (lambda w: (iter(w), 0.0), TypeError, "the values of a plane are .*iterator, expected an array of real numbers"),
        (lambda w: (0.0, w), TypeError, "the offset of a plane is an array of float64 of shape"),
        (lambda w: ssvm_bench.Plane([1.0], 0.0, coordinates=[1.7]), TypeError, "coordinates are an array of float64"),
        (lambda w: ssvm_bench.Plane([1.0], 0.0, coordinates=np.array([-1])), ValueError, "coordinates from -1 to -1"),
        (lambda w: ssvm_bench.Plane([1.0, 2.0], 0.0, coordinates=[[0, 1]]), TypeError, r"int64 of shape \(1, 2\)"),
    ],
)
def test_numbers_that_a_cast_would_bend_are_refused(answer, error, words):
    with pytest.raises(error, match=words):
        ssvm_bench.solve(lambda i, w: answer(w), n=6, d=3, iterations=2)


def test_a_broken_pipe_of_the_oracle_is_its_own_exception():
    def fails(i, w):
        raise BrokenPipeError("a pipe of the oracle")

    with pytest.raises(BrokenPipeError, match="a pipe of the oracle"):
        ssvm_bench.solve(fails, n=3, d=2)


def test_messages_name_the_function_and_leave_out_the_command_line():
    with pytest.raises(ssvm_bench.ProgramError, match="oracle program 'not_finite' answered .* coordinate 0$"):

        def not_finite(i, w):
            return w + np.nan, 0.0

        ssvm_bench.solve(not_finite, n=3, d=2)
    with pytest.raises(ssvm_bench.ProgramError, match="unknown parameter 'foo'; mp-bcfw has only") as raised:
        ssvm_bench.solve("usps-synth:n=20", foo=3)
    assert "Usage" not in str(raised.value) and "--help" not in str(raised.value)


def test_what_an_oracle_prints_does_not_disturb_the_run(capfd):
    solution = ssvm_bench.solve(mistakes.Prints(), clock="virtual")
    assert "term 3" in capfd.readouterr().out
    silent = ssvm_bench.solve(mistakes.Right(), clock="virtual")
    assert (solution.weights == silent.weights).all()


def served(program, name, *arguments):
    script = pathlib.Path(mistakes.__file__)
    command = [program, *arguments[0], f"oracle:{sys.executable} {script} {name}", *arguments[1]]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | WIDE)


def test_messages_of_a_script_name_the_script_and_come_once(program):
    ended = served(program, "Raises", ["solve", "--dataset"], ["--solver", "bcfw"])
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("error: oracle program") and "mistakes.py' reported an error when asked for term 5: KeyError" in last
    assert "(mistakes.py:" in last and "in max_oracle)" in last
    assert ended.stderr.count("Traceback") == 1 and "standard error" not in last


def solved(program, oracle, folder=None, *more):
    command = [program, "solve", "--dataset", f"oracle:{oracle}", "--solver", "mp-bcfw", "--iterations", *(more or ["2"])]
    environment = os.environ | WIDE | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize(
    "words, name",
    [
        ("env A=1 PYTHON SCRIPT", "SCRIPT"),
        ("nice -n 5 PYTHON -u SCRIPT", "SCRIPT"),
        ("taskset -c 0 PYTHON SCRIPT", "SCRIPT"),
        ("PYTHON -X dev -W ignore SCRIPT", "SCRIPT"),
        ("PYTHON -m wrong", "wrong"),
    ],
)
def test_messages_name_the_script_behind_other_words(program, tmp_path, words, name):
    script = tmp_path / "wrong.py"
    script.write_text("raise ValueError('no data')\n")
    if shutil.which(words.split()[0].replace("PYTHON", sys.executable)) is None:
        pytest.skip(f"needs {words.split()[0]}")
    ended = solved(program, words.replace("PYTHON", sys.executable).replace("SCRIPT", str(script)), tmp_path)
    name = name.replace("SCRIPT", str(script))
    assert ended.returncode == 1
    assert f"error: oracle program '{name}' ended with exit code 1 when asked for its handshake" in ended.stderr
    # The traceback comes once, from the script itself.
    assert ended.stderr.count("Traceback") == 1 and ended.stderr.count('wrong.py", line 1') == 1
    assert ended.stderr.splitlines()[-1].endswith("standard error: ValueError: no data")


def test_a_script_without_serve_is_named(program, tmp_path):
    script = tmp_path / "silent.py"
    script.write_text("import ssvm_bench\n")
    ended = solved(program, f"{sys.executable} {script}")
    assert ended.returncode == 1
    assert "silent.py' ended without an answer: in Python, call serve() at the end of the script" in ended.stderr


def test_a_script_that_is_missing_is_named_once(program):
    ended = solved(program, f"{sys.executable} -u no-such-file.py --n 5")
    assert ended.returncode == 1
    assert "oracle program 'no-such-file.py': there is no such file" in ended.stderr
    assert ended.stderr.count("no-such-file.py") == 1


def test_solve_on_the_command_line_starts_a_script_once(program, tmp_path):
    """Evaluations of more than 64 terms are made in groups."""
    starts, script = tmp_path / "starts", tmp_path / "large.py"
    script.write_text(
        f"open({str(starts)!r}, 'a').write('x')\nimport sys\nsys.path.insert(0, {mistakes.__file__.rsplit('/', 1)[0]!r})\n"
        "import mistakes\nmistakes.Right(n=300).serve()\n"
    )
    assert solved(program, f"{sys.executable} {script}").returncode == 0
    assert starts.read_text() == "x"


def test_a_negative_gap_on_the_command_line_points_to_data_test(program):
    script = pathlib.Path(mistakes.__file__)
    limits = ["200", "--gap", "1e-9", "--evaluate", "every:1", "--clock", "virtual"]
    ended = solved(program, f"{sys.executable} {script} WrongIndex", None, *limits)
    assert ended.returncode == 1 and "the gap is negative" in ended.stderr
    assert "data test` names the mistake" in ended.stderr


def test_a_script_may_print(program):
    ended = served(program, "Prints", ["solve", "--dataset"], ["--solver", "bcfw", "--iterations", "2"])
    assert ended.returncode == 0 and "mistakes.py] term" in ended.stderr and "term" not in ended.stdout.split("\n", 1)[1]


def test_a_program_that_prints_into_the_protocol_is_told_why(program, tmp_path):
    script = tmp_path / "chatty.py"
    script.write_text("print('loading data', flush=True)\nimport time\ntime.sleep(5)\n")
    command = [program, "solve", "--dataset", f"oracle:{sys.executable} {script}", "--solver", "bcfw"]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | WIDE)
    assert ended.returncode == 1
    assert "'loading data'" in ended.stderr and "prints to standard output, which belongs to the protocol" in ended.stderr


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="a function needs the number of terms n and of weights d"):
        ssvm_bench.solve(lambda i, w: None)
    with pytest.raises(TypeError, match="is a class"):
        ssvm_bench.solve(mistakes.Right)
    for wrong in ({"gap": -1}, {"time": "soon"}, {"oracle_calls": 0}, {"oracle_cost": "much"}, {"lambda_": -1.0}):
        with pytest.raises(ssvm_bench.ProgramError, match=f"invalid value '.*' for {next(iter(wrong))}: ") as raised:
            ssvm_bench.solve("usps-synth:n=20", **wrong)
        assert "--" not in str(raised.value)
    with pytest.raises(ssvm_bench.ProgramError, match="invalid value '0' for terms: "):
        ssvm_bench.check_oracle(mistakes.Right(), terms=0)
    with pytest.raises(ssvm_bench.ProgramError, match="did you mean 'mp-bcfw'"):
        ssvm_bench.solve("usps-synth:n=20", solver="mp-bcwf")
    with pytest.raises(TypeError, match="states its own sizes"):
        ssvm_bench.solve("usps-synth:n=20", n=5)
    with pytest.raises(ssvm_bench.ProgramError, match="unknown parameter 'help'"):
        ssvm_bench.solve("usps-synth:n=20", help=True)
    with pytest.raises(ValueError, match="limit=0, expected seconds"):
        ssvm_bench.solve(mistakes.Right(), limit=0)
    with pytest.raises(TypeError, match="max_oracles returned NoneType"):
        ssvm_bench.solve(lambda terms, w: None, n=5, d=2, vectorized=True)
    nothing = mistakes.Right()
    nothing.d = 0
    with pytest.raises(ValueError, match="Right.d is 0"):
        ssvm_bench.solve(nothing)


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ssvm_bench.solve(mistakes.Right(), iterations=5)
