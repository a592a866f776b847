"use strict";
// Why one run takes more cycles than another, as pages show it: the causes add up (studies/pages/compare/explain.hpp).
heddle.causes = (() => {
  const { element, number, percent, signed, tick, ratio, showTip } = heddle;

  // A waterfall from the cycles of one run to those of another. Its axis begins at 0 unless the difference would be lost
  // beside the cycles that both runs take.
  const roundStep = (span, most) => {
    const least = span / most, power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 2.5, 5].find((factor) => factor * power >= least * (1 - 1e-9)) || 10);
  };
  const waterfall = (why, names, from, to) => {
    let at = from;
    const total = (label, cycles) => ({ name: `cycles of ${label}`, begin: 0, end: cycles, kind: "total", text: number(cycles),
      detail: "" });
    const steps = [total(names.from, from)];
    for (const cause of why.causes) {
      const parts = cause.factors.length > 0 ? cause.factors.map((factor) => ({ ...factor, of: cause.cause })) : [cause];
      for (const part of parts) {
        if (Math.round(part.cycles) !== 0) steps.push({ name: part.of ? `${part.of}: ${part.cause}` : part.cause, begin: at, end: at + part.cycles,
          kind: part.cycles > 0 ? "more" : "fewer", text: signed(part.cycles), detail: part.detail });
        at += part.cycles;
      }
    }
    steps.push(total(names.to, to));
    const ends = steps.flatMap(({ kind, begin, end }) => (kind === "total" ? [end] : [begin, end]));
    const lowest = Math.min(...ends), highest = Math.max(...ends);
    const whole = highest - lowest > 0.4 * highest;
    const step = roundStep(Math.max(1, whole ? highest : 1.3 * (highest - lowest)), 4);
    const low = whole ? Math.min(0, Math.floor(lowest / step) * step)
      : Math.max(0, Math.floor((lowest - 0.15 * (highest - lowest)) / step) * step);
    const high = Math.max(low + step, Math.ceil(highest / step - 1e-9) * step);
    const place = (cycles) => 100 * (Math.max(low, cycles) - low) / (high - low);
    const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
    const lines = () => ticks.map((cycles) => element("i", { class: "tick", style: `left:${place(cycles)}%` }));
    const rows = steps.map(({ name, begin, end, kind, text, detail }) => {
      const left = place(Math.min(begin, end)), right = place(Math.max(begin, end));
      const tip = { cause: name, cycles: text, ...(detail ? { change: detail } : {}) };
      return element("div", { class: "fall", onmousemove: (event) => showTip(event, tip),
        onmouseleave: (event) => showTip(event, null) }, element("span", { class: "name" }, name),
      element("div", { class: "track" }, ...lines(), element("b", {
        class: kind + (kind === "total" && low > 0 ? " cut" : ""), style: `left:${left}%;width:max(1px, ${right - left}%)` })),
      element("span", { class: "value" }, text));
    });
    const labels = ticks.map((cycles, i) => element("span", { style: `left:${place(cycles)}%`,
      class: i === 0 ? "first" : i === ticks.length - 1 ? "last" : null }, tick(cycles)));
    return element("figure", { class: "waterfall" }, element("figcaption", {}, `From ${names.from} to ${names.to}`,
      element("span", { class: "soft" }, " \u2014 each bar is the cycles that a cause adds or takes away"
        + (low > 0 ? `; the axis begins at ${number(low)}` : ""))), ...rows,
    element("div", { class: "fall" }, element("span", { class: "name" }), element("div", { class: "scale-track soft" },
      ...labels), element("span", { class: "value soft" }, "cycles")));
  };
  // A heading, the waterfall and the table. names: {from, to}; cycles of both.
  const why = (explanation, names, from, to) => {
    const rows = explanation.causes.flatMap((cause) => [{ ...cause, top: true }, ...cause.factors]);
    const difference = to - from;
    const [ours, own] = explanation.clocks_ghz;  // the speed-up is in time
    return [element("h3", {}, (difference === 0 ? `${names.to} takes as many cycles as ${names.from}`
      : `${names.to} takes ${number(Math.abs(difference))} cycles ${difference > 0 ? "more" : "fewer"} than ${names.from}`)
      + (difference === 0 && ours === own ? "" : `: ${number(explanation.speed_up)} times as fast`)
      + (ours === own ? "" : `, at ${own} and ${ours} GHz`)),
    waterfall(explanation, names, from, to),
    element("div", { class: "wide" }, element("table", { class: "reasons" }, element("thead", {}, element("tr", {},
      element("th", { class: "left" }, "cause"), element("th", {}, "cycles"), element("th", {}, "share"),
      element("th", { class: "left" }, "what changed"))), element("tbody", {}, ...rows.map((row) => element("tr", {},
      element("td", { class: "left" }, row.top ? element("b", {}, row.cause) : "\u2003" + row.cause),
      element("td", {}, signed(row.cycles)), element("td", {}, explanation.cycles ? percent(row.cycles / explanation.cycles) : ""),
      element("td", { class: "left soft" }, row.detail))), element("tr", { class: "sum" },
      element("td", { class: "left" }, element("b", {}, "together")), element("td", {}, signed(explanation.cycles)),
      element("td", {}, explanation.cycles ? percent(1) : ""), element("td")))))];
  };
  return { why };
})();
