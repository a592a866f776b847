"""Heddle, a cycle-level model of a SIMT GPU, from Python.

    import heddle

    run = heddle.run("lwm", "bfs", scale=0.01)
    print(run.ipc, run.summary.unit("ipc"))

Every call starts the heddle program: the one that `program=` names, else $HEDDLE, else the one installed with this
package, the repository's ./heddle, the PATH's. Names, units and meanings come from its declarations.
docs/python.md shows more.
"""

from ._declarations import (
    Choice,
    Named,
    Parameter,
    Signal,
    Statistic,
    counters,
    idle_causes,
    machines,
    parameters,
    policies,
    schema,
    signal_groups,
    statistics,
    workloads,
)
from ._errors import (
    Fault,
    HeddleError,
    InputError,
    InternalError,
    Interrupted,
    MissingPackage,
    ProgramNotFound,
    RunError,
    WrongResult,
)
from ._machine import Machine
from ._program import VERSION as __version__
from ._program import Program, find_program
from ._runs import Counters, Figures, Measuring, Run, Summary, exec, nvcc, run
from ._sweeps import Expression, Random, Range, Results, Row, Sweep, param
from ._traces import (
    PipelineLog,
    Request,
    Stage,
    SubWarp,
    TraceEvent,
    TraceEvents,
    read_pipeline,
    read_requests,
    read_trace_events,
)
from ._waves import Series, Waves, read_waves

__all__ = [
    "Choice",
    "Counters",
    "Expression",
    "Fault",
    "Figures",
    "HeddleError",
    "InputError",
    "InternalError",
    "Interrupted",
    "Machine",
    "Measuring",
    "MissingPackage",
    "Named",
    "Parameter",
    "PipelineLog",
    "Program",
    "ProgramNotFound",
    "Random",
    "Range",
    "Request",
    "Results",
    "Row",
    "Run",
    "RunError",
    "Series",
    "Signal",
    "Stage",
    "Statistic",
    "SubWarp",
    "Summary",
    "Sweep",
    "TraceEvent",
    "TraceEvents",
    "Waves",
    "WrongResult",
    "counters",
    "exec",
    "find_program",
    "idle_causes",
    "machines",
    "nvcc",
    "param",
    "parameters",
    "policies",
    "read_pipeline",
    "read_requests",
    "read_trace_events",
    "read_waves",
    "run",
    "schema",
    "signal_groups",
    "statistics",
    "workloads",
]
