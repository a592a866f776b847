"""Sweeps: built in code, run by `heddle sweep`, read back from their database."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from ._declarations import ProgramLike, Value, schema
from ._errors import HeddleError, InputError, WrongResult
from ._files import refuse, write_whole
from ._frames import frame
from ._machine import Machine, SettingValue, plain, toml_value, whole_path
from ._named import Named, did_you_mean
from ._program import find_program

_MARK = "# Written by Heddle's Python package; an exploration file of `heddle sweep`.\n"
_SCHEMA = 1
JSON_COLUMNS = ("fu_active_cycles", "warp_sizes", "modules", "energy_by_kernel")  # so that results need no program
_APPLICATION = 0x4865646C


@dataclass(frozen=True)
class Range:
    """The values of an axis from `low` to `high`, by steps or by factors."""

    low: float
    high: float
    step: float | None = None
    times: float | None = None

    def toml(self) -> str:
        if (self.step is None) == (self.times is None):
            raise HeddleError("a Range has a step or a factor: Range(32, 256, step=32) or Range(32, 256, times=2)")
        by = f"step = {toml_value(self.step)}" if self.step is not None else f"times = {toml_value(self.times)}"
        return f"{{ from = {toml_value(self.low)}, to = {toml_value(self.high)}, {by} }}"


@dataclass(frozen=True)
class Random:
    """`count` different values of an axis, drawn evenly; whole numbers if both ends are. The same seed draws the same
    ones."""

    count: int
    low: float
    high: float
    seed: int = 1

    def toml(self) -> str:
        return (
            f"{{ random = {self.count}, from = {toml_value(self.low)}, to = {toml_value(self.high)}, "
            f"seed = {self.seed} }}"
        )


class Expression:
    """A constraint in the making: `param("core.warp_size") * 4 <= param("core.threads")`. `&`, `|` and `~` join
    conditions."""

    def __init__(self, text: str) -> None:
        self.text = text

    @staticmethod
    def _operand(value: Expression | Value) -> str:
        if isinstance(value, Expression):
            return value.text
        if isinstance(value, str):
            if '"' in value or "\\" in value or not value.isprintable():
                raise HeddleError(f"a constraint cannot name {value!r}")
            return f'"{value}"'
        return toml_value(value)

    def _with(self, operator: str, other: Expression | Value) -> Expression:
        return Expression(f"({self.text} {operator} {self._operand(other)})")

    def _behind(self, operator: str, other: Expression | Value) -> Expression:
        return Expression(f"({self._operand(other)} {operator} {self.text})")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return self._with("==", cast("Expression | Value", other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return self._with("!=", cast("Expression | Value", other))

    def __lt__(self, other: Expression | Value) -> Expression:
        return self._with("<", other)

    def __le__(self, other: Expression | Value) -> Expression:
        return self._with("<=", other)

    def __gt__(self, other: Expression | Value) -> Expression:
        return self._with(">", other)

    def __ge__(self, other: Expression | Value) -> Expression:
        return self._with(">=", other)

    def __add__(self, other: Expression | Value) -> Expression:
        return self._with("+", other)

    def __sub__(self, other: Expression | Value) -> Expression:
        return self._with("-", other)

    def __mul__(self, other: Expression | Value) -> Expression:
        return self._with("*", other)

    def __truediv__(self, other: Expression | Value) -> Expression:
        return self._with("/", other)

    def __mod__(self, other: Expression | Value) -> Expression:
        return self._with("%", other)

    def __neg__(self) -> Expression:
        return Expression(f"(-{self.text})")

    def __rtruediv__(self, other: Value) -> Expression:
        return self._behind("/", other)

    def __rand__(self, other: Value) -> Expression:
        return self._behind("&&", other)

    def __ror__(self, other: Value) -> Expression:
        return self._behind("||", other)

    def __radd__(self, other: Value) -> Expression:
        return self._behind("+", other)

    def __rsub__(self, other: Value) -> Expression:
        return self._behind("-", other)

    def __rmul__(self, other: Value) -> Expression:
        return self._behind("*", other)

    def __and__(self, other: Expression | Value) -> Expression:
        return self._with("&&", other)

    def __or__(self, other: Expression | Value) -> Expression:
        return self._with("||", other)

    def __invert__(self) -> Expression:
        return Expression(f"(!{self.text})")

    def __bool__(self) -> bool:
        raise HeddleError(f"the constraint {self.text} has no value here: join constraints by & and |, not and and or")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Expression {self.text}>"


def param(path: str) -> Expression:
    """A parameter of the machine, or a setting of a run ("workload", "scale"), in a constraint."""
    return Expression(path)


Axis = Sequence[Value] | Range | Random


@dataclass
class Sweep:
    """Many runs: every point of a grid, a list of points, or a random sample of them. docs/explorations.md says what
    the fields of these names mean in an exploration file."""

    config: str | Path | Machine | None = "baseline"
    """None: an axis or the points say it."""
    workload: str | Path | None = None
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """The last one varies fastest."""
    points: Sequence[Mapping[str, Value]] = ()
    set: Mapping[str, SettingValue] = field(default_factory=dict)
    constraints: Sequence[str | Expression] = ()
    scale: float | None = None
    seed: int | None = None
    address_bits: int | None = None
    max_cycles: int | None = None
    energy: str | Path | None = None
    temperature: float | None = None
    """Of the machine, in degrees Celsius, for leakage by the energy table."""
    power_interval: int | None = None
    repetitions: int | None = None
    sample: int | tuple[int, int] | Mapping[str, int] | None = None
    """So many points drawn at random; with a seed: (points, seed), or {"points": 4, "seed": 2} as in the file."""
    limits: Mapping[str, float] = field(default_factory=dict)
    slurm: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    name: str = "sweep"
    """Of its database, where none is given: the exploration is called as its file, which stands beside it."""

    def toml(self) -> str:
        """The exploration file."""
        varied = {*self.axes, *(name for point in self.points for name in point)}
        for name, values in self.axes.items():
            if isinstance(values, (str, Path, Machine)):
                raise HeddleError(f"the axis {name} needs a list of values, as [{values!r}]")
        for name in sorted(varied & {*self.set}):
            raise HeddleError(f"{name} is set, and varied by an axis or by points: take it out of one of them")
        settings = dict(self.set)
        top: list[tuple[str, object]] = []
        if self.description:
            top.append(("description", self.description))
        if self.config is not None and "config" not in varied:
            machine = Machine(self.config)
            own = {name: value for name, value in machine.settings.items() if name not in varied}
            settings = {**own, **settings}
            top.append(("config", machine.config))
        if self.workload is not None and "workload" not in varied:
            top.append(("workload", whole_path(os.fspath(self.workload))))
        energy = None if self.energy is None else whole_path(os.fspath(self.energy))
        for name in ("scale", "seed", "address_bits", "max_cycles", "temperature", "power_interval", "repetitions"):
            value = getattr(self, name)
            if value is not None:
                top.append((name, value))
        if energy is not None:
            top.append(("energy", energy))
        if self.constraints:
            top.append(("constraints", [one.text if isinstance(one, Expression) else one for one in self.constraints]))
        out = _MARK + "".join(f"{name} = {toml_value(value)}\n" for name, value in top)
        out += _table("set", {name: _scalar(value, name) for name, value in settings.items()})
        if self.sample is not None:
            out += _table("sample", _sample(self.sample))
        out += _table("limits", dict(self.limits))
        out += _table("slurm", dict(self.slurm))
        if self.axes:
            out += "\n[axes]\n"
            for name, values in self.axes.items():
                if isinstance(values, (Range, Random)):
                    text = values.toml()
                else:
                    text = toml_value([_scalar(_plain(name, value), name) for value in values])
                out += f"{_key(name)} = {text}\n"
        for point in self.points:
            out += "\n[[points]]\n"
            out += "".join(
                f"{_key(name)} = {toml_value(_scalar(_plain(name, value), name))}\n" for name, value in point.items()
            )
        return out

    def write(self, path: str | Path) -> Path:
        """Writes the exploration file, which `heddle sweep` takes too. A file that was not written by this is left
        alone."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
            refuse(target, "is there, and was not written by this package", hint="name another file or database")
        write_whole(target, self.toml())
        return target

    def run(
        self,
        database: str | Path | None = None,
        *,
        jobs: int | None = None,
        launcher: str | None = None,
        shared: str | Path | None = None,
        scale: float | None = None,
        resume: bool = False,
        retry: bool = False,
        strict: bool = True,
        program: ProgramLike = None,
    ) -> Results:
        """Does what is missing of the sweep in its database (default heddle-out/NAME.db), by `heddle sweep`, whose
        options these are; `launcher="slurm"` does it on a cluster. The exploration file is written beside the database.

        A run that went wrong raises WrongResult once the others are done; with strict=False it is a row of the results
        with its status and message.
        """
        target = Path(database) if database is not None else Path("heddle-out") / f"{self.name}.db"
        exploration = self.write(target.with_suffix(".toml"))
        words = ["sweep", str(exploration), "--database", str(target)]
        for option, value in (
            ("--jobs", jobs),
            ("--launcher", launcher),
            ("--shared", None if shared is None else os.fspath(shared)),
            ("--scale", scale),
        ):
            if value is not None:
                words += [option, str(value)]
        words += ["--resume"] if resume else []
        words += ["--retry"] if retry else []
        found = find_program(self.config.program if program is None and isinstance(self.config, Machine) else program)
        answer = found.call(words, accept=(0, 1))
        results = Results(target, program=found)
        if strict and answer.code != 0:
            results.check()
        return results


