#!/usr/bin/env python3
"""Selects features with scikit-learn, and as scikit-feature does, for `bench peers`.

    peers.py METHOD X.npy -k K [--clusters C] [--threads N] [--memory-limit BYTES]

X is n rows of d features, without missing values. Standard output gets one JSON object: the
chosen features as numbers from 0 on, best first; the scores of all features where the method
has them; and the peak resident memory of this process in bytes. METHOD "check" needs no X: it
imports what the methods need and prints the versions. Exit code 4 says that the memory limit
was too low.

Laplacian score, SPEC and MCFS are written from their papers, with dense n x n matrices of the
rows, as the library scikit-feature holds them; FastCan's h-correlation likewise. None of their
code is used. gram and incremental read the rows through a memory map, the others load them.
"""
import argparse
import json
import os
import resource
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=["check", *METHODS])
    parser.add_argument("x", nargs="?")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8192, help="rows that incremental takes at once")
    parser.add_argument("--neighbours", type=int, default=5)
    parser.add_argument("--scale", choices=["standard", "none"], default="standard")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--memory-limit", type=int, default=0)
    args = parser.parse_args()
    if args.threads > 0:  # before NumPy is imported, which reads it
        os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)
    load_libraries()
    if args.method == "check":
        print(f"Python {sys.version.split()[0]}, scikit-learn {sklearn.__version__}, "
              f"NumPy {np.__version__}, SciPy {scipy.__version__}, {blas()}")
        return 0
    if args.memory_limit > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (args.memory_limit, args.memory_limit))
    try:
        x = np.load(args.x, mmap_mode="r" if args.method in ("gram", "incremental") else None)
        chosen, scores = METHODS[args.method](x, args)
    except MemoryError as fault:
        print(f"memory: {fault or 'out of it'}", file=sys.stderr)
        return 4
    json.dump({"chosen": [int(j) for j in chosen], "peak": peak(),
               "scores": None if scores is None else [float(s) if np.isfinite(s) else None for s in scores]}, sys.stdout)
    return 0


def load_libraries():
    """Imports what all methods need, so that start is the same for each of them."""
    global np, scipy, sklearn
    import numpy as np
    import scipy.linalg
    import scipy.spatial.distance
    import sklearn.cluster
    import sklearn.decomposition
    import sklearn.feature_selection
    import sklearn.linear_model
    import sklearn.manifold
    import sklearn.metrics
    import sklearn.preprocessing


def blas():
    """Names the library that multiplies matrices: NumPy's reference one is many times slower."""
    from threadpoolctl import threadpool_info
    for library in threadpool_info():
        if library["user_api"] == "blas":
            return f"{library['internal_api']} {library['version']}"
    return "BLAS unknown, perhaps the slow reference one"


