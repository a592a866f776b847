"use strict";
// The page of a machine beside a GPU: how far apart they are, by group and by kernel, worst first, and over sizes.
(() => {
  const { data, colours, element, number, percent, table, chart, commandLine } = heddle;
  const page = document.getElementById("page");
  const { kernels, groups, series, missing, sources } = data;
  const names = [...new Set(kernels.map(({ group }) => group))];
  const signedPercent = (error) => (error > 0 ? "+" : "") + percent(error);
  const section = (id, title, ...content) => page.append(element("section", { id }, element("h2", {}, title), ...content));
  const all = groups.find(({ of }) => of === "all");

  page.append(element("h1", {}, `${data.machine} beside ${data.hardware}`), commandLine(),
    element("p", {}, `Campaign ${data.campaign}: ${number(all.kernels)} kernels. The mean error is ${
      percent(all.mean_error)}, the worst ${percent(all.worst_error)}; the machine takes ${
      number(all.ratio)} times as long in the geometric mean.`));
  if (sources.length > 0) {
    page.append(element("p", {}, "Published figures stand in for measurements: ", sources.join("; "), "."));
  }

  section("groups", "By group", table([
    { title: "group", left: true, text: ({ of }) => of },
    { title: "kernels", text: (one) => number(one.kernels), value: (one) => one.kernels },
    { title: "mean error", text: (one) => percent(one.mean_error), value: (one) => one.mean_error },
    { title: "worst", text: (one) => percent(one.worst_error), value: (one) => one.worst_error },
    { title: "machine / hardware", text: (one) => one.ratio.toFixed(3), value: (one) => one.ratio },
    { title: "correlation", text: (one) => (one.correlation === null ? "\u2014" : one.correlation.toFixed(4)),
      value: (one) => (one.correlation === null ? -2 : one.correlation) },
  ], groups), element("p", { class: "hint" }, "The mean error is that of absolute values, relative to the hardware. The "
    + "correlation is of logarithms."));

  // Both axes alike, so that what is right lies on the diagonal.
  const figures = kernels.flatMap(({ hardware, machine }) => [hardware, machine]);
  const ends = [Math.min(...figures) / 1.3, Math.max(...figures) * 1.3];
  const colour = { name: "colour", type: "ordinal", domain: names, range: names.map((_, i) => colours[(i + 1) % colours.length]) };
  const marks = kernels.map((one) => ({ ...one, t: { kernel: one.name, hardware: one.hardware, machine: one.machine,
    error: signedPercent(one.error), unit: one.unit } }));
  const axis = (orient, scale, title) => ({ orient, scale, title, grid: true, format: "number", tickCount: 6, minExtent: 42 });
  section("kernels", "By kernel",
    chart("Machine over hardware", "a point for each kernel; what lies on the line is right", (width) => ({
      height: Math.min(520, width),
      data: [{ name: "kernels", values: marks }],
      scales: [{ name: "x", type: "log", range: "width", domain: ends, nice: false },
        { name: "y", type: "log", range: "height", domain: ends, nice: false }, colour],
      axes: [axis("bottom", "x", "hardware"), axis("left", "y", "machine")],
      legends: names.length > 1 ? [{ fill: "colour" }] : [],
      marks: [{ type: "rule", encode: { enter: { x: { scale: "x", value: ends[0] }, y: { scale: "y", value: ends[0] },
        x2: { scale: "x", value: ends[1] }, y2: { scale: "y", value: ends[1] }, stroke: { value: "var(--soft)" } } } },
      { type: "symbol", from: { data: "kernels" }, encode: { enter: { x: { scale: "x", field: "hardware" },
        y: { scale: "y", field: "machine" }, size: { value: 60 }, fill: { scale: "colour", field: "group" },
        fillOpacity: { value: 0.8 }, tooltip: { field: "t" } } } }],
    })),
    table([
      { title: "kernel, worst first", left: true, wrap: true, text: ({ name }) => name },
      { title: "hardware", text: (one) => number(one.hardware), value: (one) => one.hardware },
      { title: "machine", text: (one) => number(one.machine), value: (one) => one.machine },
      { title: "error", text: (one) => signedPercent(one.error), value: (one) => Math.abs(one.error) },
      { title: "unit", left: true, text: ({ unit }) => unit },
      ...(kernels.some(({ idle }) => idle !== "")
        ? [{ title: "idle for most of it", left: true, wrap: true, text: ({ idle }) => idle }] : []),
    ], kernels),
    ...(kernels.some(({ idle }) => idle !== "")
      ? [element("p", { class: "hint" }, "Causes of idle cycles on the machine, as shares of its core cycles, of a run of "
        + "the kernel alone.")] : []));

  if (series.length > 0) {
    const drawn = series.filter(({ points }) => points.length > 2).map(({ name, points }) => {
      const sides = [["hardware", colours[1]], ["machine", colours[2]]];
      const values = points.flatMap((point) => sides.map(([of]) => ({ size: point.size, figure: point[of], of,
        t: { [of]: point[of], at: point.size } })));
      return chart(name, "over the last number of the names", {
        data: [{ name: "values", values }],
        scales: [{ name: "x", type: "log", range: "width", domain: { data: "values", field: "size" }, nice: false },
          { name: "y", type: "linear", range: "height", domain: { data: "values", field: "figure" }, zero: true, nice: true },
          { name: "colour", type: "ordinal", domain: sides.map(([of]) => of), range: sides.map(([, shade]) => shade) }],
        axes: [{ orient: "bottom", scale: "x", format: "number", values: points.map(({ size }) => size) },
          { orient: "left", scale: "y", grid: true, format: "number", tickCount: 5, minExtent: 42 }],
        legends: [{ stroke: "colour", symbolStrokeWidth: 2 }],
        marks: [{ type: "group", from: { facet: { name: "side", data: "values", groupby: "of" } }, marks: [
          { type: "line", from: { data: "side" }, encode: { enter: { x: { scale: "x", field: "size" },
            y: { scale: "y", field: "figure" }, stroke: { scale: "colour", field: "of" }, strokeWidth: { value: 1.5 } } } },
          { type: "symbol", from: { data: "side" }, encode: { enter: { x: { scale: "x", field: "size" },
            y: { scale: "y", field: "figure" }, fill: { scale: "colour", field: "of" }, size: { value: 40 },
            tooltip: { field: "t" } } } }] }],
      });
    });
    section("sizes", "Over sizes", table([
      { title: "kernels", left: true, wrap: true, text: ({ name }) => name },
      { title: "of them", text: ({ points }) => number(points.length), value: ({ points }) => points.length },
      { title: "exponent, hardware", text: (one) => one.hardware_slope.toFixed(3), value: (one) => one.hardware_slope },
      { title: "machine", text: (one) => one.machine_slope.toFixed(3), value: (one) => one.machine_slope },
    ], series), element("p", { class: "hint" }, "A figure that grows as size to the power k has the exponent k."),
    element("div", { class: "pair" }, ...drawn));
  }
  if (missing.length > 0) {
    section("missing", "Left out", element("ul", {}, ...missing.map((one) => element("li", {}, one))));
  }
})();
