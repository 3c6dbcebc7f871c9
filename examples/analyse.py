#!/usr/bin/env python3
"""Reads the table of a study and draws two figures of it: speedups, and miss rates over a value that varies.

    selvedge study collect ways.toml -o ways.parquet
    python3 analyse.py ways.parquet --vary l1d.ways --output figures

It needs polars and matplotlib. The functions are for notebooks, too: analyse.ipynb uses them.
"""

import argparse
import sys
from pathlib import Path

import polars
from matplotlib.figure import Figure

# What makes two points comparable, beside the values that the study varies.
SAME = ["workload_label", "size", "config_label", "share"]


def read(path):
    """Returns the points with a result."""
    table = polars.read_parquet(path)
    return table.filter(polars.col("status") == "done")


def comparable(points, vary=None):
    """Returns the points that there are for every mechanism, so that means of mechanisms are of the same points."""
    if vary and vary not in points.columns:
        raise ValueError(f"{vary}: no column of the table")
    same = SAME + ([vary] if vary else [])
    count = points["mechanism_label"].n_unique()
    return points.filter(polars.col("mechanism_label").n_unique().over(same) == count)


def speedups(points, baseline="base", vary=None):
    """Returns each point's speedup over the same point under the baseline, as the column `speedup`."""
    same = SAME + ([vary] if vary else [])
    base = points.filter(polars.col("mechanism_label") == baseline)
    if base.is_empty():
        raise ValueError(f"mechanism {baseline}: no point with a result has it")
    base = base.select(*same, polars.col("totals.cycles").alias("baseline_cycles"))
    # Points without `share` are comparable with each other.
    joined = points.join(base, on=same, nulls_equal=True)
    return joined.with_columns((polars.col("baseline_cycles") / polars.col("totals.cycles")).alias("speedup"))


def geometric_means(points, by):
    """Returns the geometric mean of `speedup` for each value of the columns `by`, and how many points it is of."""
    mean = polars.col("speedup").log().mean().exp().alias("geometric mean")
    return points.group_by(by, maintain_order=True).agg(mean, polars.len().alias("points"))


def draw_speedups(points):
    """Returns a bar chart of the speedup by workload and mechanism, with the geometric mean at the right."""
    mechanisms = points["mechanism_label"].unique(maintain_order=True).to_list()
    workloads = points["workload_label"].unique(maintain_order=True).to_list()
    by_workload = {
        (row["mechanism_label"], row["workload_label"]): row["geometric mean"]
        for row in geometric_means(points, ["mechanism_label", "workload_label"]).iter_rows(named=True)
    }
    overall = dict(geometric_means(points, ["mechanism_label"]).select("mechanism_label", "geometric mean").iter_rows())
    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(mechanisms)
    for place, mechanism in enumerate(mechanisms):
        heights = [by_workload.get((mechanism, workload), float("nan")) for workload in workloads]
        left = [at + (place - (len(mechanisms) - 1) / 2) * width for at in range(len(workloads) + 1)]
        axes.bar(left, [*heights, overall[mechanism]], width, label=mechanism)
    axes.set_xticks(range(len(workloads) + 1), [*workloads, "geometric mean"], rotation=30, ha="right")
    axes.set_ylabel("speedup")
    axes.axhline(1, color="gray", linewidth=0.8)
    figure.legend(loc="outside right upper")
    return figure


def draw_misses(points, vary):
    """Returns a chart of the mean miss rate of the L1Ds over the values of the column `vary`, a line for each mechanism."""
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    means = points.group_by(["mechanism_label", vary]).agg(polars.col("totals.l1d.miss_rate").mean()).sort(vary)
    for mechanism in points["mechanism_label"].unique(maintain_order=True):
        line = means.filter(polars.col("mechanism_label") == mechanism)
        axes.plot(line[vary], line["totals.l1d.miss_rate"], marker="o", label=mechanism)
    axes.set_xticks(sorted(points[vary].unique()))
    axes.set_xlabel(vary)
    axes.set_ylabel("miss rate of the L1Ds")
    figure.legend(loc="outside right upper")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws two figures of the table of a study.")
    parser.add_argument("table", help="the Parquet file of `selvedge study collect`")
    parser.add_argument("--baseline", default="base", help="the mechanism that speedups are over")
    parser.add_argument("--vary", default="l1d.ways", help="the value of the configuration along the axis")
    parser.add_argument("--output", type=Path, default=Path("."), help="the folder of the figures")
    options = parser.parse_args()
    try:
        points = comparable(read(options.table), options.vary)
        compared = speedups(points, options.baseline, options.vary)
        figures = {"speedups.svg": draw_speedups(compared), "misses.svg": draw_misses(points, options.vary)}
    except (OSError, ValueError) as error:
        sys.exit(f"analyse.py: {error}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(options.output / name)
    for mechanism, mean, count in geometric_means(compared, ["mechanism_label"]).iter_rows():
        print(f"{mechanism}: {mean:.6f} over {count} points")


if __name__ == "__main__":
    main()
