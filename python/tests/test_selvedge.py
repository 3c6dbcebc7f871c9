"""Tests of the package `selvedge`. SELVEDGE_COMMAND names the command, whose results are compared."""

import ast
import copy
import inspect
import json
import math
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from importlib.util import find_spec
from pathlib import Path

import selvedge

COMMAND = os.environ["SELVEDGE_COMMAND"]
FOLDER = Path(selvedge.__file__).parent

# Prints "hi" and stores 77.
PTX = """
.version 4.3
.target sm_20
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry k(.param .u64 p) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 77;
    st.global.u32 [%rd1], %r1;
    mov.u64 %rd2, text;
    cvta.global.u64 %rd2, %rd2;
    mov.u64 %rd3, 0;
    { .param .b64 f; .param .b64 a; .param .b32 r;
      st.param.b64 [f], %rd2; st.param.b64 [a], %rd3; call.uni (r), vprintf, (f, a); }
    ret;
}
"""

LAUNCH = """
ptx = "k.ptx"
kernel = "k"
grid = [1]
block = [1]
[[arg]]
type = "u32"
count = 1
expect = { file = "wanted.txt" }
save = { file = "out.bin", format = "raw" }
"""

STUDY = """
size = "tiny"
workloads = ["bfs", "kmeans"]
mechanisms = ["base", "hw-bdi"]
[[vary]]
key = "l1d.ways"
values = [2, 4]
"""


