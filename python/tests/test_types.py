"""The annotations as a user's type checker sees them."""

import os
import pathlib
import subprocess
import sys

import pytest

import ssvm_bench

TESTS = pathlib.Path(__file__).parent


def test_calls_with_either_kind_of_function_have_types():
    pytest.importorskip("mypy")
    environment = os.environ | {"MYPYPATH": str(pathlib.Path(ssvm_bench.__file__).parent.parent)}
    # It refuses to read site-packages from that path.
    if "site-packages" in environment["MYPYPATH"]:
        del environment["MYPYPATH"]
    command = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir", os.devnull, "typed.py"]
    ended = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
