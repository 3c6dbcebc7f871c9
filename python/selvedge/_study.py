"""Tables of studies."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# Parameters that make two points comparable, in addition to values that the study varies.
_SAME = ["workload", "size", "config", "share"]


def read_study(path: str | os.PathLike[str], library: str = "pandas") -> Any:
    """Reads the table that `selvedge study collect` has written, and returns the points with a result.

    Args:
        path: A `.parquet`, `.csv` or `.jsonl` file.
        library: "pandas" or "polars", the type of the table. The library must be installed.
    """
    if library not in ("pandas", "polars"):
        raise ValueError(f"library {library!r}: must be pandas or polars")
    ending = Path(path).suffix
    if ending not in (".parquet", ".csv", ".jsonl"):
        raise ValueError(f"{os.fspath(path)}: must end with .parquet, .csv or .jsonl")
    module = importlib.import_module(library)
    if library == "polars":
        reader = {".parquet": module.read_parquet, ".csv": module.read_csv, ".jsonl": module.read_ndjson}[ending]
        table = reader(path) if ending == ".parquet" else reader(path, infer_schema_length=None)
        return table.filter(module.col("status") == "done")
    if ending == ".jsonl":
        table = module.read_json(path, lines=True)
    else:
        table = module.read_parquet(path) if ending == ".parquet" else module.read_csv(path)
    return table[table["status"] == "done"].reset_index(drop=True)


def speedups(table: Any, baseline: str = "base", vary: str | Iterable[str] = ()) -> list[dict[str, Any]]:
    """Returns a row for each point with its speedup over the same point under the baseline.

    Points that some mechanism lacks are left out, so that means of mechanisms are of the same points.

    Args:
        table: A table of `read_study`, or a sequence of results of `run`.
        baseline: Label of the mechanism that speedups are over.
        vary: Columns that the study varies, such as "l1d.ways".

    Returns:
        Rows with the keys `workload`, `mechanism`, `speedup`, and those of `vary`.
    """
    vary = [vary] if isinstance(vary, str) else list(vary)
    points = _rows(table)
    cycles: dict[tuple[Any, ...], dict[str, float]] = {}
    for point in points:
        missing = [column for column in vary if column not in point]
        if missing:
            raise ValueError(f"{missing[0]}: no column of the table")
        same = tuple([_label(point, name) for name in _SAME] + [point[column] for column in vary])
        mechanism = _label(point, "mechanism")
        if mechanism in cycles.setdefault(same, {}):
            name = f"{_label(point, 'workload')} {mechanism}"
            raise ValueError(f"several points of {name}: vary must name the columns in which they differ")
        cycles[same][mechanism] = point["totals.cycles"]
    mechanisms = list(dict.fromkeys(_label(point, "mechanism") for point in points))
    if baseline not in mechanisms:
        raise ValueError(f"mechanism {baseline}: must be one of {', '.join(mechanisms)}")
    return [
        {"workload": same[0], "mechanism": mechanism, **dict(zip(vary, same[len(_SAME) :]))}
        | {"speedup": of[baseline] / of[mechanism]}
        for same, of in cycles.items()
        if len(of) == len(mechanisms)
        for mechanism in mechanisms
    ]


def geometric_means(rows: Iterable[Mapping[str, Any]], by: str = "mechanism") -> dict[Any, float]:
    """Returns the geometric mean of `speedup` for each value of the column `by`."""
    groups: dict[Any, list[float]] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(math.log(row["speedup"]))
    return {value: math.exp(sum(logs) / len(logs)) for value, logs in groups.items()}


def _rows(table: Any) -> list[dict[str, Any]]:
    """Returns the rows of a table of either library, or of results."""
    if hasattr(table, "to_dicts"):
        return table.to_dicts()
    if hasattr(table, "to_dict"):
        return table.to_dict("records")
    return [row.flat() for row in table]


def _label(row: Mapping[str, Any], name: str) -> Any:
    """Returns the label of a parameter. Results have none, and points that do not share the GPU have no `share`."""
    value = row.get(f"{name}_label", row.get(name))
    # pandas has NaN for a missing value.
    return None if isinstance(value, float) and math.isnan(value) else value
