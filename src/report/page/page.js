// The page: its sections, their controls, and what follows from a change of one.
"use strict";

(() => {
  const { element, format, table } = tables;
  const { data, value } = model;
  const main = document.querySelector("main");
  const nav = document.querySelector("nav");

  /** Adds a section with a heading; sections without anything to show are not added. */
  const section = (id, title, note, kind = "note") => {
    const made = element("section", { id }, element("h2", {}, title));
    if (note) made.append(element("p", { class: kind }, note));
    main.append(made);
    nav.append(element("a", { href: `#${id}` }, title));
    return made;
  };
  const place = (of) => of.appendChild(element("div"));
  const figure = (of) => of.appendChild(element("figure")).appendChild(element("div", { class: "chart" }));
  const select = (choices, chosen, change, id) => {
    const made = element("select", { id, onchange: (event) => change(event.target.value) });
    for (const { key, title } of choices) {
      const option = element("option", { value: key }, title);
      option.selected = key === chosen;
      made.append(option);
    }
    return made;
  };
  const same = (names) => names.map((name) => ({ key: name, title: name }));

  const state = { filter: "", extra: [] };
  const shownRuns = () => data.runs.filter((run) => model.matches(state.filter, model.text(run)));
  /** What is drawn again when filter or baseline change. */
  const redraws = [];
  let redrawing = Promise.resolve();
  const redraw = () => { redrawing = redrawing.then(() => Promise.all(redraws.map((one) => one()))); };

  const usualColumns = () => {
    const statistic = (title, name, more) => ({ title, meaning: name, of: (run) => value(run, name), ...more });
    const text = (title, key) => ({ title, of: (run) => run[key] });
    const columns = [
      text("workload", "workload"), text("size", "size"), text("configuration", "config"), text("mechanism", "mechanism"),
      text("engine", "engine"),
      statistic("cycles", "totals.cycles"), statistic("IPC", "totals.ipc", { digits: 2 }),
      { title: "speedup", of: model.speedup, digits: 4 },
      statistic("L1D miss", "totals.l1d.miss_rate", { percent: true }), statistic("L2 miss", "totals.l2.miss_rate", { percent: true }),
      statistic("DRAM bursts", "totals.dram.bursts"),
      { title: "energy uJ", meaning: "totals.energy.total_nj / 1000", digits: 1, of: (run) => {
        const total = value(run, "totals.energy.total_nj");
        return total === undefined ? undefined : total / 1000;
      } },
      text("result", "result"),
    ];
    if (data.runs.some((run) => run.share)) {
      columns.splice(5, 0, { title: "sharing", of: (run) => run.share || undefined });
      columns.push(statistic("weighted speedup", "throughput.weighted_speedup", { digits: 3 }), statistic("ANTT", "throughput.antt", { digits: 3 }));
    }
    if (data.runs.some((run) => run.error)) columns.push({ title: "why", of: (run) => run.error || undefined, long: true });
    return columns;
  };

  const runs = () => {
    const host = section("runs", "Runs", "Click on a heading to sort; the words of the filter select runs here and in the charts.", "note hint");
    const controls = host.appendChild(element("div", { class: "controls" }));
    const filter = element("input", { type: "search", id: "filter", placeholder: "words, such as bfs latte-cc",
      oninput: (event) => { state.filter = event.target.value.trim(); redraw(); } });
    const status = element("span", { class: "note", id: "shown", role: "status" });
    controls.append(element("label", {}, "Filter", filter));
    controls.append(element("label", {}, "Baseline", select(model.baselines, model.baseline, (key) => { model.baseline = key; redraw(); }, "baseline")));
    const offered = [{ key: "", title: "a statistic ..." }, ...same(data.columns)];
    const add = select(offered, "", (name) => {
      if (name && !state.extra.includes(name)) state.extra.push(name);
      add.value = "";
      redraw();
    }, "add-column");
    controls.append(element("label", {}, "Add column", add));
    controls.append(element("button", { type: "button", onclick: () => { state.extra = []; redraw(); } }, "Usual columns"), status);
    const columns = () => [...usualColumns(), ...state.extra.map((name) => ({ title: name, of: (run) => value(run, name) }))];
    const shown = table(place(host), "runs", columns(), shownRuns());
    redraws.push(() => {
      const some = shownRuns();
      shown.set(some, columns());
      status.textContent = `${some.length} of ${data.runs.length} runs`;
    });
  };

  /** Draws into a new chart, in place of the last one. */
  const chartIn = (host, drawing) => {
    host.replaceChildren();
    return drawing(host);
  };

  const speedups = () => {
    if (data.runs.length < 2 && !data.paper.length) return;
    const host = section("speedup", "Speedup");
    const note = host.appendChild(element("p", { class: "note" }));
    const chart = figure(host);
    const means = table(place(host), "geometric means", [], []);
    const papers = data.paper.length ? table(place(host), "papers", [], []) : undefined;
    redraws.push(() => {
      const some = shownRuns();
      note.textContent = "Cycles of the baseline over those of the run; runs that did other work have none." +
        (data.paper.length ? " Diamonds: what the papers state." : "");
      const order = model.series.filter((name) => some.some((run) => run.series === name && !model.isBaseline(run)));
      const bars = some.filter((run) => order.includes(run.series) && model.speedup(run) !== undefined)
        .map((run) => ({ group: run.group, series: run.series, value: model.speedup(run) }));
      const groups = model.groups.filter((group) => bars.some((bar) => bar.group === group));
      const mean = order.map((name) => ({ group: charts.MEAN, series: name, value: model.meanSpeedup(name, some) }))
        .filter((one) => one.value !== undefined);
      const stated = data.paper.flatMap((paper) => paper.values.flatMap((one) => model.besides(paper, one, some)))
        .filter((one) => one.runs.length > 0);
      // A mean has its diamond where the paper's is of the same workloads.
      const marks = stated.flatMap(({ stated: { over, value: mark }, series: name, runs: of, whole }) => {
        const isOfAll = over === "all" || (over.group && of.length === whole && of.length === groups.length);
        if (over !== "workload" && !isOfAll) return [];
        return [{ group: isOfAll ? charts.MEAN : of[0].group, series: name, value: mark }];
      });
      const rows = order.map((name) => ({
        name, count: bars.filter((bar) => bar.series === name).length, mean: model.meanSpeedup(name, some),
        least: Math.min(...bars.filter((bar) => bar.series === name).map((bar) => bar.value)),
        most: Math.max(...bars.filter((bar) => bar.series === name).map((bar) => bar.value)),
      })).filter((row) => row.count);
      const columns = [
        { title: "mechanism", of: (row) => row.name }, { title: "workloads", of: (row) => row.count },
        { title: "geometric mean", of: (row) => row.mean, digits: 4 }, { title: "least", of: (row) => row.least, digits: 4 },
        { title: "most", of: (row) => row.most, digits: 4 },
      ];
      means.set(rows, columns);
      if (data.paper.length) {
        papers.set(stated, [
          { title: "of", of: (row) => row.stated.of }, { title: "mechanism", of: (row) => row.series },
          { title: "ours", of: (row) => row.ours, digits: 4 }, { title: "the paper's", of: (row) => row.stated.value, digits: 4 },
          { title: "difference, points", of: (row) => 100 * (row.ours - row.stated.value), digits: 1 },
          { title: "workloads", of: (row) => row.runs.length === row.whole ? String(row.whole) : `${row.runs.length} of ${row.whole}` },
          { title: "from", of: (row) => row.paper.title, long: true }, { title: "place", of: (row) => row.stated.place || undefined },
        ]);
      }
      if (!bars.length) {
        chart.replaceChildren(element("p", { class: "note" }, "No run beside a baseline that did the same work."));
        return undefined;
      }
      const all = groups.length > 1 ? [...groups, charts.MEAN] : groups;
      const several = groups.length > 1 ? bars.concat(mean) : bars;
      return chartIn(chart, (into) => charts.grouped(into, {
        groups: all, order, bars: several, marks: marks.filter((mark) => all.includes(mark.group)), title: "speedup",
      }));
    });
  };

  /** A section with a chart of a share, such as a miss rate, for each of `shares`: pairs of a title and the value of a run. */
  const shares = (id, title, note, shares) => {
    const known = shares.filter(([, of]) => data.runs.some((run) => of(run) > 0));
    if (!known.length) return;
    const host = section(id, title, note);
    for (const [name, of] of known) {
      const chart = figure(host);
      redraws.push(() => {
        const bars = shownRuns().filter((run) => of(run) !== undefined)
          .map((run) => ({ group: run.group, series: run.series, value: of(run) }));
        if (!bars.length) {
          chart.replaceChildren();
          return undefined;
        }
        return chartIn(chart, (into) => charts.grouped(into, {
          groups: model.groups.filter((group) => bars.some((bar) => bar.group === group)),
          order: model.series.filter((one) => bars.some((bar) => bar.series === one)),
          bars, title: name, isShare: true,
        }));
      });
    }
  };

  const sweeps = () => {
    if (!model.swept.length) return;
    const host = section("sweeps", "Sweeps", "A statistic over the values of a key that the study sets.");
    const controls = host.appendChild(element("div", { class: "controls" }));
    const chart = figure(host);
    const speedup = "speedup";
    let [key, statistic] = [model.swept[0], speedup];
    const show = () => {
      const of = (run) => statistic === speedup ? model.speedup(run) : value(run, statistic);
      const points = shownRuns().filter((run) => of(run) !== undefined && model.setting(run, key) !== undefined)
        .map((run) => ({ group: run.group, series: model.seriesWithout(run, key), x: model.setting(run, key), y: of(run) }));
      if (!points.length) {
        chart.replaceChildren(element("p", { class: "note" }, "No run has this statistic."));
        return undefined;
      }
      return chartIn(chart, (into) => charts.lines(into, {
        groups: model.groups.filter((group) => points.some((one) => one.group === group)),
        order: model.distinct(points.map((one) => one.series)), points, x: key, y: statistic,
      }));
    };
    controls.append(
      element("label", {}, "Key", select(same(model.swept), key, (name) => { key = name; show(); }, "sweep-key")),
      element("label", {}, "Statistic", select(same([speedup, ...data.columns]), statistic, (name) => { statistic = name; show(); }, "sweep-statistic")));
    redraws.push(show);
  };

  const area = () => {
    const known = (run) => data.areas.find((one) => one.mechanism === run.mechanism && one.config === run.config);
    if (!data.runs.some(known)) return;
    const host = section("area", "Area beside speedup",
      "Cells of the mechanism's block instances in the whole GPU, in thousands of gate equivalents, without memories; the speedup is the geometric mean over the runs shown.");
    const chart = figure(host);
    const areas = table(place(host), "area", [], []);
    redraws.push(() => {
      const some = shownRuns();
      const rows = model.series.flatMap((name) => {
        const run = some.find((one) => one.series === name);
        const found = run && known(run);
        const mean = found && model.meanSpeedup(name, some);
        if (!found || mean === undefined || some.filter((one) => one.series === name).every(model.isBaseline)) return [];
        const percent = 100 * (mean - 1);
        return [{ name, found, percent, cost: percent > 0 ? found.kge / percent : undefined }];
      });
      areas.set(rows, [
        { title: "mechanism", of: (row) => row.name }, { title: "kGE", of: (row) => row.found.kge, digits: 1 },
        { title: "memory bits, not in it", of: (row) => row.found.memory_bits },
        { title: "mean speedup %", of: (row) => row.percent, digits: 2 }, { title: "kGE per percent", of: (row) => row.cost, digits: 1 },
        { title: "from", of: (row) => row.found.source },
      ]);
      chart.replaceChildren();
      return rows.length ? chartIn(chart, (into) => charts.scatter(into, {
        points: rows.map((row) => ({ x: row.found.kge, y: row.percent, series: row.name })), order: model.series,
        x: "area, kGE", y: "mean speedup, %",
      })) : undefined;
    });
  };

  /** A section of stacked bars; `partsOf` gives a run's parts as pairs of name and value. Only the table has the part `apart`. */
  const stacked = (id, title, note, axis, partsOf, isShare, apart) => {
    if (!data.runs.some((run) => partsOf(run).some(([, amount]) => amount > 0))) return;
    const host = section(id, title, note);
    const chart = figure(host);
    const details = host.appendChild(element("details", {}, element("summary", {}, "As a table")));
    const listed = table(place(details), id, [], []);
    redraws.push(() => {
      const some = shownRuns();
      const parts = some.flatMap((run) => {
        const shown = partsOf(run).filter(([part]) => part !== apart);
        const sum = model.sum(shown.map(([, amount]) => amount));
        return shown.map(([part, amount]) => ({
          group: run.group, series: run.series, part, value: amount, share: sum > 0 ? amount / sum : 0,
        }));
      });
      const names = model.distinct(parts.map((one) => one.part)).filter((name) => parts.some((one) => one.part === name && one.value > 0));
      listed.set(some.filter((run) => partsOf(run).some(([, amount]) => amount > 0)), [
        { title: "workload", of: (run) => run.group }, { title: "mechanism", of: (run) => run.series },
        ...(apart ? [...names, apart] : names).map((name) => ({ title: name, of: (run) => (partsOf(run).find(([part]) => part === name) || [])[1] })),
      ]);
      chart.replaceChildren();
      if (!names.length) return undefined;
      return chartIn(chart, (into) => charts.stacks(into, {
        groups: model.groups.filter((group) => parts.some((one) => one.group === group)),
        order: model.series.filter((name) => parts.some((one) => one.series === name)),
        parts: parts.filter((one) => one.value > 0),
        names, title: axis, isShare,
      }));
    });
  };

  const named = (pairs) => (run) => pairs.map(([part, name]) => [part, value(run, name) || 0]);
  const schedulerParts = named([["issue", "active"], ["memory", "memory"], ["compute", "compute"],
    ["data dependence", "data_dependence"], ["fetch", "fetch"], ["idle", "idle"]]
    .map(([part, key]) => [part, `totals.sm.scheduler_cycles.${key}`]));
  /** The share of all SMs' cycles in which an SM had no warp; undefined where the run does not state its SMs. */
  const emptyShare = (run) => {
    const all = run.sms.length * (value(run, "totals.cycles") || 0);
    const resident = value(run, "totals.sm.resident_cycles");
    return all > 0 && resident !== undefined ? Math.max(0, 1 - resident / all) : undefined;
  };
  const EMPTY = "SM without warps";
  /** The cycles of the schedulers, where those of an SM without warps are apart from the other idle ones. */
  const stallParts = (run) => {
    const parts = schedulerParts(run);
    const empty = (emptyShare(run) || 0) * model.sum(parts.map(([, amount]) => amount));
    return [...parts.map(([part, amount]) => [part, part === "idle" ? Math.max(0, amount - empty) : amount]), [EMPTY, empty]];
  };
  const trafficParts = (run) => {
    const of = (key) => value(run, `totals.dram.${key}`) || 0;
    const reads = of("metadata") - of("metadata_writes");
    const mebi = (bursts) => bursts * 32 / 2 ** 20;
    return [["data read", mebi(of("read_bursts") - reads)], ["data written", mebi(of("write_bursts") - of("metadata_writes"))],
      ["metadata read", mebi(reads)], ["metadata written", mebi(of("metadata_writes"))]];
  };
  const ENERGY = /^totals\.energy\.(.+)_nj$/;
  const energyKeys = data.columns.filter((name) => ENERGY.test(name) && name !== "totals.energy.total_nj");
  const isLarge = (name) => data.runs.some((run) => (value(run, name) || 0) > 0.01 * (value(run, "totals.energy.total_nj") || 0));
  const large = energyKeys.filter(isLarge);
  const energyParts = (run) => {
    const micro = (names) => model.sum(names.map((name) => value(run, name) || 0)) / 1000;
    const parts = large.map((name) => [ENERGY.exec(name)[1].replaceAll("_", " "), micro([name])]);
    return [...parts, ["other", micro(energyKeys.filter((name) => !large.includes(name)))]];
  };

  const runChoice = (some, change, id) => {
    const choices = some.map((run) => ({ key: String(data.runs.indexOf(run)), title: `${run.group}, ${run.series}` }));
    return select(choices, choices[0].key, (key) => change(data.runs[Number(key)]), id);
  };

  const launches = () => {
    const some = data.runs.filter((run) => run.launches.length);
    if (!some.length) return;
    const host = section("launches", "Launches");
    const note = element("span", { class: "note" });
    const columns = [{ title: "#", of: (row) => row[0] }, { title: "kernel", of: (row) => row[1] },
      ...data.launch_columns.map((name, at) => ({ title: name, of: (row) => row[at + 2] === null ? undefined : row[at + 2] }))];
    let shown;
    const show = (run) => {
      const rows = run.launches.map((launch, at) => [at + 1, ...launch]);
      if (shown) shown.set(rows); else shown = table(place(host), "launches", columns, rows);
      note.textContent = run.launches_left_out ? `The first ${rows.length}; ${run.launches_left_out} more are left out.` : "";
    };
    host.append(element("div", { class: "controls" }, element("label", {}, "Run", runChoice(some, show, "launches-of")), note));
    show(some[0]);
  };

  const sms = () => {
    const some = data.runs.filter((run) => run.sms.length);
    if (!some.length) return;
    const host = section("sms", "SMs", "Each SM over the whole run.");
    const controls = host.appendChild(element("div", { class: "controls" }));
    const grid = host.appendChild(element("div", { class: "grid" }));
    let current = some[0];
    const show = () => Promise.all(data.sm_columns.map((name, at) => {
      const into = grid.children[at].firstChild;
      into.replaceChildren();
      return charts.bars(into, { bars: current.sms.map((sm, index) => ({ x: index, value: sm[at] })), x: "SM", title: name, color: at });
    }));
    data.sm_columns.forEach(() => grid.append(element("figure", {}, element("div", { class: "chart" }))));
    controls.append(element("label", {}, "Run", runChoice(some, (run) => { current = run; show(); }, "sms-of")));
    redraws.push(show);
  };

  /** The panels of the time view: what they show, its column or a sum of columns, and those whose sum divides it. */
  const PANELS = [
    ["SM: thread instructions per cycle", ["ipc"]],
    ["SM: mean latency of misses, cycles", ["sm.miss_latency_cycles"], ["sm.misses_returned"]],
    ["L1D: miss rate", ["l1d.miss_rate"]],
    ["L1D: cycles with a reservation failure", ["l1d.reservation_fails"]],
    ["L2: miss rate", ["l2.miss_rate"]],
    ["L2: cycles stalled for replies", ["l2_traffic.reply_stalls"]],
    ["DRAM: use of bandwidth", ["dram.bandwidth_utilization"]],
    ["DRAM: row hits per request", ["dram.row_hits"], ["dram.reads", "dram.writes"]],
  ].map(([title, ...columns]) => [title, ...columns.map((names) => names.map((name) => `interval.${name}`))]);

  const time = () => {
    if (!data.time.length) return;
    const host = section("time", "Time", "What happened in each interval of cycles. Dashed lines: the beginnings of launches.");
    const controls = host.appendChild(element("div", { class: "controls" }));
    const grid = host.appendChild(element("div", { class: "grid" }));
    const further = figure(host);
    const workloads = model.distinct(data.time.map((one) => one.workload));
    const columns = model.distinct(data.time.flatMap((one) => one.columns));
    let [workload, extra] = [workloads[0], ""];
    const draw = (into, [added, dividing], title, panel) => {
      into.replaceChildren();
      const some = data.time.filter((one) => one.workload === workload);
      const order = model.distinct(some.map((one) => one.mechanism));
      const steps = some.flatMap((one) => {
        const total = (row, names) => model.sum(names.map((name) => {
          const at = one.columns.indexOf(name);
          return at < 0 || row[at + 2] === null ? NaN : row[at + 2];
        }));
        const of = (row) => total(row, added) / (dividing ? total(row, dividing) : 1);
        // An interval without a value breaks the line.
        const known = (value) => (Number.isFinite(value) ? value : null);
        return one.rows.map((row) => ({ from: row[0], to: row[1], value: known(of(row)), series: one.mechanism }));
      });
      if (steps.every((step) => step.value === null)) return undefined;
      const marks = data.runs.filter((run) => run.workload === workload && order.includes(run.mechanism) && run.launches.length > 1)
        .flatMap((run) => {
          let cycle = 0;
          return run.launches.map(([name, cycles]) => {
            const begun = { cycle, name, series: run.mechanism };
            cycle += cycles;
            return begun;
          });
        });
      const last = Math.max(...steps.map((step) => step.to));
      return charts.time(into, { steps, launches: marks, order, title, last, panel });
    };
    const show = () => Promise.all([
      ...PANELS.map(([panel, ...columns], at) => draw(grid.children[at].firstChild, columns, null, panel)),
      draw(further, [[extra]], extra, null),
    ]);
    PANELS.forEach(() => grid.append(element("figure", {}, element("div", { class: "chart" }))));
    controls.append(
      element("label", {}, "Workload", select(same(workloads), workload, (name) => { workload = name; show(); }, "time-of")),
      element("label", {}, "Further column", select([{ key: "", title: "none" }, ...same(columns)], "", (name) => { extra = name; show(); }, "time-column")));
    redraws.push(show);
  };

  const configurations = () => {
    const { names, rows, unknown } = data.configurations;
    if (!names.length && !unknown.length) return;
    const host = section("configurations", "Configurations");
    if (names.length === 1) host.append(element("p", {}, `${unknown.length ? "All other runs use" : "All runs use"} ${names[0]}.`));
    if (unknown.length) {
      host.append(element("p", { class: "note" }, `Not built in, and not given with --config: ${unknown.join(", ")}.`));
    }
    if (names.length > 1) {
      host.append(element("p", { class: "note" }, "The keys in which they differ."));
      table(place(host), "configurations", [{ title: "key", of: (row) => row[0] },
        ...names.map((name, at) => ({ title: name, of: (row) => row[at + 1] === null ? undefined : row[at + 1] }))], rows);
    }
  };

  const provenance = () => {
    const host = section("provenance", "Provenance");
    host.append(element("p", {}, `Written by selvedge ${data.provenance.version} on ${data.provenance.date} with`),
      element("pre", {}, data.provenance.command));
    table(place(host), "files", [
      { title: "file", of: (file) => file.name }, { title: "what", of: (file) => file.what }, { title: "bytes", of: (file) => file.bytes },
      { title: "SHA-256", of: (file) => file.sha256 },
    ], data.files);
    const keys = model.distinct(data.runs.flatMap((run) => Object.keys(run.provenance || {})));
    if (keys.length) {
      table(place(host), "provenance of runs", [{ title: "workload", of: (run) => run.group }, { title: "mechanism", of: (run) => run.series },
        ...keys.map((key) => ({ title: key, of: (run) => (run.provenance || {})[key] }))], data.runs);
    }
  };

  const count = (all, noun) => `${all.length} ${noun}${all.length === 1 ? "" : "s"}`;
  document.querySelector("#summary").textContent = count(data.runs, "run") + ": " +
    [count(model.distinct(data.runs.map((run) => run.workload)), "workload"), count(model.mechanisms, "mechanism"),
      count(model.distinct(data.runs.map((run) => run.config)), "configuration")].join(", ") + ".";
  runs();
  speedups();
  area();
  sweeps();
  shares("misses", "Miss rates", "Accesses that missed, of all accesses.", [
    ["L1D miss rate", (run) => value(run, "totals.l1d.miss_rate")], ["L2 miss rate", (run) => value(run, "totals.l2.miss_rate")]]);
  stacked("stalls", "Stalls", "Cycles of the warp schedulers of SMs that have warps. An idle scheduler has warps, but none with an instruction to issue.",
    "share of scheduler cycles", stallParts, true, EMPTY);
  shares("idle", "Idle SMs", "Cycles in which an SM has no warp, of the cycles of all SMs.", [["SMs without warps", emptyShare]]);
  stacked("traffic", "DRAM traffic", "Bursts of 32 bytes.", "MiB", trafficParts, false);
  stacked("energy", "Energy", "Of the whole GPU. Parts below a hundredth of every run are in other.", "energy, uJ", energyParts, false);
  launches();
  sms();
  time();
  configurations();
  provenance();
  redraw();
  let waiting;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(redraw, 200); });
  const settled = () => { document.documentElement.dataset.charts = String(charts.done); };
  redrawing.then(settled);
})();
