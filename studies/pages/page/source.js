"use strict";
// The program line by line: source and machine code side by side, what each came to, and which belongs to which.
(() => {
  const { data, element, number, short, percent, ratio, look, table, showTip } = heddle;
  const { profile } = data;
  const column = Object.fromEntries(profile.counters.map((name, i) => [name, i]));
  const waits = ["fetching", "memory", "complex", "barrier", "parked"];
  const of = (counters, name) => counters[column[name]];
  const stalls = (counters) => waits.reduce((sum, name) => sum + of(counters, name), 0);
  const none = profile.counters.map(() => 0);
  const add = (sums, counters) => counters.map((value, i) => value + sums[i]);

  // Cycles at the head of the memory stage for want of room, by what was wanted.
  const kHeld = "held_";
  const heldNames = profile.counters.filter((name) => name.startsWith(kHeld));
  const held = (counters) => heldNames.reduce((sum, name) => sum + of(counters, name), 0);
  const mostHeld = (counters) => heldNames.reduce((best, name) => (of(counters, name) > of(counters, best) ? name : best));

  // Of a run that was priced by an energy table: what is shared out to the line.
  const priced = column.energy_activities !== undefined;
  const energyOf = (counters) => of(counters, "energy_activities") + of(counters, "energy_leakage");

  // What the shading stands for. Where cores are idle most of the time, what they waited for comes first.
  const idle = data.stats.summary.idle_share > 0.5;
  const leading = { "warp cycles stalled": stalls }, working = { "execute cycles": (c) => of(c, "cycles") };
  const metrics = {
    ...(idle ? { ...leading, ...working } : { ...working, ...leading }), "cycles held for room": held,
    "warp cycles": (c) => stalls(c) + of(c, "ready") + of(c, "in_flight"), "instructions": (c) => of(c, "instructions"),
    "line requests": (c) => of(c, "line_requests"), "divergent branches": (c) => of(c, "divergent_branches"),
    ...(priced ? { "energy, pJ": energyOf } : {}),
  };
  const stalled = ["stalled", "warp cycles waited: " + waits.map((state) => look.title(look.ofState(state))).join(", "),
    (c) => stalls(c) && short(stalls(c))];
  const columns = [
    ...(idle ? [stalled] : []),
    ["instr.", "warp instructions (sub-warps) retired", (c) => of(c, "instructions") && short(of(c, "instructions"))],
    ["cycles", "cycles in the execute stage", (c) => of(c, "cycles") && short(of(c, "cycles"))],
    ["lanes", "active lanes per instruction",
      (c) => of(c, "instructions") && number(ratio(of(c, "lane_instructions"), of(c, "instructions")))],
    ["div.", "share of conditional branches that diverge",
      (c) => of(c, "branches") && percent(ratio(of(c, "divergent_branches"), of(c, "branches")))],
    ["lines", "lines per memory instruction",
      (c) => of(c, "memory_instructions") && number(ratio(of(c, "line_requests"), of(c, "memory_instructions")))],
    ...(idle ? [] : [stalled]),
    ...(priced ? [["energy", "of activities and of leakage over the time that is spent here",
      (c) => energyOf(c) && heddle.energy.joules(energyOf(c)), "energy"]] : []),
    ...(profile.kernels.some((kernel) => kernel.counters.some(held)) ? [["held for room",
      "cycles at the head of the memory stage for want of room, and most of them for what",
      (c) => held(c) && `${short(held(c))} ${look.title(mostHeld(c).slice(kHeld.length))}`, "held"]] : []),
  ];
  // A narrow screen has room for the first of them.
  const kindOf = ([, , , kind], i) => kind || (i === 0 ? null : "minor");
  const tipOf = (text, counters) => {
    const lines = { [text]: "" };
    profile.counters.forEach((name, i) => {
      if (!counters[i]) return;
      if (name.startsWith("energy_")) {
        lines[report.words(name)] = heddle.energy.joules(counters[i]);
        return;
      }
      lines[name.startsWith(kHeld) ? "held: " + look.title(name.slice(kHeld.length)) : i < column.ready ? report.words(name)
        : "warp cycles: " + look.title(look.ofState(name))] = counters[i];
    });
    return lines;
  };
  const cells = (counters) => columns.map((one, i) => element("td", { class: kindOf(one, i) },
    one[2](counters) || ""));
  // titles: [text, class]
  const head = (...titles) => element("thead", {}, element("tr", {},
    ...titles.map(([title, kind]) => element("th", { class: kind }, title)),
    ...columns.map((one, i) => element("th", { title: one[1], class: kindOf(one, i) }, one[0]))));

  if (profile.kernels.length === 0) return;
  const kernelChoice = element("select", { id: "kernel" }, ...profile.kernels.map((kernel, i) =>
    element("option", { value: i }, `${kernel.name} (${number(kernel.launches)} launch${kernel.launches === 1 ? "" : "es"}, `
      + `${number(kernel.cycles)} cycles)`)));
  const metricChoice = element("select", { id: "metric" }, ...Object.keys(metrics).map((name) =>
    element("option", {}, name)));
  const place = element("div");
  const longest = profile.kernels.reduce((best, kernel, i, all) => (kernel.cycles > all[best].cycles ? i : best), 0);
  kernelChoice.value = longest;

  const draw = () => {
    const kernel = profile.kernels[kernelChoice.value];
    const metric = metrics[metricChoice.value];
    const total = kernel.counters.reduce((sum, counters) => sum + metric(counters), 0);
    const shade = (counters) => {
      const share = ratio(metric(counters), total);
      return share ? `--part:${Math.min(100, 100 * share).toFixed(2)}%` : null;
    };
    // Source lines of this kernel, by "file:line".
    const lines = new Map();
    kernel.instructions.forEach(({ place: [file, line] }, pc) => {
      const key = `${file}:${line}`;
      if (!lines.has(key)) lines.set(key, { file, line, pcs: [], counters: none });
      const entry = lines.get(key);
      entry.pcs.push(pc);
      entry.counters = add(entry.counters, kernel.counters[pc]);
    });
    const sourceRows = new Map(), codeRows = [];
    const select = (key) => {
      const again = place.querySelector("tr.chosen") && place.dataset.chosen === key;
      for (const row of place.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
      place.dataset.chosen = again ? "" : key;
      if (again) return [];
      const rows = [sourceRows.get(key), ...(lines.get(key) ? lines.get(key).pcs.map((pc) => codeRows[pc]) : [])];
      rows.filter(Boolean).forEach((row) => row.classList.add("chosen"));
      return rows;
    };
    const reveal = (row) => {
      const box = row && row.closest(".scroll");
      if (box) box.scrollTop = row.offsetTop - box.clientHeight / 3;
    };
    const listen = (row, text, counters, choose) => {
      row.addEventListener("click", choose);
      row.addEventListener("keydown", (event) => {
        if (event.key === "Enter") choose();
      });
      row.addEventListener("mousemove", (event) => showTip(event, tipOf(text, counters)));
      row.addEventListener("mouseleave", (event) => showTip(event, null));
    };
    kernel.instructions.forEach(({ text, place: [file, line] }, pc) => {
      const counters = kernel.counters[pc];
      const row = element("tr", { tabindex: 0, "data-pc": pc, "data-key": `${file}:${line}`, style: shade(counters) },
        element("td", { class: "soft" }, pc), element("td", { class: "left code part" }, text),
        element("td", { class: "soft" }, line || ""), ...cells(counters));
      listen(row, text, counters, () => reveal(select(`${file}:${line}`)[0]));
      codeRows.push(row);
    });
    const files = [...new Set([...lines.values()].map((entry) => entry.file))].sort((a, b) => (a < 0) - (b < 0) || a - b);
    const bodies = files.map((file) => {
      const of = [...lines.values()].filter((entry) => entry.file === file);
      const body = element("tbody", {});
      const name = file < 0 ? "made by the compiler" : profile.files[file].name;
      const text = file < 0 ? null : profile.files[file].text;
      body.append(element("tr", { class: "file" }, element("td", { class: "left", colspan: 2 }, name,
        text === null && file >= 0 ? element("span", { class: "soft" }, " (the file could not be read)") : null),
      ...columns.map((one, i) => element("td", { class: kindOf(one, i) }))));
      const rows = text === null ? of.map((entry) => [entry.line, ""]) : text.replace(/\n$/, "").split("\n")
        .map((content, i) => [i + 1, content]);
      for (const [line, content] of rows) {
        const key = `${file}:${line}`, entry = lines.get(key);
        const row = element("tr", { "data-line": line, "data-key": key, tabindex: entry ? 0 : null,
          class: entry ? null : "bare", style: entry ? shade(entry.counters) : null },
        element("td", { class: "soft" }, line || ""), element("td", { class: "left code part" }, content),
        ...(entry ? cells(entry.counters) : columns.map((one, i) => element("td", { class: kindOf(one, i) }))));
        if (entry) {
          listen(row, content.trim() || name, entry.counters, () => reveal(select(key)[1]));
          sourceRows.set(key, row);
        }
        body.append(row);
      }
      return body;
    });
    const top = [...lines.values()].filter((entry) => metric(entry.counters) > 0)
      .sort((a, b) => metric(b.counters) - metric(a.counters)).slice(0, 8);
    const lineText = ({ file, line }) => (file < 0 ? "made by the compiler"
      : ((profile.files[file].text || "").split("\n")[line - 1] || profile.files[file].name).trim());
    place.dataset.chosen = "";
    place.replaceChildren(
      element("h3", {}, `Lines with the most ${metricChoice.value}`),
      table([{ title: "line", text: (entry) => entry.line || "" },
        { title: "source", left: true, text: (entry) => element("a", { href: "#source", class: "code", onclick: (event) => {
          event.preventDefault();
          select("");
          const rows = select(`${entry.file}:${entry.line}`);
          reveal(rows[0]);
          reveal(rows[1]);
        } }, lineText(entry)), value: lineText },
        { title: metricChoice.value, text: (entry) => number(metric(entry.counters)), value: (entry) => metric(entry.counters) },
        { title: "share", text: (entry) => percent(ratio(metric(entry.counters), total)),
          value: (entry) => metric(entry.counters) }], top),
      element("p", { class: "hint" }, "A click on a line marks the machine code that it became, a click on an instruction "
        + "its line. Shading: share of the kernel's total."),
      element("div", { class: "sides" },
        element("div", { class: "scroll", id: "source-side" }, element("table", { class: "listing" },
          head(["", "number"], ["source", "left text"]), ...bodies)),
        element("div", { class: "scroll", id: "code-side" }, element("table", { class: "listing" },
          head(["pc", "number"], ["machine code", "left text"], ["line", "number"]), element("tbody", {}, ...codeRows)))));
  };
  kernelChoice.addEventListener("change", draw);
  metricChoice.addEventListener("change", draw);
  report.section("source", "Source",
    element("p", {}, "Kernel ", kernelChoice, " shaded by ", metricChoice), place);
  heddle.enqueue(draw);
})();
