"""What the tests of the Python package share. $HEDDLE names the program under test."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "python"))

PROGRAM = os.environ["HEDDLE"]
SCALE = 0.001


class Case(unittest.TestCase):
    """A test with a folder of its own, which is the working directory."""

    maxDiff = None

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="heddle-test-")
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = Path(scratch.name)
        os.chdir(self.folder)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def script(self, name: str, text: str) -> Path:
        """A program of a few lines of shell."""
        path = self.write(name, "#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path
