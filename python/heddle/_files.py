"""Files that are whole or absent, and files that are read back."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from ._errors import InputError


def write_whole(path: Path, text: str) -> None:
    """Writes a file that is whole or absent, whatever ends this process."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def refuse(path: str | Path, message: str, line: int | None = None, hint: str | None = None) -> NoReturn:
    """Raises InputError as the program words it: file, line, what is wrong, what to do."""
    place = f"{path}:{line}" if line else str(path)
    text = f"{place}: {message}" + (f"; {hint}" if hint else "")
    raise InputError(text, file=str(path), line=line, message=message, hint=hint)


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a text, which may be compressed by gzip, with their numbers."""
    number = 0
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with _text(path, packed) as file:
            for line in file:
                number += 1
                yield number, line.rstrip("\n")
    except UnicodeDecodeError:
        refuse(path, "is no text", number + 1)
    except (OSError, EOFError) as problem:  # BadGzipFile is an OSError
        refuse(path, f"cannot be read: {getattr(problem, 'strerror', None) or problem}")


def _text(path: str | Path, packed: bool) -> IO[str]:
    if packed:
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8", newline="\n"))
    return open(path, encoding="utf-8", newline="\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """A JSON object. Raises InputError with file and line."""
    text = "\n".join(line for _, line in read_lines(path))
    try:
        value = json.loads(text)
    except ValueError as problem:
        refuse(path, f"is no JSON: {problem}", getattr(problem, "lineno", None))
    if not isinstance(value, dict):
        refuse(path, "is no JSON object")
    return value
