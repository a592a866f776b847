"""Machines: read, changed, checked, written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ._declarations import Parameter, ProgramLike, Signal, Value, parameters
from ._errors import HeddleError, InputError
from ._files import write_whole
from ._frames import frame
from ._named import did_you_mean
from ._program import find_program

SettingValue = Value | Iterable[str]


def plain(value: Any, name: str = "") -> Any:
    """A number of numpy's, as frames have them, as one of Python's. Raises for what is no value of `name`."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None:
        raise HeddleError(f"{name or 'a parameter'} needs a value, and None is none")
    return value


def whole_path(word: str) -> str:
    """A path of the present folder by its whole name, so that it means the same in another one; names stay."""
    return str(Path(word).resolve()) if "/" in word or word.endswith(".toml") else word


def _word(value: SettingValue) -> str:
    """A value as --set takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    return ",".join(value)


def toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(entry) for entry in value) + "]"
    raise HeddleError(f"{value!r} ({type(value).__name__}) is no value of a TOML file")


class Machine:
    """A machine by its name or file, and changed parameters. It does not change: `set` makes another one."""

    def __init__(
        self,
        config: str | Path | Machine = "baseline",
        settings: Mapping[str, SettingValue] | None = None,
        *,
        program: ProgramLike = None,
    ) -> None:
        self._settings: dict[str, SettingValue] = {}
        if isinstance(config, Machine):
            self.config: str = config.config
            self._settings.update(config._settings)
            self._program: ProgramLike = config._program if program is None else program
        else:
            self.config = whole_path(os.fspath(config))
            if self.config.startswith("-"):
                raise HeddleError(f"'{self.config}' is no machine's name")
            self._program = program
        for path, value in (settings or {}).items():
            value = plain(value, path)
            self._settings[path] = value if isinstance(value, (bool, int, float, str)) else tuple(value)
        self._read: dict[str, Any] | None = None

    @property
    def program(self) -> ProgramLike:
        """The program that was given for it; None: none."""
        return self._program

    @property
    def settings(self) -> dict[str, SettingValue]:
        """What is changed, by path."""
        return dict(self._settings)

    def set(self, path: str | Mapping[str, SettingValue], value: SettingValue | None = None) -> Machine:
        """This machine with a parameter changed, or several: `set({"core.threads": 512, ...})`."""
        if isinstance(path, str):
            if value is None:
                raise HeddleError(f"set needs a value for {path}")
            path = {path: value}
        return Machine(self, path)

    def words(self) -> list[str]:
        """As the program's commands take it."""
        out = [self.config]
        for path, value in self._settings.items():
            out += ["--set", f"{path}={_word(value)}"]
        return out

    def _whole(self) -> dict[str, Any]:
        if self._read is None:
            program = find_program(self._program)
            self._read = cast("dict[str, Any]", program.json(["check", *self.words(), "--json"]))
        return self._read

    def check(self) -> list[str]:
        """Raises InputError, with file, line and key, when the machine makes no sense. Returns the program's notes:
        what is set and has no effect."""
        self._read = None  # its files may have changed
        return list(self._whole()["notes"])

    @property
    def name(self) -> str:
        return str(self._whole()["name"])

    @property
    def description(self) -> str:
        return str(self._whole()["description"])

    @property
    def file(self) -> str:
        return str(self._whole()["file"])

    def __getitem__(self, path: str) -> Value:
        """A parameter's value."""
        values = self._whole()["parameters"]
        if path not in values:
            words = f"there is no parameter '{path}'"
            near = did_you_mean(path, values)
            raise InputError(words + near, key=path, message=words, hint=near.removeprefix("; ") or None)
        return cast("Value", values[path])

    def __contains__(self, path: object) -> bool:
        return path in self._whole()["parameters"]

    def __iter__(self) -> Iterator[str]:
        """The paths of its parameters."""
        return iter(self._whole()["parameters"])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __eq__(self, other: object) -> bool:
        """The same name or file with the same parameters changed."""
        if not isinstance(other, Machine):
            return NotImplemented
        return (self.config, self._settings) == (other.config, other._settings)

    def __hash__(self) -> int:
        return hash((self.config, frozenset(self._settings.items())))

    def parameters(self) -> dict[str, Parameter]:
        """Every parameter by its path, with this machine's value, unit, range and meaning."""
        values = self._whole()["parameters"]
        return {path: one.with_value(values[path]) for path, one in parameters(program=self._program).items()}

    def frame(self) -> Any:
        """The parameters as a frame of pandas."""
        columns = ["path", "value", "default", "unit", "range", "meaning"]
        rows = [{name: getattr(one, name) for name in columns} for one in self.parameters().values()]
        return frame(rows, columns, index="path")

    def signals(self) -> list[Signal]:
        """Every signal that its waves have."""
        found = find_program(self._program).json(["list", "signals", *self.words(), "--json"])
        out = []
        for one in cast("list[dict[str, Any]]", found):
            one["values"] = tuple(one.get("values", ()))
            out.append(Signal(**one))
        return out

    def cost(self) -> dict[str, Any]:
        """What its mechanisms cost in storage, bit by bit."""
        return cast("dict[str, Any]", find_program(self._program).json(["cost", *self.words(), "--json"]))

    def toml(self, description: str = "") -> str:
        """A machine file that extends the one that this machine was made from."""
        out = f"description = {toml_value(description)}\n" if description else ""
        out += f"extends = {toml_value(self.config)}\n"
        sections: dict[str, list[str]] = {}
        declared = parameters(program=self._program)
        for path, value in self._settings.items():
            if path not in declared:
                self.check()  # raises, with the program's words
            one = declared[path]
            text = toml_value(value if isinstance(value, (bool, int, float, str)) else _word(value))
            sections.setdefault(one.section, []).append(f"{one.key} = {text}\n")
        for section, lines in sections.items():
            out += f"\n[{section}]\n" + "".join(lines)
        return out

    def write(self, path: str | Path, description: str = "") -> Machine:
        """Writes the machine file, and returns the machine that it holds."""
        target = Path(path)
        if target.suffix != ".toml":
            raise HeddleError(f"{target}: a machine file's name ends in .toml")
        if target.exists() and target.resolve() == Path(self.file).resolve():
            raise HeddleError(f"{target}: is the file that this machine extends; give another name")
        write_whole(target, self.toml(description))
        return Machine(target.resolve(), program=self._program)

    def __repr__(self) -> str:
        changed = f", {self._settings!r}" if self._settings else ""
        return f"Machine({self.config!r}{changed})"
