"use strict";
// What every page has: its data, elements, numbers as text, tables, tooltips and charts by Vega. Charts are drawn one
// after another, so that the page shows its first ones at once; document.documentElement.dataset.ready says when all
// of them stand, readyAt when, in milliseconds since the navigation.
const heddle = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const colours = Array.from({ length: 12 }, (_, i) => `var(--c${i})`);
  // On the way through some colours, at `share` (0 to 1) of it.
  const between = (stops, share) => {
    const at = Math.min(stops.length - 2, Math.floor(share * (stops.length - 1)));
    return `color-mix(in oklab, ${stops[at]}, ${stops[at + 1]} ${Math.round(100 * (share * (stops.length - 1) - at))}%)`;
  };

  // element("p", {class: "soft"}, "text", other...)
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };

  // ---- numbers as text, the same in tables, on axes and in tooltips: thousands apart by commas, as on the terminal, and
  // a minus sign that is as wide as the plus.
  const minus = (text) => text.replaceAll("-", "\u2212");
  const grouped = (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ",");
  // Whole numbers in full, others with three significant digits or all before the point.
  const number = (value) => {
    if (typeof value !== "number") return String(value);
    const size = Math.abs(value), sign = value < 0 ? "-" : "";
    if (Number.isInteger(value)) return minus(sign + grouped(String(size)));
    const text = size >= 1000 ? grouped(size.toFixed(0)) : String(parseFloat(size.toPrecision(size >= 100 ? 4 : 3)));
    return minus(sign + (text.includes("e") ? size.toExponential(2) : text));
  };
  const percent = (share) => minus((100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0).replace(/^-(0(\.0)?)$/, "$1"))
    + " %";
  // Cycles more or fewer: with a sign.
  const signed = (value) => (Math.round(value) > 0 ? "+" : "") + number(Math.round(value) || 0);
  // Three digits and a prefix from a thousand on: "1.23 M".
  const prefixed = (value, digits) => {
    for (const [unit, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (Math.abs(value) >= 0.9995 * unit) return minus(digits(value / unit)) + "\u00a0" + prefix;
    }
    return number(value);
  };
  const short = (value) => prefixed(value, (part) => part.toPrecision(3));
  // On an axis: no zeros at the end, and a prefix only where that is shorter: "20 k", but "131,072".
  const tick = (value) => {
    if (Math.abs(value) < 1e4) return number(value);
    const whole = number(value), short = prefixed(value, (part) => String(parseFloat(part.toPrecision(6))));
    return whole.length < short.length ? whole : short;
  };
  vega.expressionFunction("heddleNumber", tick);
  vega.expressionFunction("heddlePercent", (share) => minus(String(parseFloat((100 * share).toFixed(1)))) + " %");
  const formats = { number: "heddleNumber(datum.value)", percent: "heddlePercent(datum.value)" };
  // Axes whose `format` is one of these names have their labels from the functions above.
  const formatted = (axis) => {
    if (!formats[axis.format]) return axis;
    const { format, encode = {}, ...rest } = axis;
    return { ...rest, encode: { ...encode, labels: { update: { text: { signal: formats[format] } } } } };
  };

  // ---- names and colours of idle causes and of warps' states, by their one declaration
  const { titles: lookTitles = {}, active = "active", warp_states: stateLooks = {} }
    = (data.declarations || {}).appearance || {};
  const look = {
    active, title: (key) => lookTitles[key] || key, colour: (key) => `var(--of-${key})`,
    ofState: (state) => stateLooks[state] || state,
  };
  const ratio = (part, whole) => (whole ? part / whole : 0);

  // columns: [{title, left, text(row), value(row), wrap}]; a click on a heading sorts by value, else by text.
  const table = (columns, rows) => {
    const body = element("tbody");
    const value = (column, row) => (column.value ? column.value(row) : column.text(row));
    const fill = (order) => body.replaceChildren(...order.map((row) => element("tr", {}, ...columns.map((column) =>
      element("td", { class: [column.left && "left", column.wrap && "wrap"].filter(Boolean).join(" ") || null },
        column.text(row))))));
    let sorted = null, down = false;
    const head = element("tr", {}, ...columns.map((column) => element("th",
      { class: column.left ? "left" : null, "data-sortable": "", onclick: () => {
        down = sorted === column ? !down : !column.left;
        sorted = column;
        fill([...rows].sort((a, b) => {
          const x = value(column, a), y = value(column, b);
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return down ? -order : order;
        }));
      } }, column.title)));
    fill(rows);
    return element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), body));
  };

  const tip = document.body.appendChild(element("div", { id: "tip", role: "tooltip" }));
  // value: an object of lines, or null to hide.
  const showTip = (event, value) => {
    if (value === null || value === undefined || value === "") {
      tip.style.display = "none";
      return;
    }
    tip.replaceChildren(element("table", {}, ...Object.entries(value).map(([key, text]) =>
      element("tr", {}, element("td", {}, key), element("td", {}, typeof text === "number" ? number(text) : text)))));
    tip.style.display = "block";
    const { width, height } = tip.getBoundingClientRect();
    const x = event.clientX + 14, y = event.clientY + 14;
    tip.style.left = Math.max(0, x + width > innerWidth ? event.clientX - width - 10 : x) + "px";
    tip.style.top = Math.max(0, y + height > innerHeight ? event.clientY - height - 10 : y) + "px";
  };

  const kLegendEntry = 150;  // pixels
  const config = {
    background: null, font: "system-ui, sans-serif",
    axis: { labelColor: "var(--soft)", titleColor: "var(--soft)", tickColor: "var(--line)", domainColor: "var(--line)",
      gridColor: "var(--line)", gridOpacity: 0.6, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal",
      labelOverlap: "greedy", labelSeparation: 4 },
    legend: { labelColor: "var(--ink)", titleColor: "var(--soft)", labelFontSize: 12, titleFontSize: 11,
      titleFontWeight: "normal", titleLimit: 320, symbolType: "square", symbolStrokeWidth: 0, symbolSize: 110, orient: "top",
      labelLimit: 130, offset: 6 },
    title: { color: "var(--ink)" }, text: { fill: "var(--ink)" }, group: { stroke: null },
  };
  const queue = [];
  const views = [];
  let drawing = false;
  const draw = () => {
    const next = queue.shift();
    if (!next) {
      drawing = false;
      document.documentElement.dataset.ready = "true";
      document.documentElement.dataset.readyAt = performance.now();
      return;
    }
    next();
    setTimeout(draw, 0);
  };
  const enqueue = (work) => {
    queue.push(work);
    delete document.documentElement.dataset.ready;
    if (!drawing) {
      drawing = true;
      setTimeout(draw, 0);
    }
  };
  // A page that is printed before all stand is whole all the same.
  addEventListener("beforeprint", () => {
    while (queue.length) queue.shift()();
  });
  // Draws a Vega specification, as wide as the figure. made(view, place) is called when it stands. A function of the
  // width that returns the specification draws anew when the window changes. Returns the figure.
  const chart = (caption, note, specification, made) => {
    const place = element("div", { class: "chart" });
    const narrowest = 240;
    const figure = element("figure", {}, element("figcaption", {}, caption,
      note ? element("span", { class: "soft" }, " \u2014 " + note) : null), place);
    const make = () => {
      const width = Math.max(narrowest, place.clientWidth || 600);
      const spec = { $schema: "https://vega.github.io/schema/vega/v5.json", height: 180, padding: 4,
        autosize: { type: "fit", contains: "padding", resize: false },
        ...(typeof specification === "function" ? specification(width) : specification), width };
      // A legend fills its columns one after another, all of them; a long one does not make the plot flat.
      spec.legends = (spec.legends || []).map((one) => {
        const { domain } = (spec.scales || []).find(({ name }) => name === (one.fill || one.stroke)) || {};
        if (one.type === "gradient" || !Array.isArray(domain)) return one;
        const lines = Math.ceil(domain.length / Math.max(1, Math.floor((width - 50) / kLegendEntry)));
        spec.height += 16 * lines;
        return { columns: Math.ceil(domain.length / lines), ...one };
      });
      spec.axes = (spec.axes || []).map(formatted);
      const view = new vega.View(vega.parse(spec, config), { renderer: "svg", container: place, hover: true });
      view.tooltip((handler, event, item, value) => showTip(event, value));
      view.run();
      return view;
    };
    enqueue(() => {
      const entry = { place, view: make() };
      if (typeof specification === "function") {
        entry.again = () => {
          entry.view.finalize();
          place.replaceChildren();
          entry.view = make();
        };
      }
      views.push(entry);
      if (made) made(entry.view, place);
    });
    return figure;
  };
  let resizing = 0;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      for (const { place, view, again } of views) {
        if (!place.isConnected || !place.clientWidth) continue;
        if (again) again();
        else if (Math.abs(place.clientWidth - view.width()) > 2) view.width(place.clientWidth).run();
      }
    }, 150);
  });

  // Where the pointer is within a view's plot, in its pixels.
  const inPlot = (view, place, event) => {
    const box = place.querySelector("svg").getBoundingClientRect();
    const [left, top] = view.origin();
    return [event.clientX - box.left - left, event.clientY - box.top - top];
  };

  // ---- charts over time. All charts show the same stretch; dragging across one chooses it, a double click shows all.
  const timeViews = [];
  let shown = null;
  const showStretch = (from, to) => {
    shown = [from, to];
    for (const view of timeViews) view.signal("shown", shown).run();
  };
  const zoomable = (view, place, end) => {
    timeViews.push(view);
    let began = null;
    const at = (event) => Math.min(view.width(), Math.max(0, inPlot(view, place, event)[0]));
    place.addEventListener("mousedown", (event) => {
      began = at(event);
      event.preventDefault();
    });
    addEventListener("mousemove", (event) => {
      if (began !== null) view.signal("brush", [began, at(event)]).run();
    });
    addEventListener("mouseup", (event) => {
      if (began === null) return;
      const chosen = [began, at(event)].sort((a, b) => a - b).map((x) => view.scale("x").invert(x));
      const wide = Math.abs(at(event) - began) > 5;
      began = null;
      view.signal("brush", [0, 0]).run();
      if (wide) showStretch(...chosen);
    });
    place.addEventListener("dblclick", () => showStretch(0, end));
  };
  const timeSignals = (end) => [{ name: "shown", value: shown || [0, end] }, { name: "brush", value: [0, 0] }];
  const timeScale = { name: "x", type: "linear", range: "width", domain: { signal: "shown" }, zero: false, nice: false };
  const timeAxis = { orient: "bottom", scale: "x", title: "cycle", tickCount: { signal: "ceil(width / 90)" },
    format: "number" };
  const brushMark = { type: "rect", interactive: false, encode: { update: { x: { signal: "brush[0]" },
    x2: { signal: "brush[1]" }, y: { value: 0 }, y2: { signal: "height" }, fill: { value: "var(--soft)" },
    fillOpacity: { value: 0.25 } } } };

  // series: [{name, colour, values}], one value per bucket of `bucket` cycles up to cycle `end`; stacked or as lines.
  const overTime = (caption, note, { series, bucket, end, stacked, title, format, top, tip }) => {
    const points = [];
    const buckets = Math.max(...series.map((one) => one.values.length));
    series.forEach((one, order) => {
      for (let i = 0; i < buckets; i++) points.push({ x: i * bucket, y: one.values[i] || 0, name: one.name, order });
      points.push({ x: end, y: one.values[buckets - 1] || 0, name: one.name, order });
    });
    const names = series.map((one) => one.name);
    const mark = stacked
      ? { type: "area", from: { data: "part" }, encode: { update: { x: { scale: "x", field: "x" },
        y: { scale: "y", field: "y0" }, y2: { scale: "y", field: "y1" }, interpolate: { value: "step-after" },
        fill: { scale: "colour", field: "name" } } } }
      : { type: "line", from: { data: "part" }, encode: { update: { x: { scale: "x", field: "x" },
        y: { scale: "y", field: "y" }, interpolate: { value: "step-after" }, strokeWidth: { value: 1.5 },
        stroke: { scale: "colour", field: "name" } } } };
    const specification = {
      signals: timeSignals(end),
      data: [{ name: "points", values: points, transform: stacked
        ? [{ type: "stack", groupby: ["x"], sort: { field: "order" }, field: "y" }] : [] }],
      scales: [timeScale, { name: "y", type: "linear", range: "height", zero: true, nice: top === undefined,
        domain: top === undefined ? { data: "points", field: stacked ? "y1" : "y" } : [0, top] },
      { name: "colour", type: "ordinal", domain: names, range: series.map((one) => one.colour) }],
      axes: [timeAxis, { orient: "left", scale: "y", title, tickCount: 5, grid: true,
        format: format || "number", minExtent: 42 }],
      legends: names.length > 1 ? [{ fill: "colour" }] : [],
      marks: [{ type: "group", clip: true, encode: { update: { width: { signal: "width" },
        height: { signal: "height" } } }, marks: [{ type: "group", from: { facet: { name: "part", data: "points",
        groupby: "name" } }, marks: [mark] }, brushMark] }],
    };
    return chart(caption, note, specification, (view, place) => {
      zoomable(view, place, end);
      place.addEventListener("mousemove", (event) => {
        const [x, y] = inPlot(view, place, event);
        const cycle = view.scale("x").invert(x);
        const at = Math.floor(cycle / bucket);
        if (x < 0 || y < 0 || x > view.width() || y > view.height() || at >= buckets) {
          showTip(event, null);
          return;
        }
        const text = { "cycles": `${number(at * bucket)} \u2013 ${number(Math.min(end, (at + 1) * bucket))}` };
        for (const one of [...series].reverse()) {
          const value = one.values[at] || 0;
          if (value || !stacked) text[one.name] = tip ? tip(value) : number(value);
        }
        showTip(event, text);
      });
      place.addEventListener("mouseleave", (event) => showTip(event, null));
    });
  };

  // A picture of numbers: matrix[row][column], the larger the fuller the colour (by the square root,
  // so that small ones are seen), nothing where it is 0. With `bucket`
  // the columns are stretches of time up to cycle `end`. tip(row, column, value) makes the lines of the tooltip.
  // With `square` rows and columns are equally wide, and `each` is what one of them counts on the axes.
  const heatMap = (caption, note, { matrix, bucket, end, rowTitle, columnTitle, tip, unit, square, each = 1 }) => {
    const rows = matrix.length, columns = Math.max(1, ...matrix.map((row) => row.length));
    let top = 0;
    for (const row of matrix) for (const value of row) top = Math.max(top, value);
    const canvas = element("canvas", { width: columns, height: rows });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(columns, rows);
    matrix.forEach((row, r) => row.forEach((value, c) => {
      pixels.data.set([31, 111, 181, top ? Math.round(255 * Math.sqrt(value / top)) : 0], 4 * (r * columns + c));
    }));
    context.putImageData(pixels, 0, 0);
    const inTime = bucket !== undefined;
    // The last bucket may be wider than what is left of the run.
    const covered = inTime ? columns * bucket : columns;
    const xEnd = inTime ? end : columns;
    const step = (count, most) => Math.max(1, 2 ** Math.ceil(Math.log2(count / most)));
    const ticks = (count, most) => Array.from({ length: Math.ceil(count / step(count, most)) },
      (_, i) => i * step(count, most) + 0.5);
    const labels = { encode: { labels: { update: { text: { signal: `heddleNumber(floor(datum.value) * ${each})` } } } } };
    const kAxes = [62, 50];  // pixels beside and below the plot
    const specification = {
      height: Math.min(340, Math.max(60, rows * (rows > 40 ? 5 : 11))),
      signals: inTime ? timeSignals(xEnd) : [],
      scales: [inTime ? timeScale : { name: "x", type: "linear", range: "width", domain: [0, columns], nice: false },
        { name: "y", type: "linear", range: [0, { signal: "height" }], domain: [0, rows], nice: false }],
      axes: [inTime ? timeAxis : { orient: "bottom", scale: "x", title: columnTitle, values: ticks(columns, 16), ...labels },
        { orient: "left", scale: "y", title: rowTitle, values: ticks(rows, 10), minExtent: 42, ...labels }],
      marks: [{ type: "group", clip: true, encode: { update: { width: { signal: "width" },
        height: { signal: "height" }, stroke: { value: "var(--line)" } } },
        marks: [{ type: "image", encode: { update: { url: { value: canvas.toDataURL() }, aspect: { value: false },
          smooth: { value: false }, x: { scale: "x", value: 0 }, y: { value: 0 }, height: { signal: "height" },
          width: { signal: `scale('x', ${covered}) - scale('x', 0)` } } } }, ...(inTime ? [brushMark] : [])] }],
    };
    const scale = element("span", { class: "scale" }, "0 ", element("i"), ` ${short(top)}${unit ? " " + unit : ""}`);
    const squared = (width) => ({ ...specification,
      height: Math.max(40, Math.round((width - kAxes[0]) * rows / columns)) + kAxes[1] });
    const figure = chart(caption, note, square ? squared : specification, (view, place) => {
      if (inTime) zoomable(view, place, end);
      place.addEventListener("mousemove", (event) => {
        const [x, y] = inPlot(view, place, event);
        const at = view.scale("x").invert(x);
        const column = Math.floor(inTime ? at / bucket : at), row = Math.floor(view.scale("y").invert(y));
        const inside = x >= 0 && x <= view.width() && row >= 0 && row < rows && column >= 0 && column < columns;
        showTip(event, inside ? tip(row, column, matrix[row][column] || 0) : null);
      });
      place.addEventListener("mouseleave", (event) => showTip(event, null));
    });
    figure.querySelector("figcaption").append(scale);
    return figure;
  };

  // parts: [{name, colour, value}] as one bar of shares, of things that `unit` names and `text` writes.
  const shareBar = (caption, note, parts, unit = "cycles", text = number) => {
    const total = parts.reduce((sum, part) => sum + part.value, 0);
    const bar = element("div", { class: "bar", role: "img", "aria-label": caption });
    const legend = element("div", { class: "keys" });
    for (const part of parts.filter((one) => one.value > 0)) {
      const share = ratio(part.value, total);
      const lines = { [part.name]: percent(share), [unit]: text(part.value) };
      bar.append(element("span", { style: `width:${100 * share}%;background:${part.colour}`,
        onmousemove: (event) => showTip(event, lines), onmouseleave: (event) => showTip(event, null) }));
      legend.append(element("span", {}, element("i", { style: `background:${part.colour}` }),
        ` ${part.name} ${percent(share)}`));
    }
    return element("figure", {}, element("figcaption", {}, caption,
      note ? element("span", { class: "soft" }, " \u2014 " + note) : null), bar, legend);
  };

  // How the page was made: what brings it about again.
  const commandLine = () => (data.command ? element("p", { class: "command" }, element("code", {}, data.command)) : "");

  return { data, colours, between, element, number, percent, signed, short, tick, ratio, look, table, showTip, chart, overTime,
    heatMap, shareBar, commandLine, enqueue };
})();
