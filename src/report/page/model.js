// What the page shows: the embedded data, runs by their labels, baselines and speedups. No drawing, no document.
"use strict";

const model = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const columnOf = new Map(data.columns.map((name, index) => [name, index]));

  const distinct = (values) => [...new Set(values)];
  const varies = (key) => distinct(data.runs.map((run) => run[key])).length > 1;
  const several = { size: varies("size"), config: varies("config"), engine: varies("engine") };

  /** The value of a statistic by its name in the JSON; undefined where the run has none. */
  const value = (run, name) => {
    const index = columnOf.get(name);
    const found = index === undefined ? null : run.values[index];
    return found === null ? undefined : found;
  };

  /** The words that all configurations begin with, which distinguish none. */
  const common = (() => {
    const names = distinct(data.runs.map((run) => run.config)).map((name) => name.split(" "));
    const [first] = names;
    const differs = first ? first.findIndex((word, at) => names.some((one) => one[at] !== word)) : 0;
    return differs < 0 ? 0 : differs;
  })();

  // Labels: workloads by name and mechanisms by name, with what else distinguishes the runs of this page.
  for (const run of data.runs) {
    run.group = run.workload + (several.size ? ` (${run.size})` : "");
    run.series = run.mechanism + (run.share ? ` ${run.share}` : "");
    if (several.config) run.series += ` @ ${run.config.split(" ").slice(common).join(" ") || run.config}`;
    if (several.engine) run.series += ` [${run.engine}]`;
  }
  const seen = new Map();
  for (const run of data.runs) {
    const key = JSON.stringify([run.group, run.series]);
    seen.set(key, (seen.get(key) || []).concat([run]));
  }
  for (const runs of seen.values()) {
    if (runs.length > 1) runs.forEach((run, index) => { run.series += ` #${index + 1}`; });
  }

  const groups = distinct(data.runs.map((run) => run.group));
  const series = distinct(data.runs.map((run) => run.series));
  const mechanisms = distinct(data.runs.map((run) => run.mechanism));

  /** What can be a baseline: a mechanism in the run's own configuration or, where that means something else, one series. */
  const baselines = mechanisms.map((name) => ({ key: `mechanism ${name}`, title: name }));
  if (several.config || several.engine || series.length > mechanisms.length) {
    baselines.push(...series.map((name) => ({ key: `series ${name}`, title: name })));
  }
  const usual = mechanisms.includes("base") ? "base" : mechanisms[0];
  let baseline = `mechanism ${usual}`;

  const isBaseline = (run) => baseOf(run) === run;

  const cut = new Set(["max-cycles", "timeout", "interrupted"]);
  const counted = (run) => run.result === "max-instructions";
  /** Have both runs done the same work, so that their cycles compare? */
  const comparable = (a, b) =>
    !cut.has(a.result) && !cut.has(b.result) && counted(a) === counted(b) && !a.programs && !b.programs;

  const baseOf = (run) => {
    const others = data.runs.filter((one) => one.group === run.group);
    if (baseline.startsWith("series ")) return others.find((one) => one.series === baseline.slice(7));
    const name = baseline.slice(10);
    const alike = others.filter((one) => one.mechanism === name && one.config === run.config && one.share === run.share);
    return alike.find((one) => one.engine === run.engine && one.file === run.file) ||
      alike.find((one) => one.engine === run.engine) || alike[0];
  };

  /** Cycles of the baseline over those of the run; undefined where they have not done the same work. */
  const speedup = (run) => {
    const base = baseOf(run);
    const [of, over] = [base && value(base, "totals.cycles"), value(run, "totals.cycles")];
    return of > 0 && over > 0 && comparable(base, run) ? of / over : undefined;
  };

  const sum = (values) => values.reduce((all, one) => all + one, 0);
  const MEANS = {
    geometric: (values) => Math.exp(sum(values.map(Math.log)) / values.length),
    harmonic: (values) => values.length / sum(values.map((one) => 1 / one)),
    arithmetic: (values) => sum(values) / values.length,
  };
  /** A mean by its name; undefined of nothing. */
  const mean = (kind, values) => (values.length ? MEANS[kind](values) : undefined);

  /** The geometric mean of a series' speedups over `runs`; undefined without any. */
  const meanSpeedup = (name, runs) =>
    mean("geometric", runs.filter((run) => run.series === name).map(speedup).filter((one) => one !== undefined));

  /** What is ours beside a value that a paper states, for each series of `runs` that it names. */
  const besides = (paper, stated, runs) => {
    const isNamed = (run) => [run.mechanism, run.series, run.config].includes(stated.series);
    return distinct(runs.filter((run) => isNamed(run) && !isBaseline(run)).map((run) => run.series))
      .map((series) => beside(paper, stated, runs, series));
  };
  const beside = (paper, stated, runs, series) => {
    const { over } = stated;
    const isOver = (run) => over === "workload" ? run.workload === stated.of : !over.group || over.group.includes(run.workload);
    const known = runs.filter((run) => run.series === series && isOver(run) && speedup(run) !== undefined);
    const values = known.map(speedup);
    const ends = { most: Math.max, least: Math.min };
    const ours = !values.length ? undefined : over in ends ? ends[over](...values) : mean(paper.mean, values);
    const whole = over === "workload" ? 1 : over.group ? over.group.length : values.length;
    return { paper, stated, series, ours, runs: known, whole };
  };

  /** The value of a configuration's key that a study sets: a number where it is one; undefined where the run has none. */
  const setting = (run, key) => {
    const found = (run.settings || []).find(([name]) => name === key);
    if (!found) return undefined;
    const number = Number(found[1].replaceAll("_", ""));
    return Number.isFinite(number) ? number : found[1];
  };
  const settings = distinct(data.runs.flatMap((run) => (run.settings || []).map(([key]) => key)));
  /** The keys with several values, which can be axes. */
  const swept = settings.filter((key) => distinct(data.runs.map((run) => setting(run, key))).length > 1);
  /** What distinguishes a run from others of its workload, apart from its value of `key`. */
  const seriesWithout = (run, key) => {
    const rest = (one) => one.config.split(" ").filter((word) => !word.startsWith(`${key}=`)).join(" ");
    const isOne = distinct(data.runs.map(rest)).length === 1;
    return run.mechanism + (run.share ? ` ${run.share}` : "") + (isOne ? "" : ` @ ${rest(run)}`) + (several.engine ? ` [${run.engine}]` : "");
  };

  /** Do all words of a filter occur in a text? */
  const matches = (filter, text) => {
    const lower = text.toLowerCase();
    return filter.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
  };

  return {
    data, value, groups, series, mechanisms, baselines, speedup, meanSpeedup, besides, sum, matches, distinct,
    get baseline() { return baseline; },
    set baseline(key) { baseline = key; },
    isBaseline, setting, swept, seriesWithout,
    text: (run) => [run.workload, run.size, run.config, run.mechanism, run.engine, run.share || "", run.result].join(" "),
  };
})();
