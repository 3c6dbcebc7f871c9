"""Figures of studies and results. Needs Matplotlib: `pip install 'selvedge-gpu[plot]'`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.figure import Figure

from ._study import _label, _rows, geometric_means, speedups


def speedup(table: Any, baseline: str = "base", vary: str | Iterable[str] = ()) -> Figure:
    """Returns a bar chart of the speedup by workload and mechanism, with geometric means at the right.

    The arguments are those of `selvedge.speedups`.
    """
    rows = speedups(table, baseline, vary)
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(len(mechanisms), 1)
    for place, mechanism in enumerate(mechanisms):
        own = [row for row in rows if row["mechanism"] == mechanism]
        heights = [*geometric_means(own, "workload").values(), geometric_means(own)[mechanism]]
        middles = [at + (place - (len(mechanisms) - 1) / 2) * width for at in range(len(heights))]
        axes.bar(middles, heights, width, label=mechanism)
    axes.set_xticks(range(len(workloads) + 1), [*workloads, "geometric mean"], rotation=30, ha="right")
    axes.set_ylabel(f"speedup over {baseline}")
    axes.axhline(1, color="gray", linewidth=0.8)
    figure.legend(loc="outside right upper")
    return figure


def lines(table: Any, x: str, y: str) -> Figure:
    """Returns a chart of the mean of the column `y` over the values of the column `x`, with a line for each mechanism."""
    rows = _rows(table)
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for mechanism in dict.fromkeys(_label(row, "mechanism") for row in rows):
        values: dict[Any, list[float]] = {}
        for row in rows:
            if _label(row, "mechanism") == mechanism:
                values.setdefault(row[x], []).append(row[y])
        places = sorted(values)
        axes.plot(places, [sum(values[at]) / len(values[at]) for at in places], marker="o", label=mechanism)
    axes.set_xticks(sorted({row[x] for row in rows}))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    figure.legend(loc="outside right upper")
    return figure
