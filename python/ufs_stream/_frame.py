"""DataFrames of pandas as columns for the command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from pandas.api.types import infer_dtype

from ._arrow import Column


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names that tell the columns apart: a name that is empty, or not alone, gets its number."""
    names = list(names)
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


def columns_of(frame: Any) -> list[Column]:
    """Return the columns of a DataFrame with the types that a file of it has."""
    names = unique_names(map(str, frame.columns))
    return [column_of(name, frame.iloc[:, at]) for at, name in enumerate(names)]


def column_of(name: str, column: Any) -> Column:
    """Return a column of a DataFrame. Categories have the type of their values; what has no type of Arrow is text."""
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype) and kind in "biufmM":
        values = column.to_numpy()
        if dtype.itemsize > 8:  # a long double
            values = values.astype(np.float64)
        if kind in "biu":
            return Column(name, values)
        missing = np.isnan(values) if kind == "f" else np.isnat(values)
        return Column(name, values, missing if missing.any() else None)
    if kind == "M" and getattr(dtype, "tz", None) is not None:
        return column_of(name, column.dt.tz_convert(None))._replace(zone="UTC")
    missing = column.isna().to_numpy()
    if hasattr(dtype, "numpy_dtype") and kind in "biuf":  # an extension of pandas
        return Column(name, column.to_numpy(dtype=dtype.numpy_dtype, na_value=0), missing)
    if hasattr(column, "sparse"):
        return column_of(name, column.sparse.to_dense())
    objects = column.astype(object)
    inferred = objects.infer_objects()
    if inferred.dtype.kind in "biufmM":
        return column_of(name, inferred)
    present = objects.to_numpy()[~missing]
    known = NUMPY_TYPES.get(infer_dtype(present))
    if known is None:
        return Column(name, objects.to_numpy(), missing)
    values = np.zeros(len(missing), known)
    try:
        values[~missing] = present.astype(known)
    except OverflowError:  # integers of more than 64 bits
        values = np.zeros(len(missing))
        values[~missing] = present.astype(np.float64)
    return Column(name, values, missing)


# What pandas calls the objects of a column.
NUMPY_TYPES = {
    "boolean": "?",
    "integer": "i8",
    "floating": "f8",
    "mixed-integer-float": "f8",
    "decimal": "f8",
    "date": "M8[D]",
}
