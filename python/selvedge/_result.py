"""Statistics by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Statistics(Mapping):
    """Statistics, under the names of the JSON output.

    A name is an attribute or a key: `result.totals.l1d.misses`, `result["totals"]["l1d"]["misses"]` and
    `result["totals.l1d.misses"]` are the same value. `to_dict` returns nested dicts, and `flat` one dict with dotted names, the
    columns of a study's table.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        value: Any = self._values
        for word in [name] if name in self._values else name.split("."):
            if not isinstance(value, dict) or word not in value:
                raise KeyError(name)
            value = value[word]
        return _wrapped(value)

    def __getattr__(self, name: str) -> Any:
        # Copies ask for attributes before there are values.
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"no statistic {name!r}: must be one of {', '.join(self.__dict__.get('_values', ()))}")
        return _wrapped(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._values)})"

    def to_dict(self) -> dict[str, Any]:
        """Returns the statistics as nested dicts."""
        return self._values

    def flat(self) -> dict[str, Any]:
        """Returns the statistics as one dict with dotted names. Lists are left out."""
        return dict(_flat(self._values, ""))


class Result(Statistics):
    """Statistics of a run: the report of `selvedge run --json`.

    `result` states how the run ended: "pass" if the results on the GPU are right. `printed` is the output of the kernels. `set` has
    the values that override the configuration.
    """

    printed: str
    set: dict[str, Any]

    def __init__(self, values: dict[str, Any], printed: str = "", set: Mapping[str, Any] | None = None) -> None:
        super().__init__(values)
        self.printed = printed
        self.set = dict(set or {})

    def flat(self) -> dict[str, Any]:
        """Returns the statistics as one dict with dotted names, and the values of `set`. Lists are left out."""
        return {**super().flat(), **self.set}

    def __repr__(self) -> str:
        run = " ".join(self._values[key] for key in ("workload", "size", "mechanism", "config"))
        return f"<Result of {run}: {self._values['totals']['cycles']} cycles, {self._values['result']}>"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Statistics(value)
    return [_wrapped(one) for one in value] if isinstance(value, list) else value


def _flat(values: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list):
            yield before + name, value
