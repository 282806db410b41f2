"use strict";
// What tasks gave for which arguments: charts that share one selection. Columns come from columns.js.
(() => {
  const { make, count, duration, number } = weft;
  const LINES = 1500, AXES = 8, WIDE_LOG = 100, BINS = 16, NEAR_PX = 14;
  const ORDER = "task";

  weft.values = (box, openTask) => {
    const parts = {};
    const state = { table: null, rows: [], mask: null, best: "", filters: new Map(), views: new Map(), known: new Map(), fn: 0, value: null };
    let charts = [], built = "";

    // -- columns and rows ------------------------------------------------------------------------

    const isLog = (column) => {
      if (column.words || column.name === ORDER || column.role === "value") return false;
      const [low, high] = column.extent;
      return low > 0 && high / low > WIDE_LOG;
    };
    const scaleOf = (column) => weft.scale(...(state.views.get(column.name) || column.extent),
      { words: column.words, log: isLog(column), text: column.role === "time" ? duration : undefined });
    const text = (column, value) => (column.words ? column.words[value] ?? "" : column.role === "time" ? duration(value) : number(value));

    function choose() {
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
      state.order = keep({ name: ORDER, role: "place", cells: order, words: null });
      state.arguments = table.arguments.filter(has).map(keep);
      state.values = table.values.filter(has).map(keep);
      table.time = keep(table.time);
      state.value = state.values.find((c) => c.name === (state.chosen || table.chosen)) || state.values[0];
      const base = new Uint8Array(table.rows);
      for (const row of state.rows) base[row] = 1;
      state.base = base;
      for (const column of [state.order, ...state.arguments, ...state.values, table.time]) column.extent = weft.extent(column.cells, base);
      state.best = state.asked || table.direction || "min";
    }
    const columns = () => [state.order, ...state.arguments, state.value, state.table.time];

    function select() {
      const { table, filters } = state, mask = state.base.slice();
      for (const [name, [low, high]] of filters) {
        const column = columns().find((c) => c.name === name);
        if (!column) continue;
        for (const row of state.rows) if (!(column.cells[row] >= low && column.cells[row] <= high)) mask[row] = 0;
      }
      state.mask = mask;
      state.chosenRows = filters.size ? state.rows.filter((row) => mask[row]) : state.rows;
      state.restRows = filters.size ? state.rows.filter((row) => !mask[row]) : [];
      return table;
    }

    const bestRow = (rows) => {
      const sign = state.best === "max" ? -1 : 1, { cells } = state.value;
      let best = -1;
      for (const row of rows) if (!Number.isNaN(cells[row]) && (best < 0 || sign * cells[row] < sign * cells[best])) best = row;
      return best;
    };

    // -- what every point chart does ---------------------------------------------------------------

    // The same place for a row in every drawing, and unlike anything that grows with its number.
    const jitter = (row) => {
      let bits = Math.imul(row ^ (row >>> 16), 0x45d9f3b);
      bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
      return ((bits ^ (bits >>> 16)) >>> 0) / 4294967296 - 0.5;
    };
    const describe = (row) => [state.table.placeOf(row).replace(/^:/, "/:"), state.value.name + " " + text(state.value, state.value.cells[row]),
      ...state.arguments.slice(0, AXES).map((c) => c.name + " " + (Number.isNaN(c.cells[row]) ? "–" : text(c, c.cells[row]))),
      "took " + duration(state.table.time.cells[row])].join(" · ");

    function pointChart(figure, column, height, more) {
      const scales = () => [scaleOf(column), scaleOf(state.value)];
      const shares = () => {
        const [x, y] = scales(), xs = column.cells, ys = state.value.cells, spread = column.words ? 0.7 / column.words.length : 0;
        return [(row) => x.share(xs[row]) + spread * (spread ? jitter(row) : 0), (row) => y.share(ys[row])];
      };
      const found = (row) => { const [sx, sy] = shares(); return { text: describe(row), x: sx(row), y: sy(row), row }; };
      const chart = weft.chart(figure, {
        height,
        draw: (c) => {
          const [x, y] = scales(), [sx, sy] = shares();
          c.axes(x, y, [column.name === ORDER ? "task, in order" : column.name]);
          c.points(state.restRows, sx, sy, weft.colour("--c-queued"), 2.5);
          c.points(state.chosenRows, sx, sy, weft.colour("--c-completed"), 3);
          if (more) more(c, x, y);
        },
        tip: (x, y) => {
          const [sx, sy] = shares();
          let best = null, nearest = NEAR_PX ** 2;
          for (const row of state.chosenRows) {
            const far = ((sx(row) - x) * chart.wide) ** 2 + ((sy(row) - y) * chart.high) ** 2;
            if (far < nearest) { nearest = far; best = row; }
          }
          return best === null ? null : found(best);
        },
        at: found,
        step: (row, by) => {
          const rows = state.chosenRows.filter((r) => !Number.isNaN(state.value.cells[r]));
          if (!rows.length) return null;
          const sorted = column.name === ORDER ? rows : rows.sort((a, b) => column.cells[a] - column.cells[b] || a - b);
          const at = sorted.indexOf(row);
          return sorted[at < 0 ? 0 : Math.min(sorted.length - 1, Math.max(0, at + by))];
        },
        open: (row) => openTask(state.table.placeOf(row)),
        brush: ([x0, y0], [x1, y1]) => {
          const [x, y] = scales();
          state.filters.set(column.name, [x.value(Math.min(x0, x1)), x.value(Math.max(x0, x1))]);
          state.filters.set(state.value.name, [y.value(Math.min(y0, y1)), y.value(Math.max(y0, y1))]);
          refresh();
        },
        zoom: (factor, at) => {
          if (factor === Infinity || column.words) state.views.delete(column.name);
          else {
            const x = weft.scale(...column.extent, { log: isLog(column) }), now = scaleOf(column);
            const low = x.share(now.low), high = x.share(now.high), middle = low + (high - low) * at;
            const next = [middle - (middle - low) * factor, middle + (high - middle) * factor].map((s) => Math.min(1, Math.max(0, s)));
            if (next[1] - next[0] >= 1) state.views.delete(column.name);
            else state.views.set(column.name, next.map(x.value));
          }
          refresh();
        },
      });
      chart.label(state.value.name + " against " + (column.name === ORDER ? "the order of tasks" : column.name)
        + "; arrows go from task to task, Enter opens it, plus and minus zoom, 0 shows all");
      return chart;
    }

    function drawBest(c, x, y) {
      const sign = state.best === "max" ? -1 : 1, points = [], { cells } = state.value;
      let best = NaN;
      for (const row of state.rows) {
        const value = cells[row];
        if (Number.isNaN(value) || sign * value >= sign * best) continue;
        best = value;
        points.push([x.share(state.order.cells[row]), y.share(best)]);
      }
      if (points.length) points.push([x.share(state.rows.length - 1), y.share(best)]);
      c.line(points, weft.colour("--accent"), 2, true);
    }

    // -- parallel coordinates ------------------------------------------------------------------------

    function parallel(figure) {
      const shown = () => [...state.arguments.slice(0, AXES), state.value];
      const nearest = (x) => Math.round(Math.min(1, Math.max(0, x)) * (shown().length - 1));
      const chart = weft.chart(figure, {
        height: 280, pad: { left: 46, right: 46, top: 26, bottom: 26 },
        draw: (c) => drawLines(c, shown()),
        area: ([x, y], [, to]) => { const at = nearest(x) / (shown().length - 1); return [at - 0.012, at + 0.012, y, to]; },
        brush: ([x, y], [, to]) => {
          const column = shown()[nearest(x)], scale = scaleOf(column);
          state.filters.set(column.name, [scale.value(Math.min(y, to)), scale.value(Math.max(y, to))]);
          refresh();
        },
      });
      chart.label("Parallel coordinates of " + shown().map((c) => c.name).join(", ") + "; the filters below select the same by keyboard");
      return chart;
    }
    const evenly = (rows, most) => (rows.length <= most ? rows : Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]));
    function drawLines(c, shown) {
      const { context } = c, scales = shown.map(scaleOf), last = shown.length - 1;
      const trace = (row) => {
        let begun = false;
        shown.forEach((column, i) => {
          const value = column.cells[row];
          if (Number.isNaN(value)) { begun = false; return; }
          const x = c.px(i / last), y = c.py(scales[i].share(value) + (column.words ? (0.5 * jitter(row)) / column.words.length : 0));
          if (begun) context.lineTo(x, y); else context.moveTo(x, y);
          begun = true;
        });
      };
      const draw = (rows, colour, alpha) => {
        context.strokeStyle = colour;
        context.globalAlpha = alpha;
        context.lineWidth = 1;
        context.beginPath();
        for (const row of rows) trace(row);
        context.stroke();
        context.globalAlpha = 1;
      };
      const rows = evenly(state.chosenRows, LINES);
      draw(evenly(state.restRows, 400), weft.colour("--c-queued"), 0.35);
      const sign = state.best === "max" ? -1 : 1, sorted = [...rows].sort((a, b) => sign * (state.value.cells[b] - state.value.cells[a]));
      const split = Math.floor(sorted.length * 0.9);
      draw(sorted.slice(0, split), weft.colour("--c-completed"), Math.max(0.12, Math.min(0.6, 60 / rows.length)));
      draw(sorted.slice(split), weft.colour("--c-failed"), Math.max(0.3, Math.min(0.9, 60 / rows.length)));
      context.font = "12px system-ui,sans-serif";
      shown.forEach((column, i) => {
        const x = c.px(i / last), scale = scales[i];
        context.strokeStyle = context.fillStyle = weft.colour("--soft");
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(x, c.py(0));
        context.lineTo(x, c.py(1));
        context.stroke();
        context.textAlign = i === 0 ? "left" : i === last ? "right" : "center";
        const place = i === 0 ? x - 40 : i === last ? x + 40 : x, clip = (t) => (t.length > 12 ? t.slice(0, 11) + "…" : t);
        context.textBaseline = "bottom";
        context.fillStyle = weft.colour("--ink");
        context.fillText(clip(column.name), place, c.py(1) - 6);
        context.fillStyle = weft.colour("--soft");
        context.textAlign = i === last ? "left" : "right";
        const ends = column.words ? column.words.map((_, k) => k) : [scale.low, scale.high];
        context.textBaseline = "middle";
        context.strokeStyle = weft.colour("--card");
        context.lineWidth = 4;
        for (const end of evenly(ends, 12)) {
          const place = [clip(scale.text(end)).slice(0, 8), x + (i === last ? 6 : -6), c.py(scale.share(end))];
          context.strokeText(...place);
          context.fillText(...place);
        }
        const filter = state.filters.get(column.name);
        if (filter) {
          const [low, high] = filter.map((v) => Math.min(1, Math.max(0, scale.share(v))));
          context.globalAlpha = 0.25;
          context.fillStyle = weft.colour("--accent");
          context.fillRect(x - 7, c.py(high), 14, Math.max(2, c.py(low) - c.py(high)));
          context.globalAlpha = 1;
        }
      });
      parts.lines.textContent = rows.length < state.chosenRows.length
        ? count(rows.length) + " of " + count(state.chosenRows.length) + " lines are drawn; the best tenth in red" : "the best tenth in red";
    }

    // -- times and importances ------------------------------------------------------------------------

    function histogram(figure) {
      const bars = 32;
      const counts = () => {
        const column = state.table.time, scale = scaleOf(column), all = new Array(bars).fill(0), chosen = new Array(bars).fill(0);
        for (const row of state.rows) {
          const at = Math.min(bars - 1, Math.floor(scale.share(column.cells[row]) * bars));
          if (at >= 0) { all[at] += 1; if (state.mask[row]) chosen[at] += 1; }
        }
        return { scale, all, chosen, most: Math.max(1, ...all) };
      };
      const chart = weft.chart(figure, {
        height: 200,
        draw: (c) => {
          const { scale, all, chosen, most } = counts();
          c.axes(scale, weft.scale(0, most), ["task time"]);
          all.forEach((n, i) => { if (n) c.bar(i / bars, (i + 1) / bars, n / most, weft.colour("--c-queued")); });
          chosen.forEach((n, i) => { if (n) c.bar(i / bars, (i + 1) / bars, n / most, weft.colour("--c-completed")); });
        },
        tip: (x) => {
          const at = Math.floor(x * bars);
          if (at < 0 || at >= bars) return null;
          const { scale, all, chosen, most } = counts();
          return { text: duration(scale.value(at / bars)) + " – " + duration(scale.value((at + 1) / bars)) + ": " + count(all[at])
            + (all[at] === 1 ? " task" : " tasks") + (state.filters.size ? ", " + count(chosen[at]) + " selected" : ""), x: (at + 0.5) / bars, y: all[at] / most };
        },
        area: ([x], [to]) => [x, to, 0, 1],
        brush: ([x], [to]) => { const s = scaleOf(state.table.time); state.filters.set(state.table.time.name, [s.value(Math.min(x, to)), s.value(Math.max(x, to))]); refresh(); },
      });
      chart.label("Histogram of task times: " + duration(state.table.time.extent[0]) + " to " + duration(state.table.time.extent[1]));
      return chart;
    }

    // The share of the value's variance that the bins of one argument explain, adjusted for their number.
    function importance(column) {
      const scale = weft.scale(...column.extent, { words: column.words, log: isLog(column) }), sums = new Map();
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
    function listImportances() {
      const shares = state.arguments.map((c) => [c.name, importance(c)]).sort((a, b) => b[1] - a[1]);
      parts.importances.hidden = shares.length < 2;
      parts.importanceList.replaceChildren(...shares.map(([name, share]) => {
        const item = make("li"), bar = make("progress");
        bar.max = 1;
        bar.value = share;
        bar.setAttribute("aria-label", "importance of " + name);
        item.append(make("span", name, "label"), bar, make("span", Math.round(100 * share) + " %", "n"));
        return item;
      }));
    }

    // -- filters: the same selection by keyboard --------------------------------------------------------

    function fillFilters() {
      parts.filterGrid.replaceChildren(...columns().map((column) => {
        const row = make("div", null, "filter"), set = (low, high) => {
          if (low === null && high === null) state.filters.delete(column.name);
          else state.filters.set(column.name, [low ?? -Infinity, high ?? Infinity]);
          refresh(true);
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
    }
    function fillChips() {
      parts.chips.replaceChildren(...[...state.filters].map(([name, [low, high]]) => {
        const column = columns().find((c) => c.name === name), chip = make("button");
        const ends = column && column.words ? column.words.slice(Math.max(0, Math.ceil(low)), Math.floor(high) + 1).join(", ")
          : [low, high].map((v, i) => (Number.isFinite(v) ? text(column, v) : text(column, column.extent[i]))).join(" – ");
        chip.type = "button";
        chip.textContent = name + " " + ends + " ✕";
        chip.setAttribute("aria-label", "remove filter " + name + " " + ends);
        chip.addEventListener("click", () => { state.filters.delete(name); refresh(); });
        return chip;
      }));
      for (const [button, on] of [[parts.clear, state.filters.size], [parts.zoomIn, state.filters.size], [parts.all, state.views.size]]) button.disabled = !on;
    }

    // -- all together ----------------------------------------------------------------------------------

    function refresh(fromFields) {
      select();
      const best = bestRow(state.chosenRows), { table } = state;
      const scope = table.rows < table.total ? "a sample, " + count(table.rows) + " of " + count(table.total) + " tasks; " : "";
      const rounded = table.precision < 64 ? "; numbers are rounded to " + table.precision + " bits" : "";
      parts.said.textContent = scope + count(state.chosenRows.length) + (state.filters.size ? " of " + count(state.rows.length) + " tasks selected" : " tasks")
        + (best < 0 ? "" : "; best " + state.value.name + " " + text(state.value, state.value.cells[best])) + rounded;
      parts.bestTask.hidden = best < 0;
      if (best >= 0) parts.bestTask.dataset.place = table.placeOf(best);
      fillChips();
      if (!fromFields) fillFilters();
      for (const chart of charts) chart.redraw();
    }
    function figure(title, wide, note) {
      const node = make("figure", null, "chart-figure" + (wide ? " broad" : "")), head = make("figcaption", title);
      if (note) { note.className = "quiet"; head.append(" ", note); }
      node.append(head);
      parts.charts.append(node);
      return node;
    }
    function build() {
      parts.charts.replaceChildren();
      parts.lines = make("small");
      charts = [pointChart(figure(state.value.name + " by task, and the best so far", true), state.order, 260, drawBest)];
      if (state.arguments.length > 1) parts.charts.append(parts.importances);
      for (const column of state.arguments) charts.push(pointChart(figure(state.value.name + " against " + column.name), column, 220));
      if (state.arguments.length > 1) {
        const node = figure("Parallel coordinates", true, parts.lines), scroll = make("div", null, "wide");
        node.append(scroll);
        charts.push(parallel(scroll));
      }
      charts.push(histogram(figure("How long tasks took")));
      listImportances();
    }
    function frame() {
      const tools = make("div", null, "tools"), pick = (label, act) => {
        const wrap = make("label", label + " ", "pick"), node = make("select");
        node.addEventListener("change", () => act(node.value));
        wrap.append(node);
        tools.append(wrap);
        return node;
      };
      const button = (title, act) => {
        const node = make("button", title);
        node.type = "button";
        node.addEventListener("click", act);
        tools.append(node);
        return node;
      };
      parts.fn = pick("function", (value) => { state.fn = Number(value); state.filters.clear(); state.views.clear(); built = ""; show(); });
      parts.value = pick("value", (value) => { state.chosen = value; state.filters.clear(); built = ""; show(); });
      parts.best = pick("best is", (value) => { state.asked = value; state.best = value; refresh(); });
      parts.best.append(new Option("lowest", "min"), new Option("highest", "max"));
      parts.zoomIn = button("zoom to selection", () => {
        for (const column of columns()) if (!column.words) state.views.set(column.name, weft.extent(column.cells, state.mask));
        refresh();
      });
      parts.all = button("show all", () => { state.views.clear(); refresh(); });
      parts.clear = button("clear selection", () => { state.filters.clear(); refresh(); });
      parts.bestTask = button("open the best task", () => openTask(parts.bestTask.dataset.place));
      parts.said = make("p", null, "said");
      parts.said.setAttribute("aria-live", "polite");
      parts.chips = make("div", null, "chips");
      parts.charts = make("div", null, "value-charts");
      parts.importances = make("figure", null, "chart-figure histogram importances");
      parts.importances.append(make("figcaption", "Importances"), make("p", "The share of the value's variance that each argument explains alone.", "quiet"));
      parts.importanceList = make("ul");
      parts.importances.append(parts.importanceList);
      const details = make("details");
      parts.filterGrid = make("div", null, "filters");
      details.append(make("summary", "Filters"), parts.filterGrid);
      box.replaceChildren(tools, parts.said, parts.chips, details, parts.charts);
    }
    function show() {
      const { table } = state;
      choose();
      parts.fn.replaceChildren(...table.functions.map((name, i) => new Option(name, i)));
      parts.fn.value = String(state.fn);
      parts.fn.parentElement.hidden = table.functions.length < 2;
      parts.value.replaceChildren(...state.values.map((c) => new Option(c.name)));
      parts.value.value = state.value.name;
      parts.value.parentElement.hidden = state.values.length < 2;
      parts.best.value = state.best;
      const shape = JSON.stringify([state.fn, state.value.name, state.arguments.map((c) => [c.name, c.words])]);
      select();
      if (shape !== built) { built = shape; build(); } else listImportances();
      charts.forEach((chart) => { chart.cursor = null; });
      refresh();
    }
    return async (packed) => {
      if (!packed) { box.replaceChildren(make("p", "No task has given a number yet.", "quiet")); built = ""; return; }
      if (!parts.said || !parts.said.isConnected) { frame(); built = ""; }
      state.table = await weft.unpack(packed);
      if (state.fn >= state.table.functions.length) state.fn = 0;
      show();
    };
  };
})();
