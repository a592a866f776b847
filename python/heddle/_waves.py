"""Waves read back: the signals of a VCD file as series over the cycles of the GPU's clock."""

from __future__ import annotations

import bisect
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

from ._errors import HeddleError
from ._files import read_lines, refuse
from ._frames import need_pandas
from ._named import did_you_mean

_SIGNED_BITS = 63
_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15}


class Series:
    """A signal: the cycles in which it changes, and what it is from there on. None: it is not known (x)."""

    def __init__(self, path: str, width: int, cycles: list[int], values: list[int | None], last: int) -> None:
        self.path = path
        self.width = width
        self.cycles = cycles
        self.values = values
        self.last = last
        """The last cycle of the recording."""

    def at(self, cycle: int) -> int | None:
        """Its value in a cycle; None before the first."""
        place = bisect.bisect_right(self.cycles, cycle)
        return self.values[place - 1] if place else None

    def each(self, first: int | None = None, last: int | None = None) -> list[int | None]:
        """Its value in each cycle of a window, both ends included; by itself the whole recording."""
        begin = self.cycles[0] if first is None and self.cycles else first or 0
        end = self.last if last is None else last
        out: list[int | None] = []
        place = bisect.bisect_right(self.cycles, begin)
        while begin <= end:
            stop = min(self.cycles[place] if place < len(self.cycles) else end + 1, end + 1)
            out += [self.values[place - 1] if place else None] * (stop - begin)
            begin = stop
            place += 1
        return out

    def cycles_at(self, value: int, first: int | None = None, last: int | None = None) -> int:
        """In how many cycles of a window it has a value."""
        return sum(one == value for one in self.each(first, last))

    def __len__(self) -> int:
        return len(self.cycles)

    def __iter__(self) -> Iterator[tuple[int, int | None]]:
        return iter(zip(self.cycles, self.values))

    def __repr__(self) -> str:
        return f"<{self.path}: {self.width} bits, {len(self.cycles)} changes up to cycle {self.last}>"


class Waves(Mapping[str, Series]):
    """The signals of a recording by their paths."""

    def __init__(self, series: dict[str, Series], first: int, last: int) -> None:
        self._series = series
        self.first = first
        """The first cycle of the recording."""
        self.last = last

    def __getitem__(self, path: str) -> Series:
        if path not in self._series:
            raise KeyError(f"there is no signal '{path}'{did_you_mean(path, self._series)}")
        return self._series[path]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._series)

    def __repr__(self) -> str:
        return f"<Waves: {len(self._series)} signals, cycles {self.first} to {self.last}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def matching(self, pattern: str) -> list[Series]:
        """The signals whose paths match: "gpu.core*.fetch.valid"."""
        return [series for path, series in self._series.items() if fnmatchcase(path, pattern)]

    def frame(self) -> Any:
        """A frame of pandas: a row per cycle, a column per signal. Whole numbers; of a signal with unknown values those
        that pandas has for missing ones."""
        pandas = need_pandas()
        cycles = range(self.first, self.last + 1)
        columns: dict[str, Any] = {"cycle": list(cycles)}
        for path, series in self._series.items():
            wide = "UInt64" if series.width > _SIGNED_BITS else "Int64"
            values = series.each(self.first, self.last)
            columns[path] = pandas.array(values, dtype=wide if None in values else wide.lower())
        return pandas.DataFrame(columns).set_index("cycle")


def read_waves(path: str | Path, *patterns: str, clock_ghz: float = 1.0) -> Waves:
    """The signals of a .vcd, .vcd.gz or (with GTKWave installed) .fst file. With `patterns`, those alone whose paths
    match one. `clock_ghz`: gpu.clock_ghz of the machine."""
    if str(path).endswith(".fst"):
        tool = shutil.which("fst2vcd")
        if tool is None:
            raise HeddleError(f"{path}: a .fst file is read by GTKWave's fst2vcd, which is not installed; "
                              "record a .vcd.gz, or install Debian's gtkwave")
        with tempfile.TemporaryDirectory(prefix="heddle-") as scratch:
            vcd = Path(scratch) / "waves.vcd"
            done = subprocess.run([tool, "-f", str(path), "-o", str(vcd)], capture_output=True, text=True)
            if done.returncode != 0 or not vcd.exists():
                refuse(path, f"cannot be read by fst2vcd: {(done.stderr or done.stdout).strip()}")
            return _Reader(path, vcd, patterns, clock_ghz).read()
    return _Reader(path, Path(path), patterns, clock_ghz).read()


