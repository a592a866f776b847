"use strict";
// The page about one run (heddle run --report). source.js adds the program line by line.
const report = (() => {
  const { data, element, number, percent, ratio, look, table, overTime, heatMap, shareBar, chart } = heddle;
  const { stats, profile, declarations } = data;
  const summary = stats.summary, time = profile.time, end = profile.cycles, bucket = time.bucket_cycles;
  const main = document.getElementById("page");
  const nav = element("nav", { "aria-label": "Sections" });

  const section = (id, title, ...content) => {
    nav.append(element("a", { href: "#" + id }, title));
    const made = element("section", { id }, element("h2", {}, title), ...content);
    main.append(made);
    return made;
  };
  const pair = (...figures) => element("div", { class: "pair" }, ...figures);

  // Per bucket: one(i) for each of the buckets of the profile. The last bucket may be cut short by the run's end.
  const each = (one) => Array.from({ length: time.buckets }, (_, i) => one(i));
  const widthOf = (i) => Math.min(end, (i + 1) * bucket) - i * bucket;
  const active = look.colour(look.active), missed = "var(--c7)";
  const words = (name) => name.replaceAll("_", " ");

  // ---- head and summary
  const verdict = stats.verdict.result;
  main.append(element("h1", {}, `${stats.workload} on ${stats.machine.name}`),
    element("p", { class: "soft" }, [`Heddle ${stats.heddle}`, `${number(stats.threads)} threads`,
      stats.scale === null ? null : `scale ${stats.scale}`, stats.seed === null ? null : `seed ${stats.seed}`,
      `${stats.address_bits}-bit addresses`].filter(Boolean).join(" \u00b7 ")),
    heddle.commandLine(),
    element("p", { class: stats.complete && verdict !== "wrong" ? verdict === "correct" ? "good" : "soft" : "bad" },
      stats.complete ? `Result ${verdict}${verdict === "wrong" ? ": " + stats.verdict.detail : ""}`
        : `Incomplete: ${stats.stop_reason}`), nav);

  const card = (value, label) => element("div", { class: "card" }, element("b", {}, value), element("span", {}, label));
  const mainCause = Object.entries(summary.idle_cycles_by_cause).reduce((a, b) => (b[1] > a[1] ? b : a));
  const details = (title, content) => element("details", {}, element("summary", {}, title), content);
  const shown = (value) => (typeof value === "number" ? number(value) : typeof value === "string" ? value
    : Array.isArray(value) ? value.map(number).join(" ")
      : Object.entries(value).filter((entry) => entry[1]).map(([key, one]) => `${look.title(key)} ${number(one)}`).join(", "));
  const channels = Object.entries(stats.modules).filter(([, module]) => module.bus_series);
  const accessesDram = channels.some(([, module]) => module.reads + module.writes + module.atomics > 0);
  section("summary", "Summary", element("div", { class: "cards" },
    card(number(summary.cycles), "cycles"),
    card(number(summary.ipc), "thread instructions per cycle"),
    card(number(summary.lanes_per_warp_instruction), `lanes per instruction, of ${profile.lanes}`),
    card(percent(summary.idle_share), "of core cycles idle"),
    card(look.title(mainCause[0]), "main cause of idle cycles"),
    card(percent(ratio(summary.divergent_branches, summary.branches)), "of branches diverge"),
    card(number(summary.line_requests_per_memory_instruction), "lines per memory instruction"),
    card(percent(summary.l1d_hit_rate), "L1 hits"),
    accessesDram ? card(percent(summary.dram_row_hit_rate), "DRAM row hits") : null,
    accessesDram ? card(percent(summary.dram_bus_utilisation), "of the DRAM bus in use") : null),
  details("All figures", table([
    { title: "figure", left: true, text: ([name]) => words(name) },
    { title: "value", text: ([, value]) => (Array.isArray(value) ? "below" : shown(value)), value: ([, value]) => value },
    { title: "unit", left: true, text: ([name]) => declarations.summary[name].unit },
    { title: "meaning", left: true, wrap: true, text: ([name]) => declarations.summary[name].definition },
  ], Object.entries(summary).filter(([, value]) => !(value && typeof value === "object" && !Array.isArray(value))))),
  details("The machine", table([
    { title: "parameter", left: true, text: ([key]) => key }, { title: "value", text: ([, value]) => String(value) },
  ], Object.entries(stats.machine.parameters).flatMap(([part, keys]) =>
    Object.entries(keys).map(([key, value]) => [`${part}.${key}`, value])))),
  details(`Launches (${number(profile.launch_count)})`, table([
    { title: "kernel", left: true, text: (one) => one.kernel }, { title: "grid", text: (one) => one.grid.join(" \u00d7 ") },
    { title: "block", text: (one) => one.block.join(" \u00d7 ") }, { title: "warp size", text: (one) => one.warp_size },
    { title: "from cycle", text: (one) => number(one.begin), value: (one) => one.begin },
    { title: "cycles", text: (one) => number(one.end - one.begin), value: (one) => one.end - one.begin },
  ], profile.launches)));

  // ---- functional units
  const units = summary.fu_active_cycles.map((cycles, lanes) => ({ lanes, cycles }));
  section("units", "Functional units",
    shareBar("Where the core cycles go", "work, and idle cycles by their one cause", [
      { name: look.title(look.active), colour: active, value: units.slice(1).reduce((sum, one) => sum + one.cycles, 0) },
      ...Object.entries(summary.idle_cycles_by_cause).map(([name, value]) =>
        ({ name: look.title(name), colour: look.colour(name), value }))]),
    pair(chart("Functional units active per cycle", "core cycles with that many lanes at work; idle ones are left out", {
      data: [{ name: "units", values: units.slice(1) }],
      scales: [{ name: "x", type: "band", domain: { data: "units", field: "lanes" }, range: "width", padding: 0.15 },
        { name: "y", type: "linear", domain: { data: "units", field: "cycles" }, range: "height", nice: true, zero: true }],
      axes: [{ orient: "bottom", scale: "x", title: "lanes", values: units.slice(1).map((one) => one.lanes)
        .filter((lanes) => units.length <= 18 || lanes % 4 === 0) },
      { orient: "left", scale: "y", format: "number", grid: true, title: "core cycles", tickCount: 5, minExtent: 42 }],
      marks: [{ type: "rect", from: { data: "units" }, encode: { update: { x: { scale: "x", field: "lanes" },
        width: { scale: "x", band: 1 }, y: { scale: "y", field: "cycles" }, y2: { scale: "y", value: 0 },
        fill: { value: active },
        tooltip: { signal: "{lanes: datum.lanes, 'core cycles': datum.cycles}" } } } }],
    }), chart("Idle cycles by cause", "every idle cycle has exactly one", (() => {
      const causes = Object.entries(summary.idle_cycles_by_cause).filter((one) => one[1] > 0)
        .sort((a, b) => b[1] - a[1]).map(([name, cycles]) => ({ name: look.title(name), colour: look.colour(name), cycles,
          meaning: declarations.idle_causes[name] }));
      return {
        data: [{ name: "causes", values: causes }],
        scales: [{ name: "y", type: "band", domain: causes.map((one) => one.name), range: "height", padding: 0.2 },
          { name: "x", type: "linear", domain: { data: "causes", field: "cycles" }, range: "width", zero: true }],
        axes: [{ orient: "left", scale: "y" }, { orient: "bottom", scale: "x", format: "number", tickCount: 4, grid: true,
          title: "core cycles" }],
        marks: [{ type: "rect", from: { data: "causes" }, encode: { update: { y: { scale: "y", field: "name" },
          height: { scale: "y", band: 1 }, x: { scale: "x", value: 0 }, x2: { scale: "x", field: "cycles" },
          fill: { field: "colour" },
          tooltip: { signal: "{cause: datum.name, cycles: datum.cycles, meaning: datum.meaning}" } } } }],
      };
    })())));

  // ---- over time
  const coreCycles = (i) => widthOf(i) * profile.cores;
  const used = (rows) => rows.filter((one) => one.values.some((value) => value > 0));
  // From few active threads to full warps (ODGS paper, figure 7).
  const bandOf = (i) => (time.threads_per_band === 1 ? String(i + 1)
    : `${i * time.threads_per_band + 1} \u2013 ${(i + 1) * time.threads_per_band}`);
  const bands = time.fetched_by_band.map((row, i, all) => ({ name: bandOf(i), values: each((at) => row[at] / widthOf(at)),
    colour: heddle.between(["var(--c2)", "var(--c5)", "var(--c1)"], i / Math.max(1, all.length - 1)) }));
  section("time", "Over time",
    element("p", { class: "hint" }, "Drag across a chart to look at a stretch in all of them; a double click shows the "
      + `whole run again. Each step is ${number(bucket)} cycles wide.`),
    overTime("What the cores do", "share of core cycles", { stacked: true, bucket, end, top: 1, format: "percent",
      tip: percent, series: used([
        { name: look.title(look.active), colour: active, values: each((i) => ratio(time.busy_cycles[i], coreCycles(i))) },
        ...Object.keys(time.idle_cycles).map((name) => ({ name: look.title(name), colour: look.colour(name),
          values: each((i) => ratio(time.idle_cycles[name][i], coreCycles(i))) }))]) }),
    overTime("What the warps do", "mean number of warps by state, over all cores", { stacked: true, bucket, end,
      title: "warps", series: used(Object.keys(time.warp_cycles).map((name) => ({ name: look.title(look.ofState(name)),
        colour: look.colour(look.ofState(name)), values: each((i) => ratio(time.warp_cycles[name][i], widthOf(i))) }))) }),
    overTime("Warps by active threads", "instructions fetched per cycle, over all cores, by how many threads of their "
      + "group are active", { stacked: true, bucket, end, title: "instructions", series: bands }),
    pair(
      overTime("Instructions per cycle", "thread instructions retired, over all cores", { bucket, end, series: [
        { name: "IPC", colour: "var(--c1)", values: each((i) => ratio(time.thread_instructions[i], widthOf(i))) }] }),
      overTime("Active lanes", `per cycle in which a core works, of ${profile.lanes}`, { bucket, end, top: profile.lanes,
        format: "number", series: [{ name: "lanes", colour: active,
          values: each((i) => ratio(time.lane_cycles[i], time.busy_cycles[i])) }] }),
      overTime("Ready warps", "mean number that wait to be chosen, per core", { bucket, end, series: [{ name: "ready",
        colour: look.colour(look.ofState("ready")), values: each((i) => ratio(time.warp_cycles.ready[i], coreCycles(i))) }] }),
      overTime("Divergence", "share of conditional branches after which threads go both ways", { bucket, end, top: 1,
        format: "percent", tip: percent, series: [{ name: "divergent", colour: "var(--c7)",
          values: each((i) => ratio(time.divergent_branches[i], time.branches[i])) }] })));

  // ---- where
  const share = (rows) => rows.map((row) => row.map((value, i) => value / widthOf(i)));
  const warps = (row) => (profile.warps_per_row === 1 ? String(row)
    : `${row * profile.warps_per_row} \u2013 ${(row + 1) * profile.warps_per_row - 1}`);
  const stretch = (i) => `${number(i * bucket)} \u2013 ${number(Math.min(end, (i + 1) * bucket))}`;
  // Of several units (cores, channels) a row each, and beside it a line each where they are few, else the range.
  const kLines = 8;
  const ofUnits = (title, note, rows, { of, names = rows.map((_, i) => `${of} ${i}`), every, tip, text, ...axes }) => {
    const few = rows.length <= kLines, at = (i) => rows.map((row) => row[i]);
    const series = few ? rows.map((values, i) => ({ name: names[i], colour: heddle.colours[1 + i], values })) : [
      { name: "most", colour: "var(--c7)", values: every((i) => Math.max(...at(i))) },
      { name: "mean", colour: "var(--c1)", values: every((i) => at(i).reduce((a, b) => a + b, 0) / rows.length) },
      { name: "least", colour: "var(--c5)", values: every((i) => Math.min(...at(i))) }];
    const { bucket, end } = axes, span = (i) => `${number(i * bucket)} \u2013 ${number(Math.min(end, (i + 1) * bucket))}`;
    return pair(
      heatMap(title, note, { matrix: rows, bucket, end, rowTitle: of, tip: (row, column, value) =>
        ({ [of]: names[row], cycles: span(column), ...tip(value) }) }),
      overTime(title, few ? note : `${note}; the ${of} with most, the mean of all, and the one with least`,
        { ...axes, tip: text, series }));
  };
  // In which launches threads move, and in which they do not (odgs.scratchpad).
  const moves = () => {
    const { moving_launches: moving, scratchpad_launches: late, staying_launches: staying } = summary;
    const launches = (count) => `${number(count)} launch${count === 1 ? "" : "es"}`;
    return [moving > late ? `${late + staying === 0 ? "No core" : `In ${launches(moving - late)} no core`} has blocks: they `
      + "are the global scheduler's, and their warps go to any core." : null,
    late > 0 ? `In ${launches(late)} a block is bound to a core up to its last access to the scratchpad; then its warps go `
      + "to any." : null,
    staying > 0 ? `In ${launches(staying)} the kernel uses the scratchpad, and threads stay in their cores.` : null]
      .filter(Boolean).join(" ");
  };
  const manyCores = profile.cores > 1 ? [
    ofUnits("Instructions per cycle of each core", "thread instructions retired per cycle", share(time.core_instructions),
      { of: "core", every: each, bucket, end, tip: (value) => ({ "per cycle": value }) }),
    // Where a global scheduler has the blocks no core has any: warps of one block are anywhere (ODGS paper 3.5, 3.8).
    summary.moving_launches + summary.staying_launches > 0 ? element("p", { class: "hint" }, moves()) : null,
    summary.moving_launches > 0 && summary.staying_launches === 0 ? null
      : ofUnits("Blocks of each core", "mean number of blocks that have begun there and not finished",
        share(time.core_block_cycles), { of: "core", every: each, bucket, end, tip: (value) => ({ blocks: value }) })] : [];
  section("where", "Cores, warps and lanes", ...manyCores,
    heatMap("Cores", "share of cycles with a functional unit active", { matrix: share(time.core_busy_cycles), bucket, end,
      rowTitle: "core", tip: (row, column, value) => ({ core: row, cycles: stretch(column), active: percent(value) }) }),
    heatMap("Warps", `sub-warps executed per cycle by the warps of that number, all cores${profile.warps_per_row > 1
      ? `; ${profile.warps_per_row} warps per row` : ""}`, { matrix: share(time.warp_issues), bucket, end,
      rowTitle: "warp", tip: (row, column, value) => ({ warp: warps(row), cycles: stretch(column), "per cycle": value }) }),
    heatMap("Lanes", "cycles in which the lane is active, of all cores' cycles", { matrix: share(time.lane_busy_cycles)
      .map((row) => row.map((value) => value / profile.cores)), bucket, end, rowTitle: "lane",
    tip: (row, column, value) => ({ lane: row, cycles: stretch(column), active: percent(value) }) }),
    pair(heatMap("Warps of each core", "sub-warps executed in the whole run", { matrix: profile.core_warp_issues,
      rowTitle: "core", columnTitle: "warp" + (profile.warps_per_row > 1 ? ` / ${profile.warps_per_row}` : ""),
      tip: (row, column, value) => ({ core: row, warp: warps(column), "sub-warps": value }) }),
    heatMap("Lanes of each core", "cycles in which the lane is active", { matrix: profile.core_lane_cycles,
      rowTitle: "core", columnTitle: "lane",
      tip: (row, column, value) => ({ core: row, lane: column, active: percent(ratio(value, end)) }) })));

  // ---- warp-splits
  const splits = summary.splits_branch + summary.splits_memory + summary.splits_revived;
  const merges = summary.merges_pc + summary.merges_formed + summary.merges_stack + summary.merges_barrier;
  if (splits > 0) {
    section("splits", "Warp-splits", pair(
      shareBar("Splits made", `${number(splits)}, by cause`, [
        { name: "branch", colour: "var(--c1)", value: summary.splits_branch },
        { name: "access to memory", colour: "var(--c3)", value: summary.splits_memory },
        { name: "revived while waiting", colour: "var(--c7)", value: summary.splits_revived }]),
      shareBar("Merges", `${number(merges)}, by where; the other `
        + "splits ended with their threads or as the last of their warp", [
        { name: "same PC", colour: "var(--c1)", value: summary.merges_pc },
        ...(summary.merges_formed > 0
          ? [{ name: "same PC, another warp", colour: "var(--c2)", value: summary.merges_formed }] : []),
        { name: "re-convergence point or branch", colour: "var(--c3)", value: summary.merges_stack },
        { name: "barrier", colour: "var(--c7)", value: summary.merges_barrier }])),
    element("p", { class: "hint" }, `The warp-split table was full ${number(summary.split_table_full)} times, the `
      + `scheduler's slots ${number(summary.split_slots_full)} times.`
      + (summary.predictions > 0 ? ` Of ${number(summary.predictions)} predictions whether to part, `
        + `${number(summary.predictions_right)} were right and ${number(summary.predictions_wrong)} wrong.` : "")));
  }

  // ---- energy, of a run that was priced by a table
  if (stats.energy) {
    const { joules, watts, product, kindsOf, partsOf, microjoules } = heddle.energy;
    const { energy } = stats, kinds = kindsOf([energy]);
    const leakage = Object.values(energy.kinds).reduce((sum, kind) => sum + kind.leakage_pj, 0);
    const parts = partsOf(energy).filter((part) => part.pj > 0);
    const events = Object.entries(energy.kinds).flatMap(([kind, figures]) => [
      ...Object.entries(figures.activities).map(([name, one]) => ({ kind, what: words(name), count: one.count,
        each: `${number(parseFloat(one.pj_per_count.toPrecision(4)))} pJ`, pj: one.pj })),
      { kind, what: "leakage", count: figures.units, each: `${number(parseFloat(figures.leakage_mw.toPrecision(4)))} mW`,
        pj: figures.leakage_pj }]).filter((one) => one.pj > 0);
    const { power } = data;
    const overKernels = !power || power.kernels.length === 0 ? null : table([
      { title: "kernel", left: true, text: (one) => one.kernel },
      { title: "launches", text: (one) => number(one.launches), value: (one) => one.launches },
      { title: "cycles", text: (one) => number(one.cycles), value: (one) => one.cycles },
      { title: "\u00b5J", text: (one) => microjoules(one.pj), value: (one) => one.pj },
      { title: "share", text: (one) => percent(ratio(one.pj, energy.pj)), value: (one) => one.pj },
      { title: "mean power", text: (one) => watts(ratio(one.pj * stats.machine.parameters.gpu.clock_ghz, one.cycles)),
        value: (one) => ratio(one.pj, one.cycles) }], power.kernels);
    section("energy", "Energy",
      element("p", {}, `By the table ${energy.table}${energy.description ? `: ${energy.description}` : ""}. `
        + "What it does not name costs nothing here."),
      element("div", { class: "cards" }, card(joules(energy.pj), "energy"), card(watts(energy.average_mw), "mean power"),
        power ? card(watts(power.peak_mw), `peak, of ${number(power.peak_cycles)} cycles`) : null,
        card(product(energy.delay_product), "energy-delay product"), card(percent(ratio(leakage, energy.pj)), "of it leakage")),
      pair(shareBar("By kind of unit", "activities and leakage", kinds.map(({ name, colour }) => ({ name, colour,
        value: energy.kinds[name].pj })), "energy", joules),
      parts.length <= 12 ? shareBar("By part of the GPU", "each with all modules in it", parts.map(({ name, pj }, i) => ({
        name, colour: `var(--c${i % 12})`, value: pj })), "energy", joules) : null),
      power ? overTime("Power over time", `by kind of unit, in steps of ${number(power.interval_cycles)} cycles`, {
        stacked: true, bucket: power.interval_cycles, end, title: "mW", tip: watts, series: kinds.map(({ name, colour }) =>
          ({ name, colour, values: power.kinds[name] })) }) : null,
      overKernels,
      table([{ title: "kind of unit", left: true, text: (one) => one.kind }, { title: "what", left: true,
        text: (one) => one.what },
      { title: "count or units", text: (one) => number(one.count), value: (one) => one.count },
      { title: "each", text: (one) => one.each, value: (one) => parseFloat(one.each) },
      { title: "\u00b5J", text: (one) => microjoules(one.pj), value: (one) => one.pj },
      { title: "share", text: (one) => percent(ratio(one.pj, energy.pj)), value: (one) => one.pj }], events),
      details("Every module", table([{ title: "module", left: true, text: ([name]) => name },
        { title: "kind of unit", left: true, text: ([, one]) => one.kind },
        { title: "\u00b5J", text: ([, one]) => microjoules(one.pj), value: ([, one]) => one.pj },
        { title: "of it leakage", text: ([, one]) => percent(ratio(one.leakage_pj, one.pj)),
          value: ([, one]) => one.leakage_pj },
        { title: "share", text: ([, one]) => percent(ratio(one.pj, energy.pj)), value: ([, one]) => one.pj }],
      Object.entries(energy.modules))),
      details("Where the figures come from", table([{ title: "kind of unit", left: true, text: ([kind]) => kind },
        { title: "source", left: true, wrap: true, text: ([, figures]) => figures.source }], Object.entries(energy.kinds))));
  }

  // ---- memory
  // Misses of each hardware thread (core.thread_misses; DWS report, figure 14): of every core while the threads are
  // few.
  const missMaps = () => {
    const lanes = stats.machine.parameters.core.simd_width;
    const maps = Object.entries(stats.modules).filter(([, module]) => (module.thread_misses || []).length > 0)
      .map(([name, module]) => ({ name, counts: module.thread_misses }));
    if (maps.length === 0) return [];
    const few = maps.length <= 8;
    const drawn = few ? maps : [{ name: "all cores, added up", counts: maps[0].counts.map((_, i) =>
      maps.reduce((sum, one) => sum + one.counts[i], 0)) }];
    return [pair(...drawn.map(({ name, counts }) => heatMap(`Misses of each thread, ${name}`,
      "accesses whose line was absent from the L1", { matrix: Array.from({ length: counts.length / lanes },
        (_, row) => counts.slice(row * lanes, (row + 1) * lanes)), rowTitle: "row", columnTitle: "lane",
      tip: (row, column, value) => ({ "register row": row, lane: column, misses: number(value) }) })))];
  };
  section("memory", "Memory transactions",
    pair(overTime("Lines per memory instruction", "1 is perfect coalescing", { bucket, end, series: [{ name: "lines",
      colour: "var(--c1)", values: each((i) => ratio(time.line_requests[i], time.memory_instructions[i])) }] }),
    overTime("Line requests", "per cycle, all cores; late: not answered at once by the L1", { bucket, end, series: [
      { name: "requests", colour: "var(--c3)", values: each((i) => time.line_requests[i] / widthOf(i)) },
      { name: "late", colour: "var(--c7)", values: each((i) => time.late_lines[i] / widthOf(i)) }] })),
    shareBar("L1 data caches", `${number(summary.l1d_accesses)} lines asked for`, [
      { name: "hits", colour: active, value: summary.l1d_hits },
      { name: "misses", colour: missed, value: summary.l1d_misses }]),
    ...missMaps(),
    summary.l2_accesses ? shareBar("L2", `${number(summary.l2_accesses)} requests`, [
      { name: "hits", colour: active, value: summary.l2_hits },
      { name: "joined a line on its way", colour: "var(--c3)", value: summary.l2_merged },
      { name: "misses", colour: missed, value: summary.l2_misses - summary.l2_merged }]) : null);

  // ---- DRAM: the channels' own series in stats.json
  if (channels.length > 0 && !accessesDram) {
    section("dram", "DRAM", element("p", { class: "hint" }, stats.machine.parameters.gpu.perfect_memory
      ? "No access: with gpu.perfect_memory every one is a hit of the L1 or I-cache." : "No access."));
  } else if (channels.length > 0) {
    // The channels count on the clock, which runs between launches too.
    const end = profile.clock_cycles;
    const width = Math.max(...channels.map(([, module]) => module.series_bucket_cycles));
    // Channels that stopped earlier may have narrower buckets: they are added up.
    const series = (module, name) => {
      const step = width / module.series_bucket_cycles;
      return Array.from({ length: Math.max(1, Math.ceil(end / width)) }, (_, i) =>
        module[name].slice(i * step, (i + 1) * step).reduce((sum, value) => sum + value, 0));
    };
    const all = (name) => channels.map(([, module]) => series(module, name));
    const buses = all("bus_series"), banks = all("bank_series"), queues = all("queue_series");
    const hits = all("row_hit_series"), conflicts = all("row_conflict_series");
    const steps = buses[0].length;
    const cyclesOf = (i) => Math.max(1, Math.min(end, (i + 1) * width) - i * width);
    const sum = (rows, i) => rows.reduce((total, row) => total + row[i], 0);
    const every = (one) => Array.from({ length: steps }, (_, i) => one(i));
    const shares = buses.map((row) => row.map((value, i) => value / cyclesOf(i)));
    const bankCount = stats.machine.parameters.dram.banks;
    const timed = stats.machine.parameters.dram.timing !== "none";  // without timing: no rows, bus and banks
    section("dram", "DRAM",
      timed ? shareBar("Rows", `${number(summary.dram_row_hits + summary.dram_row_conflicts)} accesses`, [
        { name: "row hits", colour: active, value: summary.dram_row_hits },
        { name: "row conflicts", colour: missed, value: summary.dram_row_conflicts }]) : null,
      pair(...(timed ? [
        overTime("Rows", "accesses per thousand cycles, all channels", { stacked: true, bucket: width, end, series: [
          { name: "row hits", colour: active, values: every((i) => 1000 * sum(hits, i) / cyclesOf(i)) },
          { name: "row conflicts", colour: "var(--c7)", values: every((i) => 1000 * sum(conflicts, i) / cyclesOf(i)) }] }),
        overTime("Bus", "share of cycles in which a channel's bus moves data", { bucket: width, end, top: 1,
          format: "percent", tip: percent, series: [{ name: "bus", colour: "var(--c1)",
            values: every((i) => sum(buses, i) / (cyclesOf(i) * channels.length)) }] }),
        overTime("Banks", `mean number of busy banks per channel, of ${bankCount}`, { bucket: width, end, series: [
          { name: "banks", colour: "var(--c9)", values: every((i) => sum(banks, i) / (cyclesOf(i) * channels.length)) }] })
      ] : []),
        overTime("Queue", timed ? "mean number of waiting requests per channel"
          : "mean number of requests per channel that are not answered", { bucket: width, end, series: [
          { name: "queue", colour: "var(--c2)",
            values: every((i) => sum(queues, i) / (cyclesOf(i) * channels.length)) }] })),
      timed && channels.length > 1 ? ofUnits("Bus of each channel", "share of cycles in use", shares, { of: "channel",
        names: channels.map(([name]) => name.replace(/^gpu\./, "")), every, bucket: width, end, top: 1, format: "percent",
        tip: (value) => ({ bus: percent(value) }), text: percent }) : null,
      table([{ title: "channel", left: true, text: ([name]) => name },
        ...["reads", "writes", "atomics", "row_hits", "row_conflicts", "activations", "bus_busy_cycles",
          "bank_busy_cycles", "queue_wait_cycles", "queue_max", "refreshes"].map((key) => ({ title: words(key),
          text: ([, module]) => number(module[key]), value: ([, module]) => module[key] }))], channels));
  }
  return { section, details, words };
})();
