"""Writes heddle/_summary.py: what a run's summary has, for type checkers and editors, as the program declares it.

HEDDLE=build/release/heddle python3 python/backend/summary.py
"""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

FILE = Path(__file__).resolve().parent.parent / "heddle" / "_summary.py"
TYPES = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "integers": "list[int]",
    "integers by cause": "dict[str, int]",
}
HEAD = '''"""What a run's summary has, for type checkers and editors. Written by backend/summary.py from the program's own
declarations; do not edit."""


class SummaryFigures:
    """The figures of a run's summary, with their units and meanings."""
'''


class Declared(TypedDict):
    """A figure, as `heddle list statistics --json` has it."""

    name: str
    type: str
    unit: str
    meaning: str


def text(summary: Sequence[Declared]) -> str:
    out = HEAD
    for one in summary:
        said = f"{one['unit']}: {one['meaning']}" if one["unit"] else one["meaning"]
        lines = textwrap.wrap(f'"""{said}"""', 114, break_on_hyphens=False)
        out += f"\n    {one['name']}: {TYPES[one['type']]}\n" + "".join(f"    {line}\n" for line in lines)
    return out


def declared(program: str) -> list[Declared]:
    said = subprocess.run([program, "list", "statistics", "--json"], capture_output=True, check=True)
    summary: list[Declared] = json.loads(said.stdout)["summary"]
    return summary


if __name__ == "__main__":
    FILE.write_text(text(declared(os.environ["HEDDLE"])), encoding="utf-8")
