import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
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
            UFSSelector(k=3).fit(x)
        s = UFSSelector(k=3, missing="mean").fit(x)
        self.assertEqual(s.transform(x).shape, (len(x), 3))

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
            s.apply(path, os.path.join(folder, "small.parquet"), also=["where"])
            small = UFSSelector(k=4, method="greedy").fit([os.path.join(folder, "small.parquet")])
            self.assertEqual(set(small.feature_names_in_), set(s.get_feature_names_out()))

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
