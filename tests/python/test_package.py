"""The package as pip installs it, and its types."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

from support import PROGRAM, SOURCE, Case

sys.path.insert(0, str(SOURCE / "python" / "backend"))
import heddle_build
import summary

# This Python's, or Debian's.
MYPY = ([sys.executable, "-m", "mypy"] if importlib.util.find_spec("mypy")
        else [found] if (found := shutil.which("mypy")) else [])
SAYS = "import heddle, sys; print(heddle.__file__); print(heddle.find_program().path)"


def run_python(*words: str, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in ("HEDDLE", "PYTHONPATH")}
    done = subprocess.run([sys.executable, "-I" if not environment else "-s", *words], capture_output=True, text=True,
                          env={**clean, **environment})
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Package(Case):
    def test_the_wheel(self) -> None:
        first, second = self.folder / "first", self.folder / "second"
        first.mkdir()
        second.mkdir()
        name = heddle_build.build_wheel(str(first))
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout.split()[1]
        self.assertEqual(name, f"heddle-{said}-py3-none-any.whl")
        heddle_build.build_wheel(str(second))
        self.assertEqual((first / name).read_bytes(), (second / name).read_bytes())
        with zipfile.ZipFile(first / name) as wheel:
            names = wheel.namelist()
            record = wheel.read(f"heddle-{said}.dist-info/RECORD").decode()
        self.assertIn("heddle/py.typed", names)
        self.assertEqual(sorted(line.split(",")[0] for line in record.splitlines()), sorted(names))
        sources = {path.name for path in (SOURCE / "python" / "heddle").glob("*.py")}
        self.assertTrue({f"heddle/{source}" for source in sources} <= set(names))
        # Unpacked, it finds the program of the folder that it was built from.
        site = self.folder / "site"
        with zipfile.ZipFile(first / name) as wheel:
            wheel.extractall(site)
        file, program = run_python("-c", SAYS, PYTHONPATH=str(site)).splitlines()
        self.assertEqual((file, program), (str(site / "heddle" / "__init__.py"), str(SOURCE / "heddle")))

    def test_the_editable_wheel_and_the_sources(self) -> None:
        with zipfile.ZipFile(self.folder / heddle_build.build_editable(".")) as wheel:
            self.assertEqual(wheel.read("heddle_editable.pth").decode(), f"{SOURCE}/python\n")
        archive = heddle_build.build_sdist(".")
        subprocess.run(["tar", "xf", archive], check=True)
        unpacked = self.folder / archive.removesuffix(".tar.gz")
        said = run_python("-c", "import heddle_build; print(heddle_build.build_wheel('.'))",
                          PYTHONPATH=str(unpacked / "backend"))
        self.assertEqual(said.strip(), f"{unpacked.name}-py3-none-any.whl")

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip")
    def test_pip(self) -> None:
        for index, option in enumerate(([], ["--no-build-isolation"])):
            site = self.folder / f"site{index}"
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", *option,
                            "--disable-pip-version-check", "--no-cache-dir", "--target", str(site),
                            str(SOURCE / "python")], check=True, capture_output=True)
            file, program = run_python("-c", SAYS, PYTHONPATH=str(site)).splitlines()
            self.assertEqual((file, program), (str(site / "heddle" / "__init__.py"), str(SOURCE / "heddle")))

    @unittest.skipUnless(MYPY, "no mypy")
    def test_types(self) -> None:
        done = subprocess.run(
            [*MYPY, "--cache-dir", str(self.folder / "cache"), "--config-file",
             "pyproject.toml"], cwd=SOURCE / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(MYPY, "no mypy")
    def test_types_of_figures(self) -> None:
        """What a checker of a user's script knows of a run."""
        self.write("script.py", "import heddle\nrun = heddle.run('lwm', 'bfs')\nreveal_type(run.ipc)\n"
                   "reveal_type(run.summary.fu_active_cycles)\nrun.modules['gpu.dram0'].reads + 1\n"
                   "run.ipcc\nrun.summary.cycls\n")
        done = subprocess.run(
            [*MYPY, "--cache-dir", str(self.folder / "cache"), "--strict", "--enable-incomplete-feature=Unpack",
             "script.py"], capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE / "python")})
        said = [line.partition("  [")[0] for line in done.stdout.splitlines() if line.startswith("script.py")]
        self.assertEqual(said, [
            'script.py:3: note: Revealed type is "builtins.float"',
            'script.py:4: note: Revealed type is "builtins.list[builtins.int]"',
            'script.py:6: error: "Run" has no attribute "ipcc"',
            'script.py:7: error: "Summary" has no attribute "cycls"'], done.stdout + done.stderr)

    @unittest.skipUnless(MYPY, "no mypy")
    def test_types_of_the_documents_examples(self) -> None:
        page = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
        self.write("script.py", "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)))
        done = subprocess.run(
            [*MYPY, "--cache-dir", str(self.folder / "cache"), "--strict", "--enable-incomplete-feature=Unpack",
             "script.py"], capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE / "python")})
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("script.py")], [],
                         done.stdout + done.stderr)
        self.assertIn("import heddle", (self.folder / "script.py").read_text(encoding="utf-8"))

    def test_the_summary_is_the_programs(self) -> None:
        self.assertEqual(summary.FILE.read_text(encoding="utf-8"), summary.text(summary.declared(PROGRAM)),
                         "python/heddle/_summary.py: HEDDLE=build/release/heddle python3 python/backend/summary.py")

    def test_every_function_is_annotated(self) -> None:
        """Without mypy, too: every parameter and result, in the package and in what builds it."""
        functions = 0
        for path in sorted(SOURCE.glob("python/heddle/*.py")) + sorted(SOURCE.glob("python/backend/*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                functions += 1
                place = f"{path.name}:{node.lineno}: {node.name}"
                self.assertIsNotNone(node.returns, place)
                given = node.args
                for one in [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]:
                    if one is not None and one.arg not in ("self", "cls"):
                        self.assertIsNotNone(one.annotation, f"{place}: {one.arg}")
        self.assertGreater(functions, 150)

    def test_what_is_public_is_said_and_typed(self) -> None:
        import inspect
        import typing

        import heddle

        for name in heddle.__all__:
            thing = getattr(heddle, name)
            self.assertTrue(inspect.isclass(thing) or callable(thing), name)
            if inspect.isfunction(thing):
                known = typing.get_type_hints(thing)
                for parameter in inspect.signature(thing).parameters:
                    self.assertIn(parameter, known, name)
                self.assertIn("return", known, name)
        self.assertTrue((Path(heddle.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
