"""AnnData, the tables of single cells, as blocks of columns for the command. The package anndata is not imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._arrow import BATCH, LEAST_ROWS, Column


def is_anndata(X: Any) -> bool:
    """Say whether X is an AnnData, in memory or backed by a file."""
    return all(hasattr(X, name) for name in ("X", "var_names", "obs_names", "isbacked", "n_obs", "n_vars"))


def blocks_of(adata: Any, names: list[str], weight: str | None, weights: Any) -> Iterator[list[Column]]:
    """Yield the rows of X in blocks, as columns of these names, or as lists of indices and values if X is sparse. Of a
    backed AnnData one block at a time is read."""
    X = adata.X
    if X is None:
        raise ValueError("this AnnData has no X")
    if adata.isbacked and "csc" in (getattr(X, "format", None), getattr(X, "format_str", None)):
        raise ValueError("X is stored by columns (csc) in the file, and is read by rows: store it as csr, or load it by adata.to_memory()")
    if hasattr(X, "tocsr") and not adata.isbacked:
        X = X.tocsr()
    is_sparse = hasattr(X, "format") or hasattr(X, "format_str")  # of scipy, and of anndata before 0.10
    step = LEAST_ROWS if is_sparse else max(BATCH // max(8 * adata.n_vars, 1), 1)
    for start in range(0, adata.n_obs, step):
        block = X[start : start + step]
        if hasattr(block, "tocsr"):
            columns = entries_of(block.tocsr())
        else:
            values = numbers_of(np.asarray(block))
            columns = [Column(name, values[:, at]) for at, name in enumerate(names)]
        if weight is not None:
            columns.append(Column(weight, weights[start : start + step]))
        yield columns


def entries_of(block: Any) -> list[Column]:
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    ends = block.indptr.astype(np.int64)
    return [Column("index", block.indices.astype(np.int32), ends=ends), Column("x", numbers_of(block.data), ends=ends)]


def numbers_of(values: Any) -> Any:
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"X holds {values.dtype}, not numbers")
    return values if values.dtype.itemsize <= 8 else values.astype(np.float64)


def rename_features(selection: Mapping[str, Any], names: list[str]) -> None:
    """Replace the numbered names of sparse features, x[0], x[1], …, by those of an AnnData."""
    of_number = {f"x[{at}]": name for at, name in enumerate(names)}
    for feature in [*selection["selected"], *selection["columns"], *selection["left_out"], *selection.get("suspects", [])]:
        for field in ("name", "nearest"):
            if feature.get(field) in of_number:
                feature[field] = of_number[feature[field]]
