"use strict";
// The page of an exploration: what was run, parallel coordinates, plots over one and two axes, trade-offs, all rows.
(() => {
  const { data, element, number, table, chart } = heddle;
  const page = document.getElementById("page");
  const rows = data.rows.map((cells) => Object.fromEntries(data.columns.map((name, i) => [name, cells[i]])));
  const axes = data.axes;
  const figures = data.figures.filter(({ column }) => rows.some((row) => typeof row[column] === "number"));
  const titles = new Map([...figures.map(({ column }) => [column, column.replaceAll("_", " ")]),
    ...axes.map(({ name, column }) => [column, name])]);
  const units = new Map([...figures, ...axes].map(({ column, unit }) => [column, unit]));
  // On an axis, with its unit.
  const axisTitle = (column) => {
    const title = titles.get(column), unit = units.get(column);
    return unit && !title.endsWith(unit) ? `${title} (${unit})` : title;
  };
  // A scale on which numbers stand at their places: by their logarithms where logarithms are spaced more evenly.
  const unevenness = (values) => {
    const gaps = values.slice(1).map((value, i) => value - values[i]);
    return gaps.length < 2 ? 1 : Math.max(...gaps) / Math.min(...gaps);
  };
  const isGeometric = (values) => values[0] > 0 && unevenness(values.map(Math.log)) < unevenness(values) - 1e-9;
  // The scheme's ends that would be lost in the page are left out.
  const shades = { scheme: "viridis", extent: matchMedia("(prefers-color-scheme: dark)").matches ? [0.28, 1] : [0, 0.93] };
  const usual = ["ipc", "cycles", "simd_efficiency", "idle_share", "dram_row_hit_rate"]
    .filter((column) => figures.some((figure) => figure.column === column) &&
      new Set(rows.map((row) => row[column])).size > 1);
  const first = usual[0] || (figures[0] || {}).column;
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const valuesOf = (column, among) => [...new Set(among.map((row) => row[column]))].filter((value) => value !== null)
    .sort(order);
  // Of positive numbers the geometric mean, as the speedups of several workloads want it.
  const mean = (values) => values.every((value) => value > 0)
    ? Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
    : values.reduce((sum, value) => sum + value, 0) / values.length;

  const select = (id, choices, value, changed) => {
    const made = element("select", { id, onchange: () => changed(made.value) }, ...choices.map(([key, title]) =>
      element("option", { value: key, selected: key === value ? "" : null }, title)));
    return made;
  };
  const labelled = (text, control) => element("label", {}, text + " ", control);
  const figureChoices = figures.map(({ column }) => [column, titles.get(column)]);
  const axisChoices = axes.map(({ name, column }) => [column, name]);
  const none = ["", "\u2014"];

  // ---- Which rows are shown: one choice per axis.
  const chosen = {};
  let shown = [];
  const choose = () => {
    shown = rows.filter((row) => row.status === "done" &&
      axes.every(({ column }) => chosen[column] === undefined || chosen[column] === "" ||
        String(row[column]) === chosen[column]));
  };
  const sections = [];
  const section = (id, title, note, build) => {
    const place = element("div");
    const redraw = () => place.replaceChildren(shown.length ? build(redraw)
      : element("p", { class: "soft" }, "No run that is done has these values."));
    sections.push(redraw);
    return element("section", { id }, element("h2", {}, title), element("p", { class: "soft" }, note), place);
  };

  // ---- Parallel coordinates
  const kMostLines = 1500;
  let along = usual.slice(0, 4);
  let coloured = first;
  const parallel = (redraw) => {
    const dimensions = [...axes.map(({ column }) => column), ...along];
    const step = Math.max(1, Math.ceil(shown.length / kMostLines));
    const lines = shown.filter((_, i) => i % step === 0);
    const scales = dimensions.map((column) => {
      const values = valuesOf(column, shown);
      const axis = axes.some((one) => one.column === column);
      if (axis && values.some((value) => typeof value !== "number")) {
        return { column, at: (value) => (values.length > 1 ? values.indexOf(value) / (values.length - 1) : 0.5),
          scale: { type: "point", domain: values } };
      }
      const low = Math.min(...values), high = Math.max(...values);
      const map = axis && isGeometric(values) ? Math.log : (value) => value;
      return { column, at: (value) => (high > low ? (map(value) - map(low)) / (map(high) - map(low)) : 0.5),
        ticks: axis ? values : null, scale: { type: map === Math.log ? "log" : "linear", zero: false, nice: false,
          domain: high > low ? [low, high] : [low - 1, low + 1] } };
    });
    const points = [];
    lines.forEach((row, line) => scales.forEach(({ column, at }, i) => {
      if (row[column] === null) return;
      points.push({ line, i, v: at(row[column]), c: row[coloured] });
    }));
    const colours = shown.map((row) => row[coloured]).filter((value) => value !== null);
    const tips = lines.map((row) => Object.fromEntries(dimensions.map((column) => [axisTitle(column), row[column]])));
    points.forEach((point) => { point.t = tips[point.line]; });
    // Axes stand beside each other where there is room for that, and lie one below the other on a narrow screen.
    const spec = (width) => {
      const lying = width < 130 * dimensions.length;
      const along = lying ? "width" : "height", across = lying ? "height" : "width";
      const upwards = !lying;
      const titleMarks = { type: "text", from: { data: "axes" }, encode: { update: { text: { field: "title" },
        fill: { value: "var(--ink)" }, fontSize: { value: 11 }, limit: { value: lying ? width - 20 : 0 },
        ...(lying ? { x: { value: 0 }, y: { scale: "place", field: "i", offset: -9 }, align: { value: "left" } }
          : { x: { scale: "place", field: "i" }, y: { value: -12 }, align: { value: "center" } }) } } };
      return {
        height: lying ? 66 * dimensions.length + 60 : 320, padding: { left: 14, right: 14, top: lying ? 4 : 8, bottom: 4 },
        data: [{ name: "points", values: points },
          { name: "axes", values: dimensions.map((column, i) => ({ i, title: axisTitle(column) })) }],
        scales: [{ name: "place", type: "point", range: across, padding: lying ? 0.45 : 0.35,
          domain: scales.map((_, i) => i) },
        { name: "unit", type: "linear", range: along, domain: [0, 1] },
        { name: "colour", type: "linear", range: shades, zero: false,
          domain: [Math.min(...colours), Math.max(...colours)] },
        ...scales.map(({ scale }, i) => ({ ...scale, name: "s" + i, range: along,
          ...(scale.type === "point" && upwards ? { reverse: true } : {}) }))],
        legends: [{ fill: "colour", type: "gradient", orient: "bottom", title: axisTitle(coloured), direction: "horizontal",
          gradientLength: 220 }],
        axes: scales.map(({ scale, ticks }, i) => ({ scale: "s" + i, orient: lying ? "bottom" : "left", zindex: 1, grid: false,
          tickCount: lying ? 4 : 6, ...(ticks && ticks.length <= 10 ? { values: ticks } : {}), labelFlush: lying,
          ...(scale.type === "point" ? {} : { format: "number" }),
          offset: lying ? { signal: `scale('place', ${i}) - height` } : { scale: "place", value: i, mult: -1 } })),
        marks: [{ type: "group", from: { facet: { name: "one", data: "points", groupby: "line" } },
          marks: [{ type: "line", from: { data: "one" }, encode: {
            enter: { [lying ? "y" : "x"]: { scale: "place", field: "i" }, [lying ? "x" : "y"]: { scale: "unit", field: "v" },
              stroke: { scale: "colour", field: "c" }, strokeWidth: { value: 1.2 }, tooltip: { field: "t" } },
            update: { strokeOpacity: { value: lines.length > 200 ? 0.35 : 0.7 }, strokeWidth: { value: 1.2 } },
            hover: { strokeOpacity: { value: 1 }, strokeWidth: { value: 3 } } } }] }, titleMarks],
      };
    };
    const boxes = element("p", { class: "hint" }, labelled("colour", select("parallel-colour", figureChoices, coloured,
      (value) => { coloured = value; redraw(); })), ...along.map((column, i) => labelled("axis " + (i + 1),
      select("parallel-" + i, figureChoices, column, (value) => { along[i] = value; redraw(); }))));
    return element("div", {}, boxes, chart("Parallel coordinates", step > 1 ? `one run of ${step} is drawn` : "",
      spec));
  };

  // ---- A figure over one axis, a line or bar for each value of another.
  const grouped = (columns, figure) => {
    const groups = new Map();
    for (const row of shown) {
      if (row[figure] === null) continue;
      const key = JSON.stringify(columns.map((column) => row[column]));
      if (!groups.has(key)) groups.set(key, { row, values: [] });
      groups.get(key).values.push(row[figure]);
    }
    return [...groups.values()].map(({ row, values }) => ({ row, value: mean(values), count: values.length }));
  };
  const oneAxis = { figure: first, x: (axes.find((axis) => !axis.input) || axes[0]).column, by: "" };
  oneAxis.by = (axes.filter((axis) => axis.column !== oneAxis.x && !axis.input)[0] || { column: "" }).column;
  const overOne = (redraw) => {
    const { figure, x, by } = oneAxis;
    const columns = by && by !== x ? [x, by] : [x];
    const values = grouped(columns, figure).sort((a, b) => order(a.row[x], b.row[x])).map(({ row, value, count }) => ({
      x: row[x], by: by ? String(row[by]) : titles.get(figure), value,
      t: { [titles.get(x)]: row[x], ...(by ? { [titles.get(by)]: row[by] } : {}), [titles.get(figure)]: value,
        runs: count },
    }));
    const places = valuesOf(x, shown);
    const words = places.some((place) => typeof place !== "number");
    const series = by ? valuesOf(by, shown).map(String) : [titles.get(figure)];
    const geometric = !words && isGeometric(places);
    const spec = {
      height: 260, data: [{ name: "values", values }],
      scales: [words ? { name: "x", type: "band", range: "width", padding: 0.2, domain: places }
        : { name: "x", type: geometric ? "log" : "linear", range: "width", padding: 20, zero: false, nice: false,
          domain: places.length > 1 ? [places[0], places[places.length - 1]] : [places[0] - 1, places[0] + 1] },
        { name: "y", type: "linear", range: "height", nice: true, zero: true, domain: { data: "values",
          field: "value" } },
        { name: "colour", type: "ordinal", domain: series, range: heddle.colours.slice(1) }],
      axes: [{ scale: "x", orient: "bottom", title: axisTitle(x) + (geometric ? ", logarithmic" : ""),
        ...(words ? {} : { values: places, format: "number" }) },
      { scale: "y", orient: "left", grid: true, title: axisTitle(figure), tickCount: 6, format: "number" }],
      legends: by ? [{ fill: "colour", title: axisTitle(by) }] : [],
      marks: words ? [{ type: "group", from: { facet: { name: "one", data: "values", groupby: "x" } },
        encode: { enter: { x: { scale: "x", field: "x" } } },
        signals: [{ name: "width", update: "bandwidth('x')" }],
        scales: [{ name: "inner", type: "band", range: "width", domain: series }],
        marks: [{ type: "rect", from: { data: "one" }, encode: { enter: { x: { scale: "inner", field: "by" },
          width: { scale: "inner", band: 0.9 }, y: { scale: "y", field: "value" }, y2: { scale: "y", value: 0 },
          fill: { scale: "colour", field: "by" }, tooltip: { field: "t" } } } }] }]
        : [{ type: "group", from: { facet: { name: "one", data: "values", groupby: "by" } }, marks: [
          { type: "line", from: { data: "one" }, encode: { enter: { x: { scale: "x", field: "x" },
            y: { scale: "y", field: "value" }, stroke: { scale: "colour", field: "by" },
              strokeWidth: { value: 2 } } } },
          { type: "symbol", from: { data: "one" }, encode: { enter: { x: { scale: "x", field: "x" },
            y: { scale: "y", field: "value" }, fill: { scale: "colour", field: "by" }, size: { value: 40 },
            tooltip: { field: "t" } } } }] }],
    };
    const set = (key) => (value) => { oneAxis[key] = value; redraw(); };
    return element("div", {}, element("p", { class: "hint" },
      labelled("figure", select("one-figure", figureChoices, figure, set("figure"))),
      labelled("over", select("one-x", axisChoices, x, set("x"))),
      labelled("by", select("one-by", [none, ...axisChoices], by, set("by")))),
    chart(titles.get(figure) + " over " + titles.get(x), "mean of the runs at each point", spec));
  };

  // ---- A figure over two axes.
  const twoAxes = { figure: first, x: oneAxis.x, y: (axes.find((axis) => axis.column !== oneAxis.x) || {}).column };
  const overTwo = (redraw) => {
    const { figure, x, y } = twoAxes;
    const values = grouped([x, y], figure).map(({ row, value, count }) => ({ x: row[x], y: row[y], value,
      text: number(value), t: { [titles.get(x)]: row[x], [titles.get(y)]: row[y], [titles.get(figure)]: value,
        runs: count },
    }));
    const all = values.map(({ value }) => value);
    const low = Math.min(...all), high = Math.max(...all);
    const rowsOf = valuesOf(y, shown);
    const spec = {
      height: Math.min(520, 60 + 34 * rowsOf.length), data: [{ name: "values", values }],
      scales: [{ name: "x", type: "band", range: "width", padding: 0.02, domain: valuesOf(x, shown) },
        { name: "y", type: "band", range: "height", padding: 0.02, reverse: true, domain: rowsOf },
        { name: "colour", type: "linear", range: shades, zero: false,
          domain: high > low ? [low, high] : [low, low + 1] }],
      axes: [{ scale: "x", orient: "bottom", title: axisTitle(x) }, { scale: "y", orient: "left",
        title: axisTitle(y) }],
      legends: [{ fill: "colour", type: "gradient", orient: "top", title: axisTitle(figure), direction: "horizontal",
        gradientLength: 220 }],
      marks: [{ type: "rect", from: { data: "values" }, encode: { enter: { x: { scale: "x", field: "x" },
        width: { scale: "x", band: 1 }, y: { scale: "y", field: "y" }, height: { scale: "y", band: 1 },
        fill: { scale: "colour", field: "value" }, tooltip: { field: "t" } } } },
      { type: "text", interactive: false, from: { data: "values" }, encode: { enter: {
        x: { scale: "x", field: "x", band: 0.5 }, y: { scale: "y", field: "y", band: 0.5 },
        text: { signal: "bandwidth('x') > 7 * length(datum.text) ? datum.text : ''" },
        align: { value: "center" }, baseline: { value: "middle" }, fontSize: { value: 11 },
        fill: { signal: `datum.value > ${low + 0.6 * (high - low)} ? 'black' : 'white'` } } } }],
    };
    const set = (key) => (value) => { twoAxes[key] = value; redraw(); };
    return element("div", {}, element("p", { class: "hint" },
      labelled("figure", select("two-figure", figureChoices, figure, set("figure"))),
      labelled("across", select("two-x", axisChoices, x, set("x"))),
      labelled("up", select("two-y", axisChoices, y, set("y")))),
    chart(`${titles.get(figure)} over ${titles.get(x)} and ${titles.get(y)}`, "mean of the runs at each point", spec));
  };

  // ---- One figure against another, one mark per design, and which no other beats.
  const trade = { x: usual[1] || first, y: first, low: "min", high: "max" };
  const against = (redraw) => {
    const { x, y } = trade;
    const design = axes.filter((axis) => !axis.input).map(({ column }) => column);
    const ys = new Map(grouped(design, y).map((one) => [JSON.stringify(design.map((c) => one.row[c])), one]));
    const values = grouped(design, x).map((one) => {
      const other = ys.get(JSON.stringify(design.map((column) => one.row[column])));
      return other && { x: one.value, y: other.value, count: one.count, t: {
        ...Object.fromEntries(design.map((column) => [titles.get(column), one.row[column]])),
        [titles.get(x)]: one.value, [titles.get(y)]: other.value, runs: one.count } };
    }).filter(Boolean);
    const full = Math.max(...values.map(({ count }) => count));
    const signX = trade.low === "min" ? 1 : -1, signY = trade.high === "min" ? 1 : -1;
    const candidates = values.filter(({ count }) => count === full)
      .sort((a, b) => signX * (a.x - b.x) || signY * (a.y - b.y));
    let best = Infinity;
    for (const one of candidates) {  // in the order of x only a better y can stay unbeaten
      one.front = signY * one.y < best;
      best = Math.min(best, signY * one.y);
    }
    const spec = {
      height: 300, data: [{ name: "values", values },
        { name: "front", source: "values", transform: [{ type: "filter", expr: "datum.front" },
          { type: "collect", sort: { field: "x" } }] }],
      scales: [{ name: "x", type: "linear", range: "width", nice: true, zero: false, domain: { data: "values",
        field: "x" } },
        { name: "y", type: "linear", range: "height", nice: true, zero: false, domain: { data: "values",
          field: "y" } }],
      axes: [{ scale: "x", orient: "bottom", grid: true, title: axisTitle(x), tickCount: { signal: "ceil(width / 90)" },
        format: "number" }, { scale: "y", orient: "left", grid: true, title: axisTitle(y), tickCount: 6, format: "number" }],
      marks: [{ type: "line", from: { data: "front" }, encode: { enter: { x: { scale: "x", field: "x" },
        y: { scale: "y", field: "y" }, stroke: { value: "var(--c7)" }, strokeDash: { value: [4, 3] } } } },
      { type: "symbol", from: { data: "values" }, encode: { enter: { x: { scale: "x", field: "x" },
        y: { scale: "y", field: "y" }, size: { signal: "datum.front ? 80 : 35" },
        fill: { signal: "datum.front ? 'var(--c7)' : 'var(--c1)'" }, fillOpacity: { value: 0.75 },
        tooltip: { field: "t" } } } }],
    };
    const set = (key) => (value) => { trade[key] = value; redraw(); };
    const ways = [["min", "low is better"], ["max", "high is better"]];
    return element("div", {}, element("p", { class: "hint" },
      labelled("across", select("trade-x", figureChoices, x, set("x"))), select("trade-low", ways, trade.low,
        set("low")),
      labelled(" up", select("trade-y", figureChoices, y, set("y"))), select("trade-high", ways, trade.high,
        set("high"))),
    chart(`${titles.get(y)} against ${titles.get(x)}`, "one mark per design; those that no other beats are joined",
      spec));
  };

  // ---- All rows
  const kMostRows = 2000;
  const allRows = () => {
    const left = (column) => rows.some((row) => typeof row[column] === "string");
    const list = rows.filter((row) => axes.every(({ column }) =>
      !chosen[column] || String(row[column]) === chosen[column]));
    const bad = rows.some((row) => row.status !== "done");
    const columns = ["point", ...axes.map(({ column }) => column), ...(bad ? ["status"] : []),
      ...new Set([...usual, ...figures.map(({ column }) => column)]), ...(bad ? ["message"] : [])];
    const plain = new Set(["point", ...axes.map(({ column }) => column)]);
    const made = table(columns.map((column) => ({ title: titles.get(column) || column, left: left(column),
      text: (row) => (row[column] === null ? "" : plain.has(column) ? String(row[column]) : number(row[column])),
      value: (row) => (row[column] === null ? -Infinity : row[column]) })), list.slice(0, kMostRows));
    return element("div", {}, list.length > kMostRows ? element("p", { class: "hint" },
      `The first ${kMostRows} of ${list.length} rows; the choices above narrow them.`) : null, made);
  };

  const counts = {};
  for (const row of rows) counts[row.status] = (counts[row.status] || 0) + 1;
  const card = (value, text) => element("div", { class: "card" }, element("b", {}, value), element("span", {}, text));
  const redrawAll = () => { choose(); sections.forEach((redraw) => redraw()); };
  page.append(element("h1", {}, data.name), element("p", {}, data.description || ""), heddle.commandLine(),
    element("p", { class: "soft" }, `Heddle ${data.version}, begun ${data.started}, ` +
      (data.finished ? `complete ${data.finished}` : "incomplete") +
      (data.condition ? `; where ${data.condition}` : "")),
    element("div", { class: "cards" }, card(number(data.points), "runs in all"),
      ...Object.entries(counts).map(([status, count]) => card(number(count), status)),
      ...axes.map(({ name, column }) => card(String(valuesOf(column, rows).length), "values of " + name))),
    element("p", { id: "choices" }, ...axes.map(({ name, column }) => labelled(name, select("choose-" + column,
      [["", "all"], ...valuesOf(column, rows).map((value) => [String(value), String(value)])], "",
      (value) => { chosen[column] = value; redrawAll(); })))),
    section("one", "Over one axis", "Other axes are averaged: the geometric mean where all figures are positive.",
      overOne),
    axes.length > 1 ? section("two", "Over two axes", "", overTwo) : "",
    section("parallel", "Parallel coordinates", "Each line is a run. Point at one to see its values.", parallel),
    figures.length > 1 ? section("trade", "Trade-offs", "", against) : "",
    element("section", { id: "rows" }, element("h2", {}, "All runs"), (() => {
      const place = element("div");
      sections.push(() => place.replaceChildren(allRows()));
      return place;
    })()));
  redrawAll();
})();
