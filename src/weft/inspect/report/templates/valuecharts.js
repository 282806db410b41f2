"use strict";
// Charts of values: against an argument or the order of tasks, and how long tasks took.
(() => {
  const { count, duration } = weft;
  const AXES = 8, BARS = 32, NEAR_PX = 14;
  weft.AXES = AXES;

  const describe = (state, row) => [state.table.placeOf(row).replace(/^:/, "/:"), state.value.name + " " + state.text(state.value, state.value.cells[row]),
    ...state.arguments.slice(0, AXES).map((c) => c.name + " " + (Number.isNaN(c.cells[row]) ? "–" : state.text(c, c.cells[row]))),
    "took " + duration(state.table.time.cells[row])].join(" · ");

  // Values against one column: points, a cursor, a brush, a zoom; `more` draws over them.
  weft.pointChart = (state, figure, column, height, more) => {
    const scales = () => [state.scaleOf(column), state.scaleOf(state.value)];
    const shares = () => {
      const [x, y] = scales(), xs = column.cells, ys = state.value.cells, spread = column.words ? 0.7 / column.words.length : 0;
      return [(row) => x.share(xs[row]) + spread * (spread ? weft.jitter(row) : 0), (row) => y.share(ys[row])];
    };
    const found = (row) => { const [sx, sy] = shares(); return { text: describe(state, row), x: sx(row), y: sy(row), row }; };
    const chart = weft.chart(figure, {
      height,
      draw: (c) => {
        const [x, y] = scales(), [sx, sy] = shares();
        c.axes(x, y, [column.name === weft.ORDER ? "task, in order" : column.name, state.value.name]);
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
        const sorted = column.name === weft.ORDER ? rows : rows.sort((a, b) => column.cells[a] - column.cells[b] || a - b);
        const at = sorted.indexOf(row);
        return sorted[at < 0 ? 0 : Math.min(sorted.length - 1, Math.max(0, at + by))];
      },
      open: (row) => state.openTask(state.table.placeOf(row)),
      brush: ([x0, y0], [x1, y1]) => {
        const [x, y] = scales();
        state.filters.set(column.name, [x.value(Math.min(x0, x1)), x.value(Math.max(x0, x1))]);
        state.filters.set(state.value.name, [y.value(Math.min(y0, y1)), y.value(Math.max(y0, y1))]);
        state.refresh();
      },
      zoom: (factor, at) => {
        if (factor === Infinity || column.words) state.views.delete(column.name);
        else {
          const x = weft.scale(...column.extent, { log: state.isLog(column) }), now = state.scaleOf(column);
          const low = x.share(now.low), high = x.share(now.high), middle = low + (high - low) * at;
          const next = [middle - (middle - low) * factor, middle + (high - middle) * factor].map((s) => Math.min(1, Math.max(0, s)));
          if (next[1] - next[0] >= 1) state.views.delete(column.name);
          else state.views.set(column.name, next.map(x.value));
        }
        state.refresh();
      },
    });
    chart.label(state.value.name + " against " + (column.name === weft.ORDER ? "the order of tasks" : column.name)
      + "; arrows go from task to task, Enter opens it, plus and minus zoom, 0 shows all");
    return chart;
  };

  // The best so far, as steps.
  weft.drawBest = (state) => (c, x, y) => {
    const sign = state.best === "max" ? -1 : 1, points = [], { cells } = state.value;
    let best = NaN;
    for (const row of state.rows) {
      const value = cells[row];
      if (Number.isNaN(value) || sign * value >= sign * best) continue;
      best = value;
      points.push([x.share(state.order.cells[row]), y.share(best)]);
    }
    if (points.length) points.push([x.share(state.rows.length - 1), y.share(best)]);
    c.line(points, weft.colour("--c-best"), 2, true);
  };

  weft.timeHistogram = (state, figure) => {
    const counts = () => {
      const column = state.table.time, scale = state.scaleOf(column), all = new Array(BARS).fill(0), chosen = new Array(BARS).fill(0);
      for (const row of state.rows) {
        const at = Math.min(BARS - 1, Math.floor(scale.share(column.cells[row]) * BARS));
        if (at >= 0) { all[at] += 1; if (state.mask[row]) chosen[at] += 1; }
      }
      return { scale, all, chosen, most: Math.max(1, ...all) };
    };
    const chart = weft.chart(figure, {
      height: 200,
      draw: (c) => {
        const { scale, all, chosen, most } = counts();
        c.axes(scale, weft.scale(0, most), ["task time", "tasks"]);
        all.forEach((n, i) => { if (n) c.bar(i / BARS, (i + 1) / BARS, n / most, weft.colour("--c-queued")); });
        chosen.forEach((n, i) => { if (n) c.bar(i / BARS, (i + 1) / BARS, n / most, weft.colour("--c-completed")); });
      },
      tip: (x) => {
        const at = Math.floor(x * BARS);
        if (at < 0 || at >= BARS) return null;
        const { scale, all, chosen, most } = counts();
        return { text: duration(scale.value(at / BARS)) + " – " + duration(scale.value((at + 1) / BARS)) + ": " + count(all[at])
          + (all[at] === 1 ? " task" : " tasks") + (state.filters.size ? ", " + count(chosen[at]) + " selected" : ""), x: (at + 0.5) / BARS, y: all[at] / most };
      },
      area: ([x], [to]) => [x, to, 0, 1],
      brush: ([x], [to]) => { const s = state.scaleOf(state.table.time); state.filters.set(state.table.time.name, [s.value(Math.min(x, to)), s.value(Math.max(x, to))]); state.refresh(); },
    });
    chart.label("Histogram of task times: " + duration(state.table.time.extent[0]) + " to " + duration(state.table.time.extent[1]));
    return chart;
  };
})();