def peak():
    """The peak resident memory of this process alone: getrusage counts the parent's as well."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def scaled(x, args):
    if args.scale == "none":
        return x
    return sklearn.preprocessing.StandardScaler(copy=False).fit_transform(x)


def best(scores, k, lowest=False):
    """The k best features; equal scores stand in column order, what is not a number last."""
    key = np.where(np.isfinite(scores), scores if lowest else -scores, np.inf)
    return np.argsort(key, kind="stable")[:k]


# scikit-learn


def start(x, args):
    """Nothing: interpreter, imports and reading, which every other method pays as well."""
    return np.arange(min(args.k, x.shape[1])), None


def variance(x, args):
    # At its default threshold of 0, variances_ is the range of a feature where that is less.
    scores = sklearn.feature_selection.VarianceThreshold(threshold=np.finfo(float).tiny).fit(x).variances_
    return best(scores, args.k), scores


def agglomeration(x, args):
    """Ward clusters of the features, the largest first, each shown by the one nearest to its mean."""
    x = scaled(x, args)
    labels = sklearn.cluster.FeatureAgglomeration(n_clusters=args.k).fit(x).labels_
    members = [np.flatnonzero(labels == c) for c in range(args.k)]
    members.sort(key=lambda m: (-len(m), m[0]))
    chosen = []
    for m in members:
        away = x[:, m] - x[:, m].mean(axis=1, keepdims=True)
        chosen.append(m[np.argmin(np.einsum("ij,ij->j", away, away))])
    return chosen, None


def pca(x, args):
    """The variance of a feature that the first k principal components explain."""
    x = scaled(x, args)
    model = sklearn.decomposition.PCA(n_components=min(args.k, *x.shape), random_state=args.seed).fit(x)
    scores = model.explained_variance_ @ model.components_ ** 2
    return best(scores, args.k), scores


def incremental(x, args):
    """As pca, from IncrementalPCA over batches of rows, which are standardized by a first pass."""
    batches = [slice(i, min(i + args.batch, len(x))) for i in range(0, len(x), args.batch)]
    if len(batches) > 1 and batches[-1].stop - batches[-1].start < args.k:  # it takes no batch of fewer than k rows
        batches[-2:] = [slice(batches[-2].start, len(x))]
    scaler = sklearn.preprocessing.StandardScaler()
    model = sklearn.decomposition.IncrementalPCA(n_components=min(args.k, *x.shape))
    if args.scale != "none":
        for b in batches:
            scaler.partial_fit(x[b])
    for b in batches:
        model.partial_fit(scaler.transform(x[b]) if args.scale != "none" else x[b])
    scores = model.explained_variance_ @ model.components_ ** 2
    return best(scores, args.k), scores


# NumPy and SciPy, as one writes it in a notebook


def gram(x, args):
    """Farahat, Ghodsi, Kamel, An efficient greedy method, ICDM 2011, from X.T @ X of the memory map."""
    mean = x.mean(axis=0, dtype=float)
    e = (x.T @ x) / len(x) - np.outer(mean, mean)
    if args.scale != "none":
        std = np.sqrt(np.maximum(np.diag(e), 0))
        std[std <= TINY * np.abs(mean)] = np.inf
        e /= np.outer(std, std)
    start, chosen = np.diag(e).max(), []
    for _ in range(args.k):
        power = np.diag(e)
        gain = np.where(power > TINY * start, (e ** 2).sum(axis=0) / np.maximum(power, TINY * start), 0)
        gain[chosen] = -1
        chosen.append(int(np.argmax(gain)))
        if power[chosen[-1]] > TINY * start:
            part = e[:, chosen[-1]] / np.sqrt(power[chosen[-1]])
            e -= np.outer(part, part)
    return chosen, None


def qr(x, args):
    """Column subset by QR with column pivoting (Businger, Golub 1965): the first k pivots."""
    _, pivots = scipy.linalg.qr(scaled(x, args), mode="r", pivoting=True, overwrite_a=True)
    return pivots[:args.k], None


def fastcan(x, args):
    """FastCan's unsupervised use: the features whose canonical correlation with the first k
    principal components is largest, by h-correlation (Zhang, Lang, Orthogonal least squares based
    fast feature selection for linear classification, Pattern Recognition 123, 2022)."""
    x = scaled(x, args)
    components = sklearn.decomposition.PCA(n_components=min(args.k, *x.shape), random_state=args.seed).fit_transform(x)
    targets = np.linalg.qr(components)[0]
    x = x - x.mean(axis=0)
    start, chosen = np.einsum("ij,ij->j", x, x), []
    for _ in range(args.k):
        length = np.einsum("ij,ij->j", x, x)
        left = length > TINY * start.max()
        h = np.where(left, ((targets.T @ x) ** 2).sum(axis=0) / np.where(left, length, 1), 0)
        h[chosen] = -1
        chosen.append(int(np.argmax(h)))
        if left[chosen[-1]]:
            w = x[:, chosen[-1]] / np.sqrt(length[chosen[-1]])
            x -= np.outer(w, w @ x)
    return chosen, None


# As scikit-feature: dense matrices, rows by rows


def squared_distances(x):
    return sklearn.metrics.pairwise_distances(x, metric="sqeuclidean")


def neighbour_graph(x, neighbours):
    """W: exp(-d2/t) where one row is among the nearest of the other, else 0. The papers leave t
    open; here it is the mean of d2 over the pairs that are joined."""
    d2 = squared_distances(x)
    np.fill_diagonal(d2, np.inf)
    n = len(x)
    nearest = np.argpartition(d2, neighbours - 1, axis=1)[:, :neighbours]
    joined = np.zeros((n, n), dtype=bool)
    joined[np.arange(n)[:, None], nearest] = True
    joined |= joined.T
    t = d2[joined].mean()
    return np.where(joined, np.exp(-d2 / t), 0)


def laplacian(x, args):
    """He, Cai, Niyogi, Laplacian score for feature selection, NIPS 2005: f'Lf / f'Df of the
    feature f less its mean by D; the lowest are best."""
    x = scaled(x, args)
    w = neighbour_graph(x, args.neighbours)
    degree = w.sum(axis=1)
    f = x - (degree @ x) / degree.sum()
    scatter = degree @ f ** 2
    smooth = scatter - np.einsum("ij,ij->j", f, w @ f)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(scatter > 0, smooth / scatter, np.inf)
    return best(scores, args.k, lowest=True), scores


def spec(x, args):
    """Zhao, Liu, Spectral feature selection, ICML 2007: phi2 with gamma(l) = l, by the full
    spectrum of the normalized Laplacian of exp(-d2/mean d2); the lowest are best."""
    x = scaled(x, args)
    d2 = squared_distances(x)
    n = len(x)
    w = np.exp(-d2 / (d2.sum() / (n * (n - 1))))
    degree = w.sum(axis=1)
    root = np.sqrt(degree)
    values, vectors = np.linalg.eigh(np.eye(n) - w / np.outer(root, root))
    f = root[:, None] * x
    lengths = np.linalg.norm(f, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha2 = (vectors.T @ (f / lengths)) ** 2
        scores = (values[1:] @ alpha2[1:]) / alpha2[1:].sum(axis=0)
    return best(scores, args.k, lowest=True), scores


def mcfs(x, args):
    """Cai, Zhang, He, Unsupervised feature selection for multi-cluster data, KDD 2010: each
    eigenvector of the graph is regressed on k features by LARS; the largest weight counts."""
    x = scaled(x, args)
    w = neighbour_graph(x, args.neighbours)
    embedding = sklearn.manifold.spectral_embedding(
        w, n_components=min(args.clusters, len(x) - 2), drop_first=True, random_state=args.seed)
    weights = np.zeros((x.shape[1], embedding.shape[1]))
    for c in range(embedding.shape[1]):
        y = embedding[:, c] / np.linalg.norm(embedding[:, c])
        weights[:, c] = sklearn.linear_model.lars_path(x, y, method="lar", max_iter=args.k)[2][:, -1]
    scores = np.abs(weights).max(axis=1)
    return best(scores, args.k), scores


TINY = 1e-6  # of the largest: a column with less left is rounding (of float32, if the rows are)

METHODS = {f.__name__: f for f in (start, variance, agglomeration, pca, incremental, gram, qr, fastcan, laplacian, spec, mcfs)}

if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