def _sample(sample: int | tuple[int, int] | Mapping[str, int]) -> Mapping[str, int]:
    if isinstance(sample, Mapping):
        return sample
    count, seed = (sample, 1) if isinstance(sample, int) else sample
    return {"points": count, "seed": seed}


def _plain(name: str, value: object) -> object:
    if isinstance(value, Machine):
        if value.settings:
            raise HeddleError(
                f"{value!r} has changed parameters, and an axis names machines: write it to a file first, "
                "and give what write() returns"
            )
        value = value.config
    if isinstance(value, Path):
        value = str(value)
    return whole_path(value) if name in ("config", "workload", "energy") and isinstance(value, str) else value


def _scalar(value: object, name: str = "") -> object:
    value = plain(value, name)
    return value if isinstance(value, (bool, int, float, str)) else ",".join(cast("Iterable[str]", value))


def _key(name: str) -> str:
    return ".".join(part if part.isascii() and part.replace("_", "").replace("-", "").isalnum() else toml_value(part)
                    for part in name.split("."))


def _table(name: str, values: Mapping[str, object]) -> str:
    if not values:
        return ""
    return f"\n[{name}]\n" + "".join(f"{_key(key)} = {toml_value(value)}\n" for key, value in values.items())


class Row(Named):
    """One run of a sweep: columns by their names, parameters also by their paths; also as attributes."""

    if TYPE_CHECKING:  # its columns are the database's

        def __getattr__(self, name: str) -> Any: ...

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(_column(name))

    def _lacks(self, name: str) -> str:
        return f"a run has no column '{name}'{did_you_mean(_column(name), self._values)}"

    def __repr__(self) -> str:
        if len(self._values) <= _SHORT:
            return f"<Row {dict(self._values)}>"
        names = ("point", "status", "config", "workload", "cycles", "ipc")
        return f"<Row { {name: self._values[name] for name in names if name in self._values} }>"


