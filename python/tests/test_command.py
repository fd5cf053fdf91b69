import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import xml.etree.ElementTree

import numpy as np
import pandas as pd

import ufs_stream
from ufs_stream import _command

from . import planted


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data = self.path("x.npy")
        np.save(self.data, planted()[0])

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_selects_as_the_command_does(self):
        s = ufs_stream.select(self.data, k=4, method="greedy", threads=1)
        out = subprocess.run(
            [ufs_stream.find_command(), "select", self.data, "-k", "4", "--method", "greedy", "--format", "json"],
            capture_output=True,
            check=True,
        ).stdout
        self.assertEqual(s["selected"], json.loads(out)["selected"])

    def test_never_runs_a_program_of_the_working_folder(self):
        name = "ufs-stream.exe" if os.name == "nt" else "ufs-stream"
        with open(self.path(name), "w") as f:
            f.write("#!/bin/sh\n")
        os.chmod(self.path(name), 0o755)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        without = {key: value for key, value in os.environ.items() if key != "UFS_STREAM"}
        for path in [".", "", os.pathsep, "." + os.pathsep + "nowhere"]:
            with self.subTest(path=path), unittest.mock.patch.dict(os.environ, {**without, "PATH": path}, clear=True):
                with self.assertRaisesRegex(ufs_stream.CommandNotFoundError, "wheel"):
                    ufs_stream.find_command()
        with unittest.mock.patch.dict(os.environ, {**without, "PATH": self.folder}, clear=True):
            self.assertEqual(ufs_stream.find_command(), self.path(name))

    def test_runs_as_a_module(self):
        root = os.path.dirname(os.path.dirname(os.path.abspath(ufs_stream.__file__)))
        environment = {**os.environ, "PYTHONPATH": root}
        out = subprocess.run([sys.executable, "-m", "ufs_stream", "version"], env=environment, capture_output=True, text=True)
        self.assertTrue(out.stdout.startswith("ufs-stream "), out)
        out = subprocess.run([sys.executable, "-m", "ufs_stream", "select"], env=environment, capture_output=True, text=True)
        self.assertEqual(out.returncode, 2, out)

    def test_verbs_from_a_plan_to_a_report(self):
        names = [f"{'abcd'[factor]}{at}" if factor >= 0 else f"noise{at}" for at, factor in enumerate(planted()[1])]
        csv = self.path("x.csv")
        np.savetxt(csv, planted()[0], delimiter=",", header=",".join(names), comments="")
        planned = ufs_stream.plan(csv, method="greedy", k=4)
        self.assertEqual((planned["method"], planned["k"]), ("greedy", 4))
        whole = ufs_stream.select(csv, method="greedy", k=4)
        job = self.path("job.plan.json")
        ufs_stream.write_plan(csv, job)
        for shard in ["1/2", "2/2"]:
            ufs_stream.scan(None, self.path("parts") + os.sep, plan=job, shard=shard)
        ufs_stream.merge(self.path("parts"), self.path("all.ufs"))
        merged = ufs_stream.select(stats=self.path("all.ufs"), method="greedy", k=4)
        self.assertEqual([f["name"] for f in merged["selected"]], [f["name"] for f in whole["selected"]])
        explained = ufs_stream.explain(["a0", "noise12"], whole, csv)
        self.assertEqual([c["name"] for c in explained["columns"]], ["a0", "noise12"])
        with open(self.path("s.json"), "w") as f:
            json.dump(whole, f)
        self.assertEqual(ufs_stream.explain("a0", self.path("s.json"))["columns"][0]["name"], "a0")
        clusters = {frozenset(m["name"] if isinstance(m, dict) else m for m in c["columns"]) for c in ufs_stream.redundancy(csv)["clusters"]}
        self.assertIn(frozenset(n for n in names if n.startswith("a")), clusters)
        ufs_stream.report(whole, self.path("report.html"))
        with open(self.path("report.html"), encoding="utf-8") as f:
            self.assertIn(whole["selected"][0]["name"], f.read())

    def test_shows_a_selection_in_a_notebook(self):
        s = ufs_stream.select(self.data, k=4, method="greedy")
        self.assertIsInstance(s, dict)
        self.assertEqual(pickle.loads(pickle.dumps(s)), s)
        s["selected"][1]["name"] = "<script>alert(1)</script>"
        s["warnings"] = ["a < b"]
        page = s._repr_html_()
        tree = xml.etree.ElementTree.fromstring(page)
        rows = [[cell.text for cell in row] for row in tree.find(".//tbody")]
        self.assertEqual(rows, [[str(f["rank"]), f["name"], f"{1 - f['error']:.1%}"] for f in s["selected"]])
        self.assertIn(f"greedy chose 4 of 20 features from 2,000 rows; they explain {s['worth']['explained']:.1%}", tree.find("p").text)
        points = [tuple(map(float, p.split(","))) for p in tree.find(".//polyline").get("points").split()]
        self.assertEqual(len(points), 4)
        self.assertEqual(points, sorted(points, key=lambda p: (p[0], -p[1])))
        dot = tree.find(".//circle")
        self.assertEqual((float(dot.get("cx")), float(dot.get("cy"))), points[s["size"]["recommended"] - 1])
        self.assertNotIn("Left out", page)
        frame = pd.DataFrame(planted()[0][:, :3]).assign(note="<i>", day="x", at=pd.Timestamp(0), one=1.0)
        self.assertIn("Left out: 2 text, 1 timestamp, 1 constant.", ufs_stream.select(frame, k=1, method="greedy")._repr_html_())
        many = ufs_stream.Selection({**s, "selected": s["selected"] * 10, "worth": None})
        self.assertIn("and 20 more", many._repr_html_())
        one = ufs_stream.Selection({**s, "selected": [{"rank": 1, "name": "a", "column": 0}], "warnings": []})
        self.assertNotIn("<svg", one._repr_html_())

    def test_reads_a_data_frame_like_a_file(self):
        X = planted(rows=400)[0]
        names = ["x=y", "a,b", "é", "*", "e[0]", " padded ", "same", "same", "", 'q"', "line\nbreak", 7, "#", "-k", "c14", "c15", "c16", "c17", "c18", "c19"]
        frame = pd.DataFrame(X)
        frame.columns = names
        np.save(self.path("same.npy"), X)
        whole = ufs_stream.select(self.path("same.npy"), k=6, method="greedy")
        of_frame = ufs_stream.select(frame, k=6, method="greedy")
        keep = ("column", "score", "error")
        self.assertEqual([{key: f[key] for key in keep} for f in of_frame["selected"]], [{key: f[key] for key in keep} for f in whole["selected"]])

        offering = unittest.mock.Mock(spec=["to_pandas"], to_pandas=lambda: frame)  # as tables of pyarrow and polars do
        self.assertEqual(ufs_stream.select(offering, k=6, method="greedy")["selected"], of_frame["selected"])

        frame = pd.DataFrame(X, columns=[f"c{at}" for at in range(20)]).astype({"c3": "float32", "c4": "float16"})
        frame["zip"] = [f"0{at:04}" for at in range(400)]
        frame["when"] = pd.date_range("2026-01-01", periods=400, freq="h")
        frame["kind"] = pd.Categorical(list("abcd") * 100)
        frame["said"] = ["NA", "-999", "x,y", 'q"'] * 100
        frame["flag"] = np.arange(400) % 3 == 0
        frame["count"] = pd.array([1, None, 3, 2**60] * 100, dtype="Int64")
        frame.loc[3, "c1"] = np.nan
        with self.assertWarnsRegex(ufs_stream.UFSWarning, "filled by their column's mean: 100 in count, 1 in c1"):
            s = ufs_stream.select(frame, k=5, method="greedy")
        self.assertEqual({c["name"]: c["why"].split(" (")[0] for c in s["left_out"]}, {"zip": "text", "when": "timestamp", "kind": "text", "said": "text"})
        self.assertEqual((s["features"], s["input_columns"]), (22, 26))
        more = ufs_stream.select(frame, k=5, method="greedy", missing="mean", categorical="kind", times=True)
        self.assertGreater(more["features"], 22 + 4)
        self.assertIn("kind=a", [c["name"] for c in more["columns"]])
        ufs_stream.scan(frame, self.path("frame.ufs"), missing="mean")
        again = ufs_stream.select(stats=self.path("frame.ufs"), method="greedy", k=5)
        self.assertEqual([f["name"] for f in again["selected"]], [f["name"] for f in s["selected"]])
        ufs_stream.apply(frame, s, self.path("out.csv"), also=["zip", "said"])
        written = pd.read_csv(self.path("out.csv"), dtype=str, keep_default_na=False)
        self.assertEqual(list(written["zip"]), list(frame["zip"]))
        self.assertEqual(list(written["said"]), list(frame["said"]))
        for f in s["selected"]:
            if f["name"].startswith("c"):
                got = [float(text) if text else np.nan for text in written[f["name"]]]  # pandas' own parsers round
                want = frame[f["name"]].astype("float64") if f["name"] == "count" else frame[f["name"]]
                np.testing.assert_array_equal(np.array(got, dtype=want.dtype), want)

    def test_flags(self):
        got = _command.flags_of({"k": 3, "memory_limit": "1GiB", "keep": ["a", "b,c", 'd"'], "anonymous": True, "label": None})
        self.assertEqual(got, ["-k", "3", "--memory-limit=1GiB", '--keep=a,"b,c","d"""', "--anonymous=true"])

    def test_each_failure_has_its_exception(self):
        bad = np.ones((50, 3))
        bad[7, 1] = np.nan
        np.save(self.path("nan.npy"), bad)
        for kind, code, part, call in [
            (ufs_stream.UsageError, 2, "did you mean greedy", lambda: ufs_stream.select(self.data, method="gredy")),
            (ufs_stream.UsageError, 2, "-k 999", lambda: ufs_stream.select(self.data, k=999)),
            (ufs_stream.DataError, 3, "nope.npy", lambda: ufs_stream.select(self.path("nope.npy"))),
            (ufs_stream.DataError, 3, "nan.npy", lambda: ufs_stream.select(self.path("nan.npy"), missing="error")),
            (ufs_stream.MemoryLimitError, 4, "memory", lambda: ufs_stream.select(self.data, memory_limit="1MiB")),
            (ufs_stream.InternalError, 1, "", lambda: ufs_stream.apply(self.data, ufs_stream.select(self.data, k=1), "/nowhere/x.parquet")),
        ]:
            with self.subTest(kind=kind.__name__), self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.exit_code, code)
            self.assertIn(part, str(caught.exception))
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((type(again), str(again), again.exit_code), (kind, str(caught.exception), code))
        with self.assertRaisesRegex(ufs_stream.CommandNotFoundError, "install a wheel"):
            ufs_stream.select(self.data, command="/nowhere/ufs-stream")

    def test_not_converged_has_its_selection(self):
        with self.assertRaises(ufs_stream.NotConvergedError) as caught:
            ufs_stream.select(self.data, k=2, method="sfufs", anchors=100, max_iter=1, require_converged=True)
        self.assertEqual(len(caught.exception.selection["selected"]), 2)

    def test_warnings_are_warnings(self):
        x = planted()[0]
        fields = [("target", "<f8")] + [(f"f{j}", "<f8") for j in range(1, x.shape[1])]
        np.save(self.path("named.npy"), np.ascontiguousarray(x).view(fields).reshape(-1))
        with self.assertWarnsRegex(ufs_stream.UFSWarning, "target"):
            ufs_stream.select(self.path("named.npy"), k=2)

    def test_progress(self):
        events = []
        ufs_stream.select(self.data, k=2, method="greedy", progress=events.append)
        self.assertEqual(events[-1]["event"], "pass")
        self.assertEqual(events[-1]["rows"], 2000)

    def test_apply(self):
        s = ufs_stream.select(self.data, k=3, method="greedy")
        ufs_stream.apply(self.data, s, self.path("small.parquet"))
        again = ufs_stream.select(self.path("small.parquet"), k=3, method="variance")
        self.assertEqual({c["name"] for c in again["columns"]}, {f["name"] for f in s["selected"]})

    @unittest.skipUnless(os.name == "posix", "signals are POSIX's")
    def test_interrupt_ends_the_command(self):
        # A shell's background job ignores the signal from its start, and CI may be one.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        started = []
        popen = subprocess.Popen
        with unittest.mock.patch("subprocess.Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[0]):
            with self.assertRaises(KeyboardInterrupt):
                ufs_stream.select(self.data, k=1, method="eufs", max_iter=1_000_000, tol=1e-300)
        self.assertEqual(started[0].returncode, 130)

    def test_import_is_light(self):
        code = "import sys, ufs_stream; sys.exit('sklearn' in sys.modules)"
        where = os.path.dirname(os.path.dirname(ufs_stream.__file__))
        subprocess.run([sys.executable, "-c", code], check=True, cwd=where)


if __name__ == "__main__":
    unittest.main()
