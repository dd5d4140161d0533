"""The notebooks of examples/ run from top to bottom, and are committed without outputs."""

import json
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
NEEDS = {"figures": ["pandas", "matplotlib"], "assignment": ["scipy"]}


@pytest.mark.parametrize("name", NEEDS)
def test_a_notebook_has_no_outputs(name):
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.mark.parametrize("name", NEEDS)
def test_a_notebook_runs(name, results, monkeypatch):
    for module in ["nbformat", "nbclient", "ipykernel", *NEEDS[name]]:
        pytest.importorskip(module)
    import nbclient
    import nbformat

    monkeypatch.setenv("SSVM_RESULTS", str(results))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300).execute()
