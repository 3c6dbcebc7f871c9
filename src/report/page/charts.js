// What the charts show, as descriptions for Vega-Lite, and how one comes into the page.
"use strict";

const charts = (() => {
  // Okabe and Ito's palette, which color-blind readers can tell apart, and five of Tol's for further series.
  const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999",
    "#882255", "#44AA99", "#999933", "#AA4499", "#6699CC"];
  const CONFIG = {
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: {
      labelColor: "currentColor", titleColor: "currentColor", domainColor: "currentColor", tickColor: "currentColor",
      gridColor: "currentColor", gridOpacity: 0.15, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 300,
    },
    legend: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12, labelLimit: 360, symbolType: "square" },
    header: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12, labelFontWeight: "bold", labelLimit: 260 },
    title: { color: "currentColor", fontSize: 13, anchor: "start", fontWeight: "bold" },
    text: { color: "currentColor" },
    rule: { color: "currentColor" },
    bar: { stroke: "currentColor", strokeWidth: 0.4 },
  };
  /** Bars of a row of the speedup chart, and the least and greatest width of a bar with its gap, pixels. */
  const BARS_IN_A_ROW = 96;
  const [NARROWEST, WIDEST] = [9, 34];
  const PAPER = "the paper";
  const MEAN = "geometric mean";

  /** Saves `blob` as a file of the reader. */
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  /** A name for a file from words for a reader. */
  const fileName = (words, end) => `${words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "chart"}.${end}`;

  /** Adds buttons to the figure around `host` that save its chart. */
  const offer = (host, view, label) => {
    const figure = host.closest("figure");
    if (!figure) return;
    figure.querySelector(".exports")?.remove();
    const button = (end, make) => tables.element("button", { type: "button", title: `Save the chart as ${end}`,
      onclick: () => make().then((blob) => save(blob, fileName(label || "chart", end.toLowerCase()))) }, end);
    const svg = () => view.toSVG().then((text) => new Blob([text], { type: "image/svg+xml" }));
    const png = () => view.toCanvas(2).then((canvas) => new Promise((done) => {
      // A picture has the ground of the page, because its text has the color of the page's text.
      const whole = document.createElement("canvas");
      [whole.width, whole.height] = [canvas.width, canvas.height];
      const pen = whole.getContext("2d");
      pen.fillStyle = getComputedStyle(document.body).backgroundColor;
      pen.fillRect(0, 0, whole.width, whole.height);
      pen.drawImage(canvas, 0, 0);
      whole.toBlob(done, "image/png");
    }));
    figure.append(tables.element("div", { class: "exports" }, button("SVG", svg), button("PNG", png)));
  };

  /** Draws `spec` into `host`; resolves when it is there. Numbers of drawn charts are in `done`. */
  let done = 0;
  const draw = (host, spec, label) => {
    const full = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", description: label, ...spec };
    const compiled = vegaLite.compile(full, { config: CONFIG }).spec;
    const runtime = vega.parse(compiled, null, { ast: true });
    const view = new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "svg", logLevel: vega.Warn });
    return view.initialize(host).runAsync().then(() => {
      offer(host, view, label);
      done += 1;
    });
  };

  const colors = (names) => ({ domain: names, range: names.map((_, at) => PALETTE[at % PALETTE.length]) });
  /** Colors of series: the same for one series in every chart. */
  const seriesColors = (names) => {
    const place = (name, at) => (model.series.includes(name) ? model.series.indexOf(name) : at);
    return { domain: names, range: names.map((name, at) => PALETTE[place(name, at) % PALETTE.length]) };
  };
  const chunks = (all, size) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
  const roomIn = (host) => Math.max(320, Math.min(1320, host.clientWidth || 1320));

  /**
   * Grouped bars, a row of charts for as many groups as are readable beside each other.
   * `bars` and `marks` (values of a paper) have `group`, `series`, `value`; `order` and `groups` give the orders. A share is in
   * percent; other values have a line at 1.
   */
  const grouped = (host, { groups, order, bars, marks = [], title, isShare = false }) => {
    const perRow = Math.max(1, Math.floor(BARS_IN_A_ROW / Math.max(1, order.length)));
    const room = roomIn(host) - 90;
    const top = 1.08 * Math.max(isShare ? 0.01 : 1, ...bars.map((bar) => bar.value), ...marks.map((mark) => mark.value));
    const rows = chunks(groups, perRow).map((some) => {
      const inRow = (one) => some.includes(one.group);
      const slots = some.length * (order.length + 0.6);
      const bar = Math.max(NARROWEST, Math.min(WIDEST, room / slots));
      const x = { field: "group", type: "nominal", sort: some, title: null, axis: { labelAngle: some.length > 9 ? -40 : 0, labelOverlap: false } };
      const xOffset = { field: "series", type: "nominal", sort: order };
      const y = { field: "value", type: "quantitative", title, scale: { domain: [0, isShare ? Math.min(1.08, top) : top] },
        ...(isShare ? { axis: { format: ".0%" } } : {}) };
      const tooltip = [
        { field: "group", title: "workload" }, { field: "series", title: "mechanism" },
        { field: "value", title, format: isShare ? ".2%" : ".4f" },
      ];
      const layer = [
        { data: { values: bars.filter(inRow) }, mark: { type: "bar" },
          encoding: { x, xOffset, y, tooltip, color: { field: "series", type: "nominal", title: null, scale: seriesColors(order) } } },
      ];
      if (!isShare) layer.push({ mark: { type: "rule" }, data: { values: [{}] }, encoding: { y: { datum: 1 } } });
      if (bar >= 26) {
        layer.push({ data: { values: bars.filter(inRow) }, mark: { type: "text", dy: -6, fontSize: 11 },
          encoding: { x, xOffset, y, text: { field: "value", format: isShare ? ".0%" : ".2f" } } });
      }
      const ofPaper = marks.filter(inRow);
      if (ofPaper.length) {
        layer.push({ data: { values: ofPaper.map((mark) => ({ ...mark, what: PAPER })) },
          mark: { type: "point", filled: true, size: 64, color: "currentColor", opacity: 1 },
          encoding: { x, xOffset, y, tooltip, shape: { field: "what", type: "nominal", title: null, scale: { domain: [PAPER], range: ["diamond"] } } } });
      }
      return { layer, width: Math.round(bar * slots), height: 230 };
    });
    const spec = rows.length === 1 ? rows[0] : { vconcat: rows, resolve: { scale: { color: "shared" } } };
    return draw(host, { ...spec, config: { legend: { orient: "top", columns: 4 } } }, title);
  };

  /** Stacked bars, a small chart for each group with a bar for each series. `parts` have `group`, `series`, `part`, `value`. */
  const stacks = (host, { groups, order, parts, names, title, isShare }) => {
    const room = roomIn(host);
    const labels = Math.min(300, 14 + 7 * Math.max(...order.map((name) => name.length)));
    const across = Math.max(1, Math.min(groups.length, Math.floor(room / (labels + 250))));
    const width = Math.min(460, Math.floor(room / across) - labels - 40);
    const at = new Map(names.map((name, index) => [name, index]));
    const rows = chunks(groups, across).map((some) => ({
      hconcat: some.map((group) => ({
        title: group,
        width,
        height: { step: 20 },
        data: { values: parts.filter((one) => one.group === group).map((one) => ({ ...one, at: at.get(one.part) })) },
        mark: "bar",
        encoding: {
          y: { field: "series", type: "nominal", sort: order, title: null },
          x: { field: "value", type: "quantitative", title, stack: isShare ? "normalize" : "zero",
            axis: { tickCount: 4, format: isShare ? ".0%" : ",.4~g" } },
          order: { field: "at", type: "quantitative" },
          color: { field: "part", type: "nominal", title: null, scale: colors(names), legend: { orient: "top", columns: 7 } },
          tooltip: [{ field: "series", title: "mechanism" }, { field: "part", title: "part" },
            { field: "value", title, format: ",.6~g" }, { field: "share", title: "share", format: ".1%" }],
        },
      })),
      resolve: { scale: { x: "independent" } },
    }));
    return draw(host, { vconcat: rows, resolve: { scale: { color: "shared" } } }, title);
  };

  /**
   * Lines over the values of a key, a small chart for each group. `points` have `group`, `series`, `x`, `y`. Numbers that grow
   * by factors have a logarithmic axis.
   */
  const lines = (host, { groups, order, points, x, y }) => {
    const values = model.distinct(points.map((one) => one.x));
    const isNumber = values.every((value) => typeof value === "number");
    const isWide = isNumber && Math.min(...values) > 0 && Math.max(...values) >= 8 * Math.min(...values);
    const across = Math.max(1, Math.min(groups.length, Math.floor(roomIn(host) / 330)));
    const scale = isWide ? { scale: { type: "log", base: 2 } } : isNumber ? { scale: { zero: false } } : {};
    const rows = chunks(groups, across).map((some) => ({
      hconcat: some.map((group) => ({
        title: group,
        width: Math.min(460, Math.floor(roomIn(host) / across) - 100),
        height: 200,
        data: { values: points.filter((one) => one.group === group) },
        mark: { type: "line", point: true, strokeWidth: 1.6 },
        encoding: {
          x: { field: "x", type: isNumber ? "quantitative" : "ordinal", title: x, axis: isNumber ? { values } : { labelAngle: 0 }, ...scale },
          y: { field: "y", type: "quantitative", title: y, scale: { zero: true } },
          color: { field: "series", type: "nominal", title: null, scale: colors(order), legend: { orient: "top", columns: 4 } },
          tooltip: [{ field: "series", title: "mechanism" }, { field: "x", title: x }, { field: "y", title: y, format: ",.6~g" }],
        },
      })),
    }));
    return draw(host, { vconcat: rows, resolve: { scale: { color: "shared" } } }, `${y} over ${x}`);
  };

  /** Points with names: `points` have `x`, `y`, `series`. */
  const scatter = (host, { points, order, x, y }) =>
    draw(host, {
      width: Math.min(640, roomIn(host) - 120), height: 260, data: { values: points },
      encoding: {
        x: { field: "x", type: "quantitative", title: x, scale: { zero: true, nice: true } },
        y: { field: "y", type: "quantitative", title: y, scale: { zero: true } },
      },
      layer: [
        { mark: { type: "point", filled: true, size: 110, stroke: "currentColor", strokeWidth: 0.6, opacity: 1 }, encoding: {
          color: { field: "series", type: "nominal", scale: seriesColors(order), legend: null },
          tooltip: [{ field: "series", title: "mechanism" }, { field: "x", title: x }, { field: "y", title: y, format: ".2f" }] } },
        { mark: { type: "text", align: "left", dx: 9, dy: -2, fontSize: 12 }, encoding: { text: { field: "series" } } },
      ],
    }, `${y} beside ${x}`);

  /** Bars of single values: `bars` have `x` and `value`. */
  const bars = (host, { bars: values, x, title, color }) =>
    draw(host, {
      width: roomIn(host) - 90, height: 110, data: { values },
      mark: { type: "bar", color: PALETTE[color] },
      encoding: {
        x: { field: "x", type: "ordinal", title: x, axis: { labelAngle: 0 } },
        y: { field: "value", type: "quantitative", title, axis: { tickCount: 4 } },
        tooltip: [{ field: "x", title: x }, { field: "value", title, format: ",.6~g" }],
      },
    }, title);

  /**
   * Steps over cycles. `steps` have `from`, `to`, `value`, `series`; `launches` have `cycle`, `name`, `series`, each a dashed line.
   */
  const time = (host, { steps, launches, order, title, last, panel }) => {
    const x = { type: "quantitative", title: null, scale: { domain: [0, last], nice: false }, axis: { tickCount: 6, format: "~s" } };
    const points = steps.flatMap((one) => [{ ...one, cycle: one.from, at: 0 }, { ...one, cycle: one.to, at: 1 }]);
    // Where all values are 0, the axis has no end of its own.
    const above = steps.some((one) => one.value) ? {} : { scale: { domain: [0, 1] } };
    const color = { field: "series", type: "nominal", scale: seriesColors(order), legend: order.length > 1 ? { orient: "top", title: null, symbolStrokeWidth: 3 } : null };
    return draw(host, {
      title: panel,
      width: roomIn(host) - 90, height: 110,
      layer: [
        { data: { values: launches }, mark: { type: "rule", strokeDash: [2, 3], opacity: 0.6 },
          encoding: { x: { ...x, field: "cycle" }, color, tooltip: [{ field: "name", title: "launch" },
            { field: "cycle", title: "begins at cycle" }, { field: "series", title: "mechanism" }] } },
        { data: { values: points }, mark: { type: "line", strokeWidth: 1.4 }, encoding: {
          x: { ...x, field: "cycle" }, y: { field: "value", type: "quantitative", title, axis: { tickCount: 4 }, ...above }, color,
          tooltip: [{ field: "series", title: "mechanism" }, { field: "from", title: "from cycle" }, { field: "to", title: "to cycle" },
            { field: "value", title, format: ",.6~g" }] } },
      ],
    }, panel || title);
  };

  return { grouped, stacks, lines, scatter, bars, time, save, fileName, MEAN, get done() { return done; } };
})();