class _Reader:
    def __init__(self, name: str | Path, file: Path, patterns: tuple[str, ...], clock_ghz: float) -> None:
        self.name = name
        self.lines = read_lines(file)
        self.number = 0
        self.patterns = patterns
        self.series: dict[str, Series] = {}
        self.by_code: dict[str, list[Series]] = {}
        self.known: set[str] = set()
        self.unit = Fraction(1)  # cycles of a step of the file's time
        # SystemC keeps time in whole picoseconds.
        self.period = max(1, int(1000 / clock_ghz + 0.5))

    def words(self) -> Iterator[str]:
        for self.number, line in self.lines:
            yield from line.split()

    def refuse(self, message: str) -> Any:
        refuse(self.name, message, self.number or None)

    def read(self) -> Waves:
        words = self.words()
        self.header(words)
        first, last = self.changes(words)
        for series in self.series.values():
            series.last = last
        return Waves(self.series, first, last)

    @staticmethod
    def section(words: Iterator[str]) -> list[str]:
        out: list[str] = []
        for word in words:
            if word == "$end":
                return out
            out.append(word)
        raise ValueError("a section without $end")

    def header(self, words: Iterator[str]) -> None:
        scopes: list[str] = []
        try:
            for word in words:
                if not word.startswith("$"):
                    raise ValueError(f"'{word[:60]}'")
                said = self.section(words)
                if word == "$timescale":
                    match = re.fullmatch(r"(1|10|100)([munpf]?s)", "".join(said))
                    if match is None:
                        raise ValueError(f"the time scale '{' '.join(said)}'")
                    self.unit = Fraction(int(match[1]) * 10**12, 10 ** _UNITS[match[2]] * self.period)
                elif word == "$scope":
                    scopes.append(said[1])
                elif word == "$upscope":
                    scopes.pop()
                elif word == "$var":
                    self.variable(".".join([*scopes, said[3]]), int(said[1]), said[2])
                elif word == "$enddefinitions":
                    return
            raise ValueError("the end")
        except (ValueError, IndexError) as problem:
            self.refuse(f"is no VCD file: {problem} is not expected in its head")

    def variable(self, path: str, width: int, code: str) -> None:
        self.known.add(code)
        if not self.patterns or any(fnmatchcase(path, pattern) for pattern in self.patterns):
            series = self.series[path] = Series(path, width, [], [], 0)
            self.by_code.setdefault(code, []).append(series)

    def changes(self, words: Iterator[str]) -> tuple[int, int]:
        cycle = 0
        first: int | None = None
        empty = False  # no change in this cycle: at the end, it is the cycle behind the recording
        for word in words:
            mark = word[0]
            empty = mark == "#"
            if mark == "#":
                if not word[1:].isdigit():
                    self.refuse(f"'{word[:60]}' is no time")
                then = int(int(word[1:]) * self.unit)
                if first is not None and then < cycle:
                    self.refuse(f"the time goes back to {word[1:]}")
                cycle = then
                first = cycle if first is None else first
            elif mark in "01xXzZ":
                self.change(word[1:], None if mark in "xXzZ" else int(mark), cycle)
            elif mark in "bB":
                bits = word[1:]
                if not bits or bits.strip("01xXzZ"):
                    self.refuse(f"'{word[:60]}' is no value")
                self.change(next(words, ""), None if bits.strip("01") else int(bits, 2), cycle)
            elif mark in "rR":
                next(words, "")  # a real number: Heddle writes none
            elif word == "$comment":
                self.section(words)
            elif mark != "$":
                self.refuse(f"'{word[:60]}' is no change of a value")
        begin = first or 0
        return begin, max(begin, cycle - 1) if empty else cycle

    def change(self, code: str, value: int | None, cycle: int) -> None:
        if code not in self.known:
            self.refuse(f"'{code[:20]}' is no signal")
        for series in self.by_code.get(code, ()):
            if series.cycles and series.cycles[-1] == cycle:
                series.values[-1] = value
            else:
                series.cycles.append(cycle)
                series.values.append(value)
