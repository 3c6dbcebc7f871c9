"""Runs of workloads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _selvedge
from ._result import Result


def run(
    workload: str | os.PathLike[str],
    mechanism: str = "base",
    size: str = "tiny",
    config: str | os.PathLike[str] = "gtx480",
    *,
    engine: str = "model",
    values: str | None = None,
    set: Mapping[str, Any] | None = None,
    check: bool = False,
    max_cycles: int | None = None,
    max_instructions: int | None = None,
) -> Result:
    """Simulates a workload and returns the statistics.

    Args:
        workload: A built-in workload, or the path of a launch file or a trace.
        mechanism: The mechanism with its options, as after `--mechanism`.
        size: Size of a built-in workload: "tiny", "small", "study" or "paper".
        config: A built-in configuration or the path of a file.
        engine: Engine of the mechanism's blocks: "model", "rtl" or "lockstep".
        values: The model of the values in memory of an Accel-Sim trace, as after `--values`.
        set: Values that override the configuration, such as `{"l1d.ways": 8}`.
        check: Checks DRAM commands against all timing constraints, and the value of each load.
        max_cycles: Core cycles after which the run stops.
        max_instructions: Thread instructions after which the run stops.

    Raises:
        ValueError: A name or an option is invalid.
        SimulationError: The simulation cannot continue, or its results are wrong. The attribute `result` has the statistics
            up to this point.

    Other threads run while this function simulates. Ctrl-C stops the simulation.
    """
    options: dict[str, Any] = {"size": size, "engine": engine, "check": check, "set": dict(set or {})}
    options |= {"values": values, "max_cycles": max_cycles, "max_instructions": max_instructions}
    report, printed, failure = _selvedge.run(os.fspath(workload), mechanism, os.fspath(config), json.dumps(options))
    result = Result(json.loads(report), printed, set)
    if failure is not None:
        error = _selvedge.SimulationError(failure)
        error.result = result
        raise error
    return result
