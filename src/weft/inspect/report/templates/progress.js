"use strict";
// Tasks over time: how many were finished and failed, and how many a second.
(() => {
  const { count, duration } = weft;
  weft.progress = (box) => {
    let data = null, chart = null;
    const at = (x) => Math.min(data.at_s.length - 1, Math.max(0, Math.round(x * (data.at_s.length - 1))));
    const fact = (i) => {
      const most = Math.max(1, data.done.at(-1));
      return { text: "after " + duration(data.at_s[i]) + ": " + count(data.done[i]) + " finished, " + count(data.failed[i]) + " failed, "
        + weft.number(data.per_s[i]) + " per second", x: data.at_s[i] / data.at_s.at(-1), y: data.done[i] / most, row: i };
    };
    const draw = (c) => {
      const end = data.at_s.at(-1), most = Math.max(1, data.done.at(-1)), fastest = Math.max(1e-9, ...data.per_s);
      c.axes(weft.scale(0, end, { text: duration }), weft.scale(0, most, { text: (n) => count(Math.round(n)) }), ["time since the start", "tasks"]);
      c.rightAxis(weft.scale(0, fastest), "per second", weft.colour("--live"));
      const line = (values, top) => values.map((value, i) => [data.at_s[i] / end, value / top]);
      c.line(line(data.per_s, fastest), weft.colour("--c-running"), 1);
      c.line(line(data.failed, most), weft.colour("--c-failed"), 2);
      c.line(line(data.done, most), weft.colour("--c-completed"), 2);
    };
    return (next) => {
      if (!next || !next.at_s.length) return;
      data = next;
      chart = chart || weft.chart(box, { height: 300, pad: { left: 74, right: 74 }, draw, tip: (x) => (x >= 0 && x <= 1 ? fact(at(x)) : null), at: fact,
        step: (i, by) => (i === null ? 0 : Math.min(data.at_s.length - 1, Math.max(0, i + by))) });
      chart.label("Tasks over time: " + count(data.done.at(-1)) + " finished, " + count(data.failed.at(-1)) + " failed, in " + duration(data.at_s.at(-1))
        + ", at most " + weft.number(Math.max(...data.per_s)) + " per second; arrows go from moment to moment");
      chart.redraw();
    };
  };
})();
