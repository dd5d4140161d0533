"""Structural SVM training with your own max-oracle, and results as data frames. docs/python.md has examples."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ._program import ProgramError, program
from ._results import Results, load, plot
from ._solve import (
    Certificate,
    OracleReport,
    OracleWarning,
    Solution,
    check_oracle,
    solve,
)
from .oracle import Oracle, Plane

if TYPE_CHECKING:
    from .estimators import ChainClassifier, MulticlassClassifier

try:
    __version__ = version("ssvm-bench")
except PackageNotFoundError:
    # Imported from the source tree.
    __version__ = "unknown"

__all__ = [
    "Certificate",
    "ChainClassifier",
    "MulticlassClassifier",
    "Oracle",
    "OracleReport",
    "OracleWarning",
    "Plane",
    "ProgramError",
    "Results",
    "Solution",
    "check_oracle",
    "load",
    "plot",
    "program",
    "solve",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and only the estimators use it.
    if name in ("ChainClassifier", "MulticlassClassifier"):
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'ssvm_bench' has no attribute '{name}'")
