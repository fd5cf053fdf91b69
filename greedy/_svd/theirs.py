"""scikit-learn's side of compare: times TruncatedSVD on the CSR matrix in a folder of .npy files."""
import argparse
import json
import resource
import time

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

p = argparse.ArgumentParser()
p.add_argument("--npy")
p.add_argument("--columns", type=int)
p.add_argument("--components", type=int)
p.add_argument("--algorithm")
p.add_argument("--threads", type=int)
a = p.parse_args()
load = lambda name: np.load(f"{a.npy}/{name}.npy")
start = time.perf_counter()
ends = load("indptr")
x = scipy.sparse.csr_matrix((load("data"), load("indices"), ends), shape=(len(ends) - 1, a.columns))
loaded = time.perf_counter() - start


def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


with threadpool_limits(a.threads):
    start, before = time.perf_counter(), cpu()
    m = TruncatedSVD(a.components, algorithm=a.algorithm, random_state=1).fit(x)
    seconds, used = time.perf_counter() - start, cpu() - before
# What is left of the squares after the projection on its directions, of the values as they are.
left = 1 - float(np.sum(m.singular_values_**2)) / float(x.multiply(x).sum())
print(json.dumps({"loading": loaded, "seconds": seconds, "cpu": used, "error": left,
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10}))