_SHORT = 12  # columns, which a row's words have all of


def _column(name: str) -> str:
    return name.replace(".", "_").replace("-", "_")


class Results:
    """The database of a sweep. It may be in use: what is there is shown."""

    def __init__(
        self, database: str | Path, sweep: int | str | None = None, *, program: ProgramLike = None
    ) -> None:
        self.path = Path(database)
        self._file = self.path.absolute()
        self._program = program
        if not self.path.exists():
            refuse(self.path, "is not there", hint="heddle sweep writes it")
        try:
            application = self.query("PRAGMA application_id")[0]["application_id"]
            version = self.query("PRAGMA user_version")[0]["user_version"]
        except InputError as problem:
            refuse(self.path, f"this is no database: {problem.message}")
        if application != _APPLICATION:
            refuse(self.path, "is no database of explorations", hint="heddle sweep writes one")
        if version != _SCHEMA:
            refuse(self.path, f"is of schema {version}", hint=f"this package reads schema {_SCHEMA}")
        known = self.query("SELECT id, name, description, points, finished FROM sweeps ORDER BY id")
        chosen = [one for one in known if sweep is None or sweep in (one["id"], one["name"])]
        if not chosen:
            refuse(self.path, f"holds no sweep {sweep!r}", hint="it holds " + ", ".join(one["name"] for one in known))
        self._sweep = chosen[-1]

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Any query that only reads, over the tables that docs/explorations.md describes."""
        connection = sqlite3.connect(f"file:{quote(str(self._file))}?mode=ro", uri=True)
        try:
            cursor = connection.execute(sql, values)
            names = [one[0] for one in cursor.description or ()]
            return [dict(zip(names, row)) for row in cursor]
        except sqlite3.Error as problem:
            raise InputError(f"{self.path}: {problem}: {sql}", file=str(self.path), message=str(problem)) from problem
        finally:
            connection.close()

    @property
    def name(self) -> str:
        return str(self._sweep["name"])

    @property
    def complete(self) -> bool:
        """Every run of the sweep is there."""
        found = self.query("SELECT count(*) AS runs FROM results WHERE sweep = ?", (self._sweep["id"],))
        return bool(found[0]["runs"] == self._sweep["points"])

    @property
    def axes(self) -> list[str]:
        """What the sweep varies."""
        found = self.query("SELECT name FROM axes WHERE sweep = ? ORDER BY position", (self._sweep["id"],))
        return [one["name"] for one in found]

    def rows(self, where: str | None = "status = 'done'", values: Sequence[Any] = ()) -> list[Row]:
        """The runs for which a condition of SQL holds (None: all), in the order of their points; columns that hold JSON
        are read."""
        found = self.query(
            f"SELECT * FROM results WHERE sweep = ? AND ({where or '1'}) ORDER BY point, repetition",
            (self._sweep["id"], *values),
        )
        for one in found:
            for name in JSON_COLUMNS:
                if isinstance(one.get(name), str):
                    one[name] = json.loads(one[name])
        return [Row(one) for one in found]

    def failures(self) -> list[Row]:
        """The runs that did not end well: wrong, fault, timeout, memory, crashed."""
        return self.rows("status NOT IN ('done', 'stopped', 'refused')")

    def refused(self) -> list[Row]:
        """The points whose machines contradict themselves."""
        return self.rows("status = 'refused'")

    def check(self) -> None:
        """Raises WrongResult for the first run that did not end well."""
        for row in self.failures():
            raise WrongResult(f"{row.status}: {row.workload} on {row.config} (point {row.point}): {row.message}", 1)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self.rows())

    def column(self, name: str) -> list[Any]:
        """A column of the runs that are done."""
        return [row[name] for row in self.rows()]

    def table(self, rows: str, columns: str, value: str) -> dict[Any, dict[Any, Any]]:
        """A figure over two axes: `table("workload", "config", "ipc")["bfs"]["lwm"]`. Where several runs stand at one
        place, the mean of their figures. Raises HeddleError where they have none, because they are no numbers."""
        found: dict[Any, dict[Any, list[Any]]] = {}
        for row in self.rows():
            found.setdefault(row[rows], {}).setdefault(row[columns], []).append(row[value])

        def one(values: list[Any]) -> Any:
            if all(each == values[0] for each in values):
                return values[0]
            if not all(isinstance(each, (int, float)) for each in values):
                raise HeddleError(f"several runs with different {value} stand at one place of this table, over "
                                  f"{rows} and {columns}; the sweep varies {', '.join(self.axes)}")
            return sum(values) / len(values)

        return {name: {column: one(values) for column, values in line.items()} for name, line in found.items()}

    def pareto(self, **goals: str) -> list[Row]:
        """The designs that no other beats: `pareto(ipc="max", cycles="min")`, by `heddle results --pareto`. Figures are
        means over the runs that a design has."""
        words = ["results", str(self._file), "--sweep", str(self._sweep["id"]), "--csv", "-", "--pareto"]
        words.append(",".join(f"{name}:{goal}" for name, goal in goals.items()))
        kinds = schema("results", program=self._program)["properties"]
        answer = find_program(self._program).call(words)
        return [
            Row({name: _typed(text, kinds.get(name, {}), name in goals) for name, text in one.items()})
            for one in csv.DictReader(io.StringIO(answer.out))
        ]

    def frame(self, where: str | None = "status = 'done'", columns: Sequence[str] | None = None) -> Any:
        """A frame of pandas: a row per run."""
        rows = self.rows(where)
        wanted = [_column(name) for name in columns] if columns is not None else None
        for name in wanted or () if rows else ():
            rows[0][name]  # raises for what is no column
        return frame((dict(row) for row in rows), wanted)

    def __repr__(self) -> str:
        return f"<Results of {self.name} in {self.path}: {len(self)} runs done>"


def _typed(text: str, kind: Mapping[str, Any], mean: bool) -> Any:
    """A field of a CSV file as its column has it; means have fractions."""
    types = kind.get("type", ["integer"])
    if text == "":
        return None
    if mean or "number" in types:
        return float(text)
    return int(text) if "integer" in types else text
