"""Compares BLOCK with its golden model, by cocotb 1.9 or 2.

    make                 in Icarus Verilog
    make SIM=verilator   in Verilator; COVERAGE=1 writes the coverage of lines and bits to coverage/
    pytest test_BLOCK.py the same by cocotb's runner, with the variables SIM and COVERAGE

The file BLOCK_vectors.txt has the inputs of each cycle and the outputs that the model expects. Its head says what its fields are.
"""

import os
import subprocess
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

TOP = "BLOCK"
FOLDER = Path(__file__).resolve().parent


class Field:
    """A column of the vectors: a pin of the block."""

    def __init__(self, direction, name, bits):
        self.direction = direction
        self.name = name
        self.bits = int(bits)


def read_vectors(path):
    """Returns the fields, and the words of each cycle."""
    fields, cycles = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:2] == ["#", "field"]:
            fields.append(Field(*words[2:5]))
        elif not line.startswith("#"):
            assert len(words) == len(fields), f"{path}: {line}"
            cycles.append(words)
    return fields, cycles


@cocotb.test()
async def behaves_as_the_model(dut):
    """Drives the inputs of each cycle and compares every output that means something then."""
    fields, cycles = read_vectors(FOLDER / f"{TOP}_vectors.txt")
    pins = [getattr(dut, field.name) for field in fields]
    dut.clk_i.value = 0
    if hasattr(dut, "test_en_i"):
        dut.test_en_i.value = 0
    compared = 0
    for number, words in enumerate(cycles):
        columns = list(zip(fields, pins, words))
        for field, pin, word in columns:
            if field.direction != "output":
                pin.value = int(word, 16)
        await Timer(5, "ns")
        for field, pin, word in columns:
            if field.direction == "output" and "x" not in word:
                seen = str(pin.value)
                expected = format(int(word, 16), f"0{field.bits}b")
                compared += 1
                assert seen == expected, (
                    f"cycle {number}: {field.name} is {shown(seen)}, expected {shown(expected)}"
                )
        dut.clk_i.value = 1
        await Timer(5, "ns")
        dut.clk_i.value = 0
    assert compared > 0, "no output was compared"
    dut._log.info(f"{len(cycles)} cycles, {compared} outputs compared")


def shown(bits):
    """Returns bits in hexadecimal, or as they are if some are unknown."""
    return f"0x{int(bits, 2):x}" if set(bits) <= {"0", "1"} else bits


def test_BLOCK():
    """Compiles and runs the test above in a simulator."""
    try:
        from cocotb_tools.runner import get_results, get_runner
    except ImportError:
        from cocotb.runner import get_results, get_runner

    simulator = os.environ.get("SIM", "icarus")
    coverage = bool(os.environ.get("COVERAGE"))
    assert not coverage or simulator == "verilator", "COVERAGE=1 needs SIM=verilator"
    build = FOLDER / "sim_build" / f"{TOP}-{simulator}{'-coverage' if coverage else ''}"
    # A register with a gated clock has no event in reset except the edge of the reset.
    arguments = ["--x-initial-edge"] if simulator == "verilator" else []
    arguments += ["--coverage"] if coverage else []
    runner = get_runner(simulator)
    runner.build(
        sources=[FOLDER / name for name in (FOLDER / f"{TOP}.f").read_text().split()],
        hdl_toplevel=TOP,
        build_dir=build,
        timescale=("1ns", "1ps"),
        build_args=arguments,
        always=True,
    )
    results = runner.test(
        hdl_toplevel=TOP, test_module=f"test_{TOP}", build_dir=build, test_dir=FOLDER
    )
    tests, failed = get_results(results)
    assert tests == 1 and failed == 0, f"{TOP} differs from its model; see {results}"
    if coverage:
        report = ["verilator_coverage", "--annotate", "coverage", "coverage.dat"]
        subprocess.run(report, cwd=FOLDER, check=True)


if __name__ == "__main__":
    test_BLOCK()
