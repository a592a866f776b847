"""Runs of workloads, launch files, recorded threads and CUDA programs, and what they measure."""

from __future__ import annotations

import builtins
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from ._declarations import ProgramLike, Statistic, counters, statistics
from ._errors import Fault, HeddleError, InputError, Interrupted, RunError, WrongResult
from ._files import read_json, refuse
from ._frames import frame
from ._machine import Machine, SettingValue
from ._named import Named
from ._program import Answer, find_program, path_word
from ._summary import SummaryFigures
from ._traces import PipelineLog, Request, TraceEvents, read_pipeline, read_requests, read_trace_events
from ._waves import Waves, read_waves

_SCHEMA = 2
_FIGURES = ("cycles", "ipc")
_SIGNALS = (129, 130, 143)


class Figures(Named):
    """Figures with names, as attributes and as a mapping: `figures.ipc`, `figures["ipc"]`. Counts are int, ratios
    float, lists of counts list[int]."""

    def __init__(self, values: Mapping[str, Any], what: str, declared: Any) -> None:
        super().__init__(values)
        self._what = what
        self._declared = declared

    def _lacks(self, name: str) -> str:
        return f"{self._what} has no '{name}'; it has {', '.join(self._values)}"

    def declaration(self, name: str) -> Statistic:
        """Unit and meaning of a figure, as the program declares them."""
        return cast("Statistic", self._declared()[name])

    def unit(self, name: str) -> str:
        return self.declaration(name).unit

    def frame(self) -> Any:
        """A frame of pandas: value, unit and meaning by name."""
        declared = self._declared()
        rows = [
            {"name": name, "value": value, "unit": declared[name].unit, "meaning": declared[name].meaning}
            for name, value in self._values.items()
        ]
        return frame(rows, ["name", "value", "unit", "meaning"], index="name")

    def __repr__(self) -> str:
        return f"<{self._what}: {', '.join(f'{name}={self._values[name]!r}' for name in list(self._values)[:4])}...>"


