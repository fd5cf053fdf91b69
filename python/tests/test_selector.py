import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import ufs_stream
from ufs_stream import UFSSelector

from . import DATASETS, planted


class Selector(unittest.TestCase):
    def test_scikit_learn_accepts_it(self):
        """All of check_estimator, none of its checks exempted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ufs_stream.UFSWarning)
            for estimator in (UFSSelector(), UFSSelector(k=1, method="greedy")):
                with self.subTest(estimator=estimator):
                    check_estimator(estimator)

    def test_finds_each_factor(self):
        x, of = planted()
        s = UFSSelector(k=4, method="greedy", scale="standard").fit(x)
        self.assertEqual(set(of[s.ranking_]), {0, 1, 2, 3})
        self.assertEqual(list(s.get_support(indices=True)), sorted(s.ranking_))
        np.testing.assert_array_equal(s.transform(x), x[:, sorted(s.ranking_)])

    def test_any_layout_gives_the_same(self):
        x = planted()[0]
        want = UFSSelector(k=5, method="greedy").fit(x)
        for name, same in {
            "by columns": np.asfortranarray(x),
            "strided": np.repeat(x, 2, axis=1)[:, ::2],
            "big endian": x.astype(">f8"),
            "frame": pd.DataFrame(x),
            "named": pd.DataFrame(x, columns=[f"f{j}" for j in range(x.shape[1])]),
            "sparse": sp.csr_matrix(x),
        }.items():
            with self.subTest(name):
                got = UFSSelector(k=5, method="greedy").fit(same)
                np.testing.assert_array_equal(got.ranking_, want.ranking_)
                for a, b in zip(got.selection_["selected"], want.selection_["selected"]):
                    self.assertAlmostEqual(a["score"], b["score"], delta=1e-9 * abs(b["score"]))

    def test_pandas_in_names_out(self):
        x, of = planted()
        names = ["plain", "with space", 'quo"te', "it's", "comma,", "α\n", "emb[3]", "a.b"]
        names += [f"f{j}" for j in range(len(names), x.shape[1])]
        frame = pd.DataFrame(x, columns=names)
        s = UFSSelector(k=6, method="greedy").fit(frame)
        self.assertEqual([f["name"] for f in s.selection_["selected"]], [names[j] for j in s.ranking_])
        self.assertEqual(list(s.get_feature_names_out()), [names[j] for j in sorted(s.ranking_)])
        out = UFSSelector(k=6, method="greedy").set_output(transform="pandas").fit_transform(frame)
        pd.testing.assert_frame_equal(out, frame[[names[j] for j in sorted(s.ranking_)]])
        for kind in ("int8", "float32", "bool", "Int64"):
            with self.subTest(kind):
                typed = (frame * 10).round().astype("int8").astype(kind)
                self.assertEqual(len(UFSSelector(k=3).fit(typed).ranking_), 3)

    def test_clones_and_pickles(self):
        x = planted()[0]
        s = clone(UFSSelector(k=3, method="greedy", options={"refine": "swap"})).fit(x)
        again = pickle.loads(pickle.dumps(s))
        np.testing.assert_array_equal(again.transform(x), s.transform(x))
        self.assertEqual(again.selection_, s.selection_)
        with self.assertRaises(NotFittedError):
            clone(s).transform(x)

    def test_pipeline(self):
        x, of = planted()
        p = make_pipeline(StandardScaler(), UFSSelector(k=4), KMeans(4, n_init=1, random_state=0)).fit(x)
        self.assertEqual(p[-1].cluster_centers_.shape, (4, 4))
        p.set_params(ufsselector__k=2).fit(x)
        self.assertEqual(p[-1].cluster_centers_.shape, (4, 2))

    def test_missing(self):
        x = planted()[0]
        x[5, 2] = np.nan
        with self.assertRaisesRegex(ValueError, "NaN"):
            UFSSelector(k=3, missing="error").fit(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ufs_stream.UFSWarning)
            s = UFSSelector(k=3, missing="mean").fit(x)
        self.assertEqual(s.transform(x).shape, (len(x), 3))
        said = "missing values are filled by their column's mean: 1 in x.2.; missing=.error. refuses them"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            np.save(path, x)
            for what in (x, path):
                with self.assertWarnsRegex(ufs_stream.UFSWarning, said):
                    unasked = UFSSelector(k=3).fit(what)
                np.testing.assert_array_equal(unasked.ranking_, s.ranking_)
                self.assertEqual(unasked.selection_["options"]["missing"], "mean")
                np.testing.assert_array_equal(unasked.transform(x), s.transform(x))
            with self.assertRaisesRegex(ufs_stream.DataError, "missing value"):
                UFSSelector(k=3, missing="error").fit(path)

    def test_files(self):
        x, of = planted()
        names = [f"f{j}" for j in range(x.shape[1])]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            pd.DataFrame(x, columns=names).assign(where="here").to_csv(path, index=False)
            s = UFSSelector(k=4, method="greedy").fit(path)
            np.testing.assert_array_equal(s.ranking_, UFSSelector(k=4, method="greedy").fit(x).ranking_)
            self.assertEqual(list(s.get_feature_names_out()), [names[j] for j in sorted(s.ranking_)])
            frame = pd.read_csv(path)
            np.testing.assert_array_equal(s.transform(frame), frame[s.get_feature_names_out()])
            with self.assertRaisesRegex(TypeError, "apply"):
                s.transform(path)
            with self.assertRaisesRegex(ValueError, "one column of each chosen name"):
                s.transform(frame.drop(columns=s.get_feature_names_out()[0]))
            s.apply(path, os.path.join(folder, "small.parquet"), also=["where"])
            small = UFSSelector(k=4, method="greedy").fit([os.path.join(folder, "small.parquet")])
            self.assertEqual(set(small.feature_names_in_), {*s.get_feature_names_out(), "where"})

    def test_files_and_arrays_agree(self):
        """Positions in a file are those of numpy.load and pandas.read_csv: X[:, ranking_] are the chosen columns. A text,
        a label and a constant are left out before, between and behind the features, and count."""
        x = planted()[0]
        x[:, [0, 7]] = 1.5, -2  # constants
        names = [f"f{j}" for j in range(x.shape[1])]
        frame = pd.DataFrame(x, columns=names)
        frame.insert(3, "y", np.arange(len(x)) % 3)
        frame.insert(0, "id", [f"row {i}" for i in range(len(x))])
        frame["end"] = "text"
        with tempfile.TemporaryDirectory() as folder:
            npy, csv = os.path.join(folder, "x.npy"), os.path.join(folder, "x.csv")
            np.save(npy, x)
            frame.to_csv(csv, index=False)
            want = UFSSelector(k=6, method="greedy").fit(x)
            got = UFSSelector(k=6, method="greedy").fit(npy)
            np.testing.assert_array_equal(got.get_support(indices=True), want.get_support(indices=True))
            np.testing.assert_array_equal(got.get_support(), want.get_support())
            self.assertEqual(got.n_features_in_, x.shape[1])
            self.assertFalse(hasattr(got, "feature_names_in_"))
            for same in (x, np.asfortranarray(x), sp.csr_matrix(x), pd.DataFrame(x), pd.DataFrame(x, columns=names)):
                reduced = got.transform(same)
                np.testing.assert_array_equal(reduced.toarray() if sp.issparse(reduced) else reduced, want.transform(x))
            with self.assertRaisesRegex(ValueError, "expecting 20 features"):
                got.transform(x[:, :7])

            got = UFSSelector(k=6, method="greedy", options={"label": "y"}).fit(csv)
            self.assertEqual(list(got.feature_names_in_), list(frame.columns))
            self.assertEqual(list(got.ranking_), [frame.columns.get_loc(names[j]) for j in want.ranking_])
            self.assertEqual([f["name"] for f in got.selection_["selected"]], [names[j] for j in want.ranking_])
            self.assertEqual(list(got.get_feature_names_out()), list(frame.columns[got.get_support()]))
            np.testing.assert_array_equal(got.transform(frame), x[:, want.get_support()])
            np.testing.assert_array_equal(got.transform(frame.to_numpy()), x[:, want.get_support()])
            np.testing.assert_array_equal(got.transform(frame[frame.columns[::-1]]), x[:, want.get_support()])
            pd.testing.assert_frame_equal(got.set_output(transform="pandas").transform(frame), frame[got.get_feature_names_out()])
            got.set_params(options=None).fit(frame[names])  # again, and nothing of the file is left
            np.testing.assert_array_equal(got.ranking_, want.ranking_)

    def test_wide(self):
        """Beyond 20,000 features the selection has no reports on them."""
        x = np.random.default_rng(0).standard_normal((30, 20_500)).astype(np.float32)
        x[:, :2] = 1, 0
        best = np.sort(np.argsort(-x.var(axis=0))[:3])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            np.save(path, x)
            for what in (x, path, pd.DataFrame(x).add_prefix("column ")):
                s = UFSSelector(k=3, method="variance").fit(what)
                self.assertEqual(s.n_features_in_, 20_500)
                np.testing.assert_array_equal(s.get_support(indices=True), best)
                if what is not path:
                    self.assertEqual(s.transform(what).shape, (30, 3))
            self.assertEqual(list(UFSSelector(k=3, method="variance").fit(path).get_feature_names_out()), [f"x[{j}]" for j in best])

    def test_categories_times_and_groups(self):
        """Features that are made of a column stand for it, and all columns of a group are chosen with it."""
        x = planted()[0]
        names = [f"f{j}" for j in range(x.shape[1])]
        r = np.random.default_rng(5)
        frame = pd.DataFrame(x.copy(), columns=names)
        frame.insert(2, "kind", r.choice(["u", "v", "w"], len(x)))
        frame.insert(5, "day", pd.date_range("2020-01-01", periods=len(x)).astype(str))
        frame.loc[::9, "f4"] = np.nan
        made = {"categorical": ["kind"], "times": True, "missing_indicators": True, "keep": ["kind", "day", "is_missing(f4)"]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            frame.to_csv(path, index=False)
            s = UFSSelector(k=5, method="greedy", missing="mean", options=made).fit(path)
            self.assertEqual(list(s.ranking_[:3]), [2, 5, frame.columns.get_loc("f4")])
            self.assertEqual(s.n_features_in_, frame.shape[1])
            self.assertEqual(list(s.get_feature_names_out()), list(frame.columns[s.get_support()]))
            self.assertLessEqual({"kind", "day", "f4"}, set(s.get_feature_names_out()))
            got = s.transform(frame)[:, [list(s.get_feature_names_out()).index(name) for name in ("kind", "day")]]
            np.testing.assert_array_equal(got, frame[["kind", "day"]])
            timed = frame.assign(day=pd.to_datetime(frame["day"]))  # as pandas or a Parquet file has it
            got = s.transform(timed)[:, list(s.get_feature_names_out()).index("day")]
            self.assertEqual(list(got), list(timed["day"]))
            grouped = {"groups": {"both": ["f1", "f19"]}, "keep": "both"}
            s = UFSSelector(k=3, method="greedy", missing="mean", options=grouped).fit(path)
            self.assertEqual(list(s.ranking_[:2]), [1, 21])
            self.assertEqual(len(s.ranking_), 4)
            self.assertLessEqual({"f1", "f19"}, set(s.get_feature_names_out()))
        for names, what in ((names, pd.DataFrame(x, columns=names)), ([f"x[{j}]" for j in range(20)], x), ([f"x[{j}]" for j in range(20)], sp.csr_matrix(x))):
            grouped = {"groups": {"both": [names[1], names[19]]}, "keep": "both"}
            s = UFSSelector(k=3, method="greedy", options=grouped).fit(what)
            self.assertEqual(list(s.ranking_[:2]), [1, 19])
            self.assertEqual(s.transform(what).shape, (len(x), 4))

    def test_sparse_kinds(self):
        """Sparse matrices give what their dense copies do, whatever their type, order and duplicates."""
        r = np.random.default_rng(2)
        dense = np.where(r.random((300, 12)) < 0.6, 0, np.ceil(100 * r.random((300, 12))))
        dense[:, 11] = 0  # the text has no entry of it
        for kind in ("bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64"):
            x = dense.astype(kind)
            want = UFSSelector(k=3, method="greedy").fit(x.astype(float))
            for form in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
                with self.subTest(kind=kind, form=form.__name__):
                    s = UFSSelector(k=3, method="greedy").fit(form(x))
                    np.testing.assert_array_equal(s.ranking_, want.ranking_)
                    self.assertEqual(s.n_features_in_, 12)
        twice = sp.coo_matrix((np.r_[dense[dense > 0] / 4, dense[dense > 0] * 0.75], np.hstack([np.nonzero(dense)] * 2)), shape=dense.shape)
        want = UFSSelector(k=3, method="greedy").fit(dense)
        np.testing.assert_array_equal(UFSSelector(k=3, method="greedy").fit(twice.tocsr()).ranking_, want.ranking_)
        third = dense / 3  # numbers of 17 digits: sums of squares in a row-wise order agree to rounding
        for a, b in zip(UFSSelector(k=3, method="variance").fit(sp.csr_matrix(third)).selection_["selected"], UFSSelector(k=3, method="variance").fit(third).selection_["selected"]):
            self.assertAlmostEqual(a["score"], b["score"], delta=1e-12 * abs(b["score"]))
        holes = third.copy()
        holes[3, np.nonzero(holes[3])[0][0]] = np.nan
        want = UFSSelector(k=3, method="greedy", missing="mean").fit(holes)
        np.testing.assert_array_equal(UFSSelector(k=3, method="greedy", missing="mean").fit(sp.csr_matrix(holes)).ranking_, want.ranking_)

    def test_names_that_tell_nothing_apart(self):
        x = planted()[0][:, :8]
        want = UFSSelector(k=8, method="greedy").fit(x)
        for names in (["a", "b", "a", "", "", "é", "a (column 0)", 'x"'], ["a\x00", "\ud800", "c", ".d", "[0]", "x[1]", "=", "\n"], ["a"] * 8, [""] * 8):
            frame = pd.DataFrame(x, columns=names)
            with self.subTest(names=names):
                s = UFSSelector(k=8, method="greedy").fit(frame)
                np.testing.assert_array_equal(s.ranking_, want.ranking_)
                self.assertEqual(list(s.feature_names_in_), names)
                self.assertEqual(list(s.get_feature_names_out()), names)
                self.assertEqual(len({f["name"] for f in s.selection_["selected"]}), 8)
                np.testing.assert_array_equal(s.transform(frame), x)
        for columns in (pd.MultiIndex.from_product([["p", "q"], range(4)]), range(10, 18)):
            frame = pd.DataFrame(x, columns=columns)
            s = UFSSelector(k=3, method="greedy").fit(frame)
            np.testing.assert_array_equal(s.ranking_, want.ranking_[:3])
            np.testing.assert_array_equal(s.transform(frame), x[:, s.get_support()])

    def test_columns_that_are_no_numbers(self):
        """They are left out with their reason, and never converted in silence: nanoseconds of dates would have the largest
        variance."""
        frame = pd.DataFrame(planted()[0][:, :4], columns=list("abcd"))
        want = UFSSelector(k=2, method="greedy").fit(frame).ranking_
        days = pd.Series(pd.date_range("2020-01-01", periods=len(frame)))
        for why, column in [
            ("timestamp", days), ("timestamp", days.dt.tz_localize("UTC")), ("date", days.dt.date), ("duration", days - days[0]), ("text", days.dt.to_period("D")), ("text", pd.Series("u", frame.index)),
            ("text", pd.Series("v", frame.index, dtype="string")), ("text", pd.Series("w", frame.index, dtype="category")), ("text", pd.Series(1j, frame.index)),
        ]:
            with self.subTest(type=column.dtype):
                s = UFSSelector(k=2, method="greedy").fit(frame.assign(odd=column))
                self.assertEqual(s.selection_["left_out"], [{"name": "odd", "why": why, "column": 4}])
                np.testing.assert_array_equal(s.ranking_, want)
                np.testing.assert_array_equal(s.transform(frame.assign(odd=column)), frame.iloc[:, sorted(want)])
        with self.assertRaisesRegex(ValueError, "dates"):
            UFSSelector(k=2).fit(np.array([["2020-01-01", "2020-01-02"]] * 9, dtype="M8[ns]"))
        want = UFSSelector(k=3, method="greedy").fit(frame.round().assign(odd=days.dt.day)).ranking_
        for kind in ("category", "Int64", "Float64", "object", "float16", "longdouble", pd.SparseDtype(float, 1.0), pd.SparseDtype(float, 0.0)):
            with self.subTest(kind=kind):
                same = frame.round().assign(odd=days.dt.day.astype(kind))
                np.testing.assert_array_equal(UFSSelector(k=3, method="greedy").fit(same).ranking_, want)
                same = frame.round().assign(odd=days.dt.day).astype(kind)
                np.testing.assert_array_equal(UFSSelector(k=3, method="greedy").fit(same).ranking_, want)

    def test_reads_a_data_frame_like_a_file(self):
        """A DataFrame gives what its CSV and the function select give, and errors name its columns."""
        x = planted()[0]
        r = np.random.default_rng(6)
        frame = pd.DataFrame(x, columns=[f"f{j}" for j in range(x.shape[1])])
        frame.insert(1, "kind", pd.Categorical(r.choice(["u", "v", None], len(x))))
        frame.insert(4, "day", pd.date_range("2020-01-01", periods=len(x), freq="7h"))
        frame.insert(6, "count", pd.array(r.integers(0, 9, len(x)), dtype="Int64"))
        frame.insert(7, "flag", r.random(len(x)) < 0.5)
        frame.loc[::9, ["f4", "count"]] = None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            frame.to_csv(path, index=False)
            for made in (None, {"categorical": ["kind"], "times": True, "missing_indicators": True, "keep": ["kind", "day"]}):
                with self.subTest(made=made):
                    with self.assertWarnsRegex(ufs_stream.UFSWarning, "filled by their column's mean: 223 in count, 223 in f4"):
                        s = UFSSelector(k=8, method="greedy", options=made).fit(frame)
                    with self.assertWarns(ufs_stream.UFSWarning):
                        want = UFSSelector(k=8, method="greedy", options=made).fit(path)
                    with self.assertWarns(ufs_stream.UFSWarning):
                        same = ufs_stream.select(frame, k=8, method="greedy", **made or {})
                    for key in ("selected", "columns", "left_out", "warnings", "filled", "options", "features"):
                        self.assertEqual(s.selection_.get(key), same.get(key))
                    np.testing.assert_array_equal(s.ranking_, want.ranking_)
                    self.assertEqual(s.selection_["features"], want.selection_["features"])
                    self.assertEqual([c["name"] for c in s.selection_["left_out"]], [] if made else ["kind", "day"])
                    chosen = list(s.get_feature_names_out())
                    self.assertEqual(chosen, list(frame.columns[s.get_support()]))
                    self.assertEqual((s.n_features_in_, list(s.feature_names_in_)), (frame.shape[1], list(frame.columns)))
                    pd.testing.assert_frame_equal(pd.DataFrame(s.transform(frame), columns=chosen).astype(frame[chosen].dtypes), frame[chosen])
                    pd.testing.assert_frame_equal(s.set_output(transform="pandas").transform(frame), frame[chosen])
                    more = frame.iloc[:, ::-1].assign(more=1)
                    pd.testing.assert_frame_equal(s.transform(more), frame[chosen])
                    with self.assertRaisesRegex(ValueError, "feature names should match"):
                        s.transform(frame.iloc[:, ::-1])
        with self.assertRaisesRegex(ufs_stream.DataError, '^DataFrame: .*column "f4", row 0: missing value'):
            UFSSelector(k=2, missing="error").fit(frame.drop(columns="count"))
        with self.assertRaisesRegex(ufs_stream.DataError, r"^DataFrame: no numeric column is left to select from \(kind: text\)"):
            UFSSelector(k=2).fit(frame[["kind"]])

    def test_weights(self):
        """A row of weight w counts as w rows, and one of weight 0 as none."""
        x = planted(rows=300)[0]
        x[x < -1] = 0
        w = np.random.default_rng(7).integers(0, 4, len(x))
        again = np.repeat(x, w, axis=0)
        names = ["sample_weight", *(f"f{j}" for j in range(1, x.shape[1]))]
        want = UFSSelector(k=5, method="greedy").fit(again)
        for name, weighted in {"array": x, "sparse": sp.csr_matrix(x), "frame": pd.DataFrame(x, columns=names), "series": x}.items():
            with self.subTest(name):
                s = UFSSelector(k=5, method="greedy").fit(weighted, sample_weight=pd.Series(w) if name == "series" else w)
                np.testing.assert_array_equal(s.ranking_, want.ranking_)
                for a, b in zip(s.selection_["selected"], want.selection_["selected"]):
                    self.assertAlmostEqual(a["score"], b["score"], delta=1e-9 * b["score"])
                self.assertEqual(s.n_features_in_, x.shape[1])
                self.assertEqual(s.transform(weighted).shape, (len(x), 5))
        self.assertFalse(np.array_equal(UFSSelector(k=5, method="greedy").fit(x).ranking_, want.ranking_))
        one = np.ones(len(x))
        for bad, words in [(-one, 'column "sample_weight", row 0: the weight is negative'), (one * np.nan, "NaN"), (one[1:], "shape"), (0 * one, "no rows")]:
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                UFSSelector(k=2).fit(x, sample_weight=bad)
        with self.assertRaisesRegex(ValueError, "leave one out"):
            UFSSelector(k=2, options={"weight": "f3"}).fit(pd.DataFrame(x, columns=names), sample_weight=one)
        with self.assertRaisesRegex(ValueError, "column of weights"):
            UFSSelector(k=2).fit("x.csv", sample_weight=one)
        with self.assertRaisesRegex(ufs_stream.UsageError, "weight is not for method variance"):
            UFSSelector(k=2, method="variance").fit(x, sample_weight=one)

    def test_search_and_column_transformer(self):
        x, of = planted()
        frame = pd.DataFrame(x, columns=[f"f{j}" for j in range(x.shape[1])]).assign(kind=list("uv") * (len(x) // 2))
        p = make_pipeline(StandardScaler(), UFSSelector(method="greedy"), KMeans(4, n_init=1, random_state=0))
        search = GridSearchCV(p, {"ufsselector__k": [2, 4]}, cv=2).fit(x)
        self.assertIn(search.best_params_["ufsselector__k"], (2, 4))
        self.assertEqual(search.best_estimator_[-1].n_features_in_, search.best_params_["ufsselector__k"])
        t = ColumnTransformer([("chosen", UFSSelector(k=4, method="greedy"), list(frame.columns[:-1])), ("kind", "passthrough", ["kind"])]).set_output(transform="pandas")
        out = t.fit_transform(frame)
        chosen = [f"f{j}" for j in np.sort(UFSSelector(k=4, method="greedy").fit(x).ranking_)]
        self.assertEqual(list(out.columns), [f"chosen__{name}" for name in chosen] + ["kind__kind"])
        np.testing.assert_array_equal(out.iloc[:, :4], frame[chosen])

    def test_arrays_in_many_messages(self):
        """Rows that are written in several messages, of which the last is short, are those of one."""
        x = np.random.default_rng(8).standard_normal((1003, 7))
        x[np.abs(x) < 1] = 0
        frame = pd.DataFrame(x).add_prefix("f").assign(kind=list("abcdefg!") * 125 + list("abc"), flag=x[:, 0] > 0, count=pd.array([1, None, 3] * 334 + [1], dtype="Int64"))
        for what in (x, np.asfortranarray(x), sp.csr_matrix(x), sp.csc_matrix(x), frame):
            fit = lambda: UFSSelector(k=4, method="greedy", missing="mean", options={"categorical": "kind"} if what is frame else None).fit(what).selection_
            want = fit()
            with unittest.mock.patch("ufs_stream._arrow.BATCH", 5000), unittest.mock.patch("ufs_stream._arrow.LEAST_ROWS", 1):
                got = fit()
            self.assertEqual([f["name"] for f in got["selected"]], [f["name"] for f in want["selected"]])
            for a, b in zip(got["columns"], want["columns"]):
                self.assertEqual((a["name"], a["nulls"]), (b["name"], b["nulls"]))
                self.assertAlmostEqual(a["mean"], b["mean"], delta=1e-12)
                self.assertAlmostEqual(a["std"], b["std"], delta=1e-12)

    def test_arrays_of_every_kind(self):
        x = planted()[0].round(1)
        want = UFSSelector(k=5, method="greedy").fit(x).ranking_
        for name, same in {
            "reversed twice": x[:, ::-1].copy()[:, ::-1], "objects": x.astype(object), "longdouble": x.astype(np.longdouble),
            "list": x.tolist(), "no mask": np.ma.array(x, mask=False), "table": WithFrame(pd.DataFrame(x).add_prefix("f")),
        }.items():
            with self.subTest(name):
                np.testing.assert_array_equal(UFSSelector(k=5, method="greedy").fit(same).ranking_, want)
        half = x.astype(np.float16)
        np.testing.assert_array_equal(UFSSelector(k=5, method="greedy").fit(half).ranking_, UFSSelector(k=5, method="greedy").fit(half.astype(float)).ranking_)
        holes = np.where(x > 2, np.nan, x)
        masked = np.ma.array(x, mask=x > 2)
        want = UFSSelector(k=5, method="greedy", missing="mean").fit(holes).ranking_
        np.testing.assert_array_equal(UFSSelector(k=5, method="greedy", missing="mean").fit(masked).ranking_, want)
        nullable = pd.DataFrame(x).mask(x > 2).astype("Float64")
        np.testing.assert_array_equal(UFSSelector(k=5, method="greedy", missing="mean").fit(nullable).ranking_, want)
        row, at = np.argwhere(x > 2)[0]
        for bad, words in ((masked, "NaN"), (nullable, f'^DataFrame: .*column "{at}", row {row}: missing value')):
            with self.assertRaisesRegex(ValueError, words):
                UFSSelector(k=5, missing="error").fit(bad)
        for flat in (x[:, 0], pd.Series(x[:, 0])):
            with self.assertRaisesRegex(ValueError, "2D array"):
                UFSSelector(k=5).fit(flat)

    def test_random_state(self):
        x = planted(rows=200)[0]
        seed = lambda state: UFSSelector(k=2, method="random", random_state=state).fit(x).selection_["seed"]
        self.assertEqual([seed(0), seed(np.int64(7))], [1, 8])
        np.random.seed(3)
        drawn = [seed(None), seed(None)]
        self.assertNotEqual(*drawn)
        np.random.seed(3)
        self.assertEqual([seed(None), seed(None)], drawn)
        self.assertEqual(seed(np.random.RandomState(4)), seed(np.random.RandomState(4)))
        self.assertEqual(seed(np.random.default_rng(4)), seed(np.random.default_rng(4)))
        for n_jobs in (None, -1, -2, 1, 2):
            self.assertEqual(len(UFSSelector(k=2, n_jobs=n_jobs).fit(x).ranking_), 2)

    def test_command_of_another_version(self):
        """The columns of version 1 are indices among the features: they are not taken for positions."""
        old = {"schema": "ufs-stream/selection/v1", "selected": [{"rank": 1, "name": "x[1]", "column": 0}], "columns": [], "left_out": [], "warnings": [], "options": {}}
        with unittest.mock.patch("ufs_stream._command.select", lambda *a, **k: old), self.assertRaisesRegex(ufs_stream.UFSError, "older"):
            UFSSelector(k=1).fit(planted()[0])

    def test_example(self):
        x = planted()[0]
        root = os.path.dirname(os.path.dirname(os.path.abspath(ufs_stream.__file__)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            pd.DataFrame(x).add_prefix("f").assign(where="here").to_csv(path, index=False)
            example = os.path.join(root, "examples", "kmeans.py")
            out = subprocess.run([sys.executable, example, path, "4"], env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=True).stdout
        first, *counts = out.splitlines()
        self.assertRegex(first, r"^chosen: f\d+(, f\d+)*$")
        self.assertEqual(sum(int(line.split()[1]) for line in counts), len(x))

    @unittest.skipUnless(DATASETS.exists(), "the shared datasets are not here")
    def test_coil20(self):
        """Clusters of COIL20 by 50 of its 1,024 pixels are about as pure as by all."""
        x, y = coil20()
        p = make_pipeline(UFSSelector(k=50, scale="none", method="greedy"), KMeans(20, n_init=5, random_state=0)).fit(x)
        whole = KMeans(20, n_init=5, random_state=0).fit(x)
        self.assertEqual(p[-1].n_features_in_, 50)
        self.assertGreater(purity(p[-1].labels_, y), 0.9 * purity(whole.labels_, y))


class WithFrame:
    """A table that offers its DataFrame, as pyarrow's and polars' do."""

    def __init__(self, frame):
        self.frame = frame

    def to_pandas(self):
        return self.frame


def coil20():
    """COIL20's pixels and classes, converted by the command: Debian has no reader of Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "coil20.csv")
        path = DATASETS / "coil20.parquet"
        every = ufs_stream.select(path, k=1, method="variance", label="label")
        every["selected"] = [{"rank": 1 + j, "name": c["name"], "column": j} for j, c in enumerate(every["columns"])]
        ufs_stream.apply(path, every, out, also=["label"])
        frame = pd.read_csv(out)
    return frame.drop(columns="label").to_numpy(float), frame["label"].to_numpy()


def purity(clusters, classes):
    return pd.crosstab(clusters, classes).max(axis=1).sum() / len(classes)


if __name__ == "__main__":
    unittest.main()
