"""What the tests share. They run against the installed package: `pip install .`, then `pytest python/tests`."""

import functools
import pathlib
import subprocess
import sys

import pytest

import ssvm_bench

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="session")
def program():
    return ssvm_bench.program()


@pytest.fixture(scope="session")
def results(program, tmp_path_factory):
    """A small result folder."""
    folder = tmp_path_factory.mktemp("results") / "smoke"
    subprocess.run([program, "run", "smoke", "--out", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def loaded(results):
    """The folder as frames of a kind, read once."""
    return functools.lru_cache(lambda kind: ssvm_bench.load(results, kind=kind))
