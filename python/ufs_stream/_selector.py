"""The command as a scikit-learn transformer."""

from __future__ import annotations

import inspect
import itertools
import numbers
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _command
from ._anndata import blocks_of, is_anndata, rename_features
from ._arrow import Column, file_of, file_of_blocks
from ._command import Inputs, Path, Progress, is_frame
from ._errors import UFSError
from ._selection import Selection

FINITE = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator: Any, X: Any, **how: Any) -> Any:
        if how.get("skip_check_array"):
            estimator._check_feature_names(X, reset=how["reset"])
            estimator._check_n_features(X, reset=how["reset"])
            return X
        how["force_all_finite"] = how.pop("ensure_all_finite", True)
        return estimator._validate_data(X, **how)


class UFSSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that explain all the others, without labels.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Features to keep. "auto" keeps as many as explain more than noise would, for methods on
        a Gram matrix.
    method : str, default=None
        A method of the command (``ufs-stream help methods``); None has a sample of
        the rows decide between "align" and "greedy".
    scale : str, default=None
        "none", "center", "minmax", "unit", "standard", "pareto" or "rank"; None has a sample of
        the rows tell it where no method is named, and is the method's own else.
    missing : {"mean", "error", "zero", "drop-row", "pairwise"}, default=None
        What null, NaN and infinities mean. None is the command's default: they are filled by their column's
        mean, and a UFSWarning counts them; "mean" does so without the warning. "error" refuses them, in arrays
        as scikit-learn's own estimators do.
    random_state : int, RandomState, Generator or None, default=0
        Of everything random: the same number gives the same choice to the bit. The command's seed
        is one more, as it counts seeds from 1. None draws a seed from numpy's global state, as
        scikit-learn does.
    memory_limit : str, default=None
        Peak resident memory of the command, as "4GiB"; None means its default, 2 GiB. It does
        not count the array in this process.
    n_jobs : int, default=None
        Threads; None and -1 mean one for each core, -2 one less, and so on.
    options : dict, default=None
        Further flags of ``ufs-stream select`` by name: ``{"graph_rows": 5000, "auto_exclude": True,
        "groups": {"sensor": ["a", "b"]}}``.
    temp_dir : str, default=None
        Folder for the file that hands over an array, and for the command's scratch files.
    progress : bool or callable, default=False
        True writes progress to sys.stderr, a callable is given a dict now and then.
    command : str, default=None
        The ufs-stream command; None looks at $UFS_STREAM and PATH.

    Attributes
    ----------
    selection_ : dict
        The Selection JSON of the command: scores, what explains each column, timing, warnings.
    ranking_ : ndarray of shape (n_selected,)
        Indices of the chosen columns, the most important first: for files, their positions in the
        input, so that ``X[:, ranking_]`` are the chosen columns of the same data as an array. Of a
        group all columns are there, and of features that were made of a column (categories, times,
        indicators) that column, once.
    n_features_in_ : int
        Columns seen by fit; for files, all columns of the input, those that are no features too, with
        lists expanded.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, for DataFrames whose names are all texts, and for files if the selection tells
        them all: it does up to 20,000 features.

    Notes
    -----
    An array, sparse matrix or DataFrame is written to a temporary file (an Arrow IPC stream), which takes
    as much disk as the data take memory; no second copy of it is made. Of an AnnData, X is written so, in blocks of rows,
    which are all that is read at a time of a backed one; transform returns the AnnData of the chosen variables. Paths, globs, folders
    and URLs are read by the command where they lie.

    A DataFrame is read like a file: texts, dates and categories of texts are left out, and ``selection_`` gives the
    reason, unless options make features of them (``{"categorical": "auto", "times": True}``). transform then
    returns the column that they were made of.

    The command tells columns apart by their names. Of a DataFrame in which several share a name, or
    one has none, ``selection_`` has names with the column's number in their place; ranking_ and the
    names that come out are those of the DataFrame.
    """

    feature_names_in_: Any

    def __init__(
        self,
        k: int | str = "auto",
        *,
        method: str | None = None,
        scale: str | None = None,
        missing: str | None = None,
        random_state: Any = 0,
        memory_limit: str | None = None,
        n_jobs: int | None = None,
        options: Mapping[str, Any] | None = None,
        temp_dir: Path | None = None,
        progress: Progress = False,
        command: Path | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.options = options
        self.temp_dir = temp_dir
        self.progress = progress
        self.command = command

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> UFSSelector:
        """Select from X: an array, sparse matrix or DataFrame of shape (n_samples, n_features), an AnnData,
        or a path, glob, folder or URL, or a list of these. y is ignored.

        A row counts as often as its sample_weight says, which is not negative. Files have such a
        column: ``options={"weight": "name"}``.
        """
        if is_path(X):
            if sample_weight is not None:
                raise ValueError("files have no sample_weight: name their column of weights, as options={'weight': 'name'}")
            return self._fit_paths(X)
        if is_anndata(X):
            return self._fit_anndata(X, sample_weight)
        X = self._checked(table_of(X))
        columns, options = columns_of(X)
        weight, weights = self._weights_of(sample_weight, X, [c.name for c in columns])
        if weight is not None:
            options["weight"] = weight
            columns.append(Column(weight, weights))
        with file_of(columns, type(X).__name__, self.temp_dir) as path:
            self.selection_ = self._select(path, **options)
        self._chosen_names: dict[int, str] | None = None
        self._take_ranking()
        return self

    def _weights_of(self, sample_weight: Any, X: Any, names: list[str]) -> tuple[str | None, Any]:
        """Return the name of the column of weights, which none of the names equals, and the weights; None without weights."""
        if sample_weight is None:
            return None, None
        if (self.options or {}).get("weight") is not None:
            raise ValueError("rows have the weights sample_weight, and others by options['weight']: leave one out")
        name = "sample_weight"
        while name in names:
            name += "'"
        return name, _check_sample_weight(sample_weight, X, dtype=np.float64)

    def _fit_anndata(self, adata: Any, sample_weight: Any) -> UFSSelector:
        from ._arrow import unique_names

        self.n_features_in_, self.feature_names_in_ = adata.n_vars, np.array([str(name) for name in adata.var_names], dtype=object)
        names = unique_names(self.feature_names_in_)
        weight, weights = self._weights_of(sample_weight, np.zeros((adata.n_obs, 1)), names)
        blocks = blocks_of(adata, names, weight, weights)
        first: list[Column] = next(blocks, [])
        is_sparse = len(first) > 0 and first[0].ends is not None
        options = {"sparse": ["index", "x", adata.n_vars]} if is_sparse else {}
        with file_of_blocks(itertools.chain([first], blocks), type(adata).__name__, self.temp_dir) as path:
            self.selection_ = self._select(path, weight=weight, **options)
        if is_sparse:
            rename_features(self.selection_, names)
        self._chosen_names = None
        self._take_ranking()
        return self

    def _fit_paths(self, X: Inputs) -> UFSSelector:
        self.selection_ = s = self._select(X)
        if not s.get("input_columns"):
            raise UFSError("the result does not say where its columns stand in the input; ufs_stream.select returns it all the same")
        self.n_features_in_ = s["input_columns"]
        self._chosen_names = chosen_names(s)
        names = input_names(s)
        # The elements of an array without names are called x[0], x[1], …: they are none that a DataFrame has.
        if names is None or all(name == f"x[{at}]" for at, name in enumerate(names)):
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._take_ranking()
        return self

    def _take_ranking(self) -> None:
        chosen = dict.fromkeys(at for f in self.selection_["selected"] for at in positions_of(f))
        self.ranking_ = np.array(list(chosen), dtype=np.intp)

    def _select(self, inputs: Inputs, **extra: Any) -> Selection:
        # A dict of the command's own flags comes last: it may say anything.
        selection = _command.select(
            inputs,
            command=self.command,
            progress=self.progress,
            **{
                "k": self.k,
                "method": self.method,
                "scale": self.scale,
                "missing": self.missing,
                "seed": seed_of(self.random_state),
                "memory_limit": self.memory_limit,
                "threads": threads_of(self.n_jobs),
                "temp_dir": self.temp_dir,
                **extra,
                **(self.options or {}),
            },
        )
        if selection["schema"] == "ufs-stream/selection/v1":  # whose columns are indices among the features
            raise UFSError("the command ufs-stream is older than this package: install one of the same version")
        return selection

    def _checked(self, X: Any) -> Any:
        """Check X as scikit-learn's estimators do. The command checks the values of a DataFrame, and names its columns."""
        if is_frame(X):
            validate_data(self, X, reset=True, skip_check_array=True)
            is_sparse = X.shape[1] > 0 and all(getattr(dtype, "fill_value", None) == 0 for dtype in X.dtypes)
            return X.sparse.to_coo().tocsr() if is_sparse else X
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=self.missing == "error",
            ensure_min_samples=2,
        )
        if X.dtype.kind in "mM":
            raise ValueError("X holds dates or times, which are no numbers: subtract a date and divide by a unit of time")
        if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
            return X.astype(np.float64)
        return X

    def _get_support_mask(self) -> Any:
        check_is_fitted(self, "selection_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.ranking_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Reduce X to the chosen columns, in the order of its columns.

        Of features that were made of a column (categories, parts of times) the column itself is returned,
        as by apply. A DataFrame with more columns than fit has seen is reduced by names. After a
        fit on files X is the same data in memory: an array or sparse matrix of all columns of the input, or a
        DataFrame, which is reduced by names and may have more or fewer columns.
        """
        if is_path(X):
            raise TypeError("transform takes an array or DataFrame; apply(inputs, output) reduces files")
        check_is_fitted(self, "selection_")
        if is_anndata(X):
            return X[:, self._places_in(X.var_names)]
        X = table_of(X)
        of_files = self._chosen_names is not None
        if not is_frame(X) and not of_files:
            return super().transform(X)
        how = {"accept_sparse": "csr", "dtype": None, FINITE: self.missing == "error"}
        if not is_frame(X):
            X = check_array(X, **how)
            self._refuse_width(X)
            return X[:, np.sort(self.ranking_)]
        X = X.iloc[:, self._columns_in(X) if of_files else self._columns_seen_in(X)]
        if wants_frame(self):
            return X
        if len({dtype.kind for dtype in X.dtypes} & set("mM")) > 0 and X.dtypes.nunique() > 1:
            X = X.astype(object)  # numpy has no other type for times and numbers in one array
        return check_array(X, **how)

    def _places_in(self, var_names: Any) -> Any:
        """Return where the chosen columns stand in an AnnData, by their names."""
        places: dict[str, list[int]] = {}
        for at, name in enumerate(var_names):
            places.setdefault(str(name), []).append(at)
        names = self.get_feature_names_out()
        if len(var_names) == self.n_features_in_ and list(map(str, var_names)) == list(getattr(self, "feature_names_in_", [])):
            return np.sort(self.ranking_)  # names may occur twice
        lost = [name for name in names if len(places.get(name, [])) != 1]
        if lost:
            raise ValueError(f"the AnnData must have one variable of each chosen name, and has none or several named {', '.join(map(repr, lost[:10]))}")
        return [places[name][0] for name in names]

    def _columns_seen_in(self, frame: Any) -> Any:
        """Return where the chosen columns of the array or DataFrame that fit has seen stand in a DataFrame."""
        names = getattr(self, "feature_names_in_", None)
        places = np.arange(frame.shape[1])
        if names is not None and frame.columns.is_unique and set(names) < set(frame.columns):
            places = frame.columns.get_indexer(names)
        validate_data(self, frame.iloc[:0, places], reset=False, skip_check_array=True)
        return places[np.sort(self.ranking_)]

    def _columns_in(self, frame: Any) -> Any:
        """Return where the chosen columns of files stand in a DataFrame: by their names, and by position if the DataFrame
        or the files have none."""
        names = self.get_feature_names_out()
        columns = {name: at for at, name in enumerate(frame.columns)}
        counts = frame.columns.value_counts()
        lost = [name for name in names if counts.get(name) != 1]
        if not lost:
            return [columns[name] for name in names]
        support = np.sort(self.ranking_)
        if any(isinstance(c, str) for c in columns) and any(name != f"x[{at}]" for at, name in zip(support, names)):
            raise ValueError(f"X must have one column of each chosen name, and has none or several named {', '.join(map(repr, lost[:10]))}")
        self._refuse_width(frame)
        return support

    def _refuse_width(self, X: Any) -> None:
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input, as many as the files have columns"
            )

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the chosen columns, in the order of the input."""
        check_is_fitted(self, "selection_")
        names = getattr(self, "_chosen_names", None)
        if names is None or input_features is not None:
            return super().get_feature_names_out(input_features)
        return np.array([names[at] for at in np.sort(self.ranking_)], dtype=object)

    def apply(self, inputs: Inputs, output: Path, **options: Any) -> UFSSelector:
        """Write the chosen columns of files to `output`, streamed by the command.

        Columns are found by name; `options` are the flags of ``ufs-stream apply``.
        """
        check_is_fitted(self, "selection_")
        _command.apply(inputs, self.selection_, output, command=self.command, progress=self.progress, **options)
        return self

    # What scikit-learn wants to know: until 1.5, and from 1.6 on.
    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": self.missing != "error", "requires_y": False}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        return tags


def is_path(X: Any) -> bool:
    """Say whether X is a path or a list of paths."""
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, (str, os.PathLike)) for x in X)


