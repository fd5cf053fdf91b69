"""DataFrames of pandas as columns for the command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from ._arrow import Column, unique_names
from ._capsule import columns_in


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


def frame_of(table: Any) -> Any:
    """Return a DataFrame of a table that has `__arrow_c_stream__`, with a copy of its values."""
    with columns_in(table) as columns:
        return pd.DataFrame({column.name: series_of(column) for column in columns}, copy=True)


def series_of(column: Column) -> Any:
    values, missing = column.values, column.missing
    if missing is not None and values.dtype.kind in "biu":  # which have no NaN
        masked: Any = pd.arrays.BooleanArray if values.dtype.kind == "b" else pd.arrays.IntegerArray
        return pd.Series(masked(values.copy(), missing))
    series = pd.Series(values, copy=True)
    if missing is not None:
        series = series.mask(missing)
    return series if column.zone is None else series.dt.tz_localize("UTC").dt.tz_convert(column.zone)