class Counters(Figures):
    """A module's counters: int, some list[int]. Which it has depends on its kind: `heddle.counters()`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Summary(Figures, SummaryFigures):
    """The summary of a run, typed figure by figure."""


class Run(SummaryFigures):
    """One run: statistics, and the files that it wrote. Every figure of the summary is an attribute: `run.ipc`."""

    def __init__(
        self,
        stats: Mapping[str, Any],
        host: Mapping[str, Any] | None = None,
        *,
        folder: Path | None = None,
        text: str = "",
        log: str = "",
        files: Mapping[str, Path] | None = None,
        program: ProgramLike = None,
        keep: object = None,
    ) -> None:
        self.stats = stats
        """stats.json as it is."""
        self.host = host
        """host.json as it is: time and memory that the run took here."""
        self.folder = folder
        self.text = text
        """What the program printed: the table of `heddle run`, with what kernels print; of `exec`, what the CUDA
        program prints."""
        self.log = log
        """What it said on stderr: notes and warnings, and why a run ended early."""
        self.files = dict(files or {})
        """Traces, waves and pages that it wrote, by option."""
        self._program = program
        self._keep = keep  # the temporary folder, as long as somebody has the run
        self.summary = Summary(stats["summary"], "the summary of a run", partial(statistics, program=program))

    @classmethod
    def read(cls, path: str | Path, *, program: ProgramLike = None) -> Run:
        """The run that a folder of `heddle run --out`, or its stats.json, holds."""
        stats = Path(path)
        if stats.is_dir():
            stats = stats / "stats.json"
        values = read_json(stats)
        if values.get("schema") != _SCHEMA:
            refuse(stats, f"is of schema {values.get('schema')}", hint=f"this package reads schema {_SCHEMA}")
        summary = values.get("summary")
        if not isinstance(summary, dict) or any(name not in summary for name in _FIGURES):
            refuse(stats, "holds no run: 'summary' is missing or cut")
        host = stats.parent / "host.json"
        return cls(values, read_json(host) if host.exists() else None, folder=stats.parent.absolute(), program=program)

    if not TYPE_CHECKING:  # SummaryFigures says which there are

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name == "summary":
                raise AttributeError(name)
            return getattr(self.summary, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.summary]

    @property
    def workload(self) -> str:
        return str(self.stats["workload"])

    @property
    def machine(self) -> str:
        return str(self.stats["machine"]["name"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the machine by its path, as the run had it."""
        return {
            f"{section}.{key}": value
            for section, keys in self.stats["machine"]["parameters"].items()
            for key, value in keys.items()
        }

    @property
    def complete(self) -> bool:
        """False: a limit, a fault or a signal ended it; the figures are those so far."""
        return bool(self.stats["complete"])

    @property
    def stop_reason(self) -> str:
        return str(self.stats["stop_reason"])

    @property
    def verdict(self) -> str:
        """ "correct", "wrong" or "not checked"."""
        return str(self.stats["verdict"]["result"])

    @property
    def energy(self) -> Mapping[str, Any]:
        """Energy by kind of unit and module, in pJ, of a run with energy."""
        if "energy" not in self.stats:
            raise HeddleError("the run has no energies; ask for them: run(..., energy=TABLE)")
        return cast("Mapping[str, Any]", self.stats["energy"])

    @property
    def kernels(self) -> list[Mapping[str, Any]]:
        """Of a CUDA program: each launch with its kernel, grid, block and cycles."""
        return list(self.stats.get("launches", []))

    @property
    def modules(self) -> dict[str, Counters]:
        """Every module's own counters: `run.modules["gpu.core0.l1d"].hits`."""
        return {name: self._module(name, values) for name, values in self.stats["modules"].items()}

    def _module(self, name: str, values: Mapping[str, Any]) -> Counters:
        return Counters(values, name, partial(_declared_counters, self._program, name))

    def modules_frame(self) -> Any:
        """A frame of pandas with a row per module and a column per counter that is one number."""
        rows = [
            {"module": name, **{key: value for key, value in values.items() if not isinstance(value, list)}}
            for name, values in self.stats["modules"].items()
        ]
        return frame(rows, index="module")

    def _file(self, option: str, how: str) -> Path:
        if option not in self.files:
            raise HeddleError(f"the run wrote no {option}; ask for one: run(..., {how})")
        return self.files[option]

    def requests(self) -> list[Request]:
        """The requests to the memory channels, of a run with memory_trace."""
        return read_requests(self._file("memory_trace", "memory_trace=True"))

    def pipeline(self) -> PipelineLog:
        """The pipeline's log, of a run with pipeline=True or a path without .json."""
        return read_pipeline(self._file("pipeline", "pipeline=True"))

    def trace_events(self) -> TraceEvents:
        """The pipeline's log in Perfetto's form, of a run with pipeline="FILE.json"."""
        return read_trace_events(self._file("pipeline", 'pipeline="FILE.json"'))

    def waves(self, *patterns: str) -> Waves:
        """The signals over the cycles of the GPU's clock, of a run with vcd; with `patterns` ("gpu.core0.fetch.*"),
        these alone."""
        path = self._file("vcd", "vcd=True")
        return read_waves(path, *patterns, clock_ghz=float(self.parameters["gpu.clock_ghz"]))

    @property
    def power(self) -> Mapping[str, Any]:
        """Power over time of a run with power, as its JSON has it: `run.power["power"]` are watts by interval."""
        return read_json(self._file("power", "power=True, energy=TABLE"))

    def power_frame(self, by: str = "kinds") -> Any:
        """A frame of pandas: watts by interval (rows, named by their first cycles) and by "kinds" of units or
        "modules" (columns)."""
        power = self.power
        columns = {name: one if by == "kinds" else one["power"] for name, one in power[by].items()}
        first = [i * power["interval_cycles"] for i in range(len(power["power"]))]
        rows = [
            {"cycle": cycle, **{name: one[i] for name, one in columns.items()}} for i, cycle in enumerate(first)
        ]
        return frame(rows, index="cycle")

    def __repr__(self) -> str:
        ended = "" if self.complete else f", ended early: {self.stop_reason}"
        return f"<Run of {self.workload} on {self.machine}: {self.summary['cycles']} cycles{ended}>"