def command(*words, cwd=None):
    return subprocess.run([COMMAND, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


def without_host(report):
    return {key: value for key, value in report.items() if key != "host"}


class Run(unittest.TestCase):
    def test_a_result_is_the_report_of_the_command(self):
        result = selvedge.run("bfs", "hw-bdi", set={"l1d.ways": 2})
        words = ["run", "bfs", "--size", "tiny", "--mechanism", "hw-bdi", "--set", "l1d.ways=2"]
        words += ["--engine", "model", "--json", "-"]
        self.assertEqual(without_host(result.to_dict()), without_host(json.loads(command(*words))))
        self.assertNotEqual(result.totals.cycles, selvedge.run("bfs", "hw-bdi").totals.cycles)

    def test_engines_agree(self):
        runs = [selvedge.run("atax", mechanism="dmil", engine=engine) for engine in ("model", "rtl")]
        self.assertEqual(*[run.totals for run in runs])
        self.assertEqual([run.engine for run in runs], ["model", "rtl"])

    def test_a_wrong_argument_is_a_value_error_in_one_line(self):
        for words, options, message in [
            (["bfss"], {}, "bfss"),
            (["bfs", "bdi"], {}, "unknown mechanism 'bdi'"),
            (["bfs"], {"size": "huge"}, "huge"),
            (["bfs"], {"config": "gtx"}, "gtx"),
            (["bfs"], {"engine": "fast"}, "fast"),
            (["bfs"], {"set": {"l1d.ways": 0}}, "set: l1d.ways = 0: must be 1 to 512"),
            (["bfs"], {"max_cycles": -1}, "options: "),
        ]:
            with self.subTest(message), self.assertRaises(ValueError) as caught:
                selvedge.run(*words, **options)
            self.assertIn(message, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_a_limit_ends_a_run_with_a_result(self):
        result = selvedge.run("bfs", max_cycles=500)
        self.assertEqual((result.result, result.totals.cycles), ("max-cycles", 500))

    def test_a_launch_file_prints_and_saves(self):
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "k.ptx").write_text(PTX)
            (here / "k.toml").write_text(LAUNCH)
            (here / "wanted.txt").write_text("77\n")
            result = selvedge.run(here / "k.toml")
            self.assertEqual((result.result, result.printed), ("pass", "hi\n"))
            self.assertEqual((here / "out.bin").read_bytes(), struct.pack("<I", 77))
            (here / "wanted.txt").write_text("78\n")
            with self.assertRaises(selvedge.SimulationError) as caught:
                selvedge.run(here / "k.toml")
            self.assertIn("77", str(caught.exception))
            self.assertEqual(caught.exception.result.result, "fail")
            self.assertEqual(caught.exception.result.totals.cycles, result.totals.cycles)

    def test_other_threads_run_during_a_simulation(self):
        # A thread that holds the interpreter would let the counter stand still.
        stop, count = threading.Event(), 0

        def work():
            nonlocal count
            while not stop.wait(0.001):
                count += 1

        thread = threading.Thread(target=work)
        thread.start()
        before, start = count, time.monotonic()
        selvedge.run("kmeans")
        during, wall = count - before, time.monotonic() - start
        stop.set()
        thread.join()
        self.assertGreater(during, 5, f"in {wall} s")

    @unittest.skipUnless(os.name == "posix", "signals")
    def test_ctrl_c_stops_a_simulation(self):
        code = "import selvedge\nprint('started', flush=True)\nselvedge.run('kmeans', size='study')"
        # A shell starts its background jobs with SIGINT ignored, and Python keeps that.
        default = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        program = subprocess.Popen([sys.executable, "-c", code], preexec_fn=default, **pipes)
        self.assertEqual(program.stdout.readline(), "started\n")
        time.sleep(1)
        self.assertIsNone(program.poll(), "the simulation takes longer")
        program.send_signal(signal.SIGINT)
        _, error = program.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", error)
        self.assertEqual(program.returncode, -signal.SIGINT)


class Names(unittest.TestCase):
    def test_the_lists_are_those_of_the_command(self):
        for names, list_name in [
            (selvedge.workloads(), "workloads"),
            (selvedge.mechanisms(), "mechanisms"),
            (selvedge.configurations(), "configurations"),
            (selvedge.blocks(), "blocks"),
        ]:
            listed = json.loads(command("list", list_name, "--json"))
            self.assertEqual(names, [one["name"] for one in listed])

    def test_the_version_is_that_of_the_command(self):
        self.assertEqual(command("--version").split()[1], selvedge.__version__)


class NamesOfStatistics(unittest.TestCase):
    VALUES = {"totals": {"cycles": 5, "l1d": {"misses": 2}}, "kernels": [{"name": "k"}], "result": "pass"}

    def setUp(self):
        self.statistics = selvedge.Statistics(self.VALUES)

    def test_a_name_is_an_attribute_and_a_key(self):
        self.assertEqual(self.statistics.totals.l1d.misses, 2)
        self.assertEqual(self.statistics["totals"]["l1d"]["misses"], 2)
        self.assertEqual(self.statistics["totals.l1d.misses"], 2)
        self.assertEqual(self.statistics.kernels[0].name, "k")
        self.assertEqual(list(self.statistics), ["totals", "kernels", "result"])
        self.assertIn("totals", dir(self.statistics))

    def test_an_unknown_name_is_an_error(self):
        for name in ["total", "totals.l1d.miss", "result.pass"]:
            self.assertNotIn(name, self.statistics)
            with self.assertRaises(KeyError):
                self.statistics[name]
        with self.assertRaisesRegex(AttributeError, "no statistic 'total': must be one of totals, kernels, result"):
            self.statistics.total

    def test_statistics_are_dicts_and_copies(self):
        self.assertEqual(self.statistics.to_dict(), self.VALUES)
        self.assertEqual(self.statistics.flat(), {"totals.cycles": 5, "totals.l1d.misses": 2, "result": "pass"})
        for same in (copy.deepcopy(self.statistics), pickle.loads(pickle.dumps(self.statistics))):
            self.assertEqual(same.to_dict(), self.VALUES)


def compress(block, line):
    """Returns the encoding, the size and the cycles of a line that goes through a compressor."""
    outputs = block.step({"valid_i": 1, "line_i": int.from_bytes(line, "little"), "ready_i": 1})
    for cycle in range(10):
        if outputs["valid_o"]:
            return outputs["encoding_o"], outputs["size_o"], cycle
        outputs = block.step({"valid_i": 0})
    raise AssertionError("no payload leaves the compressor")


class Block(unittest.TestCase):
    def test_model_and_rtl_compress_lines_alike(self):
        pointers = struct.pack("<16Q", *(0x7F0012340000 + 8 * n for n in range(16)))
        noise = bytes(n * n * 37 % 251 for n in range(128))
        for engine in ("model", "rtl"):
            block = selvedge.Block("bdi_compressor", engine=engine)
            self.assertEqual((block.name, block.engine), ("bdi_compressor", engine))
            for line, expected in [(bytes(128), (1, 0, 2)), (pointers, (3, 26, 2)), (noise, (0, 128, 2))]:
                self.assertEqual(compress(block, line), expected)

    def test_a_wide_value_leaves_as_it_came(self):
        compressor, decompressor = selvedge.Block("bdi_compressor"), selvedge.Block("bdi_decompressor", engine="rtl")
        line = int.from_bytes(bytes(n * n * 37 % 251 for n in range(128)), "little")
        outputs = compressor.step({"valid_i": 1, "line_i": line, "ready_i": 1})
        while not outputs["valid_o"]:
            outputs = compressor.step({"valid_i": 0})
        given = {name[:-2] + "_i": value for name, value in outputs.items()}
        given = {port.name: given[port.name] for port in decompressor.ports if port.name in given and not port.is_output}
        outputs = decompressor.step({**given, "ready_i": 1})
        for _ in range(10):
            if outputs["valid_o"]:
                break
            outputs = decompressor.step({"valid_i": 0})
        self.assertEqual(outputs["line_o"], line)

    def test_parameters_and_ports_are_there(self):
        block = selvedge.Block("bdi_compressor", {"pipeline_depth": 3})
        self.assertEqual(block.parameters["pipeline_depth"], 3)
        ports = {port.name: (port.bits, port.is_output) for port in block.ports}
        self.assertEqual((ports["line_i"], ports["valid_o"]), ((1024, False), (1, True)))
        self.assertEqual([port.is_output for port in block.ports], sorted(port.is_output for port in block.ports))

    def test_a_reset_empties_a_block(self):
        block = selvedge.Block("bdi_compressor")
        block.step({"valid_i": 1, "ready_i": 1})
        block.reset()
        self.assertFalse(any(block.step({"valid_i": 0})["valid_o"] for _ in range(5)))

    def test_what_does_not_suit_is_a_value_error(self):
        block = selvedge.Block("bdi_compressor")
        for make, message in [
            (lambda: selvedge.Block("bdi_compresor"), "unknown block 'bdi_compresor'"),
            (lambda: selvedge.Block("milg", engine="lockstep"), "engine 'lockstep': must be model or rtl"),
            (lambda: selvedge.Block("milg", {"bits": 3}), "bits"),
            (lambda: block.step({"valid": 1}), "no port 'valid': must be one of"),
            (lambda: block.step({"valid_o": 1}), "port valid_o: must be an input"),
            (lambda: block.step({"valid_i": 2}), "port valid_i: the value must have 1 bits"),
            (lambda: block.step({"line_i": 1 << 1024}), "port line_i: the value must have 1024 bits"),
            (lambda: block.step({"valid_i": -1}), "port valid_i: the value must have 1 bits"),
            (lambda: block.step({"valid_i": "1"}), "port valid_i: the value must be an integer"),
        ]:
            with self.subTest(message), self.assertRaises(ValueError) as caught:
                make()
            self.assertIn(message, str(caught.exception))

    def test_a_step_that_fails_sets_no_input(self):
        block, other = selvedge.Block("bdi_compressor"), selvedge.Block("bdi_compressor")
        with self.assertRaises(ValueError):
            block.step({"valid_i": 1, "ready_i": 1, "no_port": 1})
        for _ in range(5):
            self.assertEqual(block.step(), other.step())


class Memory(unittest.TestCase):
    def read(self, memory, address):
        self.assertTrue(memory.offer(address, 128, tag=7))
        for _ in range(1000):
            memory.step()
            reply = memory.reply()
            if reply:
                break
        while not memory.is_idle:
            memory.step()
        return reply

    def test_a_line_comes_from_dram_and_then_from_the_l2(self):
        memory = selvedge.Memory("gtx480")
        first, second = self.read(memory, 0), self.read(memory, 0)
        self.assertEqual((first.sm, first.operation, first.address, first.bytes, first.tag), (0, "read", 0, 128, 7))
        self.assertEqual((first.received - first.sent, second.received - second.sent), (163, 88))
        counters = memory.statistics()
        self.assertEqual((counters.l2.hits, counters.l2.misses, counters.dram.reads), (1, 1, 1))

    def test_many_cycles_are_the_cycles_one_by_one(self):
        one, many = selvedge.Memory(), selvedge.Memory()
        for memory in (one, many):
            self.assertTrue(memory.offer(256, 4, sm=3, operation="atomic"))
        for _ in range(9000):
            one.step()
        many.step(9000)
        self.assertEqual((one.cycle, many.cycle), (9000, 9000))
        self.assertEqual(one.statistics().to_dict(), many.statistics().to_dict())
        self.assertEqual(one.statistics().l2.accesses, 1)

    def test_a_wrong_request_is_a_value_error(self):
        memory = selvedge.Memory()
        self.assertEqual((memory.sms, memory.line_bytes, memory.core_mhz), (15, 128, 1400))
        for make, message in [
            (lambda: selvedge.Memory("gtx"), "gtx"),
            (lambda: memory.offer(0, 128, sm=15), "SM 15: must be 0 to 14"),
            (lambda: memory.offer(64, 128), "must be 1 or more of one line of 128 bytes"),
            (lambda: memory.offer(0, 4, operation="load"), "operation 'load': must be read, write or atomic"),
            (lambda: memory.reply(99), "SM 99"),
        ]:
            with self.subTest(message), self.assertRaises(ValueError) as caught:
                make()
            self.assertIn(message, str(caught.exception))
        self.assertTrue(memory.is_idle)


def row(workload, mechanism, cycles, **more):
    return {"workload": workload, "size": "tiny", "config": "gtx480", "mechanism": mechanism, "totals.cycles": cycles, **more}


class Rows(list):
    """Rows as polars gives them."""

    def to_dicts(self):
        return list(self)


class Speedups(unittest.TestCase):
    def test_points_that_a_mechanism_lacks_are_left_out(self):
        rows = Rows([row("a", "base", 100), row("a", "m", 50), row("b", "base", 80), row("b", "m", 160), row("c", "base", 9)])
        found = selvedge.speedups(rows)
        self.assertEqual([(one["workload"], one["mechanism"], one["speedup"]) for one in found],
                         [("a", "base", 1.0), ("a", "m", 2.0), ("b", "base", 1.0), ("b", "m", 0.5)])
        self.assertEqual(selvedge.geometric_means(found), {"base": 1.0, "m": 1.0})
        means = selvedge.geometric_means(found, "workload")
        self.assertEqual(list(means), ["a", "b"])
        self.assertAlmostEqual(means["a"], math.sqrt(2))
        self.assertAlmostEqual(means["b"], math.sqrt(0.5))

    def test_points_that_differ_must_be_told_apart(self):
        rows = Rows([row("a", mechanism, cycles * ways, **{"l1d.ways": ways})
                     for ways in (1, 2) for mechanism, cycles in (("base", 30), ("m", 20))])
        with self.assertRaisesRegex(ValueError, "several points of a base: vary must name"):
            selvedge.speedups(rows)
        found = selvedge.speedups(rows, vary="l1d.ways")
        self.assertEqual([(one["l1d.ways"], one["speedup"]) for one in found], [(1, 1.0), (1, 1.5), (2, 1.0), (2, 1.5)])
        with self.assertRaisesRegex(ValueError, "l1d.sets: no column of the table"):
            selvedge.speedups(rows, vary=["l1d.sets"])
        with self.assertRaisesRegex(ValueError, "mechanism none: must be one of base, m"):
            selvedge.speedups(rows, "none", "l1d.ways")

    def test_results_are_a_table(self):
        base, other = selvedge.run("bfs"), selvedge.run("bfs", "hw-bdi")
        expected = base.totals.cycles / other.totals.cycles
        self.assertEqual(selvedge.geometric_means(selvedge.speedups([base, other]))["hw-bdi"], math.exp(math.log(expected)))

    def test_values_of_set_are_columns(self):
        results = [selvedge.run("bfs", mechanism, set={"l1d.ways": ways}) for ways in (2, 4) for mechanism in ("base", "hw-bdi")]
        cycles = [result.totals.cycles for result in results]
        found = [(one["l1d.ways"], one["speedup"]) for one in selvedge.speedups(results, vary="l1d.ways")]
        self.assertEqual(found, [(2, 1.0), (2, cycles[0] / cycles[1]), (4, 1.0), (4, cycles[2] / cycles[3])])


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        here = Path(cls.folder.name)
        (here / "ways.toml").write_text(STUDY)
        command("study", "ways.toml", "--store", "st", cwd=here)
        cls.files = [here / f"ways.{ending}" for ending in ("parquet", "csv", "jsonl")]
        outputs = [word for file in cls.files for word in ("-o", file.name)]
        command("study", "collect", "ways.toml", "--store", "st", *outputs, cwd=here)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, library):
        rows = [json.loads(line) for line in self.files[2].read_text().splitlines()]
        cycles = [one["totals.cycles"] for one in rows]
        # The mechanism varies fastest.
        logs = [math.log(base / other) for base, other in zip(cycles[::2], cycles[1::2])]
        for file in self.files:
            table = selvedge.read_study(file, library)
            self.assertEqual(type(table).__module__.split(".")[0], library)
            means = selvedge.geometric_means(selvedge.speedups(table, vary="l1d.ways"))
            self.assertAlmostEqual(means["hw-bdi"], math.exp(sum(logs) / len(logs)), places=12)
            self.assertEqual(means["base"], 1.0)

    @unittest.skipUnless(find_spec("pandas") and find_spec("pyarrow"), "needs pandas and pyarrow")
    def test_pandas_reads_all_formats(self):
        self.check("pandas")

    @unittest.skipUnless(find_spec("polars"), "needs polars")
    def test_polars_reads_all_formats(self):
        self.check("polars")

    def test_a_result_has_the_columns_of_a_study(self):
        rows = [json.loads(line) for line in self.files[2].read_text().splitlines()]
        [same] = [one for one in rows if (one["workload"], one["mechanism"], one["l1d.ways"]) == ("bfs", "base", 4)]
        totals = {key: value for key, value in selvedge.run("bfs").flat().items() if key.startswith("totals.")}
        self.assertGreater(len(totals), 200)
        self.assertEqual({key: same[key] for key in totals}, totals)

    def test_a_wrong_library_or_file_is_a_value_error(self):
        with self.assertRaisesRegex(ValueError, "library 'numpy': must be pandas or polars"):
            selvedge.read_study(self.files[0], "numpy")
        with self.assertRaisesRegex(ValueError, "must end with .parquet, .csv or .jsonl"):
            selvedge.read_study("ways.toml")

    @unittest.skipUnless(find_spec("polars") and find_spec("matplotlib"), "needs polars and matplotlib")
    def test_figures_show_the_values(self):
        from selvedge import plot

        table = selvedge.read_study(self.files[0], "polars")
        rows = selvedge.speedups(table, vary="l1d.ways")
        [axes] = plot.speedup(table, vary="l1d.ways").axes
        heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
        for mechanism, found in zip(("base", "hw-bdi"), heights):
            own = [one for one in rows if one["mechanism"] == mechanism]
            means = selvedge.geometric_means(own, "workload")
            self.assertEqual(found, [means["bfs"], means["kmeans"], selvedge.geometric_means(own)[mechanism]])
        [axes] = plot.lines(table, "l1d.ways", "totals.l1d.miss_rate").axes
        for line in axes.lines:
            own = table.filter(table["mechanism_label"] == line.get_label()).select("l1d.ways", "totals.l1d.miss_rate")
            means = own.group_by("l1d.ways").mean().sort("l1d.ways")["totals.l1d.miss_rate"]
            for drawn, mean in zip(line.get_ydata(), means):
                self.assertAlmostEqual(drawn, mean, places=12)


class Files(unittest.TestCase):
    def test_the_sources_are_those_of_python_3_9(self):
        for file in FOLDER.glob("*.py"):
            ast.parse(file.read_text(), feature_version=(3, 9))

    @unittest.skipIf(sys.version_info < (3, 10), "Python 3.9 has no signatures of native classes")
    def test_the_stub_has_what_the_module_has(self):
        stub = ast.parse((FOLDER / "_selvedge.pyi").read_text())
        module = selvedge._selvedge
        declared = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        public = {name for name in vars(module) if not name.startswith("_")}
        self.assertEqual(set(declared), public)
        for name, node in declared.items():
            there = getattr(module, name)
            if isinstance(node, ast.FunctionDef):
                self.assertEqual(arguments(node), list(inspect.signature(there).parameters), name)
            elif name != "SimulationError":
                methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
                found = {one for one in vars(there) if not one.startswith("__")}
                self.assertEqual(set(methods) - {"__new__"}, found, name)
                for method, declaration in methods.items():
                    if declaration.decorator_list:
                        continue
                    signature = inspect.signature(there if method == "__new__" else getattr(there, method))
                    given = [one for one in arguments(declaration) if one not in ("self", "cls")]
                    self.assertEqual(given, [one for one in signature.parameters if one != "self"], f"{name}.{method}")

    def test_everything_public_has_a_docstring(self):
        self.assertTrue((FOLDER / "py.typed").exists())
        for name in selvedge.__all__:
            if name != "__version__":
                self.assertTrue(inspect.getdoc(getattr(selvedge, name)), name)


def arguments(node):
    return [one.arg for one in [*node.args.args, *node.args.kwonlyargs]]


if __name__ == "__main__":
    unittest.main()
