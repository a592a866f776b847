"""Traces read back: requests to memory, pipeline logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._files import read_lines, refuse
from ._frames import frame


@dataclass(frozen=True)
class Request:
    """A request to a memory channel, as `heddle run --memory-trace` writes it."""

    address: int
    kind: str
    """ "R", "W", or "RH": a read with a row-buffer hint."""
    cycle: int


_REQUEST = re.compile(r"(0x[0-9a-fA-F]+|[0-9]+) (R|W|RH) ([0-9]+)")


def read_requests(path: str | Path) -> list[Request]:
    """The requests of a file of --memory-trace; it may be compressed by gzip."""
    out: list[Request] = []
    for number, line in read_lines(path):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        match = _REQUEST.fullmatch(text)
        if match is None:
            refuse(path, f"'{text[:60]}' is no request", number, "heddle run --memory-trace writes ADDRESS R|W|RH CYCLE")
        out.append(Request(int(match[1], 0), match[2], int(match[3])))
    return out


@dataclass(frozen=True)
class Stage:
    """A stretch of a sub-warp's way through the pipeline, from the cycle `begin` up to, but without, `end`."""

    name: str
    lane: int
    """0: where it is; 1: why it cannot go on."""
    begin: int
    end: int

    @property
    def cycles(self) -> int:
        return self.end - self.begin


@dataclass
class SubWarp:
    """A row of a pipeline log: a sub-warp from its fetch to its retirement."""

    id: int
    core: int
    group: int
    begin: int
    end: int | None = None
    flushed: bool = False
    """It was in the pipeline when the window ended."""
    label: str = ""
    detail: str = ""
    stages: list[Stage] = field(default_factory=list)
    needs: list[int] = field(default_factory=list)
    """Rows from which an arrow leads to this one."""

    @property
    def pc(self) -> int | None:
        """The program counter of its instruction; None: the row is a split."""
        match = _LABEL.match(self.label)
        return int(match[1]) if match else None

    @property
    def instruction(self) -> str:
        match = _LABEL.match(self.label)
        return match[2].split("  [", 1)[0].strip() if match else self.label

    def cycles_in(self, stage: str) -> int:
        return sum(one.cycles for one in self.stages if one.name == stage)


_LABEL = re.compile(r"c[0-9]+ g[0-9]+ +([0-9]+): (.*)", re.DOTALL)
_GROUPS_OF_A_CORE = 65536


@dataclass
class PipelineLog:
    """A pipeline log in Konata's form."""

    rows: list[SubWarp]

    def __iter__(self) -> Iterator[SubWarp]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<PipelineLog: {len(self.rows)} sub-warps>"

    def __len__(self) -> int:
        return len(self.rows)

    def frame(self) -> Any:
        """A frame of pandas: a row per stage of each sub-warp."""
        columns = ["id", "core", "group", "pc", "instruction", "stage", "lane", "begin", "end"]
        return frame(
            (
                {
                    "id": row.id,
                    "core": row.core,
                    "group": row.group,
                    "pc": row.pc,
                    "instruction": row.instruction,
                    "stage": stage.name,
                    "lane": stage.lane,
                    "begin": stage.begin,
                    "end": stage.end,
                }
                for row in self.rows
                for stage in row.stages
            ),
            columns,
        )


@dataclass(frozen=True)
class TraceEvent:
    """An event of a log in Perfetto's form; `begin` and `cycles` are cycles."""

    name: str
    process: str
    track: str
    begin: int
    cycles: int | None
    """None: an event without a length."""
    arguments: dict[str, Any]


@dataclass
class TraceEvents:
    """A pipeline log in Perfetto's form."""

    events: list[TraceEvent]

    def __iter__(self) -> Iterator[TraceEvent]:
        return iter(self.events)

    def __repr__(self) -> str:
        return f"<TraceEvents: {len(self.events)} events>"

    def __len__(self) -> int:
        return len(self.events)

    def frame(self) -> Any:
        columns = ["name", "process", "track", "begin", "cycles"]
        return frame(({name: getattr(one, name) for name in columns} for one in self.events), columns)


def read_pipeline(path: str | Path) -> PipelineLog:
    """A file of --pipeline in Konata's form (.kanata); it may be compressed by gzip."""
    lines = read_lines(path)
    number, first = next(lines, (1, ""))
    if first.startswith("Kanata\t"):
        if first != "Kanata\t0004":
            refuse(path, f"is of version {first[7:][:20]}", number, "this package reads Kanata 0004")
        return _Kanata(path).read(lines)
    if first.startswith("{"):
        refuse(path, "is a pipeline log in Perfetto's form", number, "trace_events() and read_trace_events() read it")
    refuse(path, "is no pipeline log", number, "heddle run --pipeline writes one")


