"""What the program declares: parameters, statistics, workloads, signals, schemas. Nothing of it is written here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from ._program import Program, find_program

Value = bool | int | float | str
ProgramLike = str | Path | Program | None


@dataclass(frozen=True)
class Choice:
    name: str
    meaning: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of a machine; `value` is its default, or that of the machine which was asked."""

    path: str
    section: str
    key: str
    type: str
    """ "boolean", "integer", "number" or "string"."""
    value: Value
    default: Value
    unit: str
    range: str
    meaning: str
    low: float | None = None
    high: float | None = None
    power_of_two: bool = False
    choices: tuple[Choice, ...] = ()
    list: bool = False
    """The value is a list of choices, with commas between."""

    def with_value(self, value: Value) -> Parameter:
        return replace(self, value=value)


@dataclass(frozen=True)
class Statistic:
    """A figure of a run's summary, or a counter of a module."""

    name: str
    type: str
    unit: str
    meaning: str
    nsight: str | None = None
    """The metric of Nsight Compute that means the same, in the same unit."""


@dataclass(frozen=True)
class Named:
    """A workload, a machine, a policy or a group of signals, with what it does."""

    name: str
    meaning: str
    file: str | None = None
    parameter: str | None = None
    group: str | None = None
    """Of a machine: what it is listed with, "papers" or "GPUs of today"."""


@dataclass(frozen=True)
class Signal:
    path: str
    group: str
    kind: str
    width: int
    meaning: str
    values: tuple[str, ...] = ()
    """Of an enumeration: the names of its values from 0 on."""


@lru_cache(maxsize=256)
def _listed(path: str, stamp: float, words: tuple[str, ...]) -> object:
    return Program(path).json(["list", *words])


def listed(program: ProgramLike, *words: str) -> Any:
    """`heddle list WORDS`, asked once per build of the program. Not to be changed."""
    found = find_program(program)
    return _listed(found.path, os.stat(found.path).st_mtime, words)


def parameters(*, program: ProgramLike = None) -> dict[str, Parameter]:
    """Every parameter of a machine by its path, with unit, range, default and meaning."""
    return {
        one["path"]: Parameter(
            path=one["path"],
            section=one["section"],
            key=one["key"],
            type=one["type"],
            value=one["default"],
            default=one["default"],
            unit=one["unit"],
            range=one["range"],
            meaning=one["meaning"],
            low=one.get("low"),
            high=one.get("high"),
            power_of_two=one.get("power_of_two", False),
            choices=tuple(Choice(**choice) for choice in one.get("choices", ())),
            list=one.get("list", False),
        )
        for one in listed(program, "parameters", "--json")
    }


def statistics(*, program: ProgramLike = None) -> dict[str, Statistic]:
    """Every figure of a run's summary."""
    return {one["name"]: Statistic(**one) for one in listed(program, "statistics", "--json")["summary"]}


def counters(*, program: ProgramLike = None) -> dict[str, dict[str, Statistic]]:
    """The counters of every kind of module ("gpu.core<n>.l1d"), by name; "trace" is of `heddle dram`."""
    told = listed(program, "statistics", "--json")
    return {
        group["module"]: {one["name"]: Statistic(**one) for one in group["counters"]}
        for group in [*told["modules"], told["dram_alone"]]
    }


def idle_causes(*, program: ProgramLike = None) -> dict[str, str]:
    """The causes of idle cycles with their meanings."""
    return {one["name"]: one["meaning"] for one in listed(program, "statistics", "--json")["idle_causes"]}


def _named(program: ProgramLike, kind: str) -> list[Named]:
    return [Named(**one) for one in listed(program, kind, "--json")]


def workloads(*, program: ProgramLike = None) -> dict[str, Named]:
    return {one.name: one for one in _named(program, "workloads")}


def machines(*, program: ProgramLike = None) -> dict[str, Named]:
    """Every machine that a name can reach, with its file."""
    found = find_program(program)
    answer = cast("list[dict[str, str]]", found.json(["list", "configs", "--json"]))  # files come and go
    return {one["name"]: Named(**one) for one in answer}


def policies(*, program: ProgramLike = None) -> list[Named]:
    """What parameters that name a policy can say."""
    return _named(program, "policies")


def signal_groups(*, program: ProgramLike = None) -> dict[str, Named]:
    return {one.name: one for one in _named(program, "groups")}


def schema(kind: str, *, program: ProgramLike = None) -> Mapping[str, Any]:
    """The JSON Schema of "stats" (stats.json), "host" (host.json), "exploration" or "results" (a row)."""
    return cast("Mapping[str, Any]", deepcopy(listed(program, "schema", kind)))
