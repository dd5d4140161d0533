"""load(): the exported tables as frames of every kind, histograms as arrays; plot()."""

import csv
import subprocess

import numpy as np
import pytest

import ssvm_bench
from ssvm_bench import _results


@pytest.fixture(scope="module")
def tables(program, results, tmp_path_factory):
    """The exported CSV tables: a header and rows of text each."""
    folder = tmp_path_factory.mktemp("tables")
    command = [program, "figures", results, f"--tables={folder}", "--no-figures"]
    subprocess.run(command, check=True, capture_output=True)
    claims = subprocess.run([program, "show", results, "claims", "--format", "csv"], check=True, capture_output=True, text=True)
    (folder / "claims.csv").write_text(claims.stdout)
    names = ("runs", "points", "bands", "bounds", "claims")
    return {name: list(csv.reader((folder / f"{name}.csv").open(newline=""))) for name in names}


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_frames_equal_the_exported_tables(loaded, tables, kind):
    if kind != "numpy":
        pytest.importorskip(kind)
    frames = loaded(kind)
    for name, (head, *rows) in tables.items():
        frame = getattr(frames, name)
        assert list(frame if kind == "numpy" else frame.columns) == head, name
        assert len(rows) > 0, name
        for at, column in enumerate(head):
            values = list(frame[column])
            assert len(values) == len(rows)
            for value, row in zip(values, rows):
                # What is missing is null in polars, and NaN elsewhere.
                missing = value is None if kind == "polars" else value != value
                same = str(value) == row[at] or (row[at] == "" and missing) or float(row[at]) == value
                assert same, (name, column, value, row[at])


def test_types_do_not_depend_on_the_values(loaded):
    pandas = pytest.importorskip("pandas")
    frames = loaded("pandas")
    assert frames.bands["x"].dtype == np.float64 and frames.runs["seed"].dtype == np.uint64
    # A run may have a number for a name, and its last digits count.
    columns = _results._columns("run_id,seed,primal,other\n12345678901234567890,9007199254740993,1,\n")
    frame = pandas.DataFrame(columns)
    assert frame["run_id"][0] == "12345678901234567890" and frame["seed"][0] == 9007199254740993
    assert frame["primal"].dtype == np.float64 and np.isnan(frame["other"][0])


def test_a_table_without_rows_has_its_columns():
    columns = _results._columns("run_id,primal\n")
    assert list(columns) == ["run_id", "primal"] and len(columns["primal"]) == 0


def test_loading_changes_nothing_in_the_folder(results):
    before = sorted(path.name for path in results.rglob("*"))
    ssvm_bench.load(results)
    assert sorted(path.name for path in results.rglob("*")) == before


def test_histograms_have_the_calls_of_their_runs(loaded):
    frames = loaded("numpy")
    calls = dict(zip(frames.runs["run_id"], frames.runs["oracle_calls"]))
    assert set(frames.histograms) == set(calls)
    for run, histograms in frames.histograms.items():
        values, counts = histograms["oracle_ns"]
        assert counts.sum() == calls[run] and (np.diff(values) > 0).all() and values.min() > 0


def test_a_histogram_is_decoded_by_the_rule_of_its_format():
    """Three digits: exact to 2047, then buckets of 2, 4, …; zigzag numbers, negative ones skip buckets."""

    def varint(value):
        coded = (value << 1) ^ (value >> 63)
        out = bytearray()
        while coded >= 0x80:
            out.append(coded & 0x7F | 0x80)
            coded >>= 7
        return bytes(out + bytes([coded]))

    # 5 of value 3, 300 of 2047, 1 of 2048 and 2049, 2 of 4096 to 4099.
    payload = varint(-3) + varint(5) + varint(-2043) + varint(300) + varint(1) + varint(-1023) + varint(2)
    head = b"\x1c\x84\x93\x03" + len(payload).to_bytes(4, "big") + bytes(4) + (3).to_bytes(4, "big")
    head += (1).to_bytes(8, "big") + (1 << 40).to_bytes(8, "big") + bytes(8)
    values, counts = _results.decode_histogram(head + payload)
    assert values.tolist() == [3, 2047, 2048, 4096] and counts.tolist() == [5, 300, 1, 2]
    assert len(_results.decode_histogram(b"")[0]) == 0


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(ssvm_bench.ProgramError, match="nothing-here"):
        ssvm_bench.load(tmp_path / "nothing-here")
    with pytest.raises(ValueError, match="expected one of pandas, polars, numpy"):
        ssvm_bench.load(tmp_path, kind="arrow")


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_plot_draws_every_band(loaded, kind):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    if kind != "numpy":
        pytest.importorskip(kind)
    figure = ssvm_bench.plot(loaded(kind), datasets=["usps-synth:n=50"], solvers=["bcfw", "mp-bcfw"])
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2]
    with pytest.raises(ValueError, match="unknown axis 'iterations'; known: iteration"):
        ssvm_bench.plot(loaded(kind), axis="iterations")


def test_frames_of_both_kinds_have_the_same_medians(loaded):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    pandas, polars = loaded("pandas"), loaded("polars")
    columns = _results._columns("run_id,value\na,1\na,2\na,\n")
    assert _results._maker("polars")(columns)["value"].median() == _results._maker("pandas")(columns)["value"].median() == 1.5
    for name in ("runs", "points", "bands", "bounds"):
        ours, theirs = getattr(pandas, name), getattr(polars, name)
        for column in ours.columns:
            if ours[column].dtype == np.float64:
                assert ours[column].count() == theirs[column].count(), (name, column)


def test_a_difference_of_counts_may_be_negative(loaded):
    calls = loaded("numpy").points["oracle_calls"]
    assert calls.min() - calls.max() < 0
