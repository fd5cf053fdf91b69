"""DataFrames of pandas as files for the command."""

from __future__ import annotations

import os
from typing import Any


def is_frame(X: Any) -> bool:
    """Say whether X is a DataFrame of pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def unique_names(names: Any) -> list[str]:
    """Return names that tell the columns apart: a name that is empty, or not alone, gets its number."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    unique = []
    for at, name in enumerate(names):
        plain = name.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no UTF-8
        if name and counts[name] == 1 and plain == name:
            unique.append(name)
            continue
        own = f"{plain} (column {at})" if name else f"column {at}"
        while own in counts:
            own += "'"
        counts[own] = 1
        unique.append(own)
    return unique


def write_frame(frame: Any, folder: str) -> tuple[str, dict[str, Any]]:
    """Write a DataFrame as CSV into a folder. Return the path, and the options by which the command reads it.

    The options name the type of every column, so that nothing is guessed: texts and categories stay text, and a value
    is missing if pandas says so. Numbers keep all their digits.
    """
    names = unique_names([str(name).strip() for name in frame.columns])  # the command strips names of CSV
    types, texts, columns = [], [], {}
    for at, name in enumerate(names):
        column = frame.iloc[:, at]
        kind = getattr(column.dtype, "kind", "O")
        if kind == "f":
            column, kind = column.astype("float64"), "float"
        elif kind in "iu":
            kind = "int"
        elif kind == "b":
            kind = "bool"
        elif kind == "M":
            kind = "time"
        else:
            texts.append(name)
        if name not in texts:
            types.append(f"{name}={kind}")
        columns[at] = column
    path = os.path.join(folder, "frame.csv")
    type(frame)(columns).to_csv(path, index=False, header=names, date_format="%Y-%m-%dT%H:%M:%S.%f")
    # An empty list of spellings means that only an empty field is missing.
    return path, {"header": "yes", "null_values": "", "types": types or None, "text": texts or None}
