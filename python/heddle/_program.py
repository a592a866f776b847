"""The heddle program: where it is, and how it is called."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ._errors import Fault, HeddleError, InputError, InternalError, Interrupted, ProgramNotFound, WrongResult

# An installed wheel says which folder it was built from.
_recorded = Path(__file__).with_name("origin.txt")
ORIGIN = (
    _recorded.read_text(encoding="utf-8").strip()
    if _recorded.exists()
    else str(Path(__file__).resolve().parent.parent)
)


def _version() -> str | None:
    """Of the package: the wheel's, the installed folder's or the repository's. None: nothing says it."""
    here = Path(__file__).resolve().parent
    for file, pattern in (
        (here / "version.txt", r"([0-9.]+)"),
        (here.parent / "VERSION", r"([0-9.]+)"),
        (here.parent.parent / "CMakeLists.txt", r"project\(heddle VERSION ([0-9.]+)"),
    ):
        if file.is_file() and (found := re.search(pattern, file.read_text(encoding="utf-8"))):
            return found[1]
    return None


VERSION = _version()
VARIABLE = "HEDDLE"
_ERRORS = "HEDDLE_ERROR_FILE"
_PARENT = "HEDDLE_PARENT"  # with which the program ends, however that does
_FIRST_SIGNAL_CODE = 129
_PATIENCE = 30  # seconds


@dataclass(frozen=True)
class Answer:
    """What a call of the program left."""

    code: int
    out: str
    err: str
    error: HeddleError | None = None
    """For a code that is not 0."""


@dataclass(frozen=True)
class Program:
    """A heddle that can be called."""

    path: str

    def call(self, words: Sequence[str], *, accept: Sequence[int] = (0,), folder: str | Path | None = None) -> Answer:
        """Calls the program. Raises what the program says when its exit code is none of `accept`."""
        with tempfile.TemporaryDirectory(prefix="heddle-") as scratch:
            errors = Path(scratch) / "error.json"
            environment = {**os.environ, _ERRORS: str(errors), _PARENT: str(os.getpid())}
            self._say_that_it_builds()
            _check_version(self.path, _changed(self.path))
            try:
                process = subprocess.Popen(
                    [self.path, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment,
                    cwd=folder,
                )
            except OSError as problem:
                raise ProgramNotFound(f"{self.path} cannot be started: {problem.strerror}; {_ADVICE}") from problem
            with process:
                try:
                    out, err = process.communicate()
                except BaseException:  # an interrupted notebook: the program ends in order, with what it has started
                    process.terminate()
                    try:
                        process.communicate(timeout=_PATIENCE)
                    except subprocess.TimeoutExpired:
                        process.kill()
                    raise
            answer = Answer(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
            if answer.code == 0:
                return answer
            error = _error_of(answer, errors)
            if answer.code not in accept:
                raise error
            return replace(answer, error=error)

    def _say_that_it_builds(self) -> None:
        """The repository's script builds before the first call, which takes minutes without a word here."""
        folder = Path(self.path).parent
        if (folder / "CMakeLists.txt").is_file() and not (folder / "build" / "release" / "heddle").exists():
            print(f"heddle: first use: {self.path} builds (some minutes)", file=sys.stderr)

    def json(self, words: Sequence[str]) -> object:
        """Calls the program for its JSON."""
        answer = self.call(words)
        try:
            return json.loads(answer.out)
        except ValueError as problem:
            raise HeddleError(
                f"heddle {' '.join(words)} printed no JSON ({problem}); is {self.path} of another version "
                f"than this package?"
            ) from problem


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _check_version(path: str, changed: float) -> None:
    """Names and units are the program's, but this package knows how its answers are built. Raises HeddleError."""
    try:
        said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    except OSError:
        return  # the call says it
    found = re.match(r"heddle ([0-9.]+)", said)
    if found is not None and VERSION is not None and found[1] != VERSION:
        raise HeddleError(
            f"{path} is heddle {found[1]}, and this package is of version {VERSION}; install the package that comes "
            f"with the program (pip install PREFIX/share/heddle/python), or name a program of version {VERSION}"
        )


def _error_of(answer: Answer, errors: Path) -> HeddleError:
    """The exception for a call that went wrong."""
    text = _last_words(answer.err) or f"heddle ended with code {answer.code} and no word"
    if errors.exists():
        said = json.loads(errors.read_text(encoding="utf-8", errors="replace"))
        text = said["text"]
        if said["kind"] == "input":
            return InputError(
                text,
                answer.code,
                file=said.get("file"),
                line=said.get("line"),
                column=said.get("column"),
                key=said.get("key"),
                message=said.get("message"),
                hint=said.get("hint"),
            )
    if answer.code == 1:
        return WrongResult(text, 1)
    if answer.code == 2:
        return InputError(text, 2)
    if answer.code == 3:
        return Fault(text, 3)
    if answer.code < 0 or answer.code >= _FIRST_SIGNAL_CODE:
        return Interrupted(text, answer.code)
    return InternalError(text, answer.code)


def _last_words(err: str) -> str:
    """What stderr says from the last line on that begins with the program's name, notes left out."""
    mark = "heddle: "
    said: list[str] = []
    for line in err.splitlines():
        if line.startswith((mark + "note: ", mark + "warning: ")):
            continue
        if line.startswith(mark):
            said = [line[len(mark) :]]
        elif said:
            said.append(line)
    return "\n".join(said).strip()


def path_word(word: str | Path) -> str:
    """A program's name as a shell takes it. A Path is a file, and has dropped the "./" that says so."""
    text = os.fspath(word)
    return text if isinstance(word, str) or os.sep in text else os.path.join(os.curdir, text)


_ADVICE = (
    "build one with ./heddle build in Heddle's repository, and set HEDDLE to its path, or give program=PATH"
)


def find_program(program: str | Path | Program | None = None) -> Program:
    """The program to call: the argument, $HEDDLE, the one installed with this package, the repository's, the PATH's."""
    if isinstance(program, Program):
        return program
    for given, source in ((program, "program="), (os.environ.get(VARIABLE) or None, "HEDDLE=")):
        if given is not None:
            path = shutil.which(path_word(given))
            if path is None:
                raise ProgramNotFound(f"{source}{given} is no program; {_ADVICE}")
            return Program(os.path.abspath(path))
    origin = Path(ORIGIN)
    # PREFIX/share/heddle/python has PREFIX/bin/heddle; REPOSITORY/python has the script that builds what has changed.
    for beside, mark in (
        (origin.parents[2] / "bin" / "heddle" if len(origin.parents) > 2 else None, None),
        (origin.parent / "heddle", origin.parent / "CMakeLists.txt"),
    ):
        if beside is not None and os.access(beside, os.X_OK) and beside.is_file() and (mark is None or mark.is_file()):
            return Program(str(beside))
    on_path = shutil.which("heddle")
    if on_path is not None:
        return Program(on_path)
    raise ProgramNotFound(
        f"there is no heddle: HEDDLE is not set, none was installed with this package ({origin}), "
        f"and none is on the PATH; {_ADVICE}"
    )
