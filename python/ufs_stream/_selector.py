"""The command as a scikit-learn transformer."""

from __future__ import annotations

import inspect
import numbers
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _command
from ._command import Inputs, Path, Progress
from ._errors import UFSError
from ._frame import is_frame, unique_names
from ._selection import Selection

FINITE = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator: Any, X: Any, **how: Any) -> Any:
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
    An array is written to a temporary file (.npy, or libsvm text for a sparse matrix), which the
    command streams; it takes as much disk as the array takes memory. Paths, globs, folders and
    URLs are read by the command where they lie.

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

    def fit(self, X: Any, y: Any = None) -> UFSSelector:
        """Select from X: an array, sparse matrix or DataFrame of shape (n_samples, n_features),
        or a path, glob, folder or URL, or a list of these. y is ignored."""
        if is_path(X):
            return self._fit_paths(X)
        X = self._checked(table_of(X))
        names = getattr(self, "feature_names_in_", None)
        with tempfile.TemporaryDirectory(prefix="ufs-stream-", dir=self.temp_dir) as folder:
            path, extra = write_matrix(X, names, folder)
            self.selection_ = self._select(path, **extra)
        self._chosen_names: dict[int, str] | None = None
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
        if is_frame(X):
            refuse_columns(X)
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
        if X.dtype == np.float16:
            return X.astype(np.float32)
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

        After a fit on files X is the same data in memory: an array or sparse matrix of all columns
        of the input, or a DataFrame, which is reduced by names and may have more or fewer columns.
        """
        if is_path(X):
            raise TypeError("transform takes an array or DataFrame; apply(inputs, output) reduces files")
        check_is_fitted(self, "selection_")
        X = table_of(X)
        if getattr(self, "_chosen_names", None) is not None:
            return self._reduce(X)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns") and X.columns.is_unique and set(names) < set(X.columns):
            X = X[list(names)]
        return super().transform(X)

    def _reduce(self, X: Any) -> Any:
        """Reduce X after a fit on files."""
        how = {"accept_sparse": "csr", "dtype": None, FINITE: self.missing == "error"}
        if not is_frame(X):
            X = check_array(X, **how)
            self._refuse_width(X)
            return X[:, np.sort(self.ranking_)]
        X = X.iloc[:, self._columns_in(X)]
        if wants_frame(self):
            return X
        if len({dtype.kind for dtype in X.dtypes} & set("mM")) > 0 and X.dtypes.nunique() > 1:
            X = X.astype(object)  # numpy has no other type for times and numbers in one array
        return check_array(X, **how)

    def _columns_in(self, frame: Any) -> Any:
        """Return where the chosen columns stand in a DataFrame: by their names, and by position where the DataFrame or
        the files have none."""
        names = self.get_feature_names_out()
        columns = list(frame.columns)
        lost = [name for name in names if columns.count(name) != 1]
        if not lost:
            return [columns.index(name) for name in names]
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
    """Return X as numpy or pandas have it: the DataFrame of a table that offers one, as those of pyarrow and polars
    do, and NaN in place of what is masked or stands for all that a sparse column does not list."""
    if hasattr(X, "to_pandas") and not is_frame(X):
        try:
            X = X.to_pandas()
        except ImportError:  # polars needs pyarrow for it, and numpy reads what it has without names
            return X
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


def refuse_columns(frame: Any) -> None:
    """Refuse the columns of a DataFrame that are no numbers, by name. Others would be converted in silence."""
    for at, dtype in enumerate(frame.dtypes):
        kind = getattr(dtype, "kind", "O")
        if getattr(dtype, "name", "") == "category":
            kind = dtype.categories.dtype.kind
        what = {"M": "dates or times", "m": "spans of time"}.get(kind)
        if what is None and kind in "OUS":
            what = text_in(frame.iloc[:, at])
        if what is not None:
            raise ValueError(
                f"column {frame.columns[at]!r} holds {what}, which are no numbers: leave it out or convert it; "
                "from a file the command leaves it out, or takes it with options={'categorical': …} or {'times': True}"
            )


def text_in(column: Any) -> str | None:
    """Say what a column of objects holds if it does not convert to numbers: None if it does."""
    try:
        np.asarray(column.dropna(), dtype=np.float64)
    except (TypeError, ValueError):
        return f"texts or objects (the first is {column.dropna().iloc[0]!r})"
    return None


def write_matrix(X: Any, names: Any, folder: str) -> tuple[str, dict[str, Any]]:
    """Write X for the command; return the path and the flags that go with it."""
    if hasattr(X, "tocsr"):
        path = os.path.join(folder, "x.svm")
        write_entries(X, path)
        return path, {"label": "label"}
    path = os.path.join(folder, "x.npy")
    if names is None:
        np.save(path, X)
        return path, {}
    # Records of one type lie in memory as the rows of a matrix do, and their fields have names.
    with open(path, "wb") as f:
        f.write(npy_header([(name, X.dtype.str) for name in unique_names(names)], X.shape[0]))
        for start in range(0, X.shape[0], ROWS):
            f.write(np.ascontiguousarray(X[start : start + ROWS]).tobytes())
    return path, {}


def write_entries(X: Any, path: str) -> None:
    """Write a sparse matrix as libsvm text, with all digits of its numbers and whatever is missing (scikit-learn's
    own writer has 16 digits, no NaN and no booleans).

    Without an entry in the last column the file does not tell of it: such a feature is constant, and the command
    leaves those out as well.
    """
    X = X.astype(np.float64)
    X.sum_duplicates()
    with open(path, "w", encoding="ascii") as f:
        for start in range(0, X.shape[0], ROWS):
            ends = X.indptr[start : start + ROWS + 1]
            entries = [f" {j}:{value!r}" for j, value in zip(X.indices[ends[0] : ends[-1]].tolist(), X.data[ends[0] : ends[-1]].tolist())]
            f.writelines("0" + "".join(entries[a - ends[0] : b - ends[0]]) + "\n" for a, b in zip(ends, ends[1:]))


ROWS = 4096  # written at a time, so that a matrix stored by columns is not copied whole


def npy_header(fields: list[tuple[str, str]], rows: int) -> bytes:
    """Return the head of a .npy file of records, version 3.0, whose names may be any text
    (numpy.lib.format writes it with a warning, and not from a matrix)."""
    text = repr({"descr": fields, "fortran_order": False, "shape": (rows,)}).encode("utf-8")
    text += b" " * (-(len(text) + 13) % 64) + b"\n"
    return b"\x93NUMPY\x03\x00" + len(text).to_bytes(4, "little") + text
