"use strict";
// Parallel coordinates: a line for every task through its arguments to its value.
(() => {
  const { count } = weft;
  const LINES = 1500;

  weft.parallel = (state, figure, note) => {
    const shown = () => [...state.arguments.slice(0, weft.AXES), state.value];
    const nearest = (x) => Math.round(Math.min(1, Math.max(0, x)) * (shown().length - 1));
    const chart = weft.chart(figure, {
      height: 280, pad: { left: 46, right: 62, top: 26, bottom: 26 },
      draw: (c) => drawLines(state, c, shown(), note),
      area: ([x, y], [, to]) => { const at = nearest(x) / (shown().length - 1); return [at - 0.012, at + 0.012, y, to]; },
      brush: ([x, y], [, to]) => {
        const column = shown()[nearest(x)], scale = state.scaleOf(column);
        state.filters.set(column.name, [scale.value(Math.min(y, to)), scale.value(Math.max(y, to))]);
        state.refresh();
      },
    });
    chart.label("Parallel coordinates of " + shown().map((c) => c.name).join(", ") + "; the filters below select the same by keyboard");
    return chart;
  };

  function drawLines(state, c, shown, note) {
    const { context } = c, scales = shown.map(state.scaleOf), last = shown.length - 1;
    const trace = (row) => {
      let begun = false;
      shown.forEach((column, i) => {
        const value = column.cells[row];
        if (Number.isNaN(value)) { begun = false; return; }
        const x = c.px(i / last), y = c.py(scales[i].share(value) + (column.words ? (0.5 * weft.jitter(row)) / column.words.length : 0));
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
    const rows = weft.evenly(state.chosenRows, LINES);
    draw(weft.evenly(state.restRows, 400), weft.colour("--c-queued"), 0.35);
    const sign = state.best === "max" ? -1 : 1, sorted = [...rows].sort((a, b) => sign * (state.value.cells[b] - state.value.cells[a]));
    const split = Math.floor(sorted.length * 0.9);
    draw(sorted.slice(0, split), weft.colour("--c-completed"), Math.max(0.12, Math.min(0.6, 60 / rows.length)));
    draw(sorted.slice(split), weft.colour("--c-best"), Math.max(0.3, Math.min(0.9, 60 / rows.length)));
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
      const place = i === 0 ? x - 40 : i === last ? x + 56 : x, clip = (t) => (t.length > 12 ? t.slice(0, 11) + "…" : t);
      context.textBaseline = "bottom";
      context.fillStyle = weft.colour("--ink");
      context.fillText(clip(column.name), place, c.py(1) - 6);
      context.fillStyle = weft.colour("--soft");
      context.textAlign = i === last ? "left" : "right";
      const ends = column.words ? column.words.map((_, k) => k) : [scale.low, scale.high].map((end) => Number(end.toPrecision(3)));
      context.textBaseline = "middle";
      context.strokeStyle = weft.colour("--card");
      context.lineWidth = 4;
      for (const end of weft.evenly(ends, 12)) {
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
    note.textContent = rows.length < state.chosenRows.length
      ? count(rows.length) + " of " + count(state.chosenRows.length) + " lines are drawn" : "";
  }
})();