def table_of(X: Any) -> Any:
    """Return X as numpy or pandas have it: the DataFrame of a table that offers one, or a stream of Arrow, as those of
    pyarrow and polars do, and NaN in place of what is masked or stands for all that a sparse column does not list."""
    if hasattr(X, "to_pandas") and not is_frame(X):
        try:
            X = X.to_pandas()
        except ImportError:  # polars needs pyarrow for it
            pass
    if hasattr(X, "__arrow_c_stream__") and not is_frame(X):
        from ._frame import frame_of  # imports pandas

        X = frame_of(X)
    if isinstance(X, np.ma.MaskedArray):
        masked: Any = X
        return masked.astype(np.float64).filled(np.nan) if masked.mask.any() else masked.data
    if is_frame(X) and X.shape[1] > 0:
        fills = [getattr(dtype, "fill_value", None) for dtype in X.dtypes]
        if None not in fills and any(fill != 0 for fill in fills):  # which is no sparse matrix
            return X.sparse.to_dense()
    return X


def wants_frame(estimator: Any) -> bool:
    """Say whether transform is to return a DataFrame (set_output)."""
    try:
        from sklearn.utils._set_output import _get_output_config
    except ImportError:  # before scikit-learn 1.2
        return False
    return bool(_get_output_config("transform", estimator)["dense"] == "pandas")


