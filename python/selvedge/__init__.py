"""Selvedge: a cycle-accurate GPU memory-system simulator, whose mechanisms are synthesizable hardware blocks.

    >>> import selvedge
    >>> selvedge.run("bfs").totals.cycles
    30062

`run` simulates a workload. `Block` steps a hardware block, and `Memory` the memory system behind your own SMs. `read_study` reads
the table of `selvedge study collect`, and `speedups` compares its points. `selvedge.plot` draws figures and needs Matplotlib.
"""

from ._result import Result, Statistics
from ._run import run
from ._selvedge import (
    Block,
    Memory,
    Port,
    Reply,
    SimulationError,
    __version__,
    blocks,
    configurations,
    mechanisms,
    workloads,
)
from ._study import geometric_means, read_study, speedups

__all__ = [
    "Block",
    "Memory",
    "Port",
    "Reply",
    "Result",
    "SimulationError",
    "Statistics",
    "__version__",
    "blocks",
    "configurations",
    "geometric_means",
    "mechanisms",
    "read_study",
    "run",
    "speedups",
    "workloads",
]
