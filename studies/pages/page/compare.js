"use strict";
// The page about several runs (heddle compare --html): how they differ, and why.
(() => {
  const { data, element, number, ratio, look, table, chart } = heddle;
  const { runs, explanations, parameters, declarations } = data;
  const main = document.getElementById("page");
  const words = (name) => name.replaceAll("_", " ");
  const first = runs[0];
  const figures = (run) => run.stats.summary;
  const speedUp = (run) => (run === first ? 1 : explanations[runs.indexOf(run) - 1].speed_up);  // in time
  const coresOf = (run) => run.stats.machine.parameters.gpu.cores;
  const colourOf = (i) => `var(--c${[1, 7, 5, 2, 4, 9, 3, 8, 10, 11, 6][i % 11]})`;
  const causes = Object.keys(declarations.idle_causes);
  const nav = element("nav", { "aria-label": "Sections" });
  const section = (id, title, ...content) => {
    nav.append(element("a", { href: "#" + id }, title));
    main.append(element("section", { id }, element("h2", {}, title), ...content));
  };

  main.append(element("h1", {}, "Comparison of runs"), heddle.commandLine(),
    table([
      { title: "run", left: true, text: (run) => run.label }, { title: "workload", left: true, text: (run) => run.stats.workload },
      { title: "machine", left: true, text: (run) => run.stats.machine.name },
      { title: "cycles", text: (run) => number(figures(run).cycles), value: (run) => figures(run).cycles },
      { title: "speed-up over A", text: (run) => number(speedUp(run)), value: speedUp },
      { title: "result", left: true, text: (run) => (run.stats.complete ? run.stats.verdict.result
        : "incomplete: " + run.stats.stop_reason) },
      { title: "from", left: true, text: (run) => run.path },
    ], runs), nav);

  // ---- why
  const reasons = explanations.flatMap((why, i) => heddle.causes.why(why, { from: first.label, to: runs[i + 1].label },
    figures(first).cycles, figures(runs[i + 1]).cycles));
  section("why", "Why they differ", element("p", {}, "A core executes in a cycle, or is idle for exactly one cause, so the "
    + "differences below add up to that of the cycles. What is a product of several factors is split between them by "
    + "logarithmic means, which add up exactly too."), ...reasons);

  // ---- where the cycles go
  const causeRows = runs.flatMap((run) => {
    const summary = figures(run), cores = coresOf(run);
    const busy = summary.fu_active_cycles.slice(1).reduce((sum, one) => sum + one, 0);
    return [{ run: run.label, cause: look.title(look.active), cycles: busy / cores, order: 0 },
      ...causes.map((name, i) => ({ run: run.label, cause: look.title(name), cycles: summary.idle_cycles_by_cause[name] / cores,
        order: i + 1 }))];
  }).filter((row) => row.cycles > 0);
  const shownCauses = [look.active, ...causes].filter((key) => causeRows.some((row) => row.cause === look.title(key)));
  const units = runs.flatMap((run, i) => {
    const total = figures(run).fu_active_cycles.reduce((sum, one) => sum + one, 0);
    return figures(run).fu_active_cycles.map((cycles, lanes) => ({ run: run.label, i, lanes, share: ratio(cycles, total) }))
      .slice(1);
  });
  section("cycles", "Where the cycles go",
    chart("Cycles of a core", "executing, and idle by cause", {
      height: 40 + 34 * runs.length,
      data: [{ name: "rows", values: causeRows, transform: [{ type: "stack", groupby: ["run"], sort: { field: "order" },
        field: "cycles" }] }],
      scales: [{ name: "y", type: "band", domain: runs.map((run) => run.label), range: "height", padding: 0.25 },
        { name: "x", type: "linear", range: "width", zero: true, nice: true, domain: { data: "rows", field: "y1" } },
        { name: "colour", type: "ordinal", domain: shownCauses.map(look.title), range: shownCauses.map(look.colour) }],
      legends: [{ fill: "colour" }],
      axes: [{ orient: "left", scale: "y", labelFontSize: 12 }, { orient: "bottom", scale: "x", format: "number", grid: true,
        title: "cycles" }],
      marks: [{ type: "rect", from: { data: "rows" }, encode: { update: { y: { scale: "y", field: "run" },
        height: { scale: "y", band: 1 }, x: { scale: "x", field: "y0" }, x2: { scale: "x", field: "y1" },
        fill: { scale: "colour", field: "cause" },
        tooltip: { signal: "{run: datum.run, cause: datum.cause, 'cycles per core': datum.cycles}" } } } }],
    }),
    chart("Functional units active per cycle", "share of core cycles with that many lanes at work; idle ones are left out", {
      data: [{ name: "units", values: units }],
      scales: [{ name: "x", type: "band", domain: { data: "units", field: "lanes", sort: true }, range: "width",
        padding: 0.2 },
      { name: "inner", type: "band", domain: runs.map((run) => run.label), range: [0, { signal: "bandwidth('x')" }] },
      { name: "y", type: "linear", range: "height", zero: true, nice: true, domain: { data: "units", field: "share" } },
      { name: "colour", type: "ordinal", domain: runs.map((run) => run.label), range: runs.map((run, i) => colourOf(i)) }],
      legends: [{ fill: "colour" }],
      axes: [{ orient: "bottom", scale: "x", title: "lanes", values: [...new Set(units.map((one) => one.lanes))]
        .filter((lanes, i, all) => all.length <= 18 || lanes % 4 === 0) }, { orient: "left", scale: "y", format: "percent", grid: true,
        tickCount: 5 }],
      marks: [{ type: "rect", from: { data: "units" }, encode: { update: {
        x: { signal: "scale('x', datum.lanes) + scale('inner', datum.run)" }, width: { scale: "inner", band: 1 },
        y: { scale: "y", field: "share" }, y2: { scale: "y", value: 0 }, fill: { scale: "colour", field: "run" },
        tooltip: { signal: "{run: datum.run, lanes: datum.lanes, share: heddlePercent(datum.share)}" } } } }],
    }));

  // ---- energy, of runs that were priced by a table
  if (runs.every((run) => run.stats.energy)) {
    const { kindsOf, partsOf, microjoules } = heddle.energy;
    const energies = runs.map((run) => run.stats.energy), kinds = kindsOf(energies);
    const tables = [...new Set(energies.map((one) => one.table))];
    const parts = energies.map((one) => new Map(partsOf(one).map(({ name, pj }) => [name, pj])));
    const perRun = (value, text) => runs.flatMap((run, i) => [
      { title: run.label, text: (row) => text(value(row, i)), value: (row) => value(row, i) },
      ...(i === 0 ? [] : [{ title: `${run.label} / A`, text: (row) => (value(row, 0)
        ? number(value(row, i) / value(row, 0)) : ""), value: (row) => ratio(value(row, i), value(row, 0)) }])]);
    const whole = [["energy, \u00b5J", (one) => 1e-6 * one.pj], ["mean power, mW", (one) => one.average_mw],
      ["energy-delay product, \u00b5J \u00b5s", (one) => 1e-9 * one.delay_product]];
    section("energy", "Energy", element("p", {}, tables.length === 1 ? `By the table ${tables[0]}.`
      : `By different tables, so that their figures are compared too: ${runs.map((run, i) =>
        `${run.label} by ${energies[i].table}`).join(", ")}.`),
    chart("Energy by kind of unit", "activities and leakage", {
      height: 40 + 34 * runs.length,
      data: [{ name: "rows", values: runs.flatMap((run, i) => kinds.map(({ name }, order) => ({ run: run.label, kind: name,
        order, uj: 1e-6 * (energies[i].kinds[name] || { pj: 0 }).pj }))).filter((row) => row.uj > 0),
      transform: [{ type: "stack", groupby: ["run"], sort: { field: "order" }, field: "uj" }] }],
      scales: [{ name: "y", type: "band", domain: runs.map((run) => run.label), range: "height", padding: 0.25 },
        { name: "x", type: "linear", range: "width", zero: true, nice: true, domain: { data: "rows", field: "y1" } },
        { name: "colour", type: "ordinal", domain: kinds.map((kind) => kind.name), range: kinds.map((kind) => kind.colour) }],
      legends: [{ fill: "colour" }],
      axes: [{ orient: "left", scale: "y", labelFontSize: 12 }, { orient: "bottom", scale: "x", format: "number", grid: true,
        title: "\u00b5J" }],
      marks: [{ type: "rect", from: { data: "rows" }, encode: { update: { y: { scale: "y", field: "run" },
        height: { scale: "y", band: 1 }, x: { scale: "x", field: "y0" }, x2: { scale: "x", field: "y1" },
        fill: { scale: "colour", field: "kind" },
        tooltip: { signal: "{run: datum.run, unit: datum.kind, '\u00b5J': datum.uj}" } } } }],
    }),
    table([{ title: "", left: true, text: ([name]) => name }, ...perRun(([, value], i) => value(energies[i]),
      (value) => number(parseFloat(value.toPrecision(4))))], whole),
    element("h3", {}, "By kind of unit"), table([{ title: "kind of unit, \u00b5J", left: true, text: ({ name }) => name },
      ...perRun(({ name }, i) => (energies[i].kinds[name] || { pj: 0 }).pj, microjoules)], kinds),
    element("h3", {}, "By part of the GPU"), table([{ title: "part of the GPU, \u00b5J", left: true, text: (name) => name },
      ...perRun((name, i) => parts[i].get(name) || 0, microjoules)],
    [...new Set(parts.flatMap((one) => [...one.keys()]))]));
  }

  // ---- DRAM over time, each run on its own axis of cycles
  const points = runs.flatMap((run) => {
    const channels = Object.values(run.stats.modules).filter((module) => module.bus_series);
    if (channels.length === 0) return [];
    const width = Math.max(...channels.map((module) => module.series_bucket_cycles)), end = figures(run).cycles;
    return Array.from({ length: Math.max(1, Math.ceil(end / width)) }, (_, i) => {
      const busy = channels.reduce((sum, module) => {
        const step = width / module.series_bucket_cycles;
        return sum + module.bus_series.slice(i * step, (i + 1) * step).reduce((all, one) => all + one, 0);
      }, 0);
      return { run: run.label, x: i * width, y: ratio(busy, channels.length * Math.max(1, Math.min(end, (i + 1) * width) - i * width)) };
    });
  });
  if (points.length > 0) {
    section("dram", "DRAM bus over time", chart("Bus", "share of cycles in which a channel's bus moves data", {
      data: [{ name: "points", values: points }],
      scales: [{ name: "x", type: "linear", range: "width", domain: { data: "points", field: "x" }, nice: false },
        { name: "y", type: "linear", range: "height", domain: [0, 1] },
        { name: "colour", type: "ordinal", domain: runs.map((run) => run.label), range: runs.map((run, i) => colourOf(i)) }],
      legends: [{ stroke: "colour", symbolStrokeWidth: 3, symbolType: "stroke" }],
      axes: [{ orient: "bottom", scale: "x", format: "number", title: "cycle" }, { orient: "left", scale: "y", format: "percent",
        grid: true, tickCount: 5 }],
      marks: [{ type: "group", from: { facet: { name: "part", data: "points", groupby: "run" } },
        marks: [{ type: "line", from: { data: "part" }, encode: { update: { x: { scale: "x", field: "x" },
          y: { scale: "y", field: "y" }, stroke: { scale: "colour", field: "run" }, strokeWidth: { value: 1.5 },
          interpolate: { value: "step-after" } } } }] }],
    }));
  }

  // ---- figures and parameters
  const scalar = Object.keys(figures(first)).filter((name) => typeof figures(first)[name] === "number"
    && runs.some((run) => figures(run)[name] !== 0));
  section("figures", "Figures", table([
    { title: "figure", left: true, text: (name) => words(name) },
    ...runs.flatMap((run, i) => [
      { title: run.label, text: (name) => number(figures(run)[name]), value: (name) => figures(run)[name] },
      ...(i === 0 ? [] : [{ title: `${run.label} / A`, text: (name) => (figures(first)[name]
        ? number(figures(run)[name] / figures(first)[name]) : ""),
      value: (name) => ratio(figures(run)[name], figures(first)[name]) }])]),
    { title: "unit", left: true, text: (name) => (declarations.summary[name] || { unit: "" }).unit },
    { title: "meaning", left: true, wrap: true, text: (name) => (declarations.summary[name] || { definition: "" }).definition },
  ], scalar));
  section("parameters", "Parameters that differ", parameters.length === 0
    ? element("p", {}, "None: the machines are the same.") : table([
      { title: "parameter", left: true, text: (one) => one.key },
      ...runs.map((run, i) => ({ title: run.label, text: (one) => one.values[i] }))], parameters));
})();