def seed_of(random_state: Any) -> int:
    """Return the command's seed, which counts from 1."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state) + 1
    if hasattr(random_state, "integers"):  # a numpy Generator
        return int(random_state.integers(2**31)) + 1
    return int(check_random_state(random_state).randint(2**31 - 1)) + 1


def threads_of(n_jobs: int | None) -> int | None:
    """Return --threads of scikit-learn's n_jobs; None means one for each core."""
    if n_jobs is None or n_jobs == -1:
        return None
    return n_jobs if n_jobs > 0 else max((os.cpu_count() or 1) + 1 + n_jobs, 1)


def positions_of(selected: Mapping[str, Any]) -> list[int]:
    """Return the positions in the input of what was selected: several of a group."""
    return selected.get("columns") or [selected["column"]]


def chosen_names(selection: Mapping[str, Any]) -> dict[int, str]:
    """Return the names of the chosen columns of the input by their positions."""
    names: dict[int, str] = {}
    for f in selection["selected"]:
        for at, name in zip(positions_of(f), f.get("reads") or f.get("members") or [f["name"]]):
            if "missing-indicators" in selection["options"] and name.startswith("is_missing("):
                name = name[len("is_missing(") : -1]
            names.setdefault(at, name)
    return names


def input_names(selection: Mapping[str, Any]) -> list[str] | None:
    """Return the names of all columns of the input; None if the selection does not tell them all."""
    if {"categorical", "times", "missing-indicators"} & set(selection["options"]):
        return None  # features are made of columns, and have other names
    names = {c["column"]: c["name"] for c in [*selection["columns"], *selection["left_out"]] if c.get("column") is not None}
    if len(names) < selection["input_columns"]:
        return None
    return [names[at] for at in range(len(names))]


def columns_of(X: Any) -> tuple[list[Column], dict[str, Any]]:
    """Return the columns of X for the command, and the options to read them. Nothing is copied that numpy shares."""
    if is_frame(X):
        from ._frame import columns_of  # imports pandas

        return columns_of(X), {}
    if not hasattr(X, "tocsr"):
        return [Column(f"x[{at}]", X[:, at]) for at in range(X.shape[1])], {}
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    entries = X.data.astype(np.uint8) if X.dtype == bool else X.data
    columns = [Column("index", X.indices, ends=X.indptr), Column("x", entries, ends=X.indptr)]
    return columns, {"sparse": ["index", "x", X.shape[1]]}
