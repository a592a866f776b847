"use strict";
// Threads where they lie in a two-dimensional grid, and the pictures that the kernels have made.
(() => {
  const { data, element, number, ratio, heatMap } = heddle;
  const { section } = report;
  const { thread_maps: maps, pictures } = data.profile;
  const pair = (...figures) => element("div", { class: "pair squares" }, ...figures);

  if (maps.length > 0) {
    const drawn = maps.flatMap((map) => {
      const { cell, columns } = map, rows = map.instructions.length / columns;
      // Threads of a cell, of which those at the right and lower edge may have fewer.
      const side = (at, whole) => Math.min(cell, whole - at * cell);
      const meanOf = (sums) => Array.from({ length: rows }, (_, y) => sums.slice(y * columns, (y + 1) * columns)
        .map((sum, x) => sum / (side(x, map.width) * side(y, map.height))));
      const span = (at, whole) => (cell === 1 ? number(at) : `${number(at * cell)} \u2013 ${
        number(at * cell + side(at, whole) - 1)}`);
      const total = (sums) => sums.reduce((a, b) => a + b, 0);
      const threads = map.width * map.height;
      const picture = (title, note, sums, unit) => heatMap(title, note, { matrix: meanOf(sums), square: true, each: cell,
        columnTitle: "x", rowTitle: "y", tip: (row, column, value) => ({ "thread x": span(column, map.width),
          "thread y": span(row, map.height), [unit]: value }) });
      return [element("h3", {}, `${map.kernel}, ${number(map.width)} \u00d7 ${number(map.height)} threads`),
        element("p", { class: "hint" }, `${map.launches > 1 ? `${number(map.launches)} launches, added up. ` : ""}${
          cell > 1 ? `A point is ${cell} \u00d7 ${cell} threads. ` : ""}A thread executes ${
          number(ratio(total(map.instructions), threads))} instructions and diverges ${
          number(ratio(total(map.divergences), threads))} times in the mean.`),
        pair(picture("Path length", "instructions that the thread has executed", map.instructions, "instructions"),
          picture("Divergences", "branches at which its warp parted", map.divergences,
            "divergences"))];
    });
    section("grid", "Threads of the grid", ...drawn);
  }

  if (pictures.length > 0) {
    section("pictures", "Pictures", element("p", { class: "hint" }, "What the kernels have left in the buffers that are "
      + "pictures."), pair(...pictures.map(({ name, width, height, rgb }) => {
      const canvas = element("canvas", { width, height });
      const context = canvas.getContext("2d");
      const pixels = context.createImageData(width, height);
      const bytes = atob(rgb);
      for (let i = 0; i < width * height; i++) {
        pixels.data.set([bytes.charCodeAt(3 * i), bytes.charCodeAt(3 * i + 1), bytes.charCodeAt(3 * i + 2), 255], 4 * i);
      }
      context.putImageData(pixels, 0, 0);
      // Whole screen pixels to each of a small picture's.
      const shown = width * Math.max(1, Math.floor(540 / Math.max(width, height)));
      return element("figure", {}, element("figcaption", {}, name, element("span", { class: "soft" },
        ` \u2014 ${number(width)} \u00d7 ${number(height)} pixels`)),
      element("img", { class: "picture", src: canvas.toDataURL(), alt: name, style: `width: ${shown}px` }));
    })));
  }
})();
