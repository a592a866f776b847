"""What goes wrong, with the program's own words and the place in the user's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._runs import Run


class HeddleError(Exception):
    """Every error of this package. `str(error)` is what the program says."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        """The program's exit code; None: it was not the program that refused."""


class ProgramNotFound(HeddleError):
    """There is no heddle to run."""


class MissingPackage(HeddleError, ImportError):
    """An optional Python package that is not installed."""


class InputError(HeddleError):
    """Bad input: a machine, a workload, an exploration, a word of a call, a file that is read back."""

    def __init__(
        self,
        text: str,
        code: int | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        message: str | None = None,
        hint: str | None = None,
        run: Run | None = None,
    ) -> None:
        super().__init__(text, code)
        self.run = run
        """A run that came to its end, and could not write a file; None: there was none."""
        self.file = file
        """The file, or the word of the command line ("--set core.threads=7"); None: it has no place."""
        self.line = line
        self.column = column
        self.key = key
        """The parameter that it is about, as "core.threads"; None: about none."""
        self.message = message if message is not None else text
        self.hint = hint
        """What to do."""


class RunError(HeddleError):
    """A run that did not end well. What it has measured until then is in `run`."""

    def __init__(self, text: str, code: int | None = None, run: Run | None = None) -> None:
        super().__init__(text, code)
        self.run = run


class WrongResult(RunError):
    """The kernels ran to their end and computed something else than they should."""


class Fault(RunError):
    """The simulated program failed, or the watchdog ended it."""


class Interrupted(RunError):
    """A signal ended the program."""


class InternalError(HeddleError):
    """An error inside Heddle."""
