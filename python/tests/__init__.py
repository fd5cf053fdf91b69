"""Tests run the real command: $UFS_STREAM, or one built from this checkout.

    python3 -m unittest discover -s python -t python
"""

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATASETS = ROOT.parent / "shared" / "datasets"

if "UFS_STREAM" not in os.environ:
    folder = tempfile.mkdtemp(prefix="ufs-stream-test-")
    atexit.register(shutil.rmtree, folder)
    binary = os.path.join(folder, "ufs-stream")
    subprocess.run(["go", "build", "-buildvcs=false", "-o", binary, "./cmd/ufs-stream"], cwd=ROOT, check=True)
    os.environ["UFS_STREAM"] = binary


def planted(rows=2000, factors=4, noise=8, seed=0):
    """A matrix whose first columns are `factors` hidden ones, each three times with a little
    noise, and whose last are noise alone; and the factor of each column, -1 for noise."""
    import numpy as np

    r = np.random.default_rng(seed)
    hidden = r.standard_normal((rows, factors))
    copies = np.repeat(hidden, 3, axis=1) + 0.1 * r.standard_normal((rows, 3 * factors))
    of = np.concatenate([np.repeat(np.arange(factors), 3), np.full(noise, -1)])
    return np.hstack([copies, r.standard_normal((rows, noise))]), of
