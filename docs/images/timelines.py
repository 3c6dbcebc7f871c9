#!/usr/bin/env python3
"""Draws the timelines of docs/images/mechanisms from the waveforms of the runs on the pages in docs/mechanisms.

usage: timelines.py FOLDER OUTPUT

FOLDER has latte.vcd, bgp.vcd, caba.vcd, mdb.vcd and dmil.vcd. OUTPUT gets an SVG for each.
"""
import bisect
import sys
from pathlib import Path
from xml.sax.saxutils import escape

PICOSECONDS_PER_CYCLE = 1e6 / 1400

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="Helvetica, Arial, sans-serif" font-size="11" role="img" aria-labelledby="title desc">
  <title id="title">{title}</title>
  <desc id="desc">{desc}</desc>
  <style>
    .plain { stroke: #44546a; stroke-width: 1.5; fill: none; }
    .axis { stroke: #8794a8; stroke-width: 1; fill: none; }
    .grid { stroke: #dbe1ea; stroke-width: 1; fill: none; }
    .first { stroke: #2f5597; stroke-width: 2; fill: none; }
    .second { stroke: #b8730a; stroke-width: 2; fill: none; }
    .area { fill: #dbe1ea; }
    .dot { fill: #2f5597; }
    text { fill: #1f2937; }
    .bold { font-weight: bold; }
  </style>
  <rect x="0" y="0" width="{w}" height="{h}" fill="#fbfcfe"/>
"""


def read(path):
    """Returns the changes of each signal of a VCD file, as (cycle of the core clock, value), by its name with its scopes."""
    names, scopes, changes, time = {}, [], {}, 0
    for line in open(path):
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var":
            names[words[3]] = ".".join([*scopes[1:], words[4]])
            changes[names[words[3]]] = []
        elif line[0] == "#":
            time = round(int(line[1:]) / PICOSECONDS_PER_CYCLE)
        elif line[0] in "01" and words[0][1:] in names:
            changes[names[words[0][1:]]].append((time, int(line[0])))
        elif line[0] == "b" and set(words[0][1:]) <= set("01"):
            changes[names[words[1]]].append((time, int(words[0][1:], 2)))
    return changes


class Picture:
    """An SVG picture."""

    def __init__(self, height, title, desc):
        head = HEAD.replace("{w}", "800").replace("{h}", str(height))
        self.parts = [head.replace("{title}", escape(title)).replace("{desc}", escape(desc))]

    def text(self, x, y, text, anchor="start", style=""):
        style = f' class="{style}"' if style else ""
        self.parts.append(f'  <text{style} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>\n')

    def path(self, style, points):
        self.parts.append(f'  <path class="{style}" d="{points}"/>\n')

    def save(self, path):
        Path(path).write_text("".join(self.parts) + "</svg>\n")


class Panel:
    """A chart with a cycle axis, in a picture."""

    def __init__(self, picture, left, top, height, cycles, highest, label, ticks):
        self.picture, self.left, self.top, self.height = picture, left, top, height
        self.width, self.cycles, self.highest = 770 - left, cycles, highest
        for value, text in ticks:
            picture.path("grid", f"M{left} {self.y(value):.1f} H770")
            picture.text(left - 8, self.y(value) + 4, text, "end")
        picture.text(left, top - 9, label, style="bold")
        picture.path("axis", f"M{left} {top} V{top + height} H770")

    def x(self, cycle):
        return self.left + self.width * cycle / self.cycles

    def y(self, value):
        return self.top + self.height - self.height * value / self.highest

    def steps(self, style, changes):
        first, *rest = [(cycle, value) for cycle, value in changes if cycle <= self.cycles]
        points = f"M{self.x(first[0]):.1f} {self.y(first[1]):.1f}"
        points += "".join(f" H{self.x(cycle):.1f} V{self.y(value):.1f}" for cycle, value in rest)
        self.picture.path(style, f"{points} H{self.x(self.cycles):.1f}")

    def line(self, style, points):
        self.picture.path(style, "M" + " L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points))

    def axis(self, step):
        bottom = self.top + self.height
        for cycle in range(0, self.cycles + 1, step):
            self.picture.path("axis", f"M{self.x(cycle):.1f} {bottom} v4")
            self.picture.text(self.x(cycle), bottom + 17, f"{cycle:,}", "middle")
        self.picture.text(770, bottom + 33, "cycle", "end")


def spans(changes, end):
    """Returns the intervals in which a signal is 1."""
    following = [cycle for cycle, _ in changes[1:]] + [end]
    return [(cycle, min(after, end)) for (cycle, value), after in zip(changes, following) if value and cycle < end]


def latte_cc(signals, output):
    block = "sm0.l1d.latte."
    picture = Picture(300, "Mode and latency tolerance of LATTE-CC over time", "bfs at size small, SM 0")
    modes = Panel(picture, 120, 35, 90, 147_057, 2, "mode of the sets that are not dedicated (grey: learning EPs)",
                  [(0, "none"), (1, "BDI"), (2, "SC")])
    for start, end in spans(signals[block + "learning_o"], modes.cycles):
        picture.path("area", f"M{modes.x(start):.1f} {modes.top} H{modes.x(end):.1f} V{modes.top + modes.height} H{modes.x(start):.1f} z")
    modes.steps("first", signals[block + "mode_o"])
    tolerance = Panel(picture, 120, 170, 80, modes.cycles, 10, "latency tolerance, cycles", [(0, "0"), (5, "5"), (10, "10")])
    tolerance.steps("second", signals[block + "tolerance_o"])
    tolerance.axis(20_000)
    picture.save(output / "latte-cc-timeline.svg")


def mdb(signals, output):
    limits = signals["sm0.bpg.l_max_o"]
    picture = Picture(240, "L of MDB over time", "kmeans at size small, SM 0")
    panel = Panel(picture, 90, 40, 140, 348_225, 8, "L of SM 0: CTAs or warps that may use the L1D (dots: choices of L)",
                  [(value, str(value)) for value in range(0, 9, 2)])
    panel.steps("first", limits)
    for cycle, _ in spans(signals["sm0.bpg.update_o"], panel.cycles):
        chosen = [value for start, value in limits if start <= cycle][-1]
        picture.parts.append(f'  <circle class="dot" cx="{panel.x(cycle):.1f}" cy="{panel.y(chosen):.1f}" r="2.5"/>\n')
    panel.axis(50_000)
    picture.save(output / "mdb-timeline.svg")


def dmil(signals, output):
    picture = Picture(330, "Limits of DMIL over time", "backprop and kmeans at size paper, SM 0")
    for block, kernel, top, style in (("milg", "backprop", 40, "first"), ("milg1", "kmeans", 180, "second")):
        panel = Panel(picture, 90, top, 90, 100_000, 128, f"{kernel}: limit (thick) and memory instructions in flight (thin)",
                      [(0, "0"), (64, "64"), (128, "128")])
        in_flight = signals[f"sm0.{block}.inflight_o"]
        cycles = [cycle for cycle, _ in in_flight]
        highest = []
        for start in range(0, panel.cycles, 250):
            first, last = bisect.bisect_right(cycles, start) - 1, bisect.bisect_left(cycles, start + 250)
            highest.append((start, max(value for _, value in in_flight[max(first, 0):max(last, 1)])))
        panel.steps("axis", highest)
        panel.steps(style, signals[f"sm0.{block}.limit_o"])
    panel.axis(20_000)
    picture.text(90, 303, "in flight: maximum of each 250 cycles")
    picture.save(output / "dmil-timeline.svg")


def bgp(signals, output):
    picture = Picture(250, "Fine fetches under BGP over time", "mummer at size small, L1D of SM 0 and L2 slice 0")
    panel = Panel(picture, 90, 40, 140, 459_157, 100, "misses that fetch only the requested sectors, % of each 5,000 cycles",
                  [(0, "0"), (50, "50"), (100, "100")])
    # A query takes a cycle of the block's clock: the L2 has half the frequency of the core.
    for block, style, cycle_length in (("sm0.l1d.bgp", "first", 1), ("l2.p0.bgp", "second", 2)):
        coarse = signals[f"{block}.coarse_o"]
        changes = [cycle for cycle, _ in coarse]
        queries, fine = {}, {}
        for start, end in spans(signals[f"{block}.valid_o"], panel.cycles):
            for cycle in range(start, end, cycle_length):
                window = cycle // 5000
                queries[window] = queries.get(window, 0) + 1
                fine[window] = fine.get(window, 0) + 1 - coarse[bisect.bisect_right(changes, cycle) - 1][1]
        panel.line(style, [(window * 5000 + 2500, 100 * fine[window] / queries[window]) for window in sorted(queries) if queries[window] >= 20])
    panel.axis(100_000)
    flip = panel.x(signals["sm0.l1d.bgp.default_coarse_o"][1][0])
    picture.path("plain", f"M{flip:.1f} 180 V42")
    picture.text(90, 226, f"vertical line: the default of SM 0 flips to fine (cycle {signals['sm0.l1d.bgp.default_coarse_o'][1][0]:,})")
    for style, x, name in (("first", 460, "L1D of SM 0"), ("second", 590, "L2 slice 0")):
        picture.path(style, f"M{x} 222 h24")
        picture.text(x + 30, 226, name)
    picture.save(output / "bgp-timeline.svg")


def caba(signals, output):
    picture = Picture(290, "One decompression by an assist warp", "bfs at size tiny, SM 0")
    first, last = 746, 832
    x = lambda cycle: 150 + 620 * (cycle - first) / (last - first)
    for cycle in range(750, 831, 10):
        picture.path("grid", f"M{x(cycle):.1f} 58 V240")
        picture.text(x(cycle), 258, str(cycle), "middle")
    picture.text(770, 276, "cycle of the SM", "end")
    idle = [(0, 1)] + [(cycle, value) for cycle, value in signals["sm0.awc.idle_i"] if cycle >= 749]
    rows = (("event", signals["sm0.awc.trigger_valid_i"]), ("fetch from the store", signals["sm0.awc.fetch_o"]),
            ("in the buffer", signals["sm0.awc.high_valid_o"]), ("leaves the buffer", signals["sm0.awc.issue0_pop_i"]),
            ("scheduler issues", [(cycle, 1 - value) for cycle, value in idle]))
    for row, (label, changes) in enumerate(rows):
        low = 90 + 36 * row
        level = lambda value: low - 16 * min(value, 1)
        points = f"M{x(first):.1f} {level([value for cycle, value in changes if cycle <= first][-1])}"
        points += "".join(f" H{x(cycle):.1f} V{level(value)}" for cycle, value in changes if first < cycle < last)
        picture.text(140, low - 6, label, "end")
        picture.path("second" if label == "scheduler issues" else "first", f"{points} H{x(last):.1f}")
    issues = [start for start, end in spans(rows[-1][1], last) if end == start + 1]
    picture.text(150, 22, "issued instructions", style="bold")
    for cycle, name, shift in zip(issues, ("address", "base", "deltas", "add", "store"), (-14, -22, 8, -8, -14)):
        picture.path("plain", f"M{x(cycle) + 3.6:.1f} 50 V58")
        picture.text(x(cycle) + shift, 44, name)
    picture.save(output / "caba-timeline.svg")


def main():
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    for name, draw in (("latte", latte_cc), ("bgp", bgp), ("caba", caba), ("mdb", mdb), ("dmil", dmil)):
        draw(read(folder / f"{name}.vcd"), output)


if __name__ == "__main__":
    main()
