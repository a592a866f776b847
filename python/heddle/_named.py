"""Values by their names, as a mapping and as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, 3)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class Named(Mapping[str, Any]):
    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def _lacks(self, name: str) -> str:
        """What an AttributeError or KeyError says of a name that is none."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise KeyError(self._lacks(name))
        return self._values[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    if not TYPE_CHECKING:  # a class says which attributes it has, or that they can be any

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # also before the object has any values: it is being copied
                raise AttributeError(name)
            if name in self._values:
                return self._values[name]
            raise AttributeError(self._lacks(name))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]
