"""How the program is found, and what is said when it is not or goes wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import PROGRAM, SOURCE, Case

import heddle
from heddle import _program

ADVICE = "build one with ./heddle build in Heddle's repository, and set HEDDLE to its path, or give program=PATH"


class Finding(Case):
    def found(self, program: object = None, **environment: str) -> str:
        with mock.patch.dict(os.environ, environment, clear=True):
            return heddle.find_program(program).path  # type: ignore[arg-type]

    def test_the_order(self) -> None:
        one, two = str(self.script("one", "")), str(self.script("bin/two", ""))
        on_path = self.script("path/heddle", "")
        installed = self.folder / "prefix" / "share" / "heddle" / "python"
        repository = self.folder / "repository" / "python"
        for folder in (installed, repository):
            folder.mkdir(parents=True)
        beside = self.script("prefix/bin/heddle", "")
        of_repository = self.script("repository/heddle", "")
        with mock.patch.object(_program, "ORIGIN", str(installed)):
            self.assertEqual(self.found(one, HEDDLE=two, PATH=str(on_path.parent)), one)
            self.assertEqual(self.found(Path(one)), one)
            self.assertEqual(self.found(heddle.Program("x"), HEDDLE=two), "x")
            self.assertEqual(self.found(HEDDLE=two, PATH=str(on_path.parent)), two)
            self.assertEqual(self.found(HEDDLE="two", PATH=str(Path(two).parent)), two)
            self.assertEqual(self.found(PATH=str(on_path.parent)), str(beside))
            self.assertEqual(self.found(HEDDLE="", PATH=str(on_path.parent)), str(beside))
            beside.unlink()
            self.assertEqual(self.found(PATH=str(on_path.parent)), str(on_path))
        with mock.patch.object(_program, "ORIGIN", str(repository)):
            # A program beside some folder of this name is not the repository's.
            self.assertEqual(self.found(PATH=str(on_path.parent)), str(on_path))
            self.write("repository/CMakeLists.txt", "")
            self.assertEqual(self.found(PATH=str(on_path.parent)), str(of_repository))
        with mock.patch.object(_program, "ORIGIN", str(self.folder / "none")):
            for program, environment, error in (
                (None, {"PATH": "/nowhere"}, "there is no heddle: HEDDLE is not set, none was installed with this "
                 f"package ({self.folder}/none), and none is on the PATH; {ADVICE}"),
                (None, {"HEDDLE": "/no/heddle"}, f"HEDDLE=/no/heddle is no program; {ADVICE}"),
                ("/no/heddle", {"HEDDLE": one}, f"program=/no/heddle is no program; {ADVICE}"),
            ):
                with self.assertRaises(heddle.ProgramNotFound) as caught:
                    self.found(program, **environment)
                self.assertEqual(str(caught.exception), error)
                self.assertIsInstance(caught.exception, heddle.HeddleError)

    def test_a_first_use_says_that_it_builds(self) -> None:
        self.write("repository/CMakeLists.txt", "")
        script = self.script("repository/heddle", "")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            heddle.Program(str(script)).call([])
            self.write("repository/build/release/heddle", "")
            heddle.Program(str(script)).call([])
        self.assertEqual(said.getvalue(), f"heddle: first use: {script} builds (some minutes)\n")

    def test_the_repository_is_this_one(self) -> None:
        self.assertEqual(_program.ORIGIN, str(SOURCE / "python"))


class Errors(Case):
    def test_the_file_for_programs(self) -> None:
        def error(*words: str) -> tuple[str, object]:
            environment = {**os.environ, "HEDDLE_ERROR_FILE": "e.json"}
            said = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=environment)
            path = Path("e.json")
            value = json.loads(path.read_text()) if path.exists() else None
            path.unlink(missing_ok=True)
            return said.stderr, value

        self.assertEqual(error("check", "lwm"), ("", None))
        words, value = error("check", "lwm", "--set", "core.warp_sise=7")
        message, hint = "there is no parameter 'warp_sise' in section 'core'", "did you mean 'warp_size'?"
        self.assertEqual(words, f"heddle: --set core.warp_sise=7: {message}; {hint}\n")
        self.assertEqual(value, {
            "code": 2, "kind": "input", "text": f"--set core.warp_sise=7: {message}; {hint}",
            "file": "--set core.warp_sise=7", "line": None, "column": None, "key": "core.warp_sise",
            "message": message, "hint": hint,
        })
        words, value = error("lis")
        self.assertEqual((words, value["file"], value["key"]),  # type: ignore[index]
                         ("heddle: there is no command 'lis'; did you mean 'list'?\n", None, None))
        # Words that are no UTF-8 come through as well as they can.
        with self.assertRaises(heddle.InputError) as caught:
            heddle.find_program().call(["check", b"l\xffm"])  # type: ignore[list-item]
        self.assertIn("there is no machine called 'l\ufffdm'", str(caught.exception))
        # The words stay, and a second line says what is the matter with the file.
        environment = {**os.environ, "HEDDLE_ERROR_FILE": "/nowhere/e.json"}
        said = subprocess.run([PROGRAM, "lis"], capture_output=True, text=True, env=environment)
        self.assertEqual(said.returncode, 2)
        first, second = said.stderr.splitlines()
        self.assertEqual(first, "heddle: there is no command 'lis'; did you mean 'list'?")
        self.assertTrue(second.startswith("heddle: HEDDLE_ERROR_FILE: /nowhere/e.json: "), second)

    def test_programs_that_are_started_have_their_own_errors(self) -> None:
        script = self.script("show", 'echo "<$HEDDLE_ERROR_FILE>"\n')
        environment = {**os.environ, "HEDDLE_ERROR_FILE": "e.json"}
        said = subprocess.run([PROGRAM, "exec", "--quiet", "--", str(script)], capture_output=True, text=True,
                              env=environment)
        self.assertEqual(said.stdout, "<>\n")

    def test_programs_that_say_nothing_or_nonsense(self) -> None:
        for text, kind, words in (
            ("exit 4", heddle.InternalError, "heddle ended with code 4 and no word"),
            ("echo 'heddle: note: x' >&2; echo 'heddle: first' >&2; echo 'a second line' >&2; exit 2",
             heddle.InputError, "first\na second line"),
            ("kill -9 $$", heddle.Interrupted, "heddle ended with code -9 and no word"),
        ):
            with self.assertRaises(kind) as caught:
                heddle.Machine("lwm", program=self.script("fake", text)).check()
            self.assertEqual(str(caught.exception), words)
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.Machine("lwm", program=self.script("fake", "echo no json")).check()
        self.assertIn("heddle check lwm --json printed no JSON (", str(caught.exception))
        self.assertIn("of another version than this package?", str(caught.exception))


    def test_a_program_of_another_version(self) -> None:
        fake = self.script("fake", "echo heddle 9.1.0\n")
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.statistics(program=fake)
        self.assertEqual(
            str(caught.exception), f"{fake} is heddle 9.1.0, and this package is of version {heddle.__version__}; "
            "install the package that comes with the program (pip install PREFIX/share/heddle/python), or name a "
            f"program of version {heddle.__version__}")
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
        self.assertEqual(said, f"heddle {heddle.__version__}\n")

    def test_an_interrupt_ends_the_program_in_order(self) -> None:
        fake = self.script("fake", "[ $# = 1 ] && exit\ntrap 'echo ended > end; exit 143' TERM\necho begun > begin\n"
                                   "while :; do sleep 0.05; done\n")
        code = (f"import sys; sys.path.insert(0, {str(SOURCE / 'python')!r}); import heddle\n"
                f"heddle.find_program({str(fake)!r}).call([])")
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
            while not Path("begin").exists():
                time.sleep(0.01)
            time.sleep(0.3)  # Python has come to waiting for it
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        self.assertTrue(said.rstrip().endswith("KeyboardInterrupt"), said)
        self.assertEqual(Path("end").read_text(), "ended\n")

    def test_no_run_outlives_the_script(self) -> None:
        script = self.write("long.py", "import heddle\nheddle.run('lwm', 'sort', scale=16)\n")
        with subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(SOURCE / "python")}) as caller:
            of_caller = Path(f"/proc/{caller.pid}/task/{caller.pid}/children")
            until = time.monotonic() + 60
            run = None
            while run is None and time.monotonic() < until:
                time.sleep(0.05)
                for child in of_caller.read_text().split():
                    with contextlib.suppress(OSError):  # that only said its version, and is gone
                        if b"sort" in Path(f"/proc/{child}/cmdline").read_bytes():
                            run = Path(f"/proc/{child}")
            assert run is not None
            time.sleep(0.5)  # it runs, for minutes
            caller.kill()
        until = time.monotonic() + 20
        while run.exists() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(run.exists(), "the run goes on alone")

    def test_a_machine_keeps_its_program(self) -> None:
        fake = self.script("fake", 'echo "heddle: $1" >&2; exit 2\n')
        machine = heddle.Machine("lwm", program=fake).set("core.threads", 512)
        for call, words in ((lambda: heddle.run(machine, "bfs"), "run"), (lambda: heddle.exec("x", machine), "exec"),
                            (lambda: heddle.Sweep(machine, "bfs", axes={"seed": [1]}).run("x.db"), "sweep"),
                            (machine.check, "check")):
            with self.assertRaises(heddle.InputError) as caught:
                call()
            self.assertEqual(str(caught.exception), words)


class Frames(Case):
    def test_without_pandas(self) -> None:
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaises(heddle.MissingPackage) as caught:
                heddle.Machine("lwm").frame()
        self.assertEqual(
            str(caught.exception),
            "a frame needs pandas, which is not installed: pip install pandas, or Debian's python3-pandas; the same "
            "figures are there without it as dictionaries and lists",
        )
        self.assertIsInstance(caught.exception, ImportError)

    def frames(self) -> dict[str, object]:
        run = heddle.run("lwm", "bfs", scale=0.001, pipeline=True, vcd=True, window=(3000, 3200), signals=["fetch"])
        results = heddle.Sweep("lwm", "bfs", scale=0.001, axes={"core.threads": [512, 1024]}).run("x.db")
        return {
            "machine": heddle.Machine("lwm").frame(),
            "summary": run.summary.frame(),
            "modules": run.modules_frame(),
            "pipeline": run.pipeline().frame(),
            "waves": run.waves().frame(),
            "results": results.frame(),
            "few": results.frame(columns=["core.threads", "ipc"]),
        }

    def test_what_frames_hold(self) -> None:
        class Frame:
            """What is asked of pandas, without it."""

            def __init__(self, rows: Any, columns: list[str] | None = None) -> None:
                self.rows, self.columns, self.index = rows, columns, None

            def set_index(self, index: str) -> "Frame":
                self.index = index
                return self

        def array(values: list[int | None], dtype: str) -> list[int | None]:
            self.assertIn(dtype, ("Int64", "UInt64") if None in values else ("int64", "uint64"))
            return values

        with mock.patch.dict(sys.modules, {"pandas": mock.Mock(DataFrame=Frame, array=array)}):
            made = self.frames()
        self.assertEqual(made["machine"].index, "path")
        self.assertEqual(made["machine"].columns, ["path", "value", "default", "unit", "range", "meaning"])
        self.assertIn({"name": "launches", "value": 14, "unit": "launches", "meaning": "kernel launches"},
                      made["summary"].rows)
        self.assertIn("gpu.core0.l1d", [row["module"] for row in made["modules"].rows])
        self.assertEqual({row["core"] for row in made["pipeline"].rows}, {0})
        self.assertEqual(made["waves"].rows["cycle"], list(range(3000, 3201)))
        self.assertEqual({len(column) for column in made["waves"].rows.values()}, {201})
        self.assertEqual([row["core_threads"] for row in made["results"].rows], [512, 1024])
        self.assertEqual(made["few"].columns, ["core_threads", "ipc"])

    @unittest.skipUnless(shutil.which("python3") and __import__("importlib.util").util.find_spec("pandas"), "no pandas")
    def test_with_pandas(self) -> None:
        made = self.frames()
        self.assertEqual(made["summary"].loc["launches", "value"], 14)
        self.assertEqual(made["machine"].loc["core.warp_size", "value"], 256)
        self.assertEqual(list(made["results"]["core_threads"]), [512, 1024])
        self.assertEqual(list(made["few"].columns), ["core_threads", "ipc"])
        self.assertEqual(made["waves"].index[0], 3000)
        self.assertLessEqual({str(one).lower() for one in made["waves"].dtypes}, {"int64", "uint64"})


if __name__ == "__main__":
    unittest.main()
