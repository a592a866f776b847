"use strict";
// The document of a design review (heddle review), section by section.
(() => {
  const { data, element, number, percent, ratio, look, table, chart } = heddle;
  // Launch files go by their paths below the folder that they share.
  const folders = data.launch_files.map((path) => path.split("/").slice(0, -1));
  const shared = (a, b) => a.slice(0, [...a, null].findIndex((name, i) => i === a.length || name !== b[i]));
  const deepest = folders.length ? folders.reduce(shared) : [];
  const short = new Map(data.launch_files.map((path) => [path, path.split("/").slice(deepest.length).join("/")]));
  const shorten = (part) => {
    if (part === null || typeof part !== "object") return;
    if (short.has(part.workload)) part.workload = short.get(part.workload);
    Object.values(part).forEach(shorten);
  };
  if (short.size) shorten(data);
  data.workloads = data.workloads.map((name) => short.get(name) || name);
  const { machines, workloads, results } = data;
  const main = document.getElementById("page");
  const nav = element("nav", { "aria-label": "Sections" });
  const section = (id, title, ...content) => {
    nav.append(element("a", { href: "#" + id }, title));
    main.append(element("section", { id }, element("h2", {}, title), ...content));
  };
  const names = machines.map((one) => one.name);
  const designs = names.slice(1);
  const colourOf = (i) => `var(--c${[10, 1, 7, 5, 2, 4, 9, 3][i % 8]})`;
  const mean = (values) => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : NaN);
  // Of one workload on one machine, one value for each seed that left a result.
  const of = (workload, machine, value) => results.filter((row) => row.workload === workload && row.machine === machine).map(value);
  const cycles = (workload, machine) => mean(of(workload, machine, (row) => row.cycles));
  // In time: machines may have clocks of their own.
  const faster = (base, own, machine) => base / own * machines[machine].clock_ghz / machines[0].clock_ghz;
  const sameInput = (workload, machine) => !data.other_input.some((one) => one.workload === workload && one.machine === machine);
  const speedUp = (workload, machine) => (sameInput(workload, machine) ? faster(cycles(workload, 0), cycles(workload, machine), machine) : NaN);
  const oneClock = machines.every((one) => one.clock_ghz === machines[0].clock_ghz);
  const times = (value) => (Number.isFinite(value) ? value.toFixed(3) : "");
  // "0.31", and below it "(0.30 \u2013 0.33)"
  const ranged = (values, text) => {
    if (values.length === 0) return "no result";
    const low = Math.min(...values), high = Math.max(...values);
    return values.length === 1 || text(low) === text(high) ? text(mean(values)) : `${text(mean(values))}\n(${text(low)} \u2013 ${text(high)})`;
  };
  const whole = (value) => number(Math.round(value));

  // What ranges are over, and what stands for all where one run is looked at.
  const upTo = (count, what) => (count === 1 ? `one ${what}` : `${what}s 1 to ${count}`);
  const ofLaunchFiles = data.launch_files.length === workloads.length;  // which have one input
  const seeds = ofLaunchFiles ? 1 : data.seeds;
  const samples = [...(ofLaunchFiles ? [] : [upTo(seeds, "seed")]), ...(data.placements ? [upTo(data.placements, "placement") + " of the buffers"] : [])]
    .join(", ") || "one input";
  const several = seeds * Math.max(1, data.placements) > 1;
  const first = [...(ofLaunchFiles ? [] : ["seed 1"]), ...(data.placements ? ["placement 1"] : [])].join(", ") || "one input";

  // ---- head
  main.append(element("h1", {}, `Design review: ${designs.join(", ")} beside ${names[0]}`),
    element("p", { class: "soft" }, [`Heddle ${data.heddle}`, ...(ofLaunchFiles ? [] : [`scale ${data.scale}`]),
      samples].join(" \u00b7 ")), heddle.commandLine(),
    ...data.failures.map((one) => element("p", { class: "bad" }, `No result: ${one}`)),
    ...data.notes.map((one) => element("p", { class: "bad" }, `Note: ${one}.`)),
    ...(oneClock ? [] : [element("p", {}, "The machines have clocks of their own: cycles are of each one's core clock, speed-ups are in time. "
      + machines.map((one) => `${one.name}: ${one.clock_ghz} GHz`).join(", ") + ".")]),
    element("div", { class: "wide" }, element("table", {}, element("tbody", {}, ...machines.map((one, i) => element("tr", {},
      element("td", { class: "left" }, element("b", {}, one.name)), element("td", { class: "left" }, i === 0 ? "base" : "design"),
      element("td", { class: "left wrap" }, one.description)))))), nav);

  // ---- the answer first: speed-ups
  const ups = workloads.flatMap((workload, w) => designs.map((name, i) => ({ workload, w, name, up: speedUp(workload, i + 1) })))
    .filter((row) => Number.isFinite(row.up));
  const geometric = (machine) => Math.exp(mean(workloads.map((workload) => Math.log(speedUp(workload, machine)))
    .filter(Number.isFinite)));
  const grouped = (caption, note, rows, field, format, title) => chart(caption, note, {
    data: [{ name: "rows", values: rows }],
    scales: [{ name: "x", type: "band", domain: workloads, range: "width", padding: 0.2 },
      { name: "inner", type: "band", domain: [...new Set(rows.map((row) => row.name))], range: [0, { signal: "bandwidth('x')" }], paddingInner: 0.08 },
      { name: "y", type: "linear", range: "height", zero: true, nice: true, domain: { data: "rows", field } },
      { name: "colour", type: "ordinal", domain: [...new Set(rows.map((row) => row.name))],
        range: [...new Set(rows.map((row) => row.name))].map((name) => colourOf(names.indexOf(name))) }],
    legends: [{ fill: "colour" }],
    axes: [{ orient: "bottom", scale: "x", labelAngle: workloads.length > 5 ? -35 : 0, labelAlign: workloads.length > 5 ? "right" : "center" },
      { orient: "left", scale: "y", format, grid: true, title, tickCount: 5, minExtent: 42 }],
    marks: [{ type: "rect", from: { data: "rows" }, encode: { update: {
      x: { signal: "scale('x', datum.workload) + scale('inner', datum.name)" }, width: { scale: "inner", band: 1 },
      y: { scale: "y", field }, y2: { scale: "y", value: 0 }, fill: { scale: "colour", field: "name" },
      tooltip: { signal: `{workload: datum.workload, machine: datum.name, value: datum.${field}}` } } } }],
  });
  section("summary", "Summary", element("div", { class: "cards" }, ...designs.flatMap((name, i) => {
    const worst = ups.filter((row) => row.name === name).sort((a, b) => a.up - b.up)[0];
    return [worst ? element("div", { class: "card" }, element("b", {}, times(geometric(i + 1))), element("span", {}, `${name}: speed-up, geometric mean`)) : null,
      worst ? element("div", { class: "card" }, element("b", {}, times(worst.up)), element("span", {}, `${name}: the least, ${worst.workload}`)) : null];
  })), ups.length ? grouped(`Speed-up over ${names[0]}`, `${oneClock ? "cycles" : "time"} of the base over ${oneClock ? "cycles" : "time"} of the design; above 1 is faster`, ups, "up", "number",
    "times as fast") : null,
  table([{ title: "workload", left: true, text: (workload) => workload },
    ...names.map((name, i) => ({ title: `${name}\ncycles`, text: (workload) => ranged(of(workload, i, (row) => row.cycles), whole),
      value: (workload) => cycles(workload, i) })),
    ...designs.map((name, i) => ({ title: `${name}\nspeed-up`, text: (workload) => (sameInput(workload, i + 1) ? times(speedUp(workload, i + 1)) : "other input"),
      value: (workload) => speedUp(workload, i + 1) }))], workloads));

  // ---- what differs
  if (data.differences) {
    section("differences", "What differs", data.differences.length === 0 ? element("p", {}, "No parameter: the machines are the same.")
      : table([{ title: "parameter", left: true, text: (one) => one.key + (one.in_vain ? "\n(without effect)" : "") },
        ...names.map((name, i) => ({ title: name, left: true, text: (one) => one.values[i] })),
        { title: "unit", left: true, text: (one) => one.unit },
        { title: "meaning", left: true, wrap: true, text: (one) => [one.meaning, ...[...new Set(one.values)].map((value) =>
          [value, one.about[one.values.indexOf(value)]]).filter(([, words]) => words).map(([value, words]) => `${value}: ${words}`)].join(". ") },
        ...(data.differences.some(({ said }) => said.some(Boolean)) ? [{ title: "the machine's file, by its paper", left: true, wrap: true,
          text: ({ said }) => names.map((name, i) => [name, said[i]]).filter(([, words]) => words)
            .map(([name, words]) => `${name}: ${words}`).join("; ") }] : [])],
      data.differences));
  }

  // ---- block diagrams
  if (data.diagrams) {
    section("diagrams", "Block diagrams", element("p", {}, "The modules as elaborated, and what their sockets are bound to. "
      + "What is orange is not in every machine, or has other parameters. A click shows a diagram at its full size, and back."),
    element("div", { class: "pair" }, ...data.diagrams.map((one) => {
      const place = element("div", { class: "diagram", onclick: (event) => event.currentTarget.closest("figure").classList.toggle("whole") });
      place.innerHTML = one.svg;  // of Graphviz, from names of modules
      return element("figure", {}, element("figcaption", {}, one.machine), place);
    })));
  } else if (data.diagrams === null) {
    section("diagrams", "Block diagrams", element("p", { class: "hint" }, "Graphviz was not installed: no diagrams."));
  }

  // ---- storage
  if (data.storage) {
    const total = (one) => ["counted", "estimated"].map((kind) => one[`${kind}_bits`]).reduce((a, b) => a + b);
    const keys = [];
    const lines = new Map();
    data.storage.forEach((one, i) => one.lines.forEach((line) => {
      const key = `${line.mechanism}: ${line.name}`;
      if (!lines.has(key)) { lines.set(key, { ...line, by: [] }); keys.push(key); }
      lines.get(key).by[i] = line;
    }));
    const rows = keys.map((key) => lines.get(key));
    section("storage", "Storage of a core, bit by bit", table([{ title: "machine", left: true, text: (one) => one.machine },
      { title: "added, bits", text: (one) => number(total(one)), value: total },
      { title: "of it counted\nby the papers", text: (one) => number(one.counted_bits), value: (one) => one.counted_bits },
      { title: "own estimate", text: (one) => number(one.estimated_bits), value: (one) => one.estimated_bits },
      { title: "share of the\nregister file", text: (one) => percent(ratio(total(one), one.register_file_bits)),
        value: (one) => ratio(total(one), one.register_file_bits) }], data.storage),
    table([{ title: "part of", left: true, text: (line) => line.mechanism }, { title: "structure", left: true, wrap: true, text: (line) => line.name },
      { title: "kind", left: true, text: (line) => ({ present: "in every core", counted: "counted", estimated: "estimate", logic: "logic" })[line.kind] },
      ...data.storage.map((one, i) => ({ title: `${one.machine}\nbits`, text: (line) => (line.by[i] ? number(line.by[i].bits) : "\u2014"),
        value: (line) => (line.by[i] ? line.by[i].bits : -1) })),
      { title: "formula", left: true, wrap: true, text: (line) => [...new Set(line.by.filter(Boolean).map((one) => one.formula))].join("; ") },
      { title: "source", left: true, wrap: true, text: (line) => line.source }],
    rows.filter((line) => line.kind !== "present" || new Set(data.storage.map((_, i) => (line.by[i] || {}).bits)).size > 1)),
    element("p", { class: "hint" }, "Bits that mechanisms add. Lines that every core has with as many bits are left out, and what caches, "
      + "scratchpad and register file hold is not counted: their sizes stand under what differs."));
  }

  // ---- energy
  if (results.some((row) => row.energy)) {
    const { joules, watts, kindsOf, microjoules } = heddle.energy;
    const energyOf = (workload, machine, key) => of(workload, machine, (row) => row.energy && row.energy[key]).filter((one) => one !== undefined);
    const bars = workloads.flatMap((workload) => names.map((name, i) => ({ workload, name,
      uj: 1e-6 * mean(energyOf(workload, i, "pj")) }))).filter((row) => Number.isFinite(row.uj));
    const priced = results.find((row) => row.energy).energy;
    const kinds = kindsOf(results.filter((row) => row.energy).map((row) => ({ kinds: Object.fromEntries(
      Object.entries(row.energy.kinds).map(([kind, pj]) => [kind, { pj }])) })));
    const pricedOnAll = workloads.filter((workload) => names.every((_, i) => energyOf(workload, i, "pj").length > 0));
    section("energy", "Energy and power", element("p", {}, `By the table ${priced.table}${priced.celsius === null ? "" : `, at ${number(priced.celsius)} \u00b0C`}${several ? `; means of ${samples}` : ""}. `
      + "Peak power is the most of an interval of 1,000 cycles."),
    grouped("Energy", "activities and leakage", bars, "uj", "number", "\u00b5J"),
    table([{ title: "workload", left: true, text: ({ workload }) => workload }, { title: "machine", left: true, text: ({ i }) => names[i] },
      { title: "energy", text: ({ workload, i }) => ranged(energyOf(workload, i, "pj"), joules), value: ({ workload, i }) => mean(energyOf(workload, i, "pj")) },
      { title: "of the base", text: ({ workload, i }) => times(mean(energyOf(workload, i, "pj")) / mean(energyOf(workload, 0, "pj"))),
        value: ({ workload, i }) => mean(energyOf(workload, i, "pj")) / mean(energyOf(workload, 0, "pj")) },
      { title: "mean power", text: ({ workload, i }) => ranged(energyOf(workload, i, "mean_mw"), watts), value: ({ workload, i }) => mean(energyOf(workload, i, "mean_mw")) },
      { title: "peak power", text: ({ workload, i }) => ranged(energyOf(workload, i, "peak_mw"), watts), value: ({ workload, i }) => mean(energyOf(workload, i, "peak_mw")) },
      { title: "energy \u00d7 time\nof the base", text: ({ workload, i }) => times(mean(energyOf(workload, i, "delay_product")) / mean(energyOf(workload, 0, "delay_product"))),
        value: ({ workload, i }) => mean(energyOf(workload, i, "delay_product")) / mean(energyOf(workload, 0, "delay_product")) }],
    workloads.flatMap((workload) => names.map((_, i) => ({ workload, i }))).filter(({ workload, i }) => energyOf(workload, i, "pj").length)),
    element("h3", {}, pricedOnAll.length === workloads.length ? "By kind of unit, over all workloads"
      : `By kind of unit, over what all machines ran: ${pricedOnAll.join(", ") || "nothing"}`),
    pricedOnAll.length === 0 ? null : table([{ title: "kind of unit, \u00b5J", left: true, text: ({ name }) => name },
      ...names.map((name, i) => {
        const sum = (kind) => pricedOnAll.map((workload) => mean(of(workload, i, (row) => row.energy.kinds[kind] || 0))).reduce((a, b) => a + b, 0);
        return { title: name, text: (kind) => microjoules(sum(kind.name)), value: (kind) => sum(kind.name) };
      })], kinds));
  }

  // ---- use
  if (data.sections.includes("use")) {
    const shares = (value) => percent(value);
    const figures = [["ipc", "thread instructions per cycle", number], ["lanes", "lanes per instruction", number], ["idle_share", "core cycles idle", shares],
      ["l1d_hit_rate", "L1 hits", shares], ["dram_row_hit_rate", "DRAM row hits", shares], ["bus_use", "DRAM bus in use", shares],
      ["bank_use", "DRAM banks busy", shares]];
    const ipc = workloads.flatMap((workload) => names.map((name, i) => ({ workload, name, ipc: mean(of(workload, i, (row) => row.ipc)) })))
      .filter((row) => Number.isFinite(row.ipc));
    const unmoved = workloads.filter((workload) => names.every((_, i) => new Set(of(workload, i, (row) => row.cycles)).size === 1));
    section("use", "Throughput, bus and banks", element("p", {}, !several ? `Of ${samples}.` : `Means of ${samples}, and in `
      + "brackets the least and the most." + (unmoved.length ? ` No sample differs from another of ${unmoved.join(", ")}.` : "")), grouped("Thread instructions per cycle", "", ipc, "ipc", "number", "per cycle"),
    table([{ title: "workload", left: true, text: ({ workload }) => workload }, { title: "machine", left: true, text: ({ i }) => names[i] },
      ...figures.map(([key, title, text]) => ({ title: title.replace(" ", "\n"), text: ({ workload, i }) => ranged(of(workload, i, (row) => row[key]), text),
        value: ({ workload, i }) => mean(of(workload, i, (row) => row[key])) }))],
    workloads.flatMap((workload) => names.map((_, i) => ({ workload, i })))));
  }

  // ---- causes
  if (data.causes) {
    const idle = results.filter((row) => row.seed === 1 && row.placement <= 1).flatMap((row) => {
      const all = Object.entries(row.idle_cycles_by_cause).map(([name, value]) => [name, value]);
      const total = all.reduce((sum, one) => sum + one[1], 0);
      const scale = ratio(row.idle_share, total) || 0;
      return [[look.active, 1 - row.idle_share], ...all.map(([name, value]) => [name, value * scale])].map(([cause, share], order) => ({
        bar: `${row.workload}, ${names[row.machine]}`, cause: look.title(cause), key: cause, share, order }));
    }).filter((row) => row.share > 0.0005);
    const keys = [look.active, ...Object.keys(data.declarations.idle_causes)].filter((key) => idle.some((row) => row.key === key));
    const bars = [...new Set(idle.map((row) => row.bar))];
    section("causes", "Where cycles went, and why they differ",
      chart("Cycles of a core", `executing, and idle by cause; ${first}`, {
        height: 30 + 22 * bars.length, data: [{ name: "rows", values: idle, transform: [{ type: "stack", groupby: ["bar"], sort: { field: "order" }, field: "share" }] }],
        scales: [{ name: "y", type: "band", domain: bars, range: "height", padding: 0.2 },
          { name: "x", type: "linear", range: "width", domain: [0, 1] },
          { name: "colour", type: "ordinal", domain: keys.map(look.title), range: keys.map(look.colour) }],
        legends: [{ fill: "colour" }],
        axes: [{ orient: "left", scale: "y", labelLimit: 240 }, { orient: "bottom", scale: "x", format: "percent", grid: true }],
        marks: [{ type: "rect", from: { data: "rows" }, encode: { update: { y: { scale: "y", field: "bar" }, height: { scale: "y", band: 1 },
          x: { scale: "x", field: "y0" }, x2: { scale: "x", field: "y1" }, fill: { scale: "colour", field: "cause" },
          tooltip: { signal: "{run: datum.bar, cause: datum.cause, share: heddlePercent(datum.share)}" } } } }],
      }),
      element("p", {}, "A core executes in a cycle, or is idle for exactly one cause, so the causes add up to the difference. "
        + `Of ${first}.`),
      ...data.causes.flatMap(({ workload, explanations }) => explanations.flatMap((why) =>
        heddle.causes.why(why, { from: `${names[0]} (${workload})`, to: `${names[why.machine]} (${workload})` }, why.from, why.to))));
  }

  if (data.closely !== undefined) heddle.closely(data.closely, section);

  // ---- sensitivity
  const { sensitivity } = data;
  if (sensitivity) {
    const design = names[sensitivity.machine];
    const effect = (now, then) => ratio(then, now) - 1;
    const signedPercent = (value) => (value > 0 ? "+" : "") + percent(value);
    section("sensitivity", "Sensitivity", element("p", {}, `${sensitivity.workload}, the workload with the least speed-up, of ${first}, on ${names[0]} and ${design}.`),
      sensitivity.tried ? table([{ title: "parameter", left: true, text: (one) => one.key },
        { title: `times that\nof ${names[0]}`, text: (one) => number(one.factor), value: (one) => one.factor },
        { title: "value\nof both", text: (one) => one.value }, { title: `${design}'s\nown value`, text: (one) => one.own },
        { title: `${names[0]}\ncycles`, text: (one) => signedPercent(effect(sensitivity.base, one.base)), value: (one) => effect(sensitivity.base, one.base) },
        { title: `${design}\ncycles`, text: (one) => signedPercent(effect(sensitivity.design, one.design)), value: (one) => effect(sensitivity.design, one.design) },
        { title: "speed-up", text: (one) => times(faster(one.base, one.design, sensitivity.machine)),
          value: (one) => faster(one.base, one.design, sensitivity.machine) }], sensitivity.tried) : null,
      element("div", { class: "pair" }, ...sensitivity.swept.map(({ key, points }) => {
        const rows = points.flatMap((one) => [{ name: names[0], value: one.value, cycles: one.base }, { name: design, value: one.value, cycles: one.design }]);
        const two = [...new Set(rows.map((row) => row.name))];
        return chart(key, "cycles", { data: [{ name: "rows", values: rows }],
          scales: [{ name: "x", type: "point", range: "width", domain: points.map((one) => one.value), padding: 0.3 },
            { name: "y", type: "linear", range: "height", zero: true, nice: true, domain: { data: "rows", field: "cycles" } },
            { name: "colour", type: "ordinal", domain: two, range: two.map((name) => colourOf(names.indexOf(name))) }],
          legends: [{ fill: "colour" }],
          axes: [{ orient: "bottom", scale: "x", title: key }, { orient: "left", scale: "y", format: "number", grid: true, tickCount: 5, minExtent: 42 }],
          marks: [{ type: "group", from: { facet: { name: "part", data: "rows", groupby: "name" } }, marks: [
            { type: "line", from: { data: "part" }, encode: { update: { x: { scale: "x", field: "value" }, y: { scale: "y", field: "cycles" },
              stroke: { scale: "colour", field: "name" }, strokeWidth: { value: 2 } } } },
            { type: "symbol", from: { data: "part" }, encode: { update: { x: { scale: "x", field: "value" }, y: { scale: "y", field: "cycles" },
              fill: { scale: "colour", field: "name" }, size: { value: 45 },
              tooltip: { signal: "{machine: datum.name, value: datum.value, cycles: datum.cycles}" } } } }] }] });
      })));
  }

  // ---- open readings
  if (data.readings) {
    const rows = data.readings.flatMap((one) => workloads.map((workload) => ({ ...one, workload,
      by: designs.map((_, i) => one.speed_ups.find((row) => row.workload === workload && row.machine === i + 1)) })));
    section("readings", "What depends on how the papers are read", rows.length === 0
      ? element("p", {}, "No open question of the papers concerns all of these machines.")
      : element("p", {}, `Where the papers can be read in two ways, the speed-ups of ${first} under ours, and then under the other.`),
    ...data.readings.flatMap((one) => [element("h3", {}, one.question),
      element("p", {}, `Ours: ${one.key} = ${one.ours}. The other: ${one.other_value}.`),
      table([{ title: "workload", left: true, text: (row) => row.workload }, ...designs.flatMap((name, i) => [
        { title: `${name}\nours`, text: (row) => (row.by[i] ? times(row.by[i].up) : ""), value: (row) => (row.by[i] ? row.by[i].up : NaN) },
        { title: `${name}\nthe other`, text: (row) => (row.by[i] ? times(row.by[i].other_up) : ""),
          value: (row) => (row.by[i] ? row.by[i].other_up : NaN) }])], rows.filter((row) => row.key === one.key))]));
  }
})();
