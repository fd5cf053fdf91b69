"""Unsupervised feature selection for data too big for memory.

The work is done by the ufs-stream command; this package hands it the data and reads its answer.

    from ufs_stream import UFSSelector, select
    UFSSelector(k=20).fit_transform(X)                     # array, sparse matrix or DataFrame
    UFSSelector(k="auto").fit("lake/*.parquet")            # files, streamed by the command
    select("lake/*.parquet", k=20)["selected"][0]["name"]  # the Selection JSON, no scikit-learn
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._command import apply, explain, find_command, merge, plan, redundancy, report, run, scan, select, write_plan
from ._errors import (
    CommandNotFoundError,
    DataError,
    InternalError,
    MemoryLimitError,
    NotConvergedError,
    TryAgainError,
    UFSError,
    UFSWarning,
    UsageError,
)
from ._selection import Selection

if TYPE_CHECKING:
    from ._selector import UFSSelector

__version__ = "0.1.0"

__all__ = [
    "CommandNotFoundError",
    "DataError",
    "InternalError",
    "MemoryLimitError",
    "NotConvergedError",
    "Selection",
    "TryAgainError",
    "UFSError",
    "UFSSelector",
    "UFSWarning",
    "UsageError",
    "apply",
    "explain",
    "find_command",
    "merge",
    "plan",
    "redundancy",
    "report",
    "run",
    "scan",
    "select",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and select and run do without it.
    if name == "UFSSelector":
        from ._selector import UFSSelector

        return UFSSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
