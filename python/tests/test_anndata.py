import os
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ufs_stream import UFSSelector


try:
    import anndata
except ImportError:
    anndata = None


class Table:
    """What the package asks of an AnnData: its own twin where anndata is not installed."""

    def __init__(self, X, names, isbacked=False):
        self.X, self.isbacked, self.var_names = X, isbacked, pd.Index(names)
        self.n_obs, self.n_vars = X.shape
        self.obs_names = pd.Index([f"cell{i}" for i in range(self.n_obs)])

    def __getitem__(self, at):
        return Table(self.X[at], self.var_names[at[1]])


class Counted:
    """A matrix on disk, which gives rows, and knows how many at most were asked for."""

    def __init__(self, X):
        self.matrix, self.dtype, self.shape, self.most = X, X.dtype, X.shape, 0
        if sp.issparse(X):
            self.format = X.format

    def __getitem__(self, rows):
        block = self.matrix[rows]
        self.most = max(self.most, block.shape[0])
        return block


def counts(cells=5000):
    r = np.random.default_rng(3)
    return r.poisson(np.repeat(r.gamma(1, 2, (cells, 4)), 3, axis=1)).astype(np.float32)


NAMES = [f"GENE{j}" for j in range(11)] + ["a.b"]


class AnnData(unittest.TestCase):
    def check(self, adata, x):
        want = UFSSelector(k=5, method="greedy").fit(pd.DataFrame(x, columns=NAMES))
        got = UFSSelector(k=5, method="greedy").fit(adata)
        np.testing.assert_array_equal(got.ranking_, want.ranking_)
        self.assertEqual([f["name"] for f in got.selection_["selected"]], [NAMES[at] for at in want.ranking_])
        self.assertEqual(list(got.get_feature_names_out()), list(want.get_feature_names_out()))
        for a, b in zip(got.selection_["selected"], want.selection_["selected"]):
            self.assertAlmostEqual(a["score"], b["score"], delta=1e-9 * abs(b["score"]))
        chosen = got.transform(adata)
        self.assertEqual(list(chosen.var_names), list(got.get_feature_names_out()))
        return got

    def test_in_memory(self):
        x = counts()
        for name, X in {"dense": x, "csr": sp.csr_matrix(x), "csc": sp.csc_matrix(x), "integers": x.astype(np.int64)}.items():
            with self.subTest(name):
                self.check(Table(X, NAMES), x)

    def test_backed_is_read_in_blocks(self):
        x = counts()
        wide = np.zeros((9000, 800), np.float32)
        wide[:, ::7] = np.random.default_rng(1).poisson(1, (9000, 115))
        for name, X in {"dense": x, "csr": sp.csr_matrix(x)}.items():
            with self.subTest(name):
                self.check(Table(Counted(X), NAMES, isbacked=True), x)
        for name, X in {"dense": wide, "csr": sp.csr_matrix(wide)}.items():
            with self.subTest(name):
                matrix = Counted(X)
                UFSSelector(k=3, method="variance").fit(Table(matrix, [f"g{j}" for j in range(800)], isbacked=True))
                self.assertLess(matrix.most, 6000)
        with self.assertRaisesRegex(ValueError, "csc"):
            UFSSelector(k=3).fit(Table(Counted(sp.csc_matrix(x)), NAMES, isbacked=True))

    def test_methods_of_single_cells(self):
        x = counts()
        for method, scale in {"seurat": "cp10k", "cell_ranger": "cp10k,log1p", "seurat_v3": None}.items():
            options = {} if scale is None else {"rows_scale": scale}
            with self.subTest(method), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = UFSSelector(k=5, method=method, options=options).fit(pd.DataFrame(x, columns=NAMES))
                got = UFSSelector(k=5, method=method, options=options).fit(Table(sp.csr_matrix(x), NAMES))
                np.testing.assert_array_equal(got.ranking_, want.ranking_)

    def test_weights(self):
        x, w = counts(), np.arange(5000) % 3
        want = UFSSelector(k=4, method="greedy").fit(pd.DataFrame(x, columns=NAMES), sample_weight=w)
        got = UFSSelector(k=4, method="greedy").fit(Table(sp.csr_matrix(x), NAMES), sample_weight=w)
        np.testing.assert_array_equal(got.ranking_, want.ranking_)

    def test_names(self):
        x = counts()
        twice = [*NAMES[:10], "GENE0", "GENE1"]
        s = UFSSelector(k=6, method="greedy").fit(Table(sp.csr_matrix(x), twice))
        self.assertEqual(s.transform(Table(x, twice)).n_vars, 6)
        with self.assertRaisesRegex(ValueError, "one variable of each chosen name"):
            s.transform(Table(x[:, :3], ["a", "b", "c"]))
        one = UFSSelector(k=2, method="greedy").fit(Table(x, NAMES))
        order = np.arange(12)[::-1]
        self.assertEqual(list(one.transform(Table(x[:, order], np.array(NAMES)[order])).var_names), list(one.get_feature_names_out()))
        with self.assertRaisesRegex(ValueError, "not numbers"):
            UFSSelector(k=2).fit(Table(x.astype(str), NAMES))

    @unittest.skipIf(anndata is None, "the package anndata is not installed")
    def test_anndata_itself(self):
        x = counts()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, X in {"dense": x, "csr": sp.csr_matrix(x)}.items():
                with self.subTest(name):
                    adata = anndata.AnnData(X, var=pd.DataFrame(index=NAMES), obs=pd.DataFrame(index=[f"c{i}" for i in range(len(x))]))
                    self.check(adata, x)
                    path = os.path.join(folder, name + ".h5ad")
                    adata.write_h5ad(path)
                    backed = anndata.read_h5ad(path, backed="r")
                    got = self.check(backed, x)
                    np.testing.assert_array_equal(np.asarray(got.transform(adata).X.todense() if sp.issparse(X) else got.transform(adata).X), x[:, np.sort(got.ranking_)])
                    backed.file.close()
            stored = anndata.AnnData(sp.csc_matrix(x), var=pd.DataFrame(index=NAMES))
            stored.write_h5ad(os.path.join(folder, "csc.h5ad"))
            with self.assertRaisesRegex(ValueError, "csc"):
                UFSSelector(k=3).fit(anndata.read_h5ad(os.path.join(folder, "csc.h5ad"), backed="r"))