class _Folder:
    """A folder that goes with the last reference to it, without the warning of a TemporaryDirectory. Copies refer to it
    too; a run that comes from another process has its figures alone."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="heddle-run-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __deepcopy__(self, _: object) -> _Folder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_no_folder, ())


def _no_folder() -> None:
    return None


def _declared_counters(program: ProgramLike, name: str) -> dict[str, Statistic]:
    for pattern, known in counters(program=program).items():
        words = re.escape(pattern).replace("<n>", "[0-9]+").replace("\\.", "[.]")
        if re.fullmatch(f"{words}|{words.removeprefix('gpu[.]')}", name):  # heddle dram has channels alone
            return known
    raise HeddleError(f"the program declares no module '{name}'")


# Files that a run may write: option of the command, name in the run's own folder when no path is given.
_OUTPUTS = {
    "memory_trace": ("--memory-trace", "requests.txt"),
    "pipeline": ("--pipeline", "pipeline.kanata"),
    "vcd": ("--vcd", "waves.vcd"),
    "record": ("--record", "threads.trace"),
    "report": ("--report", "report.html"),
    "report_data": ("--report-data", "report.json"),
    "timeline": ("--timeline", "timeline.json"),
    "power": ("--power", "power.json"),
}


class Measuring(TypedDict, total=False):
    """What `run` and `exec` have in common: options of the program's commands of these names. Files are asked for by a
    path, or by True and then live as long as the Run."""

    set: Mapping[str, SettingValue]
    """Parameters of the machine that are changed."""
    max_cycles: int
    """Reaching it is no error: `run.complete` is False."""
    energy: str | Path
    temperature: float
    """Of the machine, in degrees Celsius, for leakage by the energy table."""
    power_interval: int
    sample: int
    sample_blocks: int
    from_launch: int
    skip: str | Sequence[str]
    """Kernels whose launches are passed over."""
    threads: int
    out: str | Path
    """The folder for stats.json and host.json."""
    memory_trace: bool | str | Path
    pipeline: bool | str | Path
    vcd: bool | str | Path
    signals: str | Sequence[str]
    """Groups of signals of the waves; all, if none is named."""
    window: tuple[int, int]
    """First and last cycle of waves and pipeline."""
    record: bool | str | Path
    report: bool | str | Path
    report_data: bool | str | Path
    timeline: bool | str | Path
    timeline_from: int
    timeline_cycles: int
    power: bool | str | Path
    """Power over time, by the energy table."""
    program: ProgramLike


def run(
    machine: str | Path | Machine,
    workload: str | Path,
    *,
    scale: float | None = None,
    seed: int | None = None,
    address_bits: int | None = None,
    check_reference: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    **options: Unpack[Measuring],
) -> Run:
    """Runs a workload, a LAUNCH.toml or a recorded trace on a machine: `heddle run`. Further options: `Measuring`.

    `checkpoint`: the file that has the whole run after every `every` cycles; `heddle run --resume` goes on from there.
    Raises InputError, WrongResult and Fault.
    """
    words: list[str] = []
    for option, value in (("--scale", scale), ("--seed", seed), ("--address-bits", address_bits),
                          ("--checkpoint", checkpoint), ("--every", every)):
        if value is not None:
            words += [option, str(value)]
    if check_reference:
        words.append("--check-reference")
    chosen = Machine(machine, options.get("set"), program=options.get("program"))
    config, *settings = chosen.words()
    return _measured("run", chosen, ["run", config, os.fspath(workload), *settings, *words], [], options)


def exec(
    command: str | Path | Sequence[str | Path],
    machine: str | Path | Machine = "baseline",
    *,
    keep_going: bool = False,
    **options: Unpack[Measuring],
) -> Run:
    """Runs a CUDA program, of `nvcc` below or of nvcc -cudart shared, on the simulated GPU: `heddle exec`.

    `command`: the program, or a list of it and its arguments. `run.text` is what it printed, `run.kernels` its
    launches. Further options: `Measuring`. Raises RunError when it ends with a code that is not 0.
    """
    chosen = Machine(machine, options.get("set"), program=options.get("program"))
    config, *settings = chosen.words()
    one = [command] if isinstance(command, (str, Path)) else list(command)
    words = ["exec", "--config", config, "--quiet", *settings]
    if keep_going:
        words.append("--keep-going")
    called = [path_word(word) if place == 0 else os.fspath(word) for place, word in enumerate(one)]
    return _measured("exec", chosen, words, ["--", *called], options)


def nvcc(words: Sequence[str | Path], *, folder: str | Path | None = None, program: ProgramLike = None) -> str:
    """Compiles CUDA programs: `nvcc(["program.cu", "-o", "program"])`. Returns the compiler's warnings. Raises
    InputError with all that the compiler says, and the place of its first error."""
    called = ["nvcc", *(os.fspath(word) for word in words)]
    answer = find_program(program).call(called, accept=range(-64, 256), folder=folder)
    if answer.error is None:
        return answer.out + answer.err
    said = answer.err.strip()
    first = re.search(r"^(.+?):([0-9]+):(?:([0-9]+):)? (?:fatal )?error: (.*)$", said, re.MULTILINE)
    if answer.code != 1 or isinstance(answer.error, InputError) or not said:
        raise answer.error
    if first is None:
        raise InputError(said, answer.code)
    raise InputError(said, answer.code, file=first[1], line=int(first[2]), column=int(first[3] or 0) or None,
                     message=first[4])


def _list(words: str | Sequence[str] | None) -> list[str]:
    return [words] if isinstance(words, str) else list(words or ())


def _measuring_words(options: Measuring) -> list[str]:
    words: list[str] = []
    for name in ("max_cycles", "energy", "temperature", "power_interval", "sample", "sample_blocks", "from_launch",
                 "threads", "timeline_from", "timeline_cycles"):
        value = options.get(name)
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    for kernel in _list(options.get("skip")):
        words += ["--skip", kernel]
    if options.get("signals"):
        words += ["--signals", ",".join(_list(options["signals"]))]
    if options.get("window") is not None:
        first, last = options["window"]
        words += ["--from", str(first), "--to", str(last)]
    return words


def _measured(command: str, machine: Machine, words: list[str], behind: list[str], options: Measuring) -> Run:
    """Calls the program and reads back what it measured."""
    unknown = sorted(builtins.set(options) - builtins.set(Measuring.__annotations__))
    if unknown:
        raise TypeError(f"{command}() has no option {', '.join(unknown)}; it has {', '.join(Measuring.__annotations__)}")
    out = options.get("out")
    keep = _Folder() if out is None else None
    folder = keep.path / "run" if keep is not None else Path(cast("str | Path", out)).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        refuse(folder, f"cannot be made: {problem.strerror}")
    files: dict[str, Path] = {}
    words = [*words, *_measuring_words(options)]
    for name, (option, own_name) in _OUTPUTS.items():
        value = cast("bool | str | Path | None", options.get(name))
        if value is not None and value is not False:
            files[name] = folder / own_name if value is True else Path(value).absolute()
            words += [option, str(files[name])]
    stats = folder / "stats.json"
    before = stats.stat().st_mtime_ns if stats.exists() else None
    found = find_program(machine.program)
    answer = found.call([*words, "--out", str(folder), *behind], accept=range(-64, 256))
    if not stats.exists() or stats.stat().st_mtime_ns == before:
        raise answer.error or HeddleError(f"{found.path} has left no statistics in {folder}")
    host = folder / "host.json"
    result = Run(
        read_json(stats),
        read_json(host) if host.exists() else None,
        folder=folder,
        text=answer.out,
        log=answer.err,
        files={name: path for name, path in files.items() if path.exists()},
        program=found,
        keep=keep,
    )
    _raise_for(result, answer, options.get("max_cycles"), command)
    return result


def _raise_for(result: Run, answer: Answer, max_cycles: int | None, command: str) -> None:
    if not result.complete:
        if answer.code in _SIGNALS:
            raise Interrupted(result.stop_reason, answer.code, result)
        if max_cycles is None or result.summary["cycles"] < max_cycles:
            raise Fault(result.stop_reason, answer.code, result)
        return
    if answer.code == 0:
        return
    if result.verdict == "wrong":
        raise WrongResult(str(result.stats["verdict"]["detail"]), answer.code, result)
    if isinstance(answer.error, InputError):  # a file that could not be written
        answer.error.run = result
        raise answer.error
    said = answer.error.text if answer.error is not None else ""
    if command == "exec":
        text = f"the CUDA program ended with code {answer.code}"
        raise RunError(f"{text}: {answer.err.strip()}" if answer.err.strip() else text, answer.code, result)
    raise WrongResult(said, answer.code, result)
