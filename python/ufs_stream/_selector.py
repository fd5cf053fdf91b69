"""The command as a scikit-learn transformer."""

import os
import tempfile

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from . import _command

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator, X, **how):
        how["force_all_finite"] = how.pop("ensure_all_finite", True)
        return estimator._validate_data(X, **how)


class UFSSelector(SelectorMixin, BaseEstimator):
    """Select the features that explain all the others, without labels.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Features to keep. "auto" keeps as many as explain more than noise would, for methods on
        a Gram matrix.
    method : str, default=None
        A method of the command (``ufs-stream help methods``); None takes the recommended one.
    scale : str, default=None
        "none", "center", "minmax", "unit", "standard", "pareto" or "rank"; None is the method's
        own.
    missing : {"error", "mean", "zero", "drop-row", "pairwise"}, default="error"
        What null, NaN and infinities mean.
    random_state : int, default=0
        Of everything random: the same number gives the same choice to the bit. The command's seed
        is one more, as it counts seeds from 1.
    memory_limit : str, default=None
        Peak resident memory of the command, as "4GiB"; None means its default, 2 GiB. It does
        not count the array in this process.
    n_jobs : int, default=None
        Threads; None and -1 mean one for each core.
    options : dict, default=None
        Further flags of ``ufs-stream select`` by name: ``{"anchors": 500, "alpha": "0.1x"}``.
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
        Indices of the chosen features, the most important first.
    n_features_in_ : int
        Features seen by fit; for files, the features that the command used.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, for DataFrames and files.

    Notes
    -----
    An array is written to a temporary file (.npy, or libsvm text for a sparse matrix), which the
    command streams; it takes as much disk as the array takes memory. Paths, globs, folders and
    URLs are read by the command where they lie.
    """

    def __init__(
        self,
        k="auto",
        *,
        method=None,
        scale=None,
        missing="error",
        random_state=0,
        memory_limit=None,
        n_jobs=None,
        options=None,
        temp_dir=None,
        progress=False,
        command=None,
    ):
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

    def fit(self, X, y=None):
        """Select from X: an array, sparse matrix or DataFrame of shape (n_samples, n_features),
        or a path, glob, folder or URL, or a list of these. y is ignored."""
        if is_path(X):
            return self._fit_paths(X)
        X = self._checked(X)
        names = getattr(self, "feature_names_in_", None)
        with tempfile.TemporaryDirectory(prefix="ufs-stream-", dir=self.temp_dir) as folder:
            path, extra = write_matrix(X, names, folder)
            self.selection_ = self._select(path, **extra)
        chosen = [s["name"] for s in self.selection_["selected"]]
        if names is None or hasattr(X, "tocsr"):
            index = [int(name[2:-1]) for name in chosen]  # 12 of x[12]
        else:
            where = {name: j for j, name in enumerate(names)}
            index = [where[name] for name in chosen]
        self.ranking_ = np.array(index, dtype=np.intp)
        return self

    def _fit_paths(self, X):
        self.selection_ = self._select(X)
        names = [c["name"] for c in self.selection_["columns"]]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.ranking_ = np.array([s["column"] for s in self.selection_["selected"]], dtype=np.intp)
        return self

    def _select(self, inputs, **extra):
        # A dict of the command's own flags comes last: it may say anything.
        return _command.select(
            inputs,
            command=self.command,
            progress=self.progress,
            **{
                "k": self.k,
                "method": self.method,
                "scale": self.scale,
                "missing": self.missing,
                "seed": self.random_state + 1,
                "memory_limit": self.memory_limit,
                "threads": None if self.n_jobs in (None, -1) else self.n_jobs,
                "temp_dir": self.temp_dir,
                **extra,
                **(self.options or {}),
            },
        )

    def _checked(self, X):
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=self.missing == "error",
            ensure_min_samples=2,
        )
        if X.dtype == np.float16:
            return X.astype(np.float32)
        if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
            return X.astype(np.float64)
        return X

    def _get_support_mask(self):
        check_is_fitted(self, "selection_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.ranking_] = True
        return mask

    def transform(self, X):
        """Reduce X to the chosen features, in the order of its columns.

        A DataFrame may have more columns than those that a fit on files used.
        """
        if is_path(X):
            raise TypeError("transform takes an array or DataFrame; apply(inputs, output) reduces files")
        check_is_fitted(self, "selection_")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns") and set(names) < set(X.columns):
            X = X[list(names)]
        return super().transform(X)

    def apply(self, inputs, output, **options):
        """Write the chosen columns of files to `output`, streamed by the command.

        Columns are found by name; `options` are the flags of ``ufs-stream apply``.
        """
        check_is_fitted(self, "selection_")
        _command.apply(inputs, self.selection_, output, command=self.command, progress=self.progress, **options)
        return self

    # What scikit-learn wants to know: until 1.5, and from 1.6 on.
    def _more_tags(self):
        return {"allow_nan": self.missing != "error", "requires_y": False}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        return tags


def is_path(X):
    """Say whether X is a path or a list of paths."""
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, (str, os.PathLike)) for x in X)


def write_matrix(X, names, folder):
    """Write X for the command; return the path and the flags that go with it."""
    if hasattr(X, "tocsr"):
        from sklearn.datasets import dump_svmlight_file

        path = os.path.join(folder, "x.svm")
        # Without an entry in the last column the file would not tell of it: such a feature is
        # constant, and the command leaves those out as well.
        dump_svmlight_file(X, np.zeros(X.shape[0]), path, zero_based=True)
        return path, {"label": "label"}
    path = os.path.join(folder, "x.npy")
    if names is None:
        np.save(path, X)
        return path, {}
    # Records of one type lie in memory as the rows of a matrix do, and their fields have names.
    with open(path, "wb") as f:
        f.write(npy_header([(name, X.dtype.str) for name in names], X.shape[0]))
        for start in range(0, X.shape[0], ROWS):
            f.write(np.ascontiguousarray(X[start : start + ROWS]).tobytes())
    return path, {}


ROWS = 4096  # written at a time, so that a matrix stored by columns is not copied whole


def npy_header(fields, rows):
    """Return the head of a .npy file of records, version 3.0, whose names may be any text
    (numpy.lib.format writes it with a warning, and not from a matrix)."""
    text = repr({"descr": fields, "fortran_order": False, "shape": (rows,)}).encode("utf-8")
    text += b" " * (-(len(text) + 13) % 64) + b"\n"
    return b"\x93NUMPY\x03\x00" + len(text).to_bytes(4, "little") + text