def read_trace_events(path: str | Path) -> TraceEvents:
    """A file of --pipeline in Perfetto's form (.json); it may be compressed by gzip."""
    lines = read_lines(path)
    number, first = next(lines, (1, ""))
    if first.startswith("Kanata\t"):
        refuse(path, "is a pipeline log in Konata's form", number, "pipeline() and read_pipeline() read it")
    if not first.startswith("{"):
        refuse(path, "is no pipeline log", number, "heddle run --pipeline FILE.json writes one")
    return _events(path, "\n".join([first, *(line for _, line in lines)]))


class _Kanata:
    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.rows: dict[int, SubWarp] = {}
        self.open: dict[tuple[int, int, str], int] = {}
        self.cycle = 0

    def read(self, lines: Iterator[tuple[int, str]]) -> PipelineLog:
        for number, line in lines:
            words = line.split("\t")
            try:
                self.take(words)
            except (KeyError, ValueError, IndexError):
                refuse(self.path, f"'{line[:60]}' is no line of a pipeline log", number)
        for row in self.rows.values():
            row.stages.sort(key=lambda stage: (stage.begin, stage.lane))
        return PipelineLog(list(self.rows.values()))

    def take(self, words: list[str]) -> None:
        kind = words[0]
        if kind == "C=":
            self.cycle = int(words[1])
        elif kind == "C":
            self.cycle += int(words[1])
        elif kind == "I":
            core, group = divmod(int(words[3]), _GROUPS_OF_A_CORE)
            self.rows[int(words[1])] = SubWarp(int(words[1]), core, group, self.cycle)
        elif kind == "L":
            row, text = self.rows[int(words[1])], "\t".join(words[3:]).replace("\\n", "\n")
            if int(words[2]) == 0:
                row.label += text
            else:
                row.detail += text
        elif kind == "S":
            self.open[int(words[1]), int(words[2]), words[3]] = self.cycle
        elif kind == "E":
            begin = self.open.pop((int(words[1]), int(words[2]), words[3]))
            self.rows[int(words[1])].stages.append(Stage(words[3], int(words[2]), begin, self.cycle))
        elif kind == "R":
            row = self.rows[int(words[1])]
            row.end, row.flushed = self.cycle, int(words[3]) == 1
            for row_id, lane, name in [key for key in self.open if key[0] == row.id]:
                begin = self.open.pop((row_id, lane, name))
                row.stages.append(Stage(name, lane, begin, self.cycle))
        elif kind == "W":
            self.rows[int(words[1])].needs.append(int(words[2]))
        else:
            raise ValueError(kind)


def _events(path: str | Path, text: str) -> TraceEvents:
    try:
        events = json.loads(text)["traceEvents"]
        processes: dict[int, str] = {}
        tracks: dict[tuple[int, int], str] = {}
        begun: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        out: list[TraceEvent] = []

        def add(event: dict[str, Any], cycles: int | None, arguments: dict[str, Any]) -> None:
            process = event.get("pid", 0)
            track = tracks.get((process, event.get("tid", 0)), "")
            out.append(
                TraceEvent(event["name"], processes.get(process, ""), track, int(event["ts"]), cycles, arguments)
            )

        for event in events:
            phase = event["ph"]
            key = (event.get("cat"), event.get("id"), event.get("pid"), event["name"])
            if phase == "M":
                if event["name"] == "process_name":
                    processes[event["pid"]] = event["args"]["name"]
                elif event["name"] == "thread_name":
                    tracks[event["pid"], event["tid"]] = event["args"]["name"]
            elif phase == "X":
                add(event, int(event["dur"]), event.get("args", {}))
            elif phase == "b":
                begun.setdefault(key, []).append(event)
            elif phase == "e":
                begin = begun[key].pop()
                add(begin, int(event["ts"]) - int(begin["ts"]), {**begin.get("args", {}), **event.get("args", {})})
            else:
                add(event, None, event.get("args", {}))
        for left in begun.values():
            for event in left:
                add(event, None, event.get("args", {}))
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        refuse(path, f"is no log of trace events: {problem!r}", getattr(problem, "lineno", None))
    out.sort(key=lambda event: event.begin)
    return TraceEvents(out)
