"use strict";
// Energy as pages show it: its units, the colours of kinds of units, modules with all that is in them.
heddle.energy = (() => {
  const { number } = heddle;
  const scaled = (value, steps) => {
    const [unit, name] = steps.find(([least]) => Math.abs(value) >= 0.9995 * least) || steps[steps.length - 1];
    return `${number(parseFloat((value / unit).toPrecision(3)))}\u00a0${name}`;
  };
  const joules = (pj) => scaled(pj, [[1e12, "J"], [1e9, "mJ"], [1e6, "\u00b5J"], [1e3, "nJ"], [1, "pJ"]]);
  const watts = (mw) => scaled(mw, [[1e3, "W"], [1, "mW"], [1e-3, "\u00b5W"]]);
  const product = (pjNs) => scaled(pjNs, [[1e15, "mJ \u00b5s"], [1e9, "\u00b5J \u00b5s"], [1, "pJ ns"]]);
  // Of several runs' energies: the kinds of units that have any, each with a colour, in the order of the tables.
  const kindsOf = (energies) => [...new Set(energies.flatMap((one) => Object.keys(one.kinds)))]
    .filter((kind) => energies.some((one) => one.kinds[kind] && one.kinds[kind].pj > 0))
    .map((name, i) => ({ name, colour: `var(--c${[1, 2, 3, 5, 7, 9, 4, 8, 10, 11, 6, 0][i % 12]})` }));
  // The GPU's parts ("gpu.core0"), each with all modules in it: [{name, pj}].
  const partsOf = (energy) => {
    const sums = new Map();
    for (const [module, { pj }] of Object.entries(energy.modules)) {
      const part = module.split(".").slice(0, 2).join(".");
      sums.set(part, (sums.get(part) || 0) + pj);
    }
    return [...sums].map(([name, pj]) => ({ name, pj }));
  };
  const microjoules = (pj) => number(parseFloat((1e-6 * pj).toPrecision(4)));
  return { joules, watts, product, kindsOf, partsOf, microjoules };
})();
