"use strict";
// What arguments explain of the values, and filters: the same selection as a brush, by keyboard.
(() => {
  const { make, number } = weft;
  const BINS = 16;

  // The share of the value's variance that the bins of one argument explain, adjusted for their number.
  function importance(state, column) {
    const scale = weft.scale(...column.extent, { words: column.words, log: state.isLog(column) }), sums = new Map();
    let n = 0, mean = 0, squares = 0;
    for (const row of state.rows) {
      const value = state.value.cells[row], cell = column.cells[row];
      if (Number.isNaN(value) || Number.isNaN(cell)) continue;
      n += 1;
      const away = value - mean;
      mean += away / n;
      squares += away * (value - mean);
      const bin = column.words ? cell : Math.min(BINS - 1, Math.floor(scale.share(cell) * BINS)), sum = sums.get(bin) || [0, 0];
      sums.set(bin, [sum[0] + 1, sum[1] + value]);
    }
    if (n <= sums.size || !(squares > 0)) return 0;
    let between = 0;
    for (const [size, sum] of sums.values()) between += size * (sum / size - mean) ** 2;
    return Math.max(0, 1 - ((1 - between / squares) * (n - 1)) / (n - sums.size));
  }
  weft.listImportances = (state, parts) => {
    const shares = state.arguments.map((c) => [c.name, importance(state, c)]).sort((a, b) => b[1] - a[1]);
    parts.importances.hidden = shares.length < 2;
    parts.importanceList.replaceChildren(...shares.map(([name, share]) => {
      const item = make("li"), bar = make("progress");
      bar.max = 1;
      bar.value = share;
      bar.setAttribute("aria-label", "importance of " + name);
      item.append(make("span", name, "label"), bar, make("span", Math.round(100 * share) + " %", "n"));
      return item;
    }));
  };

  weft.fillFilters = (state, parts) => {
    parts.filterGrid.replaceChildren(...state.columns().map((column) => {
      const row = make("div", null, "filter"), set = (low, high) => {
        if (low === null && high === null) state.filters.delete(column.name);
        else state.filters.set(column.name, [low ?? -Infinity, high ?? Infinity]);
        state.refresh(true);
      };
      row.append(make("span", column.name, "label"));
      const now = state.filters.get(column.name);
      if (column.words) {
        const pick = make("select");
        pick.setAttribute("aria-label", column.name);
        pick.append(new Option("all", ""), ...column.words.map((word, i) => new Option(word, i)));
        pick.addEventListener("change", () => (pick.value === "" ? set(null, null) : set(Number(pick.value), Number(pick.value))));
        if (now && now[0] === now[1]) pick.value = String(now[0]);
        row.append(pick);
        return row;
      }
      const fields = ["least", "most"].map((name, i) => {
        const field = make("input");
        field.type = "number";
        field.step = "any";
        field.placeholder = number(column.extent[i]);
        field.setAttribute("aria-label", column.name + ", " + name);
        if (now && Number.isFinite(now[i])) field.value = String(Number(now[i].toPrecision(6)));
        return field;
      });
      const change = () => set(...fields.map((field) => (field.value === "" ? null : Number(field.value))));
      fields.forEach((field) => field.addEventListener("change", change));
      row.append(...fields);
      return row;
    }));
  };

  weft.fillChips = (state, parts) => {
    parts.chips.replaceChildren(...[...state.filters].map(([name, [low, high]]) => {
      const column = state.columns().find((c) => c.name === name), chip = make("button");
      const ends = column && column.words ? column.words.slice(Math.max(0, Math.ceil(low)), Math.floor(high) + 1).join(", ")
        : [low, high].map((v, i) => (Number.isFinite(v) ? state.text(column, v) : state.text(column, column.extent[i]))).join(" – ");
      chip.type = "button";
      chip.textContent = name + " " + ends + " ✕";
      chip.setAttribute("aria-label", "remove filter " + name + " " + ends);
      chip.addEventListener("click", () => { state.filters.delete(name); state.refresh(); });
      return chip;
    }));
    for (const [button, on] of [[parts.clear, state.filters.size], [parts.zoomIn, state.filters.size], [parts.all, state.views.size]]) button.disabled = !on;
  };
})();
