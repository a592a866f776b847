"""pandas where it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._errors import MissingPackage


def need_pandas() -> Any:
    """The package. Raises MissingPackage where it is not installed."""
    try:
        import pandas
    except ImportError as missing:
        raise MissingPackage(
            "a frame needs pandas, which is not installed: pip install pandas, or Debian's python3-pandas; "
            "the same figures are there without it as dictionaries and lists"
        ) from missing
    return pandas


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None, index: str | None = None) -> Any:
    """A DataFrame of rows. Raises MissingPackage without pandas."""
    data = need_pandas().DataFrame(list(rows), columns=list(columns) if columns is not None else None)
    return data.set_index(index) if index is not None else data
