"use strict";
// The worst workload of a review, closely: the pipelines of two machines around the first cycle in which they are not
// the same, and the waves of that window.
heddle.closely = (closely, section) => {
  const { element, number, showTip } = heddle;
  if (closely === null) {
    section("closely", "The worst workload, closely", element("p", {}, "The pipelines are the same for as long as was looked at."));
    return;
  }
  const { cycle, later, from, to, machines, pipelines, signals, workload } = closely;
  const namespace = "http://www.w3.org/2000/svg";
  const shape = (name, attributes, text, tip) => {
    const made = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (tip) {
      made.addEventListener("mousemove", (event) => showTip(event, tip));
      made.addEventListener("mouseleave", (event) => showTip(event, null));
    }
    return made;
  };
  const step = 15, line = 18, head = 24;
  const room = (most) => Math.min(most, Math.round(0.36 * window.innerWidth));  // of the labels: on a phone they are cut
  const width = (left) => left + (to - from) * step + 8;
  const colours = { F: "var(--c3)", D: "var(--c1)", R: "var(--c5)", X: "var(--c2)", M: "var(--c7)", Mg: "var(--c8)", Mw: "var(--c0)",
    W: "var(--c4)", A: "var(--c9)", Sp: "var(--c11)" };
  // Cycles along the top, and the one in which the pipelines part.
  const frame = (left, rows) => {
    const height = head + rows * line + 4;
    const svg = shape("svg", { viewBox: `0 0 ${width(left)} ${height}`, width: width(left), height, class: "window", role: "img" });
    for (let at = from; at <= to; at += 4) {
      const x = left + (at - from) * step;
      svg.append(shape("line", { x1: x, x2: x, y1: head - 5, y2: height, stroke: "var(--line)" }));
      if ((at - from) % 8 === 0 && at < to) svg.append(shape("text", { x, y: head - 9, class: "axis" }, number(at)));
    }
    svg.append(shape("rect", { x: left + (cycle - from) * step, y: head - 5, width: step, height: height - head + 5, fill: "var(--mark)" }));
    return svg;
  };
  const words = (svg, y, left, text) => {
    const most = Math.floor((left - 6) / 6.1);
    svg.append(shape("text", { x: left - 6, y: y + line - 6, class: "label" }, text.length > most ? text.slice(0, most - 1) + "\u2026" : text,
      { "": text }));
  };
  const pipeline = (machine, rows) => {
    const left = room(300), svg = frame(left, Math.max(1, rows.length));
    rows.forEach((row, i) => {
      const y = head + i * line;
      words(svg, y, left, row.label);
      for (const [stage, begin, end] of row.stages) {
        const x = left + Math.max(0, begin - from) * step, x2 = left + (Math.min(to, end) - from) * step;
        svg.append(shape("rect", { x: x + 0.5, y: y + 2, width: Math.max(1, x2 - x - 1), height: line - 4, rx: 2, fill: colours[stage] || "var(--c10)" },
          undefined, { "sub-warp": row.label, stage, from: number(begin), to: number(end - 1), ...(row.waits ? { "held up by": row.waits } : {}) }));
        if (x2 - x >= 12) svg.append(shape("text", { x: (x + x2) / 2, y: y + line - 5.5, class: "stage" }, stage));
      }
    });
    return element("figure", {}, element("figcaption", {}, `Pipeline of ${machine}`, element("span", { class: "soft" },
      " \u2014 a row for each sub-warp of the first core, or its first sub-core")), element("div", { class: "wide" }, svg));
  };
  // One value over time: a line for a bit, boxes with text for others.
  const wave = (svg, y, left, changes, bit) => {
    if (changes === null) {
      svg.append(shape("text", { x: left + 4, y: y + line - 5.5, class: "value soft" }, "this machine has no such signal"));
      return;
    }
    const top = y + 3, bottom = y + line - 3;
    const parts = changes.map(([at, value], i) => [Math.max(from, at), i + 1 < changes.length ? changes[i + 1][0] : to, value])
      .filter(([begin, end]) => end > begin && end > from && begin < to);
    let path = "";
    for (const [begin, end, value] of parts) {
      const x = left + (begin - from) * step, x2 = left + (Math.min(to, end) - from) * step;
      if (bit) {
        const at = value === "1" ? top : bottom;
        path += `${path ? "L" : "M"}${x} ${at} L${x2} ${at}`;
      } else if (value !== "x") {
        svg.append(shape("rect", { x: x + 0.7, y: top, width: Math.max(1, x2 - x - 1.4), height: bottom - top, rx: 3, fill: "none", stroke: "var(--link)" },
          undefined, { value, from: number(begin), to: number(end - 1) }));
        const most = Math.floor((x2 - x - 2) / 5.6);
        if (most > 0 && (value.length <= most || most > 2)) svg.append(shape("text", { x: (x + x2) / 2, y: bottom - 2.5, class: "value" },
          value.length > most ? value.slice(0, most - 1) + "\u2026" : value));
      }
    }
    if (path) svg.append(shape("path", { d: path, fill: "none", stroke: "var(--link)", "stroke-width": 1.4 }));
  };
  const waves = (machine, index) => {
    const left = room(210), svg = frame(left, signals.length);
    signals.forEach((signal, i) => {
      words(svg, head + i * line, left, signal.name.replace("gpu.core0.", ""));
      wave(svg, head + i * line, left, signal.changes[index], signal.width === 1);
    });
    return element("figure", {}, element("figcaption", {}, `Waves of ${machine}`, element("span", { class: "soft" },
      " \u2014 signals of the first core that change in this window on either machine")), element("div", { class: "wide" }, svg));
  };
  section("closely", "The worst workload, closely", element("p", {}, `${workload}: up to cycle ${number(cycle)} ${machines[1]} does what `
    + `${machines[0]} does; that cycle is marked. `
    + (later === 0 ? "" : `(${machines[1]} begins ${number(Math.abs(later))} cycles ${later > 0 ? "later" : "earlier"}, which is taken off.) `)
    + `Stages: F fetched, D decode, R reading registers, X execute, M memory stage, Mw waits for lines, `
    + "W written back."),
  ...machines.map((machine, i) => pipeline(machine, pipelines[i])), ...machines.map((machine, i) => waves(machine, i)));
};
