"use strict";
// Which rows of the values are shown and which of them are selected; every chart draws from it.
(() => {
  const { duration, number } = weft;
  const SKEWED = 0.1, WIDE_LOG = 100;
  weft.ORDER = "task";

  // A share between -0.5 and 0.5: the same for a row in every drawing, and unlike anything that grows with its number.
  weft.jitter = (row) => {
    let bits = Math.imul(row ^ (row >>> 16), 0x45d9f3b);
    bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
    return ((bits ^ (bits >>> 16)) >>> 0) / 4294967296 - 0.5;
  };
  weft.evenly = (rows, most) => (rows.length <= most ? rows : Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]));

  // `table` comes with every update; `filters` and `views` (what is zoomed to) are by column name.
  weft.selection = () => {
    const state = { table: null, rows: [], mask: null, best: "", filters: new Map(), views: new Map(), known: new Map(), fn: 0, value: null };

    // Logarithmic where most values are crowded at the low end of a wide range.
    const crowded = (column) => {
      const [low, high] = column.extent;
      if (!(low > 0 && high / low > WIDE_LOG)) return false;
      const cells = weft.evenly(state.rows, 1000).map((row) => column.cells[row]).filter((cell) => !Number.isNaN(cell)).sort((a, b) => a - b);
      return (cells[cells.length >> 1] - low) / (high - low) < SKEWED;
    };
    state.isLog = (column) => !column.words && column.name !== weft.ORDER && column.role !== "value" && Boolean(column.logScale);
    state.scaleOf = (column) => weft.scale(...(state.views.get(column.name) || column.extent),
      { words: column.words, log: state.isLog(column), text: column.role === "time" ? duration : undefined });
    state.text = (column, value) => (column.words ? column.words[value] ?? "" : column.role === "time" ? duration(value) : number(value));
    state.columns = () => [state.order, ...state.arguments, state.value, state.table.time];

    state.choose = () => {
      const { table } = state;
      state.rows = [];
      const order = new Float64Array(table.rows).fill(NaN);
      for (let row = 0; row < table.rows; row += 1) {
        if (table.place.function[row] !== state.fn) continue;
        order[row] = state.rows.length;
        state.rows.push(row);
      }
      // Charts hold on to columns: what an update brings goes into the ones they have.
      const keep = (column) => {
        const known = state.known.get(column.role + " " + column.name);
        if (!known) state.known.set(column.role + " " + column.name, column);
        return known ? Object.assign(known, column) : column;
      };
      const has = (column) => state.rows.some((row) => !Number.isNaN(column.cells[row]));
      state.order = keep({ name: weft.ORDER, role: "place", cells: order, words: null });
      state.arguments = table.arguments.filter(has).map(keep);
      state.values = table.values.filter(has).map(keep);
      table.time = keep(table.time);
      state.value = state.values.find((c) => c.name === (state.chosen || table.chosen)) || state.values[0];
      const base = new Uint8Array(table.rows);
      for (const row of state.rows) base[row] = 1;
      state.base = base;
      for (const column of [state.order, ...state.arguments, ...state.values, table.time]) {
        column.extent = weft.extent(column.cells, base);
        column.logScale = crowded(column);
      }
      state.best = state.asked || table.direction || "min";
    };

    state.select = () => {
      const { filters } = state, mask = state.base.slice();
      for (const [name, [low, high]] of filters) {
        const column = state.columns().find((c) => c.name === name);
        if (!column) continue;
        for (const row of state.rows) if (!(column.cells[row] >= low && column.cells[row] <= high)) mask[row] = 0;
      }
      state.mask = mask;
      state.chosenRows = filters.size ? state.rows.filter((row) => mask[row]) : state.rows;
      state.restRows = filters.size ? state.rows.filter((row) => !mask[row]) : [];
    };

    state.bestRow = (rows) => {
      const sign = state.best === "max" ? -1 : 1, { cells } = state.value;
      let best = -1;
      for (const row of rows) if (!Number.isNaN(cells[row]) && (best < 0 || sign * cells[row] < sign * cells[best])) best = row;
      return best;
    };
    return state;
  };
})();
