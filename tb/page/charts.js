"use strict";
// What every page has: its data, elements, numbers as text, tables, tooltips and charts by Vega. Charts are drawn one
// after another, so that the page shows its first ones at once; document.documentElement.dataset.ready says when all
// of them stand.
const heddle = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const colours = Array.from({ length: 12 }, (_, i) => `var(--c${i})`);

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

  const grouped = (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  // Whole numbers in full, others with three significant digits or all before the point.
  const number = (value) => {
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value < 0 ? "\u2212" + grouped(String(-value)) : grouped(String(value));
    const size = Math.abs(value);
    const text = size >= 1000 ? grouped(size.toFixed(0)) : String(parseFloat(size.toPrecision(size >= 100 ? 4 : 3)));
    return (value < 0 ? "\u2212" : "") + (text.includes("e") ? value.toExponential(2) : text);
  };
  const percent = (share) => (100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0) + " %";
  const short = (value) => {
    for (const [unit, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
      if (Math.abs(value) >= unit) return number(value / (prefix === "k" ? 1e3 : unit)) + "\u202f" + prefix;
    }
    return number(value);
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

  const config = {
    background: null, font: "system-ui, sans-serif",
    axis: { labelColor: "var(--soft)", titleColor: "var(--soft)", tickColor: "var(--line)", domainColor: "var(--line)",
      gridColor: "var(--line)", gridOpacity: 0.6, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal",
      labelOverlap: true },
    legend: { labelColor: "var(--ink)", titleColor: "var(--soft)", labelFontSize: 12, titleFontSize: 11,
      titleFontWeight: "normal", symbolType: "square", symbolStrokeWidth: 0, symbolSize: 110, orient: "top",
      columns: { signal: "max(1, floor(width / 130))" }, labelLimit: 110, offset: 6 },
    title: { color: "var(--ink)" }, text: { fill: "var(--ink)" }, group: { stroke: null },
  };
  // A fifth of room is left for axes that Vega fits into the given width.
  const queue = [];
  const views = [];
  let drawing = false;
  const draw = () => {
    const next = queue.shift();
    if (!next) {
      drawing = false;
      document.documentElement.dataset.ready = "true";
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
  // Draws a Vega specification, as wide as the figure. made(view) is called when it stands. Returns the figure.
  const chart = (caption, note, specification, made) => {
    const place = element("div", { class: "chart" });
    const figure = element("figure", {}, element("figcaption", {}, caption,
      note ? element("span", { class: "soft" }, " \u2014 " + note) : null), place);
    enqueue(() => {
      const spec = { $schema: "https://vega.github.io/schema/vega/v5.json", height: 180, padding: 4,
        autosize: { type: "fit", contains: "padding", resize: false }, ...specification };
      spec.width = Math.max(240, place.clientWidth || 600);
      const view = new vega.View(vega.parse(spec, config), { renderer: "svg", container: place, hover: true });
      view.tooltip((handler, event, item, value) => showTip(event, value));
      view.run();
      views.push([place, view]);
      if (made) made(view);
    });
    return figure;
  };
  let resizing = 0;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      for (const [place, view] of views) {
        if (place.clientWidth && Math.abs(place.clientWidth - view.width()) > 2) view.width(place.clientWidth).run();
      }
    }, 150);
  });

  return { data, colours, element, number, percent, short, ratio, table, showTip, chart, enqueue };
})();
