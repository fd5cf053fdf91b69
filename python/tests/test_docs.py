import contextlib
import doctest
import os
import tempfile
import unittest
import warnings

import ufs_stream

README = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(ufs_stream.__file__))), "README.md")


class Docs(unittest.TestCase):
    def test_examples_of_the_readme(self):
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            os.chdir(folder)
            self.addCleanup(os.chdir, os.path.dirname(README))  # before the folder goes
            warnings.simplefilter("error", ufs_stream.UFSWarning)
            failed, tried = doctest.testfile(README, module_relative=False, encoding="utf-8")
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 30)


if __name__ == "__main__":
    unittest.main()
